/*
 * fake_protocol.h - a protocol of many slots that only tests speak: its connections need no peer.
 */
#ifndef ED_FAKE_PROTOCOL_H
#define ED_FAKE_PROTOCOL_H

#include "http/client.h"
#include "http/opening.h"
#include "http/pool_origin.h"

enum { FAKE_SLOTS = 8 };

/* How connections are opened. Set it before a request. */
struct fake {
        int64_t opening_ns; /* time that an opening takes */
        int error;          /* of an opening; 0: none */
        bool is_single;     /* the peer chooses a protocol with one slot */
        int openings;       /* begun */
        int closed;         /* streams */
        int ended;          /* sessions */
};

extern struct fake fake;

/* Make a client whose connections are fake; 'fake' is reset. */
int fake_client_new(const struct eddy_http_client_opts *opts, eddy_http_client **ret_client);

/* The same, which must succeed. */
eddy_http_client *fake_client(const struct eddy_http_client_opts *opts);

/* Borrow a slot of an open connection at a host, by a key of https or http. */
int fake_borrow(eddy_http_client *client, const char *host, bool is_https,
                struct ed_http_conn **ret_conn);

#endif
