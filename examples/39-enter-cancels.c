/*
 * 39-enter-cancels - two producers of twenty, one consumer of forty, and the
 * Enter key that stops all three.
 *
 * Standard input is a stream like any other, so waiting for the key is one more
 * task.  It cancels the scope, and the scope ends when all its tasks have ended.
 * A thread cannot be cancelled: it has to check a flag again and again
 * (73-stop-thread).  The end of the input does not count as Enter: without a
 * terminal all the work is done.
 *
 * Run: 39-enter-cancels
 * Time: wall 2 s
 * Output:
 *     40 items were produced, 40 consumed
 * Run: { sleep 1; echo; } | 39-enter-cancels
 * Time: wall 1 s
 * Output:
 *     cancelling your request...
 *     <n> items were produced, <n> consumed
 * Run: timeout --foreground --preserve-status -s INT 1 39-enter-cancels 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     39-enter-cancels: stopped by Ctrl-C
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "eddy/eddy.h"

enum { EACH = 20 };

struct work {
        eddy_scope *scope;
        eddy_queue *queue;
        int produced, consumed;
};

static int produce(void *arg)
{
        struct work *work = arg;
        int err = 0;

        for (int i = 0; i < EACH && err == 0; i++) {
                err = eddy_sleep(EDDY_MS(100));
                if (err == 0)
                        err = eddy_queue_put(work->queue, &i);
                if (err == 0)
                        work->produced++;
        }
        return err;
}

static int consume(void *arg)
{
        struct work *work = arg;
        int item, err = 0;

        while (work->consumed < 2 * EACH && err == 0) {
                err = eddy_queue_get(work->queue, &item);
                if (err == 0)
                        work->consumed++;
        }
        eddy_scope_cancel(work->scope); /* the wait for the key is not needed now */
        return err;
}

static int await_enter(void *arg)
{
        struct work *work = arg;
        EDDY_AUTO(eddy_stream) eddy_stream *input = NULL;
        int64_t n = eddy_stream_from_fd(STDIN_FILENO, 0, &input);
        char key = 0;

        if (n < 0)
                return (int) n;
        do {
                n = eddy_stream_read(input, &key, 1);
        } while (n > 0 && key != '\n');
        if (n <= 0)
                return (int) n;
        puts("cancelling your request...");
        eddy_scope_cancel(work->scope);
        return 0;
}

static int run(void *arg)
{
        struct work work = { 0 };
        eddy_queue queue;
        int err = eddy_queue_init(&queue, sizeof(int), 10);

        (void) arg;
        if (err < 0)
                return err;
        EDDY_SCOPE (scope, &err) {
                work = (struct work){ .scope = &scope, .queue = &queue };
                eddy_scope_start(&scope, produce, &work);
                eddy_scope_start(&scope, produce, &work);
                eddy_scope_start(&scope, consume, &work);
                eddy_scope_start(&scope, await_enter, &work);
        }
        if (err == 0)
                printf("%d items were produced, %d consumed\n", work.produced, work.consumed);
        eddy_queue_fini(&queue);
        return err;
}

int main(void)
{
        int err = eddy_run(run, NULL, NULL), is_stopped = eddy_run_signal() == SIGINT;

        if (err < 0)
                fprintf(stderr, "39-enter-cancels: %s\n",
                        is_stopped ? "stopped by Ctrl-C" : eddy_error_text(err));
        return err == 0 ? 0 : is_stopped ? 130 : 1;
}
