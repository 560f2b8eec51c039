/*
 * 30-late-request - a request within five seconds, or a warning and no answer.
 *
 * Three ends are kept apart without a try.  In time: the answer.  Late: the
 * scope returns -ETIMEDOUT, which is a warning and not the end of the program.
 * Cancelled from outside: -ECANCELED, which fetch_in_time() passes on like any
 * other error; there is nothing to re-raise.
 *
 * Run: 30-late-request $MOCK/delay/0.1
 * Time: wall 0.1 s
 * Output:
 *     {"delay_ms":100}
 * Run: 30-late-request $MOCK/delay/10
 * Time: wall 5 s
 * Output:
 *     warning: timeout on $MOCK/delay/10
 *     None
 */
#include <stdio.h>

#include "eddy/eddy.h"

/* With its response still NULL when there was no answer in time. */
static int fetch_in_time(eddy_http_client *client, const char *url,
                         eddy_http_response **ret_response)
{
        struct eddy_http_request request = { .url = url };
        int err;

        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(5)) {
                err = eddy_http_client_send(client, &request, ret_response);
        }
        if (err == -ETIMEDOUT) {
                printf("warning: timeout on %s\n", url);
                return 0;
        }
        return err;
}

static int print_answer(eddy_http_response *response)
{
        const void *body;
        size_t bytes;
        int err = eddy_http_response_body(response, &body, &bytes);

        if (err == 0)
                fputs(body, stdout); /* a NUL follows it */
        return err;
}

static int run(void *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        eddy_http_client *client;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        err = fetch_in_time(client, url, &response);
        if (err == 0 && response)
                err = print_answer(response);
        else if (err == 0)
                puts("None");
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        return argc == 2 && eddy_run(run, argv[1], NULL) == 0 ? 0 : 1;
}
