#include "data/column_store.hpp"

#include <algorithm>
#include <limits>

namespace worthwhile {

namespace {

// The two values of a column that has no others and none missing; false if it has.
bool two_values(const Column& column, std::size_t n_cases, double& lower, double& upper) {
    double a = std::numeric_limits<double>::quiet_NaN(), b = a;
    for (std::size_t row = 0; row < n_cases; ++row) {
        const double v = column.value(row);
        if (v == a || v == b) continue;
        if (std::isnan(v) || !std::isnan(b)) return false;
        (std::isnan(a) ? a : b) = v;
    }
    lower = std::min(a, b);
    upper = std::max(a, b);
    return !std::isnan(b);
}

}  // namespace

ColumnStore::ColumnStore(const Table& table)
    : numbers_(table.columns.size()), binary_of_(table.columns.size(), -1), start_(table.n_cases + 1, 0) {
    const std::size_t n = table.n_cases;
    for (int c = 0; c < table.n_columns(); ++c) {
        const Column& column = table.columns[static_cast<std::size_t>(c)];
        if (!column.numeric()) continue;
        Binary binary{c, 0, 0, false, {}};
        if (two_values(column, n, binary.lower, binary.upper)) {
            list(column, n, binary);
            binary_of_[static_cast<std::size_t>(c)] = static_cast<int>(binaries_.size());
            binaries_.push_back(std::move(binary));
            continue;
        }
        Numbers& own = numbers_[static_cast<std::size_t>(c)];
        own.values.resize(n);
        for (std::size_t row = 0; row < n; ++row) own.has_missing |= std::isnan(own.values[row] = column.value(row));
    }
    for (std::size_t row = 0; row < n; ++row) start_[row + 1] += start_[row];
    listed_.reserve(start_.back());
    for (uint32_t row = 0; row < n; ++row)
        for (std::size_t b = 0; b < binaries_.size(); ++b)
            if (binaries_[b].has(row)) listed_.push_back(static_cast<uint32_t>(b));
}

void ColumnStore::list(const Column& column, std::size_t n_cases, Binary& binary) {
    std::size_t above = 0;
    for (std::size_t row = 0; row < n_cases; ++row) above += column.value(row) == binary.upper;
    binary.rare_above = 2 * above <= n_cases;
    binary.listed.assign((n_cases + 63) / 64, 0);
    const double rare = binary.rare_above ? binary.upper : binary.lower;
    for (std::size_t row = 0; row < n_cases; ++row) {
        if (column.value(row) != rare) continue;
        binary.listed[row >> 6] |= uint64_t{1} << (row & 63);
        ++start_[row + 1];
    }
}

}  // namespace worthwhile
