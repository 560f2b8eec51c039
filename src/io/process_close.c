/*
 * io/process_close.c - ending a child process, in a bounded time, and collecting it.
 */
#include <errno.h>

#include "eddy/call.h"
#include "eddy/scope.h"
#include "eddy/time.h"
#include "io/process.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/waiters.h"
#include "sys/process/fork.h"

enum { KILL_WAIT_NS = 1000000000, LOOK_NS = 5000000 };

/* Send a signal to the process and, if it has one, its whole group. */
static void signal_all(eddy_process *process, int signo)
{
        if (!process->has_group || ed_process_send_group(process, signo) < 0)
                (void) eddy_process_signal(process, signo);
}

/* Wait for the end, also without memory to watch for it. */
static int await_end(void *arg)
{
        eddy_process *process = arg;
        int err = eddy_process_wait(process, NULL);

        while (process->state == ED_PROCESS_RUNNING && err != -ECANCELED) {
                err = eddy_sleep(LOOK_NS);
                ed_process_look(process);
        }
        return 0;
}

/* If an enclosing shield has less time, both waits are shorter; SIGKILL is always sent. */
static void end_in_task(eddy_process *process)
{
        bool is_gentle = process->at_close == EDDY_PROCESS_TERMINATE;
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD, .timeout_ns = KILL_WAIT_NS };
        eddy_scope shield;

        if (is_gentle && process->grace_ns > INT64_MAX - KILL_WAIT_NS)
                process->grace_ns = INT64_MAX - KILL_WAIT_NS;
        if (is_gentle)
                opts.timeout_ns += process->grace_ns;
        eddy_scope_begin(&shield, &opts);
        if (is_gentle && process->state == ED_PROCESS_RUNNING) {
                signal_all(process, SIGTERM);
                (void) eddy_call_timeout(await_end, process, process->grace_ns);
        }
        signal_all(process, SIGKILL);
        (void) await_end(process);
        (void) eddy_scope_end(&shield);
}

/* Without a task there is no way to wait but to block, for at most a second. */
static void end_blocking(eddy_process *process, bool kill)
{
        if (process->is_held)
                ed_process_finish(&process->id, process->has_group, kill);
        process->is_held = false;
        process->state = ED_PROCESS_COLLECTED;
}

/* The process runs on: its loop collects it when it ends. */
static void leave(eddy_process *process)
{
        struct ed_processes *processes = ed_processes_of(process->member.loop);

        process->is_left = true;
        process->has_group = false; /* no signal follows, so its number need not be kept */
        ed_process_empty(process);
        ed_list_remove(&process->link);
        ed_list_push_back(&processes->left, &process->link);
}

static void close_in_run(eddy_process *process)
{
        bool ends = process->at_close != EDDY_PROCESS_LEAVE;

        ed_process_look(process);
        if (ends && (process->state == ED_PROCESS_RUNNING || process->has_group)) {
                if (ed_task_running()) {
                        end_in_task(process);
                } else {
                        ed_process_unwatch(process);
                        end_blocking(process, true);
                }
        }
        while (ed_waiters_wake(process->waiters, -ECANCELED))
                continue;
        if (process->state == ED_PROCESS_RUNNING) {
                leave(process);
                return;
        }
        ed_process_collect(process);
        ed_process_free(process);
}

void eddy_process_close(eddy_process *process)
{
        if (!process)
                return;
        if (!ed_sys_forked_since(process->forks) &&
            !ed_misuse_may_close(&process->member, "a process"))
                return;
        ed_debug_gone(process);
        if (ed_sys_forked_since(process->forks)) {
                if (process->is_held)
                        ed_process_fd_close(&process->id);
                ed_process_free(process);
        } else if (!process->member.loop) {
                end_blocking(process, process->at_close != EDDY_PROCESS_LEAVE);
                ed_process_free(process);
        } else {
                close_in_run(process);
        }
}
