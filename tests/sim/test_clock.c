/*
 * test_clock.c - no timer is early or late: a million of them on the virtual
 * clock; and on the real one, whatever the wall clock does, also where the
 * monotonic clock begins elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "eddy/eddy.h"
#include "loop/loop.h"
#include "scope/run.h"
#include "sim/sim.h"
#include "test.h"

#define TICK_NS ((int64_t) 1 << 20)
#define YEAR_S  ((int64_t) 365 * 24 * 3600)

static uint64_t state;

static uint64_t chance(uint64_t n)
{
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % n;
}

/* Any order of magnitude, from a nanosecond to a day. */
static int64_t some_time(void)
{
        return 1 + (int64_t) (((chance(UINT32_MAX) << 31) | chance(UINT32_MAX)) %
                              ((uint64_t) 1 << (1 + chance(46))));
}

/* --- a million timers --- */

enum { TIMERS = 5000, ARMED_MAX = 1000000 };

struct alarm {
        struct ed_timer timer;
        int64_t deadline_ns;
};

static struct alarms {
        struct alarm all[TIMERS];
        eddy_event done;
        int64_t armed, fired, moved, cancelled, latest_ns;
        int out; /* armed now */
} alarms;

static void alarm_rings(struct ed_timer *timer);

static void alarm_arm(struct alarm *alarm)
{
        struct ed_loop *loop = ed_loop_current;

        alarms.armed++;
        alarms.out++;
        alarm->deadline_ns = ed_loop_now(loop) + some_time();
        ed_timer_arm(&loop->timers, &alarm->timer, alarm->deadline_ns);
}

/* One that is armed is cancelled or moved; any other is armed. */
static void disturb(struct alarm *alarm)
{
        bool again = !alarm->timer.armed || chance(2);

        if (alarm->timer.armed) {
                alarms.out--;
                alarms.cancelled += !again;
                alarms.moved += again;
                if (!again || chance(2))
                        ed_timer_cancel(&ed_loop_current->timers, &alarm->timer);
        }
        if (again && alarms.armed < ARMED_MAX)
                alarm_arm(alarm);
        else if (again && alarm->timer.armed)
                alarms.out++;
}

static void alarm_rings(struct ed_timer *timer)
{
        struct alarm *alarm = ed_container_of(timer, struct alarm, timer);
        int64_t late_ns =
                ed_loop_current->sys->poll->now(ed_loop_current->sys) - alarm->deadline_ns;

        CHECK_EQ(timer->deadline_ns, alarm->deadline_ns);
        CHECK(late_ns >= 0 && late_ns <= TICK_NS);
        if (late_ns > alarms.latest_ns)
                alarms.latest_ns = late_ns;
        alarms.fired++;
        alarms.out--;
        for (int i = 0; i < 2 && alarms.armed < ARMED_MAX; i++)
                disturb(&alarms.all[chance(TIMERS)]);
        if (alarms.out == 0)
                eddy_event_set(&alarms.done);
}

static int arm_a_million(void *arg)
{
        (void) arg;
        for (int i = 0; i < TIMERS; i++) {
                ed_timer_init(&alarms.all[i].timer, alarm_rings);
                alarm_arm(&alarms.all[i]);
        }
        return eddy_event_wait(&alarms.done);
}

static int run_simulated(eddy_task_fn *fn, uint64_t seed)
{
        struct ed_sim_opts opts = { .seed = seed };
        struct eddy_run_opts run_opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&opts, &sys), 0);
        return ed_run_on(sys, fn, NULL, &run_opts, NULL);
}

TEST(a_million_timers_are_neither_early_nor_late)
{
        state = 12;
        CHECK_EQ(run_simulated(arm_a_million, 1), 0);
        CHECK(alarms.armed >= ARMED_MAX);
        CHECK_EQ(alarms.fired + alarms.moved + alarms.cancelled, alarms.armed);
        printf("# R12: %lld timers armed, %lld fired, %lld moved, %lld cancelled; 0 early, "
               "the latest by %lld ns\n",
               (long long) alarms.armed, (long long) alarms.fired, (long long) alarms.moved,
               (long long) alarms.cancelled, (long long) alarms.latest_ns);
}

/* --- tasks that sleep --- */

enum { SLEEPERS = 500, SLEEPS = 200 };

static int64_t sleeps, latest_sleep_ns;

static int sleep_often(void *arg)
{
        (void) arg;
        for (int i = 0; i < SLEEPS; i++) {
                int64_t begin_ns = eddy_now(), duration_ns = some_time(), late_ns;

                CHECK_EQ(eddy_sleep(duration_ns), 0);
                late_ns = eddy_now() - begin_ns - duration_ns;
                CHECK(late_ns >= 0 && late_ns <= TICK_NS);
                if (late_ns > latest_sleep_ns)
                        latest_sleep_ns = late_ns;
                sleeps++;
        }
        return 0;
}

static int run_sleepers(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < SLEEPERS; i++)
                eddy_scope_start(&scope, sleep_often, NULL);
        return eddy_scope_end(&scope);
}

TEST(sleeps_are_neither_short_nor_long)
{
        state = 13;
        CHECK_EQ(run_simulated(run_sleepers, 2), 0);
        CHECK_EQ(sleeps, SLEEPERS * SLEEPS);
        printf("# R12: %lld sleeps of tasks, 0 short, the longest by %lld ns too long\n",
               (long long) sleeps, (long long) latest_sleep_ns);
}

/* --- the real clock --- */

/*
 * The linker has the library ask here.  What another clock than the monotonic
 * one says changes by years while the program runs.
 */
int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

static int64_t jump_s;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
        int result = __real_clock_gettime(id, ts);

        if (result == 0 && id == CLOCK_REALTIME)
                ts->tv_sec += jump_s;
        return result;
}

static int jump_about(void *arg)
{
        struct ed_sys *sys = ed_loop_current->sys;
        int64_t before_ns = sys->poll->time_of_day(sys);

        (void) arg;
        for (int i = 0; i < 10; i++) {
                jump_s = i % 2 ? YEAR_S : -YEAR_S;
                CHECK((sys->poll->time_of_day(sys) > before_ns) == (i % 2));
                CHECK_EQ(eddy_sleep(EDDY_MS(3)), 0);
        }
        return 0;
}

static int answer(void *arg)
{
        (void) arg;
        return 42;
}

/* Much too long would be a deadline of another clock, years away; too short one that has passed. */
static int sleep_really(void *arg)
{
        int64_t begin_ns = eddy_now(), duration_ns = (int64_t) chance(30) * EDDY_MS(1), lasted_ns;

        (void) arg;
        CHECK_EQ(eddy_sleep(duration_ns), 0);
        lasted_ns = eddy_now() - begin_ns;
        CHECK(lasted_ns >= duration_ns && lasted_ns < duration_ns + EDDY_SEC(20));
        CHECK_EQ(eddy_to_thread(answer, NULL), 42);
        return 0;
}

static int sleep_while_it_jumps(void *arg)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_SEC(60) };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &opts);
        eddy_scope_start(&scope, jump_about, NULL);
        for (int i = 0; i < 100; i++)
                eddy_scope_start(&scope, sleep_really, NULL);
        return eddy_scope_end(&scope);
}

TEST(wall_jumps_change_nothing)
{
        CHECK_EQ(eddy_run(sleep_while_it_jumps, NULL, NULL), 0);
}

static int64_t monotonic_s(void)
{
        struct timespec ts;

        CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &ts), 0);
        return ts.tv_sec;
}

/* Whether children of this process see monotonic clocks that are 'offset_s' ahead from now on. */
static bool move_monotonic(int64_t offset_s)
{
        char text[96];
        int n = snprintf(text, sizeof(text), "monotonic %lld 0\nboottime %lld 0\n",
                         (long long) offset_s, (long long) offset_s);
        bool moved;
        int fd;

        if (unshare(CLONE_NEWTIME) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWTIME) < 0)
                return false;
        fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return false;
        moved = write(fd, text, (size_t) n) == n;
        CHECK_EQ(close(fd), 0);
        return moved;
}

static void run_moved(int64_t offset_s)
{
        int64_t before_s = monotonic_s();
        int status = 0;
        pid_t pid;

        if (!move_monotonic(offset_s))
                test_skip("no time namespace here");
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                CHECK(llabs((long long) (monotonic_s() - before_s - offset_s)) < 60);
                CHECK_EQ(eddy_run(sleep_while_it_jumps, NULL, NULL), 0);
                _exit(0);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), 0);
}

TEST(a_monotonic_clock_years_ahead_changes_nothing)
{
        run_moved(3 * YEAR_S);
}

TEST(a_monotonic_clock_that_has_just_begun_changes_nothing)
{
        run_moved(10 - monotonic_s());
}
