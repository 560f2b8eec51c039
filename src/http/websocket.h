/*
 * http/websocket.h - a WebSocket after its handshake: the same for a server and a client, on any stream.
 *
 * A single task reads. Writers take 'lock' for a whole message, so no frame of another is inside it, but
 * the answers to pings may be: the reader leaves them in 'pongs', and the lock's holder sends them
 * after its frame.
 */
#ifndef ED_HTTP_WEBSOCKET_H
#define ED_HTTP_WEBSOCKET_H

#include "base/buf.h"
#include "eddy/lock.h"
#include "eddy/scope.h"
#include "eddy/websocket.h"
#include "wire/websocket.h"

enum {
        ED_WEBSOCKET_IN_BYTES = 4096,
        ED_WEBSOCKET_PONGS_BYTES = 512,
        ED_WEBSOCKET_MASKS_BYTES = 256, /* random bytes that one system call gives */
        ED_WEBSOCKET_FRAMES_MAX = 1 << 17,
        ED_WEBSOCKET_OPEN = 1, /* in 'result' */
};

struct eddy_websocket {
        eddy_stream *stream;
        bool is_server;
        bool is_close_sent; /* or was sent in part, or cannot be */
        int result;         /* of further reads; ED_WEBSOCKET_OPEN: none yet */
        unsigned code;      /* of the close that ended the reading; 0: none */
        char reason[ED_WEBSOCKET_CONTROL_MAX];
        size_t message_bytes_max, fragment_bytes;
        int64_t ping_ns, pong_ns, close_ns;

        /* ---- reading */
        bool is_reading;
        bool in_frame;   /* of a message: 'left' bytes of its payload were not read */
        bool is_given;   /* the message was given to the caller */
        bool is_pinged;  /* nothing came since a ping, or since one was due */
        bool is_held;    /* the ping was not sent: another task was sending */
        uint8_t opcode;  /* of the message whose frames are read; 0: between messages */
        uint32_t frames; /* of the message */
        struct ed_websocket_head head;
        uint64_t left;
        uint64_t taken;      /* bytes that the stream had taken at the ping */
        eddy_scope *waiting; /* of a reader with answers to send; NULL: none, or it was woken */
        int64_t silent_ns;   /* of reads that were cancelled, since the last byte or ping */
        struct ed_buf message;
        size_t checked;       /* bytes of the message that are UTF-8 */
        size_t in_at, in_end; /* the bytes in 'in' that were not read */
        unsigned char in[ED_WEBSOCKET_IN_BYTES];

        /* ---- writing */
        eddy_lock lock;
        bool is_cut; /* a message was sent in part */
        size_t pongs_bytes;
        unsigned char pongs[ED_WEBSOCKET_PONGS_BYTES]; /* frames */
        size_t masks_left;
        unsigned char masks[ED_WEBSOCKET_MASKS_BYTES];

        char protocol[]; /* with a NUL */
};

/* Check options; '*opts' may be NULL, and then becomes the defaults. Errors: -EINVAL */
EDDY_MUST_USE int ed_websocket_check(const struct eddy_websocket_opts **opts);

/* Make a WebSocket without a stream. Errors: -ENOMEM */
EDDY_MUST_USE int ed_websocket_new(const struct eddy_websocket_opts *opts, const char *protocol,
                                   bool is_server, eddy_websocket **ret_websocket);

/*
 * Checks that a task of the WebSocket's loop is running.
 *
 * Errors: EDDY_E_RUN_NOT_RUNNING, EDDY_E_RUN_OTHER_LOOP
 */
EDDY_MUST_USE int ed_websocket_enter(const eddy_websocket *websocket);

/* Free what ed_websocket_new() has made. The stream is not closed. */
void ed_websocket_free(eddy_websocket *websocket);

/* ---- websocket_key.c */

enum { ED_WEBSOCKET_KEY_CHARS = 24, ED_WEBSOCKET_ACCEPT_CHARS = 28 };

/*
 * Write the value of Sec-WebSocket-Accept that answers a key, with a NUL (RFC 6455, 4.2.2).
 *
 * Errors: -ENOMEM; -EOPNOTSUPP: OpenSSL's configuration forbids SHA-1
 */
EDDY_MUST_USE int ed_websocket_accept_of(const char *key, char out[ED_WEBSOCKET_ACCEPT_CHARS + 1]);

/* Returns whether a list of a header's value has the token, spelt equally. */
bool ed_websocket_list_has(const char *list, const char *token);

/* ---- websocket_read.c */

/*
 * End the reading with an error of the peer: send a close with 'code' if that is possible within
 * 'close_ns'. Returns 'error'.
 */
int ed_websocket_fail(eddy_websocket *websocket, int error, unsigned code, const char *why);

/* ---- websocket_write.c */

/* Store the next mask of a client. */
void ed_websocket_draw_mask(eddy_websocket *websocket, unsigned char mask[ED_WEBSOCKET_MASK_BYTES]);

/* Keep the answer to a ping. If there are too many, only the last is kept (RFC 6455, 5.5.3). */
void ed_websocket_keep_pong(eddy_websocket *websocket, const void *data, size_t bytes);

/*
 * Send the kept answers within 'pong_ns', unless another task is writing, which sends them next.
 *
 * Errors: EDDY_E_NET_TIMED_OUT, -ECANCELED; others are left to the next read
 */
EDDY_MUST_USE int ed_websocket_send_pongs(eddy_websocket *websocket);

/*
 * Send a ping as ed_websocket_send_pongs() does. Returns 1, or 0 if another task is writing, so that
 * nothing was sent.
 */
EDDY_MUST_USE int ed_websocket_send_ping(eddy_websocket *websocket);

/*
 * Send a close, after the message that another task is sending. Code 1005: without one. Without a wait
 * if the task is cancelled.
 *
 * Suspends: yes, for at most 'close_ns'.
 * Errors: EDDY_E_WEBSOCKET_CLOSED: it was sent before; those of eddy_websocket_write()
 */
int ed_websocket_send_close(eddy_websocket *websocket, unsigned code, const char *reason);

#endif
