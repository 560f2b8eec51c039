/*
 * sys/thread_stack.h - the stack that a thread began with.
 */
#ifndef ED_SYS_THREAD_STACK_H
#define ED_SYS_THREAD_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"

/* The stack of the calling thread: lowest address and size. */
void ed_sys_thread_stack(void **ret_base, size_t *ret_bytes);

/* Whether an address is on the stack that the calling thread began with. */
ED_SHARED bool ed_sys_on_thread_stack(const void *at);

#endif
