/*
 * io/serve.h - eddy_serve_idle() in two parts, for protocols whose wait has a deadline.
 */
#ifndef ED_IO_SERVE_H
#define ED_IO_SERVE_H

#include "base/list.h"
#include "eddy/scope.h"

/* A call that the stop of the server cancels, on its task's stack. */
struct ed_serve_idle {
        struct ed_list link;
        eddy_scope scope;
};

/*
 * Begin the call in a scope with these options, or NULL. The caller is in a connection of
 * eddy_serve().
 *
 * Suspends: no.
 * Errors: -ECANCELED  the server has stopped; nothing was begun
 */
EDDY_MUST_USE ED_SHARED int ed_serve_idle_begin(struct ed_serve_idle *idle,
                                                const struct eddy_scope_opts *opts);

/* End the call. Returns its result, or the reason for which its scope was cancelled. */
ED_SHARED int ed_serve_idle_end(struct ed_serve_idle *idle, int result);

#endif
