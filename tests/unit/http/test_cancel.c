/*
 * test_cancel.c - a call of the client cancelled at each place where it
 * suspends: before its slot, connecting, sending, at the head, in the body.
 *
 * Afterwards every slot is given back, no connection
 * lies idle that was cancelled in the middle, and the client works.
 */
#include "cancel_at.h"
#include "http_test.h"
#include "scope/task.h"

enum { BODY_BYTES = 300000 };

static char upload[BODY_BYTES];

struct sweep {
        struct rig rig;
        eddy_listener *listener;
        const char *path;
        const char *method;
        size_t body_bytes;
        int holds; /* connections that are in use meanwhile */
        bool warm;
        bool source; /* the body is read from a source */ /* an idle connection is there */
        int cancelled;                                    /* calls, at a suspension */
};

static int answer(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        const void *body;
        size_t bytes;
        int err;

        (void) arg;
        if (strcmp(path, "/stream") == 0)
                return http_echo(exchange, NULL);
        err = eddy_http_exchange_body(exchange, &body, &bytes);
        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        if (err < 0)
                return err;
        if (strcmp(path, "/short") == 0)
                return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
        err = eddy_http_exchange_begin(exchange, 200, NULL, 0,
                                       strcmp(path, "/length") == 0 ? 8 : -1);
        for (int i = 0; i < 4 && err == 0; i++) {
                err = eddy_http_exchange_write(exchange, "ab", 2);
                if (err == 0)
                        err = eddy_sleep(EDDY_MS(1));
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int serve(void *arg)
{
        struct sweep *sweep = arg;

        return eddy_http_serve(sweep->listener, NULL, answer, NULL);
}

static int64_t source_read(void *arg, void *buf, size_t bytes)
{
        size_t *left = arg, n = *left < bytes ? *left : bytes;

        if (eddy_sleep(EDDY_MS(1)) < 0)
                return -ECANCELED;
        memcpy(buf, upload + BODY_BYTES - *left, n);
        *left -= n;
        return (int64_t) n;
}

static int call_with_source(struct sweep *sweep)
{
        size_t left = BODY_BYTES;
        struct eddy_http_body_source source = { .read = source_read, .arg = &left, .bytes = -1 };

        return rig_fetch(&sweep->rig, &(struct eddy_http_request){ .url = sweep->path,
                                                                   .method = sweep->method,
                                                                   .body_source = &source });
}

static int one_call(void *arg)
{
        struct sweep *sweep = arg;

        if (sweep->source)
                return call_with_source(sweep);
        return rig_fetch(&sweep->rig, &(struct eddy_http_request){
                                              .url = sweep->path,
                                              .method = sweep->method,
                                              .body = sweep->body_bytes ? upload : NULL,
                                              .body_bytes = sweep->body_bytes,
                                      });
}

static int hold(void *arg)
{
        return rig_get(arg, "/chunks");
}

/* Cancel at the n-th suspension; false: there was none. */
static bool cancel_one(struct sweep *sweep, int n)
{
        struct eddy_http_client_stats stats;
        eddy_scope holders;
        bool reached;
        int err;

        CHECK_EQ(eddy_http_client_new(OPTIONS(.connections_max = 1), &sweep->rig.client), 0);
        if (sweep->warm)
                CHECK_EQ(rig_get(&sweep->rig, "/short"), 0);
        eddy_scope_begin(&holders, NULL);
        for (int i = 0; i < sweep->holds; i++)
                CHECK_EQ(eddy_scope_start(&holders, hold, &sweep->rig), 0);
        if (sweep->holds)
                CHECK_EQ(eddy_sleep(0), 0);
        err = cancel_at(n, one_call, sweep, &reached);
        if (err != 0)
                CHECK_ERR(err, -ECANCELED);
        if (err != 0 && n > 0)
                sweep->cancelled++;
        CHECK(reached || err == 0);
        CHECK_EQ(eddy_scope_end(&holders), 0);
        eddy_http_client_stats(sweep->rig.client, &stats);
        CHECK_EQ(stats.waiting, 0);
        CHECK_EQ(stats.open, stats.idle);
        CHECK(stats.open <= 1);
        /* A request that was begun leaves no connection; an unused connection is kept. */
        if (err < 0 && !sweep->warm && !sweep->holds)
                CHECK_EQ(stats.open + stats.spare, n > 0 && stats.requests == 0);
        else
                CHECK_EQ(stats.spare, 0);
        /* It still works, and nobody gets the rest of another's response. */
        CHECK_EQ(rig_get(&sweep->rig, "/short"), 0);
        CHECK_STR(sweep->rig.body, "ok");
        CHECK_EQ(rig_get(&sweep->rig, "/length"), 0);
        CHECK_STR(sweep->rig.body, "abababab");
        CHECK_STATS(sweep->rig.client, 1, 1, 0);
        eddy_http_client_close(sweep->rig.client);
        return reached;
}

static int sweep_main(void *arg)
{
        struct sweep *sweep = arg;
        eddy_scope scope;
        int n = 0;

        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &sweep->listener), 0);
        snprintf(sweep->rig.url, sizeof(sweep->rig.url), "http://127.0.0.1:%u",
                 eddy_listener_port(sweep->listener));
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve, sweep), 0);
        while (cancel_one(sweep, n))
                n++;
        CHECK(n >= (sweep->warm ? 2 : 3)); /* connect, head, ... */
        CHECK_EQ(sweep->cancelled, n - 1);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(sweep->listener);
        return 0;
}

static void sweep(const struct sweep *how)
{
        static struct sweep run;

        run = *how;
        http_run(sweep_main, &run);
}

/* B3, B5, B7: Each slot is given back, and the next request works. */
TEST(short_exchange_is_cancelled_everywhere)
{
        sweep(&(struct sweep){ .path = "/short" });
}

TEST(chunked_exchange_is_cancelled_everywhere)
{
        sweep(&(struct sweep){ .path = "/chunks" });
}

TEST(exchange_of_stated_length_is_cancelled_everywhere)
{
        sweep(&(struct sweep){ .path = "/length" });
}

/* B7: A cancel while the body is sent. */
TEST(upload_is_cancelled_everywhere)
{
        sweep(&(struct sweep){ .path = "/chunks", .method = "PUT", .body_bytes = BODY_BYTES });
}

TEST(streaming_both_ways_is_cancelled_everywhere)
{
        sweep(&(struct sweep){ .path = "/stream", .method = "PUT", .body_bytes = BODY_BYTES });
}

TEST(upload_from_a_source_is_cancelled_everywhere)
{
        sweep(&(struct sweep){ .path = "/chunks", .method = "PUT", .source = true });
        sweep(&(struct sweep){ .path = "/stream", .method = "PUT", .source = true });
}

TEST(exchange_on_an_idle_connection_is_cancelled_everywhere)
{
        sweep(&(struct sweep){ .path = "/chunks", .warm = true });
}

/* B4: A cancel while the request waits for a slot, or has just got one. */
TEST(waiting_exchange_is_cancelled_everywhere)
{
        sweep(&(struct sweep){ .path = "/chunks", .holds = 2 });
}
