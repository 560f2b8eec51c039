/*
 * common/progress.c - progress in one line.
 */
#include "common/progress.h"

#include "common/duration.h"

enum { BAR_CELLS = 20 };

/* Approximate time over which the rate is averaged. */
#define RATE_MEMORY_NS 5e9

/*
 * Divide results by time, both with exponential decay. At first, the rate is the mean since the
 * start, so it is correct at once.
 */
static void rate_update(struct ed_progress *progress, uint64_t done, int64_t start_ns,
                        int64_t now_ns)
{
        int64_t since_ns = progress->last_ns ? progress->last_ns : start_ns;
        double passed_ns = (double) (now_ns - since_ns), kept;

        if (passed_ns <= 0)
                return;
        kept = RATE_MEMORY_NS / (RATE_MEMORY_NS + passed_ns);
        progress->results = progress->results * kept + (double) (done - progress->last_done);
        progress->time_ns = progress->time_ns * kept + passed_ns;
        progress->rate = progress->results * 1e9 / progress->time_ns;
        progress->last_ns = now_ns;
        progress->last_done = done;
}

/*
 * Returns the time that the rest will take at the average rate so far, or 0 if it is unknown. A pause
 * counts to its end: during a pause, the time decreases by the time that passes.
 */
static int64_t left_ns(const struct ed_progress *progress, const struct ed_stats *stats,
                       uint64_t total, int64_t now_ns)
{
        int64_t resume_ns = progress->resume_ns > now_ns ? progress->resume_ns : now_ns;
        uint64_t done = ed_stats_done(stats);
        double left;

        if (total <= done || done == 0)
                return 0;
        left = (double) (resume_ns - stats->start_ns) * (double) (total - done) / (double) done +
               (double) (resume_ns - now_ns);
        return left < (double) ED_DURATION_MAX_NS ? (int64_t) left : 0;
}

static void field_add(struct ed_draft *text, const char *name, uint64_t value)
{
        ed_draft_add_str(text, name);
        ed_draft_add_grouped(text, value);
}

static void field_add_json(struct ed_draft *text, const char *name, uint64_t value)
{
        ed_draft_add_str(text, name);
        ed_draft_add_u64(text, value);
}

void ed_progress_print(struct ed_progress *progress, const struct ed_stats *stats, uint64_t total,
                       int64_t now_ns, struct ed_draft *text)
{
        uint64_t done = ed_stats_done(stats);
        char p50[ED_DURATION_TEXT_BYTES], p99[ED_DURATION_TEXT_BYTES], eta[ED_DURATION_TEXT_BYTES];

        rate_update(progress, done, stats->start_ns, now_ns);
        field_add(text, "", done);
        ed_draft_add_str(text, " done");
        if (total >= done && total > 0)
                ed_draft_add_printf(text, " %.1f%%", 100.0 * (double) done / (double) total);
        /* First what matters most: a narrow terminal cuts the end. */
        field_add(text, " | ", stats->failed);
        ed_draft_add_str(text, " failed");
        ed_draft_add_printf(text, " | %.*f/s", progress->rate < 10 ? 1 : 0, progress->rate);
        if (left_ns(progress, stats, total, now_ns) > 0) {
                ed_duration_print(left_ns(progress, stats, total, now_ns), eta);
                ed_draft_add_printf(text, " | ETA %s", eta);
        }
        field_add(text, " | inflight ", stats->in_flight);
        field_add(text, " | retry ", stats->retries);
        if (stats->latency.count > 0) {
                ed_duration_print(ed_histogram_value(&stats->latency, 500), p50);
                ed_duration_print(ed_histogram_value(&stats->latency, 990), p99);
                ed_draft_add_printf(text, " | p50 %s p99 %s", p50, p99);
        }
        if (progress->more)
                ed_draft_add_str(text, progress->more);
}

void ed_progress_print_json(struct ed_progress *progress, const struct ed_stats *stats,
                            uint64_t total, int64_t now_ns, struct ed_draft *text)
{
        uint64_t done = ed_stats_done(stats);

        rate_update(progress, done, stats->start_ns, now_ns);
        field_add_json(text, "{\"done\":", done);
        field_add_json(text, ",\"total\":", total);
        ed_draft_add_printf(text, ",\"rate\":%.1f", progress->rate);
        field_add_json(text, ",\"in_flight\":", stats->in_flight);
        field_add_json(text, ",\"ok\":", stats->ok);
        field_add_json(text, ",\"failed\":", stats->failed);
        field_add_json(text, ",\"retries\":", stats->retries);
        if (stats->latency.count > 0) {
                ed_draft_add_str(text, ",\"p50_ms\":");
                ed_draft_add_ms(text, ed_histogram_value(&stats->latency, 500));
                ed_draft_add_str(text, ",\"p99_ms\":");
                ed_draft_add_ms(text, ed_histogram_value(&stats->latency, 990));
        }
        if (progress->more)
                ed_draft_add_str(text, progress->more);
        ed_draft_add_str(text, ",\"left_s\":");
        if (left_ns(progress, stats, total, now_ns) > 0)
                ed_draft_add_printf(text, "%.1f",
                                    (double) left_ns(progress, stats, total, now_ns) / 1e9);
        else
                ed_draft_add_str(text, "null");
        ed_draft_add_str(text, "}\n");
}

void ed_progress_print_bar(struct ed_progress *progress, const struct ed_stats *stats,
                           uint64_t total, int64_t now_ns, unsigned columns, struct ed_draft *text)
{
        uint64_t done = ed_stats_done(stats);
        size_t start;

        ed_draft_add_str(text, "\r");
        start = text->bytes;
        if (total >= done && total > 0 && columns >= 80) {
                unsigned full = (unsigned) ((double) BAR_CELLS * (double) done / (double) total);

                ed_draft_add_str(text, "[");
                for (unsigned i = 0; i < BAR_CELLS; i++)
                        ed_draft_add_str(text, i < full ? "#" : ".");
                ed_draft_add_str(text, "] ");
        }
        ed_progress_print(progress, stats, total, now_ns, text);
        /* The text is ASCII: one byte per column. The last column stays free, because some
         * terminals wrap there. */
        if (columns > 1 && text->bytes - start > columns - 1)
                text->bytes = start + columns - 1;
        ed_draft_add_str(text, "\033[K");
}
