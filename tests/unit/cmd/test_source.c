/*
 * test_source.c - an input gives the same lines whether it is plain or compressed, at sizes around
 * those of the buffers, from a file, a pipe and a FIFO. EDDY_TEST_FULL makes 10,000 cases.
 */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "batch/request/source.h"
#include "common/console.h"

enum { TEXT_MAX = 5 << 20, LINE_BYTES = 101 };

enum { PACKED_MAX = TEXT_MAX + (1 << 20) };

TEST_ROOM(char, text, TEXT_MAX);
TEST_ROOM(char, packed, PACKED_MAX);

/* Lines that compress to about a quarter. */
static void text_fill(void)
{
        uint32_t state = 1;

        for (size_t i = 0; i < TEXT_MAX; i++) {
                state = state * 1664525 + 1013904223;
                text[i] = i % LINE_BYTES == LINE_BYTES - 1 ? '\n' : (char) ('a' + (state >> 30));
        }
}

static size_t plain_pack(size_t bytes)
{
        memcpy(packed, text, bytes);
        return bytes;
}

static size_t gzip_pack(size_t bytes)
{
        z_stream stream = { 0 };

        CHECK_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        stream.next_in = (Bytef *) text;
        stream.avail_in = (unsigned) bytes;
        stream.next_out = (Bytef *) packed;
        stream.avail_out = PACKED_MAX;
        CHECK_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
        CHECK_EQ(deflateEnd(&stream), Z_OK);
        return PACKED_MAX - stream.avail_out;
}

static size_t zstd_pack(size_t bytes)
{
        size_t n = ZSTD_compress(packed, PACKED_MAX, text, bytes, 1);

        CHECK(!ZSTD_isError(n));
        return n;
}

static size_t (*const packers[])(size_t) = { plain_pack, gzip_pack, zstd_pack };

/* The lines must be those of the text, in order. */
static int line_take(void *arg, const struct ed_line *line)
{
        size_t *at = arg;

        CHECK(memcmp(text + *at, line->data, line->bytes) == 0);
        *at += line->bytes + 1;
        return 0;
}

static void check_lines(int fd, off_t from, size_t bytes)
{
        const struct ed_say say = ed_console_voice("test");
        size_t at = 0;
        struct ed_source_opts opts = {
                .say = &say, .path = "in", .line_bytes_max = 1 << 20, .take = line_take, .arg = &at
        };
        struct ed_source source;

        CHECK_EQ(ed_source_init(&source, &opts), 0);
        CHECK_EQ(ed_source_read(&source, fd, from), 0);
        ed_source_fini(&source);
        /* The last line may have no end. */
        CHECK_EQ(at, bytes % LINE_BYTES ? bytes + 1 : bytes);
}

static void write_all(int fd, const char *data, size_t bytes)
{
        while (bytes > 0) {
                ssize_t n = write(fd, data, bytes);

                CHECK(n > 0);
                data += n;
                bytes -= (size_t) n;
        }
}

static void check_file(size_t bytes, size_t packed_bytes)
{
        FILE *file = tmpfile();

        CHECK(file != NULL);
        write_all(fileno(file), packed, packed_bytes);
        check_lines(fileno(file), 0, bytes);
        fclose(file);
}

/* Where a thread writes the packed text: a pipe, or a FIFO if 'path' is not NULL. */
struct writer {
        pthread_t thread;
        const char *path;
        int fd;
        size_t bytes;
};

static void *writer_run(void *arg)
{
        struct writer *writer = arg;

        if (writer->path)
                writer->fd = open(writer->path, O_WRONLY);
        write_all(writer->fd, packed, writer->bytes);
        close(writer->fd);
        return NULL;
}

static void check_reader(int fd, struct writer *writer, size_t bytes)
{
        CHECK(fd >= 0);
        check_lines(fd, -1, bytes);
        close(fd);
        CHECK_EQ(pthread_join(writer->thread, NULL), 0);
}

static void check_pipe(size_t bytes, size_t packed_bytes)
{
        struct writer writer = { .bytes = packed_bytes };
        int fds[2];

        CHECK_EQ(pipe(fds), 0);
        writer.fd = fds[1];
        CHECK_EQ(pthread_create(&writer.thread, NULL, writer_run, &writer), 0);
        check_reader(fds[0], &writer, bytes);
}

static void check_fifo(size_t bytes, size_t packed_bytes)
{
        char folder[] = "/tmp/eddy-source-XXXXXX", path[sizeof(folder) + 8];
        struct writer writer = { .path = path, .bytes = packed_bytes };

        CHECK(mkdtemp(folder) != NULL);
        snprintf(path, sizeof(path), "%s/fifo", folder);
        CHECK_EQ(mkfifo(path, 0600), 0);
        CHECK_EQ(pthread_create(&writer.thread, NULL, writer_run, &writer), 0);
        check_reader(open(path, O_RDONLY), &writer, bytes);
        CHECK_EQ(unlink(path), 0);
        CHECK_EQ(rmdir(folder), 0);
}

static void check_size(size_t bytes)
{
        for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
                size_t packed_bytes = packers[i](bytes);

                check_file(bytes, packed_bytes);
                check_pipe(bytes, packed_bytes);
                check_fifo(bytes, packed_bytes);
        }
}

/* Nine cases for each size: around a buffer's, or any up to 1 MiB. */
TEST(ten_thousand_inputs_give_the_same_lines)
{
        static const uint32_t buffers[] = { 1, 128, 4096, 16384, 65536, 131072, 262144, 524288 };
        uint32_t sizes = test_is_full() ? 1112 : 20, state = 7;

        text_fill();
        for (uint32_t i = 0; i < sizes; i++) {
                state = state * 1664525 + 1013904223;
                if (i % 4 == 3)
                        check_size(1 + (state >> 12));
                else
                        check_size(buffers[i % 8] + (state >> 26));
        }
}

TEST(an_input_gives_the_same_lines_compressed_and_plain_from_a_file_a_pipe_and_a_fifo)
{
        static const size_t sizes[] = { 1,      100,    101,     102,           4096,    65535,
                                        65536,  65537,  131072,  262143,        262144,  262145,
                                        300000, 524288, 1 << 20, (1 << 20) + 1, 3 << 20, TEXT_MAX };

        text_fill();
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
                check_size(sizes[i]);
}

/* ---- ranges --------------------------------------------------------------------------------- */

enum { RANGE_LINES = 4000 };

static struct ed_line whole[RANGE_LINES]; /* 'data' is not used */
static size_t whole_count;

static int whole_take(void *arg, const struct ed_line *line)
{
        (void) arg;
        CHECK(whole_count < RANGE_LINES);
        whole[whole_count++] = *line;
        return 0;
}

/* The lines must be those of the whole file, in order. */
static int range_take(void *arg, const struct ed_line *line)
{
        size_t *next = arg;
        const struct ed_line *same = &whole[(*next)++];

        CHECK_EQ(line->number, same->number);
        CHECK_EQ(line->offset, same->offset);
        CHECK_EQ(line->next, same->next);
        CHECK_EQ(line->bytes, same->bytes);
        CHECK_EQ(line->is_too_long, same->is_too_long);
        CHECK(memcmp(line->data, text + line->offset, line->bytes) == 0);
        return 0;
}

static void range_read(int fd, struct ed_range range, ed_source_fn *take, void *arg)
{
        const struct ed_say say = ed_console_voice("test");
        struct ed_source_opts opts = { .say = &say,
                                       .path = "in",
                                       .line_bytes_max = 300,
                                       .range = range,
                                       .take = take,
                                       .arg = arg };
        struct ed_source source;

        CHECK_EQ(ed_source_init(&source, &opts), 0);
        CHECK_EQ(ed_source_read(&source, fd, (off_t) range.at), 0);
        CHECK(range.bytes == 0 || source.bytes == range.bytes);
        ed_source_fini(&source);
}

/* A byte order mark, lines of 0 to 340 bytes, some of which begin as gzip does, and no last end. */
static size_t lines_make(void)
{
        size_t bytes = 3;
        uint32_t state = 5;

        memcpy(text, "\xef\xbb\xbf", 3);
        for (int i = 0; i < RANGE_LINES; i++) {
                size_t line_bytes;

                state = state * 1664525 + 1013904223;
                line_bytes = (state >> 24) + (i % 50 == 0 ? 85 : 0);
                memset(text + bytes, 'a' + i % 26, line_bytes);
                if (i % 7 == 0 && line_bytes > 9)
                        memcpy(text + bytes, i % 2 ? "\xef\xbb\xbf" : "\x1f\x8b\x08", 3);
                bytes += line_bytes;
                if (i % 3 == 0)
                        text[bytes++] = '\r';
                text[bytes++] = '\n';
        }
        return bytes - 1;
}

TEST(a_file_in_ranges_has_the_same_lines_with_the_same_numbers)
{
        static const size_t counts[] = { 1, 2, 3, 7, 64, 500 };
        FILE *file = tmpfile();
        size_t bytes;

        text_fill();
        bytes = lines_make();
        whole_count = 0;
        CHECK(file != NULL);
        write_all(fileno(file), text, bytes);
        range_read(fileno(file), (struct ed_range){ 0 }, whole_take, NULL);
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                size_t next = 0, begin = 0;

                for (size_t part = 1; part <= counts[i]; part++) {
                        size_t end = whole_count * part / counts[i];
                        struct ed_range range = { .at = begin ? whole[begin].offset : 0,
                                                  .bytes = 0,
                                                  .lines = begin };

                        if (part < counts[i])
                                range.bytes = whole[end].offset - range.at;
                        range_read(fileno(file), range, range_take, &next);
                        CHECK_EQ(next, end);
                        begin = end;
                }
        }
        fclose(file);
}

/* The compressed size is around that of the buffer into which the file is read. */
TEST(a_compressed_input_may_end_at_any_byte_around_the_buffer)
{
        text_fill();
        for (size_t bytes = 200000; gzip_pack(bytes) < ED_SOURCE_READ_BYTES + 40; bytes += 331) {
                size_t packed_bytes = gzip_pack(bytes);

                if (packed_bytes > ED_SOURCE_READ_BYTES - 400)
                        check_file(bytes, packed_bytes);
        }
}
