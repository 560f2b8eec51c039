/*
 * scope.cpp - eddy/cpp.hpp: tasks from callables, exceptions that end tasks, and
 * scopes that end with their blocks.
 */
#include "eddy/cpp.hpp"

#include <pthread.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "eddy/eddy.h"
#include "test.h"

namespace
{

int sleeps_long()
{
        return eddy_sleep(EDDY_SEC(3600));
}

/* Appends a letter to a text when it goes away. */
struct mark {
        mark(std::string &text, char letter) : to(&text), own(letter) {}
        mark(mark &&from) noexcept : to(from.to), own(from.own) { from.to = nullptr; }
        mark(const mark &) = delete;
        mark &operator=(const mark &) = delete;
        ~mark()
        {
                if (to)
                        *to += own;
        }

        std::string *to;
        char own;
};

} // namespace

TEST(a_callable_with_a_capture_that_only_moves_is_a_task)
{
        int sum = 0, result = eddy::run([&] {
                eddy::scope scope;

                for (int i = 1; i <= 4; i++)
                        scope.start([&sum, number = std::make_unique<int>(i)] {
                                CHECK_EQ(eddy_sleep(0), 0);
                                sum += *number;
                        });
                return scope.end();
        });

        CHECK_EQ(result, 0);
        CHECK_EQ(sum, 10);
}

TEST(captures_are_destroyed_when_their_task_ends_and_before_the_scopes_end)
{
        std::string order;

        CHECK_EQ(eddy::run([&] {
                mark outer(order, 'o');
                eddy::scope scope;

                scope.start([&order, a = mark(order, 'a')] {
                        mark inner(order, 'i');

                        CHECK_EQ(eddy_sleep(0), 0);
                });
                scope.start([b = mark(order, 'b')] { return eddy_sleep(EDDY_MS(1)); });
                CHECK_EQ(scope.end(), 0);
                CHECK_STR(order.c_str(), "iab");
        }),
                 0);
        CHECK_STR(order.c_str(), "iabo");
}

TEST(an_exception_of_a_task_cancels_the_others_and_comes_from_the_scopes_end)
{
        int cancelled = 0, caught = 0;

        CHECK_EQ(eddy::run([&] {
                eddy::scope scope;

                for (int i = 0; i < 3; i++)
                        scope.start([&] {
                                int err = sleeps_long();

                                cancelled += err == -ECANCELED;
                                return err;
                        });
                scope.start([] {
                        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                        throw std::out_of_range("no such row");
                });
                try {
                        (void) scope.end();
                } catch (const std::out_of_range &error) {
                        CHECK_STR(error.what(), "no such row");
                        caught++;
                }
        }),
                 0);
        CHECK_EQ(cancelled, 3);
        CHECK_EQ(caught, 1);
}

TEST(a_run_throws_the_exception_that_left_its_main_task)
{
        int caught = 0;

        try {
                (void) eddy::run([] {
                        CHECK_EQ(eddy_sleep(0), 0);
                        throw 5;
                });
        } catch (int number) {
                caught = number;
        }
        CHECK_EQ(caught, 5);
        CHECK_EQ(eddy::run([] { return 7; }), 7);
        CHECK_EQ(eddy::run([] {}), 0);
}

TEST(an_error_of_the_c_interface_is_an_exception_with_its_number)
{
        int number = 0;

        try {
                CHECK_EQ(eddy::check(3), 3);
                (void) eddy::run([] {
                        eddy::scope scope;

                        scope.start([] { eddy::check(-EPIPE); });
                        return scope.end();
                });
        } catch (const eddy::error &error) {
                number = error.number;
                CHECK_STR(error.what(), eddy_error_text(-EPIPE));
        }
        CHECK_EQ(number, -EPIPE);
}

TEST(a_failure_that_came_before_the_exception_is_the_scopes_result)
{
        CHECK_EQ(eddy::run([] {
                struct eddy_scope_errors errors;
                eddy::scope scope({ .flags = EDDY_SCOPE_KEEP_GOING, .errors = &errors });
                int result;

                scope.start([] { return -EIO; }, { .name = "returns" });
                scope.start([] { throw std::runtime_error("later"); }, { .name = "throws" });
                result = scope.end();
                CHECK_EQ(errors.count, 2);
                CHECK_EQ(errors.list[1].result, EDDY_E_TASK_THREW);
                CHECK_STR(errors.list[1].task, "throws");
                return result;
        }),
                 -EIO);
}

TEST(a_cancelled_task_may_end_with_the_exception_of_its_cancel)
{
        CHECK_EQ(eddy::run([] {
                eddy::scope scope;

                scope.start([] { eddy::check(sleeps_long()); });
                CHECK_EQ(eddy_sleep(0), 0);
                scope.cancel();
                return scope.end();
        }),
                 0);
}

TEST(a_deadline_is_the_result_of_its_scope)
{
        CHECK_EQ(eddy::run([] {
                eddy::scope scope({ .timeout_ns = EDDY_MS(1) });

                scope.start([] { eddy::check(sleeps_long()); });
                return scope.end();
        }),
                 -ETIMEDOUT);
}

namespace
{

int returns_early(std::string &order)
{
        mark borrowed(order, 'o');
        eddy::scope scope;

        scope.start([&] {
                CHECK_EQ(sleeps_long(), -ECANCELED);
                order += 'c';
        });
        CHECK_EQ(eddy_sleep(0), 0);
        return 3;
}

} // namespace

TEST(a_return_from_the_block_cancels_the_tasks_and_waits_for_them)
{
        std::string order;

        CHECK_EQ(eddy::run([&] { return returns_early(order); }), 3);
        CHECK_STR(order.c_str(), "co");
}

TEST(an_exception_that_leaves_the_block_cancels_the_tasks_and_waits_for_them)
{
        std::string order;
        int caught = 0;

        try {
                (void) eddy::run([&] {
                        mark borrowed(order, 'o');
                        eddy::scope scope;

                        scope.start([&order, m = mark(order, 'm')] {
                                CHECK_EQ(sleeps_long(), -ECANCELED);
                                order += 'c';
                                throw std::logic_error("is not seen, since another one passes");
                        });
                        CHECK_EQ(eddy_sleep(0), 0);
                        throw std::runtime_error("leaves");
                });
        } catch (const std::runtime_error &) {
                caught++;
        }
        CHECK_EQ(caught, 1);
        CHECK_STR(order.c_str(), "cmo");
}

TEST(a_callable_that_could_not_be_started_is_destroyed)
{
        std::string order;

        CHECK_EQ(eddy::run([&] {
                eddy::scope scope;

                scope.cancel();
                CHECK_EQ(scope.start([m = mark(order, 'm')] { CHECK(false); }), -ECANCELED);
                CHECK_STR(order.c_str(), "m");
                return scope.end();
        }),
                 0);
        CHECK_STR(order.c_str(), "m");
}

TEST(a_handle_of_a_task_from_a_callable_is_joined)
{
        CHECK_EQ(eddy::run([] {
                eddy_task *task = nullptr;
                eddy::scope scope;
                int result = 0;

                CHECK_EQ(scope.start([] { return 42; }, {}, &task), 0);
                eddy::handle<eddy_task, eddy_task_release> held(task);
                CHECK_EQ(eddy_task_join(held.get(), &result), 0);
                CHECK_EQ(scope.end(), 0);
                return result;
        }),
                 42);
}

TEST(a_call_that_waits_takes_a_callable_in_the_callers_frame)
{
        CHECK_EQ(eddy::run([] {
                pthread_t own = pthread_self(), other = own;
                auto work = [&] { other = pthread_self(); };
                auto late = [] { return sleeps_long(); };

                CHECK_EQ(eddy_to_thread(eddy::entry(work), &work), 0);
                CHECK(!pthread_equal(own, other));
                return eddy_call_timeout(eddy::entry(late), &late, EDDY_MS(1));
        }),
                 -ETIMEDOUT);
}

/* LeakSanitizer's, for the allocations of the calling thread. */
extern "C" void __lsan_disable(void) __attribute__((weak));

namespace
{

/* The memory of the run is lost with the thread. */
void *exits_in_a_task(void *order)
{
        if (__lsan_disable)
                __lsan_disable();
        (void) eddy::run([&] {
                mark own(*static_cast<std::string *>(order), 'u');

                CHECK_EQ(eddy_sleep(0), 0);
                pthread_exit(nullptr);
        });
        return order;
}

} // namespace

/* The unwinding of pthread_exit() is not an exception that may end here. */
TEST(a_thread_that_ends_in_a_task_destroys_its_objects)
{
        std::string order;
        pthread_t thread;
        void *result = &order;

        if (UNDER_TSAN)
                test_skip("ThreadSanitizer ends the process at pthread_exit() in a task");
        CHECK_EQ(pthread_create(&thread, nullptr, exits_in_a_task, &order), 0);
        CHECK_EQ(pthread_join(thread, &result), 0);
        CHECK(result == nullptr);
        CHECK_STR(order.c_str(), "u");
}

TEST(an_error_whose_number_is_not_below_0_fails_its_task_too)
{
        for (int number : { EIO, 0 })
                CHECK_EQ(eddy::run([number] {
                        eddy::scope scope;

                        scope.start([number] { throw eddy::error(number); });
                        try {
                                (void) scope.end();
                        } catch (const eddy::error &error) {
                                return error.number == number ? 7 : 8;
                        }
                        return 9;
                }),
                         7);
}

TEST(a_time_that_passes_around_calls_that_throw_is_a_timeout)
{
        CHECK_EQ(eddy::run([] {
                auto throws = [] { eddy::check(sleeps_long()); };
                auto fails = [] { throw std::runtime_error("at once"); };

                CHECK_EQ(eddy::call_timeout(throws, EDDY_MS(1)), -ETIMEDOUT);
                CHECK_EQ(eddy::call_timeout([] { return 3; }, EDDY_SEC(60)), 3);
                try {
                        (void) eddy::call_timeout(fails, EDDY_SEC(60));
                } catch (const std::runtime_error &error) {
                        return std::string("at once") == error.what() ? 7 : 8;
                }
                return 9;
        }),
                 7);
}
