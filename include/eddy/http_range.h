/*
 * eddy/http_range.h - continues the body of a response that was cut, by a request for the rest of
 * it: RFC 9110, 8.8 (validators), 13.1.5 (If-Range) and 14 (ranges).
 *
 * eddy_http_download() does all of this (eddy/http_download.h); these are its rules, for a program
 * that keeps the bytes elsewhere than in a file.  In any doubt the whole body is used, because a
 * wrong join would not be found later.
 *
 *     eddy_http_range_note(&range, response);        after a response with the status 200
 *     ...                                            'received' bytes, and then an error
 *     if (*range.validator && received > 1)          send "Range: bytes=FIRST-", "If-Range: "
 *             first = received - 1;                  with the validator, and
 *                                                    "Accept-Encoding: identity"
 *     switch (eddy_http_range_judge(&range, first, response, &bytes))
 *
 * Ask for the last byte again, so that the range is not empty if only the end of the body was
 * missing: then a server that still has this body never answers 416.
 */
#ifndef EDDY_HTTP_RANGE_H
#define EDDY_HTTP_RANGE_H

#include "eddy/def.h"
#include "eddy/http_response.h"

EDDY_BEGIN_DECLS

#define EDDY_HTTP_RANGE_UNKNOWN UINT64_MAX

enum { EDDY_HTTP_RANGE_VALIDATOR_BYTES = 128 };

/* The body of which a part was received.  Without a validator it cannot be continued. */
struct eddy_http_range {
        /* for If-Range: a strong ETag, or the date of Last-Modified; "": none */
        char validator[EDDY_HTTP_RANGE_VALIDATOR_BYTES];
        uint64_t total; /* bytes of the whole body; EDDY_HTTP_RANGE_UNKNOWN: not known */
        uintptr_t reserved[2];
};

/*
 * Note which body a response with the status 200 has.  It has a validator if it can be continued:
 * it has no coding, its ETag is strong; or it has no ETag, and a Last-Modified that is at least a
 * minute older than its Date (RFC 9110, 8.8.2.2).  A date does not show which variant was chosen,
 * so it does not count beside Vary.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_range_note(struct eddy_http_range *range,
                                   const eddy_http_response *response);

/* The kinds of responses to a request for the rest. */
enum eddy_http_range_answer {
        EDDY_HTTP_RANGE_CONTINUED, /* 206: the body is the rest, or the beginning of the rest */
        EDDY_HTTP_RANGE_WHOLE,     /* the body is the whole of this or another one */
        EDDY_HTTP_RANGE_REFUSED,   /* 416, or a 206 that does not fit: ask for the whole */
        EDDY_HTTP_RANGE_FAILED     /* a failure, with a status of 300 or more */
};

/*
 * Judge the response to a request for the bytes from 'first' on.  If it continues the body, store
 * the number of its bytes, and 'range->total' is known then: the response has the same validator (a
 * date may be left out), a Content-Range from 'first', a Content-Length that agrees, no coding, and
 * is not multipart/byteranges.
 *
 * Suspends: no.
 */
EDDY_API enum eddy_http_range_answer eddy_http_range_judge(struct eddy_http_range *range,
                                                           uint64_t first,
                                                           const eddy_http_response *response,
                                                           uint64_t *ret_bytes);

EDDY_END_DECLS

#endif
