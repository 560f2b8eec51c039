/*
 * run.c - how a run ends: by signals, with tasks, generators and threads left.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"

/* --- signals, on the real clock --- */

static void trace_signalled_run(eddy_task_fn *main_fn)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG,
                                      .drain_ns = -1,
                                      .report = trace_report };
        int err;

        /* What a shell starts in the background is born with SIGINT ignored. */
        signal(SIGINT, SIG_DFL);
        err = eddy_run(main_fn, NULL, &opts);
        if (err == -ECANCELED && eddy_run_signal() == SIGINT)
                trace("run: cancelled by SIGINT");
        else
                trace("run: %s", value(err));
}

static int background(void *arg)
{
        int err = eddy_sleep(EDDY_SEC(10));

        (void) arg;
        trace("background: %s", word(err));
        return err;
}

static int cleanup(void)
{
        eddy_scope shield;
        int err;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        err = eddy_sleep(EDDY_US(10));
        return eddy_scope_end(&shield) < 0 ? -EIO : err;
}

static int main_that_cleans_up(void *arg)
{
        int err;

        (void) arg;
        CHECK_EQ(eddy_background(background, NULL), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(raise(SIGINT), 0);
        err = eddy_sleep(EDDY_SEC(10));
        trace("main: %s", word(err));
        trace("cleanup: %s", word(cleanup()));
        return err;
}

/* A107: the first SIGINT cancels main, whose cleanup runs; the run says so. */
TRACE_TEST_OUTSIDE(S1_the_first_signal_cancels_main)
{
        trace_signalled_run(main_that_cleans_up);
}

static int main_that_goes_on(void *arg)
{
        (void) arg;
        CHECK_EQ(raise(SIGINT), 0);
        trace("main: %s", word(eddy_sleep(EDDY_SEC(10))));
        return 7;
}

/* A109: main that returns all the same has the last word. */
TRACE_TEST_OUTSIDE(S2_main_may_return_after_a_signal)
{
        trace_signalled_run(main_that_goes_on);
}

/* A line from a child, which may end at any moment. */
static int line_fd;

static void tell(const char *line)
{
        CHECK_EQ(write(line_fd, line, strlen(line)), (ssize_t) strlen(line));
}

/* The output of a child that runs main_fn, and how it ended. */
static void trace_child(eddy_task_fn *main_fn)
{
        char reported[256] = "";
        int pipes[2], status, n;
        pid_t pid;

        CHECK_EQ(pipe(pipes), 0);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                line_fd = pipes[1];
                signal(SIGINT, SIG_DFL);
                (void) eddy_run(main_fn, NULL, NULL);
                _exit(0);
        }
        close(pipes[1]);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        n = (int) read(pipes[0], reported, sizeof(reported) - 1);
        close(pipes[0]);
        if (n > 0)
                trace("%s", reported);
        if (WIFSIGNALED(status))
                trace("run: the process ends by %s",
                      WTERMSIG(status) == SIGINT ? "SIGINT" : "another signal");
        else
                trace("run: the process ends with %d", WEXITSTATUS(status));
}

static int main_with_two_signals(void *arg)
{
        (void) arg;
        CHECK_EQ(raise(SIGINT), 0);
        if (eddy_sleep(EDDY_SEC(10)) == -ECANCELED)
                tell("main: cancelled");
        CHECK_EQ(raise(SIGINT), 0);
        tell("main: goes on");
        return 0;
}

/* A108: the second SIGINT ends the process at once. */
TRACE_TEST_OUTSIDE(S3_the_second_signal_ends_the_process)
{
        trace_child(main_with_two_signals);
}

static int exits(void *arg)
{
        (void) arg;
        _exit(3);
}

static int main_with_a_task_that_exits(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, exits, NULL);
        (void) eddy_sleep(EDDY_SEC(1));
        tell("main: goes on");
        return eddy_scope_end(&scope);
}

/* In C the end of the process is not an exception, and passes through no task. */
TRACE_TEST_OUTSIDE(S4_an_exit_unwinds_nothing)
{
        trace_child(main_with_a_task_that_exits);
}

/* --- the end of a run --- */

static int gives_ones(eddy_generator *gen, void *arg)
{
        int one = 1, err = 0;

        (void) arg;
        while (err == 0)
                err = eddy_generator_yield(gen, &one);
        trace("generator: closed");
        return err;
}

static int background_with_a_generator(void *arg)
{
        eddy_generator gen;
        eddy_scope scope;
        int item, err;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, gives_ones, NULL, sizeof(item));
        CHECK_EQ(eddy_generator_next(&gen, &item), 1);
        err = background(arg);
        (void) eddy_scope_end(&scope);
        return err;
}

/* Both jobs say that a thread runs them, and end when they are asked to. */
static _Atomic bool begun, may_end;

static int runs_until_stopped(void *arg)
{
        (void) arg;
        begun = true;
        while (!eddy_thread_is_stopping())
                continue;
        return 0;
}

static int wait_for_flag(_Atomic bool *flag)
{
        int err = 0;

        while (!*flag && err == 0)
                err = eddy_sleep(EDDY_US(50));
        return err;
}

static int background_with_a_thread(void *arg)
{
        int err = eddy_to_thread(runs_until_stopped, arg);

        trace("thread: %s", err < 0 ? word(err) : "ended");
        return err;
}

static int main_that_leaves_everything(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_background(background_with_a_generator, NULL), 0);
        CHECK_EQ(eddy_background(background_with_a_thread, NULL), 0);
        CHECK_EQ(wait_for_flag(&begun), 0);
        trace("main: returns");
        return 1;
}

/* A104: main's result, then the tasks that are left, their generators, threads. */
TRACE_TEST_OUTSIDE(S9_the_order_of_the_end)
{
        trace_signalled_run(main_that_leaves_everything);
}

static int runs_until_let_go(void *arg)
{
        (void) arg;
        begun = true;
        while (!may_end)
                continue;
        return 1;
}

static void set_flag(void *arg)
{
        *(_Atomic bool *) arg = true;
}

struct abandoning {
        eddy_thread_pool *pool;
        _Atomic bool ended;
};

static int calls_thread(void *arg)
{
        struct eddy_thread_opts opts = { .flags = EDDY_THREAD_ABANDON, .release = set_flag };
        struct abandoning *abandoning = arg;

        return eddy_thread_pool_call(abandoning->pool, runs_until_let_go, &abandoning->ended,
                                     &opts);
}

/* The pool learns of the end of a job after the job has released what it has. */
static int wait_for_idle_pool(const eddy_thread_pool *pool)
{
        struct eddy_thread_pool_info info;
        int err = 0;

        eddy_thread_pool_info(pool, &info);
        while (info.running > 0 && err == 0) {
                err = eddy_sleep(EDDY_US(50));
                eddy_thread_pool_info(pool, &info);
        }
        return err;
}

static int main_that_abandons_a_thread(void *arg)
{
        static struct abandoning abandoning;
        eddy_scope scope;
        eddy_task *task;

        (void) arg;
        CHECK_EQ(eddy_thread_pool_new(NULL, &abandoning.pool), 0);
        scope_begin(&scope);
        task = task_start(&scope, calls_thread, &abandoning);
        CHECK_EQ(wait_for_flag(&begun), 0);
        eddy_task_cancel(task);
        trace("call: %s", word(task_end(task)));
        CHECK(!abandoning.ended);
        may_end = true;
        CHECK_EQ(wait_for_flag(&abandoning.ended), 0);
        trace("thread: ended");
        CHECK_EQ(wait_for_idle_pool(abandoning.pool), 0);
        eddy_thread_pool_close(abandoning.pool);
        eddy_scope_end(&scope);
        return 1;
}

/* A116: a task that waits for a job that may be abandoned goes on at once; the job goes on too. */
TRACE_TEST_OUTSIDE(S10_a_thread_may_be_abandoned)
{
        trace_signalled_run(main_that_abandons_a_thread);
}

static int background_that_starts_another(void *arg)
{
        int err = background(arg);

        trace("late task: %s", word(eddy_background(background, NULL)));
        return err;
}

static int main_with(void *arg)
{
        CHECK_EQ(eddy_background((eddy_task_fn *) arg, NULL), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        return 1;
}

/* A106: once the background is cancelled its starts are refused, and the caller gets an error. */
TRACE_TEST_OUTSIDE(S11_a_task_started_at_the_end_is_refused)
{
        trace_run_whole(main_with, (void *) background_that_starts_another, -1);
}

static int background_that_fails(void *arg)
{
        background(arg);
        return -EIO;
}

/* A105: what fails while it is cancelled at the end is reported; main's result stands. */
TRACE_TEST_OUTSIDE(S12_a_failure_at_the_end_is_reported)
{
        trace_run_whole(main_with, (void *) background_that_fails, -1);
}
