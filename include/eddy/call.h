/*
 * eddy/call.h - a scope in one call: a function under a deadline, or several
 * functions side by side.
 */
#ifndef EDDY_CALL_H
#define EDDY_CALL_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/*
 * Call fn(arg) in a scope with a deadline 'timeout_ns' from now.  A result of
 * 0 or more is returned even if the deadline has passed; a failure of fn other
 * than -ECANCELED is returned unchanged.
 *
 * Suspends: as fn does.
 * Errors: -ETIMEDOUT  the deadline passed and fn returned -ECANCELED
 */
EDDY_API int eddy_call_timeout(eddy_task_fn *fn, void *arg, int64_t timeout_ns);

/* A call of eddy_gather() or eddy_race(): the function, its argument, its result. */
struct eddy_call {
        eddy_task_fn *fn;
        void *arg;
        int result;       /* -ECANCELED if the call was not started */
        const char *name; /* static, as for a start call (eddy/task.h); NULL: none */
};

/* EDDY_CALL(load, &page): fn(arg) in a task named "load" in dumps and reports. */
#define EDDY_CALL(...) eddy_call_named(__VA_ARGS__, #__VA_ARGS__)

static inline struct eddy_call eddy_call_named(eddy_task_fn *fn, void *arg, const char *name)
{
        struct eddy_call call = { fn, arg, 0, name };

        return call;
}

enum { EDDY_GATHER_KEEP_GOING = 1 << 0 }; /* a failure does not cancel the other calls */

/*
 * Run 'n' calls as tasks and wait for all of them; each result is stored in
 * its element of 'calls'.  By default the first failure cancels the other
 * calls and is returned.  With EDDY_GATHER_KEEP_GOING all calls run to their
 * end and 0 is returned even if calls failed, unless the wait itself was
 * cancelled or a call could not be started.
 *
 * Suspends: yes.
 * Errors: the first failing call's; -ECANCELED; -ENOMEM
 */
EDDY_API int eddy_gather(struct eddy_call *calls, size_t n, unsigned flags);

/*
 * Run 'n' calls as tasks until one of them returns 0 or more, cancel the
 * others, wait for them, and return the index of the winner.  Results are
 * stored in 'calls'; the result of a call that was never started is -ECANCELED.
 *
 * If 'stagger_ns' is 0, all calls start at once.  If it is above 0, the next
 * call starts 'stagger_ns' after the previous one, or at once when a call fails,
 * as in RFC 8305, section 5.  If it is below 0, the next call starts only when a
 * call fails.
 *
 * Other calls may succeed before the cancel reaches them: check every result of
 * 0 or more, not only the winner's, and release what it returned.  A success
 * also wins over a cancel of the caller, which the next call then reports.
 *
 * Suspends: yes.
 * Errors: the first failure, if all calls failed; a call that could not be
 *                     started fails with -ENOMEM
 *         -ECANCELED  the caller was cancelled, and no call succeeded
 *         -EINVAL     n is 0 or above INT_MAX; nothing was done
 */
EDDY_API EDDY_MUST_USE int eddy_race(struct eddy_call *calls, size_t n, int64_t stagger_ns);

EDDY_END_DECLS

#endif
