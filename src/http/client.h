/*
 * http/client.h - what the client's files share: the client, and the exchange
 * of one request that becomes the response.
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
        ED_HTTP_SPARES_MAX = 256,             /* responses kept for the next requests */
        ED_HTTP_REQUEST_HEAD_MAX = 256 << 10, /* bytes of a request's head */
        ED_HTTP_REQUEST_HEAD_KEPT = 16 << 10, /* a spare keeps so much memory for it */
};

/*
 * Lives until its owner has freed it and the last response is freed; every
 * call under way holds a response.
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

/* One exchange.  It owns the buffers; a connection that lies idle needs none. */
struct eddy_http_response {
        struct ed_list link; /* among the spares */
        eddy_http_client *client;
        struct ed_http_conn *conn;    /* NULL: given back */
        struct ed_buf out;            /* the request's head */
        struct ed_http_upload upload; /* of a large request: what is still to be sent */
        bool closing;                 /* the request asked for the connection to be closed */
        bool tainted;                 /* an error, a cancel, a request not wholly sent */
        int err;                      /* what all further reading fails with */
        struct ed_http_message message;
        struct ed_http1_field fields[]; /* limits.fields_max */
};

/*
 * Append the head of a request to 'out', which is empty.  '*ret_closing' says
 * whether it asks for the connection to be closed.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST, -ENOMEM
 */
EDDY_MUST_USE int ed_http_request_write(const eddy_http_client *client,
                                        const struct eddy_http_request *request,
                                        const struct ed_url *url, struct ed_buf *out,
                                        bool *ret_closing);

/* The method, with its default. */
const char *ed_http_request_method(const struct eddy_http_request *request);

/* A response to be filled, which holds a reference.  Errors: -ENOMEM. */
EDDY_MUST_USE int ed_http_response_new(eddy_http_client *client, eddy_http_response **ret_response);

/*
 * Do the exchange on the response's connection, which is connected: send the
 * head in 'out' and the body, read the head of the response.  Of a large body
 * a part may be left in 'upload' if the response came first.
 *
 * Suspends: yes.
 * Errors: as eddy_http_client_send(); the connection is not closed yet
 */
EDDY_MUST_USE int ed_http_response_exchange(eddy_http_response *response,
                                            const struct eddy_http_request *request);

/* Give the connection back, once the whole response is read or in the buffer. */
void ed_http_response_settle(eddy_http_response *response);

/* Give it back in any case: to be used again if all is there, else closed. */
void ed_http_response_abandon(eddy_http_response *response);

/* Give one reference back. */
void ed_http_client_unref(eddy_http_client *client);

#endif
