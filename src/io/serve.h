/*
 * io/serve.h - eddy_serve_idle() in two parts, for protocols whose wait has a deadline, and serving
 * one connection without a listener.
 */
#ifndef ED_IO_SERVE_H
#define ED_IO_SERVE_H

#include "base/def.h"
#include "base/list.h"
#include "eddy/scope.h"
#include "eddy/serve.h"

/* A call that the stop of the server cancels, on its task's stack. */
struct ed_serve_idle {
        struct ed_list link;
        eddy_scope scope;
};

/*
 * Begin the call in a scope with these options, or NULL. The caller is in a connection of
 * eddy_serve() or ed_serve_stream().
 *
 * Suspends: no.
 * Errors: -ECANCELED  the server has stopped; nothing was begun
 */
EDDY_MUST_USE ED_SHARED int ed_serve_idle_begin(struct ed_serve_idle *idle,
                                                const struct eddy_scope_opts *opts);

/* End the call. Returns its result, or the reason for which its scope was cancelled. */
ED_SHARED int ed_serve_idle_end(struct ed_serve_idle *idle, int result);

/*
 * Call fn(stream, arg) in this task as a connection of eddy_serve(). A cancel of the caller is the
 * stop: idle calls end at once, and the connection has 'drain_ns' to end. Returns the result of fn.
 *
 * Suspends: as fn does.
 * Errors: -ECANCELED  the caller was cancelled
 *         -ENOMEM     'drain_ns' needs a task; fn was not called, and the stream is closed
 */
EDDY_MUST_USE ED_SHARED int ed_serve_stream(eddy_stream *stream, int64_t drain_ns,
                                            eddy_serve_fn *fn, void *arg);

#endif
