/*
 * core_pthread.c - the platform's threads, measured as core_eddy.c does.
 *
 *     core_pthread ROW COUNT [TASKS | WAIT_MS]
 *
 * To be run on one core.  Stacks are the smallest that threads may have, with
 * the guard page that pthreads give by default.  Their kernel stacks (16 KiB
 * each) are not in the memory figure, which is the process's own.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "../bench.h"

enum { BATCH = 1000, STACK_BYTES = 64 * 1024 };

static long count, extra;
static atomic_long done, parked;
static struct bench_span span;
static struct timespec wake;
static pthread_attr_t small;
static char notes[64];

/* Start 'n' threads.  Where the system refuses, say how far it went and end. */
static void threads_start(pthread_t *threads, long n, void *(*fn)(void *) )
{
        for (long i = 0; i < n; i++) {
                int err = pthread_create(&threads[i], &small, fn, NULL);

                if (err) {
                        printf("{\"failed_at\": %ld, \"why\": \"%s\"}\n", i, strerror(err));
                        fflush(stdout);
                        _exit(0);
                }
        }
}

static pthread_t *threads_new(long n)
{
        pthread_t *threads = calloc((size_t) n, sizeof(*threads));

        if (!threads)
                bench_die("threads", "no memory");
        return threads;
}

/* One sched_yield() on one core: a switch to the next thread, if the kernel's
 * scheduler wants one.  The threads start together, behind a gate. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *yield_loop(void *arg)
{
        long n;

        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
        while ((n = atomic_fetch_add_explicit(&done, 1, memory_order_relaxed)) < count) {
                if (n == 0)
                        bench_span_begin(&span);
                if (n == count - 1)
                        bench_span_end(&span);
                sched_yield();
        }
        return arg;
}

static void row_yield(void)
{
        pthread_t *threads = threads_new(extra);

        pthread_mutex_lock(&gate);
        threads_start(threads, extra, yield_loop);
        pthread_mutex_unlock(&gate);
        for (long i = 0; i < extra; i++)
                pthread_join(threads[i], NULL);
        atomic_store(&done, count);
        free(threads);
}

static void *nothing(void *arg)
{
        atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
        return arg;
}

static void row_start_join(void)
{
        bench_span_begin(&span);
        for (long i = 0; i < count; i++) {
                pthread_t thread;

                threads_start(&thread, 1, nothing);
                pthread_join(thread, NULL);
        }
        bench_span_end(&span);
}

static void row_start_batch(void)
{
        pthread_t *threads = threads_new(BATCH);

        bench_span_begin(&span);
        for (long i = 0; i < count / BATCH; i++) {
                threads_start(threads, BATCH, nothing);
                for (int j = 0; j < BATCH; j++)
                        pthread_join(threads[j], NULL);
        }
        bench_span_end(&span);
        free(threads);
}

/* A slot for one item under a mutex and a condition. */
struct slot {
        pthread_mutex_t mutex;
        pthread_cond_t changed;
        int full;
        long item;
};

static struct slot there = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };
static struct slot back = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

static void slot_put(struct slot *slot, long item)
{
        pthread_mutex_lock(&slot->mutex);
        while (slot->full)
                pthread_cond_wait(&slot->changed, &slot->mutex);
        slot->full = 1;
        slot->item = item;
        pthread_cond_signal(&slot->changed);
        pthread_mutex_unlock(&slot->mutex);
}

static long slot_get(struct slot *slot)
{
        long item;

        pthread_mutex_lock(&slot->mutex);
        while (!slot->full)
                pthread_cond_wait(&slot->changed, &slot->mutex);
        slot->full = 0;
        item = slot->item;
        pthread_cond_signal(&slot->changed);
        pthread_mutex_unlock(&slot->mutex);
        return item;
}

static void *queue_echo(void *arg)
{
        long item;

        while ((item = slot_get(&there)) >= 0)
                slot_put(&back, item);
        return arg;
}

static void row_queue(void)
{
        pthread_t echo;

        threads_start(&echo, 1, queue_echo);
        bench_span_begin(&span);
        for (long i = 0; i < count; i++) {
                slot_put(&there, i);
                if (slot_get(&back) != i)
                        bench_die("queue", "the item came back changed");
        }
        bench_span_end(&span);
        slot_put(&there, -1);
        pthread_join(echo, NULL);
        atomic_store(&done, count);
}

static void *sleep_once(void *arg)
{
        atomic_fetch_add_explicit(&parked, 1, memory_order_relaxed);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR)
                continue;
        atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
        return arg;
}

static void row_sleep(void)
{
        pthread_t *threads = threads_new(count);
        long before = bench_memory_kib(1), during;
        int64_t wake_ns = bench_wall_ns() + (int64_t) extra * 1000000;

        wake.tv_sec = wake_ns / 1000000000;
        wake.tv_nsec = wake_ns % 1000000000;
        bench_span_begin(&span);
        threads_start(threads, count, sleep_once);
        while (atomic_load(&parked) < count)
                sched_yield();
        during = bench_memory_kib(1);
        if (bench_wall_ns() >= wake_ns)
                bench_die("sleep", "WAIT_MS is too short: not all were parked in time");
        for (long i = 0; i < count; i++)
                pthread_join(threads[i], NULL);
        bench_span_end(&span);
        snprintf(notes, sizeof(notes), "\"kib_per_task\": %.2f",
                 (double) (during - before) / (double) count);
        free(threads);
}

static void row_semaphore(void)
{
        sem_t sem;

        sem_init(&sem, 0, 1);
        bench_span_begin(&span);
        for (long i = 0; i < count; i++) {
                sem_wait(&sem);
                sem_post(&sem);
        }
        bench_span_end(&span);
        atomic_store(&done, count);
}

static const struct {
        const char *name;
        void (*run)(void);
} rows[] = {
        { "yield", row_yield },
        { "start-join", row_start_join },
        { "start-batch", row_start_batch },
        { "queue", row_queue },
        { "sleep", row_sleep },
        { "semaphore", row_semaphore },
};

int main(int argc, char **argv)
{
        size_t i = 0;

        if (argc < 3 || argc > 4)
                bench_die("usage", "core_pthread ROW COUNT [TASKS | WAIT_MS]");
        count = bench_count(argv[2], 2000000000);
        extra = argc == 4 ? bench_count(argv[3], 100000000) : 1;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, STACK_BYTES);
        while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].name, argv[1]) != 0)
                i++;
        if (i == sizeof(rows) / sizeof(rows[0]))
                bench_die(argv[1], "no such row");
        rows[i].run();
        bench_core_print("pthreads", argv[1], atomic_load(&done), &span, notes);
        return 0;
}
