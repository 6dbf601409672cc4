// The bindings to Python, in the only folder that knows nanobind. Python checks what users hand in and says what is wrong with it; here it is
// only made sure that nothing leads out of bounds.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>

#include "data/column_store.hpp"
#include "data/tree_check.hpp"
#include "ensemble/boosting.hpp"
#include "ensemble/random_forest.hpp"
#include "exact/exact_search.hpp"
#include "exact/near_optimal.hpp"
#include "forest/forest_router.hpp"
#include "forest/greedy_forest.hpp"
#include "grow/nominal_counts.hpp"
#include "parallel/thread_pool.hpp"
#include "route/case_walk.hpp"
#include "route/router.hpp"
#include "route/tree_walker.hpp"
#include "search/learn.hpp"
#include "search/trials.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace worthwhile {

namespace {

template <class T>
using In1 = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
template <class T>
using Contiguous1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Contiguous2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Optional1 = std::optional<Contiguous1<T>>;
template <class T>
using Optional2 = std::optional<Contiguous2<T>>;

template <class Array>
auto to_span(const Array& array) {
    return std::span(array.data(), array.size());
}

template <class Array>
auto to_span(const std::optional<Array>& array) {
    return array ? to_span(*array) : decltype(to_span(*array))();
}

template <class T>
std::vector<T> to_vector(const Contiguous1<T>& a) {
    return {a.data(), a.data() + a.shape(0)};
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::vector<std::size_t> shape = {}) {
    auto held = std::make_unique<std::vector<T>>(std::move(values));
    if (shape.empty()) shape = {held->size()};
    nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    auto* data = held.release()->data();
    return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner);
}

template <class T>
nb::object array_or_none(bool wanted, std::vector<T> values, std::vector<std::size_t> shape = {}) {
    return wanted ? nb::cast(to_numpy(std::move(values), std::move(shape))) : nb::none();
}

// ---- checks

void check(bool fine, const char* message) {
    if (!fine) throw std::invalid_argument(message);
}

// The parts of a message are put together only where it is thrown: a table of 8 columns took a third longer otherwise.
template <class... Parts>
void check(bool fine, const Parts&... parts) {
    if (fine) return;
    std::ostringstream message;
    (message << ... << parts);
    throw std::invalid_argument(message.str());
}

void check_length(std::size_t length, std::size_t expected, const char* what) {
    check(length == expected, what, " must have the length ", expected, ", got ", length);
}

template <class Array>
void check_shape(const Array& array, std::size_t rows, std::size_t columns, const char* what) {
    check(array.shape(0) == rows && array.shape(1) == columns, what, " must have the shape (", rows, ", ", columns, ")");
}

void check_confidence(double cf) { check(cf >= 0 && cf <= 1, "a confidence level is a number from 0 to 1"); }

// Settings that Python hands over by name: many of them, of various types. The types are those of _core.pyi.
class Keywords {
public:
    Keywords(nb::kwargs given, const char* function) : given_(std::move(given)), function_(function) {}

    template <class T>
    T take(const char* name) {
        if (!given_.contains(name)) throw nb::type_error((std::string(function_) + "() lacks the keyword argument '" + name + "'").c_str());
        return taken<T>(name);
    }
    template <class T>
    T take(const char* name, T otherwise) {
        return given_.contains(name) ? taken<T>(name) : std::move(otherwise);
    }
    void finish() const {
        if (given_.size() == n_taken_) return;
        std::string names;
        for (const auto [name, value] : given_) names.append(" ").append(nb::cast<std::string>(name));
        throw nb::type_error((std::string(function_) + "() has an unknown keyword argument among" + names).c_str());
    }

private:
    template <class T>
    T taken(const char* name) {
        ++n_taken_;
        try {
            return nb::cast<T>(given_[name]);
        } catch (const nb::cast_error&) {
            throw nb::type_error((std::string(function_) + "(): the keyword argument '" + name + "' is of the wrong type").c_str());
        }
    }

    nb::kwargs given_;
    const char* function_;
    std::size_t n_taken_ = 0;
};

// ---- what Python holds

// A table and the arrays that its columns look into (a converted copy, if the caller's array has another type).
struct OwnedTable {
    Table table;
    std::vector<In1<double>> numeric;
    std::vector<In1<int32_t>> nominal;
    std::deque<std::vector<Level>> all_levels;  // by nominal column; they stay where they are when others are added
    Optional2<double> case_prices;              // by case: the price of every test and the amount of every surcharge
    Optional2<double> deviations;               // by case: what every answer costs more than the error costs of its class say
    mutable std::once_flag stored;
    mutable std::unique_ptr<const ColumnStore> own_store;

    OwnedTable(std::size_t n_cases, bool has_missing) {
        table.n_cases = n_cases;
        table.has_missing = has_missing;
    }
    // Made when the first forest is grown, and kept for the next.
    const ColumnStore& store() const {
        std::call_once(stored, [&] { own_store = std::make_unique<const ColumnStore>(table); });
        return *own_store;
    }
    void set_prices(Contiguous2<double> prices) {
        check_length(prices.shape(0), table.n_cases, "'case_prices'");
        case_prices = std::move(prices);
    }
    void set_deviations(Contiguous2<double> amounts) {
        check_length(amounts.shape(0), table.n_cases, "'deviations'");
        deviations = std::move(amounts);
    }
    void check_new(std::size_t length) const {
        check_length(length, table.n_cases, "a column");
        check(!own_store, "a table from which a forest was grown takes no further column");
    }
    void add_numeric(In1<double> a) {
        check_new(a.shape(0));
        Column column;
        column.values = a.data();
        column.stride = static_cast<std::ptrdiff_t>(a.stride(0));
        table.columns.push_back(column);
        numeric.push_back(std::move(a));
    }
    void add_nominal(In1<int32_t> a, int n_values, const std::vector<std::vector<int32_t>>& levels) {
        check_new(a.shape(0));
        check(n_values >= 0, "'n_values' must not be negative, got ", n_values);
        check(!levels.empty(), "a nominal column needs at least one level");
        std::vector<Level> own;
        for (const std::vector<int32_t>& branch_of : levels) {
            check_length(branch_of.size(), static_cast<std::size_t>(n_values), "a level of a nominal column");
            int32_t n_branches = 0;
            for (int32_t b : branch_of) {
                check(b >= 0 && b < n_values, "a branch of a level must be from 0 to ", n_values - 1, ", got ", b);
                n_branches = std::max(n_branches, b + 1);
            }
            own.push_back({n_branches, branch_of});
        }
        Column column;
        column.codes = a.data();
        column.stride = static_cast<std::ptrdiff_t>(a.stride(0));
        column.n_values = n_values;
        column.levels = all_levels.emplace_back(std::move(own));
        table.columns.push_back(column);
        nominal.push_back(std::move(a));
    }
};

// Lists of numbers laid end to end: where each starts, and all of them, every one from 0 to `limit` - 1.
void check_lists(const std::vector<int32_t>& start, const std::vector<int32_t>& items, std::size_t n, std::size_t limit, const char* what) {
    check_length(start.size(), n + 1, what);
    check(start[0] == 0 && static_cast<std::size_t>(start[n]) == items.size() && std::is_sorted(start.begin(), start.end()), what,
          " must rise from 0 to the number of its items");
    for (int32_t item : items) check(item >= 0 && static_cast<std::size_t>(item) < limit, what, " names an item that does not exist");
}

struct OwnedPricing {
    Pricing pricing;
    double unit;  // what 1 is worth in the money of prices that depend on the case

    explicit OwnedPricing(nb::kwargs arrays) {
        Keywords given(std::move(arrays), "Pricing");
        const auto doubles = [&](const char* name) { return to_vector(given.take<Contiguous1<double>>(name)); };
        const auto ints = [&](const char* name) { return to_vector(given.take<Contiguous1<int32_t>>(name)); };
        pricing.marginal = doubles("marginal");
        pricing.group_start = ints("group_start");
        pricing.group_list = ints("group_list");
        pricing.common = doubles("common");
        pricing.delayed = to_vector(given.take<Contiguous1<uint8_t>>("delayed"));
        pricing.closure_start = ints("closure_start");
        pricing.closure_tests = ints("closure_tests");
        pricing.wait = doubles("wait");
        const auto points = given.take<Contiguous2<double>>("waiting");
        const std::vector<int32_t> surcharge_test = ints("surcharge_test"), after_start = ints("after_start"),
                                   after_tests = ints("after_tests"), any_start = ints("after_any_start"),
                                   any_tests = ints("after_any_tests");
        pricing.truth = ints("truth");
        pricing.cap = given.take<double>("cap", pricing.cap);
        unit = given.take<double>("unit", 1.0);
        given.finish();

        const std::size_t n = pricing.delayed.size(), m = surcharge_test.size();
        check_length(pricing.marginal.size(), n + m, "'marginal'");
        check_length(pricing.wait.size(), n, "'wait'");
        check_length(pricing.truth.size(), m, "'truth'");
        check_lists(pricing.group_start, pricing.group_list, n, pricing.common.size(), "'group_start'");
        check_lists(pricing.closure_start, pricing.closure_tests, n, n, "'closure_start'");
        check_lists(after_start, after_tests, m, n, "'after_start'");
        check_lists(any_start, any_tests, m, n, "'after_any_start'");
        check(std::is_sorted(surcharge_test.begin(), surcharge_test.end()), "'surcharge_test' must rise");
        for (int32_t t : surcharge_test)
            check(t >= 0 && static_cast<std::size_t>(t) < n, "'surcharge_test' names a test that does not exist");
        set_waiting(points);
        pricing.surcharge_start.assign(n + 1, 0);
        for (int32_t t : surcharge_test) ++pricing.surcharge_start[static_cast<std::size_t>(t) + 1];
        for (std::size_t t = 0; t < n; ++t) pricing.surcharge_start[t + 1] += pricing.surcharge_start[t];
        for (std::size_t i = 0; i < m; ++i) {
            TestSet required = pricing.nothing(), own = required;
            pricing.each_required(surcharge_test[i], [&](int t) { required.add(t); });
            for (int32_t j = after_start[i]; j < after_start[i + 1]; ++j)
                if (!required.has(after_tests[static_cast<std::size_t>(j)])) own.add(after_tests[static_cast<std::size_t>(j)]);
            pricing.after.push_back(std::move(own));
            TestSet one_of = pricing.nothing();
            for (int32_t j = any_start[i]; j < any_start[i + 1]; ++j) one_of.add(any_tests[static_cast<std::size_t>(j)]);
            pricing.after_any.push_back(one_of.meets(required) ? pricing.nothing() : std::move(one_of));
        }
        pricing.members.assign(pricing.common.size(), pricing.nothing());
        for (std::size_t t = 0; t < n; ++t)
            for (int32_t i = pricing.group_start[t]; i < pricing.group_start[t + 1]; ++i)
                pricing.members[static_cast<std::size_t>(pricing.group_list[static_cast<std::size_t>(i)])].add(static_cast<int>(t));
    }

private:
    void set_waiting(const Contiguous2<double>& points) {
        check(points.shape(1) == 2, "'waiting' must have two columns");
        for (std::size_t i = 0; i < points.shape(0); ++i) {
            pricing.waiting_time.push_back(points.data()[2 * i]);
            pricing.waiting_price.push_back(points.data()[2 * i + 1]);
        }
        const bool any = std::any_of(pricing.wait.begin(), pricing.wait.end(), [](double wait) { return wait > 0; });
        if (!any || points.shape(0) < 2 || pricing.waiting_price.back() <= 0) {  // nothing to wait for, or waiting costs nothing
            pricing.waiting_time.clear();
            pricing.waiting_price.clear();
        }
    }
};

// Dividing by a unit rounds differently in every currency; numbers that keep 40 of their 53 bits are the same in all.
double rounded(double value) {
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, 40)), exponent - 40);
}

// Amounts by case in the unit of the price list; `scaled` keeps them if they are not those given.
std::span<const double> in_units(const Optional2<double>& amounts, double unit, std::vector<double>& scaled) {
    if (unit == 1.0) return to_span(amounts);
    for (double amount : to_span(amounts)) scaled.push_back(rounded(amount / unit));
    return scaled;
}

// Prices for the cases of a table, in the unit of the price list.
struct CasePricing {
    std::vector<double> scaled;
    Pricing pricing;

    CasePricing(const OwnedPricing& owned, const OwnedTable& table, const Optional2<double>& given = std::nullopt)
        : pricing(owned.pricing) {
        check_length(table.table.columns.size(), static_cast<std::size_t>(pricing.n_tests()), "the columns of a table");
        const Optional2<double>& prices = given ? given : table.case_prices;
        if (!prices) return;
        check_shape(*prices, table.table.n_cases, pricing.marginal.size(), "'case_prices'");
        pricing.set_case_prices(in_units(prices, owned.unit, scaled));
    }
    CasePricing(const CasePricing&) = delete;
};

// Error costs for the cases of a table, in the unit of the price list.
struct CaseErrors {
    std::vector<double> scaled;
    std::span<const double> deviations;
    ErrorCosts errors;

    CaseErrors(const ErrorCosts& listed, const OwnedTable& table) : errors(listed) {
        if (!table.deviations) return;
        check_shape(*table.deviations, table.table.n_cases, static_cast<std::size_t>(errors.n_answers), "'deviations'");
        deviations = in_units(table.deviations, errors.unit, scaled);
        errors.by_case = !deviations.empty();
        double widest = 0;
        for (double amount : deviations) widest = std::max(widest, std::abs(amount));
        errors.largest += widest;
    }
    CaseErrors(const CaseErrors&) = delete;
};

ErrorCosts make_errors(Contiguous2<double> matrix, double unit) {
    check(matrix.shape(0) >= 1 && matrix.shape(1) >= matrix.shape(0), "error costs need a row and a column for every class");
    ErrorCosts errors;
    errors.unit = unit;
    errors.n_classes = static_cast<int>(matrix.shape(0));
    errors.n_answers = static_cast<int>(matrix.shape(1));
    errors.cost.assign(matrix.data(), matrix.data() + matrix.size());
    for (double c : errors.cost) errors.largest = std::max(errors.largest, std::abs(c));
    return errors;
}

Pruning pruning_named(const std::string& name) {
    if (name == "pessimistic") return Pruning::pessimistic;
    if (name == "cost") return Pruning::cost;
    check(name == "none", "unknown pruning: ", name);
    return Pruning::none;
}

NominalSplits nominal_splits_named(const std::string& name) {
    if (name == "subset") return NominalSplits::subset;
    if (name == "both") return NominalSplits::both;
    check(name == "multiway", "unknown nominal splits: ", name);
    return NominalSplits::multiway;
}

AnswerPolicy answer_policy(bool least_cost) { return least_cost ? AnswerPolicy::least_cost : AnswerPolicy::majority; }

struct Policy : LearnPolicy {
    std::vector<double> biases;

    explicit Policy(nb::kwargs settings) {
        Keywords given(std::move(settings), "Policy");
        grow.criterion = &criterion_named(given.take<std::string>("criterion"));
        grow.omega = given.take<double>("omega");
        grow.min_cases = given.take<double>("min_cases");
        grow.min_share = given.take<double>("min_share");
        grow.max_depth = given.take<int>("max_depth");
        grow.nominal_splits = nominal_splits_named(given.take<std::string>("nominal_splits", "multiway"));
        grow.mdl_correction = given.take<bool>("mdl_correction");
        grow.context = given.take<bool>("context");
        grow.idx_depth = given.take<int>("idx_depth");
        grow.n_threads = given.take<int>("n_threads");
        if (const auto own = given.take<Optional1<double>>("biases", std::nullopt)) biases = to_vector(*own);
        pruning = pruning_named(given.take<std::string>("prune"));
        prune.confidence = given.take<double>("confidence");
        check_confidence(prune.confidence);
        prune.raise_subtrees = given.take<bool>("raise_subtrees");
        max_leaves = given.take<int>("max_leaves", std::numeric_limits<int>::max());
        check(max_leaves >= 1, "'max_leaves' must be at least 1");
        may_stop = given.take<bool>("may_stop", true);
        reject_below = given.take<double>("reject_below", 0.0);
        prune.answer = grow.answer = answer_policy(given.take<bool>("least_cost"));
        given.finish();
        grow.biases = biases;
    }
    Policy(const Policy& other) : LearnPolicy(other), biases(other.biases) { grow.biases = biases; }
    Policy& operator=(const Policy&) = delete;

    void set_sampling(int r, bool greedy_first, bool by_size, const std::string& samples, double confidence, double margin, uint64_t seed) {
        check_confidence(confidence);
        check(samples == "grown" || samples == "pruned", "unknown samples: ", samples);
        grow.sampling.r = r;
        grow.sampling.greedy_first = greedy_first;
        grow.sampling.by_size = by_size;
        grow.sampling.pruned = samples == "pruned";
        grow.sampling.confidence = confidence;
        grow.sampling.margin = margin;
        grow.sampling.seed = seed;
    }
};

Tree make_tree(int n_classes, nb::kwargs arrays) {
    Keywords given(std::move(arrays), "Tree");
    const auto ints = [&](const char* name) { return to_vector(given.take<Contiguous1<int32_t>>(name)); };
    Tree tree;
    tree.n_classes = n_classes;
    tree.test = ints("test");
    tree.threshold = to_vector(given.take<Contiguous1<double>>("threshold"));
    tree.first_child = ints("first_child");
    tree.n_children = ints("n_children");
    tree.map_start = ints("map_start");
    tree.map_size = ints("map_size");
    tree.maps = ints("maps");
    tree.answer = ints("answer");
    const auto weights = given.take<Contiguous2<double>>("weights");
    tree.weights.assign(weights.data(), weights.data() + weights.size());
    if (const auto own = given.take<Optional2<double>>("probabilities", std::nullopt)) {
        check_shape(*own, tree.test.size(), static_cast<std::size_t>(n_classes), "'probabilities'");
        tree.probabilities.assign(own->data(), own->data() + own->size());
    }
    if (const auto reached = given.take<Optional1<double>>("reached", std::nullopt)) {
        check_length(reached->shape(0), tree.test.size(), "'reached'");
        tree.reached = to_vector(*reached);
    }
    if (const auto commits = given.take<Optional1<uint8_t>>("commits", std::nullopt)) {
        check_length(commits->shape(0), tree.test.size(), "'commits'");
        tree.commits = to_vector(*commits);
    }
    if (const auto surcharges = given.take<Optional2<double>>("surcharges", std::nullopt)) {
        check_length(surcharges->shape(0), tree.test.size(), "'surcharges'");
        tree.surcharges.assign(surcharges->data(), surcharges->data() + surcharges->size());
    }
    if (const auto costs = given.take<Optional2<double>>("answer_costs", std::nullopt)) {
        check_length(costs->shape(0), tree.test.size(), "'answer_costs'");
        tree.answer_costs.assign(costs->data(), costs->data() + costs->size());
    }
    tree.may_stop = given.take<bool>("may_stop", true);
    given.finish();
    check_nodes(tree);
    return tree;
}

// ---- running the core

Clock::time_point after(double seconds) {
    return seconds < 1e9 ? Clock::now() + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)) : Clock::time_point::max();
}

// Runs long work without the interpreter's lock; a signal that Python wants to handle (Ctrl-C) ends it.
template <class Work>
auto run(Work work) {
    prepare_exceptions();
    Cancellation cancellation([] {
        nb::gil_scoped_acquire lock;
        if (PyErr_CheckSignals() != 0) throw Interrupted();
    });
    try {
        nb::gil_scoped_release unlocked;
        return work(cancellation);
    } catch (const Interrupted&) {
        throw nb::python_error();  // what the handler of the signal has raised
    }
}

// Growing looks nominal codes up without asking whether they are in range, and relies on `has_missing`; walking cases down a tree does not.
void check_values(const Table& table) {
    constexpr std::size_t kBlock = 128;  // rows at a time: in a table stored row by row, the columns share cache lines
    for (std::size_t begin = 0; begin < table.n_cases; begin += kBlock) {
        const std::size_t end = std::min(begin + kBlock, table.n_cases);
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const Column& column = table.columns[c];
            bool any_missing = false;
            if (column.numeric()) {
                if (table.has_missing) continue;
                for (std::size_t row = begin; row < end; ++row) any_missing |= std::isnan(column.value(row));
            } else {
                int32_t least = 0, largest = -1;
                for (std::size_t row = begin; row < end; ++row) {
                    least = std::min(least, column.code(row));
                    largest = std::max(largest, column.code(row));
                }
                if (least < -1 || largest >= column.n_values)
                    throw std::invalid_argument(
                        "column " + std::to_string(c) + " of the training cases must have codes from -1 (missing) to " +
                        std::to_string(column.n_values - 1) + ", got " + std::to_string(least < -1 ? least : largest));
                any_missing = least < 0;
            }
            if (any_missing && !table.has_missing)
                throw std::invalid_argument("column " + std::to_string(c) + " has a missing value, but 'has_missing' is False");
        }
    }
}

TrainingSet make_training(const OwnedTable& table, const Contiguous1<int32_t>& classes, int n_classes, const Optional1<double>& weights) {
    const std::size_t n = table.table.n_cases;
    check_length(classes.shape(0), n, "'classes'");
    check(std::all_of(classes.data(), classes.data() + n, [&](int32_t c) { return c >= 0 && c < n_classes; }),
          "'classes' holds a number that is no class");
    if (weights) check_length(weights->shape(0), n, "'weights'");
    check_values(table.table);
    return {table.table, to_span(classes), n_classes, to_span(weights)};
}

TrainingSet make_training(const OwnedTable& table, const Contiguous1<int32_t>& classes, const Optional1<double>& weights,
                          const CaseErrors& own) {
    TrainingSet data = make_training(table, classes, own.errors.n_classes, weights);
    data.deviations = own.deviations;
    data.n_answers = own.errors.n_answers;
    return data;
}

TrainingSet make_training(const OwnedTable& table, const Contiguous1<int32_t>& classes, const Optional1<double>& weights,
                          const CaseErrors& own, const Policy& policy) {
    if (!policy.biases.empty()) check_length(policy.biases.size(), table.table.columns.size(), "'biases'");
    return make_training(table, classes, weights, own);
}

void check_tree(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors) {
    check_tests(tree, table, pricing);
    check_answers(tree, errors.n_classes, errors.n_answers);
    check(tree.answer_costs.empty() || tree.answer_costs.size() == tree.test.size() * static_cast<std::size_t>(errors.n_answers),
          "'answer_costs' must have a column for every answer");
}

// A grown tree as Python gets it: what answers cost is told in the user's money, by those who know it.
Tree without_answer_costs(Tree tree) {
    tree.answer_costs.clear();
    return tree;
}

// Grows a tree; with `pruning_weights` it is pruned and answers as if the cases had these.
Tree grow(const OwnedTable& table, Contiguous1<int32_t> classes, Optional1<double> weights, const OwnedPricing& pricing,
          const ErrorCosts& errors, Policy policy, Optional1<double> pruning_weights, Meter* meter) {
    const CasePricing priced(pricing, table);
    policy.grow.meter = meter;
    const CaseErrors own(errors, table);
    const TrainingSet data = make_training(table, classes, weights, own, policy);
    if (!pruning_weights)
        return without_answer_costs(
            run([&](Cancellation& cancellation) { return learn(data, priced.pricing, own.errors, policy, cancellation); }));
    const TrainingSet pruning = make_training(table, classes, pruning_weights, own, policy);
    return without_answer_costs(run([&](Cancellation& cancellation) {
        Tree tree = make_grower(data, priced.pricing, own.errors, policy.grow, false)->grow(cancellation);
        recount(tree, pruning);
        return finish(std::move(tree), pruning, priced.pricing, own.errors, policy, cancellation);
    }));
}

double total_weight(const TrainingSet& data) {
    double total = 0;
    for (std::size_t row = 0; row < data.table.n_cases; ++row) total += data.weight(row);
    return total;
}

// The price of a leaf is per case.
ExactPolicy take_exact_policy(Keywords& given) {
    ExactPolicy policy;
    policy.max_depth = given.take<int>("max_depth");
    policy.max_leaves = given.take<int>("max_leaves", kAnyLeaves);
    policy.memory = given.take<std::size_t>("memory");
    policy.work = given.take<double>("work");
    policy.leaf_price = given.take<double>("leaf_price");
    check(policy.leaf_price >= 0, "'leaf_price' must be at least 0");
    return policy;
}

using DepthTrees = std::vector<std::tuple<Tree, double>>;

// The tree of least cost: (tree, cost per case with the price of its leaves, lower bound, whether it is proven, whether a signal has ended the
// search, the best trees of lower depths with their costs).
std::tuple<Tree, double, double, bool, bool, DepthTrees, Tree, double> search_exactly(const OwnedTable& table, Contiguous1<int32_t> classes,
                                                                                      Optional1<double> weights,
                                                                                      const OwnedPricing& pricing, const ErrorCosts& errors,
                                                                                      nb::kwargs settings) {
    Keywords given(std::move(settings), "search_exactly");
    ExactPolicy policy = take_exact_policy(given);
    const int max_cuts = given.take<int>("max_cuts");
    check(max_cuts >= 1, "'max_cuts' must be at least 1");
    policy.deepest = given.take<int>("deepest");
    policy.horizon = given.take<int>("horizon");
    ExactRun running;
    running.n_threads = given.take<int>("n_threads");
    running.deadline = after(given.take<double>("seconds"));
    const nb::object tell = given.take<nb::object>("tell");
    given.finish();
    const CasePricing priced(pricing, table);
    const CaseErrors own(errors, table);
    const TrainingSet data = make_training(table, classes, weights, own);
    const double total = total_weight(data);
    policy.leaf_price *= total;
    if (!tell.is_none())
        running.tell = [&](const ExactProgress& progress) {
            nb::gil_scoped_acquire lock;
            return nb::cast<bool>(tell(progress.cost / total, progress.bound / total));
        };
    ExactResult found = run([&](Cancellation& cancellation) {
        return worthwhile::search_exactly(data, priced.pricing, own.errors, policy, max_cuts, running, cancellation);
    });
    if (found.interrupted) PyErr_Clear();  // the caller raises it again when the tree is kept
    DepthTrees by_depth;
    for (DepthTree& shallow : found.by_depth) by_depth.emplace_back(without_answer_costs(std::move(shallow.tree)), shallow.cost / total);
    return {without_answer_costs(std::move(found.tree)),
            found.cost / total,
            found.bound / total,
            found.proven,
            found.interrupted,
            std::move(by_depth),
            without_answer_costs(std::move(found.deeper.tree)),
            found.deeper.cost / total};
}

// Trees that cost little more than the best one: (its cost per case, share of the margin for which all were found or a negative number,
// number of trees, number of structures, the cheapest trees with their costs, (column, trees, structures, cost of the cheapest) by first test,
// (column, trees that ask it, cost of the cheapest without it) by test).
using FirstTests = std::vector<std::tuple<int, uint64_t, uint64_t, double>>;
using TestUses = std::vector<std::tuple<int, uint64_t, double>>;
std::tuple<double, double, uint64_t, uint64_t, DepthTrees, FirstTests, TestUses> near_optimal_trees(
    const OwnedTable& table, Contiguous1<int32_t> classes, Optional1<double> weights, const OwnedPricing& pricing, const ErrorCosts& errors,
    nb::kwargs settings) {
    Keywords given(std::move(settings), "near_optimal_trees");
    ExactPolicy policy = take_exact_policy(given);
    const int max_cuts = given.take<int>("max_cuts");
    NearOptimalPolicy wanted;
    wanted.margin = given.take<double>("margin");
    wanted.max_trees = given.take<std::size_t>("max_trees");
    wanted.by_structure = given.take<bool>("by_structure");
    check(max_cuts >= 1 && wanted.margin >= 0, "'max_cuts' must be at least 1, and 'margin' at least 0");
    const auto deadline = after(given.take<double>("seconds"));
    given.finish();
    const CasePricing priced(pricing, table);
    const CaseErrors own(errors, table);
    const TrainingSet data = make_training(table, classes, weights, own);
    const double total = total_weight(data);
    policy.leaf_price *= total;
    wanted.margin *= total;
    NearOptimalResult found = run([&](Cancellation& cancellation) {
        return worthwhile::near_optimal_trees(data, priced.pricing, own.errors, policy, max_cuts, wanted, deadline, cancellation);
    });
    DepthTrees listed;
    for (DepthTree& one : found.listed) listed.emplace_back(without_answer_costs(std::move(one.tree)), one.cost / total);
    FirstTests first;
    for (const FirstTest& one : found.first) first.emplace_back(one.column, one.trees, one.structures, one.cost / total);
    TestUses used;
    for (const TestUse& one : found.used) used.emplace_back(one.column, one.trees, one.cost_without / total);
    return {found.cost / total, found.share, found.trees, found.structures, std::move(listed), std::move(first), std::move(used)};
}

// Grows trees for a forest, each from cases of its own weights (a row of `weights` each) and with a seed of its own.
std::vector<Tree> grow_forest(const OwnedTable& table, Contiguous1<int32_t> classes, int n_classes, Contiguous2<double> weights,
                              const OwnedPricing& pricing, nb::kwargs settings) {
    Keywords given(std::move(settings), "grow_forest");
    ForestPolicy policy;
    const auto impurity = given.take<std::string>("impurity"), cuts = given.take<std::string>("cuts");
    policy.impurity = find_impurity(impurity);
    check(policy.impurity != nullptr, "unknown impurity: ", impurity);
    check(cuts == "random" || cuts == "exact", "unknown cuts: ", cuts);
    policy.exact_cuts = cuts == "exact";
    policy.parameter = given.take<double>("parameter");
    policy.expected = given.take<bool>("expected");
    policy.nominal_splits = nominal_splits_named(given.take<std::string>("nominal_splits", "multiway"));
    policy.context = given.take<bool>("context");
    policy.max_depth = given.take<int>("max_depth");
    policy.node_tests = given.take<int>("node_tests", 0);
    policy.n_threads = given.take<int>("n_threads");
    policy.seeds = given.take<std::vector<uint64_t>>("seeds");
    policy.deadline = after(given.take<double>("seconds", 1e9));
    if (const auto asks = given.take<Optional1<uint8_t>>("asks", std::nullopt)) {
        check_length(asks->shape(0), table.table.columns.size(), "'asks'");
        policy.asks = to_vector(*asks);
    }
    given.finish();
    const CasePricing priced(pricing, table);
    check_shape(weights, policy.seeds.size(), table.table.n_cases, "'weights'");
    TrainingSet data = make_training(table, classes, n_classes, std::nullopt);
    data.weights = to_span(weights);
    return run([&](Cancellation& cancellation) { return grow_greedy_trees(data, table.store(), priced.pricing, policy, cancellation); });
}

// ---- ensembles

nb::dict nodes_of(TreeArrays trees, std::size_t width) {
    nb::dict nodes;
    const std::size_t n = trees.feature.size();
    nodes["feature"] = to_numpy(std::move(trees.feature));
    nodes["threshold"] = to_numpy(std::move(trees.threshold));
    nodes["missing_left"] = to_numpy(std::move(trees.missing_left));
    nodes["left"] = to_numpy(std::move(trees.left));
    nodes["right"] = to_numpy(std::move(trees.right));
    nodes["value"] = to_numpy(std::move(trees.value), {n, width});
    nodes["roots"] = to_numpy(std::move(trees.roots));
    return nodes;
}

void check_ensemble(const Binned& cases, std::span<const int32_t> features, std::span<const int32_t> classes, int n_classes,
                    const Optional1<double>& weights) {
    check(n_classes > 1 && cases.n_cases > 0 && !features.empty(), "an ensemble needs classes, cases and features");
    check_length(classes.size(), cases.n_cases, "'classes'");
    if (weights) check_length(weights->shape(0), cases.n_cases, "'weights'");
    for (const int32_t own : classes) check(own >= 0 && own < n_classes, "'classes' has a class that does not exist");
    for (const int32_t own : features)
        check(own >= 0 && static_cast<std::size_t>(own) < cases.n_features, "'features' has a feature that does not exist");
}

// Grows a random forest: (nodes of all trees by name, sums of the shares of trees that have not seen a case, gains of the features).
nb::tuple random_forest(const Binned& cases, Contiguous1<int32_t> features, Contiguous1<int32_t> classes, int n_classes,
                        Optional1<double> weights, nb::kwargs settings) {
    Keywords given(std::move(settings), "random_forest");
    RandomForestPolicy policy;
    policy.n_trees = given.take<int>("n_trees");
    policy.min_leaf = given.take<int>("min_leaf");
    policy.n_tried = given.take<int>("n_tried");
    policy.n_drawn = given.take<std::size_t>("n_drawn");
    policy.random_cuts = given.take<bool>("random_cuts");
    policy.seed = given.take<uint64_t>("seed");
    policy.n_threads = given.take<int>("n_threads");
    given.finish();
    check(policy.n_trees > 0 && policy.min_leaf > 0 && policy.n_tried > 0 && policy.n_drawn > 0, "sizes of a forest must be above 0");
    check_ensemble(cases, to_span(features), to_span(classes), n_classes, weights);
    RandomForest found = run([&](Cancellation& cancellation) {
        return grow_random_forest(cases, to_span(features), to_span(classes), n_classes, to_span(weights), policy, cancellation);
    });
    const auto k = static_cast<std::size_t>(n_classes);
    return nb::make_tuple(nodes_of(std::move(found.trees), k), to_numpy(std::move(found.held_out), {cases.n_cases, k}),
                          to_numpy(std::move(found.gains)));
}

// Boosts trees on all cases and on folds: (nodes of the trees on all cases by name, baseline, scores out of fold after some rounds).
nb::tuple boosted_trees(const Binned& cases, Contiguous1<int32_t> features, Contiguous1<int32_t> classes, int n_classes,
                        Optional1<double> weights, Contiguous1<int32_t> folds, nb::kwargs settings) {
    Keywords given(std::move(settings), "boosted_trees");
    BoostingPolicy policy;
    policy.n_rounds = given.take<int>("n_rounds");
    policy.rate = given.take<double>("rate");
    policy.max_leaves = given.take<int>("max_leaves");
    policy.min_leaf = given.take<int>("min_leaf");
    policy.marks = given.take<std::vector<int>>("marks");
    policy.n_threads = given.take<int>("n_threads");
    given.finish();
    check(policy.n_rounds > 0 && policy.max_leaves > 1 && policy.min_leaf > 0, "sizes of boosted trees must be above 0");
    check_ensemble(cases, to_span(features), to_span(classes), n_classes, weights);
    check_length(folds.shape(0), cases.n_cases, "'folds'");
    int n_folds = 0;
    for (const int32_t own : to_span(folds)) n_folds = std::max(n_folds, own + 1);
    const std::size_t k = n_classes == 2 ? 1 : static_cast<std::size_t>(n_classes), n_marks = policy.marks.size();
    Boosted found = run([&](Cancellation& cancellation) {
        return boost(cases, to_span(features), to_span(classes), n_classes, to_span(weights), to_span(folds), n_folds, policy,
                     cancellation);
    });
    return nb::make_tuple(nodes_of(std::move(found.trees), 1), to_numpy(std::move(found.baseline)),
                          to_numpy(std::move(found.held_out), {n_marks, cases.n_cases, k}));
}

// What the trees of an ensemble add up to; `checked` of TreeEnsemble in Python has made sure that every walk ends.
nb::ndarray<nb::numpy, double> sum_leaves(Contiguous2<float> cases, std::size_t n_outputs, Contiguous1<int32_t> feature,
                                          Contiguous1<float> threshold, Contiguous1<bool> missing_left, Contiguous1<int32_t> left,
                                          Contiguous1<int32_t> right, Contiguous2<float> value, Contiguous1<int32_t> roots,
                                          Contiguous1<int32_t> output) {
    std::vector<double> sums(cases.shape(0) * n_outputs, 0.0);
    const std::span flags(reinterpret_cast<const uint8_t*>(missing_left.data()), missing_left.shape(0));
    const EnsembleView trees{to_span(feature), to_span(threshold), flags,           to_span(left), to_span(right),
                             to_span(value),   to_span(roots),     to_span(output), value.shape(1)};
    run([&](Cancellation&) {
        add_leaves(trees, to_span(cases), cases.shape(1), n_outputs, sums.data());
        return 0;
    });
    return to_numpy(std::move(sums), {cases.shape(0), n_outputs});
}

// Cases with the indicators of their nominal values, which a look-ahead counts over and over.
struct IndicatedCases {
    TrainingSet data;
    NominalIndicators indicators;

    explicit IndicatedCases(const TrainingSet& training) : data(training), indicators(make_indicators(training.table, training.n_classes)) {
        data.indicators = &indicators;
    }
    IndicatedCases(const IndicatedCases&) = delete;
};

// Grows one tree with look-ahead. After `seconds` it is finished without, and after `seconds_more` left as it is.
Tree grow_ahead(const OwnedTable& table, Contiguous1<int32_t> classes, Optional1<double> weights, const OwnedPricing& pricing,
                const ErrorCosts& errors, Policy policy, double seconds, double seconds_more, Meter* meter) {
    const CasePricing priced(pricing, table);
    policy.grow.meter = meter;
    const CaseErrors own(errors, table);
    const IndicatedCases cases(make_training(table, classes, weights, own, policy));
    policy.grow.sampling.deadline = after(seconds);
    policy.grow.sampling.last_moment = after(seconds + seconds_more);
    return without_answer_costs(
        run([&](Cancellation& cancellation) { return learn(cases.data, priced.pricing, own.errors, policy, cancellation); }));
}

// What each of `n` sampled trees is expected to cost per case.
nb::ndarray<nb::numpy, double> sample_costs(const OwnedTable& table, Contiguous1<int32_t> classes, Optional1<double> weights,
                                            const OwnedPricing& pricing, const ErrorCosts& errors, const Policy& policy, int n) {
    const CasePricing priced(pricing, table);
    const CaseErrors own(errors, table);
    const IndicatedCases cases(make_training(table, classes, weights, own, policy));
    return to_numpy(run(
        [&](Cancellation& cancellation) { return sample_trees(cases.data, priced.pricing, own.errors, policy.grow, n, cancellation); }));
}

std::vector<std::size_t> nodes_by_classes(const Tree& tree) {
    return {static_cast<std::size_t>(tree.size()), static_cast<std::size_t>(tree.n_classes)};
}

// The class weights of some cases at every node of a tree, as if it had been grown from them.
nb::ndarray<nb::numpy, double> recounted(const Tree& tree, const OwnedTable& table, Contiguous1<int32_t> classes,
                                         Optional1<double> weights) {
    const TrainingSet data = make_training(table, classes, tree.n_classes, weights);
    Tree counted = tree;
    run([&](Cancellation&) { recount(counted, data); });
    return to_numpy(std::move(counted.weights), nodes_by_classes(tree));
}

// What each answer costs some cases at every node of a tree, added up: nodes x answers.
nb::ndarray<nb::numpy, double> answer_costs(const Tree& tree, const OwnedTable& table, Contiguous1<int32_t> classes,
                                            Optional1<double> weights, const ErrorCosts& errors) {
    const CaseErrors own(errors, table);
    TrainingSet data = make_training(table, classes, tree.n_classes, weights);
    data.deviations = own.deviations;
    data.n_answers = errors.n_answers;
    check_answers(tree, errors.n_classes, errors.n_answers);
    const std::size_t n_nodes = static_cast<std::size_t>(tree.size()), n_answers = static_cast<std::size_t>(errors.n_answers);
    std::vector<double> costs(n_nodes * n_answers);
    run([&](Cancellation&) {
        Tree counted = tree;
        recount(counted, data);
        for (std::size_t node = 0; node < n_nodes; ++node)
            own.errors.of_all(counted.class_weights(static_cast<int>(node)), costs.data() + node * n_answers);
    });
    return to_numpy(std::move(costs), {n_nodes, n_answers});
}

// What a tree is expected to cost per case.
double tree_cost(const Tree& tree, const OwnedTable& table, Contiguous1<int32_t> classes, Optional1<double> weights,
                 const OwnedPricing& pricing, const ErrorCosts& errors, const Policy& policy) {
    const CasePricing priced(pricing, table);
    const CaseErrors own(errors, table);
    const TrainingSet data = make_training(table, classes, weights, own, policy);
    check_tree(tree, table.table, priced.pricing, errors);
    return run([&](Cancellation& cancellation) {
        Tree counted = tree;
        recount_deviations(counted, data);
        return expected_cost(std::move(counted), data, priced.pricing, own.errors, policy.prune, cancellation);
    });
}

// The cheapest part of a tree that has at most as many leaves as the policy allows.
Tree with_few_leaves(const Tree& tree, const OwnedTable& table, Contiguous1<int32_t> classes, Optional1<double> weights,
                     const OwnedPricing& pricing, const ErrorCosts& errors, const Policy& policy) {
    const CasePricing priced(pricing, table);
    const CaseErrors own(errors, table);
    const TrainingSet data = make_training(table, classes, weights, own, policy);
    check_tree(tree, table.table, priced.pricing, errors);
    return without_answer_costs(run([&](Cancellation& cancellation) {
        Tree part = tree;
        recount_deviations(part, data);
        limit_leaves(part, data, priced.pricing, own.errors, policy.prune, policy.max_leaves, cancellation);
        assign_answers(part, own.errors, policy.prune.answer, policy.reject_below);
        part.drop_deviations();
        return part;
    }));
}

// The average total cost of each trial on the cases that judge it; NaN for those that `seconds` were too short for.
nb::ndarray<nb::numpy, double> try_biases(const OwnedTable& table, Contiguous1<int32_t> classes, Optional1<double> weights,
                                          const OwnedPricing& pricing, const ErrorCosts& errors, const Policy& policy,
                                          nb::kwargs settings) {
    Keywords given(std::move(settings), "try_biases");
    const auto biases = given.take<Contiguous2<double>>("biases");
    const auto omega = given.take<Contiguous1<double>>("omega"), confidence = given.take<Contiguous1<double>>("confidence");
    const auto max_depth = given.take<Contiguous1<int32_t>>("max_depth"), split = given.take<Contiguous1<int32_t>>("split");
    const auto reject_below = given.take<Contiguous1<double>>("reject_below");
    const auto grows = given.take<Optional2<uint8_t>>("grows");
    const auto growing_weights = given.take<Optional2<double>>("growing_weights");
    const auto judging_weights = given.take<Optional1<double>>("judging_weights");
    TrialPlan plan;
    plan.seed = given.take<std::optional<uint64_t>>("seed").value_or(0);
    plan.n_threads = given.take<int>("n_threads");
    plan.deadline = after(given.take<double>("seconds"));
    given.finish();

    const CasePricing priced(pricing, table);
    const CaseErrors own(errors, table);
    const TrainingSet data = make_training(table, classes, weights, own, policy);
    const std::size_t n_trials = biases.shape(0), n_tests = table.table.columns.size(), n_cases = table.table.n_cases;
    const std::size_t n_splits = grows ? grows->shape(0) : n_trials;
    check_shape(biases, n_trials, n_tests, "'biases'");
    for (const std::size_t length : {omega.shape(0), confidence.shape(0), max_depth.shape(0), reject_below.shape(0), split.shape(0)})
        check_length(length, n_trials, "an array of trials");
    if (grows) check_shape(*grows, n_splits, n_cases, "'grows'");
    if (growing_weights) check_shape(*growing_weights, n_splits, n_cases, "'growing_weights'");
    if (judging_weights) check_length(judging_weights->shape(0), n_cases, "'judging_weights'");
    plan.n_splits = static_cast<int>(n_splits);
    plan.grows = to_span(grows);
    plan.growing_weights = to_span(growing_weights);
    plan.judging_weights = to_span(judging_weights);
    for (std::size_t i = 0; i < n_trials; ++i) {
        plan.trials.push_back({to_span(biases).subspan(i * n_tests, n_tests), omega.data()[i], confidence.data()[i], max_depth.data()[i],
                               reject_below.data()[i], split.data()[i]});
        check_confidence(plan.trials.back().confidence);
        check(plan.trials.back().split >= 0 && plan.trials.back().split < plan.n_splits, "'split' names a split that does not exist");
    }
    return to_numpy(
        run([&](Cancellation& cancellation) { return run_trials(data, priced.pricing, own.errors, policy, plan, cancellation); }));
}

using RouteArrays = std::tuple<nb::object, nb::object, nb::object, nb::object>;

RouteArrays to_arrays(Routes routes, const RouteRequest& request, std::size_t n, int k, const Pricing& pricing) {
    return {array_or_none(request.answers, std::move(routes.answer)), array_or_none(request.prices, std::move(routes.price)),
            array_or_none(request.shares, std::move(routes.shares), {n, static_cast<std::size_t>(k)}),
            array_or_none(request.charged, std::move(routes.charged), {n, pricing.nothing().n_words()})};
}

RouteArrays route_cases(const Tree& tree, const OwnedTable& table, const OwnedPricing& pricing, const ErrorCosts& errors,
                        AnswerPolicy policy, const RouteRequest& request, const Optional2<double>& case_prices) {
    const CasePricing priced(pricing, table, case_prices);
    check_tree(tree, table.table, priced.pricing, errors);
    Routes routes =
        run([&](Cancellation& cancellation) { return route(tree, table.table, priced.pricing, errors, policy, request, cancellation); });
    return to_arrays(std::move(routes), request, table.table.n_cases, tree.n_classes, priced.pricing);
}

// For every case, grows only what that case sees of the tree and walks it.
RouteArrays route_lazily(const OwnedTable& table, Contiguous1<int32_t> classes, Optional1<double> weights, const OwnedPricing& pricing,
                         const ErrorCosts& errors, const Policy& policy, const OwnedTable& cases) {
    const CasePricing priced(pricing, table), case_priced(pricing, cases);
    const CaseErrors errors_by_case(errors, table);
    const TrainingSet data = make_training(table, classes, weights, errors_by_case, policy);
    check_length(cases.table.columns.size(), table.table.columns.size(), "the columns of the cases");
    for (std::size_t c = 0; c < table.table.columns.size(); ++c)
        check(cases.table.columns[c].numeric() == table.table.columns[c].numeric(),
              "a column of the cases is of another kind (numeric or nominal)");
    const RouteRequest request{.answers = true, .prices = true, .shares = true, .charged = true, .may_stop = false};
    const std::size_t n = cases.table.n_cases;
    Routes all = run([&](Cancellation& cancellation) {
        Routes out;
        const auto grower = make_grower(data, priced.pricing, errors_by_case.errors, policy.grow, true);
        for (std::size_t row = 0; row < n; ++row) {
            LazyCase lazy{&cases.table, row};
            Tree tree = grower->grow(cancellation, &lazy);
            assign_answers(tree, errors_by_case.errors, policy.grow.answer);
            tree.drop_deviations();
            Table one = cases.table;
            one.n_cases = 1;
            for (Column& column : one.columns) {
                const auto offset = static_cast<std::ptrdiff_t>(row) * column.stride;
                if (column.numeric())
                    column.values += offset;
                else
                    column.codes += offset;
            }
            Pricing own = case_priced.pricing;
            if (!own.case_prices.empty()) own.case_prices = own.case_prices.subspan(row * own.marginal.size(), own.marginal.size());
            const Routes r = route(tree, one, own, errors, policy.grow.answer, request, cancellation);
            out.answer.push_back(r.answer[0]);
            out.price.push_back(r.price[0]);
            out.shares.insert(out.shares.end(), r.shares.begin(), r.shares.end());
            out.charged.insert(out.charged.end(), r.charged.begin(), r.charged.end());
        }
        return out;
    });
    return to_arrays(std::move(all), request, n, errors.n_classes, pricing.pricing);
}

std::vector<int> members(const TestSet& tests) {
    std::vector<int> found;
    tests.each([&](int t) { found.push_back(t); });
    return found;
}

// Walks the cases of a table down a tree, one at a time. What is known of the tree is worked out once: in a worklist of 100,000 cases
// that took a sixth of the time.
class OwnedCaseWalker {
public:
    OwnedCaseWalker(const Tree& tree, const OwnedTable& table, const OwnedPricing& pricing, const ErrorCosts& errors, bool least_cost,
                    bool may_stop)
        : tree_(checked(tree, table, pricing, errors)), table_(table), pricing_(pricing.pricing), may_stop_(may_stop),
          shares_(tree, node_probabilities), subtrees_(tree, pricing.pricing),
          walker_(tree, table.table, pricing.pricing, errors, answer_policy(least_cost), shares_, subtrees_, may_stop) {}

    // The path of a case, of whose values only those in `known` are known yet.
    nb::dict walk(std::size_t row, const std::vector<int>& known, const std::vector<int>& paid, const std::vector<int>& also_paid) const {
        check(row < table_.table.n_cases, "there is no case ", std::to_string(row));
        std::vector<uint8_t> mask(static_cast<std::size_t>(pricing_.n_tests()), 0);
        to_set(known).each([&](int t) { mask.at(static_cast<std::size_t>(t)) = 1; });
        CaseState state{.charged = to_set(paid), .seen = pricing_.nothing()};
        walker_.walk(row, mask, state, true);
        nb::list parts, steps;
        for (const CasePart& part : state.parts) parts.append(nb::make_tuple(part.node, part.share));
        for (const CaseStep& step : state.steps)
            steps.append(
                nb::make_tuple(step.node, step.branch, step.price, step.paid_before, members(step.commits), members(step.charged)));
        nb::dict out;
        out["parts"] = parts;
        out["steps"] = steps;
        out["charged"] = members(state.charged);
        out["waiting"] = state.waiting;
        out["rejected"] = state.rejected;
        out["rejected_cost"] = state.rejected_cost;
        std::vector<double> mix = walker_.mixture(state.parts);
        const auto costs = mix.begin() + tree_.n_classes;
        out["answer_costs"] = array_or_none(costs != mix.end(), std::vector<double>(costs, mix.end()));
        mix.erase(costs, mix.end());
        out["shares"] = to_numpy(std::move(mix));
        const bool figures = may_stop_ && tree_.weight(0) > 0;
        out["go_on_cost"] = std::nan("");
        if (state.waiting >= 0) {
            const CaseOrder order = walker_.order(row, mask, state, state.waiting);
            out["order"] = nb::make_tuple(members(order.charged), members(order.commits), order.delayed);
            if (figures) out["go_on_cost"] = walker_.cost_of_going_on(row, mask, state, to_set(also_paid));
        }
        return out;
    }

private:
    static const Tree& checked(const Tree& tree, const OwnedTable& table, const OwnedPricing& pricing, const ErrorCosts& errors) {
        check_tree(tree, table.table, pricing.pricing, errors);
        return tree;
    }

    TestSet to_set(const std::vector<int>& tests) const {
        TestSet set = pricing_.nothing();
        for (int t : tests) {
            check(t >= 0 && t < pricing_.n_items(), "there is no test ", std::to_string(t));
            set.add(t);
        }
        return set;
    }

    const Tree& tree_;
    const OwnedTable& table_;
    const Pricing& pricing_;
    const bool may_stop_;
    const NodeShares shares_;
    const SubtreeTests subtrees_;
    const CaseWalker walker_;
};

using VoteArrays = std::tuple<nb::object, nb::object, nb::object>;

// A forest's router and what it looks into: the prices by case, and what is known of each case.
struct OwnedForestRouter {
    Optional2<double> case_prices;
    CasePricing priced;
    Optional2<uint8_t> known, paid;
    ForestRouter router;
    std::size_t n_cases;

    OwnedForestRouter(const OwnedTable& table, const OwnedPricing& pricing, const ErrorCosts& errors, Optional2<double> prices, bool shares,
                      Optional2<uint8_t> known_tests, Optional2<uint8_t> paid_tests)
        : case_prices(std::move(prices)), priced(pricing, table, case_prices), known(checked(std::move(known_tests), table, "'known'")),
          paid(checked(std::move(paid_tests), table, "'paid'")),
          router(table.table, priced.pricing, errors, shares, {to_span(known), to_span(paid)}), n_cases(table.table.n_cases) {}

    static Optional2<uint8_t> checked(Optional2<uint8_t> marks, const OwnedTable& table, const char* name) {
        if (marks) check_shape(*marks, table.table.n_cases, table.table.columns.size(), name);
        return marks;
    }

    VoteArrays consult(const Tree& tree, Optional1<uint8_t> who, int n_threads) {
        if (who) check_length(who->shape(0), n_cases, "'who'");
        TreeVotes votes = run([&](Cancellation& cancellation) { return router.consult(tree, to_span(who), n_threads, cancellation); });
        return {nb::cast(to_numpy(std::move(votes.answer))),
                nb::cast(to_numpy(std::move(votes.counts), {n_cases, static_cast<std::size_t>(tree.n_classes)})),
                nb::cast(to_numpy(std::move(votes.price)))};
    }

    VoteArrays consult_all(const std::vector<const Tree*>& trees, int n_threads) {
        check(!known, "all trees can be consulted at once only if all tests are known");
        for (const Tree* tree : trees) check(tree != nullptr, "'trees' must hold trees, got None");
        ForestVotes votes = run([&](Cancellation& cancellation) { return router.consult_all(trees, n_threads, cancellation); });
        const std::size_t k = n_cases ? votes.votes.size() / n_cases : 0;
        return {nb::cast(to_numpy(std::move(votes.votes), {n_cases, k})), nb::cast(to_numpy(std::move(votes.counts), {n_cases, k})),
                nb::cast(to_numpy(std::move(votes.price)))};
    }

    nb::ndarray<nb::numpy, uint64_t> charged() const { return words(router.charged()); }

    VoteArrays awaited() const {
        check(known.has_value(), "cases can wait only if 'known' is given");
        return {nb::cast(to_numpy(router.awaited())), nb::cast(words(router.ordered())), nb::cast(words(router.committed()))};
    }

    nb::ndarray<nb::numpy, uint64_t> words(std::vector<uint64_t> sets) const {
        return to_numpy(std::move(sets), {n_cases, priced.pricing.nothing().n_words()});
    }
};

template <class T>
auto field(std::vector<T> Tree::* member) {
    return [member](const Tree& tree) { return to_numpy(tree.*member); };
}

void define_classes(nb::module_& m) {
    nb::class_<OwnedTable>(m, "Table")
        .def(nb::init<std::size_t, bool>(), "n_cases"_a, "has_missing"_a)
        .def("add_numeric", &OwnedTable::add_numeric, "values"_a)
        .def("add_nominal", &OwnedTable::add_nominal, "codes"_a, "n_values"_a, "levels"_a)
        .def("set_prices", &OwnedTable::set_prices, "case_prices"_a)
        .def("set_deviations", &OwnedTable::set_deviations, "deviations"_a);
    nb::class_<Binned>(m, "Binned")
        .def(
            "__init__",
            [](Binned* self, Contiguous2<float> values, int max_bins) {
                check(max_bins > 1 && max_bins <= kMaxBins, "'max_bins' must be from 2 to ", kMaxBins);
                new (self) Binned(to_span(values), values.shape(0), values.shape(1), max_bins);
            },
            "values"_a, "max_bins"_a = kMaxBins);
    nb::class_<OwnedPricing>(m, "Pricing").def(nb::init<nb::kwargs>());
    nb::class_<ErrorCosts>(m, "Errors")
        .def(
            "__init__", [](ErrorCosts* self, Contiguous2<double> matrix, double unit) { new (self) ErrorCosts(make_errors(matrix, unit)); },
            "matrix"_a, "unit"_a = 1.0);
    nb::class_<Policy>(m, "Policy")
        .def(nb::init<nb::kwargs>())
        .def("set_sampling", &Policy::set_sampling, nb::kw_only(), "r"_a, "greedy_first"_a, "by_size"_a, "samples"_a, "confidence"_a,
             "margin"_a, "seed"_a);
    nb::class_<Meter>(m, "Meter")
        .def(nb::init<>())
        .def_prop_ro("share", &Meter::share, "Share of the work that is done, from 0 to 1; may be asked from any thread.");

    nb::class_<Tree>(m, "Tree")
        .def(
            "__init__", [](Tree* self, int n_classes, nb::kwargs arrays) { new (self) Tree(make_tree(n_classes, std::move(arrays))); },
            "n_classes"_a, "arrays"_a)
        .def_prop_ro("test", field(&Tree::test), nb::rv_policy::move)
        .def_prop_ro("threshold", field(&Tree::threshold), nb::rv_policy::move)
        .def_prop_ro("first_child", field(&Tree::first_child), nb::rv_policy::move)
        .def_prop_ro("n_children", field(&Tree::n_children), nb::rv_policy::move)
        .def_prop_ro("map_start", field(&Tree::map_start), nb::rv_policy::move)
        .def_prop_ro("map_size", field(&Tree::map_size), nb::rv_policy::move)
        .def_prop_ro("maps", field(&Tree::maps), nb::rv_policy::move)
        .def_prop_ro("answer", field(&Tree::answer), nb::rv_policy::move)
        .def_prop_ro("commits", field(&Tree::commits), nb::rv_policy::move)
        .def_ro("may_stop", &Tree::may_stop)
        .def_prop_ro(
            "weights", [](const Tree& tree) { return to_numpy(tree.weights, nodes_by_classes(tree)); }, nb::rv_policy::move)
        .def(
            "shares", [](const Tree& tree) { return to_numpy(node_probabilities(tree), nodes_by_classes(tree)); },
            "The class probabilities of every node: those of the tree if it has any, else by its weights.")
        .def(
            "votes", [](const Tree& tree) { return to_numpy(node_shares(tree), nodes_by_classes(tree)); },
            "The class shares of every node by its weights: what majority answers are made from.")
        .def("recounted", &recounted, "table"_a, "classes"_a, "weights"_a.none(), "Class weights of other cases at every node.")
        .def("answer_costs", &answer_costs, "table"_a, "classes"_a, "weights"_a.none(), "errors"_a,
             "What each answer costs some cases at every node, added up: nodes x answers.");
    nb::class_<OwnedCaseWalker>(m, "CaseWalker", "Walks the cases of a table down a tree, one at a time.")
        .def(nb::init<const Tree&, const OwnedTable&, const OwnedPricing&, const ErrorCosts&, bool, bool>(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), "tree"_a, "table"_a, "pricing"_a, "errors"_a,
             nb::kw_only(), "least_cost"_a, "may_stop"_a)
        .def("walk", &OwnedCaseWalker::walk, "row"_a, "known"_a, "paid"_a, "also_paid"_a,
             "Walk a case as far as it is known: where it stands, what it was charged, what it waits for and what going on costs.");
    nb::class_<OwnedForestRouter>(m, "ForestRouter")
        .def(nb::init<const OwnedTable&, const OwnedPricing&, const ErrorCosts&, Optional2<double>, bool, Optional2<uint8_t>,
                      Optional2<uint8_t>>(),
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 4>(), "table"_a, "pricing"_a, "errors"_a, "case_prices"_a.none() = nb::none(),
             "shares"_a = false, "known"_a.none() = nb::none(), "paid"_a.none() = nb::none())
        .def("consult", &OwnedForestRouter::consult, "tree"_a, "who"_a.none() = nb::none(), "n_threads"_a = 1,
             "Walk the cases down one more tree: (answers, class weights or shares of the leaves, what they pay more).")
        .def("consult_all", &OwnedForestRouter::consult_all, "trees"_a, "n_threads"_a = 1,
             "Walk the cases down all of these trees: (votes, class weights or shares of the leaves, prices).")
        .def("charged", &OwnedForestRouter::charged, nb::rv_policy::move,
             "The tests that each case has been charged for so far, 64 bits to a word: cases x words.")
        .def("awaited", &OwnedForestRouter::awaited,
             "The test that each case waits for, or -1; what ordering it charges for, with what was charged before; what it commits to.");
}

void define_functions(nb::module_& m) {
    m.def(
        "criteria",
        [] {
            std::vector<std::string> names;
            for (const Criterion& c : kCriteria) names.emplace_back(c.name);
            return names;
        },
        "The names of the criteria.");
    m.def("grow", &grow, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a,
          "pruning_weights"_a.none() = nb::none(), "meter"_a.none() = nb::none(),
          "Grow and prune one tree; pruned, and answering, by other weights if they are given.");
    m.def("search_exactly", &search_exactly, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "settings"_a,
          "The tree of least cost: (tree, cost per case, lower bound, proven, interrupted, (tree, cost) of every depth searched to the "
          "end).");
    m.def("near_optimal_trees", &near_optimal_trees, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "settings"_a,
          "Trees that cost little more than the best: (its cost per case, share of the margin that is complete, trees, structures, (tree, "
          "cost), (column, trees, structures, cost) by first test, (column, trees, cost without) by test).");
    m.def("grow_forest", &grow_forest, "table"_a, "classes"_a, "n_classes"_a, "weights"_a, "pricing"_a, "settings"_a,
          "Grow a tree from each row of weights by the largest drop of impurity per price.");
    m.def("random_forest", &random_forest, "cases"_a, "features"_a, "classes"_a, "n_classes"_a, "weights"_a.none(), "settings"_a,
          "Grow a random forest: (nodes of all trees by name, sums of the shares of trees that have not seen a case, gains of the "
          "features).");
    m.def("boosted_trees", &boosted_trees, "cases"_a, "features"_a, "classes"_a, "n_classes"_a, "weights"_a.none(), "folds"_a, "settings"_a,
          "Boost trees on all cases and on folds: (nodes of the trees on all cases by name, baseline, scores out of fold after some "
          "rounds).");
    m.def("sum_leaves", &sum_leaves, "cases"_a, "n_outputs"_a, nb::kw_only(), "feature"_a, "threshold"_a, "missing_left"_a, "left"_a,
          "right"_a, "value"_a, "roots"_a, "output"_a, "What the trees of an ensemble add up to, by case and output.");
    m.def(
        "impurity",
        [](const std::string& name, Contiguous1<double> counts, double parameter) {
            const Impurity* impurity = find_impurity(name);
            check(impurity != nullptr, "unknown impurity: ", name);
            return impurity->value(counts.data(), static_cast<int>(counts.shape(0)), parameter);
        },
        "name"_a, "counts"_a, "parameter"_a, "How mixed classes of these sizes are.");
    m.def("grow_ahead", &grow_ahead, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a, nb::kw_only(),
          "seconds"_a, "seconds_more"_a, "meter"_a.none() = nb::none(), "Grow and prune one tree with look-ahead.");
    m.def("sample_costs", &sample_costs, nb::rv_policy::move, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a,
          "policy"_a, "n"_a, "Sample trees and return what each is expected to cost per case.");
    m.def("with_few_leaves", &with_few_leaves, "tree"_a, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a,
          "Return the part of a tree with the lowest expected cost that has at most as many leaves as the policy allows.");
    m.def("tree_cost", &tree_cost, "tree"_a, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a,
          "What a tree is expected to cost per case.");
    m.def("try_biases", &try_biases, nb::rv_policy::move, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a,
          "settings"_a,
          "Grow a tree for every row of biases on one side of its split and return what it costs on the other; "
          "without `grows`, splits are random halves.");
    m.def(
        "random_half", [](std::size_t n_cases, uint64_t seed, int split) { return to_numpy(random_half(n_cases, seed, split)); },
        "n_cases"_a, "seed"_a, "split"_a, "For each case whether a trial without `grows` grows its tree on it.");
    // nanobind's own keyword arguments: reading them out of a dictionary took as long as routing one case.
    m.def(
        "route",
        [](const Tree& tree, const OwnedTable& table, const OwnedPricing& pricing, const ErrorCosts& errors, bool least_cost, bool answers,
           bool prices, bool shares, bool charged, int n_threads, Optional2<double> case_prices) {
            const RouteRequest request{.answers = answers, .prices = prices, .shares = shares, .charged = charged, .n_threads = n_threads};
            return route_cases(tree, table, pricing, errors, answer_policy(least_cost), request, case_prices);
        },
        "tree"_a, "table"_a, "pricing"_a, "errors"_a, nb::kw_only(), "least_cost"_a, "answers"_a = false, "prices"_a = false,
        "shares"_a = false, "charged"_a = false, "n_threads"_a = 1, "case_prices"_a.none() = nb::none(),
        "Walk cases down a tree: (answers, prices, class shares, charged tests as bits), each None unless requested.");
    m.def("route_lazily", &route_lazily, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a, "cases"_a,
          "Grow, for each case, what it sees of the tree, and walk it.");
    m.def(
        "upper_errors",
        [](double cases, double errors, double cf) {
            check_confidence(cf);
            return upper_errors(cases, errors, cf);
        },
        "cases"_a, "errors"_a, "cf"_a, "C4.5's pessimistic number of errors.");
    m.def(
        "leaf_cost",
        [](const ErrorCosts& errors, Contiguous1<double> weights, int answer, double cf) {
            check_length(weights.shape(0), static_cast<std::size_t>(errors.n_classes), "'weights'");
            check(answer >= 0 && answer < errors.n_answers, "'answer' is none of the answers");
            check_confidence(cf);
            return leaf_cost(errors, weights.data(), answer, cf);
        },
        "errors"_a, "weights"_a, "answer"_a, "cf"_a, "Estimated error cost of a leaf.");
}

}  // namespace

}  // namespace worthwhile

NB_MODULE(_core, m) {
    // A tree that is still held when the interpreter ends (by a cached traceback, say) does not concern the user.
    nb::set_leak_warnings(false);
    m.doc() = "The compiled core of worthwhile: growing, pruning and walking priced trees.";
    worthwhile::define_classes(m);
    worthwhile::define_functions(m);
}
