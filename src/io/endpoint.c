/*
 * io/endpoint.c - endpoints and their text.
 */
#include "eddy/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/def.h"
#include "eddy/error.h"
#include "io/dns_name.h"

#define UNIX_PREFIX "unix:"

/* An IPv6 address, '%', and a scope of ten digits. */
enum { ADDRESS_TEXT_BYTES = INET6_ADDRSTRLEN + 11, PORT_DIGITS_MAX = 5 };

static bool is_control(char c)
{
        return (unsigned char) c < 0x20 || c == 0x7f;
}

int eddy_endpoint_unix(const char *path, struct eddy_endpoint *ret_endpoint)
{
        struct eddy_endpoint endpoint = { .kind = EDDY_ENDPOINT_UNIX };
        size_t bytes = path ? strnlen(path, EDDY_ENDPOINT_PATH_MAX + 1) : 0;

        if (bytes == 0 || (bytes == 1 && path[0] == '@'))
                return EDDY_E_ENDPOINT_PATH;
        if (bytes > EDDY_ENDPOINT_PATH_MAX)
                return -ENAMETOOLONG;
        memcpy(endpoint.path, path, bytes);
        if (path[0] == '@')
                endpoint.path[0] = '\0';
        endpoint.path_bytes = (uint8_t) bytes;
        *ret_endpoint = endpoint;
        return 0;
}

static int parse_unix(const char *path, struct eddy_endpoint *ret_endpoint)
{
        for (const char *at = path; *at; at++)
                if (is_control(*at))
                        return EDDY_E_ENDPOINT_PATH;
        return eddy_endpoint_unix(path, ret_endpoint);
}

static int parse_port(const char *text, uint16_t *ret_port)
{
        uint32_t port = 0;
        int digits = 0;

        for (; text[digits] >= '0' && text[digits] <= '9' && digits < PORT_DIGITS_MAX; digits++)
                port = port * 10 + (uint32_t) (text[digits] - '0');
        if (digits == 0 || text[digits] || port > UINT16_MAX || (text[0] == '0' && digits > 1))
                return EDDY_E_ENDPOINT_PORT;
        *ret_port = (uint16_t) port;
        return 0;
}

/* Parse the 'bytes' of an address without brackets, of the given family. */
static int parse_address(const char *text, size_t bytes, uint16_t family,
                         struct eddy_address *ret_address)
{
        char copy[ADDRESS_TEXT_BYTES];

        if (bytes >= sizeof(copy))
                return EDDY_E_ENDPOINT_ADDRESS;
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        if (ed_address_parse(copy, ret_address) < 0 || ret_address->family != family)
                return EDDY_E_ENDPOINT_ADDRESS;
        return 0;
}

static int parse_ip(const char *text, struct eddy_endpoint *ret_endpoint)
{
        struct eddy_endpoint endpoint = { .kind = EDDY_ENDPOINT_IP };
        bool is_ipv6 = text[0] == '[';
        const char *start = text + is_ipv6;
        size_t bytes = strcspn(start, is_ipv6 ? "]" : ":");
        const char *end = start + bytes;
        int err;

        if (is_ipv6 && *end != ']')
                return EDDY_E_ENDPOINT_ADDRESS;
        err = parse_address(start, bytes, is_ipv6 ? AF_INET6 : AF_INET, &endpoint.address);
        if (err < 0)
                return err;
        end += is_ipv6;
        if (*end != ':')
                return EDDY_E_ENDPOINT_PORT;
        err = parse_port(end + 1, &endpoint.port);
        if (err == 0)
                *ret_endpoint = endpoint;
        return err;
}

int eddy_endpoint_parse(const char *text, struct eddy_endpoint *ret_endpoint)
{
        size_t prefix = strlen(UNIX_PREFIX);

        if (!text)
                return EDDY_E_ENDPOINT_ADDRESS;
        if (strncmp(text, UNIX_PREFIX, prefix) == 0)
                return parse_unix(text + prefix, ret_endpoint);
        return parse_ip(text, ret_endpoint);
}

static void format_unix(const struct eddy_endpoint *endpoint, char *ret_text)
{
        size_t bytes = endpoint->path_bytes <= EDDY_ENDPOINT_PATH_MAX ? endpoint->path_bytes : 0;
        bool is_name = bytes > 0 && endpoint->path[0] == '\0';
        int n = snprintf(ret_text, EDDY_ENDPOINT_TEXT_BYTES, "%s%s", UNIX_PREFIX,
                         is_name                                 ? "@"
                         : bytes > 0 && endpoint->path[0] == '@' ? "./"
                                                                 : "");
        char *at = ret_text + n;

        for (size_t i = is_name; i < bytes; i++)
                *at++ = is_control(endpoint->path[i]) ? '?' : endpoint->path[i];
        *at = '\0';
}

static void format_ip(const struct eddy_endpoint *endpoint, char *ret_text)
{
        const struct eddy_address *address = &endpoint->address;
        char text[INET6_ADDRSTRLEN] = "?", scope[16] = "";

        (void) inet_ntop(address->family, address->bytes, text, sizeof(text));
        if (address->scope_id)
                snprintf(scope, sizeof(scope), "%%%u", address->scope_id);
        snprintf(ret_text, EDDY_ENDPOINT_TEXT_BYTES,
                 address->family == AF_INET6 ? "[%s%s]:%u" : "%s%s:%u", text, scope,
                 endpoint->port);
}

void eddy_endpoint_format(const struct eddy_endpoint *endpoint,
                          char ret_text[EDDY_ENDPOINT_TEXT_BYTES])
{
        switch (endpoint->kind) {
        case EDDY_ENDPOINT_IP:
                format_ip(endpoint, ret_text);
                break;
        case EDDY_ENDPOINT_UNIX:
                format_unix(endpoint, ret_text);
                break;
        default:
                snprintf(ret_text, EDDY_ENDPOINT_TEXT_BYTES, "none");
        }
}

static bool is_same_address(const struct eddy_address *a, const struct eddy_address *b)
{
        return a->family == b->family && a->scope_id == b->scope_id &&
               memcmp(a->bytes, b->bytes, a->family == AF_INET ? 4 : sizeof(a->bytes)) == 0;
}

bool eddy_endpoint_is_equal(const struct eddy_endpoint *a, const struct eddy_endpoint *b)
{
        if (a->kind != b->kind)
                return false;
        switch (a->kind) {
        case EDDY_ENDPOINT_IP:
                return a->port == b->port && is_same_address(&a->address, &b->address);
        case EDDY_ENDPOINT_UNIX:
                return a->path_bytes > 0 && a->path_bytes == b->path_bytes &&
                       a->path_bytes <= EDDY_ENDPOINT_PATH_MAX &&
                       memcmp(a->path, b->path, a->path_bytes) == 0;
        default:
                return false;
        }
}
