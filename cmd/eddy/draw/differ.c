/*
 * draw/differ.c - see differ.h.
 */
#include "draw/differ.h"

#include <string.h>

#include "draw/words.h"

/* Returns true if the name of an event says what happened. */
static bool is_named(const struct ed_draw_event *event)
{
        return event->phase == 'B' || event->phase == 'E' || event->kind == ED_DRAW_IO;
}

static bool is_alike(const struct ed_draw_run *one, const struct ed_draw_run *two, uint32_t at)
{
        const struct ed_draw_event *a = &one->events[at], *b = &two->events[at];

        return a->phase == b->phase && a->kind == b->kind && a->loop == b->loop &&
               a->task == b->task && a->result == b->result && a->scope == b->scope &&
               a->by == b->by && a->about == b->about && a->bytes == b->bytes &&
               a->is_open == b->is_open && a->is_shield == b->is_shield &&
               (!is_named(a) ||
                strcmp(ed_draw_text(one, a->name), ed_draw_text(two, b->name)) == 0) &&
               strcmp(ed_draw_text(one, one->nodes[a->node].name),
                      ed_draw_text(two, two->nodes[b->node].name)) == 0;
}

uint32_t ed_draw_alike(const struct ed_draw_run *one, const struct ed_draw_run *two)
{
        uint32_t at = 0;

        while (at < one->events_count && at < two->events_count && is_alike(one, two, at))
                at++;
        return at;
}

static void side_add(struct ed_draft *out, const struct ed_draw_run *run, uint32_t at)
{
        if (at < run->events_count)
                ed_draw_event_add(out, run, at);
        else
                ed_draft_add_str(out, "the run has ended");
}

void ed_draw_difference_add(struct ed_draft *out, const struct ed_draw_run *one,
                            const struct ed_draw_run *two, uint32_t alike)
{
        if (alike == one->events_count && alike == two->events_count) {
                ed_draft_add_str(out, "no difference: both runs have the same ");
                ed_draw_count_add(out, alike, "event");
                ed_draft_add_str(out, "; times are not compared");
                return;
        }
        ed_draft_add_printf(out, "first difference: event %u: ", alike + 1);
        side_add(out, one, alike);
        ed_draft_add_str(out, " | ");
        side_add(out, two, alike);
}
