#include "pricing/error_costs.hpp"

#include <array>
#include <cmath>

namespace worthwhile {

int ErrorCosts::best_answer(const double* weights, AnswerPolicy policy) const {
    double total = 0;
    for (int c = 0; c < n_classes; ++c) total += weights[c];
    int best = 0;
    if (policy == AnswerPolicy::majority) {
        for (int c = 1; c < n_classes; ++c)
            if (weights[c] > weights[best] + 1e-9 * total) best = c;
        return best;
    }
    // Asked for every branch of every candidate: no allocation each time. A thread_local vector would do, but the process is aborted if there is
    // no memory left to register it.
    std::array<double, 32> few;
    std::vector<double> many(n_answers > static_cast<int>(few.size()) ? static_cast<std::size_t>(n_answers) : 0);
    double* const costs = many.empty() ? few.data() : many.data();
    of_all(weights, costs);
    return least(costs, total);
}

int ErrorCosts::reject_answer(const double* weights, int otherwise) const {
    if (n_answers == n_classes) return otherwise;
    double total = 0;
    for (int c = 0; c < n_classes; ++c) total += weights[c];
    int best = n_classes;
    for (int a = n_classes + 1; a < n_answers; ++a)
        if (of(weights, a) < of(weights, best) - 1e-9 * total * largest) best = a;
    return best;
}

namespace {

// Square of the normal deviate for confidence cf, by Quinlan's table with linear interpolation. C4.5 uses this table and
// not the exact quantile; it is also defined up to cf = 1, which ICET's search visits.
double squared_deviate(double cf) {
    constexpr double level[] = {0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
    constexpr double deviate[] = {4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};
    int i = 1;
    while (cf > level[i]) ++i;
    const double z = deviate[i - 1] + (deviate[i] - deviate[i - 1]) * (cf - level[i - 1]) / (level[i] - level[i - 1]);
    return z * z;
}

}  // namespace

double upper_errors(double cases, double errors, double cf) {
    if (cases <= 0) return 0;
    if (errors < 1e-6) return cases * (1 - std::pow(cf, 1 / cases));
    if (errors < 0.9999) {
        const double none = cases * (1 - std::pow(cf, 1 / cases));
        return none + errors * (upper_errors(cases, 1, cf) - none);
    }
    if (errors + 0.5 >= cases - 1e-9) return errors + 0.67 * (cases - errors);
    const double z2 = squared_deviate(cf), e = errors + 0.5;
    return cases * (e + z2 / 2 + std::sqrt(z2 * (e * (1 - e / cases) + z2 / 4))) / (cases + z2);
}

double leaf_cost(const ErrorCosts& errors, const double* weights, int answer, double cf) {
    const int k = errors.n_classes;
    double total = 0;
    for (int c = 0; c < k; ++c) total += weights[c];
    if (total <= 0) return 0;
    if (answer >= k) return errors.of(weights, answer);
    if (k == 1) return errors.of(weights, 0);
    const double wrong = total - weights[answer] > 0 ? total - weights[answer] : 0;
    const double expected_wrong = upper_errors(total, wrong, cf);
    double mean_cost = 0;
    for (int i = 0; i < k; ++i)
        if (i != answer) mean_cost += (weights[i] + 1) / (wrong + k - 1) * errors.at(i, answer);
    double right_cost = errors.at(answer, answer);
    if (errors.by_case) {
        mean_cost += errors.wrong_deviation(weights, answer) / (wrong + k - 1);
        if (weights[answer] > 0) right_cost += errors.right_deviation(weights, answer) / weights[answer];
    }
    return expected_wrong * mean_cost + (total - expected_wrong) * right_cost;
}

}  // namespace worthwhile
