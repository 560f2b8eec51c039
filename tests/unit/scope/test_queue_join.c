/*
 * test_queue_join.c - the queue's end: items that are done, waiting for all of
 * them, and shutting down at once; and what a queue says to a second loop.
 */
#include "other_loop.h"

struct joiner {
        eddy_queue *queue;
        int err;
        eddy_task *task;
};

static int joins(void *arg)
{
        struct joiner *joiner = arg;

        return joiner->err = eddy_queue_join(joiner->queue);
}

static void start_joiner(eddy_scope *scope, struct joiner *joiner, eddy_queue *queue)
{
        *joiner = (struct joiner){ .queue = queue, .err = 1 };
        CHECK_EQ(eddy_scope_start_task(scope, joins, joiner, NULL, &joiner->task), 0);
        CHECK_EQ(eddy_sleep(0), 0);
}

static void put_some(eddy_queue *queue, int n)
{
        void *item = queue;

        for (int i = 0; i < n; i++)
                CHECK_EQ(eddy_queue_put(queue, &item), 0);
}

static void get_one(eddy_queue *queue)
{
        void *item;

        CHECK_EQ(eddy_queue_get(queue, &item), 0);
}

/* Whether it still waits, once all that is ready has run. */
static bool still_joins(struct joiner *joiner)
{
        CHECK_EQ(eddy_sleep(0), 0);
        return joiner->err == 1;
}

/* A101: a queue that nothing was put into is done; more done than put is an error. */
SIM_TEST(an_empty_queue_is_done_and_no_more_can_be)
{
        eddy_queue queue = { 0 };

        CHECK_EQ(eddy_queue_join(&queue), 0);
        CHECK_EQ(eddy_queue_task_done(&queue), -EINVAL);
        put_some(&queue, 1);
        get_one(&queue);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK_EQ(eddy_queue_task_done(&queue), -EINVAL);
        CHECK_EQ(eddy_queue_join(&queue), 0);
        eddy_queue_fini(&queue);
}

/* A101: a join waits until as many are done as were put, not until the queue is empty. */
SIM_TEST(a_join_waits_until_every_item_is_done)
{
        eddy_queue queue = { 0 };
        struct joiner joiners[2];
        eddy_scope scope;

        put_some(&queue, 3);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++)
                start_joiner(&scope, &joiners[i], &queue);
        for (int i = 0; i < 3; i++)
                get_one(&queue);
        CHECK(still_joins(&joiners[0]));
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        put_some(&queue, 1);
        get_one(&queue);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK(still_joins(&joiners[0]) && still_joins(&joiners[1]));
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK(!still_joins(&joiners[0]) && !still_joins(&joiners[1]));
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(joiners[i].err, 0);
                eddy_task_release(joiners[i].task);
        }
        eddy_queue_fini(&queue);
}

/* A101: items that come after the last was done do not concern the tasks that were woken. */
SIM_TEST(a_join_that_was_ended_is_not_held_by_the_next_item)
{
        eddy_queue queue = { 0 };
        struct joiner joiner;
        eddy_scope scope;

        put_some(&queue, 1);
        eddy_scope_begin(&scope, NULL);
        start_joiner(&scope, &joiner, &queue);
        get_one(&queue);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        put_some(&queue, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(joiner.err, 0);
        eddy_task_release(joiner.task);
        eddy_queue_fini(&queue);
}

static int gets_one(void *arg)
{
        void *item;

        return eddy_queue_get(arg, &item);
}

static int puts_one(void *arg)
{
        return eddy_queue_put(arg, &arg);
}

/* A101: an item that goes from hand to hand counts, and one whose putter waits not yet. */
SIM_TEST(handed_over_items_count_and_those_of_waiting_putters_do_not)
{
        eddy_queue queue, full;
        eddy_scope scope;

        CHECK_EQ(eddy_queue_init(&queue, 0, 0), 0);
        CHECK_EQ(eddy_queue_init(&full, 0, 1), 0);
        put_some(&full, 1);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, gets_one, &queue), 0);
        CHECK_EQ(eddy_scope_start(&scope, puts_one, &full), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        put_some(&queue, 1);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK_EQ(eddy_queue_task_done(&queue), -EINVAL);

        CHECK_EQ(eddy_queue_task_done(&full), 0);
        CHECK_EQ(eddy_queue_task_done(&full), -EINVAL);
        get_one(&full);
        CHECK_EQ(eddy_queue_task_done(&full), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_queue_join(&full), 0);
        CHECK_EQ(eddy_queue_count(&full), 1);
        eddy_queue_fini(&queue);
        eddy_queue_fini(&full);
}

/* A101: a join that is cancelled leaves; the rest wait on. */
SIM_TEST(a_cancelled_join_leaves_the_others)
{
        eddy_queue queue = { 0 };
        struct joiner joiners[3];
        eddy_scope scope;

        put_some(&queue, 1);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                start_joiner(&scope, &joiners[i], &queue);
        eddy_task_cancel(joiners[1].task);
        CHECK(!still_joins(&joiners[1]) && still_joins(&joiners[0]));
        get_one(&queue);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(joiners[i].err, i == 1 ? -ECANCELED : 0);
                eddy_task_release(joiners[i].task);
        }
        eddy_queue_fini(&queue);
}

/* A102: a queue that drains after its shutdown is joined like any other. */
SIM_TEST(a_shut_queue_is_joined_when_its_items_are_done)
{
        eddy_queue queue = { 0 };
        struct joiner joiner;
        eddy_scope scope;

        put_some(&queue, 2);
        eddy_scope_begin(&scope, NULL);
        start_joiner(&scope, &joiner, &queue);
        eddy_queue_shutdown(&queue, 0);
        CHECK_EQ(eddy_queue_count(&queue), 2);
        for (int i = 0; i < 2; i++) {
                CHECK(still_joins(&joiner));
                get_one(&queue);
                CHECK_EQ(eddy_queue_task_done(&queue), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(joiner.err, 0);
        eddy_task_release(joiner.task);
        eddy_queue_fini(&queue);
}

/* A103: shutting down at once drops the items, and wakes those who wait on every side. */
SIM_TEST(a_shutdown_at_once_drops_the_items)
{
        eddy_queue queue;
        struct joiner joiner;
        eddy_scope scope;
        void *item;

        CHECK_EQ(eddy_queue_init(&queue, 0, 2), 0);
        put_some(&queue, 2);
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        start_joiner(&scope, &joiner, &queue);
        CHECK_EQ(eddy_scope_start(&scope, puts_one, &queue), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_queue_shutdown(&queue, EDDY_QUEUE_NOW);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        CHECK_EQ(eddy_queue_try_get(&queue, &item), -EPIPE);
        CHECK_EQ(eddy_scope_end(&scope), -EPIPE);
        CHECK_EQ(joiner.err, 0);
        CHECK_EQ(eddy_queue_task_done(&queue), -EINVAL);
        eddy_task_release(joiner.task);
        eddy_queue_fini(&queue);
}

/* A103: what was taken before has still to be done. */
SIM_TEST(a_shutdown_at_once_waits_for_items_in_hand)
{
        eddy_queue queue = { 0 };
        struct joiner joiner;
        eddy_scope scope;

        put_some(&queue, 5);
        get_one(&queue);
        get_one(&queue);
        eddy_scope_begin(&scope, NULL);
        start_joiner(&scope, &joiner, &queue);
        eddy_queue_shutdown(&queue, EDDY_QUEUE_NOW);
        CHECK(still_joins(&joiner));
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK(still_joins(&joiner));
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK(!still_joins(&joiner));
        CHECK_EQ(eddy_queue_task_done(&queue), -EINVAL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(joiner.task);
        eddy_queue_fini(&queue);
}

/* A102, A103: the second shutdown may be the one that drops; a third does nothing more. */
SIM_TEST(a_second_shutdown_may_be_at_once)
{
        eddy_queue queue = { 0 };

        put_some(&queue, 3);
        eddy_queue_shutdown(&queue, 0);
        CHECK_EQ(eddy_queue_count(&queue), 3);
        eddy_queue_shutdown(&queue, EDDY_QUEUE_NOW);
        eddy_queue_shutdown(&queue, EDDY_QUEUE_NOW);
        eddy_queue_shutdown(&queue, 0);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        CHECK_EQ(eddy_queue_join(&queue), 0);
        eddy_queue_fini(&queue);
}

/* A103: items that were said to be done before they were taken do not count twice. */
SIM_TEST(a_shutdown_at_once_counts_no_item_twice)
{
        eddy_queue queue = { 0 };

        put_some(&queue, 3);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        eddy_queue_shutdown(&queue, EDDY_QUEUE_NOW);
        CHECK_EQ(eddy_queue_task_done(&queue), -EINVAL);
        CHECK_EQ(eddy_queue_join(&queue), 0);
        eddy_queue_fini(&queue);
}

/* --- another loop --- */

static int uses_elsewhere(void *arg)
{
        eddy_queue *queue = arg;
        void *item = queue;
        struct eddy_choice choices[] = {
                eddy_choice_after(MS),
                eddy_choice_get(queue, &item),
                eddy_choice_put(queue, &item),
        };

        CHECK_EQ(eddy_queue_put(queue, &item), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_queue_get(queue, &item), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_queue_shutdown(queue, EDDY_QUEUE_NOW), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_select(choices, 3), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_try_select(choices, 3), EDDY_E_RUN_OTHER_LOOP);
        return 7;
}

static int joins_elsewhere(void *arg)
{
        CHECK_EQ(eddy_queue_join(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_queue_task_done(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_queue_shutdown(arg, 0), EDDY_E_RUN_OTHER_LOOP);
        return 7;
}

/* A96: while tasks of one loop wait, those of another get an error; nothing happens to the queue. */
SIM_TEST(a_queue_that_tasks_of_another_loop_wait_for_is_refused)
{
        eddy_queue queue, full;
        struct joiner joiner;
        eddy_scope scope;

        CHECK_EQ(eddy_queue_init(&queue, 0, 0), 0);
        CHECK_EQ(eddy_queue_init(&full, 0, 1), 0);
        put_some(&full, 1);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, gets_one, &queue), 0);
        CHECK_EQ(eddy_scope_start(&scope, puts_one, &full), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(on_other_loop(uses_elsewhere, &queue), 7);
        CHECK_EQ(on_other_loop(uses_elsewhere, &full), 7);
        put_some(&queue, 1);
        get_one(&full);
        CHECK_EQ(eddy_scope_end(&scope), 0);

        eddy_scope_begin(&scope, NULL);
        start_joiner(&scope, &joiner, &queue);
        CHECK_EQ(on_other_loop(joins_elsewhere, &queue), 7);
        CHECK_EQ(eddy_queue_task_done(&queue), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(joiner.err, 0);
        eddy_task_release(joiner.task);
        eddy_queue_fini(&queue);
        eddy_queue_fini(&full);
}
