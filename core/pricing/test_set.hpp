// Sets of tests, a bit each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace worthwhile {

// The first 64 tests are in the object itself: sets are copied at every node, and few problems need the vector.
class TestSet {
public:
    explicit TestSet(int n_tests = 0) : rest_(n_tests > 64 ? static_cast<std::size_t>(n_tests - 1) / 64 : 0, 0) {}

    bool has(int test) const { return word(test >> 6) >> (test & 63) & 1; }
    void add(int test) { word_at(test >> 6) |= uint64_t{1} << (test & 63); }
    void unite(const TestSet& other) {
        for (std::size_t i = 0; i <= rest_.size(); ++i) word_at(i) |= other.word(i);
    }
    // Whether it has a test of `other` that `without` does not have.
    bool meets(const TestSet& other, const TestSet& without) const {
        for (std::size_t i = 0; i <= rest_.size(); ++i)
            if (word(i) & other.word(i) & ~without.word(i)) return true;
        return false;
    }
    bool operator==(const TestSet&) const = default;
    // Whether the sets have a test in common. They may be of different sizes.
    bool meets(const TestSet& other) const {
        const std::size_t n = std::min(n_words(), other.n_words());
        for (std::size_t i = 0; i < n; ++i)
            if (word(i) & other.word(i)) return true;
        return false;
    }
    bool empty() const {
        for (std::size_t i = 0; i < n_words(); ++i)
            if (word(i)) return false;
        return true;
    }
    // Whether all tests of this set, which is not the larger one, are in the other.
    bool within(const TestSet& other) const {
        for (std::size_t i = 0; i < n_words(); ++i)
            if (word(i) & ~other.word(i)) return false;
        return true;
    }
    template <class Visit>
    void each(Visit visit) const {
        each_without(TestSet(static_cast<int>(64 * (rest_.size() + 1))), visit);
    }
    template <class Visit>
    void each_without(const TestSet& other, Visit visit) const {
        for (std::size_t i = 0; i <= rest_.size(); ++i)
            for (uint64_t left = word(i) & ~other.word(i); left; left &= left - 1) visit(static_cast<int>(i * 64) + std::countr_zero(left));
    }

    // 64 tests each.
    std::size_t n_words() const { return rest_.size() + 1; }
    uint64_t word(std::size_t i) const { return i ? rest_[i - 1] : first_; }

private:
    uint64_t& word_at(std::size_t i) { return i ? rest_[i - 1] : first_; }

    uint64_t first_ = 0;
    std::vector<uint64_t> rest_;
};

}  // namespace worthwhile
