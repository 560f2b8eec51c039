/*
 * 108-utc-lines - gives each line of standard input an id and its time in UTC, however long the line
 * is.
 *
 * A line begins with a time of RFC 3339.  A long line comes in pieces: the text after the time is
 * cut, and the rest of the line is only counted.  The ids are in the order of the lines.  All lines that
 * are ready are written at once; only the flush at the end is checked, because the writer keeps
 * the first error.
 *
 * Run: (printf '2026-11-23T06:05:06.5+02:00 up\n1996-12-19T16:39:57-08:00 '; seq -s , 1000; echo now down) | 108-utc-lines | cut -c 38-
 * Exit: 0
 * Time: wall 0 s
 * Output:
 *     2026-11-23T04:05:06.500Z up
 *     1996-12-20T00:39:57.000Z 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 and 3854 bytes
 *     not a time: now down
 *
 * Run: for i in 1 2 3 4 5 6 7 8 9; do echo 2026-11-23T04:05:06Z; done | 108-utc-lines | sort -uc && echo in order
 * Time: wall 0 s
 * Output:
 *     in order
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { LINE_BYTES = 64 };

/* Skip what is left of a line. Returns the number of its bytes, or an error. */
static int64_t skip_rest(eddy_reader *in)
{
        bool is_end = false;
        int64_t n = 1, skipped = 0;

        while (n > 0 && !is_end) {
                size_t bytes = 0;
                char *piece;

                n = eddy_reader_line_piece(in, &piece, &bytes, &is_end);
                skipped += (int64_t) bytes;
        }
        return n < 0 ? n : skipped;
}

static void write_line(eddy_writer *out, const char *line, size_t bytes)
{
        const char *space = memchr(line, ' ', bytes);
        size_t time_bytes = space ? (size_t) (space - line) : bytes;
        char id[EDDY_UUID_TEXT_BYTES], time[EDDY_RFC3339_TEXT_BYTES] = "not a time:";
        struct eddy_uuid uuid;
        int64_t time_ns;

        eddy_uuid_v7(&uuid);
        eddy_uuid_format(&uuid, id);
        if (eddy_rfc3339_parse(line, time_bytes, &time_ns) == 0)
                eddy_rfc3339_format(time_ns, 3, time);
        else
                time_bytes = 0;
        eddy_writer_printf(out, "%s %s", id, time);
        if (time_bytes == 0)
                eddy_writer_write(out, " ", 1);
        eddy_writer_write(out, line + time_bytes, bytes - time_bytes);
}

static int convert(eddy_reader *in, eddy_writer *out)
{
        size_t bytes;
        bool is_end;
        char *line;
        int64_t n;

        while ((n = eddy_reader_line_piece(in, &line, &bytes, &is_end)) > 0) {
                write_line(out, line, bytes);
                n = is_end ? 0 : skip_rest(in);
                if (n < 0)
                        break;
                if (n > 0)
                        eddy_writer_printf(out, " and %lld bytes", (long long) n);
                eddy_writer_write(out, "\n", 1);
                if (eddy_reader_buffered(in) == 0 && (n = eddy_writer_flush(out)) < 0)
                        break;
        }
        return (int) n;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_stream) eddy_stream *input = NULL, *output = NULL;
        static char out_buf[4096];
        char in_buf[LINE_BYTES];
        eddy_reader in;
        eddy_writer out;
        int err;

        (void) arg;
        err = eddy_stream_from_fd(0, 0, &input);
        if (err == 0)
                err = eddy_stream_from_fd(1, 0, &output);
        if (err < 0)
                return err;
        eddy_reader_init(&in, input, in_buf, sizeof(in_buf));
        eddy_writer_init(&out, output, out_buf, sizeof(out_buf));
        err = convert(&in, &out);
        return err < 0 ? err : eddy_writer_flush(&out);
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "108-utc-lines: %s\n", eddy_error_text(err));
        return err < 0;
}
