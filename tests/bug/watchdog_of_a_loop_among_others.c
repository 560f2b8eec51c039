/*
 * What is reported of a loop is reported whatever else its thread runs.  When
 * another run of the thread ended, overflows of the loop's stacks were not
 * named any more, nor what a hog was doing; and callbacks that came one after
 * another, each of them short, were taken for one.  What a watchdog had asked
 * for when its signal could not be sent was looked at when another asked.
 */
#include <eddy/eddy.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scope/run_state.h"
#include "scope/watchdog.h"
#include "sys/fault/fault.h"
#include "sys/thread/ticker.h"
#include "test.h"

static char said[2048];
static _Atomic int times; /* counted by the watchdog's thread, after it has said it */

/* On a busy machine others are reported too: whatever is kept from its processor. */
static void note(const struct eddy_report *report, void *arg)
{
        CHECK_EQ(report->kind, EDDY_REPORT_WATCHDOG);
        if (arg && strcmp(report->task, arg) != 0)
                return;
        (void) snprintf(said, sizeof(said), "%s", report->text);
        times++;
}

static void spin(int64_t ns)
{
        int64_t end_ns = eddy_now() + ns;

        while (eddy_now() < end_ns)
                continue;
}

static int nothing(void *arg)
{
        (void) arg;
        return 0;
}

static int hog(void *arg)
{
        int64_t end_ns = eddy_now() + EDDY_SEC(100);

        (void) arg;
        while (!times && eddy_now() < end_ns)
                continue;
        return 0;
}

/* ThreadSanitizer calls a handler later, on the stack of the task, which eddy takes no frames of. */
static void check_was_asked(void)
{
#ifdef ED_TSAN
        CHECK(strstr(said, "is in an unknown place") != NULL);
#else
        CHECK(!strstr(said, "is in an unknown place"));
#endif
}

TEST(a_hog_is_found_out_after_another_run_of_the_thread)
{
        struct eddy_run_opts opts = { .report = note,
                                      .report_arg = (void *) "main",
                                      .watchdog_ns = EDDY_MS(10) };
        eddy_loop *loop, *other;

        test_needs_backtrace();
        times = 0;
        CHECK_EQ(eddy_loop_new(&opts, &loop), 0);
        CHECK_EQ(eddy_loop_new(&opts, &other), 0);
        CHECK_EQ(eddy_run(nothing, NULL, &opts), 0);
        times = 0;
        CHECK_EQ(eddy_loop_run(loop, hog, NULL), 0);
        CHECK_EQ(times, 1);
        check_was_asked();
        CHECK_EQ(eddy_loop_close(loop), 0);
        times = 0;
        CHECK_EQ(eddy_loop_run(other, hog, NULL), 0);
        CHECK_EQ(times, 1);
        check_was_asked();
        CHECK_EQ(eddy_loop_close(other), 0);
}

struct calls {
        eddy_loop *loop;
        eddy_handle handle;
        struct ed_ticker *watchdog;
        int left;
};

static void does_not_tick(void *arg, struct ed_ticker *ticker)
{
        (void) arg;
        (void) ticker;
}

/* The watchdog looks once in each call. */
static int short_call(void *arg)
{
        struct calls *calls = arg;

        ed_watchdog_look(ed_run_of(ed_loop_current), calls->watchdog);
        spin(EDDY_MS(1));
        if (--calls->left == 0)
                eddy_loop_stop(calls->loop);
        else
                return eddy_loop_call_soon(NULL, &calls->handle, short_call, calls);
        return 0;
}

/* Each would be one that is kept for a nanosecond. */
TEST(many_short_callbacks_are_not_a_hog)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG,
                                      .report = note,
                                      .watchdog_ns = 1 };
        struct calls calls = { .left = 20 };

        times = 0;
        CHECK_EQ(ed_sys_ticker_new(EDDY_SEC(1000), does_not_tick, NULL, &calls.watchdog), 0);
        CHECK_EQ(eddy_loop_new(&opts, &calls.loop), 0);
        CHECK_EQ(eddy_loop_call_soon(calls.loop, &calls.handle, short_call, &calls), 0);
        CHECK_EQ(eddy_loop_run_forever(calls.loop), 0);
        CHECK_EQ(times, 0);
        CHECK_EQ(eddy_loop_close(calls.loop), 0);
        ed_sys_ticker_free(calls.watchdog);
}

/* Two tickers of a thread, each to ask once; and how often that was answered. */
struct asker {
        struct ed_ticker *ticker;
        _Atomic bool may, did;
        _Atomic int looks;
};

static void look(void *arg)
{
        ((struct asker *) arg)->looks++;
}

static void asks_once(void *arg, struct ed_ticker *ticker)
{
        struct asker *asker = arg;
        struct ed_sample sample;

        if (!asker->may || asker->did)
                return;
        (void) ed_sys_ticker_sample(ticker, look, asker, &sample);
        asker->did = true;
}

static void let_ask(struct asker *asker)
{
        int64_t end_ns = eddy_now() + EDDY_SEC(100);

        asker->may = true;
        while (!asker->did && eddy_now() < end_ns)
                continue;
        CHECK(asker->did);
}

/* No signal of the kind can be sent while so many are waiting. */
TEST(a_watchdog_that_could_not_ask_is_not_answered_when_another_does)
{
        struct asker first = { 0 }, second = { 0 };
        struct rlimit former, none;

        CHECK_EQ(ed_sys_ticker_new(EDDY_MS(1), asks_once, &first, &first.ticker), 0);
        CHECK_EQ(ed_sys_ticker_new(EDDY_MS(1), asks_once, &second, &second.ticker), 0);
        CHECK_EQ(getrlimit(RLIMIT_SIGPENDING, &former), 0);
        none = (struct rlimit){ 0, former.rlim_max };
        CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &none), 0);
        let_ask(&first);
        CHECK_EQ(setrlimit(RLIMIT_SIGPENDING, &former), 0);
        CHECK_EQ(first.looks, 0);
        let_ask(&second);
        CHECK_EQ(second.looks, 1);
        CHECK_EQ(first.looks, 0);
        ed_sys_ticker_free(second.ticker);
        ed_sys_ticker_free(first.ticker);
}

/* --- faults --- */

static bool is_reported(const void *address)
{
        (void) address;
        _exit(77);
}

static __attribute__((no_sanitize("address", "undefined"))) void fault(void)
{
        *(volatile int *) 0x1008 = 1;
}

/* Two loops of a thread want faults; the first one goes. */
static void fault_in_child(void)
{
        if (ed_sys_fault_install(is_reported) < 0 || ed_sys_fault_install(is_reported) < 0)
                _exit(1);
        ed_sys_fault_remove();
        fault();
        _exit(2);
}

TEST(a_fault_is_reported_while_a_loop_of_the_thread_is_left)
{
        pid_t child;
        int status;

        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("a write to nowhere is an error under Valgrind");
        child = fork();
        if (child == 0)
                fault_in_child();
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 77);
}
