// Cutting a grown tree back (docs/design/pruning.md).
#pragma once

#include "data/table.hpp"
#include "data/tree.hpp"
#include "parallel/cancellation.hpp"
#include "pricing/error_costs.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

struct PrunePolicy {
    double confidence = 0.25;
    bool raise_subtrees = true;
    AnswerPolicy answer = AnswerPolicy::majority;
    double leaf_price = 0;  // by cost: what every leaf costs on top, to get fewer of them
};

// C4.5: by the pessimistic number of errors.
void prune_by_errors(Tree& tree, const TrainingSet& data, const PrunePolicy& policy, Cancellation& cancellation);

// ACT: by the expected total cost.
void prune_by_cost(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                   Cancellation& cancellation);

// Cuts off what would make a case pay more than the cap allows, whatever its values; false if there was nothing to cut off.
bool keep_within_cap(Tree& tree, const Pricing& pricing);

// Decides at every node whose result takes time whether to wait for it alone, or to order everything below at once.
void choose_commits(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                    Cancellation& cancellation);

// Gives every node the class weights of these cases, whatever the tree was grown from.
void recount(Tree& tree, const TrainingSet& data);

// Gives every node the deviations of these cases, if errors cost each case something else; its class weights stay.
void recount_deviations(Tree& tree, const TrainingSet& data);

// What a tree that was grown from `data` is expected to cost per case, without pruning.
double expected_cost(Tree tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                     Cancellation& cancellation);

}  // namespace worthwhile
