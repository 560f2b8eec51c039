/*
 * http/protocol.h - the protocols that a client's connections can speak.
 *
 * A connection's protocol is known after it is opened: by ALPN with TLS, otherwise by the client.
 * Only then a response gets the protocol's part, which sends the request and reads the answer.
 */
#ifndef ED_HTTP_PROTOCOL_H
#define ED_HTTP_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

enum { ED_HTTP_OFFERED_MAX = 2 };

struct ed_http_conn;
struct ed_http_conn_ops;
struct ed_http_response_ops;

struct ed_http_protocol {
        const char *name; /* in ALPN */
        uint32_t slots;   /* exchanges at once on a connection that was just opened */
        const struct ed_http_response_ops *response;
        const struct ed_http_conn_ops *conn;
};

/* The protocols of a client; a test may replace them before the first request. */
struct ed_http_protocols {
        const char *alpn;                     /* the names of those that are offered */
        const struct ed_http_protocol *plain; /* without TLS, or if the server chooses none */
        const struct ed_http_protocol *prior; /* with prior knowledge; NULL: 'plain' */
        const struct ed_http_protocol *offered[ED_HTTP_OFFERED_MAX]; /* NULL: unused */
};

extern const struct ed_http_protocol ed_http1_protocol, ed_h2_protocol;

/* Returns true if a connection to an https origin may have many slots after ALPN. */
static inline bool ed_http_offers_many(const struct ed_http_protocols *protocols)
{
        for (int i = 0; i < ED_HTTP_OFFERED_MAX && protocols->offered[i]; i++)
                if (protocols->offered[i]->slots > 1)
                        return true;
        return false;
}

#endif
