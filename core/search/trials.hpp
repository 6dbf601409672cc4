// Trials of biases: a tree is grown on some of the cases, and its total cost is counted on others (docs/design/icet.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/learn.hpp"

namespace worthwhile {

// What a search may set; the rest of the policy is common to all trials.
struct Trial {
    std::span<const double> biases;  // by test
    double omega;
    double confidence;
    int max_depth;
    double reject_below;
    int split;  // which of the plan's divisions of the cases
};

struct TrialPlan {
    std::vector<Trial> trials;
    int n_splits = 0;
    std::span<const uint8_t> grows;  // n_splits x n_cases: 1, the tree is grown on the case; 0, it is judged by it; empty: random halves
    uint64_t seed = 0;               // of the halves
    std::span<const double> growing_weights;  // n_splits x n_cases; empty: those of the data
    std::span<const double> judging_weights;  // by case; empty: those of the data
    int n_threads = 1;
    Clock::time_point deadline = Clock::time_point::max();

    // The row of an array n_splits x n_cases.
    template <class T>
    static std::span<const T> row_of(std::span<const T> array, int split, const TrainingSet& data) {
        return array.subspan(static_cast<std::size_t>(split) * data.table.n_cases, data.table.n_cases);
    }
};

// For each case whether it is in the half that a tree is grown on; of an odd number, in the larger half. Every half is as likely as any
// other, and one pass draws it (Knuth's selection sampling): shuffling in the caller took a sixth of a trial, on one thread.
std::vector<uint8_t> random_half(std::size_t n_cases, uint64_t seed, int split);

// The average total cost of each trial on the cases that judge it; NaN for trials that were not done by the deadline.
std::vector<double> run_trials(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const LearnPolicy& policy,
                               const TrialPlan& plan, Cancellation& cancellation);

}  // namespace worthwhile
