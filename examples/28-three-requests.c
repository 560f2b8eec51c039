/*
 * 28-three-requests - three requests one after another, then at once.
 *
 * Both halves call the same fetch().  In sequence, the answers take as long as
 * all waits together; gathered, as long as the longest, and the results are
 * still in the order of the requests.  A loop of waits is right only when each
 * needs the answer before it.
 *
 * Both halves share one client, so the second finds a connection open.  The
 * Python program this mirrors makes a client for each request.
 *
 * Run: 28-three-requests $MOCK/delay/0.6 $MOCK/delay/0.5 $MOCK/delay/0.4
 * Time: wall 2.1 s
 * Output:
 *     one by one
 *     {"delay_ms":600}
 *     {"delay_ms":500}
 *     {"delay_ms":400}
 *     at once
 *     {"delay_ms":600}
 *     {"delay_ms":500}
 *     {"delay_ms":400}
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { COUNT = 3 };

static eddy_http_client *client;

struct fetch {
        const char *url;
        char answer[256];
};

static int fetch(void *arg)
{
        struct fetch *fetch = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        const void *body;
        size_t bytes;
        int err = eddy_http_client_send(client, &(struct eddy_http_request){ .url = fetch->url },
                                        &response);

        if (err == 0)
                err = eddy_http_response_body(response, &body, &bytes);
        if (err < 0)
                return err;
        snprintf(fetch->answer, sizeof(fetch->answer), "%.*s", (int) bytes, (const char *) body);
        return 0;
}

static int one_by_one(struct fetch *fetches)
{
        puts("one by one");
        for (int i = 0; i < COUNT; i++) {
                int err = fetch(&fetches[i]);

                if (err < 0)
                        return err;
                fputs(fetches[i].answer, stdout);
        }
        return 0;
}

static int at_once(struct fetch *fetches)
{
        struct eddy_call calls[COUNT];
        int err;

        puts("at once");
        for (int i = 0; i < COUNT; i++)
                calls[i] = EDDY_CALL(fetch, &fetches[i]);
        err = eddy_gather(calls, COUNT, 0);
        for (int i = 0; i < COUNT && err == 0; i++)
                fputs(fetches[i].answer, stdout);
        return err;
}

static int run(void *arg)
{
        char **urls = arg;
        struct fetch fetches[COUNT];
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        for (int i = 0; i < COUNT; i++)
                fetches[i] = (struct fetch){ .url = urls[i] };
        err = one_by_one(fetches);
        if (err == 0)
                err = at_once(fetches);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        return argc == 1 + COUNT && eddy_run(run, argv + 1, NULL) == 0 ? 0 : 1;
}
