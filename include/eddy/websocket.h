/*
 * eddy/websocket.h - WebSocket (RFC 6455) on both sides: messages in both directions on a connection
 * that began as a request of HTTP.
 *
 *     static int echo(eddy_http_exchange *exchange, void *arg)           (a handler of a server)
 *     {
 *             EDDY_AUTO(eddy_websocket) eddy_websocket *websocket = NULL;
 *             struct eddy_websocket_message message;
 *             int err = eddy_websocket_accept(exchange, NULL, &websocket);
 *
 *             while (err >= 0 && (err = eddy_websocket_read(websocket, &message)) > 0)
 *                     err = eddy_websocket_write(websocket, message.kind, message.data, message.bytes);
 *             return err;
 *     }
 *
 *     err = eddy_websocket_connect(client, "wss://example.com/chat", NULL, &websocket);   (a client)
 *
 * A WebSocket answers pings and closes, and sees that its peer is gone, only while a task reads: a
 * program that only writes has a second task that reads.  Many tasks may write while one reads; a
 * message is never sent inside another.
 */
#ifndef EDDY_WEBSOCKET_H
#define EDDY_WEBSOCKET_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/http_client.h"
#include "eddy/http_exchange.h"

EDDY_BEGIN_DECLS

typedef struct eddy_websocket eddy_websocket;

enum eddy_websocket_kind {
        EDDY_WEBSOCKET_TEXT = 1, /* in UTF-8 */
        EDDY_WEBSOCKET_BINARY = 2,
};

/* Codes of a close (RFC 6455, 7.4.1).  Programs have 4000 to 4999 for their own. */
enum {
        EDDY_WEBSOCKET_NORMAL = 1000,
        EDDY_WEBSOCKET_GOING_AWAY = 1001, /* the server stops, or the user leaves the page */
        EDDY_WEBSOCKET_PROTOCOL_ERROR = 1002,
        EDDY_WEBSOCKET_UNSUPPORTED = 1003, /* a kind of message that the program cannot use */
        EDDY_WEBSOCKET_NO_CODE = 1005,     /* never sent: the peer's close has no code */
        EDDY_WEBSOCKET_LOST = 1006,        /* never sent: the connection ended without a close */
        EDDY_WEBSOCKET_NOT_UTF8 = 1007,
        EDDY_WEBSOCKET_POLICY = 1008,
        EDDY_WEBSOCKET_TOO_LARGE = 1009,
        EDDY_WEBSOCKET_SERVER_ERROR = 1011,
        EDDY_WEBSOCKET_TRY_LATER = 1013,
};

enum {
        EDDY_WEBSOCKET_REASON_MAX = 123, /* bytes of a close's reason */
        EDDY_WEBSOCKET_PING_MAX = 125,   /* bytes of a ping */
};

enum {
        /* eddy_websocket_accept(): pages of every site may connect.  Only for services that need
         * neither cookies nor the address of the client to know who is asking. */
        EDDY_WEBSOCKET_ANY_ORIGIN = 1 << 0,
};

/* All zero is the default. */
struct eddy_websocket_opts {
        size_t message_bytes_max EDDY_UNSET; /* of a message that is read; 0: 1 MiB */
        /* A longer message is sent in frames of this size, and pings are answered between them;
         * 0: each message is one frame */
        size_t fragment_bytes EDDY_UNSET;
        int64_t ping_ns
                EDDY_UNSET; /* silence of the peer before a ping; 0: 20 s; below 0: no pings */
        int64_t pong_ns EDDY_UNSET;  /* further silence, or the time to take bytes; 0: 20 s */
        int64_t close_ns EDDY_UNSET; /* for the peer's part of a close; 0: 1 s */
        /* Subprotocols.  A server takes the first of its own that the client offers; a client offers
         * its own in this order. */
        const char *const *protocols EDDY_UNSET;
        size_t protocols_count EDDY_UNSET;
        unsigned flags EDDY_UNSET;
        /* eddy_websocket_accept(): other sites whose pages may connect, such as
         * "https://app.example.com". */
        const char *const *origins EDDY_UNSET;
        size_t origins_count EDDY_UNSET;
        /* eddy_websocket_connect(): headers of the request, such as Authorization. */
        const struct eddy_http_header *headers EDDY_UNSET;
        size_t headers_count EDDY_UNSET;
        struct eddy_http_fault *ret_fault EDDY_UNSET; /* filled in on failure; NULL: not wanted */
        uintptr_t reserved[8] EDDY_UNSET;             /* zero */
};

/*
 * Accept a WebSocket in a handler, by HTTP/1.1.  'opts' may be NULL.
 *
 * Browsers send cookies to any site that a page connects to, so a page of another site could use a
 * visitor's session.  By default a request with the header Origin is therefore accepted only if the
 * origin's host and port are those of the header Host, or the origin is in 'origins'; if a proxy changes
 * Host, list the site in 'origins'.  Requests without Origin, which are not from pages, are
 * accepted.
 *
 * A request that is refused gets its answer here: 400 if it is not a handshake of WebSocket or came by
 * HTTP/2, 403 for the origin, 426 without Upgrade or for another version.  The handler returns the error.
 *
 * While a task waits for a message, a stop of the server cancels the wait at once (eddy/serve.h):
 * eddy_websocket_read() returns -ECANCELED, and the close says that the server is going away.
 *
 * Suspends: yes.
 * Errors: EDDY_E_WEBSOCKET_HANDSHAKE  the request was refused and answered
 *         -EINVAL                     an option is not valid
 *         -ENOMEM, and those of eddy_http_exchange_upgrade()
 * Owns: borrows 'opts' for the call; returns (owned) '*ret_websocket', to be closed before the handler
 *       returns.
 */
EDDY_API EDDY_MUST_USE int eddy_websocket_accept(eddy_http_exchange *exchange,
                                                 const struct eddy_websocket_opts *opts,
                                                 eddy_websocket **ret_websocket);

/*
 * Connect to the server of a ws: or wss: URL (http: and https: mean the same), with the TLS, proxies,
 * headers, credentials and times of the client.  'opts' may be NULL.  The WebSocket does not count
 * against the client's limits, and remains open when the client is closed.
 *
 * Suspends: yes.
 * Errors: EDDY_E_WEBSOCKET_HANDSHAKE  the server's answer is not 101, with its status in 'ret_fault', or
 *                                     not a valid handshake, with the reason
 *         -EINVAL, -ENOMEM, and those of eddy_http_client_upgrade()
 * Owns: borrows 'opts' for the call; returns (owned) '*ret_websocket'.
 */
EDDY_API EDDY_MUST_USE int eddy_websocket_connect(eddy_http_client *client, const char *url,
                                                  const struct eddy_websocket_opts *opts,
                                                  eddy_websocket **ret_websocket);

struct eddy_websocket_message {
        enum eddy_websocket_kind kind;
        const char *data; /* with a NUL after it; valid until the next read or the close */
        size_t bytes;
};

/*
 * Read the next message.  Returns 1, or 0 after the peer's close with code 1000, 1001 or none.
 * Pings and the close are answered inside.  Memory for a message is taken as its bytes arrive, not by
 * its declared length.
 *
 * After any error but -ECANCELED, -EBUSY and -ENOMEM, the peer has been sent a close if that was
 * possible, and further calls return the same error.
 *
 * Suspends: yes.
 * Errors: EDDY_E_WEBSOCKET_CLOSED     the peer's close has another code: eddy_websocket_close_code()
 *         EDDY_E_WEBSOCKET_LOST       the connection ended without a close
 *         EDDY_E_WEBSOCKET_PROTOCOL   the peer violates a rule: eddy_websocket_close_reason() names it
 *         EDDY_E_WEBSOCKET_UTF8       a text is not UTF-8
 *         EDDY_E_WEBSOCKET_TOO_LARGE  more than 'message_bytes_max' bytes, or 131,072 frames
 *         EDDY_E_NET_TIMED_OUT        the peer did not answer a ping, or takes no bytes
 *         -EBUSY                      another task is reading
 *         -ECANCELED                  no byte was lost: another call continues
 *         -ENOMEM                     likewise
 *         -ECONNRESET, ...            from the stream
 */
EDDY_API EDDY_MUST_USE int eddy_websocket_read(eddy_websocket *websocket,
                                               struct eddy_websocket_message *ret_message);

/*
 * Send a message.  Several tasks may call this: each waits until the message before is sent.  If the
 * call fails or is cancelled after a part of its message, the WebSocket can send no other message.
 *
 * Suspends: yes.
 * Errors: EDDY_E_WEBSOCKET_CLOSED  this side or the peer has closed; nothing was sent
 *         EDDY_E_WEBSOCKET_UTF8    a text that is not UTF-8; nothing was sent
 *         EDDY_E_STREAM_BROKEN     an earlier message was sent in part
 *         -EINVAL                  'kind' is neither, or 'data' is NULL and 'bytes' is not 0
 *         -ENOMEM                  nothing was sent
 *         -ECANCELED, and those of eddy_stream_writev()
 */
EDDY_API EDDY_MUST_USE int eddy_websocket_write(eddy_websocket *websocket,
                                                enum eddy_websocket_kind kind, const void *data,
                                                size_t bytes);

/*
 * Send a ping with at most EDDY_WEBSOCKET_PING_MAX bytes; a NULL 'data' with 0 bytes is an empty one.
 * The peer's pong is received, and dropped, by eddy_websocket_read().  Pings of 'ping_ns' need no call.
 *
 * Suspends: yes.
 * Errors: those of eddy_websocket_write()
 */
EDDY_API EDDY_MUST_USE int eddy_websocket_ping(eddy_websocket *websocket, const void *data,
                                               size_t bytes);

/*
 * Returns the code of the close that ended the reading: the peer's, EDDY_WEBSOCKET_NO_CODE or
 * EDDY_WEBSOCKET_LOST, or the one that was sent for an error of the peer; 0 before the end.  The reason
 * is that of the peer, or the rule that the peer violates; "" if there is none.
 *
 * Suspends: no.
 * Owns: the reason is valid until the close.
 */
EDDY_API int eddy_websocket_close_code(const eddy_websocket *websocket);
EDDY_API const char *eddy_websocket_close_reason(const eddy_websocket *websocket);

/* Returns the subprotocol that both sides know, or "".  Suspends: no.  Owns: valid until the close. */
EDDY_API const char *eddy_websocket_protocol(const eddy_websocket *websocket);

/*
 * Close the WebSocket and free it: send a close unless one was sent, drop the peer's messages until its
 * close, and close the connection, all within 'close_ns'.  The close has a code (0: 1000) and a reason
 * in UTF-8 (NULL: none); the reason is cut at EDDY_WEBSOCKET_REASON_MAX bytes, and left out if it is
 * not UTF-8.  In a cancelled task, and if the code cannot be sent, the close is sent only if there is
 * room for it at once.  No other task may use the WebSocket: cancel a task that reads, and wait for its
 * end (eddy_scope_cancel(), eddy_scope_end()), before the close.  NULL is ignored.
 *
 * EDDY_AUTO(eddy_websocket) closes with EDDY_WEBSOCKET_GOING_AWAY (1001).
 *
 * Suspends: yes, for at most 'close_ns'.
 */
EDDY_API void eddy_websocket_close(eddy_websocket *websocket, int code, const char *reason);

static inline void eddy_websocket_auto_release(eddy_websocket **websocket)
{
        eddy_websocket_close(*websocket, EDDY_WEBSOCKET_GOING_AWAY, NULL);
}

EDDY_END_DECLS

#endif
