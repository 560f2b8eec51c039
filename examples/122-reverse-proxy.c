/*
 * 122-reverse-proxy - passes requests on to healthy backends in turn.
 *
 * eddy_http_relay_request() and _response() (eddy/http_relay.h) pass on headers and bodies: of any
 * size, in both directions, in pieces.  An answer that breaks off at the backend breaks off at the
 * client too.  If a backend does not answer, a request with an idempotent method and without a body
 * goes to the next backend.  A GET /health each second decides whether a backend gets requests.
 * The proxy answers "Expect" itself, and an upgrade becomes a plain request.
 *
 * Run: D=$(mktemp -d); serve() { mkdir $D/$1; touch $D/$1/health; echo backend $1 >$D/$1/name; exec python3 -um http.server -b 127.0.0.1 -d $D/$1 0 >$D/log$1 2>&1; }; url() { until grep -os 'http://[0-9.:]*' $D/log$1; do sleep .05; done; }; serve 1 & P1=$!; serve 2 & P2=$!; 122-reverse-proxy 0 $(url 1) $(url 2) >$D/log3 & P3=$!; U=$(url 3); get() { for i in 1 2 3 4; do curl -s $U/name; done | sort | uniq -c | tr -s ' '; }; get; kill $P1; wait $P1; get; kill $P2 $P3; wait; rm -r $D
 * Time: wall 0 s
 * Output:
 *      2 backend 1
 *      2 backend 2
 *      4 backend 2
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

struct backend {
        const char *url;
        bool is_up;
};

static struct backend backends[16];
static unsigned count, turn;
static eddy_http_client *client;

/* Ask a backend each second whether it is healthy. */
static int check_health(void *arg)
{
        struct backend *backend = arg;
        char url[1000];
        struct eddy_http_request request = { .url = url, .timeouts.total_ns = EDDY_SEC(5) };

        snprintf(url, sizeof(url), "%s/health", backend->url);
        do {
                /* The call drops the answer's body; a status of 400 or above is an error. */
                backend->is_up = eddy_http_client_json(client, &request, NULL, NULL, NULL) == 0;
        } while (eddy_sleep(EDDY_SEC(1)) == 0);
        return 0;
}

/* Returns the next backend in turn that is up, or NULL. */
static const struct backend *next_backend(void)
{
        for (unsigned i = 0; i < count; i++)
                if (backends[++turn % count].is_up)
                        return &backends[turn % count];
        return NULL;
}

static int pass_on(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request;
        int err = -EHOSTDOWN;

        (void) arg;
        for (unsigned attempt = 0; attempt < count; attempt++) {
                const struct backend *backend = next_backend();

                if (!backend)
                        break;
                err = eddy_http_relay_request(exchange, backend->url, &request);
                if (err < 0)
                        break;
                err = eddy_http_client_send(client, &request, &response);
                if (err == 0)
                        return eddy_http_relay_response(exchange, response);
                if (request.body_source || !eddy_http_request_is_idempotent(&request))
                        break;
        }
        return eddy_http_relay_fail(exchange, err);
}

static int run(void *arg)
{
        /* With this flag, a client that leaves also ends its request to the backend. */
        const struct eddy_http_server_opts opts = { .body_bytes_max = UINT64_MAX,
                                                    .flags = EDDY_HTTP_SERVER_CANCEL_AT_END,
                                                    .drain_ns = EDDY_SEC(10) };
        const struct eddy_http_client_opts limits = { .connections_max = 1000,
                                                      .timeouts.connect_ns = EDDY_SEC(2),
                                                      .timeouts.read_ns = EDDY_SEC(60) };
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        char **args = arg;
        int err =
                eddy_tcp_listen("127.0.0.1", (uint16_t) strtoul(*args, NULL, 10), NULL, &listener);

        if (err < 0 || (err = eddy_http_client_new(&limits, &client)) < 0)
                return err;
        printf("http://127.0.0.1:%u\n", eddy_listener_port(listener));
        fflush(stdout);
        EDDY_SCOPE (scope, &err) {
                while (*++args && count < 16) {
                        backends[count] = (struct backend){ *args, true };
                        eddy_scope_start(&scope, check_health, &backends[count++]);
                }
                err = eddy_http_serve(listener, &opts, pass_on, NULL);
        }
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        if (argc < 3) {
                fprintf(stderr, "usage: 122-reverse-proxy PORT URL...\n");
                return 2;
        }
        return eddy_run(run, argv + 1, NULL) < 0 && !eddy_run_signal();
}
