/*
 * http/content.h - a part of a file as the answer to a request: with its validators, by conditions, whole
 * or by ranges.
 */
#ifndef ED_HTTP_CONTENT_H
#define ED_HTTP_CONTENT_H

#include "eddy/file.h"
#include "http/exchange.h"

struct ed_http_content {
        eddy_file *file;
        struct eddy_file_info info;
        int64_t offset, bytes; /* of the part */
        const struct eddy_http_header *headers;
        size_t headers_count;
        bool is_watched; /* a file that changes while it is sent is EDDY_E_HTTP_BODY_LENGTH */
};

/*
 * Answer with the content. To GET and HEAD with the status 200, unless 'headers' have Content-Range, the
 * answer has ETag, Last-Modified and Accept-Ranges, those of 'headers' if these have them; the answer can be
 * a 206, 304, 412 or 416. "Accept-Ranges: none" in 'headers' turns ranges off.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_exchange_respond_file()
 */
EDDY_MUST_USE int ed_http_content_send(eddy_http_exchange *exchange, int status,
                                       const struct ed_http_content *content);

#endif
