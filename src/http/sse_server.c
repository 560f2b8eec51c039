/*
 * http/sse_server.c - a response of server-sent events.
 *
 * An event is one piece of the response, so a comment of the server never comes inside it.
 */
#include "eddy/http_sse_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_sse.h"
#include "eddy/time.h"
#include "http/exchange.h"
#include "http/repeat.h"

enum { SMALL_BYTES = 1 << 10, NUMBER_BYTES = 24 };

#define COMMENT_DEFAULT_NS EDDY_SEC(15)

/* The text of an event. Without 'at' it is only measured. */
struct text {
        char *at;
        size_t bytes;
};

static void put(struct text *text, const char *data, size_t bytes)
{
        if (text->at && bytes > 0)
                memcpy(text->at + text->bytes, data, bytes);
        text->bytes += bytes;
}

/* "name: value" and the end of the line. */
static void put_line(struct text *text, const char *name, const char *value, size_t bytes)
{
        put(text, name, strlen(name));
        put(text, ": ", 2);
        put(text, value, bytes);
        put(text, "\n", 1);
}

static void put_data(struct text *text, const char *data, size_t bytes)
{
        const char *end = data + bytes, *line = data, *at = data;

        for (;; at++) {
                if (at < end && *at != '\n' && *at != '\r')
                        continue;
                put_line(text, "data", line, (size_t) (at - line));
                if (at == end)
                        return;
                if (*at == '\r' && at + 1 < end && at[1] == '\n')
                        at++;
                line = at + 1;
        }
}

static void put_event(struct text *text, const struct eddy_http_sse_out *event)
{
        char number[NUMBER_BYTES];
        int64_t ms = event->retry_ns / EDDY_MS(1) + (event->retry_ns % EDDY_MS(1) > 0);

        if (event->type)
                put_line(text, "event", event->type, strlen(event->type));
        if (event->id)
                put_line(text, "id", event->id, strlen(event->id));
        if (ms > 0) {
                int n = snprintf(number, sizeof(number), "%lld", (long long) ms);

                put_line(text, "retry", number, (size_t) n);
        }
        if (event->data)
                put_data(text, event->data, event->data_bytes);
        put(text, "\n", 1);
}

static bool is_line(const char *text)
{
        return !text || !text[strcspn(text, "\r\n")];
}

static int check(const struct eddy_http_sse_out *event)
{
        if (!event || (!event->data && event->data_bytes > 0) || event->retry_ns < 0 ||
            !is_line(event->type) || !is_line(event->id))
                return -EINVAL;
        return event->data_bytes > EDDY_HTTP_SSE_EVENT_BYTES_MAX ? EDDY_E_HTTP_TOO_LARGE : 0;
}

int eddy_http_exchange_sse_send(eddy_http_exchange *exchange, const struct eddy_http_sse_out *event)
{
        char small[SMALL_BYTES];
        struct text measured = { .at = NULL }, text = { .at = small };
        int err = check(event);

        if (err < 0)
                return err;
        put_event(&measured, event);
        if (measured.bytes > sizeof(small))
                text.at = ed_alloc(measured.bytes);
        if (!text.at)
                return -ENOMEM;
        put_event(&text, event);
        err = exchange->ops->write(exchange, text.at, text.bytes);
        if (text.at != small)
                ed_free(text.at);
        return err;
}

int eddy_http_exchange_sse_begin(eddy_http_exchange *exchange,
                                 const struct eddy_http_sse_begin_opts *opts)
{
        static const struct eddy_http_header headers[] = { { "Content-Type", "text/event-stream" },
                                                           { "Cache-Control", "no-store" },
                                                           { "X-Accel-Buffering", "no" } };
        int64_t comment_ns = opts && opts->comment_ns ? opts->comment_ns : COMMENT_DEFAULT_NS;
        int err = eddy_http_exchange_begin(exchange, 200, headers, 3, -1);

        if (err < 0)
                return err;
        if (ed_http_exchange_is_head(exchange)) {
                err = exchange->ops->end(exchange);
                return err < 0 ? err : 1;
        }
        if (comment_ns > 0)
                ed_http_repeat(exchange, ":\n\n", comment_ns);
        return 0;
}

const char *eddy_http_exchange_sse_last_id(const eddy_http_exchange *exchange)
{
        const char *id = exchange->ops->header(exchange, "Last-Event-ID");

        return id ? id : "";
}
