/*
 * mock/reply.c - see reply.h.
 */
#include "mock/reply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/draft.h"
#include "eddy/http_date.h"
#include "eddy/time.h"

enum { TEXT_BYTES_MAX = 256 };

static const char text_type[] = "text/plain; charset=utf-8";

void ed_reply_init(struct ed_reply *reply, struct ed_mock *mock, eddy_http_exchange *exchange)
{
        uint64_t high, low;

        *reply = (struct ed_reply){ .mock = mock, .exchange = exchange };
        pthread_mutex_lock(&mock->lock);
        reply->random.state = ed_random_next(&mock->random);
        high = ed_random_next(&mock->random);
        low = ed_random_next(&mock->random);
        pthread_mutex_unlock(&mock->lock);
        snprintf(reply->id, sizeof(reply->id), "req_%016" PRIx64 "%016" PRIx64, high, low);
        ed_reply_header(reply, "x-request-id", reply->id);
}

void ed_reply_header(struct ed_reply *reply, const char *name, const char *value)
{
        size_t n = reply->headers_count;

        if (n == ED_REPLY_HEADERS_MAX - 1) /* the last place is for the type */
                return;
        snprintf(reply->values[n], ED_REPLY_VALUE_BYTES, "%s", value);
        reply->headers[n].name = name;
        reply->headers[n].value = reply->values[n];
        reply->headers_count++;
}

void ed_reply_header_u64(struct ed_reply *reply, const char *name, uint64_t value)
{
        char text[ED_REPLY_VALUE_BYTES];

        snprintf(text, sizeof(text), "%" PRIu64, value);
        ed_reply_header(reply, name, text);
}

void ed_reply_retry_after(struct ed_reply *reply, int64_t wait_ns)
{
        enum ed_mock_retry_after form = reply->mock->opts.retry_after;
        /* Round up, because an earlier retry would be refused again. */
        int64_t seconds = (wait_ns + 999999999) / 1000000000;
        int64_t now_s = eddy_time_of_day() / EDDY_SEC(1);
        char date[EDDY_HTTP_DATE_BYTES + 1];

        if (form == ED_RETRY_AFTER_NONE)
                return;
        if (form == ED_RETRY_AFTER_DATE && eddy_http_date_format(now_s + seconds, date) == 0) {
                ed_reply_header(reply, "Retry-After", date);
                return;
        }
        if (form == ED_RETRY_AFTER_MS)
                ed_reply_header_u64(reply, "retry-after-ms",
                                    (uint64_t) ((wait_ns + 999999) / 1000000));
        ed_reply_header_u64(reply, "Retry-After", (uint64_t) seconds);
}

/* Complete the list of headers. Returns their number. */
static size_t headers_end(struct ed_reply *reply, const char *type)
{
        size_t n = reply->headers_count;

        if (type)
                reply->headers[n++] = (struct eddy_http_header){ "Content-Type", type };
        return n;
}

/* End an answer that is truncated or stalled. Returns -ECONNABORTED, or another error. */
static int answer_cut(struct ed_reply *reply)
{
        int err = 0;

        reply->is_cut = true;
        if (reply->fate == ED_FATE_STALLED)
                err = eddy_sleep(reply->mock->opts.stall_ns);
        else if (reply->ends_cleanly)
                return eddy_http_exchange_end(reply->exchange) < 0 ? -EPIPE : -ECONNABORTED;
        eddy_http_exchange_abort(reply->exchange);
        return err < 0 ? err : -ECONNABORTED;
}

/* Choose how much of a body is sent, which has at least 'bytes_min' bytes. */
static void fate_draw(struct ed_reply *reply, uint64_t bytes_min)
{
        double part = ed_random_fraction(&reply->random);

        reply->left = (uint64_t) (part * (double) bytes_min);
        reply->ends_cleanly = reply->ends_cleanly && (ed_random_next(&reply->random) & 1) == 0;
}

int ed_reply_send(struct ed_reply *reply, int status, const char *type, const void *body,
                  size_t bytes)
{
        int err;

        if (reply->fate == ED_FATE_WHOLE)
                return eddy_http_exchange_respond(reply->exchange, status, reply->headers,
                                                  headers_end(reply, type), body, bytes);
        if (bytes == 0)
                return answer_cut(reply);
        err = ed_reply_begin(reply, status, type, (int64_t) bytes, bytes);
        return err < 0 ? err : ed_reply_write(reply, body, bytes);
}

int ed_reply_begin(struct ed_reply *reply, int status, const char *type, int64_t body_bytes,
                   uint64_t bytes_min)
{
        if (reply->fate != ED_FATE_WHOLE)
                fate_draw(reply, bytes_min);
        return eddy_http_exchange_begin(reply->exchange, status, reply->headers,
                                        headers_end(reply, type), body_bytes);
}

int ed_reply_write(struct ed_reply *reply, const void *data, size_t bytes)
{
        int err = 0;

        if (reply->fate == ED_FATE_WHOLE || reply->left >= bytes) {
                reply->left -= reply->fate == ED_FATE_WHOLE ? 0 : bytes;
                return eddy_http_exchange_write(reply->exchange, data, bytes);
        }
        if (reply->left > 0)
                err = eddy_http_exchange_write(reply->exchange, data, (size_t) reply->left);
        return err < 0 ? err : answer_cut(reply);
}

int ed_reply_end(struct ed_reply *reply)
{
        if (reply->fate != ED_FATE_WHOLE)
                return answer_cut(reply);
        return eddy_http_exchange_end(reply->exchange);
}

int ed_reply_text(struct ed_reply *reply, int status, const char *format, ...)
{
        char text[TEXT_BYTES_MAX];
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        if (n < 0)
                return -EINVAL;
        if ((size_t) n >= sizeof(text))
                n = sizeof(text) - 1;
        return ed_reply_send(reply, status, text_type, text, (size_t) n);
}

int ed_reply_fault(struct ed_reply *reply, const struct ed_openai_fault *fault)
{
        struct ed_draft text = { 0 };
        int err;

        if (!reply->is_api)
                return ed_reply_text(reply, fault->status, "%s\n", fault->message);
        ed_openai_write_fault(fault, &text);
        err = ed_draft_is_whole(&text) ? ed_reply_send(reply, fault->status, "application/json",
                                                       text.data, text.bytes)
                                       : -ENOMEM;
        ed_draft_fini(&text);
        return err;
}
