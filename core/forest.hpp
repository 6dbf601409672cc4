// The trees of a forest under a budget: every split promises the largest drop of impurity per price (docs/design.md, "Forests").
#pragma once

#include <cstdint>
#include <vector>

#include "control.hpp"
#include "impurity.hpp"
#include "pricing.hpp"
#include "stack.hpp"
#include "table.hpp"
#include "tree.hpp"

namespace worthwhile {

// Which cuts of a numeric test are tried: some at random between the least and the largest value, values of cases drawn at random, or all.
enum class Cuts { random, values, exact };

struct ForestPolicy {
    const Impurity* impurity = &kImpurities[0];
    double parameter = 0;
    bool expected = false;  // the mean drop over the outcomes counts, not the least
    Cuts cuts = Cuts::random;
    bool context = false;   // a test that is paid for on the path costs nothing more
    int max_depth = 0;
    std::vector<uint8_t> asks;  // by test, whether it may be asked; empty: all
};

// GreedyTree (Nan et al. 2015, Algorithm 1), one for each seed, on threads. `weights`, trees x cases, says how often each tree has drawn
// each case; cases of weight 0 are left out.
std::vector<Tree> grow_greedy_trees(const Table& table, const ColumnStack& stack, const int32_t* classes, int n_classes, const double* weights, const Pricing& pricing,
                                    const ForestPolicy& policy, const std::vector<uint64_t>& seeds, int n_threads, Control& control);

}  // namespace worthwhile
