/*
 * eddy/http_client_opts.h - the options of an HTTP client, for eddy_http_client_new().
 *
 *     static const struct eddy_http_header headers[] = { { "Authorization", "Bearer abc" } };
 *     struct eddy_http_client_opts opts = {
 *             .base_url = "https://api.example.com/v1",
 *             .headers = headers,
 *             .headers_count = 1,
 *             .timeouts = { .total_ns = EDDY_SEC(30) },
 *             .flags = EDDY_HTTP_STATUS_IS_ERROR,
 *     };
 *
 * A request's URL without a scheme is joined to 'base_url', and is below its path also if the URL
 * begins with '/': with "https://api.example.com/v1", "users", "/users" and "./users" are all
 * https://api.example.com/v1/users, and "?page=2" is https://api.example.com/v1?page=2.  Only ".."
 * leaves the path ("../x" is https://api.example.com/x), but never the host: quote names from
 * elsewhere (eddy_url_quote()), and refuse "..".  "//host/path" is refused.  An absolute URL is used
 * as it is; if its origin (eddy_http_url_origin()) is not that of 'base_url', default headers that
 * are secrets (eddy_http_header_is_secret()) are not sent.
 *
 * 'headers' are sent with each request, unless the request has a header of the same name.  Host,
 * Content-Length, Transfer-Encoding and Expect belong to one request and are refused here.
 *
 * With 'redirects_max', a response with the status 301, 302, 303, 307 or 308 and a Location is
 * followed: its body is dropped, and the request is sent to the URL that Location names.
 * eddy_http_response_info() has the last URL and the number of redirects.  The next request is
 * the same, with these differences:
 *   - after 303, and after 301 and 302 of a POST, it is a GET without a body and its headers; HEAD
 *     stays HEAD
 *   - otherwise the body is sent again.  A 'body_source' that was read must have 'rewind'
 *   - if another origin (scheme, host or port) follows, all headers with secrets
 *     (eddy_http_header_is_secret()), Host, and the URL's user name are dropped, and do not
 *     come back if a later redirect leads to the first origin again
 * More redirects are -ELOOP.  A redirect is EDDY_E_HTTP_STATUS, and the request's 'ret_fault' has the
 * reason, if Location is not an http or https URL, if the body cannot be sent again, or if it leads
 * from https to http without EDDY_HTTP_REDIRECT_TO_HTTP.
 *
 * With 'cookies', each request has the jar's cookies, and the jar takes those of each response, also
 * of redirects and of responses that are errors.  A header Cookie of the request or of 'headers' is
 * sent in place of the jar's.
 *
 * With 'retry', a failure that may pass leads to another attempt, by the rules of eddy_retry_next(): after
 * 408, 425, 429, 503, or if no byte of the request was sent, whatever the method; after other statuses
 * and errors only if eddy_http_request_is_idempotent(); and only if the body can be sent again: from
 * 'body_source' with 'rewind', unless the source was not read.  Retry-After is obeyed up to the
 * policy's 'wait_max_ns', and a wait that would pass 'total_ns' or the deadline of a scope is not
 * begun.  If no attempt follows, the last response or error is the result.  The
 * policy's 'before_wait' gets EDDY_E_HTTP_STATUS after a response; its 'is_passing' may refuse
 * an attempt after an error.  Each attempt first asks 'breaker', which counts as failures 500 and above,
 * errors that may pass, and the end of 'total_ns' before the head of the response; neither a cancel or
 * deadline of the caller nor a wait for the limiter or for a free connection counts.  Then it takes one
 * request from 'limiter', which Retry-After of a 429 or 503 pauses, at most two minutes.  They may be
 * shared by clients of a loop.
 *
 * A proxy is "[SCHEME://][USER[:PASSWORD]@]HOST[:PORT]".  The scheme is http, the
 * default, or socks5 (also written socks5h); the port is 1080 unless given.  The
 * proxy looks up the names of hosts.  https requests use a tunnel (CONNECT or
 * SOCKS5), and the server's certificate is verified as usual.  http requests are
 * sent to an http proxy, which reads and forwards them; with SOCKS5 they use a tunnel
 * too.  'no_proxy' is a list, separated by commas or spaces.  An entry is a name
 * (with its subdomains; "*.a.test": only these), an address, a network such as
 * "10.0.0.0/8", or "*" for all hosts.  With a port, as in "a.test:8080" or "[::1]:80",
 * an entry holds only for URLs with that port, which may be the scheme's default.  The
 * library does not read the environment.
 *
 * 'unix_path' is a path, or '@' and an abstract name.  If it is set, a URL's host is
 * used only for the Host header and for TLS, and proxies are not used.
 *
 * Each entry of 'resolve' has the format of curl's --resolve:
 * "HOST:PORT:ADDRESS[,ADDRESS]...", with at most 8 addresses; IPv6 addresses may have
 * brackets.  The host "*" matches every host.  The first matching entry applies.
 * Entries also apply to a proxy's name.  Certificates are still verified for the
 * URL's host.
 *
 * With 'decode', requests have "Accept-Encoding: gzip, deflate, br, zstd" unless
 * the caller sets that header, and the calls that read a body return it decoded; a
 * chain of up to five codings is decoded.  The headers are unchanged: Content-Length
 * counts the coded bytes.  'body_bytes_max' limits both the coded and the decoded
 * bytes.  A body with another coding fails with EDDY_E_HTTP_CODING_UNKNOWN.  Coded data
 * that is damaged or ends early fails with _CODING_INVALID, or with _TRUNCATED if it ends
 * early and only the end of the stream shows where the body ends.  zstd uses
 * malloc() and not eddy's allocator.
 *
 * With 'handler', no request leaves the program: neither sockets nor DNS nor TLS are used, and the
 * options about them have no effect.  Each connection is a pair of streams in memory, whose other
 * end eddy_http_serve_stream() serves with the handler, in a task of its own.  All else is as with
 * a server: limits, time limits, hooks, bodies in both directions, and EDDY_E_HTTP_CLOSED if the
 * handler aborts its exchange.  An error that the handler returns is answered as a server answers
 * it (eddy/http_server.h).  The handler's requests have the URL's host (eddy_http_exchange_host()),
 * with http and https URLs.  Bodies and speeds have no limit; a head has the limits of
 * eddy_http_serve().  The requests are sent by HTTP/1, or with EDDY_HTTP_CLIENT_H2C by HTTP/2.  Made
 * for tests (eddy/test.h), and for a program that is its own service.
 */
#ifndef EDDY_HTTP_CLIENT_OPTS_H
#define EDDY_HTTP_CLIENT_OPTS_H

#include <stdbool.h>

#include "eddy/breaker.h"
#include "eddy/def.h"
#include "eddy/http_cookies.h"
#include "eddy/http_header.h"
#include "eddy/http_hooks.h"
#include "eddy/http_request.h"
#include "eddy/http_server.h"
#include "eddy/limiter.h"
#include "eddy/retry.h"
#include "eddy/tls.h"

EDDY_BEGIN_DECLS

/* Flags of a client, in addition to those of eddy/http_request.h. */
enum {
        /* https servers are not offered HTTP/2.  Excludes EDDY_HTTP_CLIENT_H2C. */
        EDDY_HTTP_CLIENT_HTTP1_ONLY = 1 << 16,
        /* http URLs use HTTP/2 with prior knowledge (RFC 9113, 3.3), but not by an HTTP proxy. */
        EDDY_HTTP_CLIENT_H2C = 1 << 17,
};

/* All zero is the default. */
struct eddy_http_client_opts {
        /* open at once; 0: 100; with HTTP/2 each has up to 100 requests at once, fewer if the server
         * says so */
        uint32_t connections_max EDDY_UNSET;
        uint32_t per_host_max EDDY_UNSET;   /* open at once to one origin; 0: no further limit */
        uint32_t idle_max EDDY_UNSET;       /* idle connections kept; 0: connections_max */
        int64_t idle_timeout_ns EDDY_UNSET; /* an idle connection is then closed; 0: 15 s */
        struct eddy_http_timeouts timeouts EDDY_UNSET;
        uint64_t body_bytes_max EDDY_UNSET; /* of one response; 0: 64 MiB */
        uint32_t head_bytes_max EDDY_UNSET; /* of one response's head; 0: 64 KiB */
        uint32_t headers_max EDDY_UNSET;    /* header fields of one response; 0: 128 */
        const char *user_agent EDDY_UNSET;  /* copied; NULL: "eddy/VERSION" */
        /* for https; borrowed until the client is closed; NULL: the system's trusted
         * certificates.  It must have no list 'alpn': the client itself offers
         * "h2" and "http/1.1" */
        eddy_tls_config *tls EDDY_UNSET;
        const char *http_proxy EDDY_UNSET;  /* for http URLs; copied; NULL: none */
        const char *https_proxy EDDY_UNSET; /* for https URLs; copied; NULL: none */
        const char *no_proxy EDDY_UNSET;    /* hosts without a proxy; copied; NULL: none */
        bool decode EDDY_UNSET;             /* ask for compressed responses, and decompress them */
        /* connect to this Unix socket for all URLs; copied; NULL: by TCP */
        const char *unix_path EDDY_UNSET;
        const char *const *resolve EDDY_UNSET; /* addresses for hosts, instead of DNS; copied */
        size_t resolve_count EDDY_UNSET;
        /* around each attempt; copied; NULL: none */
        const struct eddy_http_hooks *hooks EDDY_UNSET;
        /* answers all requests in place of the network; NULL: none */
        eddy_http_handler_fn *handler EDDY_UNSET;
        void *handler_arg EDDY_UNSET;    /* of 'handler'; borrowed until the client is closed */
        const char *base_url EDDY_UNSET; /* of relative URLs; copied; NULL: URLs are absolute */
        /* of all requests; copied; NULL: none */
        const struct eddy_http_header *headers EDDY_UNSET;
        size_t headers_count EDDY_UNSET;
        int redirects_max EDDY_UNSET;          /* redirects that a request follows; 0: none */
        eddy_http_cookies *cookies EDDY_UNSET; /* borrowed until the client is closed; NULL: none */
        const struct eddy_retry_policy *retry EDDY_UNSET; /* copied; NULL: no retries */
        eddy_limiter *limiter EDDY_UNSET; /* borrowed until the client is closed; NULL: none */
        eddy_breaker *breaker EDDY_UNSET; /* borrowed until the client is closed; NULL: none */
        eddy_http_auth *auth EDDY_UNSET; /* credentials; the client keeps a reference; NULL: none */
        unsigned flags EDDY_UNSET;       /* EDDY_HTTP_CLIENT_*, and those of eddy/http_request.h */
        /* the text names the option that is not valid, if the error alone does not; NULL: not
         * wanted */
        struct eddy_http_fault *ret_fault EDDY_UNSET;
        uintptr_t reserved[8] EDDY_UNSET; /* zero */
};

EDDY_END_DECLS

#endif
