/*
 * io/connect.c - connecting: the addresses of a name race (RFC 8305).
 *
 * A single task runs the race. The task waits in the watches of all attempts at once, and a timer
 * wakes the task when the next attempt is due. However the race ends, the remaining attempts are
 * closed. A single address is a race of one attempt, without a timer. Addresses of the other family
 * join the race when they become known; until then the race is not lost.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "eddy/error.h"
#include "eddy/tcp.h"
#include "eddy/time.h"
#include "io/connect.h"
#include "io/dns.h"
#include "io/dns_name.h"
#include "io/socket.h"
#include "scope/debug/debug.h"

/* RFC 8305, 5: the recommended delay between attempts. */
#define STAGGER_NS ((int64_t) 250000000)

/* Linux's limit for TCP_KEEPIDLE and TCP_KEEPINTVL. */
#define KEEPALIVE_MAX_NS EDDY_SEC(32767)

struct race {
        struct ed_watch_waiter waiter; /* in the watch of every running attempt */
        struct ed_loop *loop;
        uint16_t port;
        const struct eddy_tcp_connect_opts *opts;
        bool due; /* the next attempt is due */
        struct ed_timer timer;
        int error;              /* of the last failed attempt */
        struct ed_found *found; /* 'tried': the attempts that were begun */
        size_t under_way;
        struct ed_fd_stream *attempts[ED_FOUND_MAX]; /* NULL: over, or not begun */
};

/* Returns a time in whole seconds, rounded up. */
static int seconds_of(int64_t ns)
{
        return (int) ((ns + EDDY_SEC(1) - 1) / EDDY_SEC(1));
}

static void race_wake(struct race *race)
{
        if (race->waiter.woken)
                return;
        race->waiter.woken = true;
        ed_suspend_wake(race->waiter.task, 0);
}

static void on_stagger(struct ed_timer *timer)
{
        struct race *race = ed_container_of(timer, struct race, timer);

        race->due = true;
        race_wake(race);
}

/* The lookup has ended. */
static void on_more(void *arg)
{
        race_wake(arg);
}

static bool take_back(void *arg)
{
        ((struct race *) arg)->waiter.woken = true;
        return true;
}

/* Wait until an attempt has ended or the next one is due. */
static int race_wait(struct race *race)
{
        struct ed_task *task = race->waiter.task;
        int err;

        race->waiter.woken = false;
        race->loop->waits++;
        ed_debug_net(task);
        err = ed_suspend_park(task, "a connection to be made", take_back, race);
        race->loop->waits--;
        return err < 0 ? err : ed_suspend_enter(&task);
}

/* Take an attempt out of the race; the caller gets its socket. */
static struct ed_fd_stream *attempt_take(struct race *race, size_t i)
{
        struct ed_fd_stream *sock = race->attempts[i];

        sock->watch.waiters[ED_WATCH_WRITE] = NULL;
        race->attempts[i] = NULL;
        race->under_way--;
        return sock;
}

/* After a failed attempt the next one starts at once. */
static void attempt_failed(struct race *race, int err)
{
        race->error = ed_io_error(err);
        race->due = true;
}

/*
 * Returns true if the kernel has connected a socket to itself. This happens on the loopback if
 * there is no listener and the kernel chose the requested port for the socket.
 */
static bool is_own_echo(struct race *race, const struct ed_fd_stream *sock,
                        const struct eddy_address *address)
{
        struct ed_sys *sys = race->loop->sys;
        struct eddy_address loopback;
        struct eddy_endpoint own;

        ed_address_loopback(address->family, &loopback);
        return memcmp(&loopback, address, sizeof(loopback)) == 0 &&
               sys->socket->endpoint(sys, sock->watch.fd, EDDY_STREAM_LOCAL, &own) == 0 &&
               own.port == race->port;
}

/* Set the options of a new socket, and begin to connect. */
static int attempt_connect(struct race *race, int fd, const struct eddy_address *address)
{
        struct eddy_endpoint to = { .kind = EDDY_ENDPOINT_IP,
                                    .address = *address,
                                    .port = race->port };
        const struct eddy_tcp_connect_opts *opts = race->opts;
        struct ed_sys *sys = race->loop->sys;
        int err = 0;

        if (opts && opts->keepalive_ns > 0)
                err = sys->socket->keepalive(sys, fd, seconds_of(opts->keepalive_ns));
        if (err == 0 && opts && opts->local)
                err = sys->socket->bind(sys, fd, opts->local);
        return err < 0 ? err : sys->socket->connect(sys, fd, &to);
}

/* Begin the next attempt. Returns 0 if it is connected, -EINPROGRESS, or its error. */
static int attempt_begin(struct race *race)
{
        size_t i = race->found->tried++;
        const struct eddy_address *address = &race->found->addresses[i];
        struct ed_sys *sys = race->loop->sys;
        struct ed_fd_stream *sock;
        int err, fd;

        race->attempts[i] = NULL;
        sock = ed_socket_new(race->loop, EDDY_ENDPOINT_IP);
        if (!sock)
                return -ENOMEM;
        fd = sys->socket->open(sys, address->family, ED_SOCKET_STREAM);
        if (fd < 0) {
                ed_socket_free(sock);
                return fd;
        }
        ed_socket_attach(sock, fd);
        race->attempts[i] = sock;
        race->under_way++;
        err = attempt_connect(race, fd, address);
        if (err == 0 && !is_own_echo(race, sock, address))
                return 0;
        /*
         * Both directions are not ready until an event arrives, which also applies to the first
         * read.
         */
        sock->watch.ready[ED_WATCH_READ] = sock->watch.ready[ED_WATCH_WRITE] = false;
        sock->watch.waiters[ED_WATCH_WRITE] = &race->waiter;
        if (err == -EINPROGRESS) {
                int registered = ed_watch_register(&sock->watch);

                if (registered == 0)
                        return -EINPROGRESS;
                err = registered;
        }
        if (err == 0)
                err = -ECONNREFUSED;
        eddy_stream_close(&attempt_take(race, i)->stream);
        return err;
}

/*
 * Returns the state of attempt 'i': 0, -EINPROGRESS, or its error, after which the attempt is over.
 */
static int attempt_check(struct race *race, size_t i)
{
        struct ed_fd_stream *sock = race->attempts[i];
        struct ed_sys *sys = race->loop->sys;
        int err;

        if (!sock || !sock->watch.ready[ED_WATCH_WRITE])
                return -EINPROGRESS;
        err = sys->socket->connect_result(sys, sock->watch.fd);
        if (err == 0 && is_own_echo(race, sock, &race->found->addresses[i]))
                err = -ECONNREFUSED;
        if (err == -EINPROGRESS)
                sock->watch.ready[ED_WATCH_WRITE] = false;
        else if (err < 0)
                eddy_stream_close(&attempt_take(race, i)->stream);
        return err;
}

/* Returns true if there is an address to try; passes over those that do not fit the local one. */
static bool has_next(struct race *race)
{
        const struct eddy_endpoint *local = race->opts ? race->opts->local : NULL;
        struct ed_found *found = race->found;

        while (local && found->tried < found->n &&
               found->addresses[found->tried].family != local->address.family)
                race->attempts[found->tried++] = NULL;
        return found->tried < found->n;
}

/* Begin the attempts that are due. Returns 0 with '*ret_winner' if one connects at once. */
static int race_begin_due(struct race *race, size_t *ret_winner)
{
        int err;

        while ((race->due || race->under_way == 0) && has_next(race)) {
                race->due = false;
                err = attempt_begin(race);
                if (err == 0) {
                        *ret_winner = race->found->tried - 1;
                        return 0;
                }
                if (err != -EINPROGRESS)
                        attempt_failed(race, err);
                else if (has_next(race) || race->found->lookup)
                        ed_timer_arm(&race->loop->timers, &race->timer,
                                     ed_loop_now(race->loop) + STAGGER_NS);
        }
        return -EINPROGRESS;
}

/* Errors: of the last failed attempt; -ECANCELED. */
static int race_run(struct race *race, size_t *ret_winner)
{
        for (;;) {
                int err = race_begin_due(race, ret_winner);

                if (err != -EINPROGRESS)
                        return err;
                if (race->under_way == 0 && !race->found->lookup)
                        return race->error;
                err = race_wait(race);
                if (err < 0)
                        return err;
                for (size_t i = 0; i < race->found->tried; i++) {
                        err = attempt_check(race, i);
                        if (err == 0) {
                                *ret_winner = i;
                                return 0;
                        }
                        if (err != -EINPROGRESS)
                                attempt_failed(race, err);
                }
        }
}

static int connect_any(struct ed_task *task, struct ed_found *found, uint16_t port,
                       const struct eddy_tcp_connect_opts *opts, eddy_stream **ret_stream)
{
        struct race race;
        size_t winner = 0;
        int err;

        race.waiter = (struct ed_watch_waiter){ .task = task, .woken = true };
        race.loop = task->loop;
        race.port = port;
        race.opts = opts;
        race.due = false;
        race.found = found;
        race.under_way = 0;
        race.error = EDDY_E_DNS_NO_ADDRESS;
        ed_timer_init(&race.timer, on_stagger);
        found->on_more = on_more;
        found->arg = &race;
        err = race_run(&race, &winner);
        ed_found_end(found);
        ed_timer_cancel(&race.loop->timers, &race.timer);
        if (err == 0)
                *ret_stream = &attempt_take(&race, winner)->stream;
        for (size_t i = 0; i < found->tried; i++)
                if (race.attempts[i])
                        eddy_stream_close(&attempt_take(&race, i)->stream);
        return err;
}

static bool opts_check(const struct eddy_tcp_connect_opts *opts)
{
        return opts->keepalive_ns >= 0 && opts->keepalive_ns <= KEEPALIVE_MAX_NS &&
               (!opts->local || (opts->local->kind == EDDY_ENDPOINT_IP &&
                                 (opts->local->address.family == AF_INET ||
                                  opts->local->address.family == AF_INET6)));
}

int ed_tcp_connect_found(struct ed_found *found, uint16_t port,
                         const struct eddy_tcp_connect_opts *opts, eddy_stream **ret_stream)
{
        struct ed_task *task;
        int err = opts && !opts_check(opts) ? -EINVAL : ed_suspend_enter(&task);

        if (err < 0) {
                ed_found_end(found);
                return err;
        }
        err = connect_any(task, found, port, opts, ret_stream);
        if (err == 0) {
                ed_debug_made(*ret_stream, ED_DEBUG_STREAM);
                ed_suspend_passed(task);
        }
        return err;
}

int eddy_tcp_connect(const char *host, uint16_t port, const struct eddy_tcp_connect_opts *opts,
                     eddy_stream **ret_stream)
{
        struct ed_found found;
        int err;

        if (opts && !opts_check(opts))
                return -EINVAL;
        err = ed_found_look_up(host, &found);
        return err < 0 ? err : ed_tcp_connect_found(&found, port, opts, ret_stream);
}
