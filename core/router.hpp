// Walking cases down a finished tree: what they are answered and what they pay (docs/design.md, "What a test costs").
#pragma once

#include <vector>

#include "control.hpp"
#include "orders.hpp"
#include "pricing.hpp"
#include "tree.hpp"
#include "valuation.hpp"

namespace worthwhile {

// The tests that `row` is charged for in the subtree at `node`, given what it has paid.
void charge_walk(const Tree& tree, int node, const Table& table, std::size_t row, const Pricing& pricing, const SubtreeTests& subtrees,
                 const TestSet& paid, TestSet& charged);

struct Routes {
    std::vector<int32_t> answer;
    std::vector<double> price;
    std::vector<double> shares;  // n_cases x n_classes, if wanted
};

// Class shares of every node: by its own weights, by its parent's where it is empty; a hand-written leaf without weights speaks for
// its answer, or for all classes alike where that is no class.
std::vector<double> node_shares(const Tree& tree);

struct RouteRequest {
    bool answers = true, prices = false, shares = false;
    int n_threads = 1;
};

Routes route(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, Answer policy,
             const RouteRequest& request, Control& control);

}  // namespace worthwhile
