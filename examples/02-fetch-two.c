/*
 * 02-fetch-two - two URLs at the same time, http or https, both within five seconds.
 *
 * fetch() is plain C, with no callback and no state machine.  If one of the two
 * fails, the other is cancelled; if five seconds pass, both are.  fetch_two()
 * does not return before both have ended.
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
 * Time: wall 0.2 s
 * Output:
 *     200 $MOCK/bytes/100
 *     200 $MOCK/delay/0.2
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_http_client *client;

static int fetch(void *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        int err = eddy_http_client_send(client, &request, &response);

        if (err == 0)
                printf("%d %s\n", eddy_http_response_status(response), (const char *) url);
        return err;
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
        return argc == 3 && eddy_run(fetch_two, argv + 1, NULL) == 0 ? 0 : 1;
}
