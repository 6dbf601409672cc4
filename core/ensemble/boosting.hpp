// Gradient boosting of trees on binned cases (Friedman 2001; histograms as in LightGBM, Ke et al. 2017).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ensemble/tree_arrays.hpp"
#include "parallel/cancellation.hpp"

namespace worthwhile {

struct BoostingPolicy {
    int n_rounds = 100;
    double rate = 0.1;
    int max_leaves = 15;
    int min_leaf = 10;       // cases
    double ridge = 1.0;      // added to the sum of second derivatives of a leaf
    std::vector<int> marks;  // rounds after which the scores of held-out cases are kept, rising
    int n_threads = 1;
};

struct Boosted {
    TreeArrays trees;  // round after round, in each a tree per output
    std::vector<double> baseline;
    std::vector<double> held_out;  // (marks, cases, outputs): scores by models of the other folds
};

// Two classes have one output, the log odds of the second; more have one each. `folds` has the fold of each case, from 0 to n_folds - 1.
Boosted boost(const Binned& cases, std::span<const int32_t> features, std::span<const int32_t> classes, int n_classes,
              std::span<const double> weights, std::span<const int32_t> folds, int n_folds, const BoostingPolicy& policy,
              Cancellation& cancellation);

}  // namespace worthwhile
