/*
 * sys/sleeper.h - how the thread of a loop sleeps, and how others wake it.
 *
 * One word says whether it sleeps, and in what: in a futex on the word itself
 * as long as it has no descriptor to wait for, else in its poller, which a
 * write to an eventfd ends.  Who wakes it changes the word first, and makes a
 * system call only if it does sleep.  A wake that comes while it is awake ends
 * its next sleep before it begins.
 */
#ifndef ED_SYS_SLEEPER_H
#define ED_SYS_SLEEPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum ed_sleep {
        ED_SLEEP_NONE,
        ED_SLEEP_WOKEN, /* awake, and the next sleep is over at once */
        ED_SLEEP_FUTEX,
        ED_SLEEP_POLLER,
};

struct ed_sleeper {
        _Atomic uint32_t state;
        uint32_t between; /* the state between two sleeps: ED_SLEEP_POLLER if others wait for us */
        int wake_fd;      /* an eventfd: readable after a wake out of the poller */
};

/* Errors: -EMFILE, -ENFILE, -ENOMEM. */
int ed_sleeper_init(struct ed_sleeper *sleeper);
void ed_sleeper_fini(struct ed_sleeper *sleeper);

/* --- its own thread --- */

/* About to sleep; false: it has been woken already. */
bool ed_sleeper_begin(struct ed_sleeper *sleeper, enum ed_sleep how);
/* After ED_SLEEP_FUTEX: until it is woken, for at most so long (below 0: for ever), or less. */
void ed_sleeper_sleep(struct ed_sleeper *sleeper, int64_t timeout_ns);
/* Awake; all that was done before a wake is seen now.  Without a sleep: takes a wake that came. */
void ed_sleeper_end(struct ed_sleeper *sleeper);
/* From now on somebody else waits for 'wake_fd' between the sleeps. */
void ed_sleeper_share(struct ed_sleeper *sleeper);

/* --- any thread, signal handlers too --- */

void ed_sleeper_wake(struct ed_sleeper *sleeper);

#endif
