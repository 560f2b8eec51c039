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

enum { TEXT_MAX = 5 << 20, LINE_BYTES = 101 };

static char text[TEXT_MAX], packed[TEXT_MAX + (1 << 20)];

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
        stream.avail_out = sizeof(packed);
        CHECK_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
        CHECK_EQ(deflateEnd(&stream), Z_OK);
        return sizeof(packed) - stream.avail_out;
}

static size_t zstd_pack(size_t bytes)
{
        size_t n = ZSTD_compress(packed, sizeof(packed), text, bytes, 1);

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
        size_t at = 0;
        struct ed_source_opts opts = { .command = "test",
                                       .path = "in",
                                       .line_bytes_max = 1 << 20,
                                       .take = line_take,
                                       .arg = &at };
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
