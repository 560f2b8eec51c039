/*
 * http/h2_client_conn.c - a client's connection of HTTP/2: its session, its slots and its end.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/h2_client.h"
#include "http/pool_origin.h"
#include "scope/run.h"

enum {
        STREAM_WINDOW_BYTES = 256 << 10,
        CONNECTION_WINDOW_BYTES = 16 << 20,
        /* nghttpd and Node end a connection after about 1,000 streams that were reset at once. */
        CANCELS_MAX = 500,
        STRAYS_MAX = 100000,
        QUIET_MAX = 16,
        HEAD_DECODED_BYTES_MAX = 16 << 20, /* a head that is too large is counted up to here */
};

#define SILENCE_NS EDDY_SEC(30) /* without a byte, while a request waits: then a PING is sent ... */
#define PONG_NS    EDDY_SEC(15) /* ... and this is the time for its answer */

static struct ed_h2_session *session_of(const struct ed_h2 *h2)
{
        return ed_container_of(h2, struct ed_h2_session, h2);
}

void ed_h2_session_unref(struct ed_h2_session *session)
{
        eddy_http_client *client = session->client;

        if (--session->refs > 0)
                return;
        ed_free(session);
        ed_http_client_unref(client);
}

/* ---- the operations of the session ------------------------------------------------ */

/* Wait, and ask a peer that has been silent for long whether it is there. */
static int session_wait(struct ed_h2 *h2)
{
        struct ed_h2_session *session = session_of(h2);
        struct eddy_scope_opts opts;
        eddy_scope scope;
        int err;

        /* The answer may be far back in the queue of a slow path: other bytes are one, too. */
        if (h2->active_ns > session->pinged_ns)
                session->pinged_ns = 0;
        opts = (struct eddy_scope_opts){ .deadline_ns = session->pinged_ns
                                                                ? session->pinged_ns + PONG_NS
                                                                : h2->active_ns + SILENCE_NS };
        eddy_scope_begin(&scope, &opts);
        err = ed_h2_wait(h2, &scope);
        if (eddy_scope_end(&scope) != -ETIMEDOUT || err != -ECANCELED)
                return err;
        if (session->pinged_ns)
                return EDDY_E_NET_TIMED_OUT;
        if (h2->streams_count > 0) {
                if (nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, NULL) < 0)
                        return -ENOMEM;
                session->pinged_ns = eddy_now();
                ed_h2_wake(h2);
        } else {
                h2->active_ns = eddy_now();
        }
        return 0;
}

static void session_pong(struct ed_h2 *h2)
{
        session_of(h2)->pinged_ns = 0;
}

/* Returns how many streams the peer takes, of those that the client would begin. */
static uint32_t streams_max(const struct ed_h2_session *session)
{
        uint32_t most = nghttp2_session_get_remote_settings(
                session->h2.session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);

        return most < ED_HTTP_SLOTS_MAX ? most : ED_HTTP_SLOTS_MAX;
}

/* Lend as many slots as the peer takes streams, but not those of streams that end quietly. */
static void set_slots(struct ed_h2_session *session)
{
        uint32_t most = streams_max(session);

        /* nghttp2 lets one that is above the limit wait. */
        if (session->quiet > 0)
                most = most > session->quiet ? most - session->quiet : most > 0;
        ed_http_conn_set_slots(session->conn, most);
}

static void session_settings(struct ed_h2 *h2)
{
        struct ed_h2_session *session = session_of(h2);

        session->has_settings = true;
        if (session->conn)
                set_slots(session);
}

static void session_goaway(struct ed_h2 *h2, int32_t last_id, uint32_t code)
{
        struct ed_h2_session *session = session_of(h2);

        (void) last_id;
        session->needs_http1 |= code == NGHTTP2_HTTP_1_1_REQUIRED;
        if (session->conn)
                ed_http_conn_drain(session->conn);
}

void ed_h2_session_cancels(struct ed_h2_session *session)
{
        if (session->conn && !ed_h2_bucket_take(&session->cancels, eddy_now()))
                ed_http_conn_drain(session->conn);
}

bool ed_h2_session_may_be_quiet(const struct ed_h2_session *session)
{
        /* The peer may never send the rests: requests keep a stream. */
        return session->conn && session->quiet < QUIET_MAX &&
               session->quiet + 1 < streams_max(session);
}

void ed_h2_session_quiet(struct ed_h2_session *session, int change)
{
        session->quiet += (uint32_t) change;
        if (session->conn && session->h2.session && !session->is_over)
                set_slots(session);
}

static const struct ed_h2_ops session_ops = {
        .wait = session_wait,
        .part = ed_h2_request_part,
        .closed = ed_h2_request_closed,
        .free = ed_h2_request_free,
        .settings = session_settings,
        .goaway = session_goaway,
        .pong = session_pong,
};

/* ---- its task --------------------------------------------------------------------- */

/* Returns the error of the requests whose connection has ended with 'err'. */
static int error_of(const struct ed_h2_session *session, int err)
{
        if (!session->conn)
                return EDDY_E_HTTP_CLIENT_CLOSED;
        if (session->h2.fault != 0)
                return EDDY_E_HTTP_INVALID_RESPONSE;
        /* The peer has ended the connection; the writing task may see that first. */
        return err == 0 || err == -ECONNRESET || err == -EPIPE || err == -ECANCELED
                       ? EDDY_E_HTTP_CLOSED
                       : err;
}

static int session_run(void *arg)
{
        struct ed_h2_session *session = arg;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        session->running = &scope;
        if (!session->conn) /* given up before it began */
                eddy_scope_cancel(&scope);
        err = ed_h2_run(&session->h2, NULL, 0);
        (void) eddy_scope_end(&scope);
        session->running = NULL;
        session->is_over = true;
        ed_h2_end(&session->h2, error_of(session, err));
        if (session->owns_stream)
                eddy_stream_close_now(session->h2.stream);
        else
                ed_http_conn_drain(session->conn);
        ed_h2_session_unref(session);
        return 0;
}

/* ---- the operations of the pool ----------------------------------------------------- */

static void set_limits(struct ed_h2_opts *opts)
{
        opts->limits[ED_H2_SETTINGS] = 200;
        opts->limits[ED_H2_PINGS] = 1000;
        opts->limits[ED_H2_OTHERS] = 1000;
        opts->limits[ED_H2_EMPTY] = 1000;
        /* Answers to requests that were cancelled arrive, too: what remains costs a hundredth of a core. */
        opts->limits[ED_H2_RESETS] = STRAYS_MAX;
        opts->limits[ED_H2_STRAYS] = STRAYS_MAX;
        opts->limits[ED_H2_UPDATES] = STRAYS_MAX;
        opts->limits[ED_H2_CONTINUATIONS] = 64;
        opts->limits[ED_H2_HEAD] = HEAD_DECODED_BYTES_MAX;
}

static int h2_begin(struct ed_http_conn *conn, eddy_stream *stream)
{
        eddy_http_client *client = ed_container_of(conn->pool, eddy_http_client, pool);
        struct ed_h2_session *session = ed_alloc_zero(sizeof(*session));
        struct ed_h2_opts opts = {
                .ops = &session_ops,
                .stream = stream,
                .memory = &client->h2_memory,
                .credit_at_receipt = true,
                .stream_window = STREAM_WINDOW_BYTES,
                .connection_window = CONNECTION_WINDOW_BYTES,
                .fields_max = client->limits.fields_max,
                .head_bytes_max = client->limits.head_bytes_max,
        };
        struct ed_task *task;
        int err;

        if (!session)
                return -ENOMEM;
        set_limits(&opts);
        err = ed_h2_init(&session->h2, &opts);
        if (err < 0)
                goto fail_free;
        session->client = client;
        session->conn = conn;
        session->refs = 2; /* of the pool and the task */
        ed_h2_bucket_init(&session->cancels, CANCELS_MAX, eddy_now());
        err = ed_background_start(client->pool.member.loop, session_run, session, "http2", NULL,
                                  &task);
        if (err < 0)
                goto fail_end;
        client->refs++;
        client->h2_connections++;
        conn->session = session;
        /* Until the peer's settings come: more streams than it takes may be refused again. */
        if (conn->origin->kind == ED_HTTP_ORIGIN_MANY && conn->origin->slots > 0)
                ed_http_conn_set_slots(conn, conn->origin->slots);
        return 0;

fail_end:
        ed_h2_end(&session->h2, EDDY_E_HTTP_CLIENT_CLOSED);
        err = err == -ECANCELED ? EDDY_E_HTTP_CLIENT_CLOSED : err;
fail_free:
        ed_free(session);
        return err;
}

static void end_streams(struct ed_h2_session *session)
{
        ed_list_each_safe (link, &session->h2.streams) {
                struct ed_h2_stream *stream = ed_container_of(link, struct ed_h2_stream, link);

                ed_h2_stream_reset(stream, NGHTTP2_CANCEL, EDDY_E_HTTP_CLIENT_CLOSED);
                ed_h2_request_wake(stream);
        }
}

/* Nothing is lent, or the pool is closed. */
static void h2_end(struct ed_http_conn *conn)
{
        struct ed_h2_session *session = conn->session;

        session->conn = NULL;
        if (!session->is_over) {
                session->owns_stream = true;
                conn->stream = NULL;
                end_streams(session);
                if (session->running)
                        eddy_scope_cancel(session->running);
        }
        ed_h2_session_unref(session);
}

static bool h2_is_usable(const struct ed_http_conn *conn)
{
        const struct ed_h2_session *session = conn->session;

        return !session->is_over && session->h2.session && !session->h2.is_going &&
               !session->h2.is_read;
}

const struct ed_http_conn_ops ed_h2_conn_ops = {
        .begin = h2_begin,
        .end = h2_end,
        .is_usable = h2_is_usable,
};

const struct ed_http_protocol ed_h2_protocol = {
        .name = "h2",
        .slots = ED_HTTP_SLOTS_MAX,
        .response = &ed_h2_response_ops,
        .conn = &ed_h2_conn_ops,
};
