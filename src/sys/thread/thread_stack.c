/*
 * sys/thread/thread_stack.c - the initial stack of a thread.
 */
#include "sys/thread/thread_stack.h"

#include <pthread.h>

/* This thread's stack. For the main thread the C library reads all of /proc/self/maps, so ask once. */
static _Thread_local void *stack_base;
static _Thread_local size_t stack_bytes;

void ed_sys_thread_stack(void **ret_base, size_t *ret_bytes)
{
        pthread_attr_t attr;

        if (!stack_base && pthread_getattr_np(pthread_self(), &attr) == 0) {
                (void) pthread_attr_getstack(&attr, &stack_base, &stack_bytes);
                (void) pthread_attr_destroy(&attr);
        }
        *ret_base = stack_base;
        *ret_bytes = stack_bytes;
}

bool ed_sys_on_thread_stack(const void *at)
{
        size_t bytes;
        void *base;

        ed_sys_thread_stack(&base, &bytes);
        return (const char *) at >= (const char *) base &&
               (const char *) at < (const char *) base + bytes;
}
