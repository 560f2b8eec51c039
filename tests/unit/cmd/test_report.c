/*
 * test_report.c - the parts of `eddy report`: intervals of time that double and lose nothing,
 * percentiles of intervals, round ticks that do not overlap, escaped texts, lines that are read,
 * lists of limited size, and pages for which there is no memory.
 */
#include "test.h"

#include <errno.h>
#include <math.h>

#include "common/random.h"
#include "eddy/alloc.h"
#include "eddy/json.h"
#include "report/axis.h"
#include "report/completeness.h"
#include "report/html.h"
#include "report/page.h"
#include "report/record.h"
#include "report/spread.h"
#include "report/timeline.h"
#include "report/totals.h"
#include "starve.h"

TEST_ROOM(struct ed_timeline, timeline, 1);
TEST_ROOM(struct ed_totals, totals, 1);
static struct ed_record record;

/* ---- timeline ------------------------------------------------------------------------------ */

static uint64_t answers_in_all(void)
{
        uint64_t count = 0;

        for (unsigned i = 0; i < timeline->count; i++) {
                count += timeline->slots[i].ok;
                CHECK_EQ(timeline->slots[i].ok, timeline->slots[i].latency.count);
        }
        return count;
}

static void answer_at(int64_t at_ms)
{
        struct ed_interval *interval = ed_timeline_at(timeline, at_ms);
        int64_t start_ms = (timeline->first + (interval - timeline->slots)) * timeline->width_ms;

        CHECK(at_ms >= start_ms && at_ms < start_ms + timeline->width_ms);
        interval->ok++;
        ed_spread_add(&interval->latency, 1000000);
}

TEST(intervals_double_and_lose_nothing)
{
        struct ed_random random = { 5 };
        int64_t range = 1;

        for (unsigned i = 0; i < 3000; i++) {
                if (i % 100 == 0 && range < (int64_t) 1 << 40)
                        range *= 3;
                answer_at((int64_t) 1790000000000 +
                          (int64_t) (ed_random_next(&random) % (uint64_t) range) - range / 2);
                CHECK(timeline->count >= 1 && timeline->count <= ED_TIMELINE_MAX);
        }
        CHECK_EQ(answers_in_all(), 3000);
}

TEST(intervals_before_the_first_are_added)
{
        answer_at(1000000);
        answer_at(1000000 - 599 * ED_TIMELINE_WIDTH_MS);
        CHECK_EQ(timeline->count, 600);
        CHECK_EQ(timeline->width_ms, ED_TIMELINE_WIDTH_MS);
        answer_at(1000000 - 600 * ED_TIMELINE_WIDTH_MS);
        CHECK_EQ(timeline->width_ms, 2 * ED_TIMELINE_WIDTH_MS);
        CHECK_EQ(answers_in_all(), 3);
}

TEST(times_beyond_the_limits_count_at_them)
{
        (void) ed_timeline_at(timeline, INT64_MIN);
        ed_timeline_at(timeline, -1)->ok++;
        ed_timeline_at(timeline, INT64_MAX)->ok++;
        CHECK_EQ(timeline->slots[0].ok, 1);
        CHECK_EQ(timeline->slots[timeline->count - 1].ok, 1);
        CHECK(timeline->count <= ED_TIMELINE_MAX);
}

TEST(gap_is_between_answers)
{
        (void) ed_timeline_at(timeline, 125);
        CHECK_EQ(ed_timeline_gap(timeline), 0);
        answer_at(1250);
        answer_at(2500);
        (void) ed_timeline_at(timeline, 50000);
        CHECK_EQ(ed_timeline_gap(timeline), 9 * 125);
}

/* ---- spread -------------------------------------------------------------------------------- */

TEST(percentiles_of_a_spread_are_within_three_percent)
{
        static struct ed_spread spread, half;

        for (int i = 1; i <= 5000; i++)
                ed_spread_add(i % 2 ? &spread : &half, (int64_t) i * 1000000);
        ed_spread_merge(&spread, &half);
        CHECK_EQ(spread.count, 5000);
        CHECK(fabs(ed_spread_value(&spread, 500) / 2.5e9 - 1) < 0.03);
        CHECK(fabs(ed_spread_value(&spread, 990) / 4.95e9 - 1) < 0.03);
        CHECK(ed_spread_value(&spread, 1000) <= 5e9);
}

TEST(percentiles_of_a_spread_are_between_its_values)
{
        static struct ed_spread spread, other, whole;

        ed_spread_add(&other, 201000000);
        ed_spread_add(&spread, 200200000);
        CHECK(ed_spread_value(&spread, 500) == 200200000);
        ed_spread_merge(&whole, &other);
        CHECK(ed_spread_value(&whole, 10) == 201000000);
        ed_spread_merge(&whole, &spread);
        CHECK(ed_spread_value(&whole, 10) >= 200200000);
        CHECK(ed_spread_value(&whole, 990) <= 201000000);
}

TEST(a_spread_keeps_values_beyond_its_range)
{
        static struct ed_spread spread;

        CHECK(ed_spread_value(&spread, 500) == 0);
        ed_spread_add(&spread, -5);
        ed_spread_add(&spread, 0);
        ed_spread_add(&spread, INT64_MAX);
        CHECK_EQ(spread.bins[0], 2);
        CHECK_EQ(spread.bins[ED_SPREAD_BINS - 1], 1);
        spread.bins[0] = UINT32_MAX;
        ed_spread_add(&spread, 1);
        CHECK_EQ(spread.bins[0], UINT32_MAX);
}

/* ---- axes ---------------------------------------------------------------------------------- */

/* The labels of an axis, with a space between them. */
static const char *labels_of(const struct ed_axis *axis)
{
        static char text[ED_AXIS_TICKS_MAX * (ED_AXIS_LABEL_BYTES + 1)];
        char label[ED_AXIS_LABEL_BYTES];
        size_t at = 0;

        for (unsigned i = 0; i < axis->count; i++) {
                ed_axis_label(axis, axis->ticks[i], label);
                at += (size_t) snprintf(text + at, sizeof(text) - at, "%s%s", i ? "|" : "", label);
        }
        return text;
}

static const char *linear(enum ed_axis_unit unit, double max)
{
        static struct ed_axis axis;

        ed_axis_linear(&axis, unit, max, 5);
        return labels_of(&axis);
}

static const char *elapsed(int64_t max_ms)
{
        static struct ed_axis axis;

        ed_axis_elapsed(&axis, max_ms, 10);
        return labels_of(&axis);
}

static const char *logarithmic(double min, double max)
{
        static struct ed_axis axis;

        ed_axis_log(&axis, ED_AXIS_NS, min, max, 8);
        return labels_of(&axis);
}

TEST(ticks_are_round)
{
        CHECK_STR(linear(ED_AXIS_NUMBER, 5), "0|1|2|3|4|5");
        CHECK_STR(linear(ED_AXIS_NUMBER, 5.1), "0|2|4|6");
        CHECK_STR(linear(ED_AXIS_NUMBER, 0.7), "0|0.2|0.4|0.6|0.8");
        CHECK_STR(linear(ED_AXIS_NUMBER, 1234), "0|0.5k|1.0k|1.5k");
        CHECK_STR(linear(ED_AXIS_NUMBER, 2.5e6), "0|0.5M|1.0M|1.5M|2.0M|2.5M");
        CHECK_STR(linear(ED_AXIS_NS, 8e8), "0|200 ms|400 ms|600 ms|800 ms");
        CHECK_STR(linear(ED_AXIS_NS, 2.2e9), "0|0.5 s|1.0 s|1.5 s|2.0 s|2.5 s");
        CHECK_STR(linear(ED_AXIS_COUNT, 1), "0|1");
        CHECK_STR(linear(ED_AXIS_COUNT, 7), "0|2|4|6|8");
        CHECK_STR(linear(ED_AXIS_NUMBER, 0), "0|0.2|0.4|0.6|0.8|1.0");
}

TEST(ticks_of_time_are_natural)
{
        CHECK_STR(elapsed(1000), "0.0|0.1|0.2|0.3|0.4|0.5|0.6|0.7|0.8|0.9|1.0");
        CHECK_STR(elapsed(60000), "0|10|20|30|40|50|60");
        CHECK_STR(elapsed(150000), "0:00|0:15|0:30|0:45|1:00|1:15|1:30|1:45|2:00|2:15|2:30");
        CHECK_STR(elapsed(3600000 * 5), "0:00|0:30|1:00|1:30|2:00|2:30|3:00|3:30|4:00|4:30|5:00");
        CHECK_STR(elapsed((int64_t) 86400000 * 5), "0.0|0.5|1.0|1.5|2.0|2.5|3.0|3.5|4.0|4.5|5.0");
        CHECK_STR(elapsed((int64_t) 86400000 * 3000), "0|500|1000|1500|2000|2500|3000");
}

TEST(ticks_of_log_scales_are_few_and_at_least_two)
{
        CHECK_STR(logarithmic(1e6, 1e8), "1 ms|2 ms|5 ms|10 ms|20 ms|50 ms|100 ms");
        CHECK_STR(logarithmic(1e3, 1e12), "10 µs|1 ms|100 ms|10 s|1000 s");
        CHECK_STR(logarithmic(2.9e8, 3.1e8), "290 ms|295 ms|300 ms|305 ms|310 ms");
        CHECK_STR(logarithmic(9e7, 4.1e8), "100 ms|150 ms|200 ms|300 ms");
}

TEST(ticks_are_in_order_and_within_any_axis)
{
        struct ed_random random = { 11 };

        for (int i = 0; i < 20000; i++) {
                double min = exp2(ed_random_fraction(&random) * 60 - 10);
                double max = min * exp2(ed_random_fraction(&random) * (i % 2 ? 30 : 0.5));
                struct ed_axis axes[3];

                ed_axis_log(&axes[0], ED_AXIS_NS, min, max, 8);
                ed_axis_linear(&axes[1], ED_AXIS_NUMBER, max, 5);
                ed_axis_elapsed(&axes[2], (int64_t) max, 10);
                for (int j = 0; j < 3; j++) {
                        CHECK(axes[j].count >= (j == 1 ? 3 : 1) && axes[j].count <= 11);
                        for (unsigned k = 0; k < axes[j].count; k++) {
                                double place = ed_axis_place(&axes[j], axes[j].ticks[k]);

                                CHECK(place >= 0 && place <= 1);
                                CHECK(k == 0 || axes[j].ticks[k] > axes[j].ticks[k - 1]);
                        }
                        CHECK(strlen(labels_of(&axes[j])) > 0);
                }
        }
}

/* ---- texts --------------------------------------------------------------------------------- */

static void check_html(const char *text, size_t bytes, const char *expected)
{
        struct ed_draft out = { 0 };

        ed_html_add(&out, text, bytes);
        ed_draft_add(&out, "", 1);
        CHECK_STR(out.data, expected);
        ed_draft_fini(&out);
}

TEST(html_is_escaped)
{
        check_html("", 0, "");
        check_html("a <script>&\"'", 13, "a &lt;script&gt;&amp;&quot;&#39;");
        check_html("\0\x1b\x7f\n", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n");
        check_html("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80<", 10,
                   "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80&lt;");
        /* A cut character, a surrogate, a long form of '<', a control character of Latin 1. */
        check_html("\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd");
        check_html("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
        check_html("\xc0\xbc", 2, "\xef\xbf\xbd\xef\xbf\xbd");
        check_html("\xc2\x9b<", 3, "\xef\xbf\xbd\xef\xbf\xbd&lt;");
}

TEST(html_has_no_markup_of_any_bytes)
{
        struct ed_random random = { 3 };

        for (int i = 0; i < 5000; i++) {
                struct ed_draft out = { 0 };
                char text[24];

                for (size_t at = 0; at < sizeof(text); at++)
                        text[at] = (char) ed_random_next(&random);
                text[i % 24] = '<';
                ed_html_add(&out, text, sizeof(text));
                CHECK(eddy_json_is_utf8(out.data, out.bytes));
                CHECK(!memchr(out.data, '<', out.bytes) && !memchr(out.data, '"', out.bytes));
                ed_draft_fini(&out);
        }
}

/* ---- lines --------------------------------------------------------------------------------- */

static int line_read(const char *line)
{
        return ed_record_read(&record, line, strlen(line));
}

TEST(a_line_is_read_with_its_times)
{
        CHECK_EQ(
                line_read("{\"custom_id\":\"a\",\"response\":{\"status_code\":200,\"body\":{}},"
                          "\"error\":null,\"x_meta\":{\"input_line\":7,\"attempts\":3,\"endpoint\":"
                          "\"http://h\",\"completed_at_ms\":1700000000000,\"t_queue_ms\":0.5,"
                          "\"t_first_ms\":1.5,\"t_total_ms\":2.0,\"input_tokens\":5,"
                          "\"output_tokens\":6}}"),
                0);
        CHECK_STR(record.id, "a");
        CHECK_STR(record.endpoint, "http://h");
        CHECK(record.is_ok && record.attempts == 3 && record.at_ms == 1700000000000);
        CHECK(record.queue_ns == 500000 && record.first_ns == 1500000 &&
              record.total_ns == 2000000);
        CHECK(record.input == 5 && record.output == 6);
        CHECK_EQ(line_read("\xef\xbb\xbf{\"custom_id\":\"a\",\"response\":{\"status_code\":200}}"),
                 0);
        CHECK_EQ(line_read("{}"), -EINVAL);
        CHECK_EQ(line_read(""), -EINVAL);
}

TEST(a_failure_has_a_cause_and_a_message)
{
        static const struct {
                const char *rest, *cause, *message;
        } cases[] = {
                { "{\"status_code\":503,\"body\":{\"error\":{\"message\":\"m\"}}},\"error\":null",
                  "HTTP 503", "m" },
                { "{\"status_code\":500,\"body\":{\"error\":\"e\"}}", "HTTP 500", "e" },
                { "{\"status_code\":500,\"body\":{\"_text\":\"t\"}}", "HTTP 500", "t" },
                { "{\"status_code\":422,\"body\":{\"x\":[1]}}", "HTTP 422", "{\"x\":[1]}" },
                { "{\"status_code\":500}", "HTTP 500", "" },
                { "null,\"error\":{\"code\":\"tls_error\",\"message\":\"m\"}", "tls_error", "m" },
                { "null,\"error\":\"engine\"", "error without a code", "engine" },
                { "null,\"error\":{\"code\":7}", "7", "{\"code\":7}" },
                { "{\"status_code\":500,\"body\":{\"detail\":\"d\"}},\"error\":{\"code\":null}",
                  "HTTP 500", "d" },
                { "{\"status_code\":400},\"error\":{\"error\":{\"message\":\"m\",\"code\":404}}",
                  "404", "m" },
                { "null,\"error\":{\"error\":\"e\"}", "error without a code", "e" },
                { "{\"status_code\":0,\"body\":{}},\"error\":{}", "no status", "{}" },
                { "null,\"error\":null", "no status", "" },
                { "{\"status_code\":404,\"body\":{\"_text\":\"no route\\r\\n \"}}", "HTTP 404",
                  "no route" },
                { "{\"status_code\":408,\"body\":{\"detail\":[\"\\u001b["
                  "31m\\n\\\\n\\u0085\\u00e9\"]}}",
                  "HTTP 408", "[\"?[31m?\\\\n?\\u00e9\"]" },
                { "null,\"error\":{\"code\":\"a\\u0000b\",\"message\":\"\\ud800\"}", "a b",
                  "\\ud800" },
        };
        char line[256];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                snprintf(line, sizeof(line), "{\"custom_id\":\"a\",\"response\":%s}",
                         cases[i].rest);
                CHECK_EQ(line_read(line), 0);
                CHECK(!record.is_ok);
                CHECK_STR(record.cause, cases[i].cause);
                CHECK_STR(record.message, cases[i].message);
        }
}

TEST(long_texts_are_cut_between_characters)
{
        static char line[8192];
        size_t at;

        for (unsigned repeats = 90; repeats < 2500; repeats += 7) {
                at = (size_t) snprintf(line, sizeof(line),
                                       "{\"custom_id\":\"a\",\"response\":null,\"error\":\"x");
                for (unsigned i = 0; i < repeats; i++, at += 3)
                        memcpy(line + at, "\xe2\x82\xac", 3);
                at += (size_t) snprintf(line + at, sizeof(line) - at, "\"}");
                CHECK_EQ(ed_record_read(&record, line, at), 0);
                CHECK(strlen(record.message) < ED_RECORD_MESSAGE_BYTES);
                CHECK(eddy_json_is_utf8(record.message, strlen(record.message)));
        }
        CHECK_STR(record.message + strlen(record.message) - 6, "\xe2\x82\xac\xe2\x80\xa6");
}

static struct ed_record_attempt attempt_read(const char *line)
{
        struct ed_record_attempt attempt;

        CHECK_EQ(ed_record_read_log(line, strlen(line), &attempt), 0);
        return attempt;
}

TEST(a_line_of_the_log_has_a_time)
{
        struct ed_record_attempt attempt = attempt_read(
                "{\"time\":\"2026-11-23T12:30:05.123Z\",\"level\":\"info\",\"status\":429}");

        CHECK_EQ(attempt.at_ms, 1795437005123);
        CHECK(attempt.is_one && attempt.is_refused);
        attempt = attempt_read("{\"time\":\"2000-02-29T00:00:00Z\"}");
        CHECK_EQ(attempt.at_ms, 951782400000);
        attempt = attempt_read("{\"time\":\"2026-11-23T14:30:05.123+02:00\"}");
        CHECK_EQ(attempt.at_ms, 1795437005123);
        CHECK_EQ(attempt_read("{\"time\":\"2026-02-30T00:00:00Z\"}").at_ms, 0);
        CHECK_EQ(attempt_read("{\"time\":\"9999-01-01T00:00:00Z\"}").at_ms, 0);
        CHECK(!attempt.is_one && !attempt.is_refused);
        CHECK_EQ(ed_record_read_log("{\"time\":7}", 10, &attempt), -EINVAL);
        CHECK_EQ(ed_record_read_log("{\"time\":\"2000-02-29T", 20, &attempt), -EINVAL);
}

TEST(a_line_of_the_log_says_whether_the_attempt_was_refused)
{
        static const char time[] = "{\"time\":\"2026-11-23T12:30:05Z\",\"status\":";
        static const struct {
                const char *rest;
                bool is_refused;
        } cases[] = {
                { "503,\"refused\":true}", true },   { "503,\"refused\":false}", false },
                { "429,\"refused\":false}", false }, { "503}", false },
                { "429,\"refused\":7}", true },
        };
        char line[128];

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                snprintf(line, sizeof(line), "%s%s", time, cases[i].rest);
                CHECK_EQ(attempt_read(line).is_refused, cases[i].is_refused);
        }
}

/* ---- totals -------------------------------------------------------------------------------- */

static void failure_add(unsigned number, int64_t at_ms)
{
        record = (struct ed_record){ .at_ms = at_ms,
                                     .queue_ns = 0,
                                     .first_ns = -1,
                                     .total_ns = (int64_t) (number * 7919 % 1009 + 1) * 1000000 };
        snprintf(record.id, sizeof(record.id), "id-%u", number);
        snprintf(record.cause, sizeof(record.cause), "cause-%u", number % 200);
        snprintf(record.endpoint, sizeof(record.endpoint), "http://h%u", number % 100);
        ed_totals_add(totals, &record);
}

TEST(tables_are_limited_and_lists_are_sorted)
{
        uint64_t causes = 0, hosts = 0;

        for (unsigned i = 0; i < 1009; i++)
                failure_add(i, i % 10 == 0 ? 0 : 2000000 - (int64_t) i * 1000);
        ed_totals_sort(totals);
        for (unsigned i = 0; i < totals->causes_count; i++)
                causes += totals->causes[i].count;
        for (unsigned i = 0; i < totals->hosts_count; i++)
                hosts += totals->hosts[i].failed;
        CHECK(causes == 1009 && hosts == 1009);
        CHECK_EQ(totals->causes_count, ED_TOTALS_CAUSES_MAX + 1);
        CHECK_STR(totals->causes[0].name, "all others");
        CHECK_EQ(totals->hosts_count, ED_TOTALS_ENDPOINTS_MAX + 1);
        CHECK_EQ(totals->slowest_count, ED_TOTALS_TOP);
        for (int i = 0; i < ED_TOTALS_TOP; i++)
                CHECK_EQ(totals->slowest[i].total_ns, (int64_t) (1009 - i) * 1000000);
        CHECK_EQ(totals->groups.count, ED_GROUPS_MAX);
        CHECK_EQ(totals->groups.members, 1009);
        CHECK(totals->groups.beyond > 0);
}

TEST(rows_of_a_request_share_its_attempts)
{
        record = (struct ed_record){
                .is_ok = true, .at_ms = 7, .attempts = 4, .rows = 3, .total_ns = 9
        };
        for (int i = 0; i < 3; i++)
                ed_totals_add(totals, &record);
        record.rows = 1;
        ed_totals_add(totals, &record);
        CHECK(fabs(totals->attempts - 8) < 1e-9 && fabs(totals->retries - 6) < 1e-9);
        CHECK(fabs(totals->hosts[0].attempts - 8) < 1e-9);
        CHECK(totals->ok == 4 && totals->hosts[0].ok == 4);
        CHECK_EQ(totals->slowest_count, 2);
}

TEST(a_cause_has_its_first_failure_by_time)
{
        failure_add(0, 0);
        failure_add(200, 7000);
        failure_add(1, 0);
        failure_add(400, 5000);
        failure_add(600, 6000);
        failure_add(800, 0);
        CHECK_EQ(totals->groups.count, 2);
        CHECK_EQ(totals->groups.items[0].members, 5);
        CHECK_STR(totals->examples[0].id, "id-400");
        CHECK_STR(totals->examples[1].id, "id-1");
        CHECK_EQ(totals->timed, 3);
}

/* ---- completeness -------------------------------------------------------------------------- */

static struct ed_completeness completeness;
static uint64_t failures_counted;

static enum ed_completeness_result failure_of(char sign)
{
        return sign == '*'   ? ED_COMPLETENESS_FINAL
               : sign == '!' ? ED_COMPLETENESS_NAMED
               : sign == '?' ? ED_COMPLETENESS_FOR_GOOD
                             : ED_COMPLETENESS_FAILED;
}

/*
 * Adds "+a" (an answer), "-a" (a failure), "*a" (a final one), "?a" (one that would fail again) and "!a" (one that is accepted by its id) to the requests a, b and c, and the
 * empty ones e and f. Returns the sentence.
 */
static const char *sentence_of(const char *lines, bool is_active)
{
        static struct ed_draft out;

        completeness = (struct ed_completeness){ .input = "in", .is_active = is_active };
        failures_counted = 0;
        for (const char *id = "abc"; *id; id++)
                CHECK_EQ(ed_completeness_request(&completeness, id, 1), 0);
        for (const char *id = "eecf"; *id; id++)
                CHECK_EQ(ed_completeness_empty(&completeness, id, 1), 0);
        CHECK_EQ(ed_completeness_request(&completeness, "c", 1), 0);
        for (const char *at = lines; *at; at += 2)
                CHECK_EQ(ed_completeness_line(&completeness, at + 1, 1,
                                              *at == '+' ? ED_COMPLETENESS_OK : failure_of(*at)),
                         *at == '+' && at[1] != 'x');
        for (const char *at = lines; *at; at += 2)
                if (*at != '+')
                        failures_counted +=
                                ed_completeness_failure(&completeness, at + 1, 1, failure_of(*at));
        CHECK_EQ(failures_counted, completeness.failed + completeness.finals + completeness.named);
        ed_draft_reset(&out, 1000);
        ed_completeness_print(&completeness, &out);
        ed_draft_add(&out, "", 1);
        ed_completeness_fini(&completeness);
        return out.data;
}

static const char *completeness_of(const char *lines)
{
        const char *sentence = sentence_of(lines, false);

        CHECK_EQ(completeness.strange, 1);
        return sentence;
}

TEST(failures_count_once_and_only_without_an_answer)
{
        (void) completeness_of("-a-a-b+b-x-c*c");
        CHECK(completeness.failed == 1 && completeness.finals == 1);
        CHECK_EQ(completeness.replaced, 3);
        (void) completeness_of("-b-a-a-a-x");
        CHECK(completeness.failed == 2 && completeness.replaced == 2 && completeness.placed == 4);
}

TEST(empty_requests_are_not_missing)
{
        CHECK_STR(completeness_of("+a+b+c-e+x"), "complete: all 3 requests have an answer");
        CHECK(completeness.empty == 2 && completeness.replaced == 1);
        /* One that had a text has an answer. */
        CHECK_STR(completeness_of("+a+b+c+e+e-x"), "complete: all 4 requests have an answer");
        CHECK_EQ(completeness.empty, 1);
        CHECK_STR(completeness_of("+a-b+c-x"),
                  "not complete: 1 of 3 requests failed: run the command of eddy batch again");
}

/* An input without a request ends a run with 0 if it is a table, a shard, or left out. */
TEST(an_input_without_a_request_may_be_complete)
{
        static const struct {
                bool is_table, is_shard, is_empty;
                const char *sentence;
        } cases[] = {
                { false, false, false, "not complete: the file of requests has no request" },
                { true, false, false, "complete: the file of requests has no rows" },
                { true, false, true, "complete: all requests are empty" },
                { false, false, true, "complete: all requests are empty" },
                { false, true, false, "shard 1/4: complete: it has no request" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct ed_draft out = { 0 };
                struct ed_completeness empty = { .input = "in",
                                                 .is_table = cases[i].is_table,
                                                 .empty = cases[i].is_empty ? 2 : 0 };

                if (cases[i].is_shard)
                        empty.shard = (struct ed_shard){ .index = 1, .count = 4 };
                ed_completeness_print(&empty, &out);
                ed_draft_add(&out, "", 1);
                CHECK_STR(out.data, cases[i].sentence);
                CHECK_EQ(ed_completeness_lacks(&empty), i == 0);
                ed_draft_fini(&out);
        }
}

TEST(failures_for_good_are_not_to_be_sent_again)
{
        CHECK_STR(completeness_of("+a+b?c-x"),
                  "not complete: 1 of 3 requests failed for good: correct them, or accept them by "
                  "--accept-failed");
        CHECK_STR(completeness_of("+a?b-c-x"),
                  "not complete: 2 of 3 requests failed, 1 of them for good: run the command of "
                  "eddy batch again");
        CHECK_STR(completeness_of("+a?b-x"),
                  "not complete: 1 of 3 requests has no answer, 1 failed for good: run the command "
                  "of eddy batch again");
        /* Without any answer, the server may be down. */
        CHECK_STR(completeness_of("?a?b?c-x"),
                  "not complete: 3 of 3 requests failed: run the command of eddy batch again");
        CHECK_STR(completeness_of("?a-a+b+c-x"),
                  "not complete: 1 of 3 requests failed: run the command of eddy batch again");
        CHECK_STR(completeness_of("?a+a+b+c-x"), "complete: all 3 requests have an answer");
}

TEST(a_run_that_is_active_is_not_to_be_started_again)
{
        CHECK_STR(sentence_of("+a", true),
                  "a run is active: 1 of 3 requests have an answer so far");
        CHECK_STR(sentence_of("+a-b*c", true), "a run is active: 1 of 3 requests have an answer so "
                                               "far, 2 failed, 1 of them accepted");
        CHECK_STR(sentence_of("+a+b+c", true), "complete: all 3 requests have an answer");
}

TEST(a_request_is_complete_with_an_answer)
{
        static const char again[] = ": run the command of eddy batch again";

        CHECK_STR(completeness_of("+a+b+c+x"), "complete: all 3 requests have an answer");
        CHECK_STR(completeness_of("-a+b+c+a-x"), "complete: all 3 requests have an answer");
        CHECK_STR(completeness_of("+a+b+a-x-a-b-c-c+c"), "complete: all 3 requests have an answer");
        CHECK(strstr(completeness_of("+a-x"), again));
        CHECK_STR(completeness_of("*a-a-b*b+b+c-x"),
                  "complete: 2 of 3 requests have an answer, and the failures of 1 are accepted");
        CHECK_EQ(strncmp(completeness_of("!a-b-x"),
                         "not complete: 1 of 3 requests has no answer, 1 failed:", 54),
                 0);
        /* Without any answer, the server may be down. */
        CHECK_EQ(strncmp(completeness_of("*a-b-x!c"), "not complete: 2 of 3 requests failed:", 37),
                 0);
        CHECK_EQ(strncmp(completeness_of("+a-x"),
                         "not complete: 2 of 3 requests have no answer:", 45),
                 0);
        CHECK_EQ(strncmp(completeness_of("+a+b-x"),
                         "not complete: 1 of 3 requests has no answer:", 44),
                 0);
        CHECK_EQ(strncmp(completeness_of("+a-b-b-x"),
                         "not complete: 1 of 3 requests has no answer, 1 failed:", 54),
                 0);
        CHECK_EQ(strncmp(completeness_of("+a-b-x-c"), "not complete: 2 of 3 requests failed:", 37),
                 0);
}

TEST(completeness_of_an_unknown_input_is_not_known)
{
        struct ed_draft out = { 0 };

        completeness = (struct ed_completeness){ 0 };
        CHECK(ed_completeness_line(&completeness, "a", 1, ED_COMPLETENESS_OK));
        CHECK(ed_completeness_lacks(&completeness));
        ed_completeness_print(&completeness, &out);
        CHECK_EQ(strncmp(out.data, "1 answer, 0 failed; give --by IN", 32), 0);
        ed_draft_reset(&out, 1000);
        completeness.is_active = true;
        ed_completeness_print(&completeness, &out);
        CHECK_EQ(strncmp(out.data, "a run is active: 1 answer, 0 failed so far; give --by IN", 56),
                 0);
        ed_draft_fini(&out);
}

TEST(a_page_without_memory_is_marked)
{
        struct ed_page page = {
                .title = "<t>", .output = "o", .completeness = &completeness, .has_price = true
        };
        bool was_whole = false;

        for (unsigned i = 0; i < 50; i++)
                failure_add(i, 1000000 + i * 1000);
        totals->input = 5;
        eddy_alloc_set(starve, NULL);
        ed_totals_add_log(totals, &(struct ed_record_attempt){ 1000000, true, true });
        for (int n = 0; !was_whole && n < 100; n++) {
                struct ed_draft out = { 0 };

                allocations_left = n;
                ed_page_add(&out, &page, totals);
                allocations_left = -1;
                was_whole = ed_draft_is_whole(&out);
                CHECK(n > 0 || !was_whole);
                ed_draft_fini(&out);
        }
        eddy_alloc_set(NULL, NULL);
        CHECK(was_whole);
}
