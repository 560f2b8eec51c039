/*
 * batch/run/content.c - see content.h.
 */
#include "batch/run/content.h"

#include <errno.h>

#include "eddy/error.h"

enum { PIECE_BYTES = 16 << 10 };

void ed_content_init(struct ed_content *content, eddy_http_response *response)
{
        content->response = response;
        content->is_coded = eddy_http_response_header(response, "Content-Encoding") != NULL;
        content->at_end = false;
        content->at = content->end = 0;
        ed_unpack_init(&content->unpack);
}

void ed_content_fini(struct ed_content *content)
{
        ed_unpack_fini(&content->unpack);
}

static int content_fault(const struct ed_content *content, int64_t err)
{
        if (err == -EINVAL)
                return content->at_end ? EDDY_E_HTTP_TRUNCATED : EDDY_E_HTTP_CODING_INVALID;
        return err == -EFBIG ? EDDY_E_HTTP_TOO_LARGE : (int) err;
}

int64_t ed_content_read(struct ed_content *content, void *buf, size_t bytes)
{
        size_t taken;
        int64_t n;

        if (!content->is_coded)
                return eddy_http_response_read(content->response, buf, bytes);
        for (;;) {
                n = ed_unpack_some(&content->unpack,
                                   content->at_end ? NULL : content->in + content->at,
                                   content->end - content->at, &taken, buf, bytes);
                if (n < 0)
                        return content_fault(content, n);
                content->at += taken;
                if (n > 0 || content->at_end)
                        return n;
                n = eddy_http_response_read(content->response, content->in, sizeof(content->in));
                if (n < 0)
                        return n;
                content->at = 0;
                content->end = (size_t) n;
                content->at_end = n == 0;
        }
}

int ed_content_read_all(struct ed_content *content, struct ed_draft *body)
{
        int64_t n;
        char *room;

        body->max = ED_CONTENT_BYTES_MAX;
        for (;;) {
                room = ed_draft_room(body, PIECE_BYTES);
                if (!room)
                        return body->bytes + PIECE_BYTES > body->max ? EDDY_E_HTTP_TOO_LARGE
                                                                     : -ENOMEM;
                n = ed_content_read(content, room, PIECE_BYTES);
                if (n <= 0)
                        return (int) n;
                body->bytes += (size_t) n;
        }
}
