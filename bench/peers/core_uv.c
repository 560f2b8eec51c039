/*
 * core_uv.c - libuv, measured as core_eddy.c does: it has callbacks, no tasks.
 *
 *     core_uv ROW COUNT [TASKS]
 *
 * Its timers know milliseconds, and take the time of the loop's turn.
 */
#include <pthread.h>
#include <semaphore.h>
#include <uv.h>

#include "../bench.h"

static long count, extra, done;
static struct bench_span span;
static uv_loop_t loop;

static uv_timer_t *timers_new(long n)
{
        uv_timer_t *timers = calloc((size_t) n, sizeof(*timers));

        if (!timers)
                bench_die("timers", "no memory");
        for (long i = 0; i < n; i++)
                uv_timer_init(&loop, &timers[i]);
        return timers;
}

static void on_timer(uv_timer_t *timer)
{
        (void) timer;
        done++;
}

/* deadline-among: start a timer of 5 s and stop it, while TASKS others run. */
static void row_deadline(void)
{
        uv_timer_t *others = timers_new(extra), timer;

        for (long i = 0; i < extra; i++)
                uv_timer_start(&others[i], on_timer, 1000000, 0);
        uv_timer_init(&loop, &timer);
        bench_span_begin(&span);
        for (; done < count; done++) {
                uv_timer_start(&timer, on_timer, 5000, 0);
                uv_timer_stop(&timer);
        }
        bench_span_end(&span);
}

static void row_timers_cancel(void)
{
        uv_timer_t *timers = timers_new(extra);

        bench_span_begin(&span);
        while (done < count) {
                for (long i = 0; i < extra; i++)
                        uv_timer_start(&timers[i], on_timer, 10000, 0);
                for (long i = 0; i < extra; i++)
                        uv_timer_stop(&timers[i]);
                done += extra;
        }
        bench_span_end(&span);
}

static void row_timers_fire(void)
{
        uv_timer_t *timers = timers_new(extra);

        bench_span_begin(&span);
        while (done < count) {
                uv_update_time(&loop);
                for (long i = 0; i < extra; i++)
                        uv_timer_start(&timers[i], on_timer, (uint64_t) (2 + extra / 500), 0);
                uv_run(&loop, UV_RUN_DEFAULT);
        }
        bench_span_end(&span);
}

/* threadsafe: uv_async_send() from a thread, which waits for a semaphore. */
static sem_t made;
static uv_async_t async;
static int over;

static void on_async(uv_async_t *handle)
{
        if (over)
                uv_close((uv_handle_t *) handle, NULL);
        sem_post(&made);
}

static void *send_again(void *arg)
{
        for (; done < count; done++) {
                uv_async_send(&async);
                sem_wait(&made);
        }
        over = 1;
        uv_async_send(&async);
        return arg;
}

static void row_threadsafe(void)
{
        pthread_t thread;

        sem_init(&made, 0, 0);
        uv_async_init(&loop, &async, on_async);
        bench_span_begin(&span);
        if (pthread_create(&thread, NULL, send_again, NULL))
                bench_die("threadsafe", "no thread");
        uv_run(&loop, UV_RUN_DEFAULT);
        pthread_join(thread, NULL);
        bench_span_end(&span);
}

static const struct {
        const char *name;
        void (*run)(void);
} rows[] = {
        { "deadline", row_deadline },           { "deadline-among", row_deadline },
        { "timers-cancel", row_timers_cancel }, { "timers-fire", row_timers_fire },
        { "threadsafe", row_threadsafe },
};

int main(int argc, char **argv)
{
        char name[64];
        size_t i = 0;

        if (argc < 3 || argc > 4)
                bench_die("usage", "core_uv ROW COUNT [TASKS]");
        count = bench_count(argv[2], 2000000000);
        extra = argc == 4 ? bench_count(argv[3], 100000000) : 1;
        while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].name, argv[1]) != 0)
                i++;
        if (i == sizeof(rows) / sizeof(rows[0]))
                bench_die(argv[1], "no such row");
        uv_loop_init(&loop);
        rows[i].run();
        snprintf(name, sizeof(name), "libuv %s", uv_version_string());
        bench_core_print(name, argv[1], done, &span, "");
        return 0;
}
