/*
 * many_protocol.h - a protocol of many slots that only tests speak, over real streams: each request
 * and each answer is a frame with a number, and answers come in any order.
 *
 * A client speaks it after many_offer(). A request through eddy_http_client_send() carries the
 * number in its header "X-Topic"; the body of the answer is the number that the server gave.
 */
#ifndef ED_MANY_PROTOCOL_H
#define ED_MANY_PROTOCOL_H

#include "http/client.h"

enum { MANY_SLOTS = 8, MANY_MAGIC = 'm' /* the first byte of a frame */ };

enum many_kind {
        MANY_ASK,
        MANY_CANCEL,
        MANY_ANSWER,
        MANY_REFUSED, /* the server did not handle the request */
        MANY_SLOTS_ARE,
        MANY_GOAWAY,
        MANY_BROKEN, /* never sent: the connection ended before the answer */
        MANY_KINDS,
};

struct many_frame {
        uint32_t magic, kind;
        uint64_t number; /* of the request */
        uint64_t topic;
        uint64_t check; /* of the rest */
};

struct many {
        eddy_scope *scope; /* of the tasks that read; it outlives the clients */
        uint64_t numbers;  /* of requests so far */
        int readers;       /* of these tasks */
        int late;          /* answers to cancelled requests */
        int broken;        /* frames that were damaged */
        uint64_t bytes_sent;
};

extern struct many many;
extern const struct ed_http_protocol many_protocol;

/* In the topic of an answer: another status than 200. That of a redirect leads to the same URL. */
#define MANY_STATUS(status) ((uint64_t) (status) << 48)

/* Begin anew, with a scope for the tasks that read. */
void many_begin(eddy_scope *scope);

/*
 * Let a new client offer the protocol and 'second' to https URLs, and speak 'second' to http ones;
 * or the protocol to all, if 'second' is NULL.
 */
void many_offer(eddy_http_client *client, const struct ed_http_protocol *second);

/* Returns true if the frame is as it was sent. */
bool many_is_whole(const struct many_frame *frame);

/* Read a frame. Returns false at the end, or if the frame is damaged. */
bool many_read(eddy_stream *stream, struct many_frame *ret_frame);

/* Write a frame without a wait. Returns false if the peer has gone. */
bool many_write(eddy_stream *stream, enum many_kind kind, uint64_t number, uint64_t topic);

/* Ask on a connection, and wait for the answer, whose number is '*ret_topic'. */
enum many_kind many_ask(struct ed_http_conn *conn, uint64_t topic, uint64_t *ret_topic);

#endif
