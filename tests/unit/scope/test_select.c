/*
 * test_select.c - waiting for the first of several events: which one is done,
 * and that the others are as if they had not been asked.
 */
#include "sim_run.h"
#include "starve.h"

static eddy_queue queue_of(uint32_t items_max)
{
        eddy_queue queue;

        CHECK_EQ(eddy_queue_init(&queue, sizeof(int), items_max), 0);
        return queue;
}

static int item_of(eddy_queue *queue)
{
        int item;

        CHECK_EQ(eddy_queue_try_get(queue, &item), 0);
        return item;
}

static void put_int(eddy_queue *queue, int item)
{
        CHECK_EQ(eddy_queue_try_put(queue, &item), 0);
}

struct selecting {
        struct eddy_choice *choices;
        size_t n;
        int index; /* what select returned; WAITS: nothing yet */
        eddy_task *task;
};

enum { WAITS = 1000 };

static int selects(void *arg)
{
        struct selecting *s = arg;

        s->index = eddy_select(s->choices, s->n);
        return 0;
}

static void start_select(eddy_scope *scope, struct selecting *s, struct eddy_choice *choices,
                         size_t n)
{
        *s = (struct selecting){ choices, n, WAITS, NULL };
        CHECK_EQ(eddy_scope_start_task(scope, selects, s, NULL, &s->task), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(s->index, WAITS);
}

static void end_select(eddy_scope *scope, struct selecting *s)
{
        CHECK_EQ(eddy_scope_end(scope), 0);
        eddy_task_release(s->task);
}

/* --- one that is ready --- */

SIM_TEST(the_first_in_the_list_that_is_ready_is_done)
{
        eddy_queue empty = queue_of(0), one = queue_of(0), room = queue_of(1);
        int got = -1, put = 7;
        struct eddy_choice choices[] = {
                eddy_choice_get(&empty, &got),
                eddy_choice_get(&one, &got),
                eddy_choice_put(&room, &put),
                eddy_choice_after(0),
        };

        put_int(&one, 5);
        CHECK_EQ(eddy_select(choices, 4), 1);
        CHECK_EQ(choices[1].result, 0);
        CHECK_EQ(got, 5);
        CHECK_EQ(eddy_queue_count(&room), 0);
        CHECK_EQ(eddy_select(choices, 4), 2);
        CHECK_EQ(item_of(&room), 7);
        put_int(&room, 1);
        CHECK_EQ(eddy_select(choices, 4), 3);
        CHECK_EQ(eddy_try_select(choices, 3), -EAGAIN);
        CHECK_EQ(eddy_queue_count(&room), 1);
        eddy_queue_fini(&one);
        eddy_queue_fini(&room);
}

SIM_TEST(a_queue_that_is_shut_is_ready_and_says_so)
{
        eddy_queue queue = queue_of(1);
        int item = 3;
        struct eddy_choice get = eddy_choice_get(&queue, &item);
        struct eddy_choice put = eddy_choice_put(&queue, &item);

        eddy_queue_shutdown(&queue, 0);
        CHECK_EQ(eddy_select(&get, 1), 0);
        CHECK_EQ(get.result, -EPIPE);
        CHECK_EQ(eddy_select(&put, 1), 0);
        CHECK_EQ(put.result, -EPIPE);
        CHECK_EQ(item, 3);
        eddy_queue_fini(&queue);
}

static int returns_42(void *arg)
{
        int err = arg ? eddy_sleep(*(int64_t *) arg) : 0;

        return err < 0 ? err : 42;
}

SIM_TEST(a_finished_task_is_ready_with_its_result)
{
        struct eddy_choice choice;
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, returns_42, NULL, NULL, &task), 0);
        choice = eddy_choice_task(task);
        CHECK_EQ(eddy_try_select(&choice, 1), -EAGAIN);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_try_select(&choice, 1), 0);
        CHECK_EQ(choice.result, 42);
        CHECK_EQ(eddy_select(&choice, 1), 0);
        eddy_task_release(task);
}

SIM_TEST(a_time_that_has_come_is_ready)
{
        struct eddy_choice choices[] = {
                eddy_choice_never(),
                eddy_choice_after(MS),
                eddy_choice_at(eddy_now() + MS),
                eddy_choice_at(eddy_now()),
                eddy_choice_after(INT64_MIN),
        };

        CHECK_EQ(eddy_try_select(choices, 3), -EAGAIN);
        CHECK_EQ(eddy_try_select(choices, 4), 3);
        CHECK_EQ(eddy_select(choices, 4), 3);
        choices[3] = eddy_choice_never();
        CHECK_EQ(eddy_select(choices, 5), 4);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_select(choices, 3), 2);
}

/* --- one that comes --- */

SIM_TEST(of_several_times_the_first_to_come_is_done)
{
        int64_t begin = eddy_now();
        struct eddy_choice choices[] = {
                eddy_choice_after(5 * MS),
                eddy_choice_at(begin + 3 * MS),
                eddy_choice_after(4 * MS),
                eddy_choice_after(INT64_MAX),
        };

        for (int i = 0; i < 4; i++)
                choices[i].result = 99;
        CHECK_EQ(eddy_select(choices, 4), 1);
        CHECK_NS(eddy_now() - begin, 3 * MS);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(choices[i].result, i == 1 ? 0 : 99);
        /* The timers of the others are gone: the run ends without them. */
}

SIM_TEST(an_item_that_comes_is_handed_over_and_all_other_lines_are_left)
{
        eddy_queue a = queue_of(0), b = queue_of(1), full = queue_of(1);
        int got_a = -1, got_b = -1, put = 7;
        struct eddy_choice choices[] = {
                eddy_choice_get(&a, &got_a),
                eddy_choice_put(&full, &put),
                eddy_choice_get(&b, &got_b),
                eddy_choice_after(EDDY_SEC(1)),
        };
        struct selecting s;
        eddy_scope scope;

        put_int(&full, 1);
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 4);
        put_int(&b, 5);
        /* It is chosen though it has not run: the rest of the world sees it gone. */
        put_int(&b, 6);
        put_int(&a, 8);
        CHECK_EQ(item_of(&full), 1);
        CHECK_EQ(eddy_queue_count(&full), 0);
        CHECK_EQ(eddy_queue_count(&b), 1);
        CHECK_EQ(s.index, WAITS);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 2);
        CHECK_EQ(got_b, 5);
        CHECK_EQ(got_a, -1);
        CHECK_EQ(item_of(&a), 8);
        CHECK_EQ(item_of(&b), 6);
        eddy_queue_fini(&a);
        eddy_queue_fini(&b);
        eddy_queue_fini(&full);
}

SIM_TEST(room_that_comes_is_filled_with_the_item)
{
        eddy_queue empty = queue_of(0), full = queue_of(1);
        int got = -1, put = 7;
        struct eddy_choice choices[] = {
                eddy_choice_get(&empty, &got),
                eddy_choice_put(&full, &put),
        };
        struct selecting s;
        eddy_scope scope;

        put_int(&full, 1);
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 2);
        CHECK_EQ(item_of(&full), 1);
        CHECK_EQ(item_of(&full), 7);
        put_int(&empty, 2);
        CHECK_EQ(item_of(&empty), 2);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(choices[1].result, 0);
        eddy_queue_fini(&empty);
        eddy_queue_fini(&full);
}

SIM_TEST(the_same_queue_may_be_in_it_twice)
{
        eddy_queue queue = queue_of(0);
        int got[2] = { -1, -1 };
        struct eddy_choice choices[] = {
                eddy_choice_get(&queue, &got[0]),
                eddy_choice_get(&queue, &got[1]),
        };
        struct selecting s;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 2);
        put_int(&queue, 4);
        put_int(&queue, 5);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 0);
        CHECK_EQ(got[0], 4);
        CHECK_EQ(got[1], -1);
        CHECK_EQ(item_of(&queue), 5);
        eddy_queue_fini(&queue);
}

SIM_TEST(a_shutdown_ends_the_wait_and_does_one_choice)
{
        eddy_queue queue = queue_of(1), full = queue_of(1);
        int got = -1, put = 7;
        struct eddy_choice choices[] = {
                eddy_choice_put(&full, &put),
                eddy_choice_get(&queue, &got),
                eddy_choice_get(&queue, &got),
        };
        struct selecting s;
        eddy_scope scope;

        put_int(&full, 1);
        choices[0].result = choices[2].result = 99;
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 3);
        eddy_queue_shutdown(&queue, 0);
        eddy_queue_shutdown(&full, 0);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(choices[1].result, -EPIPE);
        CHECK_EQ(choices[0].result, 99);
        CHECK_EQ(choices[2].result, 99);
        CHECK_EQ(got, -1);
        eddy_queue_fini(&queue);
        eddy_queue_fini(&full);
}

SIM_TEST(a_task_that_ends_is_chosen_with_its_result)
{
        int64_t late = 20 * MS, soon = 10 * MS, begin = eddy_now();
        struct eddy_choice choices[3];
        eddy_task *tasks[2];
        eddy_scope scope;
        int result;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, returns_42, &late, NULL, &tasks[0]), 0);
        CHECK_EQ(eddy_scope_start_task(&scope, returns_42, &soon, NULL, &tasks[1]), 0);
        choices[0] = eddy_choice_task(tasks[0]);
        choices[1] = eddy_choice_task(tasks[1]);
        choices[2] = eddy_choice_task(tasks[1]);
        choices[0].result = choices[2].result = 99;
        CHECK_EQ(eddy_select(choices, 3), 1);
        CHECK_NS(eddy_now() - begin, soon);
        CHECK_EQ(choices[1].result, 42);
        CHECK_EQ(choices[0].result, 99);
        CHECK_EQ(choices[2].result, 99);
        CHECK(!eddy_task_is_done(tasks[0]));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_task_result(tasks[0], &result), 0);
        CHECK_EQ(result, 42);
        eddy_task_release(tasks[0]);
        eddy_task_release(tasks[1]);
}

SIM_TEST(an_event_that_is_set_is_chosen_though_it_is_cleared_again)
{
        eddy_event events[2] = { { 0 }, { 0 } };
        struct eddy_choice choices[] = {
                eddy_choice_event(&events[0]),
                eddy_choice_event(&events[1]),
                eddy_choice_event(&events[1]),
        };
        struct selecting s;
        eddy_scope scope;

        CHECK_EQ(eddy_try_select(choices, 3), -EAGAIN);
        choices[0].result = choices[1].result = choices[2].result = 99;
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 3);
        CHECK_EQ(eddy_event_set(&events[1]), 0);
        eddy_event_clear(&events[1]);
        CHECK_EQ(eddy_event_set(&events[0]), 0);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(choices[1].result, 0);
        CHECK_EQ(choices[0].result, 99);
        CHECK_EQ(choices[2].result, 99);
        CHECK_EQ(eddy_select(choices, 3), 0);
        CHECK_EQ(choices[0].result, 0);
}

SIM_TEST(a_future_that_is_set_is_chosen_with_its_result)
{
        eddy_future futures[2] = { { 0 }, { 0 } };
        struct eddy_choice choices[] = {
                eddy_choice_future(&futures[0]),
                eddy_choice_future(&futures[1]),
                eddy_choice_future(&futures[1]),
        };
        struct selecting s;
        eddy_scope scope;

        CHECK_EQ(eddy_try_select(choices, 3), -EAGAIN);
        choices[0].result = choices[1].result = choices[2].result = 99;
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 3);
        CHECK_EQ(eddy_future_set(&futures[1], -5, NULL), 0);
        CHECK_EQ(eddy_future_set(&futures[0], 3, NULL), 0);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(choices[1].result, -5);
        CHECK_EQ(choices[0].result, 99);
        CHECK_EQ(choices[2].result, 99);
        CHECK_EQ(eddy_select(choices, 3), 0);
        CHECK_EQ(choices[0].result, 3);
        eddy_future_fini(&futures[0]);
        eddy_future_fini(&futures[1]);
}

static int looks_at_one_failure_of_three(void *arg)
{
        eddy_future futures[3] = { { 0 }, { 0 }, { 0 } };
        struct eddy_choice choices[] = {
                eddy_choice_future(&futures[0]),
                eddy_choice_future(&futures[1]),
        };

        (void) arg;
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_future_set(&futures[i], -5, NULL), 0);
        CHECK_EQ(eddy_select(choices, 2), 0);
        CHECK_EQ(choices[0].result, -5);
        for (int i = 0; i < 3; i++)
                eddy_future_fini(&futures[i]);
        return 0;
}

/* A26: only a failure that was chosen counts as looked at. */
TEST(a_future_that_was_not_chosen_is_not_looked_at)
{
        struct reports reports = { { 0 }, 0, "", "" };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(looks_at_one_failure_of_three, NULL, 0, opts), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_UNHANDLED], 2);
}

/* A98: who selects stands in line like the others, and is served in turn. */
SIM_TEST(selects_and_plain_calls_are_served_in_the_order_they_came)
{
        eddy_queue queue = queue_of(0);
        int got[3] = { -1, -1, -1 };
        struct eddy_choice first = eddy_choice_get(&queue, &got[0]);
        struct eddy_choice second = eddy_choice_get(&queue, &got[1]);
        struct selecting s[2];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s[0], &first, 1);
        start_select(&scope, &s[1], &second, 1);
        put_int(&queue, 1);
        put_int(&queue, 2);
        put_int(&queue, 3);
        CHECK_EQ(eddy_queue_get(&queue, &got[2]), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(got[i], i + 1);
        for (int i = 0; i < 2; i++)
                eddy_task_release(s[i].task);
        eddy_queue_fini(&queue);
}

/* --- cancels --- */

/* A99: a cancelled select leaves all its lines. */
SIM_TEST(a_cancelled_select_leaves_no_trace)
{
        eddy_queue empty = queue_of(0), full = queue_of(1);
        int64_t long_time = 3 * MS;
        int got = -1, put = 7;
        eddy_event event = { 0 };
        eddy_future future = { 0 };
        struct eddy_choice choices[6];
        struct selecting s;
        eddy_scope scope;
        eddy_task *task;

        put_int(&full, 1);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, returns_42, &long_time, NULL, &task), 0);
        choices[0] = eddy_choice_get(&empty, &got);
        choices[1] = eddy_choice_put(&full, &put);
        choices[2] = eddy_choice_task(task);
        choices[3] = eddy_choice_after(MS);
        choices[4] = eddy_choice_event(&event);
        choices[5] = eddy_choice_future(&future);
        start_select(&scope, &s, choices, 6);
        eddy_task_cancel(s.task);
        CHECK_EQ(eddy_event_set(&event), 0);
        CHECK_EQ(eddy_future_set(&future, 1, NULL), 0);
        put_int(&empty, 2);
        CHECK_EQ(item_of(&full), 1);
        CHECK_EQ(eddy_queue_count(&full), 0);
        CHECK_EQ(item_of(&empty), 2);
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        CHECK_EQ(s.index, -ECANCELED);
        CHECK_EQ(got, -1);
        end_select(&scope, &s);
        eddy_task_release(task);
        eddy_queue_fini(&empty);
        eddy_queue_fini(&full);
}

/* A99: what was handed over before the cancel is kept, and the cancel shows at the next call. */
SIM_TEST(a_choice_that_was_done_wins_over_a_later_cancel)
{
        eddy_queue queue = queue_of(0);
        int got = -1;
        struct eddy_choice choices[] = { eddy_choice_get(&queue, &got), eddy_choice_after(MS) };
        struct selecting s;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 2);
        put_int(&queue, 4);
        eddy_task_cancel(s.task);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 0);
        CHECK_EQ(got, 4);
        eddy_queue_fini(&queue);
}

SIM_TEST(in_a_cancelled_scope_nothing_is_done_though_it_is_ready)
{
        eddy_queue queue = queue_of(0);
        int got = -1;
        struct eddy_choice choice = eddy_choice_get(&queue, &got);
        eddy_scope scope;

        put_int(&queue, 4);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_select(&choice, 1), -ECANCELED);
        CHECK_EQ(eddy_queue_count(&queue), 1);
        CHECK_EQ(eddy_try_select(&choice, 1), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_queue_fini(&queue);
}

SIM_TEST(a_deadline_around_a_select_does_none_of_its_choices)
{
        eddy_queue queue = queue_of(0);
        int got = -1;
        struct eddy_choice choices[] = { eddy_choice_get(&queue, &got), eddy_choice_after(2 * MS) };
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        CHECK_EQ(eddy_select(choices, 2), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
        put_int(&queue, 1);
        CHECK_EQ(item_of(&queue), 1);
        eddy_queue_fini(&queue);
}

/* --- errors --- */

SIM_TEST(a_descriptor_that_cannot_be_waited_for_is_refused)
{
        static struct eddy_choice many[EDDY_SELECT_MAX + 1];
        eddy_queue queue = queue_of(0);
        int item = 1;
        struct eddy_choice choices[] = {
                eddy_choice_put(&queue, &item),
                eddy_choice_never(),
                eddy_choice_task(eddy_task_current()),
        };

        for (int i = 0; i <= EDDY_SELECT_MAX; i++)
                many[i] = eddy_choice_never();
        many[EDDY_SELECT_MAX - 1] = eddy_choice_after(MS);
        CHECK_EQ(eddy_select(choices, 0), -EINVAL);
        CHECK_EQ(eddy_try_select(choices, 0), -EINVAL);
        CHECK_EQ(eddy_select(many, EDDY_SELECT_MAX + 1), -EINVAL);
        CHECK_EQ(eddy_select(many, EDDY_SELECT_MAX), EDDY_SELECT_MAX - 1);
        CHECK_EQ(eddy_select(choices, 3), -EDEADLK);
        CHECK_EQ(eddy_try_select(choices, 3), -EDEADLK);
        choices[1].kind = 0;
        CHECK_EQ(eddy_select(choices, 2), -EINVAL);
        choices[1].kind = EDDY_CHOICE_SIGNAL + 1;
        CHECK_EQ(eddy_try_select(choices, 2), -EINVAL);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        eddy_queue_fini(&queue);
}

TEST(outside_of_a_run_only_the_one_that_does_not_wait_works)
{
        eddy_queue queue = queue_of(0);
        int item = 1;
        struct eddy_choice choice = eddy_choice_put(&queue, &item);

        CHECK_EQ(eddy_select(&choice, 1), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_try_select(&choice, 1), 0);
        CHECK_EQ(item_of(&queue), 1);
        eddy_queue_fini(&queue);
}

static int starts_a_task_that_stays_readable(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, returns_42, NULL, NULL, arg), 0);
        return eddy_scope_end(&scope);
}

TEST(outside_of_a_run_a_task_that_has_ended_can_be_chosen)
{
        eddy_task *task = NULL;
        struct eddy_test_result result;
        struct eddy_choice choice;

        CHECK_EQ(sim_run_leaving(starts_a_task_that_stays_readable, &task, 0,
                                 (struct eddy_run_opts){ 0 }, &result),
                 0);
        CHECK_EQ(result.left.allocations, 1);
        choice = eddy_choice_task(task);
        CHECK_EQ(eddy_try_select(&choice, 1), 0);
        CHECK_EQ(choice.result, 42);
        eddy_task_release(task);
}

static int selects_without_memory(void *arg)
{
        eddy_queue queue = queue_of(0), empty = queue_of(0);
        int item = 1;
        struct eddy_choice choices[] = {
                eddy_choice_get(&empty, &item),
                eddy_choice_put(&queue, &item),
                eddy_choice_after(0),
        };

        (void) arg;
        allocations_left = 0;
        CHECK_EQ(eddy_select(choices, 3), -ENOMEM);
        CHECK_EQ(eddy_try_select(choices, 3), -ENOMEM);
        allocations_left = -1;
        CHECK_EQ(eddy_queue_count(&queue), 0);
        /* Nor does it wait for the other any more. */
        put_int(&empty, 2);
        CHECK_EQ(item_of(&empty), 2);
        eddy_queue_fini(&queue);
        eddy_queue_fini(&empty);
        return 0;
}

TEST(a_put_without_memory_does_nothing)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(selects_without_memory, NULL), 0);
}

static int selects_never(void *arg)
{
        struct eddy_choice never = eddy_choice_never();

        (void) arg;
        return eddy_select(&never, 1);
}

TEST(a_select_of_nothing_that_can_come_is_a_deadlock)
{
        struct reports reports = { { 0 }, 0, "", "" };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };

        CHECK_EQ(sim_run_with(selects_never, NULL, 0, opts), -EDEADLK);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
        CHECK(strstr(reports.text, "the first of several events"));
}
