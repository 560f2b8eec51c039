/*
 * 50-own-stream - a stream of one's own, in about a hundred lines: it counts the bytes of any
 * stream below it and limits the rate of its writes.
 *
 * The operations never suspend, except `wait`.  Each reads or writes what is possible
 * now; eddy waits between the tries, refuses a second writer, and refuses writes after
 * a message that was cut off.  Everything that uses a stream can use this one: readers,
 * copies, TLS, HTTP.
 *
 * Run: 50-own-stream
 * Time: virtual 2 s
 * Output:
 *     2500 bytes arrived after 2000 ms
 *     2500 bytes written, 2 read
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

/* --- the stream --- */

enum { BYTES_PER_S = 1000, BURST_BYTES = 500 };

struct meter {
        struct eddy_stream stream; /* first */
        eddy_stream *lower;
        uint64_t read, written;
        int64_t next_ns; /* no write before this time */
};

static struct meter *meter_of(const eddy_stream *stream)
{
        return (struct meter *) (uintptr_t) stream;
}

static int64_t meter_try_read(eddy_stream *stream, void *buf, size_t bytes)
{
        struct meter *meter = meter_of(stream);
        int64_t n = eddy_stream_try_read(meter->lower, buf, bytes);

        meter->read += n > 0 ? (uint64_t) n : 0;
        return n;
}

static int64_t meter_try_writev(eddy_stream *stream, const struct eddy_slice *slices, size_t n)
{
        struct meter *meter = meter_of(stream);
        struct eddy_slice burst = slices[0];
        int64_t sent;

        (void) n; /* a part is enough */
        if (eddy_now() < meter->next_ns)
                return -EAGAIN;
        if (burst.bytes > BURST_BYTES)
                burst.bytes = BURST_BYTES;
        sent = eddy_stream_try_writev(meter->lower, &burst, 1);
        if (sent > 0) {
                meter->written += (uint64_t) sent;
                meter->next_ns = eddy_now() + sent * EDDY_SEC(1) / BYTES_PER_S;
        }
        return sent;
}

static int meter_wait(eddy_stream *stream, enum eddy_stream_side side)
{
        struct meter *meter = meter_of(stream);
        int64_t pause_ns = meter->next_ns - eddy_now();

        if (side == EDDY_STREAM_WRITING && pause_ns > 0)
                return eddy_sleep(pause_ns);
        return eddy_stream_wait(meter->lower, side);
}

static int meter_flush(eddy_stream *stream)
{
        return (int) eddy_stream_try_writev(meter_of(stream)->lower, NULL, 0);
}

static bool meter_is_readable(eddy_stream *stream)
{
        return eddy_stream_is_readable(meter_of(stream)->lower) > 0;
}

static int meter_shutdown(eddy_stream *stream)
{
        return eddy_stream_shutdown(meter_of(stream)->lower);
}

static void meter_close(eddy_stream *stream, unsigned flags)
{
        struct meter *meter = meter_of(stream);

        printf("%d bytes written, %d read\n", (int) meter->written, (int) meter->read);
        if (flags & EDDY_STREAM_ABORT)
                eddy_stream_abort(meter->lower);
        else if (flags & EDDY_STREAM_NO_WAIT)
                eddy_stream_close_now(meter->lower);
        else
                eddy_stream_close(meter->lower);
        free(meter);
}

static const struct eddy_stream_ops meter_ops = {
        .kind = "meter",
        .try_read = meter_try_read,
        .try_writev = meter_try_writev,
        .flush = meter_flush,
        .wait = meter_wait,
        .is_readable = meter_is_readable,
        .shutdown = meter_shutdown,
        .close = meter_close,
};

/* Takes 'lower', also if it fails. */
static eddy_stream *meter_open(eddy_stream *lower)
{
        struct meter *meter = calloc(1, sizeof(*meter));

        if (!meter) {
                eddy_stream_close(lower);
                return NULL;
        }
        meter->lower = lower;
        eddy_stream_init(&meter->stream, &meter_ops);
        return &meter->stream;
}

/* --- its use --- */

static int receive(void *arg)
{
        int64_t began_ns = eddy_now();
        eddy_reader reader;
        char buf[256];
        uint64_t bytes;
        int err;

        eddy_reader_init(&reader, arg, buf, sizeof(buf));
        err = eddy_reader_skip(&reader, 2500, &bytes);
        printf("%d bytes arrived after %d ms\n", (int) bytes,
               (int) ((eddy_now() - began_ns) / EDDY_MS(1)));
        return err < 0 ? err : eddy_stream_write(arg, "ok", 2);
}

static int app(void *arg)
{
        static const char block[2500];
        EDDY_AUTO(eddy_stream) eddy_stream *meter = NULL, *peer = NULL;
        eddy_stream *lower;
        eddy_scope scope;
        char answer[2];
        int err = eddy_stream_pair(NULL, &lower, &peer);

        (void) arg;
        if (err < 0)
                return err;
        meter = meter_open(lower);
        if (!meter)
                return -ENOMEM;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, receive, peer);
        err = eddy_stream_write(meter, block, sizeof(block));
        if (err == 0 && eddy_stream_read(meter, answer, sizeof(answer)) != sizeof(answer))
                err = -EPIPE;
        return eddy_scope_end_with(&scope, err);
}

int main(void)
{
        int err = eddy_run(app, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "%s\n", eddy_error_text(err));
        return err < 0;
}
