// Walking one case down a tree: where it ends and which tests it is charged for (docs/design/pricing.md).
#pragma once

#include <mutex>
#include <vector>

#include "data/table.hpp"
#include "data/tree.hpp"
#include "pricing/pricing.hpp"
#include "route/subtree_tests.hpp"

namespace worthwhile {

// Class shares of every node: by its own weights, by its parent's if it is empty; a hand-written leaf without weights stands for its answer,
// or for all classes equally if that is no class.
std::vector<double> node_shares(const Tree& tree);

// The class probabilities of a case at every node: those of the tree if it has any, else the shares.
std::vector<double> node_probabilities(const Tree& tree);

// Either of them, made when they are first needed: most calls only want answers, and have no missing value.
class NodeShares {
public:
    NodeShares(const Tree& tree, std::vector<double> (*make)(const Tree&)) : tree_(tree), make_(make) {}
    const double* at(int node) const {
        std::call_once(made_, [&] { shares_ = make_(tree_); });
        return shares_.data() + static_cast<std::size_t>(node) * static_cast<std::size_t>(tree_.n_classes);
    }

private:
    const Tree& tree_;
    std::vector<double> (*make_)(const Tree&);
    mutable std::once_flag made_;
    mutable std::vector<double> shares_;
};

// Looks at a tree that may still be pruned; `subtrees` must be those of the tree if orders may commit.
class TreeWalker {
public:
    TreeWalker(const Tree& tree, const Table& table, const Pricing& pricing, const SubtreeTests& subtrees)
        : tree_(tree), table_(table), pricing_(pricing), subtrees_(subtrees), any_commits_(any_commits(tree, pricing)) {}

    // The next node of a case, or -1 if its value is missing.
    int next(int node, std::size_t row) const {
        const int branch = tree_.branch(node, table_.columns[static_cast<std::size_t>(tree_.test[node])], row);
        return branch < 0 ? -1 : tree_.first_child[node] + branch;
    }

    // Walks from `node` to a leaf, to the first node whose value is missing, or to one whose test would cost more than the cap allows;
    // adds what the case is charged on the way.
    int walk(int node, std::size_t row, TestSet& charged) const {
        while (!tree_.leaf(node)) {
            const int child = next(node, row);
            if (child < 0) break;
            if (!charged.has(tree_.test[node]) && !order(node, row, charged)) break;
            node = child;
        }
        return node;
    }

    // Adds the tests that a case is charged for in the subtree at `node`, given what it has paid, to `charged`.
    void charge(int node, std::size_t row, const TestSet& paid, TestSet& charged) const {
        TestSet mine = paid;  // what this walk has paid; walks down sibling branches do not see each other's payments
        node = walk(node, row, mine);
        if (tree_.leaf(node) || next(node, row) < 0) each_branch(node, [&](int child, double) { charge(child, row, mine, charged); });
        charged.unite(mine);
    }

private:
    // Orders the test of a node; false if the case must not pay so much.
    bool order(int node, std::size_t row, TestSet& charged) const {
        TestSet before = pricing_.has_cap() ? charged : TestSet();
        if (any_commits_ && orders_below(tree_, pricing_, node, charged))
            subtrees_.order(tree_, node, table_, row, pricing_, charged);
        else
            pricing_.order(tree_.test[node], charged);
        if (pricing_.within_cap(charged, row)) return true;
        charged = std::move(before);
        return false;
    }

    // Calls visit(child, share) for the branches that a case without a value goes down; none for a leaf.
    template <class Visit>
    void each_branch(int node, Visit visit) const {
        if (tree_.leaf(node)) return;
        const std::vector<double> shares = tree_.shares(node);
        for (std::size_t b = 0; b < shares.size(); ++b)
            if (shares[b] > 0) visit(tree_.first_child[node] + static_cast<int>(b), shares[b]);
    }

    const Tree& tree_;
    const Table& table_;
    const Pricing& pricing_;
    const SubtreeTests& subtrees_;
    const bool any_commits_;
};

}  // namespace worthwhile
