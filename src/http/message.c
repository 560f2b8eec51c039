/*
 * http/message.c - a sequence of messages: starting, resetting, and reading from the stream.
 */
#include "http/message.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/time.h"
#include "loop/loop.h"

void ed_http_message_init(struct ed_http_message *message, struct ed_http1_field *fields,
                          const struct ed_http1_limits *limits, size_t room_first,
                          uint64_t body_max)
{
        *message = (struct ed_http_message){
                .fields = fields,
                .limits = *limits,
                .room_first = room_first,
                .body_max = body_max,
        };
}

void ed_http_message_fini(struct ed_http_message *message)
{
        ed_free(message->outside);
        ed_free(message->in);
        message->outside = NULL;
        message->in = NULL;
}

/* Forget the current message, but keep bytes beyond its end. */
static void forget(struct ed_http_message *message)
{
        ed_http_message_drop_outside(message);
        message->whole = NULL;
        message->head_bytes = 0;
        message->settled = false;
        message->terminated = false;
        message->gathered = false;
        message->nul_at = 0;
        if (message->trailers)
                ed_buf_consume(message->trailers, ed_buf_bytes(message->trailers));
}

void ed_http_message_drop_buffer(struct ed_http_message *message)
{
        ed_free(ed_http_message_take_buffer(message));
}

char *ed_http_message_take_buffer(struct ed_http_message *message)
{
        char *buffer = message->in;

        ed_assert(message->base == message->end, "a buffer was dropped with bytes in it");
        message->in = NULL;
        message->room = 0;
        return buffer;
}

void ed_http_message_give_buffer(struct ed_http_message *message, char *buffer)
{
        message->in = buffer;
        message->room = message->room_first;
}

void ed_http_message_reset(struct ed_http_message *message)
{
        forget(message);
        message->stream = NULL;
        message->base = message->at = message->end = 0;
        message->received = 0;
        if (message->room > message->room_first)
                ed_http_message_drop_buffer(message);
}

void ed_http_message_next(struct ed_http_message *message)
{
        if (message->nul_at)
                message->in[message->nul_at] = message->nul_saved;
        forget(message);
        message->base = message->at;
        if (message->at == message->end)
                message->base = message->at = message->end = 0;
        message->received = message->end - message->base;
}

void ed_http_message_skip(struct ed_http_message *message)
{
        uint64_t received = message->received;

        message->at = message->base + message->head_bytes;
        ed_http_message_next(message);
        message->received = received;
}

/*
 * Read what came in time although the loop, which is late, has not seen it before the timeout: the
 * process was stopped, or the machine is busy.
 */
static int64_t try_late(eddy_stream *stream, void *buf, size_t bytes)
{
        if (eddy_stream_is_readable(stream) <= 0)
                return -EAGAIN;
        return bytes > 0 ? eddy_stream_try_read(stream, buf, bytes) : 0;
}

/* Read, or without room for a byte wait until there is something to read. */
static int64_t read_or_wait(eddy_stream *stream, void *buf, size_t bytes)
{
        return bytes > 0 ? eddy_stream_read(stream, buf, bytes)
                         : eddy_stream_wait(stream, EDDY_STREAM_READING);
}

/* Read from the stream, for at most the timeout after bytes were last sent or received. */
static int64_t receive_in_time(struct ed_http_message *message, void *buf, size_t bytes)
{
        int64_t since_ns = eddy_now(), n;
        struct eddy_scope_opts opts = { .flags = 0 };
        eddy_scope scope;

        for (;;) {
                opts.deadline_ns = ed_time_after(since_ns, message->read_timeout_ns);
                eddy_scope_begin(&scope, &opts);
                n = read_or_wait(*message->stream, buf, bytes);
                if (eddy_scope_end(&scope) != -ETIMEDOUT || n != -ECANCELED || !*message->stream)
                        return n;
                n = try_late(*message->stream, buf, bytes);
                if (n != -EAGAIN)
                        return n;
                if (*message->sent_ns <= since_ns)
                        return EDDY_E_HTTP_TIMEOUT_READ;
                since_ns = *message->sent_ns;
        }
}

int64_t ed_http_message_receive(struct ed_http_message *message, void *buf, size_t bytes)
{
        int64_t n;

        if (!message->stream || !*message->stream)
                return message->closed_error;
        if (message->pace && message->settled)
                n = ed_http_pace_read(message->pace, *message->stream, buf, bytes);
        else if (message->read_timeout_ns)
                n = receive_in_time(message, buf, bytes);
        else
                n = read_or_wait(*message->stream, buf, bytes);
        if (ed_unlikely(n < 0))
                return *message->stream ? n : message->closed_error;
        message->received += (uint64_t) n;
        return n;
}

int ed_http_message_await(struct ed_http_message *message)
{
        return (int) ed_http_message_receive(message, NULL, 0);
}
