/*
 * io/process.c - child processes: starting them, waiting for their end, signals.
 *
 * A thread starts the child, because loading a program may wait for a disk. The pidfd of the child
 * is watched from its start on, so a child is collected soon after its end although no task waits.
 * Without pidfds (Valgrind 3.19, some sandboxes) a timer looks instead.
 */
#include "io/process.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/thread.h"
#include "io/pipe.h"
#include "scope/debug/debug.h"
#include "scope/waiters.h"
#include "sys/process/fork.h"

enum { LOOK_NS = 10000000 };

enum { FLAGS = EDDY_PROCESS_GROUP | EDDY_PROCESS_SESSION | EDDY_PROCESS_TERMINAL };

/* --- the processes of a loop --- */

static const char processes_key;

static void streams_close(eddy_process *process)
{
        for (int i = 0; i < ED_PROCESS_STREAMS; i++) {
                eddy_stream_close(process->streams[i]);
                process->streams[i] = NULL;
        }
}

/* The run ends: open processes lose their streams, and those that were left are forgotten. */
static void processes_free(struct ed_loop_local *local)
{
        struct ed_processes *processes = ed_container_of(local, struct ed_processes, local);

        while (!ed_list_is_empty(&processes->open)) {
                eddy_process *process =
                        ed_container_of(processes->open.next, struct eddy_process, link);

                ed_list_remove(&process->link);
                streams_close(process);
                ed_process_unwatch(process);
                ed_member_leave(&process->member);
        }
        while (!ed_list_is_empty(&processes->left)) {
                eddy_process *process =
                        ed_container_of(processes->left.next, struct eddy_process, link);

                ed_process_look(process);
                ed_process_detach(process);
                ed_process_free(process);
        }
        ed_free(processes);
}

struct ed_processes *ed_processes_of(struct ed_loop *loop)
{
        struct ed_loop_local *local = ed_loop_local_find(loop, &processes_key);
        struct ed_processes *processes;

        if (local)
                return ed_container_of(local, struct ed_processes, local);
        processes = ed_alloc_zero(sizeof(*processes));
        if (!processes)
                return NULL;
        processes->local.key = &processes_key;
        processes->local.free = processes_free;
        ed_list_init(&processes->open);
        ed_list_init(&processes->left);
        ed_loop_local_add(loop, &processes->local);
        return processes;
}

int ed_process_check_use(const eddy_process *process)
{
        if (!process)
                return -EINVAL;
        if (ed_sys_forked_since(process->forks))
                return EDDY_E_LOOP_FORKED;
        return ed_member_check(&process->member);
}

/* --- its end --- */

void ed_process_unwatch(eddy_process *process)
{
        struct ed_loop *loop = process->member.loop;

        if (!process->is_watched)
                return;
        process->is_watched = false;
        ed_timer_cancel(&loop->timers, &process->timer);
        if (process->id.pidfd < 0)
                return;
        loop->sys->poll->unwatch(loop->sys, process->id.pidfd);
        ed_loop_forget(loop, &process->target);
}

void ed_process_detach(eddy_process *process)
{
        struct ed_loop *loop = process->member.loop;

        ed_process_unwatch(process);
        if (process->is_held && process->id.pidfd >= 0)
                loop->sys->socket->close(loop->sys, process->id.pidfd);
        process->is_held = false;
}

void ed_process_collect(eddy_process *process)
{
        struct ed_sys *sys = process->member.loop->sys;
        struct eddy_process_exit unused;

        if (process->is_held)
                (void) sys->process->end(sys, &process->id, false, &unused);
        ed_process_detach(process);
}

static void wake_waiters(eddy_process *process)
{
        int result = process->state == ED_PROCESS_ENDED ? 0 : EDDY_E_PROCESS_COLLECTED;
        struct ed_waiter *waiter;

        while ((waiter = ed_waiters_first(process->waiters))) {
                *(struct eddy_process_exit *) waiter->item = process->exit;
                ed_waiters_serve(waiter, result);
        }
}

void ed_process_look(eddy_process *process)
{
        struct ed_sys *sys = process->member.loop->sys;
        int err;

        if (process->state != ED_PROCESS_RUNNING)
                return;
        /* The leader of a group keeps its number until the close, for signals to the group. */
        err = sys->process->end(sys, &process->id, process->has_group, &process->exit);
        if (err == -EAGAIN)
                return;
        process->state = err == 0 ? ED_PROCESS_ENDED : ED_PROCESS_COLLECTED;
        if (process->has_group && err == 0)
                ed_process_unwatch(process);
        else
                ed_process_detach(process);
        wake_waiters(process);
}

/* Without a pidfd, look from time to time. */
static void timer_arm(eddy_process *process)
{
        struct ed_loop *loop = process->member.loop;

        ed_timer_arm(&loop->timers, &process->timer, ed_loop_now(loop) + LOOK_NS);
}

static void look_again(eddy_process *process)
{
        ed_process_look(process);
        /* A process that was closed before its end. */
        if (process->is_left && process->state != ED_PROCESS_RUNNING)
                ed_process_free(process);
}

static void on_events(struct ed_target *target, unsigned events)
{
        (void) events;
        look_again(ed_container_of(target, struct eddy_process, target));
}

static void on_timer(struct ed_timer *timer)
{
        eddy_process *process = ed_container_of(timer, struct eddy_process, timer);

        timer_arm(process);
        look_again(process);
}

/* Errors: -ENOMEM, -ENOSPC. */
static int watch(eddy_process *process)
{
        struct ed_sys *sys = process->member.loop->sys;
        int err;

        if (process->is_watched)
                return 0;
        if (process->id.pidfd < 0) {
                timer_arm(process);
                process->is_watched = true;
                return 0;
        }
        err = sys->poll->watch(sys, process->id.pidfd, &process->target);
        process->is_watched = err == 0;
        return err;
}

/* Returns the result of a wait that need not wait, or -EAGAIN. */
static int result_now(eddy_process *process, struct eddy_process_exit *ret_exit)
{
        ed_process_look(process);
        switch (process->state) {
        case ED_PROCESS_RUNNING:
                return -EAGAIN;
        case ED_PROCESS_COLLECTED:
                return EDDY_E_PROCESS_COLLECTED;
        default:
                if (ret_exit)
                        *ret_exit = process->exit;
                return 0;
        }
}

int eddy_process_try_wait(eddy_process *process, struct eddy_process_exit *ret_exit)
{
        int err = ed_process_check_use(process);

        return err < 0 ? err : result_now(process, ret_exit);
}

int eddy_process_wait(eddy_process *process, struct eddy_process_exit *ret_exit)
{
        struct eddy_process_exit end;
        struct ed_waiter waiter;
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err == 0)
                err = ed_process_check_use(process);
        if (err < 0)
                return err;
        err = result_now(process, ret_exit);
        if (err != -EAGAIN) {
                ed_suspend_passed(task);
                return err;
        }
        err = watch(process);
        if (err < 0)
                return err;
        ed_waiter_init(&waiter, task, &end);
        ed_waiters_push(process->waiters, &waiter);
        task->loop->waits++;
        err = ed_suspend_park(task, "the end of a process", ed_waiters_abort, &waiter);
        task->loop->waits--;
        if (err == 0 && ret_exit)
                *ret_exit = end;
        return err;
}

/* --- starting --- */

/* Returns true if standard streams can be as requested. */
static bool are_streams_valid(const struct eddy_process_opts *opts)
{
        const struct eddy_process_io *io[] = { &opts->in, &opts->out, &opts->err };

        for (int i = 0; i < ED_PROCESS_STREAMS; i++) {
                if (io[i]->kind > EDDY_PROCESS_STDOUT)
                        return false;
                if (io[i]->kind == EDDY_PROCESS_STDOUT && io[i] != &opts->err)
                        return false;
                if (io[i]->kind != EDDY_PROCESS_INHERIT && opts->flags & EDDY_PROCESS_TERMINAL)
                        return false;
        }
        return true;
}

static bool are_valid(const struct eddy_process_opts *opts)
{
        return opts && !(opts->flags & ~(uint32_t) FLAGS) && are_streams_valid(opts) &&
               opts->at_close <= EDDY_PROCESS_LEAVE && opts->grace_ns >= 0;
}

/* Make the streams without their descriptors. */
static int streams_new(eddy_process *process, const struct ed_process_start *start)
{
        process->has_terminal = start->flags & EDDY_PROCESS_TERMINAL;
        if (process->has_terminal) {
                process->streams[0] = ed_pipe_new(process->member.loop, ED_PIPE_TERMINAL);
                return process->streams[0] ? 0 : -ENOMEM;
        }
        for (int i = 0; i < ED_PROCESS_STREAMS; i++) {
                if (start->io[i].kind != EDDY_PROCESS_PIPE)
                        continue;
                process->streams[i] = ed_pipe_new(process->member.loop, ED_PIPE);
                if (!process->streams[i])
                        return -ENOMEM;
        }
        return 0;
}

static eddy_process *process_new(struct ed_loop *loop, const struct eddy_process_opts *opts)
{
        eddy_process *process = ed_alloc_zero(sizeof(*process));

        if (!process)
                return NULL;
        ed_member_join(&process->member, loop, NULL);
        ed_list_init(&process->link);
        process->target.on_events = on_events;
        ed_timer_init(&process->timer, on_timer);
        process->forks = ed_sys_forks();
        process->id.pidfd = -1;
        process->exit.code = -1;
        process->at_close = opts->at_close;
        process->grace_ns = opts->grace_ns ? opts->grace_ns : EDDY_PROCESS_GRACE_NS;
        return process;
}

void ed_process_empty(eddy_process *process)
{
        streams_close(process);
        for (size_t i = 0; i < ed_array_count(process->talk.outputs); i++)
                ed_buf_fini(&process->talk.outputs[i]);
}

void ed_process_free(eddy_process *process)
{
        ed_list_remove(&process->link);
        ed_process_empty(process);
        ed_member_leave(&process->member);
        ed_free(process);
}

/* On a thread. */
struct job {
        struct ed_sys *sys;
        struct ed_process_start *start;
};

static int run_job(void *arg)
{
        struct job *job = arg;

        job->sys->process->start(job->sys, job->start);
        return 0;
}

/* The thread has started the child: nothing fails from here on. */
static void process_attach(eddy_process *process, const struct ed_process_start *start)
{
        process->id = start->id;
        process->is_held = !start->is_collected;
        process->has_group = start->flags != 0;
        if (start->is_collected)
                process->state = ED_PROCESS_COLLECTED;
        for (int i = 0; i < ED_PROCESS_STREAMS; i++)
                if (process->streams[i])
                        ed_pipe_attach(process->streams[i], start->ends[i]);
        /* Without memory to watch it, a wait tries again and reports the error. */
        if (process->is_held)
                (void) watch(process);
        ed_debug_made(process, ED_DEBUG_PROCESS);
}

/* Those that were left, and could not be watched. */
static void look_at_left(struct ed_processes *processes)
{
        struct ed_list *link = processes->left.next;

        while (link != &processes->left) {
                eddy_process *process = ed_container_of(link, struct eddy_process, link);

                link = link->next;
                if (watch(process) == 0)
                        continue;
                ed_process_look(process);
                if (process->state != ED_PROCESS_RUNNING)
                        ed_process_free(process);
        }
}

static int start_in(struct ed_processes *processes, struct ed_process_start *start,
                    eddy_process *process)
{
        struct job job = { process->member.loop->sys, start };
        int err = streams_new(process, start);

        if (err == 0)
                err = eddy_thread_pool_call_named(NULL, run_job, &job, NULL,
                                                  "the start of a process");
        if (err == 0)
                err = start->result;
        if (err < 0)
                return err;
        process_attach(process, start);
        ed_list_push_back(&processes->open, &process->link);
        return 0;
}

int eddy_process_start(const struct eddy_process_opts *opts, eddy_process **ret_process)
{
        struct ed_process_start start = { .result = 0 };
        struct ed_process_shell shell;
        struct ed_processes *processes;
        eddy_process *process;
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        if (!are_valid(opts))
                return -EINVAL;
        if (!task->loop->sys->process)
                return EDDY_E_PROCESS_SIMULATED;
        start.folder = opts->folder;
        start.io[0] = opts->in;
        start.io[1] = opts->out;
        start.io[2] = opts->err;
        start.flags = opts->flags;
        start.rows = opts->rows;
        start.columns = opts->columns;
        err = ed_process_strings_make(opts, &shell, &start);
        if (err < 0)
                return err;
        processes = ed_processes_of(task->loop);
        if (processes)
                look_at_left(processes);
        process = processes ? process_new(task->loop, opts) : NULL;
        err = process ? start_in(processes, &start, process) : -ENOMEM;
        ed_process_strings_free(&start);
        if (err == 0)
                *ret_process = process;
        else if (process)
                ed_process_free(process);
        return err;
}

/* --- its parts --- */

int eddy_process_pid(const eddy_process *process)
{
        return process ? process->id.pid : -1;
}

eddy_stream *eddy_process_stdin(eddy_process *process)
{
        return process ? process->streams[0] : NULL;
}

eddy_stream *eddy_process_stdout(eddy_process *process)
{
        return process ? process->streams[process->has_terminal ? 0 : 1] : NULL;
}

eddy_stream *eddy_process_stderr(eddy_process *process)
{
        return process ? process->streams[2] : NULL;
}

/* --- signals --- */

int eddy_process_signal(eddy_process *process, int signo)
{
        struct ed_sys *sys;
        int err = ed_process_check_use(process);

        if (err < 0)
                return err;
        ed_process_look(process);
        if (process->state != ED_PROCESS_RUNNING)
                return -ESRCH;
        sys = process->member.loop->sys;
        return sys->process->signal(sys, &process->id, false, signo);
}

int eddy_process_signal_group(eddy_process *process, int signo)
{
        int err = ed_process_check_use(process);

        return err < 0 ? err : ed_process_send_group(process, signo);
}

int ed_process_send_group(eddy_process *process, int signo)
{
        struct ed_sys *sys = process->member.loop->sys;
        struct eddy_process_exit unused;
        int err;

        if (!process->has_group)
                return -ENOTSUP;
        if (!process->is_held)
                return -ESRCH;
        /* If other code has collected the leader, another group may have its number. */
        err = sys->process->end(sys, &process->id, true, &unused);
        if (err < 0 && err != -EAGAIN)
                return -ESRCH;
        return sys->process->signal(sys, &process->id, true, signo);
}
