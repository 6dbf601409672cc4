// Random numbers that depend on nothing but a seed: the same on every machine and for any number of threads.
#pragma once

#include <cstdint>

namespace worthwhile {

// SplitMix64 (Steele, Lea & Flood 2014).
inline uint64_t scramble(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// The seed of a unit of work: its index within the work that has the seed `seed`.
inline uint64_t seed_of(uint64_t seed, uint64_t index) { return scramble(seed ^ scramble(index)); }

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    // Uniform in [0, 1).
    double uniform() { return to_unit(state_ += kStep); }
    // The number that uniform() gives after `index` others.
    static double uniform(uint64_t seed, uint64_t index) { return to_unit(seed + (index + 1) * kStep); }

private:
    static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
    static double to_unit(uint64_t state) { return static_cast<double>(scramble(state) >> 11) * 0x1.0p-53; }

    uint64_t state_;
};

}  // namespace worthwhile
