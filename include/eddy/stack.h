/*
 * eddy/stack.h - how deep the stacks of tasks have been, for choosing their size.
 *
 * In debug mode (EDDY_DEBUG=1 in the environment, or EDDY_RUN_DEBUG) eddy measures
 * the stacks of tasks when they end, and keeps the greatest depth for each task
 * function.  Without debug mode this costs nothing.
 */
#ifndef EDDY_STACK_H
#define EDDY_STACK_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_STACK_FUNCTIONS_MAX = 256, /* recorded; a function with both sizes counts twice */
        EDDY_STACK_RECORDS_MAX = EDDY_STACK_FUNCTIONS_MAX + 2, /* and "(others)" of each size */
        EDDY_STACK_NAME_BYTES = 64,
};

/* The tasks of one function, on stacks of one size. */
struct eddy_stack_record {
        char name[EDDY_STACK_NAME_BYTES]; /* as for a task without a name; or "(others)" */
        eddy_task_fn *fn;                 /* NULL: others */
        uint32_t flags;                   /* EDDY_TASK_STACK_64K, or 0 */
        uint32_t reserved32;
        size_t deepest_bytes; /* the greatest depth, including eddy's own data on the stack */
        size_t room_bytes;    /* the usable bytes of a stack of this size */
        uint64_t tasks;       /* ended tasks; 0: all of them still run */
        uintptr_t reserved[4];
};

/*
 * Store at most 'max' records of this thread's run, the deepest first, and return
 * their number.  Tasks that have not ended count with their depth up to now; only
 * the first 1,000 of them are examined.
 *
 * The depth ends at the lowest byte that is not zero, rounded to 16 bytes, or at the
 * lowest stack pointer of a suspending call.  The lower part of an array that was never
 * written, or is all zero, does not count, unless its function made a call.
 *
 * Reading a whole stack takes microseconds.  After a function's first tasks, eddy
 * measures only new depth records and about one task in a hundred.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING
 *         -ENOTSUP  the run is not in debug mode
 */
EDDY_API int eddy_stack_records(struct eddy_stack_record *ret_records, size_t max);

EDDY_END_DECLS

#endif
