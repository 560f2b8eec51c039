/*
 * turning.c - see turning.h.
 */
#include "turning.h"

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#endif
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "eddy/time.h"
#include "loop/loop.h"
#include "test.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
        TICKS = 10, /* in the time */
        SLOWER = UNDER_TSAN   ? 10
                 : UNDER_ASAN ? 3
                              : 1,
        FRAMES_MAX = 40,
};

/* Of the loop, at the last tick. */
static struct {
        const struct ed_loop *loop;
        uint64_t polls;
        int ticks; /* since the last turn */
} seen;

static void say(const char *text)
{
        (void) !write(2, text, strlen(text));
}

/* The stack is that of the task, in the middle of what holds the loop. */
static void fail(void)
{
        say("# the loop has not turned for a second of processor time, in ");
        say(test_running());
        say("\n");
#if __has_include(<execinfo.h>)
        void *frames[FRAMES_MAX];

        backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), 2);
#endif
        signal(SIGABRT, SIG_DFL);
        abort();
}

static void on_tick(int signo)
{
        const struct ed_loop *loop = ed_loop_current;
        uint64_t polls = loop ? atomic_load_explicit(&loop->polls, memory_order_relaxed) : 0;
        bool turns = !loop || loop != seen.loop || polls != seen.polls;

        (void) signo;
        seen.ticks = turns ? 0 : seen.ticks + 1;
        seen.loop = loop;
        seen.polls = polls;
        if (seen.ticks == TICKS)
                fail();
}

void turning_watch(void)
{
        turning_watch_for(EDDY_SEC(1) * SLOWER);
}

void turning_watch_for(int64_t ns)
{
        struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
        struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
        int64_t tick_ns = ns / TICKS;
        struct itimerspec every = { .it_interval = { .tv_sec = tick_ns / 1000000000,
                                                     .tv_nsec = tick_ns % 1000000000 } };
        timer_t timer;

#if __has_include(<execinfo.h>)
        void *frame;

        (void) backtrace(&frame, 1); /* the first call loads a library */
#endif
        every.it_value = every.it_interval;
        event.sigev_notify_thread_id = (pid_t) syscall(SYS_gettid);
        sigaction(SIGPROF, &action, NULL);
        CHECK_EQ(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer), 0);
        CHECK_EQ(timer_settime(timer, 0, &every, NULL), 0);
}
