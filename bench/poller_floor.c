/*
 * poller_floor.c - what the kernel itself costs, without eddy: an echo server by epoll and by
 * io_uring, and calls on files in a loop.
 *
 *     poller_floor ROW COUNT [TASKS]
 *
 * The rows are those of core_eddy_io.c; echo-poll and echo-receive are echo by a ring. Calls on
 * files block, so a single thread does the work of all tasks.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "bench.h"

enum {
        CONNECTIONS_MAX = 1000,
        MESSAGE_MAX = 1024,
        ENTRIES = 2048,
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

/* Returns bytes; 0: the client has closed, or is gone. */
static ssize_t echo_bytes(int i, ssize_t n)
{
        if (n > 0 && send(fds[i], bufs[i], (size_t) n, MSG_NOSIGNAL) == n) {
                done++;
                return n;
        }
        connections--;
        close(fds[i]);
        return 0;
}

static void row_epoll(void)
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
                                (void) echo_bytes(i, bytes);
                }
        }
}

static struct {
        int fd;
        uint32_t tail, given, done_mask;
        _Atomic uint32_t *entries_tail, *done_head, *done_tail;
        struct io_uring_sqe *entries;
        struct io_uring_cqe *done;
} ring;

static void *at(void *memory, uint32_t offset)
{
        return (char *) memory + offset;
}

static void *map(size_t bytes, off_t offset)
{
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
                            offset);

        check(memory == MAP_FAILED ? -1 : 0, "mmap");
        return memory;
}

/* The queues are unmapped when the process ends: one run, one process. */
static void ring_open(void)
{
        struct io_uring_params params = { .flags = IORING_SETUP_SINGLE_ISSUER |
                                                   IORING_SETUP_DEFER_TASKRUN };
        uint32_t *order;
        void *memory;

        ring.fd = (int) syscall(SYS_io_uring_setup, ENTRIES, &params);
        check(ring.fd, "io_uring_setup");
        memory = map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe) +
                             params.sq_entries * sizeof(uint32_t),
                     IORING_OFF_SQ_RING);
        ring.entries = map(params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
        ring.entries_tail = at(memory, params.sq_off.tail);
        ring.done_head = at(memory, params.cq_off.head);
        ring.done_tail = at(memory, params.cq_off.tail);
        ring.done = at(memory, params.cq_off.cqes);
        ring.done_mask = params.cq_entries - 1;
        order = at(memory, params.sq_off.array);
        for (uint32_t i = 0; i < ENTRIES; i++)
                order[i] = i;
}

static void entry_add(int connection, bool polls)
{
        struct io_uring_sqe *entry = &ring.entries[ring.tail++ % ENTRIES];

        memset(entry, 0, sizeof(*entry));
        entry->fd = fds[connection];
        entry->user_data = (uint64_t) connection;
        if (polls) {
                entry->opcode = IORING_OP_POLL_ADD;
                entry->len = IORING_POLL_ADD_MULTI;
                entry->poll32_events = POLLIN | POLLRDHUP;
        } else {
                entry->opcode = IORING_OP_RECV;
                entry->addr = (uintptr_t) bufs[connection];
                entry->len = MESSAGE_MAX;
        }
}

/* Wait for readiness, or for the bytes themselves; the send is direct. */
static void by_ring(bool polls)
{
        accept_all();
        ring_open();
        for (int i = 0; i < connections; i++)
                entry_add(i, polls);
        while (connections > 0) {
                uint32_t head = *ring.done_head;
                long taken;

                *ring.entries_tail = ring.tail;
                taken = syscall(SYS_io_uring_enter, ring.fd, ring.tail - ring.given, 1,
                                IORING_ENTER_GETEVENTS, NULL, 0);
                check(taken, "io_uring_enter");
                ring.given += (uint32_t) taken;
                for (; head != *ring.done_tail; head++) {
                        struct io_uring_cqe result = ring.done[head & ring.done_mask];
                        int i = (int) result.user_data;
                        ssize_t n = polls ? recv(fds[i], bufs[i], MESSAGE_MAX, 0) : result.res;

                        if (polls && n < 0 && errno == EAGAIN)
                                continue;
                        if (echo_bytes(i, n) > 0 && !polls)
                                entry_add(i, false);
                }
                *ring.done_head = head;
        }
}

static void row_poll(void)
{
        by_ring(true);
}

static void row_receive(void)
{
        by_ring(false);
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
        { "echo", row_epoll },     { "echo-poll", row_poll },   { "echo-receive", row_receive },
        { "file-read", row_read }, { "file-write", row_write }, { "file-sync", row_sync },
        { "file-open", row_open },
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
