// Refusing node tables that would lead out of bounds. Growing never makes such tables; files and callers might.
#pragma once

#include "data/table.hpp"
#include "data/tree.hpp"
#include "pricing/error_costs.hpp"
#include "pricing/pricing.hpp"

namespace worthwhile {

// Deeper trees would overflow the stack of the recursive passes.
constexpr int kDeepest = 4096;

// What a node table must be in itself. All of these throw std::invalid_argument and take one pass over the nodes.
void check_nodes(const Tree& tree);

// Whether the tests of a tree are columns of the table, of the right kind and with as many values as the nodes know, with a price each.
void check_tests(const Tree& tree, const Table& table, const Pricing& pricing);

// Whether the classes of a tree are those of the error costs, and its answers are among the first `n_answers`.
void check_answers(const Tree& tree, int n_classes, int n_answers);

}  // namespace worthwhile
