/*
 * core_eddy_thread.c - what it costs to go from one thread to another and back.
 *
 * All threads share the one processor of the benchmark: nearly all of it is
 * the kernel's switch between them, of which there are two a round trip.
 */
#include <pthread.h>
#include <semaphore.h>

#include "core_eddy.h"

/*
 * threadsafe: a thread without a loop has a call made on the loop's, which
 * posts a semaphore that the thread waits for.
 */
struct caller {
        struct bench *bench;
        eddy_loop *loop;
        eddy_handle handle;
        sem_t made;
        eddy_event over;
};

static int call_made(void *arg)
{
        struct caller *caller = arg;

        sem_post(&caller->made);
        return 0;
}

static int call_last(void *arg)
{
        return eddy_event_set(&((struct caller *) arg)->over);
}

static void *call_again(void *arg)
{
        struct caller *caller = arg;
        struct bench *bench = caller->bench;
        int err = 0;

        for (; bench->done < bench->count && err == 0; bench->done++) {
                err = eddy_loop_call_threadsafe(caller->loop, &caller->handle, call_made, caller);
                if (err == 0)
                        sem_wait(&caller->made);
        }
        if (err == 0)
                err = eddy_loop_call_threadsafe(caller->loop, &caller->handle, call_last, caller);
        if (err < 0)
                bench_die("threadsafe", eddy_error_text(err));
        return NULL;
}

int row_threadsafe(struct bench *bench)
{
        struct caller caller = { .bench = bench, .loop = eddy_loop_current() };
        pthread_t thread;
        int err;

        sem_init(&caller.made, 0, 0);
        bench_span_begin(&bench->span);
        if (pthread_create(&thread, NULL, call_again, &caller))
                return -EAGAIN;
        err = eddy_event_wait(&caller.over);
        pthread_join(thread, NULL);
        bench_span_end(&bench->span);
        return err;
}

/* to-thread: a function on a thread of the pool, and its result. */
static int job(void *arg)
{
        return (int) (*(long *) arg & 0xffff);
}

int row_to_thread(struct bench *bench)
{
        int err = 0;

        bench_span_begin(&bench->span);
        for (; bench->done < bench->count; bench->done++) {
                err = eddy_to_thread(job, &bench->done);
                if (err != (bench->done & 0xffff))
                        break;
        }
        bench_span_end(&bench->span);
        return err < 0 ? err : 0;
}

/* channel: as the round trip over queues, but between the loops of two threads. */
struct link {
        eddy_channel *there;
        eddy_channel *back;
        eddy_task_fn *fn;
};

static int channel_echo(void *arg)
{
        struct link *link = arg;
        uint64_t item;
        int err;

        while ((err = eddy_channel_get(link->there, &item)) == 0) {
                err = eddy_channel_put(link->back, &item);
                if (err < 0)
                        return err;
        }
        return err == -EPIPE ? 0 : err;
}

/* Takes all items, and sends back how many there were. */
static int channel_drain(void *arg)
{
        struct link *link = arg;
        uint64_t item, count = 0;
        int err;

        while ((err = eddy_channel_get(link->there, &item)) == 0)
                if (item != count++)
                        bench_die("stream", "an item is missing");
        return err == -EPIPE ? eddy_channel_put(link->back, &count) : err;
}

static void *other_thread(void *arg)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS };
        struct link *link = arg;
        int err = eddy_run(link->fn, link, &opts);

        if (err < 0)
                bench_die("the other thread", eddy_error_text(err));
        return NULL;
}

/* Two channels of 'items' items, and fn() on another thread's loop at their other end. */
static int link_open(struct link *link, pthread_t *ret_thread, long items, eddy_task_fn *fn)
{
        int err;

        link->fn = fn;
        err = eddy_channel_new(sizeof(uint64_t), (uint32_t) items, &link->there);
        if (err == 0)
                err = eddy_channel_new(sizeof(uint64_t), 1, &link->back);
        if (err == 0 && pthread_create(ret_thread, NULL, other_thread, link))
                err = -EAGAIN;
        return err;
}

static void link_close(struct link *link, pthread_t thread)
{
        eddy_channel_shutdown(link->there);
        pthread_join(thread, NULL);
        eddy_channel_release(link->there);
        eddy_channel_release(link->back);
}

int row_channel(struct bench *bench)
{
        struct link link;
        pthread_t thread;
        uint64_t item;
        int err = link_open(&link, &thread, 1, channel_echo);

        if (err < 0)
                return err;
        bench_span_begin(&bench->span);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                item = (uint64_t) bench->done;
                err = eddy_channel_put(link.there, &item);
                if (err == 0)
                        err = eddy_channel_get(link.back, &item);
                if (err == 0 && item != (uint64_t) bench->done)
                        bench_die("channel", "the item came back changed");
        }
        bench_span_end(&bench->span);
        link_close(&link, thread);
        return err;
}

/* stream: items to another thread's loop over a channel of ITEMS, one way. */
int row_stream(struct bench *bench)
{
        struct link link;
        pthread_t thread;
        uint64_t item;
        int err = link_open(&link, &thread, bench->extra, channel_drain);

        if (err < 0)
                return err;
        bench_span_begin(&bench->span);
        for (long i = 0; i < bench->count && err == 0; i++) {
                item = (uint64_t) i;
                err = eddy_channel_put(link.there, &item);
        }
        eddy_channel_shutdown(link.there);
        if (err == 0)
                err = eddy_channel_get(link.back, &item);
        bench_span_end(&bench->span);
        bench->done = (long) item;
        link_close(&link, thread);
        return err;
}
