// The trees of a forest under a budget: every split promises the largest drop of impurity per price (docs/design/forests.md).
#pragma once

#include <cstdint>
#include <vector>

#include "data/column_store.hpp"
#include "data/table.hpp"
#include "data/tree.hpp"
#include "forest/impurity.hpp"
#include "grow/subsets.hpp"
#include "parallel/cancellation.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

struct ForestPolicy {
    const Impurity* impurity = &kImpurities[0];
    double parameter = 0;
    bool expected = false;  // the mean drop over the outcomes counts, not the least
    NominalSplits nominal_splits = NominalSplits::multiway;
    bool exact_cuts = false;  // every cut of a numeric test is tried, not some at random between its least and largest value
    bool context = false;     // a test that is paid for on the path costs nothing more
    int max_depth = 0;
    int node_tests = 0;           // how many tests, drawn at random, are tried at each node; 0: all
    std::vector<uint8_t> asks;    // by test, whether it may be asked; empty: all
    std::vector<uint64_t> seeds;  // one for each tree
    Clock::time_point deadline = Clock::time_point::max();
    int n_threads = 1;
};

// GreedyTree (Nan et al. 2015, Algorithm 1), one for each seed, on threads. The weights of the data, trees x cases, say how often each tree has
// drawn each case; cases of weight 0 are left out. After the deadline, nodes are not split any more, and no tree but the first is begun: there may be
// fewer trees than seeds.
std::vector<Tree> grow_greedy_trees(const TrainingSet& data, const ColumnStore& store, const Pricing& pricing, const ForestPolicy& policy,
                                    Cancellation& cancellation);

}  // namespace worthwhile
