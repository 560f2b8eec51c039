/*
 * scope/run.c - eddy_run(): the root scope, signals, reports, the watchdog.
 *
 * The first task of a run is its supervisor.  It opens the root scope, where
 * background tasks live, and in it starts the main task; when that has ended
 * it gives the background its time to drain, and ends the root scope.
 */
#include "scope/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scope/scope.h"
#include "scope/suspend.h"
#include "sys/process.h"

#define WATCHDOG_NS EDDY_MS(100)
#define DRAIN_NS    EDDY_SEC(5)

struct run {
        struct ed_loop loop;
        struct eddy_run_opts opts;
        eddy_task_fn *main_fn;
        void *main_arg;
        eddy_task *main_task;
        eddy_scope root;
        int result;
        bool done;
        bool deadlocked;
        bool signals;
        void *fault_stack;
        struct ed_ticker *watchdog;
        uint64_t watched_switches;
        int64_t watched_ns;
};

/* Of this thread's last or present run. */
static __thread int last_signal __attribute__((tls_model("initial-exec")));

static struct run *run_of(struct ed_loop *loop)
{
        return ed_container_of(loop, struct run, loop);
}

/* --- reports --- */

static void report_to_stderr(const struct eddy_report *report, void *arg)
{
        char line[1792];
        int n;

        (void) arg;
        if (report->task)
                n = snprintf(line, sizeof(line), "eddy: task %s: %s%s%s\n", report->task,
                             report->text, report->error ? ": " : "",
                             report->error ? eddy_error_text(report->error) : "");
        else
                n = snprintf(line, sizeof(line), "eddy: %s\n", report->text);
        if (n >= (int) sizeof(line)) {
                n = (int) sizeof(line) - 1;
                line[n - 1] = '\n';
        }
        ed_sys_write_error(line, (size_t) n);
}

static void report(struct run *run, int kind, int error, const char *task, const char *text)
{
        struct eddy_report report = { .kind = kind, .error = error, .task = task, .text = text };

        run->opts.report(&report, run->opts.report_arg);
}

void ed_report_task(struct ed_loop *loop, int kind, int error, const struct ed_task *task,
                    const char *text)
{
        char buf[ED_TASK_NAME_BYTES];

        report(run_of(loop), kind, error, task ? ed_task_name(task, buf, sizeof(buf)) : NULL, text);
}

void ed_report_callback(struct ed_loop *loop, int error, eddy_task_fn *fn)
{
        char name[64], message[256];

        ed_sys_symbol((const void *) fn, name, sizeof(name));
        snprintf(message, sizeof(message), "the callback %s failed: %s", name,
                 eddy_error_text(error));
        report(run_of(loop), EDDY_REPORT_CALLBACK, error, NULL, message);
}

/* Text that is cut where it ends. */
struct text {
        char *at;
        size_t left;
};

static EDDY_PRINTF(2, 3) void text_add(struct text *text, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(text->at, text->left, format, args);
        va_end(args);
        if (n < 0)
                return;
        if ((size_t) n >= text->left)
                n = text->left > 0 ? (int) text->left - 1 : 0;
        text->at += n;
        text->left -= (size_t) n;
}

/* --- faults in guards --- */

/* In a signal handler, on a stack of its own. */
static bool on_fault(const void *address)
{
        struct ed_loop *loop = ed_loop_current;
        struct ed_task *task = ed_task_running();
        char name[ED_TASK_NAME_BYTES], message[256];
        const char *who;

        if (!loop || !ed_stacks_guard_hit(&loop->stacks, address))
                return false;
        who = task ? ed_task_name(task, name, sizeof(name)) : "(none)";
        snprintf(message, sizeof(message),
                 "overflowed its stack of %zu KiB: give it a larger one, or larger buffers to the "
                 "heap",
                 task ? (size_t) ((char *) task - task->stack->bottom + 1023) / 1024 : (size_t) 0);
        report(run_of(loop), EDDY_REPORT_OVERFLOW, 0, who, message);
        return true;
}

/* --- the watchdog --- */

/* Who runs, as seen from its own thread. */
struct hog {
        struct ed_loop *loop;
        char name[ED_TASK_NAME_BYTES];
        eddy_task_fn *fn; /* NULL: no task runs */
};

/* In a signal handler on the loop's thread. */
static void look_who_runs(void *arg)
{
        struct hog *hog = arg;
        struct ed_task *task = ed_task_running();

        if (!task || task->loop != hog->loop)
                return;
        memcpy(hog->name, task->face->name, sizeof(hog->name));
        hog->fn = task->fn;
}

static void report_hog(struct run *run, struct ed_ticker *watchdog, int64_t lasted_ns)
{
        struct hog hog = { .loop = &run->loop };
        void *frames[ED_FRAMES_MAX];
        char message[1536], name[64];
        struct text text = { message, sizeof(message) };
        int n = ed_sys_ticker_sample(watchdog, look_who_runs, &hog, frames, ED_FRAMES_MAX);

        text_add(&text, "has kept the loop from the others for %lld ms; it is in",
                 (long long) (lasted_ns / EDDY_MS(1)));
        for (int i = 0; i < n; i++) {
                ed_sys_symbol(frames[i], name, sizeof(name));
                text_add(&text, "%s %s", i > 0 ? " <-" : "", name);
        }
        if (n == 0)
                text_add(&text, " a place that could not be found out");
        if (hog.fn && !hog.name[0])
                ed_sys_symbol((const void *) hog.fn, hog.name, sizeof(hog.name));
        report(run, EDDY_REPORT_WATCHDOG, 0, hog.fn ? hog.name : "(the loop itself)", message);
}

/* On the watchdog's thread: several times in each period that is allowed. */
static void watch(void *arg, struct ed_ticker *watchdog)
{
        struct run *run = arg;
        uint64_t switches = atomic_load_explicit(&run->loop.switches, memory_order_relaxed);
        int64_t now_ns = ed_sys_now();

        if (switches != run->watched_switches ||
            atomic_load_explicit(&run->loop.polling, memory_order_relaxed)) {
                run->watched_switches = switches;
                run->watched_ns = now_ns;
        } else if (run->watched_ns && now_ns - run->watched_ns > run->opts.watchdog_ns) {
                report_hog(run, watchdog, now_ns - run->watched_ns);
                run->watched_ns = 0; /* once for each time */
        }
}

/* --- signals and deadlock --- */

static void on_wake(struct ed_loop *loop)
{
        struct run *run = run_of(loop);

        if (run->signals && !last_signal && ed_sys_stop_signal()) {
                last_signal = ed_sys_stop_signal();
                /* Later than main, it is the background that is to end. */
                if (run->main_task && !eddy_task_is_done(run->main_task))
                        eddy_task_cancel(run->main_task);
                else
                        eddy_scope_cancel(&run->root);
        }
}

enum { DEADLOCK_LINES_MAX = 20 };

/* Name those that are parked in a task or scope below 'node'. */
static void describe_parked(struct run *run, struct text *text)
{
        struct ed_node *root = &ed_scope_of(&run->root)->node, *node = root;
        unsigned n = 0, more = 0;

        /* The root scope's owner is the supervisor, which is not theirs. */
        while ((node = ed_node_next(root, node, false))) {
                struct ed_task *task = node->owner;
                char name[ED_TASK_NAME_BYTES];

                if (node != &task->node)
                        continue;
                if (n++ < DEADLOCK_LINES_MAX)
                        text_add(text, "\n  %s waits for %s",
                                 ed_task_name(task, name, sizeof(name)), task->fiber.waits_for);
                else
                        more++;
        }
        if (more)
                text_add(text, "\n  and %u more", more);
}

static bool on_deadlock(struct ed_loop *loop)
{
        struct run *run = run_of(loop);
        char message[1536];
        struct text text = { message, sizeof(message) };

        if (run->deadlocked)
                return false;
        run->deadlocked = true;
        text_add(&text, "all tasks wait and nothing can wake them; the run is cancelled:");
        describe_parked(run, &text);
        report(run, EDDY_REPORT_DEADLOCK, -EDEADLK, NULL, message);
        eddy_scope_cancel(&run->root);
        return loop->ready_first != NULL;
}

/* --- the run --- */

static void supervise(struct run *run)
{
        struct eddy_scope_opts keep_going = { .flags = EDDY_SCOPE_KEEP_GOING };
        struct eddy_task_opts named = { .name = "main" };
        eddy_scope main_scope;
        int err;

        eddy_scope_begin(&run->root, &keep_going);
        ed_scope_of(&run->root)->flags |= ED_SCOPE_BACKGROUND;
        eddy_scope_begin(&main_scope, NULL);
        err = eddy_scope_start_task(&main_scope, run->main_fn, run->main_arg, &named,
                                    &run->main_task);
        (void) eddy_scope_end(&main_scope);
        if (err < 0)
                run->result = err;
        else
                (void) eddy_task_result(run->main_task, &run->result);
        if (run->opts.drain_ns < 0)
                eddy_scope_cancel(&run->root);
        else
                (void) eddy_scope_set_deadline(&run->root,
                                               ed_time_after(eddy_now(), run->opts.drain_ns));
        (void) eddy_scope_end(&run->root);
}

/* The supervisor's task belongs to no scope, so it ends in its own way: never by returning. */
static int supervisor_main(void *arg)
{
        struct ed_task *task = ed_task_running();
        struct ed_loop *loop = task->loop;
        struct run *run = arg;

        supervise(run);
        eddy_task_release(run->main_task);
        run->main_task = NULL;
        run->done = true;
        loop->budget = 0; /* back to the loop's own context, and nowhere else */
        ed_stack_put(&loop->stacks, task->stack);
        ed_fiber_exit(loop);
}

/* What the process gives to a loop on the real clock. */
static int process_join(struct run *run)
{
        int err;

        err = ed_sys_fault_install(on_fault, &run->fault_stack);
        if (err < 0)
                return err;
        if (!(run->opts.flags & EDDY_RUN_NO_SIGNALS))
                run->signals = ed_sys_stop_install(run->loop.sys);
        if (!(run->opts.flags & EDDY_RUN_NO_WATCHDOG)) {
                err = ed_sys_ticker_new(run->opts.watchdog_ns / 4 + 1, watch, run, &run->watchdog);
                if (err < 0)
                        goto fail_leave;
        }
        return 0;

fail_leave:
        if (run->signals)
                ed_sys_stop_remove();
        ed_sys_fault_remove(run->fault_stack);
        return err;
}

static void process_leave(struct run *run)
{
        if (run->watchdog)
                ed_sys_ticker_free(run->watchdog);
        if (run->signals)
                ed_sys_stop_remove();
        ed_sys_fault_remove(run->fault_stack);
}

static int run_loop(struct run *run)
{
        struct ed_loop *loop = &run->loop;
        struct ed_task *supervisor;
        int err;

        err = process_join(run);
        if (err < 0)
                return err;
        supervisor = ed_task_new(loop, NULL, ED_STACK_DEFAULT, supervisor_main, run, 0);
        if (!supervisor) {
                process_leave(run);
                return -ENOMEM;
        }
        loop->on_wake = on_wake;
        loop->on_deadlock = on_deadlock;
        if (loop->stacks.weakest == ED_GUARD_CANARY)
                report(run, EDDY_REPORT_STACKS, 0, NULL,
                       "stacks of tasks have no guard pages here, only a canary that is looked at "
                       "when a task ends");
        ed_loop_current = loop;
        err = ed_loop_run(loop, &run->done);
        ed_assert(err == 0, "tasks wait that neither an event nor a cancel can wake");
        process_leave(run);
        return run->deadlocked ? -EDEADLK : run->result;
}

static int opts_take(struct run *run, const struct eddy_run_opts *opts)
{
        static const struct eddy_run_opts none;

        run->opts = opts ? *opts : none;
        if (run->opts.flags & ~(uint32_t) (EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG) ||
            run->opts.watchdog_ns < 0)
                return -EINVAL;
        if (run->opts.watchdog_ns == 0)
                run->opts.watchdog_ns = WATCHDOG_NS;
        if (run->opts.drain_ns == 0)
                run->opts.drain_ns = DRAIN_NS;
        if (!run->opts.report)
                run->opts.report = report_to_stderr;
        return 0;
}

int ed_run_on(struct ed_sys *sys, eddy_task_fn *main_fn, void *arg,
              const struct eddy_run_opts *opts)
{
        struct run *run;
        int err;

        if (ed_loop_current) {
                sys->ops->free(sys);
                return EDDY_E_RUN_NESTED;
        }
        run = ed_alloc_zero(sizeof(*run));
        if (!run) {
                sys->ops->free(sys);
                return -ENOMEM;
        }
        run->main_fn = main_fn;
        run->main_arg = arg;
        last_signal = 0;
        ed_loop_init(&run->loop, sys);
        err = opts_take(run, opts);
        if (err == 0 && sys->ops->choose)
                run->opts.flags |= EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG;
        if (err == 0)
                err = run_loop(run);
        /* What the floors above keep with the loop may still ask for it. */
        ed_loop_fini(&run->loop);
        ed_loop_current = NULL;
        ed_free(run);
        return err;
}

int eddy_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts)
{
        const char *poller = opts && opts->poller ? opts->poller : getenv("EDDY_POLLER");
        struct ed_sys *sys;
        int err;

        if (ed_loop_current)
                return EDDY_E_RUN_NESTED;
        if (poller && *poller && strcmp(poller, "epoll") != 0)
                return -EINVAL;
        err = ed_sys_epoll_new(&sys);
        if (err < 0)
                return err;
        return ed_run_on(sys, main_fn, arg, opts);
}

int eddy_run_signal(void)
{
        return last_signal;
}

int eddy_background(eddy_task_fn *fn, void *arg)
{
        struct ed_loop *loop = ed_loop_current;
        struct ed_scope *root;

        if (!loop || !loop->current)
                return EDDY_E_RUN_NOT_RUNNING;
        root = ed_scope_of(&run_of(loop)->root);
        if (root->node.flags & ED_NODE_CANCELLED)
                return -ECANCELED;
        /* Not eddy_scope_start(): a failure to start one must not cancel the root. */
        if (!ed_task_new(loop, root, ED_STACK_DEFAULT, fn, arg, 0))
                return -ENOMEM;
        root->live++;
        return 0;
}

int eddy_run_info(struct eddy_run_info *ret_info)
{
        struct ed_loop *loop = ed_loop_current;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        *ret_info = (struct eddy_run_info){
                .poller = loop->sys->ops->name,
                .guard = ed_guard_name(loop->stacks.weakest),
                .tasks = loop->stacks.used - 1, /* not the supervisor */
                .switches = atomic_load_explicit(&loop->switches, memory_order_relaxed),
                .polls = loop->polls,
        };
        return 0;
}
