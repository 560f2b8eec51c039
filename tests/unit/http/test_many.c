/*
 * test_many.c - a server on two loops that share a port: each request that a handler has begun is
 * answered whole, also when a signal stops the server under load.
 */
#include <arpa/inet.h>
#include <eddy/eddy.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { LOOPS = 2, CLIENTS = 24, BEFORE_STOP = 400 };

/* Shared with the server's process. */
struct shared {
        _Atomic uint32_t listening;
        _Atomic uint32_t port;
        _Atomic uint32_t entered[LOOPS];
};

static struct shared *shared;
static _Atomic uint32_t answered;

/* --- the server, in a child --- */

static int answer(eddy_http_exchange *exchange, void *arg)
{
        int err;

        (void) arg;
        atomic_fetch_add(&shared->entered[eddy_run_index()], 1);
        err = eddy_sleep(EDDY_MS(2));
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "whole\n", 6);
}

static int serve(void *arg)
{
        struct eddy_http_server_opts opts = { .drain_ns = EDDY_SEC(60) };
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        uint16_t port = 0;
        int err = 0;

        if (eddy_run_index() > 0)
                err = eddy_channel_get(arg, &port);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", port,
                                      &(struct eddy_tcp_listen_opts){ .reuse_port = true },
                                      &listener);
        port = eddy_listener_port(listener);
        for (uint32_t i = 1; i < LOOPS && err == 0 && eddy_run_index() == 0; i++)
                err = eddy_channel_put(arg, &port);
        if (err < 0)
                return err;
        shared->port = port;
        atomic_fetch_add(&shared->listening, 1);
        return eddy_http_serve(listener, &opts, answer, NULL);
}

static int run_server(void)
{
        eddy_channel *ports;
        int err = eddy_channel_new(sizeof(uint16_t), LOOPS, &ports);

        if (err == 0)
                err = eddy_run_many(LOOPS, serve, ports);
        eddy_channel_release(ports);
        return err == -ECANCELED && eddy_run_signal() == SIGTERM ? 0 : 1;
}

/* --- the clients --- */

static int connect_once(void)
{
        struct sockaddr_in to = { .sin_family = AF_INET,
                                  .sin_port = htons((uint16_t) shared->port),
                                  .sin_addr = { htonl(INADDR_LOOPBACK) } };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd >= 0 && connect(fd, (struct sockaddr *) &to, sizeof(to)) == 0)
                return fd;
        close(fd);
        return -1;
}

/* Returns true if a whole answer came.  If the connection ended before, no byte may have come. */
static bool ask_once(int fd)
{
        static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                          end[] = "\r\n\r\nwhole\n";
        char text[512];
        size_t bytes = 0;
        ssize_t n;

        if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
                return false;
        while ((n = recv(fd, text + bytes, sizeof(text) - 1 - bytes, 0)) > 0) {
                bytes += (size_t) n;
                text[bytes] = '\0';
                if (strstr(text, end))
                        return true;
        }
        CHECK_EQ(bytes, 0);
        return false;
}

/* Asks on a connection until the server ends it, and then on the next. */
static void *client(void *arg)
{
        int fd;

        while ((fd = connect_once()) >= 0) {
                while (ask_once(fd))
                        atomic_fetch_add(&answered, 1);
                close(fd);
        }
        return arg;
}

/* X4 */
TEST(a_stop_under_load_drops_no_request_that_was_begun)
{
        pthread_t threads[CLIENTS];
        pid_t child;
        int status;

        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
        CHECK(shared != MAP_FAILED);
        child = fork();
        if (child == 0)
                _exit(run_server());
        while (shared->listening < LOOPS)
                sched_yield();
        for (int i = 0; i < CLIENTS; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, client, NULL), 0);
        while (answered < BEFORE_STOP)
                sched_yield();
        CHECK_EQ(kill(child, SIGTERM), 0);
        for (int i = 0; i < CLIENTS; i++)
                CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
        CHECK_EQ(shared->entered[0] + shared->entered[1], answered);
        CHECK(shared->entered[0] > 0 && shared->entered[1] > 0);
        CHECK_EQ(munmap(shared, sizeof(*shared)), 0);
}
