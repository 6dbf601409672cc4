// Growing a tree, top down (docs/design.md, "Growing").
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "control.hpp"
#include "criterion.hpp"
#include "pricing.hpp"
#include "table.hpp"
#include "tree.hpp"
#include "valuation.hpp"

namespace worthwhile {

// How far the trees go that a look-ahead samples: until nothing can be split; no further than each split pays at once; or all the way,
// with what does not pay cut off again.
enum class Samples { grown, stopped, pruned };

struct LookaheadPolicy {
    int r = 0;                // samples below every branch, and cuts of every numeric test; 0: no look-ahead
    bool greedy_first = true;  // the first sample is not drawn but grown greedily
    bool by_size = false;     // the smallest tree wins, not the cheapest
    Samples samples = Samples::grown;
    double confidence = 0.25;
    double margin = 0;  // the greedy choice stands unless another one is expected to cost less by more than this share
    uint64_t seed = 0;
    const Training* aside = nullptr;  // cases that the samples are valued by, where enough of them come to a node
    // From here on nodes are split greedily, and from `last_moment` on not at all.
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::chrono::steady_clock::time_point last_moment = std::chrono::steady_clock::time_point::max();
};

struct GrowPolicy {
    const Criterion* criterion = &kCriteria[0];
    double omega = 1.0;
    double min_cases = 2.0;
    double min_share = 0.1;
    int max_depth = 1 << 30;
    bool release8 = false;
    bool context = false;
    int lookahead = 1;
    Answer answer = Answer::majority;
    int n_threads = 1;
    const double* biases = nullptr;  // by test: what the criterion sees in place of the list price; infinite: never asked
    LookaheadPolicy ahead;
};

// Grows only what one case will see: the branches it takes, and all of the subtree below a delayed test that it orders.
struct Guide {
    const Table* cases;
    std::size_t row;
};

// Holds the sorted table, so that several trees can be grown from it.
class TreeGrower {
public:
    virtual ~TreeGrower() = default;
    virtual Tree grow(Control& control, const Guide* guide = nullptr) = 0;
    virtual void set_policy(const GrowPolicy& policy) = 0;  // for the next tree; its number of threads does not count
};

// `reusable`: grow() will be called more than once.
std::unique_ptr<TreeGrower> make_grower(const Training& data, const Pricing& pricing, const ErrorCosts& errors,
                                        const GrowPolicy& policy, bool reusable);

// Samples `n` trees as a look-ahead does and returns what each is expected to cost per case (or its leaves, where size counts).
std::vector<double> sample_trees(const Training& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy, int n, Control& control);

// Moves every threshold down to the largest value of its column that does not exceed it, as C4.5 does.
void settle_thresholds(Tree& tree, const Training& data);

// Gives every node its answer; an empty one takes its parent's.
void settle_answers(Tree& tree, const ErrorCosts& errors, Answer policy);

}  // namespace worthwhile
