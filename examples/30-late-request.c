/*
 * 30-late-request - a request within five seconds, or a warning and no answer.
 *
 * The deadline covers the whole request: the connection, the head and the body.
 * The program distinguishes three outcomes without a try.  An answer in time is
 * printed.  If the answer is late, the scope returns -ETIMEDOUT, and the
 * program prints a warning and None.  After a cancel from outside,
 * fetch_in_time() passes on -ECANCELED like any other error; there is nothing
 * to re-raise.
 *
 * Run: 30-late-request $MOCK/delay/0.1
 * Time: wall 0.1 s
 * Output:
 *     {"delay_ms":100}
 * Run: 30-late-request $MOCK/delay/10
 * Time: wall 5 to 9 s
 * Output:
 *     warning: timeout on $MOCK/delay/10
 *     None
 * Run: 30-late-request $MOCK/slow-body/12
 * Time: wall 5 to 9 s
 * Output:
 *     warning: timeout on $MOCK/slow-body/12
 *     None
 * Run: 30-late-request 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     30-late-request: URL: missing (usage: 30-late-request URL)
 * Run: 30-late-request $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     30-late-request: $MOCK/status/404: status 404
 * Run: 30-late-request http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     30-late-request: http://127.0.0.1:1/: Connection refused
 * Run: timeout --foreground --preserve-status -s INT 1 30-late-request $MOCK/delay/10 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     30-late-request: $MOCK/delay/10: stopped by Ctrl-C
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct answer {
        eddy_http_response *response; /* has the body */
        const void *body;
        size_t bytes;
};

static int fetch(eddy_http_client *client, const char *url, struct answer *answer)
{
        struct eddy_http_request request = { .url = url };
        int err = eddy_http_client_send(client, &request, &answer->response);

        if (err == 0)
                err = eddy_http_response_body(answer->response, &answer->body, &answer->bytes);
        return err < 0 ? err : eddy_http_response_status(answer->response);
}

/* Returns the status, 0 if there was no answer in time, or an error. */
static int fetch_in_time(eddy_http_client *client, const char *url, struct answer *answer)
{
        int result;

        EDDY_SCOPE (scope, &result, .timeout_ns = EDDY_SEC(5))
                result = fetch(client, url, answer);
        if (result != -ETIMEDOUT)
                return result;
        printf("warning: timeout on %s\n", url);
        return 0;
}

static int run(void *url)
{
        struct answer answer = { 0 };
        eddy_http_client *client;
        int result = eddy_http_client_new(NULL, &client);

        if (result < 0)
                return result;
        result = fetch_in_time(client, url, &answer);
        if (result == 0)
                puts("None");
        else if (result > 0 && result < 400)
                fwrite(answer.body, 1, answer.bytes, stdout);
        eddy_http_response_close(answer.response);
        eddy_http_client_close(client);
        return result;
}

static int fail(const char *subject, const char *reason, int status)
{
        fprintf(stderr, "30-late-request: %s: %s\n", subject, reason);
        return status;
}

int main(int argc, char **argv)
{
        char reason[20];
        int result;

        if (argc != 2)
                return fail("URL", "missing (usage: 30-late-request URL)", 1);
        result = eddy_run(run, argv[1], NULL);
        if (result == -ECANCELED)
                return fail(argv[1], "stopped by Ctrl-C", 130);
        if (result < 0)
                return fail(argv[1], eddy_error_text(result), 1);
        snprintf(reason, sizeof(reason), "status %d", result);
        return result < 400 ? 0 : fail(argv[1], reason, 1);
}
