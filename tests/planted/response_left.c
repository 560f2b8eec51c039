/*
 * response_left.c - a caller that finds that a page is missing forgets the response,
 * which keeps its connection.
 *
 * Environment: EDDY_DEBUG=1
 * Says: eddy_test: visit: left when the run ended:
 * Says: an HTTP response, made at look_up\S*
 * Says: eddy_test: visit: \d+ allocations left, of \d+ bytes: the first is number \d+
 */
#include <eddy/http_client.h>
#include <eddy/http_server.h>

#include "planted.h"

static int serve_nothing(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond(exchange, 404, NULL, 0, "none\n", 5);
}

static int serve(void *arg)
{
        return eddy_http_serve(arg, NULL, serve_nothing, NULL);
}

__attribute__((noinline)) int look_up(eddy_http_client *client, uint16_t port);
int look_up(eddy_http_client *client, uint16_t port)
{
        struct eddy_http_request request = { .method = "GET" };
        eddy_http_response *response;
        char url[64];
        int err, status;

        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", port);
        request.url = url;
        err = eddy_http_client_send(client, &request, &response);
        if (err < 0)
                return err;
        status = eddy_http_response_status(response);
        if (FAULT && status == 404)
                return status;
        eddy_http_response_close(response);
        return status;
}

static int visit(void *arg)
{
        eddy_listener *listener;
        eddy_http_client *client;
        eddy_scope scope;
        int err, status = 0;

        (void) arg;
        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err < 0)
                return err;
        err = eddy_http_client_new(NULL, &client);
        if (err == 0) {
                eddy_scope_begin(&scope, NULL);
                start(&scope, "server", serve, listener);
                status = look_up(client, eddy_listener_port(listener));
                eddy_scope_cancel(&scope);
                err = eddy_scope_end(&scope);
                eddy_http_client_close(client);
        }
        eddy_listener_close(listener);
        return err < 0 && err != -ECANCELED ? err : status;
}

int main(void)
{
        const struct eddy_test_opts opts = { .name = "visit" };

        return end(eddy_test_run(visit, NULL, &opts, NULL));
}
