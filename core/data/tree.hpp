// The flat node table. The children of a node are next to each other, behind their parent; node 0 is the root.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/table.hpp"

namespace worthwhile {

struct Tree {
    int n_classes = 0;
    int n_deviations = 0;              // while it is grown: numbers behind the class weights of a node (TrainingSet::add_deviations)
    std::vector<int32_t> test;         // column, or -1: a leaf
    std::vector<double> threshold;     // numeric: branch 1 takes value > threshold, branch 0 the others; never NaN
    std::vector<int32_t> first_child;  // -1: a leaf
    std::vector<int32_t> n_children;
    std::vector<int32_t> map_start;  // nominal: where in `maps` the map "code -> branch" of this node starts; -1: numeric
    std::vector<int32_t> maps;       // -1: a value that this node does not know
    std::vector<int32_t> map_size;
    std::vector<int32_t> answer;
    std::vector<double> weights;        // n_nodes x n_classes: of the training cases, as the tree was grown
    std::vector<double> probabilities;  // n_nodes x n_classes: of a new case; empty: the shares of the weights

    std::vector<double> reached;     // n_nodes: weight of the real training cases; empty: the weights
    std::vector<uint8_t> commits;    // n_nodes: ordering the test orders everything below, too; empty: nowhere but for delayed tests
    std::vector<double> surcharges;  // n_nodes x surcharges: what each is expected to add for a case at the node; empty: its amount
    // n_nodes x answers: what each answer is expected to cost a case at the node, if errors cost each case something else; empty: by the
    // probabilities.
    std::vector<double> answer_costs;

    bool may_stop = true;  // whether a case with an unavailable test stops where no further test pays; false: as in the papers

    int size() const { return static_cast<int>(test.size()); }
    bool leaf(int node) const { return test[node] < 0; }
    bool committed(int node) const { return !commits.empty() && commits[node]; }
    std::size_t width() const { return static_cast<std::size_t>(n_classes + n_deviations); }
    double* class_weights(int node) { return weights.data() + static_cast<std::size_t>(node) * width(); }
    const double* class_weights(int node) const { return weights.data() + static_cast<std::size_t>(node) * width(); }
    double weight(int node) const {
        double sum = 0;
        for (int c = 0; c < n_classes; ++c) sum += class_weights(node)[c];
        return sum;
    }

    int add_leaves(int count) {
        const int first = size();
        const std::size_t n = static_cast<std::size_t>(first) + count;
        test.resize(n, -1);
        threshold.resize(n, 0.0);
        first_child.resize(n, -1);
        n_children.resize(n, 0);
        map_start.resize(n, -1);
        map_size.resize(n, 0);
        answer.resize(n, 0);
        weights.resize(n * width(), 0.0);
        return first;
    }

    // Puts another tree in the place of a leaf. The first `n_shared` entries of `maps` are the same in both.
    void graft(int node, const Tree& other, int n_shared) {
        const int shift = add_leaves(other.size() - 1) - 1;  // the root of the other one is not added
        const int map_shift = static_cast<int>(maps.size()) - n_shared;
        maps.insert(maps.end(), other.maps.begin() + n_shared, other.maps.end());
        for (int from = 0; from < other.size(); ++from) {
            const int to = from == 0 ? node : from + shift;
            test[to] = other.test[from];
            threshold[to] = other.threshold[from];
            first_child[to] = other.leaf(from) ? -1 : other.first_child[from] + shift;
            n_children[to] = other.n_children[from];
            map_start[to] = other.map_start[from] + (other.map_start[from] >= n_shared ? map_shift : 0);
            map_size[to] = other.map_size[from];
            std::copy_n(other.class_weights(from), width(), class_weights(to));
        }
    }

    // Leaves only the class weights: what is behind them is for growing and pruning.
    void drop_deviations() {
        if (n_deviations == 0) return;
        const std::size_t k = static_cast<std::size_t>(n_classes);
        for (std::size_t node = 0; node < test.size(); ++node)
            std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(node * width()), k,
                        weights.begin() + static_cast<std::ptrdiff_t>(node * k));
        weights.resize(test.size() * k);
        n_deviations = 0;
    }

    void make_leaf(int node) {
        if (!commits.empty()) commits[node] = 0;
        test[node] = first_child[node] = map_start[node] = -1;
        n_children[node] = map_size[node] = 0;
    }

    // Which child a case goes to: 0 ... n_children - 1, or -1 if the value is missing or unknown to the node.
    int branch(int node, const Column& column, std::size_t row) const {
        if (map_start[node] < 0) {
            const double v = column.value(row);
            return std::isnan(v) ? -1 : v > threshold[node];
        }
        const int32_t code = column.code(row);
        return code < 0 || code >= map_size[node] ? -1 : maps[map_start[node] + code];
    }

    // The share of a case without a value that goes down each branch: by training weight, equal if there is none.
    std::vector<double> shares(int node) const {
        std::vector<double> share(n_children[node]);
        double sum = 0;
        for (int b = 0; b < n_children[node]; ++b) sum += share[b] = weight(first_child[node] + b);
        for (double& s : share) s = sum > 0 ? s / sum : 1.0 / static_cast<double>(share.size());
        return share;
    }

    // The share of the real training cases at a node that go down each branch.
    std::vector<double> frequencies(int node) const {
        if (reached.empty()) return shares(node);
        std::vector<double> share(reached.begin() + first_child[node], reached.begin() + first_child[node] + n_children[node]);
        double sum = 0;
        for (double weight : share) sum += weight;
        for (double& s : share) s = sum > 0 ? s / sum : 1.0 / static_cast<double>(share.size());
        return share;
    }

    // Calls visit(inner node) for every inner node at or below `node`.
    template <class Visit>
    void each_inner_below(int node, Visit visit) const {
        std::vector<int> todo{node};
        while (!todo.empty()) {
            const int at = todo.back();
            todo.pop_back();
            if (leaf(at)) continue;
            visit(at);
            for (int b = 0; b < n_children[at]; ++b) todo.push_back(first_child[at] + b);
        }
    }

    // A copy without the nodes that pruning cut off.
    Tree compact() const {
        Tree out;
        out.n_classes = n_classes;
        out.n_deviations = n_deviations;
        out.may_stop = may_stop;
        out.maps = maps;
        std::vector<int> source{0};
        out.add_leaves(1);
        for (int to = 0; to < out.size(); ++to) {
            const int from = source[to];
            if (!commits.empty()) out.commits.push_back(commits[from]);
            std::copy_n(class_weights(from), width(), out.class_weights(to));
            out.answer[to] = answer[from];
            if (leaf(from)) continue;
            out.test[to] = test[from];
            out.threshold[to] = threshold[from];
            out.map_start[to] = map_start[from];
            out.map_size[to] = map_size[from];
            out.n_children[to] = n_children[from];
            const int first = out.add_leaves(n_children[from]);
            out.first_child[to] = first;
            for (int b = 0; b < n_children[from]; ++b) source.push_back(first_child[from] + b);
        }
        return out;
    }
};

}  // namespace worthwhile
