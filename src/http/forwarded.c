/*
 * http/forwarded.c - the client of a request, see eddy/http_forwarded.h.
 */
#include "http/forwarded.h"

#include <string.h>

#include "http/exchange.h"

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
        const struct eddy_endpoint *client = eddy_http_exchange_client(exchange);
        char *end;

        ret_text[0] = '\0';
        if (client->kind == EDDY_ENDPOINT_NONE)
                return;
        eddy_endpoint_format(client, ret_text);
        if (client->kind != EDDY_ENDPOINT_IP)
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
