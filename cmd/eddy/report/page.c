/*
 * report/page.c - HTML. Browsers load nothing for the page and run no scripts in it: its policy
 * (Content-Security-Policy) forbids both, whatever text the files have.
 */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "common/duration.h"
#include "common/page_head.h"
#include "eddy/alloc.h"
#include "eddy/rfc3339.h"
#include "eddy/time.h"
#include "report/html.h"
#include "report/plot.h"

static const char style[] =
        "<style>\n"
        ":root { --paper: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5c6878;\n"
        "  --rule: #e0e4ea; --grid: #e8ebf0; --ok: #2b7bb9; --failed: #d2542d;\n"
        "  --one: #2b7bb9; --two: #e0982b; --three: #6d4fb3; --hover: rgba(40, 60, 90, .08) }\n"
        "@media (prefers-color-scheme: dark) {\n"
        "  :root { --paper: #14181e; --card: #1c2229; --ink: #e4e8ee; --soft: #9aa6b5;\n"
        "    --rule: #303945; --grid: #2a323c; --ok: #5aa9e0; --failed: #f0805a;\n"
        "    --one: #5aa9e0; --two: #f0b75a; --three: #a88de8;\n"
        "    --hover: rgba(220, 230, 255, .09) }\n"
        "}\n"
        "* { box-sizing: border-box }\n"
        "body { margin: 0; background: var(--paper); color: var(--ink);\n"
        "  font: 15px/1.5 system-ui, -apple-system, \"Segoe UI\", Roboto, Helvetica, Arial, "
        "sans-serif }\n"
        "main { max-width: 980px; margin: 0 auto; padding: 32px 20px 56px }\n"
        "h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere }\n"
        "h2 { font-size: 16px; margin: 0; display: inline-block }\n"
        "p { margin: 0 0 8px; color: var(--soft); overflow-wrap: anywhere }\n"
        "p.warning { color: var(--failed) } p.complete { color: var(--ink) }\n"
        "section, details { background: var(--card); border: 1px solid var(--rule);\n"
        "  border-radius: 8px; padding: 16px 20px; margin-top: 18px }\n"
        "summary { cursor: pointer }\n"
        "section > h2 { margin-bottom: 8px }\n"
        "dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(136px, 1fr));\n"
        "  margin: 20px 0 0; background: var(--card); border: 1px solid var(--rule);\n"
        "  border-radius: 8px; overflow: hidden }\n"
        "dl > div { padding: 10px 14px; box-shadow: 1px 1px 0 var(--rule) }\n"
        "dt { color: var(--soft); font-size: 13px }\n"
        "dd { margin: 0; font-size: 20px; line-height: 1.3; font-variant-numeric: tabular-nums }\n"
        "dd small { font-size: 13px; color: var(--soft); display: block }\n"
        "dd.bad { color: var(--failed) }\n"
        ".table { overflow-x: auto }\n"
        "table { border-collapse: collapse; width: 100%; font-size: 14px; margin-top: 8px;\n"
        "  font-variant-numeric: tabular-nums }\n"
        "th { text-align: left; color: var(--soft); font-weight: 500; font-size: 13px;\n"
        "  white-space: nowrap }\n"
        "th, td { padding: 5px 16px 5px 0; border-bottom: 1px solid var(--rule);\n"
        "  vertical-align: top }\n"
        "tr > :last-child { padding-right: 0 }\n"
        "tr:last-child td { border-bottom: 0 }\n"
        "th.n, td.n { text-align: right; white-space: nowrap }\n"
        "td.id { font-family: ui-monospace, Consolas, Menlo, monospace; font-size: 13px }\n"
        "td.id, td.text { overflow-wrap: anywhere; min-width: 120px }\n"
        "td.text { min-width: 300px; font-size: 13px }\n"
        "td.cause { overflow-wrap: anywhere; min-width: 150px }\n"
        ".legend { float: right; color: var(--soft); font-size: 13px }\n"
        ".legend span { margin-left: 14px; white-space: nowrap }\n"
        ".legend i { display: inline-block; width: 11px; height: 11px; border-radius: 2px;\n"
        "  margin-right: 5px }\n"
        ".note { font-size: 13px; margin: 6px 0 0 }\n"
        "svg { display: block; width: 100%; height: auto; margin-top: 8px; font-size: 12.5px }\n"
        "svg text { fill: var(--ink) }\n"
        "svg text.unit { fill: var(--soft) }\n"
        ".end { text-anchor: end } .mid { text-anchor: middle }\n"
        ".halo { paint-order: stroke; stroke: var(--card); stroke-width: 4px }\n"
        ".grid { stroke: var(--grid) } .base { stroke: var(--soft) }\n"
        ".percentile { stroke: var(--ink); stroke-dasharray: 4 3 }\n"
        "rect.ok { fill: var(--ok) } rect.failed { fill: var(--failed) }\n"
        "rect.main, rect.one { fill: var(--one) } rect.two { fill: var(--two) }\n"
        "rect.three { fill: var(--three) }\n"
        "polyline { fill: none; stroke-width: 2; stroke-linejoin: round }\n"
        "polyline.one { stroke: var(--one) } polyline.two { stroke: var(--two) }\n"
        "polyline.three { stroke: var(--three) }\n"
        "circle.one { fill: var(--one) } circle.two { fill: var(--two) }\n"
        "circle.three { fill: var(--three) }\n"
        "i.ok { background: var(--ok) } i.failed { background: var(--failed) }\n"
        "i.one { background: var(--one) } i.two { background: var(--two) }\n"
        "i.three { background: var(--three) }\n"
        ".hover { fill: transparent } .hover:hover { fill: var(--hover) }\n"
        "rect.mark:hover { opacity: .8 }\n"
        "@media (max-width: 640px) { main { padding: 20px 10px } svg { font-size: 17px }\n"
        "  section, details { padding: 12px } }\n"
        "@media print { body { background: none } section, details { break-inside: avoid } }\n"
        "</style>\n";

/* Longer durations are shown in days. */
#define DAYS_MIN_MS ((int64_t) 3 * 86400000)

/* ---- texts --------------------------------------------------------------------------------- */

/* Append text from the files, isolated so that its writing direction does not affect other text. */
static void others_add(struct ed_draft *out, const char *text)
{
        ed_draft_add_str(out, "<bdi>");
        ed_html_add_str(out, text);
        ed_draft_add_str(out, "</bdi>");
}

static void ns_add(struct ed_draft *out, int64_t duration_ns)
{
        char text[ED_AXIS_LABEL_BYTES];

        if (duration_ns <= 0) {
                ed_draft_add_str(out, "\xe2\x80\x93");
                return;
        }
        ed_axis_print(ED_AXIS_NS, (double) duration_ns, text);
        ed_draft_add_str(out, text);
}

static void duration_add(struct ed_draft *out, int64_t duration_ms)
{
        char text[ED_DURATION_TEXT_BYTES];

        if (duration_ms >= DAYS_MIN_MS) {
                ed_draft_add_printf(out, "%.1f days", (double) duration_ms / 86400000);
                return;
        }
        ed_duration_print(duration_ms * 1000000, text);
        ed_draft_add_str(out, text);
}

/* Append a time in UTC. */
static void clock_add(struct ed_draft *out, int64_t at_ms)
{
        char text[EDDY_RFC3339_TEXT_BYTES];

        eddy_rfc3339_format(EDDY_MS(at_ms), 0, text);
        ed_draft_add_printf(out, "%.10s %.8s UTC", text, text + 11);
}

static void cost_add(struct ed_draft *out, uint64_t micro)
{
        double cost = (double) micro / 1e6;

        ed_draft_add_printf(out, "%.*f", cost >= 1 ? 2 : cost >= 0.01 ? 4 : 6, cost);
}

/* ---- totals -------------------------------------------------------------------------------- */

static void tile_begin(struct ed_draft *out, const char *name, bool is_bad)
{
        ed_draft_add_printf(out, "<div><dt>%s</dt><dd%s>", name, is_bad ? " class=\"bad\"" : "");
}

static void tile_end(struct ed_draft *out)
{
        ed_draft_add_str(out, "</dd></div>\n");
}

static void tile_add(struct ed_draft *out, const char *name, uint64_t value)
{
        tile_begin(out, name, false);
        ed_draft_add_grouped(out, value);
        tile_end(out);
}

static void tile_add_ns(struct ed_draft *out, const char *name, int64_t value_ns)
{
        tile_begin(out, name, false);
        ns_add(out, value_ns);
        tile_end(out);
}

/* Append a count, and its percentage of all. */
static void tile_add_part(struct ed_draft *out, const char *name, uint64_t part, uint64_t all,
                          bool is_bad)
{
        tile_begin(out, name, is_bad);
        ed_draft_add_grouped(out, part);
        if (all > 0)
                ed_draft_add_printf(out, "<small>%.4g %%</small>",
                                    100 * (double) part / (double) all);
        tile_end(out);
}

/* Append a rate for the shortest unit of time in which it is at least 1. */
static void rate_tile_add(struct ed_draft *out, double per_second)
{
        const char *unit = "s";
        char text[ED_AXIS_LABEL_BYTES];

        if (per_second < 1) {
                per_second *= 60;
                unit = "min";
        }
        if (per_second < 1) {
                per_second *= 60;
                unit = "h";
        }
        ed_axis_print(ED_AXIS_NUMBER, per_second, text);
        tile_begin(out, "Rate", false);
        ed_draft_add_printf(out, "%s/%s<small>on average</small>", text, unit);
        tile_end(out);
}

static void times_tiles_add(struct ed_draft *out, const struct ed_totals *totals)
{
        int64_t wall_ms = totals->end_ms - totals->start_ms;

        if (totals->timed == 0)
                return;
        tile_begin(out, "Wall time", false);
        duration_add(out, wall_ms);
        tile_end(out);
        if (wall_ms > 0 && totals->timed > 1)
                rate_tile_add(out, (double) totals->timed * 1000 / (double) wall_ms);
        if (ed_timeline_gap(&totals->timeline) > 0) {
                tile_begin(out, "Longest silence", false);
                duration_add(out, ed_timeline_gap(&totals->timeline));
                ed_draft_add_str(out, "<small>without an answer</small>");
                tile_end(out);
        }
}

static void latency_tiles_add(struct ed_draft *out, const struct ed_totals *totals)
{
        static const struct {
                const char *name;
                unsigned permille;
        } tiles[] = { { "Latency p50", 500 },
                      { "Latency p90", 900 },
                      { "Latency p99", 990 },
                      { "Latency max", 1000 } };

        for (unsigned i = 0; i < 4 && totals->latency.count > 0; i++)
                tile_add_ns(out, tiles[i].name,
                            ed_histogram_value(&totals->latency, tiles[i].permille));
        if (totals->first.count == 0)
                return;
        tile_add_ns(out, "First byte p50", ed_histogram_value(&totals->first, 500));
        tile_add_ns(out, "First byte p99", ed_histogram_value(&totals->first, 990));
}

static void tiles_add(struct ed_draft *out, const struct ed_page *page,
                      const struct ed_totals *totals)
{
        uint64_t all = totals->ok + totals->failed;
        uint64_t accepted = ed_totals_accepted(totals);
        uint64_t retries = (uint64_t) (totals->retries + 0.5);

        ed_draft_add_str(out, "<dl>\n");
        tile_add(out, "Requests", all);
        tile_add_part(out, "OK", totals->ok, all, false);
        tile_add_part(out, "Failed", totals->failed, all, totals->failed > accepted);
        if (accepted > 0)
                tile_add_part(out, "Accepted failures", accepted, all, false);
        times_tiles_add(out, totals);
        latency_tiles_add(out, totals);
        if (totals->attempts > 0) {
                tile_begin(out, "Attempts", false);
                ed_draft_add_grouped(out, (uint64_t) (totals->attempts + 0.5));
                ed_draft_add_str(out, "<small>");
                ed_draft_add_grouped(out, retries);
                ed_draft_add_str(out, retries == 1 ? " retry" : " retries");
                ed_draft_add_str(out, ", without refusals</small>");
                tile_end(out);
        }
        if (totals->has_log)
                tile_add_part(out, "Refusals", totals->log_refused, totals->log_attempts, false);
        if (totals->input > 0 || totals->output > 0) {
                tile_add(out, "Input tokens", totals->input);
                tile_add(out, "Output tokens", totals->output);
        }
        if (page->has_price) {
                tile_begin(out, "Cost", false);
                cost_add(out, ed_tokens_cost(&page->price, totals->input, totals->output));
                tile_end(out);
        }
        ed_draft_add_str(out, "</dl>\n");
}

/* ---- tables -------------------------------------------------------------------------------- */

static void number_cell_add(struct ed_draft *out, uint64_t value)
{
        ed_draft_add_str(out, "<td class=\"n\">");
        ed_draft_add_grouped(out, value);
        ed_draft_add_str(out, "</td>");
}

static void ns_cell_add(struct ed_draft *out, double value_ns)
{
        ed_draft_add_str(out, "<td class=\"n\">");
        ns_add(out, (int64_t) value_ns);
        ed_draft_add_str(out, "</td>");
}

static void others_cell_add(struct ed_draft *out, const char *class, const char *text)
{
        ed_draft_add_printf(out, "<td class=\"%s\">", class);
        others_add(out, *text ? text : "\xe2\x80\x93");
        ed_draft_add_str(out, "</td>");
}

static void hosts_add(struct ed_draft *out, const struct ed_totals *totals)
{
        if (totals->hosts_count == 0 ||
            (totals->hosts_count == 1 && totals->hosts[0].name[0] == '\0'))
                return;
        ed_draft_add_str(out, "<section><h2>Endpoints</h2><div class=\"table\"><table id="
                              "\"endpoints\">\n<tr><th>Endpoint</th><th class=\"n\">Requests</th>"
                              "<th class=\"n\">OK</th><th class=\"n\">Failed</th>"
                              "<th class=\"n\">Attempts</th><th class=\"n\">p50</th>"
                              "<th class=\"n\">p99</th><th class=\"n\">Input tokens</th>"
                              "<th class=\"n\">Output tokens</th></tr>\n");
        for (unsigned i = 0; i < totals->hosts_count; i++) {
                const struct ed_host *host = &totals->hosts[i];

                ed_draft_add_str(out, "<tr>");
                others_cell_add(out, "id", *host->name ? host->name : "not known");
                number_cell_add(out, host->ok + host->failed);
                number_cell_add(out, host->ok);
                number_cell_add(out, host->failed);
                number_cell_add(out, (uint64_t) (host->attempts + 0.5));
                ns_cell_add(out, (double) ed_histogram_value(&host->latency, 500));
                ns_cell_add(out, (double) ed_histogram_value(&host->latency, 990));
                number_cell_add(out, host->input);
                number_cell_add(out, host->output);
                ed_draft_add_str(out, "</tr>\n");
        }
        ed_draft_add_str(out, "</table></div></section>\n");
}

static void slowest_add(struct ed_draft *out, const struct ed_totals *totals)
{
        if (totals->slowest_count == 0)
                return;
        ed_draft_add_str(out, "<details open><summary><h2>Slowest requests</h2></summary>"
                              "<div class=\"table\"><table id=\"slowest\">\n<tr><th>custom_id</th>"
                              "<th class=\"n\">Latency</th><th class=\"n\">Attempts</th>"
                              "<th>Result</th><th>Endpoint</th></tr>\n");
        for (unsigned i = 0; i < totals->slowest_count; i++) {
                const struct ed_totals_entry *sample = &totals->slowest[i];

                ed_draft_add_str(out, "<tr>");
                others_cell_add(out, "id", sample->id);
                ns_cell_add(out, (double) sample->total_ns);
                number_cell_add(out, sample->attempts);
                if (sample->cause[0])
                        others_cell_add(out, "cause", sample->cause);
                else
                        ed_draft_add_printf(out, "<td>HTTP %d</td>", sample->status);
                others_cell_add(out, "id", sample->endpoint);
                ed_draft_add_str(out, "</tr>\n");
        }
        ed_draft_add_str(out, "</table></div></details>\n");
}

static void example_add(struct ed_draft *out, const struct ed_totals *totals, unsigned place)
{
        const struct ed_totals_entry *example = &totals->examples[place];

        ed_draft_add_str(out, "<tr>");
        number_cell_add(out, totals->groups.items[place].members);
        others_cell_add(out, "cause", example->cause);
        others_cell_add(out, "text", example->message);
        others_cell_add(out, "id", example->id);
        number_cell_add(out, example->attempts);
        ed_draft_add_str(out, "<td class=\"n\">");
        if (example->at_ms < ED_TIMELINE_AT_MAX_MS && example->at_ms >= totals->start_ms) {
                ed_draft_add_str(out, "+");
                duration_add(out, example->at_ms - totals->start_ms);
        } else {
                ed_draft_add_str(out, "\xe2\x80\x93");
        }
        ed_draft_add_str(out, "</td></tr>\n");
}

/* Append the largest causes of failures, and the number of the others. */
static void errors_add(struct ed_draft *out, const struct ed_totals *totals)
{
        unsigned places[ED_GROUPS_MAX], count = totals->groups.count;
        uint64_t rest = totals->groups.members;

        if (count == 0)
                return;
        ed_draft_add_str(out,
                         "<details open><summary><h2>Causes of failures</h2></summary>"
                         "<div class=\"table\"><table id=\"errors\">\n"
                         "<tr><th class=\"n\">Failures</th><th>Cause</th><th>First message</th>"
                         "<th>custom_id</th><th class=\"n\">Attempts</th>"
                         "<th class=\"n\">Time</th></tr>\n");
        ed_groups_order(&totals->groups, places);
        for (unsigned i = 0; i < count && i < ED_PAGE_CAUSES_MAX; i++) {
                example_add(out, totals, places[i]);
                rest -= totals->groups.items[places[i]].members;
        }
        if (rest > 0) {
                ed_draft_add_str(out, "<tr>");
                number_cell_add(out, rest);
                ed_draft_add_printf(out,
                                    "<td class=\"cause\">%s%u other cause%s</td><td></td><td></td>"
                                    "<td></td><td></td></tr>\n",
                                    totals->groups.beyond > 0 ? "more than " : "",
                                    count - ED_PAGE_CAUSES_MAX,
                                    count - ED_PAGE_CAUSES_MAX == 1 ? "" : "s");
        }
        ed_draft_add_str(out, "</table></div></details>\n");
}

/* ---- plots --------------------------------------------------------------------------------- */

/* The values of all plots over time. */
struct page_points {
        unsigned count;
        double interval_ms;
        struct ed_interval sums[ED_PLOT_POINTS_MAX];
};

static void points_sum(struct page_points *points, const struct ed_timeline *timeline)
{
        unsigned each = (timeline->count + ED_PLOT_POINTS_MAX - 1) / ED_PLOT_POINTS_MAX;

        memset(points, 0, sizeof(*points));
        points->interval_ms = (double) each * (double) timeline->width_ms;
        for (unsigned from = 0; from < timeline->count; from += each)
                ed_timeline_sum(timeline, from, from + each, &points->sums[points->count++]);
}

static void figure_begin(struct ed_draft *out, const char *id, const char *title)
{
        ed_draft_add_printf(out, "<section id=\"%s\"><h2>%s</h2>", id, title);
}

static void legend_add(struct ed_draft *out, const struct ed_plot *plot)
{
        ed_draft_add_str(out, "<div class=\"legend\">");
        for (unsigned i = 0; i < plot->lines_count; i++)
                ed_draft_add_printf(out, "<span><i class=\"%s\"></i>%s</span>",
                                    plot->lines[i].class, plot->lines[i].name);
        ed_draft_add_str(out, "</div>\n");
}

static void figure_end(struct ed_draft *out, const char *note, const struct page_points *points)
{
        char text[ED_DURATION_TEXT_BYTES];

        if (points) {
                ed_duration_print((int64_t) (points->interval_ms * 1e6), text);
                ed_draft_add_printf(out,
                                    "<p class=\"note\">%sIntervals of %s; the first and the last "
                                    "may not be full.</p>",
                                    note, text);
        } else if (*note) {
                ed_draft_add_printf(out, "<p class=\"note\">%s</p>", note);
        }
        ed_draft_add_str(out, "</section>\n");
}

static void plot_init(struct ed_plot *plot, const struct page_points *points)
{
        *plot = (struct ed_plot){ .interval_ms = points->interval_ms, .points = points->count };
}

static void rate_add(struct ed_draft *out, struct ed_plot *plot, const struct page_points *points)
{
        double seconds = points->interval_ms / 1000;

        plot_init(plot, points);
        plot->label = "Answers per second over time";
        plot->unit = "answers per second";
        plot->is_stacked = true;
        plot->lines_count = 2;
        plot->lines[0].name = "ok";
        plot->lines[0].class = "ok";
        plot->lines[1].name = "failed";
        plot->lines[1].class = "failed";
        for (unsigned i = 0; i < points->count; i++) {
                plot->lines[0].values[i] = (double) points->sums[i].ok / seconds;
                plot->lines[1].values[i] = (double) points->sums[i].failed / seconds;
        }
        figure_begin(out, "rate", "Answers");
        legend_add(out, plot);
        ed_plot_add(out, plot);
        figure_end(out, "", points);
}

static void latency_add(struct ed_draft *out, struct ed_plot *plot,
                        const struct page_points *points)
{
        plot_init(plot, points);
        plot->label = "Latency over time";
        plot->unit = "latency";
        plot->values = ED_AXIS_NS;
        plot->lines_count = 2;
        plot->lines[0].name = "p50";
        plot->lines[0].class = "one";
        plot->lines[1].name = "p99";
        plot->lines[1].class = "two";
        for (unsigned i = 0; i < points->count; i++) {
                const struct ed_spread *spread = &points->sums[i].latency;

                plot->lines[0].values[i] = spread->count ? ed_spread_value(spread, 500) : NAN;
                plot->lines[1].values[i] = spread->count ? ed_spread_value(spread, 990) : NAN;
        }
        figure_begin(out, "latency", "Latency over time");
        legend_add(out, plot);
        ed_plot_add(out, plot);
        figure_end(out, "Times of the last attempt, at the time of its end. ", points);
}

static void refusals_add(struct ed_draft *out, struct ed_plot *plot,
                         const struct page_points *points)
{
        plot_init(plot, points);
        plot->label = "Refused attempts over time";
        plot->unit = "refused attempts";
        plot->values = ED_AXIS_COUNT;
        plot->is_stacked = true;
        plot->lines_count = 1;
        plot->lines[0].name = "refused";
        plot->lines[0].class = "three";
        for (unsigned i = 0; i < points->count; i++)
                plot->lines[0].values[i] = (double) points->sums[i].refused;
        figure_begin(out, "refusals", "Refusals");
        ed_plot_add(out, plot);
        figure_end(out, "Attempts of the log that a server refused. ", points);
}

static void tokens_add(struct ed_draft *out, struct ed_plot *plot, const struct page_points *points)
{
        double seconds = points->interval_ms / 1000;

        plot_init(plot, points);
        plot->label = "Tokens per second over time";
        plot->unit = "tokens per second";
        plot->is_stacked = true;
        plot->lines_count = 2;
        plot->lines[0].name = "input";
        plot->lines[0].class = "one";
        plot->lines[1].name = "output";
        plot->lines[1].class = "two";
        for (unsigned i = 0; i < points->count; i++) {
                plot->lines[0].values[i] = (double) points->sums[i].input / seconds;
                plot->lines[1].values[i] = (double) points->sums[i].output / seconds;
        }
        figure_begin(out, "tokens", "Tokens");
        legend_add(out, plot);
        ed_plot_add(out, plot);
        figure_end(out, "Counted when the answer was complete. ", points);
}

/* Append a plot of the total of tokens, or of cost, up to each time. */
static void sums_add(struct ed_draft *out, struct ed_plot *plot, const struct page_points *points,
                     const struct ed_price *price)
{
        uint64_t input = 0, output = 0;

        plot_init(plot, points);
        plot->label = price ? "Cost up to each time" : "Tokens up to each time";
        plot->unit = price ? "cost, in the unit of --price" : "tokens in all";
        plot->lines_count = price ? 1 : 2;
        plot->lines[0].name = price ? "cost" : "input";
        plot->lines[0].class = price ? "three" : "one";
        plot->lines[1].name = "output";
        plot->lines[1].class = "two";
        for (unsigned i = 0; i < points->count; i++) {
                input += points->sums[i].input;
                output += points->sums[i].output;
                plot->lines[0].values[i] =
                        price ? (double) ed_tokens_cost(price, input, output) / 1e6
                              : (double) input;
                plot->lines[1].values[i] = (double) output;
        }
        figure_begin(out, price ? "cost" : "tokens-sum", price ? "Cost" : "Tokens in all");
        if (!price)
                legend_add(out, plot);
        ed_plot_add(out, plot);
        figure_end(out, "", points);
}

static void causes_add(struct ed_draft *out, const struct ed_totals *totals)
{
        struct ed_plot_bar bars[ED_PLOT_BARS_MAX];
        unsigned count = 0;

        for (unsigned i = 0; i < totals->causes_count; i++) {
                if (count < ED_PLOT_BARS_MAX)
                        bars[count++] = (struct ed_plot_bar){ totals->causes[i].name,
                                                              totals->causes[i].count };
                else
                        bars[count - 1] = (struct ed_plot_bar){
                                "all others", bars[count - 1].count + totals->causes[i].count
                        };
        }
        if (count == 0)
                return;
        figure_begin(out, "causes", "Failures by cause");
        ed_plot_add_bars(out, bars, count);
        figure_end(out, "", NULL);
}

static void plots_add(struct ed_draft *out, const struct ed_page *page,
                      const struct ed_totals *totals)
{
        bool has_tokens = totals->input > 0 || totals->output > 0;
        struct page_points *points = eddy_malloc(sizeof(*points));
        struct ed_plot *plot = eddy_malloc(sizeof(*plot));

        if (!points || !plot) {
                out->failed = true;
        } else {
                points_sum(points, &totals->timeline);
                if (totals->timed > 0)
                        rate_add(out, plot, points);
                if (totals->timed > 0 && totals->latency.count > 0)
                        latency_add(out, plot, points);
                if (totals->latency.count > 0) {
                        figure_begin(out, "histogram", "Latencies");
                        ed_plot_add_spread(out, &totals->spread,
                                           ed_histogram_value(&totals->latency, 500),
                                           ed_histogram_value(&totals->latency, 990));
                        figure_end(out, "", NULL);
                }
                causes_add(out, totals);
                if (totals->log_refused > 0)
                        refusals_add(out, plot, points);
                if (totals->timed > 0 && has_tokens) {
                        tokens_add(out, plot, points);
                        sums_add(out, plot, points, NULL);
                        if (page->has_price)
                                sums_add(out, plot, points, &page->price);
                }
        }
        eddy_free(points);
        eddy_free(plot);
}

/* ---- the page ------------------------------------------------------------------------------ */

static void files_add(struct ed_draft *out, const struct ed_page *page,
                      const struct ed_totals *totals)
{
        ed_draft_add_str(out, "<p>");
        others_add(out, page->output);
        if (page->errors) {
                ed_draft_add_str(out, ", ");
                others_add(out, page->errors);
        }
        if (page->log) {
                ed_draft_add_str(out, ", ");
                others_add(out, page->log);
        }
        ed_draft_add_str(out, "<br>");
        if (totals->timed > 0) {
                clock_add(out, totals->start_ms);
                ed_draft_add_str(out, " to ");
                clock_add(out, totals->end_ms);
                ed_draft_add_str(out, " \xc2\xb7 ");
        }
        ed_draft_add_str(out, "as read at ");
        clock_add(out, page->made_ms);
        ed_draft_add_str(out, "</p>\n");
}

static void completeness_add(struct ed_draft *out, const struct ed_page *page)
{
        ed_draft_add_printf(out, "<p class=\"%s\" id=\"complete\"><strong>",
                            ed_completeness_lacks(page->completeness) ? "warning" : "complete");
        ed_completeness_print(page->completeness, out);
        ed_draft_add_str(out, "</strong></p>\n");
}

/* Append warnings about data that the files lack. */
static void warnings_add(struct ed_draft *out, const struct ed_page *page,
                         const struct ed_totals *totals)
{
        uint64_t all = totals->ok + totals->failed;

        if (totals->damaged > 0) {
                ed_draft_add_str(out, "<p class=\"warning\">Lines that are not answers, and do not "
                                      "count: ");
                ed_draft_add_grouped(out, totals->damaged);
                ed_draft_add_str(out, ".</p>\n");
        }
        if (page->completeness->strange > 0) {
                ed_draft_add_str(out,
                                 "<p class=\"warning\">Lines with an id that the file of requests "
                                 "does not have: ");
                ed_draft_add_grouped(out, page->completeness->strange);
                ed_draft_add_str(out, ".</p>\n");
        }
        if (page->completeness->replaced > 0) {
                ed_draft_add_str(out, "<p>Failures that do not count, because their requests have "
                                      "an answer or a later failure, or are left out: ");
                ed_draft_add_grouped(out, page->completeness->replaced);
                ed_draft_add_str(out, ".</p>\n");
        }
        if (page->completeness->empty > 0) {
                ed_draft_add_str(out, "<p>Requests without text, which --skip-empty leaves out: ");
                ed_draft_add_grouped(out, page->completeness->empty);
                ed_draft_add_str(out, ".</p>\n");
        }
        if (totals->log_damaged > 0) {
                ed_draft_add_str(out,
                                 "<p class=\"warning\">Lines of the log that cannot be read: ");
                ed_draft_add_grouped(out, totals->log_damaged);
                ed_draft_add_str(out, ".</p>\n");
        }
        if (totals->torn > 0)
                ed_draft_add_str(out, "<p>A last line was not complete yet; it does not count.</p>"
                                      "\n");
        if (all == 0)
                ed_draft_add_str(out, "<p>There are no answers yet.</p>\n");
        if (all > totals->timed) {
                ed_draft_add_str(out,
                                 "<p class=\"warning\">Lines without a time "
                                 "(x_meta.completed_at_ms), which are not in plots over time: ");
                ed_draft_add_grouped(out, all - totals->timed);
                ed_draft_add_str(out, ".</p>\n");
        }
}

void ed_page_add(struct ed_draft *out, const struct ed_page *page, const struct ed_totals *totals)
{
        ed_draft_add_str(out, ed_page_head);
        ed_draft_add_str(out, "<title>");
        ed_html_add_str(out, page->title);
        ed_draft_add_str(out, "</title>\n");
        ed_draft_add_str(out, style);
        ed_draft_add_str(out, "</head>\n<body>\n<main>\n<h1>");
        others_add(out, page->title);
        ed_draft_add_str(out, "</h1>\n");
        completeness_add(out, page);
        files_add(out, page, totals);
        warnings_add(out, page, totals);
        tiles_add(out, page, totals);
        hosts_add(out, totals);
        slowest_add(out, totals);
        errors_add(out, totals);
        plots_add(out, page, totals);
        ed_draft_add_str(out, "</main>\n</body>\n</html>\n");
}
