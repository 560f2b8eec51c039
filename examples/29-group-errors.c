/*
 * 29-group-errors - requests in a group: a failure cancels the rest, or all run to their end.
 *
 * A scope cancels its tasks at the first failure, as a TaskGroup of Python does, and waits
 * for them: the program continues when all have ended.  With `--all` the scope has
 * KEEP_GOING, and each request runs to its end, so two failures are printed on two lines.
 * The scope counts the failures and keeps the first sixteen.
 *
 * A status of 404 is an answer; fetch_or_fail() turns it into a failure here.  Each request
 * may take ten seconds, its body included.
 *
 * Run: 29-group-errors $MOCK/delay/0.2 $MOCK/status/200 $MOCK/status/201
 * Time: wall 0.2 s
 * Output:
 *     $MOCK/delay/0.2: 200
 *     $MOCK/status/200: 200
 *     $MOCK/status/201: 201
 * Run: 29-group-errors $MOCK/delay/60 $MOCK/status/404 $MOCK/delay/60
 * Exit: 1
 * Time: wall 0 to 8 s
 * Output:
 *     $MOCK/delay/60: cancelled
 *     $MOCK/status/404: HTTP failure 404
 *     $MOCK/delay/60: cancelled
 * Run: 29-group-errors --all $MOCK/delay/0.2 $MOCK/status/404 "$MOCK/flaky/1?token=29-$$"
 * Exit: 1
 * Time: wall 0.2 s
 * Output:
 *     $MOCK/delay/0.2: 200
 *     $MOCK/status/404: HTTP failure 404
 *     $MOCK/flaky/1?token=29-<n>: HTTP failure 503
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { COUNT = 3 };

static eddy_http_client *client;
static uint32_t flags; /* of the scope */
static struct eddy_scope_errors errors;

struct job {
        const char *url;
        int result; /* the status, or why there is none */
};

static int fetch_or_fail(void *arg)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct job *job = arg;
        struct eddy_http_request request = { .url = job->url };
        int err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                err = eddy_http_response_discard(response);
        job->result = err < 0 ? err : eddy_http_response_status(response);
        return err == 0 && job->result >= 400 ? -EPROTO : err;
}

static void print_result(const struct job *job)
{
        if (job->result >= 400)
                printf("%s: HTTP failure %d\n", job->url, job->result);
        else if (job->result >= 0)
                printf("%s: %d\n", job->url, job->result);
        else if (job->result == -ECANCELED)
                printf("%s: cancelled\n", job->url);
        else
                printf("%s: %s\n", job->url, eddy_error_text(job->result));
}

static int run(void *arg)
{
        struct eddy_http_client_opts opts = { .timeouts.total_ns = EDDY_SEC(10) };
        struct job jobs[COUNT];
        char **urls = arg;
        int err = eddy_http_client_new(&opts, &client);

        if (err < 0)
                return err;
        EDDY_SCOPE (scope, &err, .flags = flags, .errors = &errors) {
                for (int i = 0; i < COUNT; i++) {
                        jobs[i] = (struct job){ .url = urls[i], .result = -ECANCELED };
                        eddy_scope_start(&scope, fetch_or_fail, &jobs[i]);
                }
        }
        for (int i = 0; i < COUNT && err != -ECANCELED; i++)
                print_result(&jobs[i]);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        char reason[100] = "three URLs are needed (usage: 29-group-errors [--all] URL URL URL)";
        int err = -EINVAL;

        if (argc > 1 && strcmp(argv[1], "--all") == 0) {
                flags = EDDY_SCOPE_KEEP_GOING;
                argc--;
                argv++;
        }
        if (argc == 1 + COUNT) {
                err = eddy_run(run, argv + 1, NULL);
                snprintf(reason, sizeof(reason), "%s",
                         err == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(err));
        }
        if (errors.count > 0)
                snprintf(reason, sizeof(reason), "%d of %d requests failed", (int) errors.count,
                         COUNT);
        fflush(stdout);
        if (err < 0)
                fprintf(stderr, "29-group-errors: %s\n", reason);
        return err == -ECANCELED ? 130 : err < 0;
}
