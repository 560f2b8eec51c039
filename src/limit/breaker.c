/*
 * limit/breaker.c - a ring of the last outcomes, one bit for each, and the state that follows.
 *
 * A ticket is the epoch in which its call began: the results of earlier epochs do not count.
 */
#include "eddy/breaker.h"

#include <stdbool.h>
#include <string.h>

#include "base/def.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "loop/timer.h"

enum {
        FAILED_PERCENT_DEFAULT = 50,
        CALLS_DEFAULT = 100,
        TRIALS_DEFAULT = 10,
        EPOCHS = 1 << 30, /* tickets are not negative */
};

#define OPEN_DEFAULT_NS EDDY_MIN(1)

static uint32_t calls_of(const eddy_breaker *breaker)
{
        return breaker->opts.calls ? breaker->opts.calls : CALLS_DEFAULT;
}

static uint32_t calls_min_of(const eddy_breaker *breaker)
{
        return breaker->opts.calls_min ? breaker->opts.calls_min : calls_of(breaker);
}

static uint32_t trials_of(const eddy_breaker *breaker)
{
        return breaker->opts.trials ? breaker->opts.trials : TRIALS_DEFAULT;
}

int eddy_breaker_init(eddy_breaker *breaker, const struct eddy_breaker_opts *opts)
{
        eddy_breaker fresh = { .state = EDDY_BREAKER_CLOSED };

        if (opts)
                fresh.opts = *opts;
        if (fresh.opts.failed_percent > 100 || fresh.opts.calls > EDDY_BREAKER_CALLS_MAX ||
            fresh.opts.trials > EDDY_BREAKER_CALLS_MAX || fresh.opts.open_ns < 0 ||
            calls_min_of(&fresh) > calls_of(&fresh))
                return -EINVAL;
        *breaker = fresh;
        return 0;
}

/* Begins a state, without the outcomes of the last one. */
static void change(eddy_breaker *breaker, enum eddy_breaker_state state)
{
        breaker->state = state;
        breaker->epoch = (breaker->epoch + 1) % EPOCHS;
        breaker->next = 0;
        breaker->counted = 0;
        breaker->failed = 0;
        breaker->entered = 0;
        breaker->until_ns = 0;
        memset(breaker->outcomes, 0, sizeof(breaker->outcomes));
}

static void open_up(eddy_breaker *breaker)
{
        int64_t open_ns = breaker->opts.open_ns ? breaker->opts.open_ns : OPEN_DEFAULT_NS;

        change(breaker, EDDY_BREAKER_OPEN);
        breaker->until_ns = ed_time_after(eddy_now(), open_ns);
        breaker->opened++;
}

int eddy_breaker_enter(eddy_breaker *breaker)
{
        if (breaker->state == EDDY_BREAKER_OPEN && eddy_now() >= breaker->until_ns)
                change(breaker, EDDY_BREAKER_HALF_OPEN);
        if (breaker->state == EDDY_BREAKER_OPEN ||
            (breaker->state == EDDY_BREAKER_HALF_OPEN && breaker->entered == trials_of(breaker))) {
                breaker->refused++;
                return EDDY_E_BREAKER_OPEN;
        }
        if (breaker->state == EDDY_BREAKER_HALF_OPEN)
                breaker->entered++;
        return (int) breaker->epoch;
}

/* Adds an outcome, and drops the oldest one if all 'calls' are there. */
static void count(eddy_breaker *breaker, bool failed, uint32_t calls)
{
        uint64_t *word = &breaker->outcomes[breaker->next / 64];
        uint64_t bit = (uint64_t) 1 << breaker->next % 64;

        if (breaker->counted == calls)
                breaker->failed -= (*word & bit) != 0;
        else
                breaker->counted++;
        breaker->failed += failed;
        *word = failed ? *word | bit : *word & ~bit;
        breaker->next = (breaker->next + 1) % calls;
}

static bool failed_too_often(const eddy_breaker *breaker)
{
        uint32_t percent = breaker->opts.failed_percent ? breaker->opts.failed_percent
                                                        : FAILED_PERCENT_DEFAULT;

        return breaker->failed * 100 >= breaker->counted * percent;
}

static void leave_trial(eddy_breaker *breaker, enum eddy_breaker_result result)
{
        if (result == EDDY_BREAKER_UNKNOWN) {
                breaker->entered--; /* another call tries instead */
                return;
        }
        count(breaker, result == EDDY_BREAKER_FAILED, trials_of(breaker));
        if (breaker->counted < trials_of(breaker))
                return;
        if (failed_too_often(breaker))
                open_up(breaker);
        else
                change(breaker, EDDY_BREAKER_CLOSED);
}

void eddy_breaker_leave(eddy_breaker *breaker, int ticket, enum eddy_breaker_result result)
{
        if (ticket < 0 || (uint32_t) ticket != breaker->epoch)
                return;
        if (breaker->state == EDDY_BREAKER_HALF_OPEN) {
                leave_trial(breaker, result);
                return;
        }
        if (result == EDDY_BREAKER_UNKNOWN)
                return;
        count(breaker, result == EDDY_BREAKER_FAILED, calls_of(breaker));
        if (breaker->counted >= calls_min_of(breaker) && failed_too_often(breaker))
                open_up(breaker);
}

void eddy_breaker_stats(const eddy_breaker *breaker, struct eddy_breaker_stats *ret_stats)
{
        *ret_stats = (struct eddy_breaker_stats){ .state = (enum eddy_breaker_state) breaker->state,
                                                  .until_ns = breaker->until_ns,
                                                  .counted = breaker->counted,
                                                  .failed = breaker->failed,
                                                  .opened = breaker->opened,
                                                  .refused = breaker->refused };
}
