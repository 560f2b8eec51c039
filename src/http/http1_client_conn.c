/*
 * http/http1_client_conn.c - a client's connection of HTTP/1: one slot, and silent between two exchanges.
 */
#include "http/conn.h"

/* Unrequested bytes, or an end: no request can use the connection. */
static void disturbed(void *arg)
{
        ed_http_conn_drain(arg);
}

static int idle_begin(struct ed_http_conn *conn)
{
        return eddy_stream_watch_idle(conn->stream, disturbed, conn);
}

static void idle_end(struct ed_http_conn *conn)
{
        eddy_stream_watch_idle(conn->stream, NULL, NULL);
}

/*
 * The peer has neither closed the connection nor sent anything. This call asks the poller, because
 * the loop has not yet seen events that arrived while a task computed.
 */
static bool is_silent(const struct ed_http_conn *conn)
{
        return !eddy_stream_is_readable(conn->stream);
}

const struct ed_http_conn_ops ed_http1_conn_ops = {
        .is_usable = is_silent,
        .idle_begin = idle_begin,
        .idle_end = idle_end,
};
