/*
 * http/message.h - a sequence of messages read from a stream: heads are read into a buffer, bodies
 * from the buffer and then directly from the stream.
 *
 * Client and server share this code; they differ only in how they use a message. The buffer holds
 * one message from its first byte. The buffer may grow and move up to and including
 * ed_http_message_begin_body(). From then until ed_http_message_next() the bytes of the head do not
 * move, because callers hold pointers to them. Assertions reject any use of the head's text before
 * that call and any move after it.
 *
 *     in  |...previous...|head|...body bytes given...|body bytes|next|
 *                        ^base                       ^at             ^end
 */
#ifndef ED_HTTP_MESSAGE_H
#define ED_HTTP_MESSAGE_H

#include <stdbool.h>

#include "eddy/http_client.h"
#include "eddy/stream.h"
#include "http/pace.h"
#include "wire/http1.h"

enum {
        ED_HTTP_BUFFER_BYTES = 32 << 10, /* initial size of a client's buffer */
        ED_HTTP_WINDOW_BYTES = 4 << 10,  /* minimum room for body bytes after a head */
        ED_HTTP_DIRECT_BYTES = 4 << 10,  /* reads of at least this size bypass the buffer */
};

struct ed_http_message {
        eddy_stream **stream; /* NULL in the pointer: closed, see 'closed_error' */
        int closed_error;
        char *in;
        size_t room; /* the last byte is reserved for a NUL */
        size_t base;
        size_t at;
        size_t end;
        size_t head_bytes;         /* 0: the head is incomplete */
        uint64_t received;         /* bytes received since the message began */
        struct ed_http_pace *pace; /* minimum rate for the body; NULL: no limit */
        int64_t read_timeout_ns;   /* for one read, EDDY_E_HTTP_TIMEOUT_READ; 0: no limit */
        const int64_t *sent_ns;    /* when bytes were last sent: restarts that time */
        bool settled;              /* begin_body() was called: the head no longer moves */
        bool terminated;           /* names and values end in NULs */
        bool gathered;             /* the rest of the body is at 'whole' */
        char nul_saved;            /* byte that the NUL of body() replaced ... */
        size_t nul_at;             /* ... and its position; 0: none */
        size_t room_first;
        char *whole;
        size_t whole_bytes;
        char *outside; /* memory of a body larger than the buffer; owned */
        size_t outside_room;
        size_t given;            /* bytes of 'outside' already returned by reads */
        struct ed_buf *trailers; /* gets those of the body; borrowed; NULL: they are dropped */
        struct ed_http1_field *fields;
        struct ed_http1_limits limits;
        uint64_t body_max;
        struct ed_http1_head head;
        struct ed_http1_body body;
};

/*
 * Prepare for reading.  'fields' has room for limits->fields_max entries; NULL: the caller sets them
 * before each message.
 *
 * Owns: borrows 'fields' and 'stream' (the variable) until fini.
 */
void ed_http_message_init(struct ed_http_message *message, struct ed_http1_field *fields,
                          const struct ed_http1_limits *limits, size_t room_first,
                          uint64_t body_max);

/* Free its memory. */
void ed_http_message_fini(struct ed_http_message *message);

/* Reset everything and shrink the buffer to its first size: ready for another stream. */
void ed_http_message_reset(struct ed_http_message *message);

/* Free the buffer, which is empty; the next read allocates another. */
void ed_http_message_drop_buffer(struct ed_http_message *message);

/* The same, but the buffer, of 'room' bytes, becomes the caller's. */
char *ed_http_message_take_buffer(struct ed_http_message *message);

/* Give a message without a buffer one of its first size. */
void ed_http_message_give_buffer(struct ed_http_message *message, char *buffer);

/*
 * Begin the next message of the stream. Bytes already read beyond the previous message are its
 * start. The caller then calls ed_http1_request_init() or ed_http1_response_init() on its head.
 */
void ed_http_message_next(struct ed_http_message *message);

/* Drop a complete head without a body (a 1xx response) and continue. */
void ed_http_message_skip(struct ed_http_message *message);

/*
 * Wait until the stream has something to read, without a buffer.
 *
 * Suspends: yes.
 * Errors: those of the stream
 */
EDDY_MUST_USE int ed_http_message_await(struct ed_http_message *message);

/*
 * Read more of an incomplete head from the stream. Returns the bytes read, or 0 if the peer closed
 * the stream.
 *
 * Suspends: yes.
 * Errors: -ENOMEM, and those of the stream
 */
EDDY_MUST_USE int64_t ed_http_message_fill(struct ed_http_message *message);

/* As ed_http_message_fill(), without a wait. Errors: also -EAGAIN: no bytes have arrived. */
EDDY_MUST_USE int64_t ed_http_message_try_fill(struct ed_http_message *message);

/*
 * Look for the end of the head. Returns 1 if the head is complete, else 0.
 *
 * Suspends: no.
 * Errors: of ed_http1_head_parse()
 */
EDDY_MUST_USE int ed_http_message_parse(struct ed_http_message *message);

/*
 * Begin the body. Moves the head to its final place; call the functions below that return text of
 * the head only after this one.
 *
 * Suspends: no.
 * Errors: EDDY_E_HTTP_TOO_LARGE, -ENOMEM
 */
EDDY_MUST_USE int ed_http_message_begin_body(struct ed_http_message *message);

/* Returns true if the buffer holds the whole body, so that no more reads are needed. */
bool ed_http_message_is_whole(const struct ed_http_message *message);

/* Returns the bytes of the message, with its head, that were received. */
uint64_t ed_http_message_bytes(const struct ed_http_message *message);

/* Returns true if the buffer holds the rest of a chunked body, which is valid. */
bool ed_http_message_chunks_are_whole(const struct ed_http_message *message);

/*
 * Returns true if bytes were read beyond the end of this message. Valid once the message is whole
 * or done.
 */
bool ed_http_message_has_more(const struct ed_http_message *message);

/*
 * Read some of the body; returns 0 at its end. A cancelled read can be repeated.
 *
 * Suspends: yes.
 */
EDDY_MUST_USE int64_t ed_http_message_read(struct ed_http_message *message, void *buf,
                                           size_t bytes);

/* Read the rest of the body into memory of the message, and append a NUL. */
EDDY_MUST_USE int ed_http_message_gather(struct ed_http_message *message);

/* Read and drop the rest of the body. Returns -EMSGSIZE after 'bytes_max' more bytes. */
EDDY_MUST_USE int ed_http_message_discard(struct ed_http_message *message, uint64_t bytes_max);

/* Drop the body bytes that are in the buffer, without suspending. */
EDDY_MUST_USE int ed_http_message_discard_buffered(struct ed_http_message *message);

/*
 * Read bytes that follow the message, whose body is done or in the buffer: they begin the next message.
 * Does not wait. Returns their number; 0 at the end of the stream.
 *
 * Suspends: no.
 * Errors: -EAGAIN   none have arrived
 *         -ENOBUFS  the buffer is full
 *         those of the stream
 */
EDDY_MUST_USE int64_t ed_http_message_read_ahead(struct ed_http_message *message);

/*
 * Returns the bytes after the message that were already read, and ends the reading from the stream.
 * They do not overlap with the body that gather returned.
 */
void ed_http_message_take_rest(struct ed_http_message *message, const void **ret_data,
                               size_t *ret_bytes);

/* Returns a field's value, ending in a NUL, or NULL. */
const char *ed_http_message_header(struct ed_http_message *message, const char *name);
int ed_http_message_header_at(struct ed_http_message *message, size_t i,
                              struct eddy_http_header *ret_header);

/* Stores trailer number 'i' of those received. Returns 0 or -ENOENT. */
int ed_http_message_trailer_at(const struct ed_http_message *message, size_t i,
                               struct eddy_http_header *ret_trailer);

/* Terminate names and values (and a request's method and target) with NULs. */
void ed_http_message_terminate(struct ed_http_message *message);

static inline char *ed_http_message_text(const struct ed_http_message *message)
{
        return message->in + message->base;
}

/* ---- for the files message_*.c only ----------------------------------------- */

/*
 * Read from the stream, which another task may close meanwhile. Returns the bytes read, or 0 if the
 * peer closed the stream.
 *
 * Suspends: yes.
 * Errors: 'closed_error', and those of the stream
 */
EDDY_MUST_USE int64_t ed_http_message_receive(struct ed_http_message *message, void *buf,
                                              size_t bytes);

/* Free the body bytes gathered outside the buffer. */
void ed_http_message_drop_outside(struct ed_http_message *message);

#endif
