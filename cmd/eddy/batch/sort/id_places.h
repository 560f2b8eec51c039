/*
 * batch/sort/id_places.h - the places of ids in an input, in 16 bytes for each id. No I/O.
 *
 * Ids are compared by 88 bits of their hash with a random seed, so the probability that two of 100
 * million ids are confused is below 10^-10. The id "line-N" with the place N, which is the id of line
 * N if that line has none, takes a bit.
 */
#ifndef ED_CMD_BATCH_SORT_ID_PLACES_H
#define ED_CMD_BATCH_SORT_ID_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/sort/pair_sort.h"
#include "common/bits.h"
#include "eddy/def.h"

#define ED_PLACE_NONE UINT64_MAX
#define ED_PLACE_MAX  (((uint64_t) 1 << 40) - 1)

struct ed_id_places {
        struct ed_pair *items; /* the hash, and the place in the low 40 bits of 'second' */
        size_t count, room;
        uint64_t seed;
        struct ed_bits lines; /* of the lines N that have the id "line-N" */
        bool has_names;       /* an item has an id "line-N" */
};

void ed_id_places_init(struct ed_id_places *places);
void ed_id_places_fini(struct ed_id_places *places);

/*
 * Add an id with its place, from 1 to ED_PLACE_MAX. If an id is added twice, its first place
 * counts.
 *
 * Errors: -ENOMEM;  -ERANGE  the place is too large
 */
EDDY_MUST_USE int ed_id_places_add(struct ed_id_places *places, const char *id, size_t bytes,
                                   uint64_t place);

/* Add the id "line-N" with the place N. Errors: as ed_id_places_add() */
EDDY_MUST_USE int ed_id_places_add_line(struct ed_id_places *places, uint64_t place);

/* Prepare for ed_id_places_find(), after the last ed_id_places_add(). */
void ed_id_places_seal(struct ed_id_places *places);

/* Returns the place of an id, or ED_PLACE_NONE if it was not added. */
uint64_t ed_id_places_find(const struct ed_id_places *places, const char *id, size_t bytes);

/* How far ids that were added more than once are found; begins as zero. */
struct ed_id_places_walk {
        size_t item;
        uint64_t line;
};

/*
 * After ed_id_places_seal(), find the next id that was added more than once. Returns a place at which it
 * was added again, or 0 at the end.
 */
uint64_t ed_id_places_repeated(const struct ed_id_places *places, struct ed_id_places_walk *walk);

#endif
