// Which split of a node is the best one (docs/design.md, "Growing").
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "grower.hpp"
#include "lists.hpp"
#include "marks.hpp"
#include "random.hpp"
#include "tree_check.hpp"

namespace worthwhile {

struct Candidate {
    bool valid = false;
    Split split;
    Evidence evidence{};
    double score = 0;
    double known = 0;  // weight of the cases whose value is known
};

template <class Word>
class Judge {
public:
    Judge(CaseLists<Word>& lists, const Training& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy)
        : lists_(lists), data_(data), pricing_(pricing), errors_(errors), policy_(policy), k_(data.n_classes),
          xlog_(lists.weighted() ? 0 : data.table.n_cases),
          marked_(data.marks && data.marks->width > 0 && !lists.weighted()), counts_(data.n_classes), scratch_(std::max(policy.n_threads, 1)) {
        for (std::size_t row = 0; row < data.table.n_cases; ++row) training_weight_ += data.weight(row);
        for (int c = 0; c < data.table.n_columns(); ++c) {
            list_price_.push_back(pricing.price_of(c, TestSet(pricing.n_tests())));
            slots_.push_back({c, 0});
            for (int l = 1; l < static_cast<int>(data.table.columns[c].levels.size()); ++l) slots_.push_back({c, l});
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
    Candidate best(const View<Word>& view, const TestSet& paid, int depth, Control& control) {
        control_ = &control;
        return best(view, paid, depth, policy_.lookahead);
    }

    // A split drawn at random, in proportion to the scores; where no test gains anything, all are alike.
    Candidate draw(const View<Word>& view, const TestSet& paid, Random& random, Control& control) {
        control_ = &control;
        std::vector<Candidate> found = candidates(view, paid);
        std::erase_if(found, [](const Candidate& c) { return !c.valid; });
        if (found.empty()) return {};
        double sum = 0;
        for (Candidate& c : found) sum += c.score = c.evidence.gain > 1e-10 ? policy_.criterion->score(c.evidence, policy_.omega) : 0.0;
        if (sum <= 0)
            for (Candidate& c : found) sum += c.score = 1.0;
        double at = random.share() * sum;
        for (const Candidate& c : found)
            if ((at -= c.score) < 0) return c;
        return found.back();
    }

    // The splits that a look-ahead compares, whatever they gain: every nominal test, and the `n_cuts` best cuts of every numeric one.
    std::vector<Candidate> options(const View<Word>& view, const TestSet& paid, int n_cuts, Control& control) {
        control_ = &control;
        std::vector<Candidate> found;
        prepare(view);
        for (const Slot& slot : slots_) {
            Candidate c = start(slot, paid);
            if (!std::isfinite(c.evidence.price)) continue;
            if (lists_.list_of(slot.column) >= 0) {
                judge_cuts(view, c, n_cuts, scratch_[0], found);
            } else {
                judge_nominal(view, c, scratch_[0]);
                if (c.valid) found.push_back(c);
            }
        }
        return found;
    }

private:
    struct Slot {
        int column, level;
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
            for (Candidate& c : found) c.valid &= c.evidence.gain > 1e-10;
        }
        const double least_gain = policy_.criterion->average_rule ? average_gain(found) - 1e-3 : -1.0;
        Candidate best;
        for (Candidate& c : found) {
            if (!c.valid || c.evidence.gain < least_gain) continue;
            c.score = policy_.criterion->score(c.evidence, policy_.omega);
            if (!best.valid || c.score > best.score + 1e-9 * std::abs(best.score)) best = c;
        }
        return best;
    }

    // IDX: adds what the best continuations of `c` gain and cost.
    void look_ahead(Candidate& c, const View<Word>& view, const TestSet& paid, int depth, int ahead) {
        if (!c.valid) return;
        TestSet paid_then = paid;
        pricing_.charge(c.split.column, paid_then);
        for (const NodeLists<Word>& child : lists_.make_children(view, c.split)) {
            const View<Word> below = child.view();
            if (terminal(below.class_weights, depth + 1)) continue;
            const Candidate next = best(below, paid_then, depth + 1, ahead - 1);
            if (!next.valid) continue;
            c.evidence.gain += below.weight / view.weight * next.evidence.gain;
            c.evidence.price += below.weight / view.weight * next.evidence.price;
        }
    }

    // C4.5 leaves tests with very many values out of the average: their gain is high for no good reason.
    double average_gain(const std::vector<Candidate>& found) const {
        double sum[2] = {0, 0};
        int count[2] = {0, 0};
        for (const Candidate& c : found) {
            if (!c.valid) continue;
            const bool nominal = lists_.list_of(c.split.column) < 0;
            const bool many = nominal && c.split.branches(data_.table) >= 0.3 * training_weight_ - 1e-9;
            sum[many] += c.evidence.gain;
            ++count[many];
        }
        if (count[0] > 0) return sum[0] / count[0];
        return count[1] > 0 ? sum[1] / count[1] : 0.0;
    }

    // One candidate per test, and one more per further level of a nominal test, in the order in which they are compared.
    std::vector<Candidate> candidates(const View<Word>& view, const TestSet& paid) {
        prepare(view);
        const bool poll_each = data_.table.n_cases > 10'000;  // asking for the time is noticed in small nodes
        std::vector<Candidate> found(slots_.size());
        parallel_for(static_cast<int>(slots_.size()), lists_.threads_for(view), [&](int slot, int thread) {
            if (thread == 0 && poll_each) control_->poll();  // only the calling thread may ask
            Candidate& c = found[slot] = start(slots_[slot], paid);
            if (!std::isfinite(c.evidence.price)) return;
            if (lists_.list_of(c.split.column) >= 0)
                judge_numeric(view, c, scratch_[thread]);
            else
                judge_nominal(view, c, scratch_[thread]);
        });
        return found;
    }

    void prepare(const View<Word>& view) {
        lists_.load_weights(view);
        control_->poll();
        if (!marked_) return;
        const Range rows = view.ranges[lists_.rows_list()];
        counts_.count(*data_.marks, view.block->words.get() + rows.begin, rows.size(), lists_.packing());
    }

    Candidate start(const Slot& slot, const TestSet& paid) const {
        Candidate c;
        c.split.column = slot.column;
        c.split.level = slot.level;
        c.evidence.price = seen_price(slot.column, paid);
        return c;
    }

    // What the criterion takes for the price of a test. A bias stands for the list price; in context it falls as the price does.
    double seen_price(int test, const TestSet& paid) const {
        const double list_price = list_price_[test];
        const double listed = policy_.biases ? policy_.biases[test] : list_price;
        if (!policy_.context || !std::isfinite(listed)) return listed;
        const double here = pricing_.price_of(test, paid);
        return policy_.biases && list_price > 0 ? listed * here / list_price : policy_.biases ? listed : here;
    }

    // The cases of a node that are in the list of a numeric test.
    Known known_of(const View<Word>& view, Candidate& c, Scratch& scratch) const {
        const Range range = view.ranges[lists_.list_of(c.split.column)];
        c.split.complete = !lists_.weighted() || range.size() == view.ranges[lists_.rows_list()].size();
        if (c.split.complete) return {view.class_weights, view.weight};
        const Word* list = view.block->words.get() + range.begin;
        scratch.known.assign(k_, 0.0);
        for (std::size_t i = 0; i < range.size(); ++i)
            scratch.known[lists_.packing().label(list[i])] += lists_.weight_of()[lists_.packing().row(list[i])];
        return {scratch.known.data(), sum(scratch.known.data())};
    }

    void judge_numeric(const View<Word>& view, Candidate& c, Scratch& scratch) {
        if (view.ranges[lists_.list_of(c.split.column)].size() < 2) return;
        const Known known = known_of(view, c, scratch);
        BestCut keep(policy_.criterion->by_drop ? 1e-9 * known.weight * errors_.largest : 1e-10 * view.weight);
        visit_cuts(view, c, known, scratch, keep);
        if (keep.best.position > 0) take_cut(view, c, known, keep.best);
    }

    // The `r` best cuts by gain, each a candidate.
    void judge_cuts(const View<Word>& view, Candidate c, int r, Scratch& scratch, std::vector<Candidate>& found) {
        if (view.ranges[lists_.list_of(c.split.column)].size() < 2) return;
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
        const Packing& packing = lists_.packing();
        const Word* list = view.block->words.get() + view.ranges[lists_.list_of(c.split.column)].begin;
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
        if (lists_.weighted()) {
            left = 0;
            for (std::size_t i = 0; i < cut.position; ++i) left += lists_.weight_of()[packing.row(list[i])];
        }
        c.evidence.gain = (entropy_sum(known.class_weights, known.weight) + cut.value) / view.weight;
        if (policy_.release8) c.evidence.gain -= std::log2(static_cast<double>(cut.tries)) / view.weight;
        if (!policy_.criterion->by_ratio) return;
        const double parts[] = {left, known.weight - left, view.weight - known.weight};
        c.evidence.split_info = spread(parts, 3, view.weight);
    }

    template <class Visit>
    void visit_cuts(const View<Word>& view, const Candidate& c, const Known& known, Scratch& scratch, Visit& visit) {
        const Range range = view.ranges[lists_.list_of(c.split.column)];
        const double smallest = std::max(policy_.min_cases, std::min(25.0, policy_.min_share * known.weight / k_));
        const double* totals = known.class_weights;
        const auto search = [&](auto measure) {
            each_cut(view.block->words.get() + range.begin, range.size(), smallest, lists_.weight_of(), known.weight, lists_.packing(),
                     std::move(measure), [&](std::size_t position, double value) { visit(position, value); });
        };
        if (policy_.criterion->by_drop) return search(ErrorCost(errors_, policy_.answer, totals, k_, scratch.doubles));
        if (lists_.weighted()) return search(WeightedEntropy(totals, k_, scratch.doubles));
        if (k_ == 2 && range.size() <= PackedEntropy<2>::kMostCases) return search(PackedEntropy<2>(xlog_, totals));
        if (k_ == 3 && range.size() <= PackedEntropy<3>::kMostCases) return search(PackedEntropy<3>(xlog_, totals));
        search(UnitEntropy(xlog_, totals, k_, scratch.counts));
    }

    void judge_nominal(const View<Word>& view, Candidate& c, Scratch& scratch) {
        const Column& column = data_.table.columns[c.split.column];
        const Level& level = column.levels[c.split.level];
        const Range range = view.ranges[lists_.rows_list()];
        if (marked_)
            counts_.divide(data_.marks->first[c.split.column], level, scratch.branches);
        else
            count_branches(column, level, view.block->words.get() + range.begin, range.size(), lists_.weight_of(), lists_.packing(), k_,
                           scratch.branches);
        std::vector<double>& parts = scratch.doubles;
        parts.assign(static_cast<std::size_t>(level.n_branches) + 1, 0.0);
        int large = 0;
        for (int32_t b = 0; b < level.n_branches; ++b) {
            parts[b] = sum(scratch.branches.data() + static_cast<std::size_t>(b) * k_);
            large += parts[b] >= policy_.min_cases - 1e-9;
        }
        if (large < 2) return;  // as most tests of small nodes: the rest is for those that divide
        scratch.known.assign(k_, 0.0);
        double entropy_below = 0, cost_below = 0;
        for (int32_t b = 0; b < level.n_branches; ++b) {
            const double* counts = scratch.branches.data() + static_cast<std::size_t>(b) * k_;
            for (int label = 0; label < k_; ++label) scratch.known[label] += counts[label];
            if (policy_.criterion->by_drop)
                cost_below += error_cost(counts);
            else
                entropy_below += entropy_sum(counts, parts[b]);
        }
        const Known known{scratch.known.data(), sum(scratch.known.data())};
        c.valid = true;
        c.known = known.weight;
        c.split.complete = !lists_.lacks(view, column);
        if (policy_.criterion->by_drop) {
            set_drop(c, known, cost_below, view.weight);
            return;
        }
        parts.back() = std::max(0.0, view.weight - known.weight);
        c.evidence.gain = (entropy_sum(known.class_weights, known.weight) - entropy_below) / view.weight;
        if (policy_.criterion->by_ratio) c.evidence.split_info = spread(parts.data(), parts.size(), view.weight);
    }

    void set_drop(Candidate& c, const Known& known, double cost_below, double weight) const {
        const double spent = c.evidence.price * known.weight;
        c.evidence.drop = (error_cost(known.class_weights) - cost_below - spent) / weight;
        // Benefits make costs cancel out, so the slack goes by the size of the entries and not by that of the sum.
        c.valid = c.evidence.drop > 1e-9 * (known.weight * errors_.largest + spent) / weight;
    }

    double error_cost(const double* weights) const { return errors_.of_best(weights, policy_.answer); }

    double sum(const double* weights) const {
        double total = 0;
        for (int c = 0; c < k_; ++c) total += weights[c];
        return total;
    }
    double xlog(double x) const { return lists_.weighted() ? xlog2(x) : xlog_.value[static_cast<std::size_t>(x)]; }

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

    CaseLists<Word>& lists_;
    const Training& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const GrowPolicy& policy_;
    const int k_;
    Control* control_ = nullptr;
    const XLogTable xlog_;
    const bool marked_;  // nominal tests are counted together, by their marks
    ValueCounts counts_;
    double training_weight_ = 0;
    std::vector<double> list_price_;
    std::vector<Slot> slots_;
    std::vector<Scratch> scratch_;  // by thread
};

}  // namespace worthwhile
