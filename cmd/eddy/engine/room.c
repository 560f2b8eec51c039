/*
 * engine/room.c - see room.h.
 */
#include "engine/room.h"

#include "eddy/scope.h"

enum { SPARE_MAX = 256, SPARE_MIN = 64 };

void ed_room_init(struct ed_room *room, uint32_t slots, bool is_strict)
{
        *room = (struct ed_room){ .is_strict = is_strict };
        room->most = slots + (slots / 4 < SPARE_MAX ? slots / 4 : SPARE_MAX) + SPARE_MIN;
}

static bool has_room(const struct ed_room *room)
{
        if (room->inside < room->most)
                return true;
        return !room->is_strict && room->inside - room->resting < room->most &&
               room->resting < ED_ROOM_RESTING_MAX &&
               room->resting_bytes < ED_ROOM_RESTING_BYTES_MAX;
}

int ed_room_enter(struct ed_room *room)
{
        while (!has_room(room)) {
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
        eddy_event_set(&room->changed);
}

void ed_room_rest(struct ed_room *room, uint32_t count, uint64_t bytes)
{
        room->resting += count;
        room->resting_bytes += bytes;
        eddy_event_set(&room->changed);
}

void ed_room_wake(struct ed_room *room, uint32_t count, uint64_t bytes)
{
        room->resting -= count;
        room->resting_bytes -= bytes;
        eddy_event_set(&room->changed);
}
