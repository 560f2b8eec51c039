/*
 * stack_frames.c - a task with a large frame between other tasks; ./stack_frames makes programs of
 * this file and runs them.
 *
 *     FRAME   bytes of local arrays, in NEST functions that call each other
 *     WRITES  0: no byte of them is written; 1: the lowest; 2: all
 *     CALL    which suspending call the innermost function makes
 *     OPTS    the flags of all tasks, EDDY_TASK_STACK_64K or 0
 *
 * Prints "whole" if the program ends well and no other task's memory has changed, else "changed".
 */
#include <eddy/eddy.h>
#include <stdio.h>

enum { OTHERS = 6, PATTERN_BYTES = 24 * 1024 };

static eddy_event over;
static eddy_queue queue;
static eddy_lock lock;
static eddy_semaphore semaphore;
static eddy_future future;
static eddy_generator generator;
static eddy_stream *near_end, *far_end;
static eddy_task *ended;
static int changed;

static int do_nothing(void *arg)
{
        (void) arg;
        return 0;
}

static int be_other(void *arg)
{
        volatile char pattern[PATTERN_BYTES];
        int err;

        (void) arg;
        for (int i = 0; i < PATTERN_BYTES; i++)
                pattern[i] = (char) (i % 101 + 1);
        err = eddy_event_wait(&over);
        for (int i = 0; i < PATTERN_BYTES; i++)
                changed += pattern[i] != (char) (i % 101 + 1);
        return err;
}

static int count_up(eddy_generator *gen, void *arg)
{
        int err = 0;

        (void) arg;
        for (uint64_t i = 0; err == 0; i++)
                err = eddy_generator_yield(gen, &i);
        return err;
}

static int select_now(void)
{
        struct eddy_choice choices[] = { eddy_choice_after(EDDY_MS(1)) };

        return eddy_select(choices, 1);
}

static int scope_now(void)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        return eddy_scope_end(&scope);
}

static int generator_now(void)
{
        uint64_t item;
        int n = eddy_generator_next(&generator, &item);

        return n < 0 ? n : 0;
}

static int stream_now(void *into)
{
        int64_t n = eddy_stream_read(near_end, into, 5);

        return n < 0 ? (int) n : 0;
}

static int queue_now(void)
{
        int item = 1, err = eddy_queue_put(&queue, &item);

        return err < 0 ? err : eddy_queue_get(&queue, &item);
}

static int lock_now(void)
{
        int err = eddy_lock_acquire(&lock);

        return err < 0 ? err : eddy_lock_release(&lock);
}

static int suspend(void *into)
{
        int result;

        switch (CALL) {
        case 0:
                return eddy_sleep(0);
        case 1:
                return eddy_sleep(EDDY_MS(1));
        case 2:
                return stream_now(into);
        case 3:
                return queue_now();
        case 4:
                return lock_now();
        case 5:
                return eddy_semaphore_acquire(&semaphore);
        case 6:
                return scope_now();
        case 7:
                return generator_now();
        case 8:
                return select_now();
        case 9:
                return eddy_task_join(ended, NULL);
        case 10:
                return eddy_future_wait(&future, &result);
        default:
                return eddy_to_thread(do_nothing, NULL);
        }
}

static __attribute__((noinline)) int go_deep(int level)
{
        volatile char frame[FRAME / NEST];
        int err;

        if (WRITES == 1)
                for (int i = 0; i < 64; i++)
                        frame[i] = (char) level;
        if (WRITES == 2)
                for (int i = 0; i < FRAME / NEST; i++)
                        frame[i] = (char) level;
        err = level > 1 ? go_deep(level - 1) : suspend((char *) frame);
        __asm__ volatile("" : : "r"(frame) : "memory");
        return err;
}

static int be_deep(void *arg)
{
        int err = CALL == 7 ? generator_now() : 0; /* the next call finds it parked */

        (void) arg;
        return err < 0 ? err : go_deep(NEST);
}

static int prepare(eddy_scope *scope)
{
        int err = eddy_stream_pair(NULL, &near_end, &far_end);

        if (err == 0)
                err = eddy_stream_write(far_end, "hello", 5);
        if (err == 0)
                err = eddy_queue_init(&queue, sizeof(int), 2);
        if (err == 0)
                err = eddy_future_set(&future, 0, NULL);
        eddy_semaphore_init(&semaphore, 1, 0);
        eddy_generator_begin(&generator, scope, count_up, NULL, sizeof(uint64_t));
        if (err == 0)
                err = eddy_scope_start_task(scope, do_nothing, NULL, NULL, &ended);
        return err;
}

static void start_others(eddy_scope *scope)
{
        struct eddy_task_opts opts = { .name = "other", .flags = OPTS };

        for (int i = 0; i < OTHERS; i++)
                (void) eddy_scope_start_task(scope, be_other, NULL, &opts, NULL);
}

static int app(void *arg)
{
        struct eddy_task_opts opts = { .name = "deep", .flags = OPTS };
        eddy_task *deep = NULL;
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        err = prepare(&scope);
        start_others(&scope);
        if (err == 0)
                err = eddy_scope_start_task(&scope, be_deep, NULL, &opts, &deep);
        start_others(&scope);
        if (err == 0)
                err = eddy_task_join(deep, NULL);
        eddy_task_release(deep);
        eddy_task_release(ended);
        (void) eddy_event_set(&over);
        (void) eddy_generator_close(&generator);
        err = eddy_scope_end_with(&scope, err);
        eddy_queue_fini(&queue);
        eddy_stream_close(near_end);
        eddy_stream_close(far_end);
        return err;
}

int main(void)
{
        int err = eddy_run(app, NULL, NULL);

        if (err < 0)
                fprintf(stderr, "app: %s\n", eddy_error_text(err));
        printf("%s\n", changed ? "changed" : err < 0 ? "failed" : "whole");
        return 0;
}
