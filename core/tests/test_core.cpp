// What Python cannot reach: exceptions and cancellation on threads, sets of tests, node tables (the latter without the bindings).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <new>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "data/tree_check.hpp"
#include "parallel/parallel_for.hpp"
#include "pricing/test_set.hpp"

using namespace worthwhile;

namespace {

// Spins until a condition holds, so that units of work can wait for each other; false after ten seconds.
template <class Condition>
bool wait_for(Condition condition) {
    for (const auto end = Clock::now() + std::chrono::seconds(10); Clock::now() < end; std::this_thread::yield())
        if (condition()) return true;
    return false;
}

Tree stump() {
    Tree tree;
    tree.n_classes = 2;
    tree.add_leaves(3);
    tree.test[0] = 0;
    tree.first_child[0] = 1;
    tree.n_children[0] = 2;
    return tree;
}

}  // namespace

TEST_CASE("every unit is done once, on any number of threads") {
    for (const int n_threads : {1, 2, 5}) {
        std::vector<std::atomic<int>> done(100);
        parallel_for(100, n_threads, [&](int unit, int) { ++done[static_cast<std::size_t>(unit)]; });
        for (const auto& times : done) CHECK(times == 1);
    }
}

TEST_CASE("work within work shares the same threads") {
    std::atomic<int> sum{0};
    parallel_for(8, 3, [&](int, int) { parallel_for(8, 3, [&](int unit, int) { sum += unit; }); });
    CHECK(sum == 8 * 28);
}

TEST_CASE("an exception on a thread reaches the caller as itself") {
    for (const int n_threads : {1, 2, 4}) {
        CHECK_THROWS_AS(parallel_for(50, n_threads,
                                     [](int unit, int) {
                                         if (unit == 7) throw std::bad_alloc();
                                     }),
                        std::bad_alloc);
        std::atomic<int> n{0};
        parallel_for(20, n_threads, [&](int, int) { ++n; });  // the threads are still there
        CHECK(n == 20);
    }
}

TEST_CASE("the exception that cancels the others counts, not their cancellation") {
    // Unit 0 waits until it is cancelled because unit 1 has failed.
    std::atomic<bool> waiting{false}, cancelled{false};
    Cancellation caller;
    CHECK_THROWS_AS(cancellable_for(2, 2, caller,
                                    [&](int unit, int, Cancellation& own) {
                                        if (unit == 1) {
                                            wait_for([&] { return waiting.load(); });
                                            throw std::bad_alloc();
                                        }
                                        waiting = true;
                                        try {
                                            wait_for([&] {
                                                own.check();
                                                return false;
                                            });
                                        } catch (const Cancelled&) {
                                            cancelled = true;
                                            throw;
                                        }
                                    }),
                    std::bad_alloc);
    CHECK(cancelled);
}

TEST_CASE("an error is not hidden by a deadline, and an interruption by nothing") {
    FirstException first;
    const auto keep = [&](auto error) {
        try {
            throw error;
        } catch (...) {
            first.keep();
        }
    };
    keep(Cancelled());
    CHECK_THROWS_AS(first.rethrow(), Cancelled);
    keep(DeadlinePassed());
    keep(Cancelled());
    CHECK_THROWS_AS(first.rethrow(), DeadlinePassed);
    keep(std::bad_alloc());
    keep(std::runtime_error("a later one"));
    keep(Cancelled());
    keep(DeadlinePassed());
    CHECK_THROWS_AS(first.rethrow(), std::bad_alloc);
    keep(Interrupted());
    keep(std::bad_alloc());
    CHECK_THROWS_AS(first.rethrow(), Interrupted);
}

TEST_CASE("only the calling thread asks the caller") {
    const auto here = std::this_thread::get_id();
    std::atomic<bool> elsewhere{false};
    std::atomic<int> checks{0};
    Cancellation caller([&] {
        elsewhere = elsewhere || std::this_thread::get_id() != here;
        if (++checks == 2) throw Interrupted();
    });
    CHECK_THROWS_AS(cancellable_for(2, 2, caller,
                                    [&](int, int, Cancellation& own) {
                                        wait_for([&] {
                                            own.check();
                                            return false;
                                        });
                                    }),
                    Interrupted);
    CHECK_FALSE(elsewhere);
}

TEST_CASE("the caller is asked while the calling thread waits for the last unit") {
    const auto start = Clock::now();
    Cancellation caller([&] {
        if (Clock::now() - start > std::chrono::milliseconds(100)) throw Interrupted();
    });
    std::atomic<bool> taken{false};
    const auto interrupted = [&] {
        cancellable_for(2, 2, caller, [&](int, int thread, Cancellation& own) {
            if (thread == 0) {  // ends as soon as the helper has the other unit
                wait_for([&] { return taken.load(); });
                return;
            }
            taken = true;
            wait_for([&] {
                own.poll();
                return false;
            });
        });
    };
    CHECK_THROWS_AS(interrupted(), Interrupted);
    CHECK(Clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("the caller is asked while the calling thread helps with work within the last unit") {
    const auto here = std::this_thread::get_id();
    const auto start = Clock::now();
    Cancellation caller([&] {
        if (Clock::now() - start > std::chrono::milliseconds(100)) throw Interrupted();
    });
    std::atomic<bool> taken{false}, helps{false};
    const auto interrupted = [&] {
        cancellable_for(2, 2, caller, [&](int, int thread, Cancellation& own) {
            if (thread == 0) {
                wait_for([&] { return taken.load(); });
                return;
            }
            taken = true;
            // Of the 15 helpers that this wants, one is this thread itself: the calling thread has a place among them.
            cancellable_for(16, 16, own, [&](int, int, Cancellation& inner) {
                helps = helps || std::this_thread::get_id() == here;
                wait_for([&] {
                    inner.poll();
                    return false;
                });
            });
        });
    };
    CHECK_THROWS_AS(interrupted(), Interrupted);
    CHECK(helps);
    CHECK(Clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("a caller is not kept by the work of another caller") {
    // The calling thread waits for its helper while another thread has long work with a place for one more thread: of the 31 helpers that
    // it wants, one is still at work here.
    std::atomic<bool> taken{false}, shared{false}, ended{false};
    const auto start = Clock::now();
    std::thread other;
    parallel_for(2, 2, [&](int, int thread) {
        if (thread == 0) {
            wait_for([&] { return taken.load(); });
            other = std::thread([&] {
                parallel_for(32, 32, [&](int, int) {
                    shared = true;
                    wait_for([&] { return ended.load(); });
                });
            });
            return;
        }
        taken = true;
        wait_for([&] { return shared.load(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    ended = true;
    CHECK(Clock::now() - start < std::chrono::seconds(5));
    other.join();
}

TEST_CASE("a deadline ends all units") {
    Cancellation caller;
    std::atomic<int> ended{0};
    const auto deadline = Clock::now() + std::chrono::milliseconds(20);
    CHECK_THROWS_AS(cancellable_for(8, 2, caller, deadline,
                                    [&](int, int, Cancellation& own) {
                                        wait_for([&] {
                                            own.check();
                                            return false;
                                        });
                                        ++ended;
                                    }),
                    DeadlinePassed);
    CHECK(ended == 0);
}

TEST_CASE("polling asks at most every 50 milliseconds") {
    int asked = 0;
    Cancellation cancellation([&] { ++asked; });
    for (int i = 0; i < 1000; ++i) cancellation.poll();
    CHECK(asked <= 1);
    CHECK(wait_for([&] {
        cancellation.poll();
        return asked >= 2;
    }));
}

TEST_CASE("sets of tests are sets, whatever their size") {
    for (const int n : {1, 63, 64, 65, 128, 129, 200}) {
        TestSet tests(n), others(n);
        CHECK(tests.n_words() == static_cast<std::size_t>((n + 63) / 64));
        std::set<int> expected;
        for (int t = 0; t < n; t += 3) {
            tests.add(t);
            expected.insert(t);
        }
        for (int t = 0; t < n; t += 5) others.add(t);
        const auto members = [&](const TestSet& set) {
            std::set<int> found;
            set.each([&](int t) { found.insert(t); });
            return found;
        };
        CHECK(members(tests) == expected);
        for (int t = 0; t < n; ++t) CHECK(tests.has(t) == (t % 3 == 0));
        std::set<int> without;
        tests.each_without(others, [&](int t) { without.insert(t); });
        for (int t : expected) CHECK((without.count(t) == 1) == (t % 5 != 0));
        CHECK((tests == others) == (n == 1));
        tests.unite(others);
        for (int t = 0; t < n; ++t) CHECK(tests.has(t) == (t % 3 == 0 || t % 5 == 0));
        CHECK((tests.word(0) & 1) == 1);
    }
}

TEST_CASE("sound node tables are taken") {
    CHECK_NOTHROW(check_nodes(stump()));
    CHECK_NOTHROW(check_answers(stump(), 2, 2));
    Table table;
    const double values[] = {0, 1};
    table.n_cases = 2;
    table.columns.resize(1);
    table.columns[0].values = values;
    Pricing pricing;
    CHECK_THROWS_AS(check_tests(stump(), table, pricing), std::invalid_argument);  // a test without a price
    pricing.marginal = {1.0};
    pricing.delayed = {0};
    CHECK_NOTHROW(check_tests(stump(), table, pricing));
}

TEST_CASE("node tables that lead out of bounds are refused") {
    const auto refused = [](auto change) {
        Tree tree = stump();
        change(tree);
        CHECK_THROWS_AS(check_nodes(tree), std::invalid_argument);
    };
    refused([](Tree& t) { t.n_classes = 0; });
    refused([](Tree& t) { t.weights.pop_back(); });
    refused([](Tree& t) { t.threshold.pop_back(); });
    refused([](Tree& t) { t.threshold[0] = std::numeric_limits<double>::quiet_NaN(); });
    refused([](Tree& t) { t.first_child[0] = 0; });
    refused([](Tree& t) { t.first_child[0] = 2; });
    refused([](Tree& t) { t.first_child[0] = -1; });
    refused([](Tree& t) { t.n_children[0] = 3; });
    refused([](Tree& t) { t.n_children[1] = 1; });
    refused([](Tree& t) {
        t.map_start[0] = 0;
        t.map_size[0] = 1;
    });
    refused([](Tree& t) {
        t.map_start[0] = 0;
        t.map_size[0] = 1;
        t.maps = {2};
    });
    refused([](Tree& t) { t.answer[2] = -1; });
    refused([](Tree& t) { t.add_leaves(1); });
    Tree rejecting = stump();
    rejecting.answer[2] = 2;
    CHECK_NOTHROW(check_nodes(rejecting));
    CHECK_NOTHROW(check_answers(rejecting, 2, 3));
    CHECK_THROWS_AS(check_answers(rejecting, 2, 2), std::invalid_argument);
}
