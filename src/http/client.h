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
#include "http/defaults.h"
#include "http/h2_memory.h"
#include "http/message.h"
#include "http/mock.h"
#include "http/override.h"
#include "http/pool.h"
#include "http/proxy.h"
#include "http/request_fields.h"
#include "http/upload.h"

enum {
        ED_HTTP_SPARES_MAX = 256, /* responses kept for later requests, and their parts */
        ED_HTTP_REQUEST_HEAD_KEPT = 16 << 10, /* bytes that a spare keeps for a URL or a head */
};

/*
 * Lives until its owner, the last call in progress and the last response have released it.
 */
struct eddy_http_client {
        struct ed_http_pool pool;
        struct ed_list spares;        /* responses */
        struct ed_list lent;          /* responses that callers have, the first one first */
        struct ed_list http1_spares;  /* HTTP/1's parts of responses */
        struct ed_list http1_buffers; /* and their buffers, each with its link in the first bytes */
        uint32_t spares_count;
        uint32_t http1_spares_count;
        uint32_t http1_buffers_count;
        struct ed_list h2_spares; /* parts of responses by HTTP/2 */
        uint32_t h2_spares_count;
        struct ed_h2_memory h2_memory;
        uint32_t h2_streams;     /* open streams of HTTP/2 */
        uint64_t h2_connections; /* of HTTP/2, opened so far */
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
        struct ed_http_mock *mock;                  /* owned; NULL: the network is used */
        char unix_path[EDDY_ENDPOINT_PATH_MAX + 1]; /* "": none */
        struct eddy_http_hooks hooks;
        struct ed_http_defaults defaults;
        struct eddy_retry_policy retry;
        eddy_limiter *limiter; /* borrowed; NULL: none */
        eddy_breaker *breaker; /* borrowed; NULL: none */
        bool has_retry;
        struct eddy_http_auth *auth; /* one reference; NULL: none */
        unsigned flags;
        int redirects_max;
        eddy_http_cookies *cookies; /* NULL: none */
        uint64_t attempts;          /* counted only with hooks */
        bool decode;
};

/*
 * The operations of a protocol on a request and its response. The calls of eddy/http_client.h use this
 * table; errors and cancellation are as described there.
 */
struct ed_http_response_ops {
        /* Give the response, whose connection is open, the protocol's part. Errors: -ENOMEM */
        int (*attach)(eddy_http_response *response);

        /*
         * End the exchange in any state, give back the slot if the response still has it, and free
         * the part.
         */
        void (*detach)(eddy_http_response *response);

        /*
         * Send the request on the open connection, and read the head of the response. After an
         * error the connection is not closed yet. Called once. Suspends.
         */
        int (*exchange)(eddy_http_response *response, const struct eddy_http_request *request);

        /* Returns true if the last exchange received any byte. */
        bool (*was_answered)(const eddy_http_response *response);

        /*
         * After an error: returns true if the peer reported that it did not process the request,
         * which is then repeated whatever its method. NULL: the protocol has no report of this
         * kind.
         */
        bool (*was_refused)(const eddy_http_response *response);

        /* Returns true if the server takes the refused exchange by HTTP/1 only. NULL: never. */
        bool (*needs_http1)(const eddy_http_response *response);

        /* Returns true if the last exchange read from the source of the request's body. */
        bool (*took_source)(const eddy_http_response *response);

        /* Returns true if the system took the whole request. */
        bool (*sent_request)(const eddy_http_response *response);

        /* Give the slot back if the whole response was received. */
        void (*settle)(eddy_http_response *response);

        /* End the exchange and close its connection; all further reads return 'err'. */
        void (*fail)(eddy_http_response *response, int err);

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

        /*
         * Take the stream from the connection of a response with the status 101. Does not suspend.
         * Errors: EDDY_E_HTTP_CLIENT_CLOSED, -ENOMEM
         */
        int (*take_stream)(eddy_http_response *response, eddy_stream **ret_stream);
};

/* A response, of which a part belongs to the protocol of its connection. */
struct eddy_http_response {
        const struct ed_http_response_ops *ops; /* NULL: the connection was not open yet */
        void *part;                             /* of the protocol */
        struct ed_list link; /* in the client's list of spares, or of lent ones */
        eddy_http_client *client;
        struct ed_http_conn *conn; /* NULL: given back to the pool */
        int64_t deadline_ns;       /* end of the request's total time; 0: none */
        int64_t began_ns;          /* when the call began that sent the request */
        int64_t ready_ns;          /* when its connection was ready */
        int64_t received_ns;       /* when the last bytes up to the head's end arrived */
        struct eddy_http_timings timings;
        struct eddy_endpoint peer;
        struct ed_buf url;                    /* with a NUL */
        struct ed_http_request_fields fields; /* until the request is sent */
        uint64_t body_bytes_max;
        int64_t read_timeout_ns;
        struct ed_http_decoded decoding;
        struct eddy_json_error *json_error; /* of the last eddy_http_response_json(); NULL: none */
        struct eddy_http_attempt attempt;
        struct eddy_http_hooks hooks; /* of the request; all zero: none */
        void (*body_free)(void *arg); /* of the memory of the request's body; NULL: none */
        void *body_arg;
        uint32_t redirects; /* that led to it */
        bool is_hooked;     /* the client or the request has hooks */
        bool in_attempt;    /* it has begun and not ended */
        char method[24];    /* of the attempt; a longer one is cut */
};

/* HTTP/1's part of a response. It owns the buffers; an idle connection needs none. */
struct ed_http1_response {
        struct ed_list link; /* in the client's list of spares */
        eddy_http_response *base;
        struct ed_buf out;            /* the request's head */
        size_t interim_bytes;         /* of the 1xx responses so far */
        struct ed_buf trailers;       /* of the response */
        struct ed_http_upload upload; /* unsent part of a large request */
        bool tainted;                 /* an error, a cancel, or a request not fully sent */
        int err;                      /* error returned by all further reads */
        struct ed_http_message message;
        struct ed_http1_field fields[]; /* limits.fields_max */
};

/*
 * Append the head of a request to 'out', which must be empty.
 *
 * Errors: EDDY_E_HTTP_INVALID_REQUEST, -ENOMEM
 */
EDDY_MUST_USE int ed_http1_request_write(const struct ed_http_request_fields *fields,
                                         struct ed_buf *out);

/* Returns the request's method, or its default. */
const char *ed_http_request_method(const struct eddy_http_request *request);

/* Returns an empty response that holds a reference to the client. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_http_response_new(eddy_http_client *client, eddy_http_response **ret_response);

/* Attach the part of the open connection's protocol. Errors: -ENOMEM */
EDDY_MUST_USE int ed_http_response_attach(eddy_http_response *response);

/* Detach the part, if any; the slot stays the response's, for another connection. */
void ed_http_response_detach(eddy_http_response *response);

/* End the exchange, and free the response. */
void ed_http_response_free(eddy_http_response *response);

/* End the attempt of a response that the caller has, or that no caller gets, and free it. */
void ed_http_response_end(eddy_http_response *response);

/* Free the responses that are kept for later requests, and HTTP/1's parts. */
void ed_http_responses_drop(eddy_http_client *client);
void ed_http1_responses_drop(eddy_http_client *client);
void ed_h2_requests_drop(eddy_http_client *client);

/* Drop one reference. */
void ed_http_client_unref(eddy_http_client *client);

#endif
