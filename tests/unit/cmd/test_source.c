/*
 * test_source.c - an input gives the same lines whether it is plain or compressed, at sizes around
 * those of the buffers, from a file and from a pipe.
 */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "batch/source.h"

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

static void check_pipe(size_t bytes, size_t packed_bytes)
{
        int fds[2], status;
        pid_t pid;

        CHECK_EQ(pipe(fds), 0);
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
                write_all(fds[1], packed, packed_bytes);
                _exit(0);
        }
        close(fds[1]);
        check_lines(fds[0], -1, bytes);
        close(fds[0]);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
}

static void check_size(size_t bytes)
{
        for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
                size_t packed_bytes = packers[i](bytes);

                check_file(bytes, packed_bytes);
                check_pipe(bytes, packed_bytes);
        }
}

TEST(an_input_gives_the_same_lines_compressed_and_plain_from_a_file_and_a_pipe)
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
