#include "exact/exact_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <tuple>

#include "grow/grower.hpp"
#include "parallel/parallel_for.hpp"
#include "prune/pruner.hpp"

namespace worthwhile {

namespace {

// First splits are dealt out to this many solvers, whatever the number of threads: neither the tree nor the work that it takes may depend on it.
constexpr std::size_t kSolvers = 4;
// First splits of a round, at most, which begins with the same limit for all solvers. Later rounds are longer, since the best tree is mostly
// found by then and the threads wait for each other at the end of each.
constexpr std::size_t kLongRound = 32;

// Cuts per numeric test of a first search, and its share of the time.
constexpr int kFewCuts = 8;
constexpr double kEarly = 0.3;
// Under a time limit, the search with all cuts begins if there is time for so many times what the first one took to begin.
constexpr int kAllCuts = 6;

// A first split, or the cuts between two others, of which the middle one comes first.
struct Start {
    int question, option;
    double bound, estimate;
    int low = -1, high = -1;  // cuts: those between them are open
    double below = 0, above = 0;
};

// How the first tests are paid for: one after the other; all in one order that was made before; or as if no result took time, where some tests
// were ordered before and others are ruled out.
struct RootContext {
    Mode mode = Mode::ordinary;
    TestSet in, out;
};

// Where a solver has the best tree: below a first split, or from the root on.
struct RootTree {
    RootContext context;
    Start start{};
    std::size_t solver = 0;
    int depth = 0;  // 0: a leaf
    bool whole = false;
};

class ExactSearch {
public:
    ExactSearch(const ExactProblem& problem, const Pricing& pricing, const ErrorCosts& errors, const ExactPolicy& policy,
                const ExactRun& run, Cancellation& caller)
        : problem_(problem), policy_(policy), run_(run), caller_(caller), nothing_(pricing.nothing()) {
        ExactPolicy own = policy;
        own.memory /= kSolvers;
        own.work /= kSolvers;
        for (std::size_t i = 0; i < kSolvers; ++i) solvers_.push_back(std::make_unique<Solver>(problem, pricing, errors, own));
        root_ = first().root();
        for (double least : problem.least) base_ += least;
        best_ = root_.leaf;
        bound_ = floor_ = first().bound(root_, first().contexts()[0]);
        if (problem.questions.empty() || policy.max_depth < 1 || policy.max_leaves < 2) bound_ = best_;
    }

    // `known`: a tree of these cases that is as good as another search could find.
    ExactResult search(const ExactResult* known) {
        build();
        if (known && known->cost - base_ < best_) {
            best_ = known->cost - base_;
            tree_ = known->tree;
            foreign_ = true;
        }
        try {
            for (int depth = 1; !done() && depth <= policy_.max_depth; ++depth) search_depth(depth);
        } catch (const DeadlinePassed&) {
            stopped_ = true;
        } catch (const WorkDone&) {
            stopped_ = true;
        } catch (const Interrupted&) {
            stopped_ = ended_ = interrupted_ = true;
        } catch (const Stopped&) {
            stopped_ = ended_ = true;
        }
        if (!built_) build();  // found in the middle of a depth
        const bool proven = !stopped_ || done();
        DepthTree deeper = foreign_ && best_tree_.depth == 0 ? known->deeper : grown_further();
        for (DepthTree& tree : trees_) tree.cost += base_;
        return {std::move(tree_),  base_ + best_,    base_ + (proven ? best_ : std::min(bound_, best_)), proven, ended_, interrupted_,
                std::move(trees_), std::move(deeper)};
    }

private:
    struct Stopped {};

    Solver& first() { return *solvers_[0]; }
    double slack() const { return solvers_[0]->slack(); }
    bool done() const { return floor_ >= best_ - slack(); }

    int context_of(Solver& solver, const RootContext& context) const {
        if (context.mode == Mode::ordinary) return 0;
        if (context.mode == Mode::committed) return solver.contexts().committed(context.in);
        return solver.contexts().relaxed(0, context.in, context.out);
    }

    double price_of(Solver& solver, int context, int question) const {
        return solver.price(root_, solver.contexts()[context].orders[static_cast<std::size_t>(question)], question);
    }

    void search_depth(int depth) {
        const bool may_commit = first().contexts()[0].may_commit;
        if (policy_.max_leaves != kAnyLeaves || depth <= 2 || (may_commit && (problem_.has_missing || !first().contexts().can_relax())))
            solve_whole(depth);
        else if (may_commit)
            search_with_orders(depth);
        else
            search_starts({}, depth, best_, best_tree_);
        if (!built_) build();
        if (!foreign_) trees_.push_back({tree_, best_});
    }

    // Trees in a context that cost less than `best`: lowers it and sets the tree. Whether there is one.
    bool search_starts(const RootContext& context, int depth, double& best, RootTree& tree) {
        const double before = best;
        const bool all = context.mode == Mode::ordinary && !first().contexts()[0].may_commit;
        std::vector<Start> open = starts(context);
        for (std::size_t size = kSolvers; !open.empty(); size = std::min(2 * size, kLongRound)) {
            // The cheapest, as far as that is known, come first; ties by question and option.
            std::sort(open.begin(), open.end(), [](const Start& a, const Start& b) {
                return std::tie(a.estimate, a.question, a.option) > std::tie(b.estimate, b.question, b.option);
            });
            std::erase_if(open, [&](const Start& start) { return start.bound >= best - slack(); });
            std::vector<Start> round;
            while (!open.empty() && round.size() < size) {
                round.push_back(open.back());
                open.pop_back();
            }
            if (all && depth == policy_.max_depth) {  // deeper trees may cost less than these
                bound_ = best;
                for (const std::vector<Start>* some : {&open, &round})
                    for (const Start& start : *some) bound_ = std::min(bound_, start.bound);
            }
            look_at(round, {context, {}, 0, depth, false}, open, best, tree);
        }
        return best < before;
    }

    // Where orders of several tests may pay: first what no tree can cost less than, then trees that order one test after the other, then orders.
    void search_with_orders(int depth) {
        double floor = best_;
        RootTree ignored;
        if (!search_starts({Mode::relaxed, nothing_, nothing_}, depth, floor, ignored)) return;
        if (depth == policy_.max_depth) bound_ = std::max(bound_, floor);
        search_starts({}, depth, best_, best_tree_);
        std::vector<OrderChoice> open{{nothing_, nothing_}};
        while (!open.empty() && best_ > floor + slack()) {
            const OrderChoice choice = std::move(open.back());
            open.pop_back();
            const double price = first().price_of_set(root_, choice.in, 0);
            double below = best_ - price;
            RootTree found;
            if (2 * policy_.leaf_price >= below - slack()) continue;
            if (!search_starts({Mode::relaxed, choice.in, choice.out}, depth, below, found)) continue;
            Tree tree;
            build_into(found, tree);
            const OrderValue value = first().value_of_order(root_, 0, tree, choice.in);
            if (value.cost < best_ - slack()) {
                best_ = value.cost;
                best_tree_ = {{Mode::committed, value.usable, nothing_}, {}, 0, depth, false};
                tree_ = std::move(tree);
                built_ = true;
            }
            first().branch_on(choice, value.undecided, open);
        }
    }

    // All at once, by one thread: where a number of leaves is shared out from the root, or prices depend on the order of the tests.
    void solve_whole(int depth) {
        Solver& solver = first();
        in_time(1, [&](int, int, Cancellation& own) {
            solver.set_cancellation(&own);
            const double value = solver.solve(root_, 0, depth, policy_.max_leaves, best_ + 2 * slack());
            if (value >= best_ - slack()) return;
            best_ = value;
            best_tree_ = {{}, {}, 0, depth, true};
            built_ = false;
        });
    }

    std::vector<Start> starts(const RootContext& at) {
        Solver& solver = first();
        const int context = context_of(solver, at);
        std::vector<Start> found;
        const std::vector<double> estimates = solver.estimates(root_, context);
        for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
            if (std::isinf(estimates[q]) || solver.contexts()[context].orders[q].commits) continue;
            const Question& asked = problem_.questions[q];
            const int question = static_cast<int>(q);
            const double at_least = price_of(solver, context, question) + 2 * policy_.leaf_price;
            if (asked.numeric && !problem_.has_missing) {
                const int high = asked.n_options();
                found.push_back({question, (high - 1) / 2, at_least, estimates[q], -1, high, policy_.leaf_price, policy_.leaf_price});
            } else {
                for (int option = 0; option < asked.n_options(); ++option) found.push_back({question, option, at_least, estimates[q]});
            }
        }
        return found;
    }

    // What is known of a first split: what its best tree costs, or a bound, and a bound for each branch.
    struct Found {
        double value = kInfinity, price = 0;
        std::vector<double> parts;
    };

    void look_at(const std::vector<Start>& round, const RootTree& wanted, std::vector<Start>& open, double& best, RootTree& tree) {
        std::vector<Found> found(round.size());
        std::array<bool, kSolvers> tired{};  // they have done all the work that they may do
        const double limit = best;
        try {
            in_time(static_cast<int>(std::min(round.size(), kSolvers)), [&](int unit, int, Cancellation& own) {
                const std::size_t number = static_cast<std::size_t>(unit);
                Solver& solver = *solvers_[number];
                solver.set_cancellation(&own);
                double lowest = limit;
                try {
                    for (std::size_t i = number; i < round.size(); i += kSolvers) {
                        found[i] = solve_start(solver, round[i], wanted, lowest);
                        if (found[i].value < lowest - solver.slack()) lowest = found[i].value;
                    }
                } catch (const WorkDone&) {
                    tired[number] = true;  // the others go on, so that what is found does not depend on the threads
                }
            });
        } catch (...) {
            take_best(round, found, wanted, best, tree);  // too late for the others
            throw;
        }
        take_best(round, found, wanted, best, tree);
        if (std::find(tired.begin(), tired.end(), true) != tired.end()) throw WorkDone();
        for (std::size_t i = 0; i < round.size(); ++i) {
            const Start& start = round[i];
            if (start.high < 0 || found[i].parts.empty()) continue;
            add_interval(start, start.low, start.option, start.below, found[i].parts[1], found[i], open);
            add_interval(start, start.option, start.high, found[i].parts[0], start.above, found[i], open);
        }
    }

    Found solve_start(Solver& solver, const Start& start, const RootTree& wanted, double limit) const {
        Found found;
        const int context = context_of(solver, wanted.context);
        found.price = price_of(solver, context, start.question);
        const std::vector<Node> nodes = solver.divide(root_, start.question, start.option);
        if (nodes.empty()) return found;
        const int next = solver.contexts().after(context, start.question);
        found.value = found.price + solver.solve_all(nodes, next, wanted.depth - 1, kAnyLeaves, limit - found.price, &found.parts);
        return found;
    }

    void take_best(const std::vector<Start>& round, const std::vector<Found>& found, const RootTree& wanted, double& best, RootTree& tree) {
        for (std::size_t i = 0; i < round.size(); ++i) {
            if (found[i].value >= best - slack()) continue;
            best = found[i].value;
            tree = wanted;
            tree.start = round[i];
            tree.solver = i % kSolvers;
            if (&tree == &best_tree_) built_ = false;
        }
    }

    void add_interval(const Start& start, int low, int high, double below, double above, const Found& near,
                      std::vector<Start>& open) const {
        if (high - low < 2) return;
        const double bound = std::max(start.bound, near.price + below + above);
        open.push_back({start.question, (low + high) / 2, bound, std::max(bound, near.value), low, high, below, above});
    }

    // Runs units of work on the threads until the deadline.
    template <class Work>
    void in_time(int n_units, Work work) {
        Cancellation asking([&] {
            caller_.poll();
            if (run_.tell && run_.tell({base_ + best_, base_ + std::min(std::max(bound_, floor_), best_)})) throw Stopped();
        });
        cancellable_for(n_units, run_.n_threads, asking, run_.deadline, work);
    }

    void build() {
        tree_ = Tree();
        build_into(best_tree_, tree_);
        built_ = true;
    }

    // Returns what the tree costs, without an order that was made before.
    double build_into(const RootTree& found, Tree& tree) {
        Solver& solver = *solvers_[found.solver];
        solver.set_cancellation(nullptr);
        return build_with(solver, found, tree);
    }

    double build_with(Solver& solver, const RootTree& found, Tree& tree) {
        tree.n_classes = problem_.n_classes;
        tree.n_deviations = problem_.n_deviations;
        tree.add_leaves(1);
        if (found.whole) return solver.build(root_, 0, found.depth, policy_.max_leaves, tree, 0);
        solver.add_weights(root_, tree, 0);
        if (found.depth == 0) return root_.leaf;
        const int context = context_of(solver, found.context);
        return price_of(solver, context, found.start.question) +
               solver.build_below(root_, found.start.question, found.start.option, context, found.depth, kAnyLeaves, tree, 0);
    }

    // The best tree, all of whose nodes but the first look ahead again.
    DepthTree grown_further() {
        DepthTree deeper{tree_, base_ + best_};
        if (policy_.deepest == 0 || ended_ || best_tree_.depth == 0 || policy_.max_leaves != kAnyLeaves) return deeper;
        try {
            RootTree from = best_tree_;
            double ordered = 0;
            if (from.context.mode == Mode::committed) {
                ordered = first().price_of_set(root_, from.context.in, 0);
                double below = best_ - ordered + 2 * slack();
                if (!search_starts(best_tree_.context, best_tree_.depth, below, from)) return deeper;
            }
            in_time(1, [&](int, int, Cancellation& own) {
                Solver& solver = *solvers_[from.solver];
                solver.set_cancellation(&own);
                solver.look_ahead(policy_.horizon, policy_.deepest);
                DepthTree grown;
                grown.cost = base_ + ordered + build_with(solver, from, grown.tree);
                deeper = std::move(grown);
                solver.end_look_ahead();
            });
        } catch (const DeadlinePassed&) {
        } catch (const WorkDone&) {
        } catch (const Interrupted&) {
            ended_ = interrupted_ = true;
        } catch (const Stopped&) {
            ended_ = true;
        }
        return deeper;
    }

    const ExactProblem& problem_;
    const ExactPolicy policy_;
    const ExactRun& run_;
    Cancellation& caller_;
    const TestSet nothing_;
    std::vector<std::unique_ptr<Solver>> solvers_;
    Node root_;
    double base_ = 0;  // what the best answers for all kinds cost, which no tree can save
    double best_ = 0, bound_ = 0, floor_ = 0;
    RootTree best_tree_;
    Tree tree_;
    bool built_ = false;  // the tree is the best one
    std::vector<DepthTree> trees_;
    bool stopped_ = false, ended_ = false, interrupted_ = false;
    bool foreign_ = false;  // the first tree is that of another search
};

// What no tree costs less than: every case gets its best answer, without a test.
double least_cost(const TrainingSet& data, const ErrorCosts& errors) {
    std::vector<double> statistics(static_cast<std::size_t>(data.n_statistics())), loss(static_cast<std::size_t>(errors.n_answers));
    double sum = 0;
    for (std::size_t row = 0; row < data.table.n_cases; ++row) {
        std::fill(statistics.begin(), statistics.end(), 0.0);
        data.add_case(row, data.weight(row), statistics.data());
        errors.of_all(statistics.data(), loss.data());
        sum += *std::min_element(loss.begin(), loss.end());
    }
    return sum;
}

}  // namespace

ExactResult search_exactly(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const ExactPolicy& policy,
                           int max_cuts, const ExactRun& run, Cancellation& cancellation) {
    const auto begin = Clock::now();
    const bool in_time = run.deadline != Clock::time_point::max();
    const bool may_be_long = policy.max_depth > 2 && max_cuts > 2 * kFewCuts;
    // Under a time limit all cuts come later: with a million cases they take seconds in which nothing is found.
    ExactProblem problem = make_problem(data, pricing, errors, in_time && may_be_long ? kFewCuts : max_cuts);
    const int most = in_time ? kFewCuts - 1 : 2 * kFewCuts;
    const auto is_long = [&](const Question& question) { return question.numeric && question.n_options() > most; };
    ExactResult result;
    const ExactResult* known = nullptr;
    if (may_be_long && std::any_of(problem.questions.begin(), problem.questions.end(), is_long)) {
        // With few cuts, a good tree is found soon; it is a limit for the search with all of them.
        ExactPolicy some = policy;
        some.work *= kEarly;
        ExactRun early = run;
        const ExactProblem few = in_time ? std::move(problem) : make_problem(data, pricing, errors, kFewCuts);
        ExactSearch first(few, pricing, errors, some, early, cancellation);
        const auto now = Clock::now();
        const bool goes_on = !in_time || run.deadline - now > (now - begin) * kAllCuts;
        if (in_time && goes_on) early.deadline = now + std::chrono::duration_cast<Clock::duration>((run.deadline - now) * kEarly);
        result = first.search(nullptr);
        known = &result;
        result.ended |= !goes_on;
        if (result.ended) {
            result.proven = false;
            result.bound = std::min(result.bound, least_cost(data, errors));
        } else if (in_time) {
            problem = make_problem(data, pricing, errors, max_cuts);
        }
    }
    if (!result.ended) result = ExactSearch(problem, pricing, errors, policy, run, cancellation).search(known);
    finish_exact_tree(result.tree, data, pricing, errors);
    finish_exact_tree(result.deeper.tree, data, pricing, errors);
    for (DepthTree& shallow : result.by_depth) finish_exact_tree(shallow.tree, data, pricing, errors);
    return result;
}

void finish_exact_tree(Tree& tree, const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors) {
    PrunePolicy valued;
    valued.confidence = 1;
    valued.answer = AnswerPolicy::least_cost;
    Cancellation never;  // what is found is finished also after a signal
    choose_commits(tree, data, pricing, errors, valued, never);
    assign_answers(tree, errors, AnswerPolicy::least_cost);
    tree.drop_deviations();
}

}  // namespace worthwhile
