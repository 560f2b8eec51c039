/*
 * coded.c - see coded.h.
 */
#include "coded.h"

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include "test.h"

struct data data_new(size_t room)
{
        struct data data = { malloc(room), room };

        CHECK(data.bytes != NULL);
        return data;
}

struct data plain_new(size_t n)
{
        struct data data = data_new(n + 1);
        unsigned state = 7;

        data.n = n;
        for (size_t i = 0; i < n; i++) {
                state = state * 1103515245 + 12345;
                data.bytes[i] = (unsigned char) ("etaoin shrdlu{}:"[state >> 28]);
        }
        return data;
}

/* Coded by zlib: 'wrap' is 15 for zlib, 31 for gzip, -15 for none. */
static struct data zlib_code(struct data plain, int wrap)
{
        z_stream stream = { 0 };
        struct data coded;

        CHECK(deflateInit2(&stream, 6, Z_DEFLATED, wrap, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        coded = data_new(deflateBound(&stream, plain.n) + 64);
        stream.next_in = plain.bytes;
        stream.avail_in = (unsigned) plain.n;
        stream.next_out = coded.bytes;
        stream.avail_out = (unsigned) coded.n;
        CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
        coded.n = stream.total_out;
        deflateEnd(&stream);
        return coded;
}

struct data gzip_code(struct data plain)
{
        return zlib_code(plain, 31);
}

struct data deflate_code(struct data plain)
{
        return zlib_code(plain, 15);
}

struct data bare_code(struct data plain)
{
        return zlib_code(plain, -15);
}

struct data brotli_code(struct data plain)
{
        struct data coded = data_new(BrotliEncoderMaxCompressedSize(plain.n) + 64);

        CHECK(BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, plain.n, plain.bytes, &coded.n,
                                    coded.bytes));
        return coded;
}

struct data zstd_code(struct data plain)
{
        struct data coded = data_new(ZSTD_compressBound(plain.n));

        coded.n = ZSTD_compress(coded.bytes, coded.n, plain.bytes, plain.n, 3);
        CHECK(!ZSTD_isError(coded.n));
        return coded;
}

struct data data_join(struct data a, struct data b)
{
        struct data both = data_new(a.n + b.n);

        memcpy(both.bytes, a.bytes, a.n);
        memcpy(both.bytes + a.n, b.bytes, b.n);
        return both;
}
