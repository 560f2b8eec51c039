/*
 * eddy/http_client.h - an HTTP/1.1 client with a pool of connections.
 *
 *     EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
 *     const void *body;
 *     size_t body_bytes;
 *     int err;
 *
 *     err = eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response);
 *     if (err < 0)
 *             return err;
 *     err = eddy_http_response_body(response, &body, &body_bytes);
 *
 * Limit the time of a request in one of two ways: put the calls that send it and read
 * its response in a scope with a deadline, and the scope's end returns -ETIMEDOUT if
 * the deadline passes; or set 'timeouts', each of which has its own error.
 *
 * An exchange is a request and its response.  An HTTP/1 connection carries one exchange at
 * a time.  It returns to the pool only if the exchange is known to be complete; an
 * exchange that ends earlier closes it.  Each idle connection is checked before it is
 * reused: if the server has closed it or sent anything on it, the client uses another
 * one.  If the server says how long it keeps an idle connection ("Keep-Alive: timeout=5"),
 * the client does not use the connection in the last second of that time.
 *
 * Lines of HTTP/1 end in CR LF.  A line that ends in LF alone, and white space between
 * a chunk's size and the end of its line, are EDDY_E_HTTP_INVALID_RESPONSE.
 */
#ifndef EDDY_HTTP_CLIENT_H
#define EDDY_HTTP_CLIENT_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/http_hooks.h"
#include "eddy/http_request.h"
#include "eddy/http_response.h"
#include "eddy/http_server.h"
#include "eddy/tls.h"

EDDY_BEGIN_DECLS

typedef struct eddy_http_client eddy_http_client;

/* All zero is the default. */
struct eddy_http_client_opts {
        uint32_t connections_max EDDY_UNSET; /* open at once; 0: 100 */
        uint32_t per_host_max EDDY_UNSET;    /* open at once to one origin; 0: no further limit */
        uint32_t idle_max EDDY_UNSET;        /* idle connections kept; 0: connections_max */
        int64_t idle_timeout_ns EDDY_UNSET;  /* an idle connection is then closed; 0: 15 s */
        struct eddy_http_timeouts timeouts EDDY_UNSET;
        uint64_t body_bytes_max EDDY_UNSET; /* of one response; 0: 64 MiB */
        uint32_t head_bytes_max EDDY_UNSET; /* of one response's head; 0: 64 KiB */
        uint32_t headers_max EDDY_UNSET;    /* header fields of one response; 0: 128 */
        const char *user_agent EDDY_UNSET;  /* copied; NULL: "eddy/VERSION" */
        /* for https; borrowed until the client is closed; NULL: the system's trusted
         * certificates.  It must have no list 'alpn': the client itself offers "http/1.1" */
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
        void *handler_arg EDDY_UNSET;     /* of 'handler'; borrowed until the client is closed */
        uintptr_t reserved[3] EDDY_UNSET; /* zero */
};

/*
 * Make a client for the loop of the calling task.
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
 * With 'handler', no request leaves the program: neither sockets nor DNS nor TLS are used, and
 * the options about them have no effect.  Each connection is a pair of streams in memory, whose
 * other end eddy_http_serve_stream() serves with the handler, in a task of its own.  All else is
 * as with a server: limits, time limits, hooks, bodies in both directions, and EDDY_E_HTTP_CLOSED
 * if the handler aborts its exchange.  A handler that returns an error sends a 500.  The
 * handler's requests have the URL's host (eddy_http_exchange_host()), with http and https URLs.
 * Bodies and speeds have no limit; a head has the limits of eddy_http_serve().  Made for tests
 * (eddy/test.h), and for a program that is its own service.
 *
 * Suspends: no.
 * Errors: -ENOMEM
 *         EDDY_E_URL_*  a proxy is not valid
 *         EDDY_E_ENDPOINT_PATH, -ENAMETOOLONG  'unix_path' is not valid
 *         -EINVAL  the user agent contains a control character, a limit is above
 *                  its maximum (head_bytes_max 2^31 - 1, headers_max 65,535),
 *                  a time is negative, 'tls' has a list 'alpn', or a text of
 *                  'resolve' is not valid
 * Owns: returns (owned) '*ret_client', to be closed by eddy_http_client_close().
 */
EDDY_API EDDY_MUST_USE int eddy_http_client_new(const struct eddy_http_client_opts *opts,
                                                eddy_http_client **ret_client);

/*
 * Close all connections of the client and free it.  Calls in progress fail with
 * EDDY_E_HTTP_CLIENT_CLOSED; responses that were not freed must still be freed.
 * Works in a cancelled task.  NULL is ignored.
 *
 * Suspends: no.  If calls of the option 'handler' are in progress, they are cancelled, and the
 *           close waits until they have returned.  A close within such a call does not wait.
 */
EDDY_API void eddy_http_client_close(eddy_http_client *client);

/*
 * Send a request and wait for the head of its response.  Host, User-Agent and
 * Accept are added unless the caller sets them.  The client also adds Content-Length
 * (with a body, or for POST, PUT and PATCH), with HTTP/1 Transfer-Encoding (if the body's
 * length is unknown), and Authorization (if the URL has a user name).  Transfer-Encoding from
 * the caller is refused.  A Proxy-Authorization from the caller replaces the proxy's
 * credentials.  It is refused if there is no proxy or a tunnel is used, because the
 * server would receive it.  A Host from the caller that differs from the URL's is
 * refused if a proxy reads the request (RFC 9112, 3.2).  If the server closes a reused
 * connection before the first byte of a response, the client sends the request once
 * more on a new connection.  This requires that the request is idempotent (see
 * eddy_http_request_is_idempotent()), and that 'body_source' is not set, was not read
 * yet, or can be rewound.
 * Redirects are not followed.  Interim responses (1xx) are skipped, up to 64 KiB of
 * them; they are not the response, but their bytes restart 'read_ns'.
 *
 * A server may answer before it has read the whole request (RFC 9112, 9.3).
 * The call then returns the response at once:
 *   - A status of 400 or more stops the sending.  The body of the response can
 *     be read, and the exchange ends after it.
 *   - With any other status, the rest of the request is sent while the body of
 *     the response is read.  The call that reads the end of the response (this call,
 *     if the response is complete already) then waits until the server has taken the
 *     rest of the request; if the server accepts no byte for a second, the client
 *     ends the exchange.  That second does not include the time in which
 *     'body_source' is read; to limit that time, use 'total_ns' or a scope.  Closing
 *     the response early also ends the exchange.
 * 'request_sent' of eddy_http_response_info() shows whether the whole request was sent.
 * Response bytes that are not read stop the server from sending more; with HTTP/1 they
 * stay in the kernel's buffer.
 *
 * Suspends: yes.
 * Errors: EDDY_E_URL_INVALID, _SCHEME
 *         EDDY_E_URL_CREDENTIALS        the URL's user name contains a colon (%3A), the user name
 *                                       or password contains a control character (RFC 7617, 2), or
 *                                       they are together longer than 4,096 bytes; nothing was sent
 *         EDDY_E_HTTP_INVALID_REQUEST   a header, method or URL that HTTP forbids;
 *                                       nothing was sent
 *         EDDY_E_DNS_*, -ECONNREFUSED, -ECONNRESET, -EPIPE, EDDY_E_NET_TIMED_OUT, ...
 *         EDDY_E_TLS_*                  see eddy_tls_client(); also EDDY_E_TLS_BAD_FILE if the
 *                                       system's trusted certificates cannot be read
 *         EDDY_E_HTTP_ALPN              the server offers none of the client's protocols (ALPN)
 *         EDDY_E_HTTP_INVALID_RESPONSE, _TOO_LARGE, _CLOSED
 *         EDDY_E_HTTP_BODY_LENGTH       the source ended before 'bytes' bytes
 *         EDDY_E_HTTP_PROXY_AUTH        the proxy does not accept the credentials, or wants some
 *         EDDY_E_HTTP_PROXY_REFUSED     the proxy cannot connect, or does not allow it
 *         EDDY_E_HTTP_PROXY_INVALID     the proxy does not follow its protocol
 *         EDDY_E_HTTP_TIMEOUT_*         a limit of 'timeouts' passed
 *         EDDY_E_HTTP_CLIENT_CLOSED     the client was closed, or the run ends
 *         -EINVAL                       the client, the request or 'ret_response' is NULL, or
 *                                       the request's 'tls' has a list 'alpn'
 *         -ECANCELED, -ENOMEM
 * Owns: borrows the request for the call (any unsent rest of 'body' is copied), and,
 *       until the response is freed, what 'body_source' refers to; returns (owned)
 *       '*ret_response', to be freed by eddy_http_response_close().
 */
EDDY_API EDDY_MUST_USE int eddy_http_client_send(eddy_http_client *client,
                                                 const struct eddy_http_request *request,
                                                 eddy_http_response **ret_response);

/* Pool counters; zeros for a NULL client.  Suspends: no. */
struct eddy_http_client_stats {
        uint64_t requests;    /* sent, including repeats */
        uint64_t connections; /* opened since the client was made */
        uint64_t open;        /* connections now: idle, in use, or being opened for a request */
        uint64_t idle;        /* connections idle now */
        uint64_t spare;       /* connections being opened that no request waits for */
        uint64_t waiting;     /* tasks waiting for a connection now */
};
EDDY_API void eddy_http_client_stats(const eddy_http_client *client,
                                     struct eddy_http_client_stats *ret_stats);

static inline void eddy_http_client_auto_release(eddy_http_client **client)
{
        eddy_http_client_close(*client);
}

EDDY_END_DECLS

#endif
