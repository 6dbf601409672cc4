// Coarse parallelism inside one call: independent units of work on a few threads.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>

#include "parallel/cancellation.hpp"
#include "parallel/thread_pool.hpp"

namespace worthwhile {

// The exception that parallel work ends with: the first of the highest rank. An interruption comes before all others, because Python already
// knows of the signal; an error comes before a deadline, which callers may handle, and anything before a mere cancellation.
class FirstException {
public:
    // To be called while an exception is handled.
    void keep() noexcept {
        const int rank = current_rank();
        const std::lock_guard lock(guard_);
        if (rank <= rank_) return;
        rank_ = rank;
        error_ = std::current_exception();
    }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    static int current_rank() noexcept {
        try {
            throw;
        } catch (const Cancelled&) {
            return 1;
        } catch (const DeadlinePassed&) {
            return 2;
        } catch (const Interrupted&) {
            return 4;
        } catch (...) {
            return 3;
        }
    }

    std::mutex guard_;
    std::exception_ptr error_;
    int rank_ = 0;
};

// Calls work(unit, thread) for every unit; which thread takes which unit must not matter to the result. Thread 0 is the calling one.
// `first` keeps what the units throw, and `idle` what it likes: see ThreadPool::run.
template <class Work>
void parallel_for(int n_units, int n_threads, Work work, FirstException& first, const std::function<void()>& idle) {
    if (n_threads > n_units) n_threads = n_units;
    if (n_threads <= 1) {
        for (int i = 0; i < n_units; ++i) work(i, 0);
        return;
    }
    std::atomic<int> next{0};
    const auto run_units = [&](int thread) noexcept {
        try {
            for (int i; (i = next.fetch_add(1)) < n_units;) work(i, thread);
        } catch (...) {
            next = n_units;  // the others finish their unit and stop
            first.keep();
        }
    };
    ThreadPool::instance().run(n_threads - 1, run_units, idle);
    first.rethrow();
}

template <class Work>
void parallel_for(int n_units, int n_threads, Work work) {
    FirstException first;
    parallel_for(n_units, n_threads, work, first, {});
}

// The same for long units that can be ended in the middle: work(unit, thread, cancellation) polls a cancellation of its own, which throws when
// the caller wants an end (only the calling thread may ask), when another unit has failed, and after the deadline.
template <class Work>
void cancellable_for(int n_units, int n_threads, Cancellation& caller, Clock::time_point deadline, Work work) {
    std::atomic<bool> failed{false};
    FirstException first;
    const auto work_on = [&](int unit, int thread) {
        Cancellation own([&, thread] {
            if (thread == 0)
                caller.poll();
            else
                ThreadPool::call_idle();
            if (failed) throw Cancelled();
            if (deadline != Clock::time_point::max() && Clock::now() >= deadline) throw DeadlinePassed();
        });
        try {
            own.check();  // units may be many and short
            work(unit, thread, own);
        } catch (...) {
            failed = true;
            throw;
        }
    };
    // The caller may want an end when the calling thread has no unit left.
    const auto idle = [&]() noexcept {
        if (failed) return;  // the others end soon; a signal must not be asked for again once it has raised an exception
        try {
            caller.poll();
        } catch (...) {
            failed = true;
            first.keep();
        }
    };
    parallel_for(n_units, n_threads, work_on, first, idle);
}

template <class Work>
void cancellable_for(int n_units, int n_threads, Cancellation& caller, Work work) {
    cancellable_for(n_units, n_threads, caller, Clock::time_point::max(), work);
}

}  // namespace worthwhile
