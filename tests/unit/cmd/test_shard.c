/*
 * test_shard.c - the shards of a file: each line is in one shard, the one that has its first byte, and
 * all shards together are the file byte for byte. Files with odd ends, long lines and no lines.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/shard.h"
#include "eddy/alloc.h"
#include "starve.h"

enum { FILE_MAX = 700 << 10, SHARDS_MAX = 64, READ_BYTES = 64 << 10 };

static char text[FILE_MAX];
static size_t text_bytes;

static void text_add(const char *data, size_t bytes)
{
        CHECK(text_bytes + bytes <= sizeof(text));
        memcpy(text + text_bytes, data, bytes);
        text_bytes += bytes;
}

/* Append lines of 'bytes' bytes with their ends. */
static void lines_add(size_t count, size_t bytes, const char *end)
{
        static const char filler[READ_BYTES] = "{\"custom_id\":\"a\"}";

        for (size_t i = 0; i < count; i++) {
                for (size_t left = bytes; left > 0;) {
                        size_t n = left < sizeof(filler) ? left : sizeof(filler);

                        text_add(filler, n);
                        left -= n;
                }
                text_add(end, strlen(end));
        }
}

static int text_open(void)
{
        int fd = memfd_create("shard", MFD_CLOEXEC);

        CHECK(fd >= 0);
        for (size_t at = 0; at < text_bytes;) {
                ssize_t n = write(fd, text + at, text_bytes - at);

                CHECK(n > 0);
                at += (size_t) n;
        }
        return fd;
}

__extension__ typedef unsigned __int128 wide;

/* The definition: floor(i*S/n). */
static uint64_t border(uint32_t i, uint32_t n, uint64_t size)
{
        return (uint64_t) ((wide) i * size / n);
}

static bool line_begins_at(size_t at)
{
        return at < text_bytes && (at == 0 || text[at - 1] == '\n');
}

/* The shard must have the lines that begin between its borders, and no other byte. */
static void shard_check(uint32_t i, uint32_t n, struct ed_shard_bytes bytes)
{
        uint64_t from = border(i, n, text_bytes), to = border(i + 1, n, text_bytes);
        size_t lines = 0;

        for (uint64_t at = from; at < to; at++) {
                if (!line_begins_at(at))
                        continue;
                if (lines++ == 0)
                        CHECK_EQ(bytes.at, at);
                CHECK(at < bytes.end);
        }
        if (lines == 0) {
                CHECK_EQ(bytes.at, bytes.end);
                return;
        }
        CHECK(bytes.end > bytes.at && bytes.end >= to);
        CHECK(bytes.end == text_bytes || line_begins_at(bytes.end));
        for (uint64_t at = to; at < bytes.end; at++)
                CHECK(!line_begins_at(at));
}

/* Shards of all counts up to 64, and of a few more. */
static void text_check(void)
{
        int fd = text_open();

        for (uint32_t n = 1; n <= SHARDS_MAX + 2; n++) {
                uint32_t count = n <= SHARDS_MAX ? n : n == SHARDS_MAX + 1 ? 1000 : 99991;
                uint32_t step = count > 1000 ? 997 : 1;
                uint64_t next = 0;

                for (uint32_t i = 0; i < count; i += step) {
                        struct ed_shard_bytes bytes = { 0 };

                        CHECK_EQ(ed_shard_find((struct ed_shard){ i, count }, fd, text_bytes,
                                               &bytes),
                                 0);
                        shard_check(i, count, bytes);
                        if (bytes.at == bytes.end)
                                continue;
                        CHECK(step > 1 || bytes.at == next); /* the union is the file */
                        next = bytes.end;
                        CHECK_EQ(ed_shard_of(count, text_bytes, bytes.at), i);
                }
                CHECK(step > 1 || next == text_bytes);
        }
        close(fd);
        text_bytes = 0;
}

TEST(an_empty_file_and_lines_without_text)
{
        text_check();
        text_add("\n", 1);
        text_check();
        text_add("a", 1);
        text_check();
        lines_add(500, 0, "\n");
        text_check();
        lines_add(200, 0, "\r\n");
        text_check();
}

TEST(no_final_line_feed_crlf_and_a_byte_order_mark)
{
        lines_add(100, 17, "\n");
        text_add("last", 4);
        text_check();
        lines_add(100, 17, "\r\n");
        text_check();
        text_add("\xef\xbb\xbf", 3);
        text_check();
        text_add("\xef\xbb\xbf", 3);
        lines_add(70, 5, "\n");
        text_check();
}

TEST(lines_longer_than_a_shard_and_than_a_read)
{
        for (size_t bytes = READ_BYTES - 1; bytes <= READ_BYTES + 1; bytes++) {
                lines_add(3, 10, "\n");
                lines_add(1, bytes, "\n");
                lines_add(3, 10, "\n");
                text_check();
        }
        lines_add(1, 3 * READ_BYTES, "");
        text_check();
        lines_add(1, 3 * READ_BYTES, "\n");
        lines_add(1, 1, "\n");
        text_check();
        lines_add(40, 0, "\n");
        lines_add(2, 2 * READ_BYTES, "\r\n");
        lines_add(40, 3, "\n");
        text_check();
}

TEST(random_lengths)
{
        uint32_t state = 35;

        for (int file = 0; file < 20; file++) {
                for (int line = 0; line < 90; line++) {
                        state = state * 1664525 + 1013904223;
                        lines_add(1, (state >> 24) % (file % 2 ? 4 : 120),
                                  state >> 31 ? "\n" : "\r\n");
                }
                text_bytes -= (size_t) file % 3;
                text_check();
        }
}

TEST(one_line_of_256_mb_in_64_shards)
{
        const uint64_t size = (uint64_t) 256 << 20;
        int fd = memfd_create("long", MFD_CLOEXEC); /* a hole */
        struct ed_shard_bytes bytes;

        CHECK(fd >= 0 && ftruncate(fd, (off_t) size) == 0);
        CHECK_EQ(pwrite(fd, "\n", 1, (off_t) size - 3), 1);
        for (uint32_t i = 0; i < SHARDS_MAX; i++) {
                CHECK_EQ(ed_shard_find((struct ed_shard){ i, SHARDS_MAX }, fd, size, &bytes), 0);
                CHECK_EQ(bytes.end - bytes.at, i == 0 ? size - 2 : i == SHARDS_MAX - 1 ? 2 : 0);
        }
        close(fd);
}

TEST(lines_before_a_place_are_counted)
{
        uint64_t lines = 0, counted = 0;
        int fd;

        lines_add(10, 0, "\n");
        lines_add(10, 7, "\r\n");
        lines_add(1, 2 * READ_BYTES - 12, "\n");
        lines_add(3, 7, "\n");
        fd = text_open();
        for (size_t at = 0; at <= text_bytes; at++) {
                if (line_begins_at(at) || at == text_bytes) {
                        CHECK_EQ(ed_shard_lines_before(fd, at, &counted), 0);
                        CHECK_EQ(counted, lines);
                }
                lines += at < text_bytes && text[at] == '\n';
        }
        close(fd);
}

TEST(a_file_that_cannot_be_read_and_no_memory)
{
        struct ed_shard_bytes bytes;
        uint64_t lines;
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

        CHECK(fd >= 0);
        CHECK_EQ(ed_shard_find((struct ed_shard){ 1, 2 }, fd, 100, &bytes), -EBADF);
        CHECK_EQ(ed_shard_lines_before(fd, 100, &lines), -EBADF);
        eddy_alloc_set(starve, NULL);
        allocations_left = 0;
        CHECK_EQ(ed_shard_find((struct ed_shard){ 1, 2 }, fd, 100, &bytes), -ENOMEM);
        CHECK_EQ(ed_shard_lines_before(fd, 100, &lines), -ENOMEM);
        close(fd);
}

TEST(parts_of_an_amount_add_up)
{
        static const uint64_t amounts[] = { 0, 1, 7, 600, 2000000, UINT64_MAX / 3, UINT64_MAX };
        static const uint32_t counts[] = { 1, 2, 3, 8, 64, 99991, ED_SHARD_COUNT_MAX };

        for (size_t a = 0; a < sizeof(amounts) / sizeof(amounts[0]); a++)
                for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
                        uint64_t sum = 0, least = amounts[a] / counts[c];

                        for (uint32_t i = 0; i < counts[c]; i++) {
                                struct ed_shard shard = { i, counts[c] };
                                uint64_t part = ed_shard_part(shard, amounts[a]);

                                CHECK(part == border(i + 1, counts[c], amounts[a]) -
                                                      border(i, counts[c], amounts[a]));
                                CHECK(part == least || part == least + 1);
                                sum += part;
                        }
                        CHECK(sum == amounts[a]);
                }
}

TEST(a_large_file_has_the_same_borders)
{
        const uint64_t size = ((uint64_t) 1 << 62) + 12345;

        for (uint32_t i = 0; i < ED_SHARD_COUNT_MAX; i += 997) {
                uint64_t at = border(i, ED_SHARD_COUNT_MAX, size);

                CHECK_EQ(ed_shard_of(ED_SHARD_COUNT_MAX, size, at), i);
                CHECK(i == 0 || ed_shard_of(ED_SHARD_COUNT_MAX, size, at - 1) == i - 1);
        }
}

TEST(texts_that_are_shards_and_others)
{
        static const char *const bad[] = {
                "",       "/",    "1",        "1/",        "/8",           "8/8",   "9/8",
                "-1/8",   "+1/8", " 1/8",     "1 /8",      "1/8 ",         "1/8/2", "a/8",
                "1/b",    "0/0",  "1/-8",     "0x1/8",     "%i/8",         "auto",  "0/1e3",
                "0.5/8.", "1,8",  "0/100001", "0000000/8", "0/4294967297",
        };
        struct ed_shard shard = { 7, 77 };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK(!ed_shard_read(bad[i], &shard));
        CHECK(shard.index == 7 && shard.count == 77);
        CHECK(ed_shard_read("0/1", &shard) && shard.index == 0 && shard.count == 1);
        CHECK(ed_shard_read("3/64", &shard) && shard.index == 3 && shard.count == 64);
        CHECK(ed_shard_read("007/0064", &shard) && shard.index == 7 && shard.count == 64);
        CHECK(ed_shard_read("99999/100000", &shard) && shard.index == 99999);
}
