// Choosing a split by what comes of it: trees are sampled below every candidate, and the candidate with the best of them wins
// (docs/design.md, "Look-ahead"). LSID3 (Esmeir & Markovitch 2007) wants the smallest trees, ACT (2008) the cheapest.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "grower.hpp"
#include "judge.hpp"
#include "lists.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace worthwhile {

// What a sampled tree is expected to charge the cases that come to it.
struct SampleValue {
    double errors = 0, prices = 0, leaves = 0;
    TestSet tests{0};  // that it asks; kept only where a test is delayed

    double total() const { return errors + prices; }
    void add(const SampleValue& other) {
        errors += other.errors;
        prices += other.prices;
        leaves += other.leaves;
        tests.unite(other.tests);
    }
};

// Grows trees below a node without writing them down: only what they are worth is wanted. Not to be shared by threads.
template <class Word>
class Sampler {
public:
    Sampler(const Training& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy)
        : data_(data), pricing_(pricing), errors_(errors), policy_(alone(policy)), k_(data.n_classes),
          has_delays_(std::any_of(pricing.delayed.begin(), pricing.delayed.end(), [](uint8_t d) { return d != 0; })), lists_(data, 1),
          judge_(lists_, data, pricing, errors, policy_) {
        if (policy.ahead.aside) sort_values();
    }

    // `random` == nullptr: greedily. `aside`: the set-aside cases that come to the node, or nullptr: by the cases it is grown from.
    SampleValue sample(const NodeLists<Word>& node, const TestSet& paid, int depth, int answer, Random* random, const Aside* aside, Control& control) {
        random_ = random;
        control_ = &control;
        std::size_t n_words = 0;
        for (const Range& range : node.ranges) n_words = std::max(n_words, range.end);
        if (capacity_ < n_words) block_.words.reset(new Word[capacity_ = n_words]);
        std::copy_n(node.block->words.get(), n_words, block_.words.get());
        block_.weights = node.block->weights;
        return below({&block_, node.ranges.data(), node.class_weights.data(), node.weight()}, paid, depth, answer, aside);
    }

    bool terminal(const NodeLists<Word>& node, int depth) const { return judge_.terminal(node.class_weights.data(), depth); }

    // What a node is worth as a leaf. An empty one gives the answer of the node above it.
    SampleValue as_leaf(const double* class_weights, double weight, int answer_above, const Aside* aside) const {
        SampleValue value;
        value.tests = TestSet(pricing_.n_tests());
        if (weight <= 0 && !aside) return value;
        value.leaves = weight > 0;
        const int answer = answer_of(class_weights, weight, answer_above);
        if (!aside) {
            value.errors = leaf_cost(errors_, class_weights, answer, policy_.ahead.confidence);
            return value;
        }
        const Training& cases = *policy_.ahead.aside;
        for (std::size_t i = 0; i < aside->rows.size(); ++i) value.errors += aside->weights[i] * errors_.at(cases.classes[aside->rows[i]], answer);
        return value;
    }

    int answer_of(const double* class_weights, double weight, int answer_above) const {
        return weight > 0 ? errors_.best_answer(class_weights, policy_.answer) : answer_above;
    }

    // Adds what asking a test costs to what comes after it. `known`: the weight of the cases that pay.
    void charge(SampleValue& value, int test, const TestSet& paid, double known) const {
        if (paid.has(test)) return;
        TestSet charged(pricing_.n_tests());
        pricing_.charge(test, charged);
        if (has_delays_ && pricing_.orders_delayed(test, paid)) {  // then everything that may be asked for afterwards is ordered, too
            value.tests.each([&](int t) { pricing_.charge(t, charged); });
            value.prices = 0;
        }
        value.prices += known * pricing_.price(charged, paid);
        if (has_delays_) value.tests.add(test);
    }

private:
    static GrowPolicy alone(GrowPolicy policy) {
        policy.n_threads = 1;
        return policy;
    }

    SampleValue below(const View<Word>& view, const TestSet& paid, int depth, int answer_above, const Aside* aside) {
        const auto as_leaf_here = [&] { return as_leaf(view.class_weights, view.weight, answer_above, aside); };
        if (judge_.terminal(view.class_weights, depth)) return as_leaf_here();
        const Candidate c = random_ ? judge_.draw(view, paid, *random_, *control_) : judge_.best(view, paid, depth, *control_);
        if (!c.valid) return as_leaf_here();
        SampleValue leaf;
        if (policy_.ahead.samples != Samples::grown) leaf = as_leaf_here();
        const int answer = answer_of(view.class_weights, view.weight, answer_above);
        std::vector<double> class_weights;
        lists_.divide_weights(view, c.split, class_weights);
        std::vector<Aside> parts;
        double known = c.known;
        if (aside) known = divide_aside(c.split, *aside, class_weights, parts);
        const auto part = [&](int b) { return aside ? &parts[static_cast<std::size_t>(b)] : nullptr; };
        if (policy_.ahead.samples == Samples::stopped && !pays_at_once(leaf, c, class_weights, answer, paid, known, part)) return leaf;

        SampleValue value = children(view, c.split, class_weights, paid, depth, answer, part);
        charge(value, c.split.column, paid, known);
        if (policy_.ahead.samples == Samples::pruned && leaf.total() <= value.total() + 1e-9 * (std::abs(leaf.total()) + value.prices)) return leaf;
        return value;
    }

    template <class PartOf>
    SampleValue children(const View<Word>& view, const Split& split, const std::vector<double>& class_weights, const TestSet& paid, int depth, int answer,
                         PartOf part) {
        const int n_branches = split.branches(data_.table);
        TestSet paid_then = paid;
        pricing_.charge(split.column, paid_then);
        std::vector<uint8_t> wanted(static_cast<std::size_t>(n_branches), 0);
        bool any = false;
        const auto weights_of = [&](int b) { return class_weights.data() + static_cast<std::size_t>(b) * k_; };
        for (int b = 0; b < n_branches; ++b) any |= wanted[b] = !judge_.terminal(weights_of(b), depth + 1);
        std::vector<Range> ranges;
        std::vector<NodeLists<Word>> own;
        if (any && split.complete) lists_.divide_in_place(view, split, wanted, ranges);
        if (any && !split.complete) own = lists_.make_children(view, split, wanted);
        SampleValue sum;
        sum.tests = TestSet(pricing_.n_tests());
        for (int b = 0; b < n_branches; ++b) {
            double weight = 0;
            for (int c = 0; c < k_; ++c) weight += weights_of(b)[c];
            if (!wanted[b])
                sum.add(as_leaf(weights_of(b), weight, answer, part(b)));
            else if (split.complete)
                sum.add(below({view.block, ranges.data() + static_cast<std::size_t>(b) * lists_.size(), weights_of(b), weight}, paid_then, depth + 1, answer, part(b)));
            else
                sum.add(below(own[b].view(), paid_then, depth + 1, answer, part(b)));
        }
        return sum;
    }

    // Says whether a split lowers the expected cost even if nothing more is asked after it.
    template <class PartOf>
    bool pays_at_once(const SampleValue& leaf, const Candidate& c, const std::vector<double>& class_weights, int answer, const TestSet& paid, double known,
                      PartOf part) const {
        SampleValue value;
        value.tests = TestSet(pricing_.n_tests());
        for (int b = 0; b < c.split.branches(data_.table); ++b) {
            const double* weights = class_weights.data() + static_cast<std::size_t>(b) * k_;
            double weight = 0;
            for (int label = 0; label < k_; ++label) weight += weights[label];
            value.add(as_leaf(weights, weight, answer, part(b)));
        }
        charge(value, c.split.column, paid, known);
        return value.total() < leaf.total() - 1e-9 * (std::abs(leaf.total()) + value.prices);
    }

public:
    // Sends set-aside cases down a split and returns the weight of those that have the value. The others go down every branch.
    double divide_aside(const Split& split, const Aside& cases, const std::vector<double>& class_weights, std::vector<Aside>& parts) const {
        const Table& table = policy_.ahead.aside->table;
        const int n_branches = split.branches(table);
        parts.assign(static_cast<std::size_t>(n_branches), {});
        const bool numeric = table.columns[split.column].numeric();
        const double threshold = numeric ? threshold_of(split) : 0.0;
        double known = 0, all = 0;
        for (double w : class_weights) all += w;
        for (std::size_t i = 0; i < cases.rows.size(); ++i) {
            const int b = numeric ? side_of(table.columns[split.column].value(cases.rows[i]), threshold) : split.branch_of(table, cases.rows[i]);
            if (b >= 0) {
                parts[static_cast<std::size_t>(b)].add(cases.rows[i], cases.weights[i]);
                known += cases.weights[i];
                continue;
            }
            for (int to = 0; to < n_branches; ++to) {
                double weight = 0;
                for (int c = 0; c < k_; ++c) weight += class_weights[static_cast<std::size_t>(to) * k_ + c];
                if (weight > 0) parts[static_cast<std::size_t>(to)].add(cases.rows[i], cases.weights[i] * weight / all);
            }
        }
        return known;
    }

private:
    static int side_of(double value, double threshold) { return std::isnan(value) ? -1 : !(value <= threshold); }

    // Where the tree will cut: set-aside cases may lie between the neighbouring values that a split separates.
    double threshold_of(const Split& split) const {
        const std::vector<double>& values = sorted_[static_cast<std::size_t>(split.column)];
        return *(std::upper_bound(values.begin(), values.end(), split.middle()) - 1);
    }

    void sort_values() {
        for (const Column& column : data_.table.columns) {
            sorted_.emplace_back();
            for (std::size_t row = 0; column.numeric() && row < data_.table.n_cases; ++row)
                if (!column.missing(row)) sorted_.back().push_back(column.value(row));
            std::sort(sorted_.back().begin(), sorted_.back().end());
        }
    }

    const Training& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const GrowPolicy policy_;
    const int k_;
    const bool has_delays_;
    CaseLists<Word> lists_;
    Judge<Word> judge_;
    std::vector<std::vector<double>> sorted_;  // by column, for the set-aside cases
    Block<Word> block_;
    std::size_t capacity_ = 0;
    Random* random_ = nullptr;
    Control* control_ = nullptr;
};

// Chooses the splits of a growing tree.
template <class Word>
class Lookahead {
public:
    Lookahead(const Training& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy)
        : data_(data), pricing_(pricing), errors_(errors), policy_(policy), samplers_(static_cast<std::size_t>(std::max(policy.n_threads, 1))) {}

    bool late() const { return std::chrono::steady_clock::now() >= policy_.ahead.deadline; }
    Sampler<Word>& sampler(int thread = 0) {
        auto& sampler = samplers_[static_cast<std::size_t>(thread)];
        if (!sampler) sampler = std::make_unique<Sampler<Word>>(data_, pricing_, errors_, policy_);
        return *sampler;
    }

    // The option with the least expected cost (or size); not valid where there is none, nothing where the time is over.
    std::optional<Candidate> best(const CaseLists<Word>& lists, Judge<Word>& judge, const View<Word>& view, const TestSet& paid, int depth, uint64_t seed,
                                  const Aside* aside, Control& control) {
        if (late()) return std::nullopt;
        const std::vector<Candidate> options = judge.options(view, paid, policy_.ahead.r, control);
        std::vector<double> worth(options.size(), std::numeric_limits<double>::quiet_NaN());
        std::atomic<bool> stop{false}, too_late{false}, interrupted{false};
        const auto ask_caller = [&] {
            try {
                control.poll();
            } catch (const Interrupted&) {
                interrupted = true;  // not to be taken for the end of the time
                throw;
            }
        };
        // Sharing work costs as much as some ten sampled trees of a few cases.
        std::size_t entries = 0;
        for (int l = 0; l < lists.size(); ++l) entries = std::max(entries, view.ranges[l].size());
        const double work = static_cast<double>(entries * options.size());
        parallel_for(static_cast<int>(options.size()), work < kWorthSharing ? 1 : static_cast<int>(samplers_.size()), [&](int i, int thread) {
            Control watch([&] {
                if (thread == 0) ask_caller();  // only the calling thread may ask the caller
                if (late()) too_late = true;
                return stop.load() || too_late.load();
            });
            if (too_late || stop) return;
            if (late()) {
                too_late = true;
                return;
            }
            try {
                if (thread == 0) ask_caller();
                worth[i] = worth_of(options[i], lists, view, paid, depth, seed_of(seed, static_cast<uint64_t>(i)), aside, sampler(thread), watch);
            } catch (const Interrupted&) {
                if (too_late && !interrupted) return;
                stop = true;
                throw;
            }
        });
        if (too_late) return std::nullopt;
        Candidate best;
        double least = 0;
        for (std::size_t i = 0; i < options.size(); ++i)
            if (!best.valid || worth[i] < least - 1e-9 * std::abs(least)) {
                best = options[i];
                least = worth[i];
            }
        if (policy_.ahead.margin <= 0 || !best.valid) return best;
        // The least of many estimates is too good to be true: the greedy choice stands unless another one promises clearly less.
        const Candidate greedy = judge.best(view, paid, depth, control);
        for (std::size_t i = 0; i < options.size(); ++i)
            if (greedy.valid && same_split(options[i].split, greedy.split) && worth[i] - least <= policy_.ahead.margin * std::abs(worth[i])) return options[i];
        return best;
    }

private:
    static constexpr double kWorthSharing = 400;

    static bool same_split(const Split& a, const Split& b) { return a.column == b.column && a.level == b.level && a.position == b.position; }

    double worth_of(const Candidate& option, const CaseLists<Word>& lists, const View<Word>& view, const TestSet& paid, int depth, uint64_t seed,
                    const Aside* aside, Sampler<Word>& sampler, Control& control) const {
        const Split& split = option.split;
        const bool numeric = data_.table.columns[split.column].numeric();
        TestSet paid_then = paid;
        pricing_.charge(split.column, paid_then);
        const std::vector<NodeLists<Word>> children = lists.make_children(view, split);
        const int answer = sampler.answer_of(view.class_weights, view.weight, 0);
        std::vector<Aside> parts;
        double known = option.known;
        if (aside) {
            std::vector<double> class_weights;
            for (const NodeLists<Word>& child : children) class_weights.insert(class_weights.end(), child.class_weights.begin(), child.class_weights.end());
            known = sampler.divide_aside(split, *aside, class_weights, parts);
        }
        SampleValue sum;
        sum.tests = TestSet(pricing_.n_tests());
        const int n_samples = numeric ? 1 : policy_.ahead.r;  // a numeric test has r cuts: all tests get the same effort
        for (std::size_t b = 0; b < children.size(); ++b) {
            const Aside* part = aside ? &parts[b] : nullptr;
            SampleValue least;
            for (int s = 0; s < n_samples; ++s) {
                Random random(seed_of(seed_of(seed, b), static_cast<uint64_t>(s)));
                const bool greedy = s == 0 && policy_.ahead.greedy_first;
                SampleValue value = sampler.sample(children[b], paid_then, depth + 1, answer, greedy ? nullptr : &random, part, control);
                if (s == 0 || measure(value) < measure(least)) least = std::move(value);
                if (sampler.terminal(children[b], depth + 1)) break;  // there is nothing to sample
            }
            sum.add(least);
        }
        if (policy_.ahead.by_size) return sum.leaves;
        sampler.charge(sum, split.column, paid, known);
        return sum.total();
    }

    double measure(const SampleValue& value) const { return policy_.ahead.by_size ? value.leaves : value.total(); }

    const Training& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const GrowPolicy& policy_;
    std::vector<std::unique_ptr<Sampler<Word>>> samplers_;  // by thread; made when first needed
};

}  // namespace worthwhile
