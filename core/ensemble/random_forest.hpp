// Random forests (Breiman 2001) on binned cases, with the class shares of each case by the trees that were not grown from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ensemble/tree_arrays.hpp"
#include "parallel/cancellation.hpp"

namespace worthwhile {

struct RandomForestPolicy {
    int n_trees = 100;
    int min_leaf = 1;          // cases, each counted once
    int n_tried = 1;           // features that are tried at a node, if one of them can split it
    std::size_t n_drawn = 0;   // cases drawn for a tree, with replacement
    bool random_cuts = false;  // of each feature, one random cut is tried ("extremely randomized trees", Geurts et al. 2006)
    uint64_t seed = 0;
    int n_threads = 1;
};

struct RandomForest {
    TreeArrays trees;
    std::vector<double> held_out;  // of each case and class: the sum of the shares of the trees that have not seen it
    std::vector<double> gains;     // of each feature: how much its splits lowered the Gini impurity
};

// `features` are the ones that the forest may look at; weights may be empty.
RandomForest grow_random_forest(const Binned& cases, std::span<const int32_t> features, std::span<const int32_t> classes, int n_classes,
                                std::span<const double> weights, const RandomForestPolicy& policy, Cancellation& cancellation);

// The sum over trees of the values at the leaves where each case ends: (cases, outputs). The leaves of a tree add to `width` outputs, from
// output[tree] on.
struct EnsembleView {
    std::span<const int32_t> feature;
    std::span<const float> threshold;
    std::span<const uint8_t> missing_left;
    std::span<const int32_t> left, right;
    std::span<const float> value;
    std::span<const int32_t> roots, output;
    std::size_t width;
};
void add_leaves(const EnsembleView& trees, std::span<const float> features, std::size_t n_features, std::size_t n_outputs, double* sums);

}  // namespace worthwhile
