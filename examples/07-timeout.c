/*
 * 07-timeout - a request with a limit of three seconds, to a server that takes
 * five.
 *
 * The request has no timeout option.  eddy_call_timeout() puts the whole call
 * under a deadline: name lookup, connection, request, headers and body together.
 * A server that sends the head at once and the body slowly gets no more time
 * than one that does not answer.
 *
 * fetch() gets -ECANCELED from the call that it is in, and cleans up as after
 * any error.  The caller gets -ETIMEDOUT, which has no other meaning.  The
 * lesson expects the timeout here, so the program prints it and ends with 0.
 *
 * Run: 07-timeout $MOCK/delay/10
 * Time: wall 3 to 8 s
 * Output:
 *     Timeout request stopped after 3 seconds
 * Run: 07-timeout $MOCK/slow-body/10
 * Time: wall 3 to 8 s
 * Output:
 *     Timeout request stopped after 3 seconds
 * Run: 07-timeout $MOCK/delay/0.1
 * Time: wall 0.1 s
 * Output:
 *     {"delay_ms":100}
 * Run: 07-timeout $MOCK/status/500
 * Exit: 1
 * Time: wall 0 s
 * Output:
 * Run: 07-timeout $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     07-timeout: $MOCK/status/404: status 404 (usage: 07-timeout URL)
 * Run: 07-timeout http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     07-timeout: http://127.0.0.1:1/: Connection refused (usage: 07-timeout URL)
 * Run: timeout --foreground --preserve-status -s INT 1 07-timeout $MOCK/delay/10 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     07-timeout: $MOCK/delay/10: stopped by Ctrl-C (usage: 07-timeout URL)
 * Run: 07-timeout 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     07-timeout: no URL (usage: 07-timeout URL)
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct job {
        eddy_http_client *client;
        const char *url;
};

/* Prints the body; returns the status of the answer, or an error. */
static int fetch(void *arg)
{
        struct job *job = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = job->url };
        const void *text;
        size_t bytes;
        int err = eddy_http_client_send(job->client, &request, &response);

        if (err == 0)
                err = eddy_http_response_body(response, &text, &bytes);
        if (err < 0)
                return err;
        if (eddy_http_response_status(response) < 400)
                fwrite(text, 1, bytes, stdout);
        return eddy_http_response_status(response);
}

static int fetch_in_time(void *url)
{
        struct job job = { .url = url };
        int result = eddy_http_client_new(NULL, &job.client);

        if (result < 0)
                return result;
        result = eddy_call_timeout(fetch, &job, EDDY_SEC(3));
        eddy_http_client_close(job.client);
        return result;
}

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int result)
{
        fprintf(stderr, "07-timeout: %s: ", url);
        if (result > 0)
                fprintf(stderr, "status %d", result);
        else
                fputs(result == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(result), stderr);
        fputs(" (usage: 07-timeout URL)\n", stderr);
        return result == -ECANCELED ? 130 : 1;
}

int main(int argc, char **argv)
{
        int result;

        if (argc != 2) {
                fputs("07-timeout: no URL (usage: 07-timeout URL)\n", stderr);
                return 1;
        }
        result = eddy_run(fetch_in_time, argv[1], NULL);
        if (result == -ETIMEDOUT)
                puts("Timeout request stopped after 3 seconds");
        else if (result < 0 || result >= 400)
                return fail(argv[1], result);
        return 0;
}
