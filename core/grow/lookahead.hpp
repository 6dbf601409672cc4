// Choosing a split by what comes of it: trees are sampled below every candidate, and the candidate with the best of them wins
// (docs/design/look-ahead.md). LSID3 (Esmeir & Markovitch 2007) looks for the smallest trees, ACT (2008) for the cheapest.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "data/random.hpp"
#include "grow/case_partition.hpp"
#include "grow/grower.hpp"
#include "grow/split_finder.hpp"
#include "parallel/parallel_for.hpp"

namespace worthwhile {

// What a sampled tree is expected to charge the cases that come to it.
struct SampleValue {
    double errors = 0, prices = 0, leaves = 0;
    TestSet tests{0};  // that it asks; kept only if orders may commit

    double total() const { return errors + prices; }
    void add(const SampleValue& other) {
        errors += other.errors;
        prices += other.prices;
        leaves += other.leaves;
        tests.unite(other.tests);
    }
};

// Grows trees below a node without keeping them: only their expected cost is needed. Not to be shared by threads.
template <class Word>
class Sampler {
public:
    Sampler(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy)
        : data_(data), pricing_(pricing), errors_(errors), policy_(alone(policy)), k_(data.n_classes), width_(data.n_statistics()),
          any_commits_(pricing.any_commits()), partition_(data, 1), finder_(partition_, data, pricing, errors, policy_) {}

    // What a tree below a node is expected to charge the node's cases; without `random` it is grown greedily.
    SampleValue sample(const NodeCases<Word>& node, const TestSet& paid, int depth, int answer_above, Random* random,
                       Cancellation& cancellation) {
        random_ = random;
        cancellation_ = &cancellation;
        std::size_t n_words = 0;
        for (const Range& range : node.ranges) n_words = std::max(n_words, range.end);
        if (capacity_ < n_words) block_.words.reset(new Word[capacity_ = n_words]);
        std::copy_n(node.block->words.get(), n_words, block_.words.get());
        block_.weights = node.block->weights;
        return below({&block_, node.ranges.data(), node.class_weights.data(), node.weight()}, paid, depth, answer_above);
    }

    bool terminal(const NodeCases<Word>& node, int depth) const { return finder_.terminal(node.class_weights.data(), depth); }

    // What a node is worth as a leaf. An empty one charges nothing.
    SampleValue as_leaf(const double* class_weights, double weight, int answer_above) const {
        SampleValue value;
        value.tests = pricing_.nothing();
        if (weight <= 0) return value;
        value.leaves = 1;
        value.errors = leaf_cost(errors_, class_weights, answer_of(class_weights, weight, answer_above), policy_.sampling.confidence);
        return value;
    }

    // An empty node gives the answer of the node above it.
    int answer_of(const double* class_weights, double weight, int answer_above) const {
        return weight > 0 ? errors_.best_answer(class_weights, policy_.answer) : answer_above;
    }

    // The prices that the cases of a node pay on average; to be asked for before it is divided.
    std::vector<double> amounts(const View<Word>& view, int test) const {
        return pricing_.case_prices.empty() ? pricing_.marginal : finder_.mean_amounts(view, test);
    }

    // Adds what asking a test costs to what comes after it. `known`: the weight of the cases that pay.
    void charge(SampleValue& value, int test, const TestSet& paid, double known, const std::vector<double>& amounts) const {
        if (paid.has(test)) return;
        const bool must_commit = any_commits_ && pricing_.orders_delayed(test, paid);
        const bool may_commit = must_commit || (any_commits_ && pricing_.orders_wait(test, paid));
        double alone = std::numeric_limits<double>::infinity(), all = alone;
        if (!must_commit) {
            TestSet charged = paid;
            pricing_.order(test, charged);
            alone = value.prices + known * pricing_.price(charged, paid, amounts.data());
        }
        if (may_commit) {  // everything that may be asked for afterwards is ordered, too
            TestSet charged = paid;
            pricing_.add(test, paid, charged);
            value.tests.each([&](int t) { pricing_.add(t, paid, charged); });
            pricing_.add_wait(paid, charged);
            all = known * pricing_.price(charged, paid, amounts.data());
        }
        value.prices = std::min(alone, all);
        if (any_commits_) value.tests.add(test);
    }

private:
    static GrowPolicy alone(GrowPolicy policy) {
        policy.n_threads = 1;
        return policy;
    }

    SampleValue below(const View<Word>& view, const TestSet& paid, int depth, int answer_above) {
        if (finder_.terminal(view.class_weights, depth)) return as_leaf(view.class_weights, view.weight, answer_above);
        const Candidate c = random_ ? finder_.draw(view, paid, *random_, *cancellation_) : finder_.best(view, paid, depth, *cancellation_);
        if (!c.valid) return as_leaf(view.class_weights, view.weight, answer_above);
        std::vector<double> class_weights;
        partition_.divide_weights(view, c.split, class_weights);
        SampleValue leaf;
        if (policy_.sampling.pruned) leaf = as_leaf(view.class_weights, view.weight, answer_above);
        const std::vector<double> prices = amounts(view, c.split.column);
        SampleValue value = children(view, c.split, class_weights, paid, depth, answer_of(view.class_weights, view.weight, answer_above));
        charge(value, c.split.column, paid, c.known, prices);
        if (policy_.sampling.pruned && leaf.total() <= value.total() + 1e-9 * (std::abs(leaf.total()) + value.prices)) return leaf;
        return value;
    }

    SampleValue children(const View<Word>& view, const Split& split, const std::vector<double>& class_weights, const TestSet& paid,
                         int depth, int answer) {
        const int n_branches = split.branches(data_.table);
        TestSet paid_then = paid;
        if (!paid.has(split.column)) pricing_.order(split.column, paid_then);
        std::vector<uint8_t> wanted(static_cast<std::size_t>(n_branches), 0);
        bool any = false;
        const auto weights_of = [&](int b) { return class_weights.data() + static_cast<std::size_t>(b) * width_; };
        for (int b = 0; b < n_branches; ++b) any |= wanted[b] = !finder_.terminal(weights_of(b), depth + 1);
        std::vector<Range> ranges;
        std::vector<NodeCases<Word>> own;
        if (any && split.complete) partition_.divide_in_place(view, split, wanted, ranges);
        if (any && !split.complete) own = partition_.make_children(view, split, wanted);
        SampleValue sum;
        sum.tests = pricing_.nothing();
        for (int b = 0; b < n_branches; ++b) {
            double weight = 0;
            for (int c = 0; c < k_; ++c) weight += weights_of(b)[c];
            if (!wanted[b])
                sum.add(as_leaf(weights_of(b), weight, answer));
            else if (split.complete)
                sum.add(below({view.block, ranges.data() + static_cast<std::size_t>(b) * partition_.size(), weights_of(b), weight},
                              paid_then, depth + 1, answer));
            else
                sum.add(below(own[b].view(), paid_then, depth + 1, answer));
        }
        return sum;
    }

    const TrainingSet& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const GrowPolicy policy_;
    const int k_, width_;
    const bool any_commits_;
    CasePartition<Word> partition_;
    SplitFinder<Word> finder_;
    Block<Word> block_;
    std::size_t capacity_ = 0;
    Random* random_ = nullptr;
    Cancellation* cancellation_ = nullptr;
};

// Chooses the splits of a growing tree.
template <class Word>
class Lookahead {
public:
    Lookahead(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy)
        : data_(data), pricing_(pricing), errors_(errors), policy_(policy),
          samplers_(static_cast<std::size_t>(std::max(policy.n_threads, 1))) {}

    Sampler<Word>& sampler(int thread) {
        auto& sampler = samplers_[static_cast<std::size_t>(thread)];
        if (!sampler) sampler = std::make_unique<Sampler<Word>>(data_, pricing_, errors_, policy_);
        return *sampler;
    }

    // The option with the least expected cost (or size); not valid if there is none, nothing if the time is over. `work` is told to the meter
    // option by option; what is left of it in the end is the caller's to tell.
    std::optional<Candidate> best(const CasePartition<Word>& partition, SplitFinder<Word>& finder, const View<Word>& view,
                                  const TestSet& paid, int depth, uint64_t seed, double& work, Cancellation& cancellation) {
        if (Clock::now() >= policy_.sampling.deadline) return std::nullopt;
        const std::vector<Candidate> options = finder.options(view, paid, policy_.sampling.r, cancellation);
        std::vector<double> worth(options.size(), std::numeric_limits<double>::quiet_NaN());
        // Sharing work costs as much as some ten sampled trees of a few cases.
        std::size_t entries = 0;
        for (int l = 0; l < partition.size(); ++l) entries = std::max(entries, view.ranges[l].size());
        const bool share = static_cast<double>(entries * options.size()) >= kWorthSharing;
        const double each = options.empty() ? 0.0 : work / static_cast<double>(options.size());
        std::atomic<int> done{0};
        try {
            cancellable_for(static_cast<int>(options.size()), share ? static_cast<int>(samplers_.size()) : 1, cancellation,
                            policy_.sampling.deadline, [&](int i, int thread, Cancellation& own) {
                                worth[i] = worth_of(options[i], partition, view, paid, depth, seed_of(seed, static_cast<uint64_t>(i)),
                                                    sampler(thread), own);
                                if (!policy_.meter) return;
                                policy_.meter->add(each);
                                ++done;
                            });
        } catch (const DeadlinePassed&) {
            work -= done * each;
            return std::nullopt;
        }
        work -= done * each;
        Candidate best;
        double least = 0;
        for (std::size_t i = 0; i < options.size(); ++i)
            if (!best.valid || worth[i] < least - 1e-9 * std::abs(least)) {
                best = options[i];
                least = worth[i];
            }
        if (policy_.sampling.margin <= 0 || !best.valid) return best;
        // The least of many estimates is too optimistic: the greedy choice is kept unless another one promises clearly less.
        const Candidate greedy = finder.best(view, paid, depth, cancellation);
        for (std::size_t i = 0; i < options.size(); ++i)
            if (greedy.valid && same_split(options[i].split, greedy.split) &&
                worth[i] - least <= policy_.sampling.margin * std::abs(worth[i]))
                return options[i];
        return best;
    }

private:
    static constexpr double kWorthSharing = 400;

    static bool same_split(const Split& a, const Split& b) {
        if ((a.subset != nullptr) != (b.subset != nullptr)) return false;
        return a.column == b.column && a.level == b.level && a.position == b.position &&
               (!a.subset || a.subset->branch_of == b.subset->branch_of);
    }

    double worth_of(const Candidate& option, const CasePartition<Word>& partition, const View<Word>& view, const TestSet& paid, int depth,
                    uint64_t seed, Sampler<Word>& sampler, Cancellation& cancellation) const {
        const Split& split = option.split;
        const bool numeric = data_.table.columns[split.column].numeric();
        TestSet paid_then = paid;
        if (!paid.has(split.column)) pricing_.order(split.column, paid_then);
        const std::vector<NodeCases<Word>> children = partition.make_children(view, split);
        const int answer = sampler.answer_of(view.class_weights, view.weight, 0);
        SampleValue sum;
        sum.tests = pricing_.nothing();
        // A numeric test has r cuts, and r ways to divide values into two are tried: all tests get the same effort.
        const int n_samples = numeric || split.subset ? 1 : policy_.sampling.r;
        for (std::size_t b = 0; b < children.size(); ++b) {
            SampleValue least;
            for (int s = 0; s < n_samples; ++s) {
                Random random(seed_of(seed_of(seed, b), static_cast<uint64_t>(s)));
                const bool greedy = s == 0 && policy_.sampling.greedy_first;
                SampleValue value = sampler.sample(children[b], paid_then, depth + 1, answer, greedy ? nullptr : &random, cancellation);
                if (s == 0 || measure(value) < measure(least)) least = std::move(value);
                if (sampler.terminal(children[b], depth + 1)) break;  // there is nothing to sample
            }
            sum.add(least);
        }
        if (policy_.sampling.by_size) return sum.leaves;
        sampler.charge(sum, split.column, paid, option.known, sampler.amounts(view, split.column));
        return sum.total();
    }

    double measure(const SampleValue& value) const { return policy_.sampling.by_size ? value.leaves : value.total(); }

    const TrainingSet& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const GrowPolicy& policy_;
    std::vector<std::unique_ptr<Sampler<Word>>> samplers_;  // by thread; made when first needed
};

}  // namespace worthwhile
