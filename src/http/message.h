/*
 * http/message.h - one message after another, read from a stream: heads into
 * a buffer, bodies from there and then from the stream itself.
 *
 * Client and server read alike; only what they do with a message differs.
 * The buffer holds one message from its first byte.  It may grow and move up to
 * and including ed_http_message_begin_body().  From then on until
 * ed_http_message_next() the head's bytes stay where they are: callers hold
 * pointers to them.  An assertion refuses every use of the head's text before
 * that call and every move after it.
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
        ED_HTTP_BUFFER_BYTES = 16 << 10, /* of a client's buffer, to begin with */
        ED_HTTP_WINDOW_BYTES = 4 << 10,  /* room for body bytes behind a head, at least */
        ED_HTTP_DIRECT_BYTES = 4 << 10,  /* reads of so many go past the buffer */
};

struct ed_http_message {
        eddy_stream **stream; /* NULL in there: closed by somebody else, see 'closed_error' */
        int closed_error;
        char *in;
        size_t room; /* one byte less is used: a NUL fits behind all */
        size_t base;
        size_t at;
        size_t end;
        size_t head_bytes;         /* 0: not complete */
        uint64_t received;         /* bytes, since the message began */
        struct ed_http_pace *pace; /* at which its body is read; NULL: any */
        bool settled;    /* begin_body() was called: the head's bytes do not move any more */
        bool terminated; /* NULs stand behind names and values */
        bool gathered;   /* the rest of the body stands at 'whole' */
        char nul_saved;  /* what stood where body() put its NUL ... */
        size_t nul_at;   /* ... 0: nowhere */
        size_t room_first;
        char *whole;
        size_t whole_bytes;
        char *outside; /* memory of a body that did not fit the buffer; owned */
        size_t outside_room;
        size_t given; /* of the bytes outside, by reads */
        struct ed_http1_field *fields;
        struct ed_http1_limits limits;
        uint64_t body_max;
        struct ed_http1_head head;
        struct ed_http1_body body;
};

/*
 * Prepare for reading.  'fields' has room for limits->fields_max entries.
 *
 * Owns: borrows 'fields' and 'stream' (the variable) until fini.
 */
void ed_http_message_init(struct ed_http_message *message, struct ed_http1_field *fields,
                          const struct ed_http1_limits *limits, size_t room_first,
                          uint64_t body_max);

/* Free its memory. */
void ed_http_message_fini(struct ed_http_message *message);

/* Forget all but the buffer, shrunk to its first size: ready for another stream. */
void ed_http_message_reset(struct ed_http_message *message);

/*
 * Begin the next message of the stream; what was read beyond the last one is
 * its beginning.  The caller then calls ed_http1_request_init() or
 * ed_http1_response_init() on its head.
 */
void ed_http_message_next(struct ed_http_message *message);

/* Drop a complete head that has no body, and go on: a 1xx. */
void ed_http_message_skip(struct ed_http_message *message);

/*
 * Read more of an incomplete head from the stream.  Returns the bytes read;
 * 0: the peer closed.
 *
 * Suspends: yes.
 * Errors: -ENOMEM, and those of the stream
 */
EDDY_MUST_USE int64_t ed_http_message_fill(struct ed_http_message *message);

/*
 * Look for the end of the head.  Returns 1 if it is complete, else 0.
 *
 * Suspends: no.
 * Errors: of ed_http1_head_parse()
 */
EDDY_MUST_USE int ed_http_message_parse(struct ed_http_message *message);

/*
 * Begin the body.  Moves the head to its final place; the calls below that give
 * text of the head are for after this one.
 *
 * Suspends: no.
 * Errors: EDDY_E_HTTP_TOO_LARGE, -ENOMEM
 */
EDDY_MUST_USE int ed_http_message_begin_body(struct ed_http_message *message);

/* Whether the whole body stands in the buffer, so that no more reading is needed. */
bool ed_http_message_is_whole(const struct ed_http_message *message);

/* Whether bytes were read beyond the end of this message; valid once it is whole or done. */
bool ed_http_message_has_more(const struct ed_http_message *message);

/*
 * Read some of the body; 0 at its end.  A cancelled read can be called again.
 *
 * Suspends: yes.
 */
EDDY_MUST_USE int64_t ed_http_message_read(struct ed_http_message *message, void *buf,
                                           size_t bytes);

/* Read all that is left of it, into memory of the message; a NUL stands behind. */
EDDY_MUST_USE int ed_http_message_gather(struct ed_http_message *message);

/* Read and drop what is left, at most 'bytes_max' more bytes of it (then -EMSGSIZE). */
EDDY_MUST_USE int ed_http_message_discard(struct ed_http_message *message, uint64_t bytes_max);

/* The same as far as the bytes are in the buffer; without suspending. */
EDDY_MUST_USE int ed_http_message_discard_buffered(struct ed_http_message *message);

/* A field's value with a NUL behind, or NULL. */
const char *ed_http_message_header(struct ed_http_message *message, const char *name);
int ed_http_message_header_at(struct ed_http_message *message, size_t i,
                              struct eddy_http_header *ret_header);

/* Put NULs behind names and values (and a request's method and target). */
void ed_http_message_terminate(struct ed_http_message *message);

static inline char *ed_http_message_text(const struct ed_http_message *message)
{
        return message->in + message->base;
}

/* ---- for the files message_*.c only ----------------------------------------- */

/*
 * Read from the stream, which another task may close meanwhile.  Returns the
 * bytes read; 0: the peer closed.
 *
 * Suspends: yes.
 * Errors: 'closed_error', and those of the stream
 */
EDDY_MUST_USE int64_t ed_http_message_receive(struct ed_http_message *message, void *buf,
                                              size_t bytes);

/* Drop the body's bytes that were gathered outside the buffer. */
void ed_http_message_drop_outside(struct ed_http_message *message);

#endif
