/*
 * draw/svg.c - scopes are boxes around the lines of their tasks.
 */
#include "draw/svg.h"

#include <string.h>

#include "draw/arrows.h"
#include "draw/bars.h"
#include "draw/notes.h"
#include "draw/pen.h"
#include "draw/words.h"

/* Rectangles of all bars, and columns of the profiles. */
enum { RECTS_MAX = 2400, COLUMNS_MAX = 400, COLUMNS_MIN = 80, COLUMNS_OF_ALL = 12000 };

#define TICK_PX   90
#define INDENT_PX 12
#define HEAD_PX   26.0

/* Each colour comes twice: programs that know no variables take the first. */
const char ed_draw_svg_style[] =
        "svg.draw { --card: #ffffff; --ink: #1b2430; --soft: #566272; --grid: #e6e9ee;\n"
        "  --run: #1f77b4; --ready: #9ccbe8; --wait: #eef1f5; --hatch: #8d99a8;\n"
        "  --box: #6b7a8f; --boxfill: rgba(70, 110, 160, .06); --stop: #c92a2a; --due: #b45309;\n"
        "  --wake: #2f8f4e; --differ: #7b3fc4;\n"
        "  font: 12px system-ui, -apple-system, \"Segoe UI\", Roboto, Helvetica, Arial, "
        "sans-serif }\n"
        "@media (prefers-color-scheme: dark) { svg.draw { --card: #1c2229; --ink: #e4e8ee;\n"
        "  --soft: #a3afbd; --grid: #2c343e; --run: #5aa9e0; --ready: #2f5f80; --wait: #272f38;\n"
        "  --hatch: #75828f; --box: #7e8b9b; --boxfill: rgba(150, 190, 240, .06);\n"
        "  --stop: #ff7b72; --due: #f0b75a; --wake: #6fcf8e; --differ: #c49bff } }\n"
        ".draw text { fill: #1b2430; fill: var(--ink); unicode-bidi: isolate }\n"
        ".draw .soft { fill: #566272; fill: var(--soft) } .draw .bad { fill: #c92a2a; fill: "
        "var(--stop) }\n"
        ".draw .head { font-weight: 600 } .draw .end { text-anchor: end }\n"
        ".draw .paper { fill: #ffffff; fill: var(--card) } .draw .grid { stroke: #e6e9ee; stroke: "
        "var(--grid) }\n"
        ".draw .run { fill: #1f77b4; fill: var(--run) } .draw .ready { fill: #9ccbe8; fill: "
        "var(--ready) }\n"
        ".draw .wait { fill: url(#draw-wait) }\n"
        ".draw rect.wait { stroke: #8d99a8; stroke: var(--hatch); stroke-width: .6 }\n"
        ".draw .hatch { stroke: #8d99a8; stroke: var(--hatch); stroke-width: 1.4 } .draw .tile { "
        "fill: #eef1f5; fill: var(--wait) "
        "}\n"
        ".draw .box { fill: #eef2f7; fill: var(--boxfill); stroke: #6b7a8f; stroke: var(--box) }\n"
        ".draw .many { stroke-dasharray: 5 3 } .draw .shield { stroke-width: 2.2 }\n"
        ".draw .cancel, .draw .cross { fill: none; stroke: #c92a2a; stroke: var(--stop); "
        "stroke-width: 1.5 }\n"
        ".draw .cancel { marker-end: url(#draw-stop) } .draw .tip { fill: #c92a2a; fill: "
        "var(--stop) }\n"
        ".draw .cross { stroke-width: 2 } .draw .due { fill: #b45309; fill: var(--due) }\n"
        ".draw .wake { fill: none; stroke: #2f8f4e; stroke: var(--wake); stroke-width: .8;\n"
        "  marker-end: url(#draw-wake) } .draw .waketip { fill: #2f8f4e; fill: var(--wake) }\n"
        ".draw .differ { stroke: #7b3fc4; stroke: var(--differ); stroke-width: 1.5; "
        "stroke-dasharray: 4 3 }\n"
        ".draw text.differs { fill: #7b3fc4; fill: var(--differ); font-weight: 600 }\n";

static const char defs[] =
        "<defs><pattern id=\"draw-wait\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect class=\"tile\" width=\"6\" height=\"6\"/>"
        "<line class=\"hatch\" y2=\"6\"/></pattern>\n"
        "<marker id=\"draw-stop\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" "
        "markerHeight=\"6\" orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker>\n"
        "<marker id=\"draw-wake\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" "
        "markerHeight=\"6\" orient=\"auto\"><path class=\"waketip\" d=\"M0 0L8 4L0 8z\"/></marker>"
        "</defs>\n";

/* ---- the axis ------------------------------------------------------------------------------ */

static void axis_add(struct ed_draw_pen *pen)
{
        const struct ed_draw_layout *layout = pen->layout;
        const struct ed_draw_scale *scale = &layout->picture->scale;
        unsigned ticks = (unsigned) (layout->width / TICK_PX) + 1;
        double step = ed_draw_step(scale, ticks), first = ed_draw_first_tick(scale, step);

        for (unsigned i = 0; i <= ticks && first + i * step <= scale->end; i++) {
                double part = (first + i * step - scale->start) / (scale->end - scale->start);
                double x = layout->left + layout->width * part;

                ed_draw_pen_rule(pen->out, "grid", x, layout->top - 8, layout->bottom);
                if (x + 60 < layout->right)
                        ed_draw_pen_text(pen->out, "soft", x + 3, layout->top - 10);
                else
                        ed_draw_pen_text(pen->out, "soft end", x - 3, layout->top - 10);
                if (scale->is_order && i == 0)
                        ed_draft_add_str(pen->out, "event ");
                ed_draw_tick_add(pen->out, scale, first + i * step, step, false);
                ed_draft_add_str(pen->out, "</text>\n");
        }
}

/* ---- scopes -------------------------------------------------------------------------------- */

static void scope_title(struct ed_draw_pen *pen, const struct ed_draw_line *line, uint32_t at)
{
        const struct ed_draw_node *node = &pen->run->nodes[at];

        ed_draft_add_str(pen->out, "><title>");
        if (line->is_lane || line->count == 1) {
                ed_draw_node_add(&pen->text, pen->run, at);
                ed_draft_add_str(&pen->text, " of ");
                ed_draw_node_add(&pen->text, pen->run, node->owner);
                if (node->is_shield)
                        ed_draft_add_str(&pen->text, ", shielded");
                if (node->place != ED_DRAW_NAMELESS)
                        ed_draft_add_printf(&pen->text, ", begun at %s",
                                            ed_draw_text(pen->run, node->place));
                if (node->result != 0 && node->result != ED_DRAW_ABSENT) {
                        ed_draft_add_str(&pen->text, ", ends");
                        ed_draw_result_add(&pen->text, pen->run, node->result, node->error);
                }
        } else {
                ed_draw_count_add(&pen->text, line->count, "scope");
        }
        ed_draw_pen_flush(pen, 400);
        ed_draft_add_str(pen->out, "</title></rect>\n");
}

/* Append the box around the lines of a scope, or the boxes of scopes without tasks. */
static void scope_add(struct ed_draw_pen *pen, uint32_t shown)
{
        const struct ed_draw_fold *fold = pen->layout->fold;
        const struct ed_draw_line *line = &fold->lines[fold->order[shown]];
        double y = pen->layout->tops[shown], bottom = pen->layout->tops[line->end] - 3;
        double x = pen->layout->right, end = 0, boxed = -1, around = line->is_lane ? 0 : 2;

        if (line->is_lane)
                bottom = y + 3 + ed_draw_layout_bar(line);
        for (uint32_t at = line->first; at != ED_DRAW_NONE; at = fold->next[at]) {
                double begin = ed_draw_layout_x(pen->layout, pen->run->nodes[at].begin);

                if (begin < x)
                        x = begin;
                if (ed_draw_layout_x(pen->layout, pen->run->nodes[at].end) > end)
                        end = ed_draw_layout_x(pen->layout, pen->run->nodes[at].end);
                /* Boxes of less than a pixel would be one on the other. */
                if ((line->is_lane ? begin < boxed + 1.5 || pen->rects_left == 0 : true) &&
                    fold->next[at] != ED_DRAW_NONE)
                        continue;
                boxed = begin;
                pen->rects_left -= pen->rects_left > 0;
                ed_draw_pen_rect(pen->out,
                                 pen->run->nodes[at].is_shield       ? "box shield"
                                 : line->count > 1 && !line->is_lane ? "box many"
                                                                     : "box",
                                 x - around, y, end - x + 2 * around, bottom - y);
                ed_draft_add_str(pen->out, " rx=\"4\"");
                scope_title(pen, line, at);
                x = pen->layout->right;
                end = 0;
        }
}

/* ---- lines --------------------------------------------------------------------------------- */

static void label_add(struct ed_draw_pen *pen, uint32_t shown)
{
        const struct ed_draw_fold *fold = pen->layout->fold;
        const struct ed_draw_line *line = &fold->lines[fold->order[shown]];
        unsigned depth = line->depth < ED_DRAW_INDENTS_MAX ? line->depth : ED_DRAW_INDENTS_MAX;
        double x = 10 + depth * INDENT_PX, room = pen->layout->left - 8 - x;

        ed_draw_pen_text(pen->out, line->kind == ED_DRAW_TASK ? "name" : "soft", x,
                         pen->layout->tops[shown] + 7 + ed_draw_layout_bar(line) / 2);
        ed_draft_add_str(pen->out, "<title>");
        ed_draw_line_add(&pen->text, pen->run, fold, fold->order[shown]);
        if (line->count == 1 && pen->run->nodes[line->first].place != ED_DRAW_NAMELESS)
                ed_draft_add_printf(&pen->text, ", begun at %s",
                                    ed_draw_text(pen->run, pen->run->nodes[line->first].place));
        ed_draw_pen_flush(pen, 400);
        ed_draft_add_str(pen->out, "</title>");
        ed_draw_line_add(&pen->text, pen->run, fold, fold->order[shown]);
        ed_draw_pen_flush(pen, room > 0 ? (unsigned) (room / ED_DRAW_CHARACTER_PX) + 1 : 1);
        ed_draft_add_str(pen->out, "</text>\n");
}

static void lines_add(struct ed_draw_pen *pen)
{
        const struct ed_draw_fold *fold = pen->layout->fold;

        for (uint32_t i = 0; i < fold->shown; i++)
                if (fold->lines[fold->order[i]].kind == ED_DRAW_SCOPE)
                        scope_add(pen, i);
        for (uint32_t i = 0; i < fold->shown; i++)
                label_add(pen, i);
        ed_draw_wakes_add(pen->out, pen->layout);
        for (uint32_t i = 0; i < fold->shown; i++)
                if (fold->lines[fold->order[i]].kind == ED_DRAW_TASK)
                        ed_draw_bar_add(pen, fold->order[i], pen->layout->tops[i] + 3);
        ed_draw_cancels_add(pen->out, pen->layout);
        if (fold->hidden == 0)
                return;
        ed_draw_pen_text(pen->out, "soft", 10, pen->layout->bottom + 14);
        ed_draw_count_add(pen->out, fold->hidden, "more line");
        ed_draft_add_str(pen->out, " with ");
        ed_draw_count_add(pen->out, fold->hidden_tasks, "task");
        ed_draft_add_str(pen->out, "</text>\n");
}

static void difference_add(struct ed_draw_pen *pen)
{
        uint32_t event = pen->layout->picture->difference;
        double x;

        if (event == ED_DRAW_NONE)
                return;
        x = ed_draw_layout_x(pen->layout, event);
        ed_draw_pen_rule(pen->out, "differ", x, pen->layout->top - 24, pen->layout->bottom);
        ed_draw_pen_text(pen->out, x > pen->layout->right - 120 ? "differs end" : "differs",
                         x > pen->layout->right - 120 ? x - 4 : x + 4, pen->layout->top - 24);
        ed_draft_add_str(pen->out, "first difference</text>\n");
}

/* Append the contents of a picture. */
static void picture_add(struct ed_draft *out, const struct ed_draw_layout *layout, bool has_head)
{
        struct ed_draw_pen pen = { .out = out,
                                   .layout = layout,
                                   .run = &layout->picture->run,
                                   .rects_left = RECTS_MAX,
                                   .columns = COLUMNS_OF_ALL / (layout->fold->shown + 1) };

        if (pen.columns > COLUMNS_MAX)
                pen.columns = COLUMNS_MAX;
        if (pen.columns < COLUMNS_MIN)
                pen.columns = COLUMNS_MIN;
        if (has_head) {
                ed_draw_pen_text(out, "head", 10, 20);
                ed_draw_summary_add(&pen.text, layout->picture, false);
                ed_draw_pen_flush(&pen, (unsigned) (layout->right / ED_DRAW_CHARACTER_PX));
                ed_draft_add_str(out, "</text>\n");
        }
        axis_add(&pen);
        lines_add(&pen);
        difference_add(&pen);
        ed_draft_fini(&pen.text);
}

/* ---- files --------------------------------------------------------------------------------- */

static void legend_add(struct ed_draft *out, bool has_deadlock, double y)
{
        const struct {
                const char *shape, *meaning;
        } entries[] = {
                { "<rect class=\"run\" width=\"22\" height=\"12\"/>", "runs" },
                { "<rect class=\"wait\" width=\"22\" height=\"12\"/>", "waits" },
                { "<rect class=\"ready\" width=\"22\" height=\"12\"/>", "is ready" },
                { "<rect class=\"box\" width=\"22\" height=\"12\" rx=\"4\"/>", "scope" },
                { "<path class=\"cross\" d=\"M6 2l8 8m0-8l-8 8\"/>", "cancel" },
                { "<path class=\"cancel\" d=\"M0 6L22 6\"/>", "stops" },
                { "<path class=\"due\" d=\"M11 0l5 6l-5 6l-5-6z\"/>",
                  has_deadlock ? "deadline, deadlock" : "deadline" },
                { "<path class=\"wake\" d=\"M0 6L22 6\"/>", "wakes" },
        };
        double x = 10;

        for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
                ed_draft_add_printf(out, "<g transform=\"translate(%.0f %.0f)\">%s", x, y,
                                    entries[i].shape);
                ed_draft_add_printf(out, "<text class=\"soft\" x=\"27\" y=\"11\">%s</text></g>\n",
                                    entries[i].meaning);
                x += 48 + ED_DRAW_CHARACTER_PX * (double) strlen(entries[i].meaning);
        }
}

static void svg_begin(struct ed_draft *out, double width, double top, double height,
                      const char *attributes)
{
        ed_draft_add_printf(out,
                            "<svg class=\"draw\"%s viewBox=\"0 %.0f %.0f %.0f\" width=\"%.0f\" "
                            "height=\"%.0f\" role=\"img\">\n",
                            attributes, top, width, height, width, height);
}

void ed_draw_svg_file(struct ed_draft *out, const struct ed_draw_picture *pictures, unsigned count,
                      const struct ed_draft *difference, unsigned width)
{
        struct ed_draw_layout layouts[ED_DRAW_PICTURES_MAX];
        double height = difference ? 60 : 34, y = 0;
        bool has_deadlock = false;
        unsigned made = 0;

        while (made < count && ed_draw_layout_init(&layouts[made], &pictures[made],
                                                   &pictures[made].fold, width) == 0)
                height += layouts[made++].height;
        if (made < count)
                out->failed = true;
        svg_begin(out, width, 0, height, " xmlns=\"http://www.w3.org/2000/svg\"");
        ed_draft_add_str(out, "<style>\n");
        ed_draft_add_str(out, ed_draw_svg_style);
        ed_draft_add_str(out, "</style>\n");
        ed_draft_add_str(out, defs);
        ed_draft_add_str(out, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
        for (unsigned i = 0; i < made; i++) {
                has_deadlock |= pictures[i].run.has_deadlock;
                ed_draft_add_printf(out, "<g transform=\"translate(0 %.0f)\">\n", y);
                picture_add(out, &layouts[i], true);
                ed_draft_add_str(out, "</g>\n");
                y += layouts[i].height;
                ed_draw_layout_fini(&layouts[i]);
        }
        if (difference) {
                ed_draw_pen_text(out, "differs", 10, y + 18);
                ed_draw_svg_text(out, difference, (unsigned) (width / ED_DRAW_CHARACTER_PX));
                ed_draft_add_str(out, "</text>\n");
        }
        legend_add(out, has_deadlock, height - 24);
        ed_draft_add_str(out, "</svg>\n");
}

void ed_draw_svg_add(struct ed_draft *out, const struct ed_draw_picture *picture,
                     const struct ed_draw_fold *fold, unsigned width, bool is_first)
{
        double top = picture->difference == ED_DRAW_NONE ? HEAD_PX : HEAD_PX / 2;
        struct ed_draw_layout layout;

        if (ed_draw_layout_init(&layout, picture, fold, width) < 0) {
                out->failed = true;
                return;
        }
        /* Without the head of the picture, which the page has. */
        svg_begin(out, width, top, layout.height - top + (is_first ? 30 : 0), "");
        if (is_first)
                ed_draft_add_str(out, defs);
        picture_add(out, &layout, false);
        if (is_first)
                legend_add(out, picture->run.has_deadlock, layout.height + 6);
        ed_draft_add_str(out, "</svg>\n");
        ed_draw_layout_fini(&layout);
}
