/*
 * poller_floor.c - a bare echo server by epoll and by io_uring, without eddy: whether a ring would
 * be faster for sockets.
 *
 *     poller_floor [RUNS]
 *
 * CPU time of the server per message of 512 bytes, in nanoseconds; medians of RUNS (7) alternating
 * runs. The client is another process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1000, MESSAGE = 512, ENTRIES = 2048, EVENTS = 64, RUNS_MAX = 99 };

static char buf[CONNECTIONS_MAX][MESSAGE];
static int servers[CONNECTIONS_MAX], clients[CONNECTIONS_MAX];
static int connections;

static void check(long result, const char *what)
{
        if (result >= 0)
                return;
        perror(what);
        exit(1);
}

static int64_t cpu_now(void)
{
        struct timespec ts;

        (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
        return (int64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* --- connections --- */

static void connect_all(void)
{
        struct sockaddr_in at = { .sin_family = AF_INET };
        socklen_t bytes = sizeof(at);
        int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        check(bind(listener, (struct sockaddr *) &at, sizeof(at)), "bind");
        check(listen(listener, SOMAXCONN), "listen");
        check(getsockname(listener, (struct sockaddr *) &at, &bytes), "getsockname");
        for (int i = 0; i < connections; i++) {
                clients[i] = socket(AF_INET, SOCK_STREAM, 0);
                check(connect(clients[i], (struct sockaddr *) &at, bytes), "connect");
                servers[i] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                check(servers[i], "accept4");
                (void) setsockopt(clients[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
                (void) setsockopt(servers[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        }
        close(listener);
}

static void close_all(const int *fds)
{
        for (int i = 0; i < connections; i++)
                close(fds[i]);
}

/* Send a message on each connection, and again whenever one has returned, until killed. */
static void serve_messages(void)
{
        struct epoll_event events[EVENTS];
        int set = epoll_create1(0);

        for (int i = 0; i < connections; i++) {
                struct epoll_event event = { .events = EPOLLIN, .data.fd = clients[i] };

                check(epoll_ctl(set, EPOLL_CTL_ADD, clients[i], &event), "epoll_ctl");
                check(send(clients[i], buf[0], MESSAGE, 0), "send");
        }
        for (;;) {
                int n = epoll_wait(set, events, EVENTS, -1);

                for (int i = 0; i < n; i++) {
                        if (recv(events[i].data.fd, buf[0], MESSAGE, 0) <= 0)
                                _exit(0);
                        (void) send(events[i].data.fd, buf[0], MESSAGE, MSG_NOSIGNAL);
                }
        }
}

/* --- servers: each echoes 'messages' and returns --- */

static void by_epoll(long messages)
{
        struct epoll_event events[EVENTS];
        int set = epoll_create1(0);

        for (int i = 0; i < connections; i++) {
                struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                             .data.fd = servers[i] };

                check(epoll_ctl(set, EPOLL_CTL_ADD, servers[i], &event), "epoll_ctl");
        }
        while (messages > 0) {
                int n = epoll_wait(set, events, EVENTS, -1);

                for (int i = 0; i < n; i++) {
                        ssize_t bytes = recv(events[i].data.fd, buf[0], MESSAGE, 0);

                        if (bytes > 0 && send(events[i].data.fd, buf[0], (size_t) bytes, 0) > 0)
                                messages--;
                }
        }
        close(set);
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
        entry->fd = servers[connection];
        entry->user_data = (uint64_t) connection;
        if (polls) {
                entry->opcode = IORING_OP_POLL_ADD;
                entry->len = IORING_POLL_ADD_MULTI;
                entry->poll32_events = POLLIN | POLLRDHUP;
        } else {
                entry->opcode = IORING_OP_RECV;
                entry->addr = (uintptr_t) buf[connection];
                entry->len = MESSAGE;
        }
}

/* Wait for readiness, or for the bytes themselves; the send is direct. */
static void by_ring(long messages, bool polls)
{
        ring_open();
        for (int i = 0; i < connections; i++)
                entry_add(i, polls);
        while (messages > 0) {
                uint32_t head = *ring.done_head;
                long taken;

                *ring.entries_tail = ring.tail;
                taken = syscall(SYS_io_uring_enter, ring.fd, ring.tail - ring.given, 1,
                                IORING_ENTER_GETEVENTS, NULL, 0);
                check(taken, "io_uring_enter");
                ring.given += (uint32_t) taken;
                for (; head != *ring.done_tail; head++) {
                        struct io_uring_cqe done = ring.done[head & ring.done_mask];
                        int i = (int) done.user_data;

                        check(done.res, "receive");
                        if (!polls)
                                entry_add(i, false);
                        else if (recv(servers[i], buf[i], MESSAGE, 0) <= 0)
                                continue;
                        messages -= send(servers[i], buf[i], MESSAGE, 0) > 0;
                }
                *ring.done_head = head;
        }
}

/* --- runs --- */

enum { WAYS = 3 };

static void serve(int way, long messages)
{
        if (way == 0)
                by_epoll(messages);
        else
                by_ring(messages, way == 1);
}

/* Returns nanoseconds of the server per message; the server is a process of its own. */
static double run_once(int way, long messages)
{
        double ns = 0;
        int ends[2];
        pid_t client, server;

        check(pipe(ends), "pipe");
        connect_all();
        client = fork();
        check(client, "fork");
        if (client == 0) {
                close_all(servers);
                serve_messages();
        }
        close_all(clients);
        server = fork();
        check(server, "fork");
        if (server == 0) {
                int64_t begun = cpu_now();

                serve(way, messages);
                ns = (double) (cpu_now() - begun) / (double) messages;
                _exit(write(ends[1], &ns, sizeof(ns)) != sizeof(ns));
        }
        close_all(servers);
        close(ends[1]);
        check(read(ends[0], &ns, sizeof(ns)) == sizeof(ns) ? 0 : -1, "the server");
        close(ends[0]);
        (void) waitpid(server, NULL, 0);
        (void) kill(client, SIGKILL);
        (void) waitpid(client, NULL, 0);
        return ns;
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;

        return x < y ? -1 : x > y;
}

static void measure(int runs)
{
        double ns[WAYS][RUNS_MAX], ratios[WAYS][RUNS_MAX];

        for (int i = 0; i < runs * WAYS; i++) {
                int way = i % WAYS, run = i / WAYS;

                ns[way][run] = run_once(way, connections == 1 ? 10000 : 60000);
                ratios[way][run] = ns[way][run] / ns[0][run];
        }
        printf("| %d |", connections);
        for (int way = 0; way < WAYS; way++) {
                qsort(ns[way], (size_t) runs, sizeof(double), compare);
                qsort(ratios[way], (size_t) runs, sizeof(double), compare);
                printf(" %.0f (%.2f) |", ns[way][runs / 2], ratios[way][runs / 2]);
        }
        puts("");
        fflush(stdout);
}

int main(int argc, char **argv)
{
        static const int counts[] = { 1, 64, CONNECTIONS_MAX };
        int runs = argc > 1 ? (int) strtol(argv[1], NULL, 10) : 7;

        if (runs < 1 || runs > RUNS_MAX)
                runs = 7;
        puts("| connections | epoll, ns | multishot poll, ns | receive on the ring, ns |\n"
             "|---|---|---|---|");
        fflush(stdout);
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                connections = counts[i];
                measure(runs);
        }
        return 0;
}
