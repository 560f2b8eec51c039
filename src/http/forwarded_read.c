/*
 * http/forwarded_read.c - reading X-Forwarded-... and Forwarded (RFC 7239) as far as they were written
 * by trusted proxies.
 *
 * The items are read from the left. The client is the last one that is not trusted; before there is one,
 * the first after the start or after an item that is not an address. That is the item which a reader from
 * the right finds.
 */
#include <string.h>
#include <strings.h>

#include "http/exchange.h"
#include "http/forwarded.h"
#include "http/proxy.h"
#include "wire/http1_parts.h"

/* Present values and those of the client so far. */
struct reading {
        const struct ed_http_trust *trust;
        struct ed_http_forwarded *forwarded;
        struct eddy_endpoint peer;
        bool is_first; /* the next item is the client's until there is a better one */
};

/* ---- values ---------------------------------------------------------------- */

/* Read digits of a port. Returns 0 if the text is not a port. */
static uint16_t port_of(const char *text, size_t bytes)
{
        unsigned port = 0;

        if (bytes == 0 || bytes > 5)
                return 0;
        for (size_t i = 0; i < bytes; i++) {
                if (text[i] < '0' || text[i] > '9')
                        return 0;
                port = port * 10 + (unsigned) (text[i] - '0');
        }
        return port <= UINT16_MAX ? (uint16_t) port : 0;
}

/* Read "192.0.2.1", "192.0.2.1:80", "2001:db8::1" or "[2001:db8::1]:80". */
static bool client_parse(const char *text, size_t bytes, struct eddy_endpoint *ret_client)
{
        const char *colon = memchr(text, ':', bytes);
        size_t length = bytes;

        *ret_client = (struct eddy_endpoint){ .kind = EDDY_ENDPOINT_IP };
        if (bytes > 0 && text[0] == '[') {
                const char *end = memchr(text, ']', bytes);

                if (!end)
                        return false;
                length = (size_t) (end - text) + 1;
                if (length < bytes && text[length] != ':')
                        return false;
        } else if (colon && !memchr(colon + 1, ':', bytes - (size_t) (colon + 1 - text))) {
                length = (size_t) (colon - text);
        }
        if (length < bytes)
                ret_client->port = port_of(text + length + 1, bytes - length - 1);
        if (!ed_http_proxy_address(text, length, &ret_client->address))
                return false;
        ed_http_address_unmap(&ret_client->address);
        return true;
}

static void set_scheme(struct ed_http_forwarded *forwarded, const char *text, size_t bytes)
{
        if (bytes == 5 && strncasecmp(text, "https", 5) == 0)
                forwarded->scheme = "https";
        else if (bytes == 4 && strncasecmp(text, "http", 4) == 0)
                forwarded->scheme = "http";
        else
                forwarded->scheme = NULL;
}

static void set_host(struct ed_http_forwarded *forwarded, const char *text, size_t bytes)
{
        const char *host;
        size_t host_bytes;

        forwarded->host[0] = '\0';
        if (bytes == 0 || bytes >= sizeof(forwarded->host) ||
            ed_http1_host_split(text, bytes, &host, &host_bytes) < 0)
                return;
        memcpy(forwarded->host, text, bytes);
        forwarded->host[bytes] = '\0';
}

/* ---- items ----------------------------------------------------------------- */

/* The writer of a wrong item is the client until there is a better one. */
static void take_wrong(struct reading *reading)
{
        reading->is_first = true;
        *reading->forwarded = (struct ed_http_forwarded){ .client = reading->peer };
}

/* Take the item if it is the client's. Returns whether it is. */
static bool take_client(struct reading *reading, const char *text, size_t bytes)
{
        struct eddy_endpoint client;

        if (!client_parse(text, bytes, &client)) {
                take_wrong(reading);
                return false;
        }
        if (!reading->is_first && ed_http_trust_has(reading->trust, &client))
                return false;
        reading->is_first = false;
        reading->forwarded->client = client;
        return true;
}

/* ---- X-Forwarded-... ------------------------------------------------------- */

/* Store the last item of all headers with the name. Returns false if there is none. */
static bool last_item(eddy_http_exchange *exchange, const char *name, struct eddy_slice *ret_item)
{
        struct eddy_http_header header;
        bool found = false;

        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++) {
                size_t at = 0, bytes = strlen(header.value);

                if (strcasecmp(header.name, name) == 0)
                        while (ed_http1_list_next(header.value, bytes, &at, ret_item))
                                found = true;
        }
        return found;
}

static void read_x_forwarded(struct reading *reading, eddy_http_exchange *exchange)
{
        const uint32_t flags = reading->trust->flags;
        struct eddy_http_header header;
        struct eddy_slice item;

        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++) {
                size_t at = 0, bytes = strlen(header.value);

                if (strcasecmp(header.name, "X-Forwarded-For") == 0)
                        while (ed_http1_list_next(header.value, bytes, &at, &item))
                                (void) take_client(reading, item.data, item.bytes);
        }
        if (flags & EDDY_HTTP_TRUST_PROTO && last_item(exchange, "X-Forwarded-Proto", &item))
                set_scheme(reading->forwarded, item.data, item.bytes);
        if (flags & EDDY_HTTP_TRUST_HOST && last_item(exchange, "X-Forwarded-Host", &item))
                set_host(reading->forwarded, item.data, item.bytes);
}

/* ---- Forwarded ------------------------------------------------------------- */

enum { VALUE_BYTES_MAX = 255 };

/* A value, without quotes and backslashes. */
struct value {
        char text[VALUE_BYTES_MAX + 1];
        size_t bytes;
};

/* The pairs of an element. */
struct element {
        struct value client, proto, host;
};

/* Read a token or a quoted text. Returns its end, or NULL if it is wrong or too long. */
static const char *read_value(const char *at, struct value *ret_value)
{
        const bool quoted = *at == '"';

        ret_value->bytes = 0;
        for (at += quoted; quoted ? *at != '"' : !strchr(";, \t", *at); at++) {
                if (quoted && *at == '\\')
                        at++;
                if (!*at || ret_value->bytes == VALUE_BYTES_MAX || (!quoted && *at == '"'))
                        return NULL;
                ret_value->text[ret_value->bytes++] = *at;
        }
        return at + quoted;
}

static const char *skip_space(const char *at)
{
        return at + strspn(at, " \t");
}

/* Read pairs up to a comma or the end. Returns that place, or NULL if the pairs are wrong. */
static const char *read_element(const char *at, struct element *element)
{
        static const struct value none;

        element->client = element->proto = element->host = none;
        for (;;) {
                size_t bytes = strcspn(at, "=;,\" \t");
                struct value unknown, *value = &unknown;

                if (at[bytes] != '=')
                        return NULL;
                if (bytes == 3 && strncasecmp(at, "for", 3) == 0)
                        value = &element->client;
                else if (bytes == 5 && strncasecmp(at, "proto", 5) == 0)
                        value = &element->proto;
                else if (bytes == 4 && strncasecmp(at, "host", 4) == 0)
                        value = &element->host;
                if (value != &unknown && value->bytes > 0)
                        return NULL; /* twice */
                at = read_value(at + bytes + 1, value);
                if (!at)
                        return NULL;
                at = skip_space(at);
                if (*at != ';')
                        return *at == ',' || !*at ? at : NULL;
                at = skip_space(at + 1);
        }
}

static void read_forwarded_value(struct reading *reading, const char *at)
{
        const uint32_t flags = reading->trust->flags;
        struct element element;

        for (at = skip_space(at); *at; at = *at ? skip_space(at + 1) : at) {
                if (*at == ',')
                        continue;
                at = read_element(at, &element);
                if (!at) {
                        take_wrong(reading); /* no border of items can be trusted after it */
                        return;
                }
                if (!take_client(reading, element.client.text, element.client.bytes))
                        continue;
                if (flags & EDDY_HTTP_TRUST_PROTO)
                        set_scheme(reading->forwarded, element.proto.text, element.proto.bytes);
                if (flags & EDDY_HTTP_TRUST_HOST)
                        set_host(reading->forwarded, element.host.text, element.host.bytes);
        }
}

static void read_forwarded(struct reading *reading, eddy_http_exchange *exchange)
{
        struct eddy_http_header header;

        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++)
                if (strcasecmp(header.name, "Forwarded") == 0)
                        read_forwarded_value(reading, header.value);
}

void ed_http_forwarded_read(const struct ed_http_trust *trust, eddy_http_exchange *exchange,
                            struct ed_http_forwarded *forwarded)
{
        struct reading reading = { trust, forwarded, forwarded->client, true };

        if (trust->flags & EDDY_HTTP_TRUST_FORWARDED)
                read_forwarded(&reading, exchange);
        else
                read_x_forwarded(&reading, exchange);
}
