#include "ledger.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "parallel.hpp"
#include "router.hpp"

namespace worthwhile {

namespace {

// Class weights of every leaf. An empty one speaks for a single case with the class shares of the nearest node above that has any.
std::vector<double> leaf_counts(const Tree& tree) {
    std::vector<double> counts = node_shares(tree);
    const std::size_t k = static_cast<std::size_t>(tree.n_classes);
    for (int node = 0; node < tree.size(); ++node)
        if (tree.weight(node) > 0) std::copy_n(tree.class_weights(node), k, counts.begin() + static_cast<std::ptrdiff_t>(node * k));
    return counts;
}

// One tree and the cases that walk down it.
class Consultation {
public:
    Consultation(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, bool any_delayed)
        : tree_(tree), table_(table), pricing_(pricing), errors_(errors), any_delayed_(any_delayed), counts_(leaf_counts(tree)) {
        for (int node = 0; node < tree.size(); ++node) steps_.push_back({tree.threshold[node], tree.test[node], tree.map_start[node] < 0 ? tree.first_child[node] : -1});
        if (any_delayed) subtrees_ = SubtreeTests(tree, pricing.n_tests());
    }

    void ask(std::size_t row, TestSet& paid, Opinion& out) const {
        TestSet mine = paid;
        bool more = false;
        int node = 0;
        for (int test; (test = steps_[static_cast<std::size_t>(node)].test) >= 0;) {
            const int next = after(node, row);
            if (next < 0) {
                ask_many(row, paid, out);
                return;
            }
            if (!mine.has(test)) {
                if (any_delayed_ && pricing_.orders_delayed(test, mine)) subtrees_.charge(tree_, node, table_, row, pricing_, mine);
                pricing_.charge(test, mine);
                more = true;
            }
            node = next;
        }
        out.answer[row] = tree_.answer[node];
        std::copy_n(of(counts_, node), tree_.n_classes, counts_of(row, out));
        if (more) {
            out.price[row] = pricing_.price(mine, paid, row);
            paid = std::move(mine);
        }
    }

private:
    // What a step down needs of a node, side by side.
    struct Step {
        double threshold;
        int32_t test;
        int32_t first_child;  // -1: a nominal test
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

    const double* of(const std::vector<double>& by_node, int node) const { return by_node.data() + static_cast<std::size_t>(node) * tree_.n_classes; }
    double* counts_of(std::size_t row, Opinion& out) const { return out.counts.data() + row * static_cast<std::size_t>(tree_.n_classes); }

    // A case without some value that the tree asks for: it ends in several leaves.
    void ask_many(std::size_t row, TestSet& paid, Opinion& out) const {
        std::call_once(shares_made_, [&] { shares_ = node_shares(tree_); });
        std::vector<double> mix(static_cast<std::size_t>(tree_.n_classes), 0.0);
        const int only = spread(0, row, 1.0, mix, counts_of(row, out));
        out.answer[row] = only >= 0 ? tree_.answer[only] : errors_.best_answer(mix.data(), Answer::majority);
        TestSet charged = paid;
        charge_walk(tree_, 0, table_, row, pricing_, subtrees_, paid, charged);
        out.price[row] = pricing_.price(charged, paid, row);
        paid = std::move(charged);
    }

    // Adds the class shares and the class weights of the leaves. Returns the leaf if there is but one, else -1.
    int spread(int node, std::size_t row, double weight, std::vector<double>& mix, double* counts) const {
        while (!tree_.leaf(node)) {
            const int branch = tree_.branch(node, table_.columns[tree_.test[node]], row);
            if (branch < 0) return spread_over_branches(node, row, weight, mix, counts);
            node = tree_.first_child[node] + branch;
        }
        for (int c = 0; c < tree_.n_classes; ++c) {
            mix[static_cast<std::size_t>(c)] += weight * of(shares_, node)[c];
            counts[c] += weight * of(counts_, node)[c];
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
    const std::vector<double> counts_;
    std::vector<Step> steps_;
    mutable std::once_flag shares_made_;
    mutable std::vector<double> shares_;  // made when a case lacks a value
    SubtreeTests subtrees_;  // made where a test is delayed
};

}  // namespace

ForestLedger::ForestLedger(const Table& table, Pricing pricing, const ErrorCosts& errors)
    : table_(table), pricing_(std::move(pricing)), errors_(errors),
      any_delayed_(std::any_of(pricing_.delayed.begin(), pricing_.delayed.end(), [](uint8_t d) { return d != 0; })),
      paid_(table.n_cases, TestSet(pricing_.n_tests())) {}

Opinion ForestLedger::consult(const Tree& tree, const uint8_t* who, int n_threads, Control& control) {
    constexpr std::size_t kChunk = 1 << 12;
    const std::size_t n = table_.n_cases;
    Opinion out{std::vector<int32_t>(n, -1), std::vector<double>(n * static_cast<std::size_t>(tree.n_classes), 0.0), std::vector<double>(n, 0.0)};
    const Consultation consultation(tree, table_, pricing_, errors_, any_delayed_);
    parallel_for(static_cast<int>((n + kChunk - 1) / kChunk), n_threads, [&](int chunk, int thread) {
        if (thread == 0) control.poll();
        const std::size_t end = std::min(n, (static_cast<std::size_t>(chunk) + 1) * kChunk);
        for (std::size_t row = static_cast<std::size_t>(chunk) * kChunk; row < end; ++row)
            if (!who || who[row]) consultation.ask(row, paid_[row], out);
    });
    return out;
}

}  // namespace worthwhile
