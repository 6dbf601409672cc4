// The last one or two splits of a tree, from sums over the values of all questions instead of by recursion.
#include <algorithm>
#include <functional>
#include <iterator>

#include "exact/solver.hpp"

namespace worthwhile {

// The sums of the kinds at a node by question and code: losses, and weight.
void Solver::count(const Node& node, std::vector<double>& sums) const {
    if (problem_.binary) return count_rare(node, sums);
    work_ += static_cast<double>(sums.size() + node.cases.kinds.size() * problem_.questions.size() * width_);
    std::fill(sums.begin(), sums.end(), 0.0);
    const std::size_t answers = static_cast<std::size_t>(problem_.n_answers);
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        const std::vector<uint32_t>& codes = problem_.codes[q];
        const auto n_codes = static_cast<uint32_t>(problem_.questions[q].n_codes);
        double* own = sums.data() + offset_[q] * width_;
        for (std::size_t i = 0; i < node.cases.kinds.size(); ++i) {
            const uint32_t kind = node.cases.kinds[i];
            if (codes[kind] == n_codes) continue;
            const double part = node.cases.part(i);
            double* to = own + codes[kind] * width_;
            const double* loss = problem_.loss.data() + kind * answers;
            for (std::size_t a = 0; a < answers; ++a) to[a] += part * loss[a];
            to[answers] += part * problem_.weight[kind];
        }
    }
}

// Counts the rarer value of each question; what has the other one is the difference.
void Solver::count_rare(const Node& node, std::vector<double>& sums) const {
    const std::size_t t = problem_.questions.size(), k = static_cast<std::size_t>(problem_.n_answers);
    std::fill(sums.begin(), sums.end(), 0.0);
    std::vector<std::size_t> n_kinds(t, 0);
    std::size_t n_ones = 0;
    for (uint32_t kind : node.cases.kinds) {
        const double* loss = problem_.loss.data() + kind * k;
        const uint32_t *one = problem_.ones.data() + problem_.ones_start[kind], *end = problem_.ones.data() + problem_.ones_start[kind + 1];
        n_ones += static_cast<std::size_t>(end - one);
        for (; one != end; ++one) {
            double* to = sums.data() + (2 * *one + problem_.rare[*one]) * width_;
            for (std::size_t a = 0; a < k; ++a) to[a] += loss[a];
            to[k] += problem_.weight[kind];
            ++n_kinds[*one];
        }
    }
    for (std::size_t q = 0; q < t; ++q) {
        if (n_kinds[q] == node.cases.kinds.size()) continue;  // nothing has the other value, whatever rounding says
        const double* counted = sums.data() + (2 * q + problem_.rare[q]) * width_;
        double* rest = sums.data() + (2 * q + 1 - problem_.rare[q]) * width_;
        for (std::size_t a = 0; a < k; ++a) rest[a] = node.loss[a] - counted[a];
        rest[k] = node.weight - counted[k];
    }
    work_ += static_cast<double>(sums.size() + n_ones * width_);
}

namespace {

// The sums of a part of the cases, by question and code: given, or what is left of the whole without another part.
struct Given {
    const double* sums;
    double at(std::size_t i) const { return sums[i]; }
    Given from(std::size_t i) const { return {sums + i}; }
};
struct Rest {
    const double *whole, *part;
    double at(std::size_t i) const { return whole[i] - part[i]; }
    Rest from(std::size_t i) const { return {whole + i, part + i}; }
};

// What the best cut of a numeric question costs cases that all have a value; `sums` by code. N: the number of answers, 0: any. Most problems have
// two or three, and sums of a known length stay in registers: with this and `sort_by_code`, fits to heart take .65 of the time.
template <int N, class Sums>
double best_cut(const Sums& sums, int n_codes, const double* total, std::size_t n_answers, double leaf_price, double* scratch,
                int& option) {
    const std::size_t answers = N > 0 ? N : n_answers, width = answers + 1;
    double fixed[N + 1];
    double* part = N > 0 ? fixed : scratch;
    std::fill(part, part + width, 0.0);
    double best = kInfinity;
    for (int cut = 0; cut + 1 < n_codes; ++cut) {
        const std::size_t at = static_cast<std::size_t>(cut) * width;
        if (sums.at(at + answers) <= 0) continue;
        for (std::size_t i = 0; i <= answers; ++i) part[i] += sums.at(at + i);
        if (part[answers] >= total[answers] * (1 - 1e-14)) break;
        double left = kInfinity, right = kInfinity;
        for (std::size_t a = 0; a < answers; ++a) {
            left = std::min(left, part[a]);
            right = std::min(right, total[a] - part[a]);
        }
        const double cost = left + right + 2 * leaf_price;
        if (cost < best) best = cost, option = cut;
    }
    return best;
}

// Kinds in rising order, sorted by their codes; those of the same code stay in order.
void sort_by_code(const std::vector<uint32_t>& kinds, const std::vector<uint32_t>& codes, std::size_t n_codes,
                  std::vector<uint32_t>& sorted) {
    if (n_codes > 4 * kinds.size()) {
        sorted = kinds;
        std::stable_sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) { return codes[a] < codes[b]; });
        return;
    }
    std::vector<uint32_t> place(n_codes + 1, 0);
    for (uint32_t kind : kinds) ++place[codes[kind] + 1];
    for (std::size_t code = 0; code < n_codes; ++code) place[code + 1] += place[code];
    sorted.resize(kinds.size());
    for (uint32_t kind : kinds) sorted[place[codes[kind]]++] = kind;
}

// Calls a function with the number of answers as a constant, 0 if there are many.
template <class Function>
auto with_answers(int n_answers, Function function) {
    switch (n_answers) {
        case 2:
            return function.template operator()<2>();
        case 3:
            return function.template operator()<3>();
        case 4:
            return function.template operator()<4>();
        case 5:
            return function.template operator()<5>();
        default:
            return function.template operator()<0>();
    }
}

}  // namespace

// What the best split by one question costs some cases, without its price: the lowest sum over the branches of what their best answers cost.
// `total`: losses by answer and the weight of all of them.
template <int N, class Sums>
double Solver::best_split(const Sums& sums, int question, const double* total, int& option) const {
    const Question& asked = problem_.questions[static_cast<std::size_t>(question)];
    const std::size_t answers = static_cast<std::size_t>(N > 0 ? N : problem_.n_answers),
                      first = offset_[static_cast<std::size_t>(question)] * width_;
    work_ += static_cast<double>(static_cast<std::size_t>(asked.n_codes) * (asked.numeric ? width_ : width_ * asked.levels.size()));
    if (asked.numeric && !problem_.has_missing)
        return best_cut<N>(sums.from(first), asked.n_codes, total, answers, policy_.leaf_price, buffers_[2].data(), option);
    double best = kInfinity;
    double *known = buffers_[0].data(), *lost = buffers_[1].data();  // the sums of cases with and without a value
    bool any_missing = false;
    if (problem_.has_missing) {
        std::fill(known, known + width_, 0.0);
        for (int code = 0; code < asked.n_codes; ++code)
            for (std::size_t i = 0; i <= answers; ++i) known[i] += sums.at(first + static_cast<std::size_t>(code) * width_ + i);
        for (std::size_t i = 0; i <= answers; ++i) lost[i] = total[i] - known[i];
        any_missing = lost[answers] > 1e-12 * total[answers];
        if (known[answers] <= 0) return best;
        if (any_missing) total = known;
    }
    const auto cost_of = [&](const double* part) {  // of a branch with its share of the cases without a value
        double low = kInfinity;
        const double share = any_missing ? part[answers] / known[answers] : 0.0;
        for (std::size_t a = 0; a < answers; ++a) low = std::min(low, part[a] + (any_missing ? share * lost[a] : 0.0));
        return low;
    };
    double *part = buffers_[2].data(), *rest = buffers_[3].data();
    if (asked.numeric) {
        std::fill(part, part + width_, 0.0);
        for (int cut = 0; cut + 1 < asked.n_codes; ++cut) {
            const std::size_t at = first + static_cast<std::size_t>(cut) * width_;
            if (sums.at(at + answers) <= 0) continue;
            for (std::size_t i = 0; i <= answers; ++i) part[i] += sums.at(at + i);
            if (part[answers] >= total[answers] * (1 - 1e-14)) break;
            for (std::size_t i = 0; i <= answers; ++i) rest[i] = total[i] - part[i];
            const double cost = cost_of(part) + cost_of(rest) + 2 * policy_.leaf_price;
            if (cost < best) best = cost, option = cut;
        }
        return best;
    }
    for (int o = 0; o < asked.n_options(); ++o) {
        const Level& level = asked.levels[static_cast<std::size_t>(o)];
        double cost = level.n_branches * policy_.leaf_price;
        int filled = 0;
        for (int b = 0; b < level.n_branches; ++b) {
            std::fill(part, part + width_, 0.0);
            for (int code = 0; code < asked.n_codes; ++code)
                if (level.branch_of[static_cast<std::size_t>(code)] == b)
                    for (std::size_t i = 0; i <= answers; ++i) part[i] += sums.at(first + static_cast<std::size_t>(code) * width_ + i);
            if (part[answers] <= 0) continue;
            ++filled;
            cost += cost_of(part);
        }
        if (filled > 1 && cost < best) best = cost, option = o;
    }
    return best;
}

std::vector<double> Solver::estimates(const Node& node, int context) {
    count(node, sums_);
    std::vector<double> total(node.loss), found;
    total.push_back(node.weight);
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        const Order& order = contexts_[context].orders[q];
        int option = 0;
        const double value = order.allowed ? best_split<0>(Given{sums_.data()}, static_cast<int>(q), total.data(), option) : kInfinity;
        found.push_back(std::isfinite(value) ? value + price(node, order, static_cast<int>(q)) : kInfinity);
    }
    return found;
}

Solver::Entry Solver::solve_one(const Node& node, int context) {
    Entry best{node.leaf, true, {Decision::leaf, -1, -1, -1}};
    count(node, sums_);
    std::vector<double> total(node.loss);
    total.push_back(node.weight);
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        const Order& order = contexts_[context].orders[q];
        const double due = price(node, order, static_cast<int>(q));
        if (due + 2 * policy_.leaf_price >= best.bound - slack_) continue;
        int option = -1;
        const double value = due + best_split<0>(Given{sums_.data()}, static_cast<int>(q), total.data(), option);
        if (value < best.bound - slack_) best = {value, true, {Decision::ask, static_cast<int>(q), option, -1}};
    }
    return best;
}

// ---- a split below a split

// What some cases cost with at most one more question. `total`: losses by answer, and weight.
template <int N, class Sums>
double Solver::best_with_one(const Sums& sums, const double* total, const Context& context) const {
    const std::size_t answers = static_cast<std::size_t>(problem_.n_answers);
    const double weight = total[answers];
    double best = lowest(total, problem_.n_answers) + policy_.leaf_price;
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        const double due = context.prices[q] * weight;
        if (!(due + 2 * policy_.leaf_price < best - slack_)) continue;
        int option = 0;
        best = std::min(best, due + best_split<N>(sums, static_cast<int>(q), total, option));
    }
    return best;
}

template <int N>
Solver::Entry Solver::solve_two(const Node& node, int context) {
    const std::size_t answers = static_cast<std::size_t>(N > 0 ? N : problem_.n_answers), width = answers + 1;
    Entry best = solve_one(node, context);  // also counts
    std::vector<double> total(node.loss);
    total.push_back(node.weight);
    double *part = buffers_[4].data(), *rest = buffers_[5].data();
    const auto clear = [&] {
        std::fill(left_.begin(), left_.end(), 0.0);
        std::fill(part, part + width_, 0.0);
    };
    const auto move = [&](uint32_t kind) {
        work_ += static_cast<double>(problem_.questions.size() * width_);
        const double* loss = problem_.loss.data() + kind * answers;
        const double weight = problem_.weight[kind];
        for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
            double* to = left_.data() + (offset_[q] + problem_.codes[q][kind]) * width;
            for (std::size_t a = 0; a < answers; ++a) to[a] += loss[a];
            to[answers] += weight;
        }
        for (std::size_t a = 0; a < answers; ++a) part[a] += loss[a];
        part[answers] += weight;
    };
    const auto set_rest = [&] {
        for (std::size_t i = 0; i < width_; ++i) rest[i] = total[i] - part[i];
    };
    std::vector<uint32_t> kinds;
    for (std::size_t q = 0; q < problem_.questions.size(); ++q) {
        const Question& asked = problem_.questions[q];
        const double due = contexts_[context].prices[q] * node.weight;
        if (contexts_[context].orders[q].commits || !(due + 2 * policy_.leaf_price < best.bound - slack_)) continue;
        const Context& next = contexts_[contexts_.after(context, static_cast<int>(q))];
        const std::vector<uint32_t>& codes = problem_.codes[q];
        sort_by_code(node.cases.kinds, codes, static_cast<std::size_t>(asked.n_codes), kinds);
        if (asked.numeric) {
            clear();
            // Of the last cut that was looked at: what its parts cost, and how much less the right one may cost by now.
            double left = policy_.leaf_price, right = policy_.leaf_price, moved = 0;
            for (std::size_t i = 0; i + 1 < kinds.size(); ++i) {
                move(kinds[i]);
                moved += problem_.most[kinds[i]] + worst_price_ * problem_.weight[kinds[i]];
                if (codes[kinds[i]] == codes[kinds[i + 1]]) continue;
                set_rest();
                const double at_least = due + left + std::max(right - moved, policy_.leaf_price);
                if (at_least >= best.bound - slack_) continue;
                poll();
                left = best_with_one<N>(Given{left_.data()}, part, next);
                right = kInfinity;
                moved = 0;
                if (due + left + policy_.leaf_price >= best.bound - slack_) {
                    right = policy_.leaf_price;
                    continue;
                }
                right = best_with_one<N>(Rest{sums_.data(), left_.data()}, rest, next);
                if (due + left + right < best.bound - slack_)
                    best = {due + left + right, true, {Decision::ask, static_cast<int>(q), static_cast<int>(codes[kinds[i]]), -1}};
            }
            continue;
        }
        for (int option = 0; option < asked.n_options(); ++option) {
            const Level& level = asked.levels[static_cast<std::size_t>(option)];
            double value = due;
            int filled = 0;
            for (int b = 0; b < level.n_branches && value < best.bound; ++b) {
                clear();
                bool any = false;
                for (uint32_t kind : kinds)
                    if (level.branch_of[codes[kind]] == b) move(kind), any = true;
                filled += any;
                value += any ? best_with_one<N>(Given{left_.data()}, part, next) : policy_.leaf_price;
                if (level.n_branches != 2 || b == 1) continue;
                set_rest();
                if (!any || rest[answers] <= 0) break;
                value += best_with_one<N>(Rest{sums_.data(), left_.data()}, rest, next);
                filled = 2;
                break;
            }
            if (filled > 1 && value < best.bound - slack_) best = {value, true, {Decision::ask, static_cast<int>(q), option, -1}};
        }
    }
    return best;
}

// ---- the same where every question has two values

namespace {

// The sums of three nodes are kept only up to this size: 16 MB each.
constexpr std::size_t kMostPairs = std::size_t{1} << 21;

}  // namespace

// About how much work it is to count the pairs of a node.
double Solver::counting_work(const Node& node) const {
    double work = 0;
    for (uint32_t kind : node.cases.kinds) {
        const double ones = problem_.ones_start[kind + 1] - problem_.ones_start[kind];
        work += ones * ones;
    }
    return work * problem_.n_answers / 2;
}

// Only the rarer value of each question is counted; what has the other one is the difference (Demirovic et al. 2022).
void Solver::count_pairs(const Node& node, PairSums& sums) const {
    const std::size_t t = problem_.questions.size(), k = static_cast<std::size_t>(problem_.n_answers);
    work_ += counting_work(node);
    sums.losses.assign(k * t, 0.0);
    sums.pairs.assign(t * t * k, 0.0);
    sums.weights.assign(t, 0.0);
    sums.kinds.assign(t, 0.0);
    for (uint32_t kind : node.cases.kinds) {
        const double* loss = problem_.loss.data() + kind * k;
        const uint32_t *ones = problem_.ones.data() + problem_.ones_start[kind],
                       *end = problem_.ones.data() + problem_.ones_start[kind + 1];
        for (const uint32_t* i = ones; i != end; ++i) {
            double* row = sums.pairs.data() + *i * k * t;
            for (std::size_t a = 0; a < k; ++a, row += t) {
                if (loss[a] == 0) continue;
                sums.losses[a * t + *i] += loss[a];
                for (const uint32_t* j = i + 1; j != end; ++j) row[*j] += loss[a];
            }
            sums.weights[*i] += problem_.weight[kind];
            sums.kinds[*i] += 1;
        }
    }
    sums.known = true;
    std::copy(std::begin(node.hash), std::end(node.hash), sums.hash);
}

// The other branch of the question that leads to a node that is being solved, if it is known.
const Node* Solver::sibling_of(const Node& node) const {
    if (!siblings_ || siblings_->size() != 2) return nullptr;
    const Node &first = siblings_->front(), &second = siblings_->back();
    return &node == &first ? &second : &node == &second ? &first : nullptr;
}

// The sums of a node. Its parent has many branches, so that it pays to count the parent, too: of every two branches, only the smaller one has to
// be counted then. With this, fits take .6 of their time on krk (depth 3) and nursery (depth 4), .9 on mushroom and annealing.
const Solver::PairSums& Solver::pair_sums(const Node& node) {
    if (smaller_.of(node)) return smaller_;
    if (current_.of(node)) return current_;
    const auto counted = [&](PairSums& sums) -> const PairSums& {
        count_pairs(node, sums);
        return sums;
    };
    const Node* other = sibling_of(node);
    const std::size_t t = problem_.questions.size(), n_pairs = t * t * static_cast<std::size_t>(problem_.n_answers);
    if (!other || other->cases.kinds.empty() || n_pairs > kMostPairs) return counted(current_);
    const uint64_t parent[2] = {node.hash[0] + other->hash[0], node.hash[1] + other->hash[1]};
    const bool again = parent[0] == latest_parent_[0] && parent[1] == latest_parent_[1];
    std::copy(std::begin(parent), std::end(parent), latest_parent_);
    const double work = counting_work(node), works = counting_work(*other);
    if (work <= works) return counted(smaller_);
    const double subtracting = static_cast<double>(n_pairs) + (smaller_.of(*other) ? 0.0 : works);
    if (!again || work <= subtracting) return counted(current_);  // of a single branch, the parent would be more work
    if (!parent_.known || !std::equal(std::begin(parent), std::end(parent), parent_.hash)) {
        Node both;
        both.cases.kinds.resize(node.cases.kinds.size() + other->cases.kinds.size());
        std::merge(node.cases.kinds.begin(), node.cases.kinds.end(), other->cases.kinds.begin(), other->cases.kinds.end(),
                   both.cases.kinds.begin());
        std::copy(std::begin(parent), std::end(parent), both.hash);
        count_pairs(both, parent_);
    }
    if (!smaller_.of(*other)) count_pairs(*other, smaller_);
    work_ += static_cast<double>(n_pairs);
    const auto subtract = [&](std::vector<double> PairSums::* some) {
        (current_.*some).resize((parent_.*some).size());
        std::transform((parent_.*some).begin(), (parent_.*some).end(), (smaller_.*some).begin(), (current_.*some).begin(), std::minus<>());
    };
    for (auto some : {&PairSums::losses, &PairSums::pairs, &PairSums::weights, &PairSums::kinds}) subtract(some);
    current_.known = true;
    std::copy(std::begin(node.hash), std::end(node.hash), current_.hash);
    return current_;
}

// The best tree with two questions on a path, from the sums over all pairs of questions.
template <int N>
Solver::Entry Solver::solve_two_binary(const Node& node, int context) {
    const int answers = N > 0 ? N : problem_.n_answers;
    const std::size_t t = problem_.questions.size(), k = static_cast<std::size_t>(answers);
    const PairSums& sums = pair_sums(node);
    const std::vector<double>&single = sums.losses, &weights = sums.weights, &pairs = sums.pairs;
    const Context& here = contexts_[context];
    const double leaf_price = policy_.leaf_price;
    Entry best{node.leaf, true, {Decision::leaf, -1, -1, -1}};
    double *with = buffers_[0].data(), *without = buffers_[1].data();  // losses of the cases with and without the rarer value
    for (std::size_t i = 0; i < t; ++i) {
        const double due = here.prices[i] * node.weight;
        if (here.orders[i].commits || !(due + 2 * leaf_price < best.bound - slack_)) continue;
        if (sums.kinds[i] == 0 || sums.kinds[i] == static_cast<double>(node.cases.kinds.size())) continue;
        const Context& next = contexts_[contexts_.after(context, static_cast<int>(i))];
        const double weight[2] = {weights[i], node.weight - weights[i]};
        double low[2] = {kInfinity, kInfinity};
        for (int a = 0; a < answers; ++a) {
            with[a] = single[static_cast<std::size_t>(a) * t + i];
            without[a] = node.loss[static_cast<std::size_t>(a)] - with[a];
            low[0] = std::min(low[0], with[a]);
            low[1] = std::min(low[1], without[a]);
        }
        double value[2], bound[2];
        for (int s = 0; s < 2; ++s) {
            value[s] = low[s] + leaf_price;
            bound[s] = std::min(value[s], 2 * leaf_price + next.cheapest * weight[s]);
        }
        if (due + bound[0] + bound[1] >= best.bound - slack_) continue;
        work_ += static_cast<double>(4 * t * k);
        double* below = below_.data();  // by question below: the best answer for each of the four parts
        std::fill_n(below, 4 * t, kInfinity);
        for (int a = 0; a < answers; ++a) {
            const double* all = single.data() + static_cast<std::size_t>(a) * t;
            const double* own = pairs.data() + (i * k + static_cast<std::size_t>(a)) * t;
            const double total_with = with[a], total_without = without[a];
            const auto consider = [&](std::size_t j, double both) {
                below[j] = std::min(below[j], both);
                below[t + j] = std::min(below[t + j], total_with - both);
                const double other = all[j] - both;
                below[2 * t + j] = std::min(below[2 * t + j], other);
                below[3 * t + j] = std::min(below[3 * t + j], total_without - other);
            };
            const double* across = pairs.data() + static_cast<std::size_t>(a) * t + i;
            for (std::size_t j = 0; j < i; ++j) consider(j, across[j * k * t]);
            for (std::size_t j = i + 1; j < t; ++j) consider(j, own[j]);
        }
        for (std::size_t j = 0; j < t; ++j) {
            if (j == i) continue;
            value[0] = std::min(value[0], below[j] + below[t + j] + 2 * leaf_price + next.prices[j] * weight[0]);
            value[1] = std::min(value[1], below[2 * t + j] + below[3 * t + j] + 2 * leaf_price + next.prices[j] * weight[1]);
        }
        const double sum = due + value[0] + value[1];
        if (sum < best.bound - slack_) best = {sum, true, {Decision::ask, static_cast<int>(i), 0, -1}};
    }
    return best;
}

Solver::Entry Solver::solve_two(const Node& node, int context) {
    return with_answers(problem_.n_answers,
                        [&]<int N>() { return problem_.binary ? solve_two_binary<N>(node, context) : solve_two<N>(node, context); });
}

}  // namespace worthwhile
