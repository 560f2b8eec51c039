/*
 * sys/thread_end.h - calls at the end of a thread.
 */
#ifndef ED_SYS_THREAD_END_H
#define ED_SYS_THREAD_END_H

#include "base/def.h"

/* Who wants to know that a thread ends; the first is called first. */
enum { ED_THREAD_END_KIT, ED_THREAD_END_RUNS, ED_THREAD_ENDS };

/*
 * Call 'fn' on this thread when it ends; not when the process does.  One
 * function for each of them in a process.  Where the system has no room for
 * that, nothing is called.
 * NULL: not any more, since its library may be unloaded before the thread ends.
 */
ED_SHARED void ed_sys_thread_end_watch(int who, void (*fn)(void));

#endif
