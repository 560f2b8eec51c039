/*
 * sys/poll/sleeper.h - how a loop's thread sleeps, and how other threads wake it.
 *
 * A word records whether the thread sleeps, and how: in a futex on that word while it has no
 * descriptors to wait for, else in its poller, which a write to an eventfd wakes. A waker first
 * changes the word, and makes a system call only if the thread is asleep. A wake that arrives while
 * the thread is awake ends its next sleep at once.
 */
#ifndef ED_SYS_POLL_SLEEPER_H
#define ED_SYS_POLL_SLEEPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum ed_sleep {
        ED_SLEEP_NONE,
        ED_SLEEP_WOKEN, /* awake, and the next sleep ends at once */
        ED_SLEEP_FUTEX,
        ED_SLEEP_POLLER,
};

struct ed_sleeper {
        _Atomic uint32_t state;
        uint32_t between; /* state between two sleeps: ED_SLEEP_POLLER if another loop polls us */
        int wake_fd;      /* an eventfd: readable after a wake from the poller */
};

/* Errors: -EMFILE, -ENFILE, -ENOMEM. */
int ed_sleeper_init(struct ed_sleeper *sleeper);
void ed_sleeper_fini(struct ed_sleeper *sleeper);

/* --- called on the loop's own thread --- */

/* Prepare to sleep. Returns false if the sleeper has been woken already. */
bool ed_sleeper_begin(struct ed_sleeper *sleeper, enum ed_sleep how);
/*
 * After begin with ED_SLEEP_FUTEX: sleep until woken or 'timeout_ns' has passed (negative: no
 * limit). May return early.
 */
void ed_sleeper_sleep(struct ed_sleeper *sleeper, int64_t timeout_ns);
/*
 * Awake again: all writes before the wake are visible now. Without a sleep, consumes a pending
 * wake.
 */
void ed_sleeper_end(struct ed_sleeper *sleeper);
/* From now on another poller waits for 'wake_fd' between the sleeps. */
void ed_sleeper_share(struct ed_sleeper *sleeper);

/* --- any thread, signal handlers too --- */

void ed_sleeper_wake(struct ed_sleeper *sleeper);

#endif
