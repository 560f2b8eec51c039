/*
 * eddy/http_compression.h - compresses the responses of an HTTP server with gzip or zstd.
 *
 *     eddy_http_use_compression(router, NULL);
 *
 * Compression can leak secrets (the BREACH attack).  If a response has both a secret, such as a
 * token against forged requests, and a text that an attacker can choose, such as a search term, the
 * length of the response shows whether the text is a part of the secret.  Turn compression off for
 * such responses: for their routes by EDDY_HTTP_COMPRESSION_OFF, or for one response by
 * eddy_http_exchange_no_compression().
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
        uint8_t gzip_level EDDY_UNSET;    /* 1 (fastest) to 9 (smallest); 0: 6 */
        uint8_t zstd_level EDDY_UNSET;    /* 1 to 6; 0: 3 */
        uint16_t reserved16 EDDY_UNSET;   /* zero */
        uint64_t bytes_min EDDY_UNSET;    /* of a body of known length; 0: 1 KiB */
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Add middleware (eddy_http_router_use()) that compresses the bodies of responses if the request's
 * Accept-Encoding allows it.  The coding with the highest quality is used; if the qualities are
 * equal, zstd.  All responses have "Vary: Accept-Encoding".  A compressed response has
 * Content-Encoding, a weak ETag in place of a strong one, and no Accept-Ranges.  A 304 for a file
 * has the ETag that a 200 would have.  If a handler answers 304 itself, its strong ETag becomes
 * weak if the request's If-None-Match has only the weak form of the ETag.
 *
 * Not compressed are: the statuses 1xx, 204, 205, 206 and 304; a response with Content-Encoding,
 * Content-Range, a digest of the content, or "Cache-Control: no-transform"; a response whose
 * Content-Type is missing, is text/event-stream, or is none of these: text, JSON, XML (with SVG),
 * JavaScript, WebAssembly, TrueType and OpenType fonts, and image/bmp; a body below 'bytes_min', unless
 * the client refuses uncompressed responses ("identity;q=0"); and a body that would become longer.
 * Files with an unknown ending are application/octet-stream, so they are not compressed.
 *
 * A body that is given in pieces is compressed in pieces.  The compressor keeps bytes until there
 * are enough for a block, so a handler that waits between pieces should call
 * eddy_http_exchange_flush().  A response needs up to 300 KiB of memory with gzip and 1.5 MiB with
 * zstd, whatever the length of its body.
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
