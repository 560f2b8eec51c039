/*
 * scope/debug/marks.h - debug mode's records of objects, in a table by address.  When the table has
 * reached its maximum size, or memory runs out, further objects are not recorded.
 */
#ifndef ED_SCOPE_DEBUG_MARKS_H
#define ED_SCOPE_DEBUG_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_table.h"

enum { ED_MARKS_MAX = 1 << 16 };

struct ed_task;

struct ed_mark {
        struct ed_hash_node node;
        const void *thing;
        int kind;
        const void *place;    /* where the program made it */
        struct ed_task *task; /* its owner */
        uint64_t number;      /* order of recording */
};

/* Ready to use when zero. */
struct ed_marks {
        struct ed_hash_table table;
        uint64_t numbers;
};

/*
 * Returns a new mark for 'thing' with its number set; replaces an existing mark.  Returns NULL if
 * there is no room.
 */
struct ed_mark *ed_marks_put(struct ed_marks *marks, const void *thing);

/* Returns NULL if 'thing' has no mark. */
struct ed_mark *ed_marks_find(const struct ed_marks *marks, const void *thing);

/* Removes a mark, and frees it. */
void ed_marks_drop(struct ed_marks *marks, struct ed_mark *mark);

/* Returns the mark of 'kind' with the lowest number above 'number', or NULL. */
struct ed_mark *ed_marks_after(const struct ed_marks *marks, int kind, uint64_t number);

void ed_marks_fini(struct ed_marks *marks);

#endif
