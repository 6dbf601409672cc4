// What a set of tests costs (docs/design/pricing.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pricing/test_set.hpp"

namespace worthwhile {

struct Pricing {
    std::vector<double> marginal;
    std::vector<int32_t> group;  // -1: none
    std::vector<double> common;
    std::vector<uint8_t> delayed;
    std::vector<int32_t> closure_start, closure_tests;  // a test with all it requires
    std::span<const double> case_prices;                // cases x tests: marginal prices that depend on the case; empty: they do not

    int n_tests() const { return static_cast<int>(marginal.size()); }
    bool any_delayed() const {
        return std::any_of(delayed.begin(), delayed.end(), [](uint8_t d) { return d != 0; });
    }

    double marginal_of(int test, std::size_t row) const {
        return case_prices.empty() ? marginal[test] : case_prices[row * marginal.size() + test];
    }

    template <class Visit>
    void each_required(int test, Visit visit) const {
        for (int32_t i = closure_start[test]; i < closure_start[test + 1]; ++i) visit(closure_tests[i]);
    }

    void charge(int test, TestSet& charged) const {
        each_required(test, [&](int t) { charged.add(t); });
    }

    // Whether ordering `test` means waiting for a delayed result.
    bool orders_delayed(int test, const TestSet& paid) const {
        bool waits = false;
        each_required(test, [&](int t) { waits |= delayed[t] && !paid.has(t); });
        return waits;
    }

    // Price of `charged` for a case that has paid for `paid`: marginals once, a group's common price once.
    double price(const TestSet& charged, const TestSet& paid, std::size_t row = 0) const {
        double sum = 0;
        std::vector<uint8_t> touched(common.size(), 0);
        paid.each([&](int t) {
            if (group[t] >= 0) touched[group[t]] = 1;
        });
        charged.each_without(paid, [&](int t) {
            sum += marginal_of(t, row);
            if (group[t] >= 0 && !touched[group[t]]) {
                touched[group[t]] = 1;
                sum += common[group[t]];
            }
        });
        return sum;
    }

    double price_of(int test, const TestSet& paid, std::size_t row = 0) const {
        if (closure_start[test + 1] - closure_start[test] == 1) {  // nearly always, and asked for every candidate of every node
            if (paid.has(test)) return 0;
            const int its_group = group[test];
            if (its_group < 0) return marginal_of(test, row);
            bool touched = false;
            paid.each([&](int t) { touched |= group[t] == its_group; });
            return marginal_of(test, row) + (touched ? 0.0 : common[its_group]);
        }
        TestSet charged(n_tests());
        charge(test, charged);
        return price(charged, paid, row);
    }
};

}  // namespace worthwhile
