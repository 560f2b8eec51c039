/*
 * 113-best-in-time - the best answer that several https servers give within a deadline.
 *
 * All servers are asked at once, and a scope limits the time.  At the deadline the requests in
 * progress are cancelled and their connections closed; the answers that are whole remain in the
 * results, and the program takes the longest.  A server that fails or is late makes the answer
 * worse, but does not prevent it.  The program fails only if no answer is whole in time.
 *
 * Run: SSL_CERT_FILE=$TLS_CERT 113-best-in-time 2 $TLS_MOCK/bytes/10 $TLS_MOCK/bytes/30 $TLS_MOCK/slow-body/9
 * Time: wall 2 to 9 s
 * Output:
 *     2 of 3 answers in time, the best has 30 bytes
 * Run: SSL_CERT_FILE=$TLS_CERT 113-best-in-time 60 $TLS_MOCK/bytes/10 $TLS_MOCK/status/503
 * Time: wall 0 s
 * Output:
 *     1 of 2 answers in time, the best has 10 bytes
 * Run: SSL_CERT_FILE=$TLS_CERT 113-best-in-time 0.5 $TLS_MOCK/delay/9 2>&1
 * Exit: 1
 * Time: wall 0.5 s
 * Output:
 *     113-best-in-time: no answer in time
 * Run: 113-best-in-time 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     113-best-in-time: give a time and 1 to 20 URLs (usage: 113-best-in-time SECONDS URL...)
 */
#include <stdio.h>
#include <stdlib.h>

#include "eddy/eddy.h"

enum { URLS_MAX = 20 };

static struct eddy_http_request requests[URLS_MAX];
static struct eddy_http_result results[URLS_MAX];

/* Returns the place of the longest answer, or -1. */
static int find_best(int count, int *ret_whole)
{
        int best = -1;

        *ret_whole = 0;
        for (int i = 0; i < count; i++) {
                if (results[i].error < 0 || results[i].status == 0)
                        continue;
                (*ret_whole)++;
                if (best < 0 || results[i].body_bytes > results[best].body_bytes)
                        best = i;
        }
        return best;
}

static int ask_all(const char *seconds, int count)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct eddy_http_client_opts opts = { .flags = EDDY_HTTP_STATUS_IS_ERROR };
        int64_t timeout_ns = (int64_t) (strtod(seconds, NULL) * 1e9);
        int err = eddy_http_client_new(&opts, &client);

        if (err == 0)
                EDDY_SCOPE (scope, &err, .timeout_ns = timeout_ns)
                        err = eddy_http_fetch_many(client, requests, count, 0, results);
        return err;
}

static int run(void *arg)
{
        char **args = arg;
        int count = 0, whole, best, err;

        for (; args[count + 1]; count++)
                requests[count].url = args[count + 1];
        err = ask_all(args[0], count);
        best = find_best(count, &whole);
        if (err == -ECANCELED)
                fputs("113-best-in-time: stopped by Ctrl-C\n", stderr);
        else if (best < 0)
                fputs("113-best-in-time: no answer in time\n", stderr);
        else
                printf("%d of %d answers in time, the best has %zu bytes\n", whole, count,
                       results[best].body_bytes);
        eddy_http_results_fini(results, count);
        return err == -ECANCELED ? 130 : best < 0;
}

int main(int argc, char **argv)
{
        int status;

        if (argc < 3 || argc > URLS_MAX + 2 || !(strtod(argv[1], NULL) > 0)) {
                fprintf(stderr,
                        "113-best-in-time: give a time and 1 to %d URLs"
                        " (usage: 113-best-in-time SECONDS URL...)\n",
                        URLS_MAX);
                return 1;
        }
        status = eddy_run(run, argv + 1, NULL);
        if (status < 0)
                fprintf(stderr, "113-best-in-time: %s\n", eddy_error_text(status));
        return status < 0 ? 1 : status;
}
