/*
 * http/request_fields.c - see request_fields.h. Checks the caller's headers, and adds the default
 * ones.
 */
#include "http/request_fields.h"

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

enum {
        DEFAULTS_MAX = 7,
        ROOM_KEPT = 64,       /* headers that an empty list keeps memory for */
        FIELD_BYTES_MIN = 5,  /* "a: \r\n" */
        LINE_REST_BYTES = 14, /* two spaces, "HTTP/1.1\r\n", the empty line */
        PREFIX_BYTES = 7,     /* "http://" */
};

/* Headers that the caller's request contains. */
struct given {
        bool user_agent;
        bool upgrade, connection_upgrade;
        bool accept;
        bool accept_encoding;
        bool authorization;
        bool proxy_authorization;
        bool length;
        bool expect;
        bool trailer;
};

/* Returns true for methods that send "Content-Length: 0" if they have no body. */
static bool method_expects_body(const char *method)
{
        return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
               strcmp(method, "PATCH") == 0;
}

/* ---- the list -------------------------------------------------------------- */

static bool is_space(char c)
{
        return c == ' ' || c == '\t';
}

/* Add a header for which there is room. Returns the header. */
static struct ed_http_field *put(struct ed_http_request_fields *fields, const char *name,
                                 size_t name_bytes, const char *value, size_t value_bytes)
{
        struct ed_http_field *field = &fields->list[fields->count++];

        while (value_bytes > 0 && is_space(*value)) {
                value++;
                value_bytes--;
        }
        while (value_bytes > 0 && is_space(value[value_bytes - 1]))
                value_bytes--;
        *field = (struct ed_http_field){ name, value, name_bytes, value_bytes, NULL, 0 };
        fields->bytes += name_bytes + value_bytes + sizeof(": \r\n") - 1;
        return field;
}

#define PUT(fields, name, value, value_bytes)                                                      \
        put(fields, name, sizeof(name) - 1, value, value_bytes)

static void drop_to(struct ed_http_request_fields *fields, size_t count)
{
        while (fields->count > count) {
                struct ed_http_field *field = &fields->list[--fields->count];

                fields->bytes -= field->name_bytes + field->value_bytes + sizeof(": \r\n") - 1;
                if (field->memory)
                        ed_http_userinfo_free(field->memory, field->memory_bytes);
        }
}

static int make_room(struct ed_http_request_fields *fields, size_t count)
{
        struct ed_http_field *list;
        size_t room = fields->room * 2;

        if (fields->room - fields->count >= count)
                return 0;
        if (room < fields->count + count)
                room = fields->count + count;
        list = ed_realloc(fields->list, room * sizeof(*list));
        if (!list)
                return -ENOMEM;
        fields->list = list;
        fields->room = room;
        return 0;
}

int ed_http_request_fields_add(struct ed_http_request_fields *fields, const char *name,
                               const char *value)
{
        size_t name_bytes = strlen(name), value_bytes = strlen(value);
        size_t bytes = name_bytes + value_bytes;
        struct ed_http_field *field;
        char *memory;
        int err;

        if (fields->expects && strcasecmp(name, "expect") == 0)
                return strcasecmp(value, "100-continue") == 0 ? 0 : EDDY_E_HTTP_INVALID_REQUEST;
        if (fields->bytes + bytes + FIELD_BYTES_MIN > ED_HTTP_REQUEST_HEAD_MAX)
                return EDDY_E_HTTP_INVALID_REQUEST;
        err = make_room(fields, 1);
        if (err < 0)
                return err;
        memory = ed_alloc(bytes);
        if (!memory)
                return -ENOMEM;
        memcpy(memory, name, name_bytes);
        memcpy(memory + name_bytes, value, value_bytes);
        field = put(fields, memory, name_bytes, memory + name_bytes, value_bytes);
        field->memory = memory;
        field->memory_bytes = bytes;
        fields->added++;
        return 0;
}

void ed_http_request_fields_drop_added(struct ed_http_request_fields *fields)
{
        drop_to(fields, fields->count - fields->added);
        fields->added = 0;
}

void ed_http_request_fields_drop_expect(struct ed_http_request_fields *fields)
{
        struct ed_http_field *at = &fields->list[fields->expect_at];
        size_t after = fields->count - fields->expect_at - 1;

        fields->bytes -= at->name_bytes + at->value_bytes + sizeof(": \r\n") - 1;
        memmove(at, at + 1, after * sizeof(*at)); /* it owns no memory */
        fields->count--;
        if (fields->has_host && fields->host_at > fields->expect_at)
                fields->host_at--;
        fields->expect_ns = 0;
}

void ed_http_request_fields_clear(struct ed_http_request_fields *fields)
{
        drop_to(fields, 0);
        fields->added = 0;
        if (fields->room > ROOM_KEPT)
                ed_http_request_fields_fini(fields);
}

void ed_http_request_fields_fini(struct ed_http_request_fields *fields)
{
        drop_to(fields, 0);
        ed_free(fields->list);
        *fields = (struct ed_http_request_fields){ .list = NULL };
}

/* ---- the caller's headers ---------------------------------------------------- */

bool ed_http_request_is_length(const char *value, uint64_t bytes)
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

static bool names(const struct eddy_http_header *header, const char *name)
{
        return strcasecmp(header->name, name) == 0;
}

/*
 * Note a header that decides how the message ends or where it goes: Content-Length must match the
 * body, and Transfer-Encoding is refused. Returns false if the request is not valid. A second of
 * them is refused later.
 */
static bool note_framing(struct ed_http_request_fields *fields,
                         const struct eddy_http_header *header, uint64_t body_bytes,
                         struct given *given)
{
        if (names(header, "transfer-encoding"))
                return false;
        if (names(header, "content-length")) {
                fields->refused |= given->length;
                given->length = true;
                return !fields->chunked && ed_http_request_is_length(header->value, body_bytes);
        }
        given->trailer |= names(header, "trailer");
        if (header->value && names(header, "connection")) {
                size_t bytes = strlen(header->value);

                fields->closing |= ed_http1_list_has(header->value, bytes, "close");
                given->connection_upgrade |= ed_http1_list_has(header->value, bytes, "upgrade");
        }
        return true;
}

static bool note(struct ed_http_request_fields *fields, const struct eddy_http_header *header,
                 uint64_t body_bytes, struct given *given)
{
        switch (header->name[0] | 0x20) {
        case 'h':
                if (!names(header, "host"))
                        return true;
                fields->refused |= fields->has_host;
                fields->has_host = true;
                fields->host_at = fields->count;
                return true;
        case 'u':
                given->user_agent |= names(header, "user-agent");
                given->upgrade |= header->value && names(header, "upgrade");
                return true;
        case 'a':
                given->accept |= names(header, "accept");
                given->accept_encoding |= names(header, "accept-encoding");
                given->authorization |= names(header, "authorization");
                return true;
        case 'c':
        case 't':
                return note_framing(fields, header, body_bytes, given);
        case 'e':
                if (fields->expect_ns > 0 && names(header, "expect")) {
                        fields->refused |=
                                given->expect || strcasecmp(header->value, "100-continue") != 0;
                        given->expect = true;
                        fields->expect_at = fields->count;
                }
                return true;
        case 'p':
                given->proxy_authorization |= names(header, "proxy-authorization");
                return true;
        default:
                return true;
        }
}

bool ed_http_request_can_remove(const eddy_http_client *client, const char *name)
{
        static const char *const names[] = { "user-agent",    "accept",
                                             "content-type",  "accept-encoding",
                                             "authorization", "proxy-authorization",
                                             "cookie" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcasecmp(name, names[i]) == 0)
                        return true;
        for (size_t i = 0; i < client->defaults.headers_count; i++)
                if (strcasecmp(name, client->defaults.headers[i].name) == 0)
                        return true;
        return false;
}

/* Take the caller's headers. Those without a value only keep a default header away. */
static int put_given(struct ed_http_request_fields *fields, const eddy_http_client *client,
                     const struct eddy_http_request *request, uint64_t body_bytes,
                     struct given *given)
{
        const struct ed_http_field *field;

        for (size_t i = 0; i < request->headers_count; i++) {
                const struct eddy_http_header *header = &request->headers[i];

                if (!header->name ||
                    (!header->value && !ed_http_request_can_remove(client, header->name)) ||
                    !note(fields, header, body_bytes, given))
                        return EDDY_E_HTTP_INVALID_REQUEST;
                if (!header->value)
                        continue;
                field = put(fields, header->name, strlen(header->name), header->value,
                            strlen(header->value));
                fields->refused |= !eddy_http_is_token(field->name, field->name_bytes) ||
                                   !eddy_http_is_value(field->value, field->value_bytes);
        }
        return 0;
}

/* ---- the default headers ----------------------------------------------------- */

/* Put a value of 'bytes' bytes in 'memory', which is taken. */
static void put_secret(struct ed_http_request_fields *fields, const char *name, char *memory,
                       size_t bytes)
{
        struct ed_http_field *field = put(fields, name, strlen(name), memory, bytes);

        field->memory = memory;
        field->memory_bytes = bytes;
}

/* Put the URL's credentials, and nowhere else. */
static int put_authorization(struct ed_http_request_fields *fields)
{
        char *plain, *value;
        size_t bytes;
        int err = ed_http_userinfo_new(&fields->url, &plain, &bytes);

        if (err < 0)
                return err;
        value = ed_alloc(ED_HTTP_BASIC_BYTES + EDDY_BASE64_BYTES(bytes));
        if (value)
                put_secret(fields, "Authorization", value,
                           ed_http_basic_write(plain, bytes, value));
        ed_http_userinfo_free(plain, bytes);
        return value ? 0 : -ENOMEM;
}

/* The proxy reads these credentials and does not pass them on (RFC 9110, 11.7.2). */
static int put_proxy_authorization(struct ed_http_request_fields *fields,
                                   const struct ed_http_proxy *proxy)
{
        char *value;

        if (!proxy->has_credentials)
                return 0;
        value = ed_alloc(ED_PROXY_AUTHORIZATION_ROOM);
        if (!value)
                return -ENOMEM;
        put_secret(fields, "Proxy-Authorization", value, ed_http_proxy_authorization(proxy, value));
        return 0;
}

/* Returns the proxy that reads the request, or NULL if the origin does. */
static const struct ed_http_proxy *reader_of(const eddy_http_client *client,
                                             const struct ed_url *url)
{
        const struct ed_http_proxy *proxy =
                ed_http_proxies_find(&client->proxies, url->is_https, url->host, url->port);

        return proxy && !ed_http_proxy_is_tunnel(proxy, url->is_https) ? proxy : NULL;
}

static int put_defaults(struct ed_http_request_fields *fields, const eddy_http_client *client,
                        const struct ed_http_proxy *proxy, const struct given *given)
{
        int err = 0;

        if (!given->user_agent)
                PUT(fields, "User-Agent", client->user_agent, client->user_agent_bytes);
        if (!given->accept)
                PUT(fields, "Accept", "*/*", 3);
        if (client->decode && !given->accept_encoding)
                PUT(fields, "Accept-Encoding", ED_CODING_CHAIN_ACCEPTS,
                    sizeof(ED_CODING_CHAIN_ACCEPTS) - 1);
        if (fields->expect_ns > 0 && !given->expect) {
                fields->expect_at = fields->count;
                PUT(fields, "Expect", "100-continue", 12);
        }
        if (proxy && !given->proxy_authorization)
                err = put_proxy_authorization(fields, proxy);
        if (err >= 0 && fields->url.has_userinfo && !given->authorization)
                err = put_authorization(fields);
        return err;
}

/* Announce the trailers (RFC 9110, 6.6.2). */
static void put_trailers(struct ed_http_request_fields *fields,
                         const struct eddy_http_body_source *source)
{
        for (size_t i = 0; i < source->trailers_count; i++)
                PUT(fields, "Trailer", source->trailers[i].name, strlen(source->trailers[i].name));
}

/* Returns false if the trailers of a source cannot be sent. */
static bool check_trailers(const struct eddy_http_body_source *source)
{
        if (source->trailers_count > ED_HTTP1_TRAILERS_MAX ||
            (source->trailers_count > 0 && (source->bytes >= 0 || !source->trailers)))
                return false;
        for (size_t i = 0; i < source->trailers_count; i++) {
                const char *name = source->trailers[i].name;

                if (!name || !eddy_http_is_token(name, strlen(name)) ||
                    ed_http1_trailer_is_forbidden(name, strlen(name)))
                        return false;
        }
        return true;
}

/* ---- the whole ------------------------------------------------------------- */

static int check(const struct eddy_http_request *request, const char *method)
{
        const struct eddy_http_body_source *source = request->body_source;

        if (!request->body && request->body_bytes > 0)
                return EDDY_E_HTTP_INVALID_REQUEST;
        if (source && (!source->stream == !source->read || !check_trailers(source)))
                return EDDY_E_HTTP_INVALID_REQUEST;
        /*
         * CONNECT opens a tunnel instead of returning a response; TRACE has no content (RFC 9110,
         * 9.3.8).
         */
        if (request->expect_continue_ns < 0 || strcmp(method, "CONNECT") == 0 ||
            ((request->body || source) && strcmp(method, "TRACE") == 0))
                return EDDY_E_HTTP_INVALID_REQUEST;
        return request->headers_count > ED_HTTP_REQUEST_HEAD_MAX / FIELD_BYTES_MIN
                       ? EDDY_E_HTTP_INVALID_REQUEST
                       : 0;
}

/* Both must be the same (RFC 9112, 3.2). */
bool ed_http_request_hosts_differ(const struct ed_http_request_fields *fields)
{
        const struct ed_http_field *given = &fields->list[fields->host_at];
        char host[ED_URL_AUTHORITY_ROOM];

        return ed_url_authority(&fields->url, host) != given->value_bytes ||
               strncasecmp(given->value, host, given->value_bytes) != 0;
}

static bool is_host(const struct ed_http_field *field)
{
        return ed_http1_is_host(field->value, field->value_bytes);
}

static void put_length(struct ed_http_request_fields *fields, uint64_t body_bytes)
{
        size_t at = sizeof(fields->length);

        do {
                fields->length[--at] = (char) ('0' + body_bytes % 10);
                body_bytes /= 10;
        } while (body_bytes > 0);
        PUT(fields, "Content-Length", fields->length + at, sizeof(fields->length) - at);
}

/* Check what is left: the method's text, and the sizes. */
static int check_all(struct ed_http_request_fields *fields)
{
        size_t target_bytes = fields->url.slash_first + fields->url.target_bytes;

        if (fields->to_proxy)
                target_bytes += PREFIX_BYTES + fields->url.host_bytes;
        fields->bytes += fields->method_bytes + target_bytes + LINE_REST_BYTES;
        if (!fields->has_host)
                fields->bytes += sizeof("Host: ") + ED_URL_AUTHORITY_ROOM;
        if (fields->refused || (fields->has_host && !is_host(&fields->list[fields->host_at])) ||
            !eddy_http_is_token(fields->method, fields->method_bytes) ||
            fields->method_bytes > ED_HTTP1_LINE_BYTES_MAX || target_bytes > ED_URL_BYTES_MAX ||
            fields->bytes > ED_HTTP_REQUEST_HEAD_MAX)
                return EDDY_E_HTTP_INVALID_REQUEST;
        return 0;
}

int ed_http_request_fields_set(struct ed_http_request_fields *fields,
                               const eddy_http_client *client,
                               const struct eddy_http_request *request)
{
        const struct eddy_http_body_source *source = request->body_source;
        const struct ed_http_proxy *proxy = reader_of(client, &fields->url);
        uint64_t body_bytes = source ? (uint64_t) source->bytes : request->body_bytes;
        struct given given = { false };
        int err;

        fields->method = ed_http_request_method(request);
        fields->method_bytes = strlen(fields->method);
        fields->to_proxy = proxy != NULL;
        fields->chunked = source && source->bytes < 0;
        /* Without a body a client must not expect it (RFC 9110, 10.1.1). */
        fields->expect_ns = fields->chunked || body_bytes > 0 ? request->expect_continue_ns : 0;
        fields->expects = fields->expect_ns > 0;
        fields->closing = fields->refused = fields->has_host = false;
        fields->bytes = 0;
        err = check(request, fields->method);
        if (err >= 0)
                err = make_room(fields, request->headers_count + DEFAULTS_MAX +
                                                (source ? source->trailers_count : 0));
        if (err >= 0)
                err = put_given(fields, client, request, body_bytes, &given);
        /* Credentials for a proxy must not reach the origin. */
        if (err >= 0 && given.proxy_authorization && !proxy)
                err = EDDY_E_HTTP_INVALID_REQUEST;
        if (err >= 0 && proxy && fields->has_host && ed_http_request_hosts_differ(fields))
                err = EDDY_E_HTTP_INVALID_REQUEST;
        if (err >= 0)
                err = put_defaults(fields, client, proxy, &given);
        if (err < 0)
                return err;
        fields->upgrading = given.upgrade && given.connection_upgrade && !request->body && !source;
        if (source && !given.trailer)
                put_trailers(fields, source);
        if (!fields->chunked && !given.length &&
            (request->body || source || method_expects_body(fields->method)))
                put_length(fields, body_bytes);
        return check_all(fields);
}
