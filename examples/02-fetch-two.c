/*
 * 02-fetch-two - two URLs at the same time, http or https, both within five seconds.
 *
 * fetch() is plain C, with no callback and no state machine.  If one of the two
 * fails, the other is cancelled; if five seconds pass, both are.  fetch_two()
 * does not return before both have ended.  The five seconds include the bodies,
 * and a status of 400 or more is a failure.
 *
 * The certificates of https are checked against those of the system; OpenSSL's
 * variable SSL_CERT_FILE names others.
 *
 * Run: SSL_CERT_FILE=$TLS_CERT 02-fetch-two $TLS_MOCK/delay/0.2 $TLS_MOCK/bytes/100
 * Time: wall 0.2 s
 * Output:
 *     200 $TLS_MOCK/bytes/100
 *     200 $TLS_MOCK/delay/0.2
 *
 * Run: 02-fetch-two $MOCK/delay/0.2 $MOCK/bytes/100
 * Time: wall 0.2 to 5 s
 * Output:
 *     200 $MOCK/bytes/100
 *     200 $MOCK/delay/0.2
 *
 * Run: 02-fetch-two 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     02-fetch-two: two URLs are needed (usage: 02-fetch-two URL URL)
 * Run: 02-fetch-two $MOCK/delay/9 $MOCK/status/404 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     02-fetch-two: $MOCK/status/404: status 404
 * Run: 02-fetch-two $MOCK/slow-body/10 $MOCK/slow-body/10 2>&1
 * Exit: 1
 * Time: wall 5 s
 * Output:
 *     02-fetch-two: not complete within 5 s
 * Run: 02-fetch-two $MOCK/delay/9 http://127.0.0.1:1/ 2>&1
 * Exit: 1
 * Time: wall 0 s
 * Output:
 *     02-fetch-two: http://127.0.0.1:1/: Connection refused
 * Run: timeout --foreground --preserve-status -s INT 1 02-fetch-two $MOCK/delay/9 $MOCK/delay/9 2>&1
 * Exit: 130
 * Time: wall 1 s
 * Output:
 *     02-fetch-two: stopped by Ctrl-C
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_http_client *client;
static char failure[400]; /* the first one, for main() */

/* 'result' is an error or a status. */
static int fail(const char *url, int result)
{
        if (result < 0 && result != -ECANCELED && !failure[0])
                snprintf(failure, sizeof(failure), "%s: %s", url, eddy_error_text(result));
        else if (result >= 0 && !failure[0])
                snprintf(failure, sizeof(failure), "%s: status %d", url, result);
        return result < 0 ? result : -EPROTO;
}

static int fetch(void *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        int result = eddy_http_client_send(client, &request, &response);

        if (result == 0)
                result = eddy_http_response_discard(response);
        if (result == 0)
                result = eddy_http_response_status(response);
        if (result < 0 || result >= 400)
                return fail(url, result);
        printf("%d %s\n", result, (const char *) url);
        return 0;
}

static int fetch_two(void *arg)
{
        char **urls = arg;
        eddy_scope scope;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(5) });
        eddy_scope_start(&scope, fetch, urls[0]);
        eddy_scope_start(&scope, fetch, urls[1]);
        err = eddy_scope_end(&scope);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        int err = argc == 3 ? eddy_run(fetch_two, argv + 1, NULL) : -EINVAL;
        const char *reason = argc != 3    ? "two URLs are needed (usage: 02-fetch-two URL URL)"
                             : failure[0] ? failure
                             : err == -ECANCELED ? "stopped by Ctrl-C"
                             : err == -ETIMEDOUT ? "not complete within 5 s"
                                                 : eddy_error_text(err);

        if (err < 0)
                fprintf(stderr, "02-fetch-two: %s\n", reason);
        return err == -ECANCELED ? 130 : err < 0;
}
