#include "grower.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "parallel.hpp"
#include "presort.hpp"
#include "splitter.hpp"

namespace worthwhile {

namespace {

// Deeper trees would overflow the stack of the recursive passes after growing.
constexpr int kDeepest = 4096;
// Below this many list entries in a node, starting threads costs more than it saves.
constexpr std::size_t kWorthThreads = std::size_t{1} << 17;

struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
};

struct Candidate {
    bool valid = false;
    int column = -1;
    int level = 0;
    double low = 0, high = 0;  // numeric: the neighbouring values that the cut separates
    std::size_t position = 0;  // numeric: entries on the left side
    bool complete = true;      // no case of the node lacks the value
    Evidence evidence{};
    double score = 0;
};

bool clearly_better(double score, double best) { return score > best + 1e-9 * std::abs(best); }

template <class Word>
class Grower final : public TreeGrower {
    // The memory of the lists of a node and, as long as no case is divided, of all its descendants.
    struct Block {
        std::unique_ptr<Word[]> words;
        std::vector<double> weights;  // parallel to the list of rows, which stands first; only when cases have weights
        int users = 0;
    };
    struct View {
        Block* block = nullptr;
        const Range* ranges = nullptr;  // the list of rows, if there is one, then one per numeric column
        const double* class_weights = nullptr;
        double weight = 0;
    };
    struct OwnedNode {
        std::unique_ptr<Block> block;
        std::vector<Range> ranges;
        std::vector<double> class_weights;

        View view() const { return {block.get(), ranges.data(), class_weights.data(), sum(class_weights)}; }
    };
    struct Task {
        int node, depth;
        int block;
        bool visit_all;
    };
    struct Scratch {
        std::vector<uint32_t> counts;
        std::vector<double> doubles, branches, known;
        std::vector<Word> buffer;
    };

public:
    Grower(const Training& data, const Pricing& pricing, const ErrorCosts& errors, const GrowPolicy& policy, bool reusable)
        : data_(data), pricing_(pricing), errors_(errors), policy_(policy), reusable_(reusable), packing_(data.n_classes),
          k_(data.n_classes), n_(data.table.n_cases), weighted_(data.weights || data.table.has_missing),
          xlog_(weighted_ ? 0 : n_), scratch_(std::max(policy.n_threads, 1)) {
        const Table& table = data.table;
        for (const Column& column : table.columns)
            if (!column.numeric() || weighted_) rows_list_ = 0;
        n_lists_ = rows_list_ + 1;
        for (int c = 0; c < table.n_columns(); ++c) {
            list_of_.push_back(table.columns[c].numeric() ? n_lists_++ : -1);
            for (int l = 0; l < std::max<int>(1, static_cast<int>(table.columns[c].levels.size())); ++l) slots_.push_back({c, l});
        }
        if (weighted_) weight_of_.resize(n_);
        left_mark_.resize(n_ / 64 + 1);
        root_ = make_root();
        for (double w : root_.class_weights) training_weight_ += w;
        for (int c = 0; c < table.n_columns(); ++c) list_price_.push_back(pricing.price_of(c, TestSet(pricing.n_tests())));
    }

    Tree grow(Control& control, const Guide* guide) override {
        tree_ = Tree{};
        tree_.n_classes = k_;
        collect_maps();
        tree_.add_leaves(1);
        std::copy(root_.class_weights.begin(), root_.class_weights.end(), tree_.class_weights(0));
        blocks_.clear();
        tasks_.clear();
        task_ranges_.clear();
        parent_.assign(1, -1);
        if (!terminal(root_.class_weights.data(), 0)) push_root(guide);
        while (!tasks_.empty()) {
            control.poll();
            const Task task = tasks_.back();
            tasks_.pop_back();
            ranges_.assign(task_ranges_.end() - n_lists_, task_ranges_.end());
            task_ranges_.resize(task_ranges_.size() - n_lists_);
            expand(task, guide);
            if (--blocks_[task.block]->users == 0) blocks_[task.block].reset();
        }
        return std::move(tree_);
    }

private:
    static double sum(const std::vector<double>& values) {
        double s = 0;
        for (double v : values) s += v;
        return s;
    }

    OwnedNode make_root() {
        OwnedNode root;
        root.block = std::make_unique<Block>();
        root.block->words.reset(new Word[n_ * n_lists_]);
        root.ranges.resize(n_lists_);
        root.class_weights.assign(k_, 0.0);
        for (std::size_t row = 0; row < n_; ++row) root.class_weights[data_.classes[row]] += data_.weight(row);
        sort_lists(root);
        if (rows_list_ >= 0) {
            root.ranges[rows_list_] = {0, n_};
            for (std::size_t row = 0; row < n_; ++row) root.block->words[row] = packing_.pack<Word>(row, data_.classes[row], false);
        }
        if (weighted_) {
            root.block->weights.resize(n_);
            for (std::size_t row = 0; row < n_; ++row) root.block->weights[row] = data_.weight(row);
        }
        return root;
    }

    void sort_lists(OwnedNode& root) {
        std::vector<SortEntry> entries, buffer;
        entries.reserve(n_);
        for (int c = 0; c < data_.table.n_columns(); ++c) {
            if (list_of_[c] < 0) continue;
            sort_column(data_.table.columns[c], n_, entries, buffer);
            const std::size_t begin = list_of_[c] * n_;
            root.ranges[list_of_[c]] = {begin, begin + entries.size()};
            Word* list = root.block->words.get() + begin;
            for (std::size_t i = 0; i < entries.size(); ++i)
                list[i] = packing_.pack<Word>(entries[i].row, data_.classes[entries[i].row], i > 0 && entries[i].key != entries[i - 1].key);
        }
    }

    // One map "code -> branch" per nominal column and level, shared by all nodes that ask it.
    void collect_maps() {
        map_start_.assign(data_.table.n_columns(), {});
        for (int c = 0; c < data_.table.n_columns(); ++c)
            for (const Level& level : data_.table.columns[c].levels) {
                map_start_[c].push_back(static_cast<int>(tree_.maps.size()));
                tree_.maps.insert(tree_.maps.end(), level.branch_of.begin(), level.branch_of.end());
            }
    }

    bool terminal(const double* class_weights, int depth) const {
        int present = 0;
        double weight = 0;
        for (int c = 0; c < k_; ++c) {
            present += class_weights[c] > 1e-9;
            weight += class_weights[c];
        }
        return present < 2 || weight < 2 * policy_.min_cases - 1e-9 || depth >= std::min(policy_.max_depth, kDeepest);
    }

    void push_root(const Guide* guide) {
        blocks_.push_back(std::make_unique<Block>());
        if (reusable_) {
            blocks_[0]->words.reset(new Word[n_ * n_lists_]);
            std::copy_n(root_.block->words.get(), n_ * n_lists_, blocks_[0]->words.get());
            blocks_[0]->weights = root_.block->weights;
        } else {
            *blocks_[0] = std::move(*root_.block);
        }
        push_task({0, 0, 0, guide == nullptr}, root_.ranges.data());
    }

    void push_task(const Task& task, const Range* ranges) {
        ++blocks_[task.block]->users;
        tasks_.push_back(task);
        task_ranges_.insert(task_ranges_.end(), ranges, ranges + n_lists_);
    }

    // ---- judging candidates -------------------------------------------------------------------------------------------

    // The prices that the criterion sees: the list's, or what the tests cost after those in `paid`.
    std::vector<double> prices_after(const TestSet& paid) const {
        if (!policy_.context) return list_price_;
        std::vector<double> prices(list_price_.size());
        for (std::size_t c = 0; c < prices.size(); ++c) prices[c] = pricing_.price_of(static_cast<int>(c), paid);
        return prices;
    }

    TestSet paid_on_path(int node) const {
        TestSet paid(pricing_.n_tests());
        for (int at = parent_[node]; at >= 0; at = parent_[at]) pricing_.charge(tree_.test[at], paid);
        return paid;
    }

    void load_weights(const View& view) {
        if (!weighted_) return;
        const Range rows = view.ranges[rows_list_];
        for (std::size_t i = rows.begin; i < rows.end; ++i) weight_of_[packing_.row(view.block->words[i])] = view.block->weights[i];
    }

    std::vector<Candidate> candidates(const View& view, const std::vector<double>& prices) {
        load_weights(view);
        std::vector<Candidate> found(slots_.size());
        std::size_t entries = 0;
        for (int l = 0; l < n_lists_; ++l) entries += view.ranges[l].size();
        const int threads = entries < kWorthThreads ? 1 : policy_.n_threads;
        parallel_for(static_cast<int>(slots_.size()), threads, [&](int slot, int thread) {
            const auto [column, level] = slots_[slot];
            Candidate& c = found[slot];
            c.column = column;
            c.level = level;
            c.evidence.price = prices[column];
            if (list_of_[column] >= 0)
                judge_numeric(view, c, scratch_[thread]);
            else
                judge_nominal(view, c, scratch_[thread]);
        });
        return found;
    }

    void judge_numeric(const View& view, Candidate& c, Scratch& scratch) {
        const Range range = view.ranges[list_of_[c.column]];
        const Word* list = view.block->words.get() + range.begin;
        const std::size_t n = range.size();
        if (n < 2) return;
        const double* known = view.class_weights;
        c.complete = !weighted_ || n == view.ranges[rows_list_].size();
        if (!c.complete) {
            scratch.known.assign(k_, 0.0);
            for (std::size_t i = 0; i < n; ++i) scratch.known[packing_.label(list[i])] += weight_of_[packing_.row(list[i])];
            known = scratch.known.data();
        }
        double known_weight = 0;
        for (int j = 0; j < k_; ++j) known_weight += known[j];
        const double smallest = std::max(policy_.min_cases, std::min(25.0, policy_.min_share * known_weight / k_));
        const Cut cut = find_cut(list, n, smallest, known, known_weight, view.weight, scratch);
        if (cut.position == 0) return;
        c.valid = true;
        c.position = cut.position;
        const Column& column = data_.table.columns[c.column];
        c.low = column.value(packing_.row(list[cut.position - 1]));
        c.high = column.value(packing_.row(list[cut.position]));
        double left = static_cast<double>(cut.position);
        if (weighted_) {
            left = 0;
            for (std::size_t i = 0; i < cut.position; ++i) left += weight_of_[packing_.row(list[i])];
        }
        if (policy_.criterion->by_drop) {
            set_drop(c, known, known_weight, -cut.value, view.weight);
            return;
        }
        c.evidence.gain = (entropy_sum(known, known_weight) + cut.value) / view.weight;
        if (policy_.release8) c.evidence.gain -= std::log2(static_cast<double>(cut.tries)) / view.weight;
        const double parts[] = {left, known_weight - left, view.weight - known_weight};
        c.evidence.split_info = spread(parts, 3, view.weight);
    }

    Cut find_cut(const Word* list, std::size_t n, double smallest, const double* known, double known_weight, double weight, Scratch& scratch) {
        const double* weight_of = weighted_ ? weight_of_.data() : nullptr;
        if (policy_.criterion->by_drop)
            return best_cut(list, n, smallest, weight_of, known_weight, packing_,
                            ErrorCost(errors_, policy_.answer, known, k_, scratch.doubles), 1e-9 * known_weight * errors_.largest);
        if (weighted_)
            return best_cut(list, n, smallest, weight_of, known_weight, packing_, WeightedEntropy(known, k_, scratch.doubles),
                            1e-10 * weight);
        return best_cut(list, n, smallest, nullptr, known_weight, packing_, UnitEntropy(xlog_, known, k_, scratch.counts),
                        1e-10 * weight);
    }

    void judge_nominal(const View& view, Candidate& c, Scratch& scratch) {
        const Column& column = data_.table.columns[c.column];
        const Level& level = column.levels[c.level];
        const Range range = view.ranges[rows_list_];
        scratch.known.assign(k_, 0.0);
        double* known = scratch.known.data();
        count_branches(column, level, view.block->words.get() + range.begin, range.size(), weighted_ ? weight_of_.data() : nullptr,
                       packing_, k_, scratch.branches, known);
        double known_weight = 0, below = 0, cost_below = 0;
        for (int j = 0; j < k_; ++j) known_weight += known[j];
        std::vector<double>& parts = scratch.doubles;
        parts.assign(static_cast<std::size_t>(level.n_branches) + 1, 0.0);
        int large = 0;
        for (int32_t b = 0; b < level.n_branches; ++b) {
            const double* counts = scratch.branches.data() + static_cast<std::size_t>(b) * k_;
            for (int j = 0; j < k_; ++j) parts[b] += counts[j];
            large += parts[b] >= policy_.min_cases - 1e-9;
            if (parts[b] <= 0) continue;
            if (policy_.criterion->by_drop)
                cost_below += errors_.of(counts, errors_.best_answer(counts, policy_.answer));
            else
                below += entropy_sum(counts, parts[b]);
        }
        if (large < 2) return;
        c.valid = true;
        parts.back() = std::max(0.0, view.weight - known_weight);
        c.complete = !has_missing(view, column);
        if (policy_.criterion->by_drop) {
            set_drop(c, known, known_weight, cost_below, view.weight);
            return;
        }
        c.evidence.gain = (entropy_sum(known, known_weight) - below) / view.weight;
        c.evidence.split_info = spread(parts.data(), parts.size(), view.weight);
    }

    bool has_missing(const View& view, const Column& column) const {
        if (!data_.table.has_missing) return false;
        const Range range = view.ranges[rows_list_];
        for (std::size_t i = range.begin; i < range.end; ++i)
            if (column.missing(packing_.row(view.block->words[i]))) return true;
        return false;
    }

    // weight x entropy
    double entropy_sum(const double* counts, double weight) const {
        double sum = xlog(weight);
        for (int c = 0; c < k_; ++c) sum -= xlog(counts[c]);
        return sum;
    }
    double xlog(double x) const { return weighted_ ? xlog2(x) : xlog_.value[static_cast<std::size_t>(x)]; }

    static double spread(const double* parts, std::size_t n, double weight) {
        double sum = xlog2(weight);
        for (std::size_t i = 0; i < n; ++i) sum -= xlog2(parts[i]);
        return sum / weight;
    }

    void set_drop(Candidate& c, const double* known, double known_weight, double cost_below, double weight) const {
        const double whole = errors_.of(known, errors_.best_answer(known, policy_.answer));
        const double spent = c.evidence.price * known_weight;
        c.evidence.drop = (whole - cost_below - spent) / weight;
        // Benefits make costs cancel out, so the slack goes by the size of the entries and not by that of the sum.
        c.valid = c.evidence.drop > 1e-9 * (known_weight * errors_.largest + spent) / weight;
    }

    // ---- choosing -----------------------------------------------------------------------------------------------------

    // The best of the candidates, or one that is not valid. `ahead` > 1 looks further tests ahead.
    Candidate choose(std::vector<Candidate> found, const View& view, const TestSet& paid, int depth, int ahead) {
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
            if (!best.valid || clearly_better(c.score, best.score)) best = c;
        }
        return best;
    }

    // C4.5 leaves tests with very many values out of the average: their gain is high for no good reason.
    double average_gain(const std::vector<Candidate>& found) const {
        double sum[2] = {0, 0};
        int count[2] = {0, 0};
        for (const Candidate& c : found) {
            if (!c.valid) continue;
            const Column& column = data_.table.columns[c.column];
            const bool many = !column.numeric() && column.levels[c.level].n_branches >= 0.3 * training_weight_ - 1e-9;
            sum[many] += c.evidence.gain;
            ++count[many];
        }
        if (count[0] > 0) return sum[0] / count[0];
        return count[1] > 0 ? sum[1] / count[1] : 0.0;
    }

    // IDX: adds what the best continuations of `c` gain and cost.
    void look_ahead(Candidate& c, const View& view, const TestSet& paid, int depth, int ahead) {
        if (!c.valid) return;
        TestSet paid_then = paid;
        pricing_.charge(c.column, paid_then);
        const std::vector<double> prices = prices_after(paid_then);
        for (int b = 0; b < branches(c); ++b) {
            const OwnedNode child = make_child(view, c, b);
            const View below = child.view();
            if (below.weight <= 0 || terminal(below.class_weights, depth + 1)) continue;
            const Candidate next = choose(candidates(below, prices), below, paid_then, depth + 1, ahead - 1);
            if (!next.valid) continue;
            c.evidence.gain += below.weight / view.weight * next.evidence.gain;
            c.evidence.price += below.weight / view.weight * next.evidence.price;
        }
    }

    // ---- dividing the cases -------------------------------------------------------------------------------------------

    int branches(const Candidate& c) const {
        const Column& column = data_.table.columns[c.column];
        return column.numeric() ? 2 : column.levels[c.level].n_branches;
    }

    int branch_of(const Candidate& c, std::size_t row) const {
        const Column& column = data_.table.columns[c.column];
        if (column.numeric()) {
            const double v = column.value(row);
            return std::isnan(v) ? -1 : !(v <= c.low);
        }
        const int32_t code = column.code(row);
        return code < 0 ? -1 : column.levels[c.level].branch_of[code];
    }

    // Known weight per branch, and class weights per branch with the missing cases shared out.
    std::vector<double> divide_weights(const View& view, const Candidate& c, std::vector<double>& class_weights) const {
        const int n_branches = branches(c);
        class_weights.assign(static_cast<std::size_t>(n_branches) * k_, 0.0);
        std::vector<double> known(n_branches, 0.0);
        if (rows_list_ < 0) {
            const Word* list = view.block->words.get() + view.ranges[list_of_[c.column]].begin;
            for (std::size_t i = 0; i < c.position; ++i) class_weights[packing_.label(list[i])] += 1;
            for (int j = 0; j < k_; ++j) class_weights[k_ + j] = view.class_weights[j] - class_weights[j];
            return known;
        }
        std::vector<double> missing(k_, 0.0);
        const Range rows = view.ranges[rows_list_];
        for (std::size_t i = rows.begin; i < rows.end; ++i) {
            const Word w = view.block->words[i];
            const double weight = weighted_ ? view.block->weights[i] : 1.0;
            const int b = branch_of(c, packing_.row(w));
            (b < 0 ? missing[packing_.label(w)] : class_weights[static_cast<std::size_t>(b) * k_ + packing_.label(w)]) += weight;
            if (b >= 0) known[b] += weight;
        }
        double all = 0;
        for (double w : known) all += w;
        for (double& w : known) w /= all;
        for (int b = 0; b < n_branches; ++b)
            for (int j = 0; j < k_; ++j)
                if (known[b] > 0) class_weights[static_cast<std::size_t>(b) * k_ + j] += known[b] * missing[j];
        return known;
    }

    // The lists of one branch in memory of their own, with the divided cases at their share of the weight.
    OwnedNode make_child(const View& view, const Candidate& c, int b) const {
        std::vector<double> all_weights;
        const std::vector<double> share = divide_weights(view, c, all_weights);
        OwnedNode child;
        child.class_weights.assign(all_weights.begin() + static_cast<std::size_t>(b) * k_, all_weights.begin() + static_cast<std::size_t>(b + 1) * k_);
        child.ranges.resize(n_lists_);
        child.block = std::make_unique<Block>();
        std::size_t size = 0;
        for (int l = 0; l < n_lists_; ++l) size += view.ranges[l].size();
        child.block->words.reset(new Word[size]);
        std::size_t at = 0;
        for (int l = 0; l < n_lists_; ++l) {
            const Range from = view.ranges[l];
            child.ranges[l].begin = at;
            Word boundary = 0;
            for (std::size_t i = from.begin; i < from.end; ++i) {
                const Word w = view.block->words[i];
                boundary |= w & 1;
                const int goes_to = branch_of(c, packing_.row(w));
                if (goes_to != b && !(goes_to < 0 && share[b] > 0)) continue;
                child.block->words[at++] = static_cast<Word>((w & ~Word{1}) | boundary);
                boundary = 0;
                if (l == rows_list_ && weighted_) child.block->weights.push_back(view.block->weights[i] * (goes_to < 0 ? share[b] : 1.0));
            }
            child.ranges[l].end = at;
        }
        return child;
    }

    void expand(const Task& task, const Guide* guide) {
        View view{blocks_[task.block].get(), ranges_.data(), nullptr, tree_.weight(task.node)};
        node_weights_.assign(tree_.class_weights(task.node), tree_.class_weights(task.node) + k_);
        view.class_weights = node_weights_.data();
        const TestSet paid = policy_.context ? paid_on_path(task.node) : TestSet(pricing_.n_tests());
        const Candidate best = choose(candidates(view, prices_after(paid)), view, paid, task.depth, policy_.lookahead);
        if (!best.valid) return;

        divide_weights(view, best, child_weights_);
        const int n_branches = branches(best), first = tree_.add_leaves(n_branches);
        std::copy(child_weights_.begin(), child_weights_.end(), tree_.class_weights(first));
        parent_.resize(tree_.size(), task.node);
        record(task.node, best, first, n_branches);

        const bool visit_all = task.visit_all || orders_delayed(*guide, task.node);
        wanted_.assign(n_branches, 0);
        int n_wanted = 0;
        for (int b = 0; b < n_branches; ++b)
            n_wanted += wanted_[b] = !terminal(tree_.class_weights(first + b), task.depth + 1) && (visit_all || visits(*guide, task.node, b));
        if (n_wanted == 0) return;
        if (best.complete)
            divide_in_place(task, view, best, first, visit_all);
        else
            divide_by_copy(task, view, best, first, visit_all);
    }

    void record(int node, const Candidate& c, int first, int n_branches) {
        tree_.test[node] = c.column;
        tree_.first_child[node] = first;
        tree_.n_children[node] = n_branches;
        if (data_.table.columns[c.column].numeric()) {
            const double middle = std::midpoint(c.low, c.high), threshold = middle < c.high ? middle : c.low;
            tree_.threshold[node] = reusable_ ? settled(c.column, threshold) : threshold;
        } else {
            tree_.map_start[node] = map_start_[c.column][c.level];
            tree_.map_size[node] = data_.table.columns[c.column].n_values;
        }
    }

    // The largest value of the whole column that does not exceed the threshold. A guided case may lie between the two, and must
    // be led the way that it will walk.
    double settled(int column, double threshold) const {
        const Column& values = data_.table.columns[column];
        const Range range = root_.ranges[list_of_[column]];
        const Word* list = root_.block->words.get();
        const Word* after = std::partition_point(list + range.begin, list + range.end,
                                                 [&](Word w) { return values.value(packing_.row(w)) <= threshold; });
        return values.value(packing_.row(after[-1]));
    }

    int goes_to(const Guide& guide, int node) const {
        return tree_.branch(node, guide.cases->columns[tree_.test[node]], guide.row);
    }

    // Below a delayed test all of the subtree is visited already, so that what was paid on the path does not matter.
    bool orders_delayed(const Guide& guide, int node) const {
        return goes_to(guide, node) >= 0 && pricing_.orders_delayed(tree_.test[node], TestSet(pricing_.n_tests()));
    }

    bool visits(const Guide& guide, int node, int b) const {
        const int branch = goes_to(guide, node);
        return branch == b || branch < 0;
    }

    void divide_by_copy(const Task& task, const View& view, const Candidate& c, int first, bool visit_all) {
        for (int b = 0; b < branches(c); ++b) {
            if (!wanted_[b]) continue;
            OwnedNode child = make_child(view, c, b);
            std::size_t slot = 0;
            while (slot < blocks_.size() && blocks_[slot]) ++slot;
            if (slot == blocks_.size()) blocks_.emplace_back();
            blocks_[slot] = std::move(child.block);
            push_task({first + b, task.depth + 1, static_cast<int>(slot), visit_all}, child.ranges.data());
        }
    }

    void divide_in_place(const Task& task, const View& view, const Candidate& c, int first, bool visit_all) {
        const int n_branches = branches(c);
        child_ranges_.assign(static_cast<std::size_t>(n_branches) * n_lists_, Range{});
        if (n_branches == 2)
            mark_left(view, c);
        else
            mark_branches(view, c);
        std::size_t entries = 0;
        for (int l = 0; l < n_lists_; ++l) entries += view.ranges[l].size();
        parallel_for(n_lists_, entries < kWorthThreads ? 1 : policy_.n_threads, [&](int list, int thread) {
            if (n_branches == 2)
                divide_in_two(view, list, scratch_[thread]);
            else
                divide_in_many(view, list, n_branches, scratch_[thread]);
        });
        for (int b = 0; b < n_branches; ++b)
            if (wanted_[b])
                push_task({first + b, task.depth + 1, task.block, visit_all}, child_ranges_.data() + static_cast<std::size_t>(b) * n_lists_);
    }

    void set_left(std::size_t row, bool left) {
        const uint64_t bit = uint64_t{1} << (row & 63);
        if (left)
            left_mark_[row >> 6] |= bit;
        else
            left_mark_[row >> 6] &= ~bit;
    }

    void mark_left(const View& view, const Candidate& c) {
        const bool numeric = list_of_[c.column] >= 0;
        const Range range = view.ranges[numeric ? list_of_[c.column] : rows_list_];
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t row = packing_.row(view.block->words[i]);
            set_left(row, numeric ? i - range.begin < c.position : branch_of(c, row) == 0);
        }
    }

    void mark_branches(const View& view, const Candidate& c) {
        branch_mark_.resize(n_);
        const Range range = view.ranges[rows_list_];
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t row = packing_.row(view.block->words[i]);
            branch_mark_[row] = branch_of(c, row);
        }
    }

    // Stable, without a branch in the loop: every entry is written to both sides and one of the two writes is kept. A boundary
    // bit that is dropped on one side is handed to the next entry there.
    void divide_in_two(const View& view, int list, Scratch& scratch) {
        const Range range = view.ranges[list];
        Word* words = view.block->words.get() + range.begin;
        const std::size_t n = range.size();
        if (scratch.buffer.size() < n) scratch.buffer.resize(n);
        Word* right = scratch.buffer.data();
        const uint64_t* mark = left_mark_.data();
        const Word flip = wanted_[0] ? 0 : 1;  // where only the right side is wanted, it takes the place of the left one
        std::size_t n_left = 0, n_right = 0;
        Word left_boundary = 0, right_boundary = 0;
        if (weighted_ && list == rows_list_) divide_weights_in_two(view, range, flip);
        for (std::size_t i = 0; i < n; ++i) {
            const Word w = words[i];
            const std::size_t row = packing_.row(w);
            const Word goes_left = static_cast<Word>(mark[row >> 6] >> (row & 63) & 1) ^ flip;
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
        child_ranges_[(flip ? n_lists_ : 0) + list] = front;
        if (wanted_[0] && wanted_[1]) {
            std::memcpy(words + n_left, right, n_right * sizeof(Word));
            child_ranges_[n_lists_ + list] = {front.end, range.end};
        }
    }

    // The weights stand parallel to the rows and must follow them.
    void divide_weights_in_two(const View& view, Range range, Word flip) {
        double* weights = view.block->weights.data() + range.begin;
        std::vector<double> right;
        std::size_t n_left = 0;
        for (std::size_t i = 0; i < range.size(); ++i) {
            const std::size_t row = packing_.row(view.block->words[range.begin + i]);
            const bool goes_left = ((left_mark_[row >> 6] >> (row & 63) & 1) ^ flip) != 0;
            if (goes_left)
                weights[n_left++] = weights[i];
            else
                right.push_back(weights[i]);
        }
        std::copy(right.begin(), right.end(), weights + n_left);
    }

    void divide_in_many(const View& view, int list, int n_branches, Scratch& scratch) {
        const Range range = view.ranges[list];
        Word* words = view.block->words.get() + range.begin;
        const std::size_t n = range.size();
        std::vector<std::size_t> at(n_branches + 1, 0);
        for (std::size_t i = 0; i < n; ++i) ++at[branch_mark_[packing_.row(words[i])] + 1];
        for (int b = 0; b < n_branches; ++b) {
            at[b + 1] += at[b];
            child_ranges_[static_cast<std::size_t>(b) * n_lists_ + list] = {range.begin + at[b], range.begin + at[b + 1]};
        }
        if (scratch.buffer.size() < n) scratch.buffer.resize(n);
        // A branch's next entry starts a new value if any boundary was passed since the branch's last one.
        std::vector<std::size_t> seen(n_branches, 0);
        std::size_t passed = 0;
        const bool with_weights = weighted_ && list == rows_list_;
        std::vector<double> weights(with_weights ? n : 0);
        for (std::size_t i = 0; i < n; ++i) {
            const int b = branch_mark_[packing_.row(words[i])];
            passed += words[i] & 1;
            if (with_weights) weights[at[b]] = view.block->weights[range.begin + i];
            scratch.buffer[at[b]++] = static_cast<Word>((words[i] & ~Word{1}) | Word{std::exchange(seen[b], passed) != passed});
        }
        std::copy_n(scratch.buffer.begin(), n, words);
        if (with_weights) std::copy(weights.begin(), weights.end(), view.block->weights.begin() + static_cast<std::ptrdiff_t>(range.begin));
    }

    const Training& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const GrowPolicy policy_;
    const bool reusable_;
    const Packing packing_;
    const int k_;
    const std::size_t n_;
    const bool weighted_;  // cases have weights or may be divided; otherwise all arithmetic is on whole numbers
    const XLogTable xlog_;

    struct Slot {
        int column, level;
    };
    std::vector<Slot> slots_;  // candidates in the order in which they are compared
    std::vector<int> list_of_;
    int n_lists_ = 0;
    int rows_list_ = -1;  // the list of rows comes first; all-numeric tables of unit weights do without
    OwnedNode root_;
    double training_weight_ = 0;
    std::vector<double> list_price_;

    Tree tree_;
    std::vector<int> parent_;
    std::vector<std::vector<int>> map_start_;
    std::vector<Task> tasks_;
    std::vector<Range> task_ranges_, ranges_, child_ranges_;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::vector<double> weight_of_;     // by row, of the node at hand
    std::vector<uint64_t> left_mark_;   // by row, one bit: 1,000,000 cases fit the second-level cache
    std::vector<int32_t> branch_mark_;  // by row
    std::vector<double> node_weights_, child_weights_;
    std::vector<uint8_t> wanted_;  // by branch: it will be divided further
    std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<TreeGrower> make_grower(const Training& data, const Pricing& pricing, const ErrorCosts& errors,
                                        const GrowPolicy& policy, bool reusable) {
    if (Packing(data.n_classes).fits(data.table.n_cases, 32))
        return std::make_unique<Grower<uint32_t>>(data, pricing, errors, policy, reusable);
    return std::make_unique<Grower<uint64_t>>(data, pricing, errors, policy, reusable);
}

void settle_answers(Tree& tree, const ErrorCosts& errors, Answer policy) {
    for (int node = 0; node < tree.size(); ++node) {
        if (node == 0 || tree.weight(node) > 0) tree.answer[node] = errors.best_answer(tree.class_weights(node), policy);
        for (int b = 0; b < tree.n_children[node]; ++b) tree.answer[tree.first_child[node] + b] = tree.answer[node];
    }
}

}  // namespace worthwhile
