/*
 * test_writer.c - a writer to real sockets and to TLS: the system takes a part of each write, or
 * nothing for a time; a cancel loses no byte and repeats none.
 */
#include "tls_test.h"

enum { SHORT_TOTAL = 40000, CANCEL_TOTAL = 12 << 20, PIECE_MAX = 900, BUFFER = 300 };

static struct {
        struct tls_rig rig;
        struct io_pair pair;
        int64_t (*send)(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n);
        size_t at_once;
        int shorts, refusals; /* sends that took a part; that took nothing */
        size_t total, taken;  /* by the writer */
        size_t piece_max;
        bool cancelled;
} site;

/* Bytes with a period that no piece and no record has. */
static char letter(size_t i)
{
        return (char) ('a' + i % 8191 % 23);
}

/* Sends at most 'at_once' bytes. */
static int64_t short_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        struct eddy_slice first = slices[0];
        int64_t sent;

        if (first.bytes > site.at_once)
                first.bytes = site.at_once;
        site.shorts += first.bytes < slices[0].bytes || n > 1;
        sent = site.send(sys, fd, &first, 1);
        site.refusals += sent == -EAGAIN;
        return sent;
}

static void sends_change(size_t at_once)
{
        site.send = io_tables()->socket.send;
        site.at_once = at_once;
        site.shorts = site.refusals = 0;
        site.taken = 0;
        site.cancelled = false;
        io_tables()->socket.send = short_send;
}

/* The next piece; its length depends on its place, so that a piece is repeated with the same length. */
static int write_piece(eddy_writer *writer)
{
        char data[PIECE_MAX + 1];
        size_t bytes = 1 + site.taken * 7 % site.piece_max;
        int err;

        if (bytes > site.total - site.taken)
                bytes = site.total - site.taken;
        for (size_t i = 0; i < bytes; i++)
                data[i] = letter(site.taken + i);
        data[bytes] = '\0';
        err = bytes % 2 || bytes >= BUFFER ? eddy_writer_write(writer, data, bytes)
                                           : eddy_writer_printf(writer, "%s", data);
        if (err == 0)
                site.taken += bytes;
        return err;
}

static int write_all(void *stream)
{
        char buf[BUFFER];
        eddy_writer writer;

        eddy_writer_init(&writer, stream, buf, sizeof(buf));
        while (site.taken < site.total)
                CHECK_EQ(write_piece(&writer), 0);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        CHECK_EQ(eddy_writer_buffered(&writer), 0);
        return 0;
}

/* Read 'total' bytes, and check each. */
static void read_checked(eddy_stream *stream)
{
        static char buf[1 << 16];
        size_t read = 0;

        while (read < site.total) {
                int64_t n = eddy_stream_read(stream, buf, sizeof(buf));

                CHECK(n > 0 && (size_t) n <= site.total - read);
                for (int64_t i = 0; i < n; i++, read++)
                        if (buf[i] != letter(read))
                                CHECK_EQ(read, SIZE_MAX);
        }
}

static void write_and_read(eddy_stream *from, eddy_stream *to)
{
        eddy_scope scope;

        for (size_t at_once = 1; at_once < 500; at_once = at_once * 5 + 2) {
                site.total = SHORT_TOTAL;
                site.piece_max = PIECE_MAX;
                sends_change(at_once);
                eddy_scope_begin(&scope, NULL);
                CHECK_EQ(eddy_scope_start(&scope, write_all, from), 0);
                read_checked(to);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK(site.shorts > 10);
                io_tables()->socket.send = site.send;
        }
}

/* Write until a cancel, then the rest. */
static int write_until_cancelled(void *stream)
{
        char buf[BUFFER];
        eddy_writer writer;
        eddy_scope shield;
        int err = 0;

        eddy_writer_init(&writer, stream, buf, sizeof(buf));
        while (err == 0 && site.taken < site.total)
                err = write_piece(&writer);
        CHECK_EQ(err, -ECANCELED);
        CHECK_EQ(eddy_writer_flush(&writer), -ECANCELED); /* the piece that was not taken */
        site.cancelled = true;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .timeout_ns = EDDY_SEC(600) });
        CHECK_EQ(eddy_writer_clear_error(&writer), 0);
        while (site.taken < site.total)
                CHECK_EQ(write_piece(&writer), 0);
        CHECK_EQ(eddy_writer_flush(&writer), 0);
        return eddy_scope_end(&shield);
}

/* The peer reads only after the cancel, so the system's buffers are full before. */
static void cancel_and_read(eddy_stream *from, eddy_stream *to)
{
        eddy_scope scope;
        eddy_task *task;

        site.total = CANCEL_TOTAL;
        site.piece_max = BUFFER - 1; /* a part of a longer piece could be sent */
        sends_change(SIZE_MAX);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, write_until_cancelled, from, NULL, &task), 0);
        while (site.refusals == 0)
                CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(task);
        eddy_task_release(task);
        read_checked(to);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(site.cancelled);
        io_tables()->socket.send = site.send;
}

static void on_socket(void (*fn)(eddy_stream *from, eddy_stream *to))
{
        io_pair_open(&site.pair);
        fn(site.pair.a, site.pair.b);
        io_pair_close(&site.pair);
}

static void on_tls(void (*fn)(eddy_stream *from, eddy_stream *to))
{
        memset(&site.rig, 0, sizeof(site.rig));
        tls_rig_open(&site.rig);
        tls_rig_shake(&site.rig);
        CHECK_EQ(site.rig.client_err, 0);
        fn(site.rig.client, site.rig.server);
        tls_rig_close(&site.rig);
}

static int short_on_socket(void *arg)
{
        on_socket(write_and_read);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_socket_that_takes_a_part_of_each_write_gets_all_bytes)
{
        io_run(short_on_socket);
}

static int short_on_tls(void *arg)
{
        on_tls(write_and_read);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(tls_over_short_writes_gets_all_bytes)
{
        io_run(short_on_tls);
}

static int cancel_on_socket(void *arg)
{
        on_socket(cancel_and_read);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_cancel_of_a_full_socket_loses_and_repeats_nothing)
{
        io_run(cancel_on_socket);
}

static int cancel_on_tls(void *arg)
{
        on_tls(cancel_and_read);
        return arg == NULL ? 0 : -EINVAL;
}

TEST(a_cancel_of_tls_loses_and_repeats_nothing)
{
        io_run(cancel_on_tls);
}
