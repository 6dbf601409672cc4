#include "exact/contexts.hpp"

#include <algorithm>
#include <limits>

namespace worthwhile {

Contexts::Contexts(const ExactProblem& problem, const Pricing& pricing)
    : problem_(problem), pricing_(pricing), timeless_(pricing), joins_(static_cast<std::size_t>(pricing.n_tests()), 0),
      nothing_due_(pricing.marginal.size(), 0.0) {
    // What was done before may change other prices: such a test is paid for only when it is asked.
    TestSet counted = pricing.nothing();
    for (const TestSet& after : pricing.after) counted.unite(after);
    for (const TestSet& after : pricing.after_any)
        if (!after.empty()) counted.unite(after);
    for (int t = 0; t < pricing.n_tests(); ++t) {
        const bool alone = pricing.closure_start[t + 1] - pricing.closure_start[t] == 1;
        const bool surcharged = pricing.n_surcharges() > 0 && pricing.surcharge_start[t] < pricing.surcharge_start[t + 1];
        joins_[static_cast<std::size_t>(t)] =
            alone && !surcharged && !pricing.delayed[t] && pricing.wait[t] == 0 && !counted.has(t) && problem.amounts.empty();
    }
    timeless_.delayed.assign(timeless_.delayed.size(), 0);
    timeless_.wait.assign(timeless_.wait.size(), 0.0);
    can_relax_ = counted == pricing.nothing();
    find(Mode::ordinary, pricing.nothing(), pricing.nothing());
}

void Contexts::add_free(TestSet& paid) const {
    for (int t = 0; t < pricing_.n_tests(); ++t)
        if (joins_[static_cast<std::size_t>(t)] && !paid.has(t) && pricing_.price_of(t, paid) == 0) paid.add(t);
}

int Contexts::find(Mode mode, TestSet set, const TestSet& out) {
    if (mode != Mode::committed) add_free(set);
    std::pair<Mode, std::vector<uint64_t>> key{mode, {}};
    for (const TestSet* some : {&static_cast<const TestSet&>(set), &out})
        for (std::size_t i = 0; i < some->n_words(); ++i) key.second.push_back(some->word(i));
    const auto [found, is_new] = known_.emplace(std::move(key), static_cast<int>(contexts_.size()));
    const int index = found->second;
    if (!is_new) return index;
    contexts_.push_back(std::make_unique<Context>());
    Context& context = *contexts_.back();  // stays where it is while others are added
    context.mode = mode;
    context.paid = set;
    context.out = out;
    context.cheapest = std::numeric_limits<double>::infinity();
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        const int test = problem_.questions[q].column;
        Order made;
        if (set.has(test)) {
            made.allowed = true;
            made.next = index;
        } else if (mode == Mode::ordinary) {
            made = order(pricing_, static_cast<int>(q), set);
            if (pricing_.orders_delayed(test, set) || pricing_.orders_wait(test, set)) context.may_commit = true;
        } else if (mode == Mode::relaxed && !out.has(test)) {
            made = order(timeless_, static_cast<int>(q), set);
        }
        context.prices.push_back(made.allowed ? made.price : std::numeric_limits<double>::infinity());
        if (made.allowed) context.cheapest = std::min(context.cheapest, made.items.empty() ? made.price : 0.0);
        context.orders.push_back(std::move(made));
    }
    return index;
}

Order Contexts::order(const Pricing& pricing, int question, const TestSet& paid) const {
    const int test = problem_.questions[static_cast<std::size_t>(question)].column;
    Order made;
    TestSet charged = paid;
    pricing.order(test, charged);
    if (!pricing.within_cap(charged)) return made;
    made.allowed = true;
    made.commits = pricing.orders_delayed(test, paid);
    made.price = split_price(charged, paid, made.items);
    return made;
}

int Contexts::after(int context, int question) {
    Context& before = *contexts_[static_cast<std::size_t>(context)];
    Order& made = before.orders[static_cast<std::size_t>(question)];
    if (made.next < 0) {
        TestSet charged = before.paid;
        (before.mode == Mode::relaxed ? timeless_ : pricing_).order(problem_.questions[static_cast<std::size_t>(question)].column, charged);
        made.next = find(before.mode, charged, before.out);
    }
    return made.next;
}

int Contexts::relaxed(int context, const TestSet& in, const TestSet& out) {
    TestSet charged = (*this)[context].paid;
    in.each([&](int t) {
        if (!charged.has(t)) timeless_.order(t, charged);
    });
    return find(Mode::relaxed, charged, out);
}

double Contexts::price_of_set(const TestSet& tests, int context, std::vector<int>& items) const {
    const TestSet& paid = (*this)[context].paid;
    TestSet charged = paid;
    tests.each([&](int t) {
        if (!paid.has(t)) pricing_.add(t, paid, charged);
    });
    pricing_.add_wait(paid, charged);
    if (!pricing_.within_cap(charged)) return std::numeric_limits<double>::infinity();
    return split_price(charged, paid, items);
}

double Contexts::split_price(const TestSet& charged, const TestSet& paid, std::vector<int>& items) const {
    if (problem_.amounts.empty()) return pricing_.price(charged, paid, pricing_.marginal.data());
    charged.each_without(paid, [&](int item) {
        if (item < static_cast<int>(pricing_.marginal.size())) items.push_back(item);
    });
    return pricing_.price(charged, paid, nothing_due_.data());
}

}  // namespace worthwhile
