/*
 * sys/poll/signals.h - signals that loops receive.
 *
 * Signal handlers belong to the process: the former ones are restored when the last user of a
 * signal has closed it, and in a child of fork().
 */
#ifndef ED_SYS_POLL_SIGNALS_H
#define ED_SYS_POLL_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/sys.h"

/* Limits on open slots: of the program, and of runs in debug mode, which also open SIGQUIT. */
enum { ED_SIGNALS_MAX = 320, ED_SIGNALS_QUIT_MAX = 64 };

/* A bit for each signal, 1 to 64. */
static inline uint64_t ed_signal_bit(int signo)
{
        return (uint64_t) 1 << (signo - 1);
}

/*
 * Returns 0 if a signal can be received, -EINVAL if there is no such signal, or
 * EDDY_E_SIGNAL_UNCATCHABLE.
 */
int ed_signal_check(int signo);

/*
 * Receive the signals in the set 'wanted': poll() of 'sys' reports an event for 'target' after some
 * have arrived. Returns a slot. Errors: -ENOSPC.
 */
int ed_signals_open(struct ed_sys *sys, uint64_t wanted, struct ed_target *target);
void ed_signals_close(int slot);
/* Close all slots of a table that will not be polled again. */
void ed_signals_drop(struct ed_sys *sys);

/*
 * Open SIGQUIT, unless the program handles it. Errors: -ENOSPC; -EBUSY if the program handles
 * SIGQUIT.
 */
int ed_signals_open_quit(struct ed_sys *sys, struct ed_target *target);

/* Returns the signals that arrived since the last call. */
uint64_t ed_signals_take(int slot);

/*
 * For a table's poll(): ed_signals_have_come() returns true if signals may have arrived, for any
 * table, since the last poll; ed_signals_collect() stores the events for the table's targets.
 * 'seen' begins as 0.
 */
bool ed_signals_have_come(unsigned seen);
int ed_signals_collect(struct ed_sys *sys, unsigned *seen, struct ed_event *events, int max);

enum { ED_STOPS_MAX = 1024 };

/*
 * Let SIGINT and SIGTERM stop loops: the first signal is kept for ed_sys_stop_signal() and wakes
 * them, the second ends the process. Applies only to signals with the default handling that no
 * slot has opened.
 *
 * The first loop calls ed_sys_stop_install(), which returns false if other loops have the signals.
 * Loops that belong to the first call ed_sys_stop_share() before the first loop leaves; it returns
 * false if there are ED_STOPS_MAX. Each loop that got true calls ed_sys_stop_remove().
 */
bool ed_sys_stop_install(struct ed_sys *sys);
bool ed_sys_stop_share(struct ed_sys *sys);
void ed_sys_stop_remove(struct ed_sys *sys);
/* Returns the signal that arrived, or 0. */
int ed_sys_stop_signal(void);

/* Call in a child of fork(): discards the parent's signals. */
void ed_signals_forget(void);

#endif
