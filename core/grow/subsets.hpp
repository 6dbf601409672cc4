// Dividing the values of a nominal test into two: some values against the rest (docs/design/growing.md).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "data/table.hpp"
#include "grow/cuts.hpp"

namespace worthwhile {

// How nominal tests are asked: a branch for every value, some values against the rest, or at each node the better of the two.
enum class NominalSplits { multiway, subset, both };

// With fewer than three values, some against the rest is a branch for every value. The cuts of an ordered category are given.
inline bool has_subsets(const Column& column) {
    if (column.numeric() || column.n_values < 3 || column.levels[0].n_branches != column.n_values) return false;
    const std::vector<int32_t>& branch_of = column.levels[0].branch_of;
    for (int32_t v = 0; v < column.n_values; ++v)
        if (branch_of[static_cast<std::size_t>(v)] != v) return false;
    return true;
}

// Up to five values that occur are divided in all ways. More are put in order by the share of a class, and cut as numbers are: with two
// classes, one of these cuts has the largest gain of all ways (Breiman et al. 1984, section 4.2.2). Each value against the rest is tried, too.
class Subsets {
public:
    static constexpr std::size_t kDivided = 5, kOrders = 8;

    // `counts`: the statistics of every value, of `width` each, which begin with the weights of `k` classes.
    Subsets(const std::vector<double>& counts, std::size_t width, std::size_t k)
        : counts_(counts), width_(width), k_(k), total_(width), left_(width), right_(width), side_(counts.size() / width) {
        for (std::size_t v = 0; v < side_.size(); ++v) {
            if (weight(v) <= 1e-9) continue;
            present_.push_back(v);
            for (std::size_t i = 0; i < width_; ++i) total_[i] += of(v)[i];
        }
    }

    const std::vector<double>& left() const { return left_; }
    const std::vector<double>& right() const { return right_; }
    const std::vector<double>& total() const { return total_; }
    std::size_t n_present() const { return present_.size(); }
    // What it takes to tell which way was chosen: the side of every value but the first.
    double choice_bits() const { return static_cast<double>(present_.size()) - 1; }

    // Calls visit() for every way to try, with left() and right() filled in. `score(statistics of a value, i)` is what order i, of
    // `n_orders`, puts the values in order by.
    template <class Score, class Visit>
    void each(std::size_t n_orders, Score score, Visit visit) {
        const std::size_t n = present_.size();
        if (n < 2) return;
        if (n <= kDivided) return each_of_few(visit);
        std::vector<double> scores(side_.size());
        for (std::size_t order = 0; order < n_orders; ++order) {
            std::vector<std::size_t> sorted = present_;
            for (std::size_t v : sorted) scores[v] = score(of(v), order);
            std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
            clear();
            for (std::size_t i = 0; i + 1 < n; ++i) {
                move(sorted[i]);
                finish();
                visit();
            }
        }
        for (std::size_t v : present_) {
            clear();
            move(v);
            finish();
            visit();
        }
    }

    // The same, in order by the shares of the classes; of many classes, the most frequent ones.
    template <class Visit>
    void each_by_shares(Visit visit) {
        std::vector<std::size_t> classes;
        for (std::size_t c = 0; c < k_; ++c)
            if (total_[c] > 1e-9) classes.push_back(c);
        std::stable_sort(classes.begin(), classes.end(), [&](std::size_t a, std::size_t b) { return total_[a] > total_[b]; });
        const std::size_t n_orders = classes.size() <= 2 ? std::min<std::size_t>(classes.size(), 1) : std::min(classes.size(), kOrders);
        each(
            n_orders, [&](const double* value, std::size_t i) { return value[classes[i]] / std::accumulate(value, value + k_, 0.0); },
            visit);
    }

    // The present way: value -> branch. The first value that occurs is in branch 0, and values that do not occur go where most cases go.
    std::vector<int32_t> branch_of() const {
        const double left = std::accumulate(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(k_), 0.0);
        const double right = std::accumulate(right_.begin(), right_.begin() + static_cast<std::ptrdiff_t>(k_), 0.0);
        const int32_t first = side_[present_[0]];
        const double more = first == 0 ? right - left : left - right;  // in branch 1
        std::vector<int32_t> branches(side_.size(), more > 1e-9);
        for (std::size_t v : present_) branches[v] = side_[v] != first;
        return branches;
    }

private:
    const double* of(std::size_t value) const { return counts_.data() + value * width_; }
    double weight(std::size_t value) const { return std::accumulate(of(value), of(value) + k_, 0.0); }

    // Single values come first: they win ties.
    template <class Visit>
    void each_of_few(Visit visit) {
        const auto n = static_cast<unsigned>(present_.size());
        for (unsigned size = 1; size <= n / 2; ++size)
            for (unsigned chosen = 1; chosen + 1 < 1u << n; ++chosen) {
                const auto bits = static_cast<unsigned>(std::popcount(chosen));
                if (bits != size || (2 * bits == n && !(chosen & 1))) continue;  // of two halves, one
                clear();
                for (unsigned i = 0; i < n; ++i)
                    if (chosen >> i & 1) move(present_[i]);
                finish();
                visit();
            }
    }

    void clear() {
        std::fill(left_.begin(), left_.end(), 0.0);
        std::fill(side_.begin(), side_.end(), 1);
    }
    void move(std::size_t value) {
        side_[value] = 0;
        for (std::size_t i = 0; i < width_; ++i) left_[i] += of(value)[i];
    }
    void finish() {
        for (std::size_t i = 0; i < width_; ++i) right_[i] = total_[i] - left_[i];
        for (std::size_t c = 0; c < k_; ++c) right_[c] = std::max(right_[c], 0.0);  // differences may be a little below 0
    }

    const std::vector<double>& counts_;
    const std::size_t width_, k_;
    std::vector<double> total_, left_, right_;
    std::vector<int32_t> side_;  // by value: 0 left, 1 right
    std::vector<std::size_t> present_;
};

// Keeps the best of several ways to divide values, best first; ties (within `tolerance`) go to the first.
class BestSubsets {
public:
    struct Found {
        double value;
        std::shared_ptr<const Level> level;
    };

    BestSubsets(double tolerance, std::size_t most) : tolerance_(tolerance), most_(most) {}

    void operator()(const Subsets& way, double value) {
        if (best.size() == most_ && value <= best.back().value + tolerance_) return;
        Level level{2, way.branch_of()};
        for (const Found& found : best)
            if (found.level->branch_of == level.branch_of) return;
        auto at = best.end();
        while (at != best.begin() && value > (at - 1)->value + tolerance_) --at;
        best.insert(at, {value, std::make_shared<const Level>(std::move(level))});
        if (best.size() > most_) best.pop_back();
    }

    std::vector<Found> best;

private:
    double tolerance_;
    std::size_t most_;
};

// The statistics, of `width` each, of the two sides that values with these statistics are divided into.
inline void sum_sides(const std::vector<double>& counts, std::size_t width, const Level& level, std::vector<double>& sides) {
    sides.assign(2 * width, 0.0);
    for (std::size_t v = 0; v < level.branch_of.size(); ++v)
        for (std::size_t i = 0; i < width; ++i) sides[static_cast<std::size_t>(level.branch_of[v]) * width + i] += counts[v * width + i];
}

// The bits that it takes to tell the classes of cases that are divided into branches with these statistics (of `width` each, which begin with
// the weights of `k` classes): the classes themselves; the shares of the classes in each branch, each to half the bits of the number of cases
// (Rissanen 1978); and which way to divide them was chosen. A branch for every value always has the larger gain, and the larger drop of the cost; this
// tells whether it is worth its branches.
inline double description_bits(const double* branches, std::size_t n_branches, std::size_t width, std::size_t k, double choice_bits) {
    double bits = choice_bits, weight = 0;
    std::size_t n_filled = 0, n_classes = 0;
    for (std::size_t c = 0; c < k; ++c) {
        bool any = false;
        for (std::size_t b = 0; b < n_branches; ++b) any |= branches[b * width + c] > 1e-9;
        n_classes += any;
    }
    for (std::size_t b = 0; b < n_branches; ++b) {
        double branch = 0;
        for (std::size_t c = 0; c < k; ++c) {
            branch += branches[b * width + c];
            bits -= xlog2(branches[b * width + c]);
        }
        bits += xlog2(branch);
        weight += branch;
        n_filled += branch > 1e-9;
    }
    const double n_shares = static_cast<double>(n_filled) * (static_cast<double>(n_classes) - 1);
    return bits + 0.5 * n_shares * std::log2(std::max(weight, 1.0));
}

}  // namespace worthwhile
