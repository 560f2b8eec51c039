/*
 * scope/run.c - a run: its supervisor, its main tasks, its end.
 *
 * The first task of a run is its supervisor.  It opens the root scope, which holds the background
 * tasks, and in it the scope of the services, and takes orders: it starts a main task and waits for
 * the task's end, or it cancels the services, drains the background and ends the root scope and then
 * the threads.
 */
#include "scope/run.h"

#include <errno.h>

#include "base/alloc.h"
#include "scope/deadlock.h"
#include "scope/diagnostics.h"
#include "scope/dump.h"
#include "scope/face.h"
#include "scope/many.h"
#include "scope/misuse.h"
#include "scope/report.h"
#include "scope/run_list.h"
#include "scope/suspend.h"
#include "scope/threads/thread.h"
#include "scope/vars.h"
#include "scope/watchdog.h"
#include "sys/fault/fault.h"
#include "sys/poll/signals.h"
#include "sys/process/fork.h"
#include "sys/thread/thread_stack.h"
#include "sys/thread/ticker.h"

#define WATCHDOG_NS   EDDY_MS(100)
#define DRAIN_NS      EDDY_SEC(5)
#define STEP_NS       EDDY_MS(1)
#define DEBUG_WAIT_NS EDDY_SEC(30)

#define DEBUG_FLAGS ((uint32_t) (EDDY_RUN_DEBUG | EDDY_RUN_NO_DEBUG))
#define RUN_FLAGS   (DEBUG_FLAGS | EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG)

/* The signal that stopped this thread's last or present run. */
static __thread int last_signal __attribute__((tls_model("initial-exec")));

/* --- signals --- */

void ed_run_signal_forget(void)
{
        last_signal = 0;
}

bool ed_run_is_stopped(const struct ed_run *run)
{
        return (run->signals && last_signal) || (run->many && ed_many_is_stopped(run->many));
}

static void on_wake(struct ed_loop *loop)
{
        struct ed_run *run = ed_run_of(loop);

        if (run->many && run->main_task && !run->closing && ed_many_is_stopped(run->many))
                eddy_task_cancel(run->main_task);
        if (!run->signals || last_signal || !ed_sys_stop_signal())
                return;
        last_signal = ed_sys_stop_signal();
        /* After main's end, cancel the background. */
        if (run->closing)
                eddy_scope_cancel(run->ending);
        else if (!run->main_held)
                run->stop = true;
        else if (run->main_task)
                eddy_task_cancel(run->main_task);
}

/* --- the supervisor --- */

static void supervise_main(struct ed_run *run)
{
        struct eddy_task_opts named = { .name = "main" };
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_task_named(&scope, run->main_fn, run->main_arg, &named,
                                          &run->main_task, run->main_text);
        /* A stop or signal may precede the main task. */
        if (err == 0 && (run->closing || ed_run_is_stopped(run)))
                eddy_task_cancel(run->main_task);
        (void) eddy_scope_end(&scope);
        if (err < 0)
                run->result = err;
        else
                (void) eddy_task_result(run->main_task, &run->result);
        eddy_task_release(run->main_task);
        run->main_task = NULL;
        run->main_fn = NULL;
        run->main_text = NULL;
        if (run->main_held)
                run->stop = true;
}

/* Ends the thread pools after the last task.  A signal ends the wait for their jobs. */
static void end_threads(struct ed_run *run)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        run->ending = &scope;
        ed_thread_pools_end(&run->loop, run->opts.drain_ns);
        run->ending = &run->root;
        (void) eddy_scope_end(&scope);
}

static void cancel_background(struct ed_run *run)
{
        ed_diagnostics_tasks_left(run, &ed_scope_of(&run->root)->node);
        eddy_scope_cancel(&run->root);
}

static void supervise(struct ed_run *run)
{
        struct eddy_scope_opts keep_going = { .flags = EDDY_SCOPE_KEEP_GOING };

        eddy_scope_begin(&run->root, &keep_going);
        run->ending = &run->root;
        ed_scope_of(&run->root)->flags |= ED_SCOPE_BACKGROUND;
        eddy_scope_begin(&run->services, &keep_going);
        ed_scope_of(&run->services)->flags |= ED_SCOPE_BACKGROUND;
        while (run->main_due || !run->closing) {
                if (run->main_due) {
                        run->main_due = false;
                        supervise_main(run);
                } else {
                        run->idle = true;
                        ed_suspend_park(run->supervisor, "its next order", NULL, NULL);
                }
        }
        eddy_scope_cancel(&run->services);
        if (run->opts.drain_ns < 0)
                cancel_background(run);
        else
                (void) eddy_scope_set_deadline(&run->root,
                                               ed_time_after(eddy_now(), run->opts.drain_ns));
        (void) eddy_scope_end(&run->services);
        (void) eddy_scope_end(&run->root);
        end_threads(run);
}

/* The supervisor's task belongs to no scope, so it exits here and never returns. */
static int supervisor_main(void *arg)
{
        struct ed_task *task = ed_task_running();
        struct ed_loop *loop = task->loop;
        struct ed_run *run = arg;

        supervise(run);
        run->ended = true;
        ed_diagnostics_supervised(run);
        loop->turn_end = 0; /* leave to the loop's own context, not to another task */
        ed_stack_put(&loop->stacks, task->stack);
        ed_fiber_exit(loop);
}

/* Wakes the supervisor, which has an order. */
static void call_supervisor(struct ed_run *run)
{
        if (!run->idle)
                return;
        run->idle = false;
        ed_suspend_wake(run->supervisor, 0);
}

/* --- making a run --- */

/* Sets up the fault handler and the watchdog, for a loop on the real clock. */
static int process_join(struct ed_run *run)
{
        int err;

        err = ed_sys_fault_install(ed_report_fault);
        if (err < 0)
                return err;
        if (!(run->opts.flags & EDDY_RUN_NO_WATCHDOG)) {
                err = ed_sys_ticker_new(run->opts.watchdog_ns / 4 + 1, ed_watchdog_look, run,
                                        &run->watchdog);
                if (err < 0) {
                        ed_sys_fault_remove();
                        return err;
                }
        }
        return 0;
}

static void process_leave(struct ed_run *run)
{
        /* A child of fork() has neither its parent's watchdog nor its handlers. */
        if (ed_sys_forked_since(run->forks))
                return;
        if (run->watchdog)
                ed_sys_ticker_free(run->watchdog);
        run->watchdog = NULL;
        ed_sys_fault_remove();
}

static int opts_take(struct ed_run *run, const struct eddy_run_opts *opts)
{
        static const struct eddy_run_opts none;

        run->opts = opts ? *opts : none;
        if (run->opts.flags & ~RUN_FLAGS || run->opts.watchdog_ns < 0 ||
            run->opts.debug_wait_ns < 0 || (run->opts.flags & DEBUG_FLAGS) == DEBUG_FLAGS)
                return -EINVAL;
        if (run->opts.watchdog_ns == 0)
                run->opts.watchdog_ns = WATCHDOG_NS;
        if (run->opts.debug_wait_ns == 0)
                run->opts.debug_wait_ns = DEBUG_WAIT_NS;
        if (run->opts.drain_ns == 0)
                run->opts.drain_ns = DRAIN_NS;
        if (!run->opts.report)
                run->opts.report = ed_report_to_stderr;
        if (run->loop.sys->choose)
                run->opts.flags |= EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG;
        return 0;
}

/*
 * A child of fork() has the parent's memory, but none of its loops.  With a budget of 0, the next
 * switch ends in the loop's own context, which checks 'forked'.
 */
static void forget_loop(void)
{
        if (ed_loop_current) {
                ed_loop_current->forked = true;
                ed_loop_current->turn_end = 0;
        }
        ed_loop_current = NULL;
        ed_diagnostics_forget();
        ed_runs_forget();
}

void ed_run_watch_forks(void)
{
        ed_sys_fork_watch(forget_loop);
}

/* Called at the start, or when there are more tasks than the system has guards for. */
static void on_canary(struct ed_stacks *stacks)
{
        struct ed_loop *loop = ed_container_of(stacks, struct ed_loop, stacks);

        ed_report_run(ed_run_of(loop), EDDY_REPORT_STACKS, 0, NULL,
                      "stacks of tasks have no guard pages here, only a canary that is checked "
                      "when a task ends");
}

static int run_init(struct ed_run *run, const struct eddy_run_opts *opts)
{
        struct ed_loop *loop = &run->loop;
        int err;

        ed_run_watch_forks();
        err = opts_take(run, opts);
        if (err < 0)
                return err;
        err = ed_diagnostics_begin(run);
        if (err < 0)
                return err;
        run->supervisor = ed_task_new(loop, NULL, ED_STACK_DEFAULT, supervisor_main, run, 0);
        if (!run->supervisor)
                return -ENOMEM;
        ed_diagnostics_supervise(run);
        /* Last: the watchdog's thread looks at the supervisor from its start on. */
        err = process_join(run);
        if (err < 0) {
                ed_stack_put(&loop->stacks, run->supervisor->stack);
                return err;
        }
        loop->on_wake = on_wake;
        loop->on_deadlock = ed_deadlock_end;
        if (loop->stacks.weakest == ED_GUARD_CANARY)
                on_canary(&loop->stacks);
        loop->stacks.on_canary = on_canary;
        loop->stacks.on_overrun = ed_misuse_overrun;
        return 0;
}

/* The thread calls pthread_exit() in a task, or ends without closing its loop. */
static void on_thread_end(void)
{
        struct ed_run *run;

        while ((run = ed_runs_mine()))
                ed_run_forsake(run);
}

int ed_run_open(struct ed_sys *sys, const struct eddy_run_opts *opts, struct ed_run **ret_run)
{
        struct ed_run *run = ed_alloc_zero(sizeof(*run));
        int err;

        if (!run) {
                sys->free(sys);
                return -ENOMEM;
        }
        run->forks = ed_sys_forks();
        ed_loop_init(&run->loop, sys);
        ed_list_init(&run->handles);
        run->quit_slot = -1;
        run->loop.exceptions = ed_sys_exceptions();
        err = run_init(run, opts);
        if (err < 0) {
                ed_loop_fini(&run->loop);
                ed_diagnostics_drop(run);
                ed_free(run);
                return err;
        }
        ed_runs_add(run, on_thread_end);
        *ret_run = run;
        return 0;
}

/* --- running a run --- */

/*
 * Code that runs the loop may be inside a C++ catch block.  Its exceptions are hidden from tasks.
 */
static void exceptions_keep(struct ed_run *run)
{
        struct ed_exceptions *now = run->loop.exceptions;

        if (!now)
                return;
        run->outside = *now;
        *now = (struct ed_exceptions){ 0 };
}

static void exceptions_give_back(struct ed_run *run)
{
        if (run->loop.exceptions)
                *run->loop.exceptions = run->outside;
}

/* Enters the loop on this thread, until leave_loop(). */
static void enter_loop(struct ed_run *run)
{
        ed_loop_current = &run->loop;
        run->loop.push_flags &= (uint8_t) ~ED_PUSH_ASLEEP;
        exceptions_keep(run);
}

/* Leaves the loop.  From now on the loop's descriptor becomes readable when there is work to do. */
static void leave_loop(struct ed_run *run)
{
        struct ed_loop *loop = &run->loop;

        if (loop->sys->embed)
                loop->sys->embed->alarm(loop->sys,
                                        loop->ready_first ? 0 : ed_timers_next(&loop->timers));
        loop->push_flags |= ED_PUSH_ASLEEP;
        ed_loop_current = NULL;
        exceptions_give_back(run);
}

/* Runs the loop, after enter_loop(), until 'done'. */
static void run_until(struct ed_run *run, const bool *done)
{
        int err = ed_loop_run(&run->loop, done);

        ed_assert(err == 0, "tasks wait that neither an event nor a cancel can wake");
        leave_loop(run);
}

static void on_quit(struct ed_target *target, unsigned events)
{
        struct ed_run *run = ed_container_of(target, struct ed_run, quit);

        (void) events;
        (void) ed_signals_take(run->quit_slot);
        ed_dump_report(run);
        ed_diagnostics_stacks(run);
}

/* In debug mode SIGQUIT prints a dump, unless the program has its own handler. */
static void quit_join(struct ed_run *run)
{
        run->quit.on_events = on_quit;
        if (run->loop.debug)
                run->quit_slot = ed_signals_open_quit(run->loop.sys, &run->quit);
}

static void quit_leave(struct ed_run *run)
{
        if (run->quit_slot < 0)
                return;
        ed_signals_close(run->quit_slot);
        run->quit_slot = -1;
}

void ed_run_signals_join(struct ed_run *run)
{
        if (run->opts.flags & EDDY_RUN_NO_SIGNALS)
                return;
        quit_join(run);
        run->signals = ed_sys_stop_install(run->loop.sys);
}

void ed_run_signals_share(struct ed_run *run, const struct ed_run *first)
{
        if (run->opts.flags & EDDY_RUN_NO_SIGNALS)
                return;
        quit_join(run);
        run->signals = first->signals && ed_sys_stop_share(run->loop.sys);
}

void ed_run_signals_leave(struct ed_run *run)
{
        quit_leave(run);
        if (!run->signals)
                return;
        ed_sys_stop_remove(run->loop.sys);
        run->signals = false;
        /* Record a signal that arrived after the loop's last check. */
        if (!last_signal)
                last_signal = ed_sys_stop_signal();
}

int ed_run_main(struct ed_run *run, eddy_task_fn *main_fn, void *arg)
{
        if (run->main_fn)
                return -EBUSY;
        ed_run_signal_forget();
        run->main_fn = main_fn;
        run->main_arg = arg;
        run->stop = false;
        run->main_due = true;
        run->main_held = true;
        /* A C++ library may have been loaded since the last run. */
        run->loop.exceptions = ed_sys_exceptions();
        enter_loop(run);
        call_supervisor(run);
        run_until(run, &run->stop);
        run->main_held = false;
        run->stop = false;
        if (run->main_fn)
                return EDDY_E_LOOP_STOPPED;
        return run->deadlocked ? -EDEADLK : run->result;
}

void ed_run_forever(struct ed_run *run)
{
        ed_run_signal_forget();
        run->loop.exceptions = ed_sys_exceptions();
        enter_loop(run);
        ed_loop_turn(&run->loop);
        run_until(run, &run->stop);
        run->stop = false;
}

bool ed_run_step(struct ed_run *run)
{
        struct ed_loop *loop = &run->loop;
        int64_t until_ns = ed_time_after(ed_loop_now(loop), STEP_NS);
        bool more;

        enter_loop(run);
        do {
                ed_loop_turn(loop);
                more = loop->ready_first != NULL;
        } while (more && loop->now_ns < until_ns);
        leave_loop(run);
        return more;
}

/* Orders the supervisor to end the run, unless it already has this order. */
static void order_end(struct ed_run *run)
{
        if (run->closing)
                return;
        if (run->main_task) {
                if (run->main_task->task)
                        ed_diagnostics_tasks_left(run, &run->main_task->task->node);
                eddy_task_cancel(run->main_task);
        }
        run->closing = true;
        call_supervisor(run);
}

void ed_run_order_end(struct ed_run *run)
{
        enter_loop(run);
        order_end(run);
        leave_loop(run);
}

void ed_run_end(struct ed_run *run)
{
        enter_loop(run);
        order_end(run);
        run_until(run, &run->ended);
        ed_diagnostics_end(run);
}

void ed_run_free(struct ed_run *run)
{
        ed_runs_remove(run);
        if (run->drop_handles)
                run->drop_handles(run);
        if (run->face)
                ed_face_close(run->face);
        ed_run_signals_leave(run);
        process_leave(run);
        /* Data that upper floors keep with the loop may still ask for the current loop. */
        enter_loop(run);
        ed_loop_fini(&run->loop);
        /* A report of the trace calls the program, which is outside the run by now. */
        ed_loop_current = NULL;
        ed_diagnostics_write(run);
        ed_loop_current = &run->loop;
        ed_faces_fini(&run->faces);
        ed_diagnostics_fini(run);
        ed_loop_current = NULL;
        exceptions_give_back(run);
        ed_free(run);
}

void ed_run_close(struct ed_run *run)
{
        ed_run_end(run);
        ed_run_free(run);
}

/* Detaches the run from this thread and from the process. */
static void give_up(struct ed_run *run)
{
        ed_runs_remove(run);
        if (run->many)
                ed_many_forsake(run);
        ed_run_signals_leave(run);
        ed_signals_drop(run->loop.sys);
        process_leave(run);
        ed_diagnostics_forsake(run);
        ed_thread_job_forget();
        ed_vars_current = NULL;
        ed_loop_current = NULL;
}

void ed_run_forsake(struct ed_run *run)
{
        struct ed_loop *loop = &run->loop;

        /* The system may end a thread while it is on a task's stack; then do not switch back. */
        if (ed_sys_on_thread_stack(__builtin_frame_address(0)))
                ed_co_come_back(&loop->co, loop->current != NULL);
        give_up(run);
        if (run->face)
                ed_face_close(run->face);
        run->face = NULL;
        if (loop->inbox)
                ed_inbox_close(loop->inbox);
        loop->inbox = NULL;
}

void ed_run_drop(struct ed_run *run)
{
        struct ed_loop *loop = &run->loop;

        ed_co_come_back(&loop->co, loop->current != NULL);
        if (ed_loop_current == loop)
                exceptions_give_back(run);
        give_up(run);
        loop->stacks.used = 0;
        ed_stacks_fini(&loop->stacks);
}

int ed_run_on(struct ed_sys *sys, eddy_task_fn *main_fn, void *arg,
              const struct eddy_run_opts *opts, const char *text)
{
        struct ed_run *run;
        int err;

        if (ed_loop_current) {
                sys->free(sys);
                return EDDY_E_RUN_NESTED;
        }
        err = ed_run_open(sys, opts, &run);
        if (err < 0)
                return err;
        ed_run_signals_join(run);
        run->main_text = text;
        err = ed_run_main(run, main_fn, arg);
        ed_run_close(run);
        return err;
}

int ed_run_table(struct ed_sys **ret_sys)
{
        return ed_loop_current ? EDDY_E_RUN_NESTED : ed_sys_epoll_new(ret_sys);
}

int eddy_run_named(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts,
                   const char *text)
{
        struct ed_sys *sys;
        int err;

        if (!main_fn)
                return -EINVAL;
        if (!ed_loop_current)
                ed_run_signal_forget();
        err = ed_run_table(&sys);
        if (err < 0)
                return err;
        return ed_run_on(sys, main_fn, arg, opts, text);
}

#undef eddy_run
int eddy_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts)
{
        return eddy_run_named(main_fn, arg, opts, NULL);
}

void ed_run_signal_note(int signo)
{
        if (!last_signal)
                last_signal = signo;
}

int eddy_run_signal(void)
{
        return last_signal;
}

/* Starts a task of the root scope or of the services. */
static int background_start(struct ed_scope *scope, struct ed_loop *loop, unsigned stack_class,
                            eddy_task_fn *fn, void *arg, const char *text, const void *place,
                            struct ed_task **ret_task)
{
        struct ed_task *task;

        if (!scope->node.owner || scope->node.flags & (ED_NODE_CANCELLED | ED_NODE_ENDED))
                return -ECANCELED;
        /* Not eddy_scope_start(): a failed start must not cancel the scope. */
        task = ed_task_new(loop, scope, stack_class, fn, arg, 0);
        if (!task)
                return -ENOMEM;
        task->self.text = text;
        if (loop->notes)
                ed_task_made(task, place);
        scope->live++;
        *ret_task = task;
        return 0;
}

int ed_background_start(struct ed_loop *loop, eddy_task_fn *fn, void *arg, const char *text,
                        const void *place, struct ed_task **ret_task)
{
        return background_start(ed_scope_of(&ed_run_of(loop)->root), loop, ED_STACK_DEFAULT, fn,
                                arg, text, place, ret_task);
}

int eddy_background_named(eddy_task_fn *fn, void *arg, const char *text)
{
        struct ed_task *task;

        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        return ed_background_start(ed_loop_current, fn, arg, text, __builtin_return_address(0),
                                   &task);
}

#undef eddy_background
int eddy_background(eddy_task_fn *fn, void *arg)
{
        struct ed_task *task;

        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        return ed_background_start(ed_loop_current, fn, arg, NULL, __builtin_return_address(0),
                                   &task);
}

static int background_with(eddy_task_fn *fn, void *arg, const struct eddy_background_opts *opts,
                           const char *text, const void *place)
{
        static const struct eddy_background_opts none;
        struct ed_loop *loop = ed_loop_current;
        struct ed_scope *scope;
        struct ed_task *task;
        int err;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!opts)
                opts = &none;
        if (opts->flags & ~(uint32_t) EDDY_BACKGROUND_SERVICE ||
            opts->task_flags & ~(uint32_t) EDDY_TASK_STACK_64K)
                return -EINVAL;
        scope = ed_scope_of(opts->flags & EDDY_BACKGROUND_SERVICE ? &ed_run_of(loop)->services
                                                                  : &ed_run_of(loop)->root);
        err = background_start(scope, loop,
                               opts->task_flags & EDDY_TASK_STACK_64K ? ED_STACK_SMALL
                                                                      : ED_STACK_DEFAULT,
                               fn, arg, text, place, &task);
        if (err == 0 && opts->name)
                ed_task_face_set_name(task->face, opts->name);
        return err;
}

int eddy_background_with_named(eddy_task_fn *fn, void *arg, const struct eddy_background_opts *opts,
                               const char *text)
{
        return background_with(fn, arg, opts, text, __builtin_return_address(0));
}

#undef eddy_background_with
int eddy_background_with(eddy_task_fn *fn, void *arg, const struct eddy_background_opts *opts)
{
        return background_with(fn, arg, opts, NULL, __builtin_return_address(0));
}

int eddy_run_info(struct eddy_run_info *ret_info)
{
        struct ed_loop *loop = ed_loop_current;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        *ret_info = (struct eddy_run_info){
                .poller = loop->sys->name,
                .guard = ed_guard_name(loop->stacks.weakest),
                .tasks = loop->stacks.used - 1, /* without the supervisor */
                .switches = atomic_load_explicit(&loop->switches, memory_order_relaxed),
                .polls = loop->polls,
        };
        return 0;
}

int eddy_run_lag(struct eddy_lag *ret_lag)
{
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        *ret_lag = ed_loop_current->lag;
        return 0;
}
