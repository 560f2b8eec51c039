/*
 * eddy/http_hooks.h - functions that an HTTP client calls around each attempt to send
 * a request: for logs, metrics, traces, and headers such as traceparent.
 *
 *     static const struct eddy_http_hooks hooks = { .before = add_trace, .after = count };
 *     struct eddy_http_client_opts opts = { .hooks = &hooks };
 *
 * An attempt begins when the request has left the pool's queue, and includes connecting.
 * Each time the client repeats a request, a further attempt begins.  A request that fails
 * before it leaves the queue, for example because its URL is invalid, has no attempt.
 */
#ifndef EDDY_HTTP_HOOKS_H
#define EDDY_HTTP_HOOKS_H

#include "eddy/def.h"

EDDY_BEGIN_DECLS

struct eddy_http_attempt {
        uint64_t id;     /* of the client's attempts: 1, 2, ... */
        uint32_t number; /* of the attempt in its call of eddy_http_client_send(): 1, and one
                               more each time the client repeats the request */
        int status;      /* of the response; 0: none */
        int error;       /* why the attempt failed, below 0; 0: it did not, whatever the status */
        const char *method; /* valid during the call; in 'after' the first 23 bytes of it */
        const char *url;    /* valid during the call; with the password, if the caller's has one */
        int64_t began_ns;   /* eddy_now() clock */
        int64_t ended_ns;   /* 0 in 'before' */
        void *opaque;       /* private */
        uintptr_t reserved[3];
};

/*
 * The functions run in the task that makes the attempt, and must not suspend, because the
 * request already occupies a place in the pool: wait before the call of
 * eddy_http_client_send() instead.  Each may be NULL.  A client's hooks apply to all its requests.
 * A request can also have hooks of its own; each is called directly after the client's hook of
 * the same name.  The order in an attempt is on_start, before, on_send, after.
 */
struct eddy_http_hooks {
        /* Called once for each call of eddy_http_client_send(), when the request has left the pool's
         * queue and the work on its connection begins; not again if the client repeats the request.
         * A caller that limits the time of the work, but not the wait in the queue, calls
         * eddy_scope_set_deadline() here for the scope in which it sends the request. */
        void (*on_start)(const struct eddy_http_attempt *attempt, void *arg) EDDY_UNSET;

        /* Called before each attempt.  May add headers.  A value below 0 ends the request with this
         * error; nothing is sent, the connection is kept, and 'after' is called.  If the client's hook
         * fails, that of the request is not called. */
        int (*before)(struct eddy_http_attempt *attempt, void *arg) EDDY_UNSET;

        /* Called in each attempt that has a connection, when the first byte is about to be sent.  If
         * eddy_http_client_send() fails and has never called this function, no byte was sent, and
         * the request can be repeated whatever its method. */
        void (*on_send)(const struct eddy_http_attempt *attempt, void *arg) EDDY_UNSET;

        /* Called once after each attempt: when the response was read to its end or is closed, or
         * when the attempt has failed.  'error' is -ECANCELED if the last call that read the
         * response was cancelled.  May run in a cancelled task. */
        void (*after)(const struct eddy_http_attempt *attempt, void *arg) EDDY_UNSET;

        void *arg EDDY_UNSET;             /* for each function */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Add a header to the request of this attempt.  Call it in 'before' only.  The name
 * and the value are copied.  A header that the request has already is not replaced.
 * With 'expect_continue_ns' an "Expect: 100-continue" is there already, and is not
 * added twice.
 *
 * Suspends: no.
 * Errors: EDDY_E_HTTP_INVALID_REQUEST  HTTP forbids the name or the value; or the name
 *                                      is Host, Connection, Content-Length,
 *                                      Transfer-Encoding or Proxy-Authorization; or the
 *                                      head is too large; or the name is Expect, the
 *                                      value is other than "100-continue", and the
 *                                      request has 'expect_continue_ns'
 *         -EINVAL                      not called in 'before'
 *         -ENOMEM
 */
EDDY_API EDDY_MUST_USE int eddy_http_attempt_add_header(struct eddy_http_attempt *attempt,
                                                        const char *name, const char *value);

EDDY_END_DECLS

#endif
