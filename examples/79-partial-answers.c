/*
 * 79-partial-answers - when the time is up, the answers that are complete are
 * returned in order, and the other requests are cancelled and named.
 *
 * All requests have one deadline, a second from the start.  When it passes, the
 * scope cancels the requests that still run and returns -ETIMEDOUT, which is not a
 * failure here.  Each complete answer is in the caller's array.  A body that has
 * arrived in part is not an answer.  With EDDY_SCOPE_KEEP_GOING a request that fails
 * does not cancel the others; the program fails if no answer is complete.
 *
 * Run: 79-partial-answers $MOCK/delay/0.5 $MOCK/delay/5 $MOCK/delay/0.1 $MOCK/slow-body/10
 * Time: wall 1 to 4 s
 * Output:
 *     $MOCK/delay/0.5: {"delay_ms":500}
 *     $MOCK/delay/5: cancelled
 *     $MOCK/delay/0.1: {"delay_ms":100}
 *     $MOCK/slow-body/10: cancelled
 * Run: 79-partial-answers $MOCK/delay/0.3 $MOCK/delay/0.1
 * Time: wall 0.3 s
 * Output:
 *     $MOCK/delay/0.3: {"delay_ms":300}
 *     $MOCK/delay/0.1: {"delay_ms":100}
 * Run: 79-partial-answers $MOCK/delay/5 $MOCK/status/404 $MOCK/delay/0.1
 * Exit: 1
 * Time: wall 1 to 4 s
 * Output:
 *     $MOCK/delay/5: cancelled
 *     $MOCK/status/404: failed
 *     $MOCK/delay/0.1: {"delay_ms":100}
 */
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { JOBS_MAX = 20 };

struct job {
        const char *url;
        int result;                   /* 0, a bad status, or an error; -ECANCELED: not in time */
        eddy_http_response *response; /* holds the text of a complete answer, or NULL */
        const void *text;
        size_t bytes;
};

static eddy_http_client *client;

static int fetch(void *arg)
{
        struct job *job = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = job->url };

        job->result = eddy_http_client_send(client, &request, &response);
        if (job->result == 0)
                job->result = eddy_http_response_body(response, &job->text, &job->bytes);
        if (job->result < 0)
                return job->result;
        if (eddy_http_response_status(response) >= 400) {
                job->result = eddy_http_response_status(response);
                return -EIO;
        }
        job->response = response;
        response = NULL; /* closed after the text was used */
        return 0;
}

/* Until all requests have ended or time is up.  Only a cancel from outside is an error here. */
static int fetch_all(struct job *jobs, int count)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_SEC(1), .flags = EDDY_SCOPE_KEEP_GOING };
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < count; i++)
                eddy_scope_start(&scope, fetch, &jobs[i]);
        err = eddy_scope_end(&scope);
        return err == -ECANCELED || err == -ENOMEM ? err : 0;
}

/* Prints all results; returns the job that makes the program fail, or NULL. */
static const struct job *print_answers(const struct job *jobs, int count)
{
        const struct job *failed = NULL;
        int good = 0;

        for (int i = 0; i < count; i++) {
                const struct job *job = &jobs[i];

                printf("%s: ", job->url);
                if (job->response)
                        printf("%.*s\n", (int) strcspn(job->text, "\n"), (const char *) job->text);
                else
                        puts(job->result == -ECANCELED ? "cancelled" : "failed");
                good += job->response != NULL;
                if (!failed && !job->response && job->result != -ECANCELED)
                        failed = job;
        }
        return failed || good > 0 ? failed : &jobs[0];
}

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int result)
{
        fflush(stdout);
        fprintf(stderr, "79-partial-answers: %s: ", url);
        if (result > 0)
                fprintf(stderr, "status %d", result);
        else if (result == -ETIMEDOUT)
                fputs("not complete within 1 s", stderr);
        else
                fputs(result == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(result), stderr);
        fputs(" (usage: 79-partial-answers URL...)\n", stderr);
        return result == -ECANCELED ? 130 : 1;
}

static int run(void *arg)
{
        char **urls = arg;
        struct job jobs[JOBS_MAX];
        const struct job *failed;
        int count = 0, status = 0, err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return fail(urls[0], err);
        for (; urls[count]; count++)
                jobs[count] = (struct job){ .url = urls[count], .result = -ECANCELED };
        err = fetch_all(jobs, count);
        failed = err < 0 ? NULL : print_answers(jobs, count);
        if (err < 0)
                status = fail(urls[0], err);
        else if (failed)
                status = fail(failed->url,
                              failed->result == -ECANCELED ? -ETIMEDOUT : failed->result);
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
                        "79-partial-answers: give 1 to %d URLs (usage: 79-partial-answers "
                        "URL...)\n",
                        JOBS_MAX);
                return 1;
        }
        status = eddy_run(run, argv + 1, NULL);
        return status < 0 ? fail(argv[1], status) : status;
}
