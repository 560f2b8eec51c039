/*
 * eddy/var.h - variables of a task, inherited by the tasks it starts.
 *
 *     static const eddy_var request_id = EDDY_VAR("request_id", char[40]);
 *
 * A task starts with the values that its starter has at that moment.  A value that
 * a task sets is visible in the task and in tasks it starts later, never in its
 * starter.  Some functions of the program are called by the library for a single request
 * or item: the handler of an HTTP server, and the operations of a pool.  A value that
 * such a function sets ends with the call.
 */
#ifndef EDDY_VAR_H
#define EDDY_VAR_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_VAR_BYTES_MAX = 4096, EDDY_VARS_MAX = 64 };

/* Identified by its address; must live as long as any task that has a value of it. */
typedef struct eddy_var {
        const char *name;
        size_t bytes; /* of a value */
} eddy_var;

#define EDDY_VAR(name, type)                                                                       \
        {                                                                                          \
                (name), sizeof(type)                                                               \
        }

/*
 * Set the calling task's value: a copy of the 'var->bytes' bytes at 'value'.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING
 *         -EINVAL  the value is larger than EDDY_VAR_BYTES_MAX, or empty
 *         -ENOSPC  the task has values of EDDY_VARS_MAX variables
 *         -ENOMEM  the old value stays
 */
EDDY_API int eddy_var_set(const eddy_var *var, const void *value);

/*
 * Returns the calling task's value, or NULL.  In a job of a thread pool: the value
 * of the task that called the job.
 *
 * Suspends: no.  Threads: any.
 * Owns: borrowed, until the task sets the variable again, the task ends, or the value ends.
 */
EDDY_API const void *eddy_var_get(const eddy_var *var);

/*
 * Remove the calling task's value, if it has one.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING
 *         -ENOMEM  the value stays, because separating it from the values of tasks
 *                  that inherited it needs memory
 */
EDDY_API int eddy_var_unset(const eddy_var *var);

EDDY_END_DECLS

#endif
