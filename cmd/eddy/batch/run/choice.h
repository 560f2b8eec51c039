/*
 * batch/run/choice.h - chooses the least of many: two heaps of places, one of those that can be
 * chosen, by rank, and one of those that cannot be chosen before a time.
 *
 * Each step costs the logarithm of the number of places. The ranks of places that can be chosen may be
 * too low for a while: the caller compares the rank of the first place with the present one, and puts
 * it again if they differ. A rank that becomes lower is put at once.
 */
#ifndef ED_CMD_BATCH_RUN_CHOICE_H
#define ED_CMD_BATCH_RUN_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/def.h"

enum ed_choice_state {
        ED_CHOICE_OUT, /* in neither heap */
        ED_CHOICE_OPEN,
        ED_CHOICE_LATER,
};

/* Embedded in what is chosen. All zero: out. */
struct ed_choice_place {
        uint64_t rank; /* of an open place; the time of a later one */
        uint32_t at;   /* in its heap */
        enum ed_choice_state state;
};

struct ed_choice_heap {
        struct ed_choice_place **places;
        uint32_t count;
};

/* All zero: empty. */
struct ed_choice {
        struct ed_choice_heap open, later;
        uint32_t room;
};

void ed_choice_fini(struct ed_choice *choice);

/* Make room for a number of places in all. Errors: -ENOMEM */
EDDY_MUST_USE int ed_choice_reserve(struct ed_choice *choice, uint32_t places);

/* Let a place be chosen by 'rank', which replaces its former state. There must be room. */
void ed_choice_put(struct ed_choice *choice, struct ed_choice_place *place, uint64_t rank);

/* Let a place be chosen from 'at_ns' on, with rank 0 at first. There must be room. */
void ed_choice_defer(struct ed_choice *choice, struct ed_choice_place *place, int64_t at_ns);

void ed_choice_drop(struct ed_choice *choice, struct ed_choice_place *place);

/* Returns the open place of the lowest rank, or NULL. */
struct ed_choice_place *ed_choice_first(struct ed_choice *choice, int64_t now_ns);

#endif
