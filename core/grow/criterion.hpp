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

// Quinlan 1993, ch. 2
inline double gain_ratio(const SplitStats& s, double) { return s.split_info > 1e-10 ? s.gain / s.split_info : 0.0; }
// Quinlan 1986, ID3
inline double gain(const SplitStats& s, double) { return s.gain; }
// Turney 1995, eq. 2, 5 and 4
inline double icf(const SplitStats& s, double omega) { return (std::exp2(s.gain) - 1) / std::pow(s.price + 1, omega); }
inline double gain_per_price(const SplitStats& s, double) { return per_price(s.gain, s.price); }
inline double gain_squared_per_price(const SplitStats& s, double) { return per_price(s.gain * s.gain, s.price); }
// Ling et al. 2004, as described by Esmeir & Markovitch 2008
inline double cost_drop(const SplitStats& s, double) { return s.drop; }

struct Criterion {
    const char* name;
    double (*score)(const SplitStats&, double omega);
    bool average_rule = false;  // only tests of at least average gain compete
    bool by_drop = false;       // cuts and candidates are judged by the drop of the cost, not by the gain
    bool by_ratio = false;      // it asks for the split information
};

inline constexpr Criterion kCriteria[] = {
    {.name = "gain-ratio", .score = gain_ratio, .average_rule = true, .by_ratio = true},
    {.name = "gain", .score = gain},
    {.name = "icf", .score = icf},
    {.name = "gain-per-price", .score = gain_per_price},
    {.name = "gain-squared-per-price", .score = gain_squared_per_price},
    {.name = "cost-drop", .score = cost_drop, .by_drop = true},
};

inline const Criterion& criterion_named(const std::string& name) {
    for (const Criterion& c : kCriteria)
        if (name == c.name) return c;
    throw std::invalid_argument("unknown criterion " + name);
}

}  // namespace worthwhile
