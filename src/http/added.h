/*
 * http/added.h - headers that a handler has added for its answer before it begins, and which headers a
 * handler may set.
 *
 * A buffer of the exchange has their names and values, each with a NUL.
 */
#ifndef ED_HTTP_ADDED_H
#define ED_HTTP_ADDED_H

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "http/refuse.h"

/* Limit of all added names and values, with their NULs: it leaves room in a head for the rest. */
enum { ED_HTTP_ADDED_BYTES_MAX = 16 << 10 };

/*
 * Append a header, whole or not at all.
 *
 * Errors: EDDY_E_HTTP_INVALID_ANSWER  the reason is in 'refused'
 *         -ENOMEM
 */
EDDY_MUST_USE int ed_http_added_append(struct ed_buf *added, const char *name, const char *value,
                                       char refused[ED_HTTP_REFUSED_BYTES]);

/* Store the added header at '*at', which is 0 for the first, and move '*at' to the next. */
EDDY_MUST_USE static inline bool ed_http_added_next(const struct ed_buf *added, size_t *at,
                                                    struct eddy_http_header *ret_header)
{
        const char *text = ed_buf_data(added);

        if (*at >= ed_buf_bytes(added))
                return false;
        ret_header->name = text + *at;
        *at += strlen(ret_header->name) + 1;
        ret_header->value = text + *at;
        *at += strlen(ret_header->value) + 1;
        return true;
}

/* Returns true if the server does not write the header itself, and HTTP allows it. */
bool ed_http_header_is_allowed(const struct eddy_http_header *header);

/*
 * Returns true if a header describes the content of an answer, or how long it may be cached. An
 * answer that the server makes in place of the handler does not get such headers of the handler.
 */
bool ed_http_header_is_of_content(const struct eddy_http_header *header);

#endif
