/*
 * 26-page - the smallest client: get a page and print it.
 *
 * Reading the body as it comes needs no more memory for a large page than for a
 * small one.  The client, the response and the page are released on every way
 * out.  For more than one request, keep the client: example 12.
 *
 * Run: 26-page $MOCK/stream/3
 * Time: wall 0 s
 * Output:
 *     {"line":0}
 *     {"line":1}
 *     {"line":2}
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int print_body(eddy_http_response *response)
{
        char buf[1024];
        int64_t n;

        while ((n = eddy_http_response_read(response, buf, sizeof(buf))) > 0)
                if (fwrite(buf, 1, (size_t) n, stdout) < (size_t) n)
                        return -EIO;
        return (int) n;
}

static int fetch(void *url)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_request request = { .url = url };
        eddy_http_client *client;
        int err = eddy_http_client_new(NULL, &client);

        if (err < 0)
                return err;
        err = eddy_http_client_send(client, &request, &response);
        if (err == 0)
                err = print_body(response);
        eddy_http_client_close(client);
        return err;
}

int main(int argc, char **argv)
{
        return argc == 2 && eddy_run(fetch, argv[1], NULL) == 0 ? 0 : 1;
}
