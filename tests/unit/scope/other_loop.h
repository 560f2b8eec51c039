/*
 * other_loop.h - a second loop on a thread of its own, while the first stands
 * still: what a primitive says that both use.
 */
#ifndef OTHER_LOOP_H
#define OTHER_LOOP_H

#include <pthread.h>

#include "sim_run.h"

/* The other loop's error if only debug mode knows the owner of the object. */
static inline int refused_in_debug_mode(int otherwise)
{
        return ed_loop_current->debug ? EDDY_E_RUN_OTHER_LOOP : otherwise;
}

struct other_loop {
        eddy_task_fn *fn;
        void *arg;
        int result;
};

static inline void *other_loop_thread(void *arg)
{
        struct other_loop *other = arg;

        other->result = sim_run_beside(other->fn, other->arg);
        return NULL;
}

/* The result of fn(arg) as the main task of another loop. */
static inline int on_other_loop(eddy_task_fn *fn, void *arg)
{
        struct other_loop other = { .fn = fn, .arg = arg };
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, other_loop_thread, &other), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return other.result;
}

#endif
