/*
 * 06-fetch-five - five requests at once through one client.
 *
 * The client has the role of aiohttp's session: it keeps connections and lends one
 * to each request.  A response holds its connection until it is read or closed;
 * EDDY_AUTO closes the response on every way out of fetch().  Five requests of a
 * second each take a second in total.
 *
 * The five requests share a limit of three seconds, which covers the bodies too.
 * A status of 400 or more is a failure, not an answer, and the first failure
 * cancels the other requests.
 *
 * Run: 06-fetch-five $MOCK/delay/1
 * Time: wall 1 to 4 s
 * Output:
 *     5 responses received
 * Run: 06-fetch-five $MOCK/status/500
 * Exit: 1
 * Time: wall 0 s
 * Output:
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { COUNT = 5, SECONDS = 3 };

static int bad_status; /* of an answer that is a failure, or 0 */

struct job {
        eddy_http_client *client;
        const char *url;
        size_t bytes;
};

static int fetch(void *arg)
{
        struct job *job = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = job->url };
        const void *text;
        int err = eddy_http_client_send(job->client, &request, &response);

        if (err == 0 && eddy_http_response_status(response) >= 400) {
                bad_status = eddy_http_response_status(response);
                err = -EIO;
        }
        return err < 0 ? err : eddy_http_response_body(response, &text, &job->bytes);
}

static int fetch_all(void *url)
{
        struct eddy_call calls[COUNT];
        struct job jobs[COUNT];
        eddy_http_client *client;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        for (int i = 0; i < COUNT; i++) {
                jobs[i] = (struct job){ .client = client, .url = url };
                calls[i] = EDDY_CALL(fetch, &jobs[i]);
        }
        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(SECONDS))
                err = eddy_gather(calls, COUNT, 0);
        eddy_http_client_close(client);
        if (err == 0)
                printf("%d responses received\n", COUNT);
        return err;
}

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int err)
{
        fprintf(stderr, "06-fetch-five: %s: ", url);
        if (err == -ECANCELED)
                fputs("stopped by Ctrl-C", stderr);
        else if (err == -ETIMEDOUT)
                fprintf(stderr, "not complete within %d s", SECONDS);
        else if (bad_status)
                fprintf(stderr, "status %d", bad_status);
        else
                fputs(eddy_error_text(err), stderr);
        fputs(" (usage: 06-fetch-five URL)\n", stderr);
        return err == -ECANCELED ? 130 : 1;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2) {
                fputs("06-fetch-five: no URL (usage: 06-fetch-five URL)\n", stderr);
                return 1;
        }
        err = eddy_run(fetch_all, argv[1], NULL);
        return err < 0 ? fail(argv[1], err) : 0;
}
