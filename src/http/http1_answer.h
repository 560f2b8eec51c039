/*
 * http/http1_answer.h - answering a request of HTTP/1; for the files http1_*.c of the server only.
 */
#ifndef ED_HTTP_HTTP1_ANSWER_H
#define ED_HTTP_HTTP1_ANSWER_H

#include "http/http1_server.h"

/* The operations of struct ed_http_exchange_ops with these names. */
EDDY_MUST_USE int ed_http1_answer_respond(eddy_http_exchange *base, int status,
                                          const struct eddy_http_header *headers,
                                          size_t headers_count, const void *body,
                                          size_t body_bytes);
EDDY_MUST_USE int ed_http1_answer_begin(eddy_http_exchange *base, int status,
                                        const struct eddy_http_header *headers,
                                        size_t headers_count, int64_t body_bytes);
EDDY_MUST_USE int ed_http1_answer_write(eddy_http_exchange *base, const void *data, size_t bytes);
EDDY_MUST_USE int64_t ed_http1_answer_send_file(eddy_http_exchange *base, const eddy_file *file,
                                                int64_t offset, size_t bytes);
EDDY_MUST_USE int ed_http1_answer_end(eddy_http_exchange *base);
EDDY_MUST_USE int ed_http1_answer_flush(eddy_http_exchange *base);
EDDY_MUST_USE int ed_http1_answer_upgrade(eddy_http_exchange *base,
                                          const struct eddy_http_header *headers,
                                          size_t headers_count, eddy_stream **ret_stream,
                                          const void **ret_early, size_t *ret_early_bytes);
bool ed_http1_answer_keep(eddy_http_exchange *base, const char *piece, size_t bytes);

#endif
