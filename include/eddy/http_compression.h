/*
 * eddy/http_compression.h - compressed responses of an HTTP server: gzip and zstd, as the client accepts
 * them.
 *
 *     eddy_http_use_compression(router, NULL);
 *
 * Compression can leak secrets (the attack BREACH): if a response has a secret, such as a token against
 * forged requests, beside a text that an attacker can choose, such as a search term, its length depends on
 * whether the text is a part of the secret.  Turn compression off for such responses, by
 * EDDY_HTTP_COMPRESSION_OFF for their routes or by eddy_http_exchange_no_compression().
 */
#ifndef EDDY_HTTP_COMPRESSION_H
#define EDDY_HTTP_COMPRESSION_H

#include "eddy/def.h"
#include "eddy/http_exchange.h"
#include "eddy/http_router.h"

EDDY_BEGIN_DECLS

enum {
        /* no response of the routes that this middleware encloses is compressed */
        EDDY_HTTP_COMPRESSION_OFF = 1 << 0,
        EDDY_HTTP_COMPRESSION_NO_GZIP = 1 << 1,
        EDDY_HTTP_COMPRESSION_NO_ZSTD = 1 << 2,
};

struct eddy_http_compression_opts {
        uint32_t flags EDDY_UNSET;        /* EDDY_HTTP_COMPRESSION_* */
        uint8_t gzip_level EDDY_UNSET;    /* 1, fast, to 9, small; 0: 6 */
        uint8_t zstd_level EDDY_UNSET;    /* 1 to 6; 0: 3 */
        uint16_t reserved16 EDDY_UNSET;   /* zero */
        uint64_t bytes_min EDDY_UNSET;    /* of a body of known length; 0: 1 KiB */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Add middleware (eddy_http_router_use()) that compresses the bodies of responses, if Accept-Encoding
 * allows.  The coding with the highest quality is used; of equal ones zstd before gzip.  All
 * responses have "Vary: Accept-Encoding".  A compressed one has Content-Encoding, a weak ETag in place of
 * a strong one, and no Accept-Ranges.
 *
 * These are not compressed: statuses below 200, 204, 205, 206 and 304; a response with Content-Encoding,
 * Content-Range, a digest of the content, or "Cache-Control: no-transform"; a Content-Type that is missing, has its
 * own compression (images, audio, video, archives), or is text/event-stream; a body below 'bytes_min', unless
 * the client refuses other responses ("identity;q=0"); a body that would become longer.
 *
 * A body that is given in pieces is compressed in pieces.  Bytes wait in the compressor until
 * there are enough for a block: a handler that waits between its pieces calls eddy_http_exchange_flush() to send
 * them.  Memory of a response: up to 300 KiB with gzip, 1.5 MiB with zstd, whatever the length
 * of its body.
 *
 * 'opts' may be NULL.
 *
 * Suspends: no.
 * Errors: those of eddy_http_router_use()
 *         -EINVAL  also: a level is out of range
 * Owns: copies 'opts'.
 */
EDDY_API int eddy_http_use_compression(eddy_http_router *router,
                                       const struct eddy_http_compression_opts *opts);

/*
 * Do not compress the response of this request.  Without the middleware, and after the response has
 * begun, the call has no effect.
 *
 * Suspends: no.
 */
EDDY_API void eddy_http_exchange_no_compression(eddy_http_exchange *exchange);

EDDY_END_DECLS

#endif
