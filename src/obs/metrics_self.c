/*
 * obs/metrics_self.c - metrics that every page has: of the process, with the names that all client
 * libraries of Prometheus use, and of this thread's loop.
 */
#include "eddy/run.h"
#include "eddy/thread.h"
#include "obs/metrics.h"
#include "sys/process/process_use.h"

/* --- the process --- */

struct line {
        const char *name, *help, *type;
        double value;
};

static int print_lines(struct ed_buf *page, const struct line *lines, size_t n)
{
        int err = 0;

        for (size_t i = 0; i < n && err == 0; i++) {
                if (lines[i].value < 0)
                        continue; /* unknown */
                err = ed_metrics_print_head(page, lines[i].name, lines[i].help, lines[i].type);
                if (err == 0)
                        err = ed_metrics_print_value(page, lines[i].name, lines[i].value);
        }
        return err;
}

int ed_metrics_write_process(struct ed_buf *page)
{
        struct ed_process_use use;

        ed_process_use(&use);
        const struct line lines[] = {
                { "process_cpu_seconds_total", "User and system CPU time spent, in seconds",
                  "counter", use.cpu_seconds },
                { "process_open_fds", "Number of open file descriptors", "gauge", use.fds },
                { "process_max_fds", "Maximum number of open file descriptors", "gauge",
                  use.fds_max },
                { "process_resident_memory_bytes", "Resident memory size in bytes", "gauge",
                  use.resident_bytes },
                { "process_virtual_memory_bytes", "Virtual memory size in bytes", "gauge",
                  use.virtual_bytes },
                { "process_start_time_seconds", "Start time of the process since 1970, in seconds",
                  "gauge", use.start_seconds },
        };

        return print_lines(page, lines, ed_array_count(lines));
}

/* --- the loop --- */

/* Returns the upper end of a bucket with an even number, in seconds: see struct eddy_lag. */
static double bucket_end(unsigned bucket)
{
        return 1024e-9 * (double) (UINT64_C(1) << bucket / 2);
}

static int print_lag(struct ed_buf *page, const struct eddy_lag *lag)
{
        static const char name[] = "eddy_loop_turn_seconds";
        static const struct ed_metric_labels none;
        uint64_t count = 0;
        int err =
                ed_metrics_print_head(page, name, "Duration of each turn of the loop", "histogram");

        /* Two buckets for each power of two become one line. */
        for (unsigned i = 0; i + 1 < EDDY_LAG_BUCKETS && err == 0; i++) {
                count += lag->buckets[i];
                if (i % 2 == 0)
                        err = ed_metrics_print_bucket(page, name, &none, bucket_end(i), count);
        }
        return err == 0 ? ed_metrics_print_sum(page, name, &none, (double) lag->sum_ns / 1e9,
                                               lag->count)
                        : err;
}

int ed_metrics_write_loop(struct ed_buf *page)
{
        struct eddy_thread_pool_info pools;
        struct eddy_run_info info;
        struct eddy_lag lag;

        eddy_thread_pool_info(NULL, &pools);
        if (eddy_run_info(&info) < 0 || eddy_run_lag(&lag) < 0)
                return 0; /* the page is written outside a run */
        const struct line lines[] = {
                { "eddy_tasks", "Tasks alive", "gauge", (double) info.tasks },
                { "eddy_switches_total", "Times that a task was given control", "counter",
                  (double) info.switches },
                { "eddy_polls_total", "Times that the loop asked the kernel for events", "counter",
                  (double) info.polls },
                { "eddy_loop_turn_max_seconds", "The longest turn of the loop so far", "gauge",
                  (double) lag.max_ns / 1e9 },
                { "eddy_pool_threads", "Threads alive in the loop's thread pools", "gauge",
                  pools.threads },
                { "eddy_pool_jobs_running", "Jobs that run on these threads", "gauge",
                  pools.running },
                { "eddy_pool_jobs_queued", "Jobs that wait for one of these threads", "gauge",
                  pools.queued },
        };
        int err = print_lines(page, lines, ed_array_count(lines));

        return err == 0 ? print_lag(page, &lag) : err;
}
