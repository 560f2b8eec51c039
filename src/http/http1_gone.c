/*
 * http/http1_gone.c - see http1_gone.h.
 */
#include "http/http1_gone.h"

#include <errno.h>

#include "eddy/scope.h"

/* TLS may hold records without data; each try handles some of them. */
enum { TRIES_MAX = 4 };

static void client_gone(void *arg)
{
        struct ed_http1_exchange *exchange = arg;

        exchange->aborted = true;
        eddy_scope_cancel(exchange->scope);
}

static void watch_sending(struct ed_http1_exchange *exchange);

/*
 * Read ahead. Bytes end the watch: the end of the sending is then noticed while the next request is
 * handled. Returns true if nothing has come.
 */
static bool sending_continues(struct ed_http1_exchange *exchange)
{
        int64_t n = ed_http_message_read_ahead(&exchange->message);

        if (n == 0 || (n < 0 && n != -EAGAIN && n != -ENOBUFS))
                client_gone(exchange);
        return n == -EAGAIN;
}

static void on_readable(void *arg)
{
        struct ed_http1_exchange *exchange = arg;

        exchange->watches_sending = false;
        if (sending_continues(exchange))
                watch_sending(exchange);
}

static void watch_sending(struct ed_http1_exchange *exchange)
{
        int err = -EALREADY;

        for (int i = 0; i < TRIES_MAX && err == -EALREADY; i++) {
                err = eddy_stream_watch_idle(exchange->stream, on_readable, exchange);
                if (err == -EALREADY && !sending_continues(exchange))
                        return;
        }
        exchange->watches_sending = err == 0;
}

void ed_http1_gone_watch(struct ed_http1_exchange *exchange, uint32_t flags)
{
        if (flags & EDDY_HTTP_SERVER_FINISH)
                return;
        exchange->cancels = true;
        /* Without memory to watch, or with a stream that cannot be watched, writes find the end. */
        if (eddy_stream_watch_hangup(exchange->stream, client_gone, exchange) == -EALREADY)
                client_gone(exchange);
        exchange->cancels_at_end = flags & EDDY_HTTP_SERVER_CANCEL_AT_END;
        ed_http1_gone_body_read(exchange);
}

void ed_http1_gone_body_read(struct ed_http1_exchange *exchange)
{
        const struct ed_http_message *message = &exchange->message;

        if (exchange->cancels_at_end && !exchange->watches_sending && !exchange->aborted &&
            ed_http_message_is_whole(message) && !ed_http_message_has_more(message))
                watch_sending(exchange);
}

void ed_http1_gone(struct ed_http1_exchange *exchange)
{
        if (exchange->cancels)
                client_gone(exchange);
}

void ed_http1_gone_unwatch(struct ed_http1_exchange *exchange)
{
        exchange->cancels = exchange->cancels_at_end = false;
        if (!exchange->stream) /* the handler has taken it */
                return;
        (void) eddy_stream_watch_hangup(exchange->stream, NULL, NULL);
        if (exchange->watches_sending)
                (void) eddy_stream_watch_idle(exchange->stream, NULL, NULL);
        exchange->watches_sending = false;
}
