#include <algorithm>
#include <limits>

#include "grower.hpp"

namespace worthwhile {

// One pass over each column that has nodes: a value belongs to the first threshold that is not below it, and the largest value at
// or below a threshold is then a running maximum.
void settle_thresholds(Tree& tree, const Table& table) {
    std::vector<std::vector<int>> nodes_of(table.columns.size());
    for (int node = 0; node < tree.size(); ++node)
        if (!tree.leaf(node) && tree.map_start[node] < 0) nodes_of[tree.test[node]].push_back(node);
    for (std::size_t c = 0; c < nodes_of.size(); ++c) {
        std::vector<int>& nodes = nodes_of[c];
        if (nodes.empty()) continue;
        std::sort(nodes.begin(), nodes.end(), [&](int a, int b) { return tree.threshold[a] < tree.threshold[b]; });
        std::vector<double> thresholds;
        for (int node : nodes) thresholds.push_back(tree.threshold[node]);
        std::vector<double> largest(nodes.size() + 1, -std::numeric_limits<double>::infinity());
        for (std::size_t row = 0; row < table.n_cases; ++row) {
            const double v = table.columns[c].value(row);
            if (std::isnan(v)) continue;
            double& best = largest[std::lower_bound(thresholds.begin(), thresholds.end(), v) - thresholds.begin()];
            if (v > best) best = v;
        }
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (i > 0) largest[i] = std::max(largest[i], largest[i - 1]);
            tree.threshold[nodes[i]] = largest[i];
        }
    }
}

}  // namespace worthwhile
