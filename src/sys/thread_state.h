/*
 * sys/thread_state.h - what the kernel says of a thread of this process, in
 * /proc.
 */
#ifndef ED_SYS_THREAD_STATE_H
#define ED_SYS_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ed_thread_state {
        bool is_blocked; /* it waits in a system call, or for a page of its memory */
        long call; /* if it is blocked: the system call's number; below 0: not known, or none */
        uint64_t blocks; /* how often it has been blocked so far */
        uint64_t masked; /* the signals that it blocks, a bit each */
};

/* Errors: -ENOENT  /proc does not say; and those of open(2). */
int ed_thread_state(pid_t thread, struct ed_thread_state *ret_state);

/* The name of a system call that may block, or NULL. */
const char *ed_system_call_name(long call);

#endif
