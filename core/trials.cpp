#include "trials.hpp"

#include <algorithm>
#include <limits>

#include "parallel.hpp"
#include "presort.hpp"
#include "router.hpp"

namespace worthwhile {

namespace {

using Clock = std::chrono::steady_clock;

using Order = std::vector<std::vector<uint32_t>>;

// Sorting once for all splits leaves each of them a pass over the sorted rows.
Order sorted_rows(const Table& table) {
    Order order(table.columns.size());
    std::vector<SortEntry> entries, buffer;
    for (std::size_t c = 0; c < order.size(); ++c) {
        if (!table.columns[c].numeric()) continue;
        sort_column(table.columns[c], table.n_cases, entries, buffer);
        for (const SortEntry& e : entries) order[c].push_back(e.row);
    }
    return order;
}

// The rows of a table on one side of a split, copied: a small table of its own stays in the cache.
class Part {
public:
    Part(const Training& whole, const uint8_t* grows, bool growing, const double* weights) : n_classes_(whole.n_classes) {
        std::vector<uint32_t> place(whole.table.n_cases, kElsewhere);
        for (std::size_t row = 0; row < whole.table.n_cases; ++row) {
            if ((grows[row] != 0) != growing || (weights && !(weights[row] > 0))) continue;
            place[row] = static_cast<uint32_t>(rows_.size());
            rows_.push_back(row);
            classes_.push_back(whole.classes[row]);
            if (weights) weights_.push_back(weights[row]);
        }
        // Cases that count once each take the faster way through the lists.
        if (std::all_of(weights_.begin(), weights_.end(), [](double w) { return w == 1.0; })) weights_.clear();
        table_.n_cases = rows_.size();
        table_.has_missing = whole.table.has_missing;
        for (const Column& column : whole.table.columns) add(column);
        if (!growing) return;
        order_.resize(whole.order->size());
        for (std::size_t c = 0; c < order_.size(); ++c) {
            order_[c].reserve((*whole.order)[c].empty() ? 0 : rows_.size());
            for (uint32_t row : (*whole.order)[c])
                if (place[row] != kElsewhere) order_[c].push_back(place[row]);
        }
    }
    Part(const Part&) = delete;

    Training data() const { return {table_, classes_.data(), n_classes_, weights_.empty() ? nullptr : weights_.data(), &order_}; }

private:
    static constexpr uint32_t kElsewhere = ~uint32_t{0};

    void add(const Column& column) {
        Column copy = column;
        copy.stride = 1;
        if (column.numeric())
            copy.values = gather(values_.emplace_back(), column.values, column.stride);
        else
            copy.codes = gather(codes_.emplace_back(), column.codes, column.stride);
        table_.columns.push_back(std::move(copy));
    }

    template <class T>
    const T* gather(std::vector<T>& into, const T* from, std::ptrdiff_t stride) const {
        into.resize(rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) into[i] = from[static_cast<std::ptrdiff_t>(rows_[i]) * stride];
        return into.data();
    }

    int n_classes_;
    std::vector<std::size_t> rows_;
    Table table_;
    std::vector<std::vector<double>> values_;
    std::vector<std::vector<int32_t>> codes_;
    std::vector<int32_t> classes_;
    std::vector<double> weights_;
    Order order_;
};

double average_cost(const Tree& tree, const Training& cases, const Pricing& pricing, const ErrorCosts& errors, Answer policy, Control& control) {
    const Routes routes = route(tree, cases.table, pricing, errors, policy, {true, true, false, 1}, control);
    double cost = 0, weight = 0;
    for (std::size_t row = 0; row < cases.table.n_cases; ++row) {
        cost += cases.weight(row) * (routes.price[row] + errors.at(cases.classes[row], routes.answer[row]));
        weight += cases.weight(row);
    }
    return weight > 0 ? cost / weight : 0.0;
}

// All trials on one split, one after the other: the cases are sorted once.
class Bench {
public:
    Bench(const Training& whole, const Pricing& pricing, const ErrorCosts& errors, const LearnPolicy& policy, const TrialPlan& plan, int split,
          bool several)
        : pricing_(pricing), errors_(errors), policy_(policy),
          growing_part_(whole, plan.row_of(plan.grows, split, whole), true, plan.growing_weights ? plan.row_of(plan.growing_weights, split, whole) : whole.weights),
          judging_part_(whole, plan.row_of(plan.grows, split, whole), false, plan.judging_weights ? plan.judging_weights : whole.weights),
          growing_(growing_part_.data()), judging_(judging_part_.data()) {
        policy_.grow.n_threads = 1;
        grower_ = make_grower(growing_, pricing_, errors_, policy_.grow, several);
    }

    double cost(const Trial& trial, Control& control) {
        policy_.grow.biases = trial.biases;
        policy_.grow.omega = trial.omega;
        policy_.grow.max_depth = trial.max_depth;
        policy_.prune.confidence = trial.confidence;
        grower_->set_policy(policy_.grow);
        const Tree tree = finish(grower_->grow(control), growing_, pricing_, errors_, policy_, control);
        return average_cost(tree, judging_, pricing_, errors_, policy_.grow.answer, control);
    }

private:
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    LearnPolicy policy_;
    const Part growing_part_, judging_part_;
    const Training growing_, judging_;
    std::unique_ptr<TreeGrower> grower_;
};

}  // namespace

std::vector<double> run_trials(const Training& data, const Pricing& pricing, const ErrorCosts& errors, const LearnPolicy& policy,
                               const TrialPlan& plan, Control& control) {
    std::vector<std::vector<int>> on_split(plan.n_splits);
    for (int i = 0; i < static_cast<int>(plan.trials.size()); ++i) on_split[plan.trials[i].split].push_back(i);
    std::vector<double> costs(plan.trials.size(), std::numeric_limits<double>::quiet_NaN());
    const Order order = sorted_rows(data.table);
    Training sorted = data;
    sorted.order = &order;
    const auto late = [&] { return Clock::now() >= plan.deadline; };
    parallel_for(plan.n_splits, plan.n_threads, [&](int split, int thread) {
        if (on_split[split].empty() || late()) return;
        Control own(late);  // only the calling thread may ask the caller
        Control& asked = thread == 0 ? control : own;
        try {
            Bench bench(sorted, pricing, errors, policy, plan, split, on_split[split].size() > 1);
            for (int i : on_split[split]) costs[i] = bench.cost(plan.trials[i], asked);
        } catch (const Interrupted&) {
            if (!late()) throw;
        }
    });
    return costs;
}

}  // namespace worthwhile
