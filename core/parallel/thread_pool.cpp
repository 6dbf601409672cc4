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
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace worthwhile {

namespace {

// A thread spins for this long before it goes to sleep: waking up takes about as long.
constexpr auto kSpin = std::chrono::microseconds(50);
constexpr auto kIdle = std::chrono::milliseconds(50);

template <class Ready>
void spin_until(Ready ready) {
    for (const auto end = std::chrono::steady_clock::now() + kSpin; !ready() && std::chrono::steady_clock::now() < end;)
        std::this_thread::yield();
}

struct Job {
    const std::function<void(int)>& work;
    int wanted;                // helpers that may still join
    const Job* parent;         // the job whose work has started this one
    int next = 1;              // number of the next one
    std::atomic<int> busy{0};  // helpers at work
};

// A run whose caller helps with parts of its work, within another one.
struct Wait {
    const std::function<void()>& idle;
    const Wait* outer;
};

thread_local const Job* current_job = nullptr;    // that this thread works on
thread_local const Wait* current_wait = nullptr;  // of those with an `idle`

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

    // A job that was started by the work of another; a caller that helped with anything else might be kept for longer than its own job lasts.
    Job* part_of(const Job& whole) const {
        for (Job* job : jobs)
            for (const Job* at = job->parent; at; at = at->parent)
                if (at == &whole) return job;
        return nullptr;
    }

    void help(Job* job, std::unique_lock<std::mutex>& lock) {
        const int number = job->next++;
        ++job->busy;
        if (--job->wanted == 0) close(job);
        lock.unlock();
        const Job* outer = std::exchange(current_job, job);
        job->work(number);
        current_job = outer;
        lock.lock();
        if (--job->busy == 0) job_done.notify_all();
    }

    void worker_loop() {
        prepare_exceptions();
        ++n_ready;
        for (;;) {
            spin_until([&] { return n_jobs.load(std::memory_order_relaxed) > 0; });
            std::unique_lock lock(guard);
            something_to_do.wait(lock, [&] { return !jobs.empty(); });
            help(jobs.front(), lock);  // the one that has waited longest
        }
    }

    // Returns when no helper works on the job, which is closed.
    void wait_for_helpers(const Job& job, const std::function<void()>& idle) {
        std::unique_lock lock(guard);
        const auto done = [&] { return job.busy == 0; };
        const auto something_to_do_or_done = [&] { return done() || part_of(job); };
        const auto call_idle = [&] {
            if (!idle) return;
            lock.unlock();
            idle();
            lock.lock();
        };
        while (!done()) {
            if (!part_of(job)) {
                const int known = n_jobs;
                lock.unlock();
                spin_until([&] { return done() || n_jobs.load(std::memory_order_relaxed) > known; });
                lock.lock();
            }
            if (done()) break;
            if (Job* part = part_of(job)) {
                const Wait wait{idle, current_wait};
                if (idle) current_wait = &wait;
                help(part, lock);
                current_wait = wait.outer;
                call_idle();
            } else if (!idle) {
                job_done.wait(lock, something_to_do_or_done);
            } else if (!job_done.wait_for(lock, kIdle, something_to_do_or_done)) {
                call_idle();
            }
        }
    }

    // Fewer threads than wanted do the same work, only later.
    void start_threads(int wanted) {
        try {
            for (; n_threads < wanted; ++n_threads) std::thread([this] { worker_loop(); }).detach();
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

void ThreadPool::run(int n_helpers, const std::function<void(int)>& work, const std::function<void()>& idle) {
    Shared& s = *shared_;
    Job job{work, n_helpers, current_job};
    {
        const std::lock_guard lock(s.guard);
        s.start_threads(n_helpers);
        s.jobs.push_back(&job);
        ++s.n_jobs;
    }
    s.something_to_do.notify_all();
    s.job_done.notify_all();  // callers that wait for their own helpers might help here
    current_job = &job;
    work(0);
    current_job = job.parent;
    {
        const std::lock_guard lock(s.guard);
        s.close(&job);
    }
    s.wait_for_helpers(job, idle);
}

void ThreadPool::call_idle() {
    const Wait* wait = current_wait;
    if (!wait) return;
    current_wait = wait->outer;  // what idle asks may in turn ask the run further out
    wait->idle();
    current_wait = wait;
}

}  // namespace worthwhile
