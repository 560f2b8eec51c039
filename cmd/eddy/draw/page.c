/*
 * draw/page.c - a page without scripts: groups unfold as <details>. Its policy
 * (Content-Security-Policy) forbids scripts and the network, whatever text the trace has.
 */
#include "draw/page.h"

#include <inttypes.h>

#include "common/page_head.h"
#include "draw/notes.h"
#include "draw/pen.h"
#include "draw/svg.h"
#include "draw/words.h"

/* Tasks in the table, lines of a group that is unfolded, and lines of all such groups. */
enum { TABLE_MAX = 500, UNFOLDED_MAX = 100, UNFOLDED_OF_ALL_MAX = 400 };

static const char style[] =
        ":root { --paper: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #566272;\n"
        "  --rule: #e0e4ea; --bad: #c92a2a; --differ: #7b3fc4 }\n"
        "@media (prefers-color-scheme: dark) {\n"
        "  :root { --paper: #14181e; --card: #1c2229; --ink: #e4e8ee; --soft: #a3afbd;\n"
        "    --rule: #303945; --bad: #ff7b72; --differ: #c49bff } }\n"
        "body { margin: 0; background: var(--paper); color: var(--ink);\n"
        "  font: 15px/1.5 system-ui, -apple-system, \"Segoe UI\", Roboto, Helvetica, Arial, "
        "sans-serif }\n"
        "main { max-width: 1260px; margin: 0 auto; padding: 24px 16px 48px }\n"
        "h1 { font-size: 22px; margin: 0; overflow-wrap: anywhere }\n"
        "h2 { font-size: 16px; margin: 0; display: inline-block; overflow-wrap: anywhere }\n"
        "p { margin: 0 0 8px; color: var(--soft) } p.differs { color: var(--differ); "
        "margin-top: 12px }\n"
        "section, details { background: var(--card); border: 1px solid var(--rule);\n"
        "  border-radius: 8px; padding: 12px 14px; margin-top: 16px; overflow-x: auto }\n"
        "summary { cursor: pointer }\n"
        "ul { margin: 8px 0 0; padding-left: 20px; font-size: 14px; overflow-wrap: anywhere }\n"
        "svg.draw { display: block; max-width: none }\n"
        "table { border-collapse: collapse; font-size: 13.5px; margin-top: 8px; width: 100%;\n"
        "  font-variant-numeric: tabular-nums }\n"
        "th { text-align: left; color: var(--soft); font-weight: 500; white-space: nowrap }\n"
        "th, td { padding: 4px 14px 4px 0; border-bottom: 1px solid var(--rule); "
        "vertical-align: top }\n"
        "td.text { overflow-wrap: anywhere; min-width: 120px }\n"
        "th.n, td.n { text-align: right; white-space: nowrap } td.bad { color: var(--bad) }\n";

static void others_add(struct ed_draft *out, const char *text)
{
        struct ed_draft draft = { 0 };

        ed_draft_add_str(&draft, text);
        ed_draft_add_str(out, "<bdi>");
        ed_draw_svg_text(out, &draft, UINT32_MAX);
        ed_draft_add_str(out, "</bdi>");
        ed_draft_fini(&draft);
}

/* ---- tables -------------------------------------------------------------------------------- */

static void time_cell_add(struct ed_draft *out, int64_t duration_ns)
{
        ed_draft_add_str(out, "<td class=\"n\">");
        ed_draw_time_add(out, (double) duration_ns, false);
        ed_draft_add_str(out, "</td>");
}

static void node_row_add(struct ed_draft *out, const struct ed_draw_run *run, uint32_t at)
{
        const struct ed_draw_node *node = &run->nodes[at];
        int64_t begin_ns = run->events[node->begin].at_ns;
        int64_t times_ns[ED_DRAW_STATES] = { 0 };
        bool is_bad = node->result < 0 && node->result != ED_DRAW_ABSENT;

        for (uint32_t i = node->first; i != ED_DRAW_NONE; i = run->segments[i].next)
                times_ns[run->segments[i].state] += run->events[run->segments[i].end].at_ns -
                                                    run->events[run->segments[i].begin].at_ns;
        ed_draft_add_str(out, "<tr><td class=\"n\">");
        if (run->loops > 1)
                ed_draft_add_printf(out, "%" PRId64 ".", node->loop);
        ed_draft_add_printf(out, "%" PRId64 "</td><td class=\"text\">", node->number);
        others_add(out, ed_draw_text(run, node->name));
        ed_draft_add_str(out, "</td><td class=\"n\">");
        if (node->parent != ED_DRAW_NONE)
                ed_draft_add_printf(out, "%" PRId64, run->nodes[node->parent].number);
        ed_draft_add_str(out, "</td>");
        time_cell_add(out, begin_ns);
        time_cell_add(out, run->events[node->end].at_ns - begin_ns);
        time_cell_add(out, times_ns[ED_DRAW_RUNS]);
        time_cell_add(out, times_ns[ED_DRAW_WAITS]);
        time_cell_add(out, times_ns[ED_DRAW_IS_READY]);
        ed_draft_add_str(out, "<td class=\"n\">");
        ed_draft_add_grouped(out, node->waits);
        ed_draft_add_printf(out, "</td><td class=\"text%s\">", is_bad ? " bad" : "");
        if (node->result != ED_DRAW_ABSENT)
                ed_draft_add_printf(out, "%" PRId64 " ", node->result);
        others_add(out, ed_draw_text(run, node->error));
        ed_draft_add_str(out, node->is_open      ? " (had not ended)"
                              : node->is_stopped ? " (cancelled)"
                                                 : "");
        ed_draft_add_str(out, "</td></tr>\n");
}

static void table_add(struct ed_draft *out, const struct ed_draw_run *run)
{
        uint32_t count = 0;

        ed_draft_add_printf(out,
                            "<details%s><summary><h2>Tasks</h2></summary>\n"
                            "<table class=\"tasks\">\n<tr><th class=\"n\">Task</th><th>Name</th>"
                            "<th class=\"n\">Scope</th><th class=\"n\">Start</th>"
                            "<th class=\"n\">Life</th><th class=\"n\">Runs</th>"
                            "<th class=\"n\">Waits</th><th class=\"n\">Ready</th>"
                            "<th class=\"n\">Number of waits</th><th>Result</th></tr>\n",
                            run->tasks <= 60 ? " open" : "");
        for (uint32_t i = 0; i < run->nodes_count && count < TABLE_MAX; i++) {
                if (run->nodes[i].kind != ED_DRAW_TASK)
                        continue;
                node_row_add(out, run, i);
                count++;
        }
        ed_draft_add_str(out, "</table>\n");
        if (run->tasks > count) {
                ed_draft_add_str(out, "<p>The first ");
                ed_draft_add_grouped(out, count);
                ed_draft_add_str(out, " of ");
                ed_draw_count_add(out, run->tasks, "task");
                ed_draft_add_str(out, ".</p>\n");
        }
        ed_draft_add_str(out, "</details>\n");
}

/* ---- groups -------------------------------------------------------------------------------- */

/* Append the tasks of a group, each with its bar. Returns the number of lines. */
static uint32_t group_add(struct ed_draft *out, const struct ed_draw_picture *picture,
                          uint32_t line, uint32_t lines_max, unsigned width)
{
        struct ed_draw_fold fold;
        struct ed_draft text = { 0 };
        uint32_t shown;

        if (ed_draw_unfold(&fold, &picture->run, &picture->fold, line, lines_max) < 0) {
                out->failed = true;
                return 0;
        }
        ed_draw_line_add(&text, &picture->run, &picture->fold, line);
        ed_draft_add_str(out, "<details class=\"group\"><summary><h2><bdi>");
        ed_draw_svg_text(out, &text, UINT32_MAX);
        ed_draft_add_str(out, "</bdi></h2></summary>\n");
        ed_draw_svg_add(out, picture, &fold, width, false);
        ed_draft_add_str(out, "</details>\n");
        shown = fold.shown;
        ed_draft_fini(&text);
        ed_draw_fold_fini(&fold);
        return shown;
}

static void groups_add(struct ed_draft *out, const struct ed_draw_picture *picture, unsigned width)
{
        const struct ed_draw_fold *fold = &picture->fold;
        uint32_t left = UNFOLDED_OF_ALL_MAX;

        for (uint32_t i = 0; i < fold->shown && left > 0; i++) {
                const struct ed_draw_line *line = &fold->lines[fold->order[i]];

                if (line->kind == ED_DRAW_TASK && line->count > 1)
                        left -= group_add(out, picture, fold->order[i],
                                          left < UNFOLDED_MAX ? left : UNFOLDED_MAX, width);
        }
}

/* ---- the page ------------------------------------------------------------------------------ */

/* Append a note as an item of a list. */
static void item_add(void *arg, const struct ed_draft *note)
{
        struct ed_draft *out = arg;

        ed_draft_add_str(out, "<li>");
        ed_draw_svg_text(out, note, UINT32_MAX);
        ed_draft_add_str(out, "</li>\n");
}

static void picture_add(struct ed_draft *out, const struct ed_draw_picture *picture, unsigned width,
                        bool is_first)
{
        struct ed_draft text = { 0 };

        ed_draft_add_str(out, "<section><h2><bdi>");
        ed_draw_summary_add(&text, picture, false);
        ed_draw_svg_text(out, &text, UINT32_MAX);
        ed_draft_fini(&text);
        ed_draft_add_str(out, "</bdi></h2>\n");
        ed_draw_svg_add(out, picture, &picture->fold, width, is_first);
        ed_draft_add_str(out, "<ul>\n");
        ed_draw_notes(picture, false, item_add, out);
        ed_draft_add_str(out, "</ul></section>\n");
}

void ed_draw_page_add(struct ed_draft *out, const struct ed_draw_picture *pictures, unsigned count,
                      const struct ed_draft *difference, unsigned width)
{
        struct ed_draft title = { 0 };

        ed_draft_add_str(out, ed_page_head);
        ed_draft_add_str(out, "<title>");
        ed_draft_add_str(&title, pictures[0].title);
        ed_draw_svg_text(out, &title, UINT32_MAX);
        ed_draft_fini(&title);
        ed_draft_add_str(out, "</title>\n<style>\n");
        ed_draft_add_str(out, style);
        ed_draft_add_str(out, ed_draw_svg_style);
        ed_draft_add_str(out, "</style>\n</head>\n<body>\n<main>\n<h1>Timeline</h1>\n");
        if (difference) {
                ed_draft_add_str(out, "<p class=\"differs\"><bdi>");
                ed_draw_svg_text(out, difference, UINT32_MAX);
                ed_draft_add_str(out, "</bdi></p>\n");
        }
        for (unsigned i = 0; i < count; i++)
                picture_add(out, &pictures[i], width, i == 0);
        for (unsigned i = 0; i < count; i++) {
                groups_add(out, &pictures[i], width);
                table_add(out, &pictures[i].run);
        }
        ed_draft_add_str(out, "</main>\n</body>\n</html>\n");
}
