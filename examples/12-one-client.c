/*
 * 12-one-client - one client for all requests: at most twenty connections, all
 * within five seconds.
 *
 * Forty requests use twenty connections, each twice.  Requests that wait for a
 * connection are served first come, first served.  A client for each request
 * would open forty connections and use each of them once.  The five seconds are
 * the scope's: they cover the wait for a connection too.
 *
 * Run: 12-one-client $MOCK/delay/0.2
 * Time: wall 0.4 s
 * Output:
 *     40 requests over 20 connections
 */
#include <inttypes.h>
#include <stdio.h>

#include "eddy/eddy.h"

struct service {
        eddy_http_client *client;
        const char *url;
};

static int fetch(void *arg)
{
        struct service *service = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = service->url };
        int err = eddy_http_client_send(service->client, &request, &response);

        return err < 0 ? err : eddy_http_response_discard(response);
}

static int fetch_all(struct service *service)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(5) });
        for (int i = 0; i < 40; i++)
                eddy_scope_start(&scope, fetch, service);
        return eddy_scope_end(&scope);
}

static int run(void *url)
{
        struct eddy_http_client_opts opts = { .connections_max = 20 };
        struct service service = { .url = url };
        struct eddy_http_client_stats stats;
        int err = eddy_http_client_new(&opts, &service.client);

        if (err < 0)
                return err;
        err = fetch_all(&service);
        eddy_http_client_stats(service.client, &stats);
        printf("%" PRIu64 " requests over %" PRIu64 " connections\n", stats.requests,
               stats.connections);
        eddy_http_client_close(service.client);
        return err;
}

int main(int argc, char **argv)
{
        return argc == 2 && eddy_run(run, argv[1], NULL) == 0 ? 0 : 1;
}
