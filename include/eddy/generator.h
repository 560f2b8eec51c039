/*
 * eddy/generator.h - functions that produce values one at a time.
 *
 *     static int countdown(eddy_generator *gen, void *arg)
 *     {
 *             int n = *(int *) arg, err = 0;
 *
 *             for (; n > 0 && err == 0; n--)
 *                     err = eddy_generator_yield(gen, &n);
 *             return err;
 *     }
 *
 *     eddy_generator_begin(&gen, &scope, countdown, &ten, sizeof(int));
 *     while ((err = eddy_generator_next(&gen, &n)) > 0) ...
 *
 * A generator runs in a task of its own, only when a value is requested, and
 * may suspend as any task does.  The task inherits the variables (eddy/var.h) of
 * the first caller of eddy_generator_next().  eddy_scope_end() closes the
 * generator when the scope's other tasks have ended.
 */
#ifndef EDDY_GENERATOR_H
#define EDDY_GENERATOR_H

#include "eddy/def.h"
#include "eddy/scope.h"

EDDY_BEGIN_DECLS

/*
 * Private: set by begin.  Must live until its scope has ended, or a close of the
 * generator has returned 0 or the failure of its function; never move a generator.
 */
typedef struct eddy_generator {
        uintptr_t opaque[24];
} eddy_generator;

/*
 * The function of a generator.  Its failure is returned once, by
 * eddy_generator_next() or eddy_generator_close(), and is not a failure of the
 * scope.  If neither has returned the failure when the scope ends or is
 * cancelled, it becomes a failure of the scope.
 */
typedef int eddy_generator_fn(eddy_generator *gen, void *arg);

/*
 * Make a generator of items of 'item_bytes' bytes, in 'scope'.  Its function
 * first runs when the first value is requested.  Allocates nothing.  If the
 * scope was never begun, that is reported (EDDY_REPORT_MISUSE), and the generator
 * has no values.
 *
 * Suspends: no.
 * Owns: borrows 'gen' and 'arg' until the scope's end or a close.
 */
EDDY_API void eddy_generator_begin(eddy_generator *gen, eddy_scope *scope, eddy_generator_fn *fn,
                                   void *arg, size_t item_bytes);
EDDY_API void eddy_generator_begin_named(eddy_generator *gen, eddy_scope *scope,
                                         eddy_generator_fn *fn, void *arg, size_t item_bytes,
                                         const char *text);
#define eddy_generator_begin(gen, scope, ...)                                                      \
        eddy_generator_begin_named(gen, scope, __VA_ARGS__, #__VA_ARGS__)

/*
 * Run the generator to its next value.  Returns 1 and stores the value in
 * '*ret_item', or 0 if the generator has ended.  If the caller is cancelled
 * while the generator makes a value, the next call returns that value.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the caller was cancelled; or the generator was, before its
 *                     end: its scope was cancelled or ended meanwhile, or before
 *                     the generator was made
 *         -EBUSY      another task is waiting for the next value, or the generator
 *                     calls this function on itself
 *         -EAGAIN     the scope has tasks_max tasks, and the generator would be
 *                     one more; nothing was lost
 *         -ENOMEM     the generator could not be started; nothing was lost
 *         EDDY_E_RUN_OTHER_LOOP  the generator belongs to another loop
 *         and the failure of the generator's function, once; 0 after that
 */
EDDY_API EDDY_MUST_USE int eddy_generator_next(eddy_generator *gen, void *ret_item);

/*
 * In a generator: hand over a value, and wait until the next one is requested.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the generator is being closed, or its scope was cancelled:
 *                     clean up and return
 *         -EPERM      called by another task than the generator's
 * Owns: borrows 'item' for the call.
 */
EDDY_API EDDY_MUST_USE int eddy_generator_yield(eddy_generator *gen, const void *item);

/*
 * End the generator early: eddy_generator_yield() returns -ECANCELED in it, and
 * this call waits until the generator's function has returned.  Returns the
 * function's failure, else 0.  A value that was kept is dropped.  Does nothing
 * if 'gen' is NULL or zero, never ran, has ended or was closed.
 *
 * Suspends: yes, while the generator cleans up.  Not a cancellation point.
 * Errors: -EBUSY  another task is waiting for the next value; or the generator, or a
 *                 task started in a scope of its function, closes the generator
 *         -EDEADLK  the generator cannot end before the caller does, for example
 *                 because two generators close each other, and the run is being
 *                 ended for that reason
 *         EDDY_E_RUN_OTHER_LOOP  the generator belongs to another loop
 */
EDDY_API int eddy_generator_close(eddy_generator *gen);

/* EDDY_AUTO(eddy_generator) eddy_generator gen = { 0 };  the variable is the generator itself */
static inline void eddy_generator_auto_release(eddy_generator *gen)
{
        eddy_generator_close(gen);
}

EDDY_END_DECLS

#endif
