/*
 * calls_queues.c - the worlds of queues, of choosing among several things, and
 * of channels; see every_call.h.
 *
 * Items are numbers from 1 up: each that was put is got once, or left, or
 * dropped by a shutdown that drops.
 */
#include "every_call.h"

#include <signal.h>

enum { ITEMS_MAX = 64 };

static struct {
        bool put[ITEMS_MAX];
        int seen[ITEMS_MAX];
        int next, putting, getting;
        bool dropped;
} items;

static int64_t item_new(void)
{
        CHECK(items.next + 1 < ITEMS_MAX);
        return ++items.next;
}

static void item_put(int64_t item)
{
        items.put[item] = true;
}

static void item_got(int64_t item)
{
        CHECK(item > 0 && item <= items.next);
        CHECK_EQ(++items.seen[item], 1);
}

/* What was got was put, also when its put has not returned yet, and what was put was got. */
static void check_items(void)
{
        for (int i = 1; i <= items.next; i++) {
                CHECK(items.put[i] || !items.seen[i]);
                CHECK(items.seen[i] || items.dropped || !items.put[i]);
        }
}

/* --- queues --- */

static eddy_queue queue;

static int by_number(const void *a, const void *b)
{
        const int64_t *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

static void queue_begin(uint32_t items_max)
{
        int err;

        memset(&items, 0, sizeof(items));
        switch (world_chance(3)) {
        case 0:
                err = eddy_queue_init(&queue, sizeof(int64_t), items_max);
                break;
        case 1:
                err = eddy_queue_init_lifo(&queue, sizeof(int64_t), items_max);
                break;
        default:
                err = eddy_queue_init_priority(&queue, sizeof(int64_t), items_max, by_number);
        }
        CHECK_EQ(err, 0);
}

static void queue_end(void)
{
        int64_t item;

        while (eddy_queue_try_get(&queue, &item) == 0)
                item_got(item);
        check_items();
        CHECK(!queue.getters[0] && !queue.putters[0] && !queue.joiners[0]);
        eddy_queue_fini(&queue);
}

static int put_to_queue(void *arg)
{
        return eddy_queue_put(&queue, arg);
}

static int get_from_queue(void *arg)
{
        return eddy_queue_get(&queue, arg);
}

static int put_items(void *arg)
{
        for (int i = 0; i < 2; i++) {
                int64_t item;
                int err;

                world_pause();
                item = item_new();
                err = arg ? victim_call(put_to_queue, &item) : eddy_queue_put(&queue, &item);
                CHECK(err == 0 || err == -EPIPE || err == -ECANCELED);
                if (err == 0)
                        item_put(item);
        }
        /* The last one to put says that there will be no more; or somebody has. */
        if (--items.putting == 0)
                CHECK_EQ(eddy_queue_shutdown(&queue, 0), 0);
        return 0;
}

static int get_items(void *arg)
{
        int err = 0;

        while (err == 0) {
                int64_t item = -1;

                err = arg ? victim_call(get_from_queue, &item) : eddy_queue_get(&queue, &item);
                CHECK(err == 0 || err == -EPIPE || err == -ECANCELED);
                CHECK_EQ(err == 0, item != -1);
                if (err == 0)
                        item_got(item);
                if (world_chance(2))
                        world_pause();
        }
        items.getting--;
        return 0;
}

/* When the others are in the middle of it. */
static int shut_down_early(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_MS(2));
        items.dropped = true;
        CHECK_EQ(eddy_queue_shutdown(&queue, EDDY_QUEUE_NOW), 0);
        return 0;
}

/* Nobody takes what is left when all who got were cancelled, so that puts must be let go. */
static int take_the_rest(void *arg)
{
        (void) arg;
        while (items.putting > 0) {
                int64_t item;

                (void) eddy_sleep(EDDY_MS(10));
                while (items.getting == 0 && eddy_queue_try_get(&queue, &item) == 0)
                        item_got(item);
        }
        return 0;
}

static void run_queue(int putters, void *put_arg, int getters, void *get_arg)
{
        eddy_scope scope;

        items.putting = putters;
        items.getting = getters;
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, put_items, put_arg, putters);
        world_start(&scope, get_items, get_arg, getters);
        world_start(&scope, take_the_rest, NULL, 1);
        if (world_chance(4) == 0)
                world_start(&scope, shut_down_early, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        queue_end();
}

static int world_queue_put(void *arg)
{
        int n = 1 + (int) world_chance(3);

        (void) arg;
        queue_begin(1 + (uint32_t) world_chance(2));
        world_begin(2 * n);
        run_queue(n, &queue, 1 + (int) world_chance(2), NULL);
        return 0;
}
EVERY_POINT(queue_put, eddy_queue_put)

static int world_queue_get(void *arg)
{
        int n = 1 + (int) world_chance(3);

        (void) arg;
        queue_begin((uint32_t) world_chance(3));
        world_begin(n);
        run_queue(1 + (int) world_chance(2), NULL, n, &queue);
        return 0;
}
EVERY_POINT(queue_get, eddy_queue_get)

/* Both sides: an item goes from one task that may be cancelled to another one. */
static int world_queue_both(void *arg)
{
        int putters = 1 + (int) world_chance(2), getters = 1 + (int) world_chance(2);

        (void) arg;
        queue_begin(1);
        world_begin(putters + getters);
        run_queue(putters, &queue, getters, &queue);
        return 0;
}
EVERY_POINT(queue_both, eddy_queue_put)
ALSO(queue_both, eddy_queue_get)

static int await_queue(void *arg)
{
        (void) arg;
        return eddy_queue_join(&queue);
}

static int join_queue(void *arg)
{
        int err;

        world_pause();
        err = victim_call(await_queue, arg);
        CHECK(err == 0 || err == -ECANCELED);
        if (err == 0)
                CHECK_EQ(items.putting, 0);
        return 0;
}

/* Here 'putting' counts what is not done yet. */
static int work_off(void *arg)
{
        int64_t item;

        (void) arg;
        while (eddy_queue_try_get(&queue, &item) == 0) {
                item_got(item);
                world_pause();
                items.putting--;
                CHECK_EQ(eddy_queue_task_done(&queue), 0);
        }
        return 0;
}

static int drop_the_rest(void *arg)
{
        (void) arg;
        world_pause();
        items.dropped = true;
        items.putting -= (int) eddy_queue_count(&queue);
        CHECK_EQ(eddy_queue_shutdown(&queue, EDDY_QUEUE_NOW), 0);
        return 0;
}

static int world_queue_join(void *arg)
{
        int n = 1 + (int) world_chance(3);
        eddy_scope scope;

        queue_begin(0);
        world_begin(n);
        for (int i = 0; i < 4; i++) {
                int64_t item = item_new();

                CHECK_EQ(eddy_queue_try_put(&queue, &item), 0);
                item_put(item);
        }
        items.putting = 4;
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, join_queue, arg, n);
        world_start(&scope, work_off, NULL, 2);
        if (world_chance(3) == 0)
                world_start(&scope, drop_the_rest, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(items.putting, 0);
        queue_end();
        return 0;
}
EVERY_POINT(queue_join, eddy_queue_join)

/* --- one of several --- */

enum { GETS, PUTS, EVENT, FUTURE, TASK, AT, AFTER, FAR_GETS, FAR_PUTS, SIGNAL, CHOICES };

/* Several alternatives come true at a time; what each did is counted by who did it. */
static struct {
        eddy_queue from, into;
        eddy_channel *far_from, *far_into;
        eddy_signal *signal;
        bool is_raised; /* and not taken */
        int awaiting;   /* it: one task at a time can */
        eddy_event event;
        eddy_future future;
        eddy_task *task;
        int64_t at_ns;
        bool is_set, is_finished;
        int64_t put_max; /* room that was made */
        int selected, puts, gets, done[CHOICES];
} fork_road;

static void check_signal(int result)
{
        CHECK_EQ(result, SIGUSR1);
        CHECK(fork_road.is_raised);
        fork_road.is_raised = false;
}

static int select_one(void *arg)
{
        int64_t got = -1, far_got = -1, item = item_new(), begun_ns = eddy_now();
        struct eddy_choice choices[CHOICES] = {
                [FAR_GETS] = eddy_choice_channel_get(fork_road.far_from, &far_got),
                [FAR_PUTS] = eddy_choice_channel_put(fork_road.far_into, &item),
                [SIGNAL] = eddy_choice_signal(fork_road.signal),
                [GETS] = eddy_choice_get(&fork_road.from, &got),
                [PUTS] = eddy_choice_put(&fork_road.into, &item),
                [EVENT] = eddy_choice_event(&fork_road.event),
                [FUTURE] = eddy_choice_future(&fork_road.future),
                [TASK] = eddy_choice_task(fork_road.task),
                [AT] = eddy_choice_at(fork_road.at_ns),
                [AFTER] = eddy_choice_after(EDDY_MS(3)),
        };
        int off = (int) world_chance(CHOICES), done;

        (void) arg;
        choices[off] = eddy_choice_never();
        if (fork_road.awaiting > 0)
                choices[SIGNAL] = eddy_choice_never();
        fork_road.awaiting++;
        done = eddy_select(choices, CHOICES);
        fork_road.awaiting--;
        CHECK(done == -ECANCELED || (done >= 0 && done < CHOICES && done != off));
        CHECK_EQ(got != -1, done == GETS);
        CHECK_EQ(far_got != -1, done == FAR_GETS);
        if (done < 0)
                return done;
        fork_road.done[done]++;
        switch (done) {
        case GETS:
                item_got(got);
                break;
        case FAR_GETS:
                item_got(far_got);
                break;
        case PUTS:
        case FAR_PUTS:
                item_put(item);
                break;
        case SIGNAL:
                check_signal(choices[SIGNAL].result);
                break;
        case EVENT:
                CHECK(fork_road.is_set);
                break;
        case FUTURE:
                CHECK_EQ(choices[FUTURE].result, 7);
                break;
        case TASK:
                CHECK_EQ(choices[TASK].result, 8);
                CHECK(fork_road.is_finished);
                break;
        case AT:
                CHECK(eddy_now() >= fork_road.at_ns);
                break;
        default:
                CHECK(eddy_now() >= begun_ns + EDDY_MS(3));
        }
        return 0;
}

static int choose_ways(void *arg)
{
        int err = 0;

        for (int i = 0; i < 2 && err == 0; i++) {
                world_pause();
                err = victim_call(select_one, arg);
                CHECK(err == 0 || err == -ECANCELED);
                fork_road.selected += err == 0;
        }
        return 0;
}

static int is_chosen(void *arg)
{
        (void) arg;
        world_pause();
        fork_road.is_finished = true;
        return 8;
}

/* Without giving way in between: two alternatives of one who waits come true in one go. */
static int make_true(void *arg)
{
        int64_t item;

        (void) arg;
        for (int i = 0; i < 3; i++) {
                world_pause();
                if (world_chance(2)) {
                        item = item_new();
                        CHECK_EQ(eddy_queue_try_put(&fork_road.from, &item), 0);
                        item_put(item);
                }
                if (world_chance(2)) {
                        item = item_new();
                        CHECK_EQ(eddy_channel_try_put(fork_road.far_from, &item), 0);
                        item_put(item);
                }
                if (world_chance(2) && eddy_queue_try_get(&fork_road.into, &item) == 0) {
                        /* Made by the world, or by one whose select has yet to return. */
                        item_got(item);
                }
                if (world_chance(2) && eddy_channel_try_get(fork_road.far_into, &item) == 0)
                        item_got(item);
                if (world_chance(4) == 0) {
                        fork_road.is_raised = true;
                        CHECK_EQ(raise(SIGUSR1), 0);
                }
                if (i == 2 && world_chance(2)) {
                        fork_road.is_set = true;
                        CHECK_EQ(eddy_event_set(&fork_road.event), 0);
                }
                if (i == 2 && world_chance(2))
                        CHECK_EQ(eddy_future_set(&fork_road.future, 7, NULL), 0);
        }
        return 0;
}

static void fork_road_begin(void)
{
        static const int signo = SIGUSR1;
        int64_t item;

        memset(&items, 0, sizeof(items));
        memset(&fork_road, 0, sizeof(fork_road));
        CHECK_EQ(eddy_queue_init(&fork_road.from, sizeof(int64_t), 8), 0);
        CHECK_EQ(eddy_queue_init(&fork_road.into, sizeof(int64_t), 1), 0);
        /* Full: room must be made. */
        item = item_new();
        CHECK_EQ(eddy_queue_try_put(&fork_road.into, &item), 0);
        item_put(item);
        CHECK_EQ(eddy_channel_new(sizeof(int64_t), 8, &fork_road.far_from), 0);
        CHECK_EQ(eddy_channel_new(sizeof(int64_t), 1, &fork_road.far_into), 0);
        item = item_new();
        CHECK_EQ(eddy_channel_try_put(fork_road.far_into, &item), 0);
        item_put(item);
        CHECK_EQ(eddy_signal_open(&signo, 1, &fork_road.signal), 0);
        fork_road.at_ns = eddy_now() + EDDY_MS(2) + world_delay_ns();
}

static void fork_road_end(void)
{
        int64_t item;

        eddy_task_release(fork_road.task);
        CHECK(!fork_road.event.waiters[0] && !fork_road.future.waiters[0]);
        CHECK(!fork_road.from.getters[0] && !fork_road.into.putters[0]);
        while (eddy_queue_try_get(&fork_road.from, &item) == 0)
                item_got(item);
        while (eddy_queue_try_get(&fork_road.into, &item) == 0)
                item_got(item);
        while (eddy_channel_try_get(fork_road.far_from, &item) == 0)
                item_got(item);
        while (eddy_channel_try_get(fork_road.far_into, &item) == 0)
                item_got(item);
        eddy_channel_release(fork_road.far_from);
        eddy_channel_release(fork_road.far_into);
        /* What was raised and not taken is there. */
        if (fork_road.is_raised)
                CHECK_EQ(eddy_signal_wait(fork_road.signal), SIGUSR1);
        eddy_signal_close(fork_road.signal);
        check_items();
        eddy_queue_fini(&fork_road.from);
        eddy_queue_fini(&fork_road.into);
        eddy_future_fini(&fork_road.future);
}

static int world_select(void *arg)
{
        int n = 1 + (int) world_chance(3), done = 0;
        eddy_scope scope;

        fork_road_begin();
        world_begin(2 * n);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, is_chosen, NULL, NULL, &fork_road.task), 0);
        world_start(&scope, choose_ways, arg, n);
        world_start(&scope, make_true, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < CHOICES; i++)
                done += fork_road.done[i];
        CHECK_EQ(done, fork_road.selected);
        fork_road_end();
        return 0;
}
EVERY_POINT(select, eddy_select)

/* --- channels --- */

static eddy_channel *channel;

static int put_to_channel(void *arg)
{
        return eddy_channel_put(channel, arg);
}

static int get_from_channel(void *arg)
{
        return eddy_channel_get(channel, arg);
}

static int send_items(void *arg)
{
        (void) arg;
        for (int i = 0; i < 2; i++) {
                int64_t item;
                int err;

                world_pause();
                item = item_new();
                err = victim_call(put_to_channel, &item);
                CHECK(err == 0 || err == -EPIPE || err == -ECANCELED);
                if (err == 0)
                        item_put(item);
        }
        if (--items.putting == 0)
                eddy_channel_shutdown(channel);
        return 0;
}

static int receive_items(void *arg)
{
        int err = 0;

        (void) arg;
        while (err == 0) {
                int64_t item = -1;

                err = victim_call(get_from_channel, &item);
                CHECK(err == 0 || err == -EPIPE || err == -ECANCELED);
                CHECK_EQ(err == 0, item != -1);
                if (err == 0)
                        item_got(item);
                if (world_chance(2))
                        world_pause();
        }
        items.getting--;
        return 0;
}

static int receive_the_rest(void *arg)
{
        (void) arg;
        while (items.putting > 0) {
                int64_t item;

                (void) eddy_sleep(EDDY_MS(10));
                while (items.getting == 0 && eddy_channel_try_get(channel, &item) == 0)
                        item_got(item);
        }
        return 0;
}

static int close_channel(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_MS(2));
        eddy_channel_shutdown(channel);
        return 0;
}

static int world_channel_both(void *arg)
{
        int senders = 1 + (int) world_chance(2), receivers = 1 + (int) world_chance(2);
        eddy_scope scope;
        int64_t item;

        memset(&items, 0, sizeof(items));
        CHECK_EQ(eddy_channel_new(sizeof(int64_t), 1, &channel), 0);
        items.putting = senders;
        items.getting = receivers;
        world_begin(senders + receivers);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, send_items, arg, senders);
        world_start(&scope, receive_items, arg, receivers);
        world_start(&scope, receive_the_rest, NULL, 1);
        if (world_chance(4) == 0)
                world_start(&scope, close_channel, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        while (eddy_channel_try_get(channel, &item) == 0)
                item_got(item);
        check_items();
        CHECK_EQ(eddy_channel_count(channel), 0);
        eddy_channel_release(channel);
        return 0;
}
EVERY_POINT(channel_both, eddy_channel_put)
ALSO(channel_both, eddy_channel_get)
