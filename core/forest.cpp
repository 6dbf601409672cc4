#include "forest.hpp"

#include <atomic>
#include <limits>
#include <numeric>

#include "parallel.hpp"
#include "random.hpp"

namespace worthwhile {

namespace {

struct Entry {
    uint32_t row;
    int32_t of_class;
    double weight;
};

// The numeric columns, each in one piece, and which of them have but two values. A node looks at one column after the other: where the
// table lies row by row, every look is another line of memory.
class NumericColumns {
public:
    NumericColumns(const Table& table) : columns_(table.columns.size()) {
        for (std::size_t c = 0; c < columns_.size(); ++c)
            if (table.columns[c].numeric()) read(table.columns[c], table.n_cases, columns_[c]);
    }

    const double* values(int column) const { return columns_[static_cast<std::size_t>(column)].values.data(); }
    // The lower of the two values of a column, NaN where it has others.
    double lower_of_two(int column) const { return columns_[static_cast<std::size_t>(column)].lower; }
    // Of such a column: by case 0, 1, or 2 where it is missing. An eighth of the memory.
    const uint8_t* sides(int column) const { return columns_[static_cast<std::size_t>(column)].sides.data(); }

private:
    struct Numbers {
        std::vector<double> values;
        std::vector<uint8_t> sides;
        double lower = std::numeric_limits<double>::quiet_NaN();
    };

    static void read(const Column& column, std::size_t n, Numbers& out) {
        out.values.resize(n);
        double a = std::numeric_limits<double>::quiet_NaN(), b = a;
        bool two = true;
        for (std::size_t row = 0; row < n; ++row) {
            const double v = out.values[row] = column.value(row);
            if (std::isnan(v) || v == a || v == b) continue;
            two &= std::isnan(b);
            (std::isnan(a) ? a : b) = v;
        }
        if (!two || std::isnan(b)) return;
        out.lower = std::min(a, b);
        for (double v : out.values) out.sides.push_back(std::isnan(v) ? 2 : v > out.lower);
        out.values = {};
    }

    std::vector<Numbers> columns_;
};

// The number of random cuts that are tried at a node (Nan et al. 2015, section 3).
int cuts_to_try(std::size_t n) { return n > 2000 ? 80 : n > 500 ? 40 : 20; }

struct Choice {
    int column = -1;  // -1: none
    double threshold = 0;
    double price = 0, drop = 0;  // its risk is price / drop

    bool valid() const { return column >= 0; }
    // Less risk; of free tests, and of equal risks, the larger drop; then the first.
    bool better_than(const Choice& other) const {
        if (!other.valid()) return true;
        const double mine = price * other.drop, its = other.price * drop;
        if (mine != its) return mine < its;
        return drop > other.drop;
    }
};

class GreedyTree {
public:
    GreedyTree(const Training& data, const NumericColumns& numbers, const Pricing& pricing, const ForestPolicy& policy, uint64_t seed)
        : data_(data), numbers_(numbers), pricing_(pricing), policy_(policy), seed_(seed), k_(static_cast<std::size_t>(data.n_classes)) {
        tree_.n_classes = data.n_classes;
        collect_maps();
    }

    Tree grow(Control& control) {
        std::vector<Entry> all;
        for (std::size_t row = 0; row < data_.table.n_cases; ++row)
            if (data_.weight(row) > 0) all.push_back({static_cast<uint32_t>(row), data_.classes[row], data_.weight(row)});
        tree_.add_leaves(1);
        std::vector<int> columns(data_.table.columns.size());
        std::iota(columns.begin(), columns.end(), 0);
        std::vector<Task> tasks;
        tasks.push_back({0, 0, seed_of(seed_, 0), TestSet(pricing_.n_tests()), std::move(all), std::move(columns)});
        while (!tasks.empty()) {
            control.poll();
            Task task = std::move(tasks.back());
            tasks.pop_back();
            expand(task, tasks, control);
        }
        for (int node = 0; node < tree_.size(); ++node) settle(node);
        return tree_.compact();  // breadth first, as files are read back
    }

private:
    struct Task {
        int node, depth;
        uint64_t seed;
        TestSet paid;
        std::vector<Entry> cases;
        std::vector<int> columns;  // those with more than one value here; the others have one in all nodes below
    };

    double impurity(const double* counts) const { return policy_.impurity->value(counts, static_cast<int>(width_), policy_.parameter); }

    void expand(Task& task, std::vector<Task>& tasks, Control& control) {
        double* counts = tree_.class_weights(task.node);
        for (const Entry& e : task.cases) counts[e.of_class] += e.weight;
        width_ = k_;
        here_ = impurity(counts);
        if (here_ <= 0 || task.depth >= policy_.max_depth) return;
        number_classes(task.cases);
        Choice best;
        std::vector<int> varied;
        for (int column : task.columns) {
            control.poll();
            various_ = false;
            const Choice choice = best_of(column, task);
            if (various_) varied.push_back(column);
            if (choice.valid() && choice.better_than(best)) best = choice;
        }
        if (!best.valid()) return;
        for (Entry& e : task.cases) e.of_class = present_[static_cast<std::size_t>(e.of_class)];
        task.columns = std::move(varied);
        split(task, best, tasks);
    }

    // Numbers the classes that are there anew: few of many are in most nodes, and impurities look at all pairs of them.
    void number_classes(std::vector<Entry>& cases) {
        number_.assign(k_, -1);
        present_.clear();
        for (Entry& e : cases) number_[static_cast<std::size_t>(e.of_class)] = 0;
        for (std::size_t c = 0; c < k_; ++c) {
            if (number_[c] < 0) continue;
            number_[c] = static_cast<int32_t>(present_.size());
            present_.push_back(static_cast<int32_t>(c));
        }
        for (Entry& e : cases) e.of_class = number_[static_cast<std::size_t>(e.of_class)];
        width_ = present_.size();
    }

    Choice best_of(int column, const Task& task) {
        Choice choice;
        choice.price = pricing_.price_of(column, policy_.context ? task.paid : nothing_);
        if (!data_.table.columns[column].numeric()) return nominal(column, task, choice);
        return std::isnan(numbers_.lower_of_two(column)) ? numeric(column, task, choice) : binary(column, task, choice);
    }

    // The least drop of impurity among some outcomes, or their mean drop.
    class Drop {
    public:
        Drop(double here, bool expected) : here_(here), expected_(expected) {}
        void add(double impurity, double weight) {
            ++outcomes_;
            worst_ = std::max(worst_, impurity);
            sum_ += weight * impurity;
            weight_ += weight;
        }
        int outcomes() const { return outcomes_; }
        // 0 where there is no choice of outcomes.
        double value() const { return outcomes_ < 2 ? 0.0 : here_ - (expected_ ? sum_ / weight_ : worst_); }

    private:
        double here_, worst_ = 0, sum_ = 0, weight_ = 0;
        bool expected_;
        int outcomes_ = 0;
    };

    double sum(const double* counts) const {
        double all = 0;
        for (std::size_t c = 0; c < width_; ++c) all += counts[c];
        return all;
    }

    Choice nominal(int column, const Task& task, Choice choice) {
        const Column& values = data_.table.columns[column];
        table_.assign(static_cast<std::size_t>(values.n_values) * width_, 0.0);
        for (const Entry& e : task.cases)
            if (!values.missing(e.row)) table_[static_cast<std::size_t>(values.code(e.row)) * width_ + static_cast<std::size_t>(e.of_class)] += e.weight;
        Drop drop(here_, policy_.expected);
        for (int v = 0; v < values.n_values; ++v) {
            const double* counts = table_.data() + static_cast<std::size_t>(v) * width_;
            if (const double weight = sum(counts); weight > 0) drop.add(impurity(counts), weight);
        }
        various_ = drop.outcomes() > 1;
        return take(choice, column, 0.0, drop.value());
    }

    // A split that does not lower the impurity of every outcome is none.
    Choice take(Choice choice, int column, double threshold, double drop) const {
        if (!(drop > 1e-9 * here_)) return {};
        choice.column = column;
        choice.threshold = threshold;
        choice.drop = drop;
        return choice;
    }

    // A column of two values has one cut.
    Choice binary(int column, const Task& task, Choice choice) {
        const uint8_t* sides = numbers_.sides(column);
        table_.assign(3 * width_, 0.0);
        for (const Entry& e : task.cases) table_[sides[e.row] * width_ + static_cast<std::size_t>(e.of_class)] += e.weight;
        const auto upper = table_.begin() + static_cast<std::ptrdiff_t>(width_);
        left_.assign(table_.begin(), upper);
        right_.assign(upper, upper + static_cast<std::ptrdiff_t>(width_));
        return judge_cut(column, numbers_.lower_of_two(column), choice);
    }

    // The cut that divides the known cases into those counted in left_ and in right_.
    Choice judge_cut(int column, double threshold, const Choice& choice) {
        Drop drop(here_, policy_.expected);
        for (const auto* side : {&left_, &right_})
            if (const double weight = sum(side->data()); weight > 1e-12) drop.add(impurity(side->data()), weight);
        various_ |= drop.outcomes() > 1;
        return take(choice, column, threshold, drop.value());
    }

    Choice numeric(int column, const Task& task, Choice choice) {
        if (!find_range(numbers_.values(column), task.cases)) return {};
        various_ = true;
        Random random(seed_of(task.seed, ~static_cast<uint64_t>(column)));
        draw_cuts(random);
        if (cuts_.empty()) return {};
        count_between_cuts(task.cases);
        known_.assign(width_, 0.0);
        for (std::size_t i = 0; i < table_.size(); i += width_)
            for (std::size_t c = 0; c < width_; ++c) known_[c] += table_[i + c];
        left_.assign(width_, 0.0);
        right_.resize(width_);
        Choice best;
        for (std::size_t bin = 0; bin < cuts_.size(); ++bin) {
            if (!filled_[bin]) continue;  // no case lies between this cut and the one before
            for (std::size_t c = 0; c < width_; ++c) {
                left_[c] += table_[bin * width_ + c];
                right_[c] = known_[c] - left_[c];
            }
            const Choice cut = judge_cut(column, cuts_[bin], choice);
            if (cut.valid() && (!best.valid() || cut.drop > best.drop)) best = cut;
        }
        return best;
    }

    // Collects the values and finds the least and the largest; false where they are the same, or there is none.
    bool find_range(const double* values, const std::vector<Entry>& cases) {
        double least = std::numeric_limits<double>::infinity(), largest = -least;
        values_.resize(cases.size());
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const double v = values_[i] = values[cases[i].row];  // a missing one is neither less nor more
            least = v < least ? v : least;
            largest = v > largest ? v : largest;
        }
        least_ = least;
        largest_ = largest;
        return least < largest;
    }

    // Sorted, each once, from the least value on and below the largest.
    void draw_cuts(Random& random) {
        cuts_.clear();
        const auto note = [&](double v) {
            if (v >= least_ && v < largest_) cuts_.push_back(v);
        };
        if (policy_.cuts == Cuts::exact) {
            for (double v : values_) note(v);
        } else {
            for (int i = cuts_to_try(values_.size()); i > 0; --i) {
                const double share = random.share();
                if (policy_.cuts == Cuts::values)
                    note(values_[static_cast<std::size_t>(share * static_cast<double>(values_.size()))]);
                else
                    note(least_ * (1 - share) + largest_ * share);
            }
        }
        std::sort(cuts_.begin(), cuts_.end());
        cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    }

    // Class weights of the cases from one cut to the next. A first guess by equal steps saves most of the search for the place.
    void count_between_cuts(const std::vector<Entry>& cases) {
        const std::size_t n_bins = cuts_.size() + 1;
        table_.assign(n_bins * width_, 0.0);
        filled_.assign(n_bins, 0);
        const std::size_t guesses = cases.size() > 500 ? 256 : 32;
        const double scale = static_cast<double>(guesses) / (largest_ - least_);
        const bool guess = std::isfinite(scale) && scale > 0 && cases.size() > 16;
        if (guess) {
            guess_.resize(guesses + 1);
            for (std::size_t i = 0, bin = 0; i <= guesses; ++i) {
                while (bin < cuts_.size() && static_cast<std::size_t>((cuts_[bin] - least_) * scale) < i) ++bin;
                guess_[i] = static_cast<uint32_t>(bin);
            }
        }
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const double v = values_[i];
            if (std::isnan(v)) continue;
            std::size_t bin;
            if (guess) {
                bin = guess_[static_cast<std::size_t>((v - least_) * scale)];
                while (bin < cuts_.size() && cuts_[bin] < v) ++bin;
            } else {
                bin = static_cast<std::size_t>(std::lower_bound(cuts_.begin(), cuts_.end(), v) - cuts_.begin());
            }
            filled_[bin] = 1;
            table_[bin * width_ + static_cast<std::size_t>(cases[i].of_class)] += cases[i].weight;
        }
    }

    void split(Task& task, const Choice& choice, std::vector<Task>& tasks) {
        const Column& values = data_.table.columns[choice.column];
        const int n_branches = values.numeric() ? 2 : values.n_values, first = tree_.add_leaves(n_branches), node = task.node;
        tree_.test[node] = choice.column;
        tree_.first_child[node] = first;
        tree_.n_children[node] = n_branches;
        if (values.numeric()) {
            tree_.threshold[node] = choice.threshold;
        } else {
            tree_.map_start[node] = map_start_[static_cast<std::size_t>(choice.column)];
            tree_.map_size[node] = values.n_values;
        }
        std::vector<std::vector<Entry>> parts(static_cast<std::size_t>(n_branches));
        std::vector<Entry> unknown;
        for (const Entry& e : task.cases) {
            const int branch = tree_.branch(node, values, e.row);
            (branch < 0 ? unknown : parts[static_cast<std::size_t>(branch)]).push_back(e);
        }
        task.cases = {};
        share_out(unknown, parts);
        TestSet paid = task.paid;
        pricing_.charge(choice.column, paid);
        for (int b = 0; b < n_branches; ++b)
            if (!parts[static_cast<std::size_t>(b)].empty())
                tasks.push_back({first + b, task.depth + 1, seed_of(task.seed, static_cast<uint64_t>(b) + 1), paid, std::move(parts[static_cast<std::size_t>(b)]), task.columns});
    }

    // A case without the value goes down every branch with its share of the weight.
    static void share_out(const std::vector<Entry>& unknown, std::vector<std::vector<Entry>>& parts) {
        if (unknown.empty()) return;
        std::vector<double> share;
        double all = 0;
        for (const auto& part : parts) {
            share.push_back(0.0);
            for (const Entry& e : part) share.back() += e.weight;
            all += share.back();
        }
        for (std::size_t b = 0; b < parts.size(); ++b)
            if (share[b] > 0)
                for (const Entry& e : unknown) parts[b].push_back({e.row, e.of_class, e.weight * share[b] / all});
    }

    // The heaviest class; an empty node answers as the one above it.
    void settle(int node) {
        const double* counts = tree_.class_weights(node);
        if (tree_.weight(node) > 0) tree_.answer[node] = static_cast<int32_t>(std::max_element(counts, counts + k_) - counts);
        for (int b = 0; b < tree_.n_children[node]; ++b) tree_.answer[tree_.first_child[node] + b] = tree_.answer[node];
    }

    void collect_maps() {
        for (const Column& column : data_.table.columns) {
            map_start_.push_back(static_cast<int>(tree_.maps.size()));
            if (!column.numeric())
                for (int v = 0; v < column.n_values; ++v) tree_.maps.push_back(v);
        }
    }

    const Training& data_;
    const NumericColumns& numbers_;
    const Pricing& pricing_;
    const ForestPolicy& policy_;
    const uint64_t seed_;
    const std::size_t k_;
    const TestSet nothing_{pricing_.n_tests()};
    Tree tree_;
    std::vector<int> map_start_;
    double here_ = 0;       // impurity of the node at hand
    bool various_ = false;  // whether the column at hand has more than one value there
    double least_ = 0, largest_ = 0;
    std::vector<double> values_, table_, known_, left_, right_, cuts_;
    std::size_t width_ = 0;  // number of classes at the node
    std::vector<int32_t> number_, present_;
    std::vector<uint8_t> filled_;
    std::vector<uint32_t> guess_;
};

}  // namespace

std::vector<Tree> grow_greedy_trees(const Table& table, const int32_t* classes, int n_classes, const double* weights, const Pricing& pricing,
                                    const ForestPolicy& policy, const std::vector<uint64_t>& seeds, int n_threads, Control& control) {
    std::vector<Tree> trees(seeds.size());
    const NumericColumns numbers(table);
    std::atomic<bool> interrupted{false};
    parallel_for(static_cast<int>(seeds.size()), n_threads, [&](int i, int thread) {
        Control watch([&] {
            if (thread == 0) control.poll();  // only the calling thread may ask the caller
            return interrupted.load();
        });
        const Training data{table, classes, n_classes, weights + static_cast<std::size_t>(i) * table.n_cases};
        try {
            trees[static_cast<std::size_t>(i)] = GreedyTree(data, numbers, pricing, policy, seeds[static_cast<std::size_t>(i)]).grow(watch);
        } catch (...) {
            interrupted = true;
            throw;
        }
    });
    return trees;
}

}  // namespace worthwhile
