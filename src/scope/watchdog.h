/*
 * scope/watchdog.h - reports a task that keeps its loop too long.
 */
#ifndef ED_SCOPE_WATCHDOG_H
#define ED_SCOPE_WATCHDOG_H

struct ed_ticker;

/* Looks at a run (struct ed_run).  Runs on the watchdog's thread. */
void ed_watchdog_look(void *run, struct ed_ticker *watchdog);

#endif
