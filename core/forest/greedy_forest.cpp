#include "forest/greedy_forest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "data/random.hpp"
#include "data/tree_check.hpp"
#include "parallel/parallel_for.hpp"

namespace worthwhile {

namespace {

struct Entry {
    uint32_t row;
    int32_t of_class;
    double weight;
};

// The number of random cuts that are tried at a node (Nan et al. 2015, section 3).
constexpr std::size_t kMostCuts = 80;
int cuts_to_try(std::size_t n) { return n > 2000 ? static_cast<int>(kMostCuts) : n > 500 ? 40 : 20; }

// Of a numeric test: values v with (v - origin) * scale <= place go left. Steps along the range of a node are its places.
struct LinearCut {
    double origin = 0, scale = 1, place = 0;
    bool left(double v) const { return (v - origin) * scale <= place; }
};

struct Choice {
    int column = -1;  // -1: none
    LinearCut cut;
    double price = 0, drop = 0;           // its risk is price / drop
    std::shared_ptr<const Level> subset;  // of a nominal test: some values against the rest; nullptr: a branch for every value

    bool valid() const { return column >= 0; }
    // Less risk; among free tests and equal risks the larger drop; then the first column.
    bool better_than(const Choice& other) const {
        if (!valid() || !other.valid()) return valid();
        const double mine = price * other.drop, its = other.price * drop;
        if (std::abs(mine - its) > 1e-12 * its) return mine < its;  // rounding, which depends on the currency, should not decide
        if (drop != other.drop) return drop > other.drop;
        return column < other.column;
    }
};

class GreedyTree {
public:
    GreedyTree(const TrainingSet& data, const ColumnStore& store, const Pricing& pricing, const ForestPolicy& policy, uint64_t seed)
        : data_(data), store_(store), pricing_(pricing), policy_(policy), seed_(seed), k_(static_cast<std::size_t>(data.n_classes)) {
        tree_.n_classes = data.n_classes;
        plain_pairs_ = policy.impurity == find_impurity("pairs") && policy.parameter == 0;
        // No price of any test can be lower than this one.
        least_price_ = policy.context || pricing.n_tests() == 0 ? 0 : std::numeric_limits<double>::infinity();
        amounts_ = pricing.mean_amounts({});
        for (int test = 0; test < pricing.n_tests(); ++test) {
            prices_.push_back(pricing.price_of(test, nothing_, amounts_.data()));
            least_price_ = std::min(least_price_, prices_.back());
        }
        collect_maps();
    }

    Tree grow(Cancellation& cancellation) {
        for (std::size_t row = 0; row < data_.table.n_cases; ++row)
            if (data_.weight(row) > 0) cases_.push_back({static_cast<uint32_t>(row), data_.classes[row], data_.weight(row)});
        tree_.add_leaves(1);
        for (int column = 0; column < data_.table.n_columns(); ++column)
            if (store_.binary_of(column) < 0 && may_ask(column)) columns_.push_back(column);
        rare_.resize(store_.binaries().size() * k_);
        is_touched_.assign(store_.binaries().size(), 0);
        std::vector<Task> tasks;
        tasks.push_back({0, 0, seed_of(seed_, 0), pricing_.nothing(), 0, 0, columns_.size()});
        while (!tasks.empty()) {
            cancellation.poll();
            Task task = std::move(tasks.back());
            tasks.pop_back();
            expand(task, tasks, cancellation);
        }
        for (int node = 0; node < tree_.size(); ++node) settle(node);
        return tree_.compact();  // breadth first, as files are read back
    }

private:
    // The last task owns the end of `cases_`; the others what comes before, in their order.
    struct Task {
        int node, depth;
        uint64_t seed;
        TestSet paid;
        std::size_t first_case;
        std::size_t first_column, last_column;  // in `columns_`: those with more than one value here, but for the binary ones
    };

    double impurity(const double* counts) const {
        if (!plain_pairs_) return policy_.impurity->value(counts, static_cast<int>(width_), policy_.parameter);
        return impurities::all_pairs(counts, static_cast<int>(width_));
    }

    void expand(Task& task, std::vector<Task>& tasks, Cancellation& cancellation) {
        double* counts = tree_.class_weights(task.node);
        for (std::size_t i = task.first_case; i < cases_.size(); ++i) counts[cases_[i].of_class] += cases_[i].weight;
        width_ = k_;
        here_ = impurity(counts);
        Choice best;
        if (here_ > 0 && task.depth < std::min(policy_.max_depth, kDeepest) && !late()) {
            lay_out(counts, task.first_case);
            columns_.resize(task.last_column);
            best = policy_.node_tests > 0 ? drawn_choice(task, cancellation) : best_choice(task, cancellation);
        }
        if (best.valid())
            split(task, best, tasks);
        else
            cases_.resize(task.first_case);
    }

    // Writes the cases of a node side by side. The classes that occur are renumbered: most nodes have few of many, and
    // impurities loop over all of them.
    void lay_out(const double* counts, std::size_t first) {
        number_.assign(k_, 0);
        counts_.clear();
        for (std::size_t c = 0; c < k_; ++c) {
            if (counts[c] <= 0) continue;
            number_[c] = static_cast<uint32_t>(counts_.size());
            counts_.push_back(counts[c]);
        }
        width_ = counts_.size();
        n_ = cases_.size() - first;
        rows_.resize(n_);
        classes_.resize(n_);
        weights_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            const Entry& e = cases_[first + i];
            rows_[i] = e.row;
            classes_[i] = number_[static_cast<std::size_t>(e.of_class)];
            weights_[i] = e.weight;
        }
        left_.resize(width_);
        right_.resize(width_);
        known_.resize(width_);
    }

    Choice best_choice(const Task& task, Cancellation& cancellation) {
        Choice best;
        for (std::size_t i = task.first_column; i < task.last_column; ++i) {
            const int column = columns_[i];
            if (cannot_be_beaten(best)) {
                columns_.push_back(column);
                continue;
            }
            if (n_ > 10000) {
                cancellation.poll();
                if (late()) return {};
            }
            bool various = false;
            const Choice choice = data_.table.columns[static_cast<std::size_t>(column)].numeric() ? numeric(column, task, various)
                                                                                                  : nominal(column, task, various);
            if (various) columns_.push_back(column);
            if (choice.better_than(best)) best = choice;
        }
        const auto& binaries = store_.binaries();
        if (binaries.empty() || (cannot_be_beaten(best) && binaries.front().column > best.column)) return best;
        return best_binary(task, best);
    }

    // The best of some tests, drawn at random among those with more than one value here; of more, if none of them lowers the impurity.
    Choice drawn_choice(const Task& task, Cancellation& cancellation) {
        Choice best;
        order_.clear();
        for (std::size_t i = task.first_column; i < task.last_column; ++i) order_.push_back({drawn_place(task, columns_[i]), columns_[i]});
        count_binaries();
        for (uint32_t b : touched_)
            if (const int column = store_.binaries()[b].column; may_ask(column)) order_.push_back({drawn_place(task, column), column});
        std::sort(order_.begin(), order_.end());
        int tried = 0;
        for (const auto& [place, column] : order_) {
            const int b = store_.binary_of(column);
            if (tried >= policy_.node_tests && best.valid()) {
                if (b < 0) columns_.push_back(column);
                continue;
            }
            if (n_ > 10000) {
                cancellation.poll();
                if (late()) return {};
            }
            bool various = b >= 0;
            const Choice choice = b >= 0                                                            ? binary(static_cast<uint32_t>(b), task)
                                  : data_.table.columns[static_cast<std::size_t>(column)].numeric() ? numeric(column, task, various)
                                                                                                    : nominal(column, task, various);
            if (various && b < 0) columns_.push_back(column);
            tried += various;
            if (choice.better_than(best)) best = choice;
        }
        return best;
    }

    static double drawn_place(const Task& task, int column) {
        constexpr uint64_t drawing = uint64_t{1} << 32;  // far from the branches, which are numbered from 1
        return Random::uniform(seed_of(task.seed, drawing), static_cast<uint64_t>(column));
    }

    // By a column to its right: all impurity is gone, at the lowest price.
    bool cannot_be_beaten(const Choice& best) const { return best.valid() && best.drop >= here_ && best.price <= least_price_; }

    // Asking the clock for every node makes no difference: a node takes far longer.
    bool late() const { return policy_.deadline != Clock::time_point::max() && Clock::now() >= policy_.deadline; }

    bool may_ask(int column) const { return policy_.asks.empty() || policy_.asks[static_cast<std::size_t>(column)]; }

    double price(int column, const Task& task) const {
        return policy_.context ? pricing_.price_of(column, task.paid, amounts_.data()) : prices_[static_cast<std::size_t>(column)];
    }

    double sum(const double* counts) const { return std::accumulate(counts, counts + width_, 0.0); }

    // A split that does not lower the impurity of every outcome is none.
    Choice checked(int column, const LinearCut& cut, double price, double drop) const {
        return drop > 1e-9 * here_ ? Choice{column, cut, price, drop, nullptr} : Choice{};
    }

    Choice nominal(int column, const Task& task, bool& various) {
        const Column& values = data_.table.columns[static_cast<std::size_t>(column)];
        table_.assign(static_cast<std::size_t>(values.n_values) * width_, 0.0);
        for (std::size_t i = 0; i < n_; ++i)
            if (!values.missing(rows_[i])) table_[static_cast<std::size_t>(values.code(rows_[i])) * width_ + classes_[i]] += weights_[i];
        int outcomes = 0;
        double worst = 0, weighted = 0, all = 0;
        for (int v = 0; v < values.n_values; ++v) {
            const double* counts = table_.data() + static_cast<std::size_t>(v) * width_;
            const double weight = sum(counts);
            if (weight <= 0) continue;
            ++outcomes;
            const double mixed = impurity(counts);
            worst = std::max(worst, mixed);
            weighted += weight * mixed;
            all += weight;
        }
        various = outcomes > 1;
        if (!various) return {};
        if (values.levels[0].n_branches < values.n_values) return cut_in_order(column, task, values);
        const double drop = here_ - (policy_.expected ? weighted / all : worst);
        if (policy_.nominal_splits != NominalSplits::multiway && has_subsets(values)) return divided(column, task, drop);
        return checked(column, {}, price(column, task), drop);
    }

    // The best cut of an ordered category; ties go to the first. The class weights by value are in table_.
    Choice cut_in_order(int column, const Task& task, const Column& values) {
        const Level* best = nullptr;
        double drop = 0;
        for (const Level& level : values.levels) {
            sum_sides(table_, width_, level, sides_);
            left_.assign(sides_.begin(), sides_.begin() + static_cast<std::ptrdiff_t>(width_));
            right_.assign(sides_.begin() + static_cast<std::ptrdiff_t>(width_), sides_.end());
            if (const double own = drop_between(); own > drop + 1e-12 * here_) {
                best = &level;
                drop = own;
            }
        }
        Choice choice = best ? checked(column, {}, price(column, task), drop) : Choice{};
        if (choice.valid()) choice.subset = std::make_shared<const Level>(*best);
        return choice;
    }

    // Some values against the rest or, with `both`, a branch for every value, which lowers the impurity by `multiway_drop`, if that is the shorter
    // description. The class weights by value are in table_.
    Choice divided(int column, const Task& task, double multiway_drop) {
        Subsets subsets(table_, width_, width_);
        BestSubsets keep(1e-12 * here_, 1);
        subsets.each_by_shares([&] {
            left_ = subsets.left();
            right_ = subsets.right();
            keep(subsets, drop_between());
        });
        if (keep.best.empty()) return {};  // all values but one have a tiny weight: parts of cases whose values are missing
        const std::shared_ptr<const Level> level = keep.best[0].level;
        bool whole = false;
        if (policy_.nominal_splits == NominalSplits::both) {
            sum_sides(table_, width_, *level, sides_);
            const double bits = description_bits(table_.data(), level->branch_of.size(), width_, width_, 0.0);
            whole = description_bits(sides_.data(), 2, width_, width_, subsets.choice_bits()) >= bits - 1e-9 * (1 + bits);
        }
        Choice choice = checked(column, {}, price(column, task), whole ? multiway_drop : keep.best[0].value);
        if (!whole && choice.valid()) choice.subset = level;
        return choice;
    }

    // The drop of impurity if the known cases are divided into those counted in left_ and in right_; 0 if one side is empty.
    double drop_between() const {
        double left = 0, right = 0, a = 0, b = 0;
        for (std::size_t c = 0; c < width_; ++c) {  // all pairs, on the way
            a += left * left_[c];
            b += right * right_[c];
            left += left_[c];
            right += right_[c];
        }
        if (left <= 1e-12 || right <= 1e-12) return 0;
        if (!plain_pairs_) {
            a = impurity(left_.data());
            b = impurity(right_.data());
        }
        return here_ - (policy_.expected ? (left * a + right * b) / (left + right) : std::max(a, b));
    }

    // Columns of two values have one cut each. Those in which no case of the node has the rarer value are not looked at.
    Choice best_binary(const Task& task, Choice best) {
        count_binaries();
        for (uint32_t b : touched_) {
            if (!may_ask(store_.binaries()[b].column)) continue;
            const Choice choice = binary(b, task);
            if (choice.better_than(best)) best = choice;
        }
        return best;
    }

    // Finds the binary columns with a rarer value in this node, and the class weights of its cases.
    void count_binaries() {
        touched_.clear();
        for (std::size_t i = 0; i < n_; ++i)
            store_.each_listed(rows_[i], [&](uint32_t b) {
                double* counts = rare_.data() + b * k_;
                if (!is_touched_[b]) {
                    is_touched_[b] = 1;
                    touched_.push_back(b);
                    std::fill(counts, counts + width_, 0.0);
                }
                counts[classes_[i]] += weights_[i];
            });
        for (uint32_t b : touched_) is_touched_[b] = 0;
    }

    Choice binary(uint32_t b, const Task& task) {
        for (std::size_t c = 0; c < width_; ++c) {
            left_[c] = rare_[b * k_ + c];
            right_[c] = std::max(counts_[c] - left_[c], 0.0);  // differences may be a little below 0
        }
        const int column = store_.binaries()[b].column;
        return checked(column, {}, price(column, task), drop_between());
    }

    Choice numeric(int column, const Task& task, bool& various) {
        if (!find_range(store_.numbers(column))) return {};
        various = true;
        const uint64_t seed = seed_of(task.seed, ~static_cast<uint64_t>(column));
        const int steps = cuts_to_try(n_);
        Choice best;
        best.price = price(column, task);
        best.cut = {least_, steps / (largest_ - least_), 0};
        if (!policy_.exact_cuts && std::isfinite(best.cut.scale))
            cut_by_steps(seed, steps, best);
        else
            cut_at_values(best);
        return checked(column, best.cut, best.price, best.drop);
    }

    // Collects the values, and finds the least and the largest; false if they are the same, or there is none.
    bool find_range(const ColumnStore::Numbers& numbers) {
        held_.resize(n_);
        double least = std::numeric_limits<double>::infinity(), largest = -least;
        for (std::size_t i = 0; i < n_; ++i) {
            const double v = held_[i] = numbers.values[rows_[i]];  // a missing one is neither less nor more
            least = v < least ? v : least;
            largest = v > largest ? v : largest;
        }
        least_ = least;
        largest_ = largest;
        known_ = counts_;
        if (numbers.has_missing)
            for (std::size_t i = 0; i < n_; ++i)
                if (std::isnan(held_[i])) known_[classes_[i]] -= weights_[i];
        return least < largest;
    }

    // One cut at random in most of equal steps of the range. They need neither be sorted nor searched for: a value is in the bin before or
    // after the cut of its step. If there are few cases, cuts of steps without a case are not even drawn.
    void cut_by_steps(uint64_t seed, int steps, Choice& best) {
        table_.resize(std::max(table_.size(), (kMostCuts + 1) * k_));
        const bool many = n_ > static_cast<std::size_t>(steps);
        const Bins filled = many ? count_many(seed, steps, best.cut) : count_few(seed, steps, best.cut);
        std::fill(left_.begin(), left_.end(), 0.0);
        for (int bin = next_in(filled, 0), next; bin < steps; bin = next) {
            next = next_in(filled, bin + 1);
            const double* counts = table_.data() + static_cast<std::size_t>(bin) * width_;
            for (std::size_t c = 0; c < width_; ++c) left_[c] += counts[c];
            for (int step = bin; step < std::min(next, steps); ++step) {  // the first cut before the next cases
                const double place = many ? drawn_[static_cast<std::size_t>(step)] : place_in_step(seed, step);
                if (place >= kNoCut) continue;
                note(step + place, best);
                break;
            }
        }
    }

    using Bins = std::array<uint64_t, 2>;  // a bit for each

    static int next_in(const Bins& bins, int from) {
        for (std::size_t word = static_cast<std::size_t>(from) >> 6; word < bins.size(); ++word) {
            const uint64_t left = word == static_cast<std::size_t>(from) >> 6 ? bins[word] >> (from & 63) << (from & 63) : bins[word];
            if (left) return static_cast<int>(word) * 64 + std::countr_zero(left);
        }
        return 128;
    }

    // Class weights of the cases before and after the cut of each step; which of these bins have any.
    Bins count_many(uint64_t seed, int steps, const LinearCut& cut) {
        for (int step = 0; step < steps; ++step) drawn_[static_cast<std::size_t>(step)] = place_in_step(seed, step);
        const auto width = static_cast<int>(width_);
        const double origin = cut.origin, scale = cut.scale;
        double* table = table_.data();
        std::fill(table, table + (steps + 1) * width, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            const double at = (held_[i] - origin) * scale;
            if (std::isnan(at)) continue;
            const int step = std::min(static_cast<int>(at), steps - 1);
            const int bin = step + (at > step + drawn_[static_cast<std::size_t>(step)]);
            table[bin * width + static_cast<int>(classes_[i])] += weights_[i];
        }
        Bins filled{};
        for (int bin = 0; bin <= steps; ++bin) {
            bool any = false;
            for (int c = 0; c < width; ++c) any |= table[bin * width + c] > 0;
            filled[static_cast<std::size_t>(bin) >> 6] |= static_cast<uint64_t>(any) << (bin & 63);
        }
        return filled;
    }

    // The same, looking only at the steps and bins that have cases, of which there are at most 21 here.
    Bins count_few(uint64_t seed, int steps, const LinearCut& cut) {
        const auto width = static_cast<int>(width_);
        Bins filled{};
        for (std::size_t i = 0; i < n_; ++i) {
            const double at = (held_[i] - cut.origin) * cut.scale;
            if (std::isnan(at)) continue;
            const int step = std::min(static_cast<int>(at), steps - 1);
            const int bin = step + (at > step + place_in_step(seed, step));
            double* counts = table_.data() + bin * width;
            if (!(filled[0] >> bin & 1)) std::fill(counts, counts + width, 0.0);
            filled[0] |= uint64_t{1} << bin;
            counts[classes_[i]] += weights_[i];
        }
        return filled;
    }

    // Where in its step the cut lies. A share of 1/e of the steps, different ones at every node, have none, as if the same number of cuts were drawn
    // anywhere: trees that try the same cuts are too similar (with a cut in every step, ten of them misclassify 16.3 % of covertype, not 15.7).
    static double place_in_step(uint64_t seed, int step) {
        constexpr double missed = 0.36787944117144233;
        const double drawn = Random::uniform(seed, static_cast<uint64_t>(step));
        return drawn < missed ? kNoCut : (drawn - missed) / (1 - missed);
    }
    static constexpr double kNoCut = 2;

    // Scores the cut with left_ on one side.
    void note(double place, Choice& best) {
        for (std::size_t c = 0; c < width_; ++c) right_[c] = std::max(known_[c] - left_[c], 0.0);  // differences may be a little below 0
        if (const double drop = drop_between(); drop > best.drop) {
            best.drop = drop;
            best.cut.place = place;
        }
    }

    // Every value is a cut.
    void cut_at_values(Choice& best) {
        best.cut = {0, 1, 0};
        sorted_.clear();
        for (std::size_t i = 0; i < n_; ++i)
            if (!std::isnan(held_[i])) sorted_.push_back({held_[i], static_cast<uint32_t>(i)});
        std::sort(sorted_.begin(), sorted_.end());
        std::fill(left_.begin(), left_.end(), 0.0);
        for (std::size_t i = 0; i + 1 < sorted_.size(); ++i) {
            const auto& [v, at] = sorted_[i];
            left_[classes_[at]] += weights_[at];
            if (v != sorted_[i + 1].first) note(v, best);
        }
    }

    void split(Task& task, const Choice& choice, std::vector<Task>& tasks) {
        const Column& values = data_.table.columns[static_cast<std::size_t>(choice.column)];
        const int n_branches = values.numeric() || choice.subset ? 2 : values.n_values, first = tree_.add_leaves(n_branches),
                  node = task.node;
        tree_.test[node] = choice.column;
        tree_.first_child[node] = first;
        tree_.n_children[node] = n_branches;
        if (!values.numeric()) {
            tree_.map_start[node] = map_start_[static_cast<std::size_t>(choice.column)];
            tree_.map_size[node] = values.n_values;
        }
        if (choice.subset) {
            tree_.map_start[node] = static_cast<int>(tree_.maps.size());
            tree_.maps.insert(tree_.maps.end(), choice.subset->branch_of.begin(), choice.subset->branch_of.end());
        }
        if (parts_.size() < static_cast<std::size_t>(n_branches)) parts_.resize(static_cast<std::size_t>(n_branches));
        divide(task, choice, values);
        share_out(n_branches);
        cases_.resize(task.first_case);
        TestSet paid = task.paid;
        if (!paid.has(choice.column)) pricing_.order(choice.column, paid);
        for (int b = 0; b < n_branches; ++b) {
            std::vector<Entry>& part = parts_[static_cast<std::size_t>(b)];
            if (!part.empty()) {
                tasks.push_back({first + b, task.depth + 1, seed_of(task.seed, static_cast<uint64_t>(b) + 1), paid, cases_.size(),
                                 task.last_column, columns_.size()});
                cases_.insert(cases_.end(), part.begin(), part.end());
            }
            part.clear();
        }
    }

    // Puts the cases of a node into parts_ and, if the value is missing, unknown_; a numeric threshold is half way between the cases.
    void divide(const Task& task, const Choice& choice, const Column& values) {
        unknown_.clear();
        if (!values.numeric()) {
            for (std::size_t i = task.first_case; i < cases_.size(); ++i) {
                const Entry& e = cases_[i];
                if (values.missing(e.row)) {
                    unknown_.push_back(e);
                    continue;
                }
                const auto code = static_cast<std::size_t>(values.code(e.row));
                parts_[choice.subset ? static_cast<std::size_t>(choice.subset->branch_of[code]) : code].push_back(e);
            }
            return;
        }
        if (const int b = store_.binary_of(choice.column); b >= 0) {
            const ColumnStore::Binary& binary = store_.binaries()[static_cast<std::size_t>(b)];
            for (std::size_t i = task.first_case; i < cases_.size(); ++i) parts_[binary.above(cases_[i].row)].push_back(cases_[i]);
            tree_.threshold[task.node] = half_way(binary.lower, binary.upper);
            return;
        }
        const std::vector<double>& numbers = store_.numbers(choice.column).values;
        double below = -std::numeric_limits<double>::infinity(), above = -below;
        for (std::size_t i = task.first_case; i < cases_.size(); ++i) {
            const double v = numbers[cases_[i].row];
            if (std::isnan(v)) {
                unknown_.push_back(cases_[i]);
            } else if (choice.cut.left(v)) {
                below = std::max(below, v);
                parts_[0].push_back(cases_[i]);
            } else {
                above = std::min(above, v);
                parts_[1].push_back(cases_[i]);
            }
        }
        tree_.threshold[task.node] = half_way(below, above);
    }

    static double half_way(double below, double above) {
        const double middle = 0.5 * below + 0.5 * above;
        return middle < above ? middle : below;  // neighbouring floating-point numbers have none between them
    }

    // A case without the value goes down every branch with its share of the weight.
    void share_out(int n_branches) {
        if (unknown_.empty()) return;
        std::vector<double> share;
        double all = 0;
        for (int b = 0; b < n_branches; ++b) {
            share.push_back(0.0);
            for (const Entry& e : parts_[static_cast<std::size_t>(b)]) share.back() += e.weight;
            all += share.back();
        }
        for (std::size_t b = 0; b < share.size(); ++b)
            if (share[b] > 0)
                for (const Entry& e : unknown_) parts_[b].push_back({e.row, e.of_class, e.weight * share[b] / all});
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

    const TrainingSet& data_;
    const ColumnStore& store_;
    const Pricing& pricing_;
    const ForestPolicy& policy_;
    const uint64_t seed_;
    const std::size_t k_;
    const TestSet nothing_ = pricing_.nothing();
    std::vector<double> amounts_;  // what tests and surcharges cost on average
    Tree tree_;
    std::vector<int> map_start_;
    std::vector<double> prices_;  // of the list
    double least_price_ = 0;
    bool plain_pairs_ = false;

    std::vector<Entry> cases_;  // of all tasks
    std::vector<int> columns_;
    std::vector<std::vector<Entry>> parts_;
    std::vector<Entry> unknown_;

    // The current node.
    double here_ = 0;        // its impurity
    std::size_t width_ = 0;  // number of classes
    std::size_t n_ = 0;      // number of cases
    std::vector<uint32_t> number_, rows_, classes_;
    std::vector<double> counts_, weights_;

    // The current column.
    double least_ = 0, largest_ = 0;
    std::vector<double> held_, known_, left_, right_, table_, sides_;
    std::array<double, kMostCuts> drawn_;
    std::vector<std::pair<double, uint32_t>> sorted_;

    // The binary columns of the current node.
    std::vector<double> rare_;
    std::vector<uint32_t> touched_;
    std::vector<uint8_t> is_touched_;

    std::vector<std::pair<double, int>> order_;  // of the columns, drawn at random
};

}  // namespace

std::vector<Tree> grow_greedy_trees(const TrainingSet& data, const ColumnStore& store, const Pricing& pricing, const ForestPolicy& policy,
                                    Cancellation& cancellation) {
    const std::size_t n = data.table.n_cases;
    std::vector<Tree> trees(policy.seeds.size());
    cancellable_for(static_cast<int>(trees.size()), policy.n_threads, cancellation, [&](int i, int, Cancellation& own) {
        const auto number = static_cast<std::size_t>(i);
        if (i > 0 && Clock::now() >= policy.deadline) return;
        TrainingSet drawn = data;
        drawn.weights = data.weights.subspan(number * n, n);
        trees[number] = GreedyTree(drawn, store, pricing, policy, policy.seeds[number]).grow(own);
    });
    std::erase_if(trees, [](const Tree& tree) { return tree.size() == 0; });  // not begun
    return trees;
}

}  // namespace worthwhile
