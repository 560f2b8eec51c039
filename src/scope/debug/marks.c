/*
 * scope/debug/marks.c - a hash table with open addressing, at most half full.  A removal moves
 * later entries up, so a search ends at the first free place.
 */
#include "scope/debug/marks.h"

#include "base/alloc.h"

enum { SIZE_MIN = 64 };

static size_t home_of(const struct ed_marks *marks, const void *thing)
{
        uint64_t bits = (uint64_t) (uintptr_t) thing * UINT64_C(0x9e3779b97f4a7c15);

        return (size_t) (bits >> 32) & (marks->size - 1);
}

/* Returns the place of 'thing', or the free place for it. */
static struct ed_mark *place_of(const struct ed_marks *marks, const void *thing)
{
        size_t at = home_of(marks, thing);

        while (marks->places[at].thing && marks->places[at].thing != thing)
                at = (at + 1) & (marks->size - 1);
        return &marks->places[at];
}

static int grow(struct ed_marks *marks)
{
        struct ed_marks larger = { .size = marks->size ? 2 * marks->size : SIZE_MIN };

        if (marks->count >= ED_MARKS_MAX)
                return -1;
        larger.places = ed_alloc_debug(larger.size * sizeof(larger.places[0]));
        if (!larger.places)
                return -1;
        for (size_t i = 0; i < marks->size; i++)
                if (marks->places[i].thing)
                        *place_of(&larger, marks->places[i].thing) = marks->places[i];
        ed_free(marks->places);
        marks->places = larger.places;
        marks->size = larger.size;
        return 0;
}

struct ed_mark *ed_marks_put(struct ed_marks *marks, const void *thing)
{
        struct ed_mark *mark = ed_marks_find(marks, thing);

        if (!mark) {
                if (2 * marks->count >= marks->size && grow(marks) < 0)
                        return NULL;
                mark = place_of(marks, thing);
                marks->count++;
        }
        *mark = (struct ed_mark){ .thing = thing, .number = ++marks->numbers };
        return mark;
}

struct ed_mark *ed_marks_find(const struct ed_marks *marks, const void *thing)
{
        struct ed_mark *mark = marks->size ? place_of(marks, thing) : NULL;

        return mark && mark->thing ? mark : NULL;
}

void ed_marks_drop(struct ed_marks *marks, struct ed_mark *mark)
{
        size_t mask = marks->size - 1;
        size_t hole = (size_t) (mark - marks->places), at = hole;

        marks->count--;
        /* Move up each later entry whose search starts at the hole or before. */
        while (marks->places[at = (at + 1) & mask].thing) {
                size_t home = home_of(marks, marks->places[at].thing);

                if (((at - home) & mask) < ((at - hole) & mask))
                        continue;
                marks->places[hole] = marks->places[at];
                hole = at;
        }
        marks->places[hole].thing = NULL;
}

struct ed_mark *ed_marks_after(const struct ed_marks *marks, int kind, uint64_t number)
{
        struct ed_mark *first = NULL;

        for (size_t i = 0; i < marks->size; i++) {
                struct ed_mark *mark = &marks->places[i];

                if (mark->thing && mark->kind == kind && mark->number > number &&
                    (!first || mark->number < first->number))
                        first = mark;
        }
        return first;
}

void ed_marks_fini(struct ed_marks *marks)
{
        ed_free(marks->places);
        *marks = (struct ed_marks){ 0 };
}
