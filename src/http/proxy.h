/*
 * http/proxy.h - proxies of a client: HTTP (RFC 9110, 7.3 and 9.3.6) and SOCKS5 (RFC 1928, 1929).
 *
 * An http URL goes to an HTTP proxy as a request with an absolute target. Everything else passes
 * through a tunnel: CONNECT, or SOCKS5. The proxy resolves the name.
 */
#ifndef ED_HTTP_PROXY_H
#define ED_HTTP_PROXY_H

#include <stdbool.h>

#include "eddy/dns.h"
#include "eddy/stream.h"
#include "wire/url.h"

enum {
        ED_PROXY_PORT = 1080,      /* if the proxy's URL has none, as in curl */
        ED_PROXY_SECRET_MAX = 255, /* bytes of a user name or password (RFC 1929, 2) */
};

struct ed_http_proxy {
        bool is_socks;
        bool has_credentials;
        uint16_t port;
        char host[ED_URL_HOST_MAX + 1];
        char user[ED_PROXY_SECRET_MAX + 1];
        char password[ED_PROXY_SECRET_MAX + 1];
};

/*
 * Parse "[http://|socks5://|socks5h://][USER[:PASSWORD]@]HOST[:PORT][/]".
 *
 * Errors: EDDY_E_URL_INVALID, _SCHEME, _CREDENTIALS; -ENOMEM
 */
EDDY_MUST_USE int ed_http_proxy_parse(const char *text, struct ed_http_proxy *ret_proxy);

/* The proxies of a client. */
struct ed_http_proxies {
        struct ed_http_proxy *http; /* owned; NULL: none */
        struct ed_http_proxy *https;
        char *no_proxy; /* owned; NULL: none */
};

/*
 * Parse and copy the options of a client; each may be NULL. fini() is due after a failure too.
 *
 * Errors: as ed_http_proxy_parse()
 */
EDDY_MUST_USE int ed_http_proxies_init(struct ed_http_proxies *proxies, const char *http,
                                       const char *https, const char *no_proxy);
void ed_http_proxies_fini(struct ed_http_proxies *proxies);

/* Returns the proxy for a host and port, or NULL. */
const struct ed_http_proxy *ed_http_proxies_find(const struct ed_http_proxies *proxies,
                                                 bool is_https, const char *host, uint16_t port);

/* Returns whether requests pass through a tunnel, not through the proxy's own hands. */
static inline bool ed_http_proxy_is_tunnel(const struct ed_http_proxy *proxy, bool is_https)
{
        return is_https || proxy->is_socks;
}

/*
 * Returns whether the list 'no_proxy' (NULL: empty) names 'host', or 'host' with 'port'. It has
 * names, which also name their subdomains ("*.a.test" names only these), addresses, networks
 * ("10.0.0.0/8"), or "*", each with or without a port; commas or spaces separate them.
 */
bool ed_http_no_proxy_has(const char *no_proxy, const char *host, uint16_t port);

/* Returns whether the text is an address, IPv6 with or without brackets. */
bool ed_http_proxy_address(const char *text, size_t bytes, struct eddy_address *ret_address);

/* Returns whether the first 'bits' bits are equal. */
bool ed_http_same_bits(const uint8_t *a, const uint8_t *b, int bits);

/*
 * Ask the proxy, which 'stream' reaches, for a connection to the host. After success the bytes of
 * 'stream' are those of the host; after an error it is of no use.
 *
 * Suspends: yes.
 * Errors: EDDY_E_HTTP_PROXY_AUTH     it does not accept the credentials, or wants some
 *         EDDY_E_HTTP_PROXY_REFUSED  it cannot connect, or does not allow it; after both,
 *                                    '*ret_status' is the status of its answer, if any
 *         EDDY_E_HTTP_PROXY_INVALID  it does not follow its protocol: '*ret_reason', a constant
 *         those of the stream
 */
EDDY_MUST_USE int ed_http_proxy_tunnel(const struct ed_http_proxy *proxy, eddy_stream *stream,
                                       const char *host, uint16_t port, const char **ret_reason,
                                       int *ret_status);

enum { ED_PROXY_AUTHORIZATION_ROOM = 6 + (2 * ED_PROXY_SECRET_MAX + 1) / 3 * 4 + 4 + 1 };

/*
 * Write the value of Proxy-Authorization (RFC 7617) and a NUL. Returns its length; 0: no credentials.
 */
size_t ed_http_proxy_authorization(const struct ed_http_proxy *proxy,
                                   char out[ED_PROXY_AUTHORIZATION_ROOM]);

#endif
