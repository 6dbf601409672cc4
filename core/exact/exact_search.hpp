// The search from the root: deeper and deeper trees, on several threads, until the best one is proven or the time is over.
#pragma once

#include <functional>

#include "exact/solver.hpp"
#include "parallel/cancellation.hpp"

namespace worthwhile {

struct DepthTree {
    Tree tree;
    double cost = 0;
};

struct ExactResult {
    Tree tree;
    double cost = 0;   // of the tree, over all cases, with its leaves
    double bound = 0;  // no tree costs less
    bool proven = false;
    bool ended = false, interrupted = false;  // by the caller; by a signal
    std::vector<DepthTree> by_depth;          // the best trees of depth up to 1, 2, ..., as far as they are proven
    DepthTree deeper;                         // the best tree, grown further
};

struct ExactProgress {
    double cost, bound;
};

struct ExactRun {
    int n_threads = 1;
    Clock::time_point deadline = Clock::time_point::max();
    std::function<bool(const ExactProgress&)> tell;  // called now and then by the calling thread; true ends the search
};

ExactResult search_exactly(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const ExactPolicy& policy,
                           int max_cuts, const ExactRun& run, Cancellation& cancellation);

// Gives a tree that was found its orders of several tests at once, and its answers.
void finish_exact_tree(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors);

}  // namespace worthwhile
