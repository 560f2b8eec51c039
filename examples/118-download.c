/*
 * 118-download - a file from a server whose connections break, with progress, continued later.
 *
 * eddy_http_download() requests the rest of a body that was cut ("Range"), in the same call or in a
 * later call, unless the file has changed meanwhile ("If-Range").  Each such request repeats the
 * last received byte, which is compared.  The file gets its name when it is complete on the disk
 * and has the expected SHA-256.  Here the server ends each response after 300,000 bytes.  The first
 * call gives up after one attempt and leaves a part; the second call continues the part.
 *
 * Run: 118-download
 * Time: wall 0 s
 * Output:
 *     asked for all
 *     300000 of 1000000 bytes
 *     first call: EDDY_E_HTTP_TRUNCATED
 *     asked for bytes=299999- if it is still "v1"
 *     599999 of 1000000 bytes
 *     asked for bytes=599998- if it is still "v1"
 *     899998 of 1000000 bytes
 *     asked for bytes=899997- if it is still "v1"
 *     1000000 of 1000000 bytes
 *     second call: OK, 300000 bytes were there
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eddy/eddy.h"

enum { BYTES = 1000000, CUT_BYTES = 300000 };

/* The hash of the whole body. */
#define SHA_256 "2c030d49ec131bfbbb446ad21e7a2f12cdb4f2f4f3fda3ac709dd2e68a4646c7"

static char body[BYTES];

/* Send the requested bytes, but break the connection after CUT_BYTES. */
static int serve(eddy_http_exchange *exchange, void *arg)
{
        const char *range = eddy_http_exchange_header(exchange, "Range"),
                   *condition = eddy_http_exchange_header(exchange, "If-Range");
        size_t first = range ? strtoul(range + strlen("bytes="), NULL, 10) : 0,
               left = BYTES - first;
        char part[64];
        struct eddy_http_header headers[] = { { "ETag", "\"v1\"" }, { "Content-Range", part } };
        int err;

        (void) arg;
        printf("asked for %s%s%s\n", range ? range : "all", range ? " if it is still " : "",
               condition ? condition : "");
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

/* Print the progress at the end of each response. */
static int print_progress(const struct eddy_http_download_progress *progress, void *arg)
{
        uint64_t *next = arg;

        if (progress->bytes >= *next || progress->bytes == progress->total) {
                printf("%llu of %llu bytes\n", (unsigned long long) progress->bytes,
                       (unsigned long long) progress->total);
                *next = progress->bytes + CUT_BYTES - 1;
        }
        return 0;
}

static int download(void *arg)
{
        static const struct eddy_retry_policy once = { .attempts = 1 };
        static const struct eddy_retry_policy at_once = { .attempts = 5, .base_ns = -1 };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        struct eddy_http_request request = { .url = "http://files.example/model.bin" };
        struct eddy_http_download_result result;
        uint64_t next = CUT_BYTES;
        struct eddy_http_download_opts opts = { .retry = &once,
                                                .progress = print_progress,
                                                .arg = &next,
                                                .ret_result = &result,
                                                .hash = SHA_256 };
        const char *path = arg;
        int err =
                eddy_http_client_new(&(struct eddy_http_client_opts){ .handler = serve }, &client);

        if (err < 0)
                return err;
        printf("first call: %s\n",
               eddy_error_name(eddy_http_download(client, &request, path, &opts)));
        opts.retry = &at_once; /* NULL would be 5 attempts with waits */
        err = eddy_http_download(client, &request, path, &opts);
        if (err < 0)
                return err;
        printf("second call: OK, %llu bytes were there\n", (unsigned long long) result.continued);
        return eddy_path_remove(path);
}

int main(void)
{
        char path[64];

        snprintf(path, sizeof(path), "/tmp/eddy-download-%d.bin", (int) getpid());
        for (int i = 0; i < BYTES; i++)
                body[i] = (char) (i % 251);
        return eddy_run(download, path, NULL) < 0;
}
