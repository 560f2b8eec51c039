/*
 * 11-many-requests - fifty slow requests: eight at a time, each attempt within
 * 2.5 seconds, up to three attempts; all texts are kept, in the order of the requests.
 *
 * Each limit is an option or an argument: at most eight requests are under way in
 * eddy_http_fetch_many(), total_ns bounds each attempt with its body, and the loop bounds
 * the number of attempts.  A second call with the same results sends only the requests
 * without a response.  Ctrl-C cancels the call; it does not return before every request
 * has released its connection, and the texts received so far are kept.
 *
 * The Python program of the course discards all texts if one request fails, repeats
 * requests that cannot succeed (400, 404), and makes its pauses longer by equal steps.
 * Here each request keeps its own result, only temporary failures lead to another
 * attempt, and pauses double.  (If many clients use one server, the pauses should also
 * have a random part.)  If several URLs are given, the requests take them in turn.
 *
 * Run: 11-many-requests $MOCK/delay/1
 * Time: wall 7 to 12 s
 * Output:
 *     50 successful responses received
 *     50 texts of 900 bytes, from {"delay_ms":1000} to {"delay_ms":1000}
 * Run: 11-many-requests $MOCK/delay/0.1 $MOCK/status/404
 * Exit: 1
 * Time: wall 0.4 to 4 s
 * Output:
 *     Overall error Failure in part of the requests 25 of 50
 *     25 texts of 425 bytes, from {"delay_ms":100} to {"delay_ms":100}
 * Run: 11-many-requests $(seq -f $MOCK/delay/0.%02g 49) $MOCK/slow-body/10
 * Exit: 1
 * Time: wall 9 to 16 s
 * Output:
 *     Overall error Failure in part of the requests 1 of 50
 *     49 texts of 824 bytes, from {"delay_ms":10} to {"delay_ms":490}
 * Run: 11-many-requests $MOCK/slow-body/10 $(seq -f $MOCK/delay/0.%02g 49) 2>&1
 * Exit: 1
 * Time: wall 9 s
 * Output:
 *     Overall error Failure in part of the requests 1 of 50
 *     49 texts of 824 bytes, from {"delay_ms":10} to {"delay_ms":490}
 *     11-many-requests: $MOCK/slow-body/10: the request was not complete within its time (usage: 11-many-requests URL...)
 * Run: 11-many-requests $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     Overall error Failure in part of the requests 50 of 50
 *     11-many-requests: $MOCK/status/404: status 404 (usage: 11-many-requests URL...)
 * Run: 11-many-requests $(seq -f $MOCK/delay/0.%02g 49) http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 1.5 s
 * Output:
 *     Overall error Failure in part of the requests 1 of 50
 *     49 texts of 824 bytes, from {"delay_ms":10} to {"delay_ms":490}
 *     11-many-requests: http://127.0.0.1:1/: Connection refused (usage: 11-many-requests URL...)
 * Run: timeout --foreground --preserve-status -s INT 1.8 11-many-requests $MOCK/delay/1 2>&1
 * Exit: 130
 * Time: wall 1.8 s
 * Output:
 *     8 texts of 144 bytes, from {"delay_ms":1000} to {"delay_ms":1000}
 *     11-many-requests: $MOCK/delay/1: stopped by Ctrl-C (usage: 11-many-requests URL...)
 * Run: 11-many-requests 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     11-many-requests: no URL (usage: 11-many-requests URL...)
 */
#include <stdbool.h>
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
                struct eddy_http_result *result = &results[i];

                if (result->error < 0 && eddy_retry_error_is_passing(result->error))
                        is_worthwhile = true;
                if (result->error < 0 || !eddy_retry_status_is_passing(result->status))
                        continue;
                eddy_http_results_fini(result, 1);
                is_worthwhile = true;
        }
        return is_worthwhile;
}

/* Returns 0 or -ECANCELED: a failed request is a result here. */
static int fetch_all(eddy_http_client *client)
{
        int64_t pause_ns = EDDY_MS(500);

        for (int attempt = 1;; attempt++, pause_ns *= 2) {
                int err = eddy_http_fetch_many(client, requests, REQUESTS, AT_ONCE, results);

                if (err == -ECANCELED)
                        return err;
                if (attempt == ATTEMPTS || !drop_passing())
                        return 0;
                err = eddy_sleep(pause_ns);
                if (err < 0)
                        return err;
        }
}

static bool has_text(const struct eddy_http_result *result)
{
        return result->error == 0 && result->status > 0 && result->status < 400;
}

/* Uses the texts; returns the place of the first failure, or -1. */
static int use_texts(bool is_complete)
{
        const char *first = NULL, *last = NULL;
        int good = 0, failed = -1;
        size_t bytes = 0;

        for (int i = 0; i < REQUESTS; i++) {
                if (!has_text(&results[i])) {
                        failed = failed < 0 ? i : failed;
                        continue;
                }
                first = first ? first : results[i].body;
                last = results[i].body;
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

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int error, int status)
{
        fflush(stdout);
        fprintf(stderr, "11-many-requests: %s: ", url);
        if (error == 0)
                fprintf(stderr, "status %d", status);
        else
                fputs(error == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(error), stderr);
        fputs(" (usage: 11-many-requests URL...)\n", stderr);
        return error == -ECANCELED ? 130 : 1;
}

static int run(void *arg)
{
        struct eddy_http_client_opts opts = { .connections_max = AT_ONCE,
                                              .timeouts.total_ns = EDDY_SEC(2.5) };
        char **urls = arg;
        eddy_http_client *client;
        int count = 0, failed, status = 0, err = eddy_http_client_new(&opts, &client);

        if (err < 0)
                return fail(urls[0], err, 0);
        while (urls[count])
                count++;
        for (int i = 0; i < REQUESTS; i++)
                requests[i].url = urls[i % count];
        err = fetch_all(client);
        failed = use_texts(err == 0);
        if (err < 0)
                status = fail(urls[0], err, 0);
        else if (failed >= 0)
                status = fail(requests[failed].url, results[failed].error, results[failed].status);
        eddy_http_results_fini(results, REQUESTS);
        eddy_http_client_close(client);
        return status;
}

int main(int argc, char **argv)
{
        int status;

        if (argc < 2) {
                fputs("11-many-requests: no URL (usage: 11-many-requests URL...)\n", stderr);
                return 1;
        }
        status = eddy_run(run, argv + 1, NULL);
        return status < 0 ? fail(argv[1], status, 0) : status;
}
