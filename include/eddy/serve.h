/*
 * eddy/serve.h - a server of any protocol: accept connections, one task for each,
 * and stop without a loss.
 *
 *     static int echo(eddy_stream *stream, void *arg)
 *     {
 *             char buf[4096];
 *             int64_t n;
 *
 *             while ((n = eddy_stream_read(stream, buf, sizeof(buf))) > 0)
 *                     if (eddy_stream_write(stream, buf, (size_t) n) < 0)
 *                             break;
 *             eddy_stream_close(stream);
 *             return 0;
 *     }
 *
 *     return eddy_serve(listener, NULL, echo, NULL);
 */
#ifndef EDDY_SERVE_H
#define EDDY_SERVE_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/listener.h"
#include "eddy/stream.h"
#include "eddy/task.h"

EDDY_BEGIN_DECLS

/*
 * Serves a connection, in a task of its own.  The function owns 'stream' and must
 * close it.  For TLS, the function does the handshake.  The server does not use the
 * function's result: a failure ends only this connection.
 */
typedef int eddy_serve_fn(eddy_stream *stream, void *arg);

/* All zero is the default. */
struct eddy_serve_opts {
        /* open at once; 0: 10,000.  The next ones wait in the backlog */
        uint32_t connections_max EDDY_UNSET;
        uint32_t reserved32 EDDY_UNSET; /* zero */
        int64_t drain_ns EDDY_UNSET;    /* after a stop, for the connections to end; 0: none */
        const char *name EDDY_UNSET;    /* of the connections' tasks, static; NULL: "connection" */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Accept connections of 'listener' and call 'fn(stream, arg)' in a task for each,
 * until the caller is cancelled or accepting fails.  Either stops the server: it
 * accepts no more connections, calls made through eddy_serve_idle() are cancelled,
 * and the other connections have 'drain_ns' to end; those that remain are cancelled.
 * The call returns when the last connection has ended.
 *
 * While there are too few descriptors or too little memory for further
 * connections, the server pauses accepting and reports the shortage once
 * (EDDY_REPORT_ACCEPT); existing connections continue.
 *
 * Suspends: yes.
 * Errors: -ECANCELED  the server was asked to stop, or the listener was closed; a
 *                     close during a pause of accepting is noticed after the pause
 *         -EBUSY      another task accepts from the listener
 *         -EINVAL     'drain_ns' is negative
 *         -ENOMEM     the server could not be started
 *         and other errors of accepting
 * Owns: borrows 'listener', which may be closed meanwhile, and 'arg'.
 */
EDDY_API int eddy_serve(eddy_listener *listener, const struct eddy_serve_opts *opts,
                        eddy_serve_fn *fn, void *arg);

/*
 * Call fn(arg) for work in which the connection owes its peer nothing, such as the
 * wait for the next request: a stop of the server cancels fn at once.  Returns the
 * result of fn; after a stop fn is not called.  Call eddy_serve_idle() in a
 * connection's task, or in a task started by that task; elsewhere it only calls fn.
 *
 * Suspends: as fn does.
 * Errors: -ECANCELED  the server has stopped, or the caller was cancelled
 *         those of fn
 */
EDDY_API int eddy_serve_idle(eddy_task_fn *fn, void *arg);

/*
 * Returns whether the server of the calling task is stopping; then the present
 * request should be the connection's last.  Returns false outside a connection.
 *
 * Suspends: no.
 */
EDDY_API bool eddy_serve_is_stopping(void);

EDDY_END_DECLS

#endif
