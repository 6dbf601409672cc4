#include "router.hpp"

#include <algorithm>
#include <mutex>

#include "parallel.hpp"

namespace worthwhile {

void charge_subtree(const Tree& tree, int node, const Table& table, std::size_t row, const Pricing& pricing, TestSet& charged) {
    tree.each_test_below(node, [&](int test) {
        if (!table.columns[test].missing(row)) pricing.charge(test, charged);
    });
}

void charge_walk(const Tree& tree, int node, const Table& table, std::size_t row, const Pricing& pricing, const TestSet& paid,
                 TestSet& charged) {
    TestSet mine = paid;  // what this walk has paid; walks down sibling branches do not see each other's payments
    while (!tree.leaf(node)) {
        const int test = tree.test[node], branch = tree.branch(node, table.columns[test], row);
        if (branch < 0) {
            const std::vector<double> share = tree.shares(node);
            for (int b = 0; b < tree.n_children[node]; ++b)
                if (share[b] > 0) charge_walk(tree, tree.first_child[node] + b, table, row, pricing, mine, charged);
            break;
        }
        if (!mine.has(test)) {
            if (pricing.orders_delayed(test, mine)) charge_subtree(tree, node, table, row, pricing, mine);
            pricing.charge(test, mine);
        }
        node = tree.first_child[node] + branch;
    }
    charged.unite(mine);
}

std::vector<double> node_shares(const Tree& tree) {
    const int k = tree.n_classes;
    std::vector<double> shares(tree.weights.size(), 0.0);
    std::vector<int> parent(tree.size(), -1);
    for (int node = 0; node < tree.size(); ++node) {
        double* mine = shares.data() + static_cast<std::size_t>(node) * k;
        const double weight = tree.weight(node);
        const double* above = parent[node] >= 0 ? shares.data() + static_cast<std::size_t>(parent[node]) * k : nullptr;
        const bool above_known = parent[node] >= 0 && tree.weight(parent[node]) > 0;
        for (int c = 0; c < k; ++c) {
            if (weight > 0)
                mine[c] = tree.class_weights(node)[c] / weight;
            else if (above_known)
                mine[c] = above[c];
            else
                mine[c] = tree.answer[node] < k ? tree.answer[node] == c : 1.0 / k;
        }
        for (int b = 0; b < tree.n_children[node]; ++b) parent[tree.first_child[node] + b] = node;
    }
    return shares;
}

namespace {

// One cache line holds four of these; the full node table would need one line per node and more.
struct RouteNode {
    double threshold;
    int32_t test;         // -1: a leaf
    int32_t first_child;  // nominal nodes: -2 - node, to be looked up in the tree
};

class Router {
public:
    Router(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, Answer policy,
           const RouteRequest& request)
        : tree_(tree), table_(table), pricing_(pricing), errors_(errors), policy_(policy), request_(request), shares_(node_shares(tree)) {
        for (int node = 0; node < tree.size(); ++node)
            nodes_.push_back({tree.threshold[node], tree.test[node], tree.map_start[node] < 0 ? tree.first_child[node] : -2 - node});
        if (request.prices) price_leaves();
    }

    void route(std::size_t begin, std::size_t end, Routes& out) const {
        constexpr std::size_t kAtOnce = 8;  // cases in flight: while one waits for memory the others go on (2.4 times faster on deep trees)
        std::size_t row = begin;
        for (; row + kAtOnce <= end; row += kAtOnce) {
            int leaf[kAtOnce] = {};
            bool moving = true;
            while (moving) {
                moving = false;
                for (std::size_t j = 0; j < kAtOnce; ++j)
                    if (leaf[j] >= 0 && nodes_[leaf[j]].test >= 0) {
                        leaf[j] = step(leaf[j], row + j);
                        moving = true;
                    }
            }
            for (std::size_t j = 0; j < kAtOnce; ++j) finish(leaf[j], row + j, out);
        }
        for (; row < end; ++row) {
            int leaf = 0;
            while (leaf >= 0 && nodes_[leaf].test >= 0) leaf = step(leaf, row);
            finish(leaf, row, out);
        }
    }

private:
    // The next node of the case, or -1 where its value is missing.
    int step(int node, std::size_t row) const {
        const RouteNode& at = nodes_[node];
        const Column& column = table_.columns[at.test];
        if (at.first_child >= 0) {
            const double v = column.value(row);
            if (v <= at.threshold) return at.first_child;
            return v != v ? -1 : at.first_child + 1;
        }
        const int branch = tree_.branch(node, column, row);
        return branch < 0 ? -1 : tree_.first_child[node] + branch;
    }

    void finish(int leaf, std::size_t row, Routes& out) const {
        const int k = tree_.n_classes;
        if (leaf >= 0) {
            if (request_.answers) out.answer[row] = tree_.answer[leaf];
            if (request_.shares) std::copy_n(shares_.begin() + static_cast<std::ptrdiff_t>(leaf) * k, k, out.shares.begin() + static_cast<std::ptrdiff_t>(row) * k);
        } else {
            std::vector<double> mix(k, 0.0);
            spread(0, row, 1.0, mix);
            if (request_.answers) out.answer[row] = errors_.best_answer(mix.data(), policy_);
            if (request_.shares) std::copy(mix.begin(), mix.end(), out.shares.begin() + static_cast<std::ptrdiff_t>(row) * k);
        }
        if (request_.prices) out.price[row] = leaf >= 0 && plain_price(leaf, row) ? leaf_price_[leaf] : walk_price(row);
    }

    // Adds the class shares of the leaves that a case with missing values ends in.
    void spread(int node, std::size_t row, double weight, std::vector<double>& mix) const {
        while (!tree_.leaf(node)) {
            const int next = step(node, row);
            if (next < 0) {
                const std::vector<double> share = tree_.shares(node);
                for (int b = 0; b < tree_.n_children[node]; ++b)
                    if (share[b] > 0) spread(tree_.first_child[node] + b, row, weight * share[b], mix);
                return;
            }
            node = next;
        }
        for (int c = 0; c < tree_.n_classes; ++c) mix[c] += weight * shares_[static_cast<std::size_t>(node) * tree_.n_classes + c];
    }

    double walk_price(std::size_t row) const {
        const TestSet nothing(pricing_.n_tests());
        TestSet charged(pricing_.n_tests());
        charge_walk(tree_, 0, table_, row, pricing_, nothing, charged);
        return pricing_.price(charged, nothing, row);
    }

    // Every case with all values known pays the same on the way to a leaf: worked out once per leaf.
    bool plain_price(int leaf, std::size_t row) const {
        if (pricing_.case_prices) return false;
        if (!table_.has_missing || commitment_[leaf] < 0) return true;
        const std::vector<int>& tests = committed_tests_[commitment_[leaf]];
        return std::none_of(tests.begin(), tests.end(), [&](int test) { return table_.columns[test].missing(row); });
    }

    void price_leaves() {
        leaf_price_.assign(tree_.size(), 0.0);
        commitment_.assign(tree_.size(), -1);
        struct Visit {
            int node;
            double spent;
            TestSet paid;
        };
        std::vector<Visit> todo;
        todo.push_back({0, 0.0, TestSet(pricing_.n_tests())});
        while (!todo.empty()) {
            Visit at = std::move(todo.back());
            todo.pop_back();
            leaf_price_[at.node] = at.spent;
            if (tree_.leaf(at.node)) continue;
            const int test = tree_.test[at.node];
            if (!at.paid.has(test)) {
                TestSet charged = at.paid;
                pricing_.charge(test, charged);
                if (pricing_.orders_delayed(test, at.paid)) commit(at.node, charged);
                at.spent += pricing_.price(charged, at.paid);
                at.paid = std::move(charged);
            }
            for (int b = 0; b < tree_.n_children[at.node]; ++b) {
                const int child = tree_.first_child[at.node] + b;
                commitment_[child] = commitment_[at.node];
                todo.push_back({child, at.spent, at.paid});
            }
        }
    }

    void commit(int node, TestSet& charged) {
        commitment_[node] = static_cast<int>(committed_tests_.size());
        std::vector<int>& tests = committed_tests_.emplace_back();
        tree_.each_test_below(node, [&](int test) {
            tests.push_back(test);
            pricing_.charge(test, charged);
        });
        std::sort(tests.begin(), tests.end());
        tests.erase(std::unique(tests.begin(), tests.end()), tests.end());
    }

    const Tree& tree_;
    const Table& table_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const Answer policy_;
    const RouteRequest request_;
    const std::vector<double> shares_;
    std::vector<RouteNode> nodes_;
    std::vector<double> leaf_price_;
    std::vector<int> commitment_;  // by node: which delayed order it stands below, or -1
    std::vector<std::vector<int>> committed_tests_;
};

}  // namespace

Routes route(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, Answer policy,
             const RouteRequest& request, Control& control) {
    constexpr std::size_t kChunk = 1 << 15;
    const std::size_t n = table.n_cases;
    Routes out;
    if (request.answers) out.answer.resize(n);
    if (request.prices) out.price.resize(n);
    if (request.shares) out.shares.resize(n * tree.n_classes);
    const Router router(tree, table, pricing, errors, policy, request);
    const int chunks = static_cast<int>((n + kChunk - 1) / kChunk);
    parallel_for(chunks, request.n_threads, [&](int chunk, int thread) {
        if (thread == 0) control.poll();
        router.route(chunk * kChunk, std::min(n, (chunk + 1) * kChunk), out);
    });
    return out;
}

}  // namespace worthwhile
