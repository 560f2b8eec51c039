/*
 * 111-fetch-many - many requests in one call: results in order, and a second call for the failed.
 *
 * At most eight requests are in progress.  Each result has its own error, so a failure cancels no
 * other request.  A result with a response is kept: the second call with the same results sends
 * only the others.  A status is a response; this program clears the results that have one of 500
 * or above, and these requests are sent again too.
 *
 * Run: 111-fetch-many $MOCK/bytes/10 "$MOCK/flaky/1?token=111.$$" $MOCK/status/404 $MOCK/delay/0.1
 * Time: wall 0.6 to 6 s
 * Output:
 *     200 10 bytes
 *     200 <n> bytes
 *     404 <n> bytes
 *     200 <n> bytes
 * Run: 111-fetch-many $MOCK/bytes/10 http://127.0.0.1:1/
 * Exit: 1
 * Time: wall 1 to 5 s
 * Output:
 *     200 10 bytes
 *     Connection refused
 * Run: timeout --foreground --preserve-status -s INT 0.5 111-fetch-many $MOCK/bytes/10 $MOCK/delay/9 2>&1
 * Exit: 130
 * Time: wall 0.5 s
 * Output:
 *     200 10 bytes
 *     the scope was cancelled
 * Run: 111-fetch-many 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     111-fetch-many: the URLs are missing (usage: 111-fetch-many URL...)
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { URLS_MAX = 100, AT_ONCE = 8, ATTEMPTS = 3 };

static struct eddy_http_request requests[URLS_MAX];
static struct eddy_http_result results[URLS_MAX];

/* Drop the responses that another attempt may improve. Returns the number of failures. */
static int drop_failed(size_t n)
{
        int failed = 0;

        for (size_t i = 0; i < n; i++) {
                if (results[i].error == 0 && results[i].status < 500)
                        continue;
                failed++;
                if (results[i].error == 0)
                        eddy_http_results_fini(&results[i], 1);
        }
        return failed;
}

static int fetch_all(eddy_http_client *client, size_t n)
{
        int err = eddy_http_fetch_many(client, requests, n, AT_ONCE, results);

        for (int i = 1; i < ATTEMPTS && err != -ECANCELED && drop_failed(n) > 0; i++) {
                if (eddy_sleep(EDDY_MS(500)) < 0)
                        return -ECANCELED;
                err = eddy_http_fetch_many(client, requests, n, AT_ONCE, results);
        }
        return err;
}

static int run(void *arg)
{
        char **urls = arg;
        eddy_http_client *client;
        size_t n = 0;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        for (; urls[n] && n < URLS_MAX; n++)
                requests[n].url = urls[n];
        err = fetch_all(client, n);
        for (size_t i = 0; i < n; i++) {
                if (results[i].error < 0)
                        puts(eddy_error_text(results[i].error));
                else
                        printf("%d %zu bytes\n", results[i].status, results[i].body_bytes);
        }
        eddy_http_results_fini(results, n);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc < 2) {
                fputs("111-fetch-many: the URLs are missing (usage: 111-fetch-many URL...)\n",
                      stderr);
                return 1;
        }
        err = eddy_run(run, argv + 1, NULL);
        return err == -ECANCELED ? 130 : err < 0;
}
