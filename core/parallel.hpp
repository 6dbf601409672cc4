// Coarse parallelism inside one call: independent units of work on a few threads.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

#include "crew.hpp"

namespace worthwhile {

// Calls work(unit, thread) for every unit; which thread takes which unit must not matter to the result.
template <class Work>
void parallel_for(int n_units, int n_threads, Work work) {
    if (n_threads > n_units) n_threads = n_units;
    if (n_threads <= 1) {
        for (int i = 0; i < n_units; ++i) work(i, 0);
        return;
    }
    std::atomic<int> next{0};
    std::exception_ptr error;
    std::mutex guard;
    const auto run = [&](int thread) {
        try {
            for (int i; (i = next.fetch_add(1)) < n_units;) work(i, thread);
        } catch (...) {
            next = n_units;  // the others finish the unit at hand and stop
            const std::lock_guard lock(guard);
            error = std::current_exception();
        }
    };
    Crew::here().run(n_threads - 1, run);
    if (error) std::rethrow_exception(error);
}

}  // namespace worthwhile
