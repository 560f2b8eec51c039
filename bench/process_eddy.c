/*
 * process_eddy.c - starting child processes while timers tick.
 *
 *     process_eddy COUNT TASKS
 *
 * TASKS tasks start /bin/true, each after the end of its last one, until COUNT have
 * ended.  Beside them 1,000 tasks wake every 100 ms, spread evenly; the lag is how late
 * they wake.
 */
#include <errno.h>

#include "bench.h"
#include "eddy/eddy.h"

enum { TIMERS = 1000, PERIOD_MS = 100, LAGS = 4 * 1000 * 1000 };

static long left, tasks_max;
static int64_t *lags;
static long lags_count;

static int ticking(void *arg)
{
        int64_t next_ns = *(int64_t *) arg;
        int err;

        for (;; next_ns += EDDY_MS(PERIOD_MS)) {
                err = eddy_sleep(next_ns - eddy_now());
                if (err < 0)
                        return err;
                if (lags_count < LAGS)
                        lags[lags_count++] = eddy_now() - next_ns;
        }
}

static int starting(void *arg)
{
        static const char *const arguments[] = { "/bin/true", NULL };
        struct eddy_process_exit how;
        eddy_process *process;
        int err = 0;

        (void) arg;
        while (err == 0 && left-- > 0) {
                err = eddy_process_start(&(struct eddy_process_opts){ .arguments = arguments },
                                         &process);
                if (err < 0)
                        return err;
                err = eddy_process_wait(process, &how);
                eddy_process_close(process);
                if (err == 0 && how.code != 0)
                        err = -EIO;
        }
        return err;
}

static int start_all(void)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < tasks_max; i++)
                eddy_scope_start(&scope, starting, NULL);
        return eddy_scope_end(&scope);
}

static int by_size(const void *a, const void *b)
{
        int64_t left_ns = *(const int64_t *) a, right_ns = *(const int64_t *) b;

        return (left_ns > right_ns) - (left_ns < right_ns);
}

static int run(void *arg)
{
        static int64_t first_ns[TIMERS];
        struct bench_span span;
        char extra[80];
        long count = left;
        eddy_scope scope;
        int err, ended;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TIMERS; i++) {
                first_ns[i] = eddy_now() + EDDY_MS(PERIOD_MS) * (i + 1) / TIMERS;
                eddy_scope_start(&scope, ticking, &first_ns[i]);
        }
        bench_span_begin(&span);
        err = start_all();
        bench_span_end(&span);
        eddy_scope_cancel(&scope);
        ended = eddy_scope_end(&scope);
        if (err < 0 || (ended < 0 && ended != -ECANCELED))
                return err < 0 ? err : ended;
        qsort(lags, (size_t) lags_count, sizeof(*lags), by_size);
        snprintf(extra, sizeof(extra), "\"lag_p99_ns\": %lld, \"lag_max_ns\": %lld",
                 (long long) (lags_count ? lags[lags_count * 99 / 100] : 0),
                 (long long) (lags_count ? lags[lags_count - 1] : 0));
        bench_core_print("eddy " EDDY_VERSION, "process", count, &span, extra);
        return 0;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 3)
                bench_die("usage", "process_eddy COUNT TASKS");
        left = bench_count(argv[1], 1000000);
        tasks_max = bench_count(argv[2], 1000);
        lags = calloc(LAGS, sizeof(*lags));
        if (!lags)
                bench_die("process_eddy", "no memory");
        err = eddy_run(run, NULL, NULL);
        if (err < 0)
                bench_die("process_eddy", eddy_error_text(err));
        return 0;
}
