// Threads that stay between calls, so that short work can be shared too.
#pragma once

#include <exception>
#include <functional>

namespace worthwhile {

// The memory with which a thread throws exceptions is allocated when it is first used, and the process ends if that fails. Called before a
// thread begins to work, this leaves bad_alloc the only way to run out of memory.
inline void prepare_exceptions() { [[maybe_unused]] const volatile int used = std::uncaught_exceptions(); }  // volatile: not optimised away

// Starting a thread for every call took 60 microseconds, and each had a heap to warm up: of 50 trials on 103 cases, which take 1.8 ms on
// one thread, a fifth was lost.
class ThreadPool {
public:
    // The pool of this process; a forked child begins without threads.
    static ThreadPool& instance();

    // Calls work(0) on the calling thread and, if helpers are free before that has ended, work(1), ..., work(n_helpers) on these.
    // Returns when all of them have returned. Work must not throw; it may call this again. While the calling thread waits for its helpers,
    // it calls `idle` about every 50 ms and after each part of their work that it helps with; idle must not throw.
    void run(int n_helpers, const std::function<void(int)>& work, const std::function<void()>& idle = {});

    // For work that a waiting thread may be helping with: calls the `idle` of the run that this thread waits in, if there is one.
    static void call_idle();

private:
    struct Shared;
    ThreadPool();
    Shared* shared_;  // never freed: the threads look at it until the process ends
};

}  // namespace worthwhile
