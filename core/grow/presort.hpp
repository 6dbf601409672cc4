// Sorting a numeric column once, before the tree grows.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "data/table.hpp"

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

// Stable radix sort by the upper half of the key, in digits of `kBits` bits; digits that are the same everywhere are skipped.
template <int kBits>
void sort_by_upper_half(std::vector<SortEntry>& entries, std::vector<SortEntry>& buffer) {
    constexpr int kDigits = (32 + kBits - 1) / kBits;
    constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
    std::vector<std::array<uint32_t, kMask + 1>> count(kDigits);
    for (const SortEntry& e : entries)
        for (int d = 0; d < kDigits; ++d) ++count[d][e.key >> (32 + kBits * d) & kMask];
    buffer.resize(entries.size());
    for (int d = 0; d < kDigits && !entries.empty(); ++d) {
        auto& c = count[d];
        if (c[entries[0].key >> (32 + kBits * d) & kMask] == entries.size()) continue;
        uint32_t sum = 0;
        for (uint32_t& x : c) sum += std::exchange(x, sum);
        for (const SortEntry& e : entries) buffer[c[e.key >> (32 + kBits * d) & kMask]++] = e;
        entries.swap(buffer);
    }
}

// Values rarely agree in sign, exponent and the first 20 bits of the mantissa: runs that do are short, or all of one value.
inline void sort_entries(std::vector<SortEntry>& entries, std::vector<SortEntry>& buffer) {
    if (entries.size() < 20'000)
        sort_by_upper_half<8>(entries, buffer);
    else
        sort_by_upper_half<11>(entries, buffer);
    const auto less = [](const SortEntry& a, const SortEntry& b) { return a.key < b.key; };
    for (auto run = entries.begin(); run != entries.end();) {
        auto end = run + 1;
        bool sorted = true;
        for (; end != entries.end() && end->key >> 32 == run->key >> 32; ++end) sorted &= !less(*end, *(end - 1));
        if (!sorted) std::stable_sort(run, end, less);
        run = end;
    }
}

// The cases whose value is known, in the order of their values.
inline void sort_column(const Column& column, std::size_t n, std::vector<SortEntry>& entries, std::vector<SortEntry>& buffer) {
    entries.clear();
    for (std::size_t row = 0; row < n; ++row) {
        const double v = column.value(row);
        if (!std::isnan(v)) entries.push_back({sort_key(v), static_cast<uint32_t>(row)});
    }
    sort_entries(entries, buffer);
}

}  // namespace worthwhile
