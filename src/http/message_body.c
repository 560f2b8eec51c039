/*
 * http/message_body.c - bodies: reading in parts, gathering as a whole, or dropping.
 */
#include "http/message.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

/* Initial limit on memory outside the buffer, whatever Content-Length says. */
enum { OUTSIDE_BYTES_FIRST = 64 << 10 };

void ed_http_message_drop_outside(struct ed_http_message *message)
{
        ed_free(message->outside);
        message->outside = NULL;
        message->outside_room = 0;
        message->whole_bytes = 0;
        message->given = 0;
}

static uint64_t left_by_length(const struct ed_http_message *message)
{
        return message->head.content_length - message->body.bytes;
}

bool ed_http_message_is_whole(const struct ed_http_message *message)
{
        if (message->body.done)
                return true;
        return message->head.framing == ED_HTTP1_BY_LENGTH &&
               message->end - message->at >= left_by_length(message);
}

uint64_t ed_http_message_bytes(const struct ed_http_message *message)
{
        uint64_t left = message->body.done ? 0 : left_by_length(message);

        if (!ed_http_message_is_whole(message))
                return message->received;
        return message->received - (message->end - message->at - left);
}

/* Only a chunked body's own bytes say where it ends: read a copy's. */
bool ed_http_message_chunks_are_whole(const struct ed_http_message *message)
{
        struct ed_http1_body body = message->body;
        size_t at = message->at, span_bytes;
        const char *span;
        int64_t n;

        body.trailer_buf = NULL;
        while (!body.done && at < message->end) {
                n = ed_http1_body_decode(&body, message->in + at, message->end - at, &span,
                                         &span_bytes);
                if (n < 0)
                        return false;
                at += (size_t) n;
        }
        return body.done;
}

bool ed_http_message_has_more(const struct ed_http_message *message)
{
        size_t there = message->end - message->at;

        return message->body.done ? there > 0 : there > left_by_length(message);
}

/* Refill the room after the head. The caller has returned all earlier body bytes. */
static int64_t refill(struct ed_http_message *message)
{
        int64_t n;

        message->at = message->end = message->base + message->head_bytes;
        n = ed_http_message_receive(message, message->in + message->end,
                                    message->room - message->end - 1);
        if (n > 0)
                message->end += (size_t) n;
        else if (n == 0)
                n = ed_http1_body_finish(&message->body);
        return n;
}

/*
 * Returns the next run of at most 'bytes' body bytes in the buffer, or an empty run if more must be
 * read.
 */
static int next_span(struct ed_http_message *message, size_t bytes, const char **ret_span,
                     size_t *ret_bytes)
{
        size_t there;
        int64_t n;

        *ret_span = NULL;
        *ret_bytes = 0;
        while (!message->body.done && *ret_bytes == 0 && message->at < message->end) {
                there = message->end - message->at;
                n = ed_http1_body_decode(&message->body, message->in + message->at,
                                         there < bytes ? there : bytes, ret_span, ret_bytes);
                if (n < 0)
                        return (int) n;
                message->at += (size_t) n;
        }
        return 0;
}

/*
 * Read body bytes directly into the caller's memory, for framings whose stream contains only body
 * bytes. Returns 0 at the end.
 */
static int64_t read_direct(struct ed_http_message *message, char *buf, size_t bytes)
{
        const char *span;
        size_t span_bytes;
        int64_t n, taken;

        if (message->head.framing == ED_HTTP1_BY_LENGTH && bytes > left_by_length(message))
                bytes = (size_t) left_by_length(message);
        n = ed_http_message_receive(message, buf, bytes);
        if (n < 0)
                return n;
        if (n == 0)
                return ed_http1_body_finish(&message->body);
        taken = ed_http1_body_decode(&message->body, buf, (size_t) n, &span, &span_bytes);
        /* Report bytes beyond the body's limit now: the next read may only see the end. */
        if (taken >= 0 && taken < n)
                taken = ed_http1_body_decode(&message->body, buf + taken, (size_t) (n - taken),
                                             &span, &span_bytes);
        return taken;
}

/* Returns body bytes read by an interrupted gather, or 0 if none are left. */
static size_t read_outside(struct ed_http_message *message, void *buf, size_t bytes)
{
        size_t there = message->whole_bytes - message->given;

        if (bytes > there)
                bytes = there;
        if (bytes == 0) {
                ed_http_message_drop_outside(message);
                return 0;
        }
        memcpy(buf, message->outside + message->given, bytes);
        message->given += bytes;
        return bytes;
}

int64_t ed_http_message_read(struct ed_http_message *message, void *buf, size_t bytes)
{
        const char *span;
        size_t span_bytes;
        int64_t n;
        int err;

        if (message->gathered)
                return 0;
        if (message->outside) {
                span_bytes = read_outside(message, buf, bytes);
                if (span_bytes > 0)
                        return (int64_t) span_bytes;
        }
        for (;;) {
                err = next_span(message, bytes, &span, &span_bytes);
                if (err < 0)
                        return err;
                if (span_bytes > 0) {
                        memcpy(buf, span, span_bytes);
                        return (int64_t) span_bytes;
                }
                if (message->body.done)
                        return 0;
                if (bytes >= ED_HTTP_DIRECT_BYTES && message->head.framing != ED_HTTP1_CHUNKED)
                        return read_direct(message, buf, bytes);
                n = refill(message);
                if (n < 0)
                        return n;
        }
}

/* Record where the rest of the body is, and append a NUL; the caller has made room for the NUL. */
static void set_whole(struct ed_http_message *message, char *whole, size_t bytes)
{
        if (!message->outside) {
                message->nul_at = (size_t) (whole + bytes - message->in);
                message->nul_saved = whole[bytes];
        }
        whole[bytes] = '\0';
        message->whole = whole;
        message->whole_bytes = bytes;
        message->gathered = true;
}

/* Complete a body of known length that fits the buffer there. */
static int gather_inside(struct ed_http_message *message)
{
        size_t bytes = (size_t) left_by_length(message), start = message->at, span_bytes;
        const char *span;
        int64_t n;

        while (message->end - start < bytes) {
                n = ed_http_message_receive(message, message->in + message->end,
                                            message->room - message->end - 1);
                if (n < 0)
                        return (int) n;
                if (n == 0)
                        return ed_http1_body_finish(&message->body);
                message->end += (size_t) n;
        }
        n = ed_http1_body_decode(&message->body, message->in + start, bytes, &span, &span_bytes);
        if (n < 0)
                return (int) n;
        message->at = start + bytes;
        set_whole(message, message->in + start, bytes);
        return 0;
}

/* Make room outside the buffer for at least 'bytes' more and a NUL. */
static int grow_outside(struct ed_http_message *message, size_t bytes)
{
        size_t need = message->whole_bytes + bytes + 1, more = message->outside_room;
        char *outside;

        if (need <= more)
                return 0;
        if (more == 0)
                more = OUTSIDE_BYTES_FIRST;
        while (more < need)
                more *= 2;
        /* Limit the room to what Content-Length needs. */
        if (message->head.framing == ED_HTTP1_BY_LENGTH) {
                uint64_t most = message->whole_bytes + left_by_length(message) + bytes + 1;

                if (more > most)
                        more = (size_t) most;
        }
        outside = ed_realloc(message->outside, more);
        if (!outside)
                return -ENOMEM;
        message->outside = outside;
        message->outside_room = more;
        return 0;
}

static int append_outside(struct ed_http_message *message, const char *data, size_t bytes)
{
        int err = grow_outside(message, bytes);

        if (err < 0)
                return err;
        memcpy(message->outside + message->whole_bytes, data, bytes);
        message->whole_bytes += bytes;
        return 0;
}

/*
 * Read the rest of the body into memory of the message. If cancelled, the bytes read remain for
 * later calls of read and gather.
 */
static int take_outside(struct ed_http_message *message)
{
        size_t span_bytes, want;
        const char *span;
        int64_t n;
        int err;

        for (;;) {
                err = next_span(message, SIZE_MAX, &span, &span_bytes);
                if (err >= 0 && span_bytes > 0)
                        err = append_outside(message, span, span_bytes);
                if (err < 0)
                        return err;
                if (message->body.done)
                        return 0;
                if (message->at < message->end)
                        continue;
                if (message->head.framing == ED_HTTP1_CHUNKED) {
                        n = refill(message);
                        if (n < 0)
                                return (int) n;
                        continue;
                }
                err = grow_outside(message, 1);
                if (err < 0)
                        return err;
                want = message->outside_room - message->whole_bytes - 1;
                n = read_direct(message, message->outside + message->whole_bytes, want);
                if (n < 0)
                        return (int) n;
                message->whole_bytes += (size_t) n;
        }
}

/* Gather any other body in separate memory, which grows as bytes arrive. */
static int gather_outside(struct ed_http_message *message)
{
        int err = take_outside(message);

        if (err >= 0)
                err = grow_outside(message, 0);
        if (err < 0)
                return err;
        set_whole(message, message->outside + message->given,
                  message->whole_bytes - message->given);
        return 0;
}

/*
 * Move the chunks in the buffer together. Returns 1 if they complete the body. Returns 0 if more
 * chunks are missing; then only 'whole' has changed.
 */
static int gather_chunks_inside(struct ed_http_message *message)
{
        char *start = message->in + message->at;
        const char *span;
        size_t bytes = 0, span_bytes;
        int err;

        for (;;) {
                err = next_span(message, SIZE_MAX, &span, &span_bytes);
                if (err < 0)
                        return err;
                if (span_bytes == 0)
                        break;
                if (start + bytes != span)
                        memmove(start + bytes, span, span_bytes);
                bytes += span_bytes;
        }
        if (message->body.done) {
                set_whole(message, start, bytes);
                return 1;
        }
        message->whole = start;
        message->whole_bytes = bytes;
        return 0;
}

int ed_http_message_gather(struct ed_http_message *message)
{
        uint64_t left;
        int err;

        if (message->gathered)
                return 0;
        if (message->outside)
                return gather_outside(message);
        if (message->body.done) {
                set_whole(message, message->in + message->at, 0);
                return 0;
        }
        if (message->head.framing == ED_HTTP1_BY_LENGTH) {
                left = left_by_length(message);
                /* A byte beyond the body can be read, and a NUL follows it. */
                if (left < message->room && message->at + left + 1 < message->room)
                        return gather_inside(message);
        }
        if (message->head.framing == ED_HTTP1_CHUNKED) {
                size_t bytes;

                err = gather_chunks_inside(message);
                if (err != 0)
                        return err < 0 ? err : 0;
                bytes = message->whole_bytes;
                message->whole_bytes = 0;
                err = append_outside(message, message->whole, bytes);
                if (err < 0)
                        return err;
        }
        return gather_outside(message);
}

int ed_http_message_discard(struct ed_http_message *message, uint64_t bytes_max)
{
        uint64_t before = message->body.bytes;
        const char *span;
        size_t span_bytes;
        int64_t n;
        int err;

        if (message->outside)
                ed_http_message_drop_outside(message);
        for (;;) {
                err = next_span(message, SIZE_MAX, &span, &span_bytes);
                if (err < 0)
                        return err;
                if (message->body.done)
                        return 0;
                if (message->body.bytes - before > bytes_max)
                        return -EMSGSIZE;
                if (message->at < message->end)
                        continue;
                n = refill(message);
                if (n < 0)
                        return (int) n;
        }
}

int ed_http_message_discard_buffered(struct ed_http_message *message)
{
        const char *span;
        size_t span_bytes;
        int err = 0;

        while (err >= 0 && !message->body.done && message->at < message->end)
                err = next_span(message, SIZE_MAX, &span, &span_bytes);
        return err;
}

void ed_http_message_take_rest(struct ed_http_message *message, const void **ret_data,
                               size_t *ret_bytes)
{
        char *rest = message->in + message->at;
        size_t bytes = message->end - message->at;

        /* The NUL after the body is in the place of the first byte. The buffer has room for one more. */
        if (bytes > 0 && message->nul_at == message->at) {
                memmove(rest + 1, rest, bytes);
                *++rest = message->nul_saved;
        }
        *ret_data = rest;
        *ret_bytes = bytes;
        message->at = message->end;
        message->nul_at = 0;
}
