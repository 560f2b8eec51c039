/*
 * download_file.c - a download by eddy_http_download(), for test_download_kill.py, which kills it, and
 * test_serve_clients.py.
 *
 *     download_file PATH [URL]
 *
 * Without a URL, the server is a function of the program (eddy_http_client_opts, 'handler'). It ends a
 * response after CUT_BYTES, so that the download takes several requests. Prints the bytes of the part
 * that an earlier run has left and this one has used.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/eddy.h"

enum { BYTES = 250000, CUT_BYTES = 100000 };

static char body[BYTES];

static int serve(eddy_http_exchange *exchange, void *arg)
{
        const char *range = eddy_http_exchange_header(exchange, "Range");
        size_t first = range ? strtoul(range + strlen("bytes="), NULL, 10) : 0;
        size_t left = BYTES - first;
        char part[64];
        struct eddy_http_header headers[] = { { "ETag", "\"v1\"" }, { "Content-Range", part } };
        int err;

        (void) arg;
        snprintf(part, sizeof(part), "bytes %zu-%d/%d", first, BYTES - 1, BYTES);
        err = eddy_http_exchange_begin(exchange, range ? 206 : 200, headers, range ? 2 : 1,
                                       (int64_t) left);
        if (err == 0)
                err = eddy_http_exchange_write(exchange, body + first,
                                               left < CUT_BYTES ? left : CUT_BYTES);
        if (err == 0 && left > CUT_BYTES)
                err = eddy_http_exchange_flush(exchange);
        if (err == 0 && left > CUT_BYTES)
                return -ECONNRESET; /* breaks the connection */
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int download(void *arg)
{
        static const struct eddy_retry_policy at_once = { .attempts = 5, .base_ns = -1 };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        char **args = arg;
        struct eddy_http_request request = { .url = args[1] ? args[1]
                                                            : "http://files.example/model.bin" };
        struct eddy_http_download_result result;
        struct eddy_http_download_opts opts = { .retry = &at_once, .ret_result = &result };
        struct eddy_http_client_opts client_opts = { .handler = args[1] ? NULL : serve };
        int err = eddy_http_client_new(&client_opts, &client);

        if (err == 0)
                err = eddy_http_download(client, &request, args[0], &opts);
        if (err < 0)
                fprintf(stderr, "%s\n", eddy_error_name(err));
        else
                printf("%llu\n", (unsigned long long) result.continued);
        return err;
}

int main(int argc, char **argv)
{
        for (int i = 0; i < BYTES; i++)
                body[i] = (char) (i % 251);
        return argc < 2 || eddy_run(download, argv + 1, NULL) < 0;
}
