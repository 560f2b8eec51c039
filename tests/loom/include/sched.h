/*
 * sched.h - in place of the system's: who gives way waits for another thread
 * of the search to change something (dfs.h).
 */
#ifndef LOOM_SCHED_H
#define LOOM_SCHED_H

#include_next <sched.h>

#include "dfs.h"

static inline int loom_yield(void)
{
        dfs_yield();
        return 0;
}

#define sched_yield() loom_yield()

#endif
