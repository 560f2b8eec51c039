/*
 * calls_net.c - the worlds of streams, connections and names; see
 * every_call.h.
 */
#include "every_call.h"

#include <sys/socket.h>

#include "loop/loop.h"

enum { BYTES = 300, PIECE = 90 };

static struct {
        eddy_listener *listener;
        uint16_t port;
        eddy_stream *here, *there;
        int sent, received; /* bytes */
        bool whole;         /* nobody gave up writing */
        int connected, accepted, dropped;
} net;

static void fill(char *buf, int at, int n)
{
        for (int i = 0; i < n; i++)
                buf[i] = (char) ((at + i) % 127);
}

static void net_begin(void)
{
        memset(&net, 0, sizeof(net));
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &net.listener), 0);
        net.port = eddy_listener_port(net.listener);
}

/* With two ends of a connection. */
static void pair_begin(void)
{
        net_begin();
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", net.port, NULL, &net.here), 0);
        CHECK_EQ(eddy_listener_accept(net.listener, &net.there), 0);
}

static void net_end(void)
{
        eddy_stream_close(net.here);
        eddy_stream_close(net.there);
        eddy_listener_close(net.listener);
}

/* --- reading --- */

/* The result of a read, whose bytes must follow those before; 0 at the end. */
static int take(const char *buf, int64_t n)
{
        char wanted[PIECE];

        if (n > 0) {
                fill(wanted, net.received, (int) n);
                CHECK(memcmp(buf, wanted, (size_t) n) == 0);
                net.received += (int) n;
        }
        return (int) n;
}

static int read_some(void *arg)
{
        char buf[PIECE];

        (void) arg;
        return take(buf, eddy_stream_read(net.there, buf, 1 + world_chance(PIECE)));
}

static int read_as_victim(eddy_task_fn *read)
{
        int n = 1;

        /* The last call is not reached when it is cancelled before. */
        for (int i = 0; i < 8 && n > 0; i++) {
                n = victim_call(read, NULL);
                CHECK(n >= 0 || n == -ECANCELED);
                if (n == -ECANCELED && world_chance(2))
                        n = 1;
        }
        return 0;
}

static int read_victim(void *arg)
{
        (void) arg;
        return read_as_victim(read_some);
}

static int write_pieces(void *arg)
{
        char piece[PIECE];
        int n;

        (void) arg;
        for (int at = 0; at < BYTES; at += n) {
                n = BYTES - at < PIECE ? BYTES - at : PIECE;
                fill(piece, at, n);
                world_pause();
                CHECK_EQ(eddy_stream_write(net.here, piece, (size_t) n), 0);
        }
        CHECK_EQ(eddy_stream_shutdown(net.here), 0);
        return 0;
}

/* No byte is taken by a read that was cancelled, nor lost. */
static int run_reader(eddy_task_fn *reader)
{
        eddy_scope writing;

        pair_begin();
        world_begin(8);
        eddy_scope_begin(&writing, NULL);
        world_start(&writing, write_pieces, NULL, 1);
        world_run(reader, NULL, 1);
        while (read_some(NULL) > 0)
                continue;
        CHECK_EQ(eddy_scope_end(&writing), 0);
        CHECK_EQ(net.received, BYTES);
        net_end();
        return 0;
}

static int world_stream_read(void *arg)
{
        (void) arg;
        return run_reader(read_victim);
}
EVERY_POINT_LATE(stream_read, eddy_stream_read)

/* A try, and a wait if it must be repeated. */
static int try_to_read(void *arg)
{
        char buf[PIECE];
        int64_t n;
        int err;

        (void) arg;
        victim_may_not_suspend();
        while ((n = eddy_stream_try_read(net.there, buf, 1 + world_chance(PIECE))) == -EAGAIN) {
                err = eddy_stream_wait(net.there, EDDY_STREAM_READING);
                if (err < 0)
                        return err;
        }
        return take(buf, n);
}

static int try_victim(void *arg)
{
        (void) arg;
        return read_as_victim(try_to_read);
}

static int world_stream_wait(void *arg)
{
        (void) arg;
        return run_reader(try_victim);
}
EVERY_POINT_LATE(stream_wait, eddy_stream_wait)

/* --- writing --- */

static int write_piece(void *arg)
{
        char piece[PIECE];

        (void) arg;
        fill(piece, net.sent, PIECE);
        return eddy_stream_write(net.here, piece, PIECE);
}

static int writev_piece(void *arg)
{
        struct eddy_slice slices[3];
        char piece[PIECE];
        size_t first = world_chance(PIECE), second = world_chance(PIECE - first);

        (void) arg;
        fill(piece, net.sent, PIECE);
        slices[0] = (struct eddy_slice){ piece, first };
        slices[1] = (struct eddy_slice){ piece + first, second };
        slices[2] = (struct eddy_slice){ piece + first + second, PIECE - first - second };
        return eddy_stream_writev(net.here, slices, 3);
}

/*
 * After a cancel the same piece again: written whole if no byte of it was sent
 * before, and else not at all, so that the reader finds each byte in its place.
 */
static int write_as_victim(eddy_task_fn *write)
{
        bool cancelled = false;
        int err = 0;

        for (int i = 0; i < 4; i++) {
                err = victim_call(write, NULL);
                CHECK(err == 0 || err == -ECANCELED || (err == EDDY_E_STREAM_BROKEN && cancelled));
                cancelled |= err == -ECANCELED;
                if (err == EDDY_E_STREAM_BROKEN)
                        break;
                if (err == 0)
                        net.sent += PIECE;
        }
        net.whole = err == 0;
        if (err < 0 && world_chance(2))
                eddy_stream_abort(net.here);
        else
                eddy_stream_close(net.here);
        net.here = NULL;
        return 0;
}

static int write_victim(void *arg)
{
        (void) arg;
        return write_as_victim(write_piece);
}

static int writev_victim(void *arg)
{
        (void) arg;
        return write_as_victim(writev_piece);
}

static int read_to_end(void *arg)
{
        int n = 1;

        while (n > 0) {
                world_pause();
                n = read_some(arg);
                CHECK(n >= 0 || (n == -ECONNRESET && victims_cancelled() > 0));
        }
        return 0;
}

static int run_writer(eddy_task_fn *writer)
{
        eddy_scope scope;

        pair_begin();
        world_begin(4);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, writer, NULL, 1);
        world_start(&scope, read_to_end, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        if (net.whole)
                CHECK_EQ(net.received, net.sent);
        else
                CHECK(net.received <= net.sent + PIECE);
        net_end();
        return 0;
}

static int world_stream_write(void *arg)
{
        (void) arg;
        return run_writer(write_victim);
}
EVERY_POINT_LATE(stream_write, eddy_stream_write)

static int world_stream_writev(void *arg)
{
        (void) arg;
        return run_writer(writev_victim);
}
EVERY_POINT_LATE(stream_writev, eddy_stream_writev)

/* After a cancel nothing of the call was sent, and the next one continues. */
static int write_some(void *arg)
{
        struct eddy_slice slice;
        char piece[PIECE];
        int64_t n;

        (void) arg;
        fill(piece, net.sent, PIECE);
        slice = (struct eddy_slice){ piece, PIECE };
        n = eddy_stream_write_some(net.here, &slice, 1);
        net.sent += n > 0 ? (int) n : 0;
        return (int) n;
}

static int write_some_victim(void *arg)
{
        for (int i = 0; i < 8; i++) {
                int n = victim_call(write_some, arg);

                CHECK(n > 0 || n == -ECANCELED);
        }
        net.whole = true;
        eddy_stream_close(net.here);
        net.here = NULL;
        return 0;
}

static int world_stream_write_some(void *arg)
{
        eddy_scope scope;

        (void) arg;
        pair_begin();
        world_begin(8);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, write_some_victim, NULL, 1);
        world_start(&scope, read_to_end, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(net.received, net.sent);
        net_end();
        return 0;
}
EVERY_POINT_LATE(stream_write_some, eddy_stream_write_some)

/* --- accepting --- */

enum { CALLERS = 3 };

static int accept_one(void *arg)
{
        eddy_stream *stream = NULL;
        int err = eddy_listener_accept(net.listener, &stream);

        (void) arg;
        CHECK_EQ(err == 0, stream != NULL);
        if (err == 0) {
                net.accepted++;
                eddy_stream_close(stream);
        }
        return err;
}

static int accept_as_victim(void *arg)
{
        while (net.accepted < CALLERS) {
                int err = victim_call(accept_one, arg);

                CHECK(err == 0 || err == -ECANCELED);
                if (err == -ECANCELED)
                        break;
        }
        return 0;
}

/* Each caller is accepted, by whomever: it sees the end of its connection, and no reset. */
static int call_in(void *arg)
{
        eddy_stream *stream;
        char byte;

        (void) arg;
        world_pause();
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", net.port, NULL, &stream), 0);
        CHECK_EQ(eddy_stream_read(stream, &byte, 1), 0);
        eddy_stream_close(stream);
        return 0;
}

static int world_accept(void *arg)
{
        eddy_scope callers;

        net_begin();
        world_begin(CALLERS);
        eddy_scope_begin(&callers, NULL);
        world_start(&callers, call_in, NULL, CALLERS);
        world_run(accept_as_victim, arg, 1);
        while (net.accepted < CALLERS)
                CHECK_EQ(accept_one(NULL), 0);
        CHECK_EQ(eddy_scope_end(&callers), 0);
        CHECK_EQ(net.accepted, CALLERS);
        net_end();
        return 0;
}
EVERY_POINT_LATE(accept, eddy_listener_accept)

/* --- connecting --- */

/* A name of up to three addresses: silent ones, which take 250 ms each, then one that answers. */
static void name_world(void)
{
        static const struct eddy_address addresses[3] = {
                { .family = AF_INET6, .bytes = { 0xfd, [15] = 1 } },
                { .family = AF_INET, .bytes = { 10, 0, 0, 1 } },
                { .family = AF_INET, .bytes = { 127, 0, 0, 1 } },
        };
        struct ed_sys *sys = ed_loop_current->sys;
        size_t first = world_chance(3);

        CHECK_EQ(ed_sim_address_dead(sys, &addresses[0]), 0);
        CHECK_EQ(ed_sim_address_dead(sys, &addresses[1]), 0);
        CHECK_EQ(ed_sim_name_add(sys, "api.example", &addresses[first], 3 - first), 0);
        CHECK_EQ(ed_sim_name_add(sys, "empty.example", NULL, 0), 0);
}

/* The result of a call that connects. */
static int connected(int err, eddy_stream *stream)
{
        CHECK_EQ(err == 0, stream != NULL);
        if (err == 0) {
                net.connected++;
                eddy_stream_close(stream);
        }
        return err;
}

static int connect_one(void *arg)
{
        eddy_stream *stream = NULL;
        int err = eddy_tcp_connect("api.example", net.port, NULL, &stream);

        (void) arg;
        return connected(err, stream);
}

static int connect_as_victim(eddy_task_fn *connect)
{
        int err;

        world_pause();
        err = victim_call(connect, NULL);
        CHECK(err == 0 || err == -ECANCELED);
        return 0;
}

static int connect_victim(void *arg)
{
        (void) arg;
        return connect_as_victim(connect_one);
}

/* Until the other side reports that no more will come. */
static int accept_all(void *arg)
{
        (void) arg;
        while (accept_one(NULL) == 0)
                continue;
        return 0;
}

/* Up to three connect; those that were not cancelled are connected. */
static int run_connecting(eddy_task_fn *accept, eddy_task_fn *connect)
{
        int n = 1 + (int) world_chance(3);
        eddy_scope accepting;

        world_begin(n);
        eddy_scope_begin(&accepting, NULL);
        world_start(&accepting, accept, NULL, 1);
        world_run(connect, NULL, n);
        CHECK_EQ(net.connected, n - victims_cancelled());
        eddy_scope_cancel(&accepting);
        CHECK_EQ(eddy_scope_end(&accepting), 0);
        net_end();
        return 0;
}

static int world_connect(void *arg)
{
        (void) arg;
        net_begin();
        name_world();
        return run_connecting(accept_all, connect_victim);
}
EVERY_POINT_LATE(connect, eddy_tcp_connect)

/* --- Unix sockets --- */

/* The backlog is full until an acceptor comes, so that connecting waits for room. */
static int connect_unix(void *arg)
{
        eddy_stream *stream = NULL;
        int err = eddy_unix_connect("@world", NULL, &stream);

        (void) arg;
        return connected(err, stream);
}

static int connect_unix_victim(void *arg)
{
        (void) arg;
        return connect_as_victim(connect_unix);
}

static int accept_late(void *arg)
{
        if (eddy_sleep(EDDY_MS(5 + world_chance(40))) == 0)
                (void) accept_all(arg);
        return 0;
}

static int world_connect_unix(void *arg)
{
        struct eddy_unix_listen_opts opts = { .backlog = 1 };

        (void) arg;
        memset(&net, 0, sizeof(net));
        CHECK_EQ(eddy_unix_listen("@world", &opts, &net.listener), 0);
        return run_connecting(accept_late, connect_unix_victim);
}
EVERY_POINT_LATE(connect_unix, eddy_unix_connect)

/* --- names --- */

static int look_up(void *arg)
{
        static const struct {
                const char *name;
                int err;
        } names[] = {
                { "api.example", 0 },
                { "no.example", EDDY_E_DNS_NOT_FOUND },
                { "empty.example", EDDY_E_DNS_NO_ADDRESS },
                { "127.0.0.1", 0 },
        };
        struct eddy_address addresses[4];
        size_t i = world_chance(4);
        int n = eddy_dns_lookup(names[i].name, addresses, 4);

        (void) arg;
        if (n == -ECANCELED)
                return n;
        if (names[i].err == 0)
                CHECK(n > 0 && n <= 3);
        else
                CHECK_EQ(n, names[i].err);
        return 0;
}

static int look_up_names(void *arg)
{
        for (int i = 0; i < 3; i++) {
                int err;

                world_pause();
                err = victim_call(look_up, arg);
                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

static int world_lookup(void *arg)
{
        int n = 2 + (int) world_chance(3);

        name_world();
        world_begin(3 * n);
        world_run(look_up_names, arg, n);
        return 0;
}
EVERY_POINT(lookup, eddy_dns_lookup)
