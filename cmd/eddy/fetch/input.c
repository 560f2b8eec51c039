/*
 * fetch/input.c - reading URLs from the command line and a stream.
 */
#include <errno.h>
#include <string.h>

#include "eddy/stream.h"
#include "fetch/run.h"
#include "fetch/urls.h"

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

static int stream_add(struct ed_fetch_run *run, eddy_stream *stream, struct ed_urls *urls)
{
        for (;;) {
                size_t room_bytes;
                char *room = ed_urls_room(urls, &room_bytes);
                int64_t n = eddy_stream_read(stream, room, room_bytes);
                int err;

                if (n == -ECANCELED)
                        return -ECANCELED;
                /* Lines that were read before an error still count. */
                if (n < 0)
                        run->input_err = (int) n;
                if (n > 0)
                        ed_urls_grow(urls, (size_t) n);
                err = lines_add(run, urls, n <= 0);
                if (err < 0 || n <= 0)
                        return err;
        }
}

static int input_add(struct ed_fetch_run *run)
{
        eddy_stream *stream;
        struct ed_urls urls;
        int err;

        err = ed_urls_init(&urls);
        if (err < 0)
                return err;
        err = eddy_stream_from_fd(run->input_fd, 0, &stream);
        if (err < 0)
                goto fail_fini;
        err = stream_add(run, stream, &urls);
        eddy_stream_close(stream);
fail_fini:
        ed_urls_fini(&urls);
        return err;
}

int ed_fetch_read(void *arg)
{
        struct ed_fetch_run *run = arg;
        const struct ed_fetch_opts *opts = &run->opts;
        size_t i;
        int err = 0;

        for (i = 0; i < opts->urls_count && err == 0; i++)
                err = ed_fetch_add(run, opts->urls[i], strlen(opts->urls[i]), 0);
        run->stats.not_started += opts->urls_count - i;
        if (err == 0 && run->input_fd >= 0)
                err = input_add(run);
        if (err < 0 && err != -ECANCELED && run->input_err == 0)
                run->input_err = err;
        run->input_whole = err == 0 && run->input_err == 0;
        return 0;
}
