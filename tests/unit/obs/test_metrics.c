/*
 * test_metrics.c - metrics: the page against expected text and a strict parser, limits of labels,
 * what is refused, the process and the loop, the page over HTTP.
 */
#include <errno.h>
#include <locale.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "obs_test.h"
#include "page.h"

static eddy_metrics *metrics;

static void metrics_open(void)
{
        struct eddy_metrics_opts opts = { .without_process = 1, .without_loop = 1 };

        CHECK_EQ(eddy_metrics_new(&opts, &metrics), 0);
}

static eddy_metric *metric_of(enum eddy_metric_kind kind, struct eddy_metric_opts opts)
{
        eddy_metric *metric = NULL;

        CHECK_EQ(eddy_metric_new(metrics, kind, &opts, &metric), 0);
        return metric;
}

/* Returns the page, good until the next call. */
static const char *page(void)
{
        static char text[1 << 20];
        size_t bytes;
        char *got;

        CHECK_EQ(eddy_metrics_write(metrics, &got, &bytes), 0);
        CHECK_EQ(strlen(got), bytes);
        CHECK(bytes < sizeof(text));
        memcpy(text, got, bytes + 1);
        eddy_free(got);
        (void) page_check(text);
        return text;
}

#define LABELS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* --- the page --- */

static double read_seven(void *arg)
{
        return *(int *) arg;
}

static int write_page(void *arg)
{
        static const double limits[] = { 0.1, 1, 2.5 };
        static int seven = 7;
        eddy_metric *requests, *queue, *latency;
        eddy_series *series;

        (void) arg;
        metrics_open();
        CHECK_STR(page(), "");
        requests = metric_of(EDDY_METRIC_COUNTER,
                             (struct eddy_metric_opts){ .name = "http_requests_total",
                                                        .help = "Requests \\ served\nin all",
                                                        .labels = LABELS("endpoint", "status") });
        eddy_series_add(eddy_metric_series(requests, LABELS("/users", "200")), 1);
        eddy_series_add(eddy_metric_series(requests, LABELS("/users", "200")), 2);
        eddy_series_add(eddy_metric_series(requests, LABELS("a\"b\\c\nd", "")), 0.5);
        queue = metric_of(EDDY_METRIC_GAUGE, (struct eddy_metric_opts){ .name = "queue:depth" });
        (void) metric_of(EDDY_METRIC_GAUGE, (struct eddy_metric_opts){ .name = "seven",
                                                                       .read = read_seven,
                                                                       .read_arg = &seven });
        latency = metric_of(EDDY_METRIC_HISTOGRAM,
                            (struct eddy_metric_opts){ .name = "latency_seconds",
                                                       .help = "Latency",
                                                       .labels = LABELS("endpoint"),
                                                       .buckets = limits,
                                                       .buckets_count = 3 });
        series = eddy_metric_series(latency, LABELS("/users"));
        eddy_series_observe(series, 0.1); /* le */
        eddy_series_observe(series, 0.11);
        eddy_series_observe(series, 2.5);
        eddy_series_observe(series, 100);
        eddy_series_observe(series, __builtin_nan(""));
        CHECK_STR(page(), "# HELP http_requests_total Requests \\\\ served\\nin all\n"
                          "# TYPE http_requests_total counter\n"
                          "http_requests_total{endpoint=\"/users\",status=\"200\"} 3\n"
                          "http_requests_total{endpoint=\"a\\\"b\\\\c\\nd\",status=\"\"} 0.5\n"
                          "# TYPE queue:depth gauge\n"
                          "queue:depth 0\n"
                          "# TYPE seven gauge\n"
                          "seven 7\n"
                          "# HELP latency_seconds Latency\n"
                          "# TYPE latency_seconds histogram\n"
                          "latency_seconds_bucket{endpoint=\"/users\",le=\"0.1\"} 1\n"
                          "latency_seconds_bucket{endpoint=\"/users\",le=\"1\"} 2\n"
                          "latency_seconds_bucket{endpoint=\"/users\",le=\"2.5\"} 3\n"
                          "latency_seconds_bucket{endpoint=\"/users\",le=\"+Inf\"} 4\n"
                          "latency_seconds_sum{endpoint=\"/users\"} 102.71\n"
                          "latency_seconds_count{endpoint=\"/users\"} 4\n");
        series = eddy_metric_series(queue, NULL);
        eddy_series_set(series, -3);
        CHECK_STR(page_value(page(), "queue:depth"), "-3");
        eddy_series_add(series, -0.5);
        CHECK_STR(page_value(page(), "queue:depth"), "-3.5");
        eddy_series_set(series, __builtin_inf());
        CHECK_STR(page_value(page(), "queue:depth"), "+Inf");
        eddy_series_set(series, -__builtin_inf());
        CHECK_STR(page_value(page(), "queue:depth"), "-Inf");
        eddy_series_set(series, __builtin_nan(""));
        CHECK_STR(page_value(page(), "queue:depth"), "NaN");
        eddy_series_set(series, 1e300);
        CHECK_STR(page_value(page(), "queue:depth"), "1e+300");
        eddy_metrics_close(metrics);
        return 0;
}

TEST(the_page_is_in_the_text_format_of_prometheus)
{
        obs_run(write_page);
}

TEST(the_page_has_points_in_every_locale)
{
        if (!setlocale(LC_ALL, "de_DE.UTF-8"))
                test_skip("the locale de_DE.UTF-8 is not installed");
        obs_run(write_page);
}

static int count_kinds(void *arg)
{
        eddy_series *counter, *gauge, *histogram;
        const char *text;

        (void) arg;
        metrics_open();
        counter = eddy_metric_series(
                metric_of(EDDY_METRIC_COUNTER, (struct eddy_metric_opts){ .name = "a_total" }),
                NULL);
        gauge = eddy_metric_series(
                metric_of(EDDY_METRIC_GAUGE, (struct eddy_metric_opts){ .name = "b" }), NULL);
        histogram = eddy_metric_series(
                metric_of(EDDY_METRIC_HISTOGRAM, (struct eddy_metric_opts){ .name = "c" }), NULL);
        eddy_series_add(counter, 5);
        eddy_series_add(counter, -1);
        eddy_series_add(counter, __builtin_nan(""));
        eddy_series_set(counter, 1);
        eddy_series_observe(counter, 1);
        eddy_series_observe(gauge, 1);
        eddy_series_set(histogram, 1);
        eddy_series_observe(histogram, 0.004);
        text = page();
        CHECK_STR(page_value(text, "a_total"), "5");
        CHECK_STR(page_value(text, "b"), "0");
        CHECK_STR(page_value(text, "c_sum"), "0.004");
        CHECK_STR(page_value(text, "c_bucket{le=\"0.005\"}"), "1");
        CHECK_STR(page_value(text, "c_bucket{le=\"10\"}"), "1");
        eddy_series_add(NULL, 1);
        eddy_series_set(NULL, 1);
        eddy_series_observe(NULL, 1);
        CHECK(eddy_metric_series(NULL, NULL) == NULL);
        eddy_metrics_close(metrics);
        eddy_metrics_close(NULL);
        return 0;
}

TEST(a_member_that_a_kind_does_not_have_is_ignored)
{
        obs_run(count_kinds);
}

/* --- options --- */

static int check_options(void *arg)
{
        static const double falling[] = { 1, 1 }, infinite[] = { __builtin_inf() };
        static const double many[EDDY_METRIC_BUCKETS_MAX + 1];
        static const struct {
                enum eddy_metric_kind kind;
                struct eddy_metric_opts opts;
        } bad[] = {
                { EDDY_METRIC_COUNTER, { .name = NULL } },
                { EDDY_METRIC_COUNTER, { .name = "" } },
                { EDDY_METRIC_COUNTER, { .name = "1a" } },
                { EDDY_METRIC_COUNTER, { .name = "a-b" } },
                { EDDY_METRIC_COUNTER, { .name = "\xc3\xa9" } },
                { EDDY_METRIC_COUNTER, { .name = "a", .help = "\xff" } },
                { EDDY_METRIC_COUNTER, { .name = "a", .buckets = many, .buckets_count = 1 } },
                { EDDY_METRIC_HISTOGRAM, { .name = "a", .buckets = falling, .buckets_count = 2 } },
                { EDDY_METRIC_HISTOGRAM, { .name = "a", .buckets = infinite, .buckets_count = 1 } },
                { EDDY_METRIC_HISTOGRAM,
                  { .name = "a", .buckets = many, .buckets_count = EDDY_METRIC_BUCKETS_MAX + 1 } },
                { EDDY_METRIC_HISTOGRAM, { .name = "a", .buckets_count = 1 } },
                { EDDY_METRIC_HISTOGRAM, { .name = "a", .buckets = many } },
                { EDDY_METRIC_HISTOGRAM, { .name = "a", .read = read_seven } },
                { (enum eddy_metric_kind) 3, { .name = "a" } },
        };
        const char *const *const labels[] = {
                LABELS("le"),
                LABELS("__a"),
                LABELS(""),
                LABELS("a:b"),
                LABELS("a", "b", "a"),
                LABELS("a", "b", "c", "d", "e", "f", "g", "h", "i"),
        };
        eddy_metric *metric;

        (void) arg;
        metrics_open();
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_EQ(eddy_metric_new(metrics, bad[i].kind, &bad[i].opts, &metric), -EINVAL);
        for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
                CHECK_EQ(eddy_metric_new(
                                 metrics, EDDY_METRIC_GAUGE,
                                 &(struct eddy_metric_opts){ .name = "a", .labels = labels[i] },
                                 &metric),
                         -EINVAL);
        CHECK_EQ(eddy_metric_new(NULL, EDDY_METRIC_GAUGE, &(struct eddy_metric_opts){ .name = "a" },
                                 &metric),
                 -EINVAL);
        CHECK_EQ(eddy_metric_new(metrics, EDDY_METRIC_GAUGE,
                                 &(struct eddy_metric_opts){
                                         .name = "a", .labels = LABELS("b"), .read = read_seven },
                                 &metric),
                 -EINVAL);
        CHECK_EQ(eddy_metrics_write(NULL, NULL, NULL), -EINVAL);
        for (int i = 0; i < EDDY_METRICS_MAX; i++) {
                char name[20];

                snprintf(name, sizeof(name), "m%d", i);
                (void) metric_of(EDDY_METRIC_GAUGE, (struct eddy_metric_opts){ .name = name });
                CHECK_EQ(eddy_metric_new(metrics, EDDY_METRIC_GAUGE,
                                         &(struct eddy_metric_opts){ .name = name }, &metric),
                         -EEXIST);
        }
        CHECK_EQ(eddy_metric_new(metrics, EDDY_METRIC_GAUGE,
                                 &(struct eddy_metric_opts){ .name = "a" }, &metric),
                 -ENOSPC);
        CHECK_EQ(page_check(page()), EDDY_METRICS_MAX);
        eddy_metrics_close(metrics);
        return 0;
}

TEST(options_that_the_format_does_not_have_are_refused)
{
        obs_run(check_options);
        CHECK_EQ(eddy_metrics_new(NULL, &metrics), EDDY_E_RUN_NOT_RUNNING);
}

static int new_kind(enum eddy_metric_kind kind, const char *name)
{
        eddy_metric *metric;

        return eddy_metric_new(metrics, kind, &(struct eddy_metric_opts){ .name = name }, &metric);
}

static int use_names_twice(void *arg)
{
        static const char *const of_a[] = { "a", "a_bucket", "a_sum", "a_count" };
        struct eddy_metrics_opts opts = { .without_loop = 1 };

        (void) arg;
        metrics_open();
        CHECK_EQ(new_kind(EDDY_METRIC_HISTOGRAM, "a"), 0);
        for (size_t i = 0; i < 4; i++)
                for (int kind = EDDY_METRIC_COUNTER; kind <= EDDY_METRIC_HISTOGRAM; kind++)
                        CHECK_EQ(new_kind((enum eddy_metric_kind) kind, of_a[i]), -EEXIST);
        CHECK_EQ(new_kind(EDDY_METRIC_GAUGE, "a_total"), 0);
        CHECK_EQ(new_kind(EDDY_METRIC_GAUGE, "b_sum"), 0);
        CHECK_EQ(new_kind(EDDY_METRIC_HISTOGRAM, "b"), -EEXIST);
        CHECK_EQ(new_kind(EDDY_METRIC_GAUGE, "b"), 0);
        CHECK_EQ(new_kind(EDDY_METRIC_GAUGE, "b_count"), 0);
        CHECK_EQ(new_kind(EDDY_METRIC_GAUGE, "process_open_fds"), 0);
        CHECK_EQ(new_kind(EDDY_METRIC_GAUGE, "eddy_tasks"), 0);
        (void) page();
        eddy_metrics_close(metrics);

        CHECK_EQ(eddy_metrics_new(&opts, &metrics), 0);
        CHECK_EQ(new_kind(EDDY_METRIC_GAUGE, "process_open_fds"), -EEXIST);
        CHECK_EQ(new_kind(EDDY_METRIC_GAUGE, "eddy_tasks"), 0);
        (void) page();
        eddy_metrics_close(metrics);
        return 0;
}

TEST(no_two_metrics_of_a_page_have_lines_of_the_same_name)
{
        obs_run(use_names_twice);
}

/* --- the number of series --- */

static int reports;
static char reported[600];

static void on_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind != EDDY_REPORT_METRICS)
                return;
        snprintf(reported, sizeof(reported), "%s", report->text);
        reports++;
}

static int too_many_values(void *arg)
{
        eddy_metric *metric;
        eddy_series *first;
        char user[20];

        (void) arg;
        metrics_open();
        metric = metric_of(
                EDDY_METRIC_COUNTER,
                (struct eddy_metric_opts){ .name = "logins_total", .labels = LABELS("user") });
        first = eddy_metric_series(metric, LABELS("user 0"));
        for (int i = 0; i < 10000; i++) {
                snprintf(user, sizeof(user), "user %d", i);
                eddy_series_add(eddy_metric_series(metric, LABELS(user)), 1);
        }
        CHECK_EQ(eddy_metrics_refused(metrics), 9000);
        CHECK_EQ(reports, 1);
        CHECK_STR(reported, "metric logins_total refuses a new series: a label has too many values "
                            "(it has 1000 of 1000; see eddy_metric_series())");
        /* Those that are there are found. */
        CHECK(eddy_metric_series(metric, LABELS("user 0")) == first);
        CHECK_EQ(page_check(page()), 1000);
        CHECK_STR(page_value(page(), "logins_total{user=\"user 999\"}"), "1");
        eddy_metrics_close(metrics);
        return 0;
}

TEST(ten_thousand_label_values_are_refused_with_one_report)
{
        struct eddy_run_opts run = { .report = on_report };
        struct eddy_test_opts opts = { .run = &run };

        CHECK_EQ(eddy_test_run(too_many_values, NULL, &opts, NULL), 0);
        CHECK_EQ(reports, 1);
}

static int bad_values(void *arg)
{
        char value[EDDY_METRIC_VALUE_BYTES_MAX + 2];
        eddy_metric *metric;

        (void) arg;
        metrics_open();
        metric = metric_of(EDDY_METRIC_GAUGE, (struct eddy_metric_opts){ .name = "a",
                                                                         .labels = LABELS("x", "y"),
                                                                         .series_max = 3 });
        CHECK(eddy_metric_series(metric, NULL) == NULL);
        CHECK(eddy_metric_series(metric, (const char *const[]){ "a", NULL }) == NULL);
        CHECK(eddy_metric_series(metric, LABELS("\xff", "a")) == NULL);
        memset(value, '\n', sizeof(value));
        value[sizeof(value) - 1] = '\0';
        CHECK(eddy_metric_series(metric, LABELS("a", value)) == NULL);
        value[sizeof(value) - 2] = '\0';
        CHECK(eddy_metric_series(metric, LABELS("a", value)) != NULL);
        /* The values are not one text. */
        CHECK(eddy_metric_series(metric, LABELS("ab", "c")) != NULL);
        CHECK(eddy_metric_series(metric, LABELS("a", "bc")) != NULL);
        CHECK(eddy_metric_series(metric, LABELS("", "abc")) == NULL);
        CHECK_EQ(eddy_metrics_refused(metrics), 5);
        CHECK_EQ(page_check(page()), 3);
        eddy_metrics_close(metrics);
        return 0;
}

static int make_badly(void *arg)
{
        (void) arg;
        metrics_open();
        CHECK(eddy_metrics_gauge(metrics, "a", NULL, NULL) != NULL);
        CHECK(eddy_metrics_histogram(metrics, "b_seconds", "B", LABELS("x")) != NULL);
        CHECK_EQ(reports, 0);
        CHECK(eddy_metrics_counter(metrics, "a", NULL, NULL) == NULL);
        CHECK_STR(reported, "metric a was not made: File exists (see eddy_metric_new())");
        CHECK(eddy_metrics_counter(NULL, NULL, NULL, NULL) == NULL);
        CHECK_EQ(reports, 2);
        eddy_metrics_close(metrics);
        return 0;
}

TEST(a_metric_that_cannot_be_made_is_reported)
{
        CHECK_EQ(eddy_test_run(make_badly, NULL,
                               &(struct eddy_test_opts){
                                       .run = &(struct eddy_run_opts){ .report = on_report } },
                               NULL),
                 0);
}

TEST(values_that_the_format_does_not_have_are_refused)
{
        reports = 0;
        CHECK_EQ(eddy_test_run(bad_values, NULL,
                               &(struct eddy_test_opts){
                                       .run = &(struct eddy_run_opts){ .report = on_report } },
                               NULL),
                 0);
        CHECK_EQ(reports, 1);
}

/* --- the process and the loop --- */

static int of_the_process(void *arg)
{
        static const char *const names[] = {
                "process_cpu_seconds_total",
                "process_open_fds",
                "process_max_fds",
                "process_resident_memory_bytes",
                "process_virtual_memory_bytes",
                "process_start_time_seconds",
                "eddy_tasks",
                "eddy_switches_total",
                "eddy_polls_total",
                "eddy_loop_turn_seconds_sum",
                "eddy_loop_turn_seconds_count",
                "eddy_loop_turn_max_seconds",
        };
        int fds[20];
        double open_before;
        const char *text;

        (void) arg;
        CHECK_EQ(eddy_metrics_new(NULL, &metrics), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(20)), 0);
        text = page();
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                const char *value = page_value(text, names[i]);

                /* qemu does not know the memory of a process. */
                if (!value && strstr(names[i], "memory") && getenv("EDDY_TEST_QEMU"))
                        continue;
                CHECK(value != NULL);
                CHECK(strtod(value, NULL) > 0);
        }
        CHECK_STR(page_value(text, "eddy_tasks"), "1");
        open_before = strtod(page_value(text, "process_open_fds"), NULL);
        for (int i = 0; i < 20; i++)
                fds[i] = dup(0);
        CHECK_EQ(strtod(page_value(page(), "process_open_fds"), NULL), open_before + 20);
        for (int i = 0; i < 20; i++)
                close(fds[i]);
        eddy_metrics_close(metrics);
        return 0;
}

TEST(the_process_and_the_loop_are_on_the_page)
{
        CHECK_EQ(eddy_run(of_the_process, NULL, NULL), 0);
}

static atomic_bool released;

static int until_released(void *arg)
{
        while (!released)
                nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        return arg != NULL;
}

static int on_a_thread(void *arg)
{
        return eddy_thread_pool_call(arg, until_released, NULL, NULL);
}

/* One job runs in the run's own pool, and two wait for the only thread of another. */
static int with_pools(void *arg)
{
        struct eddy_thread_pool_opts opts = { .threads_max = 1, .slow_max = 1 };
        eddy_thread_pool *pool;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_metrics_new(NULL, &metrics), 0);
        CHECK_STR(page_value(page(), "eddy_pool_threads"), "0");
        CHECK_EQ(eddy_thread_pool_new(&opts, &pool), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, on_a_thread, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start(&scope, on_a_thread, pool);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STR(page_value(page(), "eddy_pool_threads"), "2");
        CHECK_STR(page_value(page(), "eddy_pool_jobs_running"), "2");
        CHECK_STR(page_value(page(), "eddy_pool_jobs_queued"), "2");
        released = true;
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_STR(page_value(page(), "eddy_pool_jobs_running"), "0");
        eddy_thread_pool_close(pool);
        eddy_metrics_close(metrics);
        return 0;
}

TEST(the_sizes_of_thread_pools_are_on_the_page)
{
        CHECK_EQ(eddy_run(with_pools, NULL, NULL), 0);
}

/* --- over HTTP --- */

static uint16_t port;

static int serve(void *arg)
{
        return eddy_http_serve(arg, NULL, eddy_http_metrics, metrics);
}

/* Returns the status; the response's body is checked to be the page if 'body' is. */
static int fetch(eddy_http_client *client, const char *method, const char *path, bool has_page)
{
        char url[100];
        struct eddy_http_request request = { .method = method, .url = url };
        eddy_http_response *response;
        const void *data;
        size_t bytes;
        int status;

        snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
        CHECK_EQ(eddy_http_client_send(client, &request, &response), 0);
        status = eddy_http_response_status(response);
        CHECK_EQ(eddy_http_response_body(response, &data, &bytes), 0);
        if (status == 200) {
                const char *type = eddy_http_response_header(response, "Content-Type");
                const char *length = eddy_http_response_header(response, "Content-Length");

                CHECK_STR(type, "text/plain; version=0.0.4; charset=utf-8");
                CHECK_EQ(strtoull(length, NULL, 10), strlen(page()));
                CHECK(has_page ? strcmp(data, page()) == 0 : bytes == 0);
        } else if (status == 405) {
                CHECK_STR(eddy_http_response_header(response, "Allow"), "GET, HEAD");
        }
        eddy_http_response_close(response);
        return status;
}

static int over_http(void *arg)
{
        eddy_http_client *client;
        eddy_listener *listener;
        eddy_scope scope;

        (void) arg;
        metrics_open();
        eddy_series_add(
                eddy_metric_series(metric_of(EDDY_METRIC_COUNTER,
                                             (struct eddy_metric_opts){ .name = "a_total" }),
                                   NULL),
                3);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        port = eddy_listener_port(listener);
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serve, listener);
        CHECK_EQ(fetch(client, "GET", "/metrics", true), 200);
        CHECK_EQ(fetch(client, "HEAD", "/metrics", false), 200);
        CHECK_EQ(fetch(client, "GET", "/metrics?x=1", true), 200);
        CHECK_EQ(fetch(client, "POST", "/metrics", false), 405);
        CHECK_EQ(fetch(client, "GET", "/", false), 404);
        CHECK_EQ(fetch(client, "GET", "/metrics/", false), 404);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_http_client_close(client);
        eddy_listener_close(listener);
        eddy_metrics_close(metrics);
        return 0;
}

TEST(the_page_is_served_over_http)
{
        obs_run(over_http);
}

/* --- the kit's sweep --- */

static int make_some(void *arg)
{
        struct eddy_metrics_opts opts = { .without_process = 1 };
        char name[20], *text = NULL;
        eddy_metric *metric;
        size_t bytes;
        int err = eddy_metrics_new(&opts, &metrics);

        (void) arg;
        if (err < 0)
                return err;
        for (int kind = EDDY_METRIC_COUNTER; kind <= EDDY_METRIC_HISTOGRAM && err == 0; kind++) {
                snprintf(name, sizeof(name), "m%d", kind);
                err = eddy_metric_new(metrics, (enum eddy_metric_kind) kind,
                                      &(struct eddy_metric_opts){
                                              .name = name, .help = "help", .labels = LABELS("x") },
                                      &metric);
                for (int i = 0; i < 40 && err == 0; i++) {
                        snprintf(name, sizeof(name), "%d", i);
                        eddy_series_observe(eddy_metric_series(metric, LABELS(name)), i);
                }
        }
        if (err == 0)
                err = eddy_metrics_write(metrics, &text, &bytes);
        if (err == 0)
                (void) page_check(text);
        eddy_free(text);
        eddy_metrics_close(metrics);
        return err;
}

TEST(nothing_is_left_when_memory_runs_out)
{
        struct eddy_run_opts run = { .report = on_report };
        struct eddy_test_opts opts = { .run = &run };

        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, make_some, NULL, &opts, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC_FOREVER, make_some, NULL, &opts, NULL), 0);
}
