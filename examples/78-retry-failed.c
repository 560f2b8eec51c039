/*
 * 78-retry-failed - gather everything, keep the good results, and try again only
 * what failed.
 *
 * With EDDY_GATHER_KEEP_GOING a failure does not cancel the other calls, and each
 * job has its own result.  The next round consists of the jobs whose failure may be
 * temporary; a response that has arrived is not requested again, and a 404 is
 * final.  After three rounds the texts are in the order of the arguments, whichever
 * round they came from.  Each attempt has a limit of one second, which covers the
 * body.
 *
 * Run: 78-retry-failed $MOCK/bytes/3 "$MOCK/flaky/2?token=78a$$" $MOCK/bytes/5 "$MOCK/flaky/1?token=78b$$"
 * Time: wall 1.5 to 6 s
 * Output:
 *     round 1: 4 requests, 2 failed
 *     round 2: 2 requests, 1 failed
 *     round 3: 1 requests, 0 failed
 *     1: abc
 *     2: after 2 failures
 *     3: abcde
 *     4: after 1 failures
 * Run: 78-retry-failed $MOCK/bytes/3 $MOCK/status/404 "$MOCK/flaky/1?token=78c$$"
 * Exit: 1
 * Time: wall 0.5 to 5 s
 * Output:
 *     round 1: 3 requests, 2 failed
 *     round 2: 1 requests, 0 failed
 *     1: abc
 *     2: failed
 *     3: after 1 failures
 * Run: 78-retry-failed $MOCK/slow-body/10 $MOCK/bytes/3
 * Exit: 1
 * Time: wall 4.5 to 9 s
 * Output:
 *     round 1: 2 requests, 1 failed
 *     round 2: 1 requests, 1 failed
 *     round 3: 1 requests, 1 failed
 *     1: failed
 *     2: abc
 * Run: 78-retry-failed $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     round 1: 1 requests, 1 failed
 *     1: failed
 *     78-retry-failed: $MOCK/status/404: status 404 (usage: 78-retry-failed URL...)
 * Run: 78-retry-failed $MOCK/slow-body/10 2>&1
 * Exit: 1
 * Time: wall 4.5 s
 * Output:
 *     ...
 *     1: failed
 *     78-retry-failed: $MOCK/slow-body/10: not complete within 1 s (usage: 78-retry-failed URL...)
 * Run: 78-retry-failed http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 1.5 s
 * Output:
 *     ...
 *     78-retry-failed: http://127.0.0.1:1/: Connection refused (usage: 78-retry-failed URL...)
 * Run: timeout --foreground --preserve-status -s INT 0.5 78-retry-failed $MOCK/delay/10 2>&1
 * Exit: 130
 * Time: wall 0.5 s
 * Output:
 *     78-retry-failed: $MOCK/delay/10: stopped by Ctrl-C (usage: 78-retry-failed URL...)
 * Run: 78-retry-failed 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     78-retry-failed: give 1 to 20 URLs (usage: 78-retry-failed URL...)
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { JOBS_MAX = 20, ROUNDS = 3 };

struct job {
        const char *url;
        int result;                   /* the status, or an error; -EAGAIN at first */
        eddy_http_response *response; /* holds the text; NULL: the request failed */
        const void *text;
        size_t bytes;
};

static eddy_http_client *client;

static int fetch(void *arg)
{
        struct job *job = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = job->url };
        int status, err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                err = eddy_http_response_body(response, &job->text, &job->bytes);
        if (err < 0)
                return err;
        status = eddy_http_response_status(response);
        if (status < 400) {
                job->response = response;
                response = NULL; /* closed after the text was used */
        }
        return status;
}

static int attempt(void *arg)
{
        struct job *job = arg;

        job->result = eddy_call_timeout(fetch, job, EDDY_SEC(1));
        return job->result;
}

/* Whether the job was not tried yet, or another attempt may have a better result. */
static bool is_due(const struct job *job)
{
        return job->result < 0 ? eddy_retry_error_is_passing(job->result)
                               : eddy_retry_status_is_passing(job->result);
}

static int run_rounds(struct job *jobs, int count)
{
        for (int round = 1; round <= ROUNDS; round++) {
                struct eddy_call calls[JOBS_MAX];
                int err = 0, failed = 0;
                size_t n = 0;

                for (int i = 0; i < count; i++)
                        if (is_due(&jobs[i]))
                                calls[n++] = EDDY_CALL(attempt, &jobs[i]);
                if (n > 0 && round > 1)
                        err = eddy_sleep(EDDY_MS(500) * (round - 1));
                if (n == 0 || err < 0)
                        return err;
                err = eddy_gather(calls, n, EDDY_GATHER_KEEP_GOING);
                if (err < 0)
                        return err;
                for (size_t i = 0; i < n; i++)
                        failed += calls[i].result < 0 || calls[i].result >= 400;
                printf("round %d: %zu requests, %d failed\n", round, n, failed);
        }
        return 0;
}

/* Prints the texts; returns the first job that failed, or NULL. */
static const struct job *print_texts(const struct job *jobs, int count)
{
        const struct job *failed = NULL;

        for (int i = 0; i < count; i++) {
                const struct job *job = &jobs[i];

                if (job->response)
                        printf("%d: %.*s\n", i + 1, (int) strcspn(job->text, "\n"),
                               (const char *) job->text);
                else
                        printf("%d: failed\n", i + 1);
                failed = failed || job->response ? failed : job;
        }
        return failed;
}

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int result)
{
        fflush(stdout);
        fprintf(stderr, "78-retry-failed: %s: ", url);
        if (result >= 0)
                fprintf(stderr, "status %d", result);
        else if (result == -ETIMEDOUT)
                fputs("not complete within 1 s", stderr);
        else
                fputs(result == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(result), stderr);
        fputs(" (usage: 78-retry-failed URL...)\n", stderr);
        return result == -ECANCELED ? 130 : 1;
}

static int run(void *arg)
{
        char **urls = arg;
        struct job jobs[JOBS_MAX];
        const struct job *failed;
        int count = 0, status, err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return fail(urls[0], err);
        for (; urls[count]; count++)
                jobs[count] = (struct job){ .url = urls[count], .result = -EAGAIN };
        err = run_rounds(jobs, count);
        failed = err < 0 ? NULL : print_texts(jobs, count);
        status = err < 0 ? fail(urls[0], err) : failed ? fail(failed->url, failed->result) : 0;
        for (int i = 0; i < count; i++)
                eddy_http_response_close(jobs[i].response);
        eddy_http_client_close(client);
        return status;
}

int main(int argc, char **argv)
{
        int status;

        if (argc < 2 || argc > JOBS_MAX + 1) {
                fprintf(stderr,
                        "78-retry-failed: give 1 to %d URLs (usage: 78-retry-failed URL...)\n",
                        JOBS_MAX);
                return 1;
        }
        status = eddy_run(run, argv + 1, NULL);
        return status < 0 ? fail(argv[1], status) : status;
}
