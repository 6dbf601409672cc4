// Which split of a node is the best one (docs/design/growing.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/random.hpp"
#include "data/tree_check.hpp"
#include "grow/case_partition.hpp"
#include "grow/grower.hpp"
#include "grow/nominal_counts.hpp"
#include "grow/subsets.hpp"

namespace worthwhile {

struct Candidate {
    bool valid = false;
    Split split;
    SplitStats stats{};
    double score = 0;
    double known = 0;  // weight of the cases whose value is known
    double bits = 0;   // nominal: the length of a description, to compare a branch for every value with some values against the rest
};

template <class Word>
class SplitFinder {
public:
    SplitFinder(CasePartition<Word>& lists, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors,
                const GrowPolicy& policy)
        : partition_(lists), data_(data), pricing_(pricing), errors_(errors), policy_(policy), k_(data.n_classes),
          width_(data.n_statistics()), xlog_(lists.weighted() ? 0 : data.table.n_cases),
          has_indicators_(data.indicators && data.indicators->width > 0 && !lists.weighted()), counts_(data.n_classes),
          scratch_(std::max(policy.n_threads, 1)) {
        for (std::size_t row = 0; row < data.table.n_cases; ++row) training_weight_ += data.weight(row);
        const std::vector<double> amounts = pricing.mean_amounts(data.weights);
        for (int c = 0; c < data.table.n_columns(); ++c) {
            list_price_.push_back(pricing.price_of(c, pricing.nothing(), amounts.data()));
            const bool divisible = policy.nominal_splits != NominalSplits::multiway && has_subsets(data.table.columns[c]);
            slots_.push_back({c, 0, divisible ? policy.nominal_splits : NominalSplits::multiway});
            for (int l = 1; l < static_cast<int>(data.table.columns[c].levels.size()); ++l)
                slots_.push_back({c, l, NominalSplits::multiway});
        }
    }

    // A node with these class weights is a leaf, whatever splits it may have.
    bool terminal(const double* class_weights, int depth) const {
        int present = 0;
        double weight = 0;
        for (int c = 0; c < k_; ++c) {
            present += class_weights[c] > 1e-9;
            weight += class_weights[c];
        }
        return present < 2 || weight < 2 * policy_.min_cases - 1e-9 || depth >= std::min(policy_.max_depth, kDeepest);
    }

    // The best split of a node at this depth, or a candidate that is not valid. `paid`: the tests on the path.
    Candidate best(const View<Word>& view, const TestSet& paid, int depth, Cancellation& cancellation) {
        cancellation_ = &cancellation;
        return best(view, paid, depth, policy_.idx_depth);
    }

    // A split drawn at random, in proportion to the scores; if no test gains anything, all are equally likely.
    Candidate draw(const View<Word>& view, const TestSet& paid, Random& random, Cancellation& cancellation) {
        cancellation_ = &cancellation;
        std::vector<Candidate> found = candidates(view, paid);
        std::erase_if(found, [](const Candidate& c) { return !c.valid; });
        if (found.empty()) return {};
        double sum = 0;
        for (Candidate& c : found) sum += c.score = c.stats.gain > 1e-10 ? policy_.criterion->score(c.stats, policy_.omega) : 0.0;
        if (sum <= 0)
            for (Candidate& c : found) sum += c.score = 1.0;
        double at = random.uniform() * sum;
        for (const Candidate& c : found)
            if ((at -= c.score) < 0) return c;
        return found.back();
    }

    // The splits that a look-ahead compares, whatever they gain: every nominal test, and the `n_cuts` best cuts of every numeric one or ways to
    // divide the values of a nominal one into two.
    std::vector<Candidate> options(const View<Word>& view, const TestSet& paid, int n_cuts, Cancellation& cancellation) {
        cancellation_ = &cancellation;
        std::vector<Candidate> found;
        prepare(view);
        for (const Slot& slot : slots_) {
            Candidate c = start(view, slot, paid);
            if (!std::isfinite(c.stats.price)) continue;
            if (partition_.list_of(slot.column) >= 0) {
                score_cuts(view, c, n_cuts, scratch_[0], found);
            } else {
                if (slot.splits != NominalSplits::multiway) score_subsets(view, c, n_cuts, scratch_[0], found);
                if (slot.splits == NominalSplits::subset) continue;
                score_nominal(view, c, scratch_[0]);
                if (c.valid) found.push_back(c);
            }
        }
        return found;
    }

    // The mean price of every test and surcharge over those cases of a node whose value of `test` is known, where prices depend on the
    // case. To be called before the node is divided.
    std::vector<double> mean_amounts(const View<Word>& view, int test) const {
        const std::size_t n_amounts = pricing_.marginal.size();
        const bool by_rows = partition_.rows_list() >= 0;  // without this list, every other one has all cases
        const Range range = view.ranges[by_rows ? partition_.rows_list() : partition_.list_of(test)];
        const Column& column = data_.table.columns[static_cast<std::size_t>(test)];
        std::vector<double> mean(n_amounts, 0.0);
        double known = 0;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t row = partition_.packing().row(view.block->words[i]);
            if (column.missing(row)) continue;
            const double weight = partition_.weighted() ? view.block->weights[i] : 1.0;
            const double* amounts = pricing_.amounts_of(row);
            for (std::size_t a = 0; a < n_amounts; ++a) mean[a] += weight * amounts[a];
            known += weight;
        }
        for (double& amount : mean) amount = known > 0 ? amount / known : 0.0;
        return mean;
    }

private:
    struct Slot {
        int column, level;
        NominalSplits splits;
    };
    struct Scratch {
        std::vector<uint32_t> counts;
        std::vector<double> doubles, branches, known;
    };
    // The cases of a node whose value is known.
    struct Known {
        const double* class_weights;
        double weight;
    };

    Candidate best(const View<Word>& view, const TestSet& paid, int depth, int ahead) {
        std::vector<Candidate> found = candidates(view, paid);
        if (!policy_.criterion->by_drop) {
            if (ahead > 1)
                for (Candidate& c : found) look_ahead(c, view, paid, depth, ahead);
            for (Candidate& c : found) c.valid &= c.stats.gain > 1e-10;
        }
        const double least_gain = policy_.criterion->average_rule ? average_gain(found) - 1e-3 : -1.0;
        Candidate best;
        for (Candidate& c : found) {
            if (!c.valid || c.stats.gain < least_gain) continue;
            c.score = policy_.criterion->score(c.stats, policy_.omega);
            if (!best.valid || c.score > best.score + 1e-9 * std::abs(best.score)) best = c;
        }
        return best;
    }

    // IDX: adds what the best continuations of `c` gain and cost.
    void look_ahead(Candidate& c, const View<Word>& view, const TestSet& paid, int depth, int ahead) {
        if (!c.valid) return;
        TestSet paid_then = paid;
        if (!paid.has(c.split.column)) pricing_.order(c.split.column, paid_then);
        for (const NodeCases<Word>& child : partition_.make_children(view, c.split)) {
            const View<Word> below = child.view();
            if (terminal(below.class_weights, depth + 1)) continue;
            const Candidate next = best(below, paid_then, depth + 1, ahead - 1);
            if (!next.valid) continue;
            c.stats.gain += below.weight / view.weight * next.stats.gain;
            c.stats.price += below.weight / view.weight * next.stats.price;
        }
    }

    // C4.5 leaves tests with very many values out of the average: their gain is high by chance.
    double average_gain(const std::vector<Candidate>& found) const {
        double sum[2] = {0, 0};
        int count[2] = {0, 0};
        for (const Candidate& c : found) {
            if (!c.valid) continue;
            const bool nominal = partition_.list_of(c.split.column) < 0;
            const bool many = nominal && c.split.branches(data_.table) >= 0.3 * training_weight_ - 1e-9;
            sum[many] += c.stats.gain;
            ++count[many];
        }
        if (count[0] > 0) return sum[0] / count[0];
        return count[1] > 0 ? sum[1] / count[1] : 0.0;
    }

    // One candidate per test, and one more per further level of a nominal test, in the order in which they are compared.
    std::vector<Candidate> candidates(const View<Word>& view, const TestSet& paid) {
        prepare(view);
        const bool poll_each = data_.table.n_cases > 10'000;  // reading the clock would be noticeable in small nodes
        std::vector<Candidate> found(slots_.size());
        parallel_for(static_cast<int>(slots_.size()), partition_.threads_for(view), [&](int slot, int thread) {
            if (thread == 0 && poll_each) cancellation_->poll();  // only the calling thread may ask
            Candidate& c = found[slot] = start(view, slots_[slot], paid);
            if (!std::isfinite(c.stats.price)) return;
            if (partition_.list_of(c.split.column) >= 0)
                score_numeric(view, c, scratch_[thread]);
            else
                score_divided(view, c, slots_[slot].splits, scratch_[thread]);
        });
        return found;
    }

    void prepare(const View<Word>& view) {
        partition_.load_weights(view);
        cancellation_->poll();
        if (!has_indicators_) return;
        const Range rows = view.ranges[partition_.rows_list()];
        counts_.count(*data_.indicators, view.block->words.get() + rows.begin, rows.size(), partition_.packing());
    }

    Candidate start(const View<Word>& view, const Slot& slot, const TestSet& paid) const {
        Candidate c;
        c.split.column = slot.column;
        c.split.level = slot.level;
        c.stats.price = seen_price(view, slot.column, paid);
        return c;
    }

    // What the criterion takes for the price of a test. A bias replaces the list price; in context it falls as the price does.
    double seen_price(const View<Word>& view, int test, const TestSet& paid) const {
        const double list_price = list_price_[test];
        const double listed = policy_.biases.empty() ? list_price : policy_.biases[test];
        if (pricing_.has_cap() && std::isfinite(listed) && !within_cap(test, paid)) return std::numeric_limits<double>::infinity();
        if (!policy_.context || !std::isfinite(listed)) return listed;
        const double here =
            pricing_.case_prices.empty() ? pricing_.price_of(test, paid) : pricing_.price_of(test, paid, mean_amounts(view, test).data());
        if (policy_.biases.empty()) return here;
        return list_price > 0 ? listed * here / list_price : listed;
    }

    bool within_cap(int test, const TestSet& paid) const {
        if (paid.has(test)) return true;
        TestSet charged = paid;
        pricing_.order(test, charged);
        return pricing_.within_cap(charged);
    }

    // The cases of a node that are in the list of a numeric test.
    Known known_of(const View<Word>& view, Candidate& c, Scratch& scratch) const {
        const Range range = view.ranges[partition_.list_of(c.split.column)];
        c.split.complete = !partition_.weighted() || range.size() == view.ranges[partition_.rows_list()].size();
        if (c.split.complete) return {view.class_weights, view.weight};
        const Word* list = view.block->words.get() + range.begin;
        scratch.known.assign(width_, 0.0);
        for (std::size_t i = 0; i < range.size(); ++i) {
            const std::size_t row = partition_.packing().row(list[i]);
            data_.add_case(row, partition_.weight_of()[row], scratch.known.data());
        }
        return {scratch.known.data(), sum(scratch.known.data())};
    }

    void score_numeric(const View<Word>& view, Candidate& c, Scratch& scratch) {
        if (view.ranges[partition_.list_of(c.split.column)].size() < 2) return;
        const Known known = known_of(view, c, scratch);
        BestCut keep(policy_.criterion->by_drop ? 1e-9 * known.weight * errors_.largest : 1e-10 * view.weight);
        visit_cuts(view, c, known, scratch, keep);
        if (keep.best.position > 0) take_cut(view, c, known, keep.best);
    }

    // The `r` best cuts by gain, each a candidate.
    void score_cuts(const View<Word>& view, Candidate c, int r, Scratch& scratch, std::vector<Candidate>& found) {
        if (view.ranges[partition_.list_of(c.split.column)].size() < 2) return;
        const Known known = known_of(view, c, scratch);
        BestCuts keep(1e-10 * view.weight, r);
        visit_cuts(view, c, known, scratch, keep);
        for (const Cut& cut : keep.finish()) {
            take_cut(view, c, known, cut);
            found.push_back(c);
        }
    }

    // Makes a cut the candidate's split.
    void take_cut(const View<Word>& view, Candidate& c, const Known& known, const Cut& cut) const {
        const Packing& packing = partition_.packing();
        const Word* list = view.block->words.get() + view.ranges[partition_.list_of(c.split.column)].begin;
        const Column& column = data_.table.columns[c.split.column];
        c.valid = true;
        c.known = known.weight;
        c.split.position = cut.position;
        c.split.low = column.value(packing.row(list[cut.position - 1]));
        c.split.high = column.value(packing.row(list[cut.position]));
        if (policy_.criterion->by_drop) {
            set_drop(c, known, -cut.value, view.weight);
            return;
        }
        double left = static_cast<double>(cut.position);
        if (partition_.weighted()) {
            left = 0;
            for (std::size_t i = 0; i < cut.position; ++i) left += partition_.weight_of()[packing.row(list[i])];
        }
        c.stats.gain = (entropy_sum(known.class_weights, known.weight) + cut.value) / view.weight;
        if (policy_.mdl_correction) c.stats.gain -= std::log2(static_cast<double>(cut.tries)) / view.weight;
        if (!policy_.criterion->by_ratio) return;
        const double parts[] = {left, known.weight - left, view.weight - known.weight};
        c.stats.split_info = spread(parts, 3, view.weight);
    }

    template <class Visit>
    void visit_cuts(const View<Word>& view, const Candidate& c, const Known& known, Scratch& scratch, Visit& visit) {
        const Range range = view.ranges[partition_.list_of(c.split.column)];
        const double smallest = std::max(policy_.min_cases, std::min(25.0, policy_.min_share * known.weight / k_));
        const double* totals = known.class_weights;
        const auto search = [&](auto measure) {
            each_cut(view.block->words.get() + range.begin, range.size(), smallest, partition_.weight_of(), known.weight,
                     partition_.packing(), std::move(measure), [&](std::size_t position, double value) { visit(position, value); });
        };
        if (policy_.criterion->by_drop && data_.by_case())
            return search(CaseErrorCost(errors_, policy_.answer, data_, totals, scratch.doubles));
        if (policy_.criterion->by_drop) return search(ErrorCost(errors_, policy_.answer, totals, k_, scratch.doubles));
        if (partition_.weighted()) return search(WeightedEntropy(totals, k_, scratch.doubles));
        if (k_ == 2 && range.size() <= PackedEntropy<2>::kMostCases) return search(PackedEntropy<2>(xlog_, totals));
        if (k_ == 3 && range.size() <= PackedEntropy<3>::kMostCases) return search(PackedEntropy<3>(xlog_, totals));
        search(UnitEntropy(xlog_, totals, k_, scratch.counts));
    }

    // A branch for every value, some values against the rest, or the better of the two.
    void score_divided(const View<Word>& view, Candidate& c, NominalSplits splits, Scratch& scratch) {
        if (splits == NominalSplits::multiway) return score_nominal(view, c, scratch);
        std::vector<Candidate> subset;
        score_subsets(view, c, 1, scratch, subset);
        if (splits == NominalSplits::subset) {
            if (!subset.empty()) c = subset.front();
            return;
        }
        score_nominal(view, c, scratch);
        if (!subset.empty() && (!c.valid || subset.front().bits < c.bits - 1e-9 * (1 + c.bits))) c = subset.front();
    }

    // The `most` best ways to divide the values of a test into two, by gain or by the drop of the cost; each a candidate.
    void score_subsets(const View<Word>& view, Candidate c, int most, Scratch& scratch, std::vector<Candidate>& found) {
        const Column& column = data_.table.columns[c.split.column];
        count_nominal(view, c.split, scratch);
        Subsets subsets(scratch.branches, static_cast<std::size_t>(width_), static_cast<std::size_t>(k_));
        if (subsets.n_present() < 2) return;
        const bool by_drop = policy_.criterion->by_drop;
        const Known known{subsets.total().data(), sum(subsets.total().data())};
        BestSubsets keep(by_drop ? 1e-9 * known.weight * errors_.largest : 1e-10 * view.weight, static_cast<std::size_t>(most));
        const auto visit = [&] {
            const double left = sum(subsets.left().data()), right = sum(subsets.right().data());
            if (std::min(left, right) < policy_.min_cases - 1e-9) return;
            const auto cost_of = [&](const std::vector<double>& side, double weight) {
                return by_drop ? error_cost(side.data()) : entropy_sum(side.data(), weight);
            };
            keep(subsets, -cost_of(subsets.left(), left) - cost_of(subsets.right(), right));
        };
        if (by_drop && policy_.answer == AnswerPolicy::least_cost)
            each_by_costs(subsets, known, visit);
        else
            subsets.each_by_shares(visit);
        c.known = known.weight;
        c.split.complete = !partition_.lacks(view, column);
        for (const BestSubsets::Found& way : keep.best) {
            c.split.subset = way.level;
            c.valid = true;
            take_subset(view, c, known, way.value, subsets.choice_bits(), scratch);
            if (c.valid) found.push_back(c);
        }
    }

    // In order by what another answer costs more than the best one. If the best division of all has the best answer on one side, it is found.
    template <class Visit>
    void each_by_costs(Subsets& subsets, const Known& known, Visit visit) const {
        const int usual = errors_.best_answer(known.class_weights, policy_.answer);
        subsets.each(
            static_cast<std::size_t>(errors_.n_answers - 1),
            [&](const double* value, std::size_t i) {
                const int answer = static_cast<int>(i) + (static_cast<int>(i) >= usual);
                return (errors_.of(value, answer) - errors_.of(value, usual)) / sum(value);
            },
            visit);
    }

    // Fills in what a way to divide values is worth; `value` is minus the entropy, or cost, of its sides. A test with many values would find one
    // of high gain by chance: it pays for the choice.
    void take_subset(const View<Word>& view, Candidate& c, const Known& known, double value, double choice_bits, Scratch& scratch) const {
        if (policy_.criterion->by_drop)
            set_drop(c, known, -value, view.weight);
        else
            c.stats.gain = (entropy_sum(known.class_weights, known.weight) + value - choice_bits) / view.weight;
        std::vector<double>& sides = scratch.doubles;
        sum_sides(scratch.branches, static_cast<std::size_t>(width_), *c.split.subset, sides);
        c.bits = description_bits(sides.data(), 2, static_cast<std::size_t>(width_), static_cast<std::size_t>(k_), choice_bits);
        const double left = sum(sides.data());
        const double parts[] = {left, known.weight - left, std::max(0.0, view.weight - known.weight)};
        if (policy_.criterion->by_ratio) c.stats.split_info = spread(parts, 3, view.weight);
    }

    // The statistics of every branch of a nominal test.
    void count_nominal(const View<Word>& view, const Split& split, Scratch& scratch) const {
        const Column& column = data_.table.columns[split.column];
        const Level& level = column.levels[split.level];
        const Range range = view.ranges[partition_.rows_list()];
        if (has_indicators_)
            counts_.divide(data_.indicators->first[split.column], level, scratch.branches);
        else
            count_branches(column, level, view.block->words.get() + range.begin, range.size(), partition_.weight_of(), partition_.packing(),
                           width_, scratch.branches);
        if (policy_.criterion->by_drop && data_.by_case()) add_deviations(view, split, scratch.branches);
    }

    void score_nominal(const View<Word>& view, Candidate& c, Scratch& scratch) {
        const Column& column = data_.table.columns[c.split.column];
        const Level& level = column.levels[c.split.level];
        count_nominal(view, c.split, scratch);
        std::vector<double>& parts = scratch.doubles;
        parts.assign(static_cast<std::size_t>(level.n_branches) + 1, 0.0);
        int large = 0;
        for (int32_t b = 0; b < level.n_branches; ++b) {
            parts[b] = sum(scratch.branches.data() + static_cast<std::size_t>(b) * width_);
            large += parts[b] >= policy_.min_cases - 1e-9;
        }
        if (large < 2) return;  // as most tests of small nodes: the rest is for those that divide
        scratch.known.assign(width_, 0.0);
        double entropy_below = 0, cost_below = 0;
        for (int32_t b = 0; b < level.n_branches; ++b) {
            const double* counts = scratch.branches.data() + static_cast<std::size_t>(b) * width_;
            for (int i = 0; i < width_; ++i) scratch.known[i] += counts[i];
            if (policy_.criterion->by_drop)
                cost_below += error_cost(counts);
            else
                entropy_below += entropy_sum(counts, parts[b]);
        }
        const Known known{scratch.known.data(), sum(scratch.known.data())};
        c.valid = true;
        c.known = known.weight;
        c.split.complete = !partition_.lacks(view, column);
        if (policy_.nominal_splits == NominalSplits::both)
            c.bits = description_bits(scratch.branches.data(), static_cast<std::size_t>(level.n_branches), static_cast<std::size_t>(width_),
                                      static_cast<std::size_t>(k_), 0.0);
        if (policy_.criterion->by_drop) {
            set_drop(c, known, cost_below, view.weight);
            return;
        }
        parts.back() = std::max(0.0, view.weight - known.weight);
        c.stats.gain = (entropy_sum(known.class_weights, known.weight) - entropy_below) / view.weight;
        if (policy_.criterion->by_ratio) c.stats.split_info = spread(parts.data(), parts.size(), view.weight);
    }

    // Adds the deviations of the cases of each branch of a nominal test.
    void add_deviations(const View<Word>& view, const Split& split, std::vector<double>& branches) const {
        const Range range = view.ranges[partition_.rows_list()];
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t row = partition_.packing().row(view.block->words[i]);
            const int b = split.branch_of(data_.table, row);
            if (b >= 0) data_.add_deviations(row, partition_.weight_of()[row], branches.data() + static_cast<std::size_t>(b) * width_);
        }
    }

    void set_drop(Candidate& c, const Known& known, double cost_below, double weight) const {
        const double spent = c.stats.price * known.weight;
        c.stats.drop = (error_cost(known.class_weights) - cost_below - spent) / weight;
        // Benefits make costs cancel out, so the slack goes by the size of the entries and not by that of the sum.
        c.valid = c.stats.drop > 1e-9 * (known.weight * errors_.largest + spent) / weight;
    }

    double error_cost(const double* weights) const { return errors_.of_best(weights, policy_.answer); }

    double sum(const double* weights) const {
        double total = 0;
        for (int c = 0; c < k_; ++c) total += weights[c];
        return total;
    }
    double xlog(double x) const { return partition_.weighted() ? xlog2(x) : xlog_.value[static_cast<std::size_t>(x)]; }

    // weight x entropy
    double entropy_sum(const double* counts, double weight) const {
        double result = xlog(weight);
        for (int c = 0; c < k_; ++c) result -= xlog(counts[c]);
        return result;
    }

    static double spread(const double* parts, std::size_t n, double weight) {
        double result = xlog2(weight);
        for (std::size_t i = 0; i < n; ++i) result -= xlog2(parts[i]);
        return result / weight;
    }

    CasePartition<Word>& partition_;
    const TrainingSet& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const GrowPolicy& policy_;
    const int k_, width_;
    Cancellation* cancellation_ = nullptr;
    const XLogTable xlog_;
    const bool has_indicators_;  // nominal tests are counted together, by their indicators
    NominalCounts counts_;
    double training_weight_ = 0;
    std::vector<double> list_price_;
    std::vector<Slot> slots_;
    std::vector<Scratch> scratch_;  // by thread
};

}  // namespace worthwhile
