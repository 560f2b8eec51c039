/*
 * draw/text.c - a character is a column of time: its most frequent state, and marks over it.
 */
#include "draw/text.h"

#include <inttypes.h>
#include <string.h>

#include "draw/notes.h"
#include "draw/plain.h"
#include "draw/raster.h"
#include "draw/words.h"
#include "eddy/alloc.h"

/* A group with more marks has none, because they would hide how many tasks are active. */
enum { INDENT_MAX = 8, TICK_COLUMNS = 12, GROUP_MARKS_MAX = 8 };

/* The looks of a cell. */
enum look {
        LOOK_RUNS = ED_DRAW_RUNS,
        LOOK_WAITS = ED_DRAW_WAITS,
        LOOK_READY = ED_DRAW_IS_READY,
        LOOK_EMPTY = ED_DRAW_STATES,
        LOOK_BRIEF,
        LOOK_OPEN,
        LOOK_CLOSE,
        LOOK_RULE,
        LOOK_TICK,
        LOOK_STOPPED,
        LOOK_DEADLINE,
        LOOK_DIFFERENCE,
        LOOK_DENSITY /* and seven more */
};

enum { DENSITIES = 8 };

static const char *const glyphs[][2] = {
        [LOOK_RUNS] = { "\xe2\x96\x88", "#" },
        [LOOK_WAITS] = { "\xe2\x96\x91", "." },
        [LOOK_READY] = { "\xe2\x96\x92", "=" },
        [LOOK_EMPTY] = { " ", " " },
        [LOOK_BRIEF] = { "\xe2\x94\x82", "|" },
        [LOOK_OPEN] = { "[", "[" },
        [LOOK_CLOSE] = { "]", "]" },
        [LOOK_RULE] = { "\xe2\x94\x80", "-" },
        [LOOK_TICK] = { "\xe2\x94\xac", "+" },
        [LOOK_STOPPED] = { "x", "x" },
        [LOOK_DEADLINE] = { "!", "!" },
        [LOOK_DIFFERENCE] = { "\xe2\x96\xbc", "v" },
        [LOOK_DENSITY] = { "\xe2\x96\x81", "1" },
        [LOOK_DENSITY + 1] = { "\xe2\x96\x82", "2" },
        [LOOK_DENSITY + 2] = { "\xe2\x96\x83", "3" },
        [LOOK_DENSITY + 3] = { "\xe2\x96\x84", "4" },
        [LOOK_DENSITY + 4] = { "\xe2\x96\x85", "5" },
        [LOOK_DENSITY + 5] = { "\xe2\x96\x86", "6" },
        [LOOK_DENSITY + 6] = { "\xe2\x96\x87", "7" },
        [LOOK_DENSITY + 7] = { "\xe2\x96\x88", "8" },
};

struct canvas {
        const struct ed_draw_picture *picture;
        struct ed_draft *out;
        struct ed_draft text; /* before it is escaped */
        unsigned label, columns;
        bool is_ascii;
        unsigned char *cells; /* of all lines: enum look */
        struct {
                unsigned count, last; /* columns */
        } marks[ED_DRAW_TEXT_LINES_MAX];
        bool is_noted;
        struct ed_draw_raster raster;
};

/* ---- cells --------------------------------------------------------------------------------- */

static unsigned char *cells_of(const struct canvas *canvas, uint32_t shown)
{
        return canvas->cells + (size_t) shown * canvas->columns;
}

static unsigned column_of(const struct canvas *canvas, uint32_t event)
{
        double part = ed_draw_part(&canvas->picture->scale, &canvas->picture->run, event);
        double at = part * canvas->columns;

        if (at <= 0)
                return 0;
        return at >= canvas->columns ? canvas->columns - 1 : (unsigned) at;
}

/* Returns true if a task mostly runs in a column, which may be outside the picture. */
static bool is_running(const struct ed_draw_raster *raster, unsigned column)
{
        return column < raster->columns && ed_draw_raster_sum(raster, column) > 0 &&
               ed_draw_raster_state(raster, column) == ED_DRAW_RUNS;
}

static void task_cells(struct canvas *canvas, uint32_t line, unsigned char *cells)
{
        const struct ed_draw_raster *raster = &canvas->raster;

        ed_draw_raster_line(&canvas->raster, &canvas->picture->run, &canvas->picture->scale,
                            &canvas->picture->fold, line);
        for (unsigned i = 0; i < canvas->columns; i++) {
                cells[i] = (unsigned char) ed_draw_raster_state(raster, i);
                /* Beside a column in which the task runs, the part of a column is rounding. */
                if (raster->is_touched[i] && !is_running(raster, i) && !is_running(raster, i - 1) &&
                    !is_running(raster, i + 1))
                        cells[i] = LOOK_BRIEF;
                else if (cells[i] == LOOK_RUNS && !is_running(raster, i))
                        cells[i] = LOOK_EMPTY;
        }
}

static void group_cells(struct canvas *canvas, uint32_t line, unsigned char *cells)
{
        const struct ed_draw_raster *raster = &canvas->raster;

        ed_draw_raster_line(&canvas->raster, &canvas->picture->run, &canvas->picture->scale,
                            &canvas->picture->fold, line);
        for (unsigned i = 0; i < canvas->columns; i++) {
                double sum = ed_draw_raster_sum(raster, i);
                unsigned height = 0;

                cells[i] = LOOK_EMPTY;
                if (sum <= 0 && !raster->is_touched[i])
                        continue;
                if (raster->most > 0)
                        height = (unsigned) (sum / raster->most * DENSITIES);
                cells[i] = (unsigned char) (LOOK_DENSITY +
                                            (height < DENSITIES ? height : DENSITIES - 1));
        }
}

static void scope_cells(struct canvas *canvas, uint32_t line, unsigned char *cells)
{
        const struct ed_draw_fold *fold = &canvas->picture->fold;

        memset(cells, LOOK_EMPTY, canvas->columns);
        for (uint32_t at = fold->lines[line].first; at != ED_DRAW_NONE; at = fold->next[at]) {
                const struct ed_draw_node *node = &canvas->picture->run.nodes[at];
                unsigned begin = column_of(canvas, node->begin);
                unsigned end = column_of(canvas, node->end);

                bool is_shared = cells[begin] != LOOK_EMPTY;

                for (unsigned i = begin; i <= end; i++)
                        cells[i] = LOOK_RULE;
                cells[end] = LOOK_CLOSE;
                cells[begin] = begin == end || is_shared ? LOOK_BRIEF : LOOK_OPEN;
        }
}

/* Returns true if the scopes of a line are one after the other, and at most 'count_max'. */
static bool is_sequence(const struct ed_draw_picture *picture, uint32_t line, unsigned count_max)
{
        const struct ed_draw_fold *fold = &picture->fold;
        uint32_t end = 0;

        if (fold->lines[line].count > count_max)
                return false;
        for (uint32_t at = fold->lines[line].first; at != ED_DRAW_NONE; at = fold->next[at]) {
                const struct ed_draw_node *node = &picture->run.nodes[at];

                if (node->begin < end)
                        return false;
                end = node->end;
        }
        return true;
}

static void cells_fill(struct canvas *canvas)
{
        const struct ed_draw_fold *fold = &canvas->picture->fold;

        for (uint32_t i = 0; i < fold->shown; i++) {
                const struct ed_draw_line *line = &fold->lines[fold->order[i]];
                unsigned char *cells = cells_of(canvas, i);

                if (line->kind == ED_DRAW_SCOPE &&
                    is_sequence(canvas->picture, fold->order[i], canvas->columns / 4))
                        scope_cells(canvas, fold->order[i], cells);
                else if (line->count > 1)
                        group_cells(canvas, fold->order[i], cells);
                else if (line->kind == ED_DRAW_TASK)
                        task_cells(canvas, fold->order[i], cells);
                else
                        memset(cells, LOOK_EMPTY, canvas->columns);
        }
}

/* Mark the line of a node, or only count the mark. */
static void node_mark(struct canvas *canvas, uint32_t node, uint32_t event, enum look look,
                      bool is_counted)
{
        const struct ed_draw_fold *fold = &canvas->picture->fold;
        uint32_t shown;
        unsigned column;

        if (node == ED_DRAW_NONE || fold->line_of[node] == ED_DRAW_NONE)
                return;
        shown = fold->lines[fold->line_of[node]].shown;
        if (shown == ED_DRAW_NONE)
                return;
        column = column_of(canvas, event);
        if (is_counted && (canvas->marks[shown].count == 0 || canvas->marks[shown].last != column))
                canvas->marks[shown].count++;
        canvas->marks[shown].last = column;
        if (is_counted)
                return;
        if (fold->lines[fold->line_of[node]].count == 1 ||
            canvas->marks[shown].count <= GROUP_MARKS_MAX)
                cells_of(canvas, shown)[column] = (unsigned char) look;
}

static void marks_fill(struct canvas *canvas, bool is_counted)
{
        const struct ed_draw_run *run = &canvas->picture->run;

        for (uint32_t i = 0; i < run->events_count; i++) {
                const struct ed_draw_event *event = &run->events[i];
                uint32_t scope = ed_draw_run_scope(run, event->loop, event->scope);

                if (event->phase == 'i' && event->kind == ED_DRAW_CANCEL)
                        node_mark(canvas, scope, i, LOOK_STOPPED, is_counted);
                else if (event->phase == 'f' && event->kind == ED_DRAW_CANCEL)
                        node_mark(canvas, event->node, i, LOOK_STOPPED, is_counted);
                else if (event->kind == ED_DRAW_DEADLINE)
                        node_mark(canvas, scope, i, LOOK_DEADLINE, is_counted);
                else if (event->kind == ED_DRAW_DEADLOCK)
                        node_mark(canvas, event->node, i, LOOK_DEADLINE, is_counted);
        }
}

/* ---- lines --------------------------------------------------------------------------------- */

static void look_add(const struct canvas *canvas, enum look look)
{
        ed_draft_add_str(canvas->out, glyphs[look][canvas->is_ascii]);
}

/* Append the escaped text in 'text', padded to a width, and clear it. Returns the columns. */
static unsigned text_flush(struct canvas *canvas, unsigned width, bool is_padded)
{
        unsigned used = ed_draw_plain_add(canvas->out, canvas->text.data, canvas->text.bytes, width,
                                          canvas->is_ascii);

        if (canvas->text.failed)
                canvas->out->failed = true;
        for (unsigned i = used; is_padded && i < width; i++)
                ed_draft_add_str(canvas->out, " ");
        ed_draft_reset(&canvas->text, 4096);
        return used;
}

static void label_write(struct canvas *canvas, uint32_t at)
{
        const struct ed_draw_fold *fold = &canvas->picture->fold;
        const struct ed_draw_line *line = &fold->lines[at];
        unsigned depth = line->depth < INDENT_MAX ? line->depth : INDENT_MAX;

        for (unsigned i = 0; i < depth; i++)
                ed_draft_add_str(&canvas->text, "  ");
        ed_draw_line_add(&canvas->text, &canvas->picture->run, fold, at);
}

/* Choose the width of the labels: that of the longest, at most a third of the width. */
static void label_measure(struct canvas *canvas, unsigned width)
{
        struct ed_draft none = { 0 }, *out = canvas->out;

        canvas->out = &none;
        for (uint32_t i = 0; i < canvas->picture->fold.shown; i++) {
                unsigned used;

                label_write(canvas, canvas->picture->fold.order[i]);
                used = text_flush(canvas, width / 3, false);
                ed_draft_reset(&none, 4096);
                if (used > canvas->label)
                        canvas->label = used;
        }
        ed_draft_fini(&none);
        canvas->out = out;
        canvas->label += 2;
        canvas->columns = width - canvas->label;
}

/* Remove spaces at the end of the line, and end it. */
static void line_end(struct canvas *canvas)
{
        while (canvas->out->bytes > 0 && canvas->out->data[canvas->out->bytes - 1] == ' ')
                canvas->out->bytes--;
        ed_draft_add_str(canvas->out, "\n");
}

static void pad(const struct canvas *canvas, unsigned columns)
{
        for (unsigned i = 0; i < columns; i++)
                ed_draft_add_str(canvas->out, " ");
}

static unsigned column_of_tick(const struct canvas *canvas, double tick)
{
        const struct ed_draw_scale *scale = &canvas->picture->scale;
        double at = (tick - scale->start) / (scale->end - scale->start) * canvas->columns;

        return at >= canvas->columns ? canvas->columns - 1 : (unsigned) at;
}

static void axis_add(struct canvas *canvas)
{
        const struct ed_draw_scale *scale = &canvas->picture->scale;
        unsigned ticks = canvas->columns / TICK_COLUMNS, at = 0;
        double step = ed_draw_step(scale, ticks), first = ed_draw_first_tick(scale, step);
        unsigned char *looks = canvas->cells + canvas->columns * canvas->picture->fold.shown;

        memset(looks, LOOK_RULE, canvas->columns);
        ed_draft_add_str(&canvas->text, scale->is_order ? "event" : "");
        text_flush(canvas, canvas->label, true);
        for (unsigned i = 0; i <= ticks && first + i * step <= scale->end; i++) {
                double tick = first + i * step;
                unsigned column = column_of_tick(canvas, tick);

                looks[column] = LOOK_TICK;
                ed_draw_tick_add(&canvas->text, scale, tick, step, canvas->is_ascii);
                /* A character of a label is at most a column. */
                if (column < at || column + canvas->text.bytes > canvas->columns) {
                        ed_draft_reset(&canvas->text, 4096);
                        continue;
                }
                pad(canvas, column - at);
                at = column + text_flush(canvas, canvas->columns - column, false) + 1;
                ed_draft_add_str(canvas->out, " ");
        }
        line_end(canvas);
        if (canvas->picture->difference != ED_DRAW_NONE)
                looks[column_of(canvas, canvas->picture->difference)] = LOOK_DIFFERENCE;
        pad(canvas, canvas->label);
        for (unsigned i = 0; i < canvas->columns; i++)
                look_add(canvas, looks[i]);
        line_end(canvas);
}

static void lines_add(struct canvas *canvas)
{
        const struct ed_draw_fold *fold = &canvas->picture->fold;

        for (uint32_t i = 0; i < fold->shown; i++) {
                const unsigned char *cells = cells_of(canvas, i);

                label_write(canvas, fold->order[i]);
                text_flush(canvas, canvas->label - 1, true);
                ed_draft_add_str(canvas->out, " ");
                for (unsigned column = 0; column < canvas->columns; column++)
                        look_add(canvas, cells[column]);
                line_end(canvas);
        }
        if (fold->hidden == 0)
                return;
        ed_draw_count_add(&canvas->text, fold->hidden, "more line");
        ed_draft_add_str(&canvas->text, " with ");
        ed_draw_count_add(&canvas->text, fold->hidden_tasks, "task");
        text_flush(canvas, UINT32_MAX, false);
        line_end(canvas);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void note_add(void *arg, const struct ed_draft *note)
{
        struct canvas *canvas = arg;

        if (!canvas->is_noted)
                ed_draft_add_str(canvas->out, "\n");
        canvas->is_noted = true;
        ed_draft_add(&canvas->text, note->data, note->bytes);
        if (note->failed)
                canvas->out->failed = true;
        text_flush(canvas, UINT32_MAX, false);
        line_end(canvas);
}

static void canvas_draw(struct canvas *canvas)
{
        ed_draw_summary_add(&canvas->text, canvas->picture, canvas->is_ascii);
        text_flush(canvas, UINT32_MAX, false);
        ed_draft_add_str(canvas->out, "\n\n");
        axis_add(canvas);
        cells_fill(canvas);
        marks_fill(canvas, true);
        marks_fill(canvas, false);
        lines_add(canvas);
        ed_draw_notes(canvas->picture, canvas->is_ascii, note_add, canvas);
}

void ed_draw_text_add(struct ed_draft *out, const struct ed_draw_picture *picture, unsigned width,
                      bool is_ascii)
{
        struct canvas canvas = { .picture = picture, .out = out, .is_ascii = is_ascii };

        label_measure(&canvas, width);
        canvas.cells = eddy_malloc((size_t) canvas.columns * (picture->fold.shown + 1));
        if (canvas.cells && ed_draw_raster_init(&canvas.raster, canvas.columns) == 0) {
                canvas_draw(&canvas);
                ed_draw_raster_fini(&canvas.raster);
        } else {
                out->failed = true;
        }
        eddy_free(canvas.cells);
        ed_draft_fini(&canvas.text);
}

void ed_draw_text_legend(struct ed_draft *out, bool has_deadlock, bool has_difference,
                         bool is_ascii)
{
        const struct {
                enum look look;
                const char *meaning;
        } entries[] = { { LOOK_RUNS, "runs" },
                        { LOOK_BRIEF, "runs briefly" },
                        { LOOK_WAITS, "waits" },
                        { LOOK_READY, "is ready" },
                        { LOOK_STOPPED, "cancel" },
                        { LOOK_DEADLINE, has_deadlock ? "deadline, deadlock" : "deadline" },
                        { LOOK_DIFFERENCE, "first difference" } };
        size_t count = sizeof(entries) / sizeof(entries[0]) - !has_difference;

        for (size_t i = 0; i < count; i++)
                ed_draft_add_printf(out, "%s%s %s", i ? "  " : "",
                                    glyphs[entries[i].look][is_ascii], entries[i].meaning);
        ed_draft_add_str(out, "\n");
}
