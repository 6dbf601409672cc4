// The trees of an ensemble as arrays: how they are handed to Python, kept in files and walked.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ensemble/binned.hpp"

namespace worthwhile {

// The nodes of all trees, children after their parents.
struct TreeArrays {
    std::vector<int32_t> feature;  // position within the features that the model looks at; -1: a leaf
    std::vector<float> threshold;
    std::vector<uint8_t> missing_left;
    std::vector<int32_t> left, right;
    std::vector<float> value;  // of each node and output; 0 unless it is a leaf
    std::vector<int32_t> roots;
};

// The nodes of one tree on binned cases.
struct BinnedTree {
    std::vector<int32_t> feature, bin, left, right;  // a case goes left up to this bin
    std::vector<uint8_t> missing_left;
    std::vector<float> value;

    int32_t add_node(std::size_t width) {
        feature.push_back(-1);
        bin.push_back(0);
        missing_left.push_back(0);
        left.push_back(-1);
        right.push_back(-1);
        value.resize(value.size() + width, 0.0f);
        return static_cast<int32_t>(feature.size() - 1);
    }

    void set_split(int32_t node, int at, int up_to, bool missing_goes_left, int32_t left_child, int32_t right_child) {
        const auto own = static_cast<std::size_t>(node);
        feature[own] = at;
        bin[own] = up_to;
        missing_left[own] = missing_goes_left;
        left[own] = left_child;
        right[own] = right_child;
    }

    std::size_t leaf_of(const Binned& cases, std::span<const int32_t> features, std::size_t i) const {
        std::size_t node = 0;
        while (feature[node] >= 0) {
            const uint8_t own = cases.column(static_cast<std::size_t>(features[static_cast<std::size_t>(feature[node])]))[i];
            const bool goes_left = own == kMissingBin ? missing_left[node] != 0 : own <= bin[node];
            node = static_cast<std::size_t>(goes_left ? left[node] : right[node]);
        }
        return node;
    }
};

inline void append(TreeArrays& to, const BinnedTree& tree, const Binned& cases, std::span<const int32_t> features) {
    const auto offset = static_cast<int32_t>(to.feature.size());
    to.roots.push_back(offset);
    for (std::size_t node = 0; node < tree.feature.size(); ++node) {
        const bool inner = tree.feature[node] >= 0;
        float threshold = 0;
        if (inner) {
            const auto feature = static_cast<std::size_t>(features[static_cast<std::size_t>(tree.feature[node])]);
            threshold = tree.bin[node] + 1 < cases.n_bins(feature) ? cases.cut(feature, tree.bin[node]) : INFINITY;
        }
        to.feature.push_back(tree.feature[node]);
        to.threshold.push_back(threshold);
        to.missing_left.push_back(inner && tree.missing_left[node]);
        to.left.push_back(inner ? tree.left[node] + offset : -1);
        to.right.push_back(inner ? tree.right[node] + offset : -1);
    }
    to.value.insert(to.value.end(), tree.value.begin(), tree.value.end());
}

}  // namespace worthwhile
