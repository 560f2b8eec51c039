/*
 * http/h2_stream.h - a stream of HTTP/2: a request and its response.
 *
 * It is an eddy_stream for the bodies. A shutdown sends the end. A close before both ends resets the
 * stream, and an abort always does.
 *
 * A stream has two owners, the protocol and a task, and dies with the second: the peer can end a
 * stream before its task begins, and a task can end before the peer has its bytes.
 */
#ifndef ED_HTTP_H2_STREAM_H
#define ED_HTTP_H2_STREAM_H

#include "eddy/stream_ops.h"
#include "http/h2.h"
#include "http/h2_fields.h"
#include "http/h2_head.h"

enum { ED_H2_PROTOCOL = 1 << 0, ED_H2_TASK = 1 << 1 };

struct ed_h2_waiter;

struct ed_h2_stream {
        struct eddy_stream stream;
        const struct ed_h2_ops *ops;
        struct ed_h2 *h2;    /* NULL: the connection has ended */
        struct ed_list link; /* among the connection's, while the protocol owns it */
        int32_t id;
        uint8_t owners;
        bool has_head;      /* the peer's head is complete */
        bool got_end;       /* the peer's message is complete */
        bool is_ended;      /* this side's message is complete, though some is kept */
        bool sent_head;     /* this side's head was queued */
        bool sent_end;      /* the frame with this side's end was sent */
        bool is_reset;      /* by any side, or with the connection */
        bool reset_by_peer; /* by a frame of its */
        bool reset_by_us;   /* a reset of this side that is not a fault of the peer */
        bool is_deferred;   /* nghttp2 has asked for data, and there was none */
        bool leaves;   /* when this side's end is sent, the rest of the peer's message is refused */
        bool drops;    /* no task reads: what the peer sends is dropped */
        int error;     /* of calls after a reset */
        uint32_t code; /* NGHTTP2_*, of the reset */
        struct ed_h2_head head;
        struct ed_h2_head trailers;
        struct ed_buf in;  /* body of the peer, not read */
        struct ed_buf out; /* body, not sent */
        size_t reserved;   /* room for the next write; counted in the connection's 'kept' */
        struct ed_h2_waiter *waiters[2];
        struct ed_h2_head *last; /* trailers that follow 'out'; borrowed; NULL: none */
        uint64_t received;       /* bytes of frames, without those of CONTINUATION */
        uint64_t sent;           /* likewise */
        uint64_t data_in;        /* bytes of the body */
        uint64_t data_out;
};

static inline struct ed_h2_stream *ed_h2_stream_of(const eddy_stream *stream)
{
        return (struct ed_h2_stream *) (uintptr_t) stream;
}

/* Initialise a stream of the connection, owned by the protocol if 'id' is not 0. */
void ed_h2_stream_init(struct ed_h2_stream *stream, struct ed_h2 *h2, int32_t id);

/* Free its memory, but not the stream itself. For the operation 'free', and for a stream without owners. */
void ed_h2_stream_fini(struct ed_h2_stream *stream);

/* A task owns it from now on, too. */
void ed_h2_stream_take(struct ed_h2_stream *stream);

/*
 * The task lets go: a stream that is not complete in both directions is reset with 'code'. If only the
 * peer's message is incomplete, the reset follows the end of this side's. The stream may be gone.
 */
void ed_h2_stream_leave(struct ed_h2_stream *stream, uint32_t code);

/* The task lets go without a reset: the rest of the peer's message is dropped as it arrives. */
void ed_h2_stream_leave_quietly(struct ed_h2_stream *stream);

/* Reset it with 'code', NGHTTP2_*: later calls fail with 'error'. Both owners remain. */
void ed_h2_stream_reset(struct ed_h2_stream *stream, uint32_t code, int error);

/*
 * Client: open a stream with a request, whose fields are those of ed_h2_fields_begin(). With 'has_body'
 * the stream's writes and its shutdown follow. The protocol owns the stream too.
 *
 * Errors: -ENOMEM; -EAGAIN  the connection has no further ids
 */
EDDY_MUST_USE int ed_h2_stream_request(struct ed_h2_stream *stream, bool has_body);

/*
 * Server: queue a head whose fields are those of ed_h2_fields_begin(). Without 'has_body' it is the end.
 * Bytes of try_writev before the head follow it.
 *
 * Errors: -ENOMEM; -ECONNRESET and others  the stream was reset
 */
EDDY_MUST_USE int ed_h2_stream_respond(struct ed_h2_stream *stream, bool has_body);

/* Server: queue an interim response.  Errors as ed_h2_stream_respond(). */
EDDY_MUST_USE int ed_h2_stream_interim(struct ed_h2_stream *stream);

/*
 * End this side's message after what is kept, with trailers, or NULL. 'trailers' is borrowed until the
 * stream dies.
 */
void ed_h2_stream_end(struct ed_h2_stream *stream, struct ed_h2_head *trailers);

/*
 * Keep room for at most 'bytes' bytes of the next write, in place of what was kept before. Returns how
 * many; 0: wait until the stream is writable.
 */
size_t ed_h2_stream_reserve(struct ed_h2_stream *stream, size_t bytes);

/* Exchange what has arrived with an empty buffer. */
void ed_h2_stream_take_input(struct ed_h2_stream *stream, struct ed_buf *empty);

/* From now on drop what the peer sends, and what has arrived. */
void ed_h2_stream_drop_input(struct ed_h2_stream *stream);

/* Returns true if the peer cannot send: unread bytes of other streams keep the window of the connection. */
bool ed_h2_stream_is_starved(const struct ed_h2_stream *stream);

/* ---- for h2.c only ------------------------------------------------------------ */

/* Bytes of the peer's body have arrived.  Returns false if memory is missing. */
EDDY_MUST_USE bool ed_h2_stream_receive(struct ed_h2_stream *stream, const void *data,
                                        size_t bytes);

/* The peer's message is complete. */
void ed_h2_stream_got_end(struct ed_h2_stream *stream);

/* The protocol lets go: the stream was closed with 'code'. 'error' is for calls; 0: by 'code'. */
void ed_h2_stream_closed(struct ed_h2_stream *stream, uint32_t code, int error);

/* Append a frame of DATA to the connection's bytes. Errors: -ENOMEM. */
EDDY_MUST_USE int ed_h2_stream_send(struct ed_h2_stream *stream, const uint8_t *head,
                                    const nghttp2_frame *frame, size_t bytes);

#endif
