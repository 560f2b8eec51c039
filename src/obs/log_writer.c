/*
 * obs/log_writer.c - writing the ring of a log to its output.
 *
 * A background task writes while there is something to write, and ends then: an idle log has no task,
 * and lines that are in the ring when the main task ends are written while the background drains. A
 * task that flushes or closes the log writes too, unless another task is in a write.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "obs/log.h"
#include "scope/run.h"
#include "scope/suspend.h"

/* A write to a regular file is done at once, so a piece must not keep the loop. */
enum { PIECE_BYTES = 64 * 1024 };

#define CLOSE_NS EDDY_SEC(1)

/* Wake all that wait for a write. */
static void pulse(eddy_log *log)
{
        (void) eddy_event_set(&log->moved);
        eddy_event_clear(&log->moved);
}

/* --- one write --- */

/* The output is broken: the lines in the ring are lost. Later lines are tried again. */
static void give_up(eddy_log *log, int err)
{
        bool report_is_lost = log->ring.removed < log->report_end;
        size_t lines = ed_log_ring_drop(&log->ring, log->file != NULL);

        log->error = err;
        log->failures++;
        log->is_held = false;
        if (report_is_lost) {
                lines--;
                log->unreported += log->reported;
        }
        log->report_end = 0;
        log->stats.dropped += lines;
        log->unreported += lines;
}

/* Returns the bytes written, or an error. */
static int64_t write_piece(eddy_log *log)
{
        struct eddy_slice piece = ed_log_ring_piece(&log->ring, PIECE_BYTES);
        int err;

        if (log->stream)
                return eddy_stream_write_some(log->stream, &piece, 1);
        err = eddy_file_write(log->file, piece.data, piece.bytes);
        return err < 0 ? err : (int64_t) piece.bytes;
}

/* Bytes that a stream such as TLS has taken are passed on before they count as written. */
static int pass_on(eddy_log *log)
{
        int err = log->stream ? eddy_stream_write(log->stream, NULL, 0) : 0;

        if (err == 0)
                log->is_held = false;
        return err;
}

/*
 * Write a part of the first 'end' bytes ever added, or wait for the task that does. Errors:
 * -ECANCELED, and those of the output.
 */
static int write_some(eddy_log *log, uint64_t end)
{
        int64_t n;

        if (log->is_writing)
                return eddy_event_wait(&log->moved);
        log->is_writing = true;
        n = log->ring.removed < end ? write_piece(log) : pass_on(log);
        log->is_writing = false;
        if (n > 0) {
                ed_log_ring_remove(&log->ring, (size_t) n);
                log->is_held = true;
        } else if (n < 0 && n != -ECANCELED) {
                give_up(log, (int) n);
        }
        pulse(log);
        return n < 0 ? (int) n : 0;
}

/* --- the background task --- */

static bool has_work(const eddy_log *log)
{
        return !log->is_stopping && (log->ring.count > 0 || log->is_held);
}

static int log_writer(void *arg)
{
        eddy_log *log = arg;
        eddy_scope scope;
        int err = 0;

        eddy_scope_begin(&scope, NULL);
        log->writing = &scope;
        while (err != -ECANCELED && has_work(log)) {
                err = write_some(log, log->ring.added);
                if (err == 0 && !has_work(log))
                        ed_log_report_dropped(log); /* later lines may never come */
        }
        log->writing = NULL;
        (void) eddy_scope_end(&scope);
        log->has_writer = false;
        pulse(log);
        return 0;
}

void ed_log_writer_start(eddy_log *log)
{
        struct ed_task *task;

        if (!log->has_writer && !log->is_stopping)
                log->has_writer = ed_background_start(log->member.loop, log_writer, log,
                                                      "log_writer", NULL, &task) == 0;
}

/* --- flushing and closing --- */

static int flush(eddy_log *log)
{
        uint64_t end = log->ring.added, failures = log->failures;
        int err = 0;

        while (err == 0 && log->failures == failures && (log->ring.removed < end || log->is_held))
                err = write_some(log, end);
        return log->failures == failures ? err : log->error;
}

int eddy_log_flush(eddy_log *log)
{
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err < 0 || !log)
                return err;
        if (log->member.loop != task->loop)
                return EDDY_E_RUN_OTHER_LOOP;
        ed_suspend_passed(task);
        return flush(log);
}

/* Wait until no task uses the log, for as long as a write that cannot be cancelled takes. */
static void stop(eddy_log *log)
{
        log->is_stopping = true;
        if (log->writing)
                eddy_scope_cancel(log->writing);
        while (log->has_writer) {
                eddy_scope shield;
                int err;

                eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
                err = eddy_event_wait(&log->moved);
                (void) eddy_scope_end_with(&shield, err);
        }
}

static void log_free(eddy_log *log)
{
        if (log->own_stream)
                eddy_stream_close(log->stream);
        eddy_file_close(log->file);
        ed_log_ring_fini(&log->ring);
        ed_member_leave(&log->member);
        ed_free(log);
}

void eddy_log_close(eddy_log *log)
{
        eddy_scope shield;

        if (log && !log->member.loop) {
                log_free(log); /* what it holds could only be written in its run */
                return;
        }
        if (!log || !ed_task_running() || log->member.loop != ed_loop_current)
                return;
        ed_log_report_left_out(log);
        ed_log_report_dropped(log);
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .timeout_ns = CLOSE_NS });
        (void) flush(log);
        (void) eddy_scope_end(&shield);
        stop(log);
        log_free(log);
}
