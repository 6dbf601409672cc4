// What cases have paid while one tree of a forest after the other is consulted (docs/design.md, "Forests").
#pragma once

#include <cstdint>
#include <vector>

#include "control.hpp"
#include "orders.hpp"
#include "pricing.hpp"
#include "tree.hpp"
#include "valuation.hpp"

namespace worthwhile {

// What one tree says of every case. A case that does not take part has the answer -1 and zeros.
struct Opinion {
    std::vector<int32_t> answer;
    std::vector<double> counts;  // n_cases x n_classes: class weights of the leaf
    std::vector<double> price;   // what the case pays on top of what it has paid before
};

// What all trees of a forest say together.
struct Verdict {
    std::vector<int32_t> votes;  // n_cases x n_classes
    std::vector<double> counts;  // n_cases x n_classes: class weights of the leaves, added up
    std::vector<double> price;
};

class ForestLedger {
public:
    // Looks at the table and the error costs as long as it lives; the price list is copied.
    ForestLedger(const Table& table, Pricing pricing, const ErrorCosts& errors);

    // `who` says by case whether it takes part; nullptr: all do.
    Opinion consult(const Tree& tree, const uint8_t* who, int n_threads, Control& control);

    // Consults all of these trees about every case.
    Verdict consult_all(const std::vector<const Tree*>& trees, int n_threads, Control& control);

private:
    void check(const Tree& tree) const;

    const Table& table_;
    const Pricing pricing_;
    const ErrorCosts& errors_;
    const bool any_delayed_;
    std::vector<TestSet> paid_;  // by case
};

}  // namespace worthwhile
