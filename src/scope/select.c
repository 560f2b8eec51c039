/*
 * scope/select.c - waiting for the first of several things.
 *
 * First each choice is tried in turn, as its own call would; only if none can
 * be done at once does the task wait, with a waiter in the line of each.
 * Whoever serves one of these waiters completes that choice, and before
 * anything else happens all the others leave their lines: so one is done, and
 * nothing was asked of the rest.
 */
#include "eddy/select.h"

#include <errno.h>

#include "eddy/time.h"
#include "scope/future.h"
#include "scope/waiters.h"

struct selector {
        struct ed_task *task;
        struct eddy_choice *choices;
        size_t n;
};

/* In a choice's opaque, while it is waited for. */
struct alternative {
        union {
                struct ed_waiter waiter;
                struct ed_timer timer;
        };
        struct selector *selector;
};

_Static_assert(sizeof(struct alternative) <= sizeof(((struct eddy_choice *) 0)->opaque),
               "an alternative does not fit its choice");

static struct alternative *alternative_of(struct eddy_choice *choice)
{
        return (struct alternative *) choice->opaque;
}

static struct eddy_choice *choice_of(struct alternative *alternative)
{
        return ed_container_of(alternative, struct eddy_choice, opaque);
}

static bool is_timed(const struct eddy_choice *choice)
{
        return choice->kind == EDDY_CHOICE_AT || choice->kind == EDDY_CHOICE_AFTER;
}

/* When a timed one is done, in a select that began at 'now_ns'. */
static int64_t time_of(const struct eddy_choice *choice, int64_t now_ns)
{
        if (choice->kind == EDDY_CHOICE_AT)
                return choice->ns;
        return choice->ns > 0 ? ed_time_after(now_ns, choice->ns) : now_ns;
}

/* The time at which a select begins; not asked for where no choice needs it. */
static int64_t begin_of(const struct eddy_choice *choices, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (is_timed(&choices[i]))
                        return eddy_now();
        return 0;
}

/* The line in which it is waited for, and where what it gives goes; NULL: in none. */
static void **line_of(struct eddy_choice *choice, void **ret_item)
{
        *ret_item = &choice->result;
        switch (choice->kind) {
        case EDDY_CHOICE_GET:
                *ret_item = choice->item;
                return ((eddy_queue *) choice->object)->getters;
        case EDDY_CHOICE_PUT:
                *ret_item = choice->item;
                return ((eddy_queue *) choice->object)->putters;
        case EDDY_CHOICE_EVENT:
                *ret_item = NULL;
                return ((eddy_event *) choice->object)->waiters;
        case EDDY_CHOICE_FUTURE:
                return ((eddy_future *) choice->object)->waiters;
        case EDDY_CHOICE_TASK:
                return ((eddy_task *) choice->object)->joiners;
        default:
                return NULL;
        }
}

/* --- at once --- */

/* Whether it is another loop's, as far as can be seen. */
static bool is_foreign(struct eddy_choice *choice)
{
        void *item, **line = line_of(choice, &item);

        return line && ed_waiters_are_foreign(line, ed_loop_current);
}

static int check(struct eddy_choice *choices, size_t n)
{
        const struct ed_task *self = ed_task_running();
        int err = 0;

        if (n == 0 || n > EDDY_SELECT_MAX)
                return -EINVAL;
        for (size_t i = 0; i < n; i++)
                if (choices[i].kind < EDDY_CHOICE_GET || choices[i].kind > EDDY_CHOICE_NEVER)
                        return -EINVAL;
        for (size_t i = 0; i < n && err == 0; i++) {
                if (is_foreign(&choices[i]))
                        return EDDY_E_RUN_OTHER_LOOP;
                if (choices[i].kind == EDDY_CHOICE_TASK && self)
                        err = ed_waiters_check_join(self, choices[i].object);
        }
        return err;
}

/* The result it would have at once, or -EAGAIN: there is none yet. */
static int future_now(eddy_future *future, int *ret_result)
{
        if (!(future->flags & ED_FUTURE_DONE))
                return -EAGAIN;
        future->flags |= ED_FUTURE_SEEN;
        *ret_result = future->result;
        return 0;
}

static int task_now(eddy_task *task, int *ret_result)
{
        if (task->task)
                return -EAGAIN;
        *ret_result = task->result;
        task->looks |= ED_FACE_SEEN;
        return 0;
}

/* Do it, if that can be done at once.  Errors: -EAGAIN: not yet; -ENOMEM. */
static int do_now(struct eddy_choice *choice, int64_t now_ns)
{
        int result;

        if (choice->kind == EDDY_CHOICE_FUTURE)
                return future_now(choice->object, &choice->result);
        if (choice->kind == EDDY_CHOICE_TASK)
                return task_now(choice->object, &choice->result);
        if (choice->kind == EDDY_CHOICE_GET)
                result = eddy_queue_try_get(choice->object, choice->item);
        else if (choice->kind == EDDY_CHOICE_PUT)
                result = eddy_queue_try_put(choice->object, choice->item);
        else if (choice->kind == EDDY_CHOICE_EVENT)
                result = ((eddy_event *) choice->object)->set ? 0 : -EAGAIN;
        else
                result = is_timed(choice) && time_of(choice, now_ns) <= now_ns ? 0 : -EAGAIN;
        if (result == -EAGAIN || result == -ENOMEM)
                return result;
        choice->result = result;
        return 0;
}

/* Do the first that can be done at once; its index, or as do_now(). */
static int try_all(struct eddy_choice *choices, size_t n, int64_t now_ns)
{
        for (size_t i = 0; i < n; i++) {
                int err = do_now(&choices[i], now_ns);

                if (err != -EAGAIN)
                        return err < 0 ? err : (int) i;
        }
        return -EAGAIN;
}

int eddy_try_select(struct eddy_choice *choices, size_t n)
{
        int err = check(choices, n);

        return err < 0 ? err : try_all(choices, n, begin_of(choices, n));
}

/* --- waiting --- */

static void leave(struct eddy_choice *choice)
{
        struct alternative *alternative = alternative_of(choice);
        void *item;

        if (is_timed(choice))
                ed_timer_cancel(&alternative->selector->task->loop->timers, &alternative->timer);
        else if (line_of(choice, &item))
                ed_waiters_remove(&alternative->waiter);
}

/* It is done, and out of its line: so must all others be. */
static void chosen(struct eddy_choice *choice)
{
        struct selector *selector = alternative_of(choice)->selector;

        for (size_t i = 0; i < selector->n; i++)
                if (&selector->choices[i] != choice)
                        leave(&selector->choices[i]);
        ed_suspend_wake(selector->task, (int) (choice - selector->choices));
}

/* Futures and tasks have stored their result in the choice by themselves. */
static void on_granted(struct ed_waiter *waiter, int result)
{
        struct eddy_choice *choice = choice_of(ed_container_of(waiter, struct alternative, waiter));

        if (choice->kind != EDDY_CHOICE_FUTURE && choice->kind != EDDY_CHOICE_TASK)
                choice->result = result;
        chosen(choice);
}

static void on_timer(struct ed_timer *timer)
{
        struct eddy_choice *choice = choice_of(ed_container_of(timer, struct alternative, timer));

        choice->result = 0;
        chosen(choice);
}

static void stand_in_line(struct eddy_choice *choice, struct selector *selector, int64_t now_ns)
{
        struct alternative *alternative = alternative_of(choice);
        void **line, *item;

        alternative->selector = selector;
        if (is_timed(choice)) {
                ed_timer_init(&alternative->timer, on_timer);
                ed_timer_arm(&selector->task->loop->timers, &alternative->timer,
                             time_of(choice, now_ns));
                return;
        }
        line = line_of(choice, &item);
        if (!line)
                return;
        ed_waiter_init(&alternative->waiter, selector->task, item);
        alternative->waiter.granted = on_granted;
        ed_waiters_push(line, &alternative->waiter);
}

static bool abort_select(void *arg)
{
        struct selector *selector = arg;

        for (size_t i = 0; i < selector->n; i++)
                leave(&selector->choices[i]);
        return true;
}

int eddy_select(struct eddy_choice *choices, size_t n)
{
        struct selector selector = { .choices = choices, .n = n };
        int64_t now_ns;
        int err;

        err = ed_suspend_enter(&selector.task);
        if (err < 0)
                return err;
        err = check(choices, n);
        now_ns = err < 0 ? 0 : begin_of(choices, n);
        if (err == 0)
                err = try_all(choices, n, now_ns);
        if (err != -EAGAIN) {
                ed_suspend_passed(selector.task);
                return err;
        }
        for (size_t i = 0; i < n; i++)
                stand_in_line(&choices[i], &selector, now_ns);
        return ed_suspend_park(selector.task, "the first of several things", abort_select,
                               &selector);
}
