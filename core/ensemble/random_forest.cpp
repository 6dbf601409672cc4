#include "ensemble/random_forest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/random.hpp"
#include "parallel/parallel_for.hpp"

namespace worthwhile {

namespace {

constexpr std::size_t kFew = 24;  // so many cases are sorted one by one: that is cheaper than counting all bins
constexpr double kLeastGain = 1e-12;

struct Split {
    double gain = 0.0;
    int at = -1;  // position of the feature
    int bin = 0;  // cases up to this bin go left
    bool missing_left = false;
};

// One tree, and the leaf of each case that it was not grown from.
struct GrownTree : BinnedTree {
    std::vector<int32_t> held_out;  // -1: it was grown from this case
    std::vector<double> gains;
};

class TreeGrower {
public:
    TreeGrower(const Binned& cases, std::span<const int32_t> features, std::span<const int32_t> classes, int n_classes,
               std::span<const double> weights, const RandomForestPolicy& policy, uint64_t seed)
        : cases_(cases), features_(features), classes_(classes), k_(static_cast<std::size_t>(n_classes)), policy_(policy), random_(seed),
          weight_(cases.n_cases), order_(features.size()), left_(k_), all_(k_) {
        std::vector<int> drawn(cases.n_cases);
        for (std::size_t i = 0; i < policy.n_drawn; ++i) ++drawn[below(cases.n_cases)];
        for (std::size_t i = 0; i < cases.n_cases; ++i) {
            weight_[i] = drawn[i] * (weights.empty() ? 1.0 : weights[i]);
            if (weight_[i] > 0) used_.push_back(static_cast<int32_t>(i));
        }
        std::iota(order_.begin(), order_.end(), 0);
        sorted_.resize(used_.size());
    }

    GrownTree grow(Cancellation& cancellation) {
        tree_.gains.assign(features_.size(), 0.0);
        struct Todo {
            int32_t node;
            std::size_t first, end;
        };
        std::vector<Todo> todo;
        tree_.add_node(k_);
        todo.push_back({0, 0, used_.size()});
        while (!todo.empty()) {
            cancellation.poll();
            const auto [node, first, end] = todo.back();
            todo.pop_back();
            const Split split = find_split(first, end);
            if (split.at < 0) {
                set_leaf(node);
                continue;
            }
            const std::size_t middle = divide(split, first, end);
            tree_.gains[static_cast<std::size_t>(split.at)] += split.gain;
            const int32_t left = tree_.add_node(k_), right = tree_.add_node(k_);
            tree_.set_split(node, split.at, split.bin, split.missing_left, left, right);
            todo.push_back({right, middle, end});
            todo.push_back({left, first, middle});
        }
        find_held_out();
        return std::move(tree_);
    }

private:
    std::size_t below(std::size_t n) { return std::min(n - 1, static_cast<std::size_t>(random_.uniform() * static_cast<double>(n))); }

    void set_leaf(int32_t node) {
        const double total = std::accumulate(all_.begin(), all_.end(), 0.0);
        for (std::size_t c = 0; c < k_; ++c)
            tree_.value[static_cast<std::size_t>(node) * k_ + c] =
                total > 0 ? static_cast<float>(all_[c] / total) : 1.0f / static_cast<float>(k_);
    }

    // The best split of some cases; all_ has the weights of their classes afterwards.
    Split find_split(std::size_t first, std::size_t end) {
        std::fill(all_.begin(), all_.end(), 0.0);
        for (std::size_t i = first; i < end; ++i) all_[class_of(used_[i])] += weight_[static_cast<std::size_t>(used_[i])];
        Split best;
        const bool pure = std::count_if(all_.begin(), all_.end(), [](double w) { return w > 0; }) < 2;
        if (pure || end - first < 2 * static_cast<std::size_t>(policy_.min_leaf)) return best;
        int tried = 0;
        for (std::size_t next = 0; next < order_.size() && (tried < policy_.n_tried || best.at < 0); ++next) {
            std::swap(order_[next], order_[next + below(order_.size() - next)]);
            tried += try_feature(order_[next], first, end, best);
        }
        return best;
    }

    std::size_t class_of(int32_t i) const { return static_cast<std::size_t>(classes_[static_cast<std::size_t>(i)]); }

    // Sorts the cases by their bins, the missing ones last; returns whether there are several bins.
    bool sort_cases(std::size_t feature, std::size_t first, std::size_t end) {
        const uint8_t* bins = cases_.column(feature);
        int32_t counts[257] = {};
        for (std::size_t i = first; i < end; ++i) ++counts[bins[used_[i]] + 1];
        const auto n = static_cast<int32_t>(end - first);
        if (counts[bins[used_[first]] + 1] == n) return false;
        for (int b = 0; b < 256; ++b) counts[b + 1] += counts[b];
        n_known_ = static_cast<std::size_t>(counts[kMissingBin]);
        for (std::size_t i = first; i < end; ++i) sorted_[static_cast<std::size_t>(counts[bins[used_[i]]]++)] = used_[i];
        return true;
    }

    bool sort_few(std::size_t feature, std::size_t first, std::size_t end) {
        const uint8_t* bins = cases_.column(feature);
        n_known_ = 0;
        bool several = false;
        for (std::size_t i = first; i < end; ++i) {
            const int32_t own = used_[i];
            const uint8_t bin = bins[own];
            n_known_ += bin != kMissingBin;
            several |= bin != bins[used_[first]];
            std::size_t to = i - first;
            for (; to > 0 && bins[sorted_[to - 1]] > bin; --to) sorted_[to] = sorted_[to - 1];
            sorted_[to] = own;
        }
        return several;
    }

    // Returns whether the feature has several values here.
    bool try_feature(int at, std::size_t first, std::size_t end, Split& best) {
        if (policy_.random_cuts) return try_random_cut(at, first, end, best);
        const std::size_t n = end - first;
        if (!(n <= kFew ? sort_few(feature_of(at), first, end) : sort_cases(feature_of(at), first, end))) return false;
        const uint8_t* bins = cases_.column(feature_of(at));
        for (int missing_left = 0; missing_left < (n_known_ < n ? 2 : 1); ++missing_left) sweep(at, bins, n, missing_left != 0, best);
        return true;
    }

    // Tries one cut, between the least and the greatest known value; if all are the same, that between known and missing values.
    bool try_random_cut(int at, std::size_t first, std::size_t end, Split& best) {
        const uint8_t* bins = cases_.column(feature_of(at));
        int low = kMissingBin, high = -1;
        std::size_t n_missing = 0;
        for (std::size_t i = first; i < end; ++i) {
            const int bin = bins[used_[i]];
            if (bin == kMissingBin) {
                ++n_missing;
                continue;
            }
            low = std::min(low, bin);
            high = std::max(high, bin);
        }
        const bool varied = low < high;
        if (high < 0 || (!varied && n_missing == 0)) return false;
        const int cut = varied ? low + static_cast<int>(below(static_cast<std::size_t>(high - low))) : cases_.n_bins(feature_of(at)) - 1;
        for (int missing_left = 0; missing_left < (varied && n_missing ? 2 : 1); ++missing_left) {
            Side left(left_, all_);
            for (std::size_t i = first; i < end; ++i) {
                const int bin = bins[used_[i]];
                if (bin == kMissingBin ? missing_left != 0 : bin <= cut) move(used_[i], left);
            }
            judge(at, cut, left, end - first, missing_left != 0, n_missing == 0, best);
        }
        return true;
    }

    // The cases that go left, and the sums of squares of class weights on both sides.
    struct Side {
        Side(std::vector<double>& left, const std::vector<double>& all) {
            std::fill(left.begin(), left.end(), 0.0);
            for (const double own : all) {
                weight_all += own;
                squares_all += own * own;
            }
            squares_right = squares_all;
        }
        std::size_t n = 0;
        double weight = 0, weight_all = 0, squares = 0, squares_right = 0, squares_all = 0;
    };

    void move(int32_t i, Side& left) {
        const double own = weight_[static_cast<std::size_t>(i)];
        const std::size_t c = class_of(i);
        left.squares += own * (2 * left_[c] + own);
        left.squares_right += own * (own - 2 * (all_[c] - left_[c]));
        left_[c] += own;
        left.weight += own;
        ++left.n;
    }

    void judge(int at, int bin, const Side& left, std::size_t n, bool missing_left, bool all_known, Split& best) const {
        const auto min_leaf = static_cast<std::size_t>(policy_.min_leaf);
        const double right = left.weight_all - left.weight;
        if (left.n < min_leaf || n - left.n < min_leaf || !(left.weight > 0 && right > 0)) return;
        const double gain = left.squares / left.weight + left.squares_right / right - left.squares_all / left.weight_all;
        if (!(gain > best.gain && gain > kLeastGain * left.weight_all)) return;
        // New cases without a value go where most cases go.
        best = {gain, at, bin, all_known ? 2 * left.n > n : missing_left};
    }

    // Tries all cuts between the sorted cases.
    void sweep(int at, const uint8_t* bins, std::size_t n, bool missing_left, Split& best) {
        Side left(left_, all_);
        if (missing_left)
            for (std::size_t i = n_known_; i < n; ++i) move(sorted_[i], left);
        for (std::size_t i = 0; i < n_known_; ++i) {
            move(sorted_[i], left);
            const int bin = bins[sorted_[i]];
            const bool last = i + 1 == n_known_;
            if (last ? (missing_left || n_known_ == n) : bins[sorted_[i + 1]] == bin) continue;
            // After the last bin, known values go left and missing ones right.
            judge(at, last ? cases_.n_bins(feature_of(at)) - 1 : bin, left, n, missing_left, n_known_ == n, best);
        }
    }

    std::size_t feature_of(int at) const { return static_cast<std::size_t>(features_[static_cast<std::size_t>(at)]); }

    std::size_t divide(const Split& split, std::size_t first, std::size_t end) {
        const uint8_t* bins = cases_.column(feature_of(split.at));
        const auto begin = used_.begin();
        const auto middle = std::partition(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end),
                                           [&](int32_t i) { return bins[i] == kMissingBin ? split.missing_left : bins[i] <= split.bin; });
        return static_cast<std::size_t>(middle - begin);
    }

    void find_held_out() {
        tree_.held_out.assign(cases_.n_cases, -1);
        for (std::size_t i = 0; i < cases_.n_cases; ++i) {
            if (weight_[i] > 0) continue;
            tree_.held_out[i] = static_cast<int32_t>(tree_.leaf_of(cases_, features_, i));
        }
    }

    const Binned& cases_;
    std::span<const int32_t> features_, classes_;
    std::size_t k_;
    const RandomForestPolicy& policy_;
    Random random_;
    std::vector<double> weight_;
    std::vector<int32_t> used_, sorted_;
    std::vector<int> order_;
    std::vector<double> left_, all_;
    std::size_t n_known_ = 0;
    GrownTree tree_;
};

}  // namespace

RandomForest grow_random_forest(const Binned& cases, std::span<const int32_t> features, std::span<const int32_t> classes, int n_classes,
                                std::span<const double> weights, const RandomForestPolicy& policy, Cancellation& cancellation) {
    std::vector<GrownTree> trees(static_cast<std::size_t>(policy.n_trees));
    cancellable_for(policy.n_trees, policy.n_threads, cancellation, [&](int t, int, Cancellation& own) {
        const uint64_t seed = seed_of(policy.seed, static_cast<uint64_t>(t));
        trees[static_cast<std::size_t>(t)] = TreeGrower(cases, features, classes, n_classes, weights, policy, seed).grow(own);
    });
    const auto k = static_cast<std::size_t>(n_classes);
    RandomForest found;
    found.held_out.assign(cases.n_cases * k, 0.0);
    found.gains.assign(features.size(), 0.0);
    for (const GrownTree& tree : trees) {  // in order: sums must not depend on the number of threads
        append(found.trees, tree, cases, features);
        for (std::size_t i = 0; i < cases.n_cases; ++i) {
            if (tree.held_out[i] < 0) continue;
            const float* own = &tree.value[static_cast<std::size_t>(tree.held_out[i]) * k];
            for (std::size_t c = 0; c < k; ++c) found.held_out[i * k + c] += own[c];
        }
        for (std::size_t f = 0; f < features.size(); ++f) found.gains[f] += tree.gains[f];
    }
    return found;
}

void add_leaves(const EnsembleView& trees, std::span<const float> features, std::size_t n_features, std::size_t n_outputs, double* sums) {
    const std::size_t n = n_features ? features.size() / n_features : 0;
    for (std::size_t tree = 0; tree < trees.roots.size(); ++tree) {
        const auto first = static_cast<std::size_t>(trees.output[tree]);
        for (std::size_t i = 0; i < n; ++i) {
            auto node = static_cast<std::size_t>(trees.roots[tree]);
            while (trees.feature[node] >= 0) {
                const float value = features[i * n_features + static_cast<std::size_t>(trees.feature[node])];
                const bool left = std::isnan(value) ? trees.missing_left[node] != 0 : value <= trees.threshold[node];
                node = static_cast<std::size_t>(left ? trees.left[node] : trees.right[node]);
            }
            const float* own = &trees.value[node * trees.width];
            for (std::size_t c = 0; c < trees.width; ++c) sums[i * n_outputs + first + c] += own[c];
        }
    }
}

}  // namespace worthwhile
