/*
 * 119-upload - a large file is uploaded in a form, with its progress; the memory does not grow with it.
 *
 * eddy_http_multipart_open() makes a body of a form's parts, with its exact length.  The body reads the
 * file while it is sent, so a function around its source sees the progress.  The server reads the form
 * part by part.  Without progress, the request's '.multipart' does the same in one line.
 *
 * Run: 119-upload
 * Time: wall 0 s
 * Output:
 *     title: 10 bytes
 *     25 %
 *     50 %
 *     75 %
 *     100 %
 *     report.bin: 8000000 bytes
 */
#include <stdio.h>
#include <unistd.h>

#include "eddy/eddy.h"

enum { FILE_BYTES = 8000000, STEP_PERCENT = 25 };

static int print_part(eddy_http_multipart_reader *form, const struct eddy_http_multipart_part *part)
{
        static char buf[64 << 10];
        int64_t bytes = 0, n;

        while ((n = eddy_http_multipart_read(form, buf, sizeof(buf))) > 0)
                bytes += n; /* or eddy_file_write() */
        if (n == 0)
                printf("%s: %lld bytes\n", part->filename ? part->filename : part->name,
                       (long long) bytes);
        return (int) n;
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        EDDY_AUTO(eddy_http_multipart_reader) eddy_http_multipart_reader *form = NULL;
        struct eddy_http_multipart_part part;
        int err = eddy_http_exchange_multipart(exchange, NULL, &form);

        (void) arg;
        while (err == 0 && (err = eddy_http_multipart_next(form, &part)) > 0)
                err = print_part(form, &part);
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
}

struct progress {
        const struct eddy_http_body_source *source;
        int64_t sent, shown_percent;
};

static int64_t read_and_count(void *arg, void *buf, size_t bytes)
{
        struct progress *progress = arg;
        int64_t n = progress->source->read(progress->source->arg, buf, bytes), percent;

        progress->sent += n > 0 ? n : 0;
        percent = progress->sent * 100 / progress->source->bytes;
        if (percent >= progress->shown_percent + STEP_PERCENT) {
                progress->shown_percent = percent;
                printf("%lld %%\n", (long long) percent);
        }
        return n;
}

static int upload(eddy_http_client *client, const struct eddy_http_multipart *form)
{
        EDDY_AUTO(eddy_http_multipart_body) eddy_http_multipart_body *body = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        int err = eddy_http_multipart_open(form, NULL, &body);
        struct progress progress = { .source = eddy_http_multipart_source(body) };
        struct eddy_http_header type = { "Content-Type", eddy_http_multipart_type(body) };
        struct eddy_http_body_source source = { .read = read_and_count, .arg = &progress };
        struct eddy_http_request request = { .url = "http://files.test/",
                                             .headers = &type,
                                             .headers_count = 1,
                                             .body_source = &source };

        if (err < 0)
                return err;
        source.bytes = progress.source->bytes;
        return eddy_http_client_send(client, &request, &response);
}

static int run(void *arg)
{
        /* The handler answers the client's requests in this process, instead of a server. */
        const struct eddy_http_client_opts opts = { .handler = handle };
        const struct eddy_http_part parts[] = {
                { .name = "title", .data = "The report", .data_bytes = 10 },
                { .name = "file", .path = arg, .filename = "report.bin" },
        };
        const struct eddy_http_multipart form = { .parts = parts, .parts_count = 2 };
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_file) eddy_file *file = NULL;
        int err = eddy_file_open(arg, EDDY_FILE_WRITE | EDDY_FILE_CREATE, 0, &file), removed;

        if (err == 0)
                err = eddy_file_truncate(file, FILE_BYTES);
        if (err == 0)
                err = eddy_http_client_new(&opts, &client);
        if (err == 0)
                err = upload(client, &form);
        removed = eddy_path_remove(arg);
        return err < 0 ? err : removed;
}

int main(void)
{
        char path[64];

        snprintf(path, sizeof(path), "/tmp/eddy-example-%ld.bin", (long) getpid());
        return eddy_run(run, path, NULL) < 0 ? 1 : 0;
}
