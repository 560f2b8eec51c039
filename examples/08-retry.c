/*
 * 08-retry - up to three attempts of a second each, with pauses of a second
 * between them.
 *
 * A status of 500 is an answer, not an error of the transport, so the program
 * checks the status and tries again only after failures that may be temporary; a
 * 404 is not.  The deadline of an attempt covers the head and the body, because a
 * server may send the head at once and the body never.  When this task is
 * cancelled, the attempt or the pause returns at once, and no further attempt is
 * made.
 *
 * The Python program of the course opens a session for each attempt, treats any
 * status as a success, and sleeps once more after the last failure: three seconds
 * instead of two.
 *
 * Run: 08-retry $MOCK/status/200
 * Time: wall 0 s
 * Output:
 * Run: 08-retry "$MOCK/flaky/2?token=$$"
 * Time: wall 2 to 8 s
 * Output:
 *     Attempt 1 failed: status 503
 *     Attempt 2 failed: status 503
 * Run: 08-retry $MOCK/slow-body/10
 * Exit: 1
 * Time: wall 5 to 9 s
 * Output:
 *     Attempt 1 failed: not complete within 1 s
 *     Attempt 2 failed: not complete within 1 s
 *     Attempt 3 failed: not complete within 1 s
 * Run: 08-retry $MOCK/status/404
 * Exit: 1
 * Time: wall 0 to 1.9 s
 * Output:
 *     Attempt 1 failed: status 404
 */
#include <stdbool.h>
#include <stdio.h>

#include "eddy/eddy.h"

enum { ATTEMPTS = 3, SECONDS = 1 };

static eddy_http_client *client;

/* The status of the answer, or an error if there was none. */
static int fetch(void *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        int err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                err = eddy_http_response_discard(response);
        return err < 0 ? err : eddy_http_response_status(response);
}

static bool is_success(int result)
{
        return result >= 200 && result < 400;
}

/* Whether another attempt may have a better result. */
static bool may_pass(int result)
{
        return result < 0 ? eddy_retry_error_is_passing(result)
                          : eddy_retry_status_is_passing(result);
}

static void print_reason(FILE *file, int result)
{
        if (result >= 0)
                fprintf(file, "status %d", result);
        else if (result == -ETIMEDOUT)
                fprintf(file, "not complete within %d s", SECONDS);
        else
                fputs(result == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(result), file);
}

/* The result of the last attempt, or -ECANCELED. */
static int fetch_with_retry(void *url)
{
        for (int attempt = 1;; attempt++) {
                int err, result = eddy_call_timeout(fetch, url, EDDY_SEC(SECONDS));

                if (is_success(result) || result == -ECANCELED)
                        return result;
                printf("Attempt %d failed: ", attempt);
                print_reason(stdout, result);
                puts("");
                if (attempt == ATTEMPTS || !may_pass(result))
                        return result;
                err = eddy_sleep(EDDY_SEC(1));
                if (err < 0)
                        return err;
        }
}

static int run(void *url)
{
        int result = eddy_http_client_new(NULL, &client);

        if (result == 0)
                result = fetch_with_retry(url);
        eddy_http_client_close(client);
        return result;
}

int main(int argc, char **argv)
{
        int result;

        if (argc != 2) {
                fputs("08-retry: no URL (usage: 08-retry URL)\n", stderr);
                return 1;
        }
        result = eddy_run(run, argv[1], NULL);
        if (is_success(result))
                return 0;
        fflush(stdout);
        fprintf(stderr, "08-retry: %s: ", argv[1]);
        print_reason(stderr, result);
        fputs(" (usage: 08-retry URL)\n", stderr);
        return result == -ECANCELED ? 130 : 1;
}
