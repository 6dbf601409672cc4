// The columns of a table as forests use them: contiguous numbers, and columns of two values by the cases that have the rarer one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"

namespace worthwhile {

class ColumnStore {
public:
    explicit ColumnStore(const Table& table);

    // A node reads one column after the other; in a table stored row by row, every value would be on another cache line.
    struct Numbers {
        std::vector<double> values;  // NaN = missing
        bool has_missing = false;
    };

    // A numeric column with two values and none missing.
    struct Binary {
        int column;
        double lower, upper;
        bool rare_above;               // whether the cases listed by row have the upper value
        std::vector<uint64_t> listed;  // by case, a bit each
        bool has(uint32_t row) const { return listed[row >> 6] >> (row & 63) & 1; }
        bool above(uint32_t row) const { return has(row) == rare_above; }
    };

    const Numbers& numbers(int column) const { return numbers_[static_cast<std::size_t>(column)]; }
    const std::vector<Binary>& binaries() const { return binaries_; }
    int binary_of(int column) const { return binary_of_[static_cast<std::size_t>(column)]; }  // -1: the column is not binary
    // Calls visit(number of a binary column) for those in which the case has the rarer value: columns that stand for the values of one
    // nominal test cost as little as that test.
    template <class Visit>
    void each_listed(uint32_t row, Visit visit) const {
        for (std::size_t i = start_[row]; i < start_[row + 1]; ++i) visit(listed_[i]);
    }

private:
    void list(const Column& column, std::size_t n_cases, Binary& binary);

    std::vector<Numbers> numbers_;  // by column; empty for others
    std::vector<Binary> binaries_;
    std::vector<int> binary_of_;
    std::vector<std::size_t> start_;
    std::vector<uint32_t> listed_;
};

}  // namespace worthwhile
