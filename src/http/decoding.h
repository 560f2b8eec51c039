/*
 * http/decoding.h - reads the body of a client's response decoded, on top of its protocol's reads.
 */
#ifndef ED_HTTP_DECODING_H
#define ED_HTTP_DECODING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "eddy/http_client.h"

struct ed_decoder;

struct ed_http_decoding {
        struct ed_decoder *decoder; /* NULL: the body is read as it is */
        struct ed_buf whole;        /* decoded by body(), not yet returned by read() */
        bool is_known;              /* the response's fields were read */
        bool is_gathered;           /* body() has returned all */
        bool is_dropped;            /* discard() was cancelled: coded bytes are missing */
        int err;                    /* of all further reads */
};

void ed_http_decoding_begin(struct ed_http_decoding *decoding);
void ed_http_decoding_end(struct ed_http_decoding *decoding);

/*
 * As the calls of eddy/http_client.h. They decode if the client's options say so and the body is
 * coded.
 *
 * Suspends: yes.
 */
EDDY_MUST_USE int64_t ed_http_decoding_read(eddy_http_response *response, void *buf, size_t bytes);
EDDY_MUST_USE int ed_http_decoding_body(eddy_http_response *response, const void **ret_data,
                                        size_t *ret_bytes);
EDDY_MUST_USE int ed_http_decoding_discard(eddy_http_response *response);

#endif
