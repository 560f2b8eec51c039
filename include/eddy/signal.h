/*
 * eddy/signal.h - waiting for signals in tasks.
 *
 * While a signal is open, its previous handling is suspended; it is restored when
 * the last eddy_signal that receives the signal is closed or the run of that
 * eddy_signal ends.  All eddy_signals that are open for a signal receive it.  An
 * open SIGINT or SIGTERM does not cancel the main task.
 */
#ifndef EDDY_SIGNAL_H
#define EDDY_SIGNAL_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

typedef struct eddy_signal eddy_signal;

/* How many may be open in a process at once, in all loops together. */
enum { EDDY_SIGNALS_MAX = 320 };

/*
 * Receive the 'n' signals in 'signos' from now on.
 *
 * Suspends: no.
 * Errors: -EINVAL  a number is not a signal, or n is 0
 *         EDDY_E_SIGNAL_UNCATCHABLE  SIGKILL, SIGSTOP, or a fault such as SIGSEGV
 *         -ENOSPC  EDDY_SIGNALS_MAX are open
 *         -ENOMEM, EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_signal', to be closed by eddy_signal_close().
 */
EDDY_API EDDY_MUST_USE int eddy_signal_open(const int *signos, size_t n, eddy_signal **ret_signal);

/*
 * Wait for one of the signals and return its number.  Returns a pending signal at
 * once; repeats are merged.
 *
 * Suspends: yes.
 * Errors: -ECANCELED
 *         -EBUSY  another task is waiting for the same eddy_signal
 *         -EINVAL  'signal' is NULL
 *         EDDY_E_LOOP_FORKED  'signal' was opened before this process was forked
 */
EDDY_API EDDY_MUST_USE int eddy_signal_wait(eddy_signal *signal);

/*
 * Stop receiving the signals and free 'signal'.  A waiter gets -ECANCELED.  May be
 * called after the run has ended.  NULL is ignored.
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
