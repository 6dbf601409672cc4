#include "exact/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "data/random.hpp"

namespace worthwhile {

namespace {

// Relative to the largest loss of a kind: trees whose costs differ by less are equally good.
constexpr double kSlack = 1e-9;

// About what an entry of the cache takes.
constexpr std::size_t kEntryBytes = 128;

}  // namespace

// A node that is being solved: what is the best so far, and what another tree has to cost less than.
struct Solver::Search {
    const Node& node;
    int context, depth, leaves;
    double limit;
    Entry& best;

    void offer(double value, const Decision& decision, double slack) {
        if (value >= limit - slack) return;
        limit = value;
        best.bound = value;
        best.decision = decision;
    }
};

Solver::Solver(const ExactProblem& problem, const Pricing& pricing, const ErrorCosts& errors, const ExactPolicy& policy)
    : problem_(problem), pricing_(pricing), errors_(errors), policy_(policy), contexts_(problem, pricing),
      capacity_(std::max<std::size_t>(policy.memory / (2 * kEntryBytes), 1000)) {
    for (std::size_t i = 0; i < 2 * problem.n_kinds(); ++i) marks_.push_back(scramble(i));
    std::size_t n_values = 0;
    most_branches_ = 2;
    for (const Question& question : problem.questions) {
        offset_.push_back(n_values);
        n_values += static_cast<std::size_t>(question.n_codes);
        for (int option = 0; option < question.n_options(); ++option)
            most_branches_ = std::max(most_branches_, question.n_branches(option));
    }
    width_ = static_cast<std::size_t>(problem.n_answers) + 1;
    sums_.resize(n_values * width_);
    left_.resize(n_values * width_);
    const std::size_t t = problem.questions.size();
    TestSet everything = pricing.nothing();
    for (int i = 0; i < pricing.n_tests() + pricing.n_surcharges(); ++i) everything.add(i);
    worst_price_ = pricing.most(everything, pricing.marginal.data());
    compares_ = !problem.has_missing && problem.amounts.empty();
    for (std::size_t kind = 0; kind < problem.n_kinds(); ++kind)
        highest_.push_back(problem.most[kind] + worst_price_ * problem.weight[kind]);
    below_.resize(4 * t);
    for (auto& buffer : buffers_) buffer.resize(width_);
    for (double loss : problem.loss) slack_ = std::max(slack_, std::abs(loss));
    slack_ *= kSlack;
}

// ---- nodes

void Solver::add(Node& node, uint32_t kind, double part) const {
    node.cases.kinds.push_back(kind);
    const double* loss = problem_.loss.data() + kind * static_cast<std::size_t>(problem_.n_answers);
    for (int a = 0; a < problem_.n_answers; ++a) node.loss[static_cast<std::size_t>(a)] += part * loss[a];
    node.weight += part * problem_.weight[kind];
    uint64_t bits = 0;
    if (part != 1.0) std::memcpy(&bits, &part, sizeof bits);
    node.hash[0] += marks_[2 * kind] ^ (bits * 0x9E3779B97F4A7C15);
    node.hash[1] += marks_[2 * kind + 1] ^ (bits * 0xBF58476D1CE4E5B9);
}

Node Solver::root() const {
    Node node;
    node.loss.assign(static_cast<std::size_t>(problem_.n_answers), 0.0);
    for (uint32_t kind = 0; kind < problem_.n_kinds(); ++kind) add(node, kind, 1.0);
    node.leaf = lowest(node.loss.data(), problem_.n_answers) + policy_.leaf_price;
    return node;
}

std::vector<Node> Solver::divide(const Node& node, int question, int option) const {
    const Question& asked = problem_.questions[static_cast<std::size_t>(question)];
    const std::size_t n_branches = static_cast<std::size_t>(asked.n_branches(option)), n = node.cases.kinds.size();
    work_ += static_cast<double>(n * (width_ + 8) * (problem_.has_missing ? n_branches : 1) + 100 * n_branches);
    std::vector<Node> nodes(n_branches);
    for (Node& child : nodes) child.loss.assign(static_cast<std::size_t>(problem_.n_answers), 0.0);
    const std::vector<uint32_t>& codes = problem_.codes[static_cast<std::size_t>(question)];
    if (!problem_.has_missing) {
        for (uint32_t kind : node.cases.kinds) add(nodes[static_cast<std::size_t>(asked.branch(option, codes[kind]))], kind, 1.0);
    } else {
        std::vector<double> share(n_branches, 0.0);
        double known = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const uint32_t kind = node.cases.kinds[i];
            if (problem_.missing(question, kind)) continue;
            const double weight = node.cases.part(i) * problem_.weight[kind];
            share[static_cast<std::size_t>(asked.branch(option, codes[kind]))] += weight;
            known += weight;
        }
        if (known <= 0) return {};
        for (std::size_t i = 0; i < n; ++i) {
            const uint32_t kind = node.cases.kinds[i];
            const bool missing = problem_.missing(question, kind);
            for (std::size_t b = 0; b < n_branches; ++b) {
                const double part =
                    missing ? share[b] / known : static_cast<double>(asked.branch(option, codes[kind]) == static_cast<int>(b));
                if (part == 0) continue;
                add(nodes[b], kind, node.cases.part(i) * part);
                nodes[b].cases.parts.push_back(node.cases.part(i) * part);
            }
        }
    }
    int n_filled = 0;
    for (Node& child : nodes) {
        n_filled += !child.cases.kinds.empty();
        child.leaf = lowest(child.loss.data(), problem_.n_answers) + policy_.leaf_price;
    }
    if (n_filled < 2) nodes.clear();
    return nodes;
}

double Solver::price(const Node& node, const Order& order, int question) const {
    if (!order.allowed) return kInfinity;
    if (order.price == 0 && order.items.empty()) return 0;
    if (order.items.empty() && !problem_.has_missing) return order.price * node.weight;
    const std::size_t m = problem_.amounts.empty() ? 0 : problem_.amounts.size() / problem_.n_kinds();
    double sum = 0;
    for (std::size_t i = 0; i < node.cases.kinds.size(); ++i) {
        const uint32_t kind = node.cases.kinds[i];
        if (problem_.missing(question, kind)) continue;  // nobody pays for a test that is not available
        double own = order.price * problem_.weight[kind];
        for (int item : order.items) own += problem_.amounts[kind * m + static_cast<std::size_t>(item)];
        sum += node.cases.part(i) * own;
    }
    return sum;
}

double Solver::bound(const Node& node, const Context& context) const {
    const double pays = problem_.has_missing ? 0.0 : context.cheapest * node.weight;
    return std::min(node.leaf, 2 * policy_.leaf_price + pays);
}

// ---- cache

Solver::Entry* Solver::find(const Key& key) {
    if (const auto found = young_.find(key); found != young_.end()) return &found->second;
    const auto found = old_.find(key);
    if (found == old_.end()) return nullptr;
    keep(key, found->second);
    return &young_.find(key)->second;
}

void Solver::keep(const Key& key, const Entry& entry) {
    if (young_.size() >= capacity_) {
        old_ = std::move(young_);
        young_ = Cache();
    }
    young_[key] = entry;
}

// ---- similar nodes

// A bound for a node from one that was solved before (Demirovic et al. 2022): the best tree of this node, given the other one, costs it no more than
// here, plus at most the largest loss and all tests for every case that only the other one has. -infinity if none is as high as wanted.
// With the latest four, the search does .51 (mushroom, depth 4), .74 (breast), .88 (flare, glass), .91 (wine, heart), .97 (car, all depth 5,
// high error costs) of its work without them; with 16, breast .68 and flare .85, for twice as many comparisons.
double Solver::bound_of_similar(const Node& node, int context, int depth, double wanted) const {
    const auto found = recent_.find({context, depth});
    if (found == recent_.end()) return -kInfinity;
    const std::vector<uint32_t>& own = node.cases.kinds;
    for (const Solved& other : found->second.solved) {
        double bound = other.bound;
        if (other.kinds.empty() || bound < wanted) continue;
        work_ += static_cast<double>(own.size() + other.kinds.size());
        auto at = own.begin();
        for (auto kind = other.kinds.begin(); kind != other.kinds.end() && bound >= wanted; ++kind) {
            while (at != own.end() && *at < *kind) ++at;
            if (at == own.end() || *at != *kind) bound -= highest_[*kind];
        }
        if (bound >= wanted) return bound;
    }
    return -kInfinity;
}

void Solver::remember(const Node& node, int context, int depth, double bound) {
    if (recent_size_ > policy_.memory / (16 * sizeof(uint32_t))) {
        recent_.clear();
        recent_size_ = 0;
    }
    Recent& recent = recent_[{context, depth}];
    Solved& oldest = recent.solved[recent.next];
    recent_size_ += node.cases.kinds.size() - oldest.kinds.size();
    oldest = {node.cases.kinds, bound};
    recent.next = (recent.next + 1) % recent.solved.size();
}

// ---- search

// Not while a tree is built.
void Solver::poll() {
    if (!cancellation_) return;
    cancellation_->poll();
    if (work_ > policy_.work) throw WorkDone();
}

double Solver::solve(const Node& node, int context, int depth, int leaves, double limit) {
    if (depth <= 0 || leaves < 2) return node.leaf;
    const double least = bound(node, contexts_[context]);
    if (least >= limit - slack_ || least >= node.leaf - slack_) return least;
    if (std::pow(most_branches_, depth) <= leaves) leaves = kAnyLeaves;
    if (depth == 1 && leaves == kAnyLeaves) return solve_one(node, context).bound;
    const Key key{node.hash[0], node.hash[1], context, depth, leaves};
    if (const Entry* known = find(key); known && (known->exact || known->bound >= limit - slack_)) return known->bound;
    const bool compares = compares_ && leaves == kAnyLeaves;
    if (compares) {
        const double similar = bound_of_similar(node, context, depth, limit - slack_);
        if (similar >= limit - slack_) return similar;
    }
    const Entry found = solve_new(node, context, depth, leaves, limit);
    keep(key, found);
    if (compares) remember(node, context, depth, found.bound);
    return found.bound;
}

Solver::Entry Solver::solve_new(const Node& node, int context, int depth, int leaves, double limit) {
    poll();
    if (depth == 1 && leaves == kAnyLeaves) return solve_one(node, context);
    const bool may_commit = contexts_[context].may_commit;
    double floor = bound(node, contexts_[context]);
    if (may_commit && contexts_.can_relax()) {
        const int relaxed = contexts_.relaxed(context, pricing_.nothing(), pricing_.nothing());
        floor = std::max(floor, solve(node, relaxed, depth, leaves, limit));
        if (floor >= limit - slack_) return {floor, false, {}};
    }
    Entry best{node.leaf, false, {node.leaf < limit ? Decision::leaf : Decision::unknown, -1, -1, -1}};
    Search search{node, context, depth, leaves, std::min(limit, node.leaf), best};
    if (depth == 2 && leaves == kAnyLeaves && !problem_.has_missing && problem_.amounts.empty()) {
        best = solve_two(node, context);
        search.limit = best.bound;
    } else {
        try_questions(search);
    }
    if (may_commit && search.limit > floor + slack_) try_commits(search);
    best.exact = best.decision.kind != Decision::unknown;
    if (!best.exact) best.bound = std::max(limit, floor);
    return best;
}

void Solver::try_questions(Search& search) {
    const Node& node = search.node;
    const std::vector<double> estimate = estimates(node, search.context);
    std::vector<int> order(problem_.questions.size());
    for (std::size_t q = 0; q < order.size(); ++q) order[q] = static_cast<int>(q);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return estimate[static_cast<std::size_t>(a)] < estimate[static_cast<std::size_t>(b)]; });
    for (int q : order) {
        if (std::isinf(estimate[static_cast<std::size_t>(q)]) || contexts_[search.context].orders[static_cast<std::size_t>(q)].commits)
            continue;
        const double price = this->price(node, contexts_[search.context].orders[static_cast<std::size_t>(q)], q);
        if (price + 2 * policy_.leaf_price >= search.limit - slack_) continue;
        const Question& asked = problem_.questions[static_cast<std::size_t>(q)];
        if (asked.numeric && asked.n_options() > 1 && !problem_.has_missing && search.leaves == kAnyLeaves)
            try_cuts(search, q, price);
        else
            for (int option = 0; option < asked.n_options(); ++option) evaluate(search, q, option, price);
    }
}

double Solver::evaluate(Search& search, int question, int option, double price, std::vector<double>* parts) {
    const std::vector<Node> nodes = divide(search.node, question, option);
    if (nodes.empty()) return kInfinity;
    const int next = contexts_.after(search.context, question);
    const double value = price + solve_all(nodes, next, search.depth - 1, search.leaves, search.limit - price, parts);
    search.offer(value, {Decision::ask, question, option, -1}, slack_);
    return value;
}

double Solver::solve_all(const std::vector<Node>& nodes, int context, int depth, int leaves, double limit, std::vector<double>* parts) {
    if (leaves != kAnyLeaves && std::pow(most_branches_, depth) * static_cast<double>(nodes.size()) > leaves)
        return share_leaves(nodes, context, depth, leaves, limit);
    std::vector<double> own;
    std::vector<double>& values = parts ? *parts : own;
    values.clear();
    double sum = 0;
    for (const Node& node : nodes) {
        values.push_back(node.cases.kinds.empty() ? policy_.leaf_price : bound(node, contexts_[context]));
        sum += values.back();
    }
    const struct Siblings {  // also if the search ends in between
        const std::vector<Node>*&current, *outer;
        ~Siblings() { current = outer; }
    } restore{siblings_, std::exchange(siblings_, problem_.binary && depth == 2 ? &nodes : nullptr)};
    std::vector<std::size_t> order(nodes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    // First those that can raise the sum most.
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return nodes[a].leaf - values[a] > nodes[b].leaf - values[b]; });
    for (std::size_t i : order) {
        if (sum >= limit - slack_) return sum;
        if (nodes[i].cases.kinds.empty()) continue;
        const double value = std::max(values[i], solve(nodes[i], context, depth, kAnyLeaves, limit - (sum - values[i])));
        sum += value - values[i];
        values[i] = value;
    }
    return sum;
}

// The cheapest way to share out a number of leaves among branches, each of which needs one.
double Solver::share_leaves(const std::vector<Node>& nodes, int context, int depth, int leaves, double limit) {
    if (static_cast<int>(nodes.size()) > leaves) return kInfinity;
    int spare = leaves - static_cast<int>(nodes.size());
    std::vector<double> best(static_cast<std::size_t>(spare) + 1, 0.0);  // by leaves beyond one for each: what the branches so far cost
    for (const Node& node : nodes) {
        std::vector<double> cost;
        for (int extra = 0; extra <= spare; ++extra) {
            const bool empty = node.cases.kinds.empty();
            cost.push_back(empty ? policy_.leaf_price : solve(node, context, depth, 1 + extra, kInfinity));
        }
        std::vector<double> next(best.size(), kInfinity);
        for (std::size_t have = 0; have < best.size(); ++have)
            for (std::size_t extra = 0; have + extra < best.size(); ++extra)
                next[have + extra] = std::min(next[have + extra], best[have] + cost[extra]);
        best = std::move(next);
        if (lowest(best.data(), static_cast<int>(best.size())) >= limit - slack_) return limit;
    }
    return lowest(best.data(), static_cast<int>(best.size()));
}

// Between two cuts, the left part has at least the cases left of the lower one, and the right part those right of the upper one. So whole
// intervals of cuts are ruled out at once (Mazumder et al. 2022, Brita et al. 2025).
void Solver::try_cuts(Search& search, int question, double price) {
    const std::vector<uint32_t>& codes = problem_.codes[static_cast<std::size_t>(question)];
    std::vector<int> cuts;
    for (uint32_t kind : search.node.cases.kinds) cuts.push_back(static_cast<int>(codes[kind]));
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    cuts.pop_back();  // above the last value there is nothing
    struct Interval {
        int low, high;        // cuts low + 1 ... high - 1 are open
        double below, above;  // what is left of the lower, and right of the upper cut, costs at least
    };
    std::vector<Interval> open{{-1, static_cast<int>(cuts.size()), policy_.leaf_price, policy_.leaf_price}};
    std::vector<double> parts;
    while (!open.empty()) {
        const Interval interval = open.back();
        open.pop_back();
        if (interval.high - interval.low < 2 || price + interval.below + interval.above >= search.limit - slack_) continue;
        const int middle = (interval.low + interval.high) / 2;
        evaluate(search, question, cuts[static_cast<std::size_t>(middle)], price, &parts);
        open.push_back({interval.low, middle, interval.below, parts[1]});
        open.push_back({middle, interval.high, parts[0], interval.above});
    }
}

// Orders of several tests at once. The tests that are sure to be among them (`in`) are paid for. The best tree that pays for others only where
// it asks them costs no more than any tree of one order; as long as it asks others, one of those is either paid for, too, or ruled out.
void Solver::try_commits(Search& search) {
    const Node& node = search.node;
    const TestSet& paid = contexts_[search.context].paid;
    std::vector<OrderChoice> open{{pricing_.nothing(), pricing_.nothing()}};
    while (!open.empty()) {
        poll();
        const OrderChoice choice = std::move(open.back());
        open.pop_back();
        const double price = price_of_set(node, choice.in, search.context);
        if (price + 2 * policy_.leaf_price >= search.limit - slack_) continue;
        const int context =
            contexts_.can_relax() ? contexts_.relaxed(search.context, choice.in, choice.out) : free_context(paid, choice.out);
        if (price + solve(node, context, search.depth, search.leaves, search.limit - price) >= search.limit - slack_) continue;
        Tree tree;
        tree.n_classes = problem_.n_classes;
        tree.n_deviations = problem_.n_deviations;
        tree.add_leaves(1);
        build(node, context, search.depth, search.leaves, tree, 0);
        OrderValue value = value_of_order(node, search.context, tree, choice.in);
        // Only a test whose result takes time orders what comes after it. Where prices do not depend on the order of the tests, another first
        // test costs no less in one order than alone.
        const bool possible = contexts_.can_relax() || tree.leaf(0) || takes_time(tree.test[0], paid);
        if (possible) search.offer(value.cost, {Decision::commit, -1, -1, contexts_.committed(value.usable)}, slack_);
        for (std::size_t q = 0; q < problem_.questions.size() && !possible && value.undecided < 0; ++q) {
            const int test = problem_.questions[q].column;
            if (!paid.has(test) && !choice.in.has(test) && !choice.out.has(test)) value.undecided = test;
        }
        if (value.undecided < 0 && !possible) try_first_of_order(search, choice.in, price);
        branch_on(choice, value.undecided, open);
    }
}

OrderValue Solver::value_of_order(const Node& node, int context, const Tree& tree, const TestSet& in) {
    const TestSet& paid = contexts_[context].paid;
    TestSet asked = pricing_.nothing();
    OrderValue found;
    for (std::size_t i = 0; i < node.cases.kinds.size(); ++i) found.cost -= node.cases.part(i) * problem_.least[node.cases.kinds[i]];
    for (int at = 0; at < tree.size(); ++at) {
        if (tree.leaf(at)) {
            found.cost += errors_.of_best(tree.class_weights(at), AnswerPolicy::least_cost) + policy_.leaf_price;
        } else if (!paid.has(tree.test[at])) {
            asked.add(tree.test[at]);
            if (found.undecided < 0 && !in.has(tree.test[at])) found.undecided = tree.test[at];
        }
    }
    found.cost += price_of_set(node, asked, context);
    found.usable = asked;
    found.usable.unite(paid);
    return found;
}

void Solver::branch_on(const OrderChoice& choice, int test, std::vector<OrderChoice>& open) {
    if (test < 0) return;
    OrderChoice with = choice, without = choice;
    with.in.add(test);
    without.out.add(test);
    open.push_back(std::move(without));
    open.push_back(std::move(with));
}

// One order of these tests, which begins with one whose result takes time.
void Solver::try_first_of_order(Search& search, const TestSet& tests, double price) {
    const TestSet& paid = contexts_[search.context].paid;
    TestSet usable = tests;
    usable.unite(paid);
    const int context = contexts_.committed(usable);
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        const int question = static_cast<int>(q), test = problem_.questions[q].column;
        if (!tests.has(test) || !takes_time(test, paid)) continue;
        for (int option = 0; option < problem_.questions[q].n_options(); ++option) {
            const std::vector<Node> nodes = divide(search.node, question, option);
            if (nodes.empty()) continue;
            const double value = price + solve_all(nodes, context, search.depth - 1, search.leaves, search.limit - price);
            search.offer(value, {Decision::commit, question, option, context}, slack_);
        }
    }
}

bool Solver::takes_time(int test, const TestSet& paid) const {
    return pricing_.orders_delayed(test, paid) || pricing_.orders_wait(test, paid);
}

// In which all tests that are not ruled out may be asked for nothing.
int Solver::free_context(const TestSet& paid, const TestSet& out) {
    TestSet usable = pricing_.nothing();
    for (const Question& question : problem_.questions)
        if (paid.has(question.column) || !out.has(question.column)) usable.add(question.column);
    return contexts_.committed(usable);
}

double Solver::price_of_set(const Node& node, const TestSet& tests, int context) {
    std::vector<int> items;
    if (!problem_.has_missing && problem_.amounts.empty()) return contexts_.price_of_set(tests, context, items) * node.weight;
    if (tests == pricing_.nothing()) return 0;
    const std::size_t m = problem_.amounts.empty() ? 0 : problem_.amounts.size() / problem_.n_kinds();
    double sum = 0;
    for (std::size_t i = 0; i < node.cases.kinds.size(); ++i) {
        const uint32_t kind = node.cases.kinds[i];
        TestSet available = pricing_.nothing();
        for (std::size_t q = 0; q < problem_.questions.size(); ++q)
            if (const int t = problem_.questions[q].column; tests.has(t) && !problem_.missing(static_cast<int>(q), kind)) available.add(t);
        items.clear();
        double own = contexts_.price_of_set(available, context, items) * problem_.weight[kind];
        for (int item : items) own += problem_.amounts[kind * m + static_cast<std::size_t>(item)];
        sum += node.cases.part(i) * own;
    }
    return sum;
}

}  // namespace worthwhile
