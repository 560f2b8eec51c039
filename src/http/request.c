/*
 * http/request.c - the head of a request: checks the caller's headers, and adds the default ones.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/base64.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "http/client.h"
#include "http/coding_chain.h"
#include "http/userinfo.h"

/* Headers that the caller's request contains. */
struct given {
        const char *host;
        bool user_agent;
        bool accept;
        bool accept_encoding;
        bool authorization;
        bool proxy_authorization;
        bool length;
        bool closing;
};

const char *ed_http_request_method(const struct eddy_http_request *request)
{
        if (request->method)
                return request->method;
        return request->body || request->body_source ? "POST" : "GET";
}

bool eddy_http_request_is_idempotent(const struct eddy_http_request *request)
{
        if (!request)
                return false;
        for (size_t i = 0; i < request->headers_count; i++) {
                const char *name = request->headers[i].name;

                if (name && (strcasecmp(name, "idempotency-key") == 0 ||
                             strcasecmp(name, "x-idempotency-key") == 0))
                        return true;
        }
        return eddy_http_method_is_idempotent(ed_http_request_method(request));
}

/* Returns true for methods that send "Content-Length: 0" if they have no body. */
static bool method_expects_body(const char *method)
{
        return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
               strcmp(method, "PATCH") == 0;
}

static bool names(const struct eddy_http_header *header, const char *name)
{
        return strcasecmp(header->name, name) == 0;
}

/*
 * Check the caller's headers. The library decides how a message ends: Content-Length must match the
 * body, and Transfer-Encoding is refused.
 */
static int look_through(const struct eddy_http_request *request, struct given *given)
{
        for (size_t i = 0; i < request->headers_count; i++) {
                const struct eddy_http_header *header = &request->headers[i];

                if (!header->name || !header->value)
                        return EDDY_E_HTTP_INVALID_REQUEST;
                switch (header->name[0] | 0x20) {
                case 'h':
                        if (names(header, "host"))
                                given->host = header->value;
                        break;
                case 'u':
                        given->user_agent |= names(header, "user-agent");
                        break;
                case 'a':
                        given->accept |= names(header, "accept");
                        given->accept_encoding |= names(header, "accept-encoding");
                        given->authorization |= names(header, "authorization");
                        break;
                case 'c':
                        given->length |= names(header, "content-length");
                        given->closing |=
                                names(header, "connection") &&
                                ed_http1_list_has(header->value, strlen(header->value), "close");
                        break;
                case 'p':
                        given->proxy_authorization |= names(header, "proxy-authorization");
                        break;
                case 't':
                        if (names(header, "transfer-encoding"))
                                return EDDY_E_HTTP_INVALID_REQUEST;
                        break;
                default:
                        break;
                }
        }
        return 0;
}

/* Returns true if the caller's Content-Length matches the body. */
static bool is_length(const char *value, uint64_t bytes)
{
        uint64_t number = 0;

        if (*value == '\0')
                return false;
        for (; *value; value++) {
                if (*value < '0' || *value > '9' || number > UINT64_MAX / 10 - 1)
                        return false;
                number = number * 10 + (uint64_t) (*value - '0');
        }
        return number == bytes;
}

/* Write the URL's credentials to a header, and nowhere else. */
static int write_authorization(struct ed_http1_writer *writer, const struct ed_url *url)
{
        char *plain, *value;
        size_t bytes, value_bytes;
        int err = ed_http_userinfo_new(url, &plain, &bytes);

        if (err < 0)
                return err;
        value = ed_alloc(ED_HTTP_BASIC_BYTES + EDDY_BASE64_BYTES(bytes));
        if (value) {
                value_bytes = ed_http_basic_write(plain, bytes, value);
                ed_http1_write_field(writer, "Authorization", 13, value, value_bytes);
                ed_http_userinfo_free(value, value_bytes);
        }
        ed_http_userinfo_free(plain, bytes);
        return value ? 0 : -ENOMEM;
}

/* Write the request line with a target of 'prefix', the URL's target, and "/" if that has none. */
static int write_target(struct ed_http1_writer *writer, struct ed_buf *out, const char *method,
                        const struct ed_url *url, const char *prefix)
{
        size_t at = strlen(prefix);
        char *target = ed_alloc(at + 1 + url->target_bytes);

        if (!target)
                return -ENOMEM;
        memcpy(target, prefix, at);
        if (url->slash_first)
                target[at++] = '/';
        if (url->target_bytes > 0)
                memcpy(target + at, url->target, url->target_bytes);
        ed_http1_write_request(writer, out, method, strlen(method), target, at + url->target_bytes);
        ed_free(target);
        return 0;
}

/*
 * Write the request line and, unless the caller supplies it, the Host field. For a proxy the target
 * names the host too, and both must be the same (RFC 9112, 3.2).
 */
static int write_line(struct ed_http1_writer *writer, struct ed_buf *out, const char *method,
                      const struct ed_url *url, const struct given *given,
                      const struct ed_http_proxy *proxy)
{
        char prefix[sizeof("http://") + ED_URL_AUTHORITY_ROOM] = "", *host = prefix + 7;
        int err;

        if (proxy) {
                memcpy(prefix, "http://", 7);
                (void) ed_url_authority(url, host);
                if (given->host && strcasecmp(given->host, host) != 0)
                        return EDDY_E_HTTP_INVALID_REQUEST;
        }
        err = write_target(writer, out, method, url, prefix);
        if (err >= 0 && !given->host)
                ed_http1_write_field(writer, "Host", 4, host, strlen(host));
        return err;
}

/* The proxy reads these credentials and does not pass them on (RFC 9110, 11.7.2). */
static void write_proxy_authorization(struct ed_http1_writer *writer,
                                      const struct ed_http_proxy *proxy)
{
        char value[ED_PROXY_AUTHORIZATION_ROOM];
        size_t bytes = ed_http_proxy_authorization(proxy, value);

        if (bytes > 0)
                ed_http1_write_field(writer, "Proxy-Authorization", 19, value, bytes);
}

/* Returns the proxy that reads the request, or NULL if the origin does. */
static const struct ed_http_proxy *reader_of(const eddy_http_client *client,
                                             const struct ed_url *url)
{
        const struct ed_http_proxy *proxy =
                ed_http_proxies_find(&client->proxies, url->is_https, url->host, url->port);

        return proxy && !ed_http_proxy_is_tunnel(proxy, url->is_https) ? proxy : NULL;
}

static int check(const struct eddy_http_request *request, const char *method)
{
        const struct eddy_http_body_source *source = request->body_source;

        if (!request->body && request->body_bytes > 0)
                return EDDY_E_HTTP_INVALID_REQUEST;
        if (source && (request->body || !source->stream == !source->read))
                return EDDY_E_HTTP_INVALID_REQUEST;
        /*
         * CONNECT opens a tunnel instead of returning a response; TRACE has no content (RFC 9110,
         * 9.3.8).
         */
        if (strcmp(method, "CONNECT") == 0 ||
            ((request->body || source) && strcmp(method, "TRACE") == 0))
                return EDDY_E_HTTP_INVALID_REQUEST;
        return 0;
}

int ed_http_request_write(const eddy_http_client *client, const struct eddy_http_request *request,
                          const struct ed_url *url, struct ed_buf *out, bool *ret_closing)
{
        const struct eddy_http_body_source *source = request->body_source;
        const struct ed_http_proxy *proxy = reader_of(client, url);
        const char *method = ed_http_request_method(request);
        bool chunked = source && source->bytes < 0;
        uint64_t bytes = source ? (uint64_t) source->bytes : request->body_bytes;
        struct ed_http1_writer writer;
        struct given given = { false };
        int err;

        err = check(request, method);
        if (err >= 0)
                err = look_through(request, &given);
        /* Credentials for a proxy must not reach the origin. */
        if (err >= 0 && given.proxy_authorization && !proxy)
                err = EDDY_E_HTTP_INVALID_REQUEST;
        if (err < 0)
                return err;
        if (!proxy && !given.host)
                ed_http1_write_request_to(&writer, out, method, strlen(method), url);
        else
                err = write_line(&writer, out, method, url, &given, proxy);
        if (err < 0)
                return err;
        for (size_t i = 0; i < request->headers_count; i++) {
                const struct eddy_http_header *header = &request->headers[i];

                if (names(header, "content-length") &&
                    (chunked || !is_length(header->value, bytes)))
                        err = EDDY_E_HTTP_INVALID_REQUEST;
                ed_http1_write_field(&writer, header->name, strlen(header->name), header->value,
                                     strlen(header->value));
        }
        if (!given.user_agent)
                ed_http1_write_field(&writer, "User-Agent", 10, client->user_agent,
                                     client->user_agent_bytes);
        if (!given.accept)
                ed_http1_write_field(&writer, "Accept", 6, "*/*", 3);
        if (client->decode && !given.accept_encoding)
                ed_http1_write_field(&writer, "Accept-Encoding", 15, ED_CODING_CHAIN_ACCEPTS,
                                     sizeof(ED_CODING_CHAIN_ACCEPTS) - 1);
        if (proxy && !given.proxy_authorization)
                write_proxy_authorization(&writer, proxy);
        if (url->has_userinfo && !given.authorization && err >= 0)
                err = write_authorization(&writer, url);
        if (chunked)
                ed_http1_write_field(&writer, "Transfer-Encoding", 17, "chunked", 7);
        else if (!given.length && (request->body || source || method_expects_body(method)))
                ed_http1_write_number(&writer, "Content-Length", 14, bytes);
        if (err >= 0)
                err = ed_http1_write_end(&writer);
        /* The request is larger than the limit for a head. */
        if (err == -EMSGSIZE)
                err = EDDY_E_HTTP_INVALID_REQUEST;
        if (err >= 0)
                *ret_closing = given.closing;
        return err;
}
