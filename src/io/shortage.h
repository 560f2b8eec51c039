/*
 * io/shortage.h - accepting while descriptors or memory are short: it pauses,
 * goes on when there is room, and reports each episode once.
 */
#ifndef ED_IO_SHORTAGE_H
#define ED_IO_SHORTAGE_H

#include <errno.h>
#include <stdbool.h>

#include "scope/task.h"

/* How long accepting pauses before the next try. */
#define ED_SHORTAGE_PAUSE_NS EDDY_SEC(1)

/* An episode is over when so much time has passed without a failed try. */
#define ED_SHORTAGE_EPISODE_NS EDDY_MIN(1)

/* One per accepting task; ready when zeroed. */
struct ed_shortage {
        bool met;        /* at some time */
        int64_t last_ns; /* the last time */
};

/* Whether an error means that the process or the system has no room at present. */
static inline bool ed_shortage_is(int error)
{
        return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM ||
               error == -ENOSPC;
}

/* A try of 'task' to take the next connection failed for 'error', and another one will follow. */
ED_SHARED void ed_shortage_met(struct ed_shortage *shortage, const struct ed_task *task, int error);

#endif
