/*
 * 43-newest-wins - a chat whose user changes the question: the newest request replaces the older.
 *
 * The older request is cancelled and joined before the newer one starts, so a late answer cannot
 * overwrite the newer answer.  The older request is not merely ignored: its connection is closed,
 * with http and https, and the server sees that.  The client uses HTTP/1 only, because by HTTP/2 a
 * request is cancelled and its connection remains.  A cancelled request is not a failure of the
 * scope that owns both.  Each question has two seconds.  The program prints how many connections
 * are open after a cancel, and at the end how many were opened.
 *
 * Run: 43-newest-wins $MOCK/slow-body/1
 * Time: wall 1.4 s
 * Output:
 *     asked: How do I wait?
 *     superseded: How do I wait? (connections open: 0)
 *     asked: How do I wait for two tasks?
 *     superseded: How do I wait for two tasks? (connections open: 0)
 *     asked: How do I cancel a task?
 *     answered with 100 bytes: How do I cancel a task?
 *     connections used: 3
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { QUESTIONS = 3 };

static char questions[QUESTIONS][30] = { "How do I wait?", "How do I wait for two tasks?",
                                         "How do I cancel a task?" };
static const char *url;
static eddy_http_client *client;
static struct eddy_http_fault fault; /* has the status of a response that is a failure */

static int ask(void *question)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = {
                .url = url, .body = question, .body_bytes = strlen(question), .ret_fault = &fault
        };
        const void *text;
        size_t bytes;
        int err;

        printf("asked: %s\n", (char *) question);
        err = eddy_http_client_send(client, &request, &response);
        if (err == 0)
                err = eddy_http_response_body(response, &text, &bytes);
        if (err == 0)
                printf("answered with %zu bytes: %s\n", bytes, (char *) question);
        return err;
}

/* Cancels the request, unless its answer has arrived, and waits until it has ended. */
static int supersede(eddy_task *request, const char *question)
{
        struct eddy_http_client_stats stats;
        int result, err;

        eddy_task_cancel(request);
        err = eddy_task_join(request, &result);
        eddy_http_client_stats(client, &stats);
        if (err == 0 && result == -ECANCELED)
                printf("superseded: %s (connections open: %" PRIu64 ")\n", question, stats.open);
        return err;
}

/* The user changes the question every 200 ms. */
static int talk(eddy_scope *scope)
{
        for (int i = 0; i < QUESTIONS - 1; i++) {
                EDDY_AUTO(eddy_task) eddy_task *request = NULL;
                int err = eddy_scope_start_task(scope, ask, questions[i], NULL, &request);

                if (err == 0)
                        err = eddy_sleep(EDDY_MS(200));
                if (err == 0)
                        err = supersede(request, questions[i]);
                if (err < 0)
                        return err;
        }
        return eddy_scope_start(scope, ask, questions[QUESTIONS - 1]);
}

static int run(void *arg)
{
        struct eddy_http_client_opts opts = { .timeouts.total_ns = EDDY_SEC(2),
                                              .flags = EDDY_HTTP_STATUS_IS_ERROR |
                                                       EDDY_HTTP_CLIENT_HTTP1_ONLY };
        struct eddy_http_client_stats stats;
        int err = eddy_http_client_new(&opts, &client);

        url = arg;
        if (err == 0)
                EDDY_SCOPE (scope, &err)
                        err = talk(&scope);
        eddy_http_client_stats(client, &stats);
        if (err == 0)
                printf("connections used: %" PRIu64 "\n", stats.connections);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2) {
                fputs("43-newest-wins: no URL (usage: 43-newest-wins URL)\n", stderr);
                return 1;
        }
        err = eddy_run(run, argv[1], NULL);
        fflush(stdout);
        if (err == EDDY_E_HTTP_STATUS)
                fprintf(stderr, "43-newest-wins: %s: status %d\n", argv[1], fault.status);
        else if (err < 0)
                fprintf(stderr, "43-newest-wins: %s: %s\n", argv[1],
                        err == -ECANCELED ? "stopped by Ctrl-C" : eddy_error_text(err));
        return err == -ECANCELED ? 130 : err < 0;
}
