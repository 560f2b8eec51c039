/*
 * 07-timeout - a request that gets three seconds, from a server that takes five.
 *
 * The request has no timeout option.  eddy_call_timeout() puts the whole call
 * under a deadline: name, connection, request, headers and body together.
 * fetch() gets -ECANCELED from the call that it is in, and cleans up as for any
 * error.  The caller gets -ETIMEDOUT, which has no other meaning.
 *
 * Run: 07-timeout $MOCK/delay/5
 * Time: wall 3 s
 * Output:
 *     Timeout request stopped after 3 seconds
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct job {
        eddy_http_client *client;
        const char *url;
};

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
        if (err == 0)
                fwrite(text, 1, bytes, stdout);
        return err;
}

static int fetch_in_time(void *url)
{
        struct job job = { .url = url };
        int err = eddy_http_client_new(NULL, &job.client);

        if (err < 0)
                return err;
        err = eddy_call_timeout(fetch, &job, EDDY_SEC(3));
        eddy_http_client_close(job.client);
        if (err == -ETIMEDOUT) {
                puts("Timeout request stopped after 3 seconds");
                return 0;
        }
        return err;
}

int main(int argc, char **argv)
{
        return argc == 2 && eddy_run(fetch_in_time, argv[1], NULL) == 0 ? 0 : 1;
}
