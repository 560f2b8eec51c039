/*
 * core_fiber.cpp - Boost.Fiber, measured as core_eddy.c does.
 *
 *     core_fiber ROW COUNT [TASKS | WAIT_MS | ITEMS]
 *
 * A single thread, the default round_robin scheduler.  Stacks come from
 * pooled_fixedsize_stack, which its documentation offers for speed and which
 * has no guard pages; only the sleepers' are protected_fixedsize_stack, which
 * has.  Each row uses the launch policy that is faster there.
 * (BOOST_FIBERS_NO_ATOMICS would need a library built without them;
 * Debian's is not.)
 */
#include <boost/fiber/all.hpp>
#include <boost/version.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../bench.h"

namespace fibers = boost::fibers;

static long count, extra, done;
static struct bench_span span;
static std::string notes;

/* A this_fiber::yield(): a switch to the next fiber. */
static void row_yield()
{
        fibers::pooled_fixedsize_stack stacks;
        std::vector<fibers::fiber> all;

        for (long i = 0; i < extra; i++)
                all.emplace_back(fibers::launch::post, std::allocator_arg, stacks, [] {
                        boost::this_fiber::yield();
                        if (done == 0)
                                bench_span_begin(&span);
                        while (done < count) {
                                if (++done == count)
                                        bench_span_end(&span);
                                boost::this_fiber::yield();
                        }
                });
        for (auto &fiber : all)
                fiber.join();
}

static void row_start_join()
{
        fibers::pooled_fixedsize_stack stacks;

        bench_span_begin(&span);
        for (long i = 0; i < count; i++)
                fibers::fiber(fibers::launch::dispatch, std::allocator_arg, stacks, [] {
                        done++;
                }).join();
        bench_span_end(&span);
}

/* TASKS (1,000) fibers started, then joined. */
static void row_start_batch()
{
        const long batch = extra > 1 ? extra : 1000;
        fibers::pooled_fixedsize_stack stacks;
        std::vector<fibers::fiber> all(static_cast<size_t>(batch));

        for (long i = 0; i <= std::max(count / batch, 1L); i++) {
                /* The clock starts after the first batch. */
                if (i == 1) {
                        done = 0;
                        bench_span_begin(&span);
                }
                for (auto &fiber : all)
                        fiber = fibers::fiber(fibers::launch::post, std::allocator_arg, stacks,
                                              [] { done++; });
                for (auto &fiber : all)
                        fiber.join();
        }
        bench_span_end(&span);
}

/* Its unbuffered channels: a buffered one holds at least two. */
static void row_queue()
{
        fibers::unbuffered_channel<long> there, back;
        fibers::fiber echo([&] {
                for (long item : there)
                        back.push(item);
        });

        bench_span_begin(&span);
        for (; done < count; done++) {
                there.push(done);
                if (back.value_pop() != done)
                        bench_die("queue", "the item came back changed");
        }
        bench_span_end(&span);
        there.close();
        echo.join();
}

/* Count one operation; false: it was the last, or they are all done and it does not count. */
static bool go_on()
{
        if (done == count)
                return false;
        if (done == 0)
                bench_span_begin(&span);
        if (++done == count)
                bench_span_end(&span);
        return done < count;
}

/* TASKS fibers in pairs, each with two unbuffered channels. */
static void row_queue_many()
{
        struct pair {
                fibers::unbuffered_channel<long> there, back;
        };
        fibers::pooled_fixedsize_stack stacks;
        std::vector<fibers::fiber> all;

        for (long i = 0; i < extra / 2; i++) {
                auto channels = std::make_shared<pair>();
                all.emplace_back(fibers::launch::post, std::allocator_arg, stacks, [channels] {
                        for (long item : channels->there)
                                channels->back.push(item);
                });
                all.emplace_back(fibers::launch::post, std::allocator_arg, stacks, [channels] {
                        do {
                                channels->there.push(1);
                                channels->back.value_pop();
                        } while (go_on());
                        channels->there.close();
                });
        }
        for (auto &fiber : all)
                fiber.join();
}

/* All want one mutex, and give way while they hold it. */
static void row_lock_line()
{
        fibers::pooled_fixedsize_stack stacks;
        std::vector<fibers::fiber> all;
        fibers::mutex mutex;

        for (long i = 0; i < extra; i++)
                all.emplace_back(fibers::launch::post, std::allocator_arg, stacks, [&mutex] {
                        bool more;

                        do {
                                mutex.lock();
                                boost::this_fiber::yield();
                                more = go_on();
                                mutex.unlock();
                        } while (more);
                });
        for (auto &fiber : all)
                fiber.join();
}

/* Mappings without access: every guard page of a stack is one. */
static long guards_count()
{
        char line[512];
        long guards = 0;
        FILE *maps = fopen("/proc/self/maps", "re");

        if (!maps)
                return 0;
        while (fgets(line, sizeof(line), maps))
                guards += strstr(line, " ---p ") != nullptr;
        fclose(maps);
        return guards;
}

/* Ends the program: only 'n' fibers could sleep with a guard. */
__attribute__((noreturn)) static void guards_failed(long n, const char *why)
{
        printf("{\"failed_at\": %ld, \"why\": \"%s\"}\n", n, why);
        fflush(stdout);
        _exit(0);
}

/*
 * Stacks with guards: each is a mapping of its own.  The library does not
 * look at mprotect()'s result, so beyond the system's limit of mappings it
 * either finds no memory or runs on without guards; both end the row here.
 */
static void row_sleep()
{
        fibers::protected_fixedsize_stack stacks;
        std::vector<fibers::fiber> all;
        long parked = 0, before, during, guards = guards_count();

        all.reserve(static_cast<size_t>(count));
        before = bench_memory_kib(1);
        bench_span_begin(&span);
        auto wake = std::chrono::steady_clock::now() + std::chrono::milliseconds(extra);
        try {
                for (long i = 0; i < count; i++)
                        all.emplace_back(fibers::launch::post, std::allocator_arg, stacks,
                                         [&parked, wake] {
                                                 parked++;
                                                 boost::this_fiber::sleep_until(wake);
                                                 done++;
                                         });
        } catch (const std::bad_alloc &) {
                guards_failed(static_cast<long>(all.size()), "no more mappings for stacks");
        }
        while (parked < count)
                boost::this_fiber::yield();
        during = bench_memory_kib(1);
        if (std::chrono::steady_clock::now() >= wake)
                bench_die("sleep", "WAIT_MS is too short: not all were parked in time");
        struct bench_span counting;
        bench_span_begin(&counting);
        guards = guards_count() - guards;
        if (guards < count)
                guards_failed(guards, "stacks beyond have no guard");
        bench_span_end(&counting);
        for (auto &fiber : all)
                fiber.join();
        bench_span_end(&span);
        span.cpu_ns -= counting.cpu_ns;
        char text[96];
        snprintf(text, sizeof(text), "\"kib_per_task\": %.2f, \"guards\": \"mprotect\"",
                 static_cast<double>(during - before) / static_cast<double>(count));
        notes = text;
}

/* It has no semaphore, either: its mutex is the nearest. */
static void row_lock()
{
        fibers::mutex mutex;

        bench_span_begin(&span);
        for (; done < count; done++) {
                mutex.lock();
                mutex.unlock();
        }
        bench_span_end(&span);
}

/* Two fibers take turns, guarded by one mutex and notified by one condition. */
static void row_condition()
{
        fibers::mutex mutex;
        fibers::condition_variable changed;
        int turn = 0;
        bool stop = false;
        fibers::fiber other([&] {
                std::unique_lock<fibers::mutex> lock(mutex);

                while (!stop) {
                        if (turn == 1) {
                                turn = 0;
                                changed.notify_one();
                        }
                        changed.wait(lock);
                }
        });

        bench_span_begin(&span);
        {
                std::unique_lock<fibers::mutex> lock(mutex);

                for (; done < count; done++) {
                        turn = 1;
                        changed.notify_one();
                        while (turn == 1)
                                changed.wait(lock);
                }
                stop = true;
                changed.notify_one();
        }
        bench_span_end(&span);
        other.join();
}

/* Its futures serve once: each round trip makes two. */
struct trip {
        fibers::promise<long> there, back;
};

static void row_future()
{
        trip trips[2];
        fibers::fiber echo([&] {
                for (long i = 0; i < count; i++)
                        trips[i % 2].back.set_value(trips[i % 2].there.get_future().get());
        });

        bench_span_begin(&span);
        for (; done < count; done++) {
                trip &now = trips[done % 2];

                now.there.set_value(done);
                if (now.back.get_future().get() != done)
                        bench_die("future", "the result came back changed");
                now = trip();
        }
        bench_span_end(&span);
        echo.join();
}

/* Its channels serve fibers of several threads; a buffered one holds a power of two less one. */
using channel = fibers::buffered_channel<long>;

static void row_channel()
{
        channel there(2), back(2);
        std::thread echo([&] {
                for (long item : there)
                        back.push(item);
        });

        bench_span_begin(&span);
        for (; done < count; done++) {
                there.push(done);
                if (back.value_pop() != done)
                        bench_die("channel", "the item came back changed");
        }
        bench_span_end(&span);
        there.close();
        echo.join();
}

static void row_stream()
{
        channel there(static_cast<std::size_t>(extra));
        std::thread drain([&] {
                for (long item : there)
                        if (item != done++)
                                bench_die("stream", "an item is missing");
        });

        bench_span_begin(&span);
        for (long i = 0; i < count; i++)
                there.push(i);
        there.close();
        drain.join();
        bench_span_end(&span);
}

int main(int argc, char **argv)
{
        const std::map<std::string, std::function<void()>> rows = {
                { "yield", row_yield },
                { "start-join", row_start_join },
                { "start-batch", row_start_batch },
                { "queue", row_queue },
                { "sleep", row_sleep },
                { "semaphore", row_lock },
                { "lock", row_lock },
                { "condition", row_condition },
                { "future", row_future },
                { "channel", row_channel },
                { "stream", row_stream },
                { "queue-many", row_queue_many },
                { "lock-line", row_lock_line },
        };

        if (argc < 3 || !rows.count(argv[1]))
                bench_die("usage", "core_fiber ROW COUNT [TASKS | WAIT_MS | ITEMS]");
        count = bench_count(argv[2], 2000000000);
        extra = argc > 3 ? bench_count(argv[3], 100000000) : 1;
        rows.at(argv[1])();
        bench_core_print("Boost.Fiber " BOOST_LIB_VERSION, argv[1], done, &span, notes.c_str());
        return 0;
}
