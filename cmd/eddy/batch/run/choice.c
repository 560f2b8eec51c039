/*
 * batch/run/choice.c - see choice.h.
 */
#include "batch/run/choice.h"

#include <errno.h>
#include <stddef.h>

#include "eddy/alloc.h"

enum { ROOM_FIRST = 16 };

void ed_choice_fini(struct ed_choice *choice)
{
        eddy_free(choice->open.places);
        eddy_free(choice->later.places);
        *choice = (struct ed_choice){ 0 };
}

static int heap_reserve(struct ed_choice_heap *heap, uint32_t room)
{
        struct ed_choice_place **grown = eddy_realloc(heap->places, room * sizeof(heap->places[0]));

        if (!grown)
                return -ENOMEM;
        heap->places = grown;
        return 0;
}

int ed_choice_reserve(struct ed_choice *choice, uint32_t places)
{
        uint32_t room = choice->room > 0 ? choice->room : ROOM_FIRST;
        int err;

        if (places <= choice->room)
                return 0;
        while (room < places)
                room *= 2;
        err = heap_reserve(&choice->open, room);
        if (err == 0)
                err = heap_reserve(&choice->later, room);
        if (err == 0)
                choice->room = room;
        return err;
}

/* ---- a heap ---------------------------------------------------------------------------------- */

static void place_set(struct ed_choice_heap *heap, uint32_t at, struct ed_choice_place *place)
{
        heap->places[at] = place;
        place->at = at;
}

/* Find the position of a place from 'at' on: it moves up or down as its rank asks for. */
static void heap_settle(struct ed_choice_heap *heap, uint32_t at, struct ed_choice_place *place)
{
        while (at > 0 && heap->places[(at - 1) / 2]->rank > place->rank) {
                place_set(heap, at, heap->places[(at - 1) / 2]);
                at = (at - 1) / 2;
        }
        for (;;) {
                uint32_t child = 2 * at + 1;

                if (child + 1 < heap->count &&
                    heap->places[child + 1]->rank < heap->places[child]->rank)
                        child++;
                if (child >= heap->count || heap->places[child]->rank >= place->rank)
                        break;
                place_set(heap, at, heap->places[child]);
                at = child;
        }
        place_set(heap, at, place);
}

static void heap_add(struct ed_choice_heap *heap, struct ed_choice_place *place)
{
        heap_settle(heap, heap->count++, place);
}

static void heap_remove(struct ed_choice_heap *heap, struct ed_choice_place *place)
{
        struct ed_choice_place *last = heap->places[--heap->count];

        if (last != place)
                heap_settle(heap, place->at, last);
}

/* ---- the choice ------------------------------------------------------------------------------ */

void ed_choice_drop(struct ed_choice *choice, struct ed_choice_place *place)
{
        if (place->state == ED_CHOICE_OPEN)
                heap_remove(&choice->open, place);
        else if (place->state == ED_CHOICE_LATER)
                heap_remove(&choice->later, place);
        place->state = ED_CHOICE_OUT;
}

void ed_choice_put(struct ed_choice *choice, struct ed_choice_place *place, uint64_t rank)
{
        if (place->state == ED_CHOICE_OPEN) {
                place->rank = rank;
                heap_settle(&choice->open, place->at, place);
                return;
        }
        ed_choice_drop(choice, place);
        place->rank = rank;
        place->state = ED_CHOICE_OPEN;
        heap_add(&choice->open, place);
}

void ed_choice_defer(struct ed_choice *choice, struct ed_choice_place *place, int64_t at_ns)
{
        ed_choice_drop(choice, place);
        place->rank = at_ns > 0 ? (uint64_t) at_ns : 0;
        place->state = ED_CHOICE_LATER;
        heap_add(&choice->later, place);
}

struct ed_choice_place *ed_choice_first(struct ed_choice *choice, int64_t now_ns)
{
        while (choice->later.count > 0 && choice->later.places[0]->rank <= (uint64_t) now_ns)
                ed_choice_put(choice, choice->later.places[0], 0);
        return choice->open.count > 0 ? choice->open.places[0] : NULL;
}
