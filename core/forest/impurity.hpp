// How mixed the classes of a set of cases are. It falls with every case that is taken away, the more the larger the set is
// (monotone and supermodular; Nan, Wang & Saligrama 2015, section 2.2 and appendix), and is 0 on a pure set.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace worthwhile {

struct Impurity {
    const char* name;
    double (*value)(const double* counts, int k, double parameter);
};

namespace impurities {

inline double all_pairs(const double* n, int k) {
    double sum = 0, before = 0;
    for (int i = 0; i < k; ++i) {
        sum += before * n[i];
        before += n[i];
    }
    return sum;
}

inline double pairs(const double* n, int k, double alpha) {
    if (alpha == 0) return all_pairs(n, k);
    double sum = 0;
    for (int i = 0; i < k; ++i) {
        const double a = n[i] - alpha;
        if (a <= 0) continue;
        for (int j = i + 1; j < k; ++j)
            if (n[j] > alpha) sum += std::max(a * (n[j] - alpha) - alpha * alpha, 0.0);
    }
    return sum;
}

inline double powers(const double* n, int k, double l) {
    double all = 0, each = 0;
    int present = 0;
    for (int i = 0; i < k; ++i) {
        all += n[i];
        each += std::pow(n[i], l);
        present += n[i] > 0;
    }
    return present < 2 ? 0.0 : std::pow(all, l) - each;
}

// The share of pairs of cases that differ in class; 0 where there are no more cases than `least`. It is not supermodular: for splits by the mean over
// their branches, which then lower it as those of CART do.
inline double gini(const double* n, int k, double least) {
    double all = 0;
    for (int i = 0; i < k; ++i) all += n[i];
    return all <= least || all <= 0 ? 0.0 : 2 * all_pairs(n, k) / (all * all);
}

}  // namespace impurities

inline constexpr std::array<Impurity, 3> kImpurities{{
    {"pairs", impurities::pairs},
    {"powers", impurities::powers},
    {"gini", impurities::gini},
}};

inline const Impurity* find_impurity(std::string_view name) {
    for (const Impurity& impurity : kImpurities)
        if (name == impurity.name) return &impurity;
    return nullptr;
}

}  // namespace worthwhile
