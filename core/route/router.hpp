// Walking cases down a finished tree: what they are answered and what they pay (docs/design/pricing.md).
#pragma once

#include <cstdint>
#include <vector>

#include "data/tree.hpp"
#include "parallel/cancellation.hpp"
#include "pricing/error_costs.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

// What was requested; the rest is empty.
struct Routes {
    std::vector<int32_t> answer;
    std::vector<double> price;
    std::vector<double> shares;     // n_cases x n_classes
    std::vector<uint64_t> charged;  // n_cases x words: the tests that each case is charged for, a bit each
};

struct RouteRequest {
    bool answers = false, prices = false, shares = false, charged = false;
    int n_threads = 1;
    bool may_stop = true;  // whether a case with an unavailable test stops where no further test pays; that needs the whole tree
};

Routes route(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, AnswerPolicy policy,
             const RouteRequest& request, Cancellation& cancellation);

}  // namespace worthwhile
