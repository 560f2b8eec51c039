/*
 * 08-retry - up to three attempts, a second apart.
 *
 * A status of 500 is an answer, not an error of the transport, so the program
 * checks the status and repeats only what may pass: a 404 will not.  When this
 * task is cancelled, the attempt or the pause returns at once, and no further
 * attempt is made.
 *
 * The Python program this mirrors opens a session for each attempt, takes any
 * status for success, and sleeps once more after the last failure: three
 * seconds where two suffice.
 *
 * Run: 08-retry $MOCK/status/200
 * Time: wall 0 s
 * Output:
 * Run: 08-retry "$MOCK/flaky/2?token=$$"
 * Time: wall 2 s
 * Output:
 *     Attempt 1 failed: 503
 *     Attempt 2 failed: 503
 * Run: 08-retry $MOCK/status/503
 * Exit: 1
 * Time: wall 2 s
 * Output:
 *     Attempt 1 failed: 503
 *     Attempt 2 failed: 503
 *     Attempt 3 failed: 503
 * Run: 08-retry $MOCK/status/404
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     Attempt 1 failed: 404
 */
#include <stdbool.h>
#include <stdio.h>

#include "eddy/eddy.h"

enum { ATTEMPTS = 3 };

/* The status, or an error if there was no answer. */
static int fetch(eddy_http_client *client, const char *url)
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
        return result >= 200 && result < 300;
}

/* Whether another attempt may have a better result. */
static bool may_pass(int result)
{
        return (result < 0 && result != -ECANCELED) || result == 408 || result == 429 ||
               result >= 500;
}

static void say_why(int attempt, int result)
{
        if (result < 0)
                printf("Attempt %d failed: %s\n", attempt, eddy_error_text(result));
        else
                printf("Attempt %d failed: %d\n", attempt, result);
}

static int fetch_with_retry(eddy_http_client *client, const char *url)
{
        for (int attempt = 1;; attempt++) {
                int err, result = fetch(client, url);

                if (is_success(result))
                        return 0;
                say_why(attempt, result);
                if (attempt == ATTEMPTS || !may_pass(result))
                        return result < 0 ? result : -EIO;
                err = eddy_sleep(EDDY_SEC(1));
                if (err < 0)
                        return err;
        }
}

static int run(void *url)
{
        eddy_http_client *client;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        err = fetch_with_retry(client, url);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        return argc == 2 && eddy_run(run, argv[1], NULL) == 0 ? 0 : 1;
}
