// Growing a tree, top down (docs/design.md, "Growing").
#pragma once

#include <memory>
#include <string>

#include "control.hpp"
#include "criterion.hpp"
#include "pricing.hpp"
#include "table.hpp"
#include "tree.hpp"
#include "valuation.hpp"

namespace worthwhile {

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

// Moves every threshold down to the largest value of its column that does not exceed it, as C4.5 does.
void settle_thresholds(Tree& tree, const Training& data);

// Gives every node its answer; an empty one takes its parent's.
void settle_answers(Tree& tree, const ErrorCosts& errors, Answer policy);

}  // namespace worthwhile
