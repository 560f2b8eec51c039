/*
 * 12-one-client - one client for all requests: at most twenty connections, all
 * within five seconds.
 *
 * Forty requests use twenty connections, each twice.  Requests that wait for a
 * connection are served first come, first served.  A client for each request
 * would open forty connections and use each of them once.  The limit of five
 * seconds belongs to the scope: it covers the wait for a connection and the
 * bodies too.
 *
 * Run: 12-one-client $MOCK/delay/0.2
 * Time: wall 0.4 to 5 s
 * Output:
 *     40 requests over 20 connections
 * Run: 12-one-client $MOCK/slow-body/10
 * Exit: 1
 * Time: wall 5 to 9 s
 * Output:
 * Run: 12-one-client $MOCK/slow-body/10 2>&1
 * Exit: 1
 * Time: wall 5 s
 * Output:
 *     12-one-client: $MOCK/slow-body/10: not complete within 5 s (usage: 12-one-client URL)
 * Run: 12-one-client $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     12-one-client: $MOCK/status/404: status 404 (usage: 12-one-client URL)
 * Run: 12-one-client http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     12-one-client: http://127.0.0.1:1/: Connection refused (usage: 12-one-client URL)
 * Run: timeout --foreground --preserve-status -s INT 1 12-one-client $MOCK/delay/10 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     12-one-client: $MOCK/delay/10: stopped by Ctrl-C (usage: 12-one-client URL)
 * Run: 12-one-client 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     12-one-client: no URL (usage: 12-one-client URL)
 */
#include <inttypes.h>
#include <stdio.h>

#include "eddy/eddy.h"

enum { COUNT = 40, CONNECTIONS_MAX = 20, SECONDS = 5 };

struct service {
        eddy_http_client *client;
        const char *url;
};

static int bad_status; /* of an answer that is a failure, or 0 */

static int fetch(void *arg)
{
        struct service *service = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = service->url };
        int err = eddy_http_client_send(service->client, &request, &response);

        if (err == 0 && eddy_http_response_status(response) >= 400) {
                bad_status = eddy_http_response_status(response);
                err = -EIO;
        }
        return err < 0 ? err : eddy_http_response_discard(response);
}

static int fetch_all(struct service *service)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(SECONDS) });
        for (int i = 0; i < COUNT; i++)
                eddy_scope_start(&scope, fetch, service);
        return eddy_scope_end(&scope);
}

static int run(void *url)
{
        struct eddy_http_client_opts opts = { .connections_max = CONNECTIONS_MAX };
        struct service service = { .url = url };
        struct eddy_http_client_stats stats;
        int err = eddy_http_client_new(&opts, &service.client);

        if (err < 0)
                return err;
        err = fetch_all(&service);
        eddy_http_client_stats(service.client, &stats);
        if (err == 0)
                printf("%" PRIu64 " requests over %" PRIu64 " connections\n", stats.requests,
                       stats.connections);
        eddy_http_client_close(service.client);
        return err;
}

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int err)
{
        fprintf(stderr, "12-one-client: %s: ", url);
        if (err == -ECANCELED)
                fputs("stopped by Ctrl-C", stderr);
        else if (err == -ETIMEDOUT)
                fprintf(stderr, "not complete within %d s", SECONDS);
        else if (bad_status)
                fprintf(stderr, "status %d", bad_status);
        else
                fputs(eddy_error_text(err), stderr);
        fputs(" (usage: 12-one-client URL)\n", stderr);
        return err == -ECANCELED ? 130 : 1;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2) {
                fputs("12-one-client: no URL (usage: 12-one-client URL)\n", stderr);
                return 1;
        }
        err = eddy_run(run, argv[1], NULL);
        return err < 0 ? fail(argv[1], err) : 0;
}
