// All trees whose cost is close to that of the best one (docs/design/exact-search.md).
#pragma once

#include <cstdint>
#include <vector>

#include "exact/exact_search.hpp"

namespace worthwhile {

struct NearOptimalPolicy {
    double margin = 0;            // trees may cost so much more than the best one, over all cases
    std::size_t max_trees = 100;  // to be listed; all are counted
    bool by_structure = false;    // of the trees of a structure, only the cheapest is listed
};

// How many of the trees ask a test first (column -1: no test at all), and what the cheapest of them costs.
struct FirstTest {
    int column;
    uint64_t trees, structures;
    double cost;
};

// How many of the trees ask a test anywhere, and what the cheapest of the others costs; infinite if there are none.
struct TestUse {
    int column;
    uint64_t trees;
    double cost_without;
};

struct NearOptimalResult {
    double cost = 0;    // of the best tree, over all cases, with its leaves
    double share = -1;  // of the margin for which all trees were found; negative: not even the best tree was
    uint64_t trees = 0, structures = 0;
    std::vector<DepthTree> listed;  // the cheapest first
    std::vector<FirstTest> first;   // the most frequent first
    std::vector<TestUse> used;      // in the order of the columns
};

// Trees that divide the cases of all their nodes in the same way are one, and so are trees that differ in what is ordered at once. A tree with
// a last test that saves no errors does not count. Trees of the same structure ask the same tests in the same places.
//
// The margin is widened step by step: if it is too wide for the limits of memory, work and time, the trees within a narrower one are complete.
NearOptimalResult near_optimal_trees(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const ExactPolicy& policy,
                                     int max_cuts, const NearOptimalPolicy& wanted, Clock::time_point deadline, Cancellation& cancellation);

}  // namespace worthwhile
