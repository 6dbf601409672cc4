// The cases of a node as sorted lists, and dividing them among the branches of a split.
//
// A node has one list per numeric test, in the order of its values (cases without a value are not in it), and, if a test is
// nominal or cases have weights, a list of its rows. The lists of a node lie in the memory of its parent's lists as long as every
// case goes to one branch; if a case is divided because its value is missing, the children get memory of their own.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "data/table.hpp"
#include "grow/cuts.hpp"
#include "grow/presort.hpp"
#include "parallel/parallel_for.hpp"

namespace worthwhile {

// Below this many list entries in a node, starting threads costs more than it saves.
constexpr std::size_t kWorthThreads = std::size_t{1} << 17;

struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

// A division of cases by one test.
struct Split {
    int column = -1;
    int level = 0;                        // nominal: the level of the column
    std::shared_ptr<const Level> subset;  // nominal: some values against the rest, found for this node, in place of a level
    double low = 0, high = 0;             // numeric: the neighbouring values that the cut separates
    std::size_t position = 0;             // numeric: entries on the left side
    bool complete = true;                 // no case of the node lacks the value

    int branches(const Table& table) const {
        const Column& of = table.columns[column];
        return of.numeric() ? 2 : asked(of).n_branches;
    }
    const Level& asked(const Column& of) const { return subset ? *subset : of.levels[level]; }
    // Between the neighbouring values; never the upper one.
    double middle() const {
        const double middle = std::midpoint(low, high);
        return middle < high ? middle : low;
    }
    int branch_of(const Table& table, std::size_t row) const {
        const Column& of = table.columns[column];
        if (of.numeric()) {
            const double v = of.value(row);
            return std::isnan(v) ? -1 : !(v <= low);
        }
        const int32_t code = of.code(row);
        return code < 0 ? -1 : asked(of).branch_of[code];
    }
};

template <class Word>
struct Block {
    std::unique_ptr<Word[]> words;
    std::vector<double> weights;  // parallel to the list of rows, which is the first; only if cases have weights
};

template <class Word>
struct View {
    Block<Word>* block = nullptr;
    const Range* ranges = nullptr;
    const double* class_weights = nullptr;
    double weight = 0;
};

// A node that owns its lists.
template <class Word>
struct NodeCases {
    std::unique_ptr<Block<Word>> block;
    std::vector<Range> ranges;
    std::vector<double> class_weights;  // and deviations
    int n_classes = 0;

    double weight() const {
        double sum = 0;
        for (int c = 0; c < n_classes; ++c) sum += class_weights[c];
        return sum;
    }
    View<Word> view() const { return {block.get(), ranges.data(), class_weights.data(), weight()}; }
};

template <class Word>
class CasePartition {
public:
    CasePartition(const TrainingSet& data, int n_threads)
        : data_(data), packing_(data.n_classes), k_(data.n_classes), width_(data.n_statistics()), n_(data.table.n_cases),
          weighted_(!data.weights.empty() || data.table.has_missing || data.by_case()), n_threads_(std::max(n_threads, 1)),
          buffers_(n_threads_) {
        for (const Column& column : data.table.columns)
            if (!column.numeric() || weighted_) rows_list_ = 0;
        size_ = rows_list_ + 1;
        for (const Column& column : data.table.columns) list_of_.push_back(column.numeric() ? size_++ : -1);
        if (weighted_) weight_of_.resize(n_);
        left_mark_.resize(n_ / 64 + 1);
    }

    int size() const { return size_; }
    int list_of(int column) const { return list_of_[column]; }  // -1: nominal
    int rows_list() const { return rows_list_; }                // -1: all tests are numeric and cases count once
    bool weighted() const { return weighted_; }
    const Packing& packing() const { return packing_; }
    // By row, of the node whose weights were loaded last; nullptr: every case counts once.
    const double* weight_of() const { return weighted_ ? weight_of_.data() : nullptr; }
    int threads_for(const View<Word>& view) const {
        std::size_t entries = 0;
        for (int l = 0; l < size_; ++l) entries += view.ranges[l].size();
        return entries < kWorthThreads ? 1 : n_threads_;
    }

    NodeCases<Word> root() const {
        NodeCases<Word> root;
        root.block = std::make_unique<Block<Word>>();
        root.block->words.reset(new Word[n_ * size_]);
        root.ranges.resize(size_);
        root.n_classes = k_;
        root.class_weights.assign(width_, 0.0);
        for (std::size_t row = 0; row < n_; ++row) data_.add_case(row, data_.weight(row), root.class_weights.data());
        sort_lists(root);
        if (rows_list_ >= 0) {
            root.ranges[rows_list_] = {0, n_};
            for (std::size_t row = 0; row < n_; ++row)
                root.block->words[row] = packing_.template pack<Word>(row, data_.classes[row], false);
        }
        if (weighted_) {
            root.block->weights.resize(n_);
            for (std::size_t row = 0; row < n_; ++row) root.block->weights[row] = data_.weight(row);
        }
        return root;
    }

    std::unique_ptr<Block<Word>> copy(const NodeCases<Word>& root) const {
        auto block = std::make_unique<Block<Word>>();
        block->words.reset(new Word[n_ * size_]);
        std::copy_n(root.block->words.get(), n_ * size_, block->words.get());
        block->weights = root.block->weights;
        return block;
    }

    // The cases of a node in memory of their own.
    NodeCases<Word> copy_of(const View<Word>& view) const {
        NodeCases<Word> node;
        node.n_classes = k_;
        node.class_weights.assign(view.class_weights, view.class_weights + width_);
        std::size_t n_words = 0;
        for (int l = 0; l < size_; ++l) {
            node.ranges.push_back({n_words, n_words + view.ranges[l].size()});
            n_words += view.ranges[l].size();
        }
        node.block = std::make_unique<Block<Word>>();
        node.block->words.reset(new Word[n_words]);
        for (int l = 0; l < size_; ++l)
            std::copy_n(view.block->words.get() + view.ranges[l].begin, view.ranges[l].size(),
                        node.block->words.get() + node.ranges[l].begin);
        if (weighted_) {
            const auto first = view.block->weights.begin() + static_cast<std::ptrdiff_t>(view.ranges[rows_list_].begin);
            node.block->weights.assign(first, first + static_cast<std::ptrdiff_t>(view.ranges[rows_list_].size()));
        }
        return node;
    }

    void load_weights(const View<Word>& view) {
        if (!weighted_) return;
        const Range rows = view.ranges[rows_list_];
        for (std::size_t i = rows.begin; i < rows.end; ++i) weight_of_[packing_.row(view.block->words[i])] = view.block->weights[i];
    }

    bool lacks(const View<Word>& view, const Column& column) const {
        if (!data_.table.has_missing) return false;
        const Range range = view.ranges[rows_list_];
        return std::any_of(view.block->words.get() + range.begin, view.block->words.get() + range.end,
                           [&](Word w) { return column.missing(packing_.row(w)); });
    }

    // The largest value of a column, over all cases, that does not exceed `threshold`. `root` must not have been divided.
    double largest_up_to(const NodeCases<Word>& root, int column, double threshold) const {
        const Column& values = data_.table.columns[column];
        const Range range = root.ranges[list_of_[column]];
        const Word* list = root.block->words.get();
        const Word* after =
            std::partition_point(list + range.begin, list + range.end, [&](Word w) { return values.value(packing_.row(w)) <= threshold; });
        return values.value(packing_.row(after[-1]));
    }

    // Fills in the class weights of all branches, missing cases shared out, and returns each branch's share of the known weight.
    std::vector<double> divide_weights(const View<Word>& view, const Split& split, std::vector<double>& class_weights) const {
        const int n_branches = split.branches(data_.table);
        class_weights.assign(static_cast<std::size_t>(n_branches) * width_, 0.0);
        std::vector<double> share(n_branches, 0.0);
        if (rows_list_ < 0) {
            const Word* list = view.block->words.get() + view.ranges[list_of_[split.column]].begin;
            for (std::size_t i = 0; i < split.position; ++i) class_weights[packing_.label(list[i])] += 1;
            for (int c = 0; c < k_; ++c) class_weights[k_ + c] = view.class_weights[c] - class_weights[c];
            return share;
        }
        std::vector<double> missing(width_, 0.0);
        double known = 0;
        const Range rows = view.ranges[rows_list_];
        for (std::size_t i = rows.begin; i < rows.end; ++i) {
            const Word w = view.block->words[i];
            const double weight = weighted_ ? view.block->weights[i] : 1.0;
            const int b = split.branch_of(data_.table, packing_.row(w));
            double* const of = b < 0 ? missing.data() : class_weights.data() + static_cast<std::size_t>(b) * width_;
            of[packing_.label(w)] += weight;
            data_.add_deviations(packing_.row(w), weight, of);
            if (b >= 0) share[b] += weight, known += weight;
        }
        for (int b = 0; b < n_branches; ++b) {
            share[b] /= known;
            for (int c = 0; c < width_; ++c)
                if (share[b] > 0) class_weights[static_cast<std::size_t>(b) * width_ + c] += share[b] * missing[c];
        }
        return share;
    }

    // The branches in memory of their own, with the divided cases at their share of the weight. Branches that are not wanted stay
    // without lists; none given: all are wanted.
    std::vector<NodeCases<Word>> make_children(const View<Word>& view, const Split& split, const std::vector<uint8_t>& wanted = {}) const {
        const int n_branches = split.branches(data_.table);
        std::vector<double> all_weights;
        const std::vector<double> share = divide_weights(view, split, all_weights);
        std::vector<NodeCases<Word>> children(n_branches);
        std::vector<int> takes_missing;
        for (int b = 0; b < n_branches; ++b) {
            const auto weights = all_weights.begin() + static_cast<std::ptrdiff_t>(b) * width_;
            children[b].n_classes = k_;
            children[b].class_weights.assign(weights, weights + width_);
            children[b].ranges.resize(size_);
            if (!wanted.empty() && !wanted[b]) continue;
            children[b].block = std::make_unique<Block<Word>>();
            if (share[b] > 0) takes_missing.push_back(b);
        }
        // Every entry with the branches that it goes to; called twice, to count and to write.
        const auto each_entry = [&](auto visit) {
            for (int l = 0; l < size_; ++l)
                for (std::size_t i = view.ranges[l].begin; i < view.ranges[l].end; ++i) {
                    const int b = split.branch_of(data_.table, packing_.row(view.block->words[i]));
                    if (b < 0)
                        for (int to : takes_missing) visit(l, i, to, share[to]);
                    else if (children[b].block)
                        visit(l, i, b, 1.0);
                }
        };
        std::vector<std::size_t> at(n_branches, 0);
        each_entry([&](int, std::size_t, int b, double) { ++at[b]; });
        for (int b = 0; b < n_branches; ++b)
            if (children[b].block) children[b].block->words.reset(new Word[std::exchange(at[b], 0)]);
        // An entry starts a new value if a boundary was passed since the branch's last one; `passed` counts within a list.
        std::vector<std::size_t> seen(n_branches, 0);
        std::size_t passed = 0, counted = 0;
        int list = -1;
        each_entry([&](int l, std::size_t i, int b, double part) {
            if (l != list) {
                list = l;
                counted = view.ranges[l].begin;
                for (int to = 0; to < n_branches; ++to) children[to].ranges[l] = {at[to], at[to]};
            }
            for (; counted <= i; ++counted) passed += view.block->words[counted] & 1;
            NodeCases<Word>& child = children[b];
            child.block->words[at[b]++] =
                static_cast<Word>((view.block->words[i] & ~Word{1}) | Word{std::exchange(seen[b], passed) != passed});
            child.ranges[l].end = at[b];
            if (l == rows_list_ && weighted_) child.block->weights.push_back(view.block->weights[i] * part);
        });
        return children;
    }

    // Sorts the lists of a node by branch, in place. Only the ranges of wanted branches are set in `child_ranges`.
    void divide_in_place(const View<Word>& view, const Split& split, const std::vector<uint8_t>& wanted, std::vector<Range>& child_ranges) {
        const int n_branches = split.branches(data_.table);
        child_ranges.assign(static_cast<std::size_t>(n_branches) * size_, Range{});
        if (n_branches == 2)
            mark_left(view, split);
        else
            mark_branches(view, split);
        parallel_for(size_, threads_for(view), [&](int list, int thread) {
            if (n_branches == 2)
                divide_in_two(view, list, wanted, child_ranges, buffers_[thread]);
            else
                divide_in_many(view, list, n_branches, child_ranges, buffers_[thread]);
        });
    }

private:
    void sort_lists(NodeCases<Word>& root) const {
        std::vector<SortEntry> entries, buffer;
        entries.reserve(n_);
        for (int c = 0; c < data_.table.n_columns(); ++c) {
            if (list_of_[c] < 0) continue;
            const std::size_t begin = list_of_[c] * n_;
            Word* list = root.block->words.get() + begin;
            std::size_t size = 0;
            uint64_t before = 0;
            const auto add = [&](uint64_t key, uint32_t row) {
                list[size] = packing_.template pack<Word>(row, data_.classes[row], size > 0 && key != before);
                before = key;
                ++size;
            };
            if (data_.order) {
                const Column& column = data_.table.columns[c];
                for (uint32_t row : (*data_.order)[c]) add(sort_key(column.value(row)), row);
            } else {
                sort_column(data_.table.columns[c], n_, entries, buffer);
                for (const SortEntry& e : entries) add(e.key, e.row);
            }
            root.ranges[list_of_[c]] = {begin, begin + size};
        }
    }

    void mark_left(const View<Word>& view, const Split& split) {
        const bool numeric = list_of_[split.column] >= 0;
        const Range range = view.ranges[numeric ? list_of_[split.column] : rows_list_];
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t row = packing_.row(view.block->words[i]);
            const bool left = numeric ? i - range.begin < split.position : split.branch_of(data_.table, row) == 0;
            const uint64_t bit = uint64_t{1} << (row & 63);
            left_mark_[row >> 6] = left ? left_mark_[row >> 6] | bit : left_mark_[row >> 6] & ~bit;
        }
    }

    bool marked_left(std::size_t row) const { return left_mark_[row >> 6] >> (row & 63) & 1; }

    void mark_branches(const View<Word>& view, const Split& split) {
        branch_mark_.resize(n_);
        const Range range = view.ranges[rows_list_];
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t row = packing_.row(view.block->words[i]);
            branch_mark_[row] = split.branch_of(data_.table, row);
        }
    }

    // Stable, without a branch in the loop: every entry is written to both sides and one of the two writes is kept. A boundary
    // bit that is dropped on one side is handed to the next entry there. If only the right side is wanted, it takes the place
    // of the left one.
    void divide_in_two(const View<Word>& view, int list, const std::vector<uint8_t>& wanted, std::vector<Range>& child_ranges,
                       std::vector<Word>& buffer) {
        const Range range = view.ranges[list];
        Word* words = view.block->words.get() + range.begin;
        const std::size_t n = range.size();
        if (buffer.size() < n) buffer.resize(n);
        Word* right = buffer.data();
        const Word flip = wanted[0] ? 0 : 1;
        std::size_t n_left = 0, n_right = 0;
        Word left_boundary = 0, right_boundary = 0;
        if (weighted_ && list == rows_list_) divide_row_weights(view, range, flip);
        for (std::size_t i = 0; i < n; ++i) {
            const Word w = words[i];
            const Word goes_left = static_cast<Word>(marked_left(packing_.row(w))) ^ flip;
            left_boundary |= w & 1;
            right_boundary |= w & 1;
            words[n_left] = static_cast<Word>((w & ~Word{1}) | left_boundary);
            right[n_right] = static_cast<Word>((w & ~Word{1}) | right_boundary);
            n_left += goes_left;
            n_right += goes_left ^ 1;
            left_boundary &= goes_left - 1;
            right_boundary &= static_cast<Word>(0) - goes_left;
        }
        const Range front{range.begin, range.begin + n_left};
        child_ranges[(flip ? size_ : 0) + list] = front;
        if (wanted[0] && wanted[1]) {
            std::memcpy(words + n_left, right, n_right * sizeof(Word));
            child_ranges[size_ + list] = {front.end, range.end};
        }
    }

    // The weights are parallel to the rows and must follow them.
    void divide_row_weights(const View<Word>& view, Range range, Word flip) {
        double* weights = view.block->weights.data() + range.begin;
        std::vector<double> right;
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < range.size(); ++i) {
            if (marked_left(packing_.row(view.block->words[range.begin + i])) ^ (flip != 0))
                weights[n_left++] = weights[i];
            else
                right.push_back(weights[i]);
        }
        std::copy(right.begin(), right.end(), weights + n_left);
    }

    void divide_in_many(const View<Word>& view, int list, int n_branches, std::vector<Range>& child_ranges, std::vector<Word>& buffer) {
        const Range range = view.ranges[list];
        Word* words = view.block->words.get() + range.begin;
        const std::size_t n = range.size();
        std::vector<std::size_t> at(n_branches + 1, 0);
        for (std::size_t i = 0; i < n; ++i) ++at[branch_mark_[packing_.row(words[i])] + 1];
        for (int b = 0; b < n_branches; ++b) {
            at[b + 1] += at[b];
            child_ranges[static_cast<std::size_t>(b) * size_ + list] = {range.begin + at[b], range.begin + at[b + 1]};
        }
        if (buffer.size() < n) buffer.resize(n);
        // A branch's next entry starts a new value if any boundary was passed since the branch's last one.
        std::vector<std::size_t> seen(n_branches, 0);
        std::size_t passed = 0;
        const bool with_weights = weighted_ && list == rows_list_;
        std::vector<double> weights(with_weights ? n : 0);
        for (std::size_t i = 0; i < n; ++i) {
            const int b = branch_mark_[packing_.row(words[i])];
            passed += words[i] & 1;
            if (with_weights) weights[at[b]] = view.block->weights[range.begin + i];
            buffer[at[b]++] = static_cast<Word>((words[i] & ~Word{1}) | Word{std::exchange(seen[b], passed) != passed});
        }
        std::copy_n(buffer.begin(), n, words);
        if (with_weights) std::copy(weights.begin(), weights.end(), view.block->weights.begin() + static_cast<std::ptrdiff_t>(range.begin));
    }

    const TrainingSet& data_;
    const Packing packing_;
    const int k_, width_;  // classes; numbers that a node keeps of its cases
    const std::size_t n_;
    const bool weighted_;  // cases have weights or may be divided; otherwise all arithmetic is on whole numbers
    const int n_threads_;
    int size_ = 0;
    int rows_list_ = -1;
    std::vector<int> list_of_;
    std::vector<double> weight_of_;
    std::vector<uint64_t> left_mark_;         // by row, one bit: 1,000,000 cases fit the second-level cache
    std::vector<int32_t> branch_mark_;        // by row
    std::vector<std::vector<Word>> buffers_;  // by thread
};

}  // namespace worthwhile
