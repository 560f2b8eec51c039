/*
 * limit/concurrency.c - slots whose number follows the results of calls.
 *
 * A round is as many successes as there are slots, all in use.  A limit that survived a round is
 * proven.  An overload makes the limit the ceiling, and the limit falls back to the proven one, or by
 * a third if it was proven itself, or nothing is.  Below the ceiling the limit rises each round by
 * half of the way.  Just below the ceiling it rises by one after 'patience' successes.  A round at
 * the ceiling removes the ceiling, and without a ceiling the limit rises by an eighth each round.
 *
 * A ticket is the epoch in which its call began.  A fall of the limit begins an epoch: calls that began
 * before are the same overload, and do not count.
 */
#include "eddy/concurrency.h"

#include <stdbool.h>

#include "eddy/error.h"
#include "scope/waiters.h"

enum {
        START_DEFAULT = 8,
        MAX_DEFAULT = 1000,
        PATIENCE_MIN = 400,
        PATIENCE_ROUNDS = 10,
        RISE_PART = 8,    /* without a ceiling, by this part of the limit */
        EPOCHS = 1 << 30, /* tickets are not negative */
};

static uint32_t min_of(const eddy_concurrency *slots)
{
        return slots->opts.min ? slots->opts.min : 1;
}

static uint32_t max_of(const eddy_concurrency *slots)
{
        return slots->opts.max ? slots->opts.max : MAX_DEFAULT;
}

static uint32_t start_of(const eddy_concurrency *slots)
{
        uint32_t start = slots->opts.start ? slots->opts.start : START_DEFAULT;

        if (slots->opts.start)
                return start;
        if (start < min_of(slots))
                start = min_of(slots);
        return start < max_of(slots) ? start : max_of(slots);
}

int eddy_concurrency_init(eddy_concurrency *slots, const struct eddy_concurrency_opts *opts)
{
        eddy_concurrency fresh = { .limit = 0 };

        if (opts)
                fresh.opts = *opts;
        if (max_of(&fresh) > EDDY_CONCURRENCY_MAX || start_of(&fresh) > max_of(&fresh) ||
            start_of(&fresh) < min_of(&fresh))
                return -EINVAL;
        *slots = fresh;
        return 0;
}

uint32_t eddy_concurrency_limit(const eddy_concurrency *slots)
{
        return slots->limit ? slots->limit : start_of(slots);
}

/* --- the limit --- */

/* Returns the successes that the limit needs before it rises. */
static uint32_t needed(const eddy_concurrency *slots)
{
        uint32_t patience = slots->opts.patience;

        if (slots->ceiling == 0 || slots->limit + 1 != slots->ceiling)
                return slots->limit;
        if (patience)
                return patience > slots->limit ? patience : slots->limit;
        patience = PATIENCE_ROUNDS * slots->limit;
        return patience > PATIENCE_MIN ? patience : PATIENCE_MIN;
}

static uint32_t rise(const eddy_concurrency *slots)
{
        uint32_t step = slots->limit / RISE_PART;

        if (slots->ceiling > slots->limit)
                step = (slots->ceiling - 1 - slots->limit) / 2;
        return step > 0 ? step : 1;
}

static void note_success(eddy_concurrency *slots)
{
        slots->worked++;
        if (slots->worked >= slots->limit)
                slots->proven = slots->limit;
        if (slots->worked < needed(slots))
                return;
        slots->worked = 0;
        if (slots->ceiling > 0 && slots->limit >= slots->ceiling)
                slots->ceiling = 0;
        slots->limit += rise(slots);
        if (slots->limit > max_of(slots))
                slots->limit = max_of(slots);
}

static void note_overload(eddy_concurrency *slots)
{
        uint32_t limit = slots->limit;

        slots->ceiling = limit > 1 ? limit : 0;
        if (slots->proven > 0 && slots->proven < limit)
                limit = slots->proven;
        else
                limit = (uint32_t) ((uint64_t) limit * 2 / 3);
        if (limit < min_of(slots))
                limit = min_of(slots);
        slots->limit = limit;
        slots->proven = 0;
        slots->worked = 0;
        slots->overloads++;
        slots->epoch = (slots->epoch + 1) % EPOCHS;
}

static void note(eddy_concurrency *slots, int ticket, enum eddy_concurrency_result result)
{
        /* Without a call for each slot, a success says nothing about the limit. */
        bool full = slots->in_use >= slots->limit;

        if (ticket < 0 || (uint32_t) ticket != slots->epoch)
                return;
        if (result == EDDY_CONCURRENCY_OVERLOAD)
                note_overload(slots);
        else if (result == EDDY_CONCURRENCY_OK && full)
                note_success(slots);
}

/* --- slots --- */

static bool leave_line(void *arg)
{
        struct ed_waiter *waiter = arg;

        ((eddy_concurrency *) waiter->item)->waiting--;
        ed_waiters_remove(waiter);
        return true;
}

static int take(eddy_concurrency *slots)
{
        slots->in_use++;
        return (int) slots->epoch;
}

static bool is_free(eddy_concurrency *slots)
{
        if (slots->limit == 0)
                slots->limit = start_of(slots);
        return slots->waiting == 0 && slots->in_use < slots->limit;
}

static void serve(eddy_concurrency *slots)
{
        while (slots->waiting > 0 && slots->in_use < slots->limit) {
                slots->waiting--;
                (void) ed_waiters_wake(slots->waiters, take(slots));
        }
}

int eddy_concurrency_acquire(eddy_concurrency *slots)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        int ticket, err;

        err = ed_waiters_enter(&slots->loop_number, &task);
        if (err < 0)
                return err;
        if (is_free(slots)) {
                ticket = take(slots);
                ed_suspend_passed(task);
                return ticket;
        }
        if (ed_waiters_are_foreign(slots->waiters, task->loop))
                return EDDY_E_RUN_OTHER_LOOP;
        ed_waiter_init(&waiter, task, slots);
        slots->waiting++;
        ed_waiters_push(slots->waiters, &waiter);
        return ed_suspend_park(task, "a slot of a service", leave_line, &waiter);
}

int eddy_concurrency_try_acquire(eddy_concurrency *slots)
{
        int err = ed_waiters_check_loop(&slots->loop_number);

        if (err < 0)
                return err;
        return is_free(slots) ? take(slots) : -EAGAIN;
}

int eddy_concurrency_release(eddy_concurrency *slots, int ticket,
                             enum eddy_concurrency_result result)
{
        int err = ed_waiters_check_loop(&slots->loop_number);

        if (err < 0)
                return err;
        if (ed_waiters_are_foreign_here(slots->waiters))
                return EDDY_E_RUN_OTHER_LOOP;
        if (slots->in_use == 0)
                return -EINVAL;
        note(slots, ticket, result);
        slots->in_use--;
        serve(slots);
        return 0;
}

uint32_t eddy_concurrency_in_use(const eddy_concurrency *slots)
{
        return slots->in_use;
}

uint32_t eddy_concurrency_waiting(const eddy_concurrency *slots)
{
        return slots->waiting;
}
