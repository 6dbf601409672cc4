// One tree from cases to answers: grown, pruned, with its final thresholds and answers.
#pragma once

#include <limits>

#include "grow/grower.hpp"
#include "grow/thresholds.hpp"
#include "prune/leaf_limit.hpp"
#include "prune/pruner.hpp"

namespace worthwhile {

enum class Pruning { none, pessimistic, cost };

struct LearnPolicy {
    GrowPolicy grow;
    PrunePolicy prune;
    Pruning pruning = Pruning::none;
    int max_leaves = std::numeric_limits<int>::max();
    bool may_stop = true;  // of the tree
    double reject_below = 0;
};

// Prunes a tree that was grown from `data` and gives it its final thresholds and answers.
inline Tree finish(Tree tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const LearnPolicy& policy,
                   Cancellation& cancellation) {
    if (policy.pruning == Pruning::pessimistic) prune_by_errors(tree, data, policy.prune, cancellation);
    if (policy.pruning == Pruning::cost) prune_by_cost(tree, data, pricing, errors, policy.prune, cancellation);
    if (policy.pruning != Pruning::none) tree = tree.compact();
    limit_leaves(tree, data, pricing, errors, policy.prune, policy.max_leaves, cancellation);
    // What was worth its price for the sake of tests that are now cut off may no longer be.
    if (keep_within_cap(tree, pricing) && policy.pruning == Pruning::cost) {
        prune_by_cost(tree, data, pricing, errors, policy.prune, cancellation);
        tree = tree.compact();
    }
    snap_thresholds(tree, data);
    choose_commits(tree, data, pricing, errors, policy.prune, cancellation);
    assign_answers(tree, errors, policy.grow.answer, policy.reject_below);
    tree.drop_deviations();
    tree.may_stop = policy.may_stop;
    return tree;
}

inline Tree learn(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const LearnPolicy& policy,
                  Cancellation& cancellation) {
    return finish(make_grower(data, pricing, errors, policy.grow, false)->grow(cancellation), data, pricing, errors, policy, cancellation);
}

}  // namespace worthwhile
