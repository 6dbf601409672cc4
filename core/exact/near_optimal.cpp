#include "exact/near_optimal.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "parallel/parallel_for.hpp"

namespace worthwhile {

namespace {

// Optima are exact but for a slack at every level; what is looked at may cost a little more than what counts.
constexpr double kRounding = 64;
// About what a subtree takes, in lists and by itself; and what it counts as work, about in nanoseconds.
constexpr std::size_t kSubtreeBytes = 128;
constexpr double kSubtreeWork = 100;
// Shares of the margin that are tried one after the other.
constexpr double kShares[] = {0, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2, 1};
constexpr uint64_t kLeafForm = 0x2545F4914F6CDD1D;

uint64_t mix(uint64_t key, uint64_t value) {
    key = (key ^ value) * 0x9E3779B97F4A7C15;
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9;
    return key ^ (key >> 27);
}

// Sets of questions by number, each once: 0 is the empty set, 1 the first question alone, and so on.
class QuestionSets {
public:
    explicit QuestionSets(std::size_t n_questions) {
        number({});
        for (std::size_t q = 0; q < n_questions; ++q) {
            std::vector<uint64_t> words((n_questions + 63) / 64, 0);
            words[q / 64] = uint64_t{1} << (q % 64);
            number(std::move(words));
        }
    }

    bool has(int set, int question) const {
        const std::vector<uint64_t>& words = *sets_[static_cast<std::size_t>(set)];
        const auto at = static_cast<std::size_t>(question) / 64;
        return at < words.size() && (words[at] >> (question % 64) & 1);
    }
    int with(int set, int question) { return united(set, question + 1); }
    int united(int a, int b) {
        if (a == b || b == 0) return a;
        if (a == 0) return b;
        const auto key = static_cast<uint64_t>(std::min(a, b)) << 32 | static_cast<uint64_t>(std::max(a, b));
        const auto [found, is_new] = unions_.emplace(key, 0);
        if (is_new) {
            std::vector<uint64_t> words = *sets_[static_cast<std::size_t>(a)];
            for (std::size_t i = 0; i < words.size(); ++i) words[i] |= (*sets_[static_cast<std::size_t>(b)])[i];
            found->second = number(std::move(words));
        }
        return found->second;
    }

private:
    int number(std::vector<uint64_t> words) {
        const auto [found, is_new] = numbers_.emplace(std::move(words), static_cast<int>(sets_.size()));
        if (is_new) sets_.push_back(&found->first);
        return found->second;
    }

    std::map<std::vector<uint64_t>, int> numbers_;
    std::vector<const std::vector<uint64_t>*> sets_;  // the empty one has no words, all others have the same number
    std::unordered_map<uint64_t, int> unions_;
};

// A tree below some node, by its number (-1: a leaf), with what it costs there.
struct Item {
    double value;
    int subtree, leaves, tests;
};

struct Subtree {
    int question, option;
    std::size_t children;      // where their numbers start
    uint64_t form, structure;  // hashes: of what it does; of the tests in their places
};

using List = std::shared_ptr<const std::vector<Item>>;

// The trees below some branches of the root together.
struct Part {
    double value;
    int leaves, tests;
    uint64_t structure;
    std::size_t children;
};

// Trees that begin with the same split: every part on the left goes with every part on the right, as long as the sum is not above the limit.
// Both are sorted by their values. Where whole trees are listed, they are on the left, and on the right is nothing.
struct Start {
    int question, option;
    double price, limit;
    bool whole;
    std::vector<Part> left, right;
};

struct Counted {
    uint64_t trees = 0;
    double least = kInfinity;
};

// More subtrees than memory has room for.
struct TooMany {};

// All trees up to a cost.
class TreeLists {
public:
    TreeLists(const ExactProblem& problem, const Pricing& pricing, const ExactPolicy& policy, Solver& solver, double budget,
              Cancellation& cancellation, double& work)
        : problem_(problem), pricing_(pricing), policy_(policy), solver_(solver), cancellation_(cancellation), work_(work),
          budget_(budget + solver.slack()), sets_(problem.questions.size()) {
        root_ = solver.root();
        for (const Question& question : problem.questions)
            for (int option = 0; option < question.n_options(); ++option)
                most_branches_ = std::max(most_branches_, question.n_branches(option));
        const double wide = budget + kRounding * solver.slack();
        if (policy.max_depth < 1 || policy.max_leaves < 2) return;
        if (solver.contexts()[0].may_commit)
            start_with_whole(wide);
        else
            each_split(root_, 0, policy.max_depth, wide,
                       [&](int question, int option, double price, const std::vector<Node>& nodes, const std::vector<double>& bounds) {
                           start_with(question, option, price, nodes, bounds, wide);
                       });
        lists_.clear();
    }

    void count(NearOptimalResult& result);
    std::vector<std::pair<double, Tree>> cheapest(std::size_t n, bool by_structure, Cancellation& cancellation);

private:
    struct Key {
        uint64_t a, b;
        int context, depth;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return mix(key.a, static_cast<uint64_t>(key.context) << 8 | static_cast<uint64_t>(key.depth));
        }
    };
    struct Known {
        double budget = 0;
        List list;
    };

    void spend(double work) {
        work_ += work;
        if (work_ > policy_.work) throw WorkDone();
        cancellation_.poll();
    }

    List list(const Node& node, int context, int depth, double budget);
    template <class Visit>
    void each_split(const Node& node, int context, int depth, double budget, Visit visit);
    template <class Visit>
    void look_at(const Node& node, int question, int option, double price, int next, int depth, double budget, std::vector<double>& bounds,
                 Visit& visit);
    std::vector<int> options_of(const Node& node, int question) const;
    std::vector<List> lists_below(const std::vector<Node>& nodes, const std::vector<double>& bounds, int next, int depth, double limit);
    template <class Take>
    void combine(const std::vector<List>& lists, std::size_t n, double limit, Take take);
    void add_splits(const Node& node, int context, int depth, double budget, std::vector<Item>& items);
    void add_single_splits(const Node& node, int question, double price, double budget, std::vector<Item>& items);
    void add_orders(const Node& node, int context, int depth, double budget, std::vector<Item>& items);
    void add_orders_with(const Node& node, int context, int depth, double budget, std::size_t question, const TestSet& in,
                         const TestSet& out, int set, std::vector<Item>& items);
    void keep_cheapest(std::vector<Item>& items) const;
    int add_subtree(int question, int option, const std::vector<const Item*>& below);
    bool saves_errors(const Node& node, const std::vector<Node>& nodes) const;
    bool is_slow(int question, int context);
    double most_tests(int depth) const;

    void start_with(int question, int option, double price, const std::vector<Node>& nodes, const std::vector<double>& bounds,
                    double budget);
    void start_with_whole(double budget);
    void add_start(Start start);
    Part part_of(const std::vector<const Item*>& below);
    Counted count_pairs(const Start& start, int without) const;
    static std::vector<const Part*> distinct(const std::vector<Part>& parts, bool by_structure);
    uint64_t structure_of(const Start& start, const Part& left, const Part& right) const;
    void add_structures(const Start& start, std::unordered_set<uint64_t>& structures);

    Tree new_tree() const;
    Tree built(const Start& start, const Part& left, const Part& right);
    void build_below(int subtree, const Node& node, Tree& tree, int at);
    int build_split(const Node& node, int question, int option, const std::vector<Node>& nodes, Tree& tree, int at);
    void add_weights(const Node& node, Tree& tree, int at) const;

    const ExactProblem& problem_;
    const Pricing& pricing_;
    const ExactPolicy& policy_;
    Solver& solver_;
    Cancellation& cancellation_;
    double& work_;
    const double budget_;  // what counts
    int most_branches_ = 2;
    QuestionSets sets_;
    Node root_;
    std::vector<Subtree> subtrees_;
    std::vector<int> children_;
    std::unordered_map<Key, Known, KeyHash> lists_;
    std::vector<Start> starts_;
};

// ---- lists of subtrees

List TreeLists::list(const Node& node, int context, int depth, double budget) {
    if (node.cases.kinds.empty()) return std::make_shared<const std::vector<Item>>(1, Item{policy_.leaf_price, -1, 1, 0});
    const Key key{node.hash[0], node.hash[1], context, depth};
    if (const auto found = lists_.find(key); found != lists_.end() && found->second.budget >= budget) return found->second.list;
    spend(kSubtreeWork);
    std::vector<Item> items;
    if (node.leaf <= budget) items.push_back({node.leaf, -1, 1, 0});
    if (depth > 0 && node.leaf - policy_.leaf_price > solver_.slack()) {  // otherwise nothing can be saved
        add_splits(node, context, depth, budget, items);
        if (solver_.contexts()[context].may_commit) {
            add_orders(node, context, depth, budget, items);
            keep_cheapest(items);
        }
    }
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return std::tie(a.value, a.subtree) < std::tie(b.value, b.subtree); });
    const List made = std::make_shared<const std::vector<Item>>(std::move(items));
    lists_[key] = {budget, made};
    return made;
}

// Of the ways to divide the cases of a node, each once: the one with the fewest branches.
std::vector<int> TreeLists::options_of(const Node& node, int question) const {
    const Question& asked = problem_.questions[static_cast<std::size_t>(question)];
    std::vector<uint8_t> occurs(static_cast<std::size_t>(asked.n_codes) + 1, 0);
    for (uint32_t kind : node.cases.kinds) occurs[problem_.code(question, kind)] = 1;
    std::vector<int> codes, options;
    for (int code = 0; code < asked.n_codes; ++code)
        if (occurs[static_cast<std::size_t>(code)]) codes.push_back(code);
    if (codes.size() < 2) return options;
    if (asked.numeric) return {codes.begin(), codes.end() - 1};
    std::map<std::vector<int>, int> seen;  // by the branches of the values that occur, numbered as they come
    for (int option = 0; option < asked.n_options(); ++option) {
        std::map<int, int> numbers;
        std::vector<int> division;
        for (int code : codes)
            division.push_back(
                numbers.emplace(asked.branch(option, static_cast<uint32_t>(code)), static_cast<int>(numbers.size())).first->second);
        if (numbers.size() < 2) continue;
        const auto [found, is_new] = seen.emplace(division, option);
        if (!is_new && asked.n_branches(option) < asked.n_branches(found->second)) found->second = option;
    }
    for (const auto& [division, option] : seen) options.push_back(option);
    std::sort(options.begin(), options.end());
    return options;
}

// Calls visit(question, option, price, nodes below, what the best trees there cost) for every split that a tree within the budget may begin with.
template <class Visit>
void TreeLists::each_split(const Node& node, int context, int depth, double budget, Visit visit) {
    std::vector<double> bounds;
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        const Order& order = solver_.contexts()[context].orders[q];
        const int question = static_cast<int>(q);
        if (!order.allowed || order.commits) continue;
        const double price = solver_.price(node, order, question);
        if (price + 2 * policy_.leaf_price > budget) continue;
        const std::vector<int> options = options_of(node, question);
        spend(static_cast<double>(node.cases.kinds.size() + options.size()));
        const int next = solver_.contexts().after(context, question);
        if (!problem_.questions[q].numeric || problem_.has_missing) {
            for (int option : options) look_at(node, question, option, price, next, depth, budget, bounds, visit);
            continue;
        }
        // Between two cuts there are at least the cases left of the lower one, and right of the upper one: as in Solver::try_cuts.
        struct Interval {
            int low, high;
            double below, above;
        };
        std::vector<Interval> open{{-1, static_cast<int>(options.size()), policy_.leaf_price, policy_.leaf_price}};
        while (!open.empty()) {
            const Interval interval = open.back();
            open.pop_back();
            if (interval.high - interval.low < 2 || price + interval.below + interval.above > budget) continue;
            const int middle = (interval.low + interval.high) / 2;
            look_at(node, question, options[static_cast<std::size_t>(middle)], price, next, depth, budget, bounds, visit);
            const double left = bounds[0], right = bounds[1];
            open.push_back({interval.low, middle, interval.below, right});
            open.push_back({middle, interval.high, left, interval.above});
        }
    }
}

template <class Visit>
void TreeLists::look_at(const Node& node, int question, int option, double price, int next, int depth, double budget,
                        std::vector<double>& bounds, Visit& visit) {
    const std::vector<Node> nodes = solver_.divide(node, question, option);
    const double limit = budget - price, slack = solver_.slack();
    const double least = solver_.solve_all(nodes, next, depth - 1, kAnyLeaves, limit + 2 * slack, &bounds);
    if (least >= limit + slack) return;
    const std::vector<double> own = bounds;  // below, others are found
    visit(question, option, price, nodes, own);
}

// Every branch gets what the others leave if they cost as little as they can.
std::vector<List> TreeLists::lists_below(const std::vector<Node>& nodes, const std::vector<double>& bounds, int next, int depth,
                                         double limit) {
    double sum = 0;
    for (double bound : bounds) sum += bound;
    std::vector<List> lists;
    for (std::size_t b = 0; b < nodes.size(); ++b) lists.push_back(list(nodes[b], next, depth, limit - (sum - bounds[b])));
    return lists;
}

// Calls take(items, sum) for one item of each of the first n lists, whenever the sum is not above the limit.
template <class Take>
void TreeLists::combine(const std::vector<List>& lists, std::size_t n, double limit, Take take) {
    std::vector<double> rest(n + 1, 0.0);  // what the later ones cost at least
    for (std::size_t b = n; b-- > 0;) {
        if (lists[b]->empty()) return;
        rest[b] = rest[b + 1] + lists[b]->front().value;
    }
    std::vector<const Item*> chosen(n);
    const auto choose = [&](const auto& self, std::size_t b, double sum) -> void {
        if (b == n) {
            take(chosen, sum);
            return;
        }
        for (const Item& item : *lists[b]) {
            if (sum + item.value + rest[b + 1] > limit) break;
            chosen[b] = &item;
            self(self, b + 1, sum + item.value);
        }
    };
    choose(choose, 0, 0.0);
}

bool TreeLists::saves_errors(const Node& node, const std::vector<Node>& nodes) const {
    double left = 0;
    for (const Node& child : nodes) left += child.leaf - policy_.leaf_price;
    return left < node.leaf - policy_.leaf_price - solver_.slack();
}

int leaves_of(const std::vector<const Item*>& items) {
    int sum = 0;
    for (const Item* item : items) sum += item->leaves;
    return sum;
}

bool all_leaves(const std::vector<const Item*>& items) {
    return std::all_of(items.begin(), items.end(), [](const Item* item) { return item->subtree < 0; });
}

void TreeLists::add_splits(const Node& node, int context, int depth, double budget, std::vector<Item>& items) {
    if (depth == 1 && !problem_.has_missing) {
        for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
            const Order& order = solver_.contexts()[context].orders[q];
            if (!order.allowed || order.commits) continue;
            const double price = solver_.price(node, order, static_cast<int>(q));
            if (price + 2 * policy_.leaf_price <= budget) add_single_splits(node, static_cast<int>(q), price, budget, items);
        }
        return;
    }
    each_split(node, context, depth, budget,
               [&](int question, int option, double price, const std::vector<Node>& nodes, const std::vector<double>& bounds) {
                   const int next = solver_.contexts().after(context, question);
                   const std::vector<List> lists = lists_below(nodes, bounds, next, depth - 1, budget - price);
                   const bool saves = saves_errors(node, nodes);
                   combine(lists, lists.size(), budget - price, [&](const std::vector<const Item*>& below, double sum) {
                       const int leaves = leaves_of(below);
                       if (leaves > policy_.max_leaves || (!saves && all_leaves(below))) return;
                       int tests = 0;
                       for (const Item* item : below) tests = sets_.united(tests, item->tests);
                       items.push_back({price + sum, add_subtree(question, option, below), leaves, sets_.with(tests, question)});
                   });
               });
}

// All splits into leaves, from sums over the values of the test.
void TreeLists::add_single_splits(const Node& node, int question, double price, double budget, std::vector<Item>& items) {
    const Question& asked = problem_.questions[static_cast<std::size_t>(question)];
    const std::size_t answers = static_cast<std::size_t>(problem_.n_answers);
    const std::vector<int> options = options_of(node, question);
    std::vector<double> sums(static_cast<std::size_t>(asked.n_codes) * answers, 0.0);
    for (uint32_t kind : node.cases.kinds)
        for (std::size_t a = 0; a < answers; ++a) sums[problem_.code(question, kind) * answers + a] += problem_.loss[kind * answers + a];
    spend(static_cast<double>(node.cases.kinds.size() * (answers + 2) + options.size() * answers * (asked.numeric ? 2 : sums.size())));
    const double whole = node.leaf - policy_.leaf_price;
    const auto offer = [&](int option, double errors, int n_branches) {
        const double value = price + errors + n_branches * policy_.leaf_price;
        if (errors >= whole - solver_.slack() || value > budget || n_branches > policy_.max_leaves) return;
        const Item leaf{0.0, -1, 1, 0};
        const std::vector<const Item*> below(static_cast<std::size_t>(n_branches), &leaf);
        items.push_back({value, add_subtree(question, option, below), n_branches, sets_.with(0, question)});
    };
    if (asked.numeric) {
        std::vector<double> left(answers, 0.0);
        int code = 0;
        for (int cut : options) {
            for (; code <= cut; ++code)
                for (std::size_t a = 0; a < answers; ++a) left[a] += sums[static_cast<std::size_t>(code) * answers + a];
            double low = kInfinity, high = kInfinity;
            for (std::size_t a = 0; a < answers; ++a) {
                low = std::min(low, left[a]);
                high = std::min(high, node.loss[a] - left[a]);
            }
            offer(cut, low + high, 2);
        }
        return;
    }
    for (int option : options) {
        const int n_branches = asked.n_branches(option);
        std::vector<double> branches(static_cast<std::size_t>(n_branches) * answers, 0.0);
        for (int code = 0; code < asked.n_codes; ++code) {
            const int b = asked.branch(option, static_cast<uint32_t>(code));
            if (b < 0) continue;
            for (std::size_t a = 0; a < answers; ++a)
                branches[static_cast<std::size_t>(b) * answers + a] += sums[static_cast<std::size_t>(code) * answers + a];
        }
        double errors = 0;
        for (std::size_t b = 0; b < static_cast<std::size_t>(n_branches); ++b)
            errors += *std::min_element(branches.data() + b * answers, branches.data() + (b + 1) * answers);
        offer(option, errors, n_branches);
    }
}

int TreeLists::add_subtree(int question, int option, const std::vector<const Item*>& below) {
    spend(kSubtreeWork);
    if (subtrees_.size() >= policy_.memory / kSubtreeBytes) throw TooMany();
    Subtree made{question, option, children_.size(), 0, 0};
    made.structure = mix(static_cast<uint64_t>(question) + 1, below.size());
    made.form = mix(made.structure, static_cast<uint64_t>(option));
    for (const Item* item : below) {
        const Subtree* child = item->subtree < 0 ? nullptr : &subtrees_[static_cast<std::size_t>(item->subtree)];
        made.structure = mix(made.structure, child ? child->structure : kLeafForm);
        made.form = mix(made.form, child ? child->form : kLeafForm);
        children_.push_back(item->subtree);
    }
    subtrees_.push_back(made);
    return static_cast<int>(subtrees_.size()) - 1;
}

// ---- orders of several tests at once

// Whether the result of a question takes time, so that everything below may be ordered with it.
bool TreeLists::is_slow(int question, int context) {
    const int test = problem_.questions[static_cast<std::size_t>(question)].column;
    const TestSet& paid = solver_.contexts()[context].paid;
    return pricing_.orders_delayed(test, paid) || pricing_.orders_wait(test, paid);
}

// That a tree of a depth has room for.
double TreeLists::most_tests(int depth) const { return (std::pow(most_branches_, depth) - 1) / (most_branches_ - 1); }

void TreeLists::add_orders(const Node& node, int context, int depth, double budget, std::vector<Item>& items) {
    add_orders_with(node, context, depth, budget, 0, pricing_.nothing(), pricing_.nothing(), 0, items);
}

// Goes through the sets of tests that a tree may ask for in one order: those before `question` are among them, or they are not.
void TreeLists::add_orders_with(const Node& node, int context, int depth, double budget, std::size_t question, const TestSet& in,
                                const TestSet& out, int set, std::vector<Item>& items) {
    const TestSet& paid = solver_.contexts()[context].paid;
    int n_in = 0;
    in.each([&](int) { ++n_in; });
    if (n_in > most_tests(depth)) return;
    const double price = solver_.price_of_set(node, in, context), limit = budget - price, slack = solver_.slack();
    if (2 * policy_.leaf_price > limit) return;
    spend(kSubtreeWork);
    Contexts& contexts = solver_.contexts();
    const int relaxed = contexts.can_relax() ? contexts.relaxed(context, in, out) : solver_.free_context(paid, out);
    if (solver_.solve(node, relaxed, depth, kAnyLeaves, limit + 2 * slack) >= limit + slack) return;
    while (question < problem_.questions.size() && paid.has(problem_.questions[question].column)) ++question;
    if (question < problem_.questions.size()) {
        TestSet more = in, fewer = out;
        more.add(problem_.questions[question].column);
        fewer.add(problem_.questions[question].column);
        const int with = sets_.with(set, static_cast<int>(question));
        add_orders_with(node, context, depth, budget, question + 1, more, out, with, items);
        add_orders_with(node, context, depth, budget, question + 1, in, fewer, set, items);
        return;
    }
    if (set == 0) return;
    TestSet usable = in;
    usable.unite(paid);
    const List found = list(node, contexts.committed(usable), depth, limit);
    for (const Item& item : *found) {
        if (item.value > limit) break;
        if (item.subtree < 0 || !is_slow(subtrees_[static_cast<std::size_t>(item.subtree)].question, context)) continue;
        bool all = true;  // what is ordered is also asked: otherwise the order would be another one
        for (std::size_t q = 0; q < problem_.questions.size() && all; ++q)
            all = !sets_.has(set, static_cast<int>(q)) || sets_.has(item.tests, static_cast<int>(q));
        if (all) items.push_back({price + item.value, item.subtree, item.leaves, item.tests});
    }
}

// The same tree may be paid for in several ways.
void TreeLists::keep_cheapest(std::vector<Item>& items) const {
    std::unordered_map<uint64_t, std::size_t> first;
    std::vector<Item> kept;
    for (const Item& item : items) {
        const uint64_t form = item.subtree < 0 ? kLeafForm : subtrees_[static_cast<std::size_t>(item.subtree)].form;
        const auto [found, is_new] = first.emplace(form, kept.size());
        if (is_new)
            kept.push_back(item);
        else if (item.value < kept[found->second].value)
            kept[found->second] = item;
    }
    items = std::move(kept);
}

// ---- from the root

Part TreeLists::part_of(const std::vector<const Item*>& below) {
    Part part{0.0, leaves_of(below), 0, kLeafForm, children_.size()};
    for (const Item* item : below) {
        part.value += item->value;
        part.tests = sets_.united(part.tests, item->tests);
        part.structure = mix(part.structure, item->subtree < 0 ? kLeafForm : subtrees_[static_cast<std::size_t>(item->subtree)].structure);
        children_.push_back(item->subtree);
    }
    return part;
}

void TreeLists::start_with(int question, int option, double price, const std::vector<Node>& nodes, const std::vector<double>& bounds,
                           double budget) {
    const int next = solver_.contexts().after(0, question);
    const std::vector<List> lists = lists_below(nodes, bounds, next, policy_.max_depth - 1, budget - price);
    Start start{question, option, price, budget_ - price, false, {}, {}};
    const double rest = lists.back()->empty() ? kInfinity : lists.back()->front().value;
    combine(lists, lists.size() - 1, start.limit - rest, [&](const std::vector<const Item*>& below, double) {
        spend(kSubtreeWork);
        start.left.push_back(part_of(below));
    });
    for (const Item& item : *lists.back()) start.right.push_back(part_of({&item}));
    std::stable_sort(start.left.begin(), start.left.end(), [](const Part& a, const Part& b) { return a.value < b.value; });
    if (saves_errors(root_, nodes)) {
        add_start(std::move(start));
        return;
    }
    // All but the tree of leaves only: either there is a test on the left, or there is none, but one on the right.
    Start second = start;
    std::erase_if(start.left, [](const Part& part) { return part.tests == 0; });
    std::erase_if(second.left, [](const Part& part) { return part.tests != 0; });
    std::erase_if(second.right, [](const Part& part) { return part.tests == 0; });
    add_start(std::move(start));
    add_start(std::move(second));
}

void TreeLists::start_with_whole(double budget) {
    const List found = list(root_, 0, policy_.max_depth, budget);
    std::map<int, Start> by_question;
    for (const Item& item : *found) {
        if (item.subtree < 0) continue;
        const int question = subtrees_[static_cast<std::size_t>(item.subtree)].question;
        Start& start = by_question.try_emplace(question, Start{question, -1, 0.0, budget_, true, {}, {}}).first->second;
        start.left.push_back(part_of({&item}));
    }
    for (auto& [question, start] : by_question) {
        start.right.push_back({0.0, 0, 0, 0, children_.size()});
        add_start(std::move(start));
    }
}

void TreeLists::add_start(Start start) {
    if (!start.left.empty() && !start.right.empty() && start.left[0].value + start.right[0].value <= start.limit)
        starts_.push_back(std::move(start));
}

// The trees of a start, without those that ask a question (-1: all), and the lowest sum of their parts.
Counted TreeLists::count_pairs(const Start& start, int without) const {
    Counted found;
    const auto kept = [&](const Part& part) { return without < 0 || !sets_.has(part.tests, without); };
    const auto count = [&](const std::vector<double>& left, const std::vector<double>& right) {
        if (left.empty() || right.empty() || left[0] + right[0] > start.limit) return;
        found.least = std::min(found.least, left[0] + right[0]);
        std::size_t n = right.size();
        for (double value : left) {
            while (n > 0 && value + right[n - 1] > start.limit) --n;
            found.trees += n;
        }
    };
    std::vector<double> left, right;
    if (policy_.max_leaves == kAnyLeaves) {
        for (const Part& part : start.left)
            if (kept(part)) left.push_back(part.value);
        for (const Part& part : start.right)
            if (kept(part)) right.push_back(part.value);
        count(left, right);
        return found;
    }
    std::map<int, std::vector<double>> by_leaves;
    for (const Part& part : start.left)
        if (kept(part)) by_leaves[part.leaves].push_back(part.value);
    for (const auto& [leaves, values] : by_leaves) {
        right.clear();
        for (const Part& part : start.right)
            if (kept(part) && part.leaves <= policy_.max_leaves - leaves) right.push_back(part.value);
        count(values, right);
    }
    return found;
}

// The parts in their order; by structure, only the first of each.
std::vector<const Part*> TreeLists::distinct(const std::vector<Part>& parts, bool by_structure) {
    std::unordered_set<uint64_t> seen;
    std::vector<const Part*> found;
    for (const Part& part : parts)
        if (!by_structure || seen.insert(part.structure).second) found.push_back(&part);
    return found;
}

// Without the first test.
uint64_t TreeLists::structure_of(const Start& start, const Part& left, const Part& right) const {
    const int branches = start.whole ? 0 : problem_.questions[static_cast<std::size_t>(start.question)].n_branches(start.option);
    return mix(mix(left.structure, right.structure), static_cast<uint64_t>(branches));
}

// Adds the structures of the trees of a start. A structure also says how many leaves there are.
void TreeLists::add_structures(const Start& start, std::unordered_set<uint64_t>& structures) {
    const std::vector<const Part*> left = distinct(start.left, true), right = distinct(start.right, true);
    for (const Part* one : left)
        for (const Part* other : right) {
            if (one->value + other->value > start.limit) break;
            spend(20);
            if (one->leaves + other->leaves <= policy_.max_leaves) structures.insert(structure_of(start, *one, *other));
        }
}

void TreeLists::count(NearOptimalResult& result) {
    struct Total {
        uint64_t trees = 0;
        double least = kInfinity;
        std::unordered_set<uint64_t> structures;
    };
    std::map<int, Total> first;
    result.trees = result.structures = 0;
    result.first.clear();
    result.used.clear();
    const bool leaf = root_.leaf <= budget_;
    if (leaf) {
        result.trees = result.structures = 1;
        result.first.push_back({-1, 1, 1, root_.leaf});
    }
    for (const Start& start : starts_) {
        const Counted own = count_pairs(start, -1);
        if (own.trees == 0) continue;
        spend(static_cast<double>(start.left.size() + start.right.size()));
        Total& total = first[start.question];
        total.trees += own.trees;
        total.least = std::min(total.least, start.price + own.least);
        add_structures(start, total.structures);
    }
    for (const auto& [question, total] : first) {
        result.trees += total.trees;
        result.structures += total.structures.size();
        result.first.push_back(
            {problem_.questions[static_cast<std::size_t>(question)].column, total.trees, total.structures.size(), total.least});
    }
    std::stable_sort(result.first.begin(), result.first.end(), [](const FirstTest& a, const FirstTest& b) { return a.trees > b.trees; });
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        uint64_t without = leaf;
        double least = leaf ? root_.leaf : kInfinity;
        for (const Start& start : starts_) {
            if (!start.whole && start.question == static_cast<int>(q)) continue;
            spend(2 * static_cast<double>(start.left.size() + start.right.size()));
            const Counted own = count_pairs(start, static_cast<int>(q));
            without += own.trees;
            least = std::min(least, start.price + own.least);
        }
        if (without < result.trees) result.used.push_back({problem_.questions[q].column, result.trees - without, least});
    }
}

// The cheapest trees, in order: of every start the next pair is the cheapest of those beside the pairs before.
std::vector<std::pair<double, Tree>> TreeLists::cheapest(std::size_t n, bool by_structure, Cancellation& cancellation) {
    struct Candidate {
        double value;
        std::size_t start, left, right;
        bool operator>(const Candidate& other) const {
            return std::tie(value, start, left, right) > std::tie(other.value, other.start, other.left, other.right);
        }
    };
    std::vector<std::vector<const Part*>> left, right;  // by start
    for (const Start& start : starts_) {
        left.push_back(distinct(start.left, by_structure));
        right.push_back(distinct(start.right, by_structure));
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> open;
    const auto push = [&](std::size_t s, std::size_t l, std::size_t r) {
        if (l >= left[s].size() || r >= right[s].size()) return;
        const double sum = left[s][l]->value + right[s][r]->value;
        if (sum <= starts_[s].limit) open.push({starts_[s].price + sum, s, l, r});
    };
    for (std::size_t s = 0; s < starts_.size(); ++s) push(s, 0, 0);
    std::vector<std::pair<double, Tree>> found;
    std::unordered_set<uint64_t> seen;
    bool leaf = root_.leaf <= budget_;
    while (found.size() < n && (leaf || !open.empty())) {
        cancellation.poll();
        if (leaf && (open.empty() || root_.leaf <= open.top().value)) {
            leaf = false;
            found.emplace_back(root_.leaf, new_tree());
            continue;
        }
        const Candidate next = open.top();
        open.pop();
        push(next.start, next.left, next.right + 1);
        if (next.right == 0) push(next.start, next.left + 1, 0);
        const Start& start = starts_[next.start];
        const Part &one = *left[next.start][next.left], &other = *right[next.start][next.right];
        if (one.leaves + other.leaves > policy_.max_leaves) continue;
        if (by_structure && !seen.insert(mix(structure_of(start, one, other), static_cast<uint64_t>(start.question))).second) continue;
        found.emplace_back(next.value, built(start, one, other));
    }
    return found;
}

// ---- trees

void TreeLists::add_weights(const Node& node, Tree& tree, int at) const {
    const std::size_t n = problem_.n_statistics();
    for (std::size_t i = 0; i < node.cases.kinds.size(); ++i)
        for (std::size_t c = 0; c < n; ++c)
            tree.class_weights(at)[c] += node.cases.part(i) * problem_.class_weights[node.cases.kinds[i] * n + c];
}

// With all cases at its only leaf.
Tree TreeLists::new_tree() const {
    Tree tree;
    tree.n_classes = problem_.n_classes;
    tree.n_deviations = problem_.n_deviations;
    tree.add_leaves(1);
    add_weights(root_, tree, 0);
    return tree;
}

Tree TreeLists::built(const Start& start, const Part& left, const Part& right) {
    Tree tree = new_tree();
    if (start.whole) {
        build_below(children_[left.children], root_, tree, 0);
        return tree;
    }
    const std::vector<Node> nodes = solver_.divide(root_, start.question, start.option);
    const int first = build_split(root_, start.question, start.option, nodes, tree, 0);
    for (std::size_t b = 0; b < nodes.size(); ++b) {
        const std::size_t child = b + 1 < nodes.size() ? left.children + b : right.children;
        add_weights(nodes[b], tree, first + static_cast<int>(b));
        build_below(children_[child], nodes[b], tree, first + static_cast<int>(b));
    }
    return tree;
}

void TreeLists::build_below(int subtree, const Node& node, Tree& tree, int at) {
    if (subtree < 0) return;
    const Subtree& own = subtrees_[static_cast<std::size_t>(subtree)];
    const std::vector<Node> nodes = solver_.divide(node, own.question, own.option);
    const int first = build_split(node, own.question, own.option, nodes, tree, at);
    for (std::size_t b = 0; b < nodes.size(); ++b) {
        add_weights(nodes[b], tree, first + static_cast<int>(b));
        build_below(children_[own.children + b], nodes[b], tree, first + static_cast<int>(b));
    }
}

int TreeLists::build_split(const Node& node, int question, int option, const std::vector<Node>& nodes, Tree& tree, int at) {
    const Question& asked = problem_.questions[static_cast<std::size_t>(question)];
    const int first = tree.add_leaves(static_cast<int>(nodes.size()));
    tree.test[at] = asked.column;
    tree.first_child[at] = first;
    tree.n_children[at] = static_cast<int>(nodes.size());
    if (asked.numeric) {
        tree.threshold[at] = solver_.middle_cut(node, question, option);
        return first;
    }
    const Level& level = asked.levels[static_cast<std::size_t>(option)];
    tree.map_start[at] = static_cast<int>(tree.maps.size());
    tree.map_size[at] = asked.n_codes;
    tree.maps.insert(tree.maps.end(), level.branch_of.begin(), level.branch_of.end());
    return first;
}

// What the best tree costs, deeper and deeper: every depth is a limit for the next.
double lowest_cost(Solver& solver, const ExactPolicy& policy) {
    const Node root = solver.root();
    double best = root.leaf;
    for (int depth = 1; depth <= policy.max_depth && policy.max_leaves > 1; ++depth)
        best = std::min(best, solver.solve(root, 0, depth, policy.max_leaves, best + 2 * solver.slack()));
    return best;
}

}  // namespace

NearOptimalResult near_optimal_trees(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, const ExactPolicy& policy,
                                     int max_cuts, const NearOptimalPolicy& wanted, Clock::time_point deadline,
                                     Cancellation& cancellation) {
    const ExactProblem problem = make_problem(data, pricing, errors, max_cuts);
    ExactPolicy own = policy;
    own.memory = policy.memory / 3;  // for the solver, for the trees of a margin, and for those of the last one
    Solver solver(problem, pricing, errors, own);
    double base = 0, work = 0;
    for (double least : problem.least) base += least;
    NearOptimalResult result;
    std::unique_ptr<TreeLists> lists;
    try {
        cancellable_for(1, 1, cancellation, deadline, [&](int, int, Cancellation& polled) {
            solver.set_cancellation(&polled);
            const double best = lowest_cost(solver, own);
            for (double share : kShares) {
                if (wanted.margin == 0) share = 1;
                auto wider = std::make_unique<TreeLists>(problem, pricing, own, solver, best + share * wanted.margin, polled, work);
                NearOptimalResult found;
                wider->count(found);
                found.cost = best;
                found.share = share;
                result = std::move(found);
                lists = std::move(wider);
                if (share == 1) break;
            }
        });
    } catch (const DeadlinePassed&) {
    } catch (const WorkDone&) {
    } catch (const TooMany&) {
    }
    solver.set_cancellation(nullptr);
    result.cost += base;
    for (FirstTest& first : result.first) first.cost += base;
    for (TestUse& use : result.used) use.cost_without += base;
    if (!lists) return result;
    for (auto& [value, tree] : lists->cheapest(wanted.max_trees, wanted.by_structure, cancellation)) {
        finish_exact_tree(tree, data, pricing, errors);
        result.listed.push_back({std::move(tree), base + value});
    }
    return result;
}

}  // namespace worthwhile
