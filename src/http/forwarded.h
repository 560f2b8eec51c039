/*
 * http/forwarded.h - the client that proxies report: the values of X-Forwarded-... and Forwarded.
 */
#ifndef ED_HTTP_FORWARDED_H
#define ED_HTTP_FORWARDED_H

#include "eddy/http_forwarded.h"

enum { ED_HTTP_FORWARDED_HOST_BYTES = 256 }; /* with the NUL; a longer host is ignored */

/* In the frame of the middleware. */
struct ed_http_forwarded {
        struct eddy_endpoint client;
        const char *scheme;                      /* static; NULL: that of the connection */
        char host[ED_HTTP_FORWARDED_HOST_BYTES]; /* "": that of the request */
};

struct ed_http_network {
        struct eddy_address address;
        int bits; /* of its prefix */
};

struct ed_http_trust {
        uint32_t flags; /* EDDY_HTTP_TRUST_* */
        size_t count;
        struct ed_http_network networks[];
};

/* Replace an IPv4 address that was mapped into IPv6 (RFC 4291, 2.5.5.2) by itself. */
void ed_http_address_unmap(struct eddy_address *address);

bool ed_http_trust_has(const struct ed_http_trust *trust, const struct eddy_endpoint *endpoint);

/*
 * Read the headers of a request whose peer is a trusted proxy. '*forwarded' has the peer as its client
 * before.
 */
void ed_http_forwarded_read(const struct ed_http_trust *trust, eddy_http_exchange *exchange,
                            struct ed_http_forwarded *forwarded);

#endif
