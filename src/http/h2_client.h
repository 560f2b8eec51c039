/*
 * http/h2_client.h - the client's side of HTTP/2: a connection of the pool, and the exchanges on it.
 *
 * A task of the client runs the connection's session. When the pool gives the connection up, that task
 * gets the stream: it sends GOAWAY, if that leaves at once, and closes the stream. The session lives
 * until the pool, its task and the last of its streams have let go.
 */
#ifndef ED_HTTP_H2_CLIENT_H
#define ED_HTTP_H2_CLIENT_H

#include "http/client.h"
#include "http/h2.h"
#include "http/h2_stream.h"

struct ed_h2_session {
        struct ed_h2 h2;
        eddy_http_client *client;  /* one reference */
        struct ed_http_conn *conn; /* NULL: the pool has given the connection up */
        eddy_scope *running;       /* of the session's task, while it reads */
        bool needs_http1;          /* the peer has said so when it ended the connection */
        bool has_settings;         /* the peer has begun as RFC 9113, 3.4 demands */
        bool is_over;              /* its task does not use the stream any more */
        bool owns_stream;          /* its task closes the stream */
        uint32_t refs;
        uint32_t quiet;    /* streams whose rest is dropped as it arrives */
        int64_t pinged_ns; /* when the PING was sent that has no answer; 0: none */
        struct ed_h2_bucket cancels;
};

/* An exchange: the part of a response, and the stream, which may outlive the response. */
struct ed_h2_request {
        struct ed_h2_stream h2;        /* its memory is that of the exchange */
        struct ed_list link;           /* in the client's list of spares */
        eddy_http_response *base;      /* NULL: detached */
        struct ed_h2_session *session; /* one reference; NULL: no stream was opened */
        eddy_stream *body;             /* the stream, for the upload */
        eddy_event changed;            /* the head, an interim response or a reset has come */
        struct ed_http_upload upload;
        struct ed_h2_head trailers; /* of the request */
        struct ed_buf text;         /* of a spare: memory for the head */
        struct ed_buf whole;        /* the body as far as it was gathered; of a spare: memory */
        bool is_gathered;
        bool is_quiet;      /* the rest of the response is dropped as it arrives */
        bool was_continued; /* "100 Continue" has come */
        bool is_refused;    /* the peer has done nothing with the request */
        bool needs_http1;   /* the peer takes the request by HTTP/1 only */
        bool is_unanswered; /* the peer takes no more requests on this connection */
        uint64_t body_bytes;
        uint64_t interim_bytes; /* of the 1xx responses so far */
        int status;
        int err;           /* of all further reads */
        const char *fault; /* what the peer violates, or its reason to reset the stream; "" */
};

/* Drop a reference of a stream. */
void ed_h2_session_unref(struct ed_h2_session *session);

/* A stream is about to be reset. If there were too many resets, the connection drains. */
void ed_h2_session_cancels(struct ed_h2_session *session);

/* Returns true if one more stream may be dropped as it arrives. */
bool ed_h2_session_may_be_quiet(const struct ed_h2_session *session);

/* A stream's rest is dropped as it arrives, or is over: the peer counts the stream until then. */
void ed_h2_session_quiet(struct ed_h2_session *session, int change);

/*
 * Queue the head of a request on a new stream of the session.
 *
 * Errors: -ENOMEM; -EAGAIN  the connection has no further streams
 */
EDDY_MUST_USE int ed_h2_request_open(struct ed_h2_request *exchange, bool has_body);

/* The operations of the session on its streams (http/h2_client.c). */
void ed_h2_request_part(struct ed_h2_stream *stream, enum ed_h2_part part);
void ed_h2_request_closed(struct ed_h2_stream *stream);
void ed_h2_request_free(struct ed_h2_stream *stream);

/* Wake the task that waits for the head. */
void ed_h2_request_wake(struct ed_h2_stream *stream);

extern const struct ed_http_conn_ops ed_h2_conn_ops;
extern const struct ed_http_response_ops ed_h2_response_ops;

#endif
