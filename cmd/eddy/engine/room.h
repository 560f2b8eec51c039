/*
 * engine/room.h - how many requests may be read and not finished, which bounds the memory of a run.
 *
 * A request rests while it waits for its next attempt, or in line for an endpoint that takes
 * nothing now. Resting requests leave room for those that can be sent, up to a limit of their
 * own: a host that is paused does not hold up the others.
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
        bool is_strict;   /* requests that rest count too */
        uint32_t inside;  /* all requests */
        uint32_t resting; /* those of them that rest */
        uint64_t resting_bytes;
        eddy_event changed;
};

/* Room for a run with 'slots' requests in flight, and some that wait for a slot. */
void ed_room_init(struct ed_room *room, uint32_t slots, bool is_strict);

/* Wait until another request may be read, and count it. For a single task. Errors: -ECANCELED */
EDDY_MUST_USE int ed_room_enter(struct ed_room *room);
void ed_room_leave(struct ed_room *room);

/* Requests begin or end a rest, with the memory that they have. */
void ed_room_rest(struct ed_room *room, uint32_t count, uint64_t bytes);
void ed_room_wake(struct ed_room *room, uint32_t count, uint64_t bytes);

#endif
