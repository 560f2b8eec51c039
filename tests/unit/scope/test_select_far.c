/*
 * test_select_far.c - selecting among channels, which other threads serve, and
 * what else there is: which one is done, and that the others are as if they had
 * not been asked.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "sim_run.h"
#include "starve.h"
#include "sync/channel.h"
#include "sync/future.h"

static eddy_channel *channel_of(uint32_t items_max)
{
        eddy_channel *channel = NULL;

        CHECK_EQ(eddy_channel_new(sizeof(int), items_max, &channel), 0);
        return channel;
}

static void put_int(eddy_channel *channel, int item)
{
        CHECK_EQ(eddy_channel_try_put(channel, &item), 0);
}

static int item_of(eddy_channel *channel)
{
        int item = -1;

        CHECK_EQ(eddy_channel_try_get(channel, &item), 0);
        return item;
}

static void check_nobody_in_line(const eddy_channel *channel)
{
        CHECK(!ed_waiters_first(channel->lines[ED_CHANNEL_GET]));
        CHECK(!ed_waiters_first(channel->lines[ED_CHANNEL_PUT]));
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

SIM_TEST(the_first_channel_in_the_list_that_is_ready_is_done)
{
        eddy_channel *empty = channel_of(1), *one = channel_of(1), *room = channel_of(1);
        int got = -1, put = 7;
        struct eddy_choice choices[] = {
                eddy_choice_channel_get(empty, &got),
                eddy_choice_channel_get(one, &got),
                eddy_choice_channel_put(room, &put),
                eddy_choice_after(0),
        };

        put_int(one, 5);
        CHECK_EQ(eddy_select(choices, 4), 1);
        CHECK_EQ(choices[1].result, 0);
        CHECK_EQ(got, 5);
        CHECK_EQ(eddy_channel_count(room), 0);
        CHECK_EQ(eddy_select(choices, 4), 2);
        CHECK_EQ(choices[2].result, 0);
        CHECK_EQ(item_of(room), 7);
        put_int(room, 1);
        CHECK_EQ(eddy_select(choices, 4), 3);
        CHECK_EQ(eddy_try_select(choices, 3), -EAGAIN);
        CHECK_EQ(eddy_channel_count(room), 1);
        check_nobody_in_line(empty);
        eddy_channel_release(empty);
        eddy_channel_release(one);
        eddy_channel_release(room);
}

SIM_TEST(a_channel_that_is_shut_is_ready_and_says_so)
{
        eddy_channel *channel = channel_of(1);
        int item = 3;
        struct eddy_choice get = eddy_choice_channel_get(channel, &item);
        struct eddy_choice put = eddy_choice_channel_put(channel, &item);

        eddy_channel_shutdown(channel);
        CHECK_EQ(eddy_select(&get, 1), 0);
        CHECK_EQ(get.result, -EPIPE);
        CHECK_EQ(eddy_select(&put, 1), 0);
        CHECK_EQ(put.result, -EPIPE);
        CHECK_EQ(item, 3);
        eddy_channel_release(channel);
}

/* --- one that comes --- */

SIM_TEST(a_put_from_the_same_loop_does_one_choice)
{
        eddy_channel *a = channel_of(1), *b = channel_of(1);
        int got[2] = { -1, -1 };
        struct eddy_choice choices[] = { eddy_choice_channel_get(a, &got[0]),
                                         eddy_choice_channel_get(b, &got[1]),
                                         eddy_choice_after(MS) };
        struct selecting s;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 3);
        put_int(b, 2);
        /* In the same breath: it must stay. */
        put_int(a, 1);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(choices[1].result, 0);
        CHECK_EQ(got[1], 2);
        CHECK_EQ(got[0], -1);
        CHECK_EQ(item_of(a), 1);
        check_nobody_in_line(a);
        check_nobody_in_line(b);
        eddy_channel_release(a);
        eddy_channel_release(b);
}

SIM_TEST(a_get_makes_room_for_a_choice_that_puts)
{
        eddy_channel *a = channel_of(1), *b = channel_of(1);
        int items[2] = { 10, 11 };
        struct eddy_choice choices[] = { eddy_choice_channel_put(a, &items[0]),
                                         eddy_choice_channel_put(b, &items[1]) };
        struct selecting s;
        eddy_scope scope;

        put_int(a, 1);
        put_int(b, 2);
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 2);
        CHECK_EQ(item_of(b), 2);
        CHECK_EQ(item_of(a), 1);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(item_of(b), 11);
        CHECK_EQ(eddy_channel_count(a), 0);
        eddy_channel_release(a);
        eddy_channel_release(b);
}

SIM_TEST(a_shutdown_meanwhile_is_the_choice_that_is_done)
{
        eddy_channel *a = channel_of(1), *b = channel_of(1);
        int got[2] = { -1, -1 };
        struct eddy_choice choices[] = { eddy_choice_channel_get(a, &got[0]),
                                         eddy_choice_channel_get(b, &got[1]) };
        struct selecting s;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 2);
        eddy_channel_shutdown(b);
        eddy_channel_shutdown(a);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 1);
        CHECK_EQ(choices[1].result, -EPIPE);
        check_nobody_in_line(a);
        eddy_channel_release(a);
        eddy_channel_release(b);
}

static int gets_one(void *arg)
{
        struct selecting *s = arg;

        s->index = eddy_channel_get(s->choices[0].object, s->choices[0].item);
        return 0;
}

/* A98 of channels: in one line. */
SIM_TEST(selects_and_plain_gets_are_served_in_the_order_they_came)
{
        eddy_channel *channel = channel_of(1);
        int got[3] = { -1, -1, -1 };
        struct eddy_choice choices[3];
        struct selecting s[3];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++) {
                choices[i] = eddy_choice_channel_get(channel, &got[i]);
                if (i == 1) {
                        s[i] = (struct selecting){ &choices[i], 1, WAITS, NULL };
                        CHECK_EQ(eddy_scope_start_task(&scope, gets_one, &s[i], NULL, &s[i].task),
                                 0);
                        CHECK_EQ(eddy_sleep(0), 0);
                } else {
                        start_select(&scope, &s[i], &choices[i], 1);
                }
        }
        for (int i = 0; i < 3; i++)
                put_int(channel, i);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(s[i].index, 0);
                CHECK_EQ(got[i], i);
                eddy_task_release(s[i].task);
        }
        eddy_channel_release(channel);
}

/* --- cancelled --- */

SIM_TEST(a_cancelled_select_leaves_the_lines_of_channels)
{
        eddy_channel *channel = channel_of(1), *full = channel_of(1);
        int got = -1, put = 5;
        struct eddy_choice choices[] = { eddy_choice_channel_get(channel, &got),
                                         eddy_choice_channel_put(full, &put) };
        struct selecting s;
        eddy_scope scope;

        put_int(full, 1);
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 2);
        eddy_task_cancel(s.task);
        put_int(channel, 2);
        CHECK_EQ(item_of(full), 1);
        end_select(&scope, &s);
        CHECK_EQ(s.index, -ECANCELED);
        CHECK_EQ(got, -1);
        CHECK_EQ(item_of(channel), 2);
        CHECK_EQ(eddy_channel_count(full), 0);
        eddy_channel_release(channel);
        eddy_channel_release(full);
}

SIM_TEST(an_item_that_was_handed_over_beats_a_later_cancel)
{
        eddy_channel *channel = channel_of(1);
        int got = -1;
        struct eddy_choice choices[] = { eddy_choice_channel_get(channel, &got),
                                         eddy_choice_after(MS) };
        struct selecting s;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 2);
        put_int(channel, 2);
        eddy_task_cancel(s.task);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 0);
        CHECK_EQ(got, 2);
        CHECK_EQ(timers_armed(), 0);
        eddy_channel_release(channel);
}

static int selects_without_memory(void *arg)
{
        eddy_channel *channel = channel_of(1);
        eddy_queue queue = { 0 };
        int got = -1;
        void *item = NULL;
        struct eddy_choice choices[] = { eddy_choice_get(&queue, &item),
                                         eddy_choice_channel_get(channel, &got) };

        (void) arg;
        allocations_left = 0;
        CHECK_EQ(eddy_select(choices, 2), -ENOMEM);
        allocations_left = -1;
        CHECK(!ed_waiters_first(queue.getters));
        check_nobody_in_line(channel);
        eddy_channel_release(channel);
        return 0;
}

TEST(without_memory_for_an_inbox_nothing_is_waited_for)
{
        eddy_alloc_set(starve, NULL);
        CHECK_EQ(sim_run(selects_without_memory, NULL), 0);
}

/* --- other threads --- */

static eddy_channel *far_one, *far_two;
static pthread_barrier_t meeting;

static int run_loop(eddy_task_fn *fn, void *arg)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };

        return eddy_run(fn, arg, &opts);
}

static pthread_t thread(void *(*fn)(void *), void *arg)
{
        pthread_t id;

        CHECK_EQ(pthread_create(&id, NULL, fn, arg), 0);
        return id;
}

static void *put_both(void *arg)
{
        (void) arg;
        put_int(far_one, 1);
        put_int(far_two, 2);
        return NULL;
}

/*
 * All of it before the loop looks: the first channel has served the select, and
 * its other waiters are still in their lines.
 */
static int is_passed_over(void *arg)
{
        eddy_queue queue;
        eddy_event event = { 0 };
        eddy_future future = { 0 };
        int got[3] = { -1, -1, -1 }, item = 3;
        struct eddy_choice choices[] = {
                eddy_choice_channel_get(far_one, &got[0]),
                eddy_choice_channel_get(far_two, &got[1]),
                eddy_choice_get(&queue, &got[2]),
                eddy_choice_event(&event),
                eddy_choice_future(&future),
                eddy_choice_after(0),
        };
        struct selecting s;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_queue_init(&queue, sizeof(int), 1), 0);
        choices[5] = eddy_choice_after(EDDY_SEC(100));
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 6);
        pthread_join(thread(put_both, NULL), NULL);
        CHECK_EQ(s.index, WAITS);
        CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
        CHECK_EQ(eddy_event_set(&event), 0);
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        /* Too late, and the item is not lost. */
        eddy_task_cancel(s.task);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 0);
        CHECK_EQ(choices[0].result, 0);
        CHECK_EQ(got[0], 1);
        CHECK_EQ(got[1], -1);
        CHECK_EQ(got[2], -1);
        CHECK_EQ(item_of(far_two), 2);
        CHECK_EQ(eddy_queue_count(&queue), 1);
        CHECK(!ed_waiters_first(queue.getters) && !ed_waiters_first(event.waiters) &&
              !ed_waiters_first(future.waiters));
        CHECK(!(future.flags & ED_FUTURE_SEEN));
        check_nobody_in_line(far_one);
        check_nobody_in_line(far_two);
        (void) eddy_future_cancel(&future);
        eddy_future_fini(&future);
        eddy_queue_fini(&queue);
        return 0;
}

TEST(values_that_another_thread_has_served_pass_a_select_over)
{
        far_one = channel_of(1);
        far_two = channel_of(1);
        CHECK_EQ(run_loop(is_passed_over, NULL), 0);
        eddy_channel_release(far_one);
        eddy_channel_release(far_two);
}

static int got_after;

static int gets_after(void *arg)
{
        return eddy_queue_get(arg, &got_after);
}

/* The waiter after it in line gets what it cannot take any more. */
static int is_overtaken(void *arg)
{
        int got[2] = { -1, -1 }, item = 3;
        eddy_queue queue;
        struct eddy_choice choices[] = { eddy_choice_channel_get(far_one, &got[0]),
                                         eddy_choice_get(&queue, &got[1]) };
        struct selecting s;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_queue_init(&queue, sizeof(int), 1), 0);
        eddy_scope_begin(&scope, NULL);
        start_select(&scope, &s, choices, 2);
        CHECK_EQ(eddy_scope_start(&scope, gets_after, &queue), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        pthread_join(thread(put_both, NULL), NULL);
        CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
        CHECK_EQ(eddy_queue_count(&queue), 0);
        end_select(&scope, &s);
        CHECK_EQ(s.index, 0);
        CHECK_EQ(got[0], 1);
        CHECK_EQ(got_after, 3);
        eddy_queue_fini(&queue);
        return 0;
}

TEST(a_waiter_after_a_select_that_was_served_gets_the_item)
{
        far_one = channel_of(1);
        far_two = channel_of(1);
        CHECK_EQ(run_loop(is_overtaken, NULL), 0);
        eddy_channel_release(far_one);
        eddy_channel_release(far_two);
}

static void *put_a_little_later(void *arg)
{
        (void) arg;
        (void) pthread_barrier_wait(&meeting);
        for (int i = 0; i < 100; i++)
                (void) sched_yield();
        put_int(far_one, 42);
        return NULL;
}

static int selects_of_other_thread(void *arg)
{
        struct eddy_choice choice = eddy_choice_channel_get(far_one, arg);

        (void) pthread_barrier_wait(&meeting);
        return eddy_select(&choice, 1);
}

TEST(a_select_that_waits_for_another_thread_is_not_a_deadlock)
{
        pthread_t putter;
        int got = -1;

        far_one = channel_of(1);
        pthread_barrier_init(&meeting, NULL, 2);
        putter = thread(put_a_little_later, NULL);
        CHECK_EQ(run_loop(selects_of_other_thread, &got), 0);
        pthread_join(putter, NULL);
        CHECK_EQ(got, 42);
        eddy_channel_release(far_one);
}

/* --- many --- */

enum { CHANNELS = 3, LOOPS = 2, WORKERS = 4, ITEMS = 30000 };

static eddy_channel *channels[CHANNELS];
static _Atomic int next_item, taken, cancels, done_by_time;
static _Atomic unsigned char times_got[ITEMS];

static uint32_t chance(uint32_t *state)
{
        *state = *state * 1664525u + 1013904223u;
        return *state >> 8;
}

struct hand {
        uint32_t state;
        int item;
};

/* Try all channels for a moment; 1: done, 0: not yet, -EPIPE: the first that was ready is shut. */
static int move_one(struct hand *hand, bool puts)
{
        struct eddy_choice choices[CHANNELS + 1];
        int first = (int) (chance(&hand->state) % CHANNELS), items[CHANNELS], done;

        for (int i = 0; i < CHANNELS; i++) {
                eddy_channel *channel = channels[(first + i) % CHANNELS];

                items[i] = puts ? hand->item : -1;
                choices[i] = puts ? eddy_choice_channel_put(channel, &items[i])
                                  : eddy_choice_channel_get(channel, &items[i]);
        }
        choices[CHANNELS] = eddy_choice_after(EDDY_US(chance(&hand->state) % 100));
        done = eddy_select(choices, CHANNELS + 1);
        for (int i = 0; i < CHANNELS; i++)
                CHECK(puts || items[i] == -1 || (i == done && choices[i].result == 0));
        if (done < 0 || done == CHANNELS) {
                atomic_fetch_add(done < 0 ? &cancels : &done_by_time, 1);
                return done < 0 ? done : 0;
        }
        if (choices[done].result < 0)
                return choices[done].result;
        hand->item = items[done];
        return 1;
}

static int get_one(void *arg)
{
        return move_one(arg, false);
}

static int put_one(void *arg)
{
        return move_one(arg, true);
}

/* Under a deadline that may pass meanwhile. */
static int insist(eddy_task_fn *fn, struct hand *hand)
{
        int err;

        do
                err = eddy_call_timeout(fn, hand, EDDY_US(1 + chance(&hand->state) % 200));
        while (err == 0 || err == -ETIMEDOUT);
        return err;
}

static int producer(void *arg)
{
        struct hand hand = { .state = (uint32_t) (uintptr_t) arg };

        while ((hand.item = atomic_fetch_add(&next_item, 1)) < ITEMS)
                CHECK_EQ(insist(put_one, &hand), 1);
        return 0;
}

static int consumer(void *arg)
{
        struct hand hand = { .state = (uint32_t) (uintptr_t) arg };
        int err;

        while ((err = insist(get_one, &hand)) == 1) {
                CHECK_EQ(atomic_fetch_add(&times_got[hand.item], 1), 0);
                atomic_fetch_add(&taken, 1);
        }
        CHECK_EQ(err, -EPIPE);
        return 0;
}

static int many_of(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (uintptr_t i = 0; i < WORKERS; i++)
                CHECK_EQ(eddy_scope_start(&scope, *(eddy_task_fn **) arg, (void *) (i + 1)), 0);
        return eddy_scope_end(&scope);
}

static void *run_many(void *arg)
{
        CHECK_EQ(run_loop(many_of, arg), 0);
        return NULL;
}

TEST(selects_on_several_loops_lose_and_double_no_item)
{
        static eddy_task_fn *put = producer, *get = consumer;
        pthread_t putters[LOOPS], getters[LOOPS];
        int item;

        for (int i = 0; i < CHANNELS; i++)
                channels[i] = channel_of(1 + (uint32_t) i);
        for (int i = 0; i < LOOPS; i++) {
                getters[i] = thread(run_many, (void *) &get);
                putters[i] = thread(run_many, (void *) &put);
        }
        for (int i = 0; i < LOOPS; i++)
                pthread_join(putters[i], NULL);
        for (int i = 0; i < CHANNELS; i++)
                eddy_channel_shutdown(channels[i]);
        for (int i = 0; i < LOOPS; i++)
                pthread_join(getters[i], NULL);
        /* A getter ends at the first channel that is shut and empty. */
        for (int i = 0; i < CHANNELS; i++) {
                while (eddy_channel_try_get(channels[i], &item) == 0) {
                        CHECK_EQ(atomic_fetch_add(&times_got[item], 1), 0);
                        atomic_fetch_add(&taken, 1);
                }
                check_nobody_in_line(channels[i]);
                eddy_channel_release(channels[i]);
        }
        CHECK_EQ(atomic_load(&taken), ITEMS);
        for (int i = 0; i < ITEMS; i++)
                CHECK_EQ(times_got[i], 1);
        printf("# %d ended by their time, %d by a cancel\n", atomic_load(&done_by_time),
               atomic_load(&cancels));
}
