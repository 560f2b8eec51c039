/*
 * engine/room.h - limits the number of requests that were read and are not finished, and so the
 * memory of a run.
 *
 * A request rests while it waits for its next attempt, or for an endpoint that accepts no requests
 * now. Resting requests have a separate limit and leave room for requests that can be sent, so a
 * paused host does not hold up other hosts.
 */
#ifndef ED_CMD_ENGINE_ROOM_H
#define ED_CMD_ENGINE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"
#include "eddy/event.h"

enum {
        ED_ROOM_RESTING_MAX = 2048,
        ED_ROOM_RESTING_BYTES_MAX = 32 << 20,
};

struct ed_room {
        uint32_t most;    /* requests that do not rest */
        uint32_t low;     /* when the reader continues, after it has filled the room */
        bool is_strict;   /* resting requests count too */
        uint32_t inside;  /* all requests */
        uint32_t resting; /* resting requests, a part of 'inside' */
        uint64_t resting_bytes;
        eddy_event changed;
};

/* Make room for 'slots' requests in flight, and for some that wait for a slot. */
void ed_room_init(struct ed_room *room, uint32_t slots, bool is_strict);

/* Wait until another request may be read, and count it. Errors: -ECANCELED */
EDDY_MUST_USE int ed_room_enter(struct ed_room *room);
void ed_room_leave(struct ed_room *room);

/* 'count' requests, which use 'bytes' of memory, begin or end a rest. */
void ed_room_rest(struct ed_room *room, uint32_t count, uint64_t bytes);
void ed_room_wake(struct ed_room *room, uint32_t count, uint64_t bytes);

#endif
