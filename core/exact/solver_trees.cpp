// The best tree, node by node, from what the solver has found.
#include <algorithm>
#include <cmath>
#include <utility>

#include "exact/solver.hpp"

namespace worthwhile {

Decision Solver::decide(const Node& node, int context, int depth, int leaves) {
    const Decision leaf{Decision::leaf, -1, -1, -1};
    if (node.cases.kinds.empty() || depth <= 0 || leaves < 2) return leaf;
    if (bound(node, contexts_[context]) >= node.leaf - slack_) return leaf;
    if (std::pow(most_branches_, depth) <= leaves) leaves = kAnyLeaves;
    const Key key{node.hash[0], node.hash[1], context, depth, leaves};
    if (const Entry* known = find(key); known && known->exact) return known->decision;
    const int horizon = std::exchange(horizon_, 0);  // trees that are built on the way, for orders, are not grown further
    const Entry found = solve_new(node, context, depth, leaves, kInfinity);
    horizon_ = horizon;
    keep(key, found);
    return found.decision;
}

// The leaves that each branch gets in the cheapest tree.
std::vector<int> Solver::leaves_of(const std::vector<Node>& nodes, int context, int depth, int leaves) {
    std::vector<int> share(nodes.size(), kAnyLeaves);
    if (leaves == kAnyLeaves) return share;
    // Branches one after the other get as few as the whole can do with.
    int left = leaves;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::vector<Node> rest(nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes.end());
        const double best = share_leaves(rest, context, depth, left, kInfinity);
        const std::vector<Node> others(rest.begin() + 1, rest.end());
        for (share[i] = 1; share[i] < left; ++share[i]) {
            const double own = nodes[i].cases.kinds.empty() ? policy_.leaf_price : solve(nodes[i], context, depth, share[i], kInfinity);
            const double other = others.empty() ? 0.0 : share_leaves(others, context, depth, left - share[i], kInfinity);
            if (own + other <= best + slack_) break;
        }
        left -= share[i];
    }
    return share;
}

// How far to look ahead at a node: as far as its tree goes, or up to the horizon, if there is time for that.
int Solver::depth_ahead(const Node& node, int context, int depth) {
    const int ahead = std::min(horizon_, levels_left_);
    if (ahead <= depth) return depth;
    try {
        decide(node, context, ahead, kAnyLeaves);
        return ahead;
    } catch (const WorkDone&) {
    } catch (...) {
        ended_ = std::current_exception();
    }
    horizon_ = 0;  // the rest of the tree as it was
    cancellation_ = nullptr;
    return depth;
}

void Solver::look_ahead(int horizon, int levels) {
    horizon_ = horizon;
    levels_left_ = levels;
    work_ = 0;
}

void Solver::end_look_ahead() {
    horizon_ = levels_left_ = 0;
    if (ended_) std::rethrow_exception(std::exchange(ended_, nullptr));
}

void Solver::add_weights(const Node& node, Tree& tree, int at) const {
    for (std::size_t i = 0; i < node.cases.kinds.size(); ++i) {
        const double* own = problem_.class_weights.data() + node.cases.kinds[i] * problem_.n_statistics();
        for (std::size_t c = 0; c < problem_.n_statistics(); ++c) tree.class_weights(at)[c] += node.cases.part(i) * own[c];
    }
}

double Solver::build(const Node& node, int context, int depth, int leaves, Tree& tree, int at) {
    add_weights(node, tree, at);
    depth = depth_ahead(node, context, depth);
    const Decision decision = decide(node, context, depth, leaves);
    if (decision.kind == Decision::leaf) return node.leaf;
    if (decision.kind == Decision::commit) {
        const Decision first = decision.question < 0 ? decide(node, decision.context, depth, leaves) : decision;
        if (first.question < 0) return node.leaf;
        const double due = price_of_set(node, contexts_[decision.context].paid, context);
        return due + build_below(node, first.question, first.option, decision.context, depth, leaves, tree, at);
    }
    const double due = price(node, contexts_[context].orders[static_cast<std::size_t>(decision.question)], decision.question);
    return due + build_below(node, decision.question, decision.option, context, depth, leaves, tree, at);
}

double Solver::build_below(const Node& node, int question, int option, int context, int depth, int leaves, Tree& tree, int at) {
    const Question& asked = problem_.questions[static_cast<std::size_t>(question)];
    const std::vector<Node> nodes = divide(node, question, option);
    const int next = contexts_.after(context, question), n = static_cast<int>(nodes.size());
    if (std::pow(most_branches_, depth) <= leaves) leaves = kAnyLeaves;
    const std::vector<int> share = leaves_of(nodes, next, depth - 1, leaves);
    const int first = tree.add_leaves(n);
    tree.test[at] = asked.column;
    tree.first_child[at] = first;
    tree.n_children[at] = n;
    if (asked.numeric) {
        tree.threshold[at] = middle_cut(node, question, option);
    } else {
        const Level& level = asked.levels[static_cast<std::size_t>(option)];
        tree.map_start[at] = static_cast<int>(tree.maps.size());
        tree.map_size[at] = asked.n_codes;
        tree.maps.insert(tree.maps.end(), level.branch_of.begin(), level.branch_of.end());
    }
    double cost = 0;
    --levels_left_;
    for (int b = 0; b < n; ++b)
        cost += build(nodes[static_cast<std::size_t>(b)], next, depth - 1, share[static_cast<std::size_t>(b)], tree, first + b);
    ++levels_left_;
    return cost;
}

// Of the cuts that divide these cases in the same way, the one in the middle between the two values next to it.
double Solver::middle_cut(const Node& node, int question, int option) const {
    const Question& asked = problem_.questions[static_cast<std::size_t>(question)];
    int low = 0, high = asked.n_codes - 1;
    for (uint32_t kind : node.cases.kinds) {
        if (problem_.missing(question, kind)) continue;
        const int code = static_cast<int>(problem_.code(question, kind));
        if (code <= option)
            low = std::max(low, code);
        else
            high = std::min(high, code);
    }
    const auto cut = [&](int code) { return asked.cuts[static_cast<std::size_t>(code)]; };
    // The cut of a code is its largest value, and the one before it is below its smallest.
    const double middle = cut(low) / 2 + cut(std::min(high, asked.n_codes - 2)) / 2;
    int best = low;
    while (best + 1 < high && cut(best + 1) <= middle) ++best;
    return cut(best);
}

}  // namespace worthwhile
