/*
 * io/process_talk.c - writing a child's input while both its outputs are read.
 *
 * Each output has a task, so that a full pipe never keeps the child from reading or writing another
 * one. All that was moved is in the process, so a cancelled call can be continued.
 */
#include <errno.h>

#include "eddy/error.h"
#include "eddy/scope.h"
#include "io/process.h"
#include "scope/suspend.h"

enum { READ_BYTES = 64 * 1024 };

/* An output in a call. */
struct reading {
        eddy_process *process;
        eddy_stream *stream; /* NULL: nothing to read */
        int which;           /* 0: standard output; 1: standard error */
        size_t bytes_max;
        bool *has_failed; /* a reading of this call; the scope reports a single failure */
};

/*
 * Read to the end. The buffer may hold a byte more than the limit, which proves that the limit is
 * exceeded without losing the byte, and a zero byte after that.
 */
static int read_to_end(struct reading *reading)
{
        struct ed_process_talk *talk = &reading->process->talk;
        struct ed_buf *buf = &talk->outputs[reading->which];
        size_t want;
        char *room;
        int64_t n;
        int err;

        buf->max = reading->bytes_max + 2;
        while (!talk->is_read[reading->which]) {
                if (ed_buf_bytes(buf) > reading->bytes_max)
                        return EDDY_E_PROCESS_TOO_LARGE;
                want = reading->bytes_max + 1 - ed_buf_bytes(buf);
                if (want > READ_BYTES)
                        want = READ_BYTES;
                err = ed_buf_reserve(buf, want + 1, &room);
                if (err < 0)
                        return err;
                n = eddy_stream_read(reading->stream, room, want);
                room[n > 0 ? n : 0] = '\0';
                if (n < 0)
                        return (int) n;
                ed_buf_grow(buf, (size_t) n);
                talk->is_read[reading->which] = n == 0;
        }
        return 0;
}

static int read_all(void *arg)
{
        struct reading *reading = arg;
        int err = read_to_end(reading);

        /* The call returns the first failure: debug mode need not report another one as unread. */
        if (err < 0 && *reading->has_failed)
                return -ECANCELED;
        *reading->has_failed = *reading->has_failed || err < 0;
        return err;
}

/* A child that has closed its standard input does not want the rest. */
static int write_all(eddy_process *process, const struct eddy_process_communicate_opts *opts)
{
        struct ed_process_talk *talk = &process->talk;
        eddy_stream *stream = process->streams[0];
        int64_t n;

        if (!stream || talk->is_fed)
                return 0;
        while (talk->fed < opts->input_bytes) {
                struct eddy_slice rest = { (const char *) opts->input + talk->fed,
                                           opts->input_bytes - talk->fed };

                n = eddy_stream_write_some(stream, &rest, 1);
                if (n == -EPIPE || n == -ECONNRESET)
                        break;
                /* The terminal of a child that has ended. */
                if (n == -EIO && process->has_terminal)
                        break;
                if (n < 0)
                        return (int) n;
                talk->fed += (size_t) n;
        }
        if (!process->has_terminal)
                (void) eddy_stream_shutdown(stream);
        talk->is_fed = true;
        return 0;
}

static int talk(eddy_process *process, const struct eddy_process_communicate_opts *opts)
{
        bool has_failed = false;
        struct reading readings[] = {
                { process, eddy_process_stdout(process), 0, opts->out_bytes_max, &has_failed },
                { process, eddy_process_stderr(process), 1, opts->err_bytes_max, &has_failed },
        };
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        for (size_t i = 0; i < ed_array_count(readings); i++)
                if (readings[i].stream && !process->talk.is_read[i])
                        eddy_scope_start(&scope, read_all, &readings[i]);
        err = eddy_scope_end_with(&scope, write_all(process, opts));
        return err < 0 ? err : eddy_process_wait(process, NULL);
}

static void fill(const eddy_process *process, struct eddy_process_output *ret_output)
{
        const struct ed_buf *out = &process->talk.outputs[0], *err = &process->talk.outputs[1];

        *ret_output = (struct eddy_process_output){
                .out = out->memory ? ed_buf_data(out) : "",
                .err = err->memory ? ed_buf_data(err) : "",
                .out_bytes = ed_buf_bytes(out),
                .err_bytes = ed_buf_bytes(err),
                .exit = process->exit,
        };
}

static bool has_input(const eddy_process *process, const struct eddy_process_communicate_opts *opts)
{
        return opts->input_bytes == 0 || (opts->input && process->streams[0]);
}

int eddy_process_communicate(eddy_process *process,
                             const struct eddy_process_communicate_opts *opts,
                             struct eddy_process_output *ret_output)
{
        struct eddy_process_communicate_opts own = { .input = NULL };
        struct ed_task *task;
        int err = ed_suspend_enter(&task);

        if (err == 0)
                err = ed_process_check_use(process);
        if (err < 0)
                return err;
        if (opts)
                own = *opts;
        if (own.out_bytes_max == 0)
                own.out_bytes_max = EDDY_PROCESS_OUTPUT_BYTES;
        if (own.err_bytes_max == 0)
                own.err_bytes_max = EDDY_PROCESS_OUTPUT_BYTES;
        if (!has_input(process, &own) || own.out_bytes_max > SIZE_MAX / 4 ||
            own.err_bytes_max > SIZE_MAX / 4)
                return -EINVAL;
        if (process->talk.busy)
                return -EBUSY;
        process->talk.busy = true;
        err = talk(process, &own);
        process->talk.busy = false;
        if (err == 0 && ret_output)
                fill(process, ret_output);
        return err;
}

int eddy_process_output(eddy_process *process, struct eddy_process_output *ret_output)
{
        int err = ed_process_check_use(process);

        if (err < 0)
                return err;
        if (process->talk.busy)
                return -EBUSY;
        fill(process, ret_output);
        return 0;
}
