// Counting the values of all nominal tests of a node in one pass.
//
// Every case has a row of bytes, one for each value of each nominal test: 1 if the case has the value. The rows of a class add up,
// eight bytes in one word, as long as no byte overflows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "grow/cuts.hpp"

namespace worthwhile {

struct NominalIndicators {
    static constexpr std::size_t kBytes = sizeof(uint64_t), kWidest = 16;
    static constexpr std::size_t kLargest = std::size_t{1} << 17;  // a megabyte: nothing is gained outside the second-level cache
    static constexpr int kMostClasses = 16;

    std::size_t width = 0;           // words per case; 0: too many values, classes or cases, or no nominal test
    std::vector<std::size_t> first;  // by column: the byte where its values begin
    std::vector<uint64_t> words;     // n_cases x width

    const uint64_t* row(std::size_t row) const { return words.data() + row * width; }
};

inline NominalIndicators make_indicators(const Table& table, int n_classes) {
    NominalIndicators indicators;
    std::size_t n_values = 0;
    for (const Column& column : table.columns) {
        indicators.first.push_back(n_values);
        if (!column.numeric()) n_values += static_cast<std::size_t>(column.n_values);
    }
    const std::size_t width = (n_values + NominalIndicators::kBytes - 1) / NominalIndicators::kBytes;
    if (width > NominalIndicators::kWidest || n_classes > NominalIndicators::kMostClasses ||
        table.n_cases * width > NominalIndicators::kLargest)
        return indicators;
    indicators.width = width;
    indicators.words.assign(table.n_cases * width, 0);
    for (int c = 0; c < table.n_columns(); ++c) {
        const Column& column = table.columns[c];
        if (column.numeric()) continue;
        for (std::size_t row = 0; row < table.n_cases; ++row) {
            if (column.missing(row)) continue;
            const std::size_t byte = indicators.first[c] + static_cast<std::size_t>(column.code(row));
            indicators.words[row * width + byte / NominalIndicators::kBytes] |= uint64_t{1} << 8 * (byte % NominalIndicators::kBytes);
        }
    }
    return indicators;
}

// How many cases of each class have each value.
class NominalCounts {
public:
    explicit NominalCounts(int n_classes) : k_(static_cast<std::size_t>(n_classes)) {}

    template <class Word>
    void count(const NominalIndicators& indicators, const Word* rows, std::size_t n, const Packing& packing) {
        width_ = indicators.width;
        counts_.assign(width_ * NominalIndicators::kBytes * k_, 0);
        while (n > 0) {
            const std::size_t block = std::min<std::size_t>(n, 255);  // then a byte may be full
            sums_.assign(width_ * k_, 0);
            for (std::size_t i = 0; i < block; ++i) {
                const uint64_t* from = indicators.row(packing.row(rows[i]));
                uint64_t* to = sums_.data() + packing.label(rows[i]) * width_;
                for (std::size_t w = 0; w < width_; ++w) to[w] += from[w];
            }
            for (std::size_t j = 0; j < counts_.size(); ++j)
                counts_[j] += static_cast<uint32_t>(sums_[j / NominalIndicators::kBytes] >> 8 * (j % NominalIndicators::kBytes) & 255);
            rows += block;
            n -= block;
        }
    }

    // Class weights per branch of the test whose values begin at `first`.
    void divide(std::size_t first, const Level& level, std::vector<double>& branches) const {
        branches.assign(static_cast<std::size_t>(level.n_branches) * k_, 0.0);
        for (std::size_t v = 0; v < level.branch_of.size(); ++v)
            for (std::size_t c = 0; c < k_; ++c)
                branches[static_cast<std::size_t>(level.branch_of[v]) * k_ + c] +=
                    counts_[c * width_ * NominalIndicators::kBytes + first + v];
    }

private:
    std::size_t k_, width_ = 0;
    std::vector<uint64_t> sums_;
    std::vector<uint32_t> counts_;  // n_classes x bytes of a case
};

}  // namespace worthwhile
