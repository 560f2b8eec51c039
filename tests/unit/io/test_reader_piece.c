/*
 * test_reader_piece.c - lines in pieces: every size of the buffer around the lengths of the lines,
 * every split of the input, and a cancel at each wait.
 */
#include <errno.h>

#include "cancel_at.h"
#include "eddy/test.h"
#include "script.h"
#include "test.h"

enum { ROOM = 64 };

static void run(eddy_task_fn *fn)
{
        int result = eddy_test_run(fn, NULL, NULL, NULL);

        CHECK_STR(result ? eddy_error_name(result) : "0", "0");
}

/*
 * The pieces of an input, joined: each line is followed by '|' where it ended; ends that the pieces
 * did not show, because the stream ended just after a full one, are added here.
 */
struct joined {
        eddy_reader *reader;
        char text[2 * ROOM];
        size_t bytes;
        int64_t taken;
        bool in_line;
};

static int join(void *arg)
{
        struct joined *joined = arg;
        eddy_reader *reader = joined->reader;
        char *piece;
        size_t bytes;
        bool is_end;
        int64_t n;

        while ((n = eddy_reader_line_piece(reader, &piece, &bytes, &is_end)) > 0) {
                CHECK(piece >= reader->buf && piece + bytes <= reader->buf + reader->size);
                CHECK(is_end || bytes == reader->size || bytes == reader->size - 1);
                CHECK(is_end || n == (int64_t) bytes);
                memcpy(joined->text + joined->bytes, piece, bytes);
                joined->bytes += bytes;
                if (is_end)
                        joined->text[joined->bytes++] = '|';
                joined->in_line = !is_end;
                joined->taken += n;
        }
        if (n == 0 && joined->in_line)
                joined->text[joined->bytes++] = '|';
        return (int) n;
}

static size_t join_by_another_way(const char *data, size_t bytes, char *out)
{
        size_t n = 0;

        for (size_t i = 0; i < bytes; i++) {
                if (data[i] == '\r' && i + 1 < bytes && data[i + 1] == '\n')
                        continue;
                out[n++] = data[i] == '\n' ? '|' : data[i];
        }
        if (bytes > 0 && data[bytes - 1] != '\n')
                out[n++] = '|';
        return n;
}

static void check_joined(const struct joined *joined, const char *data, size_t bytes)
{
        char wanted[2 * ROOM];
        size_t n = join_by_another_way(data, bytes, wanted);

        CHECK_EQ(joined->taken, bytes);
        CHECK_EQ(joined->bytes, n);
        CHECK(memcmp(joined->text, wanted, n) == 0);
        CHECK(eddy_reader_is_at_end(joined->reader));
}

static void read_pieces(const char *data, size_t bytes, size_t size, uint64_t cuts)
{
        char *buf = malloc(size); /* of the exact size: ASan sees a byte after it */
        struct script script;
        eddy_reader reader;
        struct joined joined = { .reader = &reader };

        CHECK(buf != NULL);
        script_init(&script, data, bytes, cuts);
        eddy_reader_init(&reader, &script.stream, buf, size);
        CHECK_EQ(join(&joined), 0);
        check_joined(&joined, data, bytes);
        free(buf);
}

static void read_in_every_way(const char *data, size_t bytes)
{
        CHECK(bytes < ROOM);
        for (size_t size = 2; size <= bytes + 2; size++) {
                read_pieces(data, bytes, size, 0);
                read_pieces(data, bytes, size, UINT64_MAX);
                for (size_t i = 0; i < bytes; i++)
                        for (size_t j = i; j < bytes; j++)
                                read_pieces(data, bytes, size, UINT64_C(1) << i | UINT64_C(1) << j);
        }
}

static int in_every_way(void *arg)
{
        static const char nuls[] = "a\0b\n\0\r\n\0\0\r\n";

        read_in_every_way("one\r\ntwo and three\n\nfour\r\n", 27);
        read_in_every_way("0123456\r\r\n\r", 11);
        read_in_every_way("\r\n\r\n", 4);
        read_in_every_way("\n\n", 2);
        read_in_every_way("\r", 1);
        read_in_every_way("\r\r\r\r\r", 5);
        read_in_every_way("no end", 6);
        read_in_every_way("no end\r", 7);
        read_in_every_way("", 0);
        read_in_every_way(nuls, sizeof(nuls) - 1);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(pieces_of_lines_are_the_lines_in_each_size_of_buffer)
{
        run(in_every_way);
}

/* A piece, as "TEXT/taken", and '|' after a line's end. */
static void expect(eddy_reader *reader, const char *text, int64_t taken, bool is_end)
{
        char *piece = NULL;
        size_t bytes = 99;
        bool got_end = !is_end;

        CHECK_EQ(eddy_reader_line_piece(reader, &piece, &bytes, &got_end), taken);
        CHECK_EQ(bytes, strlen(text));
        CHECK(memcmp(piece, text, bytes) == 0);
        CHECK_EQ(got_end, is_end);
}

static int around_the_size(void *arg)
{
        static const char lines[] = "012345\n0123456\n01234567\n012345\r\n0123456\r\n01234567\r\n";
        struct script script;
        char buf[8], *piece = NULL, *line;
        size_t bytes = 99, line_bytes;
        bool is_end = true;
        eddy_reader reader;

        /* Lines whose ends are one byte before, at, and one byte after the buffer's end. */
        script_init(&script, lines, sizeof(lines) - 1, 0);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        expect(&reader, "012345", 7, true);
        expect(&reader, "0123456", 8, true);
        expect(&reader, "01234567", 8, false);
        expect(&reader, "", 1, true);
        expect(&reader, "012345", 8, true);
        expect(&reader, "0123456", 7, false); /* the '\r' waits for the '\n' */
        expect(&reader, "", 2, true);
        expect(&reader, "01234567", 8, false);
        expect(&reader, "", 2, true);
        CHECK_EQ(eddy_reader_line_piece(&reader, &piece, &bytes, &is_end), 0);
        CHECK(piece == NULL && bytes == 99 && is_end);

        /* The stream ends just after a full piece; and after a '\r' that waited. */
        script_init(&script, "01234567", 8, 0);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        expect(&reader, "01234567", 8, false);
        CHECK_EQ(eddy_reader_line_piece(&reader, &piece, &bytes, &is_end), 0);
        script_init(&script, "0123456\r", 8, 0);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        expect(&reader, "0123456", 7, false);
        expect(&reader, "\r", 1, true);
        CHECK_EQ(eddy_reader_line_piece(&reader, &piece, &bytes, &is_end), 0);

        /* After a line that is too long for eddy_reader_line(). */
        script_init(&script, "0123456789abcdefgh\nnext\n", 24, 0);
        eddy_reader_init(&reader, &script.stream, buf, sizeof(buf));
        CHECK_EQ(eddy_reader_line(&reader, &line, &line_bytes), EDDY_E_STREAM_LIMIT);
        expect(&reader, "01234567", 8, false);
        expect(&reader, "89abcdef", 8, false);
        expect(&reader, "gh", 3, true);
        CHECK_EQ(eddy_reader_line(&reader, &line, &line_bytes), 5);
        CHECK_STR(line, "next");

        eddy_reader_init(&reader, &script.stream, buf, 1);
        CHECK_EQ(eddy_reader_line_piece(&reader, &piece, &bytes, &is_end), -EINVAL);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_line_one_byte_around_the_buffers_size_has_the_right_pieces)
{
        run(around_the_size);
}

static bool cancel_one(int n, size_t size, uint64_t cuts)
{
        static const char data[] = "0123456\r\n89abcdefghij\n\r\nlast";
        struct script script;
        char buf[16];
        eddy_reader reader;
        struct joined joined = { .reader = &reader };
        bool reached;
        int err;

        script_init(&script, data, sizeof(data) - 1, cuts);
        eddy_reader_init(&reader, &script.stream, buf, size);
        err = cancel_at(n, join, &joined, &reached);
        if (err == -ECANCELED) {
                CHECK_EQ(joined.taken + (int64_t) eddy_reader_buffered(&reader),
                         (int64_t) script.at);
                err = join(&joined);
        }
        CHECK_EQ(err, 0);
        check_joined(&joined, data, sizeof(data) - 1);
        return reached;
}

static int cancel_everywhere(void *arg)
{
        for (size_t size = 2; size <= 16; size++) {
                int n = 0;

                while (cancel_one(n, size, UINT64_MAX))
                        n++;
                CHECK(n > 20);
                for (int cut = 0; cut < 28; cut++)
                        for (n = 0; cancel_one(n, size, UINT64_C(1) << cut); n++)
                                continue;
        }
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_cancel_between_and_in_pieces_loses_no_byte)
{
        run(cancel_everywhere);
}
