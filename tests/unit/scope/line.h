/*
 * line.h - tasks in line for one thing, and who of them went on, in turn.
 */
#ifndef LINE_H
#define LINE_H

#include "sim_run.h"

enum { WAITERS = 5 };

struct waiter {
        void *thing; /* what it waits for */
        int id;      /* its place in the line, from 0 */
        int err;     /* what the wait returned; 1 before */
        int saw;     /* what the case looked at after that; -1 before */
        eddy_task *task;
};

/* Written by the case's task functions. */
static int order[32], order_count;

/* They stand in line after the caller's next wait. */
static inline void line_start(eddy_scope *scope, struct waiter *waiters, eddy_task_fn *waits,
                              void *thing)
{
        for (int i = 0; i < WAITERS; i++) {
                waiters[i] = (struct waiter){ .thing = thing, .id = i, .err = 1, .saw = -1 };
                CHECK_EQ(eddy_scope_start_task(scope, waits, &waiters[i], NULL, &waiters[i].task),
                         0);
        }
}

static inline void let_go(struct waiter *waiters)
{
        for (int i = 0; i < WAITERS; i++)
                eddy_task_release(waiters[i].task);
}

static inline void check_all_went_on_in_order(void)
{
        CHECK_EQ(order_count, WAITERS);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(order[i], i);
}

/* One was cancelled, the others went on. */
static inline void check_all_went_on_but(const struct waiter *waiters, int who)
{
        CHECK_EQ(order_count, WAITERS - 1);
        for (int i = 0; i < WAITERS; i++)
                CHECK_EQ(waiters[i].err, i == who ? -ECANCELED : 0);
}

#endif
