/*
 * 43-newest-wins - a chat whose user changes the question: the newest request
 * supersedes the one before it.
 *
 * New information makes the older request superfluous.  The older request is
 * cancelled and joined before the newer one starts, so a late answer cannot
 * overwrite the newer answer.  A cancelled request is not a failure of the scope
 * that owns both.
 *
 * The older request is not merely ignored: its connection is closed, and the
 * server sees that.  The program prints how many connections are open then, and at
 * the end how many were opened.  Each question has two seconds.
 *
 * Run: 43-newest-wins $MOCK/slow-body/1
 * Time: wall 1.4 to 2.9 s
 * Output:
 *     asked: How do I wait?
 *     superseded: How do I wait? (connections open: 0)
 *     asked: How do I wait for two tasks?
 *     superseded: How do I wait for two tasks? (connections open: 0)
 *     asked: How do I cancel a task?
 *     answered with 100 bytes: How do I cancel a task?
 *     connections used: 3
 * Run: 43-newest-wins $MOCK/delay/0
 * Time: wall 0.4 to 5 s
 * Output:
 *     asked: How do I wait?
 *     answered with 15 bytes: How do I wait?
 *     asked: How do I wait for two tasks?
 *     answered with 15 bytes: How do I wait for two tasks?
 *     asked: How do I cancel a task?
 *     answered with 15 bytes: How do I cancel a task?
 *     connections used: 1
 * Run: 43-newest-wins $MOCK/slow-body/10 2>&1
 * Exit: 1
 * Time: wall 2.4 s
 * Output:
 *     asked: How do I wait?
 *     superseded: How do I wait? (connections open: 0)
 *     asked: How do I wait for two tasks?
 *     superseded: How do I wait for two tasks? (connections open: 0)
 *     asked: How do I cancel a task?
 *     43-newest-wins: $MOCK/slow-body/10: not complete within 2 s (usage: 43-newest-wins URL)
 * Run: 43-newest-wins $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     asked: How do I wait?
 *     43-newest-wins: $MOCK/status/404: status 404 (usage: 43-newest-wins URL)
 * Run: 43-newest-wins http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     asked: How do I wait?
 *     43-newest-wins: http://127.0.0.1:1/: Connection refused (usage: 43-newest-wins URL)
 * Run: timeout --foreground --preserve-status -s INT 1 43-newest-wins $MOCK/slow-body/10 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     ...
 *     43-newest-wins: $MOCK/slow-body/10: stopped by Ctrl-C (usage: 43-newest-wins URL)
 * Run: 43-newest-wins 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     43-newest-wins: no URL (usage: 43-newest-wins URL)
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"

enum { QUESTIONS = 3, SECONDS = 2 };

static const char *const questions[QUESTIONS] = {
        "How do I wait?",
        "How do I wait for two tasks?",
        "How do I cancel a task?",
};
static eddy_http_client *client;
static int bad_status; /* of an answer that is a failure, or 0 */

struct chat {
        const char *url;
        const char *question;
};

static int send_question(void *arg)
{
        const struct chat *chat = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = chat->url,
                                             .body = chat->question,
                                             .body_bytes = strlen(chat->question) };
        const void *text;
        size_t bytes;
        int err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                err = eddy_http_response_body(response, &text, &bytes);
        if (err < 0)
                return err;
        if (eddy_http_response_status(response) >= 400) {
                bad_status = eddy_http_response_status(response);
                return -EIO;
        }
        printf("answered with %zu bytes: %s\n", bytes, chat->question);
        return 0;
}

static int ask(void *arg)
{
        const struct chat *chat = arg;

        printf("asked: %s\n", chat->question);
        return eddy_call_timeout(send_question, arg, EDDY_SEC(SECONDS));
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
static int talk(eddy_scope *scope, struct chat *chats)
{
        for (int i = 0;; i++) {
                EDDY_AUTO(eddy_task) eddy_task *request = NULL;
                int err = eddy_scope_start_task(scope, ask, &chats[i], NULL, &request);

                if (err < 0 || i == QUESTIONS - 1)
                        return err;
                err = eddy_sleep(EDDY_MS(200));
                if (err == 0)
                        err = supersede(request, chats[i].question);
                if (err < 0)
                        return err;
        }
}

static int run(void *url)
{
        struct chat chats[QUESTIONS];
        struct eddy_http_client_stats stats;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        for (int i = 0; i < QUESTIONS; i++)
                chats[i] = (struct chat){ url, questions[i] };
        EDDY_SCOPE (scope, &err)
                err = talk(&scope, chats);
        eddy_http_client_stats(client, &stats);
        if (err == 0)
                printf("connections used: %" PRIu64 "\n", stats.connections);
        eddy_http_client_close(client);
        return err;
}

/* Prints the reason; returns the exit status. */
static int fail(const char *url, int err)
{
        fflush(stdout);
        fprintf(stderr, "43-newest-wins: %s: ", url);
        if (err == -ECANCELED)
                fputs("stopped by Ctrl-C", stderr);
        else if (err == -ETIMEDOUT)
                fprintf(stderr, "not complete within %d s", SECONDS);
        else if (bad_status)
                fprintf(stderr, "status %d", bad_status);
        else
                fputs(eddy_error_text(err), stderr);
        fputs(" (usage: 43-newest-wins URL)\n", stderr);
        return err == -ECANCELED ? 130 : 1;
}

int main(int argc, char **argv)
{
        int err;

        if (argc != 2) {
                fputs("43-newest-wins: no URL (usage: 43-newest-wins URL)\n", stderr);
                return 1;
        }
        err = eddy_run(run, argv[1], NULL);
        return err < 0 ? fail(argv[1], err) : 0;
}
