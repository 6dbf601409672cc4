#include "ensemble/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "parallel/parallel_for.hpp"

namespace worthwhile {

namespace {

constexpr double kLeastCurvature = 1e-3, kLeastGain = 1e-9, kLeastShare = 1e-9;

struct Cell {
    double slope = 0, curve = 0;  // sums of first and second derivatives
    int32_t n = 0;

    void add(const Cell& other, int sign) {
        slope += sign * other.slope;
        curve += sign * other.curve;
        n += sign * other.n;
    }
};

struct Leaf {
    int32_t node = 0;
    std::size_t first = 0, end = 0, histogram = 0;
    Cell sum;
    double gain = 0;
    int at = -1, bin = 0;
    bool missing_left = false;
};

// One model: it learns from the cases of some rows, and scores all.
class Booster {
public:
    Booster(const Binned& cases, std::span<const int32_t> features, std::span<const int32_t> classes, int n_classes,
            std::span<const double> weights, std::vector<int32_t> rows, std::vector<int32_t> others, const BoostingPolicy& policy)
        : cases_(cases), features_(features), classes_(classes), weights_(weights), policy_(policy), rows_(std::move(rows)),
          others_(std::move(others)), k_(n_classes == 2 ? 1 : static_cast<std::size_t>(n_classes)), start_(features.size() + 1, 0),
          slope_(cases.n_cases), curve_(cases.n_cases), shares_(cases.n_cases * k_) {
        for (std::size_t f = 0; f < features.size(); ++f)
            start_[f + 1] = start_[f] + static_cast<std::size_t>(cases.n_bins(column(f))) + 1;  // the last one is for missing values
        histograms_.resize(static_cast<std::size_t>(policy.max_leaves));
        for (auto& own : histograms_) own.resize(start_.back());
        set_baseline(n_classes);
    }

    std::vector<double> baseline, scores;  // scores: (cases, outputs)

    void round(const std::function<void(const BinnedTree&)>& keep, Cancellation& cancellation) {
        set_shares();
        for (std::size_t output = 0; output < k_; ++output) {
            cancellation.poll();
            set_derivatives(output);
            order_ = rows_;
            keep(grow(output));
        }
    }

private:
    std::size_t column(std::size_t f) const { return static_cast<std::size_t>(features_[f]); }
    double weight(std::size_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }

    void set_baseline(int n_classes) {
        std::vector<double> counts(static_cast<std::size_t>(n_classes), kLeastShare);
        double total = 0;
        for (const int32_t i : rows_) {
            const auto own = static_cast<std::size_t>(i);
            counts[static_cast<std::size_t>(classes_[own])] += weight(own);
            total += weight(own);
        }
        if (k_ == 1)
            baseline = {std::log(counts[1] / counts[0])};
        else
            for (const double own : counts) baseline.push_back(std::log(own / total));
        for (std::size_t i = 0; i < cases_.n_cases; ++i) scores.insert(scores.end(), baseline.begin(), baseline.end());
    }

    void set_shares() {
        for (const int32_t row : rows_) {
            const auto i = static_cast<std::size_t>(row);
            double* own = &shares_[i * k_];
            const double* score = &scores[i * k_];
            if (k_ == 1) {
                own[0] = 1 / (1 + std::exp(-score[0]));
                continue;
            }
            const double most = *std::max_element(score, score + k_);
            double total = 0;
            for (std::size_t c = 0; c < k_; ++c) total += own[c] = std::exp(score[c] - most);
            for (std::size_t c = 0; c < k_; ++c) own[c] /= total;
        }
    }

    void set_derivatives(std::size_t output) {
        const int32_t wanted = k_ == 1 ? 1 : static_cast<int32_t>(output);
        for (const int32_t row : rows_) {
            const auto i = static_cast<std::size_t>(row);
            const double share = shares_[i * k_ + output];
            slope_[i] = weight(i) * (share - (classes_[i] == wanted));
            curve_[i] = weight(i) * share * (1 - share);
        }
    }

    BinnedTree grow(std::size_t output) {
        BinnedTree tree;
        std::vector<Leaf> leaves(1);
        leaves[0].node = tree.add_node(1);
        leaves[0].end = order_.size();
        count(leaves[0]);
        for (const int32_t row : order_) {
            const auto i = static_cast<std::size_t>(row);
            leaves[0].sum.add({slope_[i], curve_[i], 1}, 1);
        }
        find_split(leaves[0]);
        while (leaves.size() < static_cast<std::size_t>(policy_.max_leaves)) {
            const auto best = std::max_element(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.gain < b.gain; });
            if (best->at < 0) break;
            Leaf right = split(tree, *best, leaves.size());
            leaves.push_back(right);
        }
        for (const Leaf& leaf : leaves) {
            const double value = -policy_.rate * leaf.sum.slope / (leaf.sum.curve + policy_.ridge);
            tree.value[static_cast<std::size_t>(leaf.node)] = static_cast<float>(value);
            for (std::size_t i = leaf.first; i < leaf.end; ++i) scores[static_cast<std::size_t>(order_[i]) * k_ + output] += value;
        }
        for (const int32_t row : others_) {
            const auto i = static_cast<std::size_t>(row);
            scores[i * k_ + output] += tree.value[tree.leaf_of(cases_, features_, i)];
        }
        return tree;
    }

    // Divides a leaf into itself, which becomes the left child, and the right child.
    Leaf split(BinnedTree& tree, Leaf& leaf, std::size_t free_histogram) {
        const uint8_t* bins = cases_.column(column(static_cast<std::size_t>(leaf.at)));
        const auto begin = order_.begin();
        const auto middle =
            std::stable_partition(begin + static_cast<std::ptrdiff_t>(leaf.first), begin + static_cast<std::ptrdiff_t>(leaf.end),
                                  [&](int32_t i) { return bins[i] == kMissingBin ? leaf.missing_left : bins[i] <= leaf.bin; });
        Leaf left, right;
        left.node = tree.add_node(1);
        right.node = tree.add_node(1);
        tree.set_split(leaf.node, leaf.at, leaf.bin, leaf.missing_left, left.node, right.node);
        left.first = leaf.first;
        left.end = right.first = static_cast<std::size_t>(middle - begin);
        right.end = leaf.end;
        Leaf& few = left.end - left.first <= right.end - right.first ? left : right;
        Leaf& many = &few == &left ? right : left;
        few.histogram = free_histogram;
        many.histogram = leaf.histogram;
        for (std::size_t i = few.first; i < few.end; ++i) {
            const auto own = static_cast<std::size_t>(order_[i]);
            few.sum.add({slope_[own], curve_[own], 1}, 1);
        }
        many.sum = leaf.sum;
        many.sum.add(few.sum, -1);
        if (tree.feature.size() < 2 * static_cast<std::size_t>(policy_.max_leaves) - 1) {  // neither will be split otherwise
            count(few);
            for (std::size_t b = 0; b < start_.back(); ++b) histograms_[many.histogram][b].add(histograms_[few.histogram][b], -1);
            find_split(left);
            find_split(right);
        }
        leaf = left;
        return right;
    }

    void count(const Leaf& leaf) {
        auto& cells = histograms_[leaf.histogram];
        std::fill(cells.begin(), cells.end(), Cell{});
        for (std::size_t f = 0; f < features_.size(); ++f) {
            const uint8_t* bins = cases_.column(column(f));
            Cell* own = &cells[start_[f]];
            const std::size_t last = start_[f + 1] - start_[f] - 1;
            for (std::size_t i = leaf.first; i < leaf.end; ++i) {
                const auto row = static_cast<std::size_t>(order_[i]);
                Cell& cell = own[bins[row] == kMissingBin ? last : bins[row]];
                cell.slope += slope_[row];
                cell.curve += curve_[row];
                ++cell.n;
            }
        }
    }

    double worth(const Cell& cell) const { return cell.slope * cell.slope / (cell.curve + policy_.ridge); }

    void find_split(Leaf& leaf) const {
        const auto& cells = histograms_[leaf.histogram];
        const double now = worth(leaf.sum);
        leaf.gain = 0;
        leaf.at = -1;
        if (leaf.sum.n < 2 * policy_.min_leaf) return;
        for (std::size_t f = 0; f < features_.size(); ++f) {
            const Cell* own = &cells[start_[f]];
            const int n_bins = static_cast<int>(start_[f + 1] - start_[f]) - 1;
            const Cell& missing = own[n_bins];
            for (int missing_left = 0; missing_left < (missing.n ? 2 : 1); ++missing_left) {
                Cell left;
                if (missing_left) left = missing;
                const int n_cuts = n_bins - 1 + (missing.n && !missing_left);
                for (int bin = 0; bin < n_cuts; ++bin) {
                    if (!own[bin].n) continue;
                    left.add(own[bin], 1);
                    Cell right = leaf.sum;
                    right.add(left, -1);
                    if (right.n < policy_.min_leaf) break;
                    if (left.n < policy_.min_leaf || left.curve < kLeastCurvature || right.curve < kLeastCurvature) continue;
                    const double gain = worth(left) + worth(right) - now;
                    if (gain > leaf.gain && gain > kLeastGain) {
                        leaf.gain = gain;
                        leaf.at = static_cast<int>(f);
                        leaf.bin = bin;
                        leaf.missing_left = missing.n ? missing_left != 0 : left.n > right.n;
                    }
                }
            }
        }
    }

    const Binned& cases_;
    std::span<const int32_t> features_, classes_;
    std::span<const double> weights_;
    const BoostingPolicy& policy_;
    std::vector<int32_t> rows_, others_, order_;
    std::size_t k_;
    std::vector<std::size_t> start_;  // of each feature in a histogram
    std::vector<double> slope_, curve_, shares_;
    std::vector<std::vector<Cell>> histograms_;
};

}  // namespace

Boosted boost(const Binned& cases, std::span<const int32_t> features, std::span<const int32_t> classes, int n_classes,
              std::span<const double> weights, std::span<const int32_t> folds, int n_folds, const BoostingPolicy& policy,
              Cancellation& cancellation) {
    const std::size_t k = n_classes == 2 ? 1 : static_cast<std::size_t>(n_classes), n = cases.n_cases;
    Boosted found;
    found.held_out.assign(policy.marks.size() * n * k, 0.0);
    // One model per fold, and one of all cases.
    cancellable_for(n_folds + 1, policy.n_threads, cancellation, [&](int fold, int, Cancellation& own) {
        std::vector<int32_t> rows, others;
        for (std::size_t i = 0; i < n; ++i) (folds[i] == fold ? others : rows).push_back(static_cast<int32_t>(i));
        Booster model(cases, features, classes, n_classes, weights, std::move(rows), others, policy);
        const bool whole = fold == n_folds;
        std::size_t mark = 0;
        const int n_rounds = whole || policy.marks.empty() ? policy.n_rounds : policy.marks.back();
        for (int round = 1; round <= n_rounds; ++round) {
            model.round(
                [&](const BinnedTree& tree) {
                    if (whole) append(found.trees, tree, cases, features);
                },
                own);
            if (mark >= policy.marks.size() || round != policy.marks[mark]) continue;
            for (const int32_t row : others) {
                const auto i = static_cast<std::size_t>(row);
                std::copy_n(&model.scores[i * k], k, &found.held_out[(mark * n + i) * k]);
            }
            ++mark;
        }
        if (whole) found.baseline = model.baseline;
    });
    return found;
}

}  // namespace worthwhile
