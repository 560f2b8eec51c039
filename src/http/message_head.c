/*
 * http/message_head.c - heads: filling the buffer until a head is complete, and the text of its
 * fields.
 */
#include "http/message.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

/* Give the buffer 'room' bytes, and move the message to its front. */
static int make_room(struct ed_http_message *message, size_t room)
{
        size_t held = message->end - message->base;
        char *in;

        ed_assert(!message->settled, "a message was moved while its head was in use");
        if (room <= message->room) {
                memmove(message->in, message->in + message->base, held);
        } else {
                in = ed_alloc(room);
                if (!in)
                        return -ENOMEM;
                if (held > 0)
                        memcpy(in, message->in + message->base, held);
                ed_free(message->in);
                message->in = in;
                message->room = room;
        }
        message->at -= message->base;
        message->end = held;
        message->base = 0;
        return 0;
}

/* Make room in the buffer for more of the head. */
static int make_room_for_more(struct ed_http_message *message)
{
        size_t room = message->room;

        if (ed_likely(message->end + 1 < room))
                return 0;
        /* Growth is limited, because the parser refuses a head above its limit. */
        if (message->base == 0)
                room = room ? 2 * room : message->room_first;
        return make_room(message, room);
}

int64_t ed_http_message_fill(struct ed_http_message *message)
{
        int64_t n;
        int err = make_room_for_more(message);

        if (err < 0)
                return err;
        n = ed_http_message_receive(message, message->in + message->end,
                                    message->room - message->end - 1);
        if (n > 0)
                message->end += (size_t) n;
        return n;
}

int64_t ed_http_message_try_fill(struct ed_http_message *message)
{
        int64_t n;
        int err = make_room_for_more(message);

        if (err < 0)
                return err;
        n = eddy_stream_try_read(*message->stream, message->in + message->end,
                                 message->room - message->end - 1);
        if (n > 0) {
                message->end += (size_t) n;
                message->received += (uint64_t) n;
        }
        return n;
}

int ed_http_message_parse(struct ed_http_message *message)
{
        int64_t n;

        if (message->end == message->base)
                return 0;
        n = ed_http1_head_parse(&message->head, message->in + message->base,
                                message->end - message->base);
        if (n <= 0)
                return (int) n;
        message->head_bytes = (size_t) n;
        message->at = message->base + (size_t) n;
        return 1;
}

int ed_http_message_begin_body(struct ed_http_message *message)
{
        size_t window, held;
        int err;

        err = ed_http1_body_init(&message->body, &message->head, message->body_max);
        if (err < 0)
                return err;
        message->body.trailer_buf = message->trailers;
        /* A byte beyond those that are there can be read, and a NUL follows it. */
        held = message->end - message->base + 2;
        window = message->head_bytes + ED_HTTP_WINDOW_BYTES;
        if (ed_http_message_is_whole(message) || window < held)
                window = held;
        if (message->base + window > message->room) {
                err = make_room(message, window);
                if (err < 0)
                        return err;
        }
        message->settled = true;
        return 0;
}

void ed_http_message_terminate(struct ed_http_message *message)
{
        char *text = ed_http_message_text(message);
        const struct ed_http1_head *head = &message->head;

        if (message->terminated)
                return;
        ed_assert(message->settled, "the text of a head was asked for before its body began");
        message->terminated = true;
        for (uint32_t i = 0; i < head->fields_count; i++) {
                const struct ed_http1_field *field = &head->fields[i];

                text[field->name.at + field->name.bytes] = '\0';
                text[field->value.at + field->value.bytes] = '\0';
        }
        if (head->method.bytes > 0) {
                text[head->method.at + head->method.bytes] = '\0';
                text[head->target.at + head->target.bytes] = '\0';
        }
}

const char *ed_http_message_header(struct ed_http_message *message, const char *name)
{
        const char *text = ed_http_message_text(message);
        const struct ed_http1_field *field;

        ed_http_message_terminate(message);
        field = ed_http1_head_field(&message->head, text, name);
        return field ? text + field->value.at : NULL;
}

int ed_http_message_header_at(struct ed_http_message *message, size_t i,
                              struct eddy_http_header *ret_header)
{
        const char *text = ed_http_message_text(message);

        if (i >= message->head.fields_count)
                return -ENOENT;
        ed_http_message_terminate(message);
        ret_header->name = text + message->head.fields[i].name.at;
        ret_header->value = text + message->head.fields[i].value.at;
        return 0;
}

int ed_http_message_trailer_at(const struct ed_http_message *message, size_t i,
                               struct eddy_http_header *ret_trailer)
{
        const char *text = ed_buf_data(message->trailers);
        const char *end = text + ed_buf_bytes(message->trailers);

        /* Trailers that were not read to their end are not shown. */
        if (!message->body.done)
                return -ENOENT;
        for (size_t field = 0; text < end; field++) {
                const char *value = text + strlen(text) + 1;

                if (field == i) {
                        ret_trailer->name = text;
                        ret_trailer->value = value;
                        return 0;
                }
                text = value + strlen(value) + 1;
        }
        return -ENOENT;
}
