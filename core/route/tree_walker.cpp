#include "route/tree_walker.hpp"

namespace worthwhile {

std::vector<double> node_shares(const Tree& tree) {
    const int k = tree.n_classes;
    std::vector<double> shares(static_cast<std::size_t>(tree.size()) * static_cast<std::size_t>(k), 0.0);
    std::vector<int> source(tree.size(), -1);  // by node: the nearest node of positive weight at or above it
    for (int node = 0; node < tree.size(); ++node) {
        double* mine = shares.data() + static_cast<std::size_t>(node) * k;
        if (tree.weight(node) > 0) source[node] = node;
        const double weight = source[node] >= 0 ? tree.weight(source[node]) : 0;
        for (int c = 0; c < k; ++c) {
            if (weight > 0)
                mine[c] = tree.class_weights(source[node])[c] / weight;
            else
                mine[c] = tree.answer[node] < k ? tree.answer[node] == c : 1.0 / k;
        }
        for (int b = 0; b < tree.n_children[node]; ++b) source[tree.first_child[node] + b] = source[node];
    }
    return shares;
}

std::vector<double> node_probabilities(const Tree& tree) { return tree.probabilities.empty() ? node_shares(tree) : tree.probabilities; }

}  // namespace worthwhile
