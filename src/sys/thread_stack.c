/*
 * sys/thread_stack.c - the initial stack of a thread.
 */
#include "sys/thread_stack.h"

#include <pthread.h>

void ed_sys_thread_stack(void **ret_base, size_t *ret_bytes)
{
        pthread_attr_t attr;

        *ret_base = NULL;
        *ret_bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attr) == 0) {
                (void) pthread_attr_getstack(&attr, ret_base, ret_bytes);
                (void) pthread_attr_destroy(&attr);
        }
}

bool ed_sys_on_thread_stack(const void *at)
{
        size_t bytes;
        void *base;

        ed_sys_thread_stack(&base, &bytes);
        return (const char *) at >= (const char *) base &&
               (const char *) at < (const char *) base + bytes;
}
