/*
 * http/client.h - internals shared by the client's files: the client, and the exchange of one
 * request, which becomes the response.
 */
#ifndef ED_HTTP_CLIENT_H
#define ED_HTTP_CLIENT_H

#include <errno.h>
#include <stdbool.h>

#include "base/buf.h"
#include "eddy/http_client.h"
#include "http/decoded_body.h"
#include "http/message.h"
#include "http/override.h"
#include "http/pool.h"
#include "http/proxy.h"
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
        struct eddy_http_timeouts timeouts;
        struct ed_http1_limits limits;
        uint64_t body_bytes_max;
        uint64_t requests;
        char *user_agent; /* owned */
        size_t user_agent_bytes;
        struct ed_http_proxies proxies;
        struct ed_http_overrides overrides;
        struct ed_http_protocols protocols;
        char unix_path[EDDY_ENDPOINT_PATH_MAX + 1]; /* "": none */
        struct eddy_http_hooks hooks;
        uint64_t attempts; /* counted only with hooks */
        bool decode;
};

/*
 * The operations of a protocol on a request and its response. The calls of eddy/http_client.h use this
 * table; errors and cancellation are as described there.
 */
struct ed_http_response_ops {
        /* Check the request and prepare to send it. Nothing is sent; the response has no connection yet. */
        int (*prepare)(eddy_http_response *response, const struct eddy_http_request *request,
                       const struct ed_url *url);

        /* Add a header to the prepared request, which begins an exchange next. */
        int (*add_header)(eddy_http_response *response, const char *name, const char *value);

        /* Remove the headers that were added. */
        void (*drop_added)(eddy_http_response *response);

        /*
         * Send the request on the open connection, and read the head of the response. May be called
         * again with another connection. After an error the connection is not closed yet. Suspends.
         */
        int (*exchange)(eddy_http_response *response, const struct eddy_http_request *request);

        /* Returns true if the last exchange received any byte. */
        bool (*was_answered)(const eddy_http_response *response);

        /* Returns true if the last exchange read from the source of the request's body. */
        bool (*took_source)(const eddy_http_response *response);

        /* Returns true if the system took the whole request. */
        bool (*sent_request)(const eddy_http_response *response);

        /* Give the slot back if the whole response was received. */
        void (*settle)(eddy_http_response *response);

        /* End the exchange and close its connection; all further reads return 'err'. */
        void (*fail)(eddy_http_response *response, int err);

        /* End the exchange in any state, and free the response. */
        void (*close)(eddy_http_response *response);

        /* Returns what the received bytes violate, after an error of theirs; "" otherwise. */
        const char *(*fault_text)(const eddy_http_response *response);

        /* Returns true if the close of the connection ends the body. */
        bool (*ends_by_close)(const eddy_http_response *response);

        int (*status)(const eddy_http_response *response);
        int (*version)(const eddy_http_response *response);
        const char *(*header)(const eddy_http_response *response, const char *name);
        int (*header_at)(const eddy_http_response *response, size_t i,
                         struct eddy_http_header *ret_header);
        int (*trailer_at)(const eddy_http_response *response, size_t i,
                          struct eddy_http_header *ret_trailer);
        int64_t (*read)(eddy_http_response *response, void *buf, size_t bytes);
        int (*body)(eddy_http_response *response, const void **ret_data, size_t *ret_bytes);
        int (*discard)(eddy_http_response *response);
};

/* The first member of a protocol's response. */
struct eddy_http_response {
        const struct ed_http_response_ops *ops;
        struct ed_list link; /* in the client's list of spares */
        eddy_http_client *client;
        struct ed_http_conn *conn; /* NULL: given back to the pool */
        int64_t deadline_ns;       /* end of the request's total time; 0: none */
        int64_t began_ns;          /* when the call began that sent the request */
        int64_t ready_ns;          /* when its connection was ready */
        int64_t received_ns;       /* when the last bytes up to the head's end arrived */
        struct eddy_http_timings timings;
        struct eddy_endpoint peer;
        struct ed_buf url; /* with a NUL */
        uint64_t body_bytes_max;
        struct ed_http_decoded decoding;
        struct eddy_json_error *json_error; /* of the last eddy_http_response_json(); NULL: none */
        struct eddy_http_attempt attempt;
        struct eddy_http_hooks hooks; /* of the request; all zero: none */
        bool is_hooked;               /* the client or the request has hooks */
        bool in_attempt;              /* it has begun and not ended */
        char method[24];              /* of the attempt; a longer one is cut */
};

/* A response of HTTP/1. It owns the buffers; an idle connection needs none. */
struct ed_http1_response {
        struct eddy_http_response base;
        struct ed_buf out;            /* the request's head */
        size_t added_bytes;           /* of these, headers that hooks have added */
        struct ed_buf trailers;       /* of the response */
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

/* Returns an empty response of HTTP/1 that holds a reference to the client. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_http1_response_new(eddy_http_client *client,
                                        eddy_http_response **ret_response);

/* Free the responses that are kept for later requests. */
void ed_http1_responses_drop(eddy_http_client *client);

/* ---- limits of time ---------------------------------------------------------- */

/* A part of a call. */
typedef int64_t ed_http_part_fn(void *arg);

/* Returns the limit that applies to a request; 0: none. */
static inline int64_t ed_http_timeout(int64_t requests_ns, int64_t clients_ns)
{
        if (requests_ns == 0)
                return clients_ns;
        return requests_ns > 0 ? requests_ns : 0;
}

/* Call fn(arg) in a scope. Returns the result, or 'error' if the deadline stopped the call. */
int64_t ed_http_call_until(ed_http_part_fn *fn, void *arg, int64_t deadline_ns, int error);

/* Returns ed_http_call_until(), or without a deadline (0) fn(arg). */
static inline int64_t ed_http_call(ed_http_part_fn *fn, void *arg, int64_t deadline_ns, int error)
{
        return deadline_ns ? ed_http_call_until(fn, arg, deadline_ns, error) : fn(arg);
}

/* Drop one reference. */
void ed_http_client_unref(eddy_http_client *client);

#endif
