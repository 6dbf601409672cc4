// Walking cases down the trees of a forest, which share what a case has paid for (docs/design/forests.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tree.hpp"
#include "parallel/cancellation.hpp"
#include "pricing/error_costs.hpp"
#include "pricing/pricing.hpp"
#include "route/case_walk.hpp"

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

// What is known of every case, a byte for each of its tests.
struct KnownTests {
    std::span<const uint8_t> known;  // whether it has a value, or is known to be unavailable; empty: all have or are
    std::span<const uint8_t> paid;   // whether it costs nothing any more; empty: none

    bool waits_for(std::size_t row, std::size_t n_tests) const;
    std::span<const uint8_t> of(std::size_t row, std::size_t n_tests) const { return known.subspan(row * n_tests, n_tests); }
};

// The test that a case waits for, and what ordering it means.
struct AwaitedTest {
    int32_t test;  // -1: it waits for none
    CaseOrder order;
};

class ForestRouter {
public:
    // Looks at the table, the error costs and what is known as long as it lives; the price list is copied. With `shares`, every leaf counts
    // as one case.
    ForestRouter(const Table& table, Pricing pricing, const ErrorCosts& errors, bool shares = false, KnownTests known = {});

    // `who` says by case whether it takes part; empty: all do. A case that comes to a test that is not known yet does not vote: it waits.
    TreeVotes consult(const Tree& tree, std::span<const uint8_t> who, int n_threads, Cancellation& cancellation);

    // Consults all of these trees about every case, all of whose tests are known.
    ForestVotes consult_all(const std::vector<const Tree*>& trees, int n_threads, Cancellation& cancellation);

    // The tests that each case has been charged for so far, a bit each: n_cases x words.
    std::vector<uint64_t> charged() const;

    // By case: the test that it waits for, or -1; a case that waits must not be asked again.
    std::vector<int32_t> awaited() const;

    // What ordering this test charges for, with what was charged before, and the other tests that it commits to: n_cases x words.
    std::vector<uint64_t> ordered() const;
    std::vector<uint64_t> committed() const;

private:
    void check(const Tree& tree) const;

    const Table& table_;
    const Pricing pricing_;
    const ErrorCosts& errors_;
    const bool shares_;
    const KnownTests known_;
    std::vector<TestSet> paid_;         // by case
    std::vector<AwaitedTest> awaited_;  // by case; empty if all is known
};

}  // namespace worthwhile
