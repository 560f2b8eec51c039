/*
 * 11-many-requests - fifty slow requests: eight at a time, each attempt within
 * 2.5 seconds, up to three attempts, and nothing lost.
 *
 * Each limit is one line.  The semaphore bounds how many requests are under
 * way, eddy_call_timeout() bounds each attempt, and the loop the number of
 * attempts.  Ctrl-C cancels the scope; the scope does not end before every
 * request has released its connection.
 *
 * The Python program this mirrors throws all answers away when one request
 * fails, repeats requests that cannot succeed (400, 404), waits in equal steps,
 * and does not await what it has cancelled.  Here each request keeps its own
 * result, only what may pass is repeated, and pauses double.  (Many clients of
 * one server would also add chance to them.)
 *
 * Run: 11-many-requests $MOCK/delay/1
 * Time: wall 7 s
 * Output:
 *     50 successful responses received
 */
#include <stdbool.h>
#include <stdio.h>

#include "eddy/eddy.h"

enum { REQUESTS = 50, AT_ONCE = 8, ATTEMPTS = 3 };

static eddy_semaphore room = EDDY_SEMAPHORE(AT_ONCE, 0);
static eddy_http_client *client;

struct job {
        const char *url;
        int result; /* the status, or why there is none */
};

static int fetch_once(void *arg)
{
        struct job *job = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = job->url };
        int err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                err = eddy_http_response_discard(response);
        return err < 0 ? err : eddy_http_response_status(response);
}

static bool may_pass(int result)
{
        return result < 0 || result == 408 || result == 429 || result >= 500;
}

static int fetch_with_retry(struct job *job)
{
        int64_t pause_ns = EDDY_MS(500);

        for (int attempt = 1;; attempt++, pause_ns *= 2) {
                int err, result = eddy_call_timeout(fetch_once, job, EDDY_MS(2500));

                if (result == -ECANCELED || attempt == ATTEMPTS || !may_pass(result))
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

static int fetch_many(void *url)
{
        struct job jobs[REQUESTS];
        eddy_scope scope;
        int err, good = 0;

        err = eddy_http_client_new(&(struct eddy_http_client_opts){ .connections_max = AT_ONCE },
                                   &client);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < REQUESTS; i++) {
                jobs[i] = (struct job){ .url = url, .result = -ECANCELED };
                eddy_scope_start(&scope, guarded, &jobs[i]);
        }
        err = eddy_scope_end(&scope);
        eddy_http_client_close(client);
        for (int i = 0; i < REQUESTS; i++)
                good += jobs[i].result >= 200 && jobs[i].result < 300;
        printf("%d successful responses received\n", good);
        return good == REQUESTS ? err : -EIO;
}

int main(int argc, char **argv)
{
        return argc == 2 && eddy_run(fetch_many, argv[1], NULL) == 0 ? 0 : 1;
}
