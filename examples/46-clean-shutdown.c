/*
 * 46-clean-shutdown - SIGTERM: stop accepting, finish what is under way within a
 * limit, close, exit 0.
 *
 * A task waits for the signal, which interrupts nothing.  Cancelling the
 * server's scope ends the accepting at once, and `drain_ns` is the time that
 * the five requests under way still get.  All five clients have their answers,
 * and later clients are refused.  No request is lost: neither dropped half-way
 * nor accepted and forgotten.
 *
 * Run: 46-clean-shutdown
 * Time: wall 1 s
 * Output:
 *     5 requests under way
 *     SIGTERM: closing
 *     5 answered, 0 lost
 *     a late client is refused: Connection refused
 */
#include <signal.h>
#include <stdio.h>

#include "eddy/eddy.h"

enum { CLIENTS = 5 };

static char url[64];
static int under_way, answered;

/* --- the service --- */

static int answer(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        if (++under_way == CLIENTS) {
                printf("%d requests under way\n", under_way);
                raise(SIGTERM); /* as the system would, when it shuts down */
        }
        if (eddy_sleep(EDDY_SEC(1)) < 0)
                return -ECANCELED; /* the limit has passed */
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "done\n", 5);
}

static int serve(void *listener)
{
        struct eddy_http_server_opts opts = { .drain_ns = EDDY_SEC(10) };

        return eddy_http_serve(listener, &opts, answer, NULL);
}

/* Serve until SIGTERM comes, finish what is under way, and close. */
static int serve_until_term(eddy_listener *listener, eddy_signal *term)
{
        int err;

        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, serve, listener);
                err = eddy_signal_wait(term);
                if (err == SIGTERM)
                        puts("SIGTERM: closing");
                eddy_scope_cancel(&scope);
        }
        eddy_listener_close(listener);
        return err < 0 ? err : 0;
}

/* --- its clients --- */

static int fetch(void *client)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        int err =
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response);

        if (err == 0)
                err = eddy_http_response_discard(response);
        if (err == 0)
                answered++;
        return err;
}

static int run_all(eddy_listener *listener, eddy_signal *term, eddy_http_client *client)
{
        int err;

        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(listener));
        EDDY_SCOPE (scope, &err) {
                for (int i = 0; i < CLIENTS; i++)
                        eddy_scope_start(&scope, fetch, client);
                err = serve_until_term(listener, term);
        }
        printf("%d answered, %d lost\n", answered, CLIENTS - answered);
        printf("a late client is refused: %s\n", eddy_error_text(fetch(client)));
        return err;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_signal) eddy_signal *term = NULL;
        eddy_listener *listener;
        eddy_http_client *client;
        int err = eddy_signal_open((int[]){ SIGTERM }, 1, &term);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_http_client_new(NULL, &client);
        if (err < 0)
                return err;
        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err == 0)
                err = run_all(listener, term, client);
        eddy_http_client_close(client);
        return err;
}

int main(void)
{
        return eddy_run(run, NULL, NULL) == 0 ? 0 : 1;
}
