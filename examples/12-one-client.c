/*
 * 12-one-client - one client for all requests: at most twenty connections, all
 * within five seconds.
 *
 * A single call sends the forty requests, and has a result for each.  They use
 * twenty connections, each twice.  Requests that wait for a connection are served
 * first come, first served.  A client for each request would open forty connections
 * and use each of them once.  The limit of five seconds belongs to the scope: it
 * covers the wait for a connection and the bodies too.
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

static struct eddy_http_request requests[COUNT];
static struct eddy_http_result results[COUNT];
static int bad_status; /* of an answer that is a failure, or 0 */

static int fetch_all(eddy_http_client *client, const char *url)
{
        int err = 0;

        for (int i = 0; i < COUNT; i++)
                requests[i].url = url;
        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(SECONDS))
                err = eddy_http_fetch_many(client, requests, COUNT, COUNT, results);
        return err;
}

static int run(void *url)
{
        struct eddy_http_client_opts opts = { .connections_max = CONNECTIONS_MAX,
                                              .flags = EDDY_HTTP_STATUS_IS_ERROR };
        struct eddy_http_client_stats stats;
        eddy_http_client *client;
        int err = eddy_http_client_new(&opts, &client);

        if (err < 0)
                return err;
        err = fetch_all(client, url);
        eddy_http_client_stats(client, &stats);
        if (err == 0)
                printf("%" PRIu64 " requests over %" PRIu64 " connections\n", stats.requests,
                       stats.connections);
        for (int i = COUNT - 1; i >= 0; i--)
                if (results[i].error == EDDY_E_HTTP_STATUS)
                        bad_status = results[i].status;
        eddy_http_results_fini(results, COUNT);
        eddy_http_client_close(client);
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
