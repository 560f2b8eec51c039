/*
 * test_report.c - the default report: what it writes, and that it does no harm
 * where standard error is closed, full, or has nobody who reads it.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scope/report.h"
#include "scope/run.h"
#include "test.h"

/* --- what is written --- */

/* What is written for a report; ends with a zero. */
static size_t said_of(const struct eddy_report *report, char *ret_line, size_t bytes)
{
        int fds[2], saved = dup(STDERR_FILENO);
        ssize_t n;

        CHECK_EQ(pipe(fds), 0);
        CHECK_EQ(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
        ed_report_to_stderr(report, NULL);
        CHECK_EQ(dup2(saved, STDERR_FILENO), STDERR_FILENO);
        n = read(fds[0], ret_line, bytes - 1);
        CHECK(n > 0);
        ret_line[n] = '\0';
        CHECK_EQ(close(fds[0]) | close(fds[1]) | close(saved), 0);
        return (size_t) n;
}

TEST(a_report_is_one_line_however_long_its_text)
{
        struct eddy_report report = { .kind = EDDY_REPORT_WATCHDOG };
        char line[2048], text[1900] = { 0 };
        size_t n, longest = 0;

        memset(text, 'x', 1700);
        report.text = text;
        for (size_t bytes = 1700; bytes < sizeof(text); bytes++) {
                text[bytes - 1] = 'x';
                n = said_of(&report, line, sizeof(line));
                CHECK_EQ(strlen(line), n);
                CHECK(strncmp(line, "eddy: x", 7) == 0);
                CHECK_EQ(strcspn(line, "\n"), n - 1);
                if (n == strlen("eddy: ") + bytes + 1)
                        longest = n;
                else
                        CHECK_EQ(n, longest);
        }
        CHECK(longest > 0);
}

TEST(a_report_of_a_failure_ends_with_its_error)
{
        struct eddy_report report = { .kind = EDDY_REPORT_BACKGROUND, .error = -EIO };
        char line[256], expected[256];

        report.task = "t";
        report.text = "failed";
        (void) said_of(&report, line, sizeof(line));
        snprintf(expected, sizeof(expected), "eddy: task t: failed: %s\n", eddy_error_text(-EIO));
        CHECK_STR(line, expected);
        report = (struct eddy_report){ .kind = EDDY_REPORT_DEADLOCK, .error = -EDEADLK };
        report.text = "all wait";
        (void) said_of(&report, line, sizeof(line));
        CHECK_STR(line, "eddy: all wait\n");
}

/* --- where it is written --- */

/* What the case itself has to say goes there. */
static int real_stderr;

static void stderr_is(int fd)
{
        real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
        CHECK(real_stderr >= 0);
        if (fd < 0)
                CHECK_EQ(close(STDERR_FILENO), 0);
        else
                CHECK_EQ(dup2(fd, STDERR_FILENO), STDERR_FILENO);
}

static void stderr_is_back(void)
{
        CHECK_EQ(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
        CHECK_EQ(close(real_stderr), 0);
}

/* A pipe, or a pair of sockets, of which nobody reads the other end. */
static int deaf_pipe(void)
{
        int fds[2];

        CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
        CHECK_EQ(close(fds[0]), 0);
        return fds[1];
}

static int deaf_socket(void)
{
        int fds[2];

        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        CHECK_EQ(close(fds[0]), 0);
        return fds[1];
}

static int closed(void)
{
        return -1;
}

typedef int fd_fn(void);
static fd_fn *const nowhere[] = { deaf_pipe, deaf_socket, closed };

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

static int fails_in_the_background(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_background(fails, NULL), 0);
        return eddy_sleep(EDDY_MS(1));
}

TEST(a_report_without_a_reader_does_not_end_the_process)
{
        for (int i = 0; i < 3; i++) {
                int fd = nowhere[i]();

                stderr_is(fd);
                CHECK_EQ(eddy_run(fails_in_the_background, NULL, NULL), 0);
                stderr_is_back();
                CHECK(fd < 0 || close(fd) == 0);
        }
}

static volatile sig_atomic_t pipes;

static void on_pipe(int signo)
{
        (void) signo;
        pipes++;
}

static bool is_pending(int signo)
{
        sigset_t pending;

        CHECK_EQ(sigpending(&pending), 0);
        return sigismember(&pending, signo);
}

/* The program's own SIGPIPE, from before, still comes; ours is none. */
TEST(a_report_without_a_reader_is_not_a_signal_of_the_program)
{
        int fd = deaf_pipe();
        sigset_t pipe_only;

        CHECK(signal(SIGPIPE, on_pipe) != SIG_ERR);
        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE);
        stderr_is(fd);
        CHECK_EQ(eddy_run(fails_in_the_background, NULL, NULL), 0);
        CHECK_EQ(pipes, 0);
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, &pipe_only, NULL), 0);
        CHECK_EQ(eddy_run(fails_in_the_background, NULL, NULL), 0);
        CHECK(!is_pending(SIGPIPE));
        CHECK_EQ(raise(SIGPIPE), 0);
        CHECK_EQ(eddy_run(fails_in_the_background, NULL, NULL), 0);
        CHECK(is_pending(SIGPIPE));
        CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &pipe_only, NULL), 0);
        stderr_is_back();
        CHECK_EQ(pipes, 1);
}

static int keeps_the_loop(void *arg)
{
        int64_t until_ns = eddy_now() + EDDY_MS(100);

        while (eddy_now() < until_ns)
                continue;
        return (int) (intptr_t) arg;
}

TEST(a_watchdog_whose_reports_are_not_read_does_not_end_the_process)
{
        struct eddy_run_opts opts = { .watchdog_ns = EDDY_MS(1) };

        for (int i = 0; i < 3; i++) {
                stderr_is(nowhere[i]());
                CHECK_EQ(eddy_run(keeps_the_loop, (void *) 7, &opts), 7);
                stderr_is_back();
        }
}

static int deadlocks(void *arg)
{
        eddy_event never = { 0 };

        (void) arg;
        return eddy_event_wait(&never);
}

/* A pipe that is full, and set not to wait. */
static void full_pipe(int fds[2])
{
        static char block[4096];

        CHECK_EQ(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
        while (write(fds[1], block, sizeof(block)) > 0)
                continue;
        CHECK_EQ(errno, EAGAIN);
}

TEST(a_report_to_a_full_pipe_without_a_reader_holds_nothing_up)
{
        int fds[2];

        full_pipe(fds);
        stderr_is(fds[1]);
        CHECK_EQ(eddy_run(deadlocks, NULL, NULL), -EDEADLK);
        stderr_is_back();
}

/* The reader of a pipe, which reads when the writer waits for it. */
static int reader_fd = -1;
static size_t read_bytes;

static void reader_reads(void)
{
        char block[4096];
        ssize_t n;

        while ((n = read(reader_fd, block, sizeof(block))) > 0)
                read_bytes += (size_t) n;
}

int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
        if (reader_fd >= 0)
                reader_reads();
        return __real_poll(fds, n, timeout_ms);
}

TEST(a_report_to_a_full_pipe_waits_for_its_reader)
{
        struct eddy_report report = { .kind = EDDY_REPORT_DUMP };
        static char text[600000];
        int fds[2], size;

        full_pipe(fds);
        reader_fd = fds[0];
        size = fcntl(fds[1], F_GETPIPE_SZ);
        CHECK(size > 0);
        memset(text, 'x', sizeof(text) - 1);
        report.text = text;
        stderr_is(fds[1]);
        ed_report_to_stderr(&report, NULL);
        stderr_is_back();
        reader_reads();
        CHECK_EQ(read_bytes, (size_t) size + strlen("eddy: ") + sizeof(text) - 1 + 1);
}

/* --- where standard descriptors are closed --- */

static int accepts(void *arg)
{
        eddy_stream *stream;
        int err = eddy_listener_accept(arg, &stream);
        char byte;

        if (err < 0)
                return err;
        CHECK_EQ(eddy_background(fails, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        CHECK_EQ(eddy_stream_write(stream, "x", 1), 0);
        CHECK_EQ(eddy_stream_read(stream, &byte, 1), 0);
        eddy_stream_close(stream);
        return 0;
}

/* The peer gets what was sent to it, and no report. */
static int talks(void *arg)
{
        eddy_listener *listener;
        eddy_stream *stream;
        eddy_scope scope;
        char bytes[64];

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        CHECK_EQ(close(STDERR_FILENO), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, accepts, listener);
        CHECK_EQ(eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &stream), 0);
        CHECK_EQ(eddy_stream_read(stream, bytes, sizeof(bytes)), 1);
        CHECK_EQ(bytes[0], 'x');
        eddy_stream_close(stream);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return fcntl(STDERR_FILENO, F_GETFD) < 0 ? 7 : 0;
}

TEST(a_connection_is_not_a_standard_descriptor_and_gets_no_report)
{
        pid_t child = fork();
        int status;

        CHECK(child >= 0);
        if (child == 0)
                _exit(eddy_run(talks, NULL, NULL));
        CHECK_EQ(waitpid(child, &status, 0), child);
        test_skip_as_child(status);
        CHECK_EQ(status, 7 << 8);
}
