/*
 * sys/thread/thread_stack.h - the initial stack of a thread.
 */
#ifndef ED_SYS_THREAD_THREAD_STACK_H
#define ED_SYS_THREAD_THREAD_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"

/* Returns the calling thread's stack: lowest address and size. */
void ed_sys_thread_stack(void **ret_base, size_t *ret_bytes);

/* Returns true if an address is on the calling thread's initial stack. */
ED_SHARED bool ed_sys_on_thread_stack(const void *at);

#endif
