/*
 * test_unix_fds.c - descriptors and credentials over Unix streams: which come, which are closed,
 * and that none leaks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scope/sim_run.h"
#include "cancel_at.h"
#include "io_test.h"

/* Two connected Unix streams, by an abstract name. */
static void unix_pair(struct io_pair *pair)
{
        eddy_listener *listener;
        char name[64];

        snprintf(name, sizeof(name), "@eddy-fds-%ld", (long) getpid());
        CHECK_EQ(eddy_unix_listen(name, NULL, &listener), 0);
        CHECK_EQ(eddy_unix_connect(name, NULL, &pair->a), 0);
        CHECK_EQ(eddy_listener_accept(listener, &pair->b), 0);
        eddy_listener_close(listener);
}

/* Send the reading end of a pipe, with 'bytes'; the pipe contains 'mark'. */
static void send_pipe(eddy_stream *to, const char *bytes, char mark)
{
        int fds[2];

        CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
        CHECK_EQ(write(fds[1], &mark, 1), 1);
        CHECK_EQ(eddy_unix_send_fds(to, bytes, strlen(bytes), fds, 1), strlen(bytes));
        close(fds[0]);
        close(fds[1]);
}

static void check_pipe(const struct eddy_unix_fds *fds, char mark)
{
        char found = 0;

        CHECK_EQ(fds->count, 1);
        CHECK_EQ(fds->surplus, 0);
        CHECK(fcntl(fds->fds[0], F_GETFD) & FD_CLOEXEC);
        CHECK_EQ(read(fds->fds[0], &found, 1), 1);
        CHECK_EQ(found, mark);
        close(fds->fds[0]);
}

static int pass(void *arg)
{
        struct eddy_unix_fds fds;
        struct io_pair pair;
        char buf[16];

        (void) arg;
        unix_pair(&pair);
        send_pipe(pair.a, "abc", '1');
        send_pipe(pair.a, "de", '2');
        CHECK_EQ(eddy_stream_write(pair.a, "f", 1), 0);
        /* Bytes of two messages may be joined, their descriptors never. */
        CHECK_EQ(eddy_unix_receive_fds(pair.b, buf, 2, &fds), 2);
        check_pipe(&fds, '1');
        CHECK_EQ(eddy_unix_receive_fds(pair.b, buf, sizeof(buf), &fds), 3);
        CHECK_EQ(memcmp(buf, "cde", 3), 0);
        check_pipe(&fds, '2');
        CHECK_EQ(eddy_unix_receive_fds(pair.b, buf, sizeof(buf), &fds), 1);
        CHECK_EQ(buf[0], 'f');
        CHECK_EQ(fds.count, 0);
        CHECK_EQ(eddy_stream_shutdown(pair.a), 0);
        CHECK_EQ(eddy_unix_receive_fds(pair.b, buf, sizeof(buf), &fds), 0);
        io_pair_close(&pair);
        return 0;
}

TEST(a_descriptor_comes_with_its_bytes)
{
        io_run(pass);
}

/* A read drops descriptors, and ends after their bytes: those after it have no event. */
static int read_on(void *arg)
{
        struct io_pair pair;
        char buf[16];

        (void) arg;
        unix_pair(&pair);
        for (int i = 0; i < 3; i++) {
                send_pipe(pair.a, "abc", '1');
                CHECK_EQ(eddy_stream_write(pair.a, "de", 2), 0);
                io_read_all(pair.b, buf, 5);
                CHECK_EQ(memcmp(buf, "abcde", 5), 0);
        }
        io_pair_close(&pair);
        return 0;
}

TEST(a_read_does_not_stall_after_descriptors)
{
        io_run(read_on);
}

static int receive_late(void *arg)
{
        struct eddy_unix_fds fds;
        char buf[4];
        int64_t n = eddy_unix_receive_fds(arg, buf, sizeof(buf), &fds);

        if (n < 0)
                return (int) n;
        check_pipe(&fds, 'x');
        return 0;
}

static int send_later(void *arg)
{
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        send_pipe(arg, "x", 'x');
        return 0;
}

/* Each end over a descriptor of the program, which would block. */
static int foreign(void *arg)
{
        eddy_scope scope;
        struct io_pair pair;
        int fds[2];

        (void) arg;
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &pair.a), 0);
        CHECK_EQ(eddy_stream_from_fd(fds[1], EDDY_STREAM_OWN_FD, &pair.b), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, send_later, pair.a);
        CHECK_EQ(receive_late(pair.b), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        io_pair_close(&pair);
        return 0;
}

TEST(a_descriptor_of_the_program_passes_others_without_blocking)
{
        io_run(foreign);
}

static int receive_beside_sender(void *arg)
{
        struct io_pair *pair = arg;
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, send_later, pair->a);
        err = receive_late(pair->b);
        (void) eddy_scope_end(&scope);
        return err;
}

static int receive_pair(void *arg)
{
        return receive_late(((struct io_pair *) arg)->b);
}

static int cancels(void *arg)
{
        struct io_pair pair;
        bool reached;

        (void) arg;
        unix_pair(&pair);
        CHECK_EQ(cancel_at(0, receive_pair, &pair, &reached), -ECANCELED);
        CHECK_EQ(cancel_at(1, receive_pair, &pair, &reached), -ECANCELED);
        CHECK_EQ(receive_beside_sender(&pair), 0);
        CHECK_EQ(cancel_at(1, receive_pair, &pair, &reached), -ECANCELED);
        send_pipe(pair.a, "x", 'x');
        CHECK_EQ(receive_pair(&pair), 0);
        io_pair_close(&pair);
        return 0;
}

TEST(a_cancelled_receive_takes_no_descriptor)
{
        io_run(cancels);
}

static int expect_canceled(void *arg)
{
        CHECK_EQ(receive_late(arg), -ECANCELED);
        return 0;
}

static int closes(void *arg)
{
        struct eddy_unix_fds fds;
        struct io_pair pair;
        eddy_scope scope;
        char byte;

        (void) arg;
        unix_pair(&pair);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, expect_canceled, pair.b);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_unix_receive_fds(pair.b, &byte, 1, &fds), -EBUSY);
        send_pipe(pair.a, "x", 'x'); /* closed by the kernel with the stream */
        eddy_stream_close(pair.b);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_stream_close(pair.a);
        return 0;
}

TEST(a_close_ends_a_receive_of_descriptors)
{
        io_run(closes);
}

/* -- too many ------------------------------------------------------------------- */

enum { MANY = 100 };

/* As another program may send them. */
static void send_many(const eddy_stream *to)
{
        union {
                char bytes[CMSG_SPACE(sizeof(int) * MANY)];
                struct cmsghdr align;
        } control;
        struct iovec iov = { (void *) "x", 1 };
        struct msghdr msg = { .msg_iov = &iov,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
        struct cmsghdr *header;

        memset(&control, 0, sizeof(control));
        header = CMSG_FIRSTHDR(&msg);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * MANY);
        for (int i = 0; i < MANY; i++)
                memcpy(CMSG_DATA(header) + (size_t) i * sizeof(int), &(int){ STDERR_FILENO },
                       sizeof(int));
        CHECK_EQ(sendmsg(eddy_stream_fd(to), &msg, 0), 1);
}

static int surplus(void *arg)
{
        struct eddy_unix_fds fds;
        int many[EDDY_UNIX_FDS_MAX + 1];
        struct io_pair pair;
        char byte;
        int open_fds;

        (void) arg;
        unix_pair(&pair);
        for (int i = 0; i < EDDY_UNIX_FDS_MAX + 1; i++)
                many[i] = STDERR_FILENO;
        open_fds = io_open_fds();
        CHECK_EQ(eddy_unix_send_fds(pair.a, "x", 1, many, EDDY_UNIX_FDS_MAX + 1), -EINVAL);
        CHECK_EQ(eddy_unix_send_fds(pair.a, "x", 1, many, EDDY_UNIX_FDS_MAX), 1);
        CHECK_EQ(eddy_unix_receive_fds(pair.b, &byte, 1, &fds), 1);
        CHECK_EQ(fds.count, EDDY_UNIX_FDS_MAX);
        CHECK_EQ(fds.surplus, 0);
        for (uint32_t i = 0; i < fds.count; i++)
                close(fds.fds[i]);
        send_many(pair.a);
        CHECK_EQ(eddy_unix_receive_fds(pair.b, &byte, 1, &fds), 1);
        CHECK_EQ(fds.count, EDDY_UNIX_FDS_MAX);
        CHECK_EQ(fds.surplus, MANY - EDDY_UNIX_FDS_MAX);
        for (uint32_t i = 0; i < fds.count; i++)
                close(fds.fds[i]);
        CHECK_EQ(io_open_fds(), open_fds);
        io_pair_close(&pair);
        return 0;
}

TEST(descriptors_above_the_maximum_are_closed_and_counted)
{
        io_run(surplus);
}

/* The process may have only a few descriptors more than it has. */
static int truncation(void *arg)
{
        struct eddy_unix_fds fds = { .count = 77 };
        struct rlimit limit, few;
        struct io_pair pair;
        char byte;
        int top, open_fds;

        (void) arg;
        unix_pair(&pair);
        send_many(pair.a);
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        top = dup(STDERR_FILENO);
        close(top);
        few = (struct rlimit){ (rlim_t) top + 8, limit.rlim_max };
        open_fds = io_open_fds();
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        CHECK_EQ(eddy_unix_receive_fds(pair.b, &byte, 1, &fds), -EMFILE);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        CHECK_EQ(fds.count, 77);
        CHECK_EQ(io_open_fds(), open_fds);
        io_pair_close(&pair);
        return 0;
}

TEST(if_descriptors_are_lost_all_are_closed)
{
        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("Valgrind applies the limit itself: the kernel loses no descriptor");
        io_run(truncation);
}

/* -- what is not a Unix stream ---------------------------------------------------- */

static int misuse(void *arg)
{
        struct eddy_unix_credentials peer;
        struct eddy_unix_fds fds;
        struct io_pair tcp, own;
        int fd = STDERR_FILENO, closed = dup(fd);
        char byte;

        (void) arg;
        close(closed);
        io_pair_open(&tcp);
        CHECK_EQ(eddy_stream_pair(NULL, &own.a, &own.b), 0);
        CHECK_EQ(eddy_unix_send_fds(tcp.a, "x", 1, &fd, 1), -ENOTSUP);
        CHECK_EQ(eddy_unix_receive_fds(tcp.b, &byte, 1, &fds), -ENOTSUP);
        CHECK_EQ(eddy_unix_peer_credentials(tcp.a, &peer), -ENOTSUP);
        CHECK_EQ(eddy_unix_send_fds(own.a, "x", 1, &fd, 1), -ENOTSUP);
        CHECK_EQ(eddy_unix_receive_fds(own.b, &byte, 1, &fds), -ENOTSUP);
        CHECK_EQ(eddy_unix_peer_credentials(own.a, &peer), -ENOTSUP);
        CHECK_EQ(eddy_unix_send_fds(NULL, "x", 1, &fd, 1), -EINVAL);
        CHECK_EQ(eddy_unix_receive_fds(NULL, &byte, 1, &fds), -EINVAL);
        CHECK_EQ(eddy_unix_peer_credentials(NULL, &peer), -EINVAL);
        io_pair_close(&tcp);
        io_pair_close(&own);
        unix_pair(&tcp);
        CHECK_EQ(eddy_unix_send_fds(tcp.a, "x", 0, &fd, 1), -EINVAL);
        CHECK_EQ(eddy_unix_send_fds(tcp.a, "x", 1, &fd, 0), -EINVAL);
        CHECK_EQ(eddy_unix_send_fds(tcp.a, "x", 1, &closed, 1), -EBADF);
        CHECK_EQ(eddy_unix_receive_fds(tcp.a, &byte, 0, &fds), -EINVAL);
        io_pair_close(&tcp);
        return 0;
}

TEST(other_streams_and_bad_arguments_are_refused)
{
        io_run(misuse);
}

static int fill_and_send(void *arg)
{
        struct io_pair *pair = arg;
        int fd = STDERR_FILENO;
        int64_t n = eddy_unix_send_fds(pair->a, "y", 1, &fd, 1);

        return n < 0 ? (int) n : 0;
}

static int full(void *arg)
{
        static char piece[4096];
        struct eddy_slice slice = { piece, sizeof(piece) };
        struct io_pair pair;
        bool reached;

        (void) arg;
        unix_pair(&pair);
        while (eddy_stream_try_writev(pair.a, &slice, 1) > 0)
                continue;
        CHECK_EQ(cancel_at(1, fill_and_send, &pair, &reached), -ECANCELED);
        CHECK_EQ(eddy_call_timeout(fill_and_send, &pair, EDDY_MS(2)), -ETIMEDOUT);
        io_pair_close(&pair);
        return 0;
}

TEST(a_send_of_descriptors_waits_for_room)
{
        io_run(full);
}

static int credentials(void *arg)
{
        struct eddy_unix_credentials peer = { .pid = -1 };
        struct io_pair pair;

        (void) arg;
        unix_pair(&pair);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_unix_peer_credentials(i ? pair.a : pair.b, &peer), 0);
                CHECK_EQ(peer.pid, getpid());
                CHECK_EQ(peer.uid, getuid());
                CHECK_EQ(peer.gid, getgid());
        }
        io_pair_close(&pair);
        return 0;
}

TEST(a_peer_has_credentials)
{
        io_run(credentials);
}

SIM_TEST(a_simulated_stream_passes_no_descriptors)
{
        struct eddy_unix_credentials peer;
        struct eddy_unix_fds fds;
        struct io_pair pair;
        int fd = 0;
        char byte;

        unix_pair(&pair);
        CHECK_EQ(eddy_unix_send_fds(pair.a, "x", 1, &fd, 1), -ENOTSUP);
        CHECK_EQ(eddy_unix_receive_fds(pair.b, &byte, 1, &fds), -ENOTSUP);
        CHECK_EQ(eddy_unix_peer_credentials(pair.a, &peer), -ENOTSUP);
        io_pair_close(&pair);
}
