/*
 * sync/select.c - waiting for the first of several objects.
 *
 * First each choice is tried in order, like its own call.  Only if none is possible at once, the
 * task waits, with a waiter in the line of each object.  The code that serves one of these waiters
 * completes its choice, and all other waiters leave their lines before anything else happens.
 * Exactly one choice is therefore done, and the other objects are unchanged.
 *
 * Any thread may serve a channel's line, and the other waiters leave their lines only after the
 * loop was notified.  If a select has a channel, each of its waiters must therefore be claimed
 * before it is served: the first claim wins, on any thread, and a waiter that can no longer be
 * claimed is taken out of its line and skipped.
 */
#include "eddy/select.h"

#include <errno.h>
#include <stdatomic.h>

#include "eddy/time.h"
#include "scope/waiters.h"
#include "sync/channel.h"
#include "sync/choosable.h"
#include "sync/future.h"

struct selector {
        struct ed_task *task;
        struct eddy_choice *choices;
        size_t n;             /* number of choices in line */
        uint32_t kinds;       /* set of kinds; with FAR, other threads may serve it */
        _Atomic bool claimed; /* one choice is done, or none will be; only with FAR */
};

/* The opaque member of a choice during the wait. */
struct alternative {
        union {
                struct ed_waiter waiter; /* in no line: link.next is NULL */
                struct ed_timer timer;
                struct ed_far_waiter far; /* begins with a waiter */
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

/* Sets of kinds, one bit per kind. */
enum {
        TIMED = 1 << EDDY_CHOICE_AT | 1 << EDDY_CHOICE_AFTER,
        FAR = 1 << EDDY_CHOICE_CHANNEL_GET | 1 << EDDY_CHOICE_CHANNEL_PUT,
        OUTSIDE = FAR | 1 << EDDY_CHOICE_SIGNAL, /* a source outside of the loop can end the wait */
};

static bool is_timed(const struct eddy_choice *choice)
{
        return 1 << choice->kind & TIMED;
}

static bool is_far(const struct eddy_choice *choice)
{
        return 1 << choice->kind & FAR;
}

static enum ed_channel_side side_of(const struct eddy_choice *choice)
{
        return choice->kind == EDDY_CHOICE_CHANNEL_PUT ? ED_CHANNEL_PUT : ED_CHANNEL_GET;
}

static bool has_object(const struct eddy_choice *choice)
{
        return !is_timed(choice) && choice->kind != EDDY_CHOICE_NEVER;
}

/* Returns when a timed choice is due, in a select that began at 'now_ns'. */
static int64_t time_of(const struct eddy_choice *choice, int64_t now_ns)
{
        if (choice->kind == EDDY_CHOICE_AT)
                return choice->ns;
        return choice->ns > 0 ? ed_time_after(now_ns, choice->ns) : now_ns;
}

/* Returns the time at which a select begins; 0 without reading the clock if no choice is timed. */
static int64_t begin_of(uint32_t kinds)
{
        return kinds & TIMED ? eddy_now() : 0;
}

/* Returns the line of this loop for a choice, and where its item goes; NULL if it has no line. */
static inline __attribute__((always_inline)) void **line_of(struct eddy_choice *choice,
                                                            void **ret_item)
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
        case EDDY_CHOICE_SIGNAL:
                *ret_item = NULL;
                return ((struct ed_choosable *) choice->object)->waiters;
        default:
                return NULL;
        }
}

/* --- at once --- */

static int check_loop(struct eddy_choice *choice)
{
        switch (choice->kind) {
        case EDDY_CHOICE_GET:
        case EDDY_CHOICE_PUT:
                return ed_waiters_check_loop(&((eddy_queue *) choice->object)->loop_number);
        case EDDY_CHOICE_EVENT:
                return ed_waiters_check_loop(&((eddy_event *) choice->object)->loop_number);
        case EDDY_CHOICE_FUTURE:
                return ed_waiters_check_loop(&((eddy_future *) choice->object)->loop_number);
        default:
                return 0;
        }
}

/* Returns true if a choice belongs to another loop.  Detects mistakes, but not all. */
static bool is_foreign(struct eddy_choice *choice)
{
        void *item, **line = line_of(choice, &item);

        if (ed_debug_has_runs() && check_loop(choice) < 0)
                return true;
        return line && ed_waiters_are_foreign_here(line);
}

/* Checks all choices and returns the set of their kinds. */
static int check(struct eddy_choice *choices, size_t n, uint32_t *ret_kinds)
{
        const struct ed_task *self = ed_task_running();
        uint32_t kinds = 0;
        int err = 0;

        if (n == 0 || n > EDDY_SELECT_MAX)
                return -EINVAL;
        for (size_t i = 0; i < n; i++) {
                if (choices[i].kind < EDDY_CHOICE_GET || choices[i].kind > EDDY_CHOICE_SIGNAL ||
                    (!choices[i].object && has_object(&choices[i])))
                        return -EINVAL;
                kinds |= 1u << choices[i].kind;
        }
        *ret_kinds = kinds;
        for (size_t i = 0; i < n && err == 0; i++) {
                if (is_foreign(&choices[i]))
                        return EDDY_E_RUN_OTHER_LOOP;
                if (choices[i].kind == EDDY_CHOICE_TASK && self)
                        err = ed_waiters_check_join(self, choices[i].object);
        }
        return err;
}

/* Returns 0 and the result if the future is done, else -EAGAIN. */
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

/* Returns the result of all kinds except futures and tasks. */
static int result_now(struct eddy_choice *choice, int64_t now_ns)
{
        switch (choice->kind) {
        case EDDY_CHOICE_GET:
                return eddy_queue_try_get(choice->object, choice->item);
        case EDDY_CHOICE_PUT:
                return eddy_queue_try_put(choice->object, choice->item);
        case EDDY_CHOICE_CHANNEL_GET:
                return eddy_channel_try_get(choice->object, choice->item);
        case EDDY_CHOICE_CHANNEL_PUT:
                return eddy_channel_try_put(choice->object, choice->item);
        case EDDY_CHOICE_EVENT:
                return ((eddy_event *) choice->object)->set ? 0 : -EAGAIN;
        case EDDY_CHOICE_SIGNAL:
                return ((struct ed_choosable *) choice->object)->take(choice->object);
        default:
                return is_timed(choice) && time_of(choice, now_ns) <= now_ns ? 0 : -EAGAIN;
        }
}

/* Does a choice if possible at once.  Errors: -EAGAIN: not yet; -ENOMEM. */
static int do_now(struct eddy_choice *choice, int64_t now_ns)
{
        int result;

        if (choice->kind == EDDY_CHOICE_FUTURE)
                return future_now(choice->object, &choice->result);
        if (choice->kind == EDDY_CHOICE_TASK)
                return task_now(choice->object, &choice->result);
        result = result_now(choice, now_ns);
        if (result == -EAGAIN || result == -ENOMEM)
                return result;
        choice->result = result;
        return 0;
}

/* Does the first choice that is possible at once.  Returns its index, or errors as do_now(). */
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
        uint32_t kinds;
        int err = check(choices, n, &kinds);

        return err < 0 ? err : try_all(choices, n, begin_of(kinds));
}

/* --- waiting --- */

/* Claims the select for one choice.  Returns false if another claim came first.  Any thread. */
static bool claim(struct selector *selector)
{
        return !(selector->kinds & FAR) || !atomic_exchange(&selector->claimed, true);
}

static void leave(struct eddy_choice *choice)
{
        struct alternative *alternative = alternative_of(choice);

        if (is_timed(choice))
                ed_timer_cancel(&alternative->selector->task->loop->timers, &alternative->timer);
        else if (is_far(choice))
                (void) ed_far_waiter_leave(&alternative->far);
        else if (alternative->waiter.link.next)
                ed_waiters_remove(&alternative->waiter);
}

/* The chosen one has left its line.  All others leave theirs now. */
static void leave_all_but(struct selector *selector, const struct eddy_choice *done)
{
        for (size_t i = 0; i < selector->n; i++)
                if (&selector->choices[i] != done)
                        leave(&selector->choices[i]);
}

static void chosen(struct eddy_choice *choice)
{
        struct selector *selector = alternative_of(choice)->selector;

        leave_all_but(selector, choice);
        ed_suspend_wake(selector->task, (int) (choice - selector->choices));
}

static struct alternative *alternative_of_waiter(struct ed_waiter *waiter)
{
        return ed_container_of(waiter, struct alternative, waiter);
}

/* Futures and tasks have already stored their result in the choice. */
static void on_granted(struct ed_waiter *waiter, int result)
{
        struct eddy_choice *choice = choice_of(alternative_of_waiter(waiter));

        if (choice->kind != EDDY_CHOICE_FUTURE && choice->kind != EDDY_CHOICE_TASK)
                choice->result = result;
        chosen(choice);
}

static bool on_claim(struct ed_waiter *waiter)
{
        return claim(alternative_of_waiter(waiter)->selector);
}

/* A select without a channel needs no claims. */
static const struct ed_waiter_ops near_ops = { .granted = on_granted };
static const struct ed_waiter_ops far_ops = { .granted = on_granted, .claim = on_claim };

static void on_timer(struct ed_timer *timer)
{
        struct alternative *alternative = ed_container_of(timer, struct alternative, timer);
        struct eddy_choice *choice = choice_of(alternative);

        if (!claim(alternative->selector))
                return;
        choice->result = 0;
        chosen(choice);
}

/* Adds a waiter or timer.  Errors: -EAGAIN  in line; for channels as ed_channel_begin(). */
static int enter_line(struct eddy_choice *choice, struct selector *selector, int64_t now_ns)
{
        struct alternative *alternative = alternative_of(choice);
        void **line, *item;

        alternative->selector = selector;
        if (is_timed(choice)) {
                ed_timer_init(&alternative->timer, on_timer);
                ed_timer_arm(&selector->task->loop->timers, &alternative->timer,
                             time_of(choice, now_ns));
                return -EAGAIN;
        }
        if (is_far(choice)) {
                ed_channel_waiter_init(choice->object, &alternative->far, selector->task,
                                       choice->item, &far_ops);
                return ed_channel_begin(choice->object, side_of(choice), &alternative->far);
        }
        line = line_of(choice, &item);
        ed_waiter_init(&alternative->waiter, selector->task, item);
        alternative->waiter.ops = selector->kinds & FAR ? &far_ops : &near_ops;
        if (line)
                ed_waiters_push(line, &alternative->waiter);
        else
                alternative->waiter.link.next = NULL;
        return -EAGAIN;
}

static bool abort_select(void *arg)
{
        struct selector *selector = arg;

        if (!claim(selector))
                return false;
        leave_all_but(selector, NULL);
        return true;
}

static int park(struct selector *selector)
{
        struct ed_loop *loop = selector->task->loop;
        int result;

        loop->waits += (selector->kinds & OUTSIDE) != 0;
        result = ed_suspend_park_here(selector->task, "the first of several events", abort_select,
                                      selector);
        loop->waits -= (selector->kinds & OUTSIDE) != 0;
        return result;
}

/*
 * Another thread may have made a channel ready after the choices were tried, or may serve it as
 * soon as the select is in its line.
 */
static int wait_for_first(struct selector *selector, size_t n, int64_t now_ns)
{
        int err;

        if (selector->kinds & FAR && !ed_loop_inbox(selector->task->loop))
                return -ENOMEM;
        for (; selector->n < n; selector->n++) {
                struct eddy_choice *choice = &selector->choices[selector->n];

                err = enter_line(choice, selector, now_ns);
                if (err == -EAGAIN)
                        continue;
                if (err == -EALREADY)
                        break;
                choice->result = err;
                leave_all_but(selector, NULL);
                ed_suspend_passed(selector->task);
                return (int) selector->n;
        }
        return park(selector);
}

int eddy_select(struct eddy_choice *choices, size_t n)
{
        struct selector selector = { .choices = choices };
        int64_t now_ns;
        int err;

        err = ed_suspend_enter(&selector.task);
        if (err < 0)
                return err;
        err = check(choices, n, &selector.kinds);
        now_ns = err < 0 ? 0 : begin_of(selector.kinds);
        if (err == 0)
                err = try_all(choices, n, now_ns);
        if (err == -EAGAIN)
                return wait_for_first(&selector, n, now_ns);
        ed_suspend_passed(selector.task);
        return err;
}
