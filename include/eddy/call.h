/*
 * eddy/call.h - scopes in one call: a function under a deadline, several side
 * by side.
 */
#ifndef EDDY_CALL_H
#define EDDY_CALL_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/*
 * fn(arg) under a deadline: a scope in one call.  A result of 0 or more wins
 * over the deadline; a failure of its own is returned as it is.
 *
 * Suspends: as fn does.
 * Errors: -ETIMEDOUT  the deadline passed and fn returned -ECANCELED
 */
EDDY_API int eddy_call_timeout(eddy_task_fn *fn, void *arg, int64_t timeout_ns);

/* A call of eddy_gather() or eddy_race(): what to call, and what it returned. */
struct eddy_call {
        eddy_task_fn *fn;
        void *arg;
        int result;       /* -ECANCELED if it was not started */
        const char *name; /* static: as a start call takes it (eddy/task.h); NULL: none */
};

/* EDDY_CALL(load, &page): fn(arg) whose task is called "load" in dumps and reports. */
#define EDDY_CALL(...) eddy_call_named(__VA_ARGS__, #__VA_ARGS__)

static inline struct eddy_call eddy_call_named(eddy_task_fn *fn, void *arg, const char *name)
{
        struct eddy_call call = { fn, arg, 0, name };

        return call;
}

enum { EDDY_GATHER_KEEP_GOING = 1 << 0 }; /* a failure cancels no other call */

/*
 * Run 'n' calls as tasks and wait for all; results stand in 'calls', in
 * order.  By default the first failure cancels the others and is returned;
 * with EDDY_GATHER_KEEP_GOING all run to their end and 0 is returned even
 * if calls failed, unless the wait itself was cancelled or a call could not
 * be started.
 *
 * Suspends: yes.
 * Errors: the first failing call's; -ECANCELED; -ENOMEM
 */
EDDY_API int eddy_gather(struct eddy_call *calls, size_t n, unsigned flags);

/*
 * The first good answer: run 'n' calls as tasks until one of them returns 0 or
 * more, cancel the others, wait for them, and return the index of the winner.
 * Results are in 'calls'; that of a call which was never started is -ECANCELED.
 *
 * With 'stagger_ns' 0 all calls start at once.  Above 0, the next call starts
 * that long after the one before it, or at once when a call fails, as connections
 * do in RFC 8305, section 5; below 0, only when a call fails.
 *
 * A call may succeed before the cancel reaches it: look at each result of 0 or
 * more, not only at the winner's, and give back what it stands for.  A success
 * also wins over a cancel of the caller, which the next call then reports.
 *
 * Suspends: yes.
 * Errors: the failure that came first, if all calls failed; a call that could not
 *                     be started has failed with -ENOMEM
 *         -ECANCELED  the caller was cancelled, and no call succeeded
 *         -EINVAL     n is 0 or above INT_MAX; nothing was done
 */
EDDY_API EDDY_MUST_USE int eddy_race(struct eddy_call *calls, size_t n, int64_t stagger_ns);

EDDY_END_DECLS

#endif
