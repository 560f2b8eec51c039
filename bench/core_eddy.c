/*
 * core_eddy.c - what eddy's tasks, scopes, queues and timers cost.
 *
 *     core_eddy ROW COUNT [TASKS | WAIT_MS | ITEMS]
 *
 * Each process runs one row, on the public headers and with the default options of
 * eddy_run() (signals, watchdog and guards on).  The comment of each row's
 * function has what it measures; the peers' programs measure the same.
 */
#include "core_eddy.h"

/*
 * yield: TASKS tasks call eddy_sleep(0) in turn.  An operation is one such
 * call: a switch to the next task and its share of the scheduler.  The clock
 * starts when every task has run once and stops at the COUNTth yield.
 */
static int yield_loop(void *arg)
{
        struct bench *bench = arg;
        int err = eddy_sleep(0);

        if (err < 0)
                return err;
        if (bench->done == 0)
                bench_span_begin(&bench->span);
        while (bench->done < bench->count) {
                if (++bench->done == bench->count)
                        bench_span_end(&bench->span);
                err = eddy_sleep(0);
                if (err < 0)
                        return err;
        }
        return 0;
}

static int row_yield(struct bench *bench)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < bench->extra; i++)
                eddy_scope_start(&scope, yield_loop, bench);
        return eddy_scope_end(&scope);
}

static int nothing(void *arg)
{
        struct bench *bench = arg;

        bench->done++;
        return 0;
}

/* start-join: start a task with a handle, join it, release it; one after another. */
static int row_start_join(struct bench *bench)
{
        eddy_scope scope;
        int err = 0;

        eddy_scope_begin(&scope, NULL);
        bench_span_begin(&bench->span);
        for (long i = 0; i < bench->count && err == 0; i++) {
                eddy_task *task;

                err = eddy_scope_start_task(&scope, nothing, bench, NULL, &task);
                if (err < 0)
                        break;
                err = eddy_task_join(task, NULL);
                eddy_task_release(task);
        }
        bench_span_end(&bench->span);
        return eddy_scope_end_with(&scope, err);
}

/* scope-one: begin a scope, start one task in it, end it. */
static int row_scope_one(struct bench *bench)
{
        int err = 0;

        bench_span_begin(&bench->span);
        for (long i = 0; i < bench->count && err == 0; i++) {
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, nothing, bench);
                err = eddy_scope_end(&scope);
        }
        bench_span_end(&bench->span);
        return err;
}

/*
 * start-batch: start TASKS (1,000) in a scope and end it; one operation is one
 * task.  The clock starts after the first batch, for which memory is touched
 * first; what that costs is in 'sleep'.
 */
static int row_start_batch(struct bench *bench)
{
        long batch = bench->extra > 1 ? bench->extra : BATCH;
        long batches = bench->count < batch ? 1 : bench->count / batch;
        int err = 0;

        for (long i = 0; i <= batches && err == 0; i++) {
                eddy_scope scope;

                if (i == 1) {
                        bench->done = 0;
                        bench_span_begin(&bench->span);
                }
                eddy_scope_begin(&scope, NULL);
                for (long j = 0; j < batch; j++)
                        eddy_scope_start(&scope, nothing, bench);
                err = eddy_scope_end(&scope);
        }
        bench_span_end(&bench->span);
        return err;
}

/*
 * queue: two tasks, two queues that hold one item each.  An operation is a
 * round trip: put and get there, get and put on the other side, back.
 */
static int queue_echo(void *arg)
{
        struct bench *bench = arg;

        for (;;) {
                uint64_t item;
                int err = eddy_queue_get(&bench->there, &item);

                if (err == -EPIPE)
                        return 0;
                if (err == 0)
                        err = eddy_queue_put(&bench->back, &item);
                if (err < 0)
                        return err;
        }
}

static int row_queue(struct bench *bench)
{
        eddy_scope scope;
        uint64_t item = 0;
        int err;

        err = eddy_queue_init(&bench->there, sizeof(item), 1);
        if (err == 0)
                err = eddy_queue_init(&bench->back, sizeof(item), 1);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, queue_echo, bench);
        bench_span_begin(&bench->span);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                item = (uint64_t) bench->done;
                err = eddy_queue_put(&bench->there, &item);
                if (err == 0)
                        err = eddy_queue_get(&bench->back, &item);
                if (err == 0 && item != (uint64_t) bench->done)
                        bench_die("queue", "the item came back changed");
        }
        bench_span_end(&bench->span);
        eddy_queue_shutdown(&bench->there, 0);
        err = eddy_scope_end_with(&scope, err);
        eddy_queue_fini(&bench->there);
        eddy_queue_fini(&bench->back);
        return err;
}

/*
 * sleep: COUNT tasks sleep until the same moment, WAIT_MS from the start.
 * An operation is the whole life of a task: started, parked with its timer
 * armed, woken, ended, joined.  Memory is read while all are parked.
 */
static int sleep_once(void *arg)
{
        struct bench *bench = arg;
        int err;

        bench->parked++;
        err = eddy_sleep(bench->wake_ns - eddy_now());
        bench->done++;
        return err;
}

static int sleep_all(struct bench *bench, const struct eddy_task_opts *opts)
{
        struct eddy_run_info info;
        long before = bench_memory_kib(1), during;
        int64_t parked_ns;
        eddy_scope scope;
        int err;

        bench_span_begin(&bench->span);
        bench->wake_ns = eddy_now() + EDDY_MS(bench->extra);
        eddy_scope_begin(&scope, NULL);
        for (long i = 0; i < bench->count; i++)
                eddy_scope_start_task(&scope, sleep_once, bench, opts, NULL);
        err = eddy_sleep(0);
        parked_ns = eddy_now();
        during = bench_memory_kib(1);
        if (err == 0)
                err = eddy_run_info(&info);
        if (err < 0)
                return eddy_scope_end(&scope), err;
        if (bench->parked < bench->count || parked_ns >= bench->wake_ns)
                bench_die("sleep", "WAIT_MS is too short: not all were parked in time");
        err = eddy_scope_end(&scope);
        bench_span_end(&bench->span);
        snprintf(bench->notes, sizeof(bench->notes), "\"kib_per_task\": %.2f, \"guards\": \"%s\"",
                 (double) (during - before) / (double) bench->count, info.guard);
        return err;
}

static int row_sleep(struct bench *bench)
{
        return sleep_all(bench, NULL);
}

/* sleep-small: the same on stacks of the small class. */
static int row_sleep_small(struct bench *bench)
{
        return sleep_all(bench, &(struct eddy_task_opts){ .flags = EDDY_TASK_STACK_64K });
}

/* semaphore: acquire and release a unit that no other task wants. */
static int row_semaphore(struct bench *bench)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1, 0);
        int err = 0;

        bench_span_begin(&bench->span);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                err = eddy_semaphore_acquire(&sem);
                if (err == 0)
                        err = eddy_semaphore_release(&sem);
        }
        bench_span_end(&bench->span);
        return err;
}

/* deadline: begin a scope with a deadline of 5 s and end it: armed and disarmed. */
int row_deadline(struct bench *bench)
{
        int err = 0;

        bench_span_begin(&bench->span);
        for (; bench->done < bench->count && err == 0; bench->done++) {
                eddy_scope scope;

                eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(5) });
                err = eddy_scope_end(&scope);
        }
        bench_span_end(&bench->span);
        return err;
}

/* The rows of the other files are at its end. */
static const struct {
        const char *name;
        int (*run)(struct bench *bench);
} rows[] = {
        { "yield", row_yield },
        { "start-join", row_start_join },
        { "scope-one", row_scope_one },
        { "start-batch", row_start_batch },
        { "queue", row_queue },
        { "sleep", row_sleep },
        { "semaphore", row_semaphore },
        { "deadline", row_deadline },
        { "lock", row_lock },
        { "event", row_event },
        { "condition", row_condition },
        { "future", row_future },
        { "generator", row_generator },
        { "select", row_select },
        { "threadsafe", row_threadsafe },
        { "to-thread", row_to_thread },
        { "channel", row_channel },
        { "stream", row_stream },
        { "echo", row_echo },
        { "file-read", row_file },
        { "file-write", row_file },
        { "file-sync", row_file },
        { "file-open", row_file },
        { "sleep-small", row_sleep_small },
        { "queue-many", row_queue_many },
        { "event-many", row_event_many },
        { "lock-line", row_lock_line },
        { "deadline-among", row_deadline_among },
        { "timers-cancel", row_timers_cancel },
        { "timers-fire", row_timers_fire },
        { "switch", row_switch },
};

static int bench_main(void *arg)
{
        struct bench *bench = arg;

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                if (strcmp(rows[i].name, bench->row) == 0)
                        return rows[i].run(bench);
        bench_die(bench->row, "no such row");
}

int main(int argc, char **argv)
{
        struct bench bench = { 0 };
        char name[64];
        int err;

        if (argc < 3 || argc > 4)
                bench_die("usage", "core_eddy ROW COUNT [TASKS | WAIT_MS | ITEMS]");
        bench.row = argv[1];
        bench.count = bench_count(argv[2], 2000000000);
        bench.extra = argc == 4 ? bench_count(argv[3], 100000000) : 1;

        err = eddy_run(bench_main, &bench, NULL);
        if (err < 0)
                bench_die(bench.row, eddy_error_text(err));
        if (bench.done < bench.count / BATCH * BATCH)
                bench_die(bench.row, "not everything that was started ran");
        snprintf(name, sizeof(name), "eddy %s", eddy_version());
        bench_core_print(name, bench.row, bench.done, &bench.span, bench.notes);
        return 0;
}
