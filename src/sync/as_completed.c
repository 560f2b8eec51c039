/*
 * sync/as_completed.c - tasks in the order they finish.
 *
 * Each unfinished task has a waiter in its line of joiners.  When the task finishes, the waiter
 * moves to the list of done tasks, which next returns in order, or its task goes directly to a
 * reader that waits in next.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/wait.h"
#include "scope/misuse.h"

struct completed;

/* The contents of an eddy_as_completed.  All zero: no tasks. */
struct completion {
        struct completed *entries;
        size_t n;
        size_t left;      /* tasks that were not returned yet */
        void *done[2];    /* a line of finished tasks */
        void *readers[2]; /* waiters in next; item: where the handle goes */
};

/* The entry of a given task, in the task's line or in 'done'. */
struct completed {
        struct ed_waiter waiter; /* in no line: returned, or a duplicate */
        eddy_task *task;
        struct completion *completion;
};

_Static_assert(sizeof(struct completion) <= sizeof(eddy_as_completed),
               "a completion does not fit its place");

static struct completed *completed_of(struct ed_waiter *waiter)
{
        return ed_container_of(waiter, struct completed, waiter);
}

/* Returns this task to a reader.  After the last task, ends the wait of all readers. */
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

/* Nothing ran since the start of this call, so a waiter of this completion would be the last. */
static bool is_named_before(const struct completion *completion, const eddy_task *task)
{
        struct ed_waiter *last = task->joiners[LINE_LAST];

        return last && last->ops == &completed_ops && completed_of(last)->completion == completion;
}

/* A finished task's line is unused.  It serves here to detect a task that is given twice. */
static void enter_lines(struct completion *completion, eddy_task *const *tasks)
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
        enter_lines(completion, tasks);
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
