/*
 * draw/bars.c - a bar with many states, and the bar of a group, is a profile: how many tasks run,
 * are ready and wait.
 */
#include "draw/bars.h"

#include <math.h>
#include <string.h>

#include "draw/raster.h"
#include "draw/words.h"

/* A bar with more rectangles is a profile. */
enum { RECTS_OF_BAR_MAX = 400 };

static const char *const classes[] = {
        [ED_DRAW_RUNS] = "run", [ED_DRAW_WAITS] = "wait", [ED_DRAW_IS_READY] = "ready"
};

static void segment_title(struct ed_draw_pen *pen, const struct ed_draw_segment *segment,
                          int64_t loop)
{
        const struct ed_draw_scale *scale = &pen->layout->picture->scale;
        const struct ed_draw_event *begin = &pen->run->events[segment->begin];
        const struct ed_draw_event *end = &pen->run->events[segment->end];

        if (segment->state == ED_DRAW_WAITS)
                ed_draft_add_printf(&pen->text, "waits for %s",
                                    ed_draw_text(pen->run, segment->name));
        else
                ed_draft_add_str(&pen->text, segment->state == ED_DRAW_RUNS ? "runs" : "is ready");
        ed_draft_add_str(&pen->text, " for ");
        ed_draw_time_add(&pen->text, (double) (end->at_ns - begin->at_ns), false);
        ed_draft_add_str(&pen->text, " from ");
        ed_draw_when_add(&pen->text, pen->run, scale, segment->begin, false);
        if (segment->by != ED_DRAW_ABSENT) {
                ed_draft_add_str(&pen->text, ", woken by ");
                ed_draw_task_add(&pen->text, pen->run, loop, segment->by);
        }
        if (segment->result < 0 && segment->result != ED_DRAW_ABSENT) {
                ed_draft_add_str(&pen->text, ", ends");
                ed_draw_result_add(&pen->text, pen->run, segment->result, segment->error);
        }
        ed_draft_add_str(pen->out, "><title>");
        ed_draw_pen_flush(pen, 400);
        ed_draft_add_str(pen->out, "</title></rect>\n");
}

/* Append the states of a task: first the others, then the times in which it runs. */
static void segments_add(struct ed_draw_pen *pen, const struct ed_draw_node *node, double y,
                         double height)
{
        for (int pass = 0; pass < 2; pass++) {
                for (uint32_t i = node->first; i != ED_DRAW_NONE; i = pen->run->segments[i].next) {
                        const struct ed_draw_segment *segment = &pen->run->segments[i];
                        double x = ed_draw_layout_x(pen->layout, segment->begin);
                        double width = ed_draw_layout_x(pen->layout, segment->end) - x;

                        if ((segment->state == ED_DRAW_RUNS) != (pass == 1))
                                continue;
                        if (segment->state == ED_DRAW_RUNS && width < 1)
                                width = 1;
                        else if (width < 0.2)
                                continue;
                        ed_draw_pen_rect(pen->out, classes[segment->state], x, y, width, height);
                        segment_title(pen, segment, node->loop);
                }
        }
}

/* Append the edge of a profile, from left to right or back. */
static void edge_add(struct ed_draw_pen *pen, const double *heights, unsigned columns, double base,
                     bool is_back)
{
        double width = pen->layout->width / columns, last = -1;

        for (unsigned i = 0; i < columns; i++) {
                unsigned column = is_back ? columns - 1 - i : i;
                double height = floor(heights[column] * 10 + 0.5) / 10;

                if (height == last)
                        continue;
                ed_draft_add_str(pen->out, i == 0 && !is_back ? "M" : "H");
                ed_draw_px(pen->out, pen->layout->left + width * (is_back ? column + 1 : column));
                ed_draft_add_str(pen->out, i == 0 && !is_back ? " " : "V");
                ed_draw_px(pen->out, base - height);
                last = height;
        }
        ed_draft_add_str(pen->out, "H");
        ed_draw_px(pen->out, pen->layout->left + (is_back ? 0 : pen->layout->width));
}

/* Append how many tasks have each state: those that run are lowest. */
static void profile_add(struct ed_draw_pen *pen, uint32_t line, double y, double height,
                        double most)
{
        static const enum ed_draw_state order[] = { ED_DRAW_RUNS, ED_DRAW_IS_READY, ED_DRAW_WAITS };
        struct ed_draw_raster raster, heights;

        if (ed_draw_raster_init(&raster, pen->columns) < 0) {
                pen->out->failed = true;
                return;
        }
        if (ed_draw_raster_init(&heights, pen->columns) < 0) {
                pen->out->failed = true;
                ed_draw_raster_fini(&raster);
                return;
        }
        ed_draw_raster_line(&raster, pen->run, &pen->layout->picture->scale, pen->layout->fold,
                            line);
        if (most < raster.most)
                most = raster.most;
        memset(heights.amount[0], 0, pen->columns * sizeof(double));
        for (int i = 0; i < 3 && most > 0; i++) {
                double *lower = heights.amount[0], *upper = heights.amount[1], sum = 0;

                for (unsigned at = 0; at < pen->columns; at++) {
                        double amount = raster.amount[order[i]][at];

                        sum += amount;
                        upper[at] = lower[at] + amount / most * height;
                        /* Do not lose the column of a task that ran for no time. */
                        if (order[i] == ED_DRAW_RUNS && raster.is_touched[at] && upper[at] < 0.6)
                                upper[at] = 0.6;
                }
                if (sum > 0 || order[i] == ED_DRAW_RUNS) {
                        ed_draft_add_printf(pen->out, "<path class=\"%s\" d=\"", classes[order[i]]);
                        edge_add(pen, upper, pen->columns, y + height, false);
                        edge_add(pen, lower, pen->columns, y + height, true);
                        ed_draft_add_str(pen->out, "z\"/>\n");
                }
                memcpy(lower, upper, pen->columns * sizeof(double));
        }
        ed_draw_raster_fini(&heights);
        ed_draw_raster_fini(&raster);
}

static uint32_t segments_count(const struct ed_draw_run *run, const struct ed_draw_node *node)
{
        uint32_t count = 0;

        for (uint32_t i = node->first; i != ED_DRAW_NONE && count <= RECTS_OF_BAR_MAX;
             i = run->segments[i].next)
                count++;
        return count;
}

void ed_draw_bar_add(struct ed_draw_pen *pen, uint32_t at, double y)
{
        const struct ed_draw_line *line = &pen->layout->fold->lines[at];
        const struct ed_draw_node *node = &pen->run->nodes[line->first];
        uint32_t count = segments_count(pen->run, node);
        double height = ed_draw_layout_bar(line), end;

        if (line->count > 1) {
                profile_add(pen, at, y, height, 0);
                return;
        }
        if (count > RECTS_OF_BAR_MAX || count > pen->rects_left) {
                profile_add(pen, at, y, height, 1);
        } else {
                pen->rects_left -= count;
                segments_add(pen, node, y, height);
        }
        if (node->result >= 0 || node->result == ED_DRAW_ABSENT)
                return;
        end = ed_draw_layout_x(pen->layout, node->end);
        if (end + 60 > pen->layout->right)
                return;
        ed_draw_pen_text(pen->out, "bad", end + 5, y + 11);
        ed_draft_add_printf(&pen->text, "%lld %s", (long long) node->result,
                            ed_draw_text(pen->run, node->error));
        ed_draw_pen_flush(pen, (unsigned) ((pen->layout->right - end - 5) / ED_DRAW_CHARACTER_PX));
        ed_draft_add_str(pen->out, "</text>\n");
}
