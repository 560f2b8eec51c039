/*
 * http/conditions.h - conditional requests (RFC 9110, 13), as the server of a content judges them.
 */
#ifndef ED_HTTP_CONDITIONS_H
#define ED_HTTP_CONDITIONS_H

#include "http/exchange.h"

/* The validators of a content, by which a client that has it asks (RFC 9110, 8.8). */
struct ed_http_validators {
        const char *tag;    /* for ETag */
        int64_t modified_s; /* for Last-Modified */
};

/*
 * Judge the conditions of a GET or HEAD, in the order of RFC 9110, 13.2.2. Returns 0, 304 or 412 if the
 * answer is that; 0: the content. Then '*ret_range' is the value of Range if a part may be sent, else NULL:
 * only for GET (RFC 9110, 14.2), and if If-Range names this content.
 */
int ed_http_conditions_judge(const eddy_http_exchange *exchange,
                             const struct ed_http_validators *validators, const char **ret_range);

#endif
