// Walking one case test by test, also where tests are unavailable: where it stands, what it is charged, and whether the next test pays
// (docs/design/pricing.md).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/table.hpp"
#include "data/tree.hpp"
#include "pricing/error_costs.hpp"
#include "pricing/pricing.hpp"
#include "route/subtree_tests.hpp"
#include "route/tree_walker.hpp"

namespace worthwhile {

// A share of a case and the node where it stands.
struct CasePart {
    int node;
    double share;
};

// What ordering a test charges for, with what was paid before, and the other tests of the tree that it commits to.
struct CaseOrder {
    TestSet charged, commits;
    bool delayed = false;
};

struct CaseStep {
    int node, branch;  // branch -1: unavailable
    bool paid_before;
    double price;              // by the price list
    TestSet commits, charged;  // charged: also what was paid before
};

struct CaseState {
    std::vector<CasePart> parts{{0, 1.0}};  // in the order in which they are followed
    TestSet charged;
    TestSet seen;           // the tests whose value, or lack of one, the walk has met
    TestSet unavailable{};  // the tests known to be unavailable, also those that the walk has not met
    int waiting = -1;       // the test that is asked for next and not known yet
    std::vector<CaseStep> steps{};
    int rejected = -1;  // a test that the case could do next, but that does not pay
    double rejected_cost = 0;

    bool divided() const { return parts.size() > 1; }
};

// What a case has paid for: by its path, which decides what a further test orders, and because its value is known.
struct Payments {
    TestSet charged, known;
};

class CaseWalker {
public:
    // `subtrees` must be those of the tree if orders may commit, or a test is known to be unavailable before the walk meets it. Unless both the
    // tree and `may_stop` say so, a case with an unavailable test does all tests that the tree asks for.
    CaseWalker(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, AnswerPolicy policy,
               const NodeShares& shares, const SubtreeTests& subtrees, bool may_stop);

    // Walks a case as far as it is known; `known` says so by test, empty: all values are known or unavailable.
    void walk(std::size_t row, std::span<const uint8_t> known, CaseState& state, bool with_steps = false) const;

    // The class shares where a case stands; behind them, if errors cost each case something else, what each answer is expected to cost.
    std::vector<double> mixture(const std::vector<CasePart>& parts) const;

    // The answer of least cost, or the most probable class, for a mixture.
    int answer_of(const std::vector<double>& mix) const;

    // What is ordered with a test for all parts that stand at it.
    CaseOrder order(std::size_t row, std::span<const uint8_t> known, const CaseState& state, int test) const;

    // Expected price and error cost if the case goes on with the test that it waits for, where the tests of `paid` cost nothing; NaN if
    // there are no weights to divide cases by. If the test has to pay: if its first part goes on as long as that pays, and the others stay
    // where the test leads them.
    double cost_of_going_on(std::size_t row, std::span<const uint8_t> known, const CaseState& state, const TestSet& paid) const;

private:
    int branch(int node, std::size_t row) const;
    template <class Met>
    CaseOrder order_of(int test, const std::vector<CasePart>& parts, const TestSet& charged, std::size_t row, Met met) const;
    bool advance(std::size_t row, std::span<const uint8_t> known, CaseState& state, bool with_steps) const;
    CaseOrder order_for_decision(int test, const std::vector<CasePart>& parts, const TestSet& charged, const TestSet& met,
                                 std::size_t row) const;
    bool must_pay(int test, std::span<const uint8_t> known, const CaseState& state) const;
    TestSet met_before(int test, std::span<const uint8_t> known, const CaseState& state) const;
    bool asks_freely(int test, std::size_t row, std::span<const uint8_t> known, const CaseState& state) const;
    bool ask(int test, std::span<const uint8_t> known, CaseState& state) const;
    void move(std::size_t at, std::size_t row, std::span<const uint8_t> known, CaseState& state, bool with_steps) const;
    bool affordable(int test, std::size_t row, std::span<const uint8_t> known, const CaseState& state) const;
    int worthwhile_test(std::size_t row, std::span<const uint8_t> known, CaseState& state, bool with_steps) const;
    bool hopeless(int test, const CaseState& state, const TestSet& met, std::size_t row) const;
    double price(const CaseOrder& order, const Payments& paid, int test, const std::vector<CasePart>& parts) const;
    double expected_price(const TestSet& charged, const TestSet& paid, int test, const std::vector<CasePart>& parts) const;
    double answer_cost(const std::vector<double>& mix) const;
    double leaf_cost(int node) const;
    std::size_t mixture_size() const;
    void add(int node, double share, std::vector<double>& mix) const;
    double cost_of_test(int test, const std::vector<CasePart>& parts, const TestSet& met, const Payments& paid, std::size_t row,
                        int levels = std::numeric_limits<int>::max()) const;
    double cost_of_part(int top, double share, const std::vector<double>& others, const TestSet& met, const Payments& paid, std::size_t row,
                        int levels) const;
    double undivided_cost(int top, std::size_t row, std::span<const uint8_t> known, const Payments& paid) const;
    double divided_cost(int node, std::size_t row, std::span<const uint8_t> known, const Payments& paid) const;

    const Tree& tree_;
    const Table& table_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const AnswerPolicy policy_;
    const NodeShares& shares_;
    const SubtreeTests& subtrees_;
    const bool any_commits_, may_stop_;
    double widest_ = 0;  // the most that one answer costs more for one class, or at one node, than for another
};

}  // namespace worthwhile
