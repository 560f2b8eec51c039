/*
 * http/conditions.h - evaluates the conditions of a request (RFC 9110, 13) for a server.
 */
#ifndef ED_HTTP_CONDITIONS_H
#define ED_HTTP_CONDITIONS_H

#include "http/exchange.h"

/* The date is not known: conditions with a date do not apply. */
#define ED_HTTP_NO_DATE INT64_MIN

/* The validators of a content (RFC 9110, 8.8), with which conditions are compared. */
struct ed_http_validators {
        const char *tag;    /* for ETag */
        int64_t modified_s; /* for Last-Modified, or ED_HTTP_NO_DATE */
        bool has_codings;   /* the content has this date in other codings too */
};

/*
 * Evaluate the conditions of a GET or HEAD, in the order of RFC 9110, 13.2.2. Returns the status
 * 304 or 412, or 0 if the content is to be sent. After 0 '*ret_range' is the value of Range if a
 * part may be sent, else NULL. A part may be sent only for GET (RFC 9110, 14.2), and only if
 * If-Range is missing or matches this content.
 */
int ed_http_conditions_judge(const eddy_http_exchange *exchange,
                             const struct ed_http_validators *validators, const char **ret_range);

#endif
