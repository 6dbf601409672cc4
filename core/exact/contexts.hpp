// What has been paid for on the way to a node, and so what each further test costs there.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "exact/problem.hpp"

namespace worthwhile {

// What it takes to ask a question.
struct Order {
    bool allowed = false;
    bool commits = false;    // whatever is asked later has to be ordered, too
    double price = 0;        // per case; without the amounts that depend on the case
    std::vector<int> items;  // whose amounts depend on the case
    int next = -1;           // the context afterwards; -1: not asked for yet
};

// How the tests are paid for below a node: one after the other, with orders that commit; all of them in one order that was made above; or one
// after the other as if no result took time, which costs no more than any other way.
enum class Mode : uint8_t { ordinary, committed, relaxed };

struct Context {
    Mode mode = Mode::ordinary;
    TestSet paid;                // committed: the tests that were ordered
    TestSet out;                 // relaxed: tests that must not be asked unless they are paid for
    bool may_commit = false;     // an order of several tests at once may be cheaper, or is the only way
    double cheapest = 0;         // of all orders, per case
    std::vector<Order> orders;   // by question
    std::vector<double> prices;  // by question: of its order, or infinite
};

// All contexts that a search meets. To be used by one thread.
class Contexts {
public:
    Contexts(const ExactProblem& problem, const Pricing& pricing);

    const Context& operator[](int index) const { return *contexts_[static_cast<std::size_t>(index)]; }
    // The context after a question was asked.
    int after(int context, int question);
    // The context in which only these tests may be asked, all of them paid for.
    int committed(const TestSet& tests) { return find(Mode::committed, tests, pricing_.nothing()); }
    // The context in which some tests were ordered at once after another context, others are ruled out, and nothing takes time.
    int relaxed(int context, const TestSet& in, const TestSet& out);
    bool can_relax() const { return can_relax_; }
    // What it costs a case to order these tests at once; infinite if that breaks the cap. `items`: whose amounts depend on the case.
    double price_of_set(const TestSet& tests, int context, std::vector<int>& items) const;

private:
    int find(Mode mode, TestSet set, const TestSet& out);
    void add_free(TestSet& paid) const;
    Order order(const Pricing& pricing, int question, const TestSet& paid) const;
    double split_price(const TestSet& charged, const TestSet& paid, std::vector<int>& items) const;

    const ExactProblem& problem_;
    const Pricing& pricing_;
    Pricing timeless_;                 // without delays and waits
    bool can_relax_ = true;            // what a test costs does not depend on the order of the tests
    std::vector<uint8_t> joins_;       // by test: it counts as paid for once it costs nothing
    std::vector<double> nothing_due_;  // amounts of 0 for every item
    std::vector<std::unique_ptr<Context>> contexts_;
    std::map<std::pair<Mode, std::vector<uint64_t>>, int> known_;
};

}  // namespace worthwhile
