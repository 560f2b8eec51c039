/*
 * sync/as_completed.c - tasks in the order they finish.
 *
 * A waiter stands in the line of each task that has not finished.  When one
 * does, its waiter moves to a line of our own, from which they are given in
 * turn; or it goes straight to a task that waits for the next.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/wait.h"
#include "scope/misuse.h"

struct completed;

/* In an eddy_as_completed; all zero: nothing to give. */
struct completion {
        struct completed *entries;
        size_t n;
        size_t left;      /* that were not given */
        void *done[2];    /* a line of those that have finished */
        void *readers[2]; /* their items: where the handle goes */
};

/* One for each task that was named, in line with it or among the done. */
struct completed {
        struct ed_waiter waiter; /* with no line: was given, or named before */
        eddy_task *task;
        struct completion *completion;
};

_Static_assert(sizeof(struct completion) <= sizeof(eddy_as_completed),
               "a completion does not fit its place");

static struct completed *completed_of(struct ed_waiter *waiter)
{
        return ed_container_of(waiter, struct completed, waiter);
}

/* This one is given now; whoever waits for one more after the last is told that there is none. */
static eddy_task *give(struct completed *completed)
{
        struct completion *completion = completed->completion;

        completed->waiter.link.next = NULL;
        if (--completion->left == 0)
                while (ed_waiters_wake(completion->readers, 0))
                        continue;
        return completed->task;
}

static void on_finished(struct ed_waiter *waiter, int result)
{
        struct completed *completed = completed_of(waiter);
        struct completion *completion = completed->completion;
        struct ed_waiter *reader = ed_waiters_first(completion->readers);

        (void) result;
        if (!reader) {
                ed_waiters_push(completion->done, waiter);
                return;
        }
        *(eddy_task **) reader->item = completed->task;
        (void) ed_waiters_wake(completion->readers, 1);
        (void) give(completed);
}

static const struct ed_waiter_ops completed_ops = { .granted = on_finished };

/* Nothing came between since we began, so one of ours would stand last. */
static bool is_named_before(const struct completion *completion, const eddy_task *task)
{
        struct ed_waiter *last = task->joiners[LINE_LAST];

        return last && last->ops == &completed_ops && completed_of(last)->completion == completion;
}

/* The line of a task that has finished is nobody's: it serves to notice who is named twice. */
static void stand_in_lines(struct completion *completion, eddy_task *const *tasks)
{
        for (size_t i = 0; i < completion->n; i++) {
                struct completed *completed = &completion->entries[i];

                completed->waiter.link.next = NULL;
                if (is_named_before(completion, tasks[i]))
                        continue;
                completed->task = tasks[i];
                completed->completion = completion;
                ed_waiter_init(&completed->waiter, tasks[i]->task, NULL);
                completed->waiter.ops = &completed_ops;
                ed_waiters_push(tasks[i]->joiners, &completed->waiter);
                completion->left++;
        }
        for (size_t i = 0; i < completion->n; i++) {
                struct completed *completed = &completion->entries[i];

                if (completed->waiter.link.next && !completed->task->task) {
                        ed_waiters_remove(&completed->waiter);
                        ed_waiters_push(completion->done, &completed->waiter);
                }
        }
}

int eddy_as_completed_begin(eddy_as_completed *done, eddy_task *const *tasks, size_t n)
{
        struct completion *completion = (struct completion *) done;
        const struct ed_task *self = ed_task_running();
        int err = 0;

        *completion = (struct completion){ .n = 0 };
        if (!self)
                return EDDY_E_RUN_NOT_RUNNING;
        if (n > EDDY_WAIT_TASKS_MAX || (n > 0 && !tasks))
                return -EINVAL;
        for (size_t i = 0; i < n && err == 0; i++)
                err = ed_waiters_check_join(self, tasks[i]);
        if (err < 0 || n == 0)
                return err;
        completion->entries = ed_alloc(n * sizeof(*completion->entries));
        if (!completion->entries)
                return -ENOMEM;
        completion->n = n;
        stand_in_lines(completion, tasks);
        return 0;
}

int eddy_as_completed_next(eddy_as_completed *done, eddy_task **ret_task)
{
        struct completion *completion = (struct completion *) done;
        struct ed_waiter *first, reader;
        struct ed_task *task;
        int err;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        first = ed_waiters_first(completion->done);
        if (first) {
                ed_waiters_remove(first);
                *ret_task = give(completed_of(first));
        }
        if (first || completion->left == 0) {
                ed_suspend_passed(task);
                return first != NULL;
        }
        ed_waiter_init(&reader, task, ret_task);
        ed_waiters_push(completion->readers, &reader);
        return ed_suspend_park(task, "the next of several tasks to end", ed_waiters_abort, &reader);
}

void eddy_as_completed_end(eddy_as_completed *done)
{
        struct completion *completion = (struct completion *) done;

        if (!done)
                return;
        ed_misuse_check_line(completion->readers, "eddy_as_completed_end");
        for (size_t i = 0; i < completion->n; i++)
                if (completion->entries[i].waiter.link.next)
                        ed_waiters_remove(&completion->entries[i].waiter);
        ed_free(completion->entries);
        *completion = (struct completion){ .n = 0 };
}
