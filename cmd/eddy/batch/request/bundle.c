/*
 * batch/request/bundle.c - see bundle.h.
 */
#include "batch/request/bundle.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "eddy/alloc.h"
#include "eddy/json.h"

/* Find the text in the body. Returns false if there is none, or more than one. */
static bool input_find(const struct ed_request *request, struct ed_bundle_row *row)
{
        struct eddy_json_value body, name, value;
        struct eddy_json_cursor cursor;
        bool is_found = false;

        if (!request->url || !request->body || !request->body_is_json || request->generates ||
            request->streams ||
            eddy_json_parse(request->body, request->body_bytes, NULL, &body, NULL) < 0 ||
            body.kind != EDDY_JSON_OBJECT || eddy_json_walk(&body, &cursor) < 0)
                return false;
        while (eddy_json_next(&cursor, &name, &value)) {
                if (!eddy_json_is(&name, "input"))
                        continue;
                if (is_found || value.kind != EDDY_JSON_STRING)
                        return false;
                is_found = true;
                row->input_at = (size_t) (value.text - request->body);
                row->input_bytes = value.bytes;
        }
        return is_found;
}

bool ed_bundle_can(const struct ed_request *request)
{
        struct ed_bundle_row row;

        return input_find(request, &row);
}

int ed_bundle_new(size_t rows, struct ed_bundle **ret_bundle)
{
        size_t bytes = sizeof(struct ed_bundle) + rows * sizeof(struct ed_bundle_row);
        struct ed_bundle *bundle = eddy_malloc(bytes);

        if (!bundle)
                return -ENOMEM;
        *bundle = (struct ed_bundle){ .room = rows, .bytes = bytes };
        *ret_bundle = bundle;
        return 0;
}

void ed_bundle_free(struct ed_bundle *bundle)
{
        if (!bundle)
                return;
        for (size_t i = 0; i < bundle->count; i++)
                ed_request_free(bundle->rows[i].request);
        eddy_free(bundle->body);
        eddy_free(bundle);
}

static bool has_same_headers(const struct ed_request *a, const struct ed_request *b)
{
        if (a->headers_count != b->headers_count)
                return false;
        for (size_t i = 0; i < a->headers_count; i++)
                if (strcmp(a->headers[i].name, b->headers[i].name) != 0 ||
                    strcmp(a->headers[i].value, b->headers[i].value) != 0)
                        return false;
        return true;
}

/* Returns true if two rows are the same except for id, metadata and text. */
static bool is_alike(const struct ed_bundle_row *a, const struct ed_bundle_row *b)
{
        const struct ed_request *ra = a->request, *rb = b->request;
        size_t a_end = a->input_at + a->input_bytes, b_end = b->input_at + b->input_bytes;

        return a->input_at == b->input_at && ra->body_bytes - a_end == rb->body_bytes - b_end &&
               memcmp(ra->body, rb->body, a->input_at) == 0 &&
               memcmp(ra->body + a_end, rb->body + b_end, ra->body_bytes - a_end) == 0 &&
               strcmp(ra->method, rb->method) == 0 && strcmp(ra->url, rb->url) == 0 &&
               ra->timeout_ns == rb->timeout_ns && ra->vendor == rb->vendor &&
               has_same_headers(ra, rb);
}

int ed_bundle_add(struct ed_bundle *bundle, struct ed_request *request)
{
        struct ed_bundle_row row = { .request = request };

        if (bundle->count == bundle->room || !input_find(request, &row))
                return 0;
        if (bundle->count > 0 && (bundle->bytes + request->memory > ED_BUNDLE_BYTES_MAX ||
                                  !is_alike(&bundle->rows[0], &row)))
                return 0;
        bundle->rows[bundle->count++] = row;
        bundle->bytes += request->memory;
        return 1;
}

static void text_add(char **to, const char *text, size_t bytes)
{
        memcpy(*to, text, bytes);
        *to += bytes;
}

/* Write the body of a part into 'to', whose size is right. */
static void body_write(const struct ed_bundle *bundle, size_t at, size_t part, char *to)
{
        const struct ed_bundle_row *first = &bundle->rows[at];
        const char *body = first->request->body;
        size_t end = first->input_at + first->input_bytes;

        text_add(&to, body, first->input_at);
        text_add(&to, "[", 1);
        for (size_t i = at; i < at + part; i++) {
                const struct ed_bundle_row *row = &bundle->rows[i];

                if (i > at)
                        text_add(&to, ",", 1);
                text_add(&to, row->request->body + row->input_at, row->input_bytes);
        }
        text_add(&to, "]", 1);
        text_add(&to, body + end, first->request->body_bytes - end);
        *to = '\0';
}

int ed_bundle_take(struct ed_bundle *bundle, size_t at, size_t part)
{
        const struct ed_bundle_row *first = &bundle->rows[at];
        size_t bytes = first->request->body_bytes - first->input_bytes + 1 + part;
        struct ed_request request = *first->request;
        char *body = NULL;

        for (size_t i = at; i < at + part; i++)
                bytes += bundle->rows[i].input_bytes;
        if (part > 1) {
                body = eddy_malloc(bytes + 1);
                if (!body)
                        return -ENOMEM;
                body_write(bundle, at, part, body);
                request.body = body;
                request.body_bytes = bytes;
                for (size_t i = at; i < at + part; i++) {
                        uint64_t key = ed_request_key(bundle->rows[i].request);

                        request.hash = XXH3_64bits_withSeed(&key, sizeof(key), request.hash);
                }
        }
        eddy_free(bundle->body);
        bundle->body = body;
        bundle->request = request;
        bundle->at = at;
        bundle->part = part;
        return 0;
}
