// Cutting a grown tree back (docs/design.md, "Pruning").
#pragma once

#include "control.hpp"
#include "pricing.hpp"
#include "table.hpp"
#include "tree.hpp"
#include "valuation.hpp"

namespace worthwhile {

struct PrunePolicy {
    double confidence = 0.25;
    bool raise_subtrees = true;
    Answer answer = Answer::majority;
};

// C4.5: by the pessimistic number of errors.
void prune_by_errors(Tree& tree, const Training& data, const PrunePolicy& policy, Control& control);

// ACT: by the expected total cost.
void prune_by_cost(Tree& tree, const Training& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                   Control& control);

// Gives every node the class weights of these cases, whatever the tree was grown from.
void recount(Tree& tree, const Training& data);

// What a tree that was grown from `data` is expected to cost per case, as it stands.
double expected_cost(Tree tree, const Training& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy, Control& control);

}  // namespace worthwhile
