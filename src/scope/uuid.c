/*
 * scope/uuid.c - identifiers of 128 bits: making them from the loop's clock and randomness, and their
 * text.
 */
#include "eddy/uuid.h"

#include <errno.h>
#include <string.h>

#include "base/hex.h"
#include "eddy/time.h"
#include "loop/loop.h"
#include "sys/random_bytes.h"

enum { GROUPS = 5, MS_NS = 1000000 };

/* In bytes. */
static const uint8_t groups[GROUPS] = { 4, 2, 2, 2, 6 };

static void fill(uint8_t *bytes, size_t n)
{
        struct ed_loop *loop = ed_loop_current;

        if (loop)
                loop->sys->poll->random(loop->sys, bytes, n);
        else
                ed_random_bytes(NULL, bytes, n);
}

/* Set the bits of the version and of the variant, RFC 9562, 4. */
static void mark(struct eddy_uuid *uuid, unsigned version)
{
        uuid->bytes[6] = (uint8_t) (version << 4 | (uuid->bytes[6] & 0x0f));
        uuid->bytes[8] = (uint8_t) (0x80 | (uuid->bytes[8] & 0x3f));
}

void eddy_uuid_v4(struct eddy_uuid *ret_uuid)
{
        fill(ret_uuid->bytes, sizeof(ret_uuid->bytes));
        mark(ret_uuid, 4);
}

/* Returns the time in steps of 1/4096 ms, above the loop's last one. */
static uint64_t next_step(void)
{
        struct ed_loop *loop = ed_loop_current;
        int64_t now_ns = eddy_time_of_day();
        uint64_t ns = now_ns > 0 ? (uint64_t) now_ns : 0;
        uint64_t step = ns / MS_NS << 12 | ns % MS_NS * 4096 / MS_NS;

        if (!loop)
                return step;
        if (step <= loop->uuid_step)
                step = loop->uuid_step + 1;
        loop->uuid_step = step;
        return step;
}

void eddy_uuid_v7(struct eddy_uuid *ret_uuid)
{
        uint64_t step = next_step();

        for (int i = 0; i < 6; i++)
                ret_uuid->bytes[i] = (uint8_t) (step >> (52 - 8 * i));
        ret_uuid->bytes[6] = (uint8_t) (step >> 8 & 0x0f);
        ret_uuid->bytes[7] = (uint8_t) step;
        fill(ret_uuid->bytes + 8, 8);
        mark(ret_uuid, 7);
}

int eddy_uuid_parse(const char *text, size_t bytes, struct eddy_uuid *ret_uuid)
{
        struct eddy_uuid uuid;
        uint8_t *to = uuid.bytes;

        if (bytes != EDDY_UUID_TEXT_BYTES - 1)
                return -EINVAL;
        for (int group = 0; group < GROUPS; group++) {
                if (group > 0 && *text++ != '-')
                        return -EINVAL;
                for (int i = 0; i < groups[group]; i++, text += 2) {
                        int high = ed_hex_digit(text[0]), low = ed_hex_digit(text[1]);

                        if (high < 0 || low < 0)
                                return -EINVAL;
                        *to++ = (uint8_t) (high << 4 | low);
                }
        }
        *ret_uuid = uuid;
        return 0;
}

void eddy_uuid_format(const struct eddy_uuid *uuid, char out[EDDY_UUID_TEXT_BYTES])
{
        static const char digits[] = "0123456789abcdef";
        const uint8_t *at = uuid->bytes;

        for (int group = 0; group < GROUPS; group++) {
                if (group > 0)
                        *out++ = '-';
                for (int i = 0; i < groups[group]; i++, at++) {
                        *out++ = digits[*at >> 4];
                        *out++ = digits[*at & 15];
                }
        }
        *out = '\0';
}
