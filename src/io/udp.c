/*
 * io/udp.c - UDP sockets.
 *
 * A side counts as drained only after -EAGAIN: a receive that moved fewer datagrams than requested
 * may have stopped at an error, for which no event follows.
 */
#include "eddy/udp.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "io/dns.h"
#include "io/dns_name.h"
#include "io/watch.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"

enum { BUFFER_MAX = 1 << 30 };

struct eddy_udp {
        struct ed_watch watch; /* contains the descriptor */
        int family;
        int interface_id; /* of multicasts to send */
};

/* --- opening and closing --- */

static bool opts_check(const struct eddy_udp_opts *opts)
{
        return opts->receive_bytes <= BUFFER_MAX && opts->send_bytes <= BUFFER_MAX &&
               (!opts->local || (opts->local->kind == EDDY_ENDPOINT_IP &&
                                 (opts->local->address.family == AF_INET ||
                                  opts->local->address.family == AF_INET6)));
}

/* Set what 'opts' requests; every other option keeps the system's default. */
static int opts_apply(struct ed_sys *sys, int fd, int family, const struct eddy_udp_opts *opts)
{
        const struct {
                int option;
                bool is_set;
                int value;
        } wanted[] = {
                { ED_DATAGRAM_REUSE_PORT, opts->reuse_port, 1 },
                { ED_DATAGRAM_V6_ONLY, family == AF_INET6, opts->v6_only },
                { ED_DATAGRAM_ERRORS, opts->errors, 1 },
                { EDDY_UDP_BROADCAST, opts->broadcast, 1 },
                { EDDY_UDP_RECEIVE_BYTES, opts->receive_bytes > 0, (int) opts->receive_bytes },
                { EDDY_UDP_SEND_BYTES, opts->send_bytes > 0, (int) opts->send_bytes },
        };
        int err = 0;

        for (size_t i = 0; i < ed_array_count(wanted) && err == 0; i++)
                if (wanted[i].is_set)
                        err = sys->datagram->option(sys, fd, family, wanted[i].option,
                                                    wanted[i].value);
        return err;
}

/*
 * Make a socket, bound to 'local' and connected to 'peer' if these are not NULL. The object is
 * allocated first, so that nothing can fail after the descriptor is ready.
 */
static int udp_new(struct ed_loop *loop, const struct eddy_endpoint *local,
                   const struct eddy_endpoint *peer, const struct eddy_udp_opts *opts,
                   eddy_udp **ret_udp)
{
        static const struct eddy_udp_opts none;
        struct ed_sys *sys = loop->sys;
        eddy_udp *udp = ed_alloc_zero(sizeof(*udp));
        int err, fd;

        if (!udp)
                return -ENOMEM;
        udp->family = peer ? peer->address.family : local->address.family;
        fd = sys->socket->open(sys, udp->family, ED_SOCKET_DATAGRAM);
        if (fd < 0) {
                err = fd;
                goto fail_free;
        }
        err = opts_apply(sys, fd, udp->family, opts ? opts : &none);
        if (err == 0 && local)
                err = sys->datagram->bind_port(sys, fd, local);
        if (err == 0 && peer)
                err = sys->socket->connect(sys, fd, peer);
        if (err == -EINPROGRESS) /* interrupted */
                err = sys->socket->connect_result(sys, fd);
        if (err < 0)
                goto fail_close;
        ed_watch_init(&udp->watch, loop, fd);
        udp->watch.net = peer != NULL; /* waits for a peer should have a deadline */
        *ret_udp = udp;
        return 0;

fail_close:
        sys->socket->close(sys, fd);
fail_free:
        ed_free(udp);
        return ed_io_error(err);
}

int eddy_udp_bind(const char *address, uint16_t port, const struct eddy_udp_opts *opts,
                  eddy_udp **ret_udp)
{
        struct eddy_endpoint at = { .kind = EDDY_ENDPOINT_IP, .port = port };
        int err;

        if (!address || ed_address_parse(address, &at.address) < 0)
                return -EINVAL;
        if (opts && (opts->local || !opts_check(opts)))
                return -EINVAL;
        if (!ed_loop_current)
                return EDDY_E_RUN_NOT_RUNNING;
        err = udp_new(ed_loop_current, &at, NULL, opts, ret_udp);
        if (err == 0)
                ed_debug_made(*ret_udp, ED_DEBUG_UDP);
        return err;
}

/* Connect to the first of the addresses so far that the system accepts. */
static int connect_any(struct ed_loop *loop, struct ed_found *found, uint16_t port,
                       const struct eddy_udp_opts *opts, eddy_udp **ret_udp)
{
        const struct eddy_endpoint *local = opts ? opts->local : NULL;
        int err = EDDY_E_DNS_NO_ADDRESS;

        while (found->tried < found->n) {
                struct eddy_endpoint peer = { .kind = EDDY_ENDPOINT_IP,
                                              .port = port,
                                              .address = found->addresses[found->tried++] };

                if (local && local->address.family != peer.address.family)
                        continue;
                err = udp_new(loop, local, &peer, opts, ret_udp);
                if (err == 0)
                        break;
        }
        return err;
}

/* The end of a lookup is not a result, so a cancel takes precedence. */
static int connect_found(struct ed_found *found, uint16_t port, const struct eddy_udp_opts *opts,
                         eddy_udp **ret_udp)
{
        struct ed_task *task;
        int more, err = ed_suspend_enter(&task);

        if (err < 0)
                return err;
        err = connect_any(task->loop, found, port, opts, ret_udp);
        if (err < 0 && found->lookup) {
                more = ed_found_wait(found);
                if (more == 0)
                        more = ed_suspend_enter(&task);
                if (more < 0)
                        return more;
                if (found->tried < found->n)
                        err = connect_any(task->loop, found, port, opts, ret_udp);
        }
        if (err == 0) {
                ed_debug_made(*ret_udp, ED_DEBUG_UDP);
                ed_suspend_passed(task);
        }
        return err;
}

int eddy_udp_connect(const char *host, uint16_t port, const struct eddy_udp_opts *opts,
                     eddy_udp **ret_udp)
{
        struct ed_found found;
        int err;

        if (port == 0 || (opts && !opts_check(opts)))
                return -EINVAL;
        err = ed_found_look_up(host, &found);
        if (err < 0)
                return err;
        err = connect_found(&found, port, opts, ret_udp);
        ed_found_end(&found);
        return err;
}

void eddy_udp_close(eddy_udp *udp)
{
        if (!udp || !ed_misuse_may_close(&udp->watch.member, "a UDP socket"))
                return;
        ed_debug_gone(udp);
        ed_watch_close(&udp->watch, false);
        ed_free(udp);
}

/* --- sending and receiving --- */

/* Begin a call that does not suspend. Errors: -EINVAL, EDDY_E_RUN_OTHER_LOOP. */
static int check(const eddy_udp *udp)
{
        return udp ? ed_member_check(&udp->watch.member) : -EINVAL;
}

/* Begin a call that moves 'n' datagrams. */
static int enter(const eddy_udp *udp, enum ed_watch_side side, size_t n, struct ed_task **ret_task)
{
        if (!udp || n == 0 || n > EDDY_UDP_BATCH_MAX)
                return -EINVAL;
        return ed_watch_enter(&udp->watch, side, ret_task);
}

/* After a try that would wait, wait until another one makes sense. */
static int wait(eddy_udp *udp, enum ed_watch_side side, struct ed_task *task, const char *waits_for)
{
        udp->watch.ready[side] = false;
        return ed_watch_wait(&udp->watch, side, task, waits_for);
}

static bool can_send_to(const struct eddy_endpoint *endpoint)
{
        return endpoint->kind == EDDY_ENDPOINT_NONE ||
               (endpoint->kind == EDDY_ENDPOINT_IP && endpoint->port > 0);
}

int eddy_udp_send_batch(eddy_udp *udp, const struct eddy_udp_message *messages, size_t n)
{
        struct ed_task *task;
        int sent, err = enter(udp, ED_WATCH_WRITE, n, &task);

        if (err < 0)
                return err;
        for (size_t i = 0; i < n; i++)
                if (!can_send_to(&messages[i].endpoint))
                        return -EINVAL;
        for (;;) {
                struct ed_watch *watch = &udp->watch;

                sent = -EAGAIN;
                if (watch->ready[ED_WATCH_WRITE])
                        sent = watch->member.loop->sys->datagram->send(watch->member.loop->sys,
                                                                       watch->fd, messages, n);
                if (sent != -EAGAIN)
                        break;
                err = wait(udp, ED_WATCH_WRITE, task, "room for a datagram");
                if (err < 0)
                        return err;
        }
        ed_suspend_passed(task);
        return ed_io_error(sent);
}

int eddy_udp_receive_batch(eddy_udp *udp, struct eddy_udp_message *messages, size_t n)
{
        struct ed_task *task;
        int received, err = enter(udp, ED_WATCH_READ, n, &task);

        if (err < 0)
                return err;
        for (;;) {
                struct ed_watch *watch = &udp->watch;

                received = -EAGAIN;
                if (watch->ready[ED_WATCH_READ])
                        received = watch->member.loop->sys->datagram->recv(watch->member.loop->sys,
                                                                           watch->fd, messages, n);
                if (received != -EAGAIN)
                        break;
                err = wait(udp, ED_WATCH_READ, task, "a datagram");
                if (err < 0)
                        return err;
        }
        ed_suspend_passed(task);
        return ed_io_error(received);
}

/* Send a datagram to an endpoint, or with EDDY_ENDPOINT_NONE to the peer. */
static int send_one(eddy_udp *udp, const void *data, size_t bytes, const struct eddy_endpoint *to)
{
        struct eddy_udp_message message = { .data = (void *) data, .bytes = bytes };
        int n;

        if (to)
                message.endpoint = *to;
        n = eddy_udp_send_batch(udp, &message, 1);
        return n < 0 ? n : 0;
}

int eddy_udp_send(eddy_udp *udp, const void *data, size_t bytes)
{
        return send_one(udp, data, bytes, NULL);
}

int eddy_udp_send_to(eddy_udp *udp, const void *data, size_t bytes, const struct eddy_endpoint *to)
{
        return to && to->kind == EDDY_ENDPOINT_IP ? send_one(udp, data, bytes, to) : -EINVAL;
}

int64_t eddy_udp_receive_from(eddy_udp *udp, void *buf, size_t bytes,
                              struct eddy_endpoint *ret_from)
{
        struct eddy_udp_message message = { .data = buf, .bytes = bytes };
        int n = eddy_udp_receive_batch(udp, &message, 1);

        if (n < 0)
                return n;
        if (message.length > bytes)
                return -EMSGSIZE;
        if (ret_from)
                *ret_from = message.endpoint;
        return (int64_t) message.length;
}

int64_t eddy_udp_receive(eddy_udp *udp, void *buf, size_t bytes)
{
        return eddy_udp_receive_from(udp, buf, bytes, NULL);
}

int eddy_udp_error(eddy_udp *udp, struct eddy_udp_error *ret_error)
{
        struct ed_sys *sys;
        int err = check(udp);

        if (err < 0)
                return err;
        sys = udp->watch.member.loop->sys;
        return sys->datagram->error(sys, udp->watch.fd, ret_error);
}

/* --- options and groups --- */

static bool option_check(enum eddy_udp_option option, int value)
{
        switch (option) {
        case EDDY_UDP_BROADCAST:
        case EDDY_UDP_MULTICAST_LOOP:
                return value == 0 || value == 1;
        case EDDY_UDP_RECEIVE_BYTES:
        case EDDY_UDP_SEND_BYTES:
                return value > 0 && value <= BUFFER_MAX;
        case EDDY_UDP_TTL:
                return value > 0 && value <= UINT8_MAX;
        case EDDY_UDP_MULTICAST_TTL:
                return value >= 0 && value <= UINT8_MAX;
        case EDDY_UDP_MULTICAST_INTERFACE:
                return value >= 0;
        case EDDY_UDP_OPTIONS:
                break;
        }
        return false;
}

int eddy_udp_set_option(eddy_udp *udp, enum eddy_udp_option option, int value)
{
        struct ed_sys *sys;
        int err = check(udp);

        if (err == 0 && !option_check(option, value))
                err = -EINVAL;
        if (err < 0)
                return err;
        sys = udp->watch.member.loop->sys;
        err = sys->datagram->option(sys, udp->watch.fd, udp->family, (int) option, value);
        if (err == 0 && option == EDDY_UDP_MULTICAST_INTERFACE)
                udp->interface_id = value;
        return err;
}

int eddy_udp_option(eddy_udp *udp, enum eddy_udp_option option)
{
        struct ed_sys *sys;
        int err = check(udp);

        if (err == 0 && ((int) option < 0 || option >= EDDY_UDP_OPTIONS))
                err = -EINVAL;
        if (err < 0)
                return err;
        /* For IPv4 the system returns an address. */
        if (option == EDDY_UDP_MULTICAST_INTERFACE)
                return udp->interface_id;
        sys = udp->watch.member.loop->sys;
        return sys->datagram->option_value(sys, udp->watch.fd, udp->family, (int) option);
}

/* Returns true for 224.0.0.0/4 and ff00::/8. */
static bool is_multicast(const struct eddy_address *address)
{
        return address->family == AF_INET6 ? address->bytes[0] == 0xff
                                           : (address->bytes[0] & 0xf0) == 0xe0;
}

static int change_group(eddy_udp *udp, const char *group, uint32_t interface_id, bool join)
{
        struct eddy_address address;
        struct ed_sys *sys;
        int err = check(udp);

        if (err < 0)
                return err;
        if (!group || ed_address_parse(group, &address) < 0)
                return -EINVAL;
        if (address.family != udp->family || !is_multicast(&address))
                return -EINVAL;
        sys = udp->watch.member.loop->sys;
        return sys->datagram->group(sys, udp->watch.fd, &address, interface_id, join);
}

int eddy_udp_join(eddy_udp *udp, const char *group, uint32_t interface_id)
{
        return change_group(udp, group, interface_id, true);
}

int eddy_udp_leave(eddy_udp *udp, const char *group, uint32_t interface_id)
{
        return change_group(udp, group, interface_id, false);
}

/* --- what a socket is --- */

static int endpoint(const eddy_udp *udp, enum eddy_stream_end end,
                    struct eddy_endpoint *ret_endpoint)
{
        struct ed_sys *sys;
        int err = check(udp);

        if (err < 0)
                return err;
        sys = udp->watch.member.loop->sys;
        return sys->socket->endpoint(sys, udp->watch.fd, end, ret_endpoint);
}

int eddy_udp_local(const eddy_udp *udp, struct eddy_endpoint *ret_endpoint)
{
        return endpoint(udp, EDDY_STREAM_LOCAL, ret_endpoint);
}

int eddy_udp_peer(const eddy_udp *udp, struct eddy_endpoint *ret_endpoint)
{
        return endpoint(udp, EDDY_STREAM_PEER, ret_endpoint);
}

int eddy_udp_fd(const eddy_udp *udp)
{
        return udp ? udp->watch.fd : -1;
}
