/*
 * http/relay.c - see eddy/http_relay.h.
 */
#include "eddy/http_relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_answer.h"
#include "eddy/http_forwarded.h"
#include "eddy/http_value.h"
#include "http/client.h"
#include "http/coding_chain.h"
#include "http/exchange.h"
#include "http/weak_tag.h"
#include "wire/http1_parts.h"
#include "wire/route.h"

enum {
        ADDED_MAX = 8,         /* headers of a request that the proxy adds */
        FORWARDED_ROOM = 64,   /* for the names, quotes and brackets in Forwarded */
        PIECE_BYTES = 16 << 10 /* of a response's body */
};

/* The request that a handler passes on. Headers and texts follow. */
struct relay {
        struct eddy_http_body_source source;
        struct eddy_http_header headers[];
};

static const char relay_key[] = "relay";

/* ---- headers --------------------------------------------------------------- */

typedef int header_at_fn(const void *message, size_t i, struct eddy_http_header *ret_header);

static int request_header_at(const void *message, size_t i, struct eddy_http_header *ret_header)
{
        return eddy_http_exchange_header_at(message, i, ret_header);
}

static int response_header_at(const void *message, size_t i, struct eddy_http_header *ret_header)
{
        return eddy_http_response_header_at(message, i, ret_header);
}

static size_t count_headers(header_at_fn *header_at, const void *message)
{
        struct eddy_http_header header;
        size_t count = 0;

        while (header_at(message, count, &header) == 0)
                count++;
        return count;
}

static bool has_header(const struct eddy_http_header *headers, size_t count, const char *name)
{
        for (size_t i = 0; i < count; i++)
                if (strcasecmp(headers[i].name, name) == 0)
                        return true;
        return false;
}

static bool is_in(const char *const *names, const char *name)
{
        for (; *names; names++)
                if (strcasecmp(*names, name) == 0)
                        return true;
        return false;
}

/* Returns true if a header concerns one connection only, or frames the message. */
static bool is_of_connection(const char *name)
{
        static const char *const names[] = { "connection",
                                             "content-length",
                                             "keep-alive",
                                             "proxy-authenticate",
                                             "proxy-connection",
                                             "proxy-authorization",
                                             "te",
                                             "transfer-encoding",
                                             "upgrade",
                                             NULL };

        return is_in(names, name);
}

/*
 * Returns true for "X-Forwarded-...", also with '_' for '-': a server that makes variables of
 * headers (CGI, WSGI) would read the client's header for the proxy's.
 */
static bool is_forwarded(const char *name)
{
        static const char prefix[] = "x-forwarded-";

        for (size_t i = 0; prefix[i]; i++)
                if (prefix[i] != '-' ? strncasecmp(&prefix[i], &name[i], 1) != 0
                                     : name[i] != '-' && name[i] != '_')
                        return false;
        return true;
}

/*
 * As is_of_connection(); also headers of a request that the proxy replaces, or answers itself, and
 * "Proxy", which a CGI program would take for its variable HTTP_PROXY.
 */
static bool is_of_request(const char *name)
{
        static const char *const names[] = {
                "expect", "forwarded", "host", "proxy", "trailer", NULL
        };

        return is_of_connection(name) || is_in(names, name) || is_forwarded(name);
}

/* As is_of_connection(); also the coding that was decoded, its digests, and the offer of its ranges. */
static bool is_of_coded(const char *name)
{
        static const char *const names[] = { "accept-ranges",
                                             "content-digest",
                                             "content-encoding",
                                             "content-md5",
                                             "digest",
                                             "repr-digest",
                                             NULL };

        return is_of_connection(name) || is_in(names, name);
}

/* Remove the headers that a value of Connection names (RFC 9110, 7.6.1): their names become NULL. */
static void remove_named(const char *value, struct eddy_http_header *headers, size_t count)
{
        struct eddy_slice option;
        size_t at = 0;

        while (ed_http1_list_next(value, strlen(value), &at, &option))
                for (size_t i = 0; i < count; i++)
                        if (headers[i].name &&
                            strncasecmp(headers[i].name, option.data, option.bytes) == 0 &&
                            headers[i].name[option.bytes] == '\0')
                                headers[i].name = NULL;
}

/*
 * Copy the headers that are passed on to 'headers', which has room for all. Returns their number.
 */
static size_t copy_headers(header_at_fn *header_at, const void *message,
                           bool (*is_dropped)(const char *name), struct eddy_http_header *headers)
{
        struct eddy_http_header header;
        size_t count = 0, kept = 0;

        for (size_t i = 0; header_at(message, i, &header) == 0; i++)
                if (!is_dropped(header.name))
                        headers[count++] = header;
        for (size_t i = 0; header_at(message, i, &header) == 0; i++)
                if (strcasecmp(header.name, "connection") == 0)
                        remove_named(header.value, headers, count);
        for (size_t i = 0; i < count; i++)
                if (headers[i].name)
                        headers[kept++] = headers[i];
        return kept;
}

/* ---- the request ----------------------------------------------------------- */

static int64_t read_body(void *exchange, void *buf, size_t bytes)
{
        return eddy_http_exchange_read(exchange, buf, bytes);
}

/* Set the body's source. Returns false if the request has no body. */
static bool set_source(eddy_http_exchange *exchange, struct eddy_http_body_source *source)
{
        int64_t bytes = exchange->ops->body_bytes(exchange);

        *source = (struct eddy_http_body_source){ .read = read_body,
                                                  .arg = exchange,
                                                  .bytes = bytes };
        return bytes != 0;
}

/* Append text and a NUL. Returns the place of the NUL. */
static char *put(char *at, const char *text, size_t bytes)
{
        memcpy(at, text, bytes);
        at[bytes] = '\0';
        return at + bytes;
}

static char *put_text(char *at, const char *text)
{
        return put(at, text, strlen(text));
}

/* Write the URL: the server's, with the path and the query of the exchange. Returns its end. */
static char *write_url(const eddy_http_exchange *exchange, const char *server, char *at)
{
        size_t server_bytes = strlen(server);

        while (server_bytes > 0 && server[server_bytes - 1] == '/')
                server_bytes--;
        at = put(at, server, server_bytes);
        at = put_text(at, eddy_http_exchange_path(exchange));
        if (strchr(eddy_http_exchange_target(exchange), '?'))
                at = put_text(at, "?");
        return put_text(at, eddy_http_exchange_query(exchange));
}

/*
 * Returns true if the server's URL has a path that the path of the exchange would leave. 'room' has
 * the bytes of the latter.
 */
static bool leaves_path(const eddy_http_exchange *exchange, const char *server, char *room)
{
        const char *host = strstr(server, "://");
        const char *base = host ? strchr(host + 3, '/') : NULL;
        struct ed_route_path path;

        if (!base || !base[strspn(base, "/")])
                return false;
        return ed_route_split(eddy_http_exchange_path(exchange), room, &path) != NULL;
}

/* Write the value of Forwarded (RFC 7239, 4). */
static void write_forwarded(const char *client, const char *scheme, const char *host, char *at)
{
        bool is_ipv6 = strchr(client, ':') != NULL;

        at = put_text(at, is_ipv6 ? "for=\"[" : "for=");
        at = put_text(at, client);
        at = put_text(at, is_ipv6 ? "]\";proto=" : ";proto=");
        at = put_text(at, scheme);
        if (!host[0])
                return;
        at = put_text(at, ";host=\"");
        for (; *host; host++) {
                if (*host == '"' || *host == '\\')
                        *at++ = '\\';
                *at++ = *host;
        }
        (void) put_text(at, "\"");
}

/* Append the headers of the proxy, with texts at 'at'. Returns the number of all headers. */
static size_t add_headers(eddy_http_exchange *exchange, struct eddy_http_header *headers,
                          size_t count, char *at)
{
        static const char *const own[] = { "User-Agent", "Accept", "Accept-Encoding" };
        const char *scheme = eddy_http_exchange_scheme(exchange);
        const char *host = eddy_http_exchange_client_host(exchange);
        char *client = at;
        struct eddy_http_exchange_info info;

        eddy_http_exchange_info(exchange, &info);
        eddy_http_exchange_client_text(exchange, client);
        if (!client[0] || strncmp(client, "unix:", 5) == 0)
                (void) put_text(client, "unknown");
        at += strlen(client) + 1;
        headers[count++] = (struct eddy_http_header){ "X-Forwarded-For", client };
        headers[count++] = (struct eddy_http_header){ "X-Forwarded-Proto", scheme };
        if (host[0])
                headers[count++] = (struct eddy_http_header){ "X-Forwarded-Host", host };
        headers[count++] = (struct eddy_http_header){ "Forwarded", at };
        write_forwarded(client, scheme, host, at);
        headers[count++] =
                (struct eddy_http_header){ "Via", info.version == 20 ? "2.0 eddy" : "1.1 eddy" };
        /* NULL: without these, the client would add its own. */
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
                if (!has_header(headers, count, own[i]))
                        headers[count++] = (struct eddy_http_header){ own[i], NULL };
        return count;
}

int eddy_http_relay_request(eddy_http_exchange *exchange, const char *server,
                            struct eddy_http_request *ret_request)
{
        struct relay *relay;
        size_t count, headers_room, text_room;
        char *texts, *rest;
        int err;

        if (!exchange || !server || !ret_request)
                return -EINVAL;
        if (eddy_http_exchange_path(exchange)[0] != '/' ||
            strcmp(eddy_http_exchange_method(exchange), "CONNECT") == 0)
                return -ENOTSUP;
        headers_room = (count_headers(request_header_at, exchange) + ADDED_MAX) *
                       sizeof(struct eddy_http_header);
        text_room = strlen(server) + strlen(eddy_http_exchange_path(exchange)) +
                    strlen(eddy_http_exchange_query(exchange)) + 2 + 2 * EDDY_HTTP_CLIENT_BYTES +
                    2 * strlen(eddy_http_exchange_client_host(exchange)) + FORWARDED_ROOM;
        relay = ed_alloc(sizeof(*relay) + headers_room + text_room);
        if (!relay)
                return -ENOMEM;
        texts = (char *) relay->headers + headers_room;
        if (leaves_path(exchange, server, texts)) {
                ed_free(relay);
                return EDDY_E_URL_INVALID;
        }
        rest = write_url(exchange, server, texts) + 1;
        count = copy_headers(request_header_at, exchange, is_of_request, relay->headers);
        count = add_headers(exchange, relay->headers, count, rest);
        *ret_request = (struct eddy_http_request){
                .method = eddy_http_exchange_method(exchange),
                .url = texts,
                .headers = relay->headers,
                .headers_count = count,
                .body_source = set_source(exchange, &relay->source) ? &relay->source : NULL,
                .body_bytes_max = UINT64_MAX,
                .redirects_max = -1,
                .flags = EDDY_HTTP_ANY_STATUS | EDDY_HTTP_NO_AUTH | EDDY_HTTP_NO_COOKIES,
        };
        err = eddy_http_exchange_set(exchange, relay_key, relay, ed_free);
        if (err < 0)
                ed_free(relay);
        return err;
}

/* ---- the response ---------------------------------------------------------- */

/* Returns true if the client knows the codings of the whole body. */
static bool can_be_decoded(const eddy_http_response *response)
{
        struct ed_coding_list list = { .n = 0 };
        struct eddy_http_header header;

        for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++)
                if (strcasecmp(header.name, "content-encoding") == 0 &&
                    ed_coding_list_add(&list, header.value) < 0)
                        return false;
        return list.n > 0 && eddy_http_response_status(response) != 206;
}

/* Returns true if the client decodes the body. A body that the client cannot decode passes as it is. */
static bool decodes(eddy_http_response *response)
{
        if (!response->client->decode)
                return false;
        if (response->decoding.is_known || can_be_decoded(response))
                return eddy_http_response_header(response, "Content-Encoding") != NULL;
        ed_http_decoded_skip(&response->decoding);
        return false;
}

/* Returns the length of the body that the exchange sends; -1: unknown. */
static int64_t length_of(const eddy_http_response *response, bool is_decoded)
{
        const char *length = eddy_http_response_header(response, "Content-Length");

        if (!length || is_decoded || eddy_http_response_header(response, "Transfer-Encoding"))
                return -1;
        return strtoll(length, NULL, 10);
}

/*
 * Returns true if the exchange has a weak ETag for a strong one: it names bytes that were decoded. A 304
 * has the tag under which the client has the body.
 */
static bool is_weakened(const eddy_http_exchange *exchange, const eddy_http_response *response,
                        bool is_decoded, const struct eddy_http_header *header)
{
        if (!ed_http_is_strong_tag(header))
                return false;
        return is_decoded ||
               (response->client->decode && eddy_http_response_status(response) == 304 &&
                ed_http_has_weak_tag(exchange, header));
}

/* Returns the bytes for the headers of a response and the texts of weak tags. */
static size_t headers_room_of(const eddy_http_response *response)
{
        struct eddy_http_header header;
        size_t bytes = 0;

        for (size_t i = 0; eddy_http_response_header_at(response, i, &header) == 0; i++) {
                bytes += sizeof(header);
                if (ed_http_is_strong_tag(&header))
                        bytes += ed_http_weak_tag_bytes(&header);
        }
        return bytes;
}

/* The texts of weak tags follow the room for all headers of the response. */
static void weaken_tags(const eddy_http_exchange *exchange, const eddy_http_response *response,
                        bool is_decoded, struct eddy_http_header *headers, size_t count)
{
        char *text = (char *) (headers + count_headers(response_header_at, response));

        for (size_t i = 0; i < count; i++)
                if (is_weakened(exchange, response, is_decoded, &headers[i]))
                        text = ed_http_tag_weaken(&headers[i], text);
}

/* RFC 9110, 15: a response with such a status has no content, whatever its headers say. */
static bool has_no_content(int status)
{
        return status == 204 || status == 205 || status == 304;
}

static int copy_body(eddy_http_exchange *exchange, eddy_http_response *response, char *piece)
{
        struct eddy_http_header trailer;
        int64_t n;
        int err;

        while ((n = eddy_http_response_read(response, piece, PIECE_BYTES)) > 0) {
                err = eddy_http_exchange_write(exchange, piece, (size_t) n);
                if (err < 0)
                        return err;
        }
        if (n < 0)
                return (int) n;
        for (size_t i = 0; eddy_http_response_trailer_at(response, i, &trailer) == 0; i++) {
                err = eddy_http_exchange_add_trailer(exchange, trailer.name, trailer.value);
                if (err == -ENOMEM)
                        return err;
        }
        return eddy_http_exchange_end(exchange);
}

int eddy_http_relay_response(eddy_http_exchange *exchange, eddy_http_response *response)
{
        struct eddy_http_header *headers;
        bool is_empty, is_decoded;
        int status, err;
        size_t count;
        char *piece;

        if (!exchange || !response)
                return -EINVAL;
        status = eddy_http_response_status(response);
        is_empty = has_no_content(status);
        is_decoded = decodes(response);
        piece = ed_alloc(PIECE_BYTES + headers_room_of(response));
        if (!piece)
                return -ENOMEM;
        headers = (struct eddy_http_header *) (void *) (piece + PIECE_BYTES);
        count = copy_headers(response_header_at, response,
                             is_decoded ? is_of_coded : is_of_connection, headers);
        weaken_tags(exchange, response, is_decoded, headers, count);
        err = eddy_http_exchange_begin(exchange, status, headers, count,
                                       is_empty ? 0 : length_of(response, is_decoded));
        if (err == 0) {
                err = is_empty ? eddy_http_exchange_end(exchange)
                               : copy_body(exchange, response, piece);
                if (err < 0)
                        eddy_http_exchange_abort(exchange);
        }
        ed_free(piece);
        return err;
}

/* ---- failures -------------------------------------------------------------- */

static bool is_late(int error)
{
        switch (error) {
        case -ETIMEDOUT:
        case EDDY_E_NET_TIMED_OUT:
        case EDDY_E_HTTP_TIMEOUT_POOL:
        case EDDY_E_HTTP_TIMEOUT_CONNECT:
        case EDDY_E_HTTP_TIMEOUT_READ:
        case EDDY_E_HTTP_TIMEOUT_TOTAL:
                return true;
        default:
                return false;
        }
}

int eddy_http_relay_fail(eddy_http_exchange *exchange, int error)
{
        struct ed_http_failure failure;

        if (error == -ECANCELED || error == -ENOMEM)
                return error;
        /* With another failure than the one that is passed in, the reason is the exchange's own. */
        exchange->ops->failure(exchange, -EIO, &failure);
        if (failure.error != -EIO)
                return error;
        if (error == -ENOTSUP)
                return eddy_http_exchange_fail(exchange, 501,
                                               "only requests for a path are passed on");
        if (error == EDDY_E_URL_INVALID)
                return eddy_http_exchange_fail(exchange, 400, "the path cannot be in a URL");
        if (is_late(error))
                return eddy_http_exchange_fail(exchange, 504,
                                               "the other server did not answer in time");
        return eddy_http_exchange_fail(exchange, 502, "%s",
                                       error == EDDY_E_HTTP_STATUS
                                               ? "the other server answered with an error status"
                                               : "the other server did not answer");
}
