/*
 * http/file.c - a file as the body of a request or a response.
 */
#include <errno.h>

#include "eddy/error.h"
#include "eddy/http_file.h"
#include "http/content.h"

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

/* Describe a file, and find the length of its part from 'offset' on. */
static int part_find(eddy_file *file, int64_t offset, uint64_t bytes,
                     struct eddy_file_info *ret_info, int64_t *ret_bytes)
{
        int err = offset < 0 ? -EINVAL : eddy_file_stat(file, ret_info);

        if (err < 0)
                return err;
        if (ret_info->kind != EDDY_FILE_REGULAR)
                return -EINVAL;
        if (offset > ret_info->bytes)
                return EDDY_E_HTTP_BODY_LENGTH;
        if (bytes == EDDY_HTTP_FILE_REST)
                bytes = (uint64_t) (ret_info->bytes - offset);
        if (bytes > (uint64_t) (ret_info->bytes - offset))
                return EDDY_E_HTTP_BODY_LENGTH;
        *ret_bytes = (int64_t) bytes;
        return 0;
}

int eddy_http_file_body_init(struct eddy_http_file_body *ret_body, eddy_file *file, int64_t offset,
                             uint64_t bytes)
{
        struct eddy_file_info info;
        int64_t length;
        int err = part_find(file, offset, bytes, &info, &length);

        if (err < 0)
                return err;
        *ret_body = (struct eddy_http_file_body){
                .source = { .read = body_read,
                            .rewind = body_rewind,
                            .arg = ret_body,
                            .bytes = length },
                .file = file,
                .begin = offset,
                .at = offset,
                .end = offset + length,
        };
        return 0;
}

int eddy_http_exchange_respond_file(eddy_http_exchange *exchange, int status,
                                    const struct eddy_http_header *headers, size_t headers_count,
                                    eddy_file *file, int64_t offset, uint64_t bytes)
{
        struct ed_http_content content = { .file = file,
                                           .offset = offset,
                                           .headers = headers,
                                           .headers_count = headers ? headers_count : 0 };
        int err = part_find(file, offset, bytes, &content.info, &content.bytes);

        return err < 0 ? err : ed_http_content_send(exchange, status, &content);
}
