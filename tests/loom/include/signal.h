/*
 * signal.h - in place of the system's: handlings of signals that the search
 * knows of (dfs.h).  None of them reaches the process.
 */
#ifndef LOOM_SIGNAL_H
#define LOOM_SIGNAL_H

#include_next <signal.h>

int loom_sigaction(int signo, const struct sigaction *action, struct sigaction *ret_former);
void loom_signal(int signo, void (*handler)(int signo));

/* A signal comes to this thread.  It may meet the handling that was, on its way. */
int loom_raise(int signo);

/* How often a signal met its default handling. */
extern int loom_deaths;

/* All handlings as in a new process. */
void loom_signals_reset(void);

#define sigaction(signo, action, ret_former) loom_sigaction(signo, action, ret_former)
#define signal(signo, handler)               loom_signal(signo, handler)
#define raise(signo)                         loom_raise(signo)

/*
 * sys/fault/handler.c, as sys/poll/signals.c calls it.  Others call the library's, on the process's
 * signals.
 */
#define ed_handler_install loom_handler_install
#define ed_handler_now     loom_handler_now
#define ed_handler_pass_on loom_handler_pass_on
#define ed_handler_remove  loom_handler_remove

#endif
