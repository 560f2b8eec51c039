/*
 * engine/room.c - see room.h.
 */
#include "engine/room.h"

#include "eddy/scope.h"

/* Requests that wait for a slot: few, because the stack of each is cold when its turn comes. With
 * --ordered also those that wait for their turn to report, so that a slow one does not stop all. */
enum { SPARE_MIN = 16, SPARE_MAX = 256, SPARE_STRICT = 64 };

void ed_room_init(struct ed_room *room, uint32_t slots, bool is_strict)
{
        uint32_t spare = slots / 8 < SPARE_MIN ? SPARE_MIN : slots / 8;

        if (is_strict)
                spare = slots / 4 + SPARE_STRICT;
        *room = (struct ed_room){ .is_strict = is_strict };
        room->most = slots + (spare < SPARE_MAX ? spare : SPARE_MAX);
        room->low = room->most - (room->most - slots) / 2;
}

/* Returns true if fewer requests than 'most' need room. */
static bool has_room(const struct ed_room *room, uint32_t most)
{
        if (room->inside < most)
                return true;
        return !room->is_strict && room->inside - room->resting < most &&
               room->resting < ED_ROOM_RESTING_MAX &&
               room->resting_bytes < ED_ROOM_RESTING_BYTES_MAX;
}

/* Wake the reader when it can read several requests at once. */
static void reader_wake(struct ed_room *room)
{
        if (has_room(room, room->low))
                eddy_event_set(&room->changed);
}

int ed_room_enter(struct ed_room *room)
{
        while (!has_room(room, room->most)) {
                int err;

                eddy_event_clear(&room->changed);
                err = eddy_event_wait(&room->changed);
                if (err < 0)
                        return err;
        }
        room->inside++;
        return 0;
}

void ed_room_leave(struct ed_room *room)
{
        room->inside--;
        reader_wake(room);
}

void ed_room_rest(struct ed_room *room, uint32_t count, uint64_t bytes)
{
        room->resting += count;
        room->resting_bytes += bytes;
        reader_wake(room);
}

void ed_room_wake(struct ed_room *room, uint32_t count, uint64_t bytes)
{
        room->resting -= count;
        room->resting_bytes -= bytes;
        reader_wake(room);
}
