/*
 * 14-page-sizes - two pages at once, and how long each is.
 *
 * Both lines `Run` come first, because both requests are under way together,
 * and then each answer as it comes.  The URLs are the program's arguments:
 * eddy_scope_start() borrows them, and they live long enough.
 *
 * Run: 14-page-sizes $MOCK/delay/0.3 $MOCK/bytes/5000
 * Time: wall 0.3 s
 * Output:
 *     Run $MOCK/delay/0.3
 *     Run $MOCK/bytes/5000
 *     $MOCK/bytes/5000: 5000 bytes
 *     $MOCK/delay/0.3: 17 bytes
 */
#include <stdio.h>

#include "eddy/eddy.h"

static eddy_http_client *client;

static int call_url(void *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        const void *text;
        size_t bytes;
        int err;

        printf("Run %s\n", (const char *) url);
        err = eddy_http_client_send(client, &request, &response);
        if (err == 0)
                err = eddy_http_response_body(response, &text, &bytes);
        if (err == 0)
                printf("%s: %zu bytes\n", (const char *) url, bytes);
        return err;
}

static int call_all(void *arg)
{
        eddy_scope scope;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        for (char **url = arg; *url; url++)
                eddy_scope_start(&scope, call_url, *url);
        err = eddy_scope_end(&scope);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        return argc > 1 && eddy_run(call_all, argv + 1, NULL) == 0 ? 0 : 1;
}
