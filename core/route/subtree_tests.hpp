// What an order may commit to: the tests of the subtree below it.
#pragma once

#include <algorithm>
#include <vector>

#include "data/tree.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

// Whether any order of a tree may include everything below a node.
inline bool any_commits(const Tree& tree, const Pricing& pricing) { return pricing.any_commits() || !tree.commits.empty(); }

// Whether ordering the test of a node orders everything below it, too.
inline bool orders_below(const Tree& tree, const Pricing& pricing, int node, const TestSet& paid) {
    return tree.committed(node) || pricing.orders_delayed(tree.test[node], paid);
}

// The set of tests at or below every node, kept up to date while a tree is pruned from the bottom.
class SubtreeTests {
public:
    SubtreeTests() = default;
    SubtreeTests(const Tree& tree, const Pricing& pricing)
        : nothing_(pricing.nothing()), below_(tree.size(), nothing_),
          every_value_known_(std::none_of(tree.maps.begin(), tree.maps.end(), [](int32_t branch) { return branch < 0; })) {
        for (int node = tree.size() - 1; node >= 0; --node) update(tree, node);  // children come after their parents
    }

    // To be called when the children of a node, or the node itself, were pruned.
    void update(const Tree& tree, int node) {
        below_[node] = nothing_;
        if (tree.leaf(node)) return;
        below_[node].add(tree.test[node]);
        for (int b = 0; b < tree.n_children[node]; ++b) below_[node].unite(below_[tree.first_child[node] + b]);
    }

    // Adds everything that a case is charged when the test at `node` is ordered with all that may follow: the available tests of the
    // subtree. `charged` is what was paid for before.
    void order(const Tree& tree, int node, const Table& table, std::size_t row, const Pricing& pricing, TestSet& charged) const {
        const TestSet before = charged;
        pricing.add(tree.test[node], before, charged);
        if (every_value_known_) {
            below_[node].each([&](int test) {
                if (!table.columns[test].missing(row)) pricing.add(test, before, charged);
            });
        } else {  // a tree written by hand: a value may be known to one node and not to another
            tree.each_inner_below(node, [&](int at) {
                if (tree.branch(at, table.columns[tree.test[at]], row) >= 0) pricing.add(tree.test[at], before, charged);
            });
        }
        pricing.add_wait(before, charged);
    }

    // The same for a case that has all values.
    void order_all(int node, const Pricing& pricing, TestSet& charged) const {
        const TestSet before = charged;
        below_[node].each([&](int test) { pricing.add(test, before, charged); });
        pricing.add_wait(before, charged);
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
    TestSet nothing_;
    std::vector<TestSet> below_;
    bool every_value_known_ = true;
};

}  // namespace worthwhile
