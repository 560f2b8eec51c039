/*
 * test_select_random.c - many tasks that select among the same queues, channels,
 * events, futures, tasks, signals and times, with cancels and deadlines at random
 * moments, under random schedules: each select does exactly one of its choices or
 * none, and every item that was put is taken once.
 */
#include <signal.h>

#include "scope/waiters.h"
#include "sim_run.h"
#include "sync/channel.h"

enum {
        SEEDS = 500,
        QUEUES = 4,
        CHANNELS = 2,
        EVENTS = 2,
        FUTURES = 8,
        TASKS = 7,
        ROUNDS = 12,
        CHOICES_MAX = 6,
        ITEMS_MAX = TASKS * ROUNDS * CHOICES_MAX,
        UNTOUCHED = 123456
};

/* What has been done to each item. */
struct fate {
        int put;
        int taken;
};

static struct world {
        uint64_t random;
        eddy_queue queues[QUEUES];
        eddy_channel *channels[CHANNELS];
        eddy_signal *signals[TASKS]; /* of each task its own: one may wait for it */
        int raised, given;
        eddy_event events[EVENTS];
        eddy_future futures[FUTURES];
        eddy_task *tasks[TASKS];
        struct fate fates[ITEMS_MAX];
        int items;
        uint64_t selects, done, cancelled, waited_for[EDDY_CHOICE_SIGNAL + 1];
} world;

static uint32_t random_below(uint32_t n)
{
        world.random ^= world.random << 13;
        world.random ^= world.random >> 7;
        world.random ^= world.random << 17;
        return (uint32_t) (world.random >> 33) % n;
}

/* --- what holds at every moment --- */

static void check_line(void *const line[2], const struct eddy_choice *choices, size_t n)
{
        for (struct ed_waiter *waiter = ed_waiters_first(line); waiter;
             waiter = ed_waiters_is_last(waiter, line) ? NULL : (void *) waiter->link.next)
                CHECK((void *) waiter < (void *) choices ||
                      (void *) waiter >= (void *) (choices + n));
}

/* No line knows of these choices any more. */
static void check_no_trace(const struct eddy_choice *choices, size_t n)
{
        for (int i = 0; i < QUEUES; i++) {
                check_line(world.queues[i].getters, choices, n);
                check_line(world.queues[i].putters, choices, n);
        }
        for (int i = 0; i < CHANNELS; i++) {
                check_line(world.channels[i]->lines[ED_CHANNEL_GET], choices, n);
                check_line(world.channels[i]->lines[ED_CHANNEL_PUT], choices, n);
        }
        for (int i = 0; i < EVENTS; i++)
                check_line(world.events[i].waiters, choices, n);
        for (int i = 0; i < FUTURES; i++)
                check_line(world.futures[i].waiters, choices, n);
        for (int i = 0; i < TASKS; i++)
                if (world.tasks[i])
                        check_line(world.tasks[i]->joiners, choices, n);
}

/* Nobody waits for what is there. */
static void check_nobody_forgotten(void)
{
        for (int i = 0; i < QUEUES; i++) {
                const eddy_queue *queue = &world.queues[i];

                if (ed_waiters_first(queue->getters))
                        CHECK_EQ(eddy_queue_count(queue), 0);
                if (ed_waiters_first(queue->putters))
                        CHECK_EQ(eddy_queue_count(queue), queue->items_max);
        }
        for (int i = 0; i < CHANNELS; i++) {
                eddy_channel *channel = world.channels[i];

                if (ed_waiters_first(channel->lines[ED_CHANNEL_GET]))
                        CHECK_EQ(eddy_channel_count(channel), 0);
                if (ed_waiters_first(channel->lines[ED_CHANNEL_PUT]))
                        CHECK_EQ(eddy_channel_count(channel), channel->items_max);
        }
        for (int i = 0; i < EVENTS; i++)
                CHECK(!eddy_event_is_set(&world.events[i]) ||
                      !ed_waiters_first(world.events[i].waiters));
}

/* --- selecting --- */

static eddy_queue *some_queue(void)
{
        return &world.queues[random_below(QUEUES)];
}

static eddy_channel *some_channel(void)
{
        return world.channels[random_below(CHANNELS)];
}

/* The signal of the task that runs, which no other one waits for. */
static eddy_signal *own_signal(void)
{
        for (int i = 0; i < TASKS; i++)
                if (world.tasks[i] == eddy_task_current())
                        return world.signals[i];
        test_fail(__FILE__, __LINE__, "a select outside of the tasks of the world");
}

static struct eddy_choice some_choice(int *item)
{
        eddy_task *task = world.tasks[random_below(TASKS)];

        *item = -1;
        switch (random_below(16)) {
        case 10:
        case 11:
                return eddy_choice_channel_get(some_channel(), item);
        case 12:
        case 13:
                *item = world.items++;
                return eddy_choice_channel_put(some_channel(), item);
        case 14:
                return eddy_choice_signal(own_signal());
        case 0:
        case 1:
        case 2:
                return eddy_choice_get(some_queue(), item);
        case 3:
        case 4:
                *item = world.items++;
                return eddy_choice_put(some_queue(), item);
        case 5:
                return eddy_choice_event(&world.events[random_below(EVENTS)]);
        case 6:
                return eddy_choice_after(EDDY_US(random_below(3000)));
        case 7:
                if (task && task != eddy_task_current())
                        return eddy_choice_task(task);
                return eddy_choice_never();
        case 8:
        case 15:
                return eddy_choice_future(&world.futures[random_below(FUTURES)]);
        default:
                return eddy_choice_at(eddy_now() + EDDY_US(random_below(3000)));
        }
}

static bool is_get(const struct eddy_choice *choice)
{
        return choice->kind == EDDY_CHOICE_GET || choice->kind == EDDY_CHOICE_CHANNEL_GET;
}

static bool is_put(const struct eddy_choice *choice)
{
        return choice->kind == EDDY_CHOICE_PUT || choice->kind == EDDY_CHOICE_CHANNEL_PUT;
}

static void take_signal(int signo)
{
        CHECK_EQ(signo, SIGUSR1);
        world.given++;
        CHECK(world.given <= world.raised * TASKS);
}

static void check_done(const struct eddy_choice *choice, int item)
{
        world.done++;
        world.waited_for[choice->kind]++;
        if (is_get(choice) && choice->result == 0)
                world.fates[item].taken++;
        else if (is_put(choice) && choice->result == 0)
                world.fates[item].put++;
        else if (is_get(choice) || is_put(choice))
                CHECK_EQ(choice->result, -EPIPE);
        else if (choice->kind == EDDY_CHOICE_SIGNAL)
                take_signal(choice->result);
        else if (choice->kind == EDDY_CHOICE_FUTURE)
                CHECK_EQ(choice->result, (eddy_future *) choice->object - world.futures);
        else if (choice->kind == EDDY_CHOICE_TASK)
                CHECK(choice->result == 7 || choice->result == -ECANCELED);
        else
                CHECK_EQ(choice->result, 0);
}

static void check_untouched(const struct eddy_choice *choice, int item)
{
        CHECK_EQ(choice->result, UNTOUCHED);
        if (is_get(choice))
                CHECK_EQ(item, -1);
}

/* A select meets tasks that wait for one channel only. */
static int use_one_channel(void)
{
        int item = -1, err;

        if (random_below(2)) {
                err = eddy_channel_get(some_channel(), &item);
                CHECK_EQ(item == -1, err < 0);
                if (err == 0)
                        world.fates[item].taken++;
        } else {
                item = world.items++;
                err = eddy_channel_put(some_channel(), &item);
                if (err == 0)
                        world.fates[item].put++;
        }
        CHECK(err == 0 || err == -EPIPE || err == -ECANCELED);
        check_nobody_forgotten();
        return err;
}

/* Who selects meets those who wait for one queue only. */
static int use_one_queue(void)
{
        int item = -1, err;

        if (random_below(2)) {
                err = eddy_queue_get(some_queue(), &item);
                CHECK_EQ(item == -1, err < 0);
                if (err == 0)
                        world.fates[item].taken++;
        } else {
                item = world.items++;
                err = eddy_queue_put(some_queue(), &item);
                if (err == 0)
                        world.fates[item].put++;
        }
        CHECK(err == 0 || err == -EPIPE || err == -ECANCELED);
        check_nobody_forgotten();
        return err;
}

static int select_once(void)
{
        struct eddy_choice choices[CHOICES_MAX];
        size_t n = 1 + random_below(CHOICES_MAX);
        int items[CHOICES_MAX], done;

        for (size_t i = 0; i < n; i++) {
                choices[i] = some_choice(&items[i]);
                choices[i].result = UNTOUCHED;
        }
        world.selects++;
        done = random_below(8) ? eddy_select(choices, n) : eddy_try_select(choices, n);
        CHECK(done == -ECANCELED || done == -EAGAIN || (done >= 0 && done < (int) n));
        for (int i = 0; i < (int) n; i++) {
                if (i == done)
                        check_done(&choices[i], items[i]);
                else
                        check_untouched(&choices[i], items[i]);
        }
        check_no_trace(choices, n);
        check_nobody_forgotten();
        return done;
}

/* Each round has a deadline of its own, so that nobody waits for ever. */
static int selects_often(void *arg)
{
        eddy_scope scope;
        int done, err = 0;

        (void) arg;
        for (int i = 0; i < ROUNDS && err != -ECANCELED; i++) {
                struct eddy_scope_opts opts = { .timeout_ns = EDDY_US(1 + random_below(4000)) };

                eddy_scope_begin(&scope, &opts);
                done = random_below(4)   ? select_once()
                       : random_below(2) ? use_one_queue()
                                         : use_one_channel();
                world.cancelled += done == -ECANCELED;
                err = eddy_scope_end(&scope);
                if (random_below(4) == 0 && err != -ECANCELED)
                        err = eddy_sleep(EDDY_US(random_below(500)));
        }
        return err == -ECANCELED ? err : 7;
}

/* Sets, clears, cancels and shuts, and moves items by calls that do not wait. */
static int disturbs(void *arg)
{
        int item, future;

        (void) arg;
        for (int i = 0; i < 30; i++) {
                int err = eddy_sleep(EDDY_US(random_below(800)));

                CHECK_EQ(err, 0);
                switch (random_below(10)) {
                case 8:
                        world.raised++;
                        CHECK_EQ(raise(SIGUSR1), 0);
                        break;
                case 9:
                        if (i > 25)
                                eddy_channel_shutdown(some_channel());
                        else if (eddy_channel_try_get(some_channel(), &item) == 0)
                                world.fates[item].taken++;
                        break;
                case 0:
                        CHECK_EQ(eddy_event_set(&world.events[random_below(EVENTS)]), 0);
                        break;
                case 1:
                        eddy_event_clear(&world.events[random_below(EVENTS)]);
                        break;
                case 2:
                        eddy_task_cancel(world.tasks[random_below(TASKS)]);
                        break;
                case 3:
                        if (i > 25)
                                CHECK_EQ(eddy_queue_shutdown(some_queue(), 0), 0);
                        break;
                case 4:
                        future = (int) random_below(FUTURES);
                        (void) eddy_future_set(&world.futures[future], future, NULL);
                        break;
                default:
                        if (eddy_queue_try_get(some_queue(), &item) == 0)
                                world.fates[item].taken++;
                }
                check_nobody_forgotten();
        }
        return 0;
}

/* --- runs --- */

static int by_number(const void *a, const void *b)
{
        return *(const int *) a - *(const int *) b;
}

static void world_init(uint64_t seed)
{
        struct world before = world;

        memset(&world, 0, sizeof(world));
        world.random = seed * 0x9e3779b97f4a7c15u + 1;
        world.selects = before.selects;
        world.done = before.done;
        world.cancelled = before.cancelled;
        memcpy(world.waited_for, before.waited_for, sizeof(world.waited_for));
        CHECK_EQ(eddy_queue_init(&world.queues[0], sizeof(int), 1), 0);
        CHECK_EQ(eddy_queue_init(&world.queues[1], sizeof(int), 3), 0);
        CHECK_EQ(eddy_queue_init_lifo(&world.queues[2], sizeof(int), 1), 0);
        CHECK_EQ(eddy_queue_init_priority(&world.queues[3], sizeof(int), 2, by_number), 0);
}

static void check_items_conserved(void)
{
        int item;

        for (int i = 0; i < CHANNELS; i++) {
                CHECK(!ed_waiters_first(world.channels[i]->lines[ED_CHANNEL_GET]));
                CHECK(!ed_waiters_first(world.channels[i]->lines[ED_CHANNEL_PUT]));
                while (eddy_channel_try_get(world.channels[i], &item) == 0)
                        world.fates[item].taken++;
                eddy_channel_release(world.channels[i]);
        }

        for (int i = 0; i < QUEUES; i++) {
                CHECK(!ed_waiters_first(world.queues[i].getters));
                CHECK(!ed_waiters_first(world.queues[i].putters));
                while (eddy_queue_try_get(&world.queues[i], &item) == 0)
                        world.fates[item].taken++;
                eddy_queue_fini(&world.queues[i]);
        }
        for (int i = 0; i < ITEMS_MAX; i++) {
                CHECK(world.fates[i].put <= 1);
                CHECK_EQ(world.fates[i].taken, world.fates[i].put);
        }
}

static int random_main(void *arg)
{
        int signo = SIGUSR1;
        eddy_scope scope;

        (void) arg;
        for (int i = 0; i < CHANNELS; i++)
                CHECK_EQ(eddy_channel_new(sizeof(int), 1 + (uint32_t) i, &world.channels[i]), 0);
        for (int i = 0; i < TASKS; i++)
                CHECK_EQ(eddy_signal_open(&signo, 1, &world.signals[i]), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                CHECK_EQ(eddy_scope_start_task(&scope, selects_often, NULL, NULL, &world.tasks[i]),
                         0);
        CHECK_EQ(eddy_scope_start(&scope, disturbs, NULL), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < TASKS; i++) {
                CHECK(!world.tasks[i]->joiners[0]);
                eddy_task_release(world.tasks[i]);
                eddy_signal_close(world.signals[i]);
        }
        check_items_conserved();
        return 0;
}

/*
 * A97, A98, A99, A100: under any schedule items are conserved, nobody waits
 * for what is there, and one who is cancelled leaves nothing behind.
 */
TEST(each_select_does_one_choice_or_none_under_random_schedules)
{
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                world_init(seed);
                CHECK_EQ(sim_run_with(random_main, NULL, seed, (struct eddy_run_opts){ 0 }), 0);
        }
        printf("# %d seeds: %llu selects, %llu did a choice, %llu were cancelled\n", SEEDS,
               (unsigned long long) world.selects, (unsigned long long) world.done,
               (unsigned long long) world.cancelled);
        /* Each kind was chosen often, and so was none. */
        for (int kind = EDDY_CHOICE_GET; kind <= EDDY_CHOICE_SIGNAL; kind++)
                if (kind != EDDY_CHOICE_NEVER && world.waited_for[kind] <= SEEDS / 2)
                        test_fail(__FILE__, __LINE__, "kind %d was done %llu times", kind,
                                  (unsigned long long) world.waited_for[kind]);
        CHECK(world.cancelled > SEEDS);
}
