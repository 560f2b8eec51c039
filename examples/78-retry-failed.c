/*
 * 78-retry-failed - gather everything, keep the good results, and try again only what failed.
 *
 * With eddy_http_fetch_many() each request has its own result; a failure cancels no other request.
 * The next round consists of the requests whose failure may be temporary; a 404 is final.  Texts
 * are in the order of the arguments.  Each attempt has a second, which covers the body.
 *
 * Run: 78-retry-failed $MOCK/bytes/3 "$MOCK/flaky/2?token=78a$$" "$MOCK/flaky/1?token=78b$$"
 * Time: wall 1.5 to 6 s
 * Output:
 *     round 1: 3 requests, 2 failed
 *     round 2: 2 requests, 1 failed
 *     round 3: 1 requests, 0 failed
 *     1: abc
 *     2: after 2 failures
 *     3: after 1 failures
 * Run: 78-retry-failed $MOCK/bytes/3 $MOCK/status/404 "$MOCK/flaky/1?token=78c$$"
 * Exit: 1
 * Time: wall 0.5 to 5 s
 * Output:
 *     round 1: 3 requests, 2 failed
 *     round 2: 1 requests, 0 failed
 *     1: abc
 *     2: status 404
 *     3: after 1 failures
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { URLS_MAX = 20, ROUNDS = 3 };

static struct eddy_http_result results[URLS_MAX]; /* in the order of the URLs */

/* Whether the request was not sent yet, or another attempt may have a better result. */
static bool is_due(const struct eddy_http_result *result)
{
        return result->error == EDDY_E_HTTP_STATUS ? eddy_retry_status_is_passing(result->status)
               : result->error < 0                 ? eddy_retry_error_is_passing(result->error)
                                                   : result->status == 0;
}

/* Send the requests that are due.  Returns 0 or -ECANCELED. */
static int run_round(eddy_http_client *client, char **urls, int count, int round)
{
        static struct eddy_http_request requests[URLS_MAX];
        struct eddy_http_result found[URLS_MAX] = { 0 };
        int places[URLS_MAX], n = 0, failed = 0, err = 0;

        for (int i = 0; i < count; i++)
                if (is_due(&results[i])) {
                        requests[n].url = urls[i];
                        places[n++] = i;
                }
        if (n > 0 && round > 1)
                err = eddy_sleep(EDDY_MS(500) * (round - 1));
        if (n == 0 || err < 0)
                return err;
        err = eddy_http_fetch_many(client, requests, n, 0, found);
        for (int i = 0; i < n; i++) {
                eddy_http_results_fini(&results[places[i]], 1);
                results[places[i]] = found[i];
                failed += found[i].error < 0;
        }
        if (err != -ECANCELED)
                printf("round %d: %d requests, %d failed\n", round, n, failed);
        return err == -ECANCELED ? err : 0;
}

/* Returns the number of failures. */
static int print_texts(int count)
{
        int failed = 0;

        for (int i = 0; i < count; i++) {
                int error = results[i].error;
                const char *text = error < 0 ? eddy_error_text(error) : results[i].body;

                failed += error < 0;
                if (error == EDDY_E_HTTP_STATUS)
                        printf("%d: status %d\n", i + 1, results[i].status);
                else
                        printf("%d: %.*s\n", i + 1, (int) strcspn(text, "\n"), text);
        }
        return failed;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct eddy_http_client_opts opts = { .timeouts.total_ns = EDDY_SEC(1),
                                              .flags = EDDY_HTTP_STATUS_IS_ERROR };
        char **urls = arg;
        int count = 0, err = eddy_http_client_new(&opts, &client);

        while (urls[count])
                count++;
        for (int round = 1; round <= ROUNDS && err >= 0; round++)
                err = run_round(client, urls, count, round);
        err = err < 0 ? err : print_texts(count) > 0;
        eddy_http_results_fini(results, count);
        return err;
}

int main(int argc, char **argv)
{
        int status;

        if (argc < 2 || argc > URLS_MAX + 1) {
                fprintf(stderr, "78-retry-failed: give 1 to %d URLs\n", URLS_MAX);
                return 1;
        }
        status = eddy_run(run, argv + 1, NULL);
        if (status < 0)
                fprintf(stderr, "78-retry-failed: %s\n",
                        status == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(status));
        return status == -ECANCELED ? 130 : status != 0;
}
