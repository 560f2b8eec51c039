/*
 * 11-many-requests - fifty slow requests: eight at a time, each attempt within 2.5 seconds, up to
 * three attempts; all texts are kept, in the order of the requests.
 *
 * A second call with the same results sends only the requests without a response.  Ctrl-C cancels
 * the call, which returns when each request has released its connection, and the texts are kept.
 * The Python program of the course discards all texts if one request fails, and repeats requests
 * that cannot succeed (400, 404).  Several URLs take turns.
 *
 * Run: 11-many-requests $MOCK/delay/1
 * Time: wall 7 to 12 s
 * Output:
 *     50 successful responses received
 *     50 texts of 900 bytes, from {"delay_ms":1000} to {"delay_ms":1000}
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { REQUESTS = 50, AT_ONCE = 8, ATTEMPTS = 3 };

static struct eddy_http_request requests[REQUESTS];
static struct eddy_http_result results[REQUESTS];

/* Drop the responses that another attempt may improve.  Returns whether one is worthwhile. */
static bool drop_passing(void)
{
        bool is_worthwhile = false;

        for (int i = 0; i < REQUESTS; i++) {
                if (results[i].error < 0) {
                        is_worthwhile |= eddy_retry_error_is_passing(results[i].error);
                } else if (eddy_retry_status_is_passing(results[i].status)) {
                        eddy_http_results_fini(&results[i], 1);
                        is_worthwhile = true;
                }
        }
        return is_worthwhile;
}

/* Returns 0 or -ECANCELED: a failed request is a result here. */
static int fetch_all(eddy_http_client *client)
{
        int err = eddy_http_fetch_many(client, requests, REQUESTS, AT_ONCE, results);

        for (int i = 1; i < ATTEMPTS && err != -ECANCELED && drop_passing(); i++) {
                err = eddy_sleep(EDDY_MS(250) << i);
                if (err == 0)
                        err = eddy_http_fetch_many(client, requests, REQUESTS, AT_ONCE, results);
        }
        return err == -ECANCELED ? err : 0;
}

/* Uses the texts; returns the place of the first failure, or -1. */
static int use_texts(bool is_complete)
{
        const char *first = NULL, *last = NULL;
        int good = 0, failed = -1;
        size_t bytes = 0;

        for (int i = REQUESTS - 1; i >= 0; i--) {
                if (results[i].error < 0 || results[i].status >= 400) {
                        failed = i;
                        continue;
                }
                first = results[i].body;
                last = last ? last : first;
                good++;
                bytes += results[i].body_bytes;
        }
        if (good == REQUESTS)
                printf("%d successful responses received\n", good);
        else if (is_complete)
                printf("Overall error Failure in part of the requests %d of %d\n", REQUESTS - good,
                       REQUESTS);
        if (first)
                printf("%d texts of %zu bytes, from %.*s to %.*s\n", good, bytes,
                       (int) strcspn(first, "\n"), first, (int) strcspn(last, "\n"), last);
        return failed;
}

static int run(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct eddy_http_client_opts opts = { .timeouts.total_ns = EDDY_SEC(2.5) };
        char **urls = arg;
        int count = 0, failed, err = eddy_http_client_new(&opts, &client);

        if (err < 0)
                return err;
        while (urls[count])
                count++;
        for (int i = 0; i < REQUESTS; i++)
                requests[i].url = urls[i % count];
        err = fetch_all(client);
        failed = use_texts(err == 0);
        fflush(stdout);
        if (err == 0 && failed >= 0 && results[failed].error == 0)
                fprintf(stderr, "11-many-requests: %s: status %d\n", requests[failed].url,
                        results[failed].status);
        else if (err == 0 && failed >= 0)
                fprintf(stderr, "11-many-requests: %s: %s\n", requests[failed].url,
                        eddy_error_text(results[failed].error));
        eddy_http_results_fini(results, REQUESTS);
        return err < 0 ? err : failed >= 0;
}

int main(int argc, char **argv)
{
        int status = argc > 1 ? eddy_run(run, argv + 1, NULL) : -EINVAL;

        if (status < 0)
                fprintf(stderr, "11-many-requests: %s\n",
                        argc == 1              ? "no URL (usage: 11-many-requests URL...)"
                        : status == -ECANCELED ? "stopped by Ctrl-C"
                                               : eddy_error_text(status));
        return status == -ECANCELED ? 130 : status != 0;
}
