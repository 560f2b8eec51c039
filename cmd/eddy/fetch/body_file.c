/*
 * fetch/body_file.c - see body_file.h.
 */
#include "fetch/body_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "eddy/alloc.h"
#include "eddy/error.h"
#include "fetch/part.h"

enum { FIRST_MIN = 1, HEADERS_OWN = 3, RANGE_TEXT_BYTES = 32 };

void ed_body_file_init(struct ed_body_file *body, struct ed_save *save, const char *url,
                       uint64_t index, bool is_continued)
{
        body->save = save;
        body->url = url;
        body->index = index;
        body->file.fd = -1;
        body->file.has_part = body->file.has_note = false;
        body->range.validator[0] = '\0';
        body->bytes = body->first = 0;
        body->is_continued = is_continued;
        body->is_refused = body->is_looked_for = body->is_noted = false;
}

/* Forget the file. */
static void body_drop(struct ed_body_file *body)
{
        ed_save_dir_drop(&body->file);
        body->bytes = 0;
        body->range.validator[0] = '\0';
        body->is_noted = false;
}

/* The server does not continue the body as it should: ask only for the whole from now on. */
static int body_refuse(struct ed_body_file *body)
{
        body_drop(body);
        body->is_refused = true;
        return EAGAIN;
}

/* ---- the request ----------------------------------------------------------------------------- */

/*
 * Returns from which byte the next request asks for the body; 0: for the whole. The last byte is asked
 * for again, so that the range is not empty if the whole body is there.
 */
static uint64_t first_of(const struct ed_body_file *body)
{
        bool has_rest = body->file.has_part && *body->range.validator && body->bytes > FIRST_MIN;

        return has_rest && !body->is_refused ? body->bytes - 1 : 0;
}

int ed_body_file_request(struct ed_body_file *body, const struct ed_headers *headers,
                         struct ed_body_file_request *ret_request)
{
        struct {
                struct eddy_http_header items[ED_HEADERS_MAX + HEADERS_OWN];
                char text[RANGE_TEXT_BYTES];
        } * own;
        size_t count = 0;

        if (body->is_continued && !body->is_looked_for) {
                body->is_looked_for = true;
                body->bytes =
                        ed_part_find(body->save, body->url, body->index, &body->file, &body->range);
                body->is_noted = body->file.has_note;
        }
        body->first = first_of(body);
        *ret_request = (struct ed_body_file_request){ headers->items, headers->count, NULL };
        if (body->first == 0)
                return 0;
        own = eddy_malloc(sizeof(*own));
        if (!own)
                return -ENOMEM;
        for (size_t i = 0; i < headers->count; i++)
                if (strcasecmp(headers->items[i].name, "Accept-Encoding") != 0)
                        own->items[count++] = headers->items[i];
        snprintf(own->text, sizeof(own->text), "bytes=%llu-", (unsigned long long) body->first);
        own->items[count++] = (struct eddy_http_header){ "Range", own->text };
        own->items[count++] = (struct eddy_http_header){ "If-Range", body->range.validator };
        own->items[count++] = (struct eddy_http_header){ "Accept-Encoding", "identity" };
        *ret_request = (struct ed_body_file_request){ own->items, count, own };
        return 0;
}

/* ---- the response ---------------------------------------------------------------------------- */

/* Begin the file again, from its first byte. */
static int whole_begin(struct ed_body_file *body, const eddy_http_response *response, int status)
{
        body_drop(body);
        body->left = EDDY_HTTP_RANGE_UNKNOWN;
        if (body->is_continued && status == 200)
                eddy_http_range_note(&body->range, response);
        return ed_save_file_begin(
                body->save, body->url, body->index,
                &(struct ed_save_head){
                        .type = eddy_http_response_header(response, "Content-Type"),
                        .disposition = eddy_http_response_header(response, "Content-Disposition"),
                },
                &body->file);
}

static int rest_begin(struct ed_body_file *body)
{
        if (ed_save_dir_reopen(&body->file, body->bytes, body->first) < 0)
                return body_refuse(body);
        body->bytes = body->first;
        return 0;
}

int ed_body_file_begin(struct ed_body_file *body, const eddy_http_response *response, int status)
{
        enum eddy_http_range_answer answer =
                status < 300 ? EDDY_HTTP_RANGE_WHOLE : EDDY_HTTP_RANGE_FAILED;

        if (body->first > 0)
                answer = eddy_http_range_judge(&body->range, body->first, response, &body->left);
        else if (body->is_continued && status == 206)
                return EDDY_E_HTTP_INVALID_RESPONSE;
        switch (answer) {
        case EDDY_HTTP_RANGE_CONTINUED:
                return rest_begin(body);
        case EDDY_HTTP_RANGE_WHOLE:
                return whole_begin(body, response, status);
        case EDDY_HTTP_RANGE_REFUSED:
                return body_refuse(body);
        default:
                return 0;
        }
}

int ed_body_file_write(struct ed_body_file *body, const void *data, size_t bytes)
{
        int err;

        if (bytes > body->left)
                return body_refuse(body);
        if (body->left != EDDY_HTTP_RANGE_UNKNOWN)
                body->left -= bytes;
        err = ed_save_file_write(body->save, &body->file, data, bytes);
        if (err < 0)
                return err;
        body->bytes += bytes;
        if (body->bytes >= ED_PART_BYTES_MIN && *body->range.validator && !body->is_noted) {
                body->is_noted = true;
                ed_part_note(&body->file, body->url, &body->range);
        }
        return 0;
}

int ed_body_file_end(const struct ed_body_file *body)
{
        bool is_part = body->left != EDDY_HTTP_RANGE_UNKNOWN;

        return is_part && (body->left > 0 || body->bytes != body->range.total)
                       ? EDDY_E_HTTP_TRUNCATED
                       : 0;
}

void ed_body_file_pause(struct ed_body_file *body)
{
        if (first_of(body) > 0)
                ed_save_dir_pause(&body->file);
        else
                body_drop(body);
}
