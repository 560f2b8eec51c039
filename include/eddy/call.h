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

/* One call of eddy_gather(): what to call, and what it returned. */
struct eddy_call {
        eddy_task_fn *fn;
        void *arg;
        int result;       /* -ECANCELED where it could not be started */
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

EDDY_END_DECLS

#endif
