#include "data/tree_check.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace worthwhile {

namespace {

[[noreturn]] void refuse(int node, const std::string& what) { throw std::invalid_argument("node " + std::to_string(node) + " " + what); }

void check_lengths(const Tree& tree) {
    const std::size_t n = tree.test.size();
    if (tree.n_classes < 1) throw std::invalid_argument("a tree needs at least one class");
    if (n == 0) throw std::invalid_argument("a tree needs at least one node");
    for (const std::size_t length : {tree.threshold.size(), tree.first_child.size(), tree.n_children.size(), tree.map_start.size(),
                                     tree.map_size.size(), tree.answer.size()})
        if (length != n)
            throw std::invalid_argument("the arrays of a tree must be equally long: " + std::to_string(n) + " and " +
                                        std::to_string(length));
    if (tree.weights.size() != n * tree.width()) throw std::invalid_argument("a tree needs one weight for each of its nodes and classes");
}

// The largest branch that a map leads to; nodes share maps, so each is looked at once.
class LargestBranches {
public:
    explicit LargestBranches(const Tree& tree) : tree_(tree) {}

    int of(int node) {
        const int32_t start = tree_.map_start[node], size = tree_.map_size[node];
        if (size < 0 || static_cast<std::size_t>(start) + static_cast<std::size_t>(size) > tree_.maps.size())
            refuse(node, "has a map that ends outside of 'maps'");
        const auto [known, is_new] = found_.try_emplace(static_cast<int64_t>(start) << 32 | size, -1);
        if (is_new)
            for (int32_t i = start; i < start + size; ++i) {
                if (tree_.maps[i] < -1) refuse(node, "has a map with the branch " + std::to_string(tree_.maps[i]));
                known->second = std::max(known->second, tree_.maps[i]);
            }
        return known->second;
    }

private:
    const Tree& tree_;
    std::unordered_map<int64_t, int> found_;
};

}  // namespace

void check_nodes(const Tree& tree) {
    check_lengths(tree);
    const int n = tree.size();
    LargestBranches largest(tree);
    std::vector<int> depth(static_cast<std::size_t>(n), -1);  // -1: no node above has it as a child
    depth[0] = 0;
    for (int node = 0; node < n; ++node) {
        if (depth[node] < 0) refuse(node, "is no child of a node before it");
        if (depth[node] > kDeepest) refuse(node, "lies more than " + std::to_string(kDeepest) + " tests deep");
        if (tree.answer[node] < 0) refuse(node, "has the answer " + std::to_string(tree.answer[node]));
        if (tree.leaf(node)) {
            if (tree.n_children[node] != 0) refuse(node, "is a leaf with children");
            continue;
        }
        const int64_t first = tree.first_child[node], last = first + tree.n_children[node];
        if (tree.n_children[node] < 1 || first <= node || last > n) refuse(node, "has children outside of the nodes behind it");
        if (tree.map_start[node] < 0 ? tree.n_children[node] != 2 : largest.of(node) >= tree.n_children[node])
            refuse(node, "has another number of children than of branches");
        if (tree.map_start[node] < 0 && std::isnan(tree.threshold[node])) refuse(node, "has the threshold NaN");
        for (int64_t child = first; child < last; ++child) {
            if (depth[child] >= 0) refuse(static_cast<int>(child), "is a child of two nodes");
            depth[child] = depth[node] + 1;
        }
    }
}

void check_tests(const Tree& tree, const Table& table, const Pricing& pricing) {
    if (!tree.surcharges.empty() && tree.surcharges.size() != static_cast<std::size_t>(tree.size()) * pricing.n_surcharges())
        throw std::invalid_argument("the tree has expected amounts for another number of surcharges");
    const int n = std::min(table.n_columns(), pricing.n_tests());
    for (int node = 0; node < tree.size(); ++node) {
        if (tree.leaf(node)) continue;
        const int test = tree.test[node];
        if (test >= n) refuse(node, "asks for test " + std::to_string(test) + ", but there are " + std::to_string(n));
        if (table.columns[test].numeric() != (tree.map_start[node] < 0))
            refuse(node, "takes test " + std::to_string(test) + " for one of the other kind (numeric or nominal)");
        if (const int n_values = table.columns[test].n_values; tree.map_start[node] >= 0 && tree.map_size[node] != n_values)
            refuse(node, "has a map of " + std::to_string(tree.map_size[node]) + " values, but test " + std::to_string(test) + " has " +
                             std::to_string(n_values));
    }
}

void check_answers(const Tree& tree, int n_classes, int n_answers) {
    if (tree.n_classes != n_classes)
        throw std::invalid_argument("the tree has " + std::to_string(tree.n_classes) + " classes, but the error costs have " +
                                    std::to_string(n_classes));
    for (int node = 0; node < tree.size(); ++node)
        if (tree.answer[node] < 0 || tree.answer[node] >= n_answers)
            refuse(node, "has the answer " + std::to_string(tree.answer[node]) + ", but there are " + std::to_string(n_answers));
}

}  // namespace worthwhile
