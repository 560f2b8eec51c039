/*
 * collect/pick.h - picks the line of each request from sorted lines: its last answer, or else its last
 * failure. Lines in, lines out; no I/O.
 */
#ifndef ED_CMD_COLLECT_PICK_H
#define ED_CMD_COLLECT_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/sort/merge_sort.h"
#include "common/draft.h"

/* Gets the picked lines, in the order of their places, each with its line feed. */
typedef int ed_pick_fn(void *arg, uint64_t place, bool is_answer, const char *line, size_t bytes);

/* Zero but for fn. */
struct ed_pick {
        ed_pick_fn *fn;
        void *arg;
        uint64_t equal; /* answers that are equal to the answer before them, of the same place */

        struct ed_draft coming; /* a line, as it arrives */
        struct ed_draft held;   /* the best line of its place so far */
        uint64_t held_key;
};

/* The key for the sorter of a line: an answer comes after the failures of its place. */
static inline uint64_t ed_pick_key(uint64_t place, bool is_answer)
{
        return place << 1 | is_answer;
}

/* Takes the sorted text: 'arg' is the pick. Errors: -ENOMEM; those of fn */
ed_merge_sort_fn ed_pick_take;

/* Output the last line. Errors: those of fn */
EDDY_MUST_USE int ed_pick_finish(struct ed_pick *pick);

void ed_pick_fini(struct ed_pick *pick);

#endif
