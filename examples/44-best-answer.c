/*
 * 44-best-answer - the best answer within 1.5 seconds: the whole text, or the part
 * that has arrived when the time is up.
 *
 * A request to a RAG system may take too long, but its answer comes in pieces.  The
 * pieces are in the caller's buffer, not in the task that reads them, so they remain
 * after the deadline, which cancels the read and closes the connection, with http and
 * https.  The program says whether the text is complete: a part must not look like the
 * whole.  It fails if no byte arrives in time, or if the text is larger than the buffer.
 *
 * Run: 44-best-answer $MOCK/slow-body/10
 * Time: wall 1.5 to 6 s
 * Output:
 *     123456789
 *     partial answer: 10 bytes
 * Run: 44-best-answer $MOCK/slow-body/1
 * Time: wall 1 to 6 s
 * Output:
 *     123456789
 *     123456789
 *     123456789
 *     123456789
 *     123456789
 *     123456789
 *     123456789
 *     123456789
 *     123456789
 *     123456789
 *     complete answer: 100 bytes
 * Run: 44-best-answer $MOCK/delay/10
 * Exit: 1
 * Time: wall 1.5 to 6 s
 * Output:
 */
#include <stdio.h>

#include "eddy/eddy.h"

enum { TEXT_BYTES_MAX = 65536 };

struct answer {
        const char *url;
        size_t bytes;
        char text[TEXT_BYTES_MAX + 1]; /* one more, to see the end */
};

static eddy_http_client *client;
static struct eddy_http_fault fault; /* has the status of a response that is a failure */

/* Adds each piece to the answer when it arrives. */
static int read_answer(void *arg)
{
        struct answer *answer = arg;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = answer->url,
                                             .body_bytes_max = TEXT_BYTES_MAX,
                                             .flags = EDDY_HTTP_STATUS_IS_ERROR,
                                             .ret_fault = &fault };
        int64_t n = eddy_http_client_send(client, &request, &response);

        if (n < 0)
                return (int) n;
        do {
                n = eddy_http_response_read(response, answer->text + answer->bytes,
                                            sizeof(answer->text) - answer->bytes);
                answer->bytes += n > 0 ? (size_t) n : 0;
        } while (n > 0);
        return (int) n;
}

static int run(void *arg)
{
        struct answer *answer = arg;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        err = eddy_call_timeout(read_answer, answer, EDDY_SEC(1.5));
        eddy_http_client_close(client);
        if (err == -ETIMEDOUT && answer->bytes == 0)
                return err;
        if (err == 0 || err == -ETIMEDOUT) {
                fwrite(answer->text, 1, answer->bytes, stdout);
                printf("%s answer: %zu bytes\n", err == 0 ? "complete" : "partial", answer->bytes);
                return 0;
        }
        return err;
}

int main(int argc, char **argv)
{
        static struct answer answer;
        int err;

        if (argc != 2) {
                fputs("44-best-answer: no URL (usage: 44-best-answer URL)\n", stderr);
                return 1;
        }
        answer.url = argv[1];
        err = eddy_run(run, &answer, NULL);
        if (err == EDDY_E_HTTP_STATUS)
                fprintf(stderr, "44-best-answer: %s: status %d\n", answer.url, fault.status);
        else if (err < 0)
                fprintf(stderr, "44-best-answer: %s: %s\n", answer.url,
                        err == -ECANCELED   ? "stopped by Ctrl-C"
                        : err == -ETIMEDOUT ? "no answer within 1.5 s"
                                            : eddy_error_text(err));
        return err == -ECANCELED ? 130 : err < 0;
}
