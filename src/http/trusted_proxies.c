/*
 * http/trusted_proxies.c - the middleware that finds the client through trusted proxies.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "http/exchange.h"
#include "http/forwarded.h"
#include "http/proxy.h"
#include "http/router.h"
#include "wire/http1_parts.h"

static int trusted_proxies(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const struct ed_http_forwarded *outer = exchange->forwarded;
        struct ed_http_forwarded forwarded;
        struct eddy_http_exchange_info info;
        int result;

        eddy_http_exchange_info(exchange, &info);
        forwarded.client = *info.peer;
        forwarded.scheme = NULL;
        forwarded.host[0] = '\0';
        ed_http_address_unmap(&forwarded.client.address);
        if (ed_http_trust_has(arg, &forwarded.client))
                ed_http_forwarded_read(arg, exchange, &forwarded);
        exchange->forwarded = &forwarded;
        result = eddy_http_next(exchange, next);
        exchange->forwarded = outer;
        return result;
}

/* ---- building -------------------------------------------------------------- */

/* A network of IPv4 that is mapped into IPv6 is that of IPv4: addresses are compared so. */
static void network_unmap(struct ed_http_network *network)
{
        const int family = network->address.family;

        ed_http_address_unmap(&network->address);
        if (network->address.family != family)
                network->bits -= 96;
}

/* Read "10.0.0.0/8", "10.1.2.3" or "2001:db8::/32". */
static bool network_parse(const char *text, size_t bytes, struct ed_http_network *ret_network)
{
        const char *slash = memchr(text, '/', bytes);
        size_t text_bytes = slash ? (size_t) (slash - text) : bytes;
        struct eddy_address *address = &ret_network->address;
        uint64_t bits;
        int width;

        if (!ed_http_proxy_address(text, text_bytes, address) || address->scope_id != 0)
                return false;
        width = memchr(text, ':', text_bytes) ? 128 : 32;
        bits = (uint64_t) width;
        if (slash && !ed_http1_length_parse(slash + 1, bytes - text_bytes - 1, &bits))
                return false;
        if (bits > (uint64_t) width)
                return false;
        ret_network->bits = (int) bits;
        for (int i = ret_network->bits; i < width; i++)
                if (address->bytes[i / 8] & 0x80 >> i % 8)
                        return false;
        network_unmap(ret_network);
        return true;
}

int eddy_http_use_trusted_proxies(eddy_http_router *router,
                                  const struct eddy_http_trusted_proxies_opts *opts)
{
        const char *networks = opts && opts->networks ? opts->networks : "";
        size_t at = 0, bytes = strlen(networks), count = 0;
        struct ed_http_trust *trust;
        struct eddy_slice item;
        bool valid = true;

        while (ed_http1_list_next(networks, bytes, &at, &item))
                count++;
        trust = ed_alloc(sizeof(*trust) + count * sizeof(trust->networks[0]));
        if (!trust)
                return ed_http_router_use_own(router, trusted_proxies, NULL, ed_free);
        trust->flags = opts ? opts->flags : 0;
        trust->count = 0;
        at = 0;
        while (valid && ed_http1_list_next(networks, bytes, &at, &item))
                valid = network_parse(item.data, item.bytes, &trust->networks[trust->count++]);
        if (valid)
                return ed_http_router_use_own(router, trusted_proxies, trust, ed_free);
        ed_free(trust);
        return ed_http_router_failed(
                router, -EINVAL,
                "the option 'networks' of eddy_http_use_trusted_proxies() has an "
                "item that is not an address or a network such as \"10.0.0.0/8\"");
}
