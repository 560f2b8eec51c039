/*
 * 11-many-requests - fifty slow requests: eight at a time, each attempt within
 * 2.5 seconds, up to three attempts; all texts are kept, in the order of the requests.
 *
 * Each limit is one line.  The semaphore bounds how many requests are under way,
 * eddy_call_timeout() bounds each attempt with its body, and the loop bounds the
 * number of attempts.  A response that was read to its end has returned its
 * connection, and keeps its text until it is closed.  Ctrl-C cancels the scope; the
 * scope does not end before every request has released its connection.
 *
 * The Python program of the course discards all texts if one request fails, repeats
 * requests that cannot succeed (400, 404), and makes its pauses longer by equal steps.
 * Here each request keeps its own result, only temporary failures are tried again, and
 * pauses double.  (If many clients use one server, the pauses should also have a
 * random part.)  If several URLs are given, the requests take them in turn.
 *
 * Run: 11-many-requests $MOCK/delay/1
 * Time: wall 7 to 12 s
 * Output:
 *     50 successful responses received
 *     50 texts of 900 bytes, from {"delay_ms":1000} to {"delay_ms":1000}
 * Run: 11-many-requests $MOCK/delay/0.1 $MOCK/status/404
 * Exit: 1
 * Time: wall 0.4 to 4 s
 * Output:
 *     Overall error Failure in part of the requests 25 of 50
 *     25 texts of 425 bytes, from {"delay_ms":100} to {"delay_ms":100}
 * Run: 11-many-requests $(seq -f $MOCK/delay/0.%02g 49) $MOCK/slow-body/10
 * Exit: 1
 * Time: wall 9 to 16 s
 * Output:
 *     Overall error Failure in part of the requests 1 of 50
 *     49 texts of 824 bytes, from {"delay_ms":10} to {"delay_ms":490}
 * Run: 11-many-requests $MOCK/slow-body/10 $(seq -f $MOCK/delay/0.%02g 49) 2>&1
 * Exit: 1
 * Time: wall 9 s
 * Output:
 *     Overall error Failure in part of the requests 1 of 50
 *     49 texts of 824 bytes, from {"delay_ms":10} to {"delay_ms":490}
 *     11-many-requests: $MOCK/slow-body/10: not complete within 2.5 s (usage: 11-many-requests URL...)
 * Run: 11-many-requests $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     Overall error Failure in part of the requests 50 of 50
 *     11-many-requests: $MOCK/status/404: status 404 (usage: 11-many-requests URL...)
 * Run: 11-many-requests $(seq -f $MOCK/delay/0.%02g 49) http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 1.5 s
 * Output:
 *     Overall error Failure in part of the requests 1 of 50
 *     49 texts of 824 bytes, from {"delay_ms":10} to {"delay_ms":490}
 *     11-many-requests: http://127.0.0.1:1/: Connection refused (usage: 11-many-requests URL...)
 * Run: timeout --foreground --preserve-status -s INT 1.5 11-many-requests $MOCK/delay/1 2>&1
 * Exit: 130
 * Time: wall 1.5 s
 * Output:
 *     8 texts of 144 bytes, from {"delay_ms":1000} to {"delay_ms":1000}
 *     11-many-requests: $MOCK/delay/1: stopped by Ctrl-C (usage: 11-many-requests URL...)
 * Run: 11-many-requests 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     11-many-requests: no URL (usage: 11-many-requests URL...)
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { REQUESTS = 50, AT_ONCE = 8, ATTEMPTS = 3 };

static eddy_semaphore room = EDDY_SEMAPHORE(AT_ONCE, 0);
static eddy_http_client *client;

struct job {
        const char *url;
        int result;                   /* the status, or why there is none */
        eddy_http_response *response; /* holds the text; NULL: the request failed */
        const void *text;
        size_t bytes;
};

static int fetch_once(void *arg)
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

static bool may_pass(int result)
{
        return result < 0 ? eddy_retry_error_is_passing(result)
                          : eddy_retry_status_is_passing(result);
}

static int fetch_with_retry(struct job *job)
{
        int64_t pause_ns = EDDY_MS(500);

        for (int attempt = 1;; attempt++, pause_ns *= 2) {
                int err, result = eddy_call_timeout(fetch_once, job, EDDY_SEC(2.5));

                if (attempt == ATTEMPTS || !may_pass(result))
                        return result;
                err = eddy_sleep(pause_ns);
                if (err < 0)
                        return err;
        }
}

static int guarded(void *arg)
{
        struct job *job = arg;

        job->result = eddy_semaphore_acquire(&room);
        if (job->result < 0)
                return job->result;
        job->result = fetch_with_retry(job);
        eddy_semaphore_release(&room);
        /* A failed request is a result here: it cancels no other. */
        return job->result == -ECANCELED ? -ECANCELED : 0;
}

static int fetch_many(struct job *jobs)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < REQUESTS; i++)
                eddy_scope_start(&scope, guarded, &jobs[i]);
        return eddy_scope_end(&scope);
}

/* Uses the texts; returns the first job that failed, or NULL. */
static const struct job *use_texts(const struct job *jobs, bool is_complete)
{
        const struct job *first = NULL, *last = NULL, *failed = NULL;
        int good = 0;
        size_t bytes = 0;

        for (const struct job *job = jobs; job < jobs + REQUESTS; job++) {
                if (!job->response) {
                        failed = failed ? failed : job;
                        continue;
                }
                first = first ? first : job;
                last = job;
                good++;
                bytes += job->bytes;
        }
        if (good == REQUESTS)
                printf("%d successful responses received\n", good);
        else if (is_complete)
                printf("Overall error Failure in part of the requests %d of %d\n", REQUESTS - good,
                       REQUESTS);
        if (first)
                printf("%d texts of %zu bytes, from %.*s to %.*s\n", good, bytes,
                       (int) strcspn(first->text, "\n"), (const char *) first->text,
                       (int) strcspn(last->text, "\n"), (const char *) last->text);
        return failed;
}

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int result)
{
        fflush(stdout);
        fprintf(stderr, "11-many-requests: %s: ", url);
        if (result >= 0)
                fprintf(stderr, "status %d", result);
        else if (result == -ETIMEDOUT)
                fputs("not complete within 2.5 s", stderr);
        else
                fputs(result == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(result), stderr);
        fputs(" (usage: 11-many-requests URL...)\n", stderr);
        return result == -ECANCELED ? 130 : 1;
}

static int run(void *arg)
{
        char **urls = arg;
        static struct job jobs[REQUESTS];
        const struct job *failed;
        int count = 0, err, status;

        while (urls[count])
                count++;
        for (int i = 0; i < REQUESTS; i++)
                jobs[i] = (struct job){ .url = urls[i % count], .result = -ECANCELED };
        err = eddy_http_client_new(&(struct eddy_http_client_opts){ .connections_max = AT_ONCE },
                                   &client);
        if (err < 0)
                return fail(urls[0], err);
        err = fetch_many(jobs);
        failed = use_texts(jobs, err == 0);
        status = err < 0 ? fail(urls[0], err) : failed ? fail(failed->url, failed->result) : 0;
        for (int i = 0; i < REQUESTS; i++)
                eddy_http_response_close(jobs[i].response);
        eddy_http_client_close(client);
        return status;
}

int main(int argc, char **argv)
{
        int status;

        if (argc < 2) {
                fputs("11-many-requests: no URL (usage: 11-many-requests URL...)\n", stderr);
                return 1;
        }
        status = eddy_run(run, argv + 1, NULL);
        return status < 0 ? fail(argv[1], status) : status;
}
