/*
 * scope/misuse.h - mistakes of the program that the library notices: they are
 * reported (EDDY_REPORT_MISUSE), and refused or the end of the process.
 *
 * What is still as it was is refused.  Where memory that tasks use is about to
 * go, or has gone, the process is aborted after the report.
 */
#ifndef ED_SCOPE_MISUSE_H
#define ED_SCOPE_MISUSE_H

#include "scope/waiters.h"

/*
 * Report a call that is refused, made by 'task' (NULL: by none) on 'loop'.
 * Returns -EINVAL.
 */
__attribute__((cold)) int ed_misuse_refuse(struct ed_loop *loop, const struct ed_task *task,
                                           const char *format, ...) EDDY_PRINTF(3, 4);

/* Report a mistake after which nothing can go on, and abort. */
__attribute__((cold, noreturn)) void ed_misuse_end(struct ed_loop *loop, const struct ed_task *task,
                                                   const char *format, ...) EDDY_PRINTF(3, 4);

/* --- scopes --- */

/* A scope was never begun which 'call' was called for.  Returns its error. */
__attribute__((cold)) int ed_misuse_unbegun(const char *call);

/* A scope was begun outside of a task.  It is none. */
__attribute__((cold)) void ed_misuse_begun_nowhere(struct ed_scope *scope, const char *place);

/* The innermost scope of a task was begun again. */
__attribute__((cold, noreturn)) void ed_misuse_begun_twice(const struct ed_task *task,
                                                           const char *place);

/*
 * 'task' (NULL: none runs) ends a scope that is not its innermost one, in a call
 * whose frame is 'frame'.  Returns the error of the call.
 */
__attribute__((cold)) int ed_misuse_ended(const struct ed_scope *scope, const struct ed_task *task,
                                          const void *frame);

/*
 * A function has returned that left a task's innermost scope open, which began
 * at 'place'; at the end, the function of the task.  The scope's memory may be gone.
 */
__attribute__((cold, noreturn)) void ed_misuse_left(const struct ed_task *task, const char *place);
__attribute__((cold, noreturn)) void ed_misuse_left_at_end(const struct ed_task *task);

/* In a call whose frame is 'frame': that has not happened to 'node', which began at 'place'. */
__attribute__((cold)) void ed_misuse_check_left(const struct ed_task *task,
                                                const struct ed_node *node, const char *place,
                                                const void *frame);

/* --- stacks --- */

/* A task that ends has overflowed its stack, where that has a canary for a guard: abort. */
__attribute__((cold)) void ed_misuse_overrun(struct ed_stacks *stacks, struct ed_stack *stack);

/* --- waiters --- */

/* 'call' gives back what 'waiter' stands in line for: report that, and abort. */
__attribute__((cold, noreturn)) void ed_misuse_waited_for(const struct ed_waiter *waiter,
                                                          const char *call);

/* Before what has the line is given back by 'call': nobody may wait there. */
static inline void ed_misuse_check_line(void *const line[2], const char *call)
{
        if (ed_unlikely(ed_waiters_first(line) != NULL))
                ed_misuse_waited_for(ed_waiters_first(line), call);
}

#endif
