/*
 * test_channel.c - a queue between loops: order, bound, shutting down, who is
 * served, cancels, and that nothing is lost or doubled between threads.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "sim_run.h"
#include "sync/channel.h"

static eddy_channel *channel_of(uint32_t items_max)
{
        eddy_channel *channel = NULL;

        CHECK_EQ(eddy_channel_new(sizeof(int), items_max, &channel), 0);
        return channel;
}

static eddy_channel *channel;
static int got[64], got_count;

static int get_one(void *arg)
{
        int err, item = -1;

        err = eddy_channel_get(channel, &item);
        if (err == 0)
                got[got_count++] = item;
        else
                CHECK_EQ(item, -1);
        if (arg)
                *(int *) arg = err;
        return 0;
}

struct put {
        int item, result;
};

static int put_one(void *arg)
{
        struct put *put = arg;

        put->result = eddy_channel_put(channel, &put->item);
        return 0;
}

/* --- as a queue --- */

TEST(numbers_out_of_range_are_refused)
{
        eddy_channel *none = NULL;

        CHECK_EQ(eddy_channel_new(4, 0, &none), -EINVAL);
        CHECK_EQ(eddy_channel_new(EDDY_CHANNEL_ITEM_BYTES_MAX + 1, 1, &none), -EINVAL);
        CHECK_EQ(eddy_channel_new(4, EDDY_CHANNEL_ITEMS_MAX + 1, &none), -EINVAL);
        CHECK(none == NULL);
        eddy_channel_release(NULL);
}

TEST(a_thread_without_a_loop_puts_and_gets)
{
        void *item = &channel, *back = NULL;

        CHECK_EQ(eddy_channel_new(0, 1, &channel), 0);
        CHECK_EQ(eddy_channel_put(channel, &item), 0);
        CHECK_EQ(eddy_channel_get(channel, &back), 0);
        CHECK(back == &channel);
        back = NULL;
        CHECK_EQ(eddy_channel_try_get(channel, &back), -EAGAIN);
        CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
        CHECK_EQ(eddy_channel_try_put(channel, &item), -EAGAIN);
        CHECK_EQ(eddy_channel_try_get(channel, &back), 0);
        CHECK(back == &channel);
        CHECK(eddy_channel_ref(channel) == channel);
        eddy_channel_release(channel);
        CHECK_EQ(eddy_channel_count(channel), 0);
        eddy_channel_release(channel);
}

SIM_TEST(items_come_out_in_the_order_put)
{
        EDDY_AUTO(eddy_channel) eddy_channel *three = channel_of(3);

        for (int i = 0, out = 0; i < 100; i++) {
                int item = -1;

                CHECK_EQ(eddy_channel_put(three, &i), 0);
                if (i % 3 != 2)
                        continue;
                CHECK_EQ(eddy_channel_try_put(three, &i), -EAGAIN);
                CHECK_EQ(eddy_channel_count(three), 3);
                for (int k = 0; k < 3; k++) {
                        CHECK_EQ(eddy_channel_get(three, &item), 0);
                        CHECK_EQ(item, out++);
                }
        }
}

SIM_TEST(the_longest_waiter_gets_the_item)
{
        int results[3] = { 1, 1, 1 };
        eddy_scope scope;

        channel = channel_of(1);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_scope_start(&scope, get_one, &results[i]), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        for (int i = 0; i < 3; i++) {
                int item = -1;

                CHECK_EQ(eddy_channel_try_put(channel, &i), 0);
                /* It is in the getter's hands already. */
                CHECK_EQ(eddy_channel_try_get(channel, &item), -EAGAIN);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(results[i], 0);
                CHECK_EQ(got[i], i);
        }
        eddy_channel_release(channel);
}

SIM_TEST(the_longest_waiting_putter_goes_first)
{
        struct put puts[4] = { { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1 } };
        eddy_scope scope;

        channel = channel_of(1);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(eddy_scope_start(&scope, put_one, &puts[i]), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(puts[0].result, 0);
        CHECK_EQ(puts[1].result, 1);
        for (int i = 0; i < 4; i++) {
                int item = -1;

                CHECK_EQ(eddy_channel_try_get(channel, &item), 0);
                CHECK_EQ(item, i);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(puts[3].result, 0);
        eddy_channel_release(channel);
}

SIM_TEST(a_channel_shut_down_drains_and_refuses)
{
        struct put puts[2] = { { 7, 1 }, { 8, 1 } };
        eddy_scope scope;
        int item = 9;

        channel = channel_of(1);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_scope_start(&scope, put_one, &puts[i]), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_channel_shutdown(channel);
        eddy_channel_shutdown(channel);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(puts[0].result, 0);
        CHECK_EQ(puts[1].result, -EPIPE);
        CHECK_EQ(eddy_channel_put(channel, &item), -EPIPE);
        CHECK_EQ(eddy_channel_get(channel, &item), 0);
        CHECK_EQ(item, 7);
        CHECK_EQ(eddy_channel_get(channel, &item), -EPIPE);
        CHECK_EQ(eddy_channel_try_get(channel, &item), -EPIPE);
        eddy_channel_release(channel);
}

SIM_TEST(shutting_down_wakes_all_that_wait_for_an_item)
{
        int results[3] = { 1, 1, 1 };
        eddy_scope scope;

        channel = channel_of(1);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_scope_start(&scope, get_one, &results[i]), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_channel_shutdown(channel);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(results[i], -EPIPE);
        eddy_channel_release(channel);
}

/* --- dropping --- */

static void put_dropping(eddy_channel *to, int item, int dropped)
{
        int was_dropped = -1;

        CHECK_EQ(eddy_channel_put_dropping(to, &item, &was_dropped), dropped >= 0);
        CHECK_EQ(was_dropped, dropped);
}

TEST(a_full_channel_drops_the_oldest_and_gives_it_back)
{
        eddy_channel *three = channel_of(3);
        int item;

        for (int i = 0; i < 20; i++)
                put_dropping(three, i, i < 3 ? -1 : i - 3);
        CHECK_EQ(eddy_channel_count(three), 3);
        item = 20;
        /* The item's own memory will do. */
        CHECK_EQ(eddy_channel_put_dropping(three, &item, &item), 1);
        CHECK_EQ(item, 17);
        CHECK_EQ(eddy_channel_put_dropping(three, &item, NULL), 1);
        for (int i = 19; i <= 20; i++) {
                CHECK_EQ(eddy_channel_get(three, &item), 0);
                CHECK_EQ(item, i);
        }
        CHECK_EQ(eddy_channel_get(three, &item), 0);
        CHECK_EQ(item, 17);
        eddy_channel_shutdown(three);
        CHECK_EQ(eddy_channel_put_dropping(three, &item, &item), -EPIPE);
        CHECK_EQ(item, 17);
        eddy_channel_release(three);
}

SIM_TEST(a_waiting_getter_gets_an_item_put_dropping_and_waiting_putters_wait_on)
{
        struct put waiting = { 2, 1 };
        int result = 1, item = -1;
        eddy_scope scope;

        channel = channel_of(1);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, get_one, &result), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        put_dropping(channel, 5, -1);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(result, 0);
        CHECK_EQ(got[0], 5);
        put_dropping(channel, 1, -1);
        CHECK_EQ(eddy_scope_start(&scope, put_one, &waiting), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        put_dropping(channel, 3, 1);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(waiting.result, 1);
        CHECK_EQ(eddy_channel_get(channel, &item), 0);
        CHECK_EQ(item, 3);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(waiting.result, 0);
        CHECK_EQ(eddy_channel_get(channel, &item), 0);
        CHECK_EQ(item, 2);
        eddy_channel_release(channel);
}

/* --- cancelled on one loop --- */

SIM_TEST(a_cancelled_wait_takes_and_appends_nothing)
{
        struct put first = { 1, 1 }, second = { 2, 1 };
        int result = 1, item = -1;
        eddy_scope scope;

        channel = channel_of(1);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, get_one, &result), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(result, -ECANCELED);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, put_one, &first), 0);
        CHECK_EQ(eddy_scope_start(&scope, put_one, &second), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_channel_put(channel, &item), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(second.result, -ECANCELED);
        CHECK_EQ(eddy_channel_get(channel, &item), 0);
        CHECK_EQ(item, 1);
        CHECK_EQ(eddy_channel_try_get(channel, &item), -EAGAIN);
        eddy_channel_release(channel);
}

SIM_TEST(an_item_that_was_handed_over_beats_a_cancel)
{
        int result = 1, item = 5;
        eddy_scope scope;

        channel = channel_of(1);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, get_one, &result), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(result, 0);
        CHECK_EQ(got[0], 5);
        eddy_channel_release(channel);
}

/* --- between threads --- */

static struct reports reports;
static pthread_mutex_t reports_lock = PTHREAD_MUTEX_INITIALIZER;

static void add_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        pthread_mutex_lock(&reports_lock);
        reports_add(report, &reports);
        pthread_mutex_unlock(&reports_lock);
}

static int run_loop(eddy_task_fn *fn, void *arg)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG,
                                      .report = add_report };

        return eddy_run(fn, arg, &opts);
}

static pthread_t thread(void *(*fn)(void *), void *arg)
{
        pthread_t id;

        CHECK_EQ(pthread_create(&id, NULL, fn, arg), 0);
        return id;
}

static pthread_barrier_t meeting;

static int meet(void *arg)
{
        (void) arg;
        (void) pthread_barrier_wait(&meeting);
        return 0;
}

static void *put_a_little_later(void *arg)
{
        (void) meet(NULL);
        for (int i = 0; i < 100; i++)
                (void) sched_yield();
        CHECK_EQ(eddy_channel_try_put(channel, arg), 0);
        return NULL;
}

static int wait_for_other_thread(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, meet, NULL), 0);
        CHECK_EQ(get_one(NULL), 0);
        return eddy_scope_end(&scope);
}

TEST(a_thread_without_a_loop_wakes_a_task_and_waiting_is_not_a_deadlock)
{
        pthread_t putter;
        int item = 42;

        channel = channel_of(1);
        pthread_barrier_init(&meeting, NULL, 2);
        putter = thread(put_a_little_later, &item);
        CHECK_EQ(run_loop(wait_for_other_thread, NULL), 0);
        pthread_join(putter, NULL);
        CHECK_EQ(got[0], 42);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 0);
        eddy_channel_release(channel);
}

/* --- threads without a loop that wait --- */

struct blocked {
        pthread_t id;
        int item, result;
};

static void *get_blocked(void *arg)
{
        struct blocked *blocked = arg;

        blocked->result = eddy_channel_get(channel, &blocked->item);
        return NULL;
}

static void *put_blocked(void *arg)
{
        struct blocked *blocked = arg;

        blocked->result = eddy_channel_put(channel, &blocked->item);
        return NULL;
}

static void blocked_begin(struct blocked *blocked, int item, void *(*fn)(void *) )
{
        blocked->item = item;
        blocked->result = 1;
        blocked->id = thread(fn, blocked);
}

static void blocked_end(struct blocked *blocked, int result)
{
        pthread_join(blocked->id, NULL);
        CHECK_EQ(blocked->result, result);
}

TEST(a_thread_that_gets_is_blocked_until_there_is_an_item)
{
        struct blocked getter;
        int item = 42;

        channel = channel_of(1);
        blocked_begin(&getter, -1, get_blocked);
        for (int i = 0; i < 100; i++)
                (void) sched_yield();
        CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
        blocked_end(&getter, 0);
        CHECK_EQ(getter.item, 42);
        eddy_channel_release(channel);
}

TEST(a_thread_that_puts_is_blocked_until_there_is_room)
{
        struct blocked putter;
        int item = 1;

        channel = channel_of(1);
        CHECK_EQ(eddy_channel_put(channel, &item), 0);
        blocked_begin(&putter, 2, put_blocked);
        for (int i = 0; i < 100; i++)
                (void) sched_yield();
        CHECK_EQ(eddy_channel_get(channel, &item), 0);
        CHECK_EQ(item, 1);
        blocked_end(&putter, 0);
        CHECK_EQ(eddy_channel_get(channel, &item), 0);
        CHECK_EQ(item, 2);
        eddy_channel_release(channel);
}

/* Tasks and threads that wait in line. */
static int waiters_of(enum ed_channel_side side)
{
        void **line = channel->lines[side];
        struct ed_waiter *waiter;
        int n = 0;

        ed_mutex_lock(&channel->lock);
        for (waiter = ed_waiters_first(line); waiter;
             waiter = ed_waiters_is_last(waiter, line) ? NULL : (void *) waiter->link.next)
                n++;
        ed_mutex_unlock(&channel->lock);
        return n;
}

static void wait_for_waiters(enum ed_channel_side side, int n)
{
        while (waiters_of(side) < n)
                (void) sched_yield();
}

static int first_of_line(void *arg)
{
        struct blocked *thread_after = arg;
        int results[2] = { 1, 1 }, item;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, get_one, &results[0]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        blocked_begin(thread_after, -1, get_blocked);
        wait_for_waiters(ED_CHANNEL_GET, 2);
        CHECK_EQ(eddy_scope_start(&scope, get_one, &results[1]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(waiters_of(ED_CHANNEL_GET), 3);
        for (item = 0; item < 3; item++)
                CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(results[0] + results[1], 0);
        return 0;
}

TEST(tasks_and_threads_are_served_in_the_order_they_came)
{
        struct blocked second;

        channel = channel_of(1);
        CHECK_EQ(run_loop(first_of_line, &second), 0);
        blocked_end(&second, 0);
        CHECK_EQ(got[0], 0);
        CHECK_EQ(second.item, 1);
        CHECK_EQ(got[1], 2);
        eddy_channel_release(channel);
}

TEST(shutting_down_ends_the_waits_of_threads)
{
        struct blocked getters[3], putters[3];
        int item = 7;

        channel = channel_of(1);
        for (int i = 0; i < 3; i++)
                blocked_begin(&getters[i], -1, get_blocked);
        wait_for_waiters(ED_CHANNEL_GET, 3);
        eddy_channel_shutdown(channel);
        for (int i = 0; i < 3; i++) {
                blocked_end(&getters[i], -EPIPE);
                CHECK_EQ(getters[i].item, -1);
        }
        eddy_channel_release(channel);
        channel = channel_of(1);
        CHECK_EQ(eddy_channel_put(channel, &item), 0);
        for (int i = 0; i < 3; i++)
                blocked_begin(&putters[i], i, put_blocked);
        wait_for_waiters(ED_CHANNEL_PUT, 3);
        eddy_channel_shutdown(channel);
        for (int i = 0; i < 3; i++)
                blocked_end(&putters[i], -EPIPE);
        CHECK_EQ(eddy_channel_get(channel, &item), 0);
        CHECK_EQ(item, 7);
        CHECK_EQ(eddy_channel_get(channel, &item), -EPIPE);
        eddy_channel_release(channel);
}

static void *get_and_be_cancelled(void *arg)
{
        (void) get_blocked(arg);
        pthread_testcancel();
        ((struct blocked *) arg)->result = 2;
        return NULL;
}

/* The item would be lost with it, and the channel stay locked. */
TEST(a_thread_that_is_cancelled_while_it_waits_is_served_first)
{
        struct blocked getter;
        int item = 42;
        void *end;

        channel = channel_of(1);
        blocked_begin(&getter, -1, get_and_be_cancelled);
        wait_for_waiters(ED_CHANNEL_GET, 1);
        CHECK_EQ(pthread_cancel(getter.id), 0);
        for (int i = 0; i < 100; i++)
                (void) sched_yield();
        CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
        CHECK_EQ(pthread_join(getter.id, &end), 0);
        CHECK(end == PTHREAD_CANCELED);
        CHECK_EQ(getter.result, 0);
        CHECK_EQ(getter.item, 42);
        CHECK_EQ(eddy_channel_count(channel), 0);
        eddy_channel_release(channel);
}

static int get_in_callback(void *arg)
{
        int item = 3, *result = arg;

        *result = eddy_channel_get(channel, &item);
        CHECK_EQ(item, 3);
        CHECK_EQ(eddy_channel_put(channel, &item), 0);
        CHECK_EQ(eddy_channel_put(channel, &item), -EDEADLK);
        CHECK_EQ(eddy_channel_get(channel, &item), 0);
        return 0;
}

SIM_TEST(a_callback_of_a_loop_puts_and_gets_but_cannot_wait)
{
        eddy_handle handle = { 0 };
        int result = 1;

        channel = channel_of(1);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, get_in_callback, &result), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(result, -EDEADLK);
        eddy_channel_release(channel);
}

/* On this thread, and no task could ever end its wait. */
SIM_TEST(a_job_of_a_simulation_cannot_wait)
{
        int result = 1;

        channel = channel_of(1);
        CHECK_EQ(eddy_to_thread(get_in_callback, &result), 0);
        CHECK_EQ(result, -EDEADLK);
        eddy_channel_release(channel);
}

static int get_in_job(void *arg)
{
        return eddy_channel_get(channel, arg);
}

static int wait_for_job(void *arg)
{
        struct put put = { 8, 1 };
        eddy_scope scope;
        int item = 9;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, put_one, &put), 0);
        CHECK_EQ(eddy_to_thread(get_in_job, &item), 0);
        CHECK_EQ(item, 8);
        return eddy_scope_end(&scope);
}

TEST(a_job_waits_for_a_task_of_its_caller)
{
        channel = channel_of(1);
        CHECK_EQ(run_loop(wait_for_job, NULL), 0);
        eddy_channel_release(channel);
}

/* --- jobs that are asked to stop --- */

static int put_in_job(void *arg)
{
        return eddy_channel_put(channel, arg);
}

static _Atomic int ended_jobs;

static void count_ended(void *arg)
{
        (void) arg;
        ended_jobs++;
}

struct stopped {
        eddy_task_fn *fn;
        enum ed_channel_side side;
        unsigned flags;
        int item, result;
};

static int call_stopped(void *arg)
{
        struct stopped *job = arg;
        struct eddy_thread_opts opts = { .flags = job->flags, .release = count_ended };

        job->result = eddy_thread_pool_call(NULL, job->fn, &job->item, &opts);
        return 0;
}

/* Cancels the caller of a job that is blocked, and waits for the end of both. */
static int stop_blocked_job(void *arg)
{
        struct stopped *job = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, call_stopped, job), 0);
        while (waiters_of(job->side) == 0)
                CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(job->result, -ECANCELED);
        while (ended_jobs == 0)
                CHECK_EQ(eddy_sleep(EDDY_US(100)), 0);
        ended_jobs = 0;
        CHECK_EQ(waiters_of(job->side), 0);
        return 0;
}

TEST(a_cancel_ends_the_wait_of_a_job_and_no_item_is_taken_or_added)
{
        struct stopped getter = { .fn = get_in_job, .side = ED_CHANNEL_GET, .item = -1 };
        struct stopped putter = { .fn = put_in_job, .side = ED_CHANNEL_PUT, .item = 2 };
        int item = 1;

        channel = channel_of(1);
        CHECK_EQ(run_loop(stop_blocked_job, &getter), 0);
        CHECK_EQ(getter.item, -1);
        CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
        CHECK_EQ(run_loop(stop_blocked_job, &putter), 0);
        CHECK_EQ(eddy_channel_try_get(channel, &item), 0);
        CHECK_EQ(item, 1);
        CHECK_EQ(eddy_channel_try_get(channel, &item), -EAGAIN);
        eddy_channel_release(channel);
}

static int get_static_in_job(void *arg)
{
        static int item;

        (void) arg;
        return eddy_channel_get(channel, &item);
}

TEST(a_cancel_ends_the_wait_of_an_abandoned_job)
{
        struct stopped getter = { .fn = get_static_in_job,
                                  .side = ED_CHANNEL_GET,
                                  .flags = EDDY_THREAD_ABANDON };

        channel = channel_of(1);
        CHECK_EQ(run_loop(stop_blocked_job, &getter), 0);
        eddy_channel_release(channel);
}

static int get_after_stop(void *arg)
{
        while (!eddy_thread_is_stopping())
                (void) sched_yield();
        CHECK_EQ(eddy_channel_get(channel, arg), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_channel_get(channel, arg), -ECANCELED);
        CHECK_EQ(eddy_channel_put(channel, arg), 0);
        return eddy_channel_put(channel, arg);
}

static int time_out_job(void *arg)
{
        (void) eddy_call_timeout(call_stopped, arg, EDDY_MS(1));
        return ((struct stopped *) arg)->result;
}

TEST(a_job_asked_to_stop_gets_the_rest_and_does_not_wait)
{
        struct stopped getter = { .fn = get_after_stop };
        int item = 5;

        channel = channel_of(1);
        CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
        CHECK_EQ(run_loop(time_out_job, &getter), -ECANCELED);
        CHECK_EQ(eddy_channel_try_get(channel, &item), 0);
        CHECK_EQ(item, 5);
        eddy_channel_release(channel);
}

enum { RACES = 300 };

static _Atomic bool races_over;

/* Puts an item whenever a job waits, which may be stopped at that moment. */
static void *put_for_races(void *arg)
{
        int item = 1;

        while (!races_over) {
                if (waiters_of(ED_CHANNEL_GET) > 0)
                        *(int *) arg += eddy_channel_try_put(channel, &item) == 0;
                (void) sched_yield();
        }
        return NULL;
}

/* Each job takes an item or is stopped; the cancel comes sooner or later. */
static int race_jobs(void *arg)
{
        int *taken = arg;

        for (int i = 0; i < RACES; i++) {
                struct stopped getter = { .fn = get_in_job };
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, call_stopped, &getter), 0);
                CHECK_EQ(eddy_sleep(EDDY_US(i % 7 * 5)), 0);
                eddy_scope_cancel(&scope);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK(getter.result == -ECANCELED || (getter.result == 0 && getter.item == 1));
                *taken += getter.result == 0;
        }
        return 0;
}

TEST(an_item_for_a_job_that_is_stopped_meanwhile_is_not_lost)
{
        int put = 0, taken = 0, left = 0, item;
        pthread_t putter;

        channel = channel_of(RACES);
        putter = thread(put_for_races, &put);
        CHECK_EQ(run_loop(race_jobs, &taken), 0);
        races_over = true;
        pthread_join(putter, NULL);
        while (eddy_channel_try_get(channel, &item) == 0)
                left++;
        CHECK_EQ(taken + left, put);
        eddy_channel_release(channel);
}

/* --- one wake for many --- */

enum { GETTERS = 60 };

static void (*real_wake)(struct ed_sys *sys);
static _Atomic int wakes;

static void counted_wake(struct ed_sys *sys)
{
        wakes++;
        real_wake(sys);
}

static void *put_to_all(void *arg)
{
        (void) arg;
        for (int i = 0; i < GETTERS; i++)
                CHECK_EQ(eddy_channel_try_put(channel, &i), 0);
        return NULL;
}

static int wait_for_many(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < GETTERS; i++)
                CHECK_EQ(eddy_scope_start(&scope, get_one, NULL), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        /* All wait, and the loop does not look outside while this task waits for the thread. */
        pthread_join(thread(put_to_all, NULL), NULL);
        CHECK_EQ(got_count, 0);
        return eddy_scope_end(&scope);
}

TEST(many_puts_to_tasks_of_a_loop_that_has_not_looked_wake_it_once)
{
        static struct ed_sys_poll wrapped;
        struct ed_sys *sys;

        channel = channel_of(1);
        CHECK_EQ(ed_sys_epoll_new(&sys), 0);
        wrapped = *sys->poll;
        real_wake = wrapped.wake;
        wrapped.wake = counted_wake;
        sys->poll = &wrapped;
        CHECK_EQ(ed_run_on(sys, wait_for_many, NULL, NULL, NULL), 0);
        CHECK_EQ(got_count, GETTERS);
        for (int i = 0; i < GETTERS; i++)
                CHECK_EQ(got[i], i);
        CHECK_EQ(wakes, 1);
        eddy_channel_release(channel);
}

/* --- 100,000 items through a channel of 16 --- */

enum { ITEMS = 100000, ROOM = 16, WORKERS = 4 };

static _Atomic int next_item, taken;
static _Atomic unsigned char times_got[ITEMS];
static _Atomic int cancels;
static bool with_cancels, in_order;

static uint32_t chance(uint32_t *state)
{
        *state = *state * 1664525u + 1013904223u;
        return *state >> 8;
}

static int put_call(void *arg)
{
        return eddy_channel_put(channel, arg);
}

static int get_call(void *arg)
{
        return eddy_channel_get(channel, arg);
}

/*
 * A put or a get that is cancelled at some moment, and tried again with more
 * patience, until it was done.
 */
static int insist(eddy_task_fn *fn, int *item, uint32_t *state)
{
        uint32_t patience_ns = 10000;
        int err;

        if (!with_cancels)
                return fn(item);
        while ((err = eddy_call_timeout(fn, item, chance(state) % patience_ns)) == -ETIMEDOUT) {
                atomic_fetch_add(&cancels, 1);
                if (patience_ns < EDDY_MS(10))
                        patience_ns *= 2;
        }
        return err;
}

static int producer(void *arg)
{
        uint32_t state = (uint32_t) (uintptr_t) arg;
        int item;

        while ((item = atomic_fetch_add(&next_item, 1)) < ITEMS)
                CHECK_EQ(insist(put_call, &item, &state), 0);
        return 0;
}

static int consumer(void *arg)
{
        uint32_t state = (uint32_t) (uintptr_t) arg;

        for (;;) {
                int item = -1, err = insist(get_call, &item, &state);

                if (err < 0) {
                        CHECK_EQ(err, -EPIPE);
                        return 0;
                }
                CHECK_EQ(atomic_fetch_add(&times_got[item], 1), 0);
                if (in_order)
                        CHECK_EQ(item, atomic_load(&taken));
                atomic_fetch_add(&taken, 1);
        }
}

static int many_of(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (uintptr_t i = 0; i < (in_order ? 1 : WORKERS); i++)
                CHECK_EQ(eddy_scope_start(&scope, *(eddy_task_fn **) arg, (void *) (i + 1)), 0);
        return eddy_scope_end(&scope);
}

static void *consume(void *arg)
{
        static eddy_task_fn *fn = consumer;

        (void) arg;
        CHECK_EQ(run_loop(many_of, (void *) &fn), 0);
        return NULL;
}

static void pass_all_items(void)
{
        static eddy_task_fn *fn = producer;
        pthread_t consumers;

        channel = channel_of(ROOM);
        consumers = thread(consume, NULL);
        CHECK_EQ(run_loop(many_of, (void *) &fn), 0);
        eddy_channel_shutdown(channel);
        pthread_join(consumers, NULL);
        CHECK_EQ(atomic_load(&taken), ITEMS);
        for (int i = 0; i < ITEMS; i++)
                CHECK_EQ(times_got[i], 1);
        CHECK_EQ(eddy_channel_count(channel), 0);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 0);
        eddy_channel_release(channel);
}

static void *produce_blocked(void *arg)
{
        (void) producer(arg);
        return NULL;
}

static void *consume_blocked(void *arg)
{
        (void) consumer(arg);
        return NULL;
}

/* On each side a loop of tasks, and threads without one. */
TEST(tasks_and_threads_lose_and_double_no_item)
{
        static eddy_task_fn *fn = producer;
        pthread_t putters[2], getters[2], consumers;

        channel = channel_of(ROOM);
        consumers = thread(consume, NULL);
        for (uintptr_t i = 0; i < 2; i++) {
                getters[i] = thread(consume_blocked, (void *) (i + 1));
                putters[i] = thread(produce_blocked, (void *) (i + 1));
        }
        CHECK_EQ(run_loop(many_of, (void *) &fn), 0);
        for (int i = 0; i < 2; i++)
                pthread_join(putters[i], NULL);
        eddy_channel_shutdown(channel);
        for (int i = 0; i < 2; i++)
                pthread_join(getters[i], NULL);
        pthread_join(consumers, NULL);
        CHECK_EQ(atomic_load(&taken), ITEMS);
        for (int i = 0; i < ITEMS; i++)
                CHECK_EQ(times_got[i], 1);
        eddy_channel_release(channel);
}

TEST(two_loops_pass_items_on_in_order)
{
        in_order = true;
        pass_all_items();
}

TEST(two_loops_lose_and_double_nothing_when_puts_and_gets_are_cancelled)
{
        with_cancels = true;
        pass_all_items();
        printf("# %d puts and gets were cancelled\n", atomic_load(&cancels));
        CHECK(atomic_load(&cancels) > 0);
}

/* --- a loop that ends just when it is given something --- */

enum { ROUNDS = 300 };

static void *put_in_time(void *arg)
{
        int rounds = *(int *) arg;

        (void) meet(NULL);
        for (int i = 0; i < rounds; i++)
                (void) sched_yield();
        CHECK_EQ(eddy_channel_try_put(channel, &rounds), 0);
        return NULL;
}

static int64_t patience_ns;

static int get_or_leave(void *arg)
{
        (void) meet(NULL);
        return eddy_call_timeout(get_call, arg, patience_ns);
}

TEST(an_item_goes_to_a_loop_that_ends_or_stays)
{
        int delivered = 0;

        pthread_barrier_init(&meeting, NULL, 2);
        for (int i = 0; i < ROUNDS; i++) {
                int pauses = i % 60, item = -1, err;
                pthread_t putter;

                patience_ns = i * 997 % 60000;
                channel = channel_of(1);
                putter = thread(put_in_time, &pauses);
                err = run_loop(get_or_leave, &item);
                pthread_join(putter, NULL);
                CHECK(err == 0 || err == -ETIMEDOUT);
                CHECK_EQ(eddy_channel_count(channel), err == 0 ? 0 : 1);
                CHECK_EQ(item, err == 0 ? pauses : -1);
                delivered += err == 0;
                eddy_channel_release(channel);
        }
        printf("# %d of %d were delivered\n", delivered, ROUNDS);
}
