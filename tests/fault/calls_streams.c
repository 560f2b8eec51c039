/*
 * calls_streams.c - the worlds of readers, writers, copies and foreign descriptors; see every_call.h.
 */
#include "every_call.h"

#include "loop/loop.h"

enum { BYTES = 300, PIECE = 90, BUFFER = 128 };

static struct {
        eddy_stream *here, *there; /* here writes */
        eddy_reader reader;        /* of there */
        char buf[BUFFER];
        int received;       /* bytes, checked */
        eddy_writer writer; /* of here */
        char out[PIECE];
        int sent; /* bytes, taken by the writer */
        eddy_stream *to, *end;
        int copied, arrived;
} net;

/* Byte i of what is sent: a line's end after each 127. */
static char byte_at(int i)
{
        return (char) (i % 127);
}

static void fill(char *buf, int at, int n)
{
        for (int i = 0; i < n; i++)
                buf[i] = byte_at(at + i);
}

static void check_bytes(const char *data, int at, int64_t n)
{
        for (int i = 0; i < (int) n; i++)
                CHECK_EQ(data[i], byte_at(at + i));
}

/* A connection, or a pair with a small buffer. */
static void connect_two(eddy_stream **ret_here, eddy_stream **ret_there)
{
        struct eddy_stream_pair_opts opts = { .buffer_bytes = 1 + world_chance(64) };
        eddy_listener *listener;

        if (world_chance(2)) {
                CHECK_EQ(eddy_stream_pair(&opts, ret_here, ret_there), 0);
                return;
        }
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, ret_here), 0);
        CHECK_EQ(eddy_listener_accept(listener, ret_there), 0);
        eddy_listener_close(listener);
}

static void net_begin(void)
{
        memset(&net, 0, sizeof(net));
        connect_two(&net.here, &net.there);
        eddy_reader_init(&net.reader, net.there, net.buf, sizeof(net.buf));
}

static void net_end(void)
{
        eddy_stream_close(net.here);
        eddy_stream_close(net.there);
        eddy_stream_close(net.to);
        eddy_stream_close(net.end);
}

static int write_pieces(void *arg)
{
        char piece[PIECE];
        int n;

        (void) arg;
        for (int at = 0; at < BYTES; at += n) {
                n = 1 + (int) world_chance(PIECE);
                if (n > BYTES - at)
                        n = BYTES - at;
                fill(piece, at, n);
                world_pause();
                CHECK_EQ(eddy_stream_write(net.here, piece, (size_t) n), 0);
        }
        CHECK_EQ(eddy_stream_shutdown(net.here), 0);
        return 0;
}

/* --- reading --- */

static int64_t received(const char *data, int64_t n)
{
        if (n > 0) {
                check_bytes(data, net.received, n);
                net.received += (int) n;
        }
        return n;
}

static int64_t read_some(void)
{
        char buf[PIECE];

        return received(buf, eddy_reader_read(&net.reader, buf, 1 + world_chance(PIECE)));
}

static int64_t read_exactly(void)
{
        const char *data = NULL;
        int64_t n = eddy_reader_exactly(&net.reader, 1 + world_chance(BUFFER), &data);

        return n == EDDY_E_STREAM_ENDED ? 0 : received(data, n);
}

static int64_t read_until(void)
{
        const char separator[2] = { byte_at(60), byte_at(61) };
        const char *data = NULL;
        int64_t n = eddy_reader_until(&net.reader, separator, 2, &data);

        return n == EDDY_E_STREAM_ENDED ? 0 : received(data, n);
}

static int64_t read_line(void)
{
        size_t bytes = 0;
        char *line = NULL;
        int64_t n = eddy_reader_line(&net.reader, &line, &bytes);

        if (n > 0) {
                CHECK_EQ(line[bytes], '\0');
                if ((size_t) n > bytes)
                        line[bytes] = '\n';
        }
        return received(line, n);
}

static int64_t read_line_piece(void)
{
        size_t bytes = 0;
        char *piece = NULL;
        bool is_end;
        int64_t n = eddy_reader_line_piece(&net.reader, &piece, &bytes, &is_end);

        return received(piece, n); /* the line's end is still in the buffer */
}

static int64_t peek_and_skip(void)
{
        const char *data = NULL;
        int64_t n = eddy_reader_peek(&net.reader, 1 + world_chance(BUFFER), &data);
        uint64_t skipped = 0;
        int err;

        if (n <= 0)
                return n;
        check_bytes(data, net.received, n);
        err = eddy_reader_skip(&net.reader, 1 + world_chance(2 * BUFFER), &skipped);
        net.received += (int) skipped;
        return err == EDDY_E_STREAM_ENDED ? 0 : err < 0 ? err : 1;
}

static int read_one(void *arg)
{
        int64_t (*const ways[])(void) = { read_some, read_exactly,    read_until,
                                          read_line, read_line_piece, peek_and_skip };

        (void) arg;
        return (int) ways[world_chance(6)]();
}

static int read_as_victim(void *arg)
{
        int n = 1;

        for (int i = 0; i < 8 && n != 0; i++) {
                n = victim_call(read_one, arg);
                CHECK(n >= 0 || n == -ECANCELED);
        }
        return 0;
}

/* No byte is taken by a call that was cancelled, nor lost. */
static int world_reader(void *arg)
{
        eddy_scope writing;

        net_begin();
        world_begin(8);
        eddy_scope_begin(&writing, NULL);
        world_start(&writing, write_pieces, NULL, 1);
        world_run(read_as_victim, arg, 1);
        while (read_some() > 0)
                continue;
        CHECK_EQ(eddy_scope_end(&writing), 0);
        CHECK_EQ(net.received, BYTES);
        net_end();
        return 0;
}
EVERY_POINT_LATE(reader, eddy_reader_read)
ALSO(reader, eddy_reader_exactly)
ALSO(reader, eddy_reader_until)
ALSO(reader, eddy_reader_line)
ALSO(reader, eddy_reader_line_piece)
ALSO(reader, eddy_reader_peek)
ALSO(reader, eddy_reader_skip)

/* --- writing --- */

EDDY_PRINTF(2, 3)
static int print(eddy_writer *writer, const char *format, ...)
{
        va_list args;
        int err;

        va_start(args, format);
        err = eddy_writer_vprintf(writer, format, args);
        va_end(args);
        return err;
}

static int write_one(void *arg)
{
        int n = 1 + (int) world_chance(PIECE), err;
        char piece[PIECE];

        (void) arg;
        if (n > BYTES - net.sent)
                n = BYTES - net.sent;
        fill(piece, net.sent, n);
        switch (world_chance(4)) {
        case 0:
                return eddy_writer_flush(&net.writer);
        case 1:
                n = 1;
                err = eddy_writer_printf(&net.writer, "%c", piece[0]);
                break;
        case 2:
                n = 1;
                err = print(&net.writer, "%c", piece[0]);
                break;
        default:
                err = eddy_writer_write(&net.writer, piece, (size_t) n);
        }
        if (err == 0)
                net.sent += n;
        else
                CHECK_EQ(eddy_writer_clear_error(&net.writer), 0);
        return err;
}

static int write_as_victim(void *arg)
{
        for (int i = 0; i < 8 && net.sent < BYTES; i++) {
                int err = victim_call(write_one, arg);

                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

static int read_all(void *arg)
{
        (void) arg;
        while (read_some() > 0)
                world_pause();
        return 0;
}

/* A piece that a cancelled call refused is not sent; all others are, once. */
static int world_writer(void *arg)
{
        eddy_scope reading;

        net_begin();
        eddy_writer_init(&net.writer, net.here, net.out, sizeof(net.out));
        world_begin(8);
        eddy_scope_begin(&reading, NULL);
        world_start(&reading, read_all, NULL, 1);
        world_run(write_as_victim, arg, 1);
        while (net.sent < BYTES)
                CHECK_EQ(write_one(NULL), 0);
        CHECK_EQ(eddy_writer_flush(&net.writer), 0);
        CHECK_EQ(eddy_stream_shutdown(net.here), 0);
        CHECK_EQ(eddy_scope_end(&reading), 0);
        CHECK_EQ(net.received, BYTES);
        net_end();
        return 0;
}
EVERY_POINT_LATE(writer, eddy_writer_write)
ALSO(writer, eddy_writer_printf)
ALSO(writer, eddy_writer_vprintf)
ALSO(writer, eddy_writer_flush)

/* --- copying --- */

/* A relay between two connections: here, there -> to, end. */
static int read_to_the_end(void *arg)
{
        char buf[PIECE];
        int64_t n = 1;

        (void) arg;
        while (n > 0) {
                world_pause();
                n = eddy_stream_read(net.end, buf, sizeof(buf));
                CHECK(n >= 0);
                check_bytes(buf, net.arrived, n);
                net.arrived += (int) n;
        }
        return 0;
}

static int copy_some(void *arg)
{
        struct eddy_stream_copied copied;
        int err = eddy_reader_copy(&net.reader, net.to, 1 + world_chance(2 * PIECE), &copied);

        (void) arg;
        net.copied += (int) copied.bytes;
        return err;
}

static int copy_as_victim(void *arg)
{
        for (int i = 0; i < 4; i++) {
                int err = victim_call(copy_some, arg);

                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

/* Copy the rest. */
static void continue_copy(void)
{
        struct eddy_stream_copied copied;

        CHECK_EQ(eddy_reader_copy(&net.reader, net.to, UINT64_MAX, &copied), 0);
        net.copied += (int) copied.bytes;
        CHECK_EQ(net.copied, BYTES);
}

/* Read the rest, so that the writer ends. */
static void drop_rest(void)
{
        char buf[PIECE];

        while (eddy_stream_read(net.there, buf, sizeof(buf)) > 0)
                continue;
}

static int run_copy(eddy_task_fn *victim, void (*then)(void))
{
        eddy_scope ends;

        net_begin();
        connect_two(&net.to, &net.end);
        world_begin(4);
        eddy_scope_begin(&ends, NULL);
        world_start(&ends, write_pieces, NULL, 1);
        world_start(&ends, read_to_the_end, NULL, 1);
        world_run(victim, NULL, 1);
        then();
        CHECK_EQ(eddy_stream_shutdown(net.to), 0);
        CHECK_EQ(eddy_scope_end(&ends), 0);
        CHECK_EQ(net.arrived, net.copied);
        net_end();
        return 0;
}

/* A relay that is cancelled continues where it was. */
static int world_reader_copy(void *arg)
{
        (void) arg;
        return run_copy(copy_as_victim, continue_copy);
}
EVERY_POINT_LATE(reader_copy, eddy_reader_copy)

static int copy_all(void *arg)
{
        struct eddy_stream_copied copied;
        int err = eddy_stream_copy(net.there, net.to, UINT64_MAX, &copied);

        (void) arg;
        net.copied = (int) copied.bytes;
        if (err == 0)
                CHECK_EQ(net.copied, BYTES);
        CHECK(net.copied + (int) copied.dropped <= BYTES);
        return err;
}

static int copy_all_as_victim(void *arg)
{
        int err = victim_call(copy_all, arg);

        CHECK(err == 0 || err == -ECANCELED);
        return 0;
}

/* What was written is what was counted. */
static int world_stream_copy(void *arg)
{
        (void) arg;
        return run_copy(copy_all_as_victim, drop_rest);
}
EVERY_POINT_LATE(stream_copy, eddy_stream_copy)

/* --- a descriptor of another library --- */

enum { BYTES_FOREIGN = 6 };

static struct {
        int fds[2];
        int sent, got;
} foreign;

static int wait_for_byte(void *arg)
{
        unsigned events = EDDY_FD_READABLE | (world_chance(4) ? 0 : EDDY_FD_WRITABLE);
        int ready = eddy_fd_wait(foreign.fds[0], events);
        char byte;

        (void) arg;
        CHECK(ready < 0 || (ready > 0 && (ready & (int) ~events) == 0));
        if (ready > 0 && ready & EDDY_FD_READABLE) {
                struct ed_sys *sys = ed_loop_current->sys;

                CHECK_EQ(sys->socket->recv(sys, foreign.fds[0], &byte, 1), 1);
                foreign.got++;
        }
        return ready;
}

static int wait_as_victim(void *arg)
{
        for (int i = 0; i < 8 && foreign.got < BYTES_FOREIGN; i++) {
                int ready = victim_call(wait_for_byte, arg);

                CHECK(ready > 0 || ready == -ECANCELED);
        }
        return 0;
}

static int send_foreign(void *arg)
{
        struct ed_sys *sys = ed_loop_current->sys;
        struct eddy_slice slice = { "x", 1 };

        (void) arg;
        for (; foreign.sent < BYTES_FOREIGN; foreign.sent++) {
                world_pause();
                CHECK_EQ(sys->socket->send(sys, foreign.fds[1], &slice, 1), 1);
        }
        return 0;
}

/* Whoever waits after a cancel finds what came. */
static int world_fd_wait(void *arg)
{
        struct ed_sys *sys = ed_loop_current->sys;
        eddy_scope sending;

        memset(&foreign, 0, sizeof(foreign));
        CHECK_EQ(ed_sim_pair(sys, NULL, foreign.fds), 0);
        world_begin(8);
        eddy_scope_begin(&sending, NULL);
        world_start(&sending, send_foreign, NULL, 1);
        world_run(wait_as_victim, arg, 1);
        while (foreign.got < BYTES_FOREIGN)
                CHECK(wait_for_byte(NULL) > 0);
        CHECK_EQ(eddy_scope_end(&sending), 0);
        for (int i = 0; i < 2; i++)
                sys->socket->close(sys, foreign.fds[i]);
        return 0;
}
EVERY_POINT_LATE(fd_wait, eddy_fd_wait)
