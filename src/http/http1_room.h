/*
 * http/http1_room.h - memory that a server's connection needs only while it has a request: buffers,
 * and the places of the fields of a head.
 *
 * A connection gives it back while it waits for a request, and the connections of a server share a
 * few of these: idle ones have none.
 */
#ifndef ED_HTTP_HTTP1_ROOM_H
#define ED_HTTP_HTTP1_ROOM_H

#include "base/buf.h"
#include "wire/http1.h"

struct ed_http1_exchange;

enum {
        ED_HTTP1_ROOMS_MAX = 8,       /* they are on the stack of the serving task */
        ED_HTTP1_ROOM_KEPT = 4 << 10, /* bytes that a buffer in a room may have */
};

struct ed_http1_room {
        char *in; /* of the message's first size; NULL: none */
        struct ed_http1_field *fields;
        struct ed_buf out;
        struct ed_buf copies;
        struct ed_buf added;
};

/* Those that no connection of the server uses, the latest last. */
struct ed_http1_rooms {
        struct ed_http1_room list[ED_HTTP1_ROOMS_MAX];
        uint32_t count;
};

void ed_http1_rooms_fini(struct ed_http1_rooms *rooms);

/*
 * Give an exchange what it needs to begin a head. Nothing is done if it has that. Without a free room
 * the exchange gets places of fields only: its buffers are made when they are used.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_http1_room_take(struct ed_http1_rooms *rooms,
                                     struct ed_http1_exchange *exchange);

/* Take it all from an exchange, whose buffers are empty. */
void ed_http1_room_give(struct ed_http1_rooms *rooms, struct ed_http1_exchange *exchange);

#endif
