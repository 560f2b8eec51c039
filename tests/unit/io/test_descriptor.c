/*
 * test_descriptor.c - streams over descriptors of the program's: pipes,
 * files, terminals, sockets, blocking or not, whose flags stay as they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/valgrind.h"
#include "cancel_at.h"
#include "io_test.h"

struct ends {
        int fds[2]; /* read, write */
        eddy_stream *in, *out;
};

static void pipe_open(struct ends *ends)
{
        CHECK_EQ(pipe2(ends->fds, O_CLOEXEC), 0);
        CHECK_EQ(eddy_stream_from_fd(ends->fds[0], EDDY_STREAM_OWN_FD, &ends->in), 0);
        CHECK_EQ(eddy_stream_from_fd(ends->fds[1], EDDY_STREAM_OWN_FD, &ends->out), 0);
}

static void pipe_close(struct ends *ends)
{
        eddy_stream_close(ends->in);
        eddy_stream_close(ends->out);
}

struct reading {
        eddy_stream *stream;
        char buf[64];
        int64_t n;
};

static int read_call(void *arg)
{
        struct reading *r = arg;

        return (int) (r->n = eddy_stream_read(r->stream, r->buf, sizeof(r->buf)));
}

static int read_task(void *arg)
{
        (void) read_call(arg);
        return 0;
}

enum { MUCH = 1024 * 1024 };

TEST_ROOM(char, data, MUCH);

struct writing {
        eddy_stream *stream;
        int result;
};

static int write_call(void *arg)
{
        struct writing *w = arg;

        return w->result = eddy_stream_write(w->stream, data, MUCH);
}

static int write_task(void *arg)
{
        (void) write_call(arg);
        return 0;
}

/* -- pipes -------------------------------------------------------------------- */

static int pipes(void *arg)
{
        struct ends ends;
        struct reading r;
        eddy_scope scope;

        pipe_open(&ends);
        r = (struct reading){ .stream = ends.in };
        for (int i = 0; i < 3; i++) {
                r.n = 0;
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, read_task, &r);
                io_settle();
                CHECK_EQ(r.n, 0);
                CHECK_EQ(eddy_stream_write(ends.out, "hello", 5), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(r.n, 5);
        }
        CHECK_EQ(fcntl(ends.fds[0], F_GETFL) & O_NONBLOCK, 0);
        CHECK_EQ(fcntl(ends.fds[1], F_GETFL) & O_NONBLOCK, 0);
        /* A buffer that is filled exactly: the next read waits and does not block. */
        CHECK_EQ(eddy_stream_write(ends.out, data, 64), 0);
        CHECK_EQ(eddy_stream_read(ends.in, r.buf, 64), 64);
        CHECK(!eddy_stream_is_readable(ends.in));
        CHECK_EQ(eddy_call_timeout(read_call, &r, EDDY_MS(5)), -ETIMEDOUT);
        eddy_stream_close(ends.out);
        CHECK_EQ(eddy_stream_read(ends.in, r.buf, 64), 0);
        CHECK_EQ(eddy_stream_read(ends.in, r.buf, 64), 0);
        eddy_stream_close(ends.in);
        return 0;
}

TEST(a_blocking_pipe_is_read_without_blocking)
{
        io_run(pipes);
}

static int full_pipe(void *arg)
{
        struct writing w = { .result = 1 };
        struct ends ends;
        eddy_scope scope;
        static char buf[4096];
        size_t got = 0;

        for (size_t i = 0; i < MUCH; i++)
                data[i] = (char) (i * 13 + i / 4096);
        pipe_open(&ends);
        w.stream = ends.out;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_task, &w);
        io_settle(); /* this task goes on: the writer waits, and does not block */
        CHECK_EQ(w.result, 1);
        while (got < MUCH) {
                int64_t n = eddy_stream_read(ends.in, buf, sizeof(buf) - got % 7);

                CHECK(n > 0 && memcmp(buf, data + got, (size_t) n) == 0);
                got += (size_t) n;
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(w.result, 0);
        pipe_close(&ends);
        return 0;
}

TEST(a_blocking_pipe_is_filled_without_blocking)
{
        io_run(full_pipe);
}

static int broken_pipe(void *arg)
{
        struct writing w = { .result = 1 };
        struct ends ends;
        eddy_scope scope;

        pipe_open(&ends);
        w.stream = ends.out;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, write_task, &w);
        io_settle();
        eddy_stream_close(ends.in); /* while the writer waits */
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(w.result, -EPIPE);
        /* A part of it was in the pipe. */
        CHECK_EQ(eddy_stream_write(ends.out, "x", 1), EDDY_E_STREAM_BROKEN);
        CHECK(eddy_stream_shutdown(ends.out) < 0);
        eddy_stream_close(ends.out);
        pipe_open(&ends);
        eddy_stream_close(ends.in);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_stream_write(ends.out, "x", 1), -EPIPE);
        CHECK(eddy_stream_shutdown(ends.out) < 0);
        eddy_stream_close(ends.out);
        return 0;
}

TEST(a_pipe_without_a_reader_is_an_error)
{
        io_run(broken_pipe);
}

static int single_bytes(void *arg)
{
        struct eddy_slice slices[] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
        struct ends ends;
        char buf[8] = { 0 };

        pipe_open(&ends);
        ed_loop_current->sys->transfer_max = 1;
        CHECK_EQ(eddy_stream_writev(ends.out, slices, 3), 0);
        CHECK_EQ(eddy_stream_read(ends.in, buf, 8), 1);
        io_read_all(ends.in, buf + 1, 4);
        CHECK_STR(buf, "abcde");
        CHECK_EQ(eddy_stream_writev(ends.out, slices, EDDY_STREAM_SLICES_MAX + 1), -EINVAL);
        CHECK_EQ(eddy_stream_read(ends.in, buf, 0), -EINVAL);
        pipe_close(&ends);
        return 0;
}

TEST(a_pipe_works_one_byte_at_a_time)
{
        io_run(single_bytes);
}

static int cancelled(void *arg)
{
        struct writing w = { .result = 1 };
        struct reading r = { 0 };
        struct ends ends;
        bool reached;

        pipe_open(&ends);
        r.stream = ends.in;
        w.stream = ends.out;
        CHECK_EQ(eddy_stream_write(ends.out, "abc", 3), 0);
        CHECK_EQ(cancel_at(0, read_call, &r, &reached), -ECANCELED);
        CHECK_EQ(cancel_at(1, read_call, &r, &reached), 3);
        CHECK_EQ(cancel_at(1, read_call, &r, &reached), -ECANCELED);
        CHECK(reached);
        CHECK_EQ(eddy_stream_write(ends.out, "def", 3), 0);
        CHECK_EQ(eddy_stream_read(ends.in, r.buf, 64), 3);
        CHECK_EQ(cancel_at(0, write_call, &w, &reached), -ECANCELED);
        CHECK(!eddy_stream_is_readable(ends.in));
        CHECK_EQ(cancel_at(1, write_call, &w, &reached), -ECANCELED);
        CHECK(reached);
        pipe_close(&ends);
        return 0;
}

TEST(waiting_for_a_pipe_can_be_cancelled)
{
        io_run(cancelled);
}

static int closed(void *arg)
{
        struct writing w = { .result = 1 };
        struct reading r = { .n = 1 };
        struct ends ends, other;
        eddy_scope scope;

        pipe_open(&ends);
        pipe_open(&other);
        r.stream = ends.in;
        w.stream = other.out;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_task, &r);
        eddy_scope_start(&scope, write_task, &w);
        io_settle();
        CHECK_EQ(eddy_stream_read(ends.in, r.buf, 1), -EBUSY);
        CHECK_EQ(eddy_stream_write(other.out, "x", 1), -EBUSY);
        eddy_stream_close(ends.in);
        eddy_stream_close(other.out);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(r.n, -ECANCELED);
        CHECK_EQ(w.result, -ECANCELED);
        eddy_stream_close(ends.out);
        eddy_stream_close(other.in);
        return 0;
}

TEST(closing_a_descriptor_stream_wakes_its_waiters)
{
        io_run(closed);
}

/* -- files and devices -------------------------------------------------------- */

static int files(void *arg)
{
        char path[] = "/tmp/eddy-test-XXXXXX";
        int fd = mkstemp(path);
        eddy_stream *stream;
        char buf[16];
        int calls = 0;

        CHECK(fd >= 0);
        unlink(path);
        CHECK_EQ(eddy_stream_from_fd(fd, 0, &stream), 0);
        CHECK_EQ(eddy_stream_write(stream, data, MUCH), 0);
        CHECK_EQ(eddy_stream_write(stream, "end", 3), 0);
        CHECK_EQ(lseek(fd, MUCH, SEEK_SET), MUCH);
        CHECK(eddy_stream_is_readable(stream));
        CHECK_EQ(eddy_stream_read(stream, buf, sizeof(buf)), 3);
        CHECK(memcmp(buf, "end", 3) == 0);
        CHECK_EQ(eddy_stream_read(stream, buf, sizeof(buf)), 0);
        CHECK_EQ(eddy_stream_watch_idle(stream, free, &calls), -EINVAL);
        eddy_stream_close(stream);
        CHECK_EQ(lseek(fd, 0, SEEK_END), MUCH + 3); /* left open */
        CHECK_EQ(eddy_stream_from_fd(fd, EDDY_STREAM_OWN_FD, &stream), 0);
        eddy_stream_abort(stream);
        CHECK_EQ(lseek(fd, 0, SEEK_END), -1);
        return 0;
}

TEST(regular_files_are_read_and_written_at_once)
{
        io_run(files);
}

static volatile sig_atomic_t masks;

static void mask_count(int signo)
{
        (void) signo;
        masks++;
}

/* From now on calls that ask for or set the mask of signals are counted, and do nothing. */
static void masks_count(void)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 1, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigpending, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

        if (ed_on_valgrind())
                test_skip("Valgrind sets the mask around each call");
        CHECK(signal(SIGSYS, mask_count) != SIG_ERR);
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
                test_skip("no filter of system calls can be installed here");
}

static int unmasked(void *arg)
{
        static const char *const paths[] = { "/tmp", "/dev/null" };
        struct ends ends;
        eddy_stream *files[2], *sockets[2];
        int pair[2];

        for (int i = 0; i < 2; i++) {
                int fd = open(paths[i], (i == 0 ? O_TMPFILE : 0) | O_RDWR | O_CLOEXEC, 0600);

                CHECK_EQ(eddy_stream_from_fd(fd, EDDY_STREAM_OWN_FD, &files[i]), 0);
        }
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_stream_from_fd(pair[i], EDDY_STREAM_OWN_FD, &sockets[i]), 0);
        pipe_open(&ends);
        masks_count();
        for (int i = 0; i < 2; i++)
                CHECK_EQ(eddy_stream_write(files[i], "abc", 3), 0);
        CHECK_EQ(eddy_stream_write(sockets[0], "abc", 3), 0);
        CHECK_EQ(masks, 0);
        CHECK_EQ(eddy_stream_write(ends.out, "abc", 3), 0);
        CHECK(masks > 0);
        pipe_close(&ends);
        for (int i = 0; i < 2; i++) {
                eddy_stream_close(files[i]);
                eddy_stream_close(sockets[i]);
        }
        return 0;
}

TEST(only_a_write_to_a_pipe_holds_a_signal_back)
{
        io_run(unmasked);
        _exit(0); /* a sanitizer's search for leaks needs its masks */
}

static int devices(void *arg)
{
        eddy_stream *stream = NULL;
        char buf[4] = { 1, 1, 1, 1 };
        int fd;

        CHECK_EQ(eddy_stream_from_fd(-1, 0, &stream), -EBADF);
        CHECK_EQ(eddy_stream_from_fd(12345, 0, &stream), -EBADF);
        CHECK(!stream);
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        CHECK_EQ(eddy_stream_from_fd(fd, EDDY_STREAM_OWN_FD, &stream), 0);
        CHECK_EQ(eddy_stream_write(stream, "x", 1), 0);
        CHECK_EQ(eddy_stream_read(stream, buf, 4), 0);
        eddy_stream_close(stream);
        fd = open("/dev/full", O_RDWR | O_CLOEXEC);
        CHECK_EQ(eddy_stream_from_fd(fd, EDDY_STREAM_OWN_FD, &stream), 0);
        CHECK_EQ(eddy_stream_write(stream, "x", 1), -ENOSPC);
        eddy_stream_close(stream);
        fd = open("/", O_RDONLY | O_CLOEXEC);
        CHECK_EQ(eddy_stream_from_fd(fd, EDDY_STREAM_OWN_FD, &stream), 0);
        CHECK_EQ(eddy_stream_read(stream, buf, 4), -EISDIR);
        eddy_stream_close(stream);
        return 0;
}

TEST(devices_and_bad_descriptors_are_named)
{
        io_run(devices);
}

static int terminal(void *arg)
{
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
        struct reading r = { 0 };
        eddy_stream *stream;
        eddy_scope scope;

        if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
                test_skip("no terminals here");
        slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
        CHECK(slave >= 0);
        CHECK_EQ(eddy_stream_from_fd(slave, EDDY_STREAM_OWN_FD, &stream), 0);
        r.stream = stream;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_task, &r);
        io_settle();
        CHECK_EQ(write(master, "half a", 6), 6);
        io_settle();
        CHECK_EQ(r.n, 0); /* a terminal gives lines */
        CHECK_EQ(write(master, " line\n", 6), 6);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(r.n, 12);
        CHECK(memcmp(r.buf, "half a line\n", 12) == 0);
        CHECK_EQ(eddy_stream_write(stream, "out", 3), 0);
        eddy_stream_close(stream);
        close(master);
        return 0;
}

TEST(a_terminal_gives_a_line_when_there_is_one)
{
        io_run(terminal);
}

/* -- a terminal that other processes share -- */

/* As a shell does: standard input, output and errors are one open file. */
static int shared_terminal(void *arg)
{
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), flags, fds[3];
        struct reading r = { .n = 1 };
        eddy_stream *streams[3];
        eddy_scope scope;
        char echoed[64];

        (void) arg;
        if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
                test_skip("no terminals here");
        fds[0] = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
        fds[1] = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
        fds[2] = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
        flags = fcntl(fds[0], F_GETFL);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_stream_from_fd(fds[i], 0, &streams[i]), 0);
        r.stream = streams[0];
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, read_task, &r);
        io_settle();
        /* Both outputs can be written while the input waits. */
        CHECK_EQ(eddy_stream_write(streams[1], "out", 3), 0);
        CHECK_EQ(eddy_stream_write(streams[2], "err", 3), 0);
        /* The terminal passes them on in one piece or in two. */
        for (ssize_t n = 0; n < 6;) {
                ssize_t got = read(master, echoed, sizeof(echoed));

                CHECK(got > 0);
                n += got;
        }
        CHECK_EQ(r.n, 1);
        CHECK_EQ(fcntl(fds[0], F_GETFL), flags);
        CHECK_EQ(write(master, "line\n", 5), 5);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(r.n, 5);
        for (int i = 0; i < 3; i++) {
                eddy_stream_close(streams[i]);
                CHECK_EQ(fcntl(fds[i], F_GETFL), flags);
                close(fds[i]);
        }
        close(master);
        return 0;
}

TEST(the_streams_of_a_shared_terminal_leave_its_flags_alone)
{
        io_run(shared_terminal);
}

/* -- sockets that the program has ------------------------------------------------- */

static int sockets(void *arg)
{
        for (int flags = 0; flags <= SOCK_NONBLOCK; flags += SOCK_NONBLOCK) {
                struct writing w = { .result = 1 };
                eddy_stream *a, *b;
                eddy_scope scope;
                char *got = malloc(MUCH);
                int fds[2];

                CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0, fds), 0);
                CHECK_EQ(eddy_stream_from_fd(fds[0], EDDY_STREAM_OWN_FD, &a), 0);
                CHECK_EQ(eddy_stream_from_fd(fds[1], EDDY_STREAM_OWN_FD, &b), 0);
                w.stream = a;
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, write_task, &w);
                io_settle();
                CHECK_EQ(w.result, 1);
                io_read_all(b, got, MUCH);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_EQ(w.result, 0);
                CHECK_EQ(memcmp(got, data, MUCH), 0);
                CHECK_EQ(eddy_stream_shutdown(a), 0);
                CHECK_EQ(eddy_stream_read(b, got, 1), 0);
                eddy_stream_abort(b);
                /* No signal, though nobody ignores SIGPIPE here. */
                CHECK_EQ(eddy_stream_write(a, "x", 1), -EPIPE);
                eddy_stream_close(a);
                free(got);
        }
        return 0;
}

TEST(sockets_work_blocking_or_not)
{
        io_run(sockets);
}

static int64_t never_now(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        static int left = 3;

        return left-- > 0 ? -EAGAIN : read(fd, buf, bytes);
}

static int not_ready_after_all(void *arg)
{
        struct ends ends;
        char buf[8];

        pipe_open(&ends);
        io_tables()->socket.read = never_now;
        CHECK_EQ(eddy_stream_write(ends.out, "abc", 3), 0);
        CHECK_EQ(eddy_stream_read(ends.in, buf, 8), 3);
        pipe_close(&ends);
        return 0;
}

TEST(readiness_that_is_not_true_is_tried_again)
{
        io_run(not_ready_after_all);
}

static int no_memory(void *arg)
{
        eddy_stream *stream = NULL;

        io_fail_allocations(0);
        CHECK_EQ(eddy_stream_from_fd(0, 0, &stream), -ENOMEM);
        io_fail_allocations(-1);
        CHECK(!stream);
        return 0;
}

TEST(a_descriptor_stream_without_memory_is_not_made)
{
        io_run(no_memory);
}
