#include "prune/pruner.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include "route/tree_walker.hpp"

namespace worthwhile {

namespace {

// What a case has paid, if that is not what every case on its path has.
using PaidTests = std::shared_ptr<const TestSet>;

// Cases on their way down, each at its share.
struct Cases {
    std::vector<uint32_t> rows;
    std::vector<double> weights;
    std::vector<PaidTests> paid;  // left empty if not needed

    void reserve(std::size_t n) {
        rows.reserve(n);
        weights.reserve(n);
    }
    void add(uint32_t row, double weight) {
        rows.push_back(row);
        weights.push_back(weight);
    }
    void add(uint32_t row, double weight, PaidTests paid_tests) {
        add(row, weight);
        paid.push_back(std::move(paid_tests));
    }
};

Cases all_cases(const TrainingSet& data) {
    Cases cases;
    for (std::size_t row = 0; row < data.table.n_cases; ++row) cases.add(static_cast<uint32_t>(row), data.weight(row));
    return cases;
}

struct PaidUnused {};

// The cases of each branch; `paid_of(i, known)` says what a case has paid when it arrives there. `spare_leaves`: not needed is which
// cases come to a leaf.
template <class PaidOf>
std::vector<Cases> divide(const Tree& tree, int node, const TrainingSet& data, const Cases& cases, PaidOf paid_of,
                          bool spare_leaves = false) {
    const Column& column = data.table.columns[tree.test[node]];
    std::vector<Cases> parts(tree.n_children[node]);
    std::vector<double> share(parts.size(), 0.0);
    std::vector<std::size_t> missing;
    double known = 0;
    std::vector<uint8_t> spared(parts.size(), 0);
    for (std::size_t b = 0; b < parts.size(); ++b) {
        spared[b] = spare_leaves && tree.leaf(tree.first_child[node] + static_cast<int>(b));
        if (!spared[b] && parts.size() <= 4) parts[b].reserve(cases.rows.size());
    }
    const auto add = [&](std::size_t b, std::size_t i, double part, bool is_known) {
        if (spared[b]) return;
        if constexpr (std::is_same_v<PaidOf, PaidUnused>)
            parts[b].add(cases.rows[i], cases.weights[i] * part);
        else
            parts[b].add(cases.rows[i], cases.weights[i] * part, paid_of(i, is_known));
    };
    for (std::size_t i = 0; i < cases.rows.size(); ++i) {
        const int b = tree.branch(node, column, cases.rows[i]);
        if (b < 0) {
            missing.push_back(i);
            continue;
        }
        add(b, i, 1.0, true);
        share[b] += cases.weights[i];
        known += cases.weights[i];
    }
    if (missing.empty()) return parts;
    if (known > 0)
        for (double& s : share) s /= known;
    else
        share = tree.shares(node);
    for (std::size_t i : missing)
        for (std::size_t b = 0; b < parts.size(); ++b)
            if (share[b] > 0) add(b, i, share[b], false);
    return parts;
}

double largest(const double* values, int n) { return *std::max_element(values, values + n); }

class ErrorPruner {
public:
    ErrorPruner(Tree& tree, const TrainingSet& data, const PrunePolicy& policy, Cancellation& cancellation)
        : tree_(tree), data_(data), policy_(policy), cancellation_(cancellation), counts_(data.n_classes), estimate_(tree.size(), 0.0),
          slot_of_(tree.size(), -1) {}

    void run() {
        collapse();
        if (tree_.leaf(0)) return;
        // Whole numbers add up to the same whatever their order: what growing counted need not be counted again.
        prune(0, all_cases(data_), data_.weights.empty() && !data_.table.has_missing);
    }

private:
    double leaf_errors(const double* weights) const {
        double total = 0;
        for (int c = 0; c < data_.n_classes; ++c) total += weights[c];
        return upper_errors(total, total - largest(weights, data_.n_classes), policy_.confidence);
    }

    // Children come after their parents, so backwards is bottom-up.
    void collapse() {
        std::vector<double> errors(tree_.size(), 0.0);
        for (int node = tree_.size() - 1; node >= 0; --node) {
            const double as_leaf = tree_.weight(node) - largest(tree_.class_weights(node), data_.n_classes);
            for (int b = 0; b < tree_.n_children[node]; ++b) errors[node] += errors[tree_.first_child[node] + b];
            if (tree_.leaf(node) || errors[node] >= as_leaf - 1e-3) {
                tree_.make_leaf(node);
                errors[node] = as_leaf;
            }
        }
    }

    void count(const Cases& cases, double* weights) const {
        std::fill(weights, weights + data_.n_classes, 0.0);
        for (std::size_t i = 0; i < cases.rows.size(); ++i) weights[data_.classes[cases.rows[i]]] += cases.weights[i];
    }

    // Prunes the subtree for these cases and returns its estimated errors: the sum over the leaves that are left.
    // `as_grown`: the node has the class weights of these cases.
    double prune(int node, const Cases& cases, bool as_grown) { return estimate_[node] = pruned_errors(node, cases, as_grown); }

    double pruned_errors(int node, const Cases& cases, bool as_grown) {
        cancellation_.poll();
        if (!as_grown) count(cases, tree_.class_weights(node));
        const double as_leaf = leaf_errors(tree_.class_weights(node));
        if (tree_.leaf(node)) return as_leaf;
        double as_tree = 0;
        {
            const std::vector<Cases> parts = divide(tree_, node, data_, cases, PaidUnused{}, as_grown);
            for (int b = 0; b < tree_.n_children[node]; ++b) as_tree += prune(tree_.first_child[node] + b, parts[b], as_grown);
        }
        const int branch = largest_child(node);
        const double as_branch = policy_.raise_subtrees ? raised_errors(node, branch, cases) : std::numeric_limits<double>::infinity();
        if (as_leaf <= as_tree + 0.1 && as_leaf <= as_branch + 0.1) {
            tree_.make_leaf(node);
            return as_leaf;
        }
        if (as_branch > as_tree + 0.1) return as_tree;
        raise(node, branch);
        return pruned_errors(node, cases, false);
    }

    int largest_child(int node) const {
        int best = tree_.first_child[node];
        for (int b = 1; b < tree_.n_children[node]; ++b)
            if (tree_.weight(tree_.first_child[node] + b) >= tree_.weight(best) - 1e-9) best = tree_.first_child[node] + b;
        return best;  // ties go to the last, as in C4.5
    }

    // Estimated errors if `branch` took the place of its parent. Only the cases of its siblings are new to it; if no value is
    // missing its own stay where they are, and only the leaves that the others come to are estimated again: on 50,000 cases of
    // noise, fitting then takes 0.04 of the time that it took when all were sent down again.
    double raised_errors(int node, int branch, const Cases& cases) {
        if (data_.table.has_missing) return estimate(branch, cases);
        const int k = data_.n_classes;
        touched_.clear();
        extra_.clear();
        for (std::size_t i = 0; i < cases.rows.size(); ++i) {
            if (child_of(node, cases.rows[i]) == branch) continue;
            int leaf = branch;
            while (!tree_.leaf(leaf)) leaf = child_of(leaf, cases.rows[i]);
            if (slot_of_[leaf] < 0) {
                slot_of_[leaf] = static_cast<int>(touched_.size());
                touched_.push_back(leaf);
                extra_.insert(extra_.end(), tree_.class_weights(leaf), tree_.class_weights(leaf) + k);
            }
            extra_[static_cast<std::size_t>(slot_of_[leaf]) * k + data_.classes[cases.rows[i]]] += cases.weights[i];
        }
        double sum = estimate_[branch];
        for (std::size_t slot = 0; slot < touched_.size(); ++slot) {
            sum += leaf_errors(extra_.data() + slot * k) - leaf_errors(tree_.class_weights(touched_[slot]));
            slot_of_[touched_[slot]] = -1;
        }
        return sum;
    }

    int child_of(int node, std::size_t row) const {
        return tree_.first_child[node] + tree_.branch(node, data_.table.columns[tree_.test[node]], row);
    }

    // Estimated errors of a subtree if these cases came to it, without pruning.
    double estimate(int node, const Cases& cases) {
        if (tree_.leaf(node)) {
            count(cases, counts_.data());
            return leaf_errors(counts_.data());
        }
        double sum = 0;
        const std::vector<Cases> parts = divide(tree_, node, data_, cases, PaidUnused{});
        for (int b = 0; b < tree_.n_children[node]; ++b) sum += estimate(tree_.first_child[node] + b, parts[b]);
        return sum;
    }

    void raise(int node, int child) {
        tree_.test[node] = tree_.test[child];
        tree_.threshold[node] = tree_.threshold[child];
        tree_.map_start[node] = tree_.map_start[child];
        tree_.map_size[node] = tree_.map_size[child];
        tree_.n_children[node] = tree_.n_children[child];
        tree_.first_child[node] = tree_.first_child[child];
    }

    Tree& tree_;
    const TrainingSet& data_;
    const PrunePolicy& policy_;
    Cancellation& cancellation_;
    std::vector<double> counts_;
    std::vector<double> estimate_;  // by node, once it is pruned
    std::vector<int> slot_of_;      // by leaf: its place in `touched_` and `extra_`, or -1
    std::vector<int> touched_;
    std::vector<double> extra_;  // class weights of the touched leaves with the siblings' cases
};

class CostPruner {
public:
    CostPruner(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
               Cancellation& cancellation)
        : tree_(tree), data_(data), pricing_(pricing), errors_(errors), policy_(policy), cancellation_(cancellation),
          subtrees_(tree, pricing), walker_(tree, data.table, pricing, subtrees_) {}

    struct Value {
        double errors = 0;  // estimated error cost of the leaves
        double prices = 0;  // what the subtree charges the cases for which `paid` is not kept case by case
    };

    // What a subtree charges the cases that are walked one by one: those that start to be so at its root, which count for the nodes
    // above it too, and those that an upper node walks itself.
    struct IrregularPrices {
        double from_here = 0, from_above = 0;
    };

    // Without `cut` the tree is only valued, not pruned.
    Value run(bool cut = true) {
        cut_ = cut;
        tree_.commits.assign(pricing_.has_waits() ? static_cast<std::size_t>(tree_.size()) : 0, 0);
        Cases cases = all_cases(data_);
        cases.paid.resize(cases.rows.size());
        return prune(0, cases, pricing_.nothing());
    }

private:
    double as_leaf(int node) const {
        const double* weights = tree_.class_weights(node);
        return leaf_cost(errors_, weights, errors_.best_answer(weights, policy_.answer), policy_.confidence) + policy_.leaf_price;
    }

    Value prune(int node, const Cases& cases, const TestSet& path) {
        cancellation_.poll();
        const double leaf = as_leaf(node);
        if (tree_.leaf(node)) return {leaf, 0.0};
        if (!tree_.commits.empty()) tree_.commits[node] = 0;
        const bool waits = !path.has(tree_.test[node]) && pricing_.orders_delayed(tree_.test[node], path);
        Value value = prune_children(node, cases, path, waits);
        IrregularPrices irregular = irregular_prices(node, cases, path, waits);
        value.prices += irregular.from_here;
        if (!waits && !path.has(tree_.test[node]) && pricing_.orders_wait(tree_.test[node], path))
            commit_if_cheaper(node, cases, path, value, irregular);
        const double prices = value.prices + irregular.from_above, whole = value.errors + prices;
        if (cut_ && leaf <= whole + 1e-9 * (tree_.weight(node) * errors_.largest + prices)) {
            tree_.make_leaf(node);
            subtrees_.update(tree_, node);
            return {leaf, 0.0};
        }
        return value;
    }

    // Instead of waiting for one result after the other, everything below may be ordered at once.
    void commit_if_cheaper(int node, const Cases& cases, const TestSet& path, Value& value, IrregularPrices& irregular) {
        TestSet ordered = path;
        subtrees_.order_all(node, pricing_, ordered);
        if (!pricing_.within_cap(ordered)) return;
        tree_.commits[node] = 1;
        const IrregularPrices others = irregular_prices(node, cases, path, true);
        const double all = own_prices(node, cases, path, true) + others.from_here;
        const double alone = value.prices + irregular.from_above;
        if (all + others.from_above < alone - 1e-9 * alone) {
            value.prices = all;
            irregular = others;
        } else {
            tree_.commits[node] = 0;
        }
    }

    // `waits`: the node's order commits to everything below it.
    Value prune_children(int node, const Cases& cases, const TestSet& path, bool waits) {
        const int test = tree_.test[node];
        TestSet path_then = path;
        if (!path.has(test)) pricing_.order(test, path_then);

        const auto on_arrival = std::make_shared<const TestSet>(path);
        const std::vector<Cases> parts = divide(tree_, node, data_, cases, [&](std::size_t i, bool known) -> PaidTests {
            if (cases.paid[i]) return paid_after(test, cases.paid[i], known);
            return known && !(waits && lacks_below(node, cases.rows[i])) ? nullptr : paid_after(test, on_arrival, known);
        });
        Value value;
        for (int b = 0; b < tree_.n_children[node]; ++b) {
            const Value below = prune(tree_.first_child[node] + b, parts[b], path_then);
            value.errors += below.errors;
            if (!waits) value.prices += below.prices;  // an order of delayed tests charges for everything below it
        }
        subtrees_.update(tree_, node);
        value.prices += own_prices(node, cases, path, waits);
        return value;
    }

    // What the node itself charges its regular cases. Asked after the children were pruned: an order of delayed tests then
    // commits to what is left of them. Unless prices depend on the case, all regular cases pay the same.
    double own_prices(int node, const Cases& cases, const TestSet& path, bool waits) const {
        double sum = 0, price = -1;
        for (std::size_t i = 0; i < cases.rows.size(); ++i) {
            if (!regular(node, cases, i, waits)) continue;
            if (price < 0 || !pricing_.case_prices.empty()) price = own_price(node, cases.rows[i], path, waits);
            sum += cases.weights[i] * price;
        }
        return sum;
    }

    // Regular cases pay at this node what everybody pays; the others are walked one by one.
    bool regular(int node, const Cases& cases, std::size_t i, bool waits) const {
        if (cases.paid[i]) return false;
        if (!data_.table.has_missing) return true;
        const std::size_t row = cases.rows[i];
        return tree_.branch(node, data_.table.columns[tree_.test[node]], row) >= 0 && !(waits && lacks_below(node, row));
    }

    bool lacks_below(int node, std::size_t row) const { return data_.table.has_missing && subtrees_.lacks(node, data_.table, row); }

    double own_price(int node, std::size_t row, const TestSet& path, bool waits) const {
        const int test = tree_.test[node];
        if (path.has(test)) return 0;
        TestSet charged = path;
        if (waits)
            subtrees_.order(tree_, node, data_.table, row, pricing_, charged);
        else
            pricing_.order(test, charged);
        return pricing_.price(charged, path, row);
    }

    PaidTests paid_after(int test, const PaidTests& before, bool known) const {
        if (!known || before->has(test)) return before;
        auto after = std::make_shared<TestSet>(*before);
        pricing_.order(test, *after);
        return after;
    }

    IrregularPrices irregular_prices(int node, const Cases& cases, const TestSet& path, bool waits) const {
        IrregularPrices sum;
        if (!data_.table.has_missing) return sum;
        for (std::size_t i = 0; i < cases.rows.size(); ++i) {
            if (regular(node, cases, i, waits)) continue;
            const TestSet& paid = cases.paid[i] ? *cases.paid[i] : path;
            TestSet charged = pricing_.nothing();
            walker_.charge(node, cases.rows[i], paid, charged);
            (cases.paid[i] ? sum.from_above : sum.from_here) += cases.weights[i] * pricing_.price(charged, paid, cases.rows[i]);
        }
        return sum;
    }

    Tree& tree_;
    const TrainingSet& data_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const PrunePolicy& policy_;
    Cancellation& cancellation_;
    SubtreeTests subtrees_;
    const TreeWalker walker_;
    bool cut_ = true;
};

}  // namespace

void prune_by_errors(Tree& tree, const TrainingSet& data, const PrunePolicy& policy, Cancellation& cancellation) {
    ErrorPruner(tree, data, policy, cancellation).run();
    recount_deviations(tree, data);  // it only counts classes
}

namespace {

// Cuts off what would make a case pay more than the cap, whatever its values.
class CapPruner {
public:
    CapPruner(Tree& tree, const Pricing& pricing) : tree_(tree), pricing_(pricing), subtrees_(tree, pricing) {}

    void prune(int node, const TestSet& path) {
        if (tree_.leaf(node)) return;
        TestSet paid = path;
        if (!path.has(tree_.test[node])) {
            const bool commits = pricing_.orders_delayed(tree_.test[node], path);
            const auto order = [&] {
                paid = path;
                if (commits)
                    subtrees_.order_all(node, pricing_, paid);
                else
                    pricing_.order(tree_.test[node], paid);
                return pricing_.within_cap(paid);
            };
            while (!order()) {
                make_leaf(commits ? rarest_end(node) : node);  // of a whole order, what the fewest cases ask for
                if (tree_.leaf(node)) return;
                update(node);
            }
        }
        for (int b = 0; b < tree_.n_children[node]; ++b) prune(tree_.first_child[node] + b, paid);
    }

private:
    void make_leaf(int node) {
        tree_.make_leaf(node);
        subtrees_.update(tree_, node);
    }

    // The inner node without inner children at or below a node to which the fewest cases come.
    int rarest_end(int top) const {
        int rarest = top;
        double least = std::numeric_limits<double>::infinity();
        tree_.each_inner_below(top, [&](int node) {
            for (int b = 0; b < tree_.n_children[node]; ++b)
                if (!tree_.leaf(tree_.first_child[node] + b)) return;
            if (const double weight = tree_.weight(node); weight < least) least = weight, rarest = node;
        });
        return rarest;
    }

    void update(int node) {
        if (tree_.leaf(node)) return;
        for (int b = 0; b < tree_.n_children[node]; ++b) update(tree_.first_child[node] + b);
        subtrees_.update(tree_, node);
    }

    Tree& tree_;
    const Pricing& pricing_;
    SubtreeTests subtrees_;
};

}  // namespace

bool keep_within_cap(Tree& tree, const Pricing& pricing) {
    if (!pricing.has_cap() || tree.leaf(0)) return false;
    const int before = tree.size();
    CapPruner(tree, pricing).prune(0, pricing.nothing());
    tree = tree.compact();
    return tree.size() < before;
}

void choose_commits(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                    Cancellation& cancellation) {
    if (pricing.has_waits()) CostPruner(tree, data, pricing, errors, policy, cancellation).run(false);
}

void prune_by_cost(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                   Cancellation& cancellation) {
    CostPruner(tree, data, pricing, errors, policy, cancellation).run();
}

namespace {

void recount_below(Tree& tree, int node, const TrainingSet& data, const Cases& cases) {
    double* weights = tree.class_weights(node);
    std::fill(weights, weights + tree.width(), 0.0);
    for (std::size_t i = 0; i < cases.rows.size(); ++i) data.add_case(cases.rows[i], cases.weights[i], weights);
    if (tree.leaf(node)) return;
    const std::vector<Cases> parts = divide(tree, node, data, cases, PaidUnused{});
    for (int b = 0; b < tree.n_children[node]; ++b) recount_below(tree, tree.first_child[node] + b, data, parts[b]);
}

// Counts every case at the leaf it comes to, and adds up from there; false if a case has no branch to take. For whole weights,
// which add up to the same in any order. On 10⁶ cases and 1,415 leaves it takes 0.3 s, where dividing the cases node by node takes 2 s.
bool recount_at_leaves(Tree& tree, const TrainingSet& data) {
    const std::size_t k = static_cast<std::size_t>(data.n_classes);
    std::vector<double> counts(tree.weights.size(), 0.0);
    for (std::size_t row = 0; row < data.table.n_cases; ++row) {
        int node = 0;
        while (!tree.leaf(node)) {
            const int b = tree.branch(node, data.table.columns[tree.test[node]], row);
            if (b < 0) return false;
            node = tree.first_child[node] + b;
        }
        counts[static_cast<std::size_t>(node) * k + static_cast<std::size_t>(data.classes[row])] += data.weight(row);
    }
    for (std::size_t node = static_cast<std::size_t>(tree.size()); node-- > 0;)  // children come after their parents
        for (int b = 0; b < tree.n_children[node]; ++b)
            for (std::size_t c = 0; c < k; ++c)
                counts[node * k + c] += counts[static_cast<std::size_t>(tree.first_child[node] + b) * k + c];
    tree.weights = std::move(counts);
    return true;
}

}  // namespace

void recount(Tree& tree, const TrainingSet& data) {
    tree.n_deviations = data.n_deviations();
    tree.weights.assign(static_cast<std::size_t>(tree.size()) * tree.width(), 0.0);
    const bool whole = std::all_of(data.weights.begin(), data.weights.end(), [](double weight) { return weight == std::floor(weight); });
    if (whole && !data.by_case() && !data.table.has_missing && recount_at_leaves(tree, data)) return;
    recount_below(tree, 0, data, all_cases(data));
}

void recount_deviations(Tree& tree, const TrainingSet& data) {
    if (!data.by_case()) return;
    Tree counted = tree;
    recount(counted, data);
    for (int node = 0; node < tree.size(); ++node) std::copy_n(tree.class_weights(node), tree.n_classes, counted.class_weights(node));
    tree = std::move(counted);
}

double expected_cost(Tree tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const PrunePolicy& policy,
                     Cancellation& cancellation) {
    const auto value = CostPruner(tree, data, pricing, errors, policy, cancellation).run(false);
    double weight = 0;
    for (std::size_t row = 0; row < data.table.n_cases; ++row) weight += data.weight(row);
    return weight > 0 ? (value.errors + value.prices) / weight : 0.0;
}

}  // namespace worthwhile
