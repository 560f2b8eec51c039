/*
 * http/message_ahead.c - reading beyond a message whose body is complete.
 */
#include "http/message.h"

#include <errno.h>

/* A body that was read leaves its place in the buffer, after the NUL that follows a gathered one. */
static void reuse_room(struct ed_http_message *message)
{
        size_t free_at = message->base + message->head_bytes;

        if (!message->body.done || message->at != message->end)
                return;
        if (message->gathered && !message->outside)
                free_at = (size_t) (message->whole + message->whole_bytes + 1 - message->in);
        if (free_at < message->at)
                message->at = message->end = free_at;
}

int64_t ed_http_message_read_ahead(struct ed_http_message *message)
{
        size_t end;
        int64_t n;

        reuse_room(message);
        end = message->end;
        if (end + 1 >= message->room)
                return -ENOBUFS;
        n = eddy_stream_try_read(*message->stream, message->in + end, message->room - end - 1);
        if (n <= 0)
                return n;
        message->end += (size_t) n;
        message->received += (uint64_t) n;
        if (message->nul_at == end && end > 0) {
                message->nul_saved = message->in[end];
                message->in[end] = '\0';
        }
        return n;
}
