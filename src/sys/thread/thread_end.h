/*
 * sys/thread/thread_end.h - calls at the end of a thread.
 */
#ifndef ED_SYS_THREAD_THREAD_END_H
#define ED_SYS_THREAD_THREAD_END_H

#include "base/def.h"

/* Users of thread-end calls, in calling order. */
enum { ED_THREAD_END_KIT, ED_THREAD_END_RUNS, ED_THREAD_ENDS };

/*
 * Call 'fn' when this thread ends, but not when the process does. Each user has one function per
 * process. If the system has no room for the call, it is not made.
 * NULL: stop watching, since the library may be unloaded before the thread ends.
 */
ED_SHARED void ed_sys_thread_end_watch(int who, void (*fn)(void));

#endif
