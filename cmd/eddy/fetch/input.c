/*
 * fetch/input.c - reading URLs from the command line and a stream, which may be compressed.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/unpack.h"
#include "eddy/alloc.h"
#include "eddy/stream.h"
#include "eddy/time.h"
#include "fetch/run.h"
#include "fetch/urls.h"

enum { READ_BYTES = 64 << 10 };

/* Start the jobs of the complete lines. */
static int lines_add(struct ed_fetch_run *run, struct ed_urls *urls, bool at_end)
{
        struct ed_urls_line line;
        int err;

        while (ed_urls_next(urls, at_end, &line)) {
                run->input_done = line.offset;
                run->input_urls++;
                err = ed_fetch_add(run, line.data, line.bytes, line.error);
                if (err < 0)
                        return err;
        }
        return 0;
}

/* The URLs of an input that may be compressed. */
struct input {
        struct ed_fetch_run *run;
        struct ed_unpack unpack;
        struct ed_urls urls;
        char buf[READ_BYTES];
};

/* Take bytes of the input; 0 bytes are its end. */
static int bytes_add(struct input *input, size_t bytes)
{
        const char *data = input->buf;
        bool at_end = bytes == 0;

        for (;;) {
                size_t room_bytes, taken;
                char *room = ed_urls_room(&input->urls, &room_bytes);
                int64_t n = ed_unpack_some(&input->unpack, at_end ? NULL : data, bytes, &taken,
                                           room, room_bytes);
                int err;

                if (n < 0) {
                        input->run->input_err = n == -EINVAL ? -EBADMSG : (int) n;
                        return 0;
                }
                data += taken;
                bytes -= taken;
                ed_urls_grow(&input->urls, (size_t) n);
                err = lines_add(input->run, &input->urls, at_end && n == 0);
                if (err < 0 || (n == 0 && bytes == 0))
                        return err;
        }
}

static int stream_add(struct input *input, eddy_stream *stream)
{
        struct ed_fetch_run *run = input->run;

        for (;;) {
                int64_t n = eddy_stream_read(stream, input->buf, READ_BYTES);
                int err;

                if (n == -ECANCELED)
                        return -ECANCELED;
                /* Lines before an error still count, but not the one in which it was. */
                if (n < 0) {
                        run->input_err = (int) n;
                        return 0;
                }
                err = bytes_add(input, (size_t) n);
                if (input->unpack.kind > ED_UNPACK_PLAIN)
                        run->input_total = 0; /* the size of the text is unknown */
                if (err < 0 || n == 0 || run->input_err < 0)
                        return err;
        }
}

static int input_add(struct ed_fetch_run *run)
{
        struct input *input = eddy_malloc(sizeof(*input));
        eddy_stream *stream;
        int err;

        if (!input)
                return -ENOMEM;
        input->run = run;
        ed_unpack_init(&input->unpack);
        err = ed_urls_init(&input->urls);
        if (err < 0)
                goto fail_unpack;
        err = eddy_stream_from_fd(run->input_fd, 0, &stream);
        if (err < 0)
                goto fail_urls;
        err = stream_add(input, stream);
        eddy_stream_close(stream);
fail_urls:
        ed_urls_fini(&input->urls);
fail_unpack:
        ed_unpack_fini(&input->unpack);
        eddy_free(input);
        return err;
}

/* Start requests of the only URL, as many as -n says, or until --duration has passed. */
static int repeat_add(struct ed_fetch_run *run)
{
        const struct ed_fetch_opts *opts = &run->opts;
        int64_t end_ns = opts->repeat ? INT64_MAX : run->stats.start_ns + opts->duration.ns;
        uint64_t left = opts->repeat ? opts->repeat : UINT64_MAX;
        int err = 0;

        for (; left > 0 && err == 0 && eddy_now() < end_ns; left--)
                err = ed_fetch_add(run, opts->urls[0], strlen(opts->urls[0]), 0);
        if (opts->repeat)
                run->stats.not_started += left;
        return err;
}

static int urls_add(struct ed_fetch_run *run)
{
        const struct ed_fetch_opts *opts = &run->opts;
        size_t i;
        int err = 0;

        for (i = 0; i < opts->urls_count && err == 0; i++)
                err = ed_fetch_add(run, opts->urls[i], strlen(opts->urls[i]), 0);
        run->stats.not_started += opts->urls_count - i;
        return err;
}

int ed_fetch_read(void *arg)
{
        struct ed_fetch_run *run = arg;
        const struct ed_fetch_opts *opts = &run->opts;
        int err = opts->repeat || opts->duration.ns ? repeat_add(run) : urls_add(run);

        if (err == 0 && run->input_fd >= 0)
                err = input_add(run);
        if (err < 0 && err != -ECANCELED && run->input_err == 0)
                run->input_err = err;
        run->input_whole = err == 0 && run->input_err == 0;
        return 0;
}
