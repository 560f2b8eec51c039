/*
 * 78-retry-failed - gather everything, keep the good results, and try again only
 * what failed.
 *
 * With eddy_http_fetch_many() a failure does not cancel the other requests, and each
 * request has its own result.  The next round consists of the requests whose failure may
 * be temporary; a response that has arrived is not requested again, and a 404 is final.
 * After three rounds the texts are in the order of the arguments, whichever round they
 * came from.  Each attempt has a limit of one second, which covers the body.
 *
 * Run: 78-retry-failed $MOCK/bytes/3 "$MOCK/flaky/2?token=78a$$" $MOCK/bytes/5 "$MOCK/flaky/1?token=78b$$"
 * Time: wall 1.5 to 6 s
 * Output:
 *     round 1: 4 requests, 2 failed
 *     round 2: 2 requests, 1 failed
 *     round 3: 1 requests, 0 failed
 *     1: abc
 *     2: after 2 failures
 *     3: abcde
 *     4: after 1 failures
 * Run: 78-retry-failed $MOCK/bytes/3 $MOCK/status/404 "$MOCK/flaky/1?token=78c$$"
 * Exit: 1
 * Time: wall 0.5 to 5 s
 * Output:
 *     round 1: 3 requests, 2 failed
 *     round 2: 1 requests, 0 failed
 *     1: abc
 *     2: failed
 *     3: after 1 failures
 * Run: 78-retry-failed $MOCK/slow-body/10 $MOCK/bytes/3
 * Exit: 1
 * Time: wall 4.5 to 9 s
 * Output:
 *     round 1: 2 requests, 1 failed
 *     round 2: 1 requests, 1 failed
 *     round 3: 1 requests, 1 failed
 *     1: failed
 *     2: abc
 * Run: 78-retry-failed $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     round 1: 1 requests, 1 failed
 *     1: failed
 *     78-retry-failed: $MOCK/status/404: status 404 (usage: 78-retry-failed URL...)
 * Run: 78-retry-failed $MOCK/slow-body/10 2>&1
 * Exit: 1
 * Time: wall 4.5 s
 * Output:
 *     ...
 *     1: failed
 *     78-retry-failed: $MOCK/slow-body/10: the request was not complete within its time (usage: 78-retry-failed URL...)
 * Run: 78-retry-failed http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 1.5 s
 * Output:
 *     ...
 *     78-retry-failed: http://127.0.0.1:1/: Connection refused (usage: 78-retry-failed URL...)
 * Run: timeout --foreground --preserve-status -s INT 0.5 78-retry-failed $MOCK/delay/10 2>&1
 * Exit: 130
 * Time: wall 0.5 s
 * Output:
 *     78-retry-failed: $MOCK/delay/10: stopped by Ctrl-C (usage: 78-retry-failed URL...)
 * Run: 78-retry-failed 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     78-retry-failed: give 1 to 20 URLs (usage: 78-retry-failed URL...)
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { URLS_MAX = 20, ROUNDS = 3 };

static struct eddy_http_result results[URLS_MAX]; /* in the order of the URLs */

/* Whether the request was not sent yet, or another attempt may have a better result. */
static bool is_due(const struct eddy_http_result *result)
{
        return result->error < 0 ? eddy_retry_error_is_passing(result->error)
                                 : eddy_retry_status_is_passing(result->status);
}

static bool has_failed(const struct eddy_http_result *result)
{
        return result->error < 0 || result->status >= 400;
}

/* Send the requests that are due; returns their number. */
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
                failed += has_failed(&found[i]);
        }
        if (err == -ECANCELED)
                return err;
        printf("round %d: %d requests, %d failed\n", round, n, failed);
        return n;
}

/* Prints the texts; returns the place of the first failure, or -1. */
static int print_texts(int count)
{
        int failed = -1;

        for (int i = 0; i < count; i++) {
                if (!has_failed(&results[i]))
                        printf("%d: %.*s\n", i + 1, (int) strcspn(results[i].body, "\n"),
                               results[i].body);
                else
                        printf("%d: failed\n", i + 1);
                if (failed < 0 && has_failed(&results[i]))
                        failed = i;
        }
        return failed;
}

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int error, int status)
{
        fflush(stdout);
        fprintf(stderr, "78-retry-failed: %s: ", url);
        if (error == 0)
                fprintf(stderr, "status %d", status);
        else
                fputs(error == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(error), stderr);
        fputs(" (usage: 78-retry-failed URL...)\n", stderr);
        return error == -ECANCELED ? 130 : 1;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct eddy_http_client_opts opts = { .timeouts.total_ns = EDDY_SEC(1) };
        char **urls = arg;
        int count = 0, status = 0, failed, err = eddy_http_client_new(&opts, &client);

        for (; urls[count]; count++)
                results[count].error = -EAGAIN;
        for (int round = 1; round <= ROUNDS && err >= 0; round++)
                err = run_round(client, urls, count, round);
        failed = err < 0 ? -1 : print_texts(count);
        if (err < 0)
                status = fail(urls[0], err, 0);
        else if (failed >= 0)
                status = fail(urls[failed], results[failed].error, results[failed].status);
        eddy_http_results_fini(results, count);
        return status;
}

int main(int argc, char **argv)
{
        int status;

        if (argc < 2 || argc > URLS_MAX + 1) {
                fprintf(stderr,
                        "78-retry-failed: give 1 to %d URLs (usage: 78-retry-failed URL...)\n",
                        URLS_MAX);
                return 1;
        }
        status = eddy_run(run, argv + 1, NULL);
        return status < 0 ? fail(argv[1], status, 0) : status;
}
