/*
 * every_call.c - see every_call.h.
 */
#include "every_call.h"

#include <sys/mman.h>

#include "co/co.h"
#include "scope/task.h"

enum {
        SCHEDULES_FULL = 1000, /* that differ from each other */
        SCHEDULES = 100,
        SCHEDULES_FEW = 50, /* on the real clock, and where all is many times slower */
        SEEDS_MAX = 10000,
        SEEN_SLOTS = 4096,
        TIMES_MIN_FULL = 100,
        TIMES_MIN = 10,
        TIMES_FEW = 3,
        POINTS_MAX = 4000,
        VICTIMS_MAX = 16,
};

const struct every_setup on_sim;
const struct every_setup on_late_net = { .late = true, .chop = 2, .buffer_bytes = 64 };
/* What a refusal takes fits: whoever gets it may be writing still. */
const struct every_setup on_web = { .late = true, .chop = 8, .buffer_bytes = 256 };
/* Whole: each byte of a handshake would be a point. */
const struct every_setup on_tls = {
        .late = true, .chop = 1000000, .buffer_bytes = 4096, .few = true
};
const struct every_setup on_epoll = { .on_epoll = true };

/* How the target is cancelled, by the seed. */
enum how {
        BY_TASK,
        BY_SCOPE,
        BY_DEADLINE, /* that has come */
        WHEN_DUE,    /* by one at the time when others are served */
        ALL_AT_ONCE, /* all victims, by their tasks */
        HOWS,
};

/* What the world does, it does at multiples of this. */
#define TICK_NS EDDY_MS(1)

struct victim {
        eddy_task *task;
        uint64_t number;   /* the task's own: its address is used again */
        eddy_scope *scope; /* around the call; NULL: not in it */
        bool cancelled, stopped;
        bool may_not_suspend;
};

/* Of the run under way. */
static struct {
        uint64_t chance;
        uint64_t points;    /* of the target's call */
        uint64_t cancel_at; /* the point to cancel it at, or 0 */
        enum how how;
        bool cancelled; /* it was done */
        bool others;    /* the world itself cancels too */
        int target, count;
        struct victim victims[VICTIMS_MAX];
} run;

/* Of all cases of the program, each in a process of its own. */
static struct {
        uint64_t calls, points, tried, runs;
} * totals;

__attribute__((constructor)) static void share_totals(void)
{
        totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
        CHECK(totals != MAP_FAILED);
}

/* --- for worlds --- */

uint64_t world_chance(uint64_t n)
{
        run.chance = run.chance * 6364136223846793005ULL + 1442695040888963407ULL;
        return (run.chance >> 33) % n;
}

int64_t world_delay_ns(void)
{
        int64_t ticks = (int64_t) world_chance(4);

        return ticks ? ticks * TICK_NS - eddy_now() % TICK_NS : 0;
}

void world_pause(void)
{
        (void) eddy_sleep(world_delay_ns());
}

void world_begin(int victims)
{
        CHECK(victims <= VICTIMS_MAX);
        run.target = (int) world_chance((uint64_t) victims);
}

void world_start(eddy_scope *scope, eddy_task_fn *fn, void *arg, int n)
{
        for (int i = 0; i < n; i++)
                CHECK_EQ(eddy_scope_start(scope, fn, arg), 0);
}

void world_run(eddy_task_fn *fn, void *arg, int n)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        world_start(&scope, fn, arg, n);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

void world_cancels_too(void)
{
        run.others = true;
}

bool world_is_cancelled(void)
{
        return run.cancelled;
}

int victims_cancelled(void)
{
        int n = 0;

        for (int i = 0; i < run.count; i++)
                n += run.victims[i].stopped;
        return n;
}

/* --- cancelling --- */

static void cancel(struct victim *victim)
{
        int64_t now_ns = eddy_now();

        victim->cancelled = true;
        switch (run.how) {
        case BY_SCOPE:
                eddy_scope_cancel(victim->scope);
                break;
        case BY_DEADLINE:
                CHECK(eddy_scope_set_deadline(victim->scope, now_ns) == 0 || run.others);
                break;
        case WHEN_DUE:
                now_ns += TICK_NS - now_ns % TICK_NS;
                CHECK(eddy_scope_set_deadline(victim->scope, now_ns) == 0 || run.others);
                break;
        default:
                eddy_task_cancel(victim->task);
        }
}

/* A scheduling point, or the begin of the target's call. */
static bool at_point(void)
{
        if (run.count <= run.target || !run.victims[run.target].scope)
                return false;
        if (++run.points != run.cancel_at)
                return false;
        run.cancelled = true;
        for (int i = 0; i < run.count; i++)
                if (i == run.target || (run.how == ALL_AT_ONCE && run.victims[i].scope))
                        cancel(&run.victims[i]);
        return true;
}

static bool by_deadline(void)
{
        return run.how == BY_DEADLINE || run.how == WHEN_DUE;
}

/* What the scope around the call must say. */
static void check_end(const struct victim *victim, int result)
{
        int stopped = run.how == BY_SCOPE ? 0 : by_deadline() ? -ETIMEDOUT : -ECANCELED;

        if (run.others)
                CHECK(result == 0 || result == stopped || result == -ECANCELED);
        else if (victim->stopped)
                CHECK_EQ(result, stopped);
        else
                CHECK(result == 0 || (victim->cancelled && result == stopped));
}

/* Whether it was cancelled in an earlier call, for good. */
static bool is_cancelled(uint64_t number)
{
        for (int i = 0; i < run.count; i++)
                if (run.victims[i].number == number && run.victims[i].cancelled)
                        return run.how == BY_TASK || run.how == ALL_AT_ONCE;
        return false;
}

void victim_may_not_suspend(void)
{
        for (int i = 0; i < run.count; i++)
                if (run.victims[i].number == ed_task_running()->number)
                        run.victims[i].may_not_suspend = true;
}

/* Every call that suspends checks that the stack pointer is within the task's stack. */
static int call_checked(const struct victim *victim, eddy_task_fn *fn, void *arg)
{
        struct ed_task *task = ed_task_running();
        const char *low = task->stack_low;
        int result;

        task->stack_low = task->stack->top;
        result = fn(arg);
        CHECK(victim->may_not_suspend || task->stack_low < task->stack->top);
        task->stack_low = low;
        return result;
}

int victim_call(eddy_task_fn *fn, void *arg)
{
        struct victim *victim = &run.victims[run.count];
        uint64_t number = ed_task_running()->number;
        eddy_scope scope;
        bool stopped;
        int result;

        CHECK(run.count < VICTIMS_MAX);
        *victim = (struct victim){ .task = eddy_task_current(),
                                   .number = number,
                                   .scope = &scope,
                                   .cancelled = is_cancelled(number) };
        run.count++;
        eddy_scope_begin(&scope, NULL);
        if (victim == &run.victims[run.target])
                (void) at_point();
        result = call_checked(victim, fn, arg);
        stopped = result == -ECANCELED;
        if (stopped)
                CHECK(victim->cancelled || run.others);
        /* It shows at the next call, and from then on; a deadline may yet have to pass. */
        if (victim->cancelled && !by_deadline())
                CHECK_EQ(eddy_sleep(0), -ECANCELED);
        victim->scope = NULL;
        victim->stopped = stopped;
        check_end(victim, eddy_scope_end(&scope));
        return result;
}

/* --- the sweep --- */

static void run_world(eddy_task_fn *world, const struct every_setup *how, uint64_t seed,
                      uint64_t cancel_at, struct outcome *ret_outcome)
{
        struct setup setup = { .sim = { .seed = seed },
                               .on_epoll = how->on_epoll,
                               .at_point = at_point };

        if (how->late) {
                setup.sim.latency_ns = EDDY_US(100) * (int64_t) (seed / HOWS % 4);
                setup.sim.jitter_ns = EDDY_US(300) * (int64_t) (seed / HOWS % 3);
                setup.sim.chop = seed / HOWS % how->chop == 0;
                setup.sim.urgent = seed / HOWS % 7 == 0;
                setup.sim.buffer_bytes = seed / HOWS % 5 < 3 ? how->buffer_bytes : 0;
        }
        if (getenv("EDDY_TEST_VERBOSE"))
                fprintf(stderr, "# seed %llu, cancelled at point %llu\n", (unsigned long long) seed,
                        (unsigned long long) cancel_at);
        run.chance = seed * 0x9e3779b97f4a7c15ULL + 1;
        (void) world_chance(2);
        run.points = 0;
        run.cancel_at = cancel_at;
        run.how = (enum how)(seed % HOWS);
        run.cancelled = run.others = false;
        run.target = run.count = 0;
        scenario_run(world, &setup, ret_outcome);
        CHECK_EQ(ret_outcome->result, 0);
        /* On the real clock a point may not come again. */
        CHECK(run.cancelled == (cancel_at > 0) || how->on_epoll);
        for (int i = 0; i < run.count; i++)
                CHECK(!run.victims[i].scope);
        /* Nobody waited in vain until something else ended it, a name server's 20 s at the least. */
        CHECK(ret_outcome->end.lasted_ns < (how->on_epoll ? EDDY_SEC(15) : EDDY_SEC(4)));
}

/* Under Valgrind, ThreadSanitizer or an emulator: the schedules are the same, and fewer. */
static bool is_slow(void)
{
#if defined(ED_TSAN) || defined(__aarch64__)
        return true;
#else
        return getenv("EDDY_TEST_VALGRIND") != NULL;
#endif
}

/* What a sweep came to. */
struct sweep {
        uint64_t times_min;        /* that each point is to be cancelled at */
        uint64_t seen[SEEN_SLOTS]; /* orders; 0: a free slot */
        uint64_t schedules, distinct, seeds;
        uint64_t times[POINTS_MAX + 1]; /* that each point was cancelled at */
        uint64_t most, runs, cancelled;
};

static bool is_new(struct sweep *sweep, uint64_t order)
{
        uint64_t slot = order % SEEN_SLOTS;

        for (; sweep->seen[slot]; slot = (slot + 1) % SEEN_SLOTS)
                if (sweep->seen[slot] == (order | 1))
                        return false;
        sweep->seen[slot] = order | 1;
        return true;
}

/*
 * A schedule: cancelled at a point of its own choice, and at every other one
 * that was not tried often enough so far, or, in full, at every one.
 */
static void sweep_schedule(struct sweep *sweep, eddy_task_fn *world, const struct every_setup *how,
                           uint64_t seed)
{
        uint64_t points = run.points;
        struct outcome outcome;

        CHECK(points <= POINTS_MAX);
        if (points > sweep->most)
                sweep->most = points;
        for (uint64_t k = 1; k <= points; k++) {
                if (k != 1 + seed * 7919 % points && sweep->times[k] >= sweep->times_min &&
                    !sweep_is_full())
                        continue;
                run_world(world, how, seed, k, &outcome);
                sweep->times[k] += run.cancelled;
                sweep->runs++;
                sweep->cancelled += run.victims[run.target].stopped;
        }
}

/* Points 1 .. K that were all cancelled at; on the real clock a last one may not come again. */
static uint64_t points_tried(const struct sweep *sweep)
{
        uint64_t k = 0;

        while (k < sweep->most && sweep->times[k + 1] > 0)
                k++;
        return k;
}

static void sweep_report(const char *name, const struct sweep *sweep, uint64_t tried)
{
        printf("# %s: %llu of %llu points, %llu runs, %llu cancelled, distinct schedules %llu\n",
               name, (unsigned long long) tried, (unsigned long long) sweep->most,
               (unsigned long long) sweep->runs, (unsigned long long) sweep->cancelled,
               (unsigned long long) sweep->distinct);
        totals->calls++;
        totals->points += sweep->most;
        totals->tried += tried;
        totals->runs += sweep->runs;
}

void every_point(const char *name, eddy_task_fn *world, const struct every_setup *how)
{
        static struct sweep sweep;
        bool few = how->few || how->on_epoll || is_slow(), full = sweep_is_full();
        uint64_t wanted = few ? SCHEDULES_FEW : full ? SCHEDULES_FULL : SCHEDULES;
        struct outcome outcome;

        sweep.times_min = few ? TIMES_FEW : full ? TIMES_MIN_FULL : TIMES_MIN;
        while (sweep.schedules < wanted) {
                bool new_order;

                CHECK(++sweep.seeds <= SEEDS_MAX);
                run_world(world, how, sweep.seeds, 0, &outcome);
                CHECK(run.others || victims_cancelled() == 0);
                /* The target may be a call that was not made. */
                if (run.points == 0)
                        continue;
                new_order = is_new(&sweep, outcome.order);
                if (!new_order && !how->on_epoll && !how->few)
                        continue;
                sweep.distinct += new_order;
                sweep.schedules++;
                sweep_schedule(&sweep, world, how, sweep.seeds);
        }
        if (how->on_epoll)
                sweep.most = points_tried(&sweep);
        sweep_report(name, &sweep, points_tried(&sweep));
        CHECK_EQ(points_tried(&sweep), sweep.most);
        CHECK(sweep.most > 0);
}

/* The last case: that of the worlds are linked before it. */
TEST(every_point_of_all_of_them)
{
        printf("# R17: %llu of %llu points of %llu worlds, %llu runs\n",
               (unsigned long long) totals->tried, (unsigned long long) totals->points,
               (unsigned long long) totals->calls, (unsigned long long) totals->runs);
        CHECK_EQ(totals->tried, totals->points);
}
