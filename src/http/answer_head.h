/*
 * http/answer_head.h - the head of a handler's answer, as far as it is the same in all versions of HTTP.
 */
#ifndef ED_HTTP_ANSWER_HEAD_H
#define ED_HTTP_ANSWER_HEAD_H

#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "http/added.h"

enum { ED_HTTP_HINTS_BYTES_MAX = 16 << 10 };

/* RFC 9110, 15: answers with these statuses end with their head. */
static inline bool ed_http_status_has_no_body(int status)
{
        return status == 204 || status == 304;
}

/*
 * Refuse a status that cannot end a request, and a body that the status does not have.
 *
 * Errors: EDDY_E_HTTP_INVALID_ANSWER  the reason is in 'refused'
 */
EDDY_MUST_USE int ed_http_check_status(int status, int64_t body_bytes,
                                       char refused[ED_HTTP_REFUSED_BYTES]);

/* Refuse headers that hints cannot have. Errors as above. */
EDDY_MUST_USE int ed_http_check_hints(const struct eddy_http_header *headers, size_t n,
                                      char refused[ED_HTTP_REFUSED_BYTES]);

/* Write a field of the head. Returns false if HTTP forbids the name or the value. */
typedef bool ed_http_write_field_fn(void *writer, const char *name, size_t name_bytes,
                                    const char *value, size_t value_bytes);

/* The headers of an answer that are written. */
struct ed_http_answer_head {
        const struct ed_buf *added;             /* by the handler before; they come first */
        const struct eddy_http_header *headers; /* of the answer */
        size_t headers_count;
        bool is_own;   /* the server answers in place of the handler */
        bool has_date; /* a result: one of them is the field Date */
        bool closes;   /* a result: one of them was "Connection: close", which is not written */
};

/* Returns true if a name is 'other', in any case. Most names differ in their lengths. */
static inline bool ed_http_is_name(const char *name, size_t bytes, const char *other)
{
        return bytes == strlen(other) && strcasecmp(name, other) == 0;
}

/*
 * Write a header of the handler. The server decides how a message ends, so fields that affect this
 * are refused, except "Connection: close".
 */
static inline __attribute__((always_inline)) bool ed_http_answer_field_write(
        struct ed_http_answer_head *head, const struct eddy_http_header *header,
        ed_http_write_field_fn *fn, void *writer)
{
        const char *name = header->name, *value = header->value;
        size_t bytes = name ? strlen(name) : 0;

        if (!name || !value || ed_http_is_name(name, bytes, "content-length") ||
            ed_http_is_name(name, bytes, "transfer-encoding"))
                return false;
        if (ed_http_is_name(name, bytes, "connection")) {
                head->closes |= strcasecmp(value, "close") == 0;
                return strcasecmp(value, "close") == 0;
        }
        head->has_date |= ed_http_is_name(name, bytes, "date");
        return fn(writer, name, bytes, value, strlen(value));
}

/*
 * Write all headers by 'fn', which is inlined.
 *
 * Errors: EDDY_E_HTTP_INVALID_ANSWER  the reason is in 'refused'
 */
static inline __attribute__((always_inline)) int ed_http_answer_head_write(
        struct ed_http_answer_head *head, ed_http_write_field_fn *fn, void *writer,
        char refused[ED_HTTP_REFUSED_BYTES])
{
        struct eddy_http_header added;
        size_t at = 0;

        while (ed_http_added_next(head->added, &at, &added))
                if (!(head->is_own && ed_http_header_is_of_content(&added)) &&
                    !ed_http_answer_field_write(head, &added, fn, writer))
                        return ed_http_refuse_header(refused, &added);
        for (size_t i = 0; i < head->headers_count; i++)
                if (!ed_http_answer_field_write(head, &head->headers[i], fn, writer))
                        return ed_http_refuse_header(refused, &head->headers[i]);
        return 0;
}

#endif
