/*
 * http/websocket_accept.c - the server's side of a handshake (RFC 6455, 4.2).
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "eddy/base64.h"
#include "eddy/error.h"
#include "eddy/stream.h"
#include "http/early_stream.h"
#include "http/problem.h"
#include "http/websocket.h"
#include "wire/http1.h"

enum { KEY_BYTES = 16, HEADERS = 3 };

/* The parts of a handshake that a request has. */
struct handshake {
        const struct eddy_websocket_opts *opts;
        const char *key, *version, *origin;
        unsigned keys, versions, origins; /* their numbers */
        bool has_upgrade, has_connection, has_body;
        const char *protocol; /* the first of the server's own that is offered; NULL: none */
        size_t protocol_at;   /* its number */
};

static void take_protocols(struct handshake *handshake, const char *list)
{
        const struct eddy_websocket_opts *opts = handshake->opts;
        size_t end = handshake->protocol ? handshake->protocol_at : opts->protocols_count;

        for (size_t i = 0; i < end; i++) {
                if (!ed_websocket_list_has(list, opts->protocols[i]))
                        continue;
                handshake->protocol = opts->protocols[i];
                handshake->protocol_at = i;
                return;
        }
}

static void take_header(struct handshake *handshake, const struct eddy_http_header *header)
{
        const char *value = header->value;

        if (strcasecmp(header->name, "Upgrade") == 0) {
                handshake->has_upgrade |= ed_http1_list_has(value, strlen(value), "websocket");
        } else if (strcasecmp(header->name, "Connection") == 0) {
                handshake->has_connection |= ed_http1_list_has(value, strlen(value), "upgrade");
        } else if (strcasecmp(header->name, "Sec-WebSocket-Key") == 0) {
                handshake->key = value;
                handshake->keys++;
        } else if (strcasecmp(header->name, "Sec-WebSocket-Version") == 0) {
                handshake->version = value;
                handshake->versions++;
        } else if (strcasecmp(header->name, "Origin") == 0) {
                handshake->origin = value;
                handshake->origins++;
        } else if (strcasecmp(header->name, "Sec-WebSocket-Protocol") == 0) {
                take_protocols(handshake, value);
        } else if (strcasecmp(header->name, "Content-Length") == 0) {
                handshake->has_body |= strcmp(value, "0") != 0;
        } else if (strcasecmp(header->name, "Transfer-Encoding") == 0) {
                handshake->has_body = true;
        }
}

static bool key_is_valid(const char *key)
{
        unsigned char bytes[EDDY_BASE64_DECODED_MAX(ED_WEBSOCKET_KEY_CHARS)];

        return strlen(key) == ED_WEBSOCKET_KEY_CHARS &&
               eddy_base64_decode(key, ED_WEBSOCKET_KEY_CHARS, bytes) == KEY_BYTES;
}

/* Returns whether an origin, "https://host:port", is of the host that the request is sent to. */
static bool is_same_host(const char *origin, const char *host)
{
        const char *at = strstr(origin, "://");
        const char *port = at && at - origin == 5 ? ":443" : ":80";
        size_t bytes;

        if (!at || *host == '\0')
                return false;
        at += 3;
        bytes = strlen(at);
        if (strncasecmp(at, host, bytes) != 0)
                return false;
        /* A browser never writes the scheme's own port in Origin, but another client may in Host. */
        return host[bytes] == '\0' || (bytes > 0 && strcmp(host + bytes, port) == 0);
}

static bool origin_is_allowed(const struct handshake *handshake, const char *host)
{
        const struct eddy_websocket_opts *opts = handshake->opts;

        if (opts->flags & EDDY_WEBSOCKET_ANY_ORIGIN || handshake->origins == 0)
                return true;
        if (handshake->origins > 1)
                return false;
        for (size_t i = 0; i < opts->origins_count; i++)
                if (strcasecmp(handshake->origin, opts->origins[i]) == 0)
                        return true;
        return is_same_host(handshake->origin, host);
}

static int refuse(eddy_http_exchange *exchange, int status, const char *detail)
{
        int err = 0;

        if (status == 426)
                err = eddy_http_exchange_add_header(exchange, "Sec-WebSocket-Version", "13");
        if (err == 0 && status == 426)
                err = eddy_http_exchange_add_header(exchange, "Upgrade", "websocket");
        if (err == 0)
                err = ed_http_problem_respond(exchange, status, detail);
        return err < 0 ? err : EDDY_E_WEBSOCKET_HANDSHAKE;
}

/* Check the request. Errors: EDDY_E_WEBSOCKET_HANDSHAKE: it was refused; those of the answer */
static int check(eddy_http_exchange *exchange, struct handshake *handshake)
{
        struct eddy_http_exchange_info info;
        struct eddy_http_header header;

        eddy_http_exchange_info(exchange, &info);
        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++)
                take_header(handshake, &header);
        if (info.version == 20)
                return refuse(exchange, 400, "a WebSocket needs HTTP/1.1");
        if (strcmp(eddy_http_exchange_method(exchange), "GET") != 0)
                return refuse(exchange, 400, "a WebSocket needs the method GET");
        if (handshake->has_body)
                return refuse(exchange, 400, "a WebSocket's request has no body");
        if (info.version != 11 || !handshake->has_upgrade || !handshake->has_connection)
                return refuse(exchange, 426, "this resource needs \"Upgrade: websocket\"");
        if (handshake->versions != 1 || strcmp(handshake->version, "13") != 0)
                return refuse(exchange, 426, "Sec-WebSocket-Version is not 13");
        if (handshake->keys != 1 || !key_is_valid(handshake->key))
                return refuse(exchange, 400, "Sec-WebSocket-Key is not 16 bytes in base64");
        if (!origin_is_allowed(handshake, eddy_http_exchange_host(exchange)))
                return refuse(exchange, 403, "pages of this origin may not connect");
        return 0;
}

/* Answer 101 and take the connection. */
static int upgrade(eddy_http_exchange *exchange, const struct handshake *handshake,
                   eddy_stream **ret_stream)
{
        char accept[ED_WEBSOCKET_ACCEPT_CHARS + 1];
        const struct eddy_http_header headers[HEADERS] = {
                { "Upgrade", "websocket" },
                { "Sec-WebSocket-Accept", accept },
                { "Sec-WebSocket-Protocol", handshake->protocol },
        };
        eddy_stream *stream;
        const void *early;
        size_t bytes;
        int err = ed_websocket_accept_of(handshake->key, accept);

        if (err < 0)
                return err;
        err = eddy_http_exchange_upgrade(exchange, headers, handshake->protocol ? 3 : 2, &stream,
                                         &early, &bytes);
        if (err < 0)
                return err;
        err = ed_http_early_stream(stream, early, bytes, ret_stream);
        if (err < 0)
                eddy_stream_close_now(stream);
        return err;
}

int eddy_websocket_accept(eddy_http_exchange *exchange, const struct eddy_websocket_opts *opts,
                          eddy_websocket **ret_websocket)
{
        struct handshake handshake = { .opts = opts };
        eddy_websocket *websocket;
        int err;

        if (!exchange || !ret_websocket)
                return -EINVAL;
        err = ed_websocket_check(&handshake.opts);
        if (err == 0)
                err = check(exchange, &handshake);
        if (err == 0)
                err = ed_websocket_new(handshake.opts, handshake.protocol ? handshake.protocol : "",
                                       true, &websocket);
        if (err < 0)
                return err;
        err = upgrade(exchange, &handshake, &websocket->stream);
        if (err < 0)
                ed_websocket_free(websocket);
        else
                *ret_websocket = websocket;
        return err;
}
