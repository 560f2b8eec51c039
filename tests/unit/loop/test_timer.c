/*
 * test_timer.c - timers: never early, never missed, in the order of their
 * deadlines and, where those are equal, of arming; whatever the clock's steps.
 */
#include "loop/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/alloc.h"
#include "test.h"

#define TICK ((int64_t) 1 << 20)

struct alarm {
        struct ed_timer timer;
        int id;
};

enum { LOG_MAX = 4096 };

static struct ed_timers timers;
static int64_t now;
static int fired[LOG_MAX];
static int fired_count;

static void note(struct ed_timer *timer)
{
        CHECK(timer->deadline_ns <= now);
        CHECK(!timer->armed);
        CHECK(fired_count < LOG_MAX);
        fired[fired_count++] = ed_container_of(timer, struct alarm, timer)->id;
}

static void start_at(int64_t at)
{
        now = at;
        fired_count = 0;
        ed_timers_init(&timers, now);
}

/* Of what its memory held before it is to keep nothing: a scope's is what was on the stack. */
static void alarm_init(struct alarm *alarm, int id)
{
        memset(alarm, 0xa5, sizeof(*alarm));
        alarm->id = id;
        ed_timer_init(&alarm->timer, note);
}

static void arm(struct alarm *alarm, int id, int64_t deadline_ns)
{
        alarm_init(alarm, id);
        ed_timer_arm(&timers, &alarm->timer, deadline_ns);
}

static void advance(int64_t to)
{
        now = to;
        ed_timers_fire(&timers, now);
}

/* Go from one ed_timers_next() to the next until all have fired; returns the number of steps. */
static int drain(void)
{
        int steps = 0;

        while (timers.count > 0) {
                int64_t next = ed_timers_next(&timers);

                CHECK(next >= 0);
                CHECK(++steps < 100000);
                advance(next > now ? next : now);
        }
        CHECK_EQ(ed_timers_next(&timers), -1);
        return steps;
}

TEST(deadlines_a_nanosecond_apart_fire_in_their_order)
{
        static struct alarm alarms[64];

        start_at(5 * TICK);
        for (int i = 0; i < 64; i++)
                arm(&alarms[i], i, 7 * TICK + (i * 37) % 64);
        advance(7 * TICK + 63);
        CHECK_EQ(fired_count, 64);
        for (int i = 1; i < 64; i++)
                CHECK((fired[i - 1] * 37) % 64 < (fired[i] * 37) % 64);
}

/* A7: where deadlines are equal the order is that of arming, which asyncio leaves open. */
TEST(equal_deadlines_fire_in_the_order_armed)
{
        static struct alarm alarms[500];

        start_at(0);
        for (int i = 0; i < 500; i++) {
                /* Half of them long before, from where the deadline is far; half from near. */
                if (i == 250)
                        advance(1000 * TICK - 5);
                arm(&alarms[i], i, 1000 * TICK);
        }
        advance(1000 * TICK - 1);
        CHECK_EQ(fired_count, 0);
        advance(1000 * TICK);
        CHECK_EQ(fired_count, 500);
        for (int i = 0; i < 500; i++)
                CHECK_EQ(fired[i], i);
}

TEST(a_timer_fires_at_its_nanosecond_and_not_one_before)
{
        static const int64_t distances[] = { 1,
                                             TICK - 1,
                                             TICK,
                                             TICK + 1,
                                             64 * TICK,
                                             4096 * TICK - 1,
                                             ((int64_t) 1 << 40) + 12345,
                                             (int64_t) 1 << 60 };

        for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
                struct alarm alarm;

                start_at(123456789);
                arm(&alarm, 1, now + distances[i]);
                advance(now + distances[i] - 1);
                CHECK_EQ(fired_count, 0);
                CHECK(alarm.timer.armed);
                advance(now + 1);
                CHECK_EQ(fired_count, 1);
        }
}

TEST(a_cancelled_timer_never_fires)
{
        struct alarm alarms[8];
        int64_t far = 1;

        start_at(0);
        for (int i = 0; i < 8; i++, far *= 64)
                arm(&alarms[i], i, far * TICK);
        for (int i = 0; i < 8; i += 2)
                ed_timer_cancel(&timers, &alarms[i].timer);
        CHECK_EQ(timers.count, 4);
        drain();
        CHECK_EQ(fired_count, 4);
        for (int i = 0; i < 4; i++)
                CHECK_EQ(fired[i], 2 * i + 1);
}

/* A9: cancelling twice, or what was never armed, or what has fired, does nothing. */
TEST(cancelling_twice_is_harmless)
{
        struct alarm alarm, other;

        start_at(0);
        alarm_init(&alarm, 0);
        ed_timer_cancel(&timers, &alarm.timer);
        CHECK_EQ(timers.count, 0);
        arm(&alarm, 0, 5);
        arm(&other, 1, 5);
        ed_timer_cancel(&timers, &alarm.timer);
        ed_timer_cancel(&timers, &alarm.timer);
        CHECK_EQ(timers.count, 1);
        advance(5);
        CHECK_EQ(fired_count, 1);
        ed_timer_cancel(&timers, &other.timer);
        CHECK_EQ(timers.count, 0);
}

TEST(arming_again_moves_a_timer_and_its_place_among_equals)
{
        struct alarm a, b;

        start_at(0);
        arm(&a, 1, 10);
        arm(&b, 2, 10);
        ed_timer_arm(&timers, &a.timer, 10);
        CHECK_EQ(timers.count, 2);
        ed_timer_arm(&timers, &b.timer, 5 * TICK);
        ed_timer_arm(&timers, &b.timer, 10);
        advance(10);
        CHECK_EQ(fired_count, 2);
        CHECK_EQ(fired[0], 1);
        CHECK_EQ(fired[1], 2);
        CHECK_EQ(timers.count, 0);
}

/* A6: deadlines that are over already are legal and fire in their order, at the next turn. */
TEST(past_and_negative_deadlines_fire_at_once_in_their_order)
{
        struct alarm alarms[4];

        start_at(1000 * TICK);
        arm(&alarms[0], 0, now);
        arm(&alarms[1], 1, -5);
        arm(&alarms[2], 2, INT64_MIN);
        arm(&alarms[3], 3, 0);
        CHECK(ed_timers_next(&timers) >= 0 && ed_timers_next(&timers) <= now);
        advance(now);
        CHECK_EQ(fired_count, 4);
        CHECK_EQ(fired[0], 2);
        CHECK_EQ(fired[1], 1);
        CHECK_EQ(fired[2], 3);
        CHECK_EQ(fired[3], 0);
}

TEST(far_deadlines_come_in_few_steps)
{
        static const int64_t hour = 3600 * (int64_t) 1000000000;
        const int64_t far[] = { hour,          24 * hour, 24 * 365 * hour, 24 * 365 * 100 * hour,
                                INT64_MAX - 1, INT64_MAX };
        struct alarm alarms[6];
        int steps;

        start_at(987654321);
        for (int i = 5; i >= 0; i--)
                arm(&alarms[i], i, far[i]);
        steps = drain();
        CHECK_EQ(fired_count, 6);
        for (int i = 0; i < 6; i++)
                CHECK_EQ(fired[i], i);
        /* At most one for each level of each. */
        CHECK(steps <= 6 * (ED_TIMER_LEVELS + 1));
}

/* Far timers lie in slots, so that arming and cancelling one touches no other. */
TEST(only_near_deadlines_are_kept_in_order)
{
        static struct alarm alarms[64];
        int64_t at = 1000 * TICK;

        start_at(at - TICK);
        advance(at);
        for (int i = 0; i < 64; i++)
                arm(&alarms[i], i, at + (2 + 3 * i) * TICK);
        CHECK(!timers.heap);
        CHECK_EQ(timers.count, 64);
        for (int i = 1; i < 64; i++)
                ed_timer_cancel(&timers, &alarms[i].timer);
        CHECK_EQ(timers.count, 1);
        CHECK(drain() <= 2);
        CHECK_EQ(fired_count, 1);
}

/* A crowd in one tick, then timers that are armed when the horizon has passed the tick. */
static void crowd_fires_in_order(int n, int64_t (*offset)(int i))
{
        static struct alarm crowd[3000], late[3];
        const int64_t at = 1000 * TICK;
        struct alarm *all[3003];

        start_at(5 * TICK);
        for (int i = 0; i < n; i++)
                arm(&crowd[i], i, at + offset(i));
        advance(at + 100);
        for (int i = 0; i < 3; i++)
                arm(&late[i], n + i, at + 150 * (i + 1));
        for (int i = 0; i < n; i += 7)
                ed_timer_cancel(&timers, &crowd[i].timer);
        advance(at + 400);
        drain();
        CHECK(fired_count >= n - (n + 6) / 7 + 3);
        for (int i = 0; i < n + 3; i++)
                all[i] = i < n ? &crowd[i] : &late[i - n];
        for (int i = 1; i < fired_count; i++) {
                const struct ed_timer *a = &all[fired[i - 1]]->timer, *b = &all[fired[i]]->timer;

                CHECK(a->deadline_ns < b->deadline_ns ||
                      (a->deadline_ns == b->deadline_ns && fired[i - 1] < fired[i]));
        }
}

static int64_t offset_in_order(int i)
{
        return i / 4;
}

static int64_t offset_close(int i)
{
        return (i * 37) % 600;
}

static int64_t offset_far(int i)
{
        return (int64_t) i * 7919 * 131 % TICK;
}

TEST(a_crowd_in_one_tick_fires_in_order_however_it_came)
{
        static const int counts[] = { 2, 100, 511, 512, 3000 };

        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                crowd_fires_in_order(counts[i], offset_in_order);
                crowd_fires_in_order(counts[i], offset_close);
                crowd_fires_in_order(counts[i], offset_far);
        }
}

TEST(boundaries_of_every_level_are_crossed_from_both_sides)
{
        for (int level = 0; level < 7; level++) {
                int64_t span = TICK << (6 * level);

                for (int64_t before = -2; before <= 2; before++)
                        for (int64_t after = -2; after <= 2; after++) {
                                struct alarm alarms[3];

                                start_at(63 * span + before * TICK);
                                arm(&alarms[0], 0, 64 * span + after);
                                arm(&alarms[1], 1, 64 * span + after * TICK);
                                arm(&alarms[2], 2, 65 * span + after * TICK);
                                drain();
                                CHECK_EQ(fired_count, 3);
                                for (int i = 1; i < 3; i++)
                                        CHECK(alarms[fired[i - 1]].timer.deadline_ns <=
                                              alarms[fired[i]].timer.deadline_ns);
                        }
        }
}

/* --- firing functions that arm and cancel --- */

static struct alarm victim, newcomer;

static void cancel_victim(struct ed_timer *timer)
{
        note(timer);
        ed_timer_cancel(&timers, &victim.timer);
}

TEST(a_firing_timer_may_cancel_another_that_is_due)
{
        struct alarm killer, last;

        start_at(0);
        alarm_init(&killer, 1);
        killer.timer.fn = cancel_victim;
        ed_timer_arm(&timers, &killer.timer, 3);
        arm(&victim, 2, 3);
        arm(&last, 3, 3);
        advance(3);
        CHECK_EQ(fired_count, 2);
        CHECK_EQ(fired[0], 1);
        CHECK_EQ(fired[1], 3);
        CHECK_EQ(timers.count, 0);
}

static int64_t newcomer_ns;

static void arm_newcomer(struct ed_timer *timer)
{
        note(timer);
        ed_timer_arm(&timers, &newcomer.timer, newcomer_ns);
}

/* A2: what a callback schedules comes in the next turn, also when it is due already. */
TEST(a_timer_armed_while_firing_waits_for_the_next_turn)
{
        struct alarm first;

        start_at(0);
        alarm_init(&newcomer, 2);
        alarm_init(&first, 1);
        first.timer.fn = arm_newcomer;
        newcomer_ns = 3;
        ed_timer_arm(&timers, &first.timer, 3);
        advance(5);
        CHECK_EQ(fired_count, 1);
        CHECK(ed_timers_next(&timers) <= now);
        advance(5);
        CHECK_EQ(fired_count, 2);
}

static void arm_itself(struct ed_timer *timer)
{
        note(timer);
        ed_timer_arm(&timers, timer, newcomer_ns);
}

TEST(a_timer_that_arms_itself_for_the_past_keeps_no_other_from_firing)
{
        struct alarm greedy, other;

        start_at(10 * TICK);
        newcomer_ns = 5;
        alarm_init(&greedy, 1);
        greedy.timer.fn = arm_itself;
        ed_timer_arm(&timers, &greedy.timer, now);
        arm(&other, 2, now + 1);
        advance(now + 1);
        CHECK_EQ(fired_count, 2);
        CHECK_EQ(fired[0], 1);
        CHECK_EQ(fired[1], 2);
        CHECK(greedy.timer.armed);
        ed_timer_cancel(&timers, &greedy.timer);
        CHECK_EQ(timers.count, 0);
        CHECK_EQ(ed_timers_next(&timers), -1);
}

static void cancel_fresh(struct ed_timer *timer)
{
        note(timer);
        ed_timer_cancel(&timers, &newcomer.timer);
}

TEST(a_timer_armed_while_firing_may_be_cancelled_or_moved_while_firing)
{
        struct alarm first, second;

        start_at(10 * TICK);
        alarm_init(&newcomer, 9);
        newcomer_ns = 1;
        alarm_init(&first, 1);
        first.timer.fn = arm_newcomer;
        alarm_init(&second, 2);
        second.timer.fn = cancel_fresh;
        ed_timer_arm(&timers, &first.timer, now);
        ed_timer_arm(&timers, &second.timer, now);
        advance(now);
        CHECK_EQ(fired_count, 2);
        CHECK_EQ(timers.count, 0);

        second.timer.fn = arm_newcomer;
        ed_timer_arm(&timers, &first.timer, now);
        ed_timer_arm(&timers, &second.timer, now);
        advance(now);
        CHECK_EQ(timers.count, 1);
        advance(now);
        CHECK_EQ(fired_count, 5);
        CHECK_EQ(fired[4], 9);
}

/* --- against a sorted model --- */

enum { MANY = 1000000 };

struct modelled {
        struct ed_timer timer;
        int64_t deadline_ns;
        uint32_t order; /* of arming */
        bool cancelled, seen;
};

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random_next(void)
{
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        return random_state;
}

/* A number whose size is random too: near and far ones are equally likely. */
static int64_t random_distance(void)
{
        return (int64_t) (random_next() >> (4 + random_next() % 60));
}

static struct modelled *model_last;
static int64_t model_earliest; /* of what is armed, at the start of the turn */
static size_t model_fired;

static void model_fire(struct ed_timer *timer)
{
        struct modelled *m = ed_container_of(timer, struct modelled, timer);

        CHECK(!m->cancelled && !m->seen);
        CHECK(m->deadline_ns <= now);
        m->seen = true;
        model_fired++;
        if (model_last) {
                CHECK(model_last->deadline_ns <= m->deadline_ns);
                if (model_last->deadline_ns == m->deadline_ns)
                        CHECK(model_last->order < m->order);
        }
        model_last = m;
}

static int by_deadline(const void *a, const void *b)
{
        const struct modelled *x = *(struct modelled *const *) a;
        const struct modelled *y = *(struct modelled *const *) b;

        if (x->deadline_ns != y->deadline_ns)
                return x->deadline_ns < y->deadline_ns ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

TEST(a_million_timers_fire_like_a_sorted_list)
{
        struct modelled *all = calloc(MANY, sizeof(*all));
        struct modelled **sorted = calloc(MANY, sizeof(*sorted));
        size_t due = 0, live = 0, turns = 0;

        CHECK(all && sorted);
        start_at(random_distance());
        for (uint32_t i = 0; i < MANY; i++) {
                int64_t distance = random_distance();

                if (__builtin_add_overflow(now, distance, &all[i].deadline_ns))
                        all[i].deadline_ns = INT64_MAX;
                if (i % 8 == 0 && i > 0)
                        all[i].deadline_ns = all[i - 1].deadline_ns;
                all[i].order = i;
                ed_timer_init(&all[i].timer, model_fire);
                /* Some from elsewhere first: arming again moves. */
                if (i % 5 == 0)
                        ed_timer_arm(&timers, &all[i].timer, random_distance());
                ed_timer_arm(&timers, &all[i].timer, all[i].deadline_ns);
        }
        for (uint32_t i = 0; i < MANY; i++) {
                if (random_next() % 4 == 0) {
                        ed_timer_cancel(&timers, &all[i].timer);
                        all[i].cancelled = true;
                } else {
                        sorted[live++] = &all[i];
                }
        }
        CHECK_EQ(timers.count, live);
        qsort(sorted, live, sizeof(struct modelled *), by_deadline);
        while (due < live) {
                int64_t next = ed_timers_next(&timers), step = random_distance();

                /* The time returned is never later than the earliest deadline. */
                model_earliest = sorted[due]->deadline_ns;
                CHECK(next >= 0 && next <= model_earliest);
                turns++;
                if (turns % 3 == 0 && next > now)
                        now = next;
                else if (__builtin_add_overflow(now, step, &now))
                        now = INT64_MAX;
                /* Not past half of what is left at once, or a few steps would do it all. */
                if (live - due > 100 && now > sorted[due + (live - due) / 50]->deadline_ns)
                        now = sorted[due + (live - due) / 50]->deadline_ns;
                model_last = NULL;
                ed_timers_fire(&timers, now);
                while (due < live && sorted[due]->deadline_ns <= now)
                        CHECK(sorted[due++]->seen);
                CHECK_EQ(model_fired, due);
        }
        CHECK_EQ(timers.count, 0);
        CHECK(turns > 400);
        free(all);
        free(sorted);
}

TEST(arming_and_cancelling_between_random_steps_loses_none)
{
        enum { LIVE = 200, ROUNDS = 50000 };
        static struct modelled all[LIVE];
        uint32_t order = 0;

        start_at(0);
        for (int i = 0; i < LIVE; i++)
                ed_timer_init(&all[i].timer, model_fire);
        for (int round = 0; round < ROUNDS; round++) {
                struct modelled *m = &all[random_next() % LIVE];
                int64_t step = (int64_t) (random_next() % (random_next() % 2 ? 3000 : 3 * TICK));

                if (random_next() % 3) {
                        m->deadline_ns =
                                now + (int64_t) (random_next() >> (24 + random_next() % 40));
                        m->order = order++;
                        m->seen = false;
                        m->cancelled = false;
                        ed_timer_arm(&timers, &m->timer, m->deadline_ns);
                } else {
                        ed_timer_cancel(&timers, &m->timer);
                        m->cancelled = true;
                }
                /* Several may be armed, moved and cancelled between two looks. */
                if (random_next() % 4 == 0)
                        continue;
                now += step;
                model_last = NULL;
                ed_timers_fire(&timers, now);
                for (int i = 0; i < LIVE; i++)
                        if (all[i].timer.armed)
                                CHECK(all[i].deadline_ns > now);
        }
}

static void *count_calls(void *ctx, void *ptr, size_t bytes)
{
        ++*(long *) ctx;
        if (bytes > 0)
                return realloc(ptr, bytes);
        free(ptr);
        return NULL;
}

TEST(arming_firing_and_cancelling_a_million_timers_allocates_nothing)
{
        enum { AT_ONCE = 1000, ROUNDS = 1000 };
        static struct alarm all[AT_ONCE];
        long calls = 0, cancelled = 0, ended = 0;

        eddy_alloc_set(count_calls, &calls);
        start_at(0);
        for (int round = 0; round < ROUNDS; round++) {
                fired_count = 0;
                for (int i = 0; i < AT_ONCE; i++)
                        arm(&all[i], i, now + (int64_t) (random_next() % (uint64_t) (8 * TICK)));
                if (round % 2)
                        advance(now + TICK);
                for (int i = 0; i < AT_ONCE; i += 3) {
                        cancelled += all[i].timer.armed;
                        ed_timer_cancel(&timers, &all[i].timer);
                }
                advance(now + 8 * TICK);
                ended += fired_count;
        }
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(ended + cancelled, (long) AT_ONCE * ROUNDS);
        CHECK(cancelled > 0 && ended > cancelled);
        CHECK_EQ(timers.count, 0);
        CHECK_EQ(calls, 0);
        printf("# %ld timers fired, %ld cancelled, %ld allocations\n", ended, cancelled, calls);
}
