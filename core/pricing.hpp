// What a set of tests costs (docs/design.md, "What a test costs").
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace worthwhile {

// The first 64 tests stand in the object itself: sets are copied at every node, and few problems need the vector.
class TestSet {
public:
    explicit TestSet(int n_tests = 0) : rest_(n_tests > 64 ? static_cast<std::size_t>(n_tests - 1) / 64 : 0, 0) {}

    bool has(int test) const { return word(test >> 6) >> (test & 63) & 1; }
    void add(int test) { word(test >> 6) |= uint64_t{1} << (test & 63); }
    void unite(const TestSet& other) {
        for (std::size_t i = 0; i <= rest_.size(); ++i) word(i) |= other.word(i);
    }
    template <class Visit>
    void each(Visit visit) const {
        each_without(TestSet(static_cast<int>(64 * (rest_.size() + 1))), visit);
    }
    template <class Visit>
    void each_without(const TestSet& other, Visit visit) const {
        for (std::size_t i = 0; i <= rest_.size(); ++i)
            for (uint64_t left = word(i) & ~other.word(i); left; left &= left - 1) visit(static_cast<int>(i * 64) + std::countr_zero(left));
    }

private:
    uint64_t& word(std::size_t i) { return i ? rest_[i - 1] : first_; }
    const uint64_t& word(std::size_t i) const { return i ? rest_[i - 1] : first_; }

    uint64_t first_ = 0;
    std::vector<uint64_t> rest_;
};

struct Pricing {
    std::vector<double> marginal;
    std::vector<int32_t> group;  // -1: none
    std::vector<double> common;
    std::vector<uint8_t> delayed;
    std::vector<int32_t> closure_start, closure_tests;  // a test with all it requires
    const double* case_prices = nullptr;                // (cases x tests) marginal prices that depend on the case, or none

    int n_tests() const { return static_cast<int>(marginal.size()); }

    double marginal_of(int test, std::size_t row) const {
        return case_prices ? case_prices[row * marginal.size() + test] : marginal[test];
    }

    template <class Visit>
    void each_required(int test, Visit visit) const {
        for (int32_t i = closure_start[test]; i < closure_start[test + 1]; ++i) visit(closure_tests[i]);
    }

    void charge(int test, TestSet& charged) const {
        each_required(test, [&](int t) { charged.add(t); });
    }

    // Ordering `test` now means waiting for a result that is not there yet.
    bool orders_delayed(int test, const TestSet& paid) const {
        bool waits = false;
        each_required(test, [&](int t) { waits |= delayed[t] && !paid.has(t); });
        return waits;
    }

    // Price of `charged` for somebody who has paid for `paid`: marginals once, a group's common price once.
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
