// What a set of tests costs (docs/design/pricing.md).
//
// A case is charged for a set of items: tests, surcharges, and times that it waited. The set alone decides the price, whatever depends on
// the order of the tests: a surcharge "after" other tests is added, or not, when its test is ordered, and an order adds the wait of its
// slowest test, once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pricing/test_set.hpp"

namespace worthwhile {

struct Pricing {
    std::vector<double> marginal;                          // by test, then by surcharge
    std::vector<int32_t> group_start, group_list;          // the groups of a test
    std::vector<double> common;                            // by group
    std::vector<uint8_t> delayed;                          // by test
    std::vector<int32_t> closure_start, closure_tests;     // a test with all it requires
    std::vector<double> wait;                              // by test: how long its result takes
    std::vector<double> waiting_time, waiting_price;       // points of what waiting costs; empty: nothing
    std::vector<int32_t> surcharge_start;                  // by test: the first of its surcharges
    std::vector<TestSet> after;                            // by surcharge: what must be paid for before, besides what the test requires
    std::vector<TestSet> after_any;                        // by surcharge: one of these must be paid for before; empty: none
    std::vector<int32_t> truth;                            // by surcharge: the class it is for, or -1
    std::vector<TestSet> members;                          // by group
    double cap = std::numeric_limits<double>::infinity();  // no case may pay more
    std::span<const double> case_prices;  // cases x (tests and surcharges): prices that depend on the case; empty: they do not
    std::vector<double> ceiling;          // by test: the most that the list or a case says; empty: as in the list

    int n_tests() const { return static_cast<int>(delayed.size()); }
    int n_surcharges() const { return static_cast<int>(marginal.size() - delayed.size()); }
    int n_items() const { return n_tests() + n_surcharges() + (has_waits() ? n_tests() : 0); }
    bool has_waits() const { return !waiting_time.empty(); }
    bool has_cap() const { return cap < std::numeric_limits<double>::infinity(); }
    TestSet nothing() const { return TestSet(n_items()); }
    bool any_delayed() const {
        return std::any_of(delayed.begin(), delayed.end(), [](uint8_t d) { return d != 0; });
    }
    // Whether orders may include everything below a node.
    bool any_commits() const { return any_delayed() || has_waits(); }

    // The price of every test and the amount of every surcharge for a case.
    const double* amounts_of(std::size_t row) const {
        return case_prices.empty() ? marginal.data() : case_prices.data() + row * marginal.size();
    }

    // The mean of these amounts over cases with some weights; empty: every case counts once.
    std::vector<double> mean_amounts(std::span<const double> weights) const {
        if (case_prices.empty()) return marginal;
        std::vector<double> mean(marginal.size(), 0.0);
        const std::size_t n = case_prices.size() / marginal.size();
        double total = 0;
        for (std::size_t row = 0; row < n; ++row) {
            const double weight = weights.empty() ? 1.0 : weights[row];
            for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += weight * amounts_of(row)[i];
            total += weight;
        }
        for (double& amount : mean) amount = total > 0 ? amount / total : 0.0;
        return mean;
    }

    template <class Visit>
    void each_required(int test, Visit visit) const {
        for (int32_t i = closure_start[test]; i < closure_start[test + 1]; ++i) visit(closure_tests[i]);
    }

    // ---- orders. `before` is what was paid for before the order; `charged` has it all.

    // Adds a test, what it requires, and their surcharges.
    void add(int test, const TestSet& before, TestSet& charged) const {
        each_required(test, [&](int t) {
            charged.add(t);
            if (n_surcharges() == 0 || before.has(t)) return;
            for (int32_t s = surcharge_start[t]; s < surcharge_start[t + 1]; ++s)
                if (after[s].within(before) && (after_any[s].empty() || before.meets(after_any[s]))) charged.add(n_tests() + s);
        });
    }

    // Adds the wait for the slowest test of an order; ties go to the first.
    void add_wait(const TestSet& before, TestSet& charged) const {
        if (!has_waits()) return;
        int slowest = -1;
        charged.each_without(before, [&](int t) {
            if (t < n_tests() && wait[t] > 0 && (slowest < 0 || wait[t] > wait[slowest])) slowest = t;
        });
        if (slowest >= 0) charged.add(n_tests() + n_surcharges() + slowest);
    }

    // Adds what ordering `test` alone charges for to what was paid for before.
    void order(int test, TestSet& charged) const {
        if (n_surcharges() == 0 && !has_waits()) {
            each_required(test, [&](int t) { charged.add(t); });
            return;
        }
        const TestSet before = charged;
        add(test, before, charged);
        add_wait(before, charged);
    }

    // Whether ordering `test` means waiting for a delayed result, and so committing to all that may follow.
    bool orders_delayed(int test, const TestSet& paid) const {
        bool waits = false;
        each_required(test, [&](int t) { waits |= delayed[t] && !paid.has(t); });
        return waits;
    }

    // Whether ordering `test` means waiting at all.
    bool orders_wait(int test, const TestSet& paid) const {
        if (!has_waits()) return false;
        bool waits = false;
        each_required(test, [&](int t) { waits |= wait[t] > 0 && !paid.has(t); });
        return waits;
    }

    // ---- prices

    // Price of `charged` for a case that has paid for `paid`.
    double price(const TestSet& charged, const TestSet& paid, std::size_t row = 0) const { return price(charged, paid, amounts_of(row)); }

    double price(const TestSet& charged, const TestSet& paid, const double* amounts) const {
        double sum = 0;
        TestSet touched(static_cast<int>(common.size()));
        charged.each_without(paid, [&](int item) {
            if (item >= n_tests()) {
                if (item < n_tests() + n_surcharges()) sum += amounts[item];
                return;
            }
            sum += amounts[item];
            for (int32_t i = group_start[item]; i < group_start[item + 1]; ++i) {
                const int g = group_list[i];
                if (touched.has(g) || paid.meets(members[g])) continue;
                touched.add(g);
                sum += common[g];
            }
        });
        return has_waits() ? sum + price_of_waiting(charged, paid) : sum;
    }

    double price_of(int test, const TestSet& paid) const { return price_of(test, paid, marginal.data()); }

    double price_of(int test, const TestSet& paid, const double* amounts) const {
        if (paid.has(test)) return 0;
        if (is_plain(test)) {  // nearly always, and asked for every candidate of every node
            double sum = amounts[test];
            for (int32_t i = group_start[test]; i < group_start[test + 1]; ++i)
                if (!paid.meets(members[group_list[i]])) sum += common[group_list[i]];
            return sum;
        }
        TestSet charged = paid;
        order(test, charged);
        return price(charged, paid, amounts);
    }

    // The most that a set of items can cost a case with these prices of tests, whatever its class and its values.
    double most(const TestSet& charged, const double* test_prices) const {
        double sum = 0;
        TestSet tests(n_items());
        std::vector<double> by_class;
        charged.each([&](int item) {
            if (item < n_tests()) {
                tests.add(item);
                return;
            }
            const int s = item - n_tests();
            if (s >= n_surcharges()) return;
            const double amount = std::max(0.0, marginal[item]);
            if (truth[s] < 0) {
                sum += amount;
            } else {
                by_class.resize(std::max(by_class.size(), static_cast<std::size_t>(truth[s]) + 1), 0.0);
                by_class[static_cast<std::size_t>(truth[s])] += amount;
            }
        });
        if (!by_class.empty()) sum += *std::max_element(by_class.begin(), by_class.end());
        sum += price(tests, nothing(), test_prices);
        return has_waits() ? sum + price_of_waiting(charged, nothing()) : sum;
    }

    // Whether no case pays more than the cap for these items; with a row, this case.
    bool within_cap(const TestSet& charged) const {
        return !has_cap() || most(charged, ceiling.empty() ? marginal.data() : ceiling.data()) <= cap * (1 + 1e-12);
    }
    bool within_cap(const TestSet& charged, std::size_t row) const {
        return !has_cap() || most(charged, amounts_of(row)) <= cap * (1 + 1e-12);
    }

    // Sets what depends on the prices of all cases.
    void set_case_prices(std::span<const double> prices) {
        case_prices = prices;
        if (!has_cap()) return;
        ceiling.assign(marginal.begin(), marginal.begin() + n_tests());
        for (std::size_t row = 0; row * marginal.size() < prices.size(); ++row)
            for (std::size_t t = 0; t < ceiling.size(); ++t) ceiling[t] = std::max(ceiling[t], amounts_of(row)[t]);
    }

private:
    bool is_plain(int test) const {
        return closure_start[test + 1] - closure_start[test] == 1 &&
               (n_surcharges() == 0 || surcharge_start[test] == surcharge_start[test + 1]) && (!has_waits() || wait[test] == 0);
    }

    double price_of_waiting(const TestSet& charged, const TestSet& paid) const {
        const int first = n_tests() + n_surcharges();
        double before = 0, more = 0;
        paid.each([&](int item) { before += item >= first ? wait[item - first] : 0.0; });
        charged.each_without(paid, [&](int item) { more += item >= first ? wait[item - first] : 0.0; });
        return more > 0 ? waited(before + more) - waited(before) : 0.0;
    }

    // What it costs to wait for so long in all; after the last point the curve goes on with its last slope.
    double waited(double time) const {
        std::size_t i = 1;
        while (i + 1 < waiting_time.size() && time > waiting_time[i]) ++i;
        const double slope = (waiting_price[i] - waiting_price[i - 1]) / (waiting_time[i] - waiting_time[i - 1]);
        return waiting_price[i - 1] + (time - waiting_time[i - 1]) * slope;
    }
};

}  // namespace worthwhile
