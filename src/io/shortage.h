/*
 * io/shortage.h - accepting while descriptors or memory are short: accepting pauses, continues when
 * there is room, and reports each episode once.
 */
#ifndef ED_IO_SHORTAGE_H
#define ED_IO_SHORTAGE_H

#include <errno.h>
#include <stdbool.h>

#include "scope/task.h"

/* Pause before the next try. */
#define ED_SHORTAGE_PAUSE_NS EDDY_SEC(1)

/* An episode ends after this time without a failed try. */
#define ED_SHORTAGE_EPISODE_NS EDDY_MIN(1)

/* Each listener and each server has one; ready when zeroed. */
struct ed_shortage {
        bool met;        /* at least one try has failed */
        int64_t last_ns; /* time of the last failure */
};

/* Returns true if an error means that the process or the system is short of a resource. */
static inline bool ed_shortage_is(int error)
{
        return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM ||
               error == -ENOSPC;
}

/* Record that a try by 'task' to accept a connection failed with 'error' and will be repeated. */
ED_SHARED void ed_shortage_met(struct ed_shortage *shortage, const struct ed_task *task, int error);

#endif
