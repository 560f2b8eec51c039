/*
 * collect/numbered.h - the number in the names of files, which is that of their shard: "out.3.jsonl",
 * "out.17.jsonl". No I/O.
 */
#ifndef ED_CMD_COLLECT_NUMBERED_H
#define ED_CMD_COLLECT_NUMBERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

/* The part of a name that is replaced by the number of the shard. */
#define ED_NUMBERED_PLACE "%i"

/* The form of names: a beginning, a number and an end. All zero: none. */
struct ed_numbered {
        const char *name; /* a name of this form; borrowed. NULL: none */
        size_t at, end;   /* of its number */
};

/* Returns true if a name has a place for the number. */
bool ed_numbered_is_form(const char *name);

/* Find the next number, from the right, in the last part of a name. '*form' is zero, or the one before. */
bool ed_numbered_find(const char *name, struct ed_numbered *form);

/* Returns the number in a name of the form, without leading zeros, or -1. */
int64_t ed_numbered_read(const struct ed_numbered *form, const char *name);

/* Write the name of a shard: each place in 'form' is its number. Returns false if the room is too small. */
bool ed_numbered_write(const char *form, uint32_t index, char *room, size_t room_bytes);

/* Write a name that has a place instead of its number. Returns false if the room is too small. */
bool ed_numbered_show(const struct ed_numbered *form, char *room, size_t room_bytes);

#endif
