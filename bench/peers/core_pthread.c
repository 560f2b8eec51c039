/*
 * core_pthread.c - the platform's threads, measured as core_eddy.c does.
 *
 *     core_pthread ROW COUNT [TASKS | WAIT_MS | ITEMS]
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
#include <sys/epoll.h>
#include <sys/eventfd.h>

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

/* A sched_yield() on one core: a switch to the next thread, if the kernel's
 * scheduler wants one.  The threads start together, at a gate. */
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

        for (long i = 0; i <= (count < BATCH ? 1 : count / BATCH); i++) {
                /* The clock starts after the first batch. */
                if (i == 1) {
                        done = 0;
                        bench_span_begin(&span);
                }
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

static void row_lock(void)
{
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

        bench_span_begin(&span);
        for (long i = 0; i < count; i++) {
                pthread_mutex_lock(&mutex);
                pthread_mutex_unlock(&mutex);
        }
        bench_span_end(&span);
        atomic_store(&done, count);
}

/* Two semaphores: the nearest to an event that is set and cleared in turn. */
static sem_t sem_there, sem_back;
static atomic_int stop;

static void *event_echo(void *arg)
{
        for (;;) {
                sem_wait(&sem_there);
                if (atomic_load(&stop))
                        return arg;
                sem_post(&sem_back);
        }
}

static void row_event(void)
{
        pthread_t echo;

        sem_init(&sem_there, 0, 0);
        sem_init(&sem_back, 0, 0);
        threads_start(&echo, 1, event_echo);
        bench_span_begin(&span);
        for (long i = 0; i < count; i++) {
                sem_post(&sem_there);
                sem_wait(&sem_back);
        }
        bench_span_end(&span);
        atomic_store(&stop, 1);
        sem_post(&sem_there);
        pthread_join(echo, NULL);
        atomic_store(&done, count);
}

/* Two threads take turns, guarded by one mutex and notified by one condition. */
static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn; /* 0: of who counts; 1: of the other; 2: over */

static void *condition_echo(void *arg)
{
        pthread_mutex_lock(&turn_mutex);
        while (turn != 2) {
                if (turn == 1) {
                        turn = 0;
                        pthread_cond_signal(&turn_changed);
                }
                pthread_cond_wait(&turn_changed, &turn_mutex);
        }
        pthread_mutex_unlock(&turn_mutex);
        return arg;
}

static void row_condition(void)
{
        pthread_t echo;

        threads_start(&echo, 1, condition_echo);
        bench_span_begin(&span);
        pthread_mutex_lock(&turn_mutex);
        for (long i = 0; i < count; i++) {
                turn = 1;
                pthread_cond_signal(&turn_changed);
                while (turn == 1)
                        pthread_cond_wait(&turn_changed, &turn_mutex);
        }
        turn = 2;
        pthread_cond_signal(&turn_changed);
        pthread_mutex_unlock(&turn_mutex);
        bench_span_end(&span);
        pthread_join(echo, NULL);
        atomic_store(&done, count);
}

/* The least that a loop on another thread can cost: an eventfd in an epoll, and a semaphore back.
 */
static int wake_fd;

static void *bare_loop(void *arg)
{
        int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        struct epoll_event event = { .events = EPOLLIN };
        uint64_t drained;

        if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &event) < 0)
                bench_die("epoll", strerror(errno));
        for (;;) {
                if (epoll_wait(epoll_fd, &event, 1, -1) < 1 ||
                    read(wake_fd, &drained, sizeof(drained)) < 0)
                        continue;
                if (atomic_load(&stop))
                        break;
                sem_post(&sem_back);
        }
        close(epoll_fd);
        return arg;
}

static void eventfd_wake(void)
{
        uint64_t one = 1;

        if (write(wake_fd, &one, sizeof(one)) < 0)
                bench_die("eventfd", strerror(errno));
}

static void row_threadsafe(void)
{
        pthread_t loop;

        wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (wake_fd < 0)
                bench_die("eventfd", strerror(errno));
        sem_init(&sem_back, 0, 0);
        threads_start(&loop, 1, bare_loop);
        bench_span_begin(&span);
        for (long i = 0; i < count; i++) {
                eventfd_wake();
                sem_wait(&sem_back);
        }
        bench_span_end(&span);
        atomic_store(&stop, 1);
        eventfd_wake();
        pthread_join(loop, NULL);
        close(wake_fd);
        atomic_store(&done, count);
}

/* A ring of items under a mutex and two conditions. */
static struct {
        pthread_mutex_t mutex;
        pthread_cond_t not_full, not_empty;
        long *items, first, n;
        int over;
} ring = { .mutex = PTHREAD_MUTEX_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER };

static void ring_put(long item)
{
        pthread_mutex_lock(&ring.mutex);
        while (ring.n == extra)
                pthread_cond_wait(&ring.not_full, &ring.mutex);
        ring.items[(ring.first + ring.n++) % extra] = item;
        pthread_cond_signal(&ring.not_empty);
        pthread_mutex_unlock(&ring.mutex);
}

static int ring_get(long *ret_item)
{
        int there;

        pthread_mutex_lock(&ring.mutex);
        while (ring.n == 0 && !ring.over)
                pthread_cond_wait(&ring.not_empty, &ring.mutex);
        there = ring.n > 0;
        if (there) {
                *ret_item = ring.items[ring.first];
                ring.first = (ring.first + 1) % extra;
                ring.n--;
                pthread_cond_signal(&ring.not_full);
        }
        pthread_mutex_unlock(&ring.mutex);
        return there;
}

static void *ring_drain(void *arg)
{
        long item, next = 0;

        while (ring_get(&item))
                if (item != next++)
                        bench_die("stream", "an item is missing");
        atomic_store(&done, next);
        return arg;
}

static void row_stream(void)
{
        pthread_t drain;

        ring.items = calloc((size_t) extra, sizeof(*ring.items));
        if (!ring.items)
                bench_die("stream", "no memory");
        threads_start(&drain, 1, ring_drain);
        bench_span_begin(&span);
        for (long i = 0; i < count; i++)
                ring_put(i);
        pthread_mutex_lock(&ring.mutex);
        ring.over = 1;
        pthread_cond_signal(&ring.not_empty);
        pthread_mutex_unlock(&ring.mutex);
        pthread_join(drain, NULL);
        bench_span_end(&span);
        free(ring.items);
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
        { "lock", row_lock },
        { "event", row_event },
        { "condition", row_condition },
        { "threadsafe", row_threadsafe },
        { "to-thread", row_queue },
        { "channel", row_queue },
        { "stream", row_stream },
};

int main(int argc, char **argv)
{
        size_t i = 0;

        if (argc < 3 || argc > 4)
                bench_die("usage", "core_pthread ROW COUNT [TASKS | WAIT_MS | ITEMS]");
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
