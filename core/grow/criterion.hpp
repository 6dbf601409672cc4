// How a greedy learner scores a candidate split: one function and one row of the table per criterion. A learner names
// its row; the tests run over all rows.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

namespace worthwhile {

struct SplitStats {
    double gain;        // bits, on all cases of the node
    double split_info;  // bits
    double price;       // of the test, for a case of this node
    double drop;        // fall of the total cost per case of the node
};

// A free test outranks every priced one; among free tests the numerator decides.
inline double per_price(double numerator, double price) { return price > 0 ? numerator / price : numerator * 1e100; }

inline double gain_ratio(const SplitStats& e, double) { return e.split_info > 1e-10 ? e.gain / e.split_info : 0.0; }  // Quinlan 1993, ch. 2
inline double gain(const SplitStats& e, double) { return e.gain; }                                                    // Quinlan 1986, ID3
inline double icf(const SplitStats& e, double omega) {
    return (std::exp2(e.gain) - 1) / std::pow(e.price + 1, omega);
}  // Turney 1995, eq. 2
inline double gain_per_price(const SplitStats& e, double) { return per_price(e.gain, e.price); }                   // eq. 5
inline double gain_squared_per_price(const SplitStats& e, double) { return per_price(e.gain * e.gain, e.price); }  // eq. 4
inline double cost_drop(const SplitStats& e, double) { return e.drop; }  // Ling et al. 2004, as described by Esmeir & Markovitch 2008

struct Criterion {
    const char* name;
    double (*score)(const SplitStats&, double omega);
    bool average_rule;  // only tests of at least average gain compete
    bool by_drop;       // cuts and candidates are judged by the drop of the cost, not by the gain
    bool by_ratio;      // it asks for the split information
};

inline constexpr Criterion kCriteria[] = {
    {"gain-ratio", gain_ratio, true, false, true},
    {"gain", gain, false, false, false},
    {"icf", icf, false, false, false},
    {"gain-per-price", gain_per_price, false, false, false},
    {"gain-squared-per-price", gain_squared_per_price, false, false, false},
    {"cost-drop", cost_drop, false, true, false},
};

inline const Criterion& criterion_named(const std::string& name) {
    for (const Criterion& c : kCriteria)
        if (name == c.name) return c;
    throw std::invalid_argument("unknown criterion " + name);
}

}  // namespace worthwhile
