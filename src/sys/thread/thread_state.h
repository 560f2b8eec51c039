/*
 * sys/thread/thread_state.h - the kernel's information about a thread of this process, from /proc.
 */
#ifndef ED_SYS_THREAD_THREAD_STATE_H
#define ED_SYS_THREAD_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ed_thread_state {
        bool is_blocked; /* waits in a system call, or for a page of its memory */
        long call;       /* system call that blocks the thread; negative: unknown or none */
        uint64_t blocks; /* number of times the thread has blocked so far */
        uint64_t masked; /* blocked signals, one bit each */
};

/* Errors: -ENOENT  /proc lacks the information; and those of open(2). */
int ed_thread_state(pid_t thread, struct ed_thread_state *ret_state);

/* Returns the name of a system call that may block, or NULL. */
const char *ed_system_call_name(long call);

#endif
