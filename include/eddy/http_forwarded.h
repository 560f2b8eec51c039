/*
 * eddy/http_forwarded.h - the client's address, scheme and host of an HTTP request that has passed
 * proxies.
 *
 *     eddy_http_use_trusted_proxies(router, &(struct eddy_http_trusted_proxies_opts){
 *             .networks = "10.0.0.0/8, 2001:db8::/32",
 *             .flags = EDDY_HTTP_TRUST_PROTO });
 *     ...
 *     eddy_http_exchange_client_text(exchange, text);         "198.51.100.7"
 *
 * Each client can send these headers, so they count only if the connection's peer is a trusted proxy,
 * and only as far as trusted proxies have written them.
 */
#ifndef EDDY_HTTP_FORWARDED_H
#define EDDY_HTTP_FORWARDED_H

#include "eddy/def.h"
#include "eddy/endpoint.h"
#include "eddy/http_exchange.h"
#include "eddy/http_router.h"

EDDY_BEGIN_DECLS

enum {
        EDDY_HTTP_TRUST_UNIX = 1 << 0,      /* each peer on a Unix socket is a trusted proxy */
        EDDY_HTTP_TRUST_FORWARDED = 1 << 1, /* read Forwarded (RFC 7239), not X-Forwarded-... */
        EDDY_HTTP_TRUST_PROTO = 1 << 2,     /* the proxies set X-Forwarded-Proto, or "proto=" */
        EDDY_HTTP_TRUST_HOST = 1 << 3,      /* the proxies set X-Forwarded-Host, or "host=" */
};

/* All zero: no proxy is trusted. */
struct eddy_http_trusted_proxies_opts {
        /* addresses and networks of the proxies, separated by commas; IPv4 may be written as mapped
         * into IPv6, as in "::ffff:10.0.0.0/104"; NULL: none */
        const char *networks EDDY_UNSET;
        uint32_t flags EDDY_UNSET;        /* EDDY_HTTP_TRUST_* */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Add middleware (eddy_http_router_use()) that finds the client through trusted proxies.  The addresses
 * that X-Forwarded-For or Forwarded list are read from the right.  The client is the first address that
 * is not in 'networks', or else the leftmost.  Reading ends at an item that is not an address, such as "unknown":
 * then the client is the proxy that has written the item.
 *
 * Only one kind of header is read, because a proxy that writes one kind passes on the client's headers
 * of the other kind.  Set EDDY_HTTP_TRUST_PROTO and _HOST only if each trusted proxy replaces these values.  The
 * last item of X-Forwarded-Proto and X-Forwarded-Host counts; in Forwarded, those beside the client's
 * address.
 *
 * Suspends: no.
 * Errors: those of eddy_http_router_use()
 *         -EINVAL  also: 'networks' has an item that is not an address or a network, such as
 *                  "10.1.0.0/8", which has bits set after the 8th
 * Owns: copies 'opts'.
 */
EDDY_API int eddy_http_use_trusted_proxies(eddy_http_router *router,
                                           const struct eddy_http_trusted_proxies_opts *opts);

/* Bytes of the text of a client's address, with its NUL. */
enum { EDDY_HTTP_CLIENT_BYTES = EDDY_ENDPOINT_TEXT_BYTES };

/*
 * Returns the endpoint of the client: the connection's peer, or the endpoint that trusted proxies
 * report.  Its port is 0 if they do not report one.  EDDY_ENDPOINT_NONE: unknown.
 *
 * Suspends: no.
 * Owns: valid until the middleware eddy_http_use_trusted_proxies() has returned; without it, during
 *       the handler's call.
 */
EDDY_API const struct eddy_endpoint *eddy_http_exchange_client(eddy_http_exchange *exchange);

/*
 * Write the client's address without a port, such as "192.0.2.1", "2001:db8::1" or "unix:@name"; "" if
 * it is unknown.  An IPv4 address that a listener of "::" has mapped into IPv6 is written as IPv4.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_exchange_client_text(eddy_http_exchange *exchange,
                                             char ret_text[EDDY_HTTP_CLIENT_BYTES]);

/*
 * Returns the scheme, "https" or "http", and the host of the URL that the client has used: those of the
 * connection and of the request (eddy_http_exchange_host()), or those that trusted proxies report.
 *
 * Suspends: no.
 * Owns: as for eddy_http_exchange_client().
 */
EDDY_API const char *eddy_http_exchange_scheme(eddy_http_exchange *exchange);
EDDY_API const char *eddy_http_exchange_client_host(eddy_http_exchange *exchange);

EDDY_END_DECLS

#endif
