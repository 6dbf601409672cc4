// What a node answers, and what it is expected to cost on future cases.
#pragma once

#include <vector>

namespace worthwhile {

enum class AnswerPolicy { majority, least_cost };

// Class weights that are asked about have, with `by_case`, the deviations of their cases behind them (TrainingSet::add_deviations).
struct ErrorCosts {
    int n_classes = 0, n_answers = 0;
    std::vector<double> cost;  // [truth][answer]; answers after the classes are rejections
    double largest = 0;        // of the absolute values
    bool by_case = false;      // errors cost each case something else
    double unit = 1;           // what 1 is worth in the money of costs that depend on the case

    double at(int truth, int answer) const { return cost[static_cast<std::size_t>(truth) * n_answers + answer]; }

    // Error cost of giving `answer` to cases with these class weights.
    double of(const double* weights, int answer) const {
        double sum = 0;
        for (int c = 0; c < n_classes; ++c) sum += weights[c] * at(c, answer);
        return by_case ? sum + wrong_deviation(weights, answer) + right_deviation(weights, answer) : sum;
    }
    // The same for every answer at once; row by row of the matrix, as it is stored.
    void of_all(const double* weights, double* costs) const {
        for (int a = 0; a < n_answers; ++a) costs[a] = 0;
        for (int c = 0; c < n_classes; ++c) {
            if (weights[c] == 0) continue;
            const double* row = cost.data() + static_cast<std::size_t>(c) * n_answers;
            for (int a = 0; a < n_answers; ++a) costs[a] += weights[c] * row[a];
        }
        if (!by_case) return;
        for (int a = 0; a < n_answers; ++a) costs[a] += wrong_deviation(weights, a) + right_deviation(weights, a);
    }
    // What an answer costs more than the matrix says for the cases that it is wrong for, and for those that it is right for.
    double wrong_deviation(const double* weights, int answer) const { return weights[n_classes + answer]; }
    double right_deviation(const double* weights, int answer) const { return weights[n_classes + n_answers + answer]; }
    // The first of the answers with the lowest cost, of cases with this weight in all.
    int least(const double* costs, double weight) const {
        int best = 0;
        for (int a = 1; a < n_answers; ++a)
            if (costs[a] < costs[best] - 1e-9 * weight * largest) best = a;
        return best;
    }
    int best_answer(const double* weights, AnswerPolicy policy) const;
    // The cheapest of the answers that are no class; `otherwise` if there is none.
    int reject_answer(const double* weights, int otherwise) const;
    // Error cost of the best answer.
    double of_best(const double* weights, AnswerPolicy policy) const { return of(weights, best_answer(weights, policy)); }
};

// C4.5's pessimistic number of errors among `cases` of which `errors` are wrong, confidence cf in (0, 1].
double upper_errors(double cases, double errors, double cf);

// Estimated error cost of a leaf (Esmeir & Markovitch 2008, section 3.2.2, with any diagonal and reject answers).
double leaf_cost(const ErrorCosts& errors, const double* weights, int answer, double cf);

}  // namespace worthwhile
