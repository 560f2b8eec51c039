/*
 * eddy/select.h - waiting for the first of several events.
 *
 *     struct eddy_choice choices[] = {
 *             eddy_choice_event(&stop),
 *             eddy_choice_get(&jobs, &job),
 *             eddy_choice_after(EDDY_SEC(1)),
 *     };
 *
 *     switch (eddy_select(choices, 3)) { ... }
 *
 * Exactly one choice is done.  The others have no effect: no item is taken from
 * or put into their queues and channels, and no signal is taken.  That holds also
 * if another thread serves a channel at the same moment: an item that was handed
 * over is the result.
 */
#ifndef EDDY_SELECT_H
#define EDDY_SELECT_H

#include "eddy/channel.h"
#include "eddy/def.h"
#include "eddy/event.h"
#include "eddy/future.h"
#include "eddy/queue.h"
#include "eddy/signal.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_CHOICE_GET = 1,
        EDDY_CHOICE_PUT = 2,
        EDDY_CHOICE_EVENT = 3,
        EDDY_CHOICE_FUTURE = 4,
        EDDY_CHOICE_TASK = 5,
        EDDY_CHOICE_AT = 6,
        EDDY_CHOICE_AFTER = 7,
        EDDY_CHOICE_NEVER = 8,
        EDDY_CHOICE_CHANNEL_GET = 9,
        EDDY_CHOICE_CHANNEL_PUT = 10,
        EDDY_CHOICE_SIGNAL = 11,
};

enum { EDDY_SELECT_MAX = 1024 };

/* A choice, made by the functions below.  Must not move while a select waits for it. */
struct eddy_choice {
        uint32_t kind EDDY_UNSET;
        int result EDDY_UNSET; /* of the choice that was done, as its own call would return */
        void *object EDDY_UNSET;
        void *item EDDY_UNSET;
        int64_t ns EDDY_UNSET;
        uintptr_t opaque[16] EDDY_UNSET;
};

/*
 * Wait for the first of 'n' choices and do it.  Returns its index, and stores in
 * its 'result' the result of eddy_queue_get(), eddy_queue_put(),
 * eddy_channel_get(), eddy_channel_put() (-EPIPE included), eddy_signal_wait() (a
 * number, or an error), the future or the task.  If several choices are ready,
 * the first in the array is done.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  nothing was done
 *         -EINVAL     n is 0 or above EDDY_SELECT_MAX, a kind is not known, or the
 *                     object of a choice is NULL
 *         -EDEADLK    a choice is the calling task itself
 *         -ENOMEM     no memory for a put, or, in the first call with a channel on
 *                     a loop, for the loop; nothing was done
 *         EDDY_E_RUN_OTHER_LOOP  a choice is a task of another loop, or tasks of
 *                     another loop wait for it; nothing was done
 */
EDDY_API EDDY_MUST_USE int eddy_select(struct eddy_choice *choices, size_t n);

/* Like eddy_select(), but without waiting.  Errors: also -EAGAIN.  Suspends: no. */
EDDY_API EDDY_MUST_USE int eddy_try_select(struct eddy_choice *choices, size_t n);

/* Take the first item of a queue. */
static inline struct eddy_choice eddy_choice_get(eddy_queue *queue, void *ret_item)
{
        struct eddy_choice choice = { EDDY_CHOICE_GET, 0, queue, ret_item, 0, { 0 } };

        return choice;
}

/* Append an item to a queue.  Borrows 'item' until the select returns. */
static inline struct eddy_choice eddy_choice_put(eddy_queue *queue, const void *item)
{
        struct eddy_choice choice = {
                EDDY_CHOICE_PUT, 0, queue, (void *) (uintptr_t) item, 0, { 0 }
        };

        return choice;
}

/* Take the first item of a channel.  The caller holds a reference until the select returns. */
static inline struct eddy_choice eddy_choice_channel_get(eddy_channel *channel, void *ret_item)
{
        struct eddy_choice choice = { EDDY_CHOICE_CHANNEL_GET, 0, channel, ret_item, 0, { 0 } };

        return choice;
}

/* Append an item to a channel.  Borrows 'item' and a reference until the select returns. */
static inline struct eddy_choice eddy_choice_channel_put(eddy_channel *channel, const void *item)
{
        struct eddy_choice choice = { EDDY_CHOICE_CHANNEL_PUT,   0, channel,
                                      (void *) (uintptr_t) item, 0, { 0 } };

        return choice;
}

/* Wait for an open signal.  'result' is -ECANCELED if the signal is closed meanwhile. */
static inline struct eddy_choice eddy_choice_signal(eddy_signal *signal)
{
        struct eddy_choice choice = { EDDY_CHOICE_SIGNAL, 0, signal, 0, 0, { 0 } };

        return choice;
}

static inline struct eddy_choice eddy_choice_event(eddy_event *event)
{
        struct eddy_choice choice = { EDDY_CHOICE_EVENT, 0, event, 0, 0, { 0 } };

        return choice;
}

static inline struct eddy_choice eddy_choice_future(eddy_future *future)
{
        struct eddy_choice choice = { EDDY_CHOICE_FUTURE, 0, future, 0, 0, { 0 } };

        return choice;
}

static inline struct eddy_choice eddy_choice_task(eddy_task *task)
{
        struct eddy_choice choice = { EDDY_CHOICE_TASK, 0, task, 0, 0, { 0 } };

        return choice;
}

/* Wait until a time of eddy_now()'s clock, or for a duration from the start of the select. */
static inline struct eddy_choice eddy_choice_at(int64_t when_ns)
{
        struct eddy_choice choice = { EDDY_CHOICE_AT, 0, 0, 0, when_ns, { 0 } };

        return choice;
}

static inline struct eddy_choice eddy_choice_after(int64_t duration_ns)
{
        struct eddy_choice choice = { EDDY_CHOICE_AFTER, 0, 0, 0, duration_ns, { 0 } };

        return choice;
}

/* Never ready: disables a choice. */
static inline struct eddy_choice eddy_choice_never(void)
{
        struct eddy_choice choice = { EDDY_CHOICE_NEVER, 0, 0, 0, 0, { 0 } };

        return choice;
}

EDDY_END_DECLS

#endif
