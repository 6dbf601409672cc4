// Growing a tree, top down (docs/design/growing.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/table.hpp"
#include "data/tree.hpp"
#include "grow/criterion.hpp"
#include "grow/subsets.hpp"
#include "parallel/cancellation.hpp"
#include "parallel/meter.hpp"
#include "pricing/error_costs.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

// How a look-ahead samples trees below every candidate split.
struct SamplingPolicy {
    int r = 0;                 // samples below every branch, and cuts of every numeric test; 0: no look-ahead
    bool greedy_first = true;  // the first sample is not drawn but grown greedily
    bool by_size = false;      // the smallest tree wins, not the cheapest
    bool pruned = false;       // what does not pay is cut off the samples
    double confidence = 0.25;
    double margin = 0;  // the greedy choice is kept unless another one is expected to cost less by more than this share
    uint64_t seed = 0;
    // After the deadline nodes are split greedily, and after `last_moment` not at all.
    Clock::time_point deadline = Clock::time_point::max();
    Clock::time_point last_moment = Clock::time_point::max();
};

struct GrowPolicy {
    const Criterion* criterion = &kCriteria[0];
    double omega = 1.0;
    double min_cases = 2.0;
    double min_share = 0.1;
    int max_depth = 1 << 30;
    NominalSplits nominal_splits = NominalSplits::multiway;
    bool mdl_correction = false;  // of C4.5 release 8: a numeric test pays for choosing among its cuts
    bool context = false;         // a test that is paid for on the path costs nothing more
    int idx_depth = 1;            // of IDX: how many tests in a row a candidate is judged by
    AnswerPolicy answer = AnswerPolicy::majority;
    int n_threads = 1;
    std::span<const double> biases;  // by test: what the criterion takes for the list price; infinite: never asked; empty: the price itself
    SamplingPolicy sampling;
    Meter* meter = nullptr;  // told how far the tree is; may be absent
};

// Lazy growing: only what one case will see, which are the branches it takes and all of the subtree below a delayed test that it orders.
struct LazyCase {
    const Table* cases;
    std::size_t row;
};

// Holds the sorted table, so that several trees can be grown from it.
class TreeGrower {
public:
    virtual ~TreeGrower() = default;
    virtual Tree grow(Cancellation& cancellation, const LazyCase* lazy = nullptr) = 0;
    virtual void set_policy(const GrowPolicy& policy) = 0;  // for the next tree; its number of threads does not count
};

// `reusable`: grow() will be called more than once.
std::unique_ptr<TreeGrower> make_grower(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy,
                                        bool reusable);

// Samples `n` trees as a look-ahead does and returns what each is expected to cost per case (or its number of leaves, if size counts).
std::vector<double> sample_trees(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy, int n,
                                 Cancellation& cancellation);

// Gives every node its answer; an empty one takes its parent's. Where errors cost each case something else, also the costs of its answers.
// With majority answers, a node whose majority has a smaller share than `reject_below` gives the reject answer, if there is one.
void assign_answers(Tree& tree, const ErrorCosts& errors, AnswerPolicy policy, double reject_below = 0);

}  // namespace worthwhile
