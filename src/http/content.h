/*
 * http/content.h - answers a request with a part of a file, with conditions, ranges and validators.
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
        bool is_watched;  /* EDDY_E_HTTP_BODY_LENGTH if the file changes while it is sent */
        bool has_codings; /* other answers have the same content in another coding */
};

/*
 * Answer with the content. If the method is GET or HEAD, 'status' is 200, and 'headers' have no
 * Content-Range, the answer has ETag, Last-Modified and Accept-Ranges, from 'headers' if given
 * there, and the status can become 206, 304, 412 or 416. "Accept-Ranges: none" in 'headers' turns
 * ranges off.
 *
 * Suspends: yes.
 * Errors: those of eddy_http_exchange_respond_file()
 */
EDDY_MUST_USE int ed_http_content_send(eddy_http_exchange *exchange, int status,
                                       const struct ed_http_content *content);

#endif
