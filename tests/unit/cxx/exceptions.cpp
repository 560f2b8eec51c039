/*
 * exceptions.cpp - tasks in C++: which exceptions a task handles is its own
 * affair, however many others suspend while they handle theirs; lambdas are
 * tasks, and destructors end scopes.
 */
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "eddy/eddy.h"
#include "test.h"

namespace
{

const int ROUNDS = 20;

struct thrown {
        int task;
        int depth;
};

/* A scope that the end of its block ends, by whatever way that is left. */
class guard
{
      public:
        explicit guard(int *ret_result = nullptr) : result(ret_result)
        {
                eddy_scope_begin(&scope, nullptr);
        }

        guard(const guard &) = delete;
        guard &operator=(const guard &) = delete;

        ~guard()
        {
                if (std::uncaught_exceptions() > 0)
                        eddy_scope_cancel(&scope);
                int end = eddy_scope_end(&scope);

                if (result)
                        *result = end;
        }

        template <typename T> void start(eddy_task_fn *fn, T *arg)
        {
                eddy_scope_start(&scope, fn, arg);
        }

        eddy_scope scope;

      private:
        int *result;
};

void let_others_run()
{
        CHECK_EQ(eddy_sleep(0), 0);
}

/* What the running task handles, as far as the runtime knows. */
int current_task()
{
        std::exception_ptr current = std::current_exception();

        if (!current)
                return -1;
        try {
                std::rethrow_exception(current);
        } catch (const thrown &caught) {
                return caught.task;
        }
}

/* Runs 'n' of them side by side, with their numbers; the result is the scope's. */
int side_by_side(eddy_task_fn *fn, int n)
{
        int numbers[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
        int result = 0;

        {
                guard scope(&result);

                for (int i = 0; i < n; i++)
                        scope.start(fn, &numbers[i]);
        }
        return result;
}

int run(eddy_task_fn *fn)
{
        return eddy_run(fn, nullptr, nullptr);
}

/* --- handlers that suspend --- */

int rethrows(void *arg)
{
        int task = *static_cast<int *>(arg);

        for (int i = 0; i < ROUNDS; i++) {
                bool again = false;

                try {
                        throw thrown{ task, i };
                } catch (...) {
                        let_others_run();
                        CHECK_EQ(current_task(), task);
                        try {
                                throw;
                        } catch (const thrown &caught) {
                                let_others_run();
                                CHECK_EQ(caught.task, task);
                                CHECK_EQ(caught.depth, i);
                                again = true;
                        }
                        /* Out of step with the others. */
                        for (int k = 0; k < task; k++)
                                let_others_run();
                        CHECK_EQ(current_task(), task);
                }
                CHECK(again);
                CHECK_EQ(current_task(), -1);
        }
        return 0;
}

extern "C" int main_rethrows(void *)
{
        return side_by_side(rethrows, 4);
}

} // namespace

TEST(a_task_that_suspends_in_a_handler_rethrows_its_own_exception)
{
        CHECK_EQ(run(main_rethrows), 0);
}

namespace
{

/* Throws and catches, one handler inside the other, with a wait in each. */
void nest(int task, int depth)
{
        if (depth == 0)
                return;
        try {
                throw thrown{ task, depth };
        } catch (const thrown &outer) {
                let_others_run();
                nest(task, depth - 1);
                let_others_run();
                CHECK_EQ(outer.task, task);
                CHECK_EQ(outer.depth, depth);
                CHECK_EQ(current_task(), task);
        }
}

int nests(void *arg)
{
        int task = *static_cast<int *>(arg);

        for (int i = 0; i < ROUNDS; i++)
                nest(task, 1 + (task + i) % 4);
        CHECK_EQ(current_task(), -1);
        return 0;
}

int main_nests(void *)
{
        return side_by_side(nests, 5);
}

} // namespace

TEST(handlers_inside_handlers_that_suspend_are_each_tasks_own)
{
        CHECK_EQ(run(main_nests), 0);
}

namespace
{

bool handler_done;

int handles_for_long(void *)
{
        try {
                throw thrown{ 1, 0 };
        } catch (...) {
                for (int i = 0; i < ROUNDS; i++)
                        let_others_run();
                CHECK_EQ(current_task(), 1);
        }
        handler_done = true;
        return 0;
}

int sees_none(void *)
{
        while (!handler_done) {
                CHECK_EQ(current_task(), -1);
                CHECK(std::uncaught_exceptions() == 0);
                let_others_run();
        }
        return 0;
}

int main_sees_none(void *)
{
        int result = 0;

        {
                guard scope(&result);

                scope.start(handles_for_long, &scope);
                scope.start(sees_none, &scope);
        }
        return result;
}

} // namespace

TEST(a_task_does_not_see_an_exception_that_another_handles)
{
        CHECK_EQ(run(main_sees_none), 0);
}

/* --- destructors that suspend --- */

namespace
{

class waits_at_its_end
{
      public:
        ~waits_at_its_end()
        {
                CHECK(std::uncaught_exceptions() > 0);
                for (int i = 0; i < 3; i++)
                        let_others_run();
                CHECK(std::uncaught_exceptions() > 0);
        }
};

int unwinds(void *arg)
{
        int task = *static_cast<int *>(arg);

        for (int i = 0; i < ROUNDS; i++) {
                CHECK(std::uncaught_exceptions() == 0);
                try {
                        waits_at_its_end outer, inner;

                        throw thrown{ task, i };
                } catch (const thrown &caught) {
                        CHECK(std::uncaught_exceptions() == 0);
                        CHECK_EQ(caught.task, task);
                        CHECK_EQ(caught.depth, i);
                }
                let_others_run();
        }
        return 0;
}

int main_unwinds(void *)
{
        return side_by_side(unwinds, 4);
}

} // namespace

TEST(a_destructor_may_suspend_while_an_exception_passes)
{
        CHECK_EQ(run(main_unwinds), 0);
}

namespace
{

int tasks_running, tasks_cancelled;

int waits_for_ever(void *arg)
{
        int *borrowed = static_cast<int *>(arg);
        int err;

        tasks_running++;
        ++*borrowed;
        err = eddy_sleep(EDDY_SEC(3600));
        --*borrowed;
        tasks_running--;
        tasks_cancelled += err == -ECANCELED;
        return err;
}

int main_scope_unwinds(void *)
{
        for (int i = 0; i < ROUNDS; i++) {
                bool caught = false;

                try {
                        int borrowed = 0;
                        guard scope;

                        for (int k = 0; k < 3; k++)
                                scope.start(waits_for_ever, &borrowed);
                        let_others_run();
                        CHECK_EQ(borrowed, 3);
                        throw std::runtime_error("leaves the scope");
                } catch (const std::runtime_error &error) {
                        CHECK_EQ(tasks_running, 0);
                        CHECK_STR(error.what(), "leaves the scope");
                        caught = true;
                }
                CHECK(caught);
        }
        CHECK_EQ(tasks_cancelled, 3 * ROUNDS);
        return 0;
}

} // namespace

TEST(an_exception_that_leaves_a_scope_waits_for_its_tasks)
{
        CHECK_EQ(run(main_scope_unwinds), 0);
}

namespace
{

struct guarded {
        eddy_lock lock;
        int found_held;
};

/* Leaves by continue, return and an exception, and suspends with the lock. */
int leaves_with_the_lock(void *arg)
{
        guarded &all = *static_cast<guarded *>(arg);

        for (int i = 0; i < ROUNDS; i++) {
                try {
                        EDDY_AUTO(eddy_lock) eddy_lock *held = nullptr;

                        CHECK_EQ(eddy_lock_acquire(&all.lock), 0);
                        held = &all.lock;
                        CHECK_EQ(all.found_held++, 0);
                        let_others_run();
                        all.found_held--;
                        if (i % 3 == 0)
                                continue;
                        if (i == ROUNDS - 1)
                                return 0;
                        throw thrown{ 3, i };
                } catch (const thrown &caught) {
                        let_others_run();
                        CHECK_EQ(caught.depth, i);
                }
        }
        return 0;
}

int main_auto(void *)
{
        guarded all = {};
        int result = 0;

        {
                guard scope(&result);

                for (int i = 0; i < 3; i++)
                        scope.start(leaves_with_the_lock, &all);
        }
        CHECK_EQ(eddy_lock_acquire(&all.lock), 0);
        CHECK_EQ(eddy_lock_release(&all.lock), 0);
        return result;
}

} // namespace

TEST(an_object_given_back_by_its_scope_is_given_back_by_an_exception_too)
{
        CHECK_EQ(run(main_auto), 0);
}

/* --- lambdas --- */

namespace
{

int main_lambdas(void *)
{
        std::string words[2];
        int result = 0;

        {
                guard scope(&result);

                for (std::string &word : words)
                        scope.start(
                                [](void *arg) -> int {
                                        std::string &text = *static_cast<std::string *>(arg);
                                        int one = 1, other = 0;

                                        try {
                                                let_others_run();
                                                text += std::string("a").at(text.size() + one +
                                                                            other);
                                        } catch (const std::out_of_range &) {
                                                let_others_run();
                                                text += "caught";
                                        }
                                        return 0;
                                },
                                &word);
        }
        for (const std::string &word : words)
                CHECK_STR(word.c_str(), "caught");
        return result;
}

/* Through the macros, whose arguments the commas of its body are not. */
int main_lambda_in_a_macro(void *)
{
        struct sum {
                int first, second, result;
        } sum = { 40, 2, 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, nullptr);
        eddy_scope_start(
                &scope,
                [](void *arg) {
                        auto &all = *static_cast<struct sum *>(arg);
                        int first = all.first, second = all.second;

                        let_others_run();
                        all.result = first + second;
                        return 0;
                },
                &sum);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return sum.result;
}

} // namespace

TEST(a_lambda_with_commas_is_a_task)
{
        CHECK_EQ(run(main_lambda_in_a_macro), 42);
}

TEST(a_lambda_that_captures_nothing_is_a_task)
{
        CHECK_EQ(run(main_lambdas), 0);
}

/* --- other ways to suspend --- */

namespace
{

/* Yields each number from inside a handler. */
int counts(eddy_generator *gen, void *)
{
        for (intptr_t i = 0; i < ROUNDS; i++) {
                try {
                        throw thrown{ 100, static_cast<int>(i) };
                } catch (const thrown &caught) {
                        int err = eddy_generator_yield(gen, &i);

                        if (err < 0)
                                return err;
                        CHECK_EQ(caught.depth, i);
                        CHECK_EQ(current_task(), 100);
                }
        }
        return 0;
}

/* Asks for it from inside another. */
int asks(void *arg)
{
        int task = *static_cast<int *>(arg), seen = 0;
        int result = 0;
        intptr_t value;

        {
                guard scope(&result);
                eddy_generator gen;

                eddy_generator_begin(&gen, &scope.scope, counts, nullptr, sizeof(value));
                try {
                        throw thrown{ task, 0 };
                } catch (...) {
                        while (eddy_generator_next(&gen, &value) == 1) {
                                CHECK_EQ(value, seen++);
                                CHECK_EQ(current_task(), task);
                        }
                }
                while (eddy_generator_next(&gen, &value) == 1)
                        seen++;
        }
        CHECK_EQ(seen, ROUNDS);
        return result;
}

int main_asks(void *)
{
        return side_by_side(asks, 3);
}

/* A generator that is asked without a handler, and has one itself. */
int main_asks_plainly(void *)
{
        int result = 0, seen = 0;
        intptr_t value;

        {
                guard scope(&result);
                eddy_generator gen;

                eddy_generator_begin(&gen, &scope.scope, counts, nullptr, sizeof(value));
                while (eddy_generator_next(&gen, &value) == 1) {
                        CHECK_EQ(value, seen++);
                        CHECK_EQ(current_task(), -1);
                }
        }
        CHECK_EQ(seen, ROUNDS);
        return result;
}

} // namespace

TEST(a_generator_and_its_caller_have_each_their_own)
{
        CHECK_EQ(run(main_asks), 0);
        CHECK_EQ(run(main_asks_plainly), 0);
}

namespace
{

struct line {
        eddy_queue queue;
        eddy_lock lock;
        eddy_event event;
};

/* Parks in each kind of call, in a handler. */
int puts(void *arg)
{
        line &all = *static_cast<line *>(arg);

        for (intptr_t i = 0; i < ROUNDS; i++) {
                try {
                        throw thrown{ 1, static_cast<int>(i) };
                } catch (...) {
                        CHECK_EQ(eddy_lock_acquire(&all.lock), 0);
                        let_others_run();
                        CHECK_EQ(eddy_lock_release(&all.lock), 0);
                        CHECK_EQ(eddy_queue_put(&all.queue, &i), 0);
                        CHECK_EQ(current_task(), 1);
                }
        }
        CHECK_EQ(eddy_event_set(&all.event), 0);
        return 0;
}

int gets(void *arg)
{
        line &all = *static_cast<line *>(arg);
        intptr_t item;

        try {
                throw thrown{ 2, 0 };
        } catch (...) {
                for (intptr_t i = 0; i < ROUNDS; i++) {
                        CHECK_EQ(eddy_lock_acquire(&all.lock), 0);
                        CHECK_EQ(eddy_lock_release(&all.lock), 0);
                        CHECK_EQ(eddy_queue_get(&all.queue, &item), 0);
                        CHECK_EQ(item, i);
                        CHECK_EQ(current_task(), 2);
                }
                CHECK_EQ(eddy_event_wait(&all.event), 0);
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                CHECK_EQ(current_task(), 2);
        }
        return 0;
}

int main_line(void *)
{
        line all = {};
        int result = 0;

        CHECK_EQ(eddy_queue_init(&all.queue, sizeof(intptr_t), 1), 0);
        {
                guard scope(&result);

                scope.start(gets, &all);
                scope.start(puts, &all);
        }
        eddy_queue_fini(&all.queue);
        return result;
}

} // namespace

TEST(every_call_that_waits_keeps_them_apart)
{
        CHECK_EQ(run(main_line), 0);
}

/* --- the code around a run --- */

namespace
{

int sees_nothing_of_the_caller(void *)
{
        CHECK_EQ(current_task(), -1);
        CHECK(std::uncaught_exceptions() == 0);
        return side_by_side(rethrows, 2);
}

} // namespace

TEST(a_run_may_be_started_in_a_handler)
{
        bool caught = false;

        try {
                throw thrown{ 50, 0 };
        } catch (...) {
                CHECK_EQ(run(sees_nothing_of_the_caller), 0);
                CHECK_EQ(current_task(), 50);
                try {
                        throw;
                } catch (const thrown &again) {
                        caught = again.task == 50;
                }
        }
        CHECK(caught);
        CHECK_EQ(current_task(), -1);
}

namespace
{

int callbacks_made;

/* In the loop's own context, while a task is in a handler. */
int handles_in_a_callback(void *)
{
        CHECK_EQ(current_task(), -1);
        try {
                throw thrown{ 70, 0 };
        } catch (const thrown &caught) {
                CHECK_EQ(caught.task, 70);
                callbacks_made++;
        }
        CHECK_EQ(current_task(), -1);
        return 0;
}

int main_callbacks(void *)
{
        eddy_handle handle = {};

        for (int i = 0; i < ROUNDS; i++) {
                try {
                        throw thrown{ 60, i };
                } catch (const thrown &caught) {
                        CHECK_EQ(eddy_loop_call_soon(nullptr, &handle, handles_in_a_callback,
                                                     nullptr),
                                 0);
                        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                        CHECK_EQ(caught.depth, i);
                        CHECK_EQ(current_task(), 60);
                }
        }
        CHECK_EQ(callbacks_made, ROUNDS);
        return 0;
}

} // namespace

TEST(callbacks_of_the_loop_have_their_own)
{
        CHECK_EQ(run(main_callbacks), 0);
}

TEST(a_loop_may_be_stepped_in_a_handler)
{
        int result = 1;
        eddy_loop *loop = nullptr;

        CHECK_EQ(eddy_loop_new(nullptr, &loop), 0);
        for (int i = 0; i < ROUNDS; i++) {
                try {
                        throw thrown{ 80, i };
                } catch (const thrown &caught) {
                        while ((result = eddy_loop_step(loop)) > 0)
                                continue;
                        CHECK_EQ(result, 0);
                        if (i % 2)
                                CHECK_EQ(eddy_loop_run(loop, main_rethrows, nullptr), 0);
                        CHECK_EQ(caught.depth, i);
                        CHECK_EQ(current_task(), 80);
                }
        }
        CHECK_EQ(eddy_loop_close(loop), 0);
}

/* --- what leaves a task --- */

namespace
{

int throws_out(void *)
{
        let_others_run();
        throw thrown{ 90, 0 };
}

/* It would have caught it, were the task a function that it called. */
int main_catches_nothing(void *)
{
        try {
                return side_by_side(throws_out, 1);
        } catch (...) {
                return 0;
        }
}

void ends_the_process()
{
        if (current_task() == 90)
                abort();
        _Exit(1);
}

} // namespace

TEST_DIES(an_exception_that_leaves_a_task_terminates_the_program, SIGABRT)
{
        std::set_terminate(ends_the_process);
        try {
                (void) run(main_catches_nothing);
        } catch (...) {
                _Exit(2);
        }
}
