// How long work is interrupted: the caller hands over a function that says "stop", and it is asked now and then.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>

namespace worthwhile {

struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

class Control {
public:
    explicit Control(std::function<bool()> stop_wanted = {}) : stop_wanted_(std::move(stop_wanted)) {}

    // Cheap enough for every node; asks at most 20 times a second because asking may need the interpreter's lock.
    void poll() {
        if (!stop_wanted_) return;
        const auto now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(50);
        if (stop_wanted_()) throw Interrupted();
    }

private:
    using Clock = std::chrono::steady_clock;
    std::function<bool()> stop_wanted_;
    Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(50);
};

}  // namespace worthwhile
