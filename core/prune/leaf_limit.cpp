#include "prune/leaf_limit.hpp"

#include <algorithm>
#include <limits>

namespace worthwhile {

namespace {

constexpr int kSteps = 40;  // halvings of the price of a leaf

int n_leaves(const Tree& tree) { return static_cast<int>(std::count(tree.test.begin(), tree.test.end(), -1)); }

// Where every case pays at a node what its path says, the cost of a tree is the sum over its nodes, and a dynamic programme finds the best
// part of every size.
class AdditiveLimit {
public:
    AdditiveLimit(Tree& tree, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy, int max_leaves,
                  Cancellation& cancellation)
        : tree_(tree), pricing_(pricing), errors_(errors), policy_(policy), most_(static_cast<std::size_t>(max_leaves)),
          cancellation_(cancellation), price_(tree.size(), 0.0), least_(tree.size()) {}

    void run() {
        value(0, pricing_.nothing());
        const std::vector<double>& of = least_[0];
        std::size_t best = 1;
        for (std::size_t n = 2; n <= of.size(); ++n)
            if (of[n - 1] < of[best - 1] - kSlack * std::abs(of[best - 1])) best = n;
        keep(0, best);
    }

private:
    static constexpr double kSlack = 1e-9;

    // Sets least_[node]: by number of leaves - 1, the lowest cost of a subtree here with just as many.
    void value(int node, const TestSet& path) {
        cancellation_.poll();
        const double* weights = tree_.class_weights(node);
        least_[node] = {leaf_cost(errors_, weights, errors_.best_answer(weights, policy_.answer), policy_.confidence)};
        if (tree_.leaf(node)) return;
        TestSet path_then = path;
        if (!path.has(tree_.test[node])) {
            pricing_.order(tree_.test[node], path_then);
            price_[node] = tree_.weight(node) * pricing_.price(path_then, path);
        }
        for (int b = 0; b < tree_.n_children[node]; ++b) value(tree_.first_child[node] + b, path_then);
        const std::vector<double> below = sums(node).back();
        if (below.size() > 2) least_[node].insert(least_[node].end(), below.begin() + 2, below.end());
    }

    // After each child: by number of leaves, the lowest cost of the children so far, and the price of the node. Infinite: impossible.
    std::vector<std::vector<double>> sums(int node) const {
        std::vector<std::vector<double>> all{{price_[node]}};
        for (int b = 0; b < tree_.n_children[node]; ++b) {
            const std::vector<double>&before = all.back(), &child = least_[tree_.first_child[node] + b];
            std::vector<double> sum(std::min(before.size() + child.size(), most_ + 1), std::numeric_limits<double>::infinity());
            for (std::size_t i = 0; i < before.size(); ++i)
                for (std::size_t j = 0; j < child.size() && i + j + 1 < sum.size(); ++j)
                    sum[i + j + 1] = std::min(sum[i + j + 1], before[i] + child[j]);
            all.push_back(std::move(sum));
        }
        return all;
    }

    // Cuts the subtree down to its best part with `leaves` leaves.
    void keep(int node, std::size_t leaves) {
        if (leaves == 1) {
            if (!tree_.leaf(node)) tree_.make_leaf(node);
            return;
        }
        const std::vector<std::vector<double>> all = sums(node);
        for (int b = tree_.n_children[node] - 1; b >= 0; --b) {
            const std::vector<double>&before = all[static_cast<std::size_t>(b)], &child = least_[tree_.first_child[node] + b];
            std::size_t own = 0;
            double best = std::numeric_limits<double>::infinity();
            for (std::size_t n = 1; n <= std::min(child.size(), leaves); ++n)
                if (leaves - n < before.size() && before[leaves - n] + child[n - 1] < best) {
                    best = before[leaves - n] + child[n - 1];
                    own = n;
                }
            keep(tree_.first_child[node] + b, own);
            leaves -= own;
        }
    }

    Tree& tree_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const PrunePolicy& policy_;
    const std::size_t most_;
    Cancellation& cancellation_;
    std::vector<double> price_;               // by node: what it charges the cases that come to it
    std::vector<std::vector<double>> least_;  // by node
};

}  // namespace

void limit_leaves(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                  int max_leaves, Cancellation& cancellation) {
    if (n_leaves(tree) <= max_leaves) return;
    bool commits = false;
    tree.each_inner_below(0, [&](int node) {
        commits |= pricing.orders_delayed(tree.test[node], pricing.nothing()) || pricing.orders_wait(tree.test[node], pricing.nothing());
    });
    Tree best = tree;
    AdditiveLimit(best, pricing, errors, policy, max_leaves, cancellation).run();
    best = best.compact();
    if (!commits && !data.table.has_missing && pricing.case_prices.empty()) {
        tree = std::move(best);
        return;
    }
    // What a node charges depends on what is left below it: an order may be for all of them, a case with a missing value takes
    // several paths, and prices may depend on the case. A price for every leaf, high enough, then leaves the weakest parts out; every tree on the way is valued anew.
    const auto cost = [&](const Tree& some) { return expected_cost(some, data, pricing, errors, policy, cancellation); };
    const double* weights = tree.class_weights(0);
    const double as_leaf = leaf_cost(errors, weights, errors.best_answer(weights, policy.answer), policy.confidence);
    double least = cost(best), low = 0, high = std::abs(as_leaf);  // at this price, the root becomes a leaf
    for (int step = 0; step < kSteps; ++step) {
        PrunePolicy with_price = policy;
        with_price.leaf_price = step == 0 ? 0 : step == 1 ? high : (low + high) / 2;
        Tree part = tree;
        prune_by_cost(part, data, pricing, errors, with_price, cancellation);
        part = part.compact();
        if (n_leaves(part) > max_leaves) {
            low = with_price.leaf_price;
            continue;
        }
        high = with_price.leaf_price;
        const double its = cost(part);
        if (its < least - 1e-9 * std::abs(least)) {
            least = its;
            best = std::move(part);
        }
        if (step == 0) break;  // already small enough without a price
    }
    tree = std::move(best);
}

}  // namespace worthwhile
