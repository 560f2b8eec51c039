/*
 * http/h2.h - a connection of HTTP/2, for both sides: a session of nghttp2, a task that reads, and a
 * task that writes when an event wakes it. Only the files h2*.c know nghttp2.
 *
 * The callbacks of nghttp2 run in the reading task, and in the writing task for DATA. They never
 * suspend, and call the operations of the side, which must not suspend either and must not end the
 * connection.
 *
 *     a call of a task   >  nghttp2 queues frames, ed_h2_wake()  >  the writing task joins the frames
 *                           of all tasks that ran meanwhile in one write
 *     bytes of the peer  >  the reading task  >  the streams, whose waiting tasks wake
 *
 * The end: one of both tasks fails, or the session has nothing more to read and to write; then the
 * reading task returns. If a client has ended its sending, its requests have a second for their
 * answers. ed_h2_end() takes the connection from all streams that tasks own.
 */
#ifndef ED_HTTP_H2_H
#define ED_HTTP_H2_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"
#include "eddy/event.h"
#include "eddy/scope.h"
#include "eddy/stream.h"
#include "http/h2_limits.h"
#include "http/h2_memory.h"
#include "http/pace.h"

struct ed_h2;
struct ed_h2_stream;

/* A part of a message whose fields are complete. */
enum ed_h2_part {
        ED_H2_INTERIM,  /* a response with a status below 200; its fields are dropped afterwards */
        ED_H2_MESSAGE,  /* the head */
        ED_H2_TRAILERS, /* after the body */
};

/* The operations of a side. Only "wait" suspends. */
struct ed_h2_ops {
        /*
         * Wait until ed_h2_wait() returns, in a scope whose deadline the side chooses, and which it
         * passes to ed_h2_wait(). Errors end the connection; 0: try again. This one suspends.
         */
        int (*wait)(struct ed_h2 *h2);
        /*
         * The peer begins a stream: initialise one (ed_h2_stream_init()). NULL refuses the stream,
         * which the peer may repeat. A client has no such operation.
         */
        struct ed_h2_stream *(*begin)(struct ed_h2 *h2, int32_t id);
        /* A part is complete. A head that is too large says so itself. */
        void (*part)(struct ed_h2_stream *stream, enum ed_h2_part part);
        /* The protocol has ended the stream, in both directions or by a reset. May be NULL. */
        void (*closed)(struct ed_h2_stream *stream);
        /* Both owners have let go: free the memory around the stream. */
        void (*free)(struct ed_h2_stream *stream);
        /* The peer has changed its settings. May be NULL. */
        void (*settings)(struct ed_h2 *h2);
        /* The peer will answer no stream above 'last_id'. May be NULL. */
        void (*goaway)(struct ed_h2 *h2, int32_t last_id, uint32_t code);
        /* Bytes of streams are kept, and the peer's windows let none leave. May be NULL. */
        void (*stalled)(struct ed_h2 *h2);
        /* The peer has answered a PING. May be NULL. */
        void (*pong)(struct ed_h2 *h2);
};

struct ed_h2_opts {
        const struct ed_h2_ops *ops;
        eddy_stream *stream;         /* of the connection; borrowed */
        struct ed_h2_memory *memory; /* borrowed */
        bool is_server;
        bool credit_at_receipt;        /* else the connection's credit returns when a task reads */
        bool answers_at_end;           /* the peer's end leaves time for the answers */
        uint32_t streams_max;          /* that the peer may have open; a client: 0 */
        uint32_t stream_window;        /* bytes of a stream that no task has read */
        uint32_t connection_window;    /* ... of all streams */
        uint32_t fields_max;           /* of a head */
        uint32_t head_bytes_max;       /* decoded, each field with ED_H2_FIELD_BYTES */
        uint32_t limits[ED_H2_LIMITS]; /* 0: none */
};

enum {
        ED_H2_FRAME_HEAD_BYTES = 9,
        ED_H2_KEPT_BYTES_MAX = 64 << 10,     /* of a stream, that the connection has not sent */
        ED_H2_KEPT_ALL_BYTES_MAX = 96 << 10, /* of all streams; then each has only ... */
        ED_H2_KEPT_LEAST = 512,
};

/* Put it into the connection of a side. */
struct ed_h2 {
        const struct ed_h2_ops *ops;
        nghttp2_session *session; /* NULL: ended */
        eddy_stream *stream;
        eddy_event wake;          /* set: the writing task has work */
        eddy_scope *waiting;      /* of the reading task's wait; NULL: it does not wait */
        struct ed_buf out;        /* frames that were not written */
        struct ed_http_pace pace; /* of writing to the connection */
        struct ed_list streams;   /* that the protocol owns */
        uint32_t streams_count;
        nghttp2_nv *fields;
        size_t fields_count, fields_room;
        uint64_t received;      /* bytes */
        uint64_t kept;          /* bytes of all streams that were not sent */
        uint64_t unread;        /* bytes of all streams that no task has read */
        int64_t begun_ns;       /* since when a frame or a head is incomplete; 0: none */
        int64_t quiet_ns;       /* when the last stream ended, or the connection began */
        int64_t active_ns;      /* when bytes were last received */
        int32_t last_id;        /* of the peer's streams, the last that was begun */
        int32_t gap_begin;      /* ids that the peer has left out: from this one ... */
        int32_t gap_end;        /* ... to before this one */
        uint32_t continuations; /* of the head that is being received */
        int32_t strays;         /* frames for streams that have ended; see may_be_stray() */
        int error;              /* why the connection ended; 0: by agreement, or it has not */
        uint32_t fault;         /* of HTTP/2, which this side found; 0: none */
        int limit;              /* enum ed_h2_limit, if the fault is ENHANCE_YOUR_CALM; else -1 */
        bool is_server;
        bool credit_at_receipt;
        bool answers_at_end;
        bool is_answering;  /* the peer has ended its sending: what it asked for is answered */
        bool in_head;       /* a head has begun and is incomplete */
        bool got_data;      /* DATA was received since the last look */
        bool refuses;       /* after the next write, the rest of a message is refused */
        uint8_t frame_have; /* bytes of 'frame': a frame's head is incomplete, or a WINDOW_UPDATE */
        uint8_t frame[ED_H2_FRAME_HEAD_BYTES + sizeof(uint32_t)];
        size_t payload_left; /* of the frame that is being received */
        bool is_read;        /* the reading task has ended: write what remains */
        bool is_written;     /* the writing task has ended */
        bool is_going;       /* GOAWAY was sent or received */
        uint32_t fields_max, head_bytes_max;
        uint32_t connection_window;
        uint32_t continuations_max, head_decoded_max; /* 0: no limit */
        size_t queue_max;                             /* of frames that were not sent */
        struct ed_h2_bucket buckets[ED_H2_CONTINUATIONS];
};

/*
 * Make the session, whose first frames are queued.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_h2_init(struct ed_h2 *h2, const struct ed_h2_opts *opts);

/*
 * End all streams with 'error', an error of their calls, and free the session. Both tasks have ended,
 * or do not exist. Streams that tasks own remain until the tasks close them. Can be repeated.
 */
void ed_h2_end(struct ed_h2 *h2, int error);

/*
 * Read and write until the connection ends, in this task, which reads, and another one. 'data' are
 * bytes that were read before. Returns 0 after an end by agreement, else an error, which is in
 * h2->error too. Then call ed_h2_end().
 *
 * Suspends: yes.
 * Errors: -ECANCELED, -ENOMEM; those of the stream and of the side's wait
 *         -ECONNRESET  the peer has ended the connection without an agreement
 */
int ed_h2_run(struct ed_h2 *h2, const void *data, size_t bytes);

/* Have the writing task look for frames. */
void ed_h2_wake(struct ed_h2 *h2);

/*
 * Wait in the scope, which is the innermost one, for bytes of the peer, or until the writing task
 * fails or ed_h2_stop() is called.
 *
 * Suspends: yes.
 * Errors: those of eddy_stream_wait()
 */
EDDY_MUST_USE int ed_h2_wait(struct ed_h2 *h2, eddy_scope *scope);

/* End the connection with GOAWAY and 'code', NGHTTP2_*. The first code counts. */
void ed_h2_fail(struct ed_h2 *h2, uint32_t code);

/* Returns the error of eddy for a result of nghttp2: -ENOMEM, or EDDY_E_HTTP_INVALID_RESPONSE. */
int ed_h2_error(int64_t result);

/* Returns the words for a request that the server, which is the peer, or the client has reset. */
const char *ed_h2_reset_text(uint32_t code, bool by_peer);

#endif
