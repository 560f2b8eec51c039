/*
 * 94-number-lines - a filter that numbers lines, and reports their count on standard error every 200 ms.
 *
 * Standard input and output may be a terminal, a pipe, a socket or a file: eddy_stream_from_fd()
 * makes a stream of each, and other tasks run while a task waits for input or for room. The
 * descriptors' flags do not change, so a shell that shares the terminal is not disturbed. If the
 * reader of standard output has closed the pipe, the filter ends without an error.
 *
 * Run: printf 'one\ntwo\nthree' | 94-number-lines
 * Time: wall 0 s
 * Output:
 *          1  one
 *          2  two
 *          3  three
 *
 * Run: (echo one; sleep 2; echo two) | 94-number-lines 2>&1 >/dev/null | head -2
 * Time: wall 2 s
 * Output:
 *     <n> lines so far
 *     <n> lines so far
 *
 * Run: FILE=$(mktemp); seq 100000 >$FILE; 94-number-lines <$FILE | tail -1; rm $FILE
 * Time: wall 0 s
 * Output:
 *     100000  100000
 *
 * Run: seq 1000000 | 94-number-lines | head -1
 * Time: wall 0 s
 * Output:
 *          1  1
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "eddy/eddy.h"

enum { LINE_BYTES_MAX = 65536 };

static unsigned long lines;

/* Print the count of lines every 200 ms. */
static int tick(void *arg)
{
        char buf[64];
        eddy_writer report;
        int err = 0;

        eddy_writer_init(&report, arg, buf, sizeof(buf));
        while (err == 0) {
                err = eddy_sleep(EDDY_MS(200));
                eddy_writer_printf(&report, "%lu lines so far\n", lines);
                if (err == 0)
                        err = eddy_writer_flush(&report);
        }
        /* The filter does not depend on a reader of its reports. */
        return err == -EPIPE ? 0 : err;
}

static int number_lines(eddy_stream *in, eddy_stream *out)
{
        static char buf[LINE_BYTES_MAX], numbered[4096];
        eddy_reader reader;
        eddy_writer writer;
        char *line;
        size_t bytes;
        int64_t n;

        eddy_reader_init(&reader, in, buf, sizeof(buf));
        eddy_writer_init(&writer, out, numbered, sizeof(numbered));
        while ((n = eddy_reader_line(&reader, &line, &bytes)) > 0) {
                eddy_writer_printf(&writer, "%6lu  ", ++lines);
                eddy_writer_write(&writer, line, bytes);
                eddy_writer_write(&writer, "\n", 1);
                n = eddy_writer_flush(&writer);
                if (n < 0)
                        break;
        }
        return n == -EPIPE ? 0 : (int) n;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_stream) eddy_stream *in = NULL;
        EDDY_AUTO(eddy_stream) eddy_stream *out = NULL;
        EDDY_AUTO(eddy_stream) eddy_stream *report = NULL;
        eddy_task *ticker = NULL;
        eddy_scope scope;
        int err = eddy_stream_from_fd(STDIN_FILENO, 0, &in);

        (void) arg;
        if (err == 0)
                err = eddy_stream_from_fd(STDOUT_FILENO, 0, &out);
        if (err == 0)
                err = eddy_stream_from_fd(STDERR_FILENO, 0, &report);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_task(&scope, tick, report, NULL, &ticker);
        if (err == 0)
                err = number_lines(in, out);
        eddy_task_cancel(ticker);
        eddy_task_release(ticker);
        return eddy_scope_end_with(&scope, err);
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "94-number-lines: %s\n", eddy_error_text(err));
        return err < 0;
}
