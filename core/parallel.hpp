// Coarse parallelism inside one call: independent units of work on a few threads.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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
    {
        std::vector<std::jthread> threads;
        threads.reserve(n_threads);
        try {
            for (int t = 1; t < n_threads; ++t) threads.emplace_back(run, t);
        } catch (const std::system_error&) {
            // No more threads to be had: those that run, and this one, do all the work.
        }
        run(0);
    }
    if (error) std::rethrow_exception(error);
}

}  // namespace worthwhile
