/*
 * core_eddy_sync.c - what locks, events, conditions, futures, generators and
 * select cost.
 */
#include "core_eddy.h"

/* lock: acquire and release a lock that no other task wants. */
int row_lock(struct bench *bench)
{
        eddy_lock lock = EDDY_LOCK(0);
        int err = 0;

        bench_span_begin(&bench->span);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                err = eddy_lock_acquire(&lock);
                if (err == 0)
                        err = eddy_lock_release(&lock);
        }
        bench_span_end(&bench->span);
        return err;
}

/* event: set an event that another task waits for, and wait for the one it sets then. */
struct events {
        eddy_event there;
        eddy_event back;
        int stop;
};

static int event_echo(void *arg)
{
        struct events *events = arg;
        int err;

        while ((err = eddy_event_wait(&events->there)) == 0 && !events->stop) {
                eddy_event_clear(&events->there);
                eddy_event_set(&events->back);
        }
        return err;
}

int row_event(struct bench *bench)
{
        struct events events = { 0 };
        eddy_scope scope;
        int err = 0;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, event_echo, &events);
        bench_span_begin(&bench->span);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                eddy_event_set(&events.there);
                err = eddy_event_wait(&events.back);
                eddy_event_clear(&events.back);
        }
        bench_span_end(&bench->span);
        events.stop = 1;
        eddy_event_set(&events.there);
        return eddy_scope_end_with(&scope, err);
}

/* condition: two tasks take turns, guarded by one lock and notified by one condition. */
struct turns {
        eddy_lock lock;
        eddy_condition changed;
        int turn; /* 0: of who counts; 1: of the other */
        int stop;
};

static int condition_echo(void *arg)
{
        struct turns *turns = arg;
        int err = eddy_lock_acquire(&turns->lock);

        if (err < 0)
                return err;
        while (err == 0 && !turns->stop) {
                if (turns->turn == 1) {
                        turns->turn = 0;
                        eddy_condition_notify(&turns->changed, 1);
                }
                err = eddy_condition_wait(&turns->changed, &turns->lock);
        }
        eddy_lock_release(&turns->lock);
        return err;
}

int row_condition(struct bench *bench)
{
        struct turns turns = { 0 };
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, condition_echo, &turns);
        bench_span_begin(&bench->span);
        err = eddy_lock_acquire(&turns.lock);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                turns.turn = 1;
                eddy_condition_notify(&turns.changed, 1);
                while (err == 0 && turns.turn == 1)
                        err = eddy_condition_wait(&turns.changed, &turns.lock);
        }
        bench_span_end(&bench->span);
        turns.stop = 1;
        eddy_condition_notify_all(&turns.changed);
        eddy_lock_release(&turns.lock);
        return eddy_scope_end_with(&scope, err);
}

/* future: set a future that another task waits for, and wait for the one it sets then. */
struct futures {
        eddy_future there;
        eddy_future back;
};

static int future_echo(void *arg)
{
        struct futures *futures = arg;
        int result = 0, err;

        while ((err = eddy_future_wait(&futures->there, &result)) == 0 && result >= 0) {
                eddy_future_fini(&futures->there);
                eddy_future_set(&futures->back, result, NULL);
        }
        return err;
}

int row_future(struct bench *bench)
{
        struct futures futures = { 0 };
        eddy_scope scope;
        int err = 0, result = 0;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, future_echo, &futures);
        bench_span_begin(&bench->span);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                eddy_future_set(&futures.there, (int) (bench->done & 0xffff), NULL);
                err = eddy_future_wait(&futures.back, &result);
                if (err == 0 && result != (bench->done & 0xffff))
                        bench_die("future", "the result came back changed");
                eddy_future_fini(&futures.back);
        }
        bench_span_end(&bench->span);
        eddy_future_set(&futures.there, -EPIPE, NULL);
        err = eddy_scope_end_with(&scope, err);
        eddy_future_fini(&futures.there);
        return err;
}

/* generator: one value of a generator that counts. */
static int count_up(eddy_generator *gen, void *arg)
{
        struct bench *bench = arg;
        int err = 0;

        for (long i = 0; i < bench->count && err == 0; i++)
                err = eddy_generator_yield(gen, &i);
        return err;
}

int row_generator(struct bench *bench)
{
        eddy_generator gen;
        eddy_scope scope;
        long value;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, count_up, bench, sizeof(value));
        bench_span_begin(&bench->span);
        while ((err = eddy_generator_next(&gen, &value)) > 0)
                if (value != bench->done++)
                        bench_die("generator", "a value is missing");
        bench_span_end(&bench->span);
        return eddy_scope_end_with(&scope, err);
}

/*
 * select: as the round trip over queues, but the item goes there over one of
 * two queues in turn, and the other task waits for the first of both.
 */
struct lanes {
        eddy_queue there[2];
        eddy_queue back;
};

static int select_echo(void *arg)
{
        struct lanes *lanes = arg;

        for (;;) {
                uint64_t item;
                struct eddy_choice choices[] = {
                        eddy_choice_get(&lanes->there[0], &item),
                        eddy_choice_get(&lanes->there[1], &item),
                };
                int which = eddy_select(choices, 2), err;

                if (which < 0)
                        return which;
                if (choices[which].result == -EPIPE)
                        return 0;
                err = eddy_queue_put(&lanes->back, &item);
                if (err < 0)
                        return err;
        }
}

static int select_trips(struct bench *bench, struct lanes *lanes)
{
        eddy_scope scope;
        uint64_t item;
        int err = 0;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, select_echo, lanes);
        bench_span_begin(&bench->span);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                item = (uint64_t) bench->done;
                err = eddy_queue_put(&lanes->there[bench->done % 2], &item);
                if (err == 0)
                        err = eddy_queue_get(&lanes->back, &item);
                if (err == 0 && item != (uint64_t) bench->done)
                        bench_die("select", "the item came back changed");
        }
        bench_span_end(&bench->span);
        eddy_queue_shutdown(&lanes->there[0], 0);
        return eddy_scope_end_with(&scope, err);
}

int row_select(struct bench *bench)
{
        struct lanes lanes;
        int err;

        err = eddy_queue_init(&lanes.there[0], sizeof(uint64_t), 1);
        if (err == 0)
                err = eddy_queue_init(&lanes.there[1], sizeof(uint64_t), 1);
        if (err == 0)
                err = eddy_queue_init(&lanes.back, sizeof(uint64_t), 1);
        if (err < 0)
                return err;
        err = select_trips(bench, &lanes);
        eddy_queue_fini(&lanes.there[0]);
        eddy_queue_fini(&lanes.there[1]);
        eddy_queue_fini(&lanes.back);
        return err;
}
