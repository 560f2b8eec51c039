/*
 * calls_log.c - the worlds of logs; see every_call.h.
 */
#include "every_call.h"

enum { LOGGERS = 3, LINES = 4, TEXT = 4000 };

static struct {
        eddy_log *log;
        eddy_stream *here, *there; /* the log writes to here */
        char text[TEXT];
        size_t bytes;
        int logged;
} web;

static void log_begin(void)
{
        struct eddy_stream_pair_opts pair = { .buffer_bytes = 1 + world_chance(300) };
        struct eddy_log_opts opts = { .format = EDDY_LOG_JSON };

        memset(&web, 0, sizeof(web));
        CHECK_EQ(eddy_stream_pair(&pair, &web.here, &web.there), 0);
        opts.stream = web.here;
        CHECK_EQ(eddy_log_open(&opts, &web.log), 0);
}

static int read_all(void *arg)
{
        int64_t n;

        (void) arg;
        while ((n = eddy_stream_read(web.there, web.text + web.bytes, TEXT - web.bytes)) > 0) {
                web.bytes += (size_t) n;
                CHECK(web.bytes < TEXT);
                if (world_chance(8) == 0)
                        world_pause();
        }
        CHECK_EQ(n, 0);
        return 0;
}

static void log_a_line(void)
{
        eddy_log_info(web.log, "m", eddy_log_int("i", web.logged));
        web.logged++;
}

/* Each line has arrived once, whole and in order. */
static void check_lines(void)
{
        const char *at = web.text;
        char end[40];

        for (int i = 0; i < web.logged; i++) {
                snprintf(end, sizeof(end), "\"message\":\"m\",\"i\":%d}\n", i);
                at = strstr(at, end);
                CHECK(at != NULL);
                at += strlen(end);
        }
        CHECK_EQ(*at, '\0');
}

/* --- flushing --- */

static int flush_log(void *arg)
{
        (void) arg;
        return eddy_log_flush(web.log);
}

static int log_and_flush(void *arg)
{
        for (int i = 0; i < LINES; i++) {
                int err;

                world_pause();
                log_a_line();
                err = victim_call(flush_log, arg);
                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

static int world_log_flush(void *arg)
{
        eddy_scope reader;

        log_begin();
        world_begin(LOGGERS);
        eddy_scope_begin(&reader, NULL);
        world_start(&reader, read_all, NULL, 1);
        world_run(log_and_flush, arg, LOGGERS);
        eddy_log_close(web.log);
        eddy_stream_close(web.here);
        CHECK_EQ(eddy_scope_end(&reader), 0);
        eddy_stream_close(web.there);
        check_lines();
        return 0;
}
EVERY_POINT(log_flush, eddy_log_flush)

/* --- closing --- */

static int close_log(void *arg)
{
        (void) arg;
        eddy_log_close(web.log);
        return 0;
}

static int log_and_close(void *arg)
{
        for (int i = 0; i < LINES; i++) {
                if (world_chance(2))
                        world_pause();
                log_a_line();
        }
        CHECK_EQ(victim_call(close_log, arg), 0);
        eddy_stream_close(web.here);
        return 0;
}

static int world_log_close(void *arg)
{
        eddy_scope scope;

        log_begin();
        world_begin(1);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, read_all, NULL, 1);
        world_start(&scope, log_and_close, arg, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(web.there);
        check_lines();
        return 0;
}
EVERY_POINT(log_close, eddy_log_close)

/* --- opening --- */

static int open_log(void *ret_log)
{
        const struct eddy_log_opts opts = { .path = "app.log" };

        return eddy_log_open(&opts, ret_log);
}

static int open_and_log(void *arg)
{
        eddy_log *log = NULL;
        int err;

        (void) arg;
        world_pause();
        err = victim_call(open_log, &log);
        CHECK(err == 0 || err == -ECANCELED);
        CHECK((log != NULL) == (err == 0));
        eddy_log_info(log, "m");
        eddy_log_close(log);
        return 0;
}

static int world_log_open(void *arg)
{
        int n = 1 + (int) world_chance(LOGGERS);

        world_begin(n);
        world_run(open_and_log, arg, n);
        return 0;
}
/* A thread of the simulated pool opens: schedules repeat. */
static const struct every_setup with_files = { .few = true };

EVERY_POINT_ON(log_open, eddy_log_open, with_files)
