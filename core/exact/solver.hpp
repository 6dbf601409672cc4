// Trees of least cost on some cases, proven: depth first, with bounds and a cache (docs/design/exact-search.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/tree.hpp"
#include "exact/contexts.hpp"
#include "exact/problem.hpp"
#include "parallel/cancellation.hpp"

namespace worthwhile {

constexpr int kAnyLeaves = std::numeric_limits<int>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline double lowest(const double* values, int n) { return *std::min_element(values, values + n); }

// Kinds of cases at a node, in rising order; `parts`, unless empty: the share of each that is there, where values are missing.
struct KindSet {
    std::vector<uint32_t> kinds;
    std::vector<double> parts;
    double part(std::size_t i) const { return parts.empty() ? 1.0 : parts[i]; }
};

// The cases of a node with their sums, what they cost if it is a leaf, and a hash of the set.
struct Node {
    KindSet cases;
    std::vector<double> loss;  // by answer
    double weight = 0, leaf = 0;
    uint64_t hash[2] = {0, 0};
};

// What a node does in the best tree.
struct Decision {
    enum Kind : uint8_t { unknown, leaf, ask, commit } kind = unknown;
    int question = -1, option = -1;  // commit: of the first test, if that is not the best one
    int context = -1;                // commit: in which the tree goes on
};

struct ExactPolicy {
    int max_depth = 4;
    int max_leaves = kAnyLeaves;
    int deepest = 0;        // levels of a tree that is grown further below the proven one; 0: it is not
    int horizon = 0;        // how many levels each of its nodes looks ahead
    double leaf_price = 0;  // on the scale of the sums over all cases
    std::size_t memory = std::size_t{1} << 30;
    double work = kInfinity;  // of every solver, about in nanoseconds; more raises WorkDone
};

// Tests that are sure to be in one order, and tests that are not.
struct OrderChoice {
    TestSet in, out;
};

// A tree all of whose tests are ordered at once.
struct OrderValue {
    double cost = 0;
    TestSet usable;      // the tests that it asks, and what was paid for before
    int undecided = -1;  // the first test that it asks and that was not sure to be in the order
};

// The solver has done as much as it was allowed to.
struct WorkDone {};

class Solver {
public:
    Solver(const ExactProblem& problem, const Pricing& pricing, const ErrorCosts& errors, const ExactPolicy& policy);

    // What the best tree costs at a node; if it would be `limit` or more, any lower bound that is at least `limit`.
    double solve(const Node& node, int context, int depth, int leaves, double limit);
    // What asking a question costs: the price for the cases, or infinite.
    double price(const Node& node, const Order& order, int question) const;
    // The nodes below an option; empty if fewer than two of them have cases.
    std::vector<Node> divide(const Node& node, int question, int option) const;
    // What the best trees below these nodes cost; if they would be `limit` or more, any bound that is at least `limit`.
    // `parts`: a bound for each of them.
    double solve_all(const std::vector<Node>& nodes, int context, int depth, int leaves, double limit,
                     std::vector<double>* parts = nullptr);
    // Adds the best tree at `at` of a tree; it must have been solved to the end. Returns what it costs; `build_below`: without its first test.
    double build(const Node& node, int context, int depth, int leaves, Tree& tree, int at);
    double build_below(const Node& node, int question, int option, int context, int depth, int leaves, Tree& tree, int at);
    void add_weights(const Node& node, Tree& tree, int at) const;
    // From now on, trees are built deeper: every node below the root is solved again up to the horizon, within so many levels in total. What
    // ends that early is thrown at the end of it; until then, the rest of the tree is built as usual.
    void look_ahead(int horizon, int levels);
    void end_look_ahead();

    Node root() const;
    Contexts& contexts() { return contexts_; }
    double slack() const { return slack_; }
    double bound(const Node& node, const Context& context) const;
    // What it costs the cases of a node to order some tests at once; infinite if that breaks the cap.
    double price_of_set(const Node& node, const TestSet& tests, int context);
    // What a tree costs if all its tests are ordered at once; `in`: those that are sure to be.
    OrderValue value_of_order(const Node& node, int context, const Tree& tree, const TestSet& in);
    // Adds the two choices about a test, the order with it last; none without a test.
    static void branch_on(const OrderChoice& choice, int test, std::vector<OrderChoice>& open);
    // The context in which all tests that are not ruled out may be asked for nothing.
    int free_context(const TestSet& paid, const TestSet& out);
    // The cut that a tree gets for an option: of those that divide these cases in the same way, the one in the middle.
    double middle_cut(const Node& node, int question, int option) const;
    // Estimates for the order in which questions are tried: by question, what the best single split costs.
    std::vector<double> estimates(const Node& node, int context);
    void set_cancellation(Cancellation* cancellation) { cancellation_ = cancellation; }

private:
    struct Key {
        uint64_t a, b;
        int32_t context, depth, leaves;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return key.a ^ (static_cast<uint64_t>(key.context) * 0x9E3779B97F4A7C15) ^ (static_cast<uint64_t>(key.depth) << 56) ^
                   (static_cast<uint64_t>(key.leaves) * 0xBF58476D1CE4E5B9);
        }
    };
    struct Entry {
        double bound = 0;
        bool exact = false;
        Decision decision;
    };
    using Cache = std::unordered_map<Key, Entry, KeyHash>;
    struct Search;  // one node being solved
    // A node that was solved, and what its best tree costs at least.
    struct Solved {
        std::vector<uint32_t> kinds;
        double bound = 0;
    };
    // The latest ones of a context and depth; the oldest is replaced first.
    struct Recent {
        std::array<Solved, 4> solved;
        std::size_t next = 0;
    };

    // Sums of some cases over pairs of questions in which both have the rarer value, and over single questions; all binary.
    struct PairSums {
        uint64_t hash[2] = {0, 0};
        bool known = false;
        std::vector<double> losses, pairs;   // answers x questions, and questions x answers x questions: above the diagonal
        std::vector<double> weights, kinds;  // by question
        bool of(const Node& node) const { return known && hash[0] == node.hash[0] && hash[1] == node.hash[1]; }
    };

    void poll();
    void count_pairs(const Node& node, PairSums& sums) const;
    double counting_work(const Node& node) const;
    const Node* sibling_of(const Node& node) const;
    const PairSums& pair_sums(const Node& node);
    void add(Node& node, uint32_t kind, double part) const;
    Entry* find(const Key& key);
    void keep(const Key& key, const Entry& entry);
    double bound_of_similar(const Node& node, int context, int depth, double wanted) const;
    void remember(const Node& node, int context, int depth, double bound);
    Entry solve_new(const Node& node, int context, int depth, int leaves, double limit);
    void try_questions(Search& search);
    void try_cuts(Search& search, int question, double price);
    void try_commits(Search& search);
    void try_first_of_order(Search& search, const TestSet& tests, double price);
    bool takes_time(int test, const TestSet& paid) const;
    double evaluate(Search& search, int question, int option, double price, std::vector<double>* parts = nullptr);
    double share_leaves(const std::vector<Node>& nodes, int context, int depth, int leaves, double limit);

    void count(const Node& node, std::vector<double>& sums) const;
    void count_rare(const Node& node, std::vector<double>& sums) const;
    template <int N, class Sums>
    double best_split(const Sums& sums, int question, const double* total, int& option) const;
    template <int N, class Sums>
    double best_with_one(const Sums& sums, const double* total, const Context& context) const;
    Entry solve_one(const Node& node, int context);
    Entry solve_two(const Node& node, int context);
    template <int N>
    Entry solve_two(const Node& node, int context);
    template <int N>
    Entry solve_two_binary(const Node& node, int context);

    Decision decide(const Node& node, int context, int depth, int leaves);
    int depth_ahead(const Node& node, int context, int depth);
    std::vector<int> leaves_of(const std::vector<Node>& nodes, int context, int depth, int leaves);

    const ExactProblem& problem_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const ExactPolicy policy_;
    Contexts contexts_;
    Cancellation* cancellation_ = nullptr;
    Cache young_, old_;  // the old one is dropped when the young one is full
    std::size_t capacity_;
    std::map<std::pair<int, int>, Recent> recent_;  // by context and depth
    std::size_t recent_size_ = 0;                   // kinds in it
    bool compares_ = false;                         // whether similar nodes bound each other
    std::vector<double> highest_;                   // by kind: the most that its cases can cost
    std::vector<uint64_t> marks_;                   // two random numbers per kind
    std::vector<std::size_t> offset_;               // by question: its first place among the values of all questions
    std::size_t width_ = 0;                         // of the sums over the cases with a value: losses, weight
    int most_branches_ = 2;
    int horizon_ = 0, levels_left_ = 0;  // while a tree is built deeper
    std::exception_ptr ended_;           // what ended that
    mutable double work_ = 0;
    double slack_ = 0;        // trees whose costs differ by less are equally good
    double worst_price_ = 0;  // the most that a case may pay
    std::vector<double> sums_, left_;
    mutable std::vector<double> buffers_[6];
    std::vector<double> below_;
    PairSums parent_, smaller_, current_;          // of the latest parent, of the smaller one of its branches, and of a node
    uint64_t latest_parent_[2] = {0, 0};           // whose branches were asked for last
    const std::vector<Node>* siblings_ = nullptr;  // branches of one question that are being solved, two levels before the end
};

}  // namespace worthwhile
