/*
 * fuzz_compression.c - an answer in any pieces through the encoders of the compression: the bytes that the
 * decoders of the client make of the coded ones are those of the answer, all of them after each flush.
 *
 * The first byte has the coding, the level and whether the length is known; the second the room for the
 * output. In the rest, each piece is a byte with its length and flags, and its bytes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/coding.h"
#include "http/encoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum {
        LENGTH = 31,          /* of a piece */
        IS_REPEATED = 1 << 5, /* the piece is its bytes many times */
        IS_FLUSHED = 1 << 6,
        REPEATED = 3000,
        ROOM_MIN = 7, /* with less, zlib repeats the end of a flush for ever */
        PLAIN_MAX = 1 << 20,
};

/* An answer on its way to the client. */
struct way {
        const struct ed_encoder *encoder;
        const struct ed_coding *decoder;
        void *encoding, *decoding;
        size_t room; /* of 'coded' that is used */
        unsigned char coded[256];
        unsigned char plain[PLAIN_MAX], got[PLAIN_MAX];
        size_t plain_bytes, got_bytes;
        int decoded; /* the last result */
};

static struct way way;

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* The client gets some coded bytes. */
static void arrive(const unsigned char *coded, size_t bytes)
{
        struct ed_coding_step step = { coded, bytes, way.got + way.got_bytes,
                                       sizeof(way.got) - way.got_bytes };

        require(way.decoded == 0 || bytes == 0);
        if (bytes > 0)
                way.decoded = way.decoder->step(way.decoding, &step);
        require(way.decoded >= 0 && step.in_bytes == 0);
        way.got_bytes = sizeof(way.got) - step.room;
}

static void encode(const unsigned char *in, size_t bytes, enum ed_encoder_end end)
{
        struct ed_coding_step step = { .in = in, .in_bytes = bytes };
        int result;

        do {
                step.out = way.coded;
                step.room = way.room;
                result = way.encoder->step(way.encoding, &step, end);
                require(result == 0 || result == ED_ENCODER_FULL);
                require(step.room <= way.room);
                arrive(way.coded, way.room - step.room);
        } while (result == ED_ENCODER_FULL);
        require(step.in_bytes == 0);
}

/* Append a piece to the answer. Returns its bytes in the input. */
static size_t piece_of(const uint8_t *at, const uint8_t *end, size_t *ret_bytes)
{
        size_t bytes = at[0] & LENGTH, times = at[0] & IS_REPEATED ? REPEATED : 1;

        if (bytes > (size_t) (end - at - 1))
                bytes = (size_t) (end - at - 1);
        if (way.plain_bytes + bytes * times > PLAIN_MAX)
                times = 0;
        for (size_t i = 0; i < times; i++)
                memcpy(way.plain + way.plain_bytes + i * bytes, at + 1, bytes);
        way.plain_bytes += bytes * times;
        *ret_bytes = bytes * times;
        return bytes + 1;
}

static void send(const uint8_t *at, const uint8_t *end)
{
        static const unsigned char nothing[1];

        way.plain_bytes = way.got_bytes = 0;
        while (at < end) {
                const uint8_t flags = at[0];
                size_t bytes;

                at += piece_of(at, end, &bytes);
                encode(way.plain + way.plain_bytes - bytes, bytes, ED_ENCODER_MORE);
                if (flags & IS_FLUSHED) {
                        encode(nothing, 0, ED_ENCODER_FLUSH);
                        require(way.got_bytes == way.plain_bytes);
                }
        }
        encode(nothing, 0, ED_ENCODER_FINISH);
        require(way.decoded == ED_CODING_ENDED && way.got_bytes == way.plain_bytes);
        require(memcmp(way.got, way.plain, way.plain_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        const uint8_t *end = data + bytes;
        bool is_zstd;
        size_t n;

        if (bytes < 2)
                return 0;
        is_zstd = data[0] & 1;
        way.encoder = is_zstd ? &ed_encoder_zstd : &ed_encoder_gzip;
        way.decoder = is_zstd ? &ed_coding_zstd : &ed_coding_gzip;
        way.room = ROOM_MIN + data[1] % (sizeof(way.coded) - ROOM_MIN + 1);
        way.decoded = 0;
        way.plain_bytes = 0;
        for (const uint8_t *at = data + 2; at < end;)
                at += piece_of(at, end, &n);
        way.encoding = way.encoder->new ((data[0] >> 1 & 15) % way.encoder->level_max + 1,
                                         data[0] & 32 ? (int64_t) way.plain_bytes : -1);
        way.decoding = way.decoder->new ();
        require(way.encoding && way.decoding);
        send(data + 2, end);
        way.encoder->free(way.encoding);
        way.decoder->free(way.decoding);
        return 0;
}
