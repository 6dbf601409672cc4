// The table of cases as the core sees it: views on memory that Python owns. Nothing here copies a value.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace worthwhile {

// One way of asking a nominal test: value code -> branch. Level 0 asks for the value itself; further levels, from a
// hierarchy of values, ask for something more general. The levels of an ordered category are its cuts.
struct Level {
    int32_t n_branches = 0;
    std::vector<int32_t> branch_of;
};

struct Column {
    const double* values = nullptr;  // numeric; NaN = missing
    const int32_t* codes = nullptr;  // nominal; negative = missing
    std::ptrdiff_t stride = 1;
    int32_t n_values = 0;
    std::span<const Level> levels;  // a view, too: columns are copied for every trial

    bool numeric() const { return values != nullptr; }
    double value(std::size_t row) const { return values[static_cast<std::ptrdiff_t>(row) * stride]; }
    int32_t code(std::size_t row) const { return codes[static_cast<std::ptrdiff_t>(row) * stride]; }
    bool missing(std::size_t row) const {
        if (numeric()) return std::isnan(value(row));
        const int32_t c = code(row);
        return c < 0 || c >= n_values;
    }
};

struct Table {
    std::size_t n_cases = 0;
    std::vector<Column> columns;
    bool has_missing = false;  // false: every value is known, and every code is one of its column's; growing relies on it

    int n_columns() const { return static_cast<int>(columns.size()); }
};

struct NominalIndicators;

struct TrainingSet {
    const Table& table;
    std::span<const int32_t> classes;
    int n_classes;
    std::span<const double> weights;  // empty: every case counts once
    // By column, the rows that have a value, in the order of the values of a numeric column; nullptr: not sorted yet.
    const std::vector<std::vector<uint32_t>>* order = nullptr;
    const NominalIndicators* indicators = nullptr;  // nullptr: not made
    // By case and answer: what it costs more than the error costs of its class say; empty: nothing.
    std::span<const double> deviations{};
    int n_answers = 0;

    double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
    bool by_case() const { return !deviations.empty(); }

    double deviation(std::size_t row, int answer) const {
        return by_case() ? deviations[row * static_cast<std::size_t>(n_answers) + static_cast<std::size_t>(answer)] : 0.0;
    }

    // The class weights of some cases are followed, if errors cost each case something else, by their deviations: for each answer those of
    // the cases that it is wrong for, then those of the cases that it is right for.
    int n_deviations() const { return by_case() ? 2 * n_answers : 0; }
    int n_statistics() const { return n_classes + n_deviations(); }
    void add_deviations(std::size_t row, double weight, double* class_weights) const {
        if (!by_case()) return;
        const double* own = deviations.data() + row * static_cast<std::size_t>(n_answers);
        double *wrong = class_weights + n_classes, *right = wrong + n_answers;
        for (int a = 0; a < n_answers; ++a) (a == classes[row] ? right : wrong)[a] += weight * own[a];
    }
    void add_case(std::size_t row, double weight, double* class_weights) const {
        class_weights[classes[row]] += weight;
        add_deviations(row, weight, class_weights);
    }
};

}  // namespace worthwhile
