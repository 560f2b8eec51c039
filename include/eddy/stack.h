/*
 * eddy/stack.h - how deep the stacks of tasks have been: what to choose their
 * sizes from.
 *
 * In debug mode (EDDY_DEBUG=1 in the environment, or EDDY_RUN_DEBUG) stacks of
 * tasks are measured when they end, and the deepest is kept for each function
 * that tasks were started with.  Without debug mode it costs nothing.
 */
#ifndef EDDY_STACK_H
#define EDDY_STACK_H

#include "eddy/def.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_STACK_FUNCTIONS_MAX = 256, /* that are told apart; by size, if they have two */
        EDDY_STACK_RECORDS_MAX = EDDY_STACK_FUNCTIONS_MAX + 2, /* and "(others)" of either size */
        EDDY_STACK_NAME_BYTES = 64,
};

/* Of the tasks that were started with one function, on stacks of one size. */
struct eddy_stack_record {
        char name[EDDY_STACK_NAME_BYTES]; /* as that of a task without a name; "(others)" */
        eddy_task_fn *fn;                 /* NULL: others */
        uint32_t flags;                   /* EDDY_TASK_STACK_64K, or 0 */
        uint32_t reserved32;
        size_t deepest_bytes; /* that one of them has used, of all that is kept there */
        size_t room_bytes;    /* what such a stack has room for */
        uint64_t tasks;       /* that have ended; 0: all of them run */
        uintptr_t reserved[4];
};

/*
 * Store the records of this thread's run, the deepest first, and return how
 * many: 'max' at most.  Tasks that have not ended count as deep as they have
 * been so far; the first 1,000 of them are looked at.
 *
 * A depth is that of the lowest byte that is not zero, to 16 bytes.  So an
 * array of which the lower part was left as it was, or all zero, counts only as
 * far as it was filled, unless its function made a call.
 *
 * To read a whole stack takes microseconds.  So of a function's tasks, but for
 * the first ones, only those are measured that went deeper than all that had
 * their stack before, or on a new one than all of the function's, as the
 * kilobyte below says, and one in a hundred or so.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING
 *         -ENOTSUP  the run is not in debug mode
 */
EDDY_API int eddy_stack_records(struct eddy_stack_record *ret_records, size_t max);

EDDY_END_DECLS

#endif
