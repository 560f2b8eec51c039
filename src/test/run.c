/*
 * test/run.c - one run, from its start to the check of what it left.
 *
 * A run left by a jump is still in 'now'; the next run discards it first.
 */
#include "test/run.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/def.h"
#include "base/random.h"
#include "eddy/error.h"
#include "scope/debug/debug.h"
#include "scope/report.h"
#include "scope/run.h"
#include "scope/trace/trace.h"
#include "sys/fault/last_words.h"
#include "sys/fault/symbol.h"
#include "sys/kit/capture.h"
#include "sys/process/fork.h"
#include "sys/thread/thread_end.h"
#include "sys/thread/thread_stack.h"
#include "test/replay.h"

struct ed_test_run *ed_test_now;

static struct ed_test_run now;
static _Atomic bool taken; /* by a run on any thread */
static __thread bool mine __attribute__((tls_model("initial-exec")));

bool ed_test_is_mine(void)
{
        return mine && ed_test_now;
}

/* --- randomness --- */

/* A sequence different from the table's. */
uint64_t eddy_test_chance(uint64_t n)
{
        if (!mine || !ed_test_now || ed_test_now->opts.seed == 0 || n == 0)
                return 0;
        if (ed_test_now->draws++ == 0)
                ed_test_now->draw_state = ed_test_now->opts.seed * 0xd1342543de82ef95ULL;
        return ed_splitmix_next(&ed_test_now->draw_state) % n;
}

/* --- reports --- */

/* Returns true for reports that the injected fault causes. */
static bool is_expected(const struct ed_test_run *run, int kind)
{
        if (!run->opts.cancel_at && !run->opts.alloc_at && !run->opts.call_at)
                return false;
        return kind == EDDY_REPORT_BACKGROUND || kind == EDDY_REPORT_THREAD ||
               kind == EDDY_REPORT_UNHANDLED || kind == EDDY_REPORT_CALLBACK ||
               kind == EDDY_REPORT_ACCEPT;
}

/*
 * Returns true for records of debug mode that are useless here: timings of a virtual clock, and
 * repeated stack statistics.
 */
static bool is_noise(const struct ed_test_run *run, int kind)
{
        const struct eddy_test_opts *opts = &run->opts;

        return kind == EDDY_REPORT_LAG ||
               (kind == EDDY_REPORT_DUMP &&
                (opts->seed || opts->order || opts->cancel_at || opts->alloc_at || opts->call_at));
}

/*
 * Returns true for reports that are errors whatever was injected; in debug mode these include locks
 * and leaks by name.
 */
static bool is_finding(int kind)
{
        return kind == EDDY_REPORT_MISUSE || kind == EDDY_REPORT_DEADLOCK ||
               kind == EDDY_REPORT_LOCK || kind == EDDY_REPORT_LEFT;
}

static void on_report(const struct eddy_report *report, void *arg)
{
        struct ed_test_run *run = arg;
        const struct eddy_run_opts *opts = run->opts.run;

        if (report->kind == EDDY_REPORT_DEADLOCK)
                run->figures.deadlocks++;
        if (is_finding(report->kind))
                ed_test_found(run, "%s%s%s", report->task ? report->task : "",
                              report->task ? " " : "", report->text);
        if (report->kind == EDDY_REPORT_OVERFLOW)
                ed_test_last_words();
        if (opts && opts->report)
                opts->report(report, opts->report_arg);
        else if (!is_finding(report->kind) && !is_expected(run, report->kind) &&
                 !is_noise(run, report->kind))
                ed_report_to_stderr(report, NULL);
}

/* --- running --- */

/* Discard the run's loop and all that it left. The thread has no loop then. */
static void drop(struct ed_test_run *run)
{
        if (run->run)
                ed_run_drop(run->run);
        run->run = NULL;
        run->sys = NULL;
        ed_test_memory_drop();
}

/*
 * Make runs with and without debug mode alike. Debug mode never reuses a task's handle, so a run
 * without it must not either: then allocations have equal numbers. Suspension points and calls have
 * equal numbers if late tasks are reported without a timer.
 */
static void level_modes(struct ed_run *run)
{
        run->faces.count = ED_FACES_MAX;
        if (run->debug)
                ed_debug_late_ask(run->debug);
}

static int play(struct ed_test_run *run)
{
        struct eddy_run_opts opts = run->opts.run ? *run->opts.run : (struct eddy_run_opts){ 0 };
        int result;

        opts.report = on_report;
        opts.report_arg = run;
        opts.flags |= EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG;
        result = ed_test_world_new(run);
        if (result < 0)
                return result;
        ed_test_memory_count(run->opts.alloc_at, run->opts.alloc_forever, run->opts.alloc_again,
                             run->more.counts_debug);
        result = ed_run_open(run->sys, &opts, &run->run);
        if (result == 0) {
                level_modes(run->run);
                result = ed_run_main(run->run, run->main_fn, run->arg);
                if (!run->gave_up)
                        ed_run_end(run->run);
                if (run->gave_up) {
                        ed_test_memory_pause();
                        ed_trace_finish(run->run);
                        return result;
                }
                run->result.left.timers = run->run->loop.timers.count - run->run->loop.quiet_timers;
                ed_run_free(run->run);
        }
        run->run = NULL;
        run->sys = NULL;
        ed_test_memory_pause();
        return result;
}

/* A discarded table is not freed, so it does not fill in its statistics. */
static void end_fill(struct ed_test_run *run)
{
        if (!run->gave_up || !ed_sys_is_sim(run->sys))
                return;
        run->figures.end.trace = ed_sim_trace(run->sys);
        run->figures.end.calls = ed_sim_calls(run->sys);
        run->figures.end.lasted_ns = run->table.poll->now(run->sys) - run->begin_ns;
}

static void result_fill(struct ed_test_run *run, int result)
{
        const struct ed_sim_end *end = &run->figures.end;
        struct ed_test_memory memory;

        end_fill(run);
        ed_test_memory_look(&memory);
        run->result.result = result;
        run->result.trace = end->trace ^ run->draws;
        run->result.calls = end->calls;
        run->result.lasted_ns = end->lasted_ns;
        run->result.allocations = memory.asked;
        run->result.was_failed = memory.failed > 0 || end->faults > 0;
        run->figures.alloc_failed = memory.failed;
        run->descriptors = end->sockets;
        ed_test_strikes_look(&run->figures.strikes);
}

/* --- begin and end --- */

static void say_left(const char *what)
{
        static struct ed_test_strikes strikes;

        ed_sys_capture_give_up();
        ed_test_print_lines(now.name, &now.opts, now.result.problem);
        ed_test_strikes_look(&strikes);
        ed_test_print(now.name, &now.opts, what, &strikes);
        ed_trace_last_words(ed_test_memory_unhook);
}

void ed_test_last_words(void)
{
        if (ed_test_now)
                say_left("the process ends in this run");
}

/*
 * Report a run that exit() ended, or that was left by a jump without another run after it; not in a
 * child.
 */
static __attribute__((destructor)) void at_exit(void)
{
        if (ed_test_now && !ed_sys_forked_since(now.forks))
                say_left("it was left before its end");
        /* This library may be unloaded while its thread continues. */
        if (mine)
                ed_sys_thread_end_watch(ED_THREAD_END_KIT, NULL);
}

/* Returns true if the caller is part of the current run: a task, a callback, a job, 'after' ... */
static bool is_inside(const struct ed_test_run *run)
{
        const struct ed_task *task = ed_task_running();
        const char *here = __builtin_frame_address(0);

        if (run->run && task && task->loop == &run->run->loop && here >= task->stack->bottom &&
            here < task->stack->top)
                return true;
        /* A child forked by a task has no loop, but runs on that task's stack. */
        if (ed_sys_forked_since(run->forks) && !ed_sys_on_thread_stack(here))
                return true;
        return ed_sys_called_from(run->play_return);
}

/* Discard the run that this thread left by a jump. */
static void give_up_left(void)
{
        ed_test_found_end();
        say_left("it was left before its end");
        ed_test_units_end();
        ed_test_target_end(&now);
        ed_sys_last_words_set(ED_LAST_WORDS_KIT, NULL);
        ed_test_memory_left();
        drop(&now);
}

static void give_back(void)
{
        ed_sys_last_words_set(ED_LAST_WORDS_KIT, NULL);
        ed_test_now = NULL;
        mine = false;
        ed_sys_thread_end_watch(ED_THREAD_END_KIT, NULL);
        atomic_store(&taken, false);
}

/* Discard a run left by a jump, since only this thread can. */
static void on_thread_end(void)
{
        if (!mine || !ed_sys_on_thread_stack(__builtin_frame_address(0)))
                return;
        give_up_left();
        ed_test_sweep_forget();
        ed_test_explore_forget();
        give_back();
}

/* Errors: EDDY_E_RUN_NESTED; -EBUSY  another thread's run is in progress */
static int take(void)
{
        if (mine && is_inside(&now))
                return EDDY_E_RUN_NESTED;
        if (mine) {
                give_up_left();
        } else if (ed_loop_current) {
                return EDDY_E_RUN_NESTED;
        } else if (atomic_exchange(&taken, true)) {
                return -EBUSY;
        }
        mine = true;
        ed_sys_thread_end_watch(ED_THREAD_END_KIT, on_thread_end);
        return 0;
}

int ed_test_clear(void)
{
        int err = take();

        if (err == 0)
                give_back();
        return err;
}

void ed_test_name(const struct eddy_test_opts *opts, eddy_task_fn *main_fn, char *buf, size_t bytes)
{
        if (opts->name)
                snprintf(buf, bytes, "%s", opts->name);
        else
                ed_sys_symbol((const void *) main_fn, buf, bytes);
}

/* Run everything from 'before' to 'after'. Returns the result of main. */
static __attribute__((noinline)) int play_all(struct ed_test_run *run)
{
        int result;

        run->play_return = __builtin_return_address(0);
        if (run->opts.before)
                run->opts.before(run->arg);
        ed_test_left_note(run);
        result = play(run);
        result_fill(run, result);
        ed_test_choose_end(run);
        if (run->opts.after && run->opts.after(run->arg, result) < 0)
                ed_test_found(run, "'after' returned a failure");
        if (run->more.at_end)
                run->more.at_end();
        return result;
}

/* Initialise the run, and start to record findings. */
static void begin(struct ed_test_run *run, eddy_task_fn *main_fn, void *arg,
                  const struct eddy_test_opts *opts, const struct ed_test_more *more)
{
        memset(run, 0, sizeof(*run));
        run->main_fn = main_fn;
        run->arg = arg;
        if (opts)
                run->opts = *opts;
        if (more)
                run->more = *more;
        ed_test_name(&run->opts, main_fn, run->name, sizeof(run->name));
        ed_run_watch_forks();
        run->forks = ed_sys_forks();
        ed_test_strikes_begin(main_fn);
        ed_test_now = run;
        ed_test_found_begin(run);
        ed_sys_last_words_set(ED_LAST_WORDS_KIT, ed_test_last_words);
        ed_test_units_begin();
        ed_test_target_begin(run);
        ed_test_memory_begin();
}

static void capture_end(struct ed_test_run *run)
{
        int64_t bytes;

        if (!run->more.output)
                return;
        bytes = ed_sys_capture_end(run->more.output, run->more.output_max);
        run->figures.output_bytes =
                (size_t) bytes < run->more.output_max ? (size_t) bytes : run->more.output_max;
}

/* 'prints': the findings are printed. */
static int run_with(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                    const struct ed_test_more *more, bool prints,
                    struct eddy_test_result *ret_result, struct ed_test_figures *ret_figures)
{
        struct ed_test_run *run = &now;
        struct ed_test_schedule schedule = { 0 };
        int result;

        /* A value of 0 or more is not an error, so the run could not find anything. */
        if (opts && opts->call_at > 0 && opts->call_error >= 0)
                return -EINVAL;
        if (opts && opts->order && ed_test_schedule_read(opts->order, &schedule) < 0)
                return -EINVAL;
        result = take();
        if (result < 0)
                return result;
        result = more && more->output ? ed_sys_capture_begin() : 0;
        if (result < 0) {
                give_back();
                return result;
        }
        begin(run, main_fn, arg, opts, more);
        run->schedule = schedule;
        result = play_all(run);
        ed_test_units_end();
        ed_test_target_end(run);
        if (run->gave_up) {
                drop(run);
        } else {
                ed_test_left_find(run);
                ed_test_memory_end();
        }
        ed_test_found_end();
        capture_end(run);
        if (run->result.problem[0])
                result = EDDY_E_TEST_FOUND;
        if (prints && result == EDDY_E_TEST_FOUND)
                ed_test_print(run->name, &run->opts, run->result.problem, &run->figures.strikes);
        if (ret_result)
                *ret_result = run->result;
        if (ret_figures)
                *ret_figures = run->figures;
        give_back();
        return result;
}

int ed_test_run_with(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                     const struct ed_test_more *more, struct eddy_test_result *ret_result,
                     struct ed_test_figures *ret_figures)
{
        return run_with(main_fn, arg, opts, more, false, ret_result, ret_figures);
}

int eddy_test_run(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                  struct eddy_test_result *ret_result)
{
        return main_fn ? run_with(main_fn, arg, opts, NULL, true, ret_result, NULL) : -EINVAL;
}
