// Cases as scikit-learn's models see them, numbers in columns, with the values of each column sorted into a limited number of bins.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace worthwhile {

inline constexpr int kMaxBins = 254;
inline constexpr uint8_t kMissingBin = 255;
inline constexpr std::size_t kManyShares = 4;  // a value of more cases than so many bins would have gets its own

class Binned {
public:
    // `values` has a row per case; NaN is missing.
    Binned(std::span<const float> values, std::size_t rows, std::size_t columns, int max_bins)
        : n_cases(rows), n_features(columns), bins_(rows * columns), cuts_(columns) {
        std::vector<float> sorted;
        for (std::size_t f = 0; f < columns; ++f) {
            sorted.clear();
            for (std::size_t i = 0; i < rows; ++i)
                if (!std::isnan(values[i * columns + f])) sorted.push_back(values[i * columns + f]);
            std::sort(sorted.begin(), sorted.end());
            cuts_[f] = cuts_of(sorted, max_bins);
            for (std::size_t i = 0; i < rows; ++i) bins_[f * rows + i] = bin_of(f, values[i * columns + f]);
        }
    }

    const uint8_t* column(std::size_t feature) const { return bins_.data() + feature * n_cases; }
    int n_bins(std::size_t feature) const { return static_cast<int>(cuts_[feature].size()) + 1; }
    // The values up to the last one of a bin are at most this.
    float cut(std::size_t feature, int bin) const { return cuts_[feature][static_cast<std::size_t>(bin)]; }

    const std::size_t n_cases, n_features;

private:
    uint8_t bin_of(std::size_t f, float value) const {
        if (std::isnan(value)) return kMissingBin;
        const auto& cuts = cuts_[f];
        return static_cast<uint8_t>(std::lower_bound(cuts.begin(), cuts.end(), value) - cuts.begin());
    }

    // Between all values, or if these are many, between about equally many cases. A value of many cases has a bin of its own, and the other
    // values share the rest of the bins: where most amounts are 0, most bins would be lost otherwise.
    static std::vector<float> cuts_of(const std::vector<float>& sorted, int max_bins) {
        std::vector<std::size_t> ends;  // of the cases of each value
        for (std::size_t i = 1; i <= sorted.size(); ++i)
            if (i == sorted.size() || sorted[i] > sorted[i - 1]) ends.push_back(i);
        const bool all = ends.size() <= static_cast<std::size_t>(max_bins);
        const auto size = [&](std::size_t value) { return ends[value] - (value ? ends[value - 1] : 0); };
        const auto heavy = [&](std::size_t value) {
            return size(value) * static_cast<std::size_t>(max_bins) > kManyShares * sorted.size();
        };
        std::size_t light = sorted.size();
        int bins = max_bins;
        for (std::size_t v = 0; v < ends.size(); ++v)
            if (heavy(v)) light -= size(v), bins -= 2;  // it may divide a bin of others
        const double step = static_cast<double>(light) / bins;
        double next = step;
        std::size_t before = 0;
        std::vector<float> cuts;
        for (std::size_t v = 0; v + 1 < ends.size(); ++v) {
            if (!heavy(v)) before += size(v);
            if (!all && !heavy(v) && !heavy(v + 1) && static_cast<double>(before) < next) continue;
            cuts.push_back(between(sorted[ends[v] - 1], sorted[ends[v]]));
            while (!all && next <= static_cast<double>(before)) next += step;
        }
        if (cuts.size() >= static_cast<std::size_t>(max_bins)) cuts.resize(static_cast<std::size_t>(max_bins) - 1);
        return cuts;
    }

    // In the middle; `low` is at most this, and `high` is above it.
    static float between(float low, float high) {
        const double middle = 0.5 * (static_cast<double>(low) + static_cast<double>(high));
        float found = std::isfinite(middle) ? static_cast<float>(middle) : low;
        if (static_cast<double>(found) > middle) found = std::nextafter(found, low);
        return found < high && found >= low ? found : low;
    }

    std::vector<uint8_t> bins_;
    std::vector<std::vector<float>> cuts_;
};

}  // namespace worthwhile
