/*
 * draw/notes.c - see notes.h.
 */
#include "draw/notes.h"

#include <errno.h>
#include <inttypes.h>

#include "draw/raster.h"
#include "draw/words.h"

/* Stopped tasks that a cause names. */
enum { STOPPED_MAX = 4 };

/* Append a name; if names differ in their digits, without them. */
static void name_add(struct ed_draft *out, const char *name, bool is_mixed)
{
        bool was_digit = false;

        for (; *name; name++) {
                bool is_digit = is_mixed && *name >= '0' && *name <= '9';

                if (!is_digit)
                        ed_draft_add(out, name, 1);
                else if (!was_digit)
                        ed_draft_add_str(out, "#");
                was_digit = is_digit;
        }
}

void ed_draw_line_add(struct ed_draft *out, const struct ed_draw_run *run,
                      const struct ed_draw_fold *fold, uint32_t at)
{
        const struct ed_draw_line *line = &fold->lines[at];
        const struct ed_draw_node *node = line->count ? &run->nodes[line->first] : NULL;

        if (line->kind == ED_DRAW_LOOP && run->loops > 1) {
                ed_draft_add_printf(out, "loop %" PRId64, line->loop);
        } else if (line->kind == ED_DRAW_LOOP) {
                ed_draft_add_str(out, "loop");
        } else if (line->kind == ED_DRAW_SCOPE && line->count == 1) {
                ed_draft_add_printf(out, "[scope %" PRId64 "]", node->number);
        } else if (line->kind == ED_DRAW_SCOPE) {
                ed_draft_add_str(out, "[");
                ed_draw_count_add(out, line->count, "scope");
                ed_draft_add_str(out, "]");
        } else if (line->count == 1) {
                ed_draft_add_printf(out, "%" PRId64 " %s", node->number,
                                    ed_draw_text(run, node->name));
        } else {
                ed_draft_add_grouped(out, line->count);
                ed_draft_add_str(out, " x ");
                if (line->is_mixed && fold->is_any_name)
                        ed_draft_add_str(out, "tasks");
                else
                        name_add(out, ed_draw_text(run, node->name), line->is_mixed);
        }
}

void ed_draw_summary_add(struct ed_draft *out, const struct ed_draw_picture *picture, bool is_ascii)
{
        const struct ed_draw_run *run = &picture->run;

        ed_draft_add_str(out, picture->title);
        ed_draft_add_str(out, ": ");
        ed_draw_count_add(out, run->tasks, "task");
        ed_draft_add_str(out, ", ");
        ed_draw_count_add(out, run->scopes, "scope");
        ed_draft_add_str(out, ", ");
        ed_draw_count_add(out, run->events_count, "event");
        if (run->loops > 1) {
                ed_draft_add_str(out, ", ");
                ed_draw_count_add(out, run->loops, "loop");
        }
        ed_draft_add_str(out, ", ");
        if (run->end_ns == run->start_ns)
                ed_draft_add_str(out, "no time passed");
        else
                ed_draw_time_add(out, (double) (run->end_ns - run->start_ns), is_ascii);
        if (run->clock != ED_DRAW_NAMELESS)
                ed_draft_add_printf(out, ", %s clock", ed_draw_text(run, run->clock));
        if (run->dropped == 0)
                return;
        ed_draft_add_str(out, "; ");
        ed_draw_count_add(out, run->dropped, "older event");
        ed_draft_add_str(out, " dropped (EDDY_TRACE_EVENTS)");
}

void ed_draw_stopped_add(struct ed_draft *out, const struct ed_draw_run *run, uint32_t cause)
{
        uint32_t count = 0;

        for (uint32_t i = 0; i < run->flows_count; i++) {
                const struct ed_draw_flow *flow = &run->flows[i];

                if (flow->kind != ED_DRAW_CANCEL || flow->cause != cause)
                        continue;
                if (count < STOPPED_MAX) {
                        ed_draft_add_str(out, count ? ", " : ": stops ");
                        ed_draw_node_add(out, run, run->events[flow->to].node);
                }
                count++;
        }
        if (count > STOPPED_MAX) {
                ed_draft_add_str(out, " and ");
                ed_draw_count_add(out, count - STOPPED_MAX, "more task");
        }
}

/* The notes of a picture. */
struct notes {
        const struct ed_draw_picture *picture;
        bool is_ascii;
        ed_draw_note_fn *add;
        void *arg;
        struct ed_draft text;
        uint32_t count, omitted; /* of the kind at hand */
};

/* Returns true if a note of the kind at hand is to be written. */
static bool is_wanted(struct notes *notes)
{
        if (notes->count < ED_DRAW_NOTES_MAX) {
                notes->count++;
                return true;
        }
        notes->omitted++;
        return false;
}

static void note_end(struct notes *notes)
{
        notes->add(notes->arg, &notes->text);
        ed_draft_reset(&notes->text, 4096);
}

/* End a kind of notes: count those that were not written. */
static void kind_end(struct notes *notes, const char *noun)
{
        if (notes->omitted > 0) {
                ed_draft_add_str(&notes->text, "  and ");
                ed_draw_count_add(&notes->text, notes->omitted, noun);
                note_end(notes);
        }
        notes->count = notes->omitted = 0;
}

/* Adds the deadlocks, or the cancels and deadlines. */
static void causes_of(struct notes *notes, bool of_deadlocks)
{
        const struct ed_draw_run *run = &notes->picture->run;

        for (uint32_t i = 0; i < run->events_count; i++) {
                const struct ed_draw_event *event = &run->events[i];

                if (event->phase != 'i' || event->kind == ED_DRAW_IO ||
                    (event->kind == ED_DRAW_DEADLOCK) != of_deadlocks || !is_wanted(notes))
                        continue;
                ed_draft_add_str(&notes->text, event->kind == ED_DRAW_CANCEL ? "x " : "! ");
                ed_draw_when_add(&notes->text, run, &notes->picture->scale, i, notes->is_ascii);
                ed_draft_add_str(&notes->text, ": ");
                ed_draw_event_add(&notes->text, run, i);
                ed_draw_stopped_add(&notes->text, run, i);
                note_end(notes);
        }
        kind_end(notes, "more such event");
}

static void causes_add(struct notes *notes)
{
        const struct ed_draw_run *run = &notes->picture->run;
        uint32_t lost = 0;

        causes_of(notes, true);
        causes_of(notes, false);
        for (uint32_t i = 0; i < run->flows_count; i++)
                lost += run->flows[i].kind == ED_DRAW_CANCEL && run->flows[i].cause == ED_DRAW_NONE;
        if (lost == 0)
                return;
        ed_draft_add_str(&notes->text, "x ");
        ed_draw_count_add(&notes->text, lost, "task");
        ed_draft_add_str(&notes->text, " stopped by cancels that the file does not have");
        note_end(notes);
}

static void failures_add(struct notes *notes)
{
        const struct ed_draw_run *run = &notes->picture->run;

        for (uint32_t i = 0; i < run->nodes_count; i++) {
                const struct ed_draw_node *node = &run->nodes[i];

                if (node->kind != ED_DRAW_TASK || node->result >= 0 ||
                    node->result == ED_DRAW_ABSENT ||
                    (node->is_stopped && node->result == -ECANCELED) || !is_wanted(notes))
                        continue;
                ed_draw_event_add(&notes->text, run, node->end);
                note_end(notes);
        }
        kind_end(notes, "more failed task");
}

static void groups_add(struct notes *notes)
{
        const struct ed_draw_run *run = &notes->picture->run;
        const struct ed_draw_fold *fold = &notes->picture->fold;

        for (uint32_t i = 0; i < fold->shown; i++) {
                const struct ed_draw_line *line = &fold->lines[fold->order[i]];
                uint32_t failed = 0, stopped = 0;
                int64_t peak;

                if (line->kind != ED_DRAW_TASK || line->count < 2 || !is_wanted(notes))
                        continue;
                for (uint32_t at = line->first; at != ED_DRAW_NONE; at = fold->next[at]) {
                        const struct ed_draw_node *node = &run->nodes[at];

                        failed += node->result < 0 && node->result != ED_DRAW_ABSENT;
                        stopped += node->is_stopped;
                }
                peak = ed_draw_peak(run, fold, fold->order[i]);
                if (peak < 0)
                        notes->text.failed = true;
                ed_draft_add_str(&notes->text, "folded: ");
                ed_draw_line_add(&notes->text, run, fold, fold->order[i]);
                ed_draft_add_printf(
                        &notes->text, " (%" PRId64 " to %" PRId64 "), at most %" PRId64 " at once",
                        run->nodes[line->first].number, run->nodes[line->last].number, peak);
                if (failed > 0)
                        ed_draft_add_printf(&notes->text, ", %" PRIu32 " failed", failed);
                if (stopped > 0)
                        ed_draft_add_printf(&notes->text, ", %" PRIu32 " stopped", stopped);
                note_end(notes);
        }
        kind_end(notes, "more folded line");
}

void ed_draw_notes(const struct ed_draw_picture *picture, bool is_ascii, ed_draw_note_fn *add,
                   void *arg)
{
        struct notes notes = { .picture = picture, .is_ascii = is_ascii, .add = add, .arg = arg };

        causes_add(&notes);
        failures_add(&notes);
        groups_add(&notes);
        ed_draft_fini(&notes.text);
}
