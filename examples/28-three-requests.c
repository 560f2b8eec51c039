/*
 * 28-three-requests - three requests one after another, then at once.
 *
 * Both halves call the same fetch().  In sequence, the answers take as long as
 * all waits together; gathered, as long as the longest, and the results are
 * still in the order of the requests.  A loop of waits is right only if each
 * request needs the previous answer.
 *
 * Both halves share one client, so the second finds a connection open.  The
 * Python program of the course makes a client for each request.  Each request
 * may take ten seconds, its body included, and each status but 2xx is a failure.
 *
 * Run: 28-three-requests $MOCK/delay/3 $MOCK/delay/2.9 $MOCK/delay/2.8
 * Time: wall 11.7 to 17 s
 * Output:
 *     one by one
 *     {"delay_ms":3000}
 *     {"delay_ms":2900}
 *     {"delay_ms":2800}
 *     at once
 *     {"delay_ms":3000}
 *     {"delay_ms":2900}
 *     {"delay_ms":2800}
 * Run: 28-three-requests $MOCK/bytes/100000 $MOCK/bytes/300 $MOCK/bytes/0 | wc -c
 * Time: wall 0 s
 * Output:
 *     200619
 * Run: 28-three-requests $MOCK/delay/0.1 $MOCK/status/404 $MOCK/delay/0.1
 * Exit: 1
 * Time: wall 0.1 s
 * Output:
 *     one by one
 *     {"delay_ms":100}
 * Run: 28-three-requests $MOCK/status/302 $MOCK/delay/9 $MOCK/delay/9
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     one by one
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { COUNT = 3 };

static eddy_http_client *client;
static char failure[400]; /* the first one, for main() */

struct fetch {
        const char *url;
        eddy_http_response *response; /* has the body */
        const void *body;
        size_t bytes;
};

/* 'result' is an error or a status. */
static int fail(const char *url, int result)
{
        if (result < 0 && result != -ECANCELED && !failure[0])
                snprintf(failure, sizeof(failure), "%s: %s", url, eddy_error_text(result));
        else if (result >= 0 && !failure[0])
                snprintf(failure, sizeof(failure), "%s: status %d", url, result);
        return result < 0 ? result : -EPROTO;
}

static int fetch(void *arg)
{
        struct fetch *fetch = arg;
        struct eddy_http_request request = { .url = fetch->url };
        int result = eddy_http_client_send(client, &request, &fetch->response);

        if (result == 0)
                result = eddy_http_response_body(fetch->response, &fetch->body, &fetch->bytes);
        if (result == 0)
                result = eddy_http_response_status(fetch->response);
        return result / 100 == 2 ? 0 : fail(fetch->url, result);
}

static void print_answer(const struct fetch *fetch)
{
        fwrite(fetch->body, 1, fetch->bytes, stdout);
}

static int one_by_one(struct fetch *fetches)
{
        puts("one by one");
        for (int i = 0; i < COUNT; i++) {
                int err = fetch(&fetches[i]);

                if (err < 0)
                        return err;
                print_answer(&fetches[i]);
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
                print_answer(&fetches[i]);
        return err;
}

static int try_with(int (*way)(struct fetch *fetches), char **urls)
{
        struct fetch fetches[COUNT];
        int err;

        for (int i = 0; i < COUNT; i++)
                fetches[i] = (struct fetch){ .url = urls[i] };
        err = way(fetches);
        for (int i = 0; i < COUNT; i++)
                eddy_http_response_close(fetches[i].response);
        return err;
}

static int run(void *urls)
{
        struct eddy_http_client_opts opts = { .timeouts.total_ns = EDDY_SEC(10) };
        int err = eddy_http_client_new(&opts, &client);

        if (err == 0)
                err = try_with(one_by_one, urls);
        if (err == 0)
                err = try_with(at_once, urls);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        bool is_complete = argc == 1 + COUNT;
        int err = is_complete ? eddy_run(run, argv + 1, NULL) : -EINVAL;
        const char *reason =
                !is_complete        ? "three URLs are needed (usage: 28-three-requests URL URL URL)"
                : failure[0]        ? failure
                : err == -ECANCELED ? "stopped by Ctrl-C"
                                    : eddy_error_text(err);

        fflush(stdout);
        if (err < 0)
                fprintf(stderr, "28-three-requests: %s\n", reason);
        return err == -ECANCELED ? 130 : err < 0;
}
