/*
 * eddy/signal.h - signals as something a task waits for.
 *
 * While a signal is open here, its former handling is suspended; it comes back
 * when the last one who opened it closes it or its run ends.  Everyone who
 * opened a signal is told of it.  SIGINT and SIGTERM opened here no longer
 * cancel the main task.
 */
#ifndef EDDY_SIGNAL_H
#define EDDY_SIGNAL_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_signal eddy_signal;

/* How many may be open in a process at once, all loops together. */
enum { EDDY_SIGNALS_MAX = 64 };

/*
 * Receive the 'n' signals in 'signos' from now on.
 *
 * Suspends: no.
 * Errors: -EINVAL  a number is no signal, or n is 0
 *         EDDY_E_SIGNAL_UNCATCHABLE  SIGKILL, SIGSTOP; SIGSEGV and its like, which
 *                  are no messages
 *         -ENOSPC  EDDY_SIGNALS_MAX are open
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_signal', to be closed by eddy_signal_close().
 */
EDDY_API EDDY_MUST_USE int eddy_signal_open(const int *signos, size_t n, eddy_signal **ret_signal);

/*
 * Wait for one of them; returns its number.  One that came since it was opened
 * and was not given yet is given at once; the same one twice before it is
 * given is given once.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 *         -EBUSY  another task waits for the same eddy_signal
 *         EDDY_E_LOOP_FORKED  it was opened before this process was forked
 */
EDDY_API EDDY_MUST_USE int eddy_signal_wait(eddy_signal *signal);

/*
 * Receive them no longer.  Who waits for it gets -ECANCELED.  May come after
 * the run has ended.  NULL is fine.
 *
 * Suspends: no.
 */
EDDY_API void eddy_signal_close(eddy_signal *signal);

static inline void eddy_signal_auto_release(eddy_signal **signal)
{
        eddy_signal_close(*signal);
}

EDDY_END_DECLS

#endif
