// One tree from cases to answers: growing, pruning, settling.
#pragma once

#include "grower.hpp"
#include "pruner.hpp"

namespace worthwhile {

enum class Pruning { none, pessimistic, cost };

struct LearnPolicy {
    GrowPolicy grow;
    PrunePolicy prune;
    Pruning pruning = Pruning::none;
};

// Prunes a tree that was grown from `data` and gives it its final thresholds and answers.
inline Tree finish(Tree tree, const Training& data, const Pricing& pricing, const ErrorCosts& errors, const LearnPolicy& policy, Control& control) {
    if (policy.pruning == Pruning::pessimistic) prune_by_errors(tree, data, policy.prune, control);
    if (policy.pruning == Pruning::cost) prune_by_cost(tree, data, pricing, errors, policy.prune, control);
    if (policy.pruning != Pruning::none) tree = tree.compact();
    settle_thresholds(tree, data);
    settle_answers(tree, errors, policy.grow.answer);
    return tree;
}

inline Tree learn(const Training& data, const Pricing& pricing, const ErrorCosts& errors, const LearnPolicy& policy, Control& control) {
    return finish(make_grower(data, pricing, errors, policy.grow, false)->grow(control), data, pricing, errors, policy, control);
}

}  // namespace worthwhile
