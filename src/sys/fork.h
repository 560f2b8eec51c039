/*
 * sys/fork.h - children of fork().
 */
#ifndef ED_SYS_FORK_H
#define ED_SYS_FORK_H

#include <stdbool.h>

#include "base/def.h"

/*
 * Call 'in_child' in each child of fork(), on the thread that forked, from now
 * on.  Once for a process; one function.
 */
void ed_sys_fork_watch(void (*in_child)(void));

/* How many forks lie between the process that asked for the watch and this one. */
ED_SHARED unsigned ed_sys_forks(void);

/*
 * Whether the process was forked since ed_sys_forks() gave 'forks': what was
 * made then is its parent's, and this a copy.
 */
static inline bool ed_sys_forked_since(unsigned forks)
{
        return forks != ed_sys_forks();
}

#endif
