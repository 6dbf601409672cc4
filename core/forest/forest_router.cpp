#include "forest/forest_router.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "data/tree_check.hpp"
#include "parallel/parallel_for.hpp"
#include "route/case_walk.hpp"
#include "route/tree_walker.hpp"

namespace worthwhile {

namespace {

// One tree and the cases that walk down it.
class TreeRouter {
public:
    TreeRouter(const Tree& tree, const Table& table, const Pricing& pricing, const ErrorCosts& errors, bool by_share)
        : tree_(tree), pricing_(pricing), errors_(errors), by_share_(by_share), shares_(tree, node_probabilities),
          walker_(tree, table, pricing, subtrees_),
          case_walker_(tree, table, pricing, errors, AnswerPolicy::majority, shares_, subtrees_, false) {
        for (int node = 0; node < tree.size(); ++node) pure_.push_back(pure_leaf(node));
        if (any_commits(tree, pricing)) subtrees_ = SubtreeTests(tree, pricing);
    }

    struct Vote {
        int32_t answer;
        double price;  // what the case pays on top of what it has paid before
    };

    // Adds the class weights, or shares, of the leaf to `counts`.
    Vote vote(std::size_t row, TestSet& paid, double* counts) const {
        TestSet charged = paid;
        const int leaf = walker_.walk(0, row, charged);
        if (!tree_.leaf(leaf) && walker_.next(leaf, row) < 0) return mixed_vote(row, paid, counts);
        add_counts(leaf, counts);
        return {tree_.answer[leaf], pay(row, charged, paid)};
    }

    // The same for a case some of whose tests are not known yet; none if it waits for one of them.
    std::optional<Vote> vote_or_wait(std::size_t row, std::span<const uint8_t> known, TestSet& paid, AwaitedTest& awaited,
                                     double* counts) const {
        if (subtrees_.empty()) {  // no order commits to tests that are not known: nearly all cases take the short way
            TestSet charged = paid;
            const int leaf = walker_.walk(0, row, charged);
            if (tree_.leaf(leaf) || walker_.next(leaf, row) >= 0) {
                add_counts(leaf, counts);
                return Vote{tree_.answer[leaf], pay(row, charged, paid)};
            }
        }
        CaseState state{.charged = paid, .seen = pricing_.nothing()};
        case_walker_.walk(row, known, state);
        if (state.waiting < 0) return vote_where(state, row, paid, counts);
        awaited = {state.waiting, case_walker_.order(row, known, state, state.waiting)};
        paid = std::move(state.charged);
        return std::nullopt;
    }

    // The same as `vote` for a case that is known to end in a leaf, after these tests, a bit each.
    Vote vote_at(int leaf, uint64_t asked, std::size_t row, TestSet& paid, double* counts) const {
        add_counts(leaf, counts);
        TestSet charged = paid;
        for (; asked; asked &= asked - 1)
            if (const int test = std::countr_zero(asked); !charged.has(test)) pricing_.order(test, charged);
        return {tree_.answer[leaf], pay(row, charged, paid)};
    }

private:
    // Most leaves of a full tree have cases of one class: a seventh of the memory of all class weights, on covertype.
    struct PureLeaf {
        double weight;
        int32_t of_class;  // -1: not pure, or not a leaf
    };

    // Class weights of a leaf. An empty one stands for a single case with the class shares of the nearest node above that has any.
    const double* counts_at(int node) const { return tree_.weight(node) > 0 && !by_share_ ? tree_.class_weights(node) : shares_.at(node); }
    void add_counts(int leaf, double* counts) const {
        if (const PureLeaf& pure = pure_[static_cast<std::size_t>(leaf)]; pure.of_class >= 0) {
            counts[pure.of_class] += pure.weight;
            return;
        }
        const double* mine = counts_at(leaf);
        for (int c = 0; c < tree_.n_classes; ++c) counts[c] += mine[c];
    }

    PureLeaf pure_leaf(int node) const {
        PureLeaf found{0, -1};
        if (!tree_.leaf(node)) return found;
        for (int c = 0; c < tree_.n_classes; ++c) {
            if (tree_.class_weights(node)[c] <= 0) continue;
            if (found.of_class >= 0) return {0, -1};
            found = {by_share_ ? 1 : tree_.class_weights(node)[c], c};
        }
        return found;
    }

    double pay(std::size_t row, TestSet& charged, TestSet& paid) const {
        if (charged == paid) return 0;
        const double price = pricing_.price(charged, paid, row);
        paid = std::move(charged);
        return price;
    }

    // A case without some value that the tree asks for: it ends in several leaves.
    Vote mixed_vote(std::size_t row, TestSet& paid, double* counts) const {
        CaseState state{.charged = paid, .seen = pricing_.nothing()};
        case_walker_.walk(row, {}, state);
        return vote_where(state, row, paid, counts);
    }

    Vote vote_where(CaseState& state, std::size_t row, TestSet& paid, double* counts) const {
        for (const CasePart& part : state.parts)
            for (int c = 0; c < tree_.n_classes; ++c) counts[c] += part.share * counts_at(part.node)[c];
        const std::vector<double> mix = case_walker_.mixture(state.parts);
        return {state.divided() ? static_cast<int32_t>(errors_.best_answer(mix.data(), AnswerPolicy::majority))
                                : tree_.answer[state.parts[0].node],
                pay(row, state.charged, paid)};
    }

    const Tree& tree_;
    const Pricing& pricing_;
    const ErrorCosts& errors_;
    const bool by_share_;
    const NodeShares shares_;
    SubtreeTests subtrees_;  // made if orders may commit
    const TreeWalker walker_;
    const CaseWalker case_walker_;
    std::vector<PureLeaf> pure_;
};

// A tree for forests without missing values, nominal and delayed tests: cases are walked side by side, so that none waits for another's
// memory. A leaf leads to itself.
class FastTree {
public:
    FastTree(const Tree& tree, const Table& table) {
        static constexpr double kNothing = 0;  // for columns that are never asked
        for (const Column& column : table.columns)
            columns_.push_back(column.numeric() ? std::pair{column.values, column.stride} : std::pair{&kNothing, std::ptrdiff_t{0}});
        if (columns_.empty()) columns_.push_back({&kNothing, 0});
        for (int node = 0; node < tree.size(); ++node) {
            const bool leaf = tree.leaf(node);
            nodes_.push_back({tree.threshold[node], leaf ? node : tree.first_child[node], static_cast<uint16_t>(leaf ? 0 : tree.test[node]),
                              static_cast<uint16_t>(!leaf)});
        }
    }

    // Whether every test that the trees ask is numeric, known for every case, and one of the first 64.
    static bool can_walk(const std::vector<const Tree*>& trees, const Table& table) {
        std::vector<uint8_t> asked(table.columns.size(), 0);
        for (const Tree* tree : trees)
            for (int test : tree->test)
                if (test >= 0) asked[static_cast<std::size_t>(test)] = 1;
        for (std::size_t c = 0; c < asked.size(); ++c) {
            if (!asked[c]) continue;
            const Column& column = table.columns[c];
            if (c >= 64 || !column.numeric()) return false;
            for (std::size_t row = 0; table.has_missing && row < table.n_cases; ++row)
                if (std::isnan(column.value(row))) return false;
        }
        return true;
    }

    // Where a case is, and which tests it was asked on the way, a bit each.
    struct Place {
        int leaf;
        uint64_t asked;
    };
    using Group = std::array<Place, 8>;

    void walk(std::size_t first, std::size_t n, Group& group) const {
        group.fill({0, 0});
        for (bool on = true; on;) {
            on = false;
            for (std::size_t i = 0; i < n; ++i) {
                const FastNode& node = nodes_[static_cast<std::size_t>(group[i].leaf)];
                const auto& [values, stride] = columns_[node.test];
                const double v = values[static_cast<std::ptrdiff_t>(first + i) * stride];
                group[i].asked |= static_cast<uint64_t>(node.inner) << node.test;
                group[i].leaf = node.child + (node.inner & (v > node.threshold));
                on |= node.inner;
            }
        }
    }

private:
    struct FastNode {
        double threshold;
        int32_t child;
        uint16_t test, inner;
    };

    std::vector<std::pair<const double*, std::ptrdiff_t>> columns_;
    std::vector<FastNode> nodes_;
};

}  // namespace

bool KnownTests::waits_for(std::size_t row, std::size_t n_tests) const {
    if (known.empty()) return false;
    const auto own = of(row, n_tests);
    return std::any_of(own.begin(), own.end(), [](uint8_t k) { return !k; });
}

ForestRouter::ForestRouter(const Table& table, Pricing pricing, const ErrorCosts& errors, bool shares, KnownTests known)
    : table_(table), pricing_(std::move(pricing)), errors_(errors), shares_(shares), known_(known),
      paid_(table.n_cases, pricing_.nothing()),
      awaited_(known.known.empty() ? 0 : table.n_cases, AwaitedTest{-1, {pricing_.nothing(), pricing_.nothing()}}) {
    const std::size_t n_tests = static_cast<std::size_t>(pricing_.n_tests());
    for (std::size_t i = 0; i < known.paid.size(); ++i)
        if (known.paid[i]) paid_[i / n_tests].add(static_cast<int>(i % n_tests));
}

// Votes are counted by class: a tree of a forest has no other answers.
void ForestRouter::check(const Tree& tree) const {
    check_tests(tree, table_, pricing_);
    check_answers(tree, errors_.n_classes, errors_.n_classes);
}

namespace {

// The sets of all cases, one after the other.
template <class Cases, class SetOf>
std::vector<uint64_t> words_of(const Cases& cases, SetOf set_of) {
    std::vector<uint64_t> words;
    for (const auto& each : cases) {
        const TestSet& tests = set_of(each);
        for (std::size_t w = 0; w < tests.n_words(); ++w) words.push_back(tests.word(w));
    }
    return words;
}

}  // namespace

std::vector<uint64_t> ForestRouter::charged() const {
    return words_of(paid_, [](const TestSet& tests) -> const TestSet& { return tests; });
}

std::vector<int32_t> ForestRouter::awaited() const {
    std::vector<int32_t> tests;
    for (const AwaitedTest& each : awaited_) tests.push_back(each.test);
    return tests;
}

std::vector<uint64_t> ForestRouter::ordered() const {
    return words_of(awaited_, [&](const AwaitedTest& each) -> const TestSet& { return each.order.charged; });
}

std::vector<uint64_t> ForestRouter::committed() const {
    return words_of(awaited_, [&](const AwaitedTest& each) -> const TestSet& { return each.order.commits; });
}

TreeVotes ForestRouter::consult(const Tree& tree, std::span<const uint8_t> who, int n_threads, Cancellation& cancellation) {
    constexpr std::size_t kChunk = 1 << 12;
    const std::size_t n = table_.n_cases, n_tests = static_cast<std::size_t>(pricing_.n_tests());
    check(tree);
    TreeVotes out{std::vector<int32_t>(n, -1), std::vector<double>(n * static_cast<std::size_t>(tree.n_classes), 0.0),
                  std::vector<double>(n, 0.0)};
    const TreeRouter router(tree, table_, pricing_, errors_, shares_);
    parallel_for(static_cast<int>((n + kChunk - 1) / kChunk), n_threads, [&](int chunk, int thread) {
        if (thread == 0) cancellation.poll();
        const std::size_t end = std::min(n, (static_cast<std::size_t>(chunk) + 1) * kChunk);
        for (std::size_t row = static_cast<std::size_t>(chunk) * kChunk; row < end; ++row)
            if (who.empty() || who[row]) {
                double* counts = out.counts.data() + row * static_cast<std::size_t>(tree.n_classes);
                const auto vote = known_.waits_for(row, n_tests)
                                      ? router.vote_or_wait(row, known_.of(row, n_tests), paid_[row], awaited_[row], counts)
                                      : std::optional(router.vote(row, paid_[row], counts));
                if (!vote) continue;
                out.answer[row] = vote->answer;
                out.price[row] = vote->price;
            }
    });
    return out;
}

ForestVotes ForestRouter::consult_all(const std::vector<const Tree*>& trees, int n_threads, Cancellation& cancellation) {
    // This many cases share what they see of a tree in the cache; with fewer, or with all 58,101 of covertype's, it takes half as long again.
    constexpr std::size_t kChunk = 1 << 13;
    const std::size_t n = table_.n_cases, k = static_cast<std::size_t>(errors_.n_classes);
    ForestVotes out{std::vector<int32_t>(n * k, 0), std::vector<double>(n * k, 0.0), std::vector<double>(n, 0.0)};
    std::deque<TreeRouter> routers;
    std::vector<FastTree> fast;
    for (const Tree* tree : trees) check(*tree);
    const bool plain = pricing_.n_surcharges() == 0 && !pricing_.has_cap() &&
                       std::none_of(trees.begin(), trees.end(), [&](const Tree* tree) { return any_commits(*tree, pricing_); });
    const bool quick = plain && FastTree::can_walk(trees, table_);
    for (const Tree* tree : trees) {
        routers.emplace_back(*tree, table_, pricing_, errors_, shares_);
        if (quick) fast.emplace_back(*tree, table_);
    }
    const auto note = [&](std::size_t row, const TreeRouter::Vote& vote) {
        ++out.votes[row * k + static_cast<std::size_t>(vote.answer)];
        out.price[row] += vote.price;
    };
    parallel_for(static_cast<int>((n + kChunk - 1) / kChunk), n_threads, [&](int chunk, int thread) {
        if (thread == 0) cancellation.poll();
        const std::size_t begin = static_cast<std::size_t>(chunk) * kChunk, end = std::min(n, begin + kChunk);
        for (std::size_t t = 0; t < trees.size(); ++t) {
            if (!quick) {
                for (std::size_t row = begin; row < end; ++row) note(row, routers[t].vote(row, paid_[row], out.counts.data() + row * k));
                continue;
            }
            FastTree::Group group;
            for (std::size_t row = begin; row < end; row += group.size()) {
                fast[t].walk(row, std::min(end - row, group.size()), group);
                for (std::size_t i = 0; i < group.size() && row + i < end; ++i)
                    note(row + i,
                         routers[t].vote_at(group[i].leaf, group[i].asked, row + i, paid_[row + i], out.counts.data() + (row + i) * k));
            }
        }
    });
    return out;
}

}  // namespace worthwhile
