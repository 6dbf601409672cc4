// Thresholds that are values of the training cases.
#pragma once

#include "data/table.hpp"
#include "data/tree.hpp"

namespace worthwhile {

// Moves every threshold down to the largest value of its column that does not exceed it, as C4.5 does.
void snap_thresholds(Tree& tree, const TrainingSet& data);

}  // namespace worthwhile
