/*
 * scope/uuid.c - identifiers of 128 bits: making them from the loop's clock and randomness.
 */
#include "eddy/uuid.h"

#include "eddy/time.h"
#include "loop/loop.h"
#include "sys/random_bytes.h"

enum { MS_NS = 1000000 };

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
