/*
 * http/decoded_body.h - reads the body of a client's response decoded, on top of its protocol's
 * reads.
 */
#ifndef ED_HTTP_DECODED_BODY_H
#define ED_HTTP_DECODED_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "eddy/http_client.h"

struct ed_coding_chain;

struct ed_http_decoded {
        struct ed_coding_chain *decoder; /* NULL: the body is read as it is */
        struct ed_buf whole;             /* decoded by body(), not yet returned by read() */
        bool is_known;                   /* the response's fields were read */
        bool is_gathered;                /* body() has returned all */
        bool is_dropped;                 /* discard() was cancelled: coded bytes are missing */
        int err;                         /* of all further reads */
};

void ed_http_decoded_begin(struct ed_http_decoded *decoding);
/* The body is read as it is, whatever its codings and the client's options are. */
void ed_http_decoded_skip(struct ed_http_decoded *decoding);

void ed_http_decoded_end(struct ed_http_decoded *decoding);

/*
 * As the calls of eddy/http_client.h. They decode if the client's options say so and the body is
 * coded.
 *
 * Suspends: yes.
 */
EDDY_MUST_USE int64_t ed_http_decoded_read(eddy_http_response *response, void *buf, size_t bytes);
EDDY_MUST_USE int ed_http_decoded_body(eddy_http_response *response, const void **ret_data,
                                       size_t *ret_bytes);
EDDY_MUST_USE int ed_http_decoded_discard(eddy_http_response *response);

#endif
