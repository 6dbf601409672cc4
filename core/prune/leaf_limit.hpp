// The cheapest part of a tree that has few enough leaves to be read (docs/design/pruning.md).
#pragma once

#include "prune/pruner.hpp"

namespace worthwhile {

// Turns inner nodes into leaves until there are at most `max_leaves`, so that the expected cost is lowest.
void limit_leaves(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                  int max_leaves, Cancellation& cancellation);

}  // namespace worthwhile
