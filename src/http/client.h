/*
 * http/client.h - internals shared by the client's files: the client, and the exchange of one
 * request, which becomes the response.
 */
#ifndef ED_HTTP_CLIENT_H
#define ED_HTTP_CLIENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "eddy/http_client.h"
#include "http/message.h"
#include "http/pool.h"
#include "http/upload.h"

enum {
        ED_HTTP_SPARES_MAX = 256,             /* responses kept for later requests */
        ED_HTTP_REQUEST_HEAD_MAX = 256 << 10, /* bytes of a request's head */
        ED_HTTP_REQUEST_HEAD_KEPT = 16 << 10, /* bytes that a spare response keeps for the head */
};

/*
 * Lives until its owner and the last response have released it. Every call in progress holds a
 * response.
 */
struct eddy_http_client {
        struct ed_http_pool pool;
        struct ed_list spares;
        uint32_t spares_count;
        uint32_t refs;
        int64_t connect_timeout_ns;
        struct ed_http1_limits limits;
        uint64_t body_bytes_max;
        uint64_t requests;
        char *user_agent; /* owned */
        size_t user_agent_bytes;
};

/* An exchange. The response owns the buffers; an idle connection needs none. */
struct eddy_http_response {
        struct ed_list link; /* in the client's list of spares */
        eddy_http_client *client;
        struct ed_http_conn *conn;    /* NULL: given back to the pool */
        struct ed_buf out;            /* the request's head */
        struct ed_http_upload upload; /* unsent part of a large request */
        bool closing;                 /* the request has "Connection: close" */
        bool tainted;                 /* an error, a cancel, or a request not fully sent */
        int err;                      /* error returned by all further reads */
        struct ed_http_message message;
        struct ed_http1_field fields[]; /* limits.fields_max */
};

/*
 * Append the head of a request to 'out', which must be empty. '*ret_closing' is set to whether the
 * request asks for the connection to be closed.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST, -ENOMEM
 */
EDDY_MUST_USE int ed_http_request_write(const eddy_http_client *client,
                                        const struct eddy_http_request *request,
                                        const struct ed_url *url, struct ed_buf *out,
                                        bool *ret_closing);

/* Returns the request's method, or its default. */
const char *ed_http_request_method(const struct eddy_http_request *request);

/* Returns an empty response that holds a reference to the client. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_http_response_new(eddy_http_client *client, eddy_http_response **ret_response);

/*
 * Do the exchange on the response's open connection: send the head in 'out' and the body, then read
 * the head of the response. If the response arrives first, part of a large body may remain in
 * 'upload'.
 *
 * Suspends: yes.
 * Errors: as eddy_http_client_send(); the connection is not closed yet
 */
EDDY_MUST_USE int ed_http_response_exchange(eddy_http_response *response,
                                            const struct eddy_http_request *request);

/* Give the connection back if the whole response is read or in the buffer. */
void ed_http_response_settle(eddy_http_response *response);

/* Give the connection back in any case: reusable if the response is complete, else closed. */
void ed_http_response_abandon(eddy_http_response *response);

/* Drop one reference. */
void ed_http_client_unref(eddy_http_client *client);

#endif
