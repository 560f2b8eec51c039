/*
 * common/shard.c - see shard.h.
 */
#include "common/shard.h"

#include <errno.h>
#include <string.h>

#include "common/read_some.h"
#include "eddy/alloc.h"

enum { READ_BYTES = 64 << 10, DIGITS_MAX = 6 };

/* Read digits. Returns the text after them, or NULL if there are none, or too many. */
static const char *number_read(const char *text, uint32_t *ret_number)
{
        size_t digits = strspn(text, "0123456789");
        uint32_t number = 0;

        if (digits == 0 || digits > DIGITS_MAX)
                return NULL;
        for (size_t i = 0; i < digits; i++)
                number = number * 10 + (uint32_t) (text[i] - '0');
        *ret_number = number;
        return text + digits;
}

bool ed_shard_read(const char *text, struct ed_shard *ret_shard)
{
        struct ed_shard shard;

        text = number_read(text, &shard.index);
        if (!text || *text != '/')
                return false;
        text = number_read(text + 1, &shard.count);
        if (!text || *text || shard.count > ED_SHARD_COUNT_MAX || shard.index >= shard.count)
                return false;
        *ret_shard = shard;
        return true;
}

/* Returns floor(i * amount / n), for i up to n, without the product, which could overflow. */
static uint64_t share_of(uint32_t i, uint32_t n, uint64_t amount)
{
        return i * (amount / n) + i * (amount % n) / n;
}

uint64_t ed_shard_part(struct ed_shard shard, uint64_t amount)
{
        return share_of(shard.index + 1, shard.count, amount) -
               share_of(shard.index, shard.count, amount);
}

uint32_t ed_shard_of(uint32_t count, uint64_t size, uint64_t at)
{
        uint32_t low = 0, high = count;

        /* The last shard that begins at 'at' or before: those without a byte come before it. */
        while (high - low > 1) {
                uint32_t middle = low + (high - low) / 2;

                if (share_of(middle, count, size) <= at)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* A file that is read from one place on. */
struct walk {
        int fd;
        uint64_t at;  /* the first byte of 'data' */
        uint64_t end; /* no byte from here on is read */
        char *data;
        size_t bytes;
};

/* Returns 1, or -ENOMEM. */
static int walk_begin(struct walk *walk, int fd, uint64_t at, uint64_t end)
{
        *walk = (struct walk){ .fd = fd, .at = at, .end = end, .data = eddy_malloc(READ_BYTES) };
        return walk->data ? 1 : -ENOMEM;
}

/* Read on. Returns 1, or 0 at the end. Errors: those of read(2) */
static int walk_on(struct walk *walk)
{
        uint64_t left;
        ssize_t n;

        walk->at += walk->bytes;
        walk->bytes = 0;
        left = walk->end > walk->at ? walk->end - walk->at : 0;
        if (left == 0)
                return 0;
        n = ed_read_some(walk->fd, walk->data, left < READ_BYTES ? (size_t) left : READ_BYTES,
                         (off_t) walk->at);
        if (n < 0)
                return (int) n;
        walk->bytes = (size_t) n;
        return n > 0;
}

/*
 * Find the first line that begins at 'from' or after it, and before 'to'. Stores its place, or 'to'
 * if there is none.
 */
static int line_find(int fd, uint64_t from, uint64_t to, uint64_t *ret_at)
{
        struct walk walk;
        int more;

        *ret_at = from;
        if (from == 0 || from >= to)
                return 0;
        *ret_at = to;
        /* A line begins after a line feed. The one before 'from' counts, the last byte does not. */
        more = walk_begin(&walk, fd, from - 1, to - 1);
        while (more > 0 && (more = walk_on(&walk)) > 0) {
                const char *feed = memchr(walk.data, '\n', walk.bytes);

                if (!feed)
                        continue;
                *ret_at = walk.at + (uint64_t) (feed - walk.data) + 1;
                break;
        }
        eddy_free(walk.data);
        return more < 0 ? more : 0;
}

int ed_shard_find(struct ed_shard shard, int fd, uint64_t size, struct ed_shard_bytes *ret_bytes)
{
        uint64_t from = share_of(shard.index, shard.count, size);
        uint64_t to = share_of(shard.index + 1, shard.count, size);
        struct ed_shard_bytes bytes;
        int err = line_find(fd, from, to, &bytes.at);

        bytes.end = bytes.at;
        if (err == 0 && bytes.at < to)
                err = line_find(fd, to, size, &bytes.end);
        if (err == 0)
                *ret_bytes = bytes;
        return err;
}

static uint64_t feeds_count(const char *data, size_t bytes)
{
        const char *end = data + bytes;
        uint64_t count = 0;

        while (data < end && (data = memchr(data, '\n', (size_t) (end - data)))) {
                count++;
                data++;
        }
        return count;
}

int ed_shard_lines_before(int fd, uint64_t at, uint64_t *ret_lines)
{
        struct walk walk;
        uint64_t lines = 0;
        int more = walk_begin(&walk, fd, 0, at);

        while (more > 0 && (more = walk_on(&walk)) > 0)
                lines += feeds_count(walk.data, walk.bytes);
        eddy_free(walk.data);
        if (more < 0)
                return more;
        *ret_lines = lines;
        return 0;
}
