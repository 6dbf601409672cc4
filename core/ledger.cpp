#include "ledger.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <mutex>
#include <utility>

#include "parallel.hpp"
#include "router.hpp"
#include "tree_check.hpp"

namespace worthwhile {

namespace {

// One tree and the cases that walk down it.
class Consultation {
public:
    Consultation(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, bool any_delayed)
        : tree_(tree), table_(table), pricing_(pricing), errors_(errors), any_delayed_(any_delayed) {
        for (int node = 0; node < tree.size(); ++node) {
            steps_.push_back({tree.threshold[node], tree.test[node], tree.map_start[node] < 0 ? tree.first_child[node] : -1});
            pure_.push_back(pure_leaf(node));
        }
        if (any_delayed) subtrees_ = SubtreeTests(tree, pricing.n_tests());
    }

    struct Said {
        int32_t answer;
        double price;  // what the case pays on top of what it has paid before
    };

    // Adds the class weights of the leaf to `counts`.
    Said ask(std::size_t row, TestSet& paid, double* counts) const {
        TestSet mine = paid;
        bool more = false;
        int node = 0;
        for (int test; (test = steps_[static_cast<std::size_t>(node)].test) >= 0;) {
            const int next = after(node, row);
            if (next < 0) return ask_many(row, paid, counts);
            if (!mine.has(test)) {
                if (any_delayed_ && pricing_.orders_delayed(test, mine)) subtrees_.charge(tree_, node, table_, row, pricing_, mine);
                pricing_.charge(test, mine);
                more = true;
            }
            node = next;
        }
        add_counts(node, counts);
        return {tree_.answer[node], more ? pay(row, mine, paid) : 0.0};
    }

    // The same for a case that is known to end in a leaf, after so many tests, a bit each.
    Said settle(int leaf, uint64_t asked, std::size_t row, TestSet& paid, double* counts) const {
        add_counts(leaf, counts);
        TestSet mine = paid;
        bool more = false;
        for (; asked; asked &= asked - 1) {
            const int test = std::countr_zero(asked);
            if (mine.has(test)) continue;
            pricing_.charge(test, mine);
            more = true;
        }
        return {tree_.answer[leaf], more ? pay(row, mine, paid) : 0.0};
    }

private:
    // What a step down needs of a node, side by side.
    struct Step {
        double threshold;
        int32_t test;
        int32_t first_child;  // -1: a nominal test
    };

    // Most leaves of a full tree have cases of one class: a seventh of the memory of all class weights, on covertype.
    struct Pure {
        double weight;
        int32_t of_class;  // -1: it is none
    };

    // The next node of a case, -1 where its value is missing.
    int after(int node, std::size_t row) const {
        const Step& step = steps_[static_cast<std::size_t>(node)];
        const Column& column = table_.columns[static_cast<std::size_t>(step.test)];
        if (step.first_child >= 0) {
            const double v = column.value(row);
            return std::isnan(v) ? -1 : step.first_child + !(v <= step.threshold);
        }
        const int branch = tree_.branch(node, column, row);
        return branch < 0 ? -1 : tree_.first_child[node] + branch;
    }

    const double* shares_at(int node) const {
        std::call_once(shares_made_, [&] { shares_ = node_shares(tree_); });
        return shares_.data() + static_cast<std::size_t>(node) * static_cast<std::size_t>(tree_.n_classes);
    }
    // Class weights of a leaf. An empty one speaks for a single case with the class shares of the nearest node above that has any.
    const double* counts_at(int node) const { return tree_.weight(node) > 0 ? tree_.class_weights(node) : shares_at(node); }
    void add_counts(int leaf, double* counts) const {
        if (const Pure& pure = pure_[static_cast<std::size_t>(leaf)]; pure.of_class >= 0) {
            counts[pure.of_class] += pure.weight;
            return;
        }
        const double* mine = counts_at(leaf);
        for (int c = 0; c < tree_.n_classes; ++c) counts[c] += mine[c];
    }

    Pure pure_leaf(int node) const {
        Pure found{0, -1};
        if (!tree_.leaf(node)) return found;
        for (int c = 0; c < tree_.n_classes; ++c) {
            if (tree_.class_weights(node)[c] <= 0) continue;
            if (found.of_class >= 0) return {0, -1};
            found = {tree_.class_weights(node)[c], c};
        }
        return found;
    }

    double pay(std::size_t row, TestSet& charged, TestSet& paid) const {
        const double price = pricing_.price(charged, paid, row);
        paid = std::move(charged);
        return price;
    }

    // A case without some value that the tree asks for: it ends in several leaves.
    Said ask_many(std::size_t row, TestSet& paid, double* counts) const {
        std::vector<double> mix(static_cast<std::size_t>(tree_.n_classes), 0.0);
        const int only = spread(0, row, 1.0, mix, counts);
        TestSet charged = paid;
        charge_walk(tree_, 0, table_, row, pricing_, subtrees_, paid, charged);
        return {only >= 0 ? tree_.answer[only] : static_cast<int32_t>(errors_.best_answer(mix.data(), Answer::majority)), pay(row, charged, paid)};
    }

    // Adds the class shares and the class weights of the leaves. Returns the leaf if there is but one, else -1.
    int spread(int node, std::size_t row, double weight, std::vector<double>& mix, double* counts) const {
        while (!tree_.leaf(node)) {
            const int branch = tree_.branch(node, table_.columns[tree_.test[node]], row);
            if (branch < 0) return spread_over_branches(node, row, weight, mix, counts);
            node = tree_.first_child[node] + branch;
        }
        for (int c = 0; c < tree_.n_classes; ++c) {
            mix[static_cast<std::size_t>(c)] += weight * shares_at(node)[c];
            counts[c] += weight * counts_at(node)[c];
        }
        return node;
    }

    int spread_over_branches(int node, std::size_t row, double weight, std::vector<double>& mix, double* counts) const {
        const std::vector<double> share = tree_.shares(node);
        int visited = 0, only = -1;
        for (int b = 0; b < tree_.n_children[node]; ++b) {
            if (share[static_cast<std::size_t>(b)] <= 0) continue;
            only = spread(tree_.first_child[node] + b, row, weight * share[static_cast<std::size_t>(b)], mix, counts);
            ++visited;
        }
        return visited == 1 ? only : -1;
    }

    const Tree& tree_;
    const Table& table_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const bool any_delayed_;
    std::vector<Step> steps_;
    std::vector<Pure> pure_;
    mutable std::once_flag shares_made_;
    mutable std::vector<double> shares_;  // made when a case lacks a value, or ends where no training case did
    SubtreeTests subtrees_;  // made where a test is delayed
};

// A tree as a forest without missing values, nominal and delayed tests walks it: cases side by side, so that none waits for another's
// memory. A leaf leads to itself.
class FastTree {
public:
    FastTree(const Tree& tree, const Table& table) {
        static constexpr double kNothing = 0;  // for columns that are never asked
        for (const Column& column : table.columns) columns_.push_back(column.numeric() ? std::pair{column.values, column.stride} : std::pair{&kNothing, std::ptrdiff_t{0}});
        if (columns_.empty()) columns_.push_back({&kNothing, 0});
        for (int node = 0; node < tree.size(); ++node) {
            const bool leaf = tree.leaf(node);
            nodes_.push_back({tree.threshold[node], leaf ? node : tree.first_child[node], static_cast<uint16_t>(leaf ? 0 : tree.test[node]), static_cast<uint16_t>(!leaf)});
        }
    }

    // Whether every test that the trees ask is numeric, known for every case, and one of the first 64.
    static bool can_walk(const std::vector<const Tree*>& trees, const Table& table) {
        std::vector<uint8_t> asked(table.columns.size(), 0);
        for (const Tree* tree : trees)
            for (int test : tree->test)
                if (test >= 0) asked[static_cast<std::size_t>(test)] = 1;
        for (std::size_t c = 0; c < asked.size(); ++c) {
            if (!asked[c]) continue;
            const Column& column = table.columns[c];
            if (c >= 64 || !column.numeric()) return false;
            for (std::size_t row = 0; table.has_missing && row < table.n_cases; ++row)
                if (std::isnan(column.value(row))) return false;
        }
        return true;
    }

    // Where a case stands, and which tests it was asked on the way, a bit each.
    struct Place {
        int leaf;
        uint64_t asked;
    };
    using Group = std::array<Place, 8>;

    void walk(std::size_t first, std::size_t n, Group& group) const {
        group.fill({0, 0});
        for (bool on = true; on;) {
            on = false;
            for (std::size_t i = 0; i < n; ++i) {
                const FastNode& node = nodes_[static_cast<std::size_t>(group[i].leaf)];
                const auto& [values, stride] = columns_[node.test];
                const double v = values[static_cast<std::ptrdiff_t>(first + i) * stride];
                group[i].asked |= static_cast<uint64_t>(node.inner) << node.test;
                group[i].leaf = node.child + (node.inner & !(v <= node.threshold));
                on |= node.inner;
            }
        }
    }

private:
    struct FastNode {
        double threshold;
        int32_t child;
        uint16_t test, inner;
    };

    std::vector<std::pair<const double*, std::ptrdiff_t>> columns_;
    std::vector<FastNode> nodes_;
};

}  // namespace

ForestLedger::ForestLedger(const Table& table, Pricing pricing, const ErrorCosts& errors)
    : table_(table), pricing_(std::move(pricing)), errors_(errors),
      any_delayed_(std::any_of(pricing_.delayed.begin(), pricing_.delayed.end(), [](uint8_t d) { return d != 0; })),
      paid_(table.n_cases, TestSet(pricing_.n_tests())) {}

// Votes are counted by class: a tree of a forest has no other answers.
void ForestLedger::check(const Tree& tree) const {
    check_tests(tree, table_, pricing_);
    check_answers(tree, errors_.n_classes, errors_.n_classes);
}

Opinion ForestLedger::consult(const Tree& tree, const uint8_t* who, int n_threads, Control& control) {
    constexpr std::size_t kChunk = 1 << 12;
    const std::size_t n = table_.n_cases;
    check(tree);
    Opinion out{std::vector<int32_t>(n, -1), std::vector<double>(n * static_cast<std::size_t>(tree.n_classes), 0.0), std::vector<double>(n, 0.0)};
    const Consultation consultation(tree, table_, pricing_, errors_, any_delayed_);
    parallel_for(static_cast<int>((n + kChunk - 1) / kChunk), n_threads, [&](int chunk, int thread) {
        if (thread == 0) control.poll();
        const std::size_t end = std::min(n, (static_cast<std::size_t>(chunk) + 1) * kChunk);
        for (std::size_t row = static_cast<std::size_t>(chunk) * kChunk; row < end; ++row)
            if (!who || who[row]) {
                const auto said = consultation.ask(row, paid_[row], out.counts.data() + row * static_cast<std::size_t>(tree.n_classes));
                out.answer[row] = said.answer;
                out.price[row] = said.price;
            }
    });
    return out;
}

Verdict ForestLedger::consult_all(const std::vector<const Tree*>& trees, int n_threads, Control& control) {
    // So many cases share what they see of a tree in the cache; with fewer, or with all 58,101 of covertype's, it takes half as long again.
    constexpr std::size_t kChunk = 1 << 13;
    const std::size_t n = table_.n_cases, k = static_cast<std::size_t>(errors_.n_classes);
    Verdict out{std::vector<int32_t>(n * k, 0), std::vector<double>(n * k, 0.0), std::vector<double>(n, 0.0)};
    std::deque<Consultation> consultations;
    std::vector<FastTree> fast;
    for (const Tree* tree : trees) check(*tree);
    const bool quick = !any_delayed_ && FastTree::can_walk(trees, table_);
    for (const Tree* tree : trees) {
        consultations.emplace_back(*tree, table_, pricing_, errors_, any_delayed_);
        if (quick) fast.emplace_back(*tree, table_);
    }
    const auto note = [&](std::size_t row, const Consultation::Said& said) {
        ++out.votes[row * k + static_cast<std::size_t>(said.answer)];
        out.price[row] += said.price;
    };
    parallel_for(static_cast<int>((n + kChunk - 1) / kChunk), n_threads, [&](int chunk, int thread) {
        if (thread == 0) control.poll();
        const std::size_t begin = static_cast<std::size_t>(chunk) * kChunk, end = std::min(n, begin + kChunk);
        for (std::size_t t = 0; t < trees.size(); ++t) {
            if (!quick) {
                for (std::size_t row = begin; row < end; ++row) note(row, consultations[t].ask(row, paid_[row], out.counts.data() + row * k));
                continue;
            }
            FastTree::Group group;
            for (std::size_t row = begin; row < end; row += group.size()) {
                fast[t].walk(row, std::min(end - row, group.size()), group);
                for (std::size_t i = 0; i < group.size() && row + i < end; ++i)
                    note(row + i, consultations[t].settle(group[i].leaf, group[i].asked, row + i, paid_[row + i], out.counts.data() + (row + i) * k));
            }
        }
    });
    return out;
}

}  // namespace worthwhile
