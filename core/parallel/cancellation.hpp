// How long work is ended early: the caller hands over a check that is called now and then and throws to end the work.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>

namespace worthwhile {

using Clock = std::chrono::steady_clock;

// A signal (Ctrl-C): the whole call has to end.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

// Another thread of the same parallel work has failed: its exception is the one that counts.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("cancelled because another thread has failed") {}
};

// The work was given a deadline, which has passed.
struct DeadlinePassed : std::runtime_error {
    DeadlinePassed() : std::runtime_error("the deadline has passed") {}
};

// For one thread only.
class Cancellation {
public:
    explicit Cancellation(std::function<void()> check = {}) : check_(std::move(check)) {}

    void check() {
        if (check_) check_();
    }

    // Cheap enough for every node; checks at most 20 times a second because the check may need the interpreter's lock.
    void poll() {
        if (!check_) return;
        const auto now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(50);
        check_();
    }

private:
    std::function<void()> check_;
    Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(50);
};

}  // namespace worthwhile
