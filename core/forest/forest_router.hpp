// Walking cases down the trees of a forest, which share what a case has paid for (docs/design/forests.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tree.hpp"
#include "parallel/cancellation.hpp"
#include "pricing/error_costs.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

// The vote of one tree for every case. A case that does not take part has the answer -1 and zeros.
struct TreeVotes {
    std::vector<int32_t> answer;
    std::vector<double> counts;  // n_cases x n_classes: class weights, or shares, of the leaf
    std::vector<double> price;   // what the case pays on top of what it has paid before
};

// The votes of all trees of a forest.
struct ForestVotes {
    std::vector<int32_t> votes;  // n_cases x n_classes
    std::vector<double> counts;  // n_cases x n_classes: class weights, or shares, of the leaves, added up
    std::vector<double> price;
};

class ForestRouter {
public:
    // Looks at the table and the error costs as long as it lives; the price list is copied. With `shares`, every leaf counts as one case.
    ForestRouter(const Table& table, Pricing pricing, const ErrorCosts& errors, bool shares = false);

    // `who` says by case whether it takes part; empty: all do.
    TreeVotes consult(const Tree& tree, std::span<const uint8_t> who, int n_threads, Cancellation& cancellation);

    // Consults all of these trees about every case.
    ForestVotes consult_all(const std::vector<const Tree*>& trees, int n_threads, Cancellation& cancellation);

    // The tests that each case has been charged for so far, a bit each: n_cases x words.
    std::vector<uint64_t> charged() const;

private:
    void check(const Tree& tree) const;

    const Table& table_;
    const Pricing pricing_;
    const ErrorCosts& errors_;
    const bool shares_;
    std::vector<TestSet> paid_;  // by case
};

}  // namespace worthwhile
