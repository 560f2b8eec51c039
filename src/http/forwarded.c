/*
 * http/forwarded.c - the client of a request, see eddy/http_forwarded.h, and whether a proxy is trusted.
 */
#include "http/forwarded.h"

#include <string.h>
#include <sys/socket.h>

#include "http/exchange.h"
#include "http/proxy.h"

const struct eddy_endpoint *eddy_http_exchange_client(eddy_http_exchange *exchange)
{
        struct eddy_http_exchange_info info;

        if (exchange->forwarded)
                return &exchange->forwarded->client;
        eddy_http_exchange_info(exchange, &info);
        return info.peer;
}

void eddy_http_exchange_client_text(eddy_http_exchange *exchange,
                                    char ret_text[EDDY_HTTP_CLIENT_BYTES])
{
        struct eddy_endpoint client = *eddy_http_exchange_client(exchange);
        char *end;

        ret_text[0] = '\0';
        if (client.kind == EDDY_ENDPOINT_NONE)
                return;
        if (client.kind == EDDY_ENDPOINT_IP)
                ed_http_address_unmap(&client.address);
        eddy_endpoint_format(&client, ret_text);
        if (client.kind != EDDY_ENDPOINT_IP)
                return;
        end = strrchr(ret_text, ':');
        if (ret_text[0] != '[') {
                *end = '\0';
                return;
        }
        end[-1] = '\0'; /* the bracket before it */
        memmove(ret_text, ret_text + 1, strlen(ret_text));
}

const char *eddy_http_exchange_scheme(eddy_http_exchange *exchange)
{
        struct eddy_http_exchange_info info;

        if (exchange->forwarded && exchange->forwarded->scheme)
                return exchange->forwarded->scheme;
        eddy_http_exchange_info(exchange, &info);
        return info.tls_version ? "https" : "http";
}

const char *eddy_http_exchange_client_host(eddy_http_exchange *exchange)
{
        if (exchange->forwarded && exchange->forwarded->host[0])
                return exchange->forwarded->host;
        return eddy_http_exchange_host(exchange);
}

void ed_http_address_unmap(struct eddy_address *address)
{
        static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

        if (address->family != AF_INET6 || memcmp(address->bytes, prefix, sizeof(prefix)) != 0)
                return;
        address->family = AF_INET;
        memmove(address->bytes, address->bytes + sizeof(prefix), 4);
        memset(address->bytes + 4, 0, sizeof(prefix));
}

bool ed_http_trust_has(const struct ed_http_trust *trust, const struct eddy_endpoint *endpoint)
{
        const struct eddy_address *address = &endpoint->address;

        if (endpoint->kind == EDDY_ENDPOINT_UNIX)
                return trust->flags & EDDY_HTTP_TRUST_UNIX;
        if (endpoint->kind != EDDY_ENDPOINT_IP)
                return false;
        for (size_t i = 0; i < trust->count; i++) {
                const struct ed_http_network *network = &trust->networks[i];

                if (network->address.family == address->family &&
                    ed_http_same_bits(network->address.bytes, address->bytes, network->bits))
                        return true;
        }
        return false;
}
