// How far long work is: threads add what they have done, and anyone may look.
#pragma once

#include <atomic>

namespace worthwhile {

class Meter {
public:
    void add(double share) { done_.fetch_add(share, std::memory_order_relaxed); }
    double share() const { return done_.load(std::memory_order_relaxed); }

private:
    std::atomic<double> done_{0.0};
};

}  // namespace worthwhile
