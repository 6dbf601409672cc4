#include "crew.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace worthwhile {

namespace {

// So long a thread looks out for what it waits for before it goes to sleep: waking up takes about as long.
constexpr auto kAwake = std::chrono::microseconds(50);

template <class Ready>
void look_out(Ready ready) {
    for (const auto end = std::chrono::steady_clock::now() + kAwake; !ready() && std::chrono::steady_clock::now() < end;) std::this_thread::yield();
}

struct Job {
    const std::function<void(int)>& work;
    int wanted;              // helpers that may still join
    int next = 1;            // number of the next one
    std::atomic<int> busy{0};  // helpers at work
};

std::atomic<Crew*> crew{nullptr};
std::mutex founding;

}  // namespace

struct Crew::Shared {
    std::mutex guard;
    std::condition_variable something_to_do, job_done;
    std::deque<Job*> jobs;
    std::atomic<int> n_jobs{0};
    int n_threads = 0;

    void leave(Job* job) {  // nobody else joins it
        const auto at = std::find(jobs.begin(), jobs.end(), job);
        if (at == jobs.end()) return;
        jobs.erase(at);
        --n_jobs;
    }

    // Joins the job that waits longest.
    void help(std::unique_lock<std::mutex>& lock) {
        Job* job = jobs.front();
        const int number = job->next++;
        ++job->busy;
        if (--job->wanted == 0) leave(job);
        lock.unlock();
        job->work(number);
        lock.lock();
        if (--job->busy == 0) job_done.notify_all();
    }

    void live() {
        for (;;) {
            look_out([&] { return n_jobs.load(std::memory_order_relaxed) > 0; });
            std::unique_lock lock(guard);
            something_to_do.wait(lock, [&] { return !jobs.empty(); });
            help(lock);
        }
    }
};

Crew::Crew() : shared_(new Shared) {}

Crew& Crew::here() {
    if (Crew* known = crew.load()) return *known;
    const std::lock_guard lock(founding);
    if (!crew.load()) {
#if defined(__unix__) || defined(__APPLE__)
        // A child has a copy of the crew, but none of its threads.
        static const int once = pthread_atfork(nullptr, nullptr, [] { crew = nullptr; });
        (void)once;
#endif
        crew = new Crew;
    }
    return *crew.load();
}

void Crew::run(int n_helpers, const std::function<void(int)>& work) {
    Shared& s = *shared_;
    Job job{work, n_helpers};
    {
        const std::lock_guard lock(s.guard);
        try {
            for (; s.n_threads < n_helpers; ++s.n_threads) std::thread([&s] { s.live(); }).detach();
        } catch (const std::system_error&) {
            // No more threads to be had: those that run, and this one, do all the work.
        }
        s.jobs.push_back(&job);
        ++s.n_jobs;
    }
    s.something_to_do.notify_all();
    s.job_done.notify_all();  // those who wait for others might help as well
    work(0);
    std::unique_lock lock(s.guard);
    s.leave(&job);
    // Whoever still works on this may have shared parts of it again.
    const auto done = [&] { return job.busy == 0; };
    while (!done()) {
        if (s.jobs.empty()) {
            lock.unlock();
            look_out([&] { return done() || s.n_jobs.load(std::memory_order_relaxed) > 0; });
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
