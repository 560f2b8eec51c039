/*
 * http/early_stream.h - a stream whose first bytes were read before: those after the head of a 101.
 */
#ifndef ED_HTTP_EARLY_STREAM_H
#define ED_HTTP_EARLY_STREAM_H

#include "eddy/stream.h"

/*
 * Make a stream that reads 'bytes' bytes (copied), and then those of 'lower'. All else is done by
 * 'lower', which becomes part of the stream. With 0 bytes the result is 'lower' itself.
 *
 * Suspends: no.
 * Errors: -ENOMEM; 'lower' is then still the caller's
 */
EDDY_MUST_USE int ed_http_early_stream(eddy_stream *lower, const void *data, size_t bytes,
                                       eddy_stream **ret_stream);

#endif
