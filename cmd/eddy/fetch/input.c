/*
 * fetch/input.c - reading URLs from the command line and a stream into the queue.
 */
#include <errno.h>
#include <string.h>

#include "common/outcome.h"
#include "eddy/alloc.h"
#include "eddy/stream.h"
#include "fetch/run.h"
#include "fetch/urls.h"

/* Queue an item for the workers. Errors: -ECANCELED, -ENOMEM */
static int item_put(struct ed_fetch_run *run, const char *url, size_t bytes, int error)
{
        struct ed_fetch_item *item = eddy_malloc(sizeof(*item) + bytes + ED_URLS_STARS_BYTES + 1);
        int err;

        if (!item)
                return -ENOMEM;
        *item = (struct ed_fetch_item){ .index = run->stats.read, .error = error, .bytes = bytes };
        memcpy(item->url, url, bytes);
        item->url[bytes] = '\0';
        run->stats.read++;
        /* Start one worker per item, up to -c workers. */
        if (run->workers < run->opts.concurrency &&
            eddy_scope_start(run->work, ed_fetch_work, run) == 0)
                run->workers++;
        err = eddy_queue_put(&run->queue, &item);
        if (err < 0)
                ed_fetch_skip(run, item);
        return err;
}

/* Queue the complete lines. */
static int lines_put(struct ed_fetch_run *run, struct ed_urls *urls, bool at_end)
{
        struct ed_urls_line line;
        int err;

        while (ed_urls_next(urls, at_end, &line)) {
                run->input_done = line.offset;
                run->input_urls++;
                err = item_put(run, line.data, line.bytes, line.error);
                if (err < 0)
                        return err;
        }
        return 0;
}

static int stream_put(struct ed_fetch_run *run, eddy_stream *stream, struct ed_urls *urls)
{
        for (;;) {
                size_t room_bytes;
                char *room = ed_urls_room(urls, &room_bytes);
                int64_t n = eddy_stream_read(stream, room, room_bytes);
                int err;

                if (n == -ECANCELED)
                        return -ECANCELED;
                /* Lines read before an error still count. */
                if (n < 0)
                        run->input_err = (int) n;
                if (n > 0)
                        ed_urls_grow(urls, (size_t) n);
                err = lines_put(run, urls, n <= 0);
                if (err < 0 || n <= 0)
                        return err;
        }
}

static int input_put(struct ed_fetch_run *run)
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
        err = stream_put(run, stream, &urls);
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
                err = item_put(run, opts->urls[i], strlen(opts->urls[i]), 0);
        run->stats.not_started += opts->urls_count - i;
        if (err == 0 && run->input_fd >= 0)
                err = input_put(run);
        if (err < 0 && err != -ECANCELED && run->input_err == 0)
                run->input_err = err;
        run->input_whole = err == 0 && run->input_err == 0;
        eddy_queue_shutdown(&run->queue, 0);
        return 0;
}
