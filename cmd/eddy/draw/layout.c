/*
 * draw/layout.c - see layout.h.
 */
#include "draw/layout.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "draw/notes.h"
#include "draw/plain.h"
#include "eddy/alloc.h"

#define LABEL_MAX_PX 280.0
#define RIGHT_PX     24.0
#define RESULT_PX    110.0
#define HEAD_PX      58.0
#define INDENT_PX    12.0
#define SCOPE_GAP_PX 6.0
#define HIDDEN_PX    20.0
#define LEFT_PX      10.0

double ed_draw_layout_bar(const struct ed_draw_line *line)
{
        if (line->kind == ED_DRAW_SCOPE)
                return line->is_lane ? 8 : 12;
        return line->count > 1 ? 28 : 14;
}

static double line_height(const struct ed_draw_line *line)
{
        return ed_draw_layout_bar(line) + (line->kind == ED_DRAW_SCOPE ? 7 : 8);
}

/* Widen '*widest' to the longest label of a picture, and find out whether a task failed. */
static void label_measure(const struct ed_draw_run *run, const struct ed_draw_fold *fold,
                          double *widest, bool *fails)
{
        struct ed_draft text = { 0 }, plain = { 0 };

        for (uint32_t i = 0; i < fold->shown; i++) {
                const struct ed_draw_line *line = &fold->lines[fold->order[i]];
                unsigned depth =
                        line->depth < ED_DRAW_INDENTS_MAX ? line->depth : ED_DRAW_INDENTS_MAX;
                double width;

                ed_draft_reset(&text, 4096);
                ed_draft_reset(&plain, 4096);
                ed_draw_line_add(&text, run, fold, fold->order[i]);
                width = LEFT_PX + depth * INDENT_PX +
                        ED_DRAW_CHARACTER_PX *
                                ed_draw_plain_add(&plain, text.data, text.bytes, 64, false);
                if (width > *widest)
                        *widest = width;
                if (line->kind == ED_DRAW_TASK && line->count == 1 &&
                    run->nodes[line->first].result < 0 &&
                    run->nodes[line->first].result != ED_DRAW_ABSENT)
                        *fails = true;
        }
        ed_draft_fini(&text);
        ed_draft_fini(&plain);
}

/* Choose the place of the axis, which two pictures share. */
static void axis_place(struct ed_draw_layout *layout)
{
        const struct ed_draw_picture *picture = layout->picture;
        double widest = 60, width = layout->right;
        bool fails = false;

        label_measure(&picture->run, layout->fold, &widest, &fails);
        if (picture->other && layout->fold == &picture->fold)
                label_measure(&picture->other->run, &picture->other->fold, &widest, &fails);
        layout->left = (widest < LABEL_MAX_PX ? widest : LABEL_MAX_PX) + 10;
        if (layout->left > width / 3)
                layout->left = width / 3;
        layout->width = width - layout->left - (fails && width > 700 ? RESULT_PX : RIGHT_PX);
}

int ed_draw_layout_init(struct ed_draw_layout *layout, const struct ed_draw_picture *picture,
                        const struct ed_draw_fold *fold, unsigned width)
{
        double *gaps = eddy_malloc((fold->shown + 1) * sizeof(*gaps)), y = HEAD_PX;

        *layout = (struct ed_draw_layout){ .picture = picture, .fold = fold, .right = width };
        layout->tops = eddy_malloc((fold->shown + 1) * sizeof(*layout->tops));
        if (!gaps || !layout->tops) {
                eddy_free(gaps);
                ed_draw_layout_fini(layout);
                return -ENOMEM;
        }
        axis_place(layout);
        for (uint32_t i = 0; i <= fold->shown; i++)
                gaps[i] = 0;
        for (uint32_t i = 0; i < fold->shown; i++) {
                const struct ed_draw_line *line = &fold->lines[fold->order[i]];

                if (line->kind == ED_DRAW_SCOPE && !line->is_lane)
                        gaps[line->end] += SCOPE_GAP_PX;
        }
        layout->top = y;
        for (uint32_t i = 0; i < fold->shown; i++) {
                y += gaps[i];
                layout->tops[i] = y;
                y += line_height(&fold->lines[fold->order[i]]);
        }
        layout->bottom = layout->tops[fold->shown] = y + gaps[fold->shown];
        layout->height = layout->bottom + 10 + (fold->hidden ? HIDDEN_PX : 0);
        eddy_free(gaps);
        return 0;
}

void ed_draw_layout_fini(struct ed_draw_layout *layout)
{
        eddy_free(layout->tops);
        layout->tops = NULL;
}

double ed_draw_layout_y(const struct ed_draw_layout *layout, uint32_t node)
{
        uint32_t line = layout->fold->line_of[node];
        uint32_t shown = line == ED_DRAW_NONE ? ED_DRAW_NONE : layout->fold->lines[line].shown;

        if (shown == ED_DRAW_NONE)
                return -1;
        return layout->tops[shown] + 3 + ed_draw_layout_bar(&layout->fold->lines[line]) / 2;
}

void ed_draw_px(struct ed_draft *out, double value)
{
        double tenths = floor(value * 10 + 0.5);

        if (fmod(tenths, 10) == 0)
                ed_draft_add_printf(out, "%.0f", tenths / 10);
        else
                ed_draft_add_printf(out, "%.1f", tenths / 10);
}
