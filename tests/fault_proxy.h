/*
 * fault_proxy.h - a proxy of tests, which does to connections what networks do: latency, little
 * bandwidth, small pieces, and ends, resets, stalls and damage after any byte.
 *
 * It is made of eddy's public calls, so it runs in a simulated run and on the kernel:
 *
 *     struct fault_proxy proxy = { .host = "127.0.0.1", .port = port,
 *                                  .down = { .then = FAULT_RESET, .bytes = 100 } };
 *
 *     fault_proxy_start(&proxy, &scope);
 *     ... connect to 127.0.0.1, proxy.own_port ...
 *     eddy_scope_cancel(&scope);
 *     CHECK_EQ(eddy_scope_end(&scope), 0);
 *     fault_proxy_stop(&proxy);
 *
 * Faults may be changed at any time; they apply to the bytes that follow.
 */
#ifndef ED_TEST_FAULT_PROXY_H
#define ED_TEST_FAULT_PROXY_H

#include <stdbool.h>

#include "eddy/eddy.h"

enum fault_then {
        FAULT_NOTHING,
        FAULT_END,   /* the receiver gets the bytes before, then the end; nothing passes any more */
        FAULT_RESET, /* both sides are reset after the bytes before */
        FAULT_STALL, /* the connection stays, and no byte passes any more */
        FAULT_DAMAGE, /* the next byte is changed, and all that follow pass */
};

/* What happens to the bytes of one direction of each connection. */
struct fault_way {
        int64_t delay_ns;     /* each piece arrives later by this time */
        int64_t jitter_ns;    /* and by up to this time more */
        uint32_t bytes_per_s; /* bandwidth; 0: any */
        uint32_t piece_bytes; /* longest piece; 0: any */
        int64_t end_delay_ns; /* the end is passed on later by this time */
        enum fault_then then; /* what happens after 'bytes' */
        uint64_t bytes;
        void *tap; /* receives a copy of the first bytes that passed; NULL: none */
        size_t tap_room;
};

struct fault_proxy {
        const char *host; /* the server */
        uint16_t port;
        struct fault_way up, down; /* from the client to the server, and back */
        bool is_down;              /* connections are accepted and reset */

        /* Set by the proxy. */
        uint16_t own_port;
        uint32_t accepted, open;
        uint64_t passed_up, passed_down; /* bytes of the connection that has passed some last */
        struct eddy_listener *listener;
        eddy_scope *scope;
};

/* Listen on 127.0.0.1, and serve in tasks of 'scope' until it is cancelled. */
void fault_proxy_start(struct fault_proxy *proxy, eddy_scope *scope);

/* After the end of the scope. */
void fault_proxy_stop(struct fault_proxy *proxy);

#endif
