/*
 * limit/limiter.c - limits in time: a line of reservations, and one timer for the first of them.
 *
 * serve() grants reservations from the head of the line until one must wait, and sets the timer for
 * it.  Everything that can make the first waiter's time earlier calls serve().
 */
#include "eddy/limiter.h"

#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "limit/bucket.h"
#include "limit/window.h"
#include "scope/misuse.h"
#include "scope/waiters.h"

enum { UNITS = 2 };

#define BURST_DEFAULT_NS EDDY_SEC(1)
#define WINDOW_MIN_NS    EDDY_MS(1)
#define WINDOW_MAX_NS    EDDY_MIN(366 * 24 * 60)
#define WINDOW_SLACK_NS  EDDY_SEC(1) /* servers report the end of a window in whole seconds */

/*
 * A limit, and its share for 'burst_ns'.  Requests are mostly reserved one by one, so the share is a
 * window with a strict bound.  Tokens come in amounts of the same size as the share, of which a window
 * would have room for too few: their share is a bucket.
 */
struct limit {
        enum eddy_limiter_unit unit;
        int64_t window_ns;
        struct ed_window whole;
        bool has_share;
        struct ed_window share;        /* of requests */
        struct ed_limit_bucket bucket; /* of tokens */
};

/* A server's report about a unit. */
struct report {
        int64_t at_ns;
        int64_t until_ns; /* 0: no report */
        int64_t left;     /* may be granted; below 0 what has refilled meanwhile was granted too */
        int64_t missing;  /* refills evenly until 'until_ns' */
};

struct eddy_limiter {
        struct ed_member member;
        void *line[2];
        struct ed_timer timer;
        int64_t paused_until_ns;
        int64_t burst_ns;
        struct report reports[UNITS];
        struct eddy_limiter_stats stats;
        uint32_t limits_count;
        struct limit *limits[EDDY_LIMITER_LIMITS_MAX];
};

/* A call that waits; on its stack. */
struct wait {
        struct ed_waiter waiter;
        uint64_t amounts[UNITS];
        int64_t at_ns; /* when it was granted */
};

static struct wait *wait_of(struct ed_waiter *waiter)
{
        return ed_container_of(waiter, struct wait, waiter);
}

/* --- limits --- */

static bool limit_is_valid(const struct eddy_limiter_limit *limit)
{
        return (unsigned) limit->unit < UNITS && limit->amount > 0 &&
               limit->amount <= EDDY_LIMITER_AMOUNT_MAX && limit->window_ns >= WINDOW_MIN_NS &&
               limit->window_ns <= WINDOW_MAX_NS;
}

/*
 * Set the amount of a limit.  The share is rounded up to a whole number, and its window is as long as
 * that number takes at the limit's rate: at least 'burst_ns'.
 */
static void limit_set(struct limit *limit, uint64_t amount, int64_t burst_ns)
{
        double window_ns = (double) limit->window_ns;
        double exact = (double) amount * (double) burst_ns / window_ns;
        uint64_t share = exact > 0 ? (uint64_t) exact : 0;

        if ((double) share < exact)
                share++;
        limit->whole.max = amount;
        limit->has_share = burst_ns > 0 && burst_ns < limit->window_ns && share < amount;
        limit->share.max = share > 0 ? share : 1;
        limit->share.length_ns = (int64_t) ((double) share * window_ns / (double) amount);
        limit->bucket.unit_ns = window_ns / (double) amount;
        limit->bucket.room_ns = limit->share.length_ns;
}

static int limit_add(eddy_limiter *limiter, const struct eddy_limiter_limit *wanted)
{
        struct limit *limit;

        if (limiter->limits_count == EDDY_LIMITER_LIMITS_MAX)
                return -ENOSPC;
        limit = ed_alloc(sizeof(*limit));
        if (!limit)
                return -ENOMEM;
        limit->unit = wanted->unit;
        limit->window_ns = wanted->window_ns;
        ed_window_init(&limit->whole, wanted->amount, wanted->window_ns);
        ed_window_init(&limit->share, 1, wanted->window_ns);
        limit->bucket.full_ns = 0;
        limit_set(limit, wanted->amount, limiter->burst_ns);
        limiter->limits[limiter->limits_count++] = limit;
        return 0;
}

static bool fits_at_all(const eddy_limiter *limiter, const uint64_t amounts[UNITS])
{
        for (uint32_t i = 0; i < limiter->limits_count; i++)
                if (amounts[limiter->limits[i]->unit] > limiter->limits[i]->whole.max)
                        return false;
        return amounts[EDDY_LIMITER_REQUESTS] <= EDDY_LIMITER_AMOUNT_MAX &&
               amounts[EDDY_LIMITER_TOKENS] <= EDDY_LIMITER_AMOUNT_MAX;
}

static int64_t later(int64_t a_ns, int64_t b_ns)
{
        return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t limit_fits_ns(struct limit *limit, uint64_t amount, int64_t now_ns)
{
        int64_t at_ns;

        if (amount == 0)
                return now_ns;
        at_ns = ed_window_fits_ns(&limit->whole, amount, now_ns);
        if (!limit->has_share)
                return at_ns;
        if (limit->unit == EDDY_LIMITER_TOKENS)
                return later(at_ns, ed_limit_bucket_fits_ns(&limit->bucket, amount, now_ns));
        return later(at_ns, ed_window_fits_ns(&limit->share, amount, now_ns));
}

static void limit_count(struct limit *limit, uint64_t amount, int64_t now_ns)
{
        ed_window_add(&limit->whole, amount, now_ns);
        if (limit->unit == EDDY_LIMITER_TOKENS)
                ed_limit_bucket_take(&limit->bucket, amount, now_ns);
        else if (limit->has_share)
                ed_window_add(&limit->share, amount, now_ns);
}

/* Corrects what was granted at 'at_ns'.  A debt of requests does not use their share. */
static void limit_correct(struct limit *limit, uint64_t before, uint64_t after, int64_t at_ns,
                          int64_t now_ns)
{
        if (after > before) {
                ed_window_add(&limit->whole, after - before, now_ns);
                if (limit->unit == EDDY_LIMITER_TOKENS)
                        ed_limit_bucket_take(&limit->bucket, after - before, now_ns);
                return;
        }
        ed_window_take_back(&limit->whole, before - after, at_ns, now_ns);
        if (limit->unit == EDDY_LIMITER_TOKENS)
                ed_limit_bucket_give_back(&limit->bucket, before - after);
        else if (limit->has_share)
                ed_window_take_back(&limit->share, before - after, at_ns, now_ns);
}

/* --- reports of the server --- */

/* Returns what the server would grant at 'now_ns', which is before the report's end. */
static int64_t report_left(const struct report *report, int64_t now_ns)
{
        double part =
                (double) (now_ns - report->at_ns) / (double) (report->until_ns - report->at_ns);

        return report->left + (int64_t) ((double) report->missing * part);
}

static int64_t report_fits_ns(const struct report *report, uint64_t amount, int64_t now_ns)
{
        double whole_ns = (double) (report->until_ns - report->at_ns);
        int64_t lacks, at_ns;

        if (amount == 0 || now_ns >= report->until_ns)
                return now_ns;
        lacks = (int64_t) amount - report_left(report, now_ns);
        if (lacks <= 0)
                return now_ns;
        lacks = (int64_t) amount - report->left;
        if (lacks >= report->missing)
                return report->until_ns;
        at_ns = report->at_ns + 1 +
                (int64_t) (whole_ns * (double) lacks / (double) report->missing);
        at_ns = later(at_ns, now_ns + 1);
        return at_ns < report->until_ns ? at_ns : report->until_ns;
}

/* Returns whether a new report is about the window of the last one, which has not ended. */
static bool is_same_window(const struct report *report, const struct eddy_ratelimit *seen,
                           int64_t now_ns)
{
        if (now_ns >= report->until_ns)
                return false;
        return seen->refills || seen->reset_ns <= report->until_ns - now_ns + WINDOW_SLACK_NS;
}

/* --- granting --- */

static int64_t fits_ns(eddy_limiter *limiter, const uint64_t amounts[UNITS], int64_t now_ns)
{
        int64_t at_ns = later(now_ns, limiter->paused_until_ns);

        for (uint32_t i = 0; i < limiter->limits_count; i++) {
                struct limit *limit = limiter->limits[i];

                at_ns = later(at_ns, limit_fits_ns(limit, amounts[limit->unit], now_ns));
        }
        for (int i = 0; i < UNITS; i++)
                at_ns = later(at_ns, report_fits_ns(&limiter->reports[i], amounts[i], now_ns));
        return at_ns;
}

static void grant(eddy_limiter *limiter, const uint64_t amounts[UNITS], int64_t now_ns)
{
        for (uint32_t i = 0; i < limiter->limits_count; i++)
                limit_count(limiter->limits[i], amounts[limiter->limits[i]->unit], now_ns);
        for (int i = 0; i < UNITS; i++)
                if (now_ns < limiter->reports[i].until_ns)
                        limiter->reports[i].left -= (int64_t) amounts[i];
        limiter->stats.granted++;
        limiter->stats.requests += amounts[EDDY_LIMITER_REQUESTS];
        limiter->stats.tokens += amounts[EDDY_LIMITER_TOKENS];
}

/* Sets the timer for the first waiter, which may be granted at 'at_ns'; 0: no task waits. */
static void set_timer(eddy_limiter *limiter, int64_t at_ns)
{
        limiter->stats.next_ns = at_ns;
        /* A pause without an end is not pending work. */
        if (at_ns > 0 && at_ns < INT64_MAX)
                ed_timer_arm(&limiter->member.loop->timers, &limiter->timer, at_ns);
        else
                ed_timer_cancel(&limiter->member.loop->timers, &limiter->timer);
}

static void serve(eddy_limiter *limiter)
{
        int64_t now_ns = ed_loop_now(limiter->member.loop), at_ns = 0;
        struct ed_waiter *first;

        while ((first = ed_waiters_first(limiter->line))) {
                struct wait *wait = wait_of(first);
                int result = EDDY_E_LIMITER_AMOUNT;

                if (fits_at_all(limiter, wait->amounts)) {
                        at_ns = fits_ns(limiter, wait->amounts, now_ns);
                        if (at_ns > now_ns)
                                break;
                        grant(limiter, wait->amounts, now_ns);
                        wait->at_ns = now_ns;
                        result = 0;
                }
                limiter->stats.waiting--;
                (void) ed_waiters_wake(limiter->line, result);
        }
        set_timer(limiter, first ? at_ns : 0);
}

static void on_timer(struct ed_timer *timer)
{
        serve(ed_container_of(timer, eddy_limiter, timer));
}

static bool leave_line(void *arg)
{
        struct wait *wait = arg;
        eddy_limiter *limiter = wait->waiter.item;
        bool first;

        limiter->stats.waiting--;
        first = ed_waiters_first(limiter->line) == &wait->waiter;
        ed_waiters_remove(&wait->waiter);
        if (first)
                serve(limiter);
        return true;
}

static void fill(struct eddy_reservation *reservation, const uint64_t amounts[UNITS], int64_t at_ns)
{
        if (reservation)
                *reservation =
                        (struct eddy_reservation){ .at_ns = at_ns,
                                                   .requests = amounts[EDDY_LIMITER_REQUESTS],
                                                   .tokens = amounts[EDDY_LIMITER_TOKENS] };
}

static int wait_in_line(eddy_limiter *limiter, struct ed_task *task, const uint64_t amounts[UNITS],
                        struct eddy_reservation *ret_reservation)
{
        struct wait wait = { .amounts = { amounts[0], amounts[1] } };
        int err;

        ed_waiter_init(&wait.waiter, task, limiter);
        /* Only the timer may grant: the task does not wait yet. */
        if (limiter->stats.waiting++ == 0)
                set_timer(limiter, fits_ns(limiter, amounts, ed_loop_now(limiter->member.loop)));
        ed_waiters_push(limiter->line, &wait.waiter);
        err = ed_suspend_park(task, "a limiter", leave_line, &wait);
        /* The limiter may have been closed meanwhile. */
        if (err >= 0)
                fill(ret_reservation, wait.amounts, wait.at_ns);
        return err;
}

/* Grants at once if that is possible.  Errors: -EAGAIN, EDDY_E_LIMITER_AMOUNT. */
static int try_reserve(eddy_limiter *limiter, const uint64_t amounts[UNITS],
                       struct eddy_reservation *ret_reservation)
{
        int64_t now_ns = ed_loop_now(limiter->member.loop);

        if (!fits_at_all(limiter, amounts))
                return EDDY_E_LIMITER_AMOUNT;
        if (limiter->stats.waiting > 0 || fits_ns(limiter, amounts, now_ns) > now_ns)
                return -EAGAIN;
        grant(limiter, amounts, now_ns);
        fill(ret_reservation, amounts, now_ns);
        return 0;
}

static int check_loop(const eddy_limiter *limiter)
{
        if (!limiter)
                return -EINVAL;
        return ed_member_check(&limiter->member);
}

int eddy_limiter_reserve(eddy_limiter *limiter, uint64_t requests, uint64_t tokens,
                         struct eddy_reservation *ret_reservation)
{
        uint64_t amounts[UNITS] = { requests, tokens };
        struct ed_task *task;
        int err;

        if (!limiter)
                return -EINVAL;
        err = ed_suspend_enter(&task);
        if (err >= 0)
                err = check_loop(limiter);
        if (err < 0)
                return err;
        err = try_reserve(limiter, amounts, ret_reservation);
        if (err == -EAGAIN)
                return wait_in_line(limiter, task, amounts, ret_reservation);
        ed_suspend_passed(task);
        return err;
}

int eddy_limiter_try_reserve(eddy_limiter *limiter, uint64_t requests, uint64_t tokens,
                             struct eddy_reservation *ret_reservation)
{
        uint64_t amounts[UNITS] = { requests, tokens };
        int err = check_loop(limiter);

        return err < 0 ? err : try_reserve(limiter, amounts, ret_reservation);
}

/* --- corrections --- */

static void correct(eddy_limiter *limiter, enum eddy_limiter_unit unit, int64_t at_ns,
                    uint64_t before, uint64_t after)
{
        struct report *report = &limiter->reports[unit];
        int64_t now_ns = ed_loop_now(limiter->member.loop);

        for (uint32_t i = 0; i < limiter->limits_count; i++)
                if (limiter->limits[i]->unit == unit)
                        limit_correct(limiter->limits[i], before, after, at_ns, now_ns);
        if (at_ns >= report->at_ns && now_ns < report->until_ns)
                report->left += (int64_t) before - (int64_t) after;
}

int eddy_limiter_reconcile(eddy_limiter *limiter, struct eddy_reservation *reservation,
                           uint64_t requests, uint64_t tokens)
{
        int err = check_loop(limiter);

        if (err < 0)
                return err;
        if (requests > EDDY_LIMITER_AMOUNT_MAX || tokens > EDDY_LIMITER_AMOUNT_MAX)
                return -EINVAL;
        correct(limiter, EDDY_LIMITER_REQUESTS, reservation->at_ns, reservation->requests,
                requests);
        correct(limiter, EDDY_LIMITER_TOKENS, reservation->at_ns, reservation->tokens, tokens);
        limiter->stats.requests += requests - reservation->requests;
        limiter->stats.tokens += tokens - reservation->tokens;
        reservation->requests = requests;
        reservation->tokens = tokens;
        serve(limiter);
        return 0;
}

int eddy_limiter_release(eddy_limiter *limiter, struct eddy_reservation *reservation)
{
        int err;

        if (reservation->requests == 0 && reservation->tokens == 0)
                return check_loop(limiter);
        err = eddy_limiter_reconcile(limiter, reservation, 0, 0);
        if (err == 0)
                limiter->stats.released++;
        return err;
}

/* --- pauses and reports --- */

int eddy_limiter_pause(eddy_limiter *limiter, int64_t until_ns)
{
        int err = check_loop(limiter);

        if (err < 0 ||
            until_ns <= later(limiter->paused_until_ns, ed_loop_now(limiter->member.loop)))
                return err;
        limiter->paused_until_ns = until_ns;
        limiter->stats.pauses++;
        serve(limiter);
        return 0;
}

int eddy_limiter_resume(eddy_limiter *limiter)
{
        int err = check_loop(limiter);

        if (err < 0)
                return err;
        limiter->paused_until_ns = 0;
        serve(limiter);
        return 0;
}

int eddy_limiter_learn(eddy_limiter *limiter, enum eddy_limiter_unit unit,
                       const struct eddy_ratelimit *seen)
{
        struct report *report;
        int64_t now_ns, until_ns, left;
        int err = check_loop(limiter);

        if (err < 0 || (unsigned) unit >= UNITS || seen->remaining < 0 || seen->reset_ns < 0)
                return err;
        report = &limiter->reports[unit];
        now_ns = ed_loop_now(limiter->member.loop);
        until_ns = ed_time_after(now_ns, seen->reset_ns);
        left = seen->remaining < INT64_MAX / 4 ? seen->remaining : INT64_MAX / 4;
        /* The server does not count what is still on its way to it. */
        if (is_same_window(report, seen, now_ns) && report_left(report, now_ns) < left)
                left = report_left(report, now_ns);
        *report = (struct report){ .at_ns = now_ns, .until_ns = until_ns, .left = left };
        if (seen->refills && seen->limit > left)
                report->missing = seen->limit - left;
        serve(limiter);
        return 0;
}

static void remove_limit(eddy_limiter *limiter, uint32_t i)
{
        ed_free(limiter->limits[i]);
        limiter->limits[i] = limiter->limits[--limiter->limits_count];
}

/* From the last to the first: a limit that is removed is replaced by the last one. */
static int change_limit(eddy_limiter *limiter, const struct eddy_limiter_limit *wanted)
{
        bool found = false;

        for (uint32_t i = limiter->limits_count; i-- > 0;) {
                struct limit *limit = limiter->limits[i];

                if (limit->unit != wanted->unit || limit->window_ns != wanted->window_ns)
                        continue;
                found = true;
                if (wanted->amount == 0)
                        remove_limit(limiter, i);
                else
                        limit_set(limit, wanted->amount, limiter->burst_ns);
        }
        return found || wanted->amount == 0 ? 0 : limit_add(limiter, wanted);
}

int eddy_limiter_set_limit(eddy_limiter *limiter, const struct eddy_limiter_limit *limit)
{
        struct eddy_limiter_limit checked = *limit;
        int err = check_loop(limiter);

        if (err < 0)
                return err;
        if (checked.amount == 0)
                checked.amount = 1;
        if (!limit_is_valid(&checked))
                return -EINVAL;
        err = change_limit(limiter, limit);
        if (err >= 0)
                serve(limiter);
        return err;
}

void eddy_limiter_stats(const eddy_limiter *limiter, struct eddy_limiter_stats *ret_stats)
{
        if (!limiter) {
                *ret_stats = (struct eddy_limiter_stats){ 0 };
                return;
        }
        *ret_stats = limiter->stats;
        if (limiter->member.loop && limiter->paused_until_ns > ed_loop_now(limiter->member.loop))
                ret_stats->paused_until_ns = limiter->paused_until_ns;
}

/* --- making and freeing --- */

static int add_all(eddy_limiter *limiter, const struct eddy_limiter_opts *opts)
{
        int err = 0;

        if (opts->limits_count > EDDY_LIMITER_LIMITS_MAX)
                return -EINVAL;
        for (size_t i = 0; i < opts->limits_count && err >= 0; i++)
                err = limit_is_valid(&opts->limits[i]) ? limit_add(limiter, &opts->limits[i])
                                                       : -EINVAL;
        return err;
}

int eddy_limiter_new(const struct eddy_limiter_opts *opts, eddy_limiter **ret_limiter)
{
        static const struct eddy_limiter_opts defaults;
        eddy_limiter *limiter;
        int err;

        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        if (!opts)
                opts = &defaults;
        limiter = ed_alloc_zero(sizeof(*limiter));
        if (!limiter)
                return -ENOMEM;
        ed_member_join(&limiter->member, ed_loop_current, NULL);
        limiter->burst_ns = opts->burst_ns ? opts->burst_ns : BURST_DEFAULT_NS;
        ed_timer_init(&limiter->timer, on_timer);
        err = add_all(limiter, opts);
        if (err < 0) {
                eddy_limiter_close(limiter);
                return err;
        }
        *ret_limiter = limiter;
        return 0;
}

void eddy_limiter_close(eddy_limiter *limiter)
{
        if (!limiter || !ed_misuse_may_close(&limiter->member, "a limiter"))
                return;
        if (limiter->stats.waiting > 0) {
                ed_timer_cancel(&limiter->member.loop->timers, &limiter->timer);
                while (ed_waiters_wake(limiter->line, EDDY_E_LIMITER_CLOSED))
                        continue;
        }
        while (limiter->limits_count > 0)
                ed_free(limiter->limits[--limiter->limits_count]);
        ed_member_leave(&limiter->member);
        ed_free(limiter);
}
