/*
 * test_send_file.c - writing bytes of a file to a stream without a copy: where it works, its end, room, the
 * limit of unsent bytes, and a peer that is gone.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>

#include "io/file.h"
#include "io/socket.h"
#include "io/stream.h"
#include "io_test.h"

enum { BYTES = 3 << 20, LIMIT_BYTES = 128 << 10 };

static eddy_file *file;

TEST_ROOM(unsigned char, content, BYTES);
TEST_ROOM(unsigned char, received, BYTES);

static void file_make(void)
{
        for (size_t i = 0; i < BYTES; i++)
                content[i] = (unsigned char) (i * 7 + i / 251);
        CHECK_EQ(eddy_file_temporary(NULL, &file), 0);
        CHECK_EQ(eddy_file_write_at(file, content, BYTES, 0), 0);
}

/* Send bytes as the stream takes them; stop before a wait. Returns the bytes sent. */
static size_t send_now(eddy_stream *to, size_t at, size_t end)
{
        while (at < end) {
                int64_t n = ed_stream_send_file(to, file, (int64_t) at, end - at, NULL);

                if (n == -EAGAIN)
                        continue;
                CHECK(n > 0 && (size_t) n <= end - at);
                at += (size_t) n;
        }
        return at;
}

static int read_all(void *arg)
{
        io_read_all(arg, received, BYTES);
        return 0;
}

static int whole(void *arg)
{
        struct io_pair pair;
        eddy_scope scope;

        (void) arg;
        file_make();
        io_pair_open(&pair);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_all, pair.b);
        CHECK_EQ(eddy_stream_write(pair.a, content, 10), 0);
        CHECK_EQ(send_now(pair.a, 10, BYTES - 10), BYTES - 10);
        CHECK_EQ(ed_stream_send_file(pair.a, file, BYTES, 100, NULL), 0);
        CHECK_EQ(eddy_stream_write(pair.a, content + BYTES - 10, 10), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(memcmp(received, content, BYTES) == 0);
        io_pair_close(&pair);
        eddy_file_close(file);
        return 0;
}

TEST(bytes_of_a_file_arrive_in_order_among_others_and_end_with_the_file)
{
        io_run(whole);
}

static int64_t ended_with;

static int send_for_ever(void *arg)
{
        struct io_pair *pair = arg;

        do
                ended_with = ed_stream_send_file(pair->a, file, 0, BYTES, NULL);
        while (ended_with > 0 || ended_with == -EAGAIN);
        return 0;
}

static int cancelled(void *arg)
{
        struct io_pair pair;
        eddy_scope scope;

        (void) arg;
        file_make();
        io_pair_open(&pair);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, send_for_ever, &pair);
        io_settle(); /* the peer reads nothing */
        CHECK_EQ(ed_stream_send_file(pair.a, file, 0, 1, NULL), -EBUSY);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(ended_with, -ECANCELED);
        io_pair_close(&pair);
        eddy_file_close(file);
        return 0;
}

TEST(a_wait_for_room_can_be_cancelled_and_has_the_stream_to_itself)
{
        io_run(cancelled);
}

static int unsent_limit(eddy_stream *stream)
{
        socklen_t bytes = sizeof(int);
        int limit = 0;

        CHECK_EQ(getsockopt(eddy_stream_fd(stream), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit, &bytes),
                 0);
        return limit;
}

static int limits(void *arg)
{
        struct io_pair pair;
        eddy_stream *to;
        eddy_scope scope;

        (void) arg;
        file_make();
        io_pair_open(&pair);
        to = unsent_limit(pair.a) == LIMIT_BYTES ? pair.a : pair.b; /* that was accepted */
        CHECK_EQ(unsent_limit(to), LIMIT_BYTES);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_all, to == pair.a ? pair.b : pair.a);
        (void) send_now(to, 0, 1000000);
        CHECK_EQ(unsent_limit(to), LIMIT_BYTES);
        (void) send_now(to, 1000000, 2000000);
        CHECK(unsent_limit(to) > 1 << 30);
        CHECK_EQ(eddy_stream_write(to, content + 2000000, 10), 0);
        CHECK_EQ(unsent_limit(to), LIMIT_BYTES);
        (void) send_now(to, 2000010, BYTES);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(memcmp(received, content, BYTES) == 0);
        io_pair_close(&pair);
        eddy_file_close(file);
        return 0;
}

TEST(the_limit_of_unsent_bytes_is_lifted_for_a_file_of_which_the_peer_took_much)
{
        io_run(limits);
}

static int places(void *arg)
{
        struct ed_loop *loop = ed_loop_current;
        struct io_pair pair;
        eddy_stream *to;
        eddy_scope scope;

        (void) arg;
        file_make();
        io_pair_open(&pair);
        to = unsent_limit(pair.a) == LIMIT_BYTES ? pair.a : pair.b;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_all, to == pair.a ? pair.b : pair.a);
        loop->unlimited = ED_SOCKETS_UNLIMITED_MAX;
        (void) send_now(to, 0, 2000000);
        CHECK_EQ(unsent_limit(to), LIMIT_BYTES);
        loop->unlimited--;
        (void) send_now(to, 2000000, 2000001);
        CHECK(unsent_limit(to) > 1 << 30);
        CHECK_EQ(loop->unlimited, ED_SOCKETS_UNLIMITED_MAX);
        (void) send_now(to, 2000001, BYTES);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        io_pair_close(&pair);
        CHECK_EQ(loop->unlimited, ED_SOCKETS_UNLIMITED_MAX - 1);
        loop->unlimited = 0;
        eddy_file_close(file);
        return 0;
}

TEST(only_a_number_of_connections_are_without_the_limit_and_a_close_gives_its_place_back)
{
        io_run(places);
}

static int gone(void *arg)
{
        struct io_pair pair;

        (void) arg;
        file_make();
        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_shutdown(pair.a), 0);
        CHECK_EQ(ed_stream_send_file(pair.a, file, 0, BYTES, NULL), -EPIPE);
        io_pair_close(&pair);
        eddy_file_close(file);
        return 0;
}

TEST(a_connection_that_has_ended_is_an_error_and_no_signal)
{
        sigset_t pending;

        CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
        io_run(gone);
        sigpending(&pending);
        CHECK(!sigismember(&pending, SIGPIPE));
}

/* A signal that the program has blocked and not taken yet stays. */
TEST(a_signal_that_waits_already_is_not_taken_away)
{
        sigset_t pipe_only, pending;

        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE);
        sigprocmask(SIG_BLOCK, &pipe_only, NULL);
        raise(SIGPIPE);
        io_run(gone);
        sigpending(&pending);
        CHECK(sigismember(&pending, SIGPIPE));
}

static int elsewhere(void *arg)
{
        eddy_stream *a, *b;

        (void) arg;
        file_make();
        CHECK_EQ(eddy_stream_pair(NULL, &a, &b), 0);
        CHECK_EQ(ed_stream_send_file(a, file, 0, 10, NULL), -ENOTSUP);
        CHECK_EQ(eddy_stream_write(a, "", 0), 0);
        eddy_stream_close(a);
        eddy_stream_close(b);
        eddy_file_close(file);
        return 0;
}

TEST(a_stream_that_is_not_a_socket_takes_no_file)
{
        io_run(elsewhere);
}

static int cached(void *arg)
{
        (void) arg;
        file_make();
        /* Some file systems do not say so of any byte. */
        CHECK_EQ(ed_file_is_cached(file, 0), ed_file_is_cached(file, BYTES - 1));
        CHECK(!ed_file_is_cached(file, BYTES));
        eddy_file_close(file);
        return 0;
}

TEST(all_bytes_that_were_just_written_are_in_the_cache_and_one_after_the_end_is_not)
{
        io_run(cached);
}
