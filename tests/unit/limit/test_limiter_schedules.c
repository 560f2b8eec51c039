/*
 * test_limiter_schedules.c - random limits, tasks, amounts, corrections, pauses and cancels: every
 * window of the log of grants is checked, and nothing is lost.
 *
 * In `make torture` a million schedules; a sample with QUICK=1 and in `make check`.
 */
#include "passed.h"

enum {
        TASKS_MAX = 8,
        ROUNDS_MAX = 4,
        LIMITS_MAX = 3,
        CHARGES_MAX = 256,
        PAUSES_MAX = 8,
        SAMPLE = 300,
        PART = 50000
};

/* Something that counts: a grant, or what was used beyond it. */
struct charge {
        int64_t at_ns;
        bool is_grant;
        uint64_t amounts[2];
};

struct pause {
        int64_t from_ns, until_ns;
};

struct place {
        uint64_t id;
        int64_t not_after_ns; /* one that came later was granted then */
};

static struct world {
        uint64_t random;
        eddy_limiter *limiter;
        struct eddy_limiter_limit limits[LIMITS_MAX];
        struct eddy_limiter_opts opts;
        struct charge charges[CHARGES_MAX];
        int charges_count;
        struct pause pauses[PAUSES_MAX];
        int pauses_count;
        struct place line[TASKS_MAX]; /* who waits, in order */
        int line_count;
        uint64_t calls, cancelled, granted;
        eddy_task *tasks[TASKS_MAX];
        int tasks_count;
} world;

static uint64_t below(uint64_t n)
{
        world.random ^= world.random << 13;
        world.random ^= world.random >> 7;
        world.random ^= world.random << 17;
        return (world.random >> 11) % n;
}

static int pause_at_random(void)
{
        uint64_t which = below(4);

        return which == 0 ? 0 : eddy_sleep(which == 1 ? 0 : (int64_t) below(20) * MS);
}

/* --- the log --- */

static void charge(int64_t at_ns, bool is_grant, uint64_t requests, uint64_t tokens)
{
        CHECK(world.charges_count < CHARGES_MAX);
        world.charges[world.charges_count++] =
                (struct charge){ at_ns, is_grant, { requests, tokens } };
}

/* What counts in a window, both its ends included.  A debt at its end may have come after the grant. */
static uint64_t sum_in(enum eddy_limiter_unit unit, int64_t from_ns, int64_t to_ns)
{
        uint64_t sum = 0;

        for (int i = 0; i < world.charges_count; i++) {
                const struct charge *charge = &world.charges[i];

                if (charge->at_ns >= from_ns && charge->at_ns <= to_ns &&
                    (charge->is_grant || charge->at_ns < to_ns))
                        sum += charge->amounts[unit];
        }
        return sum;
}

/* The sum of grants alone: debts do not use a share. */
static uint64_t grants_in(enum eddy_limiter_unit unit, int64_t from_ns, int64_t to_ns)
{
        uint64_t sum = 0;

        for (int i = 0; i < world.charges_count; i++)
                if (world.charges[i].is_grant && world.charges[i].at_ns >= from_ns &&
                    world.charges[i].at_ns <= to_ns)
                        sum += world.charges[i].amounts[unit];
        return sum;
}

static void check_limit(const struct eddy_limiter_limit *limit, const struct charge *grant)
{
        double share =
                (double) limit->amount * (double) world.opts.burst_ns / (double) limit->window_ns;
        uint64_t amount = grant->amounts[limit->unit], most = (uint64_t) share;

        if (amount == 0)
                return;
        CHECK(sum_in(limit->unit, grant->at_ns - limit->window_ns, grant->at_ns) <= limit->amount);
        if (limit->unit == EDDY_LIMITER_TOKENS || world.opts.burst_ns < 0 ||
            world.opts.burst_ns >= limit->window_ns)
                return;
        if ((double) most < share)
                most++; /* rounded up */
        if (most < amount)
                most = amount; /* alone */
        CHECK(grants_in(limit->unit, grant->at_ns - world.opts.burst_ns + 1, grant->at_ns) <= most);
}

/* All windows that end with a grant: other windows hold no more. */
static void check_windows(void)
{
        for (int i = 0; i < world.charges_count; i++) {
                const struct charge *grant = &world.charges[i];

                if (!grant->is_grant)
                        continue;
                for (size_t n = 0; n < world.opts.limits_count; n++)
                        check_limit(&world.limits[n], grant);
                for (int n = 0; n < world.pauses_count; n++)
                        CHECK(grant->at_ns <= world.pauses[n].from_ns ||
                              grant->at_ns >= world.pauses[n].until_ns);
        }
}

/* --- the tasks --- */

/* First come, first served: 'at_ns' is when it was granted, or -1. */
static void leave(uint64_t id, int64_t at_ns)
{
        int at = 0;

        for (; world.line[at].id != id; at++)
                if (at_ns >= 0 && at_ns < world.line[at].not_after_ns)
                        world.line[at].not_after_ns = at_ns;
        CHECK(at_ns <= world.line[at].not_after_ns);
        world.line_count--;
        memmove(&world.line[at], &world.line[at + 1],
                (size_t) (world.line_count - at) * sizeof(world.line[0]));
}

static void correct(struct eddy_reservation *reservation, struct charge *own)
{
        uint64_t requests = reservation->requests, tokens = reservation->tokens;
        uint64_t used;

        switch (below(4)) {
        case 0:
                CHECK_EQ(eddy_limiter_release(world.limiter, reservation), 0);
                own->amounts[0] = own->amounts[1] = 0;
                break;
        case 1:
                used = below(tokens + 1);
                CHECK_EQ(eddy_limiter_reconcile(world.limiter, reservation, requests, used), 0);
                own->amounts[1] = used;
                break;
        case 2:
                used = tokens + below(4);
                if (used > tokens)
                        charge(eddy_now(), false, 0, used - tokens);
                CHECK_EQ(eddy_limiter_reconcile(world.limiter, reservation, requests, used), 0);
                break;
        default:
                break;
        }
}

static int reserve_once(uint64_t id)
{
        struct eddy_reservation reservation = { 0 };
        uint64_t requests = below(3), tokens = below(6);
        struct charge *own;
        int err;

        world.line[world.line_count++] = (struct place){ id, INT64_MAX };
        world.calls++;
        err = eddy_limiter_reserve(world.limiter, requests, tokens, &reservation);
        leave(id, err == 0 ? reservation.at_ns : -1);
        if (err < 0) {
                CHECK_EQ(reservation.requests + reservation.tokens, 0);
                CHECK(err == -ECANCELED || err == EDDY_E_LIMITER_AMOUNT);
                world.cancelled += err == -ECANCELED;
                return err == -ECANCELED ? err : 0;
        }
        world.granted++;
        own = &world.charges[world.charges_count];
        charge(reservation.at_ns, true, requests, tokens);
        err = pause_at_random();
        correct(&reservation, own);
        return err;
}

static int reserves(void *arg)
{
        uint64_t id = (uint64_t) (uintptr_t) arg;
        int err = pause_at_random();

        for (uint64_t i = 1 + below(ROUNDS_MAX); i > 0 && err >= 0; i--)
                err = reserve_once(id);
        return err;
}

static int disturbs(void *arg)
{
        (void) arg;
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(pause_at_random(), 0);
                if (below(3) == 0)
                        eddy_task_cancel(world.tasks[below((uint64_t) world.tasks_count)]);
                if (below(8) == 0) {
                        int64_t until_ns = eddy_now() + (int64_t) below(30) * MS;

                        CHECK_EQ(eddy_limiter_pause(world.limiter, until_ns), 0);
                        world.pauses[world.pauses_count++] = (struct pause){ eddy_now(), until_ns };
                }
        }
        return 0;
}

static void choose_limits(void)
{
        static const int64_t bursts_ns[] = { -1, MS, 10 * MS, 0 };

        for (size_t i = 0; i < LIMITS_MAX; i++)
                world.limits[i] = (struct eddy_limiter_limit){ below(2) ? EDDY_LIMITER_REQUESTS
                                                                        : EDDY_LIMITER_TOKENS,
                                                               2 + below(12),
                                                               (int64_t) (1 + below(60)) * MS };
        world.opts = (struct eddy_limiter_opts){ .limits = world.limits,
                                                 .limits_count = 1 + below(LIMITS_MAX),
                                                 .burst_ns = bursts_ns[below(4)] };
        CHECK_EQ(eddy_limiter_new(&world.opts, &world.limiter), 0);
        /* Zero means a second, which is longer than each window. */
        if (world.opts.burst_ns == 0)
                world.opts.burst_ns = EDDY_SEC(1);
}

/* Nothing that was cancelled or given back is missing. */
static void check_all_is_free(void)
{
        struct eddy_limiter_stats stats;
        uint64_t most[2] = { 100, 100 };

        eddy_limiter_stats(world.limiter, &stats);
        CHECK_EQ(stats.waiting, 0);
        CHECK_EQ(stats.next_ns, 0);
        CHECK_EQ(stats.granted, world.granted);
        CHECK_EQ(world.line_count, 0);
        CHECK_EQ(timers_armed(), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
        for (size_t i = 0; i < world.opts.limits_count; i++)
                if (world.limits[i].amount < most[world.limits[i].unit])
                        most[world.limits[i].unit] = world.limits[i].amount;
        CHECK_EQ(eddy_limiter_try_reserve(world.limiter, most[0], most[1], NULL), 0);
}

static int schedule(void *arg)
{
        eddy_scope scope;

        memset(&world, 0, sizeof(world));
        world.random = *(const uint64_t *) arg * 0x9e3779b97f4a7c15U + 1;
        choose_limits();
        world.tasks_count = 2 + (int) below(TASKS_MAX - 1);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < world.tasks_count; i++)
                CHECK_EQ(eddy_scope_start_task(&scope, reserves, (void *) (uintptr_t) i, NULL,
                                               &world.tasks[i]),
                         0);
        eddy_scope_start(&scope, disturbs, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < world.tasks_count; i++)
                eddy_task_release(world.tasks[i]);
        check_windows();
        check_all_is_free();
        eddy_limiter_close(world.limiter);
        return 0;
}

/* The schedules of the seeds from 'part' * PART on. */
static void run_part(uint64_t part)
{
        bool full = test_is_full();
        uint64_t n = full ? PART : SAMPLE, calls = 0, cancelled = 0, granted = 0;

        for (uint64_t seed = part * PART + 1; seed <= part * PART + n; seed++) {
                CHECK_EQ(sim_run_with(schedule, &seed, seed, (struct eddy_run_opts){ 0 }), 0);
                calls += world.calls;
                cancelled += world.cancelled;
                granted += world.granted;
        }
        printf("# %llu schedules: %llu calls, %llu granted, %llu cancelled\n",
               (unsigned long long) n, (unsigned long long) calls, (unsigned long long) granted,
               (unsigned long long) cancelled);
        CHECK(granted > n && cancelled > n / 20);
}

#define PART_TEST(part)                                                                            \
        TEST(every_window_holds_and_nothing_is_lost_in_random_schedules_##part)                    \
        {                                                                                          \
                run_part(part);                                                                    \
        }

PART_TEST(0)
PART_TEST(1)
PART_TEST(2)
PART_TEST(3)
PART_TEST(4)
PART_TEST(5)
PART_TEST(6)
PART_TEST(7)
PART_TEST(8)
PART_TEST(9)
PART_TEST(10)
PART_TEST(11)
PART_TEST(12)
PART_TEST(13)
PART_TEST(14)
PART_TEST(15)
PART_TEST(16)
PART_TEST(17)
PART_TEST(18)
PART_TEST(19)
