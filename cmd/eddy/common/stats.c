/*
 * common/stats.c - counting, and printing the counts.
 */
#include "common/stats.h"

#include "common/duration.h"

void ed_stats_add(struct ed_stats *stats, int status, int error, uint64_t bytes, int64_t latency_ns)
{
        ed_stats_add_judged(stats, error == 0 && status < ED_STATS_OK_END, status, error, bytes,
                            latency_ns);
}

void ed_stats_add_judged(struct ed_stats *stats, bool is_ok, int status, int error, uint64_t bytes,
                         int64_t latency_ns)
{
        if (is_ok)
                stats->ok++;
        else
                stats->failed++;
        /* A result counts once: with an error after the head of an answer, as the error. */
        if (error < 0)
                stats->codes[ed_outcome_number(error)]++;
        else if (status > 0 && status < ED_STATS_STATUSES)
                stats->statuses[status]++;
        stats->bytes += bytes;
        if (latency_ns >= 0)
                ed_histogram_add(&stats->latency, latency_ns);
}

void ed_stats_add_retry(struct ed_stats *stats, int cause)
{
        stats->retries++;
        if (cause < 0)
                stats->retried_codes[ed_outcome_number(cause)]++;
        else if (cause > 0 && cause < ED_STATS_STATUSES)
                stats->retried_statuses[cause]++;
}

static double rate_of(const struct ed_stats *stats, int64_t wall_ns)
{
        return wall_ns > 0 ? (double) ed_stats_done(stats) / ((double) wall_ns / 1e9) : 0;
}

/* Append ", 50 ok" if the number is not 0. Returns what separates it from the next count. */
static const char *count_add(struct ed_draft *text, const char *before, uint64_t count,
                             const char *what)
{
        if (count == 0)
                return before;
        ed_draft_add_str(text, before);
        ed_draft_add_grouped(text, count);
        ed_draft_add_str(text, what);
        return ", ";
}

/* Append the retries, with the number of each cause. */
static void retries_add(const struct ed_stats *stats, struct ed_draft *text)
{
        const char *before = " (";

        count_add(text, ", ", stats->retries, stats->retries == 1 ? " retry" : " retries");
        for (int i = 0; i < ED_STATS_STATUSES; i++) {
                if (stats->retried_statuses[i] == 0)
                        continue;
                ed_draft_add_printf(text, "%s%d: ", before, i);
                ed_draft_add_grouped(text, stats->retried_statuses[i]);
                before = ", ";
        }
        for (int i = 0; i < ED_OUTCOME_CODES_MAX; i++) {
                if (stats->retried_codes[i] == 0)
                        continue;
                ed_draft_add_printf(text, "%s%s: ", before, ed_outcome_code(i));
                ed_draft_add_grouped(text, stats->retried_codes[i]);
                before = ", ";
        }
        if (*before == ',')
                ed_draft_add_str(text, ")");
}

/* Append what has no line, if there is any. */
static void rest_add(const struct ed_stats *stats, struct ed_draft *text)
{
        const char *before = "not done: ";

        before = count_add(text, before, stats->cancelled, " cancelled");
        before = count_add(text, before, stats->not_started, " not started");
        before = count_add(text, before, stats->lost, " not written");
        before = count_add(text, before, stats->beyond, " beyond --limit");
        if (stats->unread && *before == ',')
                ed_draft_add_str(text, "; the rest of the input was not read");
        else if (stats->unread)
                ed_draft_add_str(text, "not done: the rest of the input, which was not read");
        if (stats->unread || *before == ',')
                ed_draft_add_str(text, "\n");
}

static void duration_add(struct ed_draft *text, const char *before, int64_t duration_ns)
{
        char buf[ED_DURATION_TEXT_BYTES];

        ed_duration_print(duration_ns, buf);
        ed_draft_add_str(text, before);
        ed_draft_add_str(text, buf);
}

static const char *stop_text(enum ed_stop stop)
{
        switch (stop) {
        case ED_STOP_SIGNAL:
                return "stopped by a signal";
        case ED_STOP_DEADLINE:
                return "stopped by --deadline";
        case ED_STOP_CLOSED:
                return "stopped: the reader of the output has gone";
        case ED_STOP_OUTPUT:
                return "stopped: the output failed";
        case ED_STOP_INTERNAL:
                return "stopped by an error";
        case ED_STOP_INPUT:
                return "stopped: the input could not be read to its end";
        case ED_STOP_QUOTA:
                return "stopped: the quota is used up";
        case ED_STOP_KEY:
                return "stopped: the server refuses the API key";
        case ED_STOP_KEY_SOURCE:
                return "stopped: --api-key-command has failed";
        case ED_STOP_ERRORS:
                return "stopped by --max-errors";
        case ED_STOP_ALIKE:
                return "stopped: the first requests all failed in the same way";
        case ED_STOP_COST:
                return "stopped by --max-cost";
        case ED_STOP_THROTTLED:
                return "stopped by --max-throttle-wait";
        case ED_STOP_UNREACHED:
                return "stopped: no server can be reached";
        case ED_STOP_LIMIT:
                return "stopped by --limit";
        case ED_STOP_NONE:
                break;
        }
        return NULL;
}

static const char *stop_name(enum ed_stop stop)
{
        static const char *const names[] = {
                [ED_STOP_SIGNAL] = "signal",
                [ED_STOP_DEADLINE] = "deadline",
                [ED_STOP_CLOSED] = "output_closed",
                [ED_STOP_OUTPUT] = "output_failed",
                [ED_STOP_INTERNAL] = "error",
                [ED_STOP_INPUT] = "input_failed",
                [ED_STOP_KEY] = "api_key",
                [ED_STOP_KEY_SOURCE] = "api_key_command",
                [ED_STOP_QUOTA] = "quota",
                [ED_STOP_ERRORS] = "max_errors",
                [ED_STOP_ALIKE] = "failed_alike",
                [ED_STOP_COST] = "max_cost",
                [ED_STOP_THROTTLED] = "max_throttle_wait",
                [ED_STOP_UNREACHED] = "unreached",
                [ED_STOP_LIMIT] = "limit",
        };

        return names[stop];
}

void ed_stats_print(const struct ed_stats *stats, int64_t now_ns, struct ed_draft *text)
{
        int64_t wall_ns = now_ns - stats->start_ns;
        const char *before = "status ";

        ed_draft_add_grouped(text, ed_stats_done(stats));
        duration_add(text, " done in ", wall_ns);
        ed_draft_add_printf(text, ", %.1f/s: ", rate_of(stats, wall_ns));
        ed_draft_add_grouped(text, stats->ok);
        ed_draft_add_str(text, " ok, ");
        ed_draft_add_grouped(text, stats->failed);
        ed_draft_add_str(text, " failed");
        retries_add(stats, text);
        count_add(text, ", ", stats->refused, " refused for a time");
        ed_draft_add_str(text, "\n");
        rest_add(stats, text);
        if (stats->latency.count > 0) {
                duration_add(text, "latency p50 ", ed_histogram_value(&stats->latency, 500));
                duration_add(text, " p90 ", ed_histogram_value(&stats->latency, 900));
                duration_add(text, " p99 ", ed_histogram_value(&stats->latency, 990));
                duration_add(text, " max ", ed_histogram_value(&stats->latency, 1000));
                ed_draft_add_str(text, "\n");
        }
        for (int i = 0; i < ED_STATS_STATUSES; i++) {
                if (stats->statuses[i] == 0)
                        continue;
                ed_draft_add_printf(text, "%s%d: ", before, i);
                ed_draft_add_grouped(text, stats->statuses[i]);
                before = ", ";
        }
        if (*before == ',')
                ed_draft_add_str(text, "\n");
        before = "errors ";
        for (int i = 0; i < ED_OUTCOME_CODES_MAX; i++) {
                if (stats->codes[i] == 0)
                        continue;
                ed_draft_add_printf(text, "%s%s: ", before, ed_outcome_code(i));
                ed_draft_add_grouped(text, stats->codes[i]);
                before = ", ";
        }
        if (*before == ',')
                ed_draft_add_str(text, "\n");
        if (stats->not_retried > 0) {
                ed_draft_add_grouped(text, stats->not_retried);
                ed_draft_add_str(text,
                                 " not retried: the next attempt would be after --deadline, or "
                                 "in over an hour (Retry-After)\n");
        }
        if (stop_text(stats->stop))
                ed_draft_add_printf(text, "%s\n", stop_text(stats->stop));
}

static void json_count(struct ed_draft *text, const char *before, uint64_t count)
{
        ed_draft_add_str(text, before);
        ed_draft_add_u64(text, count);
}

static void json_ms(struct ed_draft *text, const char *before, const struct ed_histogram *latency,
                    unsigned permille)
{
        ed_draft_add_str(text, before);
        if (latency->count > 0)
                ed_draft_add_ms(text, ed_histogram_value(latency, permille));
        else
                ed_draft_add_str(text, "null");
}

/* Append the members of the statuses and codes that have a number. */
static void json_causes(struct ed_draft *text, const char *before, const uint64_t *statuses,
                        const uint64_t *codes)
{
        for (int i = 0; statuses && i < ED_STATS_STATUSES; i++) {
                if (statuses[i] == 0)
                        continue;
                ed_draft_add_printf(text, "%s\"%d\":", before, i);
                ed_draft_add_u64(text, statuses[i]);
                before = ",";
        }
        for (int i = 0; codes && i < ED_OUTCOME_CODES_MAX; i++) {
                if (codes[i] == 0)
                        continue;
                ed_draft_add_printf(text, "%s\"%s\":", before, ed_outcome_code(i));
                ed_draft_add_u64(text, codes[i]);
                before = ",";
        }
}

void ed_stats_print_json(const struct ed_stats *stats, int64_t now_ns, struct ed_draft *text)
{
        int64_t wall_ns = now_ns - stats->start_ns;

        json_count(text, "{\"done\":", ed_stats_done(stats));
        json_count(text, ",\"ok\":", stats->ok);
        json_count(text, ",\"failed\":", stats->failed);
        json_count(text, ",\"retries\":", stats->retries);
        json_count(text, ",\"not_retried\":", stats->not_retried);
        json_count(text, ",\"cancelled\":", stats->cancelled);
        json_count(text, ",\"not_started\":", stats->not_started);
        json_count(text, ",\"not_written\":", stats->lost);
        ed_draft_add_printf(text, ",\"input_read\":%s", stats->unread ? "false" : "true");
        json_count(text, ",\"bytes\":", stats->bytes);
        ed_draft_add_printf(text, ",\"wall_s\":%.3f,\"rate\":%.1f", (double) wall_ns / 1e9,
                            rate_of(stats, wall_ns));
        json_ms(text, ",\"ms\":{\"p50\":", &stats->latency, 500);
        json_ms(text, ",\"p90\":", &stats->latency, 900);
        json_ms(text, ",\"p99\":", &stats->latency, 990);
        json_ms(text, ",\"max\":", &stats->latency, 1000);
        ed_draft_add_str(text, "},\"statuses\":{");
        json_causes(text, "", stats->statuses, NULL);
        ed_draft_add_str(text, "},\"errors\":{");
        json_causes(text, "", NULL, stats->codes);
        ed_draft_add_str(text, "},\"retried\":{");
        json_causes(text, "", stats->retried_statuses, stats->retried_codes);
        ed_draft_add_str(text, "},\"stopped\":");
        if (stats->stop == ED_STOP_NONE)
                ed_draft_add_str(text, "null");
        else
                ed_draft_add_json_str(text, stop_name(stats->stop));
        ed_draft_add_str(text, "}\n");
}
