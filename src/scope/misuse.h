/*
 * scope/misuse.h - the program's mistakes that the library detects.
 *
 * All are reported (EDDY_REPORT_MISUSE).  A call that has changed nothing is refused.  The process
 * is aborted after the report if memory that tasks use is about to be freed or was freed.
 */
#ifndef ED_SCOPE_MISUSE_H
#define ED_SCOPE_MISUSE_H

#include "loop/member.h"
#include "scope/waiters.h"

/*
 * Reports a call by 'task' (NULL: outside of tasks) on 'loop', which is refused.  Returns -EINVAL.
 */
__attribute__((cold)) int ed_misuse_refuse(struct ed_loop *loop, const struct ed_task *task,
                                           const char *format, ...) EDDY_PRINTF(3, 4);

/* Reports a mistake after which the process cannot continue, and aborts. */
__attribute__((cold, noreturn)) void ed_misuse_end(struct ed_loop *loop, const struct ed_task *task,
                                                   const char *format, ...) EDDY_PRINTF(3, 4);

/*
 * Returns true if this thread may free an object of a loop.  Else the call is refused and reported.
 */
ED_SHARED bool ed_misuse_may_close(const struct ed_member *member, const char *object);

/* Reports a close that was refused, because the object's loop runs on another thread. */
ED_SHARED __attribute__((cold)) void ed_misuse_closed_elsewhere(const char *object);

/* --- scopes --- */

/* 'call' was called for a scope that was never begun.  Returns the error of 'call'. */
__attribute__((cold)) int ed_misuse_unbegun(const char *call);

/* A scope was begun outside of a task.  The scope is not usable. */
__attribute__((cold)) void ed_misuse_begun_nowhere(struct ed_scope *scope, const char *place);

/* The innermost scope of a task was begun again. */
__attribute__((cold, noreturn)) void ed_misuse_begun_twice(const struct ed_task *task,
                                                           const char *place);

/*
 * 'task' (NULL: no task runs) ends a scope that is not its innermost one, in a call with the frame
 * 'frame'.  Returns the error of that call.
 */
__attribute__((cold)) int ed_misuse_ended(const struct ed_scope *scope, const struct ed_task *task,
                                          const void *frame);

/*
 * A function returned and left open the task's innermost scope, which began at 'place'; _at_end:
 * the task's own function returned.  The scope's memory may be gone.
 */
__attribute__((cold, noreturn)) void ed_misuse_left(const struct ed_task *task, const char *place);
__attribute__((cold, noreturn)) void ed_misuse_left_at_end(const struct ed_task *task);

/*
 * Checks, in a call with the frame 'frame', that the function that began 'node' at 'place' has not
 * returned.
 */
__attribute__((cold)) void ed_misuse_check_left(const struct ed_task *task,
                                                const struct ed_node *node, const char *place,
                                                const void *frame);

/* --- stacks --- */

/* A task that ends has overflowed a stack that has a canary instead of a guard: aborts. */
__attribute__((cold)) void ed_misuse_overrun(struct ed_stacks *stacks, struct ed_stack *stack);

/*
 * A suspending call's stack pointer is 'used_bytes' below the top of the task's stack, in another
 * stack: reports this from the thread's stack, and aborts.
 */
__attribute__((cold, noreturn)) void ed_misuse_beyond(struct ed_task *task, size_t used_bytes);

/* --- waiters --- */

/* 'call' frees an object that 'waiter' waits for: reports this and aborts. */
__attribute__((cold, noreturn)) void ed_misuse_waited_for(const struct ed_waiter *waiter,
                                                          const char *call);

/* Checks that no task waits in a queue of waiters that 'call' frees. */
static inline void ed_misuse_check_line(void *const line[2], const char *call)
{
        if (ed_unlikely(ed_waiters_first(line) != NULL))
                ed_misuse_waited_for(ed_waiters_first(line), call);
}

#endif
