// The border to Python, and the only file that knows nanobind. Python checks what users hand in and says what is wrong with it; here it is
// only made sure that nothing leads out of bounds.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "forest.hpp"
#include "learn.hpp"
#include "ledger.hpp"
#include "marks.hpp"
#include "router.hpp"
#include "trials.hpp"
#include "tree_check.hpp"

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
std::vector<T> to_vector(const Contiguous1<T>& a) {
    return {a.data(), a.data() + a.shape(0)};
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::vector<std::size_t> shape = {}) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.empty()) shape = {held->size()};
    return nb::ndarray<nb::numpy, T>(held->data(), shape.size(), shape.data(), owner);
}

void check(bool fine, const std::string& message) {
    if (!fine) throw std::invalid_argument(message);
}

void check_length(std::size_t length, std::size_t expected, const char* what) {
    check(length == expected, std::string(what) + " must have the length " + std::to_string(expected) + ", got " + std::to_string(length));
}

template <class Array>
void check_shape(const Array& array, std::size_t rows, std::size_t columns, const char* what) {
    check(array.shape(0) == rows && array.shape(1) == columns,
          std::string(what) + " must have the shape (" + std::to_string(rows) + ", " + std::to_string(columns) + ")");
}

void check_confidence(double cf) { check(cf >= 0 && cf <= 1, "a confidence level is a number from 0 to 1"); }

// A table and the arrays that its columns look into (a converted copy, where the caller's array has another type).
struct OwnedTable {
    Table table;
    std::vector<In1<double>> numeric;
    std::vector<In1<int32_t>> nominal;
    std::deque<std::vector<Level>> all_levels;  // by nominal column; they stay where they are when others are added
    mutable std::once_flag stacked;
    mutable std::unique_ptr<const ColumnStack> own_stack;

    OwnedTable(std::size_t n_cases, bool has_missing) {
        table.n_cases = n_cases;
        table.has_missing = has_missing;
    }
    // Made when the first forest is grown, and kept for the next.
    const ColumnStack& stack() const {
        std::call_once(stacked, [&] { own_stack = std::make_unique<const ColumnStack>(table); });
        return *own_stack;
    }
    void add_numeric(In1<double> a) {
        check_length(a.shape(0), table.n_cases, "a column");
        Column column;
        column.values = a.data();
        column.stride = static_cast<std::ptrdiff_t>(a.stride(0));
        table.columns.push_back(std::move(column));
        numeric.push_back(std::move(a));
    }
    void add_nominal(In1<int32_t> a, int n_values, const std::vector<std::vector<int32_t>>& levels) {
        check_length(a.shape(0), table.n_cases, "a column");
        for (const std::vector<int32_t>& branch_of : levels) {
            check_length(branch_of.size(), static_cast<std::size_t>(std::max(n_values, 0)), "a level of a nominal column");
            for (int32_t b : branch_of) check(b >= 0, "a branch of a level must not be negative");
        }
        Column column;
        column.codes = a.data();
        column.stride = static_cast<std::ptrdiff_t>(a.stride(0));
        column.n_values = n_values;
        std::vector<Level>& own = all_levels.emplace_back();
        for (const std::vector<int32_t>& branch_of : levels) {
            int32_t n_branches = 0;
            for (int32_t b : branch_of) n_branches = std::max(n_branches, b + 1);
            own.push_back({n_branches, branch_of});
        }
        column.levels = own;
        table.columns.push_back(std::move(column));
        nominal.push_back(std::move(a));
    }
};

struct OwnedPricing {
    Pricing pricing;

    OwnedPricing(Contiguous1<double> marginal, Contiguous1<int32_t> group, Contiguous1<double> common, Contiguous1<uint8_t> delayed,
                 Contiguous1<int32_t> closure_start, Contiguous1<int32_t> closure_tests)
        : pricing{to_vector(marginal), to_vector(group), to_vector(common), to_vector(delayed), to_vector(closure_start), to_vector(closure_tests)} {
        const std::size_t n = pricing.marginal.size();
        check_length(pricing.group.size(), n, "'group'");
        check_length(pricing.delayed.size(), n, "'delayed'");
        check_length(pricing.closure_start.size(), n + 1, "'closure_start'");
        for (int32_t g : pricing.group) check(g < static_cast<int64_t>(pricing.common.size()), "'group' names a group without a common price");
        for (int32_t t : pricing.closure_tests) check(t >= 0 && static_cast<std::size_t>(t) < n, "'closure_tests' names a test without a price");
        check(pricing.closure_start[0] >= 0 && static_cast<std::size_t>(pricing.closure_start[n]) <= pricing.closure_tests.size() &&
                  std::is_sorted(pricing.closure_start.begin(), pricing.closure_start.end()),
              "'closure_start' must rise from 0 to the length of 'closure_tests'");
    }
};

void check_sizes(const OwnedTable& table, const OwnedPricing& pricing) {
    check_length(table.table.columns.size(), pricing.pricing.marginal.size(), "the columns of a table");
}

ErrorCosts make_errors(Contiguous2<double> matrix) {
    check(matrix.shape(0) >= 1 && matrix.shape(1) >= matrix.shape(0), "error costs need a row for every class, and a column for every class");
    ErrorCosts errors;
    errors.n_classes = static_cast<int>(matrix.shape(0));
    errors.n_answers = static_cast<int>(matrix.shape(1));
    errors.cost.assign(matrix.data(), matrix.data() + matrix.size());
    for (double c : errors.cost) errors.largest = std::max(errors.largest, std::abs(c));
    return errors;
}

Pruning pruning_named(const std::string& name) {
    if (name == "pessimistic") return Pruning::pessimistic;
    return name == "cost" ? Pruning::cost : Pruning::none;
}

struct Policy : LearnPolicy {
    std::vector<double> biases;

    Policy(const std::string& criterion, double omega, double min_cases, double min_share, int max_depth, bool release8, bool context,
           int lookahead, bool least_cost, const std::string& pruning_name, double confidence, bool raise_subtrees,
           int n_threads, std::optional<Contiguous1<double>> price_biases)
        : LearnPolicy{{}, {}, pruning_named(pruning_name)} {
        check_confidence(confidence);
        grow.criterion = &criterion_named(criterion);
        grow.omega = omega;
        grow.min_cases = min_cases;
        grow.min_share = min_share;
        grow.max_depth = max_depth;
        grow.release8 = release8;
        grow.context = context;
        grow.lookahead = lookahead;
        grow.n_threads = n_threads;
        if (price_biases) {
            biases = to_vector(*price_biases);
            grow.biases = biases.data();
        }
        prune.confidence = confidence;
        prune.raise_subtrees = raise_subtrees;
        prune.answer = grow.answer = least_cost ? Answer::least_cost : Answer::majority;
    }

    void look_ahead(int r, bool greedy_first, bool by_size, const std::string& samples, double ahead_confidence, double margin, uint64_t seed) {
        check_confidence(ahead_confidence);
        grow.ahead.r = r;
        grow.ahead.greedy_first = greedy_first;
        grow.ahead.by_size = by_size;
        grow.ahead.samples = samples == "pruned" ? Samples::pruned : samples == "stopped" ? Samples::stopped : Samples::grown;
        grow.ahead.confidence = ahead_confidence;
        grow.ahead.margin = margin;
        grow.ahead.seed = seed;
    }
};

std::chrono::steady_clock::time_point in(double seconds) {
    const auto now = std::chrono::steady_clock::now();
    return seconds < 1e9 ? now + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)) : std::chrono::steady_clock::time_point::max();
}

// Runs long work without the interpreter's lock; a signal that Python wants to handle (Ctrl-C) ends it.
template <class Work>
auto run(Work work) {
    Control control([] {
        nb::gil_scoped_acquire lock;
        return PyErr_CheckSignals() != 0;
    });
    try {
        nb::gil_scoped_release unlocked;
        return work(control);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

// Grows a tree from some cases, and prunes it and lets it answer by others.
Tree regrown(const Training& growing, const Training& whole, const Pricing& pricing, const ErrorCosts& errors, const Policy& policy) {
    return run([&](Control& control) {
        Tree tree = make_grower(growing, pricing, errors, policy.grow, false)->grow(control);
        recount(tree, whole);
        return finish(std::move(tree), whole, pricing, errors, policy, control);
    });
}

const double* weights_or_null(const std::optional<Contiguous1<double>>& weights) { return weights ? weights->data() : nullptr; }

Training make_training(const OwnedTable& table, const Contiguous1<int32_t>& classes, int n_classes, const std::optional<Contiguous1<double>>& weights) {
    const std::size_t n = table.table.n_cases;
    check_length(classes.shape(0), n, "'classes'");
    check(std::all_of(classes.data(), classes.data() + n, [&](int32_t c) { return c >= 0 && c < n_classes; }), "'classes' holds a number that is no class");
    if (weights) check_length(weights->shape(0), n, "'weights'");
    return {table.table, classes.data(), n_classes, weights_or_null(weights)};
}

Training make_training(const OwnedTable& table, const Contiguous1<int32_t>& classes, const std::optional<Contiguous1<double>>& weights, const OwnedPricing& pricing,
                       const ErrorCosts& errors, const Policy& policy) {
    check_sizes(table, pricing);
    if (policy.grow.biases) check_length(policy.biases.size(), pricing.pricing.marginal.size(), "'biases'");
    return make_training(table, classes, errors.n_classes, weights);
}

Tree grow(const OwnedTable& table, Contiguous1<int32_t> classes, std::optional<Contiguous1<double>> weights, const OwnedPricing& pricing,
          const ErrorCosts& errors, const Policy& policy, std::optional<Contiguous1<double>> pruning_weights) {
    const Training data = make_training(table, classes, weights, pricing, errors, policy);
    if (!pruning_weights) return run([&](Control& control) { return learn(data, pricing.pricing, errors, policy, control); });
    return regrown(data, make_training(table, classes, errors.n_classes, pruning_weights), pricing.pricing, errors, policy);
}

// Grows trees for a forest, each from cases of its own weights (a row of `weights` each) and with a seed of its own.
std::vector<Tree> grow_forest(const OwnedTable& table, Contiguous1<int32_t> classes, int n_classes, Contiguous2<double> weights, const OwnedPricing& pricing,
                              const std::string& impurity, double parameter, bool expected, const std::string& cuts, bool context, int max_depth,
                              const std::vector<uint64_t>& seeds, int n_threads, std::optional<Contiguous1<uint8_t>> asks) {
    ForestPolicy policy;
    policy.impurity = find_impurity(impurity);
    if (!policy.impurity) throw std::invalid_argument("unknown impurity: " + impurity);
    policy.parameter = parameter;
    policy.expected = expected;
    policy.cuts = cuts == "exact" ? Cuts::exact : cuts == "values" ? Cuts::values : Cuts::random;
    policy.context = context;
    policy.max_depth = max_depth;
    check_sizes(table, pricing);
    make_training(table, classes, n_classes, std::nullopt);
    check_shape(weights, seeds.size(), table.table.n_cases, "'weights'");
    if (asks) check_length(asks->shape(0), table.table.columns.size(), "'asks'");
    if (asks) policy.asks = to_vector(*asks);
    return run([&](Control& control) { return grow_greedy_trees(table.table, table.stack(), classes.data(), n_classes, weights.data(), pricing.pricing, policy, seeds, n_threads, control); });
}

// The cases that a look-ahead learns from, and those that it is valued by.
struct Lesson {
    Training data;
    ValueMarks marks;
    std::optional<Training> aside;

    explicit Lesson(const Training& training) : data(training), marks(mark_values(training.table, training.n_classes)) {
        data.marks = &marks;
    }
    Lesson(const Lesson&) = delete;
};

// Grows one tree with look-ahead. Cases that are set aside value the samples; the tree is then pruned and answers by the whole of the cases. After `seconds` it is finished without, and after `seconds_more` as it is.
Tree grow_ahead(const OwnedTable& table, Contiguous1<int32_t> classes, std::optional<Contiguous1<double>> weights, const OwnedPricing& pricing,
                const ErrorCosts& errors, Policy policy, double seconds, double seconds_more, const OwnedTable* aside,
                std::optional<Contiguous1<int32_t>> aside_classes, std::optional<Contiguous1<double>> aside_weights, const OwnedTable* whole,
                std::optional<Contiguous1<int32_t>> whole_classes, std::optional<Contiguous1<double>> whole_weights) {
    Lesson lesson(make_training(table, classes, weights, pricing, errors, policy));
    policy.grow.ahead.deadline = in(seconds);
    policy.grow.ahead.last_moment = in(seconds + seconds_more);
    if (aside) {
        lesson.aside.emplace(Training{aside->table, aside_classes->data(), errors.n_classes, weights_or_null(aside_weights)});
        policy.grow.ahead.aside = &*lesson.aside;
    }
    if (!whole) return run([&](Control& control) { return learn(lesson.data, pricing.pricing, errors, policy, control); });
    const Training all{whole->table, whole_classes->data(), errors.n_classes, weights_or_null(whole_weights)};
    return regrown(lesson.data, all, pricing.pricing, errors, policy);
}

// What each of `n` sampled trees is expected to cost per case.
nb::ndarray<nb::numpy, double> sample_costs(const OwnedTable& table, Contiguous1<int32_t> classes, std::optional<Contiguous1<double>> weights,
                                            const OwnedPricing& pricing, const ErrorCosts& errors, const Policy& policy, int n) {
    const Lesson lesson(make_training(table, classes, weights, pricing, errors, policy));
    return to_numpy(run([&](Control& control) { return sample_trees(lesson.data, pricing.pricing, errors, policy.grow, n, control); }));
}

// What a tree is expected to cost per case.
double tree_cost(const Tree& tree, const OwnedTable& table, Contiguous1<int32_t> classes, std::optional<Contiguous1<double>> weights,
                 const OwnedPricing& pricing, const ErrorCosts& errors, const Policy& policy) {
    const Training data = make_training(table, classes, weights, pricing, errors, policy);
    check_tests(tree, table.table, pricing.pricing);
    check_answers(tree, errors.n_classes, errors.n_answers);
    return run([&](Control& control) { return expected_cost(tree, data, pricing.pricing, errors, policy.prune, control); });
}

// The average total cost of each trial on the cases that judge it; NaN for those that `seconds` were too short for.
nb::ndarray<nb::numpy, double> try_biases(const OwnedTable& table, Contiguous1<int32_t> classes, std::optional<Contiguous1<double>> weights,
                                          const OwnedPricing& pricing, const ErrorCosts& errors, const Policy& policy,
                                          Contiguous2<double> biases, Contiguous1<double> omega, Contiguous1<double> confidence,
                                          Contiguous1<int32_t> max_depth, Contiguous1<int32_t> split,
                                          std::optional<Contiguous2<uint8_t>> grows, std::optional<uint64_t> seed,
                                          std::optional<Contiguous2<double>> growing_weights,
                                          std::optional<Contiguous1<double>> judging_weights, int n_threads, double seconds) {
    const Training data = make_training(table, classes, weights, pricing, errors, policy);
    const std::size_t n_trials = biases.shape(0), n_cases = table.table.n_cases;
    check_shape(biases, n_trials, table.table.columns.size(), "'biases'");
    for (const std::size_t length : {omega.shape(0), confidence.shape(0), max_depth.shape(0), split.shape(0)}) check_length(length, n_trials, "an array of trials");
    const std::size_t n_splits = grows ? grows->shape(0) : n_trials;
    if (grows) check_shape(*grows, n_splits, n_cases, "'grows'");
    if (growing_weights) check_shape(*growing_weights, n_splits, n_cases, "'growing_weights'");
    if (judging_weights) check_length(judging_weights->shape(0), n_cases, "'judging_weights'");
    for (std::size_t i = 0; i < n_trials; ++i) {
        check_confidence(confidence.data()[i]);
        check(split.data()[i] >= 0 && static_cast<std::size_t>(split.data()[i]) < n_splits, "'split' names a split that is not there");
    }
    TrialPlan plan;
    plan.n_splits = static_cast<int>(n_splits);
    if (grows) plan.grows = grows->data();
    plan.seed = seed.value_or(0);
    if (growing_weights) plan.growing_weights = growing_weights->data();
    plan.judging_weights = weights_or_null(judging_weights);
    plan.n_threads = n_threads;
    plan.deadline = in(seconds);
    for (std::size_t i = 0; i < biases.shape(0); ++i)
        plan.trials.push_back({biases.data() + i * biases.shape(1), omega.data()[i], confidence.data()[i], max_depth.data()[i], split.data()[i]});
    return to_numpy(run([&](Control& control) { return run_trials(data, pricing.pricing, errors, policy, plan, control); }));
}

using RouteArrays = std::tuple<nb::object, nb::object, nb::object>;

template <class T>
nb::object array_or_none(bool wanted, std::vector<T> values, std::vector<std::size_t> shape = {}) {
    return wanted ? nb::cast(to_numpy(std::move(values), std::move(shape))) : nb::none();
}

RouteArrays to_arrays(Routes routes, const RouteRequest& request, std::size_t n, int k) {
    return {array_or_none(request.answers, std::move(routes.answer)), array_or_none(request.prices, std::move(routes.price)),
            array_or_none(request.shares, std::move(routes.shares), {n, static_cast<std::size_t>(k)})};
}

RouteArrays route_cases(const Tree& tree, const OwnedTable& table, const OwnedPricing& pricing, const ErrorCosts& errors, bool least_cost,
                        bool answers, bool prices, bool shares, int n_threads, std::optional<Contiguous2<double>> case_prices) {
    const RouteRequest request{answers, prices, shares, n_threads};
    check_sizes(table, pricing);
    check_tests(tree, table.table, pricing.pricing);
    check_answers(tree, errors.n_classes, errors.n_answers);
    if (case_prices) check_shape(*case_prices, table.table.n_cases, table.table.columns.size(), "'case_prices'");
    Pricing here = pricing.pricing;
    if (case_prices) here.case_prices = case_prices->data();
    Routes routes = run([&](Control& control) {
        return route(tree, table.table, here, errors, least_cost ? Answer::least_cost : Answer::majority, request, control);
    });
    return to_arrays(std::move(routes), request, table.table.n_cases, tree.n_classes);
}

// For every case, grows only what that case sees of the tree and walks it.
RouteArrays route_lazily(const OwnedTable& table, Contiguous1<int32_t> classes, std::optional<Contiguous1<double>> weights,
                         const OwnedPricing& pricing, const ErrorCosts& errors, const Policy& policy, const OwnedTable& cases) {
    const Training data = make_training(table, classes, weights, pricing, errors, policy);
    check_length(cases.table.columns.size(), table.table.columns.size(), "the columns of the cases");
    for (std::size_t c = 0; c < table.table.columns.size(); ++c)
        check(cases.table.columns[c].numeric() == table.table.columns[c].numeric(), "a column of the cases is of another kind (numeric or nominal)");
    const RouteRequest request{true, true, true, 1};
    const std::size_t n = cases.table.n_cases;
    Routes all = run([&](Control& control) {
        Routes out;
        const auto grower = make_grower(data, pricing.pricing, errors, policy.grow, true);
        for (std::size_t row = 0; row < n; ++row) {
            Guide guide{&cases.table, row};
            Tree tree = grower->grow(control, &guide);
            settle_answers(tree, errors, policy.grow.answer);
            Table one = cases.table;
            one.n_cases = 1;
            for (Column& column : one.columns) {
                if (column.numeric()) column.values += static_cast<std::ptrdiff_t>(row) * column.stride;
                else column.codes += static_cast<std::ptrdiff_t>(row) * column.stride;
            }
            const Routes r = route(tree, one, pricing.pricing, errors, policy.grow.answer, request, control);
            out.answer.push_back(r.answer[0]);
            out.price.push_back(r.price[0]);
            out.shares.insert(out.shares.end(), r.shares.begin(), r.shares.end());
        }
        return out;
    });
    return to_arrays(std::move(all), request, n, errors.n_classes);
}

// A ledger and the prices by case that it looks into.
struct OwnedLedger {
    std::optional<Contiguous2<double>> case_prices;
    ForestLedger ledger;
    std::size_t n_cases = 0;

    OwnedLedger(const OwnedTable& table, const OwnedPricing& pricing, const ErrorCosts& errors, std::optional<Contiguous2<double>> prices)
        : case_prices(std::move(prices)), ledger(table.table, with_case_prices(pricing.pricing, case_prices), errors) {
        check_sizes(table, pricing);
        if (case_prices) check_shape(*case_prices, table.table.n_cases, table.table.columns.size(), "'case_prices'");
        n_cases = table.table.n_cases;
    }

    static Pricing with_case_prices(Pricing pricing, const std::optional<Contiguous2<double>>& prices) {
        if (prices) pricing.case_prices = prices->data();
        return pricing;
    }

    std::tuple<nb::object, nb::object, nb::object> consult(const Tree& tree, std::optional<Contiguous1<uint8_t>> who, int n_threads) {
        if (who) check_length(who->shape(0), n_cases, "'who'");
        const uint8_t* asked = who ? who->data() : nullptr;
        Opinion opinion = run([&](Control& control) { return ledger.consult(tree, asked, n_threads, control); });
        const std::size_t n = opinion.answer.size();
        return {nb::cast(to_numpy(std::move(opinion.answer))), nb::cast(to_numpy(std::move(opinion.counts), {n, static_cast<std::size_t>(tree.n_classes)})),
                nb::cast(to_numpy(std::move(opinion.price)))};
    }

    std::tuple<nb::object, nb::object, nb::object> consult_all(const std::vector<const Tree*>& trees, int n_threads) {
        Verdict verdict = run([&](Control& control) { return ledger.consult_all(trees, n_threads, control); });
        const std::size_t n = verdict.price.size(), k = n ? verdict.votes.size() / n : 0;
        return {nb::cast(to_numpy(std::move(verdict.votes), {n, k})), nb::cast(to_numpy(std::move(verdict.counts), {n, k})), nb::cast(to_numpy(std::move(verdict.price)))};
    }
};

Tree make_tree(int n_classes, Contiguous1<int32_t> test, Contiguous1<double> threshold, Contiguous1<int32_t> first_child,
               Contiguous1<int32_t> n_children, Contiguous1<int32_t> map_start, Contiguous1<int32_t> map_size, Contiguous1<int32_t> maps,
               Contiguous1<int32_t> answer, Contiguous2<double> weights) {
    Tree tree;
    tree.n_classes = n_classes;
    tree.test = to_vector(test);
    tree.threshold = to_vector(threshold);
    tree.first_child = to_vector(first_child);
    tree.n_children = to_vector(n_children);
    tree.map_start = to_vector(map_start);
    tree.map_size = to_vector(map_size);
    tree.maps = to_vector(maps);
    tree.answer = to_vector(answer);
    tree.weights.assign(weights.data(), weights.data() + weights.size());
    check_nodes(tree);
    return tree;
}

template <class T>
auto field(std::vector<T> Tree::* member) {
    return [member](const Tree& tree) { return to_numpy(tree.*member); };
}

}  // namespace

}  // namespace worthwhile

NB_MODULE(_core, m) {
    using namespace worthwhile;
    // A tree that is still held when the interpreter ends (by a cached traceback, say) is no concern of the user's.
    nb::set_leak_warnings(false);
    m.doc() = "The compiled core of worthwhile: growing, pruning and walking priced trees.";

    nb::class_<OwnedTable>(m, "Table")
        .def(nb::init<std::size_t, bool>(), "n_cases"_a, "has_missing"_a)
        .def("add_numeric", &OwnedTable::add_numeric, "values"_a)
        .def("add_nominal", &OwnedTable::add_nominal, "codes"_a, "n_values"_a, "levels"_a);
    nb::class_<OwnedPricing>(m, "Pricing")
        .def(nb::init<Contiguous1<double>, Contiguous1<int32_t>, Contiguous1<double>, Contiguous1<uint8_t>, Contiguous1<int32_t>,
                      Contiguous1<int32_t>>(),
             "marginal"_a, "group"_a, "common"_a, "delayed"_a, "closure_start"_a, "closure_tests"_a);
    nb::class_<ErrorCosts>(m, "Errors").def("__init__", [](ErrorCosts* self, Contiguous2<double> matrix) { new (self) ErrorCosts(make_errors(matrix)); },
                                            "matrix"_a);
    nb::class_<Policy>(m, "Policy")
        .def(nb::init<const std::string&, double, double, double, int, bool, bool, int, bool, const std::string&, double, bool, int,
                      std::optional<Contiguous1<double>>>(), nb::kw_only(),
             "criterion"_a, "omega"_a, "min_cases"_a, "min_share"_a, "max_depth"_a, "release8"_a, "context"_a, "lookahead"_a, "least_cost"_a,
             "prune"_a, "confidence"_a, "raise_subtrees"_a, "n_threads"_a, "biases"_a.none() = nb::none())
        .def("look_ahead", &Policy::look_ahead, nb::kw_only(), "r"_a, "greedy_first"_a, "by_size"_a, "samples"_a, "confidence"_a, "margin"_a, "seed"_a);
    nb::class_<Tree>(m, "Tree")
        .def("__init__",
             [](Tree* self, int k, Contiguous1<int32_t> test, Contiguous1<double> threshold, Contiguous1<int32_t> first_child,
                Contiguous1<int32_t> n_children, Contiguous1<int32_t> map_start, Contiguous1<int32_t> map_size, Contiguous1<int32_t> maps,
                Contiguous1<int32_t> answer, Contiguous2<double> weights) {
                 new (self) Tree(make_tree(k, test, threshold, first_child, n_children, map_start, map_size, maps, answer, weights));
             },
             "n_classes"_a, "test"_a, "threshold"_a, "first_child"_a, "n_children"_a, "map_start"_a, "map_size"_a, "maps"_a, "answer"_a, "weights"_a)
        .def_prop_ro("test", field(&Tree::test), nb::rv_policy::move)
        .def_prop_ro("threshold", field(&Tree::threshold), nb::rv_policy::move)
        .def_prop_ro("first_child", field(&Tree::first_child), nb::rv_policy::move)
        .def_prop_ro("n_children", field(&Tree::n_children), nb::rv_policy::move)
        .def_prop_ro("map_start", field(&Tree::map_start), nb::rv_policy::move)
        .def_prop_ro("map_size", field(&Tree::map_size), nb::rv_policy::move)
        .def_prop_ro("maps", field(&Tree::maps), nb::rv_policy::move)
        .def_prop_ro("answer", field(&Tree::answer), nb::rv_policy::move)
        .def_prop_ro("weights", [](const Tree& tree) {
            return to_numpy(tree.weights, {static_cast<std::size_t>(tree.size()), static_cast<std::size_t>(tree.n_classes)});
        }, nb::rv_policy::move)
        .def("shares", [](const Tree& tree) {
            return to_numpy(node_shares(tree), {static_cast<std::size_t>(tree.size()), static_cast<std::size_t>(tree.n_classes)});
        });

    nb::class_<OwnedLedger>(m, "ForestLedger")
        .def(nb::init<const OwnedTable&, const OwnedPricing&, const ErrorCosts&, std::optional<Contiguous2<double>>>(), nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 4>(), "table"_a, "pricing"_a, "errors"_a, "case_prices"_a.none() = nb::none())
        .def("consult", &OwnedLedger::consult, "tree"_a, "who"_a.none() = nb::none(), "n_threads"_a = 1,
             "Walk the cases down one more tree: (answers, class weights of the leaves, what they pay more).")
        .def("consult_all", &OwnedLedger::consult_all, "trees"_a, "n_threads"_a = 1,
             "Walk the cases down all of these trees: (votes, class weights of the leaves, prices).");

    m.def("criteria", [] {
        std::vector<std::string> names;
        for (const Criterion& c : kCriteria) names.emplace_back(c.name);
        return names;
    }, "The names of the criteria.");
    m.def("grow", &grow, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a, "pruning_weights"_a.none() = nb::none(),
          "Grow and prune one tree; pruned, and answering, by other weights if they are given.");
    m.def("grow_forest", &grow_forest, "table"_a, "classes"_a, "n_classes"_a, "weights"_a, "pricing"_a, nb::kw_only(), "impurity"_a, "parameter"_a, "expected"_a,
          "cuts"_a, "context"_a, "max_depth"_a, "seeds"_a, "n_threads"_a, "asks"_a.none() = nb::none(), "Grow a tree from each row of weights by the largest drop of impurity per price.");
    m.def("impurity", [](const std::string& name, Contiguous1<double> counts, double parameter) {
        const Impurity* impurity = find_impurity(name);
        if (!impurity) throw std::invalid_argument("unknown impurity: " + name);
        return impurity->value(counts.data(), static_cast<int>(counts.shape(0)), parameter);
    }, "name"_a, "counts"_a, "parameter"_a, "How far classes of these sizes are mixed.");
    m.def("grow_ahead", &grow_ahead, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a, nb::kw_only(), "seconds"_a,
          "seconds_more"_a, "aside"_a.none() = nb::none(), "aside_classes"_a.none() = nb::none(), "aside_weights"_a.none() = nb::none(),
          "whole"_a.none() = nb::none(), "whole_classes"_a.none() = nb::none(), "whole_weights"_a.none() = nb::none(),
          "Grow and prune one tree with look-ahead.");
    m.def("sample_costs", &sample_costs, nb::rv_policy::move, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a, "n"_a,
          "Sample trees and return what each is expected to cost per case.");
    m.def("tree_cost", &tree_cost, "tree"_a, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a,
          "What a tree is expected to cost per case.");
    m.def("try_biases", &try_biases, nb::rv_policy::move, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a, nb::kw_only(), "biases"_a,
          "omega"_a, "confidence"_a, "max_depth"_a, "split"_a, "grows"_a.none(), "seed"_a.none(), "growing_weights"_a.none(), "judging_weights"_a.none(), "n_threads"_a, "seconds"_a,
          "Grow a tree for every row of biases on one side of its split and return what it costs on the other; "
          "without `grows`, splits are random halves.");
    m.def("random_half", [](std::size_t n_cases, uint64_t seed, int split) { return to_numpy(random_half(n_cases, seed, split)); }, "n_cases"_a,
          "seed"_a, "split"_a, "For each case whether a trial without `grows` grows its tree on it.");
    m.def("route", &route_cases, "tree"_a, "table"_a, "pricing"_a, "errors"_a, "least_cost"_a, "answers"_a, "prices"_a, "shares"_a, "n_threads"_a,
          "case_prices"_a.none(), "Walk cases down a tree: (answers, prices, class shares), each None if not wanted.");
    m.def("route_lazily", &route_lazily, "table"_a, "classes"_a, "weights"_a.none(), "pricing"_a, "errors"_a, "policy"_a, "cases"_a,
          "Grow, for each case, what it sees of the tree, and walk it.");
    m.def("upper_errors", [](double cases, double errors, double cf) {
        check_confidence(cf);
        return upper_errors(cases, errors, cf);
    }, "cases"_a, "errors"_a, "cf"_a, "C4.5's pessimistic number of errors.");
    m.def("leaf_cost", [](const ErrorCosts& errors, Contiguous1<double> weights, int answer, double cf) {
        check_length(weights.shape(0), static_cast<std::size_t>(errors.n_classes), "'weights'");
        check(answer >= 0 && answer < errors.n_answers, "'answer' is none of the answers");
        check_confidence(cf);
        return leaf_cost(errors, weights.data(), answer, cf);
    }, "errors"_a, "weights"_a, "answer"_a, "cf"_a, "Estimated error cost of a leaf.");
}
