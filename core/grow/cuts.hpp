// Finding the best cut of a numeric test, and counting the branches of a nominal one.
//
// A numeric test is held as the list of the node's cases in the order of their values. One list entry is one word:
//     row | class | boundary
// where the lowest bit says "my value differs from that of the entry before me". The class is in the word so that a
// scan reads memory in one direction only, and the boundary bit replaces the value itself: 4 bytes per case and test.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/table.hpp"
#include "pricing/error_costs.hpp"

namespace worthwhile {

struct Packing {
    int class_bits = 0;
    int row_shift = 1;

    Packing() = default;
    explicit Packing(int n_classes) {
        while ((int64_t{1} << class_bits) < n_classes) ++class_bits;
        row_shift = class_bits + 1;
    }
    template <class Word>
    Word pack(std::size_t row, int32_t label, bool boundary) const {
        return static_cast<Word>(static_cast<Word>(row) << row_shift | static_cast<Word>(label) << 1 | boundary);
    }
    template <class Word>
    std::size_t row(Word w) const {
        return static_cast<std::size_t>(w >> row_shift);
    }
    template <class Word>
    uint32_t label(Word w) const {
        return static_cast<uint32_t>(w >> 1) & ((uint32_t{1} << class_bits) - 1);
    }
    bool fits(std::size_t n_cases, int bits) const { return bits == 64 || (static_cast<uint64_t>(n_cases) << row_shift) >> bits == 0; }
};

inline double xlog2(double x) { return x > 0 ? x * std::log2(x) : 0.0; }

// x log2 x for whole x, and its differences: a scan over cases of weight 1 then needs no logarithm at all.
struct XLogTable {
    std::vector<double> value, step;

    explicit XLogTable(std::size_t n) : value(n + 1), step(n + 1) {
        for (std::size_t x = 0; x <= n; ++x) value[x] = xlog2(static_cast<double>(x));
        for (std::size_t x = 0; x < n; ++x) step[x] = value[x + 1] - value[x];
    }
};

struct Cut {
    double value = -std::numeric_limits<double>::infinity();
    std::size_t position = 0;  // the left side takes the first `position` entries; 0: no admissible cut
    std::size_t tries = 0;
};

// A measure scores a division of the cases into left and right; greater is better. Cases move from right to left. `Count` is what it takes for
// the weight of a side: whole numbers if every case counts once.

// -(weight x entropy), cases of weight 1: two table look-ups per case, whatever the number of classes.
class UnitEntropy {
public:
    using Count = std::size_t;

    UnitEntropy(const XLogTable& table, const double* totals, int k, std::vector<uint32_t>& scratch) : table_(table) {
        scratch.assign(2 * static_cast<std::size_t>(k), 0);
        left_ = scratch.data();
        right_ = left_ + k;
        for (int c = 0; c < k; ++c) {
            right_[c] = static_cast<uint32_t>(totals[c]);
            sum_ += table.value[right_[c]];
        }
    }
    void move(uint32_t label, double) { sum_ += table_.step[left_[label]++] - table_.step[--right_[label]]; }
    double value(std::size_t left, std::size_t right) const { return sum_ - table_.value[left] - table_.value[right]; }

private:
    const XLogTable& table_;
    uint32_t *left_, *right_;
    double sum_ = 0;
};

// The same for few classes and less than 65,536 cases. The counts are in one register and are looked up where a value ends: on 300
// cases of pima, growing a tree takes a quarter less time.
template <int kClasses>
class PackedEntropy {
public:
    using Count = std::size_t;
    static constexpr std::size_t kMostCases = 65'535;

    PackedEntropy(const XLogTable& table, const double* totals) : table_(table.value.data()) {
        for (int c = 0; c < kClasses; ++c) totals_[c] = static_cast<uint32_t>(totals[c]);
    }
    void move(uint32_t label, double) { left_ += uint64_t{1} << 16 * label; }
    double value(std::size_t left, std::size_t right) const {
        double sum = -table_[left] - table_[right];
        for (int c = 0; c < kClasses; ++c) {
            const uint32_t count = static_cast<uint32_t>(left_ >> 16 * c) & 0xffff;
            sum += table_[count] + table_[totals_[c] - count];
        }
        return sum;
    }

private:
    const double* table_;
    uint32_t totals_[kClasses];
    uint64_t left_ = 0;
};

// The same for any weights.
class WeightedEntropy {
public:
    using Count = double;

    WeightedEntropy(const double* totals, int k, std::vector<double>& scratch) : totals_(totals) {
        scratch.assign(2 * static_cast<std::size_t>(k), 0);
        left_ = scratch.data();
        term_ = left_ + k;  // per class: left term + right term
        for (int c = 0; c < k; ++c) sum_ += term_[c] = xlog2(totals[c]);
    }
    void move(uint32_t label, double weight) {
        left_[label] += weight;
        const double term = xlog2(left_[label]) + xlog2(totals_[label] - left_[label]);
        sum_ += term - term_[label];
        term_[label] = term;
    }
    double value(double left, double right) const { return sum_ - xlog2(left) - xlog2(right); }

private:
    const double* totals_;
    double *left_, *term_;
    double sum_ = 0;
};

// -(error cost of the best answers on either side). The cost of every answer is kept up to date, so that a case that moves costs as
// many steps as there are answers, and not answers x classes.
class ErrorCost {
public:
    using Count = double;

    ErrorCost(const ErrorCosts& errors, AnswerPolicy policy, const double* totals, int k, std::vector<double>& scratch)
        : errors_(errors), policy_(policy) {
        const int answers = errors.n_answers;
        scratch.assign(2 * static_cast<std::size_t>(k + answers), 0);
        left_ = scratch.data();
        right_ = left_ + k;
        left_cost_ = right_ + k;
        right_cost_ = left_cost_ + answers;
        for (int c = 0; c < k; ++c) right_[c] = totals[c];
        errors.of_all(totals, right_cost_);
    }
    void move(uint32_t label, double weight) {
        left_[label] += weight;
        right_[label] -= weight;
        const double* row = errors_.cost.data() + static_cast<std::size_t>(label) * errors_.n_answers;
        for (int a = 0; a < errors_.n_answers; ++a) {
            left_cost_[a] += weight * row[a];
            right_cost_[a] -= weight * row[a];
        }
    }
    double value(double, double) const { return -least(left_, left_cost_) - least(right_, right_cost_); }

private:
    double least(const double* weights, const double* costs) const {
        if (policy_ == AnswerPolicy::least_cost) return *std::min_element(costs, costs + errors_.n_answers);
        return costs[errors_.best_answer(weights, policy_)];
    }

    const ErrorCosts& errors_;
    AnswerPolicy policy_;
    double *left_, *right_, *left_cost_, *right_cost_;
};

// The same where errors cost each case something else.
class CaseErrorCost {
public:
    using Count = double;

    CaseErrorCost(const ErrorCosts& errors, AnswerPolicy policy, const TrainingSet& data, const double* totals,
                  std::vector<double>& scratch)
        : errors_(errors), policy_(policy), data_(data) {
        const std::size_t width = static_cast<std::size_t>(data.n_statistics());
        scratch.assign(2 * width, 0);
        left_ = scratch.data();
        right_ = left_ + width;
        std::copy_n(totals, width, right_);
    }
    void move_case(std::size_t row, double weight) {
        data_.add_case(row, weight, left_);
        data_.add_case(row, -weight, right_);
    }
    double value(double, double) const { return -errors_.of_best(left_, policy_) - errors_.of_best(right_, policy_); }

private:
    const ErrorCosts& errors_;
    AnswerPolicy policy_;
    const TrainingSet& data_;
    double *left_, *right_;
};

// `each_cut` for cases that count once.
template <class Word, class Measure, class Visit>
void each_unit_cut(const Word* list, std::size_t n, double smallest, const Packing& packing, Measure measure, Visit visit) {
    using Count = typename Measure::Count;
    const double least = std::ceil(smallest - 1e-9);
    if (least * 2 > static_cast<double>(n)) return;
    const std::size_t low = least < 1 ? 1 : static_cast<std::size_t>(least), high = n - low;
    std::size_t i = 0;
    for (; i < low; ++i) measure.move(packing.label(list[i]), 1.0);
    for (; i <= high && i < n; ++i) {
        if (list[i] & 1) visit(i, measure.value(static_cast<Count>(i), static_cast<Count>(n - i)));
        measure.move(packing.label(list[i]), 1.0);
    }
}

// Calls visit(position, value) for every cut with at least `smallest` weight on either side, from the lowest to the highest; the left
// side takes the first `position` entries. `weight_of` is indexed by row; nullptr: every case counts once.
template <class Word, class Measure, class Visit>
void each_cut(const Word* list, std::size_t n, double smallest, const double* weight_of, double total, const Packing& packing,
              Measure measure, Visit visit) {
    using Count = typename Measure::Count;
    if constexpr (!std::is_same_v<Measure, CaseErrorCost>)
        if (!weight_of) return each_unit_cut(list, n, smallest, packing, std::move(measure), std::move(visit));
    double left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i > 0 && (list[i] & 1) && left >= smallest - 1e-9) {
            if (total - left < smallest - 1e-9) break;
            visit(i, measure.value(static_cast<Count>(left), static_cast<Count>(total - left)));
        }
        const std::size_t row = packing.row(list[i]);
        const double w = weight_of[row];
        if constexpr (std::is_same_v<Measure, CaseErrorCost>)
            measure.move_case(row, w);
        else
            measure.move(packing.label(list[i]), w);
        left += w;
    }
}

// Keeps the best cut; ties (within `tolerance`) go to the first.
class BestCut {
public:
    explicit BestCut(double tolerance) : tolerance_(tolerance) {}
    void operator()(std::size_t position, double value) {
        ++best.tries;
        if (value > best.value + tolerance_) {
            best.value = value;
            best.position = position;
        }
    }
    Cut best;

private:
    double tolerance_;
};

// Keeps the `r` best cuts, best first; ties go to the lower one.
class BestCuts {
public:
    BestCuts(double tolerance, int r) : tolerance_(tolerance), r_(static_cast<std::size_t>(r)) {}
    void operator()(std::size_t position, double value) {
        ++tries_;
        if (best.size() == r_ && value <= best.back().value + tolerance_) return;
        auto at = best.end();
        while (at != best.begin() && value > (at - 1)->value + tolerance_) --at;
        Cut cut;
        cut.value = value;
        cut.position = position;
        best.insert(at, cut);
        if (best.size() > r_) best.pop_back();
    }
    const std::vector<Cut>& finish() {
        for (Cut& cut : best) cut.tries = tries_;
        return best;
    }
    std::vector<Cut> best;

private:
    double tolerance_;
    std::size_t r_, tries_ = 0;
};

constexpr std::size_t kFewCounts = 64;

// Cases that count once, with few branches and classes. Neighbours are counted in separate tables: the processor need not wait for one addition
// to end before it begins the next, which mostly goes to the same place.
template <class Word>
void count_quickly(const Column& column, const Level& level, const Word* rows, std::size_t n, const Packing& packing, int k,
                   std::vector<double>& counts) {
    constexpr std::size_t kTables = 4;
    uint32_t tables[kTables][kFewCounts] = {};
    const std::size_t nowhere = counts.size();  // where missing values are counted
    const int32_t* const branch_of = level.branch_of.data();
    const auto count = [&](std::size_t i, uint32_t* table) {
        const int32_t code = column.code(packing.row(rows[i]));
        ++table[code < 0 ? nowhere : static_cast<std::size_t>(branch_of[code]) * k + packing.label(rows[i])];
    };
    std::size_t i = 0;
    for (; i + kTables <= n; i += kTables)
        for (std::size_t t = 0; t < kTables; ++t) count(i + t, tables[t]);
    for (; i < n; ++i) count(i, tables[0]);
    for (std::size_t c = 0; c < counts.size(); ++c)
        for (const uint32_t* table : tables) counts[c] += table[c];
}

// Class weights per branch of a nominal test asked at one level.
template <class Word>
void count_branches(const Column& column, const Level& level, const Word* rows, std::size_t n, const double* weight_of,
                    const Packing& packing, int k, std::vector<double>& counts) {
    counts.assign(static_cast<std::size_t>(level.n_branches) * k, 0.0);
    if (!weight_of && counts.size() < kFewCounts) {
        count_quickly(column, level, rows, n, packing, k, counts);
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t row = packing.row(rows[i]);
            const int32_t code = column.code(row);
            if (code >= 0)
                counts[static_cast<std::size_t>(level.branch_of[code]) * k + packing.label(rows[i])] += weight_of ? weight_of[row] : 1.0;
        }
    }
}

}  // namespace worthwhile
