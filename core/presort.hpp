// Sorting a numeric column once, before the tree grows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "table.hpp"

namespace worthwhile {

struct SortEntry {
    uint64_t key;
    uint32_t row;
};

// Order-preserving image of a double in the unsigned integers; -0 counts as 0.
inline uint64_t sort_key(double v) {
    const uint64_t bits = std::bit_cast<uint64_t>(v + 0.0);
    return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
}

// Stable radix sort by the digits of 8 bits from `first` to 7; digits that are the same everywhere are skipped.
inline void radix_sort(std::vector<SortEntry>& entries, std::vector<SortEntry>& buffer, int first) {
    std::array<std::array<uint32_t, 256>, 8> count{};
    for (const SortEntry& e : entries)
        for (int d = first; d < 8; ++d) ++count[d][e.key >> (8 * d) & 255];
    buffer.resize(entries.size());
    for (int d = first; d < 8 && !entries.empty(); ++d) {
        auto& c = count[d];
        if (c[entries[0].key >> (8 * d) & 255] == entries.size()) continue;
        uint32_t sum = 0;
        for (uint32_t& x : c) sum += std::exchange(x, sum);
        for (const SortEntry& e : entries) buffer[c[e.key >> (8 * d) & 255]++] = e;
        entries.swap(buffer);
    }
}

// The cases whose value is known, in the order of their values.
inline void sort_column(const Column& column, std::size_t n, std::vector<SortEntry>& entries, std::vector<SortEntry>& buffer) {
    entries.clear();
    for (std::size_t row = 0; row < n; ++row) {
        const double v = column.value(row);
        if (!std::isnan(v)) entries.push_back({sort_key(v), static_cast<uint32_t>(row)});
    }
    // Few values hardly ever agree in sign, exponent and the first 20 bits of the mantissa: half of the digits will do.
    if (entries.size() < 10'000) {
        radix_sort(entries, buffer, 4);
        const auto out_of_order = [](const SortEntry& a, const SortEntry& b) { return a.key > b.key; };
        if (std::adjacent_find(entries.begin(), entries.end(), out_of_order) == entries.end()) return;
        std::sort(entries.begin(), entries.end(), [](const SortEntry& a, const SortEntry& b) { return a.row < b.row; });
    }
    radix_sort(entries, buffer, 0);
}

}  // namespace worthwhile
