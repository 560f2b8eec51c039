/*
 * core_eddy_many.c - what the same things cost among many tasks, and what many
 * timers cost.
 *
 * In rows with tasks the clock starts with the first operation after all were
 * started, and stops at the COUNTth.
 */
#include "core_eddy.h"

/* Count one operation; false: it was the last, or they are all done and it does not count. */
static bool go_on(struct bench *bench)
{
        if (bench->done == bench->count)
                return false;
        if (bench->done == 0)
                bench_span_begin(&bench->span);
        if (++bench->done == bench->count)
                bench_span_end(&bench->span);
        return bench->done < bench->count;
}

/* queue-many: TASKS tasks in pairs; an item goes to and fro in each, as in 'queue'. */
struct pair {
        struct bench *bench;
        eddy_queue there;
        eddy_queue back;
};

static int pair_ask(void *arg)
{
        struct pair *pair = arg;
        uint64_t item = 0;
        int err;

        do {
                err = eddy_queue_put(&pair->there, &item);
                if (err == 0)
                        err = eddy_queue_get(&pair->back, &item);
        } while (err == 0 && go_on(pair->bench));
        eddy_queue_shutdown(&pair->there, 0);
        return err;
}

static int pair_answer(void *arg)
{
        struct pair *pair = arg;
        uint64_t item;
        int err;

        while ((err = eddy_queue_get(&pair->there, &item)) == 0) {
                err = eddy_queue_put(&pair->back, &item);
                if (err < 0)
                        return err;
        }
        return err == -EPIPE ? 0 : err;
}

/* Run two tasks for each of n pairs, of 'bytes' bytes each. */
static int pairs_run(char *pairs, long n, size_t bytes, eddy_task_fn *ask, eddy_task_fn *answer)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < n; i++) {
                eddy_scope_start(&scope, answer, pairs + (size_t) i * bytes);
                eddy_scope_start(&scope, ask, pairs + (size_t) i * bytes);
        }
        return eddy_scope_end(&scope);
}

int row_queue_many(struct bench *bench)
{
        long n = bench->extra / 2;
        struct pair *pairs = calloc((size_t) n, sizeof(*pairs));
        int err = 0;

        if (!pairs)
                return -ENOMEM;
        for (long i = 0; i < n && err == 0; i++) {
                pairs[i].bench = bench;
                err = eddy_queue_init(&pairs[i].there, sizeof(uint64_t), 1);
                if (err == 0)
                        err = eddy_queue_init(&pairs[i].back, sizeof(uint64_t), 1);
        }
        if (err < 0)
                return err;
        err = pairs_run((char *) pairs, n, sizeof(*pairs), pair_ask, pair_answer);
        for (long i = 0; i < n; i++) {
                eddy_queue_fini(&pairs[i].there);
                eddy_queue_fini(&pairs[i].back);
        }
        free(pairs);
        return err;
}

/* event-many: the same, setting and waiting in turn. */
struct event_pair {
        struct bench *bench;
        eddy_event set_there;
        eddy_event set_back;
        bool stop;
};

static int pair_set(void *arg)
{
        struct event_pair *pair = arg;
        int err;

        do {
                eddy_event_set(&pair->set_there);
                err = eddy_event_wait(&pair->set_back);
                eddy_event_clear(&pair->set_back);
        } while (err == 0 && go_on(pair->bench));
        pair->stop = true;
        eddy_event_set(&pair->set_there);
        return err;
}

static int pair_set_back(void *arg)
{
        struct event_pair *pair = arg;
        int err;

        while ((err = eddy_event_wait(&pair->set_there)) == 0 && !pair->stop) {
                eddy_event_clear(&pair->set_there);
                eddy_event_set(&pair->set_back);
        }
        return err;
}

int row_event_many(struct bench *bench)
{
        long n = bench->extra / 2;
        struct event_pair *pairs = calloc((size_t) n, sizeof(*pairs));
        int err;

        if (!pairs)
                return -ENOMEM;
        for (long i = 0; i < n; i++)
                pairs[i].bench = bench;
        err = pairs_run((char *) pairs, n, sizeof(*pairs), pair_set, pair_set_back);
        free(pairs);
        return err;
}

/*
 * lock-line: TASKS tasks want one lock, and give way while they hold it, so
 * that all others wait in line.
 */
struct line {
        struct bench *bench;
        eddy_lock lock;
};

static int wait_in_line(void *arg)
{
        struct line *line = arg;
        bool more;
        int err;

        do {
                err = eddy_lock_acquire(&line->lock);
                if (err < 0)
                        return err;
                err = eddy_sleep(0);
                more = go_on(line->bench);
                eddy_lock_release(&line->lock);
        } while (err == 0 && more);
        return err;
}

int row_lock_line(struct bench *bench)
{
        struct line line = { .bench = bench };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < bench->extra; i++)
                eddy_scope_start(&scope, wait_in_line, &line);
        return eddy_scope_end(&scope);
}

/* --- timers --- */

static int count_one(void *arg)
{
        ((struct bench *) arg)->done++;
        return 0;
}

static eddy_handle *handles_new(long n)
{
        eddy_handle *handles = malloc((size_t) n * sizeof(*handles));

        if (!handles)
                bench_die("timers", "no memory");
        /* In a program they are part of larger objects, whose pages are there already. */
        return memset(handles, 0, (size_t) n * sizeof(*handles));
}

/* deadline-among: as 'deadline', while TASKS other timers are armed. */
int row_deadline_among(struct bench *bench)
{
        eddy_handle *handles = handles_new(bench->extra);
        int err = 0;

        for (long i = 0; i < bench->extra && err == 0; i++)
                err = eddy_loop_call_later(NULL, &handles[i], EDDY_SEC(1000) + i, count_one, bench);
        if (err == 0)
                err = row_deadline(bench);
        for (long i = 0; i < bench->extra; i++)
                eddy_handle_cancel(&handles[i]);
        free(handles);
        return err;
}

/* timers-cancel: TASKS timers are armed, then all cancelled, COUNT in all; one operation is one. */
int row_timers_cancel(struct bench *bench)
{
        eddy_handle *handles = handles_new(bench->extra);
        int err = 0;

        bench_span_begin(&bench->span);
        while (bench->done < bench->count && err >= 0) {
                for (long i = 0; i < bench->extra && err >= 0; i++)
                        err = eddy_loop_call_later(NULL, &handles[i],
                                                   EDDY_SEC(10) + i * 7919 % 1000 * 1000, count_one,
                                                   bench);
                for (long i = 0; i < bench->extra && err >= 0; i++)
                        err = eddy_handle_cancel(&handles[i]);
                bench->done += bench->extra;
        }
        bench_span_end(&bench->span);
        free(handles);
        return err < 0 ? err : 0;
}

/* timers-fire: the same, but they fire, at one moment after all are armed. */
int row_timers_fire(struct bench *bench)
{
        eddy_handle *handles = handles_new(bench->extra);
        int err = 0;

        bench_span_begin(&bench->span);
        while (bench->done < bench->count && err == 0) {
                int64_t wake_ns = eddy_now() + EDDY_MS(2) + bench->extra * 2000;

                for (long i = 0; i < bench->extra && err == 0; i++)
                        err = eddy_loop_call_later(NULL, &handles[i], wake_ns - eddy_now(),
                                                   count_one, bench);
                do
                        if (err == 0)
                                err = eddy_sleep(wake_ns + EDDY_MS(1) - eddy_now());
                while (err == 0 && bench->done % bench->extra);
        }
        bench_span_end(&bench->span);
        free(handles);
        return err;
}
