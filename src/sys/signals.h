/*
 * sys/signals.h - signals that loops receive.
 *
 * Handlings are the process's: what is installed here is put back when the
 * last one who wanted the signal has gone, and in a child of fork().
 */
#ifndef ED_SYS_SIGNALS_H
#define ED_SYS_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/sys.h"

/* So many may be opened, and so many runs in debug mode may have SIGQUIT besides. */
enum { ED_SIGNALS_MAX = 64, ED_SIGNALS_QUIT_MAX = 64 };

/* A bit for each signal, 1 to 64. */
static inline uint64_t ed_signal_bit(int signo)
{
        return (uint64_t) 1 << (signo - 1);
}

/*
 * Whether a signal can be received: 0, -EINVAL (there is none of that number)
 * or EDDY_E_SIGNAL_UNCATCHABLE.
 */
int ed_signal_check(int signo);

/*
 * Receive the signals in the set 'wanted': 'target' is told through poll() of
 * 'sys' after some have come.  Returns a slot.  Errors: -ENOSPC.
 */
int ed_signals_open(struct ed_sys *sys, uint64_t wanted, struct ed_target *target);
void ed_signals_close(int slot);
/* All of a table that nobody will ask any more. */
void ed_signals_drop(struct ed_sys *sys);

/*
 * The same of SIGQUIT, unless the program handles it.  Errors: -ENOSPC; -EBUSY,
 * it does.
 */
int ed_signals_open_quit(struct ed_sys *sys, struct ed_target *target);

/* The signals that came since they were asked for last. */
uint64_t ed_signals_take(int slot);

/*
 * For a table's poll(): whether signals may have come, to any table, since it
 * was asked last, and the events for its targets.  'seen' begins as 0.
 */
bool ed_signals_have_come(unsigned seen);
int ed_signals_collect(struct ed_sys *sys, unsigned *seen, struct ed_event *events, int max);

/*
 * Let SIGINT and SIGTERM stop one loop: the first is kept for
 * ed_sys_stop_signal() and wakes 'sys', the second ends the process by that
 * signal.  Only where the handling is the default one, and only of signals
 * that nobody has opened; one loop at a time.  Returns whether it was installed.
 */
bool ed_sys_stop_install(struct ed_sys *sys);
void ed_sys_stop_remove(void);
/* The signal that came, or 0. */
int ed_sys_stop_signal(void);

/* In a child of fork(): the parent's signals are not ours. */
void ed_signals_forget(void);

#endif
