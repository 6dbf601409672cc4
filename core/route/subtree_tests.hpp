// What ordering a delayed test commits to: the tests of the subtree below it.
#pragma once

#include <algorithm>
#include <vector>

#include "data/tree.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

// The set of tests at or below every node, kept up to date while a tree is pruned from the bottom.
class SubtreeTests {
public:
    SubtreeTests() = default;
    SubtreeTests(const Tree& tree, int n_tests)
        : n_tests_(n_tests), below_(tree.size(), TestSet(n_tests)),
          every_value_known_(std::none_of(tree.maps.begin(), tree.maps.end(), [](int32_t branch) { return branch < 0; })) {
        for (int node = tree.size() - 1; node >= 0; --node) update(tree, node);  // children come after their parents
    }

    // To be called when the children of a node, or the node itself, were pruned.
    void update(const Tree& tree, int node) {
        below_[node] = TestSet(n_tests_);
        if (tree.leaf(node)) return;
        below_[node].add(tree.test[node]);
        for (int b = 0; b < tree.n_children[node]; ++b) below_[node].unite(below_[tree.first_child[node] + b]);
    }

    // Adds everything that a case is charged when the delayed test at `node` is ordered: the available tests of the subtree.
    void charge(const Tree& tree, int node, const Table& table, std::size_t row, const Pricing& pricing, TestSet& charged) const {
        if (every_value_known_) {
            below_[node].each([&](int test) {
                if (!table.columns[test].missing(row)) pricing.charge(test, charged);
            });
        } else {  // a tree written by hand: a value may be known to one node and not to another
            tree.each_inner_below(node, [&](int at) {
                if (tree.branch(at, table.columns[tree.test[at]], row) >= 0) pricing.charge(tree.test[at], charged);
            });
        }
    }

    // False if a node, written by hand, leaves values out: what an order charges then depends on the values too.
    bool every_value_known() const { return every_value_known_; }

    // All tests at or below a node.
    const TestSet& at(int node) const { return below_[node]; }

    bool empty() const { return below_.empty(); }

    // Says whether a case lacks the value of a test at or below `node`.
    bool lacks(int node, const Table& table, std::size_t row) const {
        bool found = false;
        below_[node].each([&](int test) { found |= table.columns[test].missing(row); });
        return found;
    }

private:
    int n_tests_ = 0;
    std::vector<TestSet> below_;
    bool every_value_known_ = true;
};

}  // namespace worthwhile
