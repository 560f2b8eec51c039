/*
 * draw/arrows.c - arrows between the same two lines at the same place are drawn once.
 */
#include "draw/arrows.h"

#include "draw/notes.h"
#include "draw/pen.h"
#include "draw/words.h"

enum { WAKES_MAX = 200, CANCELS_MAX = 600, CAUSES_MAX = 300 };

/* Append the text as the title of the element that is open. */
static void title_add(struct ed_draft *out, struct ed_draft *text)
{
        ed_draft_add_str(out, "<title>");
        ed_draw_svg_text(out, text, 400);
        ed_draft_add_str(out, "</title>");
        ed_draft_fini(text);
}

/* Append an arrow; it ends at the edge of the bar. */
static void arrow_add(struct ed_draft *out, const char *class, double x1, double y1, double x2,
                      double y2)
{
        double short_of = y2 > y1 ? -7 : y2 < y1 ? 7 : 0;

        ed_draft_add_printf(out, "<path class=\"%s\" d=\"M", class);
        ed_draw_px(out, x1);
        ed_draft_add_str(out, " ");
        ed_draw_px(out, y1);
        ed_draft_add_str(out, "L");
        ed_draw_px(out, x2);
        ed_draft_add_str(out, " ");
        ed_draw_px(out, y2 + short_of);
        ed_draft_add_str(out, "\">");
}

void ed_draw_wakes_add(struct ed_draft *out, const struct ed_draw_layout *layout)
{
        const struct ed_draw_run *run = &layout->picture->run;
        uint32_t count = 0;

        for (uint32_t i = 0; i < run->flows_count; i++)
                count += run->flows[i].kind == ED_DRAW_WAKE;
        for (uint32_t i = 0; i < run->flows_count && count < WAKES_MAX; i++) {
                const struct ed_draw_flow *flow = &run->flows[i];
                struct ed_draft text = { 0 };
                uint32_t from, to;
                double y1, y2;

                if (flow->kind != ED_DRAW_WAKE)
                        continue;
                from = run->events[flow->from].node;
                to = run->events[flow->to].node;
                y1 = ed_draw_layout_y(layout, from);
                y2 = ed_draw_layout_y(layout, to);
                if (y1 < 0 || y2 < 0 || y1 == y2)
                        continue;
                arrow_add(out, "wake", ed_draw_layout_x(layout, flow->from), y1,
                          ed_draw_layout_x(layout, flow->to), y2);
                ed_draw_node_add(&text, run, from);
                ed_draft_add_str(&text, " wakes ");
                ed_draw_node_add(&text, run, to);
                title_add(out, &text);
                ed_draft_add_str(out, "</path>\n");
        }
}

/* Append the sign of a cancel or a deadline, with its sentence. */
static void cause_add(struct ed_draft *out, const struct ed_draw_layout *layout, uint32_t at,
                      double y)
{
        const struct ed_draw_run *run = &layout->picture->run;
        const struct ed_draw_event *event = &run->events[at];
        double x = ed_draw_layout_x(layout, at);
        struct ed_draft text = { 0 };

        ed_draft_add_printf(out, "<path class=\"%s\" d=\"M",
                            event->kind == ED_DRAW_CANCEL ? "cross" : "due");
        ed_draw_px(out, event->kind == ED_DRAW_CANCEL ? x - 4 : x);
        ed_draft_add_str(out, " ");
        ed_draw_px(out, event->kind == ED_DRAW_CANCEL ? y - 4 : y - 6);
        ed_draft_add_str(out, event->kind == ED_DRAW_CANCEL ? "l8 8m0-8l-8 8" : "l5 6l-5 6l-5-6z");
        ed_draft_add_str(out, "\">");
        ed_draw_when_add(&text, run, &layout->picture->scale, at, false);
        ed_draft_add_str(&text, ": ");
        ed_draw_event_add(&text, run, at);
        ed_draw_stopped_add(&text, run, at);
        title_add(out, &text);
        ed_draft_add_str(out, "</path>\n");
}

static void causes_add(struct ed_draft *out, const struct ed_draw_layout *layout)
{
        const struct ed_draw_run *run = &layout->picture->run;
        uint32_t count = 0;

        for (uint32_t i = 0; i < run->events_count && count < CAUSES_MAX; i++) {
                const struct ed_draw_event *event = &run->events[i];
                uint32_t node = event->node;
                double y;

                if (event->phase != 'i' || event->kind == ED_DRAW_IO)
                        continue;
                if (event->kind == ED_DRAW_DEADLINE &&
                    ed_draw_run_scope(run, event->loop, event->scope) != ED_DRAW_NONE)
                        node = ed_draw_run_scope(run, event->loop, event->scope);
                y = ed_draw_layout_y(layout, node);
                if (y < 0)
                        continue;
                cause_add(out, layout, i, y);
                count++;
        }
}

/* Append the arrow of a cancel. */
static void cancel_add(struct ed_draft *out, const struct ed_draw_layout *layout,
                       const struct ed_draw_flow *flow, double y1, double y2)
{
        const struct ed_draw_run *run = &layout->picture->run;
        struct ed_draft text = { 0 };

        arrow_add(out, "cancel", ed_draw_layout_x(layout, flow->from), y1,
                  ed_draw_layout_x(layout, flow->to), y2);
        if (flow->cause != ED_DRAW_NONE) {
                ed_draw_event_add(&text, run, flow->cause);
                ed_draft_add_str(&text, ": ");
        }
        ed_draw_event_add(&text, run, flow->to);
        title_add(out, &text);
        ed_draft_add_str(out, "</path>\n");
}

void ed_draw_cancels_add(struct ed_draft *out, const struct ed_draw_layout *layout)
{
        const struct ed_draw_run *run = &layout->picture->run;
        struct ed_draw_table drawn = { 0 };
        uint32_t count = 0;

        for (uint32_t i = 0; i < run->flows_count && count < CANCELS_MAX; i++) {
                const struct ed_draw_flow *flow = &run->flows[i];
                uint64_t place;
                double y1, y2, x;

                if (flow->kind != ED_DRAW_CANCEL || flow->from == ED_DRAW_NONE)
                        continue;
                y1 = ed_draw_layout_y(layout, run->events[flow->from].node);
                y2 = ed_draw_layout_y(layout, run->events[flow->to].node);
                x = ed_draw_layout_x(layout, flow->to);
                if (y1 < 0 || y2 < 0 || y1 == y2)
                        continue;
                place = (uint64_t) layout->fold->line_of[run->events[flow->from].node] << 32 |
                        layout->fold->line_of[run->events[flow->to].node];
                if (ed_draw_table_get(&drawn, place, (uint64_t) (x / 2)) != ED_DRAW_NONE)
                        continue;
                if (ed_draw_table_set(&drawn, place, (uint64_t) (x / 2), 0) < 0)
                        out->failed = true;
                cancel_add(out, layout, flow, y1, y2);
                count++;
        }
        ed_draw_table_fini(&drawn);
        causes_add(out, layout);
}
