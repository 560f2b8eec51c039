/*
 * http/http1_room.c - see http1_room.h.
 */
#include "http/http1_room.h"

#include <errno.h>

#include "base/alloc.h"
#include "http/http1_server.h"

static void room_fini(struct ed_http1_room *room)
{
        ed_free(room->in);
        ed_free(room->fields);
        ed_buf_fini(&room->out);
        ed_buf_fini(&room->copies);
        ed_buf_fini(&room->added);
}

void ed_http1_rooms_fini(struct ed_http1_rooms *rooms)
{
        while (rooms->count > 0)
                room_fini(&rooms->list[--rooms->count]);
}

int ed_http1_room_take(struct ed_http1_rooms *rooms, struct ed_http1_exchange *exchange)
{
        struct ed_http_message *message = &exchange->message;
        const struct ed_http1_room *room;

        if (message->fields)
                return 0;
        if (rooms->count == 0) {
                message->fields = ed_alloc(message->limits.fields_max * sizeof(*message->fields));
                return message->fields ? 0 : -ENOMEM;
        }
        room = &rooms->list[--rooms->count];
        message->fields = room->fields;
        if (room->in)
                ed_http_message_give_buffer(message, room->in);
        exchange->out = room->out;
        exchange->copies = room->copies;
        exchange->added = room->added;
        return 0;
}

/* Take a buffer's memory, unless it has grown. */
static struct ed_buf buf_take(struct ed_buf *buf)
{
        struct ed_buf taken;

        ed_buf_consume(buf, ed_buf_bytes(buf));
        if (buf->room > ED_HTTP1_ROOM_KEPT)
                ed_buf_fini(buf);
        taken = *buf;
        ed_buf_init(buf, taken.max);
        return taken;
}

void ed_http1_room_give(struct ed_http1_rooms *rooms, struct ed_http1_exchange *exchange)
{
        struct ed_http_message *message = &exchange->message;
        struct ed_http1_room room = { .fields = message->fields };

        if (message->room == message->room_first)
                room.in = ed_http_message_take_buffer(message);
        else
                ed_http_message_drop_buffer(message);
        message->fields = NULL;
        room.out = buf_take(&exchange->out);
        room.copies = buf_take(&exchange->copies);
        room.added = buf_take(&exchange->added);
        ed_buf_fini(&exchange->trailers);
        if (rooms->count < ED_HTTP1_ROOMS_MAX)
                rooms->list[rooms->count++] = room;
        else
                room_fini(&room);
}
