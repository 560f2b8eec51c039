/*
 * http/compression.c - the middleware that compresses answers.
 *
 * It replaces the calls that answer: respond, begin, write, end and flush. An answer that is compressed
 * has no length known in advance, except a whole one whose coded bytes fit into a piece.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_compression.h"
#include "eddy/time.h"
#include "http/encoder.h"
#include "http/exchange.h"
#include "http/router.h"
#include "http/weak_tag.h"
#include "wire/http1.h"
#include "wire/media_type.h"

enum {
        PIECE_BYTES = 16 << 10,
        BYTES_MIN_DEFAULT = 1 << 10,
        TURN_BYTES = 256 << 10, /* of input, after which other tasks run: some milliseconds */
};

/* In the frame of the middleware. */
struct compression {
        struct ed_http_filter filter;
        const struct eddy_http_compression_opts *opts;
        const struct ed_encoder *encoder;     /* that the client accepts; NULL: none */
        bool needs_coding;                    /* the client refuses an answer without one */
        enum { BY_CLIENT, STRONG, WEAK } tag; /* of a 304: as the client's, or as that of its 200 */
        void *state;          /* of the encoder; NULL: this answer is not compressed */
        unsigned char *piece; /* PIECE_BYTES for coded bytes, of which 'kept' are in use */
        size_t kept;
        size_t turn;  /* bytes encoded since other tasks ran */
        int64_t left; /* bytes that the handler still has to write; below 0: unknown */
};

static struct compression *compression_of(const struct ed_http_filter *filter)
{
        return (struct compression *) (uintptr_t) filter;
}

/* ---- what is compressed ---------------------------------------------------- */

/* Returns true for types whose bytes are text, or are not compressed by their own format. */
static bool type_is_compressible(const char *type)
{
        static const char *const types[] = {
                "application/javascript",
                "application/json",
                "application/jsonl",
                "application/wasm",
                "application/x-ndjson",
                "application/xml",
                "application/x-javascript",
                "font/otf",
                "font/ttf",
                "image/bmp",
                "text/",
                "+json",
                "+xml",
        };

        if (ed_media_type_is(type, "text/event-stream"))
                return false;
        for (size_t i = 0; i < ed_array_count(types); i++)
                if (ed_media_type_is(type, types[i]))
                        return true;
        return false;
}

/* The headers of an answer, as far as they matter here. */
struct headers_seen {
        bool refuses;         /* compression */
        bool is_compressible; /* its type */
        size_t etag_bytes;    /* of a strong one; 0: there is none */
};

/* Returns true if the header is one that a compressed answer cannot have. */
static bool forbids(const struct eddy_http_header *header)
{
        static const char *const names[] = { "Content-Encoding", "Content-Range", "Content-Digest",
                                             "Content-MD5", "Digest" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcasecmp(header->name, names[i]) == 0)
                        return true;
        return strcasecmp(header->name, "Cache-Control") == 0 &&
               ed_http1_list_has(header->value, strlen(header->value), "no-transform");
}

static void see(struct headers_seen *seen, const struct eddy_http_header *header)
{
        if (!header->name || !header->value) {
                seen->refuses = true; /* the protocol refuses such an answer */
                return;
        }
        seen->refuses |= forbids(header);
        if (strcasecmp(header->name, "Content-Type") == 0)
                seen->is_compressible = type_is_compressible(header->value);
        if (ed_http_is_strong_tag(header))
                seen->etag_bytes += ed_http_weak_tag_bytes(header);
}

static void see_all(eddy_http_exchange *exchange, const struct eddy_http_header *headers, size_t n,
                    struct headers_seen *ret_seen)
{
        struct eddy_http_header added;
        size_t at = 0;

        *ret_seen = (struct headers_seen){ .refuses = false };
        while (exchange->ops->added_next(exchange, &at, &added)) {
                see(ret_seen, &added);
                ret_seen->refuses |=
                        ed_http_is_strong_tag(&added); /* it cannot be changed any more */
        }
        for (size_t i = 0; i < n; i++)
                see(ret_seen, &headers[i]);
}

/* ---- headers --------------------------------------------------------------- */

/* The headers of a compressed answer, in one allocation. */
struct headers {
        struct eddy_http_header *all;
        size_t n;
};

/* 'coding' NULL: only the tags are replaced. */
static int headers_new(const struct eddy_http_header *from, size_t n,
                       const struct headers_seen *seen, const char *coding,
                       struct headers *ret_headers)
{
        struct eddy_http_header *all = ed_alloc((n + 1) * sizeof(*all) + seen->etag_bytes);
        size_t count = 0;
        char *text;

        if (!all)
                return -ENOMEM;
        text = (char *) (all + n + 1);
        for (size_t i = 0; i < n; i++) {
                if (strcasecmp(from[i].name, "Accept-Ranges") == 0)
                        continue;
                all[count] = from[i];
                if (ed_http_is_strong_tag(&from[i]))
                        text = ed_http_tag_weaken(&all[count], text);
                count++;
        }
        if (coding)
                all[count++] = (struct eddy_http_header){ "Content-Encoding", coding };
        *ret_headers = (struct headers){ all, count };
        return 0;
}

/* ---- coded bytes ----------------------------------------------------------- */

static int level_of(const struct compression *compression)
{
        const struct eddy_http_compression_opts *opts = compression->opts;
        uint8_t level = opts->gzip_level;

        if (compression->encoder == &ed_encoder_zstd)
                level = opts->zstd_level;
        return level ? level : compression->encoder->level_default;
}

static void stop(struct compression *compression)
{
        if (compression->state)
                compression->encoder->free(compression->state);
        ed_free(compression->piece);
        compression->state = NULL;
        compression->piece = NULL;
        compression->kept = 0;
}

static int start(struct compression *compression, int64_t body_bytes)
{
        compression->piece = ed_alloc(PIECE_BYTES);
        if (compression->piece)
                compression->state = compression->encoder->new (level_of(compression), body_bytes);
        if (compression->state) {
                compression->left = body_bytes;
                return 0;
        }
        stop(compression);
        return -ENOMEM;
}

/* Encode up to 'bytes' bytes of the input into the piece. */
static int encode_some(struct compression *compression, struct ed_coding_step *step, size_t bytes,
                       enum ed_encoder_end end)
{
        struct ed_coding_step some = { .in = step->in,
                                       .in_bytes = bytes,
                                       .out = compression->piece + compression->kept,
                                       .room = PIECE_BYTES - compression->kept };
        int result = compression->encoder->step(compression->state, &some, end);

        compression->kept = PIECE_BYTES - some.room;
        compression->turn += bytes - some.in_bytes;
        step->in += bytes - some.in_bytes;
        step->in_bytes -= bytes - some.in_bytes;
        return result;
}

/*
 * Encode into the piece, and let other tasks run after each TURN_BYTES. Returns 0 when the input is used
 * up, or ED_ENCODER_FULL.
 *
 * Errors: -ENOMEM, -ECANCELED
 */
static int encode(struct compression *compression, struct ed_coding_step *step,
                  enum ed_encoder_end end)
{
        int result;

        do {
                size_t room;

                if (compression->turn >= TURN_BYTES) {
                        result = eddy_sleep(0);
                        if (result < 0)
                                return result;
                        compression->turn = 0;
                }
                room = TURN_BYTES - compression->turn;
                result = step->in_bytes > room
                                 ? encode_some(compression, step, room, ED_ENCODER_MORE)
                                 : encode_some(compression, step, step->in_bytes, end);
        } while (result == 0 && step->in_bytes > 0);
        return result;
}

static int send_piece(struct compression *compression, eddy_http_exchange *exchange)
{
        size_t bytes = compression->kept;

        compression->kept = 0;
        return bytes ? exchange->ops->write(exchange, compression->piece, bytes) : 0;
}

/* After an error in the middle of the coded data, the client has to see that the answer is not whole. */
static int broken(struct compression *compression, eddy_http_exchange *exchange, int err)
{
        stop(compression);
        exchange->ops->abort(exchange);
        return err;
}

/* Encode all of the input up to 'end', and send each piece that is full. */
static int encode_all(struct compression *compression, eddy_http_exchange *exchange,
                      struct ed_coding_step *step, enum ed_encoder_end end)
{
        int err = 0, result;

        do {
                result = encode(compression, step, end);
                if (result == ED_ENCODER_FULL)
                        err = send_piece(compression, exchange);
        } while (result == ED_ENCODER_FULL && err >= 0);
        if (result < 0)
                err = result;
        return err < 0 ? broken(compression, exchange, err) : 0;
}

static const unsigned char no_input[1];

/* ---- the calls ------------------------------------------------------------- */

/* Returns true if an answer is to be compressed. */
static bool is_wanted(const struct compression *compression, eddy_http_exchange *exchange,
                      int status, const struct eddy_http_header *headers, size_t n,
                      int64_t body_bytes, struct headers_seen *ret_seen)
{
        const uint64_t min = compression->opts->bytes_min;

        if (!compression->encoder || compression->state || status < 200 || status == 204 ||
            status == 205 || status == 206 || status == 304 || body_bytes == 0)
                return false;
        if (body_bytes > 0 && !compression->needs_coding &&
            (uint64_t) body_bytes < (min ? min : BYTES_MIN_DEFAULT))
                return false;
        see_all(exchange, headers, n, ret_seen);
        return ret_seen->is_compressible && !ret_seen->refuses;
}

/*
 * Returns true if the ETag of a 304 becomes weak, because that of the 200 would be (RFC 9110, 15.4.5). If
 * the handler has not said what the 200 would be, the client's If-None-Match shows what it was.
 */
static bool is_weakened(const struct compression *compression, eddy_http_exchange *exchange,
                        int status, const struct eddy_http_header *headers, size_t n,
                        struct headers_seen *ret_seen)
{
        if (status != 304 || !compression->encoder || compression->tag == STRONG)
                return false;
        see_all(exchange, headers, n, ret_seen);
        if (ret_seen->refuses || ret_seen->etag_bytes == 0)
                return false;
        if (compression->tag == WEAK)
                return true;
        for (size_t i = 0; i < n; i++)
                if (ed_http_is_strong_tag(&headers[i]))
                        return ed_http_has_weak_tag(exchange, &headers[i]);
        return false;
}

static void not_modified(struct ed_http_filter *filter, eddy_http_exchange *exchange,
                         const struct eddy_http_header *headers, size_t n, int64_t body_bytes)
{
        struct compression *compression = compression_of(filter);
        struct headers_seen seen;

        compression->tag = is_wanted(compression, exchange, 200, headers, n, body_bytes, &seen)
                                   ? WEAK
                                   : STRONG;
}

/* A whole answer of the handler. */
struct whole {
        int status;
        const struct eddy_http_header *headers;
        size_t n;
        const void *body;
        size_t bytes;
};

/* Begin an answer whose coded bytes do not fit into a piece, and end it. */
static int respond_in_pieces(struct compression *compression, eddy_http_exchange *exchange,
                             int status, const struct headers *headers, struct ed_coding_step *step)
{
        int err = exchange->ops->begin(exchange, status, headers->all, headers->n, -1);

        if (err < 0)
                return err;
        err = send_piece(compression, exchange);
        if (err < 0)
                return broken(compression, exchange, err);
        err = encode_all(compression, exchange, step, ED_ENCODER_FINISH);
        if (err == 0)
                err = send_piece(compression, exchange);
        return err < 0 ? err : exchange->ops->end(exchange);
}

static int respond_compressed(struct compression *compression, eddy_http_exchange *exchange,
                              const struct whole *whole, const struct headers *headers)
{
        struct ed_coding_step step = { .in = whole->body, .in_bytes = whole->bytes };
        int result = start(compression, (int64_t) whole->bytes);

        if (result < 0)
                return result;
        result = encode(compression, &step, ED_ENCODER_FINISH);
        if (result == ED_ENCODER_FULL)
                result = respond_in_pieces(compression, exchange, whole->status, headers, &step);
        else if (result == 0 && compression->kept >= whole->bytes && !compression->needs_coding)
                result = exchange->ops->respond(exchange, whole->status, whole->headers, whole->n,
                                                whole->body, whole->bytes);
        else if (result == 0)
                result = exchange->ops->respond(exchange, whole->status, headers->all, headers->n,
                                                compression->piece, compression->kept);
        stop(compression);
        return result;
}

/* A response to HEAD has the headers of that to GET, but nothing is compressed for it. */
static int respond_to_head(eddy_http_exchange *exchange, int status, const struct headers *headers)
{
        int err = exchange->ops->begin(exchange, status, headers->all, headers->n, -1);

        return err < 0 ? err : exchange->ops->end(exchange);
}

static int respond(struct ed_http_filter *filter, eddy_http_exchange *exchange, int status,
                   const struct eddy_http_header *headers, size_t n, const void *body,
                   size_t body_bytes)
{
        const struct whole whole = { status, headers, n, body, body_bytes };
        struct compression *compression = compression_of(filter);
        struct headers_seen seen;
        struct headers made;
        int err;

        const bool is_weak = is_weakened(compression, exchange, status, headers, n, &seen);

        if (!is_weak &&
            (!body || body_bytes > INT64_MAX ||
             !is_wanted(compression, exchange, status, headers, n, (int64_t) body_bytes, &seen)))
                return exchange->ops->respond(exchange, status, headers, n, body, body_bytes);
        err = headers_new(headers, n, &seen, is_weak ? NULL : compression->encoder->name, &made);
        if (err < 0)
                return err;
        if (is_weak)
                err = exchange->ops->respond(exchange, status, made.all, made.n, body, body_bytes);
        else if (ed_http_exchange_is_head(exchange))
                err = respond_to_head(exchange, status, &made);
        else
                err = respond_compressed(compression, exchange, &whole, &made);
        ed_free(made.all);
        return err;
}

static int begin(struct ed_http_filter *filter, eddy_http_exchange *exchange, int status,
                 const struct eddy_http_header *headers, size_t n, int64_t body_bytes)
{
        struct compression *compression = compression_of(filter);
        struct headers_seen seen;
        struct headers made;
        int err;

        const bool is_weak = is_weakened(compression, exchange, status, headers, n, &seen);

        if (!is_weak && !is_wanted(compression, exchange, status, headers, n, body_bytes, &seen))
                return exchange->ops->begin(exchange, status, headers, n, body_bytes);
        err = headers_new(headers, n, &seen, is_weak ? NULL : compression->encoder->name, &made);
        if (err < 0)
                return err;
        if (!is_weak && !ed_http_exchange_is_head(exchange))
                err = start(compression, body_bytes < 0 ? -1 : body_bytes);
        if (err == 0)
                err = exchange->ops->begin(exchange, status, made.all, made.n,
                                           is_weak ? body_bytes : -1);
        if (err < 0)
                stop(compression);
        ed_free(made.all);
        return err;
}

static int write_piece(struct ed_http_filter *filter, eddy_http_exchange *exchange,
                       const void *data, size_t bytes)
{
        struct compression *compression = compression_of(filter);
        struct ed_coding_step step = { .in = data, .in_bytes = bytes };
        int err;

        if (!compression->state)
                return exchange->ops->write(exchange, data, bytes);
        /* The encoder takes the bytes only if the protocol would have taken them. */
        err = exchange->ops->write(exchange, NULL, 0);
        if (err < 0)
                return err;
        if (!data && bytes > 0)
                return -EINVAL;
        if (compression->left >= 0) {
                if (bytes > (uint64_t) compression->left)
                        return broken(compression, exchange, EDDY_E_HTTP_STATE);
                compression->left -= (int64_t) bytes;
        }
        return bytes ? encode_all(compression, exchange, &step, ED_ENCODER_MORE) : 0;
}

static int flush(struct ed_http_filter *filter, eddy_http_exchange *exchange)
{
        struct compression *compression = compression_of(filter);
        struct ed_coding_step step = { .in = no_input };
        int err = 0;

        if (compression->state)
                err = exchange->ops->write(exchange, NULL, 0);
        if (err == 0 && compression->state)
                err = encode_all(compression, exchange, &step, ED_ENCODER_FLUSH);
        if (err == 0 && compression->state) {
                err = send_piece(compression, exchange);
                if (err < 0)
                        return broken(compression, exchange, err);
        }
        return err < 0 ? err : exchange->ops->flush(exchange);
}

static int end(struct ed_http_filter *filter, eddy_http_exchange *exchange)
{
        struct compression *compression = compression_of(filter);
        struct ed_coding_step step = { .in = no_input };
        int err;

        if (!compression->state)
                return exchange->ops->end(exchange);
        err = exchange->ops->write(exchange, NULL, 0);
        if (err < 0)
                return err;
        if (compression->left > 0)
                return broken(compression, exchange, EDDY_E_HTTP_STATE);
        err = encode_all(compression, exchange, &step, ED_ENCODER_FINISH);
        if (err < 0)
                return err;
        err = send_piece(compression, exchange);
        if (err < 0)
                return broken(compression, exchange, err);
        stop(compression);
        return exchange->ops->end(exchange);
}

/* ---- the middleware -------------------------------------------------------- */

/* Find the coding that the client prefers. */
static void choose(struct compression *compression, const eddy_http_exchange *exchange)
{
        static const struct ed_encoder *const encoders[ED_ACCEPT_CODINGS] = {
                [ED_ACCEPT_ZSTD] = &ed_encoder_zstd,
                [ED_ACCEPT_GZIP] = &ed_encoder_gzip,
        };
        const uint32_t flags = compression->opts->flags;
        unsigned set = (flags & EDDY_HTTP_COMPRESSION_NO_GZIP ? 0 : 1U << ED_ACCEPT_GZIP) |
                       (flags & EDDY_HTTP_COMPRESSION_NO_ZSTD ? 0 : 1U << ED_ACCEPT_ZSTD);
        struct ed_accept_coding accept;

        ed_http_exchange_accept_coding(exchange, &accept);
        compression->needs_coding = ed_accept_coding_weight(&accept, ED_ACCEPT_IDENTITY) == 0;
        compression->encoder = encoders[ed_accept_coding_take(&accept, &set)];
}

static int run(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const struct eddy_http_compression_opts *opts = arg;
        struct compression compression = {
                .filter = { respond, begin, write_piece, end, flush, not_modified }, .opts = opts
        };
        int result;

        if (opts->flags & EDDY_HTTP_COMPRESSION_OFF)
                eddy_http_exchange_no_compression(exchange);
        if (exchange->filter) /* that of an outer router */
                return eddy_http_next(exchange, next);
        /* If it is off, a filter without an encoder keeps inner routers from compressing. */
        if (!(opts->flags & EDDY_HTTP_COMPRESSION_OFF)) {
                result = eddy_http_exchange_add_header(exchange, "Vary", "Accept-Encoding");
                if (result < 0)
                        return result;
                choose(&compression, exchange);
        }
        exchange->filter = &compression.filter;
        result = eddy_http_next(exchange, next);
        exchange->filter = NULL;
        if (compression.state)
                (void) broken(&compression, exchange, 0);
        return result;
}

void eddy_http_exchange_no_compression(eddy_http_exchange *exchange)
{
        if (exchange->filter && !compression_of(exchange->filter)->state)
                compression_of(exchange->filter)->encoder = NULL;
}

int eddy_http_use_compression(eddy_http_router *router,
                              const struct eddy_http_compression_opts *opts)
{
        struct eddy_http_compression_opts *own;

        if (opts && (opts->gzip_level > ed_encoder_gzip.level_max ||
                     opts->zstd_level > ed_encoder_zstd.level_max))
                return ed_http_router_failed(
                        router, -EINVAL,
                        "a level of eddy_http_use_compression() is above 9 for "
                        "gzip, or above 6 for zstd");
        own = ed_alloc_zero(sizeof(*own));
        if (own && opts)
                *own = *opts;
        return ed_http_router_use_own(router, run, own, ed_free);
}
