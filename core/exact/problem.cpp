#include "exact/problem.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace worthwhile {

namespace {

// Values in order, each with the number of rows that have it; NaN is left out.
std::vector<std::pair<double, std::size_t>> counted_values(const Column& column, std::size_t n_cases) {
    std::vector<double> values;
    for (std::size_t row = 0; row < n_cases; ++row)
        if (!column.missing(row)) values.push_back(column.value(row));
    std::sort(values.begin(), values.end());
    std::vector<std::pair<double, std::size_t>> counted;
    for (double value : values) {
        if (counted.empty() || counted.back().first != value) counted.emplace_back(value, 0);
        ++counted.back().second;
    }
    return counted;
}

// A cut is the largest value below it, as in finished trees. Of many, those are taken that come next to equal shares of the cases.
std::vector<double> make_cuts(const Column& column, std::size_t n_cases, int max_cuts) {
    const auto values = counted_values(column, n_cases);
    std::vector<double> cuts;
    if (values.size() <= static_cast<std::size_t>(max_cuts) + 1) {
        for (std::size_t i = 0; i + 1 < values.size(); ++i) cuts.push_back(values[i].first);
        return cuts;
    }
    double total = 0, below = 0;
    for (const auto& [value, count] : values) total += static_cast<double>(count);
    int wanted = 1;
    for (std::size_t i = 0; i + 1 < values.size() && wanted <= max_cuts; ++i) {
        below += static_cast<double>(values[i].second);
        if (below < total * wanted / (max_cuts + 1)) continue;
        cuts.push_back(values[i].first);
        while (wanted <= max_cuts && below >= total * wanted / (max_cuts + 1)) ++wanted;
    }
    return cuts;
}

Question numeric_question(const Column& column, int index, std::size_t n_cases, int max_cuts) {
    Question question;
    question.column = index;
    question.numeric = true;
    question.cuts = make_cuts(column, n_cases, max_cuts);
    question.n_codes = static_cast<int>(question.cuts.size()) + 1;
    return question;
}

// Whether a way of dividing the values that occur is like one that is there already.
bool same_division(const Level& one, const Level& other, const std::vector<uint8_t>& occurs) {
    std::unordered_map<int32_t, int32_t> image, preimage;
    for (std::size_t code = 0; code < occurs.size(); ++code) {
        if (!occurs[code]) continue;
        const int32_t a = one.branch_of[code], b = other.branch_of[code];
        if (!image.emplace(a, b).second && image[a] != b) return false;
        if (!preimage.emplace(b, a).second && preimage[b] != a) return false;
    }
    return true;
}

Question nominal_question(const Column& column, int index, std::size_t n_cases) {
    Question question;
    question.column = index;
    question.n_codes = column.n_values;
    std::vector<uint8_t> occurs(static_cast<std::size_t>(column.n_values), 0);
    for (std::size_t row = 0; row < n_cases; ++row)
        if (!column.missing(row)) occurs[static_cast<std::size_t>(column.code(row))] = 1;
    for (const Level& level : column.levels) {
        int first = -1;
        bool divides = false;
        for (std::size_t code = 0; code < occurs.size(); ++code) {
            if (!occurs[code]) continue;
            if (first < 0) first = level.branch_of[code];
            divides |= level.branch_of[code] != first;
        }
        if (!divides) continue;
        const auto same = std::find_if(question.levels.begin(), question.levels.end(),
                                       [&](const Level& other) { return same_division(level, other, occurs); });
        if (same == question.levels.end())
            question.levels.push_back(level);
        else if (level.n_branches < same->n_branches)  // fewer leaves
            *same = level;
    }
    return question;
}

std::vector<uint32_t> codes_of(const Question& question, const Column& column, std::size_t n_cases) {
    std::vector<uint32_t> codes(n_cases);
    for (std::size_t row = 0; row < n_cases; ++row) {
        if (column.missing(row))
            codes[row] = static_cast<uint32_t>(question.n_codes);
        else if (question.numeric)
            codes[row] = static_cast<uint32_t>(std::lower_bound(question.cuts.begin(), question.cuts.end(), column.value(row)) -
                                               question.cuts.begin());
        else
            codes[row] = static_cast<uint32_t>(column.code(row));
    }
    return codes;
}

// By row, the number of its kind; rows of the same codes have the same. Kinds are numbered in the order of their first row.
std::vector<uint32_t> kinds_of(const std::vector<std::vector<uint32_t>>& codes, std::size_t n_cases, std::vector<uint32_t>& first_row) {
    std::vector<uint32_t> kind(n_cases);
    std::unordered_map<uint64_t, std::vector<uint32_t>> known;
    for (std::size_t row = 0; row < n_cases; ++row) {
        uint64_t key = 0x9E3779B97F4A7C15;
        for (const auto& column : codes) key = (key ^ column[row]) * 0xBF58476D1CE4E5B9, key ^= key >> 29;
        std::vector<uint32_t>& bucket = known[key];
        const auto same = [&](uint32_t k) {
            return std::all_of(codes.begin(), codes.end(), [&](const auto& column) { return column[first_row[k]] == column[row]; });
        };
        const auto found = std::find_if(bucket.begin(), bucket.end(), same);
        if (found != bucket.end()) {
            kind[row] = *found;
            continue;
        }
        kind[row] = static_cast<uint32_t>(first_row.size());
        bucket.push_back(kind[row]);
        first_row.push_back(static_cast<uint32_t>(row));
    }
    return kind;
}

// Surcharges that go by earlier tests alone are the same for all cases.
bool depends_on_case(const Pricing& pricing) {
    const std::size_t m = pricing.marginal.size();
    for (std::size_t i = 0; i < pricing.case_prices.size(); ++i)
        if (pricing.case_prices[i] != pricing.marginal[i % m]) return true;
    return false;
}

// The sums over pairs of questions take t * t * answers numbers.
constexpr std::size_t kMostPairs = std::size_t{1} << 23;

void list_ones(ExactProblem& problem) {
    const std::size_t t = problem.questions.size(), n = problem.n_kinds();
    problem.binary = !problem.has_missing && problem.amounts.empty() && t * t * static_cast<std::size_t>(problem.n_answers) <= kMostPairs &&
                     std::all_of(problem.questions.begin(), problem.questions.end(), [](const Question& q) { return q.n_codes == 2; });
    if (!problem.binary) return;
    for (const std::vector<uint32_t>& codes : problem.codes) {
        const auto ones = static_cast<std::size_t>(std::count(codes.begin(), codes.end(), 1u));
        problem.rare.push_back(2 * ones <= n ? 1 : 0);
    }
    problem.ones_start.assign(1, 0);
    for (std::size_t kind = 0; kind < n; ++kind) {
        for (std::size_t q = 0; q < t; ++q)
            if (problem.codes[q][kind] == problem.rare[q]) problem.ones.push_back(static_cast<uint32_t>(q));
        problem.ones_start.push_back(static_cast<uint32_t>(problem.ones.size()));
    }
}

}  // namespace

ExactProblem make_problem(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, int max_cuts) {
    const Table& table = data.table;
    ExactProblem problem;
    problem.n_answers = errors.n_answers;
    problem.n_classes = data.n_classes;
    problem.n_deviations = data.n_deviations();
    std::vector<std::vector<uint32_t>> row_codes;
    for (int c = 0; c < table.n_columns(); ++c) {
        const Column& column = table.columns[static_cast<std::size_t>(c)];
        Question question =
            column.numeric() ? numeric_question(column, c, table.n_cases, max_cuts) : nominal_question(column, c, table.n_cases);
        if (question.n_options() == 0) continue;
        row_codes.push_back(codes_of(question, column, table.n_cases));
        for (uint32_t code : row_codes.back()) problem.has_missing |= code == static_cast<uint32_t>(question.n_codes);
        problem.questions.push_back(std::move(question));
    }
    std::vector<uint32_t> first_row;
    const std::vector<uint32_t> kind = kinds_of(row_codes, table.n_cases, first_row);
    const std::size_t n = first_row.size(), k = problem.n_statistics(), m = pricing.marginal.size();
    for (const auto& column : row_codes) {
        std::vector<uint32_t>& codes = problem.codes.emplace_back(n);
        for (std::size_t i = 0; i < n; ++i) codes[i] = column[first_row[i]];
    }
    problem.class_weights.assign(n * k, 0.0);
    problem.weight.assign(n, 0.0);
    const bool by_case = depends_on_case(pricing);
    if (by_case) problem.amounts.assign(n * m, 0.0);
    for (std::size_t row = 0; row < table.n_cases; ++row) {
        const double weight = data.weight(row);
        data.add_case(row, weight, problem.class_weights.data() + kind[row] * k);
        problem.weight[kind[row]] += weight;
        if (!by_case) continue;
        for (std::size_t i = 0; i < m; ++i) problem.amounts[kind[row] * m + i] += weight * pricing.amounts_of(row)[i];
    }
    const std::size_t answers = static_cast<std::size_t>(errors.n_answers);
    problem.loss.resize(n * answers);
    for (std::size_t i = 0; i < n; ++i) {
        double* loss = problem.loss.data() + i * answers;
        errors.of_all(problem.class_weights.data() + i * k, loss);
        problem.least.push_back(*std::min_element(loss, loss + answers));
        for (std::size_t a = 0; a < answers; ++a) loss[a] -= problem.least.back();
        problem.most.push_back(*std::max_element(loss, loss + answers));
    }
    list_ones(problem);
    return problem;
}

}  // namespace worthwhile
