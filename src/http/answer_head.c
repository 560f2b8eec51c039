/*
 * http/answer_head.c - see answer_head.h.
 */
#include "http/answer_head.h"

int ed_http_check_status(int status, int64_t body_bytes, char refused[ED_HTTP_REFUSED_BYTES])
{
        if (status < 200 || status > 999)
                return ed_http_refuse(refused, "the status %d is not one from 200 to 999", status);
        /* RFC 9110, 15.3.6: a 205 has no content either, but its head does not say so by the status. */
        if ((status == 205 || ed_http_status_has_no_body(status)) && body_bytes > 0)
                return ed_http_refuse(refused, "a response with the status %d has no body", status);
        return 0;
}

int ed_http_check_hints(const struct eddy_http_header *headers, size_t n,
                        char refused[ED_HTTP_REFUSED_BYTES])
{
        size_t bytes = 0;

        for (size_t i = 0; i < n; i++) {
                if (!ed_http_header_is_allowed(&headers[i]) ||
                    strcasecmp(headers[i].name, "connection") == 0)
                        return ed_http_refuse_header(refused, &headers[i]);
                bytes += strlen(headers[i].name) + strlen(headers[i].value) + 4;
        }
        if (bytes > ED_HTTP_HINTS_BYTES_MAX)
                return ed_http_refuse(refused, "its early hints are larger than %d bytes",
                                      ED_HTTP_HINTS_BYTES_MAX);
        return 0;
}
