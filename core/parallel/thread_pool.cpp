#include "parallel/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace worthwhile {

namespace {

// A thread spins for this long before it goes to sleep: waking up takes about as long.
constexpr auto kSpin = std::chrono::microseconds(50);

template <class Ready>
void spin_until(Ready ready) {
    for (const auto end = std::chrono::steady_clock::now() + kSpin; !ready() && std::chrono::steady_clock::now() < end;)
        std::this_thread::yield();
}

struct Job {
    const std::function<void(int)>& work;
    int wanted;                // helpers that may still join
    int next = 1;              // number of the next one
    std::atomic<int> busy{0};  // helpers at work
};

std::atomic<ThreadPool*> pool{nullptr};
std::mutex creation;

}  // namespace

struct ThreadPool::Shared {
    std::mutex guard;
    std::condition_variable something_to_do, job_done;
    std::deque<Job*> jobs;
    std::atomic<int> n_jobs{0};
    std::atomic<int> n_ready{0};
    int n_threads = 0;

    void close(Job* job) {  // no other thread joins it
        const auto at = std::find(jobs.begin(), jobs.end(), job);
        if (at == jobs.end()) return;
        jobs.erase(at);
        --n_jobs;
    }

    // Joins the job that has waited longest.
    void help(std::unique_lock<std::mutex>& lock) {
        Job* job = jobs.front();
        const int number = job->next++;
        ++job->busy;
        if (--job->wanted == 0) close(job);
        lock.unlock();
        job->work(number);
        lock.lock();
        if (--job->busy == 0) job_done.notify_all();
    }

    void live() {
        prepare_exceptions();
        ++n_ready;
        for (;;) {
            spin_until([&] { return n_jobs.load(std::memory_order_relaxed) > 0; });
            std::unique_lock lock(guard);
            something_to_do.wait(lock, [&] { return !jobs.empty(); });
            help(lock);
        }
    }

    // Fewer threads than wanted do the same work, only later.
    void start_threads(int wanted) {
        try {
            for (; n_threads < wanted; ++n_threads) std::thread([this] { live(); }).detach();
        } catch (const std::system_error&) {
        } catch (const std::bad_alloc&) {
        }
        while (n_ready < n_threads) std::this_thread::yield();
    }
};

ThreadPool::ThreadPool() : shared_(new Shared) {}

ThreadPool& ThreadPool::instance() {
    if (ThreadPool* known = pool.load()) return *known;
    const std::lock_guard lock(creation);
    if (!pool.load()) {
#if defined(__unix__) || defined(__APPLE__)
        // A child has a copy of the pool, but none of its threads.
        static const int once = pthread_atfork(nullptr, nullptr, [] { pool = nullptr; });
        (void)once;
#endif
        pool = new ThreadPool;
    }
    return *pool.load();
}

void ThreadPool::run(int n_helpers, const std::function<void(int)>& work) {
    Shared& s = *shared_;
    Job job{work, n_helpers};
    {
        const std::lock_guard lock(s.guard);
        s.start_threads(n_helpers);
        s.jobs.push_back(&job);
        ++s.n_jobs;
    }
    s.something_to_do.notify_all();
    s.job_done.notify_all();  // callers that wait for their own helpers might help here
    work(0);
    std::unique_lock lock(s.guard);
    s.close(&job);
    // A helper that still works on this job may have shared parts of it again.
    const auto done = [&] { return job.busy == 0; };
    while (!done()) {
        if (s.jobs.empty()) {
            lock.unlock();
            spin_until([&] { return done() || s.n_jobs.load(std::memory_order_relaxed) > 0; });
            lock.lock();
        }
        if (done()) break;
        if (!s.jobs.empty())
            s.help(lock);
        else
            s.job_done.wait(lock, [&] { return done() || !s.jobs.empty(); });
    }
}

}  // namespace worthwhile
