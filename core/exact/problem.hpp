// What an exact search looks at: distinct cases with what each answer costs them, and the ways in which each test can divide them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "pricing/error_costs.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

// A test with the codes of its values. Numeric values are coded by the cuts below them: code 0 is up to the first cut.
struct Question {
    int column = 0;
    int n_codes = 0;
    bool numeric = false;
    std::vector<double> cuts;   // numeric: the threshold of every option
    std::vector<Level> levels;  // nominal: code -> branch, by option
    int n_options() const { return static_cast<int>(numeric ? cuts.size() : levels.size()); }
    int n_branches(int option) const { return numeric ? 2 : levels[static_cast<std::size_t>(option)].n_branches; }
    int branch(int option, uint32_t code) const {
        return numeric ? static_cast<int>(code) > option : levels[static_cast<std::size_t>(option)].branch_of[code];
    }
};

// Cases with the same values are one kind: no tree can tell them apart.
struct ExactProblem {
    int n_answers = 0, n_classes = 0, n_deviations = 0;
    std::vector<Question> questions;
    std::vector<std::vector<uint32_t>> codes;  // by question and kind; n_codes: missing
    std::vector<double> loss;                  // kinds x answers: what an answer costs all cases of a kind more than the best one
    std::vector<double> class_weights;         // kinds x classes and deviations
    std::vector<double> weight, least, most;   // by kind: of its cases; what the best answer costs them; the largest loss
    std::vector<double> amounts;               // kinds x (tests and surcharges): what its cases pay together; empty: by the price list
    bool has_missing = false;
    // Where every question has two values, none is missing and prices are those of the list: the rarer code of each question, and the questions
    // in which a kind has it, one kind after the other. A table of 0 and 1 made from nominal columns has few of them.
    bool binary = false;
    std::vector<uint32_t> rare, ones_start, ones;

    std::size_t n_statistics() const { return static_cast<std::size_t>(n_classes + n_deviations); }
    std::size_t n_kinds() const { return weight.size(); }
    uint32_t code(int question, uint32_t kind) const { return codes[static_cast<std::size_t>(question)][kind]; }
    bool missing(int question, uint32_t kind) const {
        return code(question, kind) == static_cast<uint32_t>(questions[static_cast<std::size_t>(question)].n_codes);
    }
};

// `max_cuts`: numeric tests get at most so many cuts, at quantiles.
ExactProblem make_problem(const TrainingSet& data, const Pricing& pricing, const ErrorCosts& errors, int max_cuts);

}  // namespace worthwhile
