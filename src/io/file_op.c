/*
 * io/file_op.c - doing an operation on a file: at once, on a thread, or by the table.
 */
#include "io/file_op.h"

#include <errno.h>

#include "eddy/thread.h"
#include "scope/suspend.h"
#include "scope/trace/trace.h"

/* --- on a thread --- */

struct call {
        struct ed_file_op *op;
        struct ed_sys *sys;
};

static int run(void *arg)
{
        struct call *call = arg;

        call->sys->file->run(call->sys, call->op);
        return 0;
}

static int64_t do_on_thread(struct ed_task *task, struct ed_file_op *op)
{
        struct call call = { op, task->loop->sys };
        int err = eddy_thread_pool_call_named(NULL, run, &call, NULL, "a file operation");

        return err < 0 ? err : op->result;
}

/* --- by the table --- */

static void on_done(struct ed_target *target, unsigned events)
{
        struct ed_file_op *op = ed_container_of(target, struct ed_file_op, done);

        (void) events;
        ed_suspend_wake(op->owner, 0);
}

static bool take_back(void *arg)
{
        struct ed_file_op *op = arg;
        struct ed_task *task = op->owner;
        struct ed_sys *sys = task->loop->sys;

        return sys->file_queue->cancel(sys, op);
}

static int64_t do_submitted(struct ed_task *task, struct ed_file_op *op)
{
        struct ed_loop *loop = task->loop;
        int err;

        op->done.on_events = on_done;
        op->owner = task;
        loop->sys->file_queue->submit(loop->sys, op);
        loop->waits++;
        err = ed_suspend_park(task, "a file", take_back, op);
        loop->waits--;
        return err < 0 ? err : op->result;
}

/* --- at once --- */

static const char *name_of(enum ed_file_call call)
{
        static const char *const names[ED_FILE_CALLS] = {
                [ED_FILE_OPEN] = "open",          [ED_FILE_OPEN_UNNAMED] = "open",
                [ED_FILE_OPEN_FOLDER] = "open",   [ED_FILE_READ] = "read",
                [ED_FILE_WRITE] = "write",        [ED_FILE_SYNC] = "fsync",
                [ED_FILE_TRUNCATE] = "ftruncate", [ED_FILE_CHMOD] = "fchmod",
                [ED_FILE_SEEK] = "lseek",         [ED_FILE_STAT] = "fstat",
                [ED_FILE_LIST] = "getdents",      [ED_FILE_STAT_PATH] = "stat",
                [ED_FILE_RENAME] = "rename",      [ED_FILE_REMOVE] = "unlink",
                [ED_FILE_MAKE_FOLDER] = "mkdir",  [ED_FILE_REMOVE_FOLDER] = "rmdir",
                [ED_FILE_OPEN_BENEATH] = "open",
        };

        return names[call];
}

static int64_t do_op(struct ed_task *task, struct ed_file_op *op)
{
        struct ed_sys *sys = task->loop->sys;
        int64_t result = sys->file->try_run(sys, op);

        if (result != -EAGAIN) {
                ed_suspend_passed(task);
                return result;
        }
        return sys->file_queue ? do_submitted(task, op) : do_on_thread(task, op);
}

/* An open has the new descriptor, and only reads and writes have bytes. */
static void trace(struct ed_loop *loop, const struct ed_file_op *op, int64_t result)
{
        bool is_open =
                (op->call == ED_FILE_OPEN || op->call == ED_FILE_OPEN_BENEATH) && result >= 0;
        bool has_bytes = op->call == ED_FILE_READ || op->call == ED_FILE_WRITE;

        ed_trace_io(loop, name_of(op->call),
                    is_open    ? (int) result
                    : op->path ? -1
                               : op->fd,
                    result > 0 && !has_bytes ? 0 : result);
}

int64_t ed_file_do(struct ed_file_op *op)
{
        struct ed_task *task;
        int64_t result;
        int err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        result = do_op(task, op);
        if (ed_unlikely(task->loop->trace != NULL))
                trace(task->loop, op, result);
        return result;
}
