/*
 * test_task.c - handles: names, results, joining, letting go.
 */
#include <pthread.h>

#include "sim_run.h"

static int returns(void *arg)
{
        return (int) (intptr_t) arg;
}

static int sleeps(void *arg)
{
        int err = eddy_sleep((int64_t) (intptr_t) arg);

        return err < 0 ? err : 11;
}

SIM_TEST(a_handle_stays_readable_after_the_scopes_end)
{
        eddy_scope scope;
        eddy_task *task;
        int result = 99;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, returns, (void *) 5,
                                       &(struct eddy_task_opts){ .name = "five" }, &task),
                 0);
        CHECK(!eddy_task_is_done(task));
        CHECK_EQ(eddy_task_result(task, &result), EDDY_E_TASK_NOT_DONE);
        CHECK_EQ(result, 99);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_task_is_done(task));
        CHECK_EQ(eddy_task_result(task, &result), 0);
        CHECK_EQ(result, 5);
        CHECK_STR(eddy_task_name(task), "five");
        eddy_task_cancel(task);
        CHECK_EQ(eddy_task_join(task, NULL), 0);
        eddy_task_release(task);
        eddy_task_release(NULL);
}

static int is_called_bob(void *arg)
{
        (void) arg;
        CHECK_STR(eddy_task_name(eddy_task_current()), "bob");
        return 0;
}

SIM_TEST(a_task_without_a_handle_keeps_its_name)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, is_called_bob, NULL,
                                       &(struct eddy_task_opts){ .name = "bob" }, NULL),
                 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(names_are_copied_and_cut_and_default_to_the_function)
{
        const char *names[] = { "0123456789012345678901234567890123456789", "", NULL };
        eddy_task *task[3];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_scope_start_task(&scope, returns, NULL,
                                               &(struct eddy_task_opts){ .name = names[i] },
                                               &task[i]),
                         0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(eddy_task_name(task[0]), "0123456789012345678901234567890");
        CHECK(eddy_task_name(task[1])[0] != '\0');
        CHECK_STR(eddy_task_name(task[2]), eddy_task_name(task[1]));
        for (int i = 0; i < 3; i++)
                eddy_task_release(task[i]);
}

static int looks_at_itself(void *arg)
{
        eddy_task *self = eddy_task_current();

        CHECK(self != NULL);
        CHECK(!eddy_task_is_done(self));
        CHECK(eddy_task_name(self)[0] != '\0');
        *(eddy_task **) arg = self;
        return 0;
}

SIM_TEST(the_current_task_is_the_one_that_asks)
{
        eddy_task *seen = NULL, *task;
        eddy_scope scope;

        CHECK_STR(eddy_task_name(eddy_task_current()), "main");
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, looks_at_itself, &seen, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK(seen == task);
        CHECK_EQ(eddy_scope_start(&scope, looks_at_itself, &seen), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK(seen != task && seen != eddy_task_current());
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

__attribute__((noinline)) static int deeper(volatile char *above, int left)
{
        volatile char frame[1024];

        frame[0] = (char) (above[0] + 1);
        if (left > 0)
                return deeper(frame, left - 1) + frame[0] - above[0] - 1;
        return frame[0] == 21;
}

static int touches_half(void *arg)
{
        volatile char top = 0;

        (void) arg;
        return deeper(&top, 20) == 1 ? 0 : -EIO;
}

SIM_TEST(a_small_stack_is_enough_for_20_kib)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 40; i++) {
                eddy_task *task;

                CHECK_EQ(eddy_scope_start_task(
                                 &scope, touches_half, NULL,
                                 &(struct eddy_task_opts){ .flags = EDDY_TASK_STACK_64K }, &task),
                         0);
                eddy_task_release(task);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- joining --- */

struct join {
        eddy_task *task;
        int err, result;
};

static int joins(void *arg)
{
        struct join *j = arg;

        j->err = eddy_task_join(j->task, &j->result);
        return j->err;
}

SIM_TEST(several_tasks_may_join_one)
{
        struct join j[4] = { 0 };
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, (void *) (intptr_t) MS, NULL, &task), 0);
        for (int i = 0; i < 4; i++) {
                j[i] = (struct join){ .task = task, .err = 1 };
                eddy_scope_start(&scope, joins, &j[i]);
        }
        CHECK_EQ(eddy_task_join(task, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 4; i++) {
                CHECK_EQ(j[i].err, 0);
                CHECK_EQ(j[i].result, 11);
        }
        eddy_task_release(task);
}

/* The return value is the joiner's own, the result the task's. */
SIM_TEST(joining_a_failed_task_succeeds)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING };
        eddy_scope scope;
        eddy_task *task;
        int result = 0;

        eddy_scope_begin(&scope, &opts);
        CHECK_EQ(eddy_scope_start_task(&scope, returns, (void *) (intptr_t) -EIO, NULL, &task), 0);
        CHECK_EQ(eddy_task_join(task, &result), 0);
        CHECK_EQ(result, -EIO);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        eddy_task_release(task);
}

static int joins_itself(void *arg)
{
        (void) arg;
        return eddy_task_join(eddy_task_current(), NULL) == -EDEADLK ? 1 : -EIO;
}

/* A45: a task that waits for itself gets an error. */
SIM_TEST(a_task_cannot_join_itself)
{
        eddy_scope scope;
        eddy_task *task;
        int result;

        CHECK_EQ(eddy_task_join(eddy_task_current(), NULL), -EDEADLK);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, joins_itself, NULL, NULL, &task), 0);
        CHECK_EQ(eddy_task_join(task, &result), 0);
        CHECK_EQ(result, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

static int joins_a_strangers_task(void *arg)
{
        int result = 50;

        CHECK_EQ(eddy_task_join(arg, &result), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(result, 50);
        return 6;
}

static void *runs_beside(void *arg)
{
        return (void *) (intptr_t) sim_run_beside(joins_a_strangers_task, arg);
}

static void join_from_another_loop(eddy_task *task)
{
        pthread_t thread;
        void *result;

        CHECK_EQ(pthread_create(&thread, NULL, runs_beside, task), 0);
        CHECK_EQ(pthread_join(thread, &result), 0);
        CHECK_EQ((intptr_t) result, 6);
}

/* A45: nor one of another thread's loop, whether that runs or has ended. */
SIM_TEST(a_task_of_another_loop_cannot_be_joined)
{
        eddy_scope scope;
        eddy_task *task;
        int result;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, (void *) (intptr_t) MS, NULL, &task), 0);
        join_from_another_loop(task);
        CHECK_EQ(eddy_task_join(task, &result), 0);
        CHECK_EQ(result, 11);
        join_from_another_loop(task);
        join_from_another_loop(eddy_task_current());
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

/* A38, A82: cancelling a join leaves what is joined, and the other joiners, alone. */
SIM_TEST(cancelling_a_join_does_not_cancel_the_task)
{
        struct join j[3];
        eddy_task *joiner[3], *task;
        eddy_scope scope;
        int result;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, (void *) (intptr_t) (10 * MS), NULL, &task),
                 0);
        for (int i = 0; i < 3; i++) {
                j[i] = (struct join){ .task = task, .err = 1, .result = 50 };
                CHECK_EQ(eddy_scope_start_task(&scope, joins, &j[i], NULL, &joiner[i]), 0);
        }
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(joiner[1]);
        CHECK_EQ(eddy_task_join(joiner[1], &result), 0);
        CHECK_EQ(result, -ECANCELED);
        CHECK(!eddy_task_is_done(task));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(j[i].err, i == 1 ? -ECANCELED : 0);
                CHECK_EQ(j[i].result, i == 1 ? 50 : 11);
                eddy_task_release(joiner[i]);
        }
        eddy_task_release(task);
}

SIM_TEST(a_handle_may_be_released_while_others_join)
{
        struct join j = { .err = 1 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, (void *) (intptr_t) MS, NULL, &j.task), 0);
        eddy_scope_start(&scope, joins, &j);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_release(j.task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(j.err, 0);
        CHECK_EQ(j.result, 11);
}

SIM_TEST(a_handle_released_at_once_lets_the_task_go_on)
{
        eddy_scope scope;
        eddy_task *task;
        int64_t begun = eddy_now();

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, (void *) (intptr_t) MS, NULL, &task), 0);
        eddy_task_release(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_NS(eddy_now() - begun, MS);
}

/* Where what is used after its release is to be found, it does not; and not with an allocator that gives other memory. */
#if !defined(ED_ASAN) && defined(__GLIBC__)
static int uses_a_handle_again(void *arg)
{
        eddy_task *first, *second;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, (void *) (intptr_t) MS, NULL, &first), 0);
        CHECK_EQ(eddy_task_join(first, NULL), 0);
        eddy_task_release(first);
        CHECK_EQ(eddy_scope_start_task(&scope, sleeps, (void *) (intptr_t) MS, NULL, &second), 0);
        CHECK(second == first);
        eddy_task_release(second);
        return eddy_scope_end(&scope);
}

/* On a real table: a run of the kit keeps no spare handles. */
TEST(a_released_handle_serves_the_next_task)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_DEBUG };

        CHECK_EQ(eddy_run(uses_a_handle_again, NULL, &opts), 0);
}
#endif

/* A50: sleeping for nothing, or less, gives every ready task one turn. */
static int takes_turns(void *arg)
{
        int *turns = arg;

        for (int i = 0; i < 3; i++) {
                ++*turns;
                CHECK_EQ(eddy_sleep(i == 1 ? -5 : 0), 0);
        }
        return 0;
}

SIM_TEST(sleeping_for_nothing_is_one_turn_for_each)
{
        eddy_scope scope;
        int turns[2] = { 0, 0 };

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, takes_turns, &turns[0]);
        eddy_scope_start(&scope, takes_turns, &turns[1]);
        for (int i = 1; i <= 3; i++) {
                CHECK_EQ(eddy_sleep(0), 0);
                CHECK_EQ(turns[0], i);
                CHECK_EQ(turns[1], i);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* Who waits for a task's end goes on in its turn, also where it is the next anyway. */
struct order {
        eddy_event event;
        eddy_task *child;
        bool sets; /* the child, at its end */
        unsigned n;
        char log[8];
};

static int ends_last(void *arg)
{
        struct order *order = arg;

        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        if (order->sets)
                eddy_event_set(&order->event);
        return 7;
}

static int joins_it(void *arg)
{
        struct order *order = arg;
        int result = 0;

        CHECK_EQ(eddy_task_join(order->child, &result), 0);
        CHECK_EQ(result, 7);
        order->log[order->n++] = 'j';
        return 0;
}

static int waits_for_event(void *arg)
{
        struct order *order = arg;

        CHECK_EQ(eddy_event_wait(&order->event), 0);
        order->log[order->n++] = 'w';
        return 0;
}

static int notes_the_order(void *arg)
{
        struct order *order = arg;
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_start(&outer, joins_it, order);
        eddy_scope_start(&outer, waits_for_event, order);
        eddy_scope_begin(&inner, NULL);
        CHECK_EQ(eddy_scope_start_task(&inner, ends_last, order, NULL, &order->child), 0);
        CHECK_EQ(eddy_scope_end(&inner), 0);
        order->log[order->n++] = 'o';
        eddy_event_set(&order->event);
        CHECK_EQ(eddy_scope_end(&outer), 0);
        eddy_task_release(order->child);
        return 0;
}

/* On a real table: a simulated one chooses who is next. */
TEST(waits_for_a_tasks_end_are_over_in_turn)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS };
        struct order order = { .sets = false };

        CHECK_EQ(eddy_run(notes_the_order, &order, &opts), 0);
        CHECK_STR(order.log, "jow");
        order = (struct order){ .sets = true };
        CHECK_EQ(eddy_run(notes_the_order, &order, &opts), 0);
        CHECK_STR(order.log, "wjo");
}

/* A stack is used again for the next task: nothing of the one before shows. */
static int looks_fresh(void *arg)
{
        eddy_scope scope;

        CHECK((strcmp(eddy_task_name(eddy_task_current()), "named") == 0) == (arg != NULL));
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        return arg ? -EIO : 0;
}

SIM_TEST(a_task_on_a_used_stack_begins_afresh)
{
        struct eddy_task_opts named = { .name = "named" };
        eddy_scope scope;

        for (int i = 0; i < 4; i++) {
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start_task(&scope, looks_fresh, i % 2 ? NULL : &scope,
                                               i % 2 ? NULL : &named, NULL),
                         0);
                CHECK_EQ(eddy_scope_end(&scope), i % 2 ? 0 : -EIO);
        }
}

static int returns_at_once(void *arg)
{
        (void) arg;
        return 0;
}

/* More than ThreadSanitizer has room for if none of their first functions ends. */
enum { TASKS_OF_ONE_STACK = 70000 };

static int starts_many_on_one_stack(void *arg)
{
        eddy_scope scope;

        (void) arg;
        for (int i = 0; i < TASKS_OF_ONE_STACK; i++) {
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, returns_at_once, NULL), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
        }
        return 0;
}

TEST(a_stack_serves_seventy_thousand_tasks_in_turn)
{
        CHECK_EQ(eddy_run(starts_many_on_one_stack, NULL, NULL), 0);
}
