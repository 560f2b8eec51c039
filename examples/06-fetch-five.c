/*
 * 06-fetch-five - five requests at once through one client.
 *
 * The client is the session of aiohttp: it keeps connections and lends one to
 * each request.  A response holds its connection until it is closed, so
 * EDDY_AUTO closes the response on every way out of fetch().  Five answers of a
 * fifth of a second each take a fifth of a second together.
 *
 * Run: 06-fetch-five $MOCK/delay/0.2
 * Time: wall 0.2 s
 * Output:
 *     5 responses received
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { COUNT = 5 };

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
        err = eddy_gather(calls, COUNT, 0);
        if (err == 0)
                printf("%d responses received\n", COUNT);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        return argc == 2 && eddy_run(fetch_all, argv[1], NULL) == 0 ? 0 : 1;
}
