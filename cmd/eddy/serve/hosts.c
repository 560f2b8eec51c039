/*
 * serve/hosts.c - see hosts.h.
 *
 * A site can change the address of its name to 127.0.0.1 after its page was loaded (DNS rebinding).
 * The browser then lets the page read the files of a server on that address, as files of the site.
 * The Host of these requests is the name of the site, which cannot be an IP address or "localhost".
 */
#include "serve/hosts.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static bool is_v4(const char *text)
{
        struct in_addr v4;

        return inet_pton(AF_INET, text, &v4) == 1;
}

bool ed_serve_is_loopback(const char *address)
{
        struct in6_addr v6;

        if (inet_pton(AF_INET6, address, &v6) == 1)
                return IN6_IS_ADDR_LOOPBACK(&v6) ||
                       (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
        return is_v4(address) && strncmp(address, "127.", 4) == 0;
}

static bool is_equal(const char *name, size_t bytes, const char *other)
{
        return strlen(other) == bytes && strncasecmp(name, other, bytes) == 0;
}

static bool ends_in(const char *name, size_t bytes, const char *end)
{
        const size_t end_bytes = strlen(end);

        return bytes > end_bytes && is_equal(name + bytes - end_bytes, end_bytes, end);
}

bool ed_serve_host_is_known(const struct ed_serve_opts *opts, const char *host)
{
        size_t bytes = strcspn(host, ":");
        char v4[INET_ADDRSTRLEN];

        /* Browsers always send a Host. The server has already checked an address in brackets. */
        if (!host[0] || host[0] == '[')
                return true;
        if (bytes > 1 && host[bytes - 1] == '.')
                bytes--;
        if (bytes < sizeof(v4)) {
                memcpy(v4, host, bytes);
                v4[bytes] = '\0';
                if (is_v4(v4))
                        return true;
        }
        for (uint32_t i = 0; i < opts->hosts_count; i++)
                if (is_equal(host, bytes, opts->hosts[i]))
                        return true;
        return is_equal(host, bytes, "localhost") || ends_in(host, bytes, ".localhost");
}
