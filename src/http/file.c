/*
 * http/file.c - a file as the body of a request or a response.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_file.h"

enum { PIECE_BYTES = 64 * 1024 };

static int64_t body_read(void *arg, void *buf, size_t bytes)
{
        struct eddy_http_file_body *body = arg;
        uint64_t left = (uint64_t) (body->end - body->at);
        int64_t n;

        if (left == 0)
                return 0;
        n = eddy_file_read_at(body->file, buf, bytes < left ? bytes : (size_t) left, body->at);
        if (n > 0)
                body->at += n;
        return n == 0 ? EDDY_E_HTTP_BODY_LENGTH : n;
}

static int body_rewind(void *arg)
{
        struct eddy_http_file_body *body = arg;

        body->at = body->begin;
        return 0;
}

int eddy_http_file_body_init(struct eddy_http_file_body *ret_body, eddy_file *file, int64_t offset,
                             uint64_t bytes)
{
        struct eddy_file_info info;
        int err = offset < 0 ? -EINVAL : eddy_file_stat(file, &info);

        if (err < 0)
                return err;
        if (info.kind != EDDY_FILE_REGULAR)
                return -EINVAL;
        if (offset > info.bytes)
                return EDDY_E_HTTP_BODY_LENGTH;
        if (bytes == EDDY_HTTP_FILE_REST)
                bytes = (uint64_t) (info.bytes - offset);
        if (bytes > (uint64_t) (info.bytes - offset))
                return EDDY_E_HTTP_BODY_LENGTH;
        *ret_body = (struct eddy_http_file_body){
                .source = { .read = body_read,
                            .rewind = body_rewind,
                            .arg = ret_body,
                            .bytes = (int64_t) bytes },
                .file = file,
                .begin = offset,
                .at = offset,
                .end = offset + (int64_t) bytes,
        };
        return 0;
}

/* Write the body, of which the first 'n' bytes are in 'buf', and end the answer. */
static int send_body(eddy_http_exchange *exchange, struct eddy_http_file_body *body, char *buf,
                     int64_t n)
{
        while (n > 0) {
                int err = eddy_http_exchange_write(exchange, buf, (size_t) n);

                n = err < 0 ? err : body_read(body, buf, PIECE_BYTES);
        }
        return n < 0 ? (int) n : eddy_http_exchange_end(exchange);
}

int eddy_http_exchange_respond_file(eddy_http_exchange *exchange, int status,
                                    const struct eddy_http_header *headers, size_t headers_count,
                                    eddy_file *file, int64_t offset, uint64_t bytes)
{
        struct eddy_http_file_body body;
        char *buf;
        int64_t n = 0;
        int err = eddy_http_file_body_init(&body, file, offset, bytes);

        if (err < 0)
                return err;
        buf = ed_alloc(PIECE_BYTES);
        if (!buf)
                return -ENOMEM;
        /* Before the head, which leaves in one write with the first piece. */
        if (strcmp(eddy_http_exchange_method(exchange), "HEAD") != 0)
                n = body_read(&body, buf, PIECE_BYTES);
        err = n < 0 ? (int) n
                    : eddy_http_exchange_begin(exchange, status, headers, headers_count,
                                               body.end - body.begin);
        if (err == 0)
                err = send_body(exchange, &body, buf, n);
        ed_free(buf);
        return err;
}
