/*
 * scope/debug/marks.h - what debug mode notes down of things that know nothing of
 * it: a table by address, which grows up to a maximum.  Beyond that, or
 * without memory, no more is noted.
 */
#ifndef ED_SCOPE_DEBUG_MARKS_H
#define ED_SCOPE_DEBUG_MARKS_H

#include <stddef.h>
#include <stdint.h>

enum { ED_MARKS_MAX = 1 << 16 };

struct ed_task;

struct ed_mark {
        const void *thing; /* NULL: a free place */
        int kind;
        const void *place;    /* of the program, where it was made */
        struct ed_task *task; /* whose it is */
        uint64_t number;      /* in the order in which they were noted */
};

/* Ready to use when zero. */
struct ed_marks {
        struct ed_mark *places;
        size_t size; /* of places: 0 or a power of two */
        size_t count;
        uint64_t numbers;
};

/* A mark for 'thing', its number set; the one that it has, if it has one.  NULL: no room. */
struct ed_mark *ed_marks_put(struct ed_marks *marks, const void *thing);

/* NULL: there is none. */
struct ed_mark *ed_marks_find(const struct ed_marks *marks, const void *thing);

/* Any mark may lie elsewhere afterwards. */
void ed_marks_drop(struct ed_marks *marks, struct ed_mark *mark);

/* The mark of 'kind' with the least number above 'number', or NULL. */
struct ed_mark *ed_marks_after(const struct ed_marks *marks, int kind, uint64_t number);

void ed_marks_fini(struct ed_marks *marks);

#endif
