/*
 * test/world.c - the table of a run.
 *
 * The simulated table with two functions wrapped: each choice of the next task, and each poll, is a
 * suspension point, at which the main task may be cancelled and limits are checked.
 */
#include <errno.h>

#include "base/def.h"
#include "base/random.h"
#include "eddy/time.h"
#include "scope/debug/debug.h"
#include "scope/run_state.h"
#include "scope/scope.h"
#include "test/run.h"

/* Limits for a program that never waits, or only briefly. */
enum { POINTS_MAX = 20000000 };

#define LIMIT_NS EDDY_SEC(3600)

/* --- points --- */

/* Returns true if main was cancelled now and is ready. */
static bool cancel_main(struct ed_test_run *run, const void *from)
{
        eddy_task *task = run->run ? run->run->main_task : NULL;

        if (!task) {
                /* Wait for main to start, but not after its end. */
                run->cancel_due = !run->run || run->run->main_fn;
                return false;
        }
        run->cancel_due = false;
        if (eddy_task_is_done(task))
                return false;
        run->result.was_cancelled = 1;
        eddy_task_cancel(task);
        ed_test_strike_cancel(task->task, 0, false, from);
        return true;
}

/* Returns true if a task was made ready. 'from': the return address of the table's function. */
static bool point(struct ed_test_run *run, const void *from)
{
        run->result.points++;
        if (run->more.at_point && run->more.at_point())
                return true;
        if (ed_test_target_point(run, from))
                return true;
        if (run->opts.cancel_task > 0)
                return false;
        if (run->result.points == run->opts.cancel_at || run->cancel_due)
                return cancel_main(run, from);
        return false;
}

static void note_order(struct ed_test_run *run, uint64_t n, uint64_t chosen)
{
        run->figures.order = (run->figures.order ^ (n << 32 | chosen)) * 0x100000001b3ULL;
        run->figures.order ^= run->figures.order >> 29;
}

/* The kernel's table has no randomness of its own. */
static uint32_t choose_at_point(struct ed_sys *sys, uint32_t n)
{
        struct ed_test_run *run = ed_test_now;
        uint32_t chosen;

        (void) point(run, __builtin_return_address(0));
        if (run->opts.order) {
                chosen = ed_test_choose(run, n);
                if (!run->more.on_epoll)
                        ed_sim_chose(sys, n, chosen);
        } else if (run->table.choose) {
                chosen = run->table.choose(sys, n);
        } else {
                chosen = (uint32_t) (ed_splitmix_next(&run->chance) % n);
        }
        note_order(run, n, chosen);
        ed_test_chose(run, n, chosen);
        return chosen;
}

/* --- limits --- */

static void give_up(struct ed_test_run *run, int64_t most, const char *what)
{
        char tasks[ED_TEST_TASKS_BYTES];

        run->gave_up = true;
        (void) ed_test_left_name(run, tasks, sizeof(tasks));
        ed_test_found(run, "it did not end within %lld %s: %s", (long long) most, what, tasks);
        run->run->stop = run->run->ended = true;
}

/* Print the limit exactly, in the largest unit up to milliseconds. */
static void give_up_in(struct ed_test_run *run, int64_t limit_ns)
{
        if (limit_ns % EDDY_MS(1) == 0)
                give_up(run, limit_ns / EDDY_MS(1), "ms of virtual time");
        else if (limit_ns % EDDY_US(1) == 0)
                give_up(run, limit_ns / EDDY_US(1), "us of virtual time");
        else
                give_up(run, limit_ns, "ns of virtual time");
}

static void look_at_limits(struct ed_test_run *run)
{
        int64_t limit_ns = run->opts.limit_ns ? run->opts.limit_ns : LIMIT_NS;

        if (run->gave_up || limit_ns < 0)
                return;
        if (run->table.poll->now(run->sys) - run->begin_ns > limit_ns)
                give_up_in(run, limit_ns);
        else if (run->result.points > POINTS_MAX)
                give_up(run, POINTS_MAX, "suspension points");
}

/* Record the background tasks that remain when the drain time has passed. */
static void look_at_background(struct ed_test_run *run)
{
        int64_t deadline_ns = ed_scope_of(&run->run->root)->deadline_ns;

        if (run->drained || !run->run->closing || deadline_ns == 0 ||
            run->table.poll->now(run->sys) < deadline_ns)
                return;
        run->drained = true;
        run->left_tasks = ed_test_left_name(run, run->left_text, sizeof(run->left_text));
}

static int poll_at_point(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max)
{
        struct ed_test_run *run = ed_test_now;
        int n;

        /* A task cancelled here is ready to run, so do not wait. */
        if (point(run, __builtin_return_address(0)))
                timeout_ns = 0;
        n = run->table.poll->poll(sys, timeout_ns, events, max);
        note_order(run, UINT32_MAX, (uint64_t) n);
        if (run->run) {
                look_at_limits(run);
                look_at_background(run);
                if (run->run->debug)
                        ed_debug_late_ask(run->run->debug);
        }
        return n;
}

/* --- the table --- */

static void call_at_fault(enum ed_sim_call call)
{
        ed_test_strike_call(call, __builtin_return_address(0));
}

int ed_test_world_new(struct ed_test_run *run)
{
        struct ed_sim_opts opts = run->more.sim;
        int err;

        opts.seed = run->opts.seed;
        opts.end = &run->figures.end;
        opts.at_fault = run->opts.call_at > 0 ? call_at_fault : NULL;
        err = run->more.on_epoll ? ed_sys_epoll_new(&run->sys) : ed_sim_new(&opts, &run->sys);
        if (err < 0)
                return err;
        run->table = *run->sys;
        run->begin_ns = run->table.poll->now(run->sys);
        run->chance = run->opts.seed;
        if (!run->more.on_epoll || run->more.at_point) {
                run->wrapped = *run->table.poll;
                run->wrapped.poll = poll_at_point;
                run->sys->poll = &run->wrapped;
                run->sys->choose = choose_at_point;
        }
        if (!run->more.on_epoll && run->opts.call_at > 0)
                ed_sim_fail_at(run->sys, run->opts.call_at, run->opts.call_error);
        if (run->more.at_table)
                run->more.at_table(run->sys);
        return 0;
}
