/*
 * The watchdog's thread is kept from its processor as any other is.  When that
 * happened between its look at a loop and its look at the clock, the loop was
 * reported for the time in between, though it had gone on; and an answer that
 * was late was not waited for, or would have been waited for at the run's end.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "scope/run_state.h"
#include "scope/watchdog.h"
#include "sys/thread/thread_state.h"
#include "sys/thread/ticker.h"
#include "test.h"

/* --- the clock of the watchdog --- */

int64_t __real_ed_sys_now(void);
int64_t __wrap_ed_sys_now(void);

/* A loop that goes on for a second, while the thread that reads the clock is kept waiting. */
static __thread struct ed_loop *goes_on;
static __thread bool is_after_reading; /* or before it */
static __thread int64_t later_ns;
static _Atomic int64_t stopped_at_ns; /* the clock stands still there; 0: it does not */

static void kept_waiting(struct ed_loop *loop)
{
        later_ns += EDDY_SEC(1);
        atomic_fetch_add(&loop->switches, 1);
        goes_on = NULL;
}

int64_t __wrap_ed_sys_now(void)
{
        int64_t now_ns = atomic_load(&stopped_at_ns);

        if (goes_on && !is_after_reading)
                kept_waiting(goes_on);
        if (now_ns == 0)
                now_ns = __real_ed_sys_now() + later_ns;
        if (goes_on)
                kept_waiting(goes_on);
        return now_ns;
}

/* --- kept waiting between two looks --- */

struct said {
        _Atomic int reports;
        char text[1536];
};

static void note(const struct eddy_report *report, void *arg)
{
        struct said *said = arg;

        if (report->kind != EDDY_REPORT_WATCHDOG)
                return;
        snprintf(said->text, sizeof(said->text), "%s", report->text);
        atomic_fetch_add(&said->reports, 1);
}

static void does_not_tick(void *arg, struct ed_ticker *ticker)
{
        (void) arg;
        (void) ticker;
}

static int is_watched(void *arg)
{
        struct ed_run *run = ed_run_of(ed_loop_current);
        struct said *said = arg;
        struct ed_ticker *watchdog;
        long lasted_ms = 0;

        CHECK_EQ(ed_sys_ticker_new(EDDY_SEC(100000), does_not_tick, NULL, &watchdog), 0);
        for (int i = 0; i < 12; i++) {
                is_after_reading = i >= 6;
                goes_on = i % 2 ? &run->loop : NULL;
                ed_watchdog_look(run, watchdog);
                CHECK_EQ(said->reports, 0);
        }
        ed_watchdog_look(run, watchdog);
        CHECK_EQ(said->reports, 0);
        later_ns += EDDY_SEC(1);
        ed_watchdog_look(run, watchdog);
        CHECK_EQ(said->reports, 1);
        /* The real clock goes on between the two looks. */
        CHECK_EQ(sscanf(said->text, "has kept the loop from other tasks for %ld ms", &lasted_ms),
                 1);
        CHECK(lasted_ms >= 1000 && lasted_ms < 100000);
        ed_sys_ticker_free(watchdog);
        return 0;
}

TEST(a_loop_that_goes_on_while_the_watchdog_is_kept_waiting_is_not_a_hog)
{
        struct said said = { .reports = 0 };
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG,
                                      .report = note,
                                      .report_arg = &said };

        CHECK_EQ(eddy_run(is_watched, &said, &opts), 0);
}

/* --- kept waiting for an answer --- */

int __real_ed_thread_state(pid_t thread, struct ed_thread_state *ret_state);
int __wrap_ed_thread_state(pid_t thread, struct ed_thread_state *ret_state);

/* A thread that blocks the signal would not be asked. */
int __wrap_ed_thread_state(pid_t thread, struct ed_thread_state *ret_state)
{
        int err = __real_ed_thread_state(thread, ret_state);

        ret_state->masked = 0;
        return err;
}

/* Keeps the loop with all signals blocked until the watchdog has asked for its stack. */
static int ends_before_it_answers(void *arg)
{
        sigset_t all, pending;

        (void) arg;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        do
                sigpending(&pending);
        while (!sigismember(&pending, SIGRTMAX - 3));
        /* From here on the watchdog's patience never ends. */
        atomic_store(&stopped_at_ns, __real_ed_sys_now());
        return 0;
}

/* Else the case runs into its time limit. */
TEST(a_run_does_not_wait_for_a_watchdog_without_an_answer)
{
        struct said said = { .reports = 0 };
        struct eddy_run_opts opts = { .watchdog_ns = EDDY_MS(4),
                                      .report = note,
                                      .report_arg = &said };
        sigset_t none;

        CHECK_EQ(eddy_run(ends_before_it_answers, NULL, &opts), 0);
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        CHECK(strstr(said.text, "suspended before its stack could be read") != NULL);
}
