/*
 * 29-group-errors - requests in a group: all results after it, or what failed.
 *
 * The scope counts the failures and keeps the first sixteen, and the program
 * looks only when all have ended.  KEEP_GOING lets every request run to its
 * end, so two failures are two lines.  Python's TaskGroup, like a scope without
 * that flag, cancels the rest at the first, and `except*` sees only those that
 * failed in the same instant.
 *
 * A status of 404 is an answer; that it is a failure here is fetch_or_fail()'s
 * decision.
 *
 * Run: 29-group-errors $MOCK/delay/0.2 $MOCK/status/200 $MOCK/status/201
 * Time: wall 0.2 s
 * Output:
 *     200 200 201
 * Run: 29-group-errors $MOCK/delay/0.2 $MOCK/status/404 $MOCK/flaky/1?token=group
 * Exit: 1
 * Time: wall 0.2 s
 * Output:
 *     HTTP failure: $MOCK/status/404: 404
 *     HTTP failure: $MOCK/flaky/1?token=group: 503
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { COUNT = 3 };

static eddy_http_client *client;

/* The status, or an error if there was no answer. */
static int fetch(const char *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        int err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                err = eddy_http_response_discard(response);
        return err < 0 ? err : eddy_http_response_status(response);
}

struct job {
        const char *url;
        int result; /* the status, or why there is none */
};

static int fetch_or_fail(void *arg)
{
        struct job *job = arg;

        job->result = fetch(job->url);
        if (job->result < 0)
                return job->result;
        return job->result < 400 ? 0 : -EPROTO;
}

static void say_all(const struct job *jobs)
{
        printf("%d %d %d\n", jobs[0].result, jobs[1].result, jobs[2].result);
}

static void say_failures(const struct job *jobs)
{
        for (int i = 0; i < COUNT; i++)
                if (jobs[i].result < 0)
                        printf("HTTP failure: %s: %s\n", jobs[i].url,
                               eddy_error_text(jobs[i].result));
                else if (jobs[i].result >= 400)
                        printf("HTTP failure: %s: %d\n", jobs[i].url, jobs[i].result);
}

static int run(void *arg)
{
        struct eddy_scope_errors errors;
        struct job jobs[COUNT];
        char **urls = arg;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        EDDY_SCOPE (scope, &err, .flags = EDDY_SCOPE_KEEP_GOING, .errors = &errors) {
                for (int i = 0; i < COUNT; i++) {
                        jobs[i] = (struct job){ .url = urls[i], .result = -ECANCELED };
                        eddy_scope_start(&scope, fetch_or_fail, &jobs[i]);
                }
        }
        if (errors.count > 0)
                say_failures(jobs);
        else
                say_all(jobs);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        return argc == 1 + COUNT && eddy_run(run, argv + 1, NULL) == 0 ? 0 : 1;
}
