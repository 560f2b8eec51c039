/*
 * eddy/var.h - variables of a task, inherited by what it starts.
 *
 *     static const eddy_var request_id = EDDY_VAR("request_id", char[40]);
 *
 * A task starts with the values its starter had at that moment; what it sets
 * is seen by itself and by what it starts later, never by its starter.
 */
#ifndef EDDY_VAR_H
#define EDDY_VAR_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

enum { EDDY_VAR_BYTES_MAX = 4096, EDDY_VARS_MAX = 64 };

/* Found by its address; lives as long as any task that has a value of it. */
typedef struct eddy_var {
        const char *name;
        size_t bytes; /* of a value */
} eddy_var;

#define EDDY_VAR(name, type)                                                                       \
        {                                                                                          \
                (name), sizeof(type)                                                               \
        }

/*
 * Give the calling task a value: a copy of the 'var->bytes' bytes at 'value'.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING
 *         -EINVAL  the value is larger than EDDY_VAR_BYTES_MAX, or empty
 *         -ENOSPC  the task has values of EDDY_VARS_MAX variables
 *         -ENOMEM  the old value stays
 */
EDDY_API int eddy_var_set(const eddy_var *var, const void *value);

/*
 * The value the calling task has, or NULL.  In a job of a thread pool, that of
 * the task that called it.
 *
 * Suspends: no.  Threads: any.
 * Owns: borrowed, until the task sets it again or ends.
 */
EDDY_API const void *eddy_var_get(const eddy_var *var);

/*
 * Take the value away from the calling task, if it has one.
 *
 * Suspends: no.
 * Errors: EDDY_E_RUN_NOT_RUNNING
 *         -ENOMEM  the value stays: it could not be told apart from that of
 *                  tasks that inherited it
 */
EDDY_API int eddy_var_unset(const eddy_var *var);

EDDY_END_DECLS

#endif
