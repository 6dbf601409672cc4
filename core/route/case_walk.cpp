#include "route/case_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace worthwhile {

namespace {

constexpr double kSlack = 1e-9;  // relative to the largest error cost: amounts that differ by less are equal

// The branches of a node that cases take, heaviest first. Shares are compared in billionths, so that rounding decides nothing.
std::vector<std::pair<int, double>> heaviest_first(const Tree& tree, int node) {
    const std::vector<double> shares = tree.shares(node);
    std::vector<std::pair<int, double>> found;
    for (std::size_t b = 0; b < shares.size(); ++b)
        if (shares[b] > 0) found.emplace_back(static_cast<int>(b), shares[b]);
    std::stable_sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
        return std::floor(one.second * 1e9 + 0.5) > std::floor(other.second * 1e9 + 0.5);
    });
    return found;
}

// The joint results of a test for nodes that all ask for it: how probable each is, and the branch that it takes at each node. The nodes
// count as independent, but a test has one value: results that would need two are left out.
struct JointResult {
    double chance;
    std::vector<int> branches;
};

std::vector<JointResult> joint_results(const Tree& tree, const std::vector<int>& nodes) {
    if (nodes.size() == 1) {
        std::vector<JointResult> found;
        const std::vector<double> share = tree.frequencies(nodes[0]);
        for (std::size_t b = 0; b < share.size(); ++b)
            if (share[b] > 0) found.push_back({share[b], {static_cast<int>(b)}});
        return found;
    }
    std::vector<std::vector<int>> possible;
    if (tree.map_start[nodes[0]] < 0) {
        std::vector<double> cuts;
        for (int node : nodes) cuts.push_back(tree.threshold[node]);
        std::sort(cuts.begin(), cuts.end());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        for (std::size_t above = 0; above <= cuts.size(); ++above) {  // the value is above this many of the cuts
            std::vector<int> branches;
            for (int node : nodes) branches.push_back(above > 0 && cuts[above - 1] >= tree.threshold[node]);
            possible.push_back(std::move(branches));
        }
    } else {
        int n_codes = 0;
        for (int node : nodes) n_codes = std::max(n_codes, tree.map_size[node]);
        for (int code = 0; code < n_codes; ++code) {
            std::vector<int> branches;
            for (int node : nodes) branches.push_back(code < tree.map_size[node] ? tree.maps[tree.map_start[node] + code] : -1);
            possible.push_back(std::move(branches));
        }
        std::sort(possible.begin(), possible.end());
        possible.erase(std::unique(possible.begin(), possible.end()), possible.end());
    }
    std::vector<std::vector<double>> shares;
    for (int node : nodes) shares.push_back(tree.frequencies(node));
    std::vector<JointResult> found;
    double total = 0;
    for (std::vector<int>& branches : possible) {
        double chance = 1;
        for (std::size_t i = 0; i < nodes.size(); ++i) chance *= branches[i] < 0 ? 0.0 : shares[i][static_cast<std::size_t>(branches[i])];
        if (chance > 0) found.push_back({chance, std::move(branches)});
        total += chance;
    }
    for (JointResult& result : found) result.chance /= total;
    return found;
}

}  // namespace

CaseWalker::CaseWalker(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, AnswerPolicy policy,
                       const NodeShares& shares, const SubtreeTests& subtrees, bool may_stop)
    : tree_(tree), table_(table), pricing_(pricing), errors_(errors), policy_(policy), shares_(shares), subtrees_(subtrees),
      any_commits_(any_commits(tree, pricing)), may_stop_(may_stop && tree.may_stop && tree.weight(0) > 0) {
    const std::vector<double>& costs = tree.answer_costs.empty() ? errors.cost : tree.answer_costs;
    const std::size_t n_answers = static_cast<std::size_t>(errors.n_answers);
    for (std::size_t a = 0; a < n_answers; ++a) {
        double least = costs[a], most = least;
        for (std::size_t i = a; i < costs.size(); i += n_answers) least = std::min(least, costs[i]), most = std::max(most, costs[i]);
        widest_ = std::max(widest_, most - least);
    }
}

int CaseWalker::branch(int node, std::size_t row) const {
    return tree_.branch(node, table_.columns[static_cast<std::size_t>(tree_.test[node])], row);
}

void CaseWalker::walk(std::size_t row, std::span<const uint8_t> known, CaseState& state, bool with_steps) const {
    state.unavailable = pricing_.nothing();
    for (std::size_t t = 0; t < known.size(); ++t)
        if (known[t] && table_.columns[t].missing(row)) state.unavailable.add(static_cast<int>(t));
    while (advance(row, known, state, with_steps)) {
        const int test = worthwhile_test(row, known, state, with_steps);
        if (test < 0 || !ask(test, known, state)) return;
    }
}

// Follows all parts, in turn, as far as tests are seen or need no decision; false if one waits for its test.
bool CaseWalker::advance(std::size_t row, std::span<const uint8_t> known, CaseState& state, bool with_steps) const {
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t i = 0; i < state.parts.size();) {
            const int test = tree_.test[state.parts[i].node];
            if (test < 0 || !(state.seen.has(test) || asks_freely(test, row, known, state)) || !affordable(test, row, known, state)) {
                ++i;
                continue;
            }
            if (!state.seen.has(test) && !ask(test, known, state)) return false;
            move(i, row, known, state, with_steps);
            moved = true;
        }
    }
    return true;
}

// Whether a test has to pay: the case is divided, or it will be at a test below that is known to be unavailable, so that the tree's own
// reasons do not hold. A value that is in hand already, or stands in a table, is used as if nothing had been known before.
bool CaseWalker::must_pay(int test, std::span<const uint8_t> known, const CaseState& state) const {
    if (!may_stop_ || state.divided()) return may_stop_;
    const bool in_hand = known.empty() || known[static_cast<std::size_t>(test)];
    return !in_hand && !subtrees_.empty() && subtrees_.at(state.parts[0].node).meets(state.unavailable, state.seen);
}

// What is known when a test is decided on: what the walk has seen, and, for a test still to be done, what is known to be unavailable.
TestSet CaseWalker::met_before(int test, std::span<const uint8_t> known, const CaseState& state) const {
    TestSet met = state.seen;
    if (!known.empty() && !known[static_cast<std::size_t>(test)]) met.unite(state.unavailable);
    return met;
}

// Whether a test needs no decision: the tree decides, or the test costs nothing.
bool CaseWalker::asks_freely(int test, std::size_t row, std::span<const uint8_t> known, const CaseState& state) const {
    if (!must_pay(test, known, state)) return true;
    if (!any_commits_ && pricing_.n_surcharges() == 0)  // asked for every part again and again
        return !(pricing_.price_of(test, state.charged) > 0);
    const CaseOrder ordered = order_for_decision(test, state.parts, state.charged, met_before(test, known, state), row);
    return !(expected_price(ordered.charged, state.charged, test, state.parts) > 0);
}

// Whether a case that orders a test stays within the cap, whatever its values.
bool CaseWalker::affordable(int test, std::size_t row, std::span<const uint8_t> known, const CaseState& state) const {
    if (!pricing_.has_cap() || state.charged.has(test)) return true;
    return pricing_.within_cap(order(row, known, state, test).charged, row);
}

// Marks a test as seen; false if it is not known yet.
bool CaseWalker::ask(int test, std::span<const uint8_t> known, CaseState& state) const {
    if (!known.empty() && !known[static_cast<std::size_t>(test)]) {
        state.waiting = test;
        return false;
    }
    state.seen.add(test);
    return true;
}

// Takes a part through a node whose test is seen. The first part that moves pays for all that stand at the same test.
void CaseWalker::move(std::size_t at, std::size_t row, std::span<const uint8_t> known, CaseState& state, bool with_steps) const {
    const CasePart part = state.parts[at];
    const int test = tree_.test[part.node], taken = branch(part.node, row);
    const bool paid = state.charged.has(test);
    CaseOrder ordered{state.charged, pricing_.nothing()};
    if (taken >= 0 && !paid) ordered = order(row, known, state, test);
    if (with_steps)
        state.steps.push_back(
            {part.node, taken, paid, expected_price(ordered.charged, state.charged, test, state.parts), ordered.commits, ordered.charged});
    state.charged = std::move(ordered.charged);
    if (taken >= 0) {
        state.parts[at].node = tree_.first_child[part.node] + taken;
        return;
    }
    const auto branches = heaviest_first(tree_, part.node);
    const auto place = state.parts.erase(state.parts.begin() + static_cast<std::ptrdiff_t>(at));
    std::vector<CasePart> divided;
    for (const auto& [b, share] : branches) divided.push_back({tree_.first_child[part.node] + b, part.share * share});
    state.parts.insert(place, divided.begin(), divided.end());
}

// What a test charges for if all parts that stand at it order it. Tests that are `met` and unavailable are not ordered.
template <class Met>
CaseOrder CaseWalker::order_of(int test, const std::vector<CasePart>& parts, const TestSet& charged, std::size_t row, Met met) const {
    CaseOrder out{charged, pricing_.nothing()};
    if (charged.has(test)) return out;
    const auto commit = [&](int t) {
        pricing_.add(t, charged, out.charged);
        if (t != test && !charged.has(t)) out.commits.add(t);
    };
    for (const CasePart& part : parts) {
        if (tree_.test[part.node] != test || (met(test) && branch(part.node, row) < 0)) continue;
        pricing_.add(test, charged, out.charged);
        if (!any_commits_) break;
        if (!orders_below(tree_, pricing_, part.node, charged)) continue;
        out.delayed = true;
        if (subtrees_.every_value_known())
            subtrees_.at(part.node).each([&](int t) {
                if (!met(t) || !table_.columns[static_cast<std::size_t>(t)].missing(row)) commit(t);
            });
        else  // a tree written by hand: a value may be known to one node and not to another
            tree_.each_inner_below(part.node, [&](int below) {
                if (!met(tree_.test[below]) || branch(below, row) >= 0) commit(tree_.test[below]);
            });
    }
    pricing_.add_wait(charged, out.charged);
    return out;
}

CaseOrder CaseWalker::order(std::size_t row, std::span<const uint8_t> known, const CaseState& state, int test) const {
    return order_of(test, state.parts, state.charged, row, [&](int t) { return known.empty() || known[static_cast<std::size_t>(t)]; });
}

// What a test is expected to charge for: whether a test not met yet is available is not known.
CaseOrder CaseWalker::order_for_decision(int test, const std::vector<CasePart>& parts, const TestSet& charged, const TestSet& met,
                                         std::size_t row) const {
    return order_of(test, parts, charged, row, [&](int t) { return met.has(t); });
}

// ---- whether a test pays

void CaseWalker::add(int node, double share, std::vector<double>& mix) const {
    const double* shares = shares_.at(node);
    const std::size_t k = static_cast<std::size_t>(tree_.n_classes), more = mix.size() - k;
    for (std::size_t c = 0; c < k; ++c) mix[c] += share * shares[c];
    for (std::size_t a = 0; a < more; ++a) mix[k + a] += share * tree_.answer_costs[static_cast<std::size_t>(node) * more + a];
}

std::size_t CaseWalker::mixture_size() const {
    return static_cast<std::size_t>(tree_.n_classes) + (tree_.answer_costs.empty() ? 0 : static_cast<std::size_t>(errors_.n_answers));
}

std::vector<double> CaseWalker::mixture(const std::vector<CasePart>& parts) const {
    std::vector<double> mix(mixture_size(), 0.0);
    for (const CasePart& part : parts) add(part.node, part.share, mix);
    return mix;
}

double CaseWalker::price(const CaseOrder& order, const Payments& paid, int test, const std::vector<CasePart>& parts) const {
    TestSet had = paid.charged;
    had.unite(paid.known);
    return expected_price(order.charged, had, test, parts);
}

// What an order is expected to cost the parts of a case that stand at its test: by the price list, whatever this case pays in the end,
// because answers must not depend on who asks for prices; surcharges by what they add at these nodes.
double CaseWalker::expected_price(const TestSet& charged, const TestSet& paid, int test, const std::vector<CasePart>& parts) const {
    if (tree_.surcharges.empty()) return pricing_.price(charged, paid, pricing_.marginal.data());
    const std::size_t n_tests = static_cast<std::size_t>(pricing_.n_tests()), m = static_cast<std::size_t>(pricing_.n_surcharges());
    std::vector<double> amounts = pricing_.marginal;
    std::fill(amounts.begin() + static_cast<std::ptrdiff_t>(n_tests), amounts.end(), 0.0);
    double share = 0;
    for (const CasePart& part : parts) {
        if (tree_.test[part.node] != test) continue;
        for (std::size_t s = 0; s < m; ++s)
            amounts[n_tests + s] += part.share * tree_.surcharges[static_cast<std::size_t>(part.node) * m + s];
        share += part.share;
    }
    for (std::size_t s = 0; s < m; ++s) amounts[n_tests + s] = share > 0 ? amounts[n_tests + s] / share : 0.0;
    return pricing_.price(charged, paid, amounts.data());
}

int CaseWalker::answer_of(const std::vector<double>& mix) const {
    if (tree_.answer_costs.empty() || policy_ == AnswerPolicy::majority) return errors_.best_answer(mix.data(), policy_);
    return errors_.least(mix.data() + tree_.n_classes, 1.0);
}

double CaseWalker::answer_cost(const std::vector<double>& mix) const {
    if (tree_.answer_costs.empty()) return errors_.of_best(mix.data(), policy_);
    return mix[static_cast<std::size_t>(tree_.n_classes + answer_of(mix))];
}

// What the answer of a node is expected to cost.
double CaseWalker::leaf_cost(int node) const {
    if (tree_.answer_costs.empty()) return errors_.of(shares_.at(node), tree_.answer[node]);
    return tree_.answer_costs[static_cast<std::size_t>(node) * static_cast<std::size_t>(errors_.n_answers) +
                              static_cast<std::size_t>(tree_.answer[node])];
}

// The first test that a case should do next if tests have to pay; -1 if none is expected to save more than it costs.
int CaseWalker::worthwhile_test(std::size_t row, std::span<const uint8_t> known, CaseState& state, bool with_steps) const {
    state.rejected = -1;
    if (!may_stop_) return -1;
    const double stop = answer_cost(mixture(state.parts));
    TestSet considered = pricing_.nothing();
    for (const CasePart& part : state.parts) {
        const int test = tree_.test[part.node];
        if (test < 0 || considered.has(test)) continue;
        considered.add(test);
        if (!affordable(test, row, known, state)) continue;
        const TestSet met = met_before(test, known, state);
        if (!with_steps && hopeless(test, state, met, row)) continue;
        double cost = 0;
        // What pays by the next few tests pays all the more by all of them; mostly that is found out before a large tree is searched.
        const auto pays = [&](const TestSet& by) {
            for (int levels : {1, 4, std::numeric_limits<int>::max()}) {
                cost = cost_of_test(test, state.parts, by, {state.charged, pricing_.nothing()}, row, levels);
                if (cost < stop - kSlack * errors_.largest) return true;
            }
            return false;
        };
        // Once it is in hand, it is judged by what was seen: it must not be ignored then.
        if (pays(met) && (!state.divided() || met == state.seen || pays(state.seen))) return test;
        if (state.rejected < 0 || cost < state.rejected_cost) state.rejected = test, state.rejected_cost = cost;
    }
    return -1;
}

// Whether a test costs more than it can save. A result moves a share s of the case, so no answer's cost falls by more than s times what
// that answer costs more for one class than for another.
bool CaseWalker::hopeless(int test, const CaseState& state, const TestSet& met, std::size_t row) const {
    if (policy_ != AnswerPolicy::least_cost) return false;
    double share = 0;
    for (const CasePart& part : state.parts)
        if (tree_.test[part.node] == test) share += part.share;
    const CaseOrder ordered = order_for_decision(test, state.parts, state.charged, met, row);
    return expected_price(ordered.charged, state.charged, test, state.parts) >= share * widest_;
}

// Expected price and error cost if all parts at a test do it, the first of them then goes on as long as that pays, and the others stay.
double CaseWalker::cost_of_test(int test, const std::vector<CasePart>& parts, const TestSet& met, const Payments& paid, std::size_t row,
                                int levels) const {
    const CaseOrder ordered = order_for_decision(test, parts, paid.charged, met, row);
    std::vector<int> nodes;
    std::vector<double> share, others(mixture_size(), 0.0);
    for (const CasePart& part : parts) {
        if (tree_.test[part.node] == test) {
            nodes.push_back(part.node);
            share.push_back(part.share);
        } else {
            add(part.node, part.share, others);
        }
    }
    std::vector<JointResult> results = joint_results(tree_, nodes);
    while (results.empty()) {  // only in a tree written by hand can all results need two values
        add(nodes.back(), share.back(), others);
        nodes.pop_back();
        share.pop_back();
        results = joint_results(tree_, nodes);
    }
    double cost = price(ordered, paid, test, parts);
    for (const JointResult& result : results) {
        std::vector<double> rest = others;
        for (std::size_t i = 1; i < nodes.size(); ++i) add(tree_.first_child[nodes[i]] + result.branches[i], share[i], rest);
        cost += result.chance * cost_of_part(tree_.first_child[nodes[0]] + result.branches[0], share[0], rest, met,
                                             {ordered.charged, paid.known}, row, levels - 1);
    }
    return cost;
}

// Expected price and error cost if a part goes on from a node as long as that pays, for at most this many tests, and the others stay.
// Nodes are collected from the top and evaluated from the bottom.
double CaseWalker::cost_of_part(int top, double share, const std::vector<double>& others, const TestSet& met, const Payments& paid,
                                std::size_t row, int levels) const {
    struct Visit {
        int node;
        double chance;  // given that the case is at the node above
        TestSet charged;
        int levels;
        std::size_t first = 0, end = 0;  // the nodes that follow it
        double price = 0, stop = 0;
        bool free_to_stop = true;
    };
    std::vector<Visit> visits{{top, 1.0, paid.charged, levels}};
    for (std::size_t i = 0; i < visits.size(); ++i) {
        const int node = visits[i].node;
        std::vector<double> mix = others;
        add(node, share, mix);
        visits[i].stop = answer_cost(mix);
        visits[i].first = visits[i].end = visits.size();
        if (tree_.leaf(node)) continue;
        const int first_child = tree_.first_child[node];
        if (met.has(tree_.test[node])) {
            const int taken = branch(node, row);
            if (taken < 0) continue;  // unavailable: it stays here
            visits[i].free_to_stop = false;
            visits.push_back({first_child + taken, 1.0, visits[i].charged, visits[i].levels});
        } else if (visits[i].levels > 0) {
            const std::vector<CasePart> here{{node, share}};
            const CaseOrder ordered = order_for_decision(tree_.test[node], here, visits[i].charged, met, row);
            if (!pricing_.within_cap(ordered.charged, row)) continue;  // it stays here
            visits[i].price = price(ordered, {visits[i].charged, paid.known}, tree_.test[node], here);
            if (policy_ == AnswerPolicy::least_cost && visits[i].price >= share * widest_) continue;
            const std::vector<double> shares = tree_.frequencies(node);
            for (std::size_t b = 0; b < shares.size(); ++b)
                if (shares[b] > 0) visits.push_back({first_child + static_cast<int>(b), shares[b], ordered.charged, visits[i].levels - 1});
        }
        visits[i].end = visits.size();
    }
    std::vector<double> cost(visits.size());
    for (std::size_t i = visits.size(); i-- > 0;) {
        const Visit& at = visits[i];
        double on = at.price;
        for (std::size_t j = at.first; j < at.end; ++j) on += visits[j].chance * cost[j];
        cost[i] = at.first == at.end ? at.stop : at.free_to_stop ? std::min(on, at.stop) : on;
    }
    return cost[0];
}

double CaseWalker::cost_of_going_on(std::size_t row, std::span<const uint8_t> known, const CaseState& state, const TestSet& paid) const {
    const Payments payments{state.charged, paid};
    if (must_pay(state.waiting, known, state))
        return cost_of_test(state.waiting, state.parts, met_before(state.waiting, known, state), payments, row);
    if (state.divided()) return std::nan("");
    return undivided_cost(state.parts[0].node, row, known, payments);
}

// Expected price and error cost of a case that is in one place, if it goes on as the tree says.
double CaseWalker::undivided_cost(int top, std::size_t row, std::span<const uint8_t> known, const Payments& paid) const {
    struct Visit {
        int node;
        double chance;
        TestSet charged;
        std::size_t first = 0, end = 0;
        double own = 0;  // price, or what a node where it ends costs
    };
    std::vector<Visit> visits{{top, 1.0, paid.charged}};
    const auto met = [&](int t) { return known.empty() || known[static_cast<std::size_t>(t)]; };
    for (std::size_t i = 0; i < visits.size(); ++i) {
        const int node = visits[i].node;
        visits[i].first = visits[i].end = visits.size();
        if (tree_.leaf(node)) {
            visits[i].own = leaf_cost(node);
            continue;
        }
        const int test = tree_.test[node], first_child = tree_.first_child[node];
        const int taken = met(test) ? branch(node, row) : -1;
        if (met(test) && taken < 0) {
            visits[i].own = divided_cost(node, row, known, {visits[i].charged, paid.known});
            continue;
        }
        const std::vector<CasePart> here{{node, 1.0}};
        CaseOrder ordered = order_of(test, here, visits[i].charged, row, met);
        if (!pricing_.within_cap(ordered.charged, row)) {  // it ends here
            visits[i].own = leaf_cost(node);
            continue;
        }
        visits[i].own = price(ordered, {visits[i].charged, paid.known}, test, here);
        if (taken >= 0) {
            visits.push_back({first_child + taken, 1.0, std::move(ordered.charged)});
        } else {
            const std::vector<double> shares = tree_.frequencies(node);
            double weight = 0;
            for (std::size_t b = 0; b < shares.size(); ++b) {
                weight += tree_.weight(first_child + static_cast<int>(b));
                if (shares[b] > 0) visits.push_back({first_child + static_cast<int>(b), shares[b], ordered.charged});
            }
            if (!(weight > 0)) return std::nan("");
        }
        visits[i].end = visits.size();
    }
    std::vector<double> cost(visits.size());
    for (std::size_t i = visits.size(); i-- > 0;) {
        cost[i] = visits[i].own;
        for (std::size_t j = visits[i].first; j < visits[i].end; ++j) cost[i] += visits[j].chance * cost[j];
    }
    return cost[0];
}

// The same for a case that will be divided at a node, whose test is unavailable.
double CaseWalker::divided_cost(int node, std::size_t row, std::span<const uint8_t> known, const Payments& paid) const {
    std::vector<CasePart> parts;
    for (const auto& [b, share] : heaviest_first(tree_, node)) parts.push_back({tree_.first_child[node] + b, share});
    TestSet seen = pricing_.nothing();
    for (int t = 0; t < pricing_.n_tests(); ++t)
        if (known.empty() || known[static_cast<std::size_t>(t)]) seen.add(t);
    if (parts.size() == 1) return undivided_cost(parts[0].node, row, known, paid);
    if (!may_stop_) return std::nan("");
    double least = answer_cost(mixture(parts));
    TestSet considered = seen;
    for (const CasePart& part : parts) {
        const int test = tree_.test[part.node];
        if (test < 0 || considered.has(test)) continue;
        considered.add(test);
        if (!pricing_.within_cap(order_for_decision(test, parts, paid.charged, seen, row).charged)) continue;
        least = std::min(least, cost_of_test(test, parts, seen, paid, row));
    }
    return least;
}

}  // namespace worthwhile
