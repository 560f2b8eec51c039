/*
 * poller_floor.c - what the kernel itself costs, without eddy: an echo server by epoll, and calls
 * on files in a loop.
 *
 *     poller_floor ROW COUNT [TASKS]
 *
 * The rows are those of core_eddy_io.c. Calls on files block, so a single thread does the work of
 * all tasks.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "bench.h"

enum {
        CONNECTIONS_MAX = 1000,
        MESSAGE_MAX = 1024,
        EVENTS = 64,
        PIECE_BYTES = 4096,
        FILE_TASKS_MAX = 1000,
};

static char bufs[CONNECTIONS_MAX][MESSAGE_MAX];
static int fds[CONNECTIONS_MAX];
static long count, extra, done, connections;
static struct bench_span span;

static void check(long result, const char *what)
{
        if (result < 0)
                bench_die(what, strerror(errno));
}

/* --- echo --- */

/* Accept COUNT connections on a port that is printed. */
static void accept_all(void)
{
        struct sockaddr_in at = { .sin_family = AF_INET };
        socklen_t bytes = sizeof(at);
        int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

        if (count > CONNECTIONS_MAX)
                bench_die("poller_floor", "too many connections");
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        check(bind(listener, (struct sockaddr *) &at, sizeof(at)), "bind");
        check(listen(listener, SOMAXCONN), "listen");
        check(getsockname(listener, (struct sockaddr *) &at, &bytes), "getsockname");
        printf("%u\n", ntohs(at.sin_port));
        fflush(stdout);
        for (connections = 0; connections < count; connections++) {
                int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

                check(fd, "accept4");
                (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
                fds[connections] = fd;
        }
        close(listener);
}

static void echo_bytes(int i, ssize_t n)
{
        if (n > 0 && send(fds[i], bufs[i], (size_t) n, MSG_NOSIGNAL) == n) {
                done++;
                return;
        }
        /* The client has closed, or is gone. */
        connections--;
        close(fds[i]);
}

static void row_echo(void)
{
        struct epoll_event events[EVENTS];
        int set = epoll_create1(0);

        accept_all();
        for (int i = 0; i < connections; i++) {
                struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                             .data.fd = i };

                check(epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &event), "epoll_ctl");
        }
        while (connections > 0) {
                int n = epoll_wait(set, events, EVENTS, -1);

                for (int j = 0; j < n; j++) {
                        int i = events[j].data.fd;
                        ssize_t bytes = recv(fds[i], bufs[i], MESSAGE_MAX, 0);

                        if (bytes >= 0 || errno != EAGAIN)
                                echo_bytes(i, bytes);
                }
        }
}

/* --- files --- */

static char path[64], pieces[FILE_TASKS_MAX][PIECE_BYTES];

static void whole(ssize_t n)
{
        if (n != PIECE_BYTES)
                bench_die("file", n < 0 ? strerror(errno) : "a short result");
}

static void read_piece(int fd, long task)
{
        whole(pread(fd, pieces[task], PIECE_BYTES, 0));
}

static void write_piece(int fd, long task)
{
        whole(pwrite(fd, pieces[task], PIECE_BYTES, task * PIECE_BYTES));
}

static void write_synced(int fd, long task)
{
        write_piece(fd, task);
        check(fsync(fd), "fsync");
}

static void open_and_read(int fd, long task)
{
        fd = open(path, O_RDONLY | O_CLOEXEC);
        check(fd, path);
        whole(read(fd, pieces[task], PIECE_BYTES));
        close(fd);
}

static void repeat(void (*operation)(int fd, long task))
{
        int fd;

        if (extra > FILE_TASKS_MAX)
                bench_die("poller_floor", "too many tasks");
        snprintf(path, sizeof(path), "eddy-bench-%ld", (long) getpid());
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        check(fd, path);
        for (long i = 0; i < extra; i++)
                write_piece(fd, i);
        bench_span_begin(&span);
        for (; done < count; done++)
                operation(fd, done % extra);
        bench_span_end(&span);
        close(fd);
        unlink(path);
}

static void row_read(void)
{
        repeat(read_piece);
}

static void row_write(void)
{
        repeat(write_piece);
}

static void row_sync(void)
{
        repeat(write_synced);
}

static void row_open(void)
{
        repeat(open_and_read);
}

static const struct {
        const char *name;
        void (*run)(void);
} rows[] = {
        { "echo", row_echo },      { "file-read", row_read }, { "file-write", row_write },
        { "file-sync", row_sync }, { "file-open", row_open },
};

int main(int argc, char **argv)
{
        size_t i = 0;

        if (argc < 3 || argc > 4)
                bench_die("usage", "poller_floor ROW COUNT [TASKS]");
        count = bench_count(argv[2], 2000000000);
        extra = argc == 4 ? bench_count(argv[3], 100000000) : 1;
        while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].name, argv[1]) != 0)
                i++;
        if (i == sizeof(rows) / sizeof(rows[0]))
                bench_die(argv[1], "no such row");
        rows[i].run();
        bench_core_print("the kernel", argv[1], done, &span, "");
        return 0;
}
