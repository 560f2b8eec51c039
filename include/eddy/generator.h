/*
 * eddy/generator.h - functions that give values one by one.
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
 * A generator runs in a task of its own, only when its next value is asked
 * for, and may suspend as any task does.  It starts with the variables
 * (eddy/var.h) of who asks for the first one.  It ends with its scope: when
 * the scope's other tasks have ended, eddy_scope_end() closes it.
 */
#ifndef EDDY_GENERATOR_H
#define EDDY_GENERATOR_H

#include "eddy/def.h"
#include "eddy/scope.h"

EDDY_BEGIN_DECLS

/* Private: begin makes it.  Lives until its scope has ended; never move one. */
typedef struct eddy_generator {
        uintptr_t opaque[24];
} eddy_generator;

/*
 * A failure it returns is given by eddy_generator_next() or _close(), once, and
 * is none of the scope's.  One that nobody has asked for when the scope ends or
 * is cancelled is the scope's.
 */
typedef int eddy_generator_fn(eddy_generator *gen, void *arg);

/*
 * Make a generator of items of 'item_bytes' bytes, in 'scope'.  Nothing of it
 * runs before its first value is asked for.  Allocates nothing.  If the scope was
 * never begun, that is reported (EDDY_REPORT_MISUSE), and it gives no value.
 *
 * Suspends: no.
 * Owns: borrows 'gen' and 'arg' until the scope's end.
 */
EDDY_API void eddy_generator_begin(eddy_generator *gen, eddy_scope *scope, eddy_generator_fn *fn,
                                   void *arg, size_t item_bytes);
EDDY_API void eddy_generator_begin_named(eddy_generator *gen, eddy_scope *scope,
                                         eddy_generator_fn *fn, void *arg, size_t item_bytes,
                                         const char *text);
#define eddy_generator_begin(gen, scope, ...)                                                      \
        eddy_generator_begin_named(gen, scope, __VA_ARGS__, #__VA_ARGS__)

/*
 * Run the generator to its next value: 1 and '*ret_item'; 0 when it has ended.
 * A value that was made while the caller was being cancelled is kept, and the
 * next call gives it.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the caller was cancelled, or the generator was before it
 *                     had ended: its scope was cancelled, or came to its end
 *                     meanwhile, or had when the generator was made
 *         -EBUSY      another task is waiting for its next value, or the generator
 *                     asks itself
 *         -EAGAIN     the scope has tasks_max tasks, among which it would count;
 *                     nothing was lost
 *         -ENOMEM     it could not be started; nothing was lost
 *         EDDY_E_RUN_OTHER_LOOP  it belongs to another loop
 *         and what the generator's function returned below 0, once; 0 then
 */
EDDY_API EDDY_MUST_USE int eddy_generator_next(eddy_generator *gen, void *ret_item);

/*
 * In a generator: give a value, and wait until the next one is asked for.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  it is being closed, or its scope was cancelled: clean up
 *                     and return
 *         -EPERM      called by another task than the generator's
 * Owns: borrows 'item' for the call.
 */
EDDY_API EDDY_MUST_USE int eddy_generator_yield(eddy_generator *gen, const void *item);

/*
 * End it early: its yield returns -ECANCELED, and this waits until its
 * function has returned.  Returns what it failed with, else 0.  A value that was
 * kept is dropped.  Closing twice, or NULL, or one that never ran or
 * has ended, does nothing.
 *
 * Suspends: yes, while it cleans up.  Not a cancellation point.
 * Errors: -EBUSY  another task is waiting for its next value, or it closes itself,
 *                 or a task that was started in a scope of its function does
 *         -EDEADLK  it cannot end before the caller does, as when two close each
 *                 other, and the run is being ended for that
 *         EDDY_E_RUN_OTHER_LOOP  it belongs to another loop
 */
EDDY_API int eddy_generator_close(eddy_generator *gen);

EDDY_END_DECLS

#endif
