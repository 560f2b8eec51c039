/*
 * http/key.h - all that a connection depends on: requests whose keys differ never share one.
 */
#ifndef ED_HTTP_KEY_H
#define ED_HTTP_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "eddy/tls.h"
#include "wire/url.h"

/*
 * A new option that changes the peer, or what is verified about the peer, becomes a field here and
 * is compared by ed_http_key_equal().
 */
struct ed_http_key {
        const char *host;     /* in lower case; ends in a NUL */
        eddy_tls_config *tls; /* the request's own; NULL: the client's */
        uint16_t host_bytes;
        uint16_t port;
        bool is_https;
        bool only_http1; /* the request needs HTTP/1, whatever the client offers */
};

/* Returns the key of a URL, whose host it borrows. */
static inline struct ed_http_key ed_http_key_of(const struct ed_url *url, eddy_tls_config *tls)
{
        return (struct ed_http_key){
                .host = url->host,
                .tls = url->is_https ? tls : NULL,
                .host_bytes = url->host_bytes,
                .port = url->port,
                .is_https = url->is_https,
        };
}

/* Returns true if a connection for one key may carry a request with the other. */
bool ed_http_key_equal(const struct ed_http_key *a, const struct ed_http_key *b);

#endif
