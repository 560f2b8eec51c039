/*
 * test_progress.c - the progress line, the bar, and the summary: what they
 * say for a run of known numbers.
 */
#include "test.h"

#include <errno.h>
#include <math.h>

#include "common/duration.h"
#include "common/progress.h"
#include "common/random.h"
#include "common/stats.h"
#include "eddy/error.h"
#include "eddy/scope.h"
#include "eddy/test.h"
#include "eddy/time.h"

static struct ed_stats stats;

static const char *str(struct ed_draft *text)
{
        ed_draft_add(text, "", 1);
        return text->data;
}

/* 12,380 ok at 1 s and 51 failed at 5 s, 310 retries, 256 in flight. */
static void run_some(void)
{
        stats.start_ns = EDDY_SEC(100);
        for (int i = 0; i < 12380; i++)
                ed_stats_add(&stats, 200, 0, 10, EDDY_SEC(1));
        for (int i = 0; i < 51; i++)
                ed_stats_add(&stats, 503, 0, 0, EDDY_SEC(5));
        stats.retries = 310;
        stats.in_flight = 256;
        stats.read = 13000;
}

TEST(progress_says_how_a_run_fares)
{
        struct ed_progress progress = { 0 };
        struct ed_draft text = { 0 };

        run_some();
        ed_progress_print(&progress, &stats, 100000, EDDY_SEC(158) + EDDY_MS(637), &text);
        CHECK_STR(str(&text), "12,431 done 12.4% | 51 failed | 212/s | ETA 6m53s | inflight 256 | "
                              "retry 310 | p50 1.0s p99 1.0s");
        ed_draft_fini(&text);
}

TEST(eta_has_the_rest_of_a_pause_and_decreases_while_it_lasts)
{
        struct ed_progress progress = { .resume_ns = EDDY_SEC(160) };
        struct ed_draft text = { 0 };

        stats.start_ns = EDDY_SEC(100);
        stats.ok = 60;
        /* After 60 s in all, 60 of 600: 540 s more, from the end of the pause. */
        for (int at_s = 102; at_s <= 160; at_s += 29) {
                char eta[32], left[32];

                ed_duration_print(EDDY_SEC(540 + 160 - at_s), eta);
                snprintf(left, sizeof(left), "\"left_s\":%d.0}", 540 + 160 - at_s);
                ed_draft_reset(&text, SIZE_MAX);
                ed_progress_print(&progress, &stats, 600, EDDY_SEC(at_s), &text);
                CHECK(strstr(str(&text), eta));
                ed_draft_reset(&text, SIZE_MAX);
                ed_progress_print_json(&progress, &stats, 600, EDDY_SEC(at_s), &text);
                CHECK(strstr(str(&text), left));
        }
        /* A pause that has ended changes nothing. */
        ed_draft_reset(&text, SIZE_MAX);
        ed_progress_print(&progress, &stats, 600, EDDY_SEC(200), &text);
        CHECK(strstr(str(&text), "ETA 15m"));
        ed_draft_fini(&text);
}

TEST(progress_without_a_total_has_no_percentage_and_no_eta)
{
        struct ed_progress progress = { 0 };
        struct ed_draft text = { 0 };

        run_some();
        ed_progress_print(&progress, &stats, 0, EDDY_SEC(110), &text);
        CHECK(!strstr(str(&text), "%"));
        CHECK(!strstr(text.data, "ETA"));
        ed_draft_fini(&text);
}

TEST(progress_before_the_first_result_is_well_formed)
{
        struct ed_progress progress = { 0 };
        struct ed_draft text = { 0 };

        ed_progress_print(&progress, &stats, 50, EDDY_SEC(10), &text);
        CHECK_STR(str(&text), "0 done 0.0% | 0 failed | 0.0/s | inflight 0 | retry 0");
        ed_draft_fini(&text);
}

TEST(rate_follows_recent_events)
{
        struct ed_progress progress = { 0 };
        struct ed_draft text = { 0 };

        stats.start_ns = EDDY_SEC(100);
        stats.ok = 10000;
        ed_progress_print(&progress, &stats, 0, EDDY_SEC(110), &text);
        CHECK(progress.rate > 999 && progress.rate < 1001);
        for (int i = 1; i <= 10; i++)
                ed_progress_print(&progress, &stats, 0, EDDY_SEC(110 + 10 * i), &text);
        CHECK(progress.rate < 1);
        ed_draft_fini(&text);
}

/* --- the rate of a run, on a clock that jumps --- */

enum { WORKERS = 50, SLOW_DOWN_S = 20, RUN_S = 60 };

static int64_t latency_ns;
static struct ed_random chance;

/* Results that take half to one and a half of the latency. */
static int work(void *arg)
{
        (void) arg;
        while (eddy_sleep((int64_t) ((double) latency_ns * (0.5 + ed_random_fraction(&chance)))) ==
               0)
                ed_stats_add(&stats, 200, 0, 10, latency_ns);
        return 0;
}

/* Look at the rate each fifth of a second, as the bar does. */
static int watch_rate(void *arg)
{
        struct ed_progress progress = { 0 };
        struct ed_draft text = { 0 };

        (void) arg;
        stats.start_ns = eddy_now();
        for (int tick = 1; tick <= 5 * RUN_S; tick++) {
                int seconds = tick / 5;
                double right = WORKERS * 1e9 / (double) latency_ns;

                CHECK_EQ(eddy_sleep(EDDY_MS(200)), 0);
                ed_draft_reset(&text, SIZE_MAX);
                ed_progress_print_bar(&progress, &stats, 0, eddy_now(), 80, &text);
                /* No result came at first: a whole latency is missing. */
                if (seconds >= 1 && seconds < SLOW_DOWN_S)
                        CHECK(fabs(progress.rate - right) < (seconds < 3 ? 0.35 : 0.2) * right);
                if (seconds >= SLOW_DOWN_S + 15)
                        CHECK(fabs(progress.rate - right) < 0.25 * right);
                if (tick == 5 * SLOW_DOWN_S)
                        latency_ns *= 3;
        }
        ed_draft_fini(&text);
        return 0;
}

static int watched_run(void *arg)
{
        eddy_scope scope;

        latency_ns = EDDY_MS(500);
        stats = (struct ed_stats){ 0 };
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < WORKERS; i++)
                eddy_scope_start(&scope, work, NULL);
        CHECK_EQ(watch_rate(arg), 0);
        eddy_scope_cancel(&scope);
        eddy_scope_end(&scope);
        return 0;
}

TEST(rate_is_right_from_the_first_second_and_follows_a_change)
{
        for (uint64_t seed = 1; seed <= 20; seed++) {
                chance = (struct ed_random){ seed };
                CHECK_EQ(eddy_test_run(watched_run, NULL, &(struct eddy_test_opts){ .seed = seed },
                                       NULL),
                         0);
        }
}

TEST(bar_fits_its_terminal)
{
        struct ed_progress progress = { 0 };
        struct ed_draft text = { 0 };

        run_some();
        for (unsigned columns = 2; columns < 200; columns++) {
                ed_draft_reset(&text, SIZE_MAX);
                ed_progress_print_bar(&progress, &stats, 24862, EDDY_SEC(110), columns, &text);
                CHECK(text.data[0] == '\r');
                CHECK(memcmp(text.data + text.bytes - 3, "\033[K", 3) == 0);
                CHECK(text.bytes - 4 < columns);
        }
        CHECK(memcmp(text.data, "\r[##########..........] 12,431 done 50.0%", 40) == 0);
        ed_draft_fini(&text);
}

TEST(summary_counts_all_results)
{
        struct ed_draft text = { 0 };

        run_some();
        ed_stats_add(&stats, 0, -ETIMEDOUT, 0, EDDY_SEC(2));
        ed_stats_add(&stats, 0, ED_E_LINE_NUL, 0, -1);
        stats.cancelled = 3;
        stats.not_started = 1500;
        stats.lost = 2;
        stats.not_retried = 7;
        stats.unread = true;
        stats.stop = ED_STOP_SIGNAL;
        ed_stats_add_retry(&stats, 503);
        ed_stats_add_retry(&stats, 500);
        ed_stats_add_retry(&stats, 503);
        ed_stats_add_retry(&stats, -ETIMEDOUT);
        ed_stats_print(&stats, EDDY_SEC(110), &text);
        CHECK_STR(str(&text),
                  "12,433 done in 10.0s, 1243.3/s: 12,380 ok, 53 failed, 314 retries "
                  "(500: 1, 503: 2, request_timeout: 1)\n"
                  "not done: 3 cancelled, 1,500 not started, 2 not written; the rest of the input "
                  "was not read\n"
                  "latency p50 1.0s p90 1.0s p99 1.0s max 5.0s\n"
                  "status 200: 12,380, 503: 51\n"
                  "errors invalid_request_line: 1, request_timeout: 1\n"
                  "7 not retried: the next attempt would be after --deadline, or in over an hour "
                  "(Retry-After)\n"
                  "stopped by a signal\n");
        ed_draft_fini(&text);
}

TEST(summary_of_nothing_is_one_line)
{
        struct ed_draft text = { 0 };

        ed_stats_print(&stats, 0, &text);
        CHECK_STR(str(&text), "0 done in 0us, 0.0/s: 0 ok, 0 failed\n");
        ed_draft_fini(&text);
}

TEST(json_summary_has_the_same_numbers)
{
        struct ed_draft text = { 0 };

        ed_stats_add(&stats, 200, 0, 10, EDDY_MS(5));
        ed_stats_add(&stats, 0, -ETIMEDOUT, 0, EDDY_MS(5));
        stats.start_ns = 0;
        ed_stats_add_retry(&stats, 500);
        ed_stats_add_retry(&stats, -ETIMEDOUT);
        stats.not_retried = 3;
        stats.stop = ED_STOP_DEADLINE;
        ed_stats_print_json(&stats, EDDY_SEC(4), &text);
        CHECK_STR(
                str(&text),
                "{\"done\":2,\"ok\":1,\"failed\":1,\"retries\":2,\"not_retried\":3,\"cancelled\":0,"
                "\"not_started\":0,\"not_written\":0,\"input_read\":true,\"bytes\":10,"
                "\"wall_s\":4.000,\"rate\":0.5,"
                "\"ms\":{\"p50\":5.0,\"p90\":5.0,\"p99\":5.0,\"max\":5.0},"
                "\"statuses\":{\"200\":1},\"errors\":{\"request_timeout\":1},"
                "\"retried\":{\"500\":1,\"request_timeout\":1},"
                "\"stopped\":\"deadline\"}\n");
        ed_draft_reset(&text, 0);
        stats = (struct ed_stats){ 0 };
        ed_stats_print_json(&stats, 0, &text);
        CHECK(strstr(str(&text), "\"ms\":{\"p50\":null,"));
        CHECK(strstr(text.data, "\"stopped\":null}\n"));
        ed_draft_fini(&text);
}

TEST(bar_of_80_columns_has_the_time_that_is_left)
{
        struct ed_progress progress = { 0 };
        struct ed_draft text = { 0 };

        run_some();
        ed_progress_print_bar(&progress, &stats, 100000, EDDY_SEC(158) + EDDY_MS(637), 80, &text);
        CHECK(strstr(str(&text), "ETA 6m53s"));
        ed_draft_fini(&text);
}

TEST(result_with_a_status_and_an_error_counts_once)
{
        stats = (struct ed_stats){ 0 };
        ed_stats_add(&stats, 200, 0, 10, EDDY_MS(5));
        ed_stats_add(&stats, 200, EDDY_E_HTTP_TRUNCATED, 5, EDDY_MS(5));
        CHECK_EQ(stats.ok, 1);
        CHECK_EQ(stats.failed, 1);
        CHECK_EQ(stats.statuses[200], 1);
        CHECK_EQ(stats.codes[ed_outcome_number(EDDY_E_HTTP_TRUNCATED)], 1);
}

TEST(status_of_300_and_above_is_failed_and_below_is_ok)
{
        static const int statuses[] = { 200, 204, 301, 399, 400, 404, 500, 999 };

        for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
                ed_stats_add(&stats, statuses[i], 0, 0, 1);
        CHECK_EQ(stats.ok, 2);
        CHECK_EQ(stats.failed, 6);
        ed_stats_add(&stats, 200, -ECONNRESET, 5, 1); /* a body that broke off */
        CHECK_EQ(stats.failed, 7);
}

TEST(bar_of_a_usual_terminal_shows_failures)
{
        struct ed_progress progress = { 0 };
        struct ed_draft text = { 0 };

        run_some();
        stats.failed = 999000;
        ed_progress_print_bar(&progress, &stats, 9900000, EDDY_SEC(110), 80, &text);
        CHECK(strstr(str(&text), "% | 999,000 failed | "));
        ed_draft_fini(&text);
}
