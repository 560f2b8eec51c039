/*
 * sys/process/fork.h - children of fork().
 */
#ifndef ED_SYS_PROCESS_FORK_H
#define ED_SYS_PROCESS_FORK_H

#include <stdbool.h>

#include "base/def.h"

/*
 * From now on call 'in_child' in each child of fork(), on the thread that forked. Call once per
 * process, with one function.
 */
void ed_sys_fork_watch(void (*in_child)(void));

/* Returns the number of forks between the process that called ed_sys_fork_watch() and this one. */
ED_SHARED unsigned ed_sys_forks(void);

/*
 * Returns true if the process was forked since ed_sys_forks() returned 'forks': objects made then
 * are the parent's, and these are copies.
 */
static inline bool ed_sys_forked_since(unsigned forks)
{
        return forks != ed_sys_forks();
}

#endif
