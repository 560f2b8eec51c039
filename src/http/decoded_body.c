/*
 * http/decoded_body.c - see decoded_body.h.
 */
#include "http/decoded_body.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/time.h"
#include "http/client.h"
#include "http/coding_chain.h"
#include "scope/suspend.h"

enum { PIECE_BYTES = 16 << 10 };

void ed_http_decoded_begin(struct ed_http_decoded *decoding)
{
        *decoding = (struct ed_http_decoded){ .decoder = NULL };
}

void ed_http_decoded_skip(struct ed_http_decoded *decoding)
{
        decoding->is_known = true;
}

void ed_http_decoded_end(struct ed_http_decoded *decoding)
{
        ed_coding_chain_free(decoding->decoder);
        ed_buf_fini(&decoding->whole);
        ed_http_decoded_begin(decoding);
}

/* Returns 0 at the body's end, else 'err'. */
static int end_or(eddy_http_response *response, int err)
{
        char byte;
        int64_t n = response->ops->read(response, &byte, 1);

        return n > 0 ? err : (int) n;
}

/* Read the response's fields. An unknown coding of an empty body is not a fault. */
static int find_codings(eddy_http_response *response)
{
        struct ed_http_decoded *decoding = &response->decoding;
        struct ed_coding_list list = { .n = 0 };
        struct eddy_http_header header;
        int err = 0;

        for (size_t i = 0; err >= 0 && response->ops->header_at(response, i, &header) == 0; i++)
                if (strcasecmp(header.name, "content-encoding") == 0)
                        err = ed_coding_list_add(&list, header.value);
        if (err < 0) {
                int found = end_or(response, err);

                if (found < 0 && found != err)
                        return found;
                decoding->err = found;
        } else if (list.n > 0) {
                decoding->decoder = ed_coding_chain_new(&list, response->body_bytes_max);
                if (!decoding->decoder)
                        return -ENOMEM;
                ed_buf_init(&decoding->whole, SIZE_MAX);
        }
        decoding->is_known = true;
        return 0;
}

/* Find out whether the body is coded. Returns 1 if it is to be decoded, else 0. Suspends. */
static int prepare(eddy_http_response *response)
{
        struct ed_http_decoded *decoding = &response->decoding;
        int err;

        if (!response->client->decode)
                return 0;
        if (!decoding->is_known) {
                err = find_codings(response);
                if (err < 0)
                        return err;
        }
        if (decoding->err < 0 || !decoding->decoder)
                return decoding->err;
        return decoding->is_dropped ? end_or(response, EDDY_E_HTTP_STATE) : 1;
}

/*
 * The body has ended. If a coding has not, the server sent it so, or the body was cut: only the
 * close of the connection shows where such a body ends.
 */
static int end_codings(const eddy_http_response *response)
{
        int err = ed_coding_chain_finish(response->decoding.decoder);

        return err < 0 && response->ops->ends_by_close(response) ? EDDY_E_HTTP_TRUNCATED : err;
}

/* Read and decode. */
static int64_t decode(eddy_http_response *response, void *buf, size_t bytes)
{
        struct ed_coding_chain *decoder = response->decoding.decoder;
        size_t room_bytes;
        void *room;
        int64_t n;

        for (;;) {
                n = ed_coding_chain_read(decoder, buf, bytes);
                if (n == -EAGAIN) {
                        n = eddy_sleep(0);
                        if (n < 0)
                                return n;
                        continue;
                }
                if (n < 0)
                        response->decoding.err = (int) n;
                if (n != 0)
                        return n;
                room = ed_coding_chain_room(decoder, &room_bytes);
                n = response->ops->read(response, room, room_bytes);
                if (n < 0)
                        return n;
                if (n == 0)
                        return response->decoding.err = end_codings(response);
                ed_coding_chain_fed(decoder, (size_t) n);
        }
}

int64_t ed_http_decoded_read(eddy_http_response *response, void *buf, size_t bytes)
{
        struct ed_http_decoded *decoding = &response->decoding;
        struct ed_task *task;
        size_t kept;
        int64_t n;

        n = prepare(response);
        if (n == 0)
                return response->ops->read(response, buf, bytes);
        if (n > 0)
                n = ed_suspend_enter(&task);
        if (n < 0)
                return n;
        if (bytes == 0)
                return -EINVAL;
        if (decoding->is_gathered)
                return 0;
        kept = ed_buf_bytes(&decoding->whole);
        if (kept > 0) {
                bytes = bytes < kept ? bytes : kept;
                memcpy(buf, ed_buf_data(&decoding->whole), bytes);
                ed_buf_consume(&decoding->whole, bytes);
                n = (int64_t) bytes;
        } else {
                n = decode(response, buf, bytes);
        }
        ed_suspend_passed(task);
        return n;
}

/* Decode the rest of the body into 'whole'. After a cancel, later calls continue. */
static int gather(eddy_http_response *response)
{
        struct ed_buf *whole = &response->decoding.whole;
        struct ed_task *task;
        char *room;
        int64_t n;
        int err;

        do {
                err = ed_suspend_enter(&task);
                if (err >= 0)
                        err = ed_buf_reserve(whole, PIECE_BYTES, &room);
                if (err < 0)
                        return err;
                n = decode(response, room, PIECE_BYTES - 1);
                if (n < 0)
                        return (int) n;
                ed_buf_grow(whole, (size_t) n);
                room[n] = '\0';
                ed_suspend_passed(task);
        } while (n > 0);
        response->decoding.is_gathered = true;
        return 0;
}

int ed_http_decoded_body(eddy_http_response *response, const void **ret_data, size_t *ret_bytes)
{
        struct ed_http_decoded *decoding = &response->decoding;
        struct ed_task *task;
        int err;

        err = prepare(response);
        if (err == 0)
                return response->ops->body(response, ret_data, ret_bytes);
        if (err > 0)
                err = decoding->is_gathered ? ed_suspend_enter(&task) : gather(response);
        if (err < 0)
                return err;
        *ret_data = ed_buf_data(&decoding->whole);
        *ret_bytes = ed_buf_bytes(&decoding->whole);
        return 0;
}

/* The coded bytes are dropped without being decoded; after a cancel the rest cannot be decoded. */
int ed_http_decoded_discard(eddy_http_response *response)
{
        struct ed_http_decoded *decoding = &response->decoding;
        int err = response->ops->discard(response);

        if (decoding->is_gathered)
                return err;
        if (err >= 0)
                ed_http_decoded_end(decoding);
        else
                decoding->is_dropped = true;
        return err;
}
