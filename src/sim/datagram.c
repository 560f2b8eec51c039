/*
 * sim/datagram.c - datagram sockets in memory.
 *
 * A datagram is on its way for the delay of its receiver's link, in order, and then waits in the
 * receiver. As on the loopback, a datagram is lost only if the receiver's buffer is full, and a
 * sender with a peer learns at once that nothing receives there. All addresses are this machine's.
 * Multicast, and the details of reported errors, are refused.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "sim/socket.h"

/* Counted for each datagram in the receiver's buffer, so that empty ones have a limit too. */
enum { OVERHEAD_BYTES = 64 };

struct datagram {
        struct ed_list link;
        int64_t at_ns;
        struct eddy_endpoint from;
        size_t bytes;
        unsigned char data[];
};

static struct datagram *datagram_first(struct ed_list *list)
{
        return ed_list_is_empty(list) ? NULL : ed_container_of(list->next, struct datagram, link);
}

static void list_free(struct ed_list *list)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(list)))
                ed_free(ed_container_of(link, struct datagram, link));
}

void ed_sim_datagrams_free(struct ed_sim_socket *sock)
{
        list_free(&sock->datagrams);
        list_free(&sock->datagrams_coming);
}

unsigned ed_sim_datagram_readiness(const struct ed_sim_socket *sock)
{
        if (sock->error)
                return ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END | ED_EVENT_HANGUP;
        return ED_EVENT_WRITE | (ed_list_is_empty(&sock->datagrams) ? 0 : ED_EVENT_READ);
}

int64_t ed_sim_datagram_next(struct ed_sim_socket *sock)
{
        const struct datagram *first = datagram_first(&sock->datagrams_coming);

        return first ? first->at_ns : ED_SIM_NEVER;
}

void ed_sim_datagram_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        struct ed_list *link = sock->datagrams_coming.next;

        ed_list_remove(link);
        ed_list_push_back(&sock->datagrams, link);
        ed_sim_notify(sim, sock);
}

/* --- addresses --- */

static bool collide(const struct ed_sim_socket *sock, const struct ed_sim_socket *other,
                    const struct eddy_endpoint *at)
{
        if (other == sock || !other->is_datagram || (sock->reuse_port && other->reuse_port))
                return false;
        return ed_sim_listens_at(&other->local, other->v6_only, at) ||
               ed_sim_listens_at(at, sock->v6_only, &other->local);
}

static bool is_taken(const struct ed_sim *sim, const struct ed_sim_socket *sock,
                     const struct eddy_endpoint *at)
{
        for (uint32_t i = 0; i < sim->opts.sockets_max; i++)
                if (sim->sockets[i] && collide(sock, sim->sockets[i], at))
                        return true;
        return false;
}

/* Bind to 'at', port 0 being a free one. */
static int name_take(struct ed_sim *sim, struct ed_sim_socket *sock, const struct eddy_endpoint *at)
{
        struct eddy_endpoint own = *at;

        if (at->port > 0 && is_taken(sim, sock, at))
                return -EADDRINUSE;
        while (own.port == 0 || (at->port == 0 && is_taken(sim, sock, &own)))
                own.port = ed_sim_port_next(sim);
        sock->local = own;
        return 0;
}

int ed_sim_bind_port(struct ed_sys *sys, int fd, const struct eddy_endpoint *at)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_BIND);

        if (err < 0)
                return err;
        if (!sock->is_datagram || sock->local.kind != EDDY_ENDPOINT_NONE)
                return -EINVAL;
        return name_take(sim, sock, at);
}

int ed_sim_datagram_connect(struct ed_sim *sim, struct ed_sim_socket *sock,
                            const struct eddy_endpoint *to)
{
        struct eddy_endpoint own = *to;
        int err = 0;

        own.port = 0;
        if (sock->local.kind == EDDY_ENDPOINT_NONE)
                err = name_take(sim, sock, &own);
        else if (ed_sim_is_any(&sock->local.address))
                sock->local.address = to->address;
        if (err < 0)
                return err;
        sock->remote = *to;
        sock->phase = ED_SIM_PHASE_CONNECTED;
        ed_sim_mark(sim, ED_SIM_CONNECTED, (uint64_t) sock->fd, to->port);
        return 0;
}

int ed_sim_option(struct ed_sys *sys, int fd, int family, int option, int value)
{
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(ed_sim_of(sys), sock, ED_SIM_CALL_OPTION);

        (void) family;
        if (err < 0)
                return err;
        switch (option) {
        case ED_DATAGRAM_REUSE_PORT:
                sock->reuse_port = value;
                return 0;
        case ED_DATAGRAM_V6_ONLY:
                sock->v6_only = value;
                return 0;
        case EDDY_UDP_BROADCAST:
                sock->broadcast = value;
                return 0;
        case EDDY_UDP_RECEIVE_BYTES:
        case EDDY_UDP_SEND_BYTES:
                return 0; /* the link sets them */
        default:
                return -EOPNOTSUPP;
        }
}

int ed_sim_option_value(struct ed_sys *sys, int fd, int family, int option)
{
        const struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);

        (void) family;
        if (!sock)
                return -EBADF;
        if (option == EDDY_UDP_BROADCAST)
                return sock->broadcast;
        if (option == EDDY_UDP_RECEIVE_BYTES || option == EDDY_UDP_SEND_BYTES)
                return (int) sock->link.buffer_bytes;
        return -EOPNOTSUPP;
}

int ed_sim_group(struct ed_sys *sys, int fd, const struct eddy_address *group,
                 uint32_t interface_id, bool join)
{
        (void) sys;
        (void) fd;
        (void) group;
        (void) interface_id;
        (void) join;
        return -EOPNOTSUPP;
}

int ed_sim_datagram_error(struct ed_sys *sys, int fd, struct eddy_udp_error *ret_error)
{
        (void) sys;
        (void) fd;
        (void) ret_error;
        return -EOPNOTSUPP;
}

/* --- transfers --- */

/* Returns true if 'sock' receives what 'from' sends to 'to'. */
static bool receives(const struct ed_sim_socket *sock, const struct eddy_endpoint *from,
                     const struct eddy_endpoint *to)
{
        return sock && sock->is_datagram && ed_sim_listens_at(&sock->local, sock->v6_only, to) &&
               (sock->phase != ED_SIM_PHASE_CONNECTED ||
                ed_sim_listens_at(&sock->remote, true, from));
}

/* Returns the receiver, preferably one whose peer is 'from', or NULL. */
static struct ed_sim_socket *receiver_find(const struct ed_sim *sim,
                                           const struct eddy_endpoint *from,
                                           const struct eddy_endpoint *to)
{
        struct ed_sim_socket *found = NULL;

        for (uint32_t i = 0; i < sim->opts.sockets_max; i++) {
                struct ed_sim_socket *sock = sim->sockets[i];

                if (receives(sock, from, to) && (!found || sock->phase == ED_SIM_PHASE_CONNECTED))
                        found = sock;
        }
        return found;
}

static size_t bytes_waiting(struct ed_sim_socket *sock)
{
        struct ed_list *const lists[] = { &sock->datagrams, &sock->datagrams_coming };
        size_t bytes = 0;

        for (size_t i = 0; i < ed_array_count(lists); i++)
                ed_list_each (link, lists[i])
                        bytes += ed_container_of(link, struct datagram, link)->bytes +
                                 OVERHEAD_BYTES;
        return bytes;
}

/* Drops the datagram if the receiver's buffer is full. */
static int deliver(struct ed_sim *sim, struct ed_sim_socket *to, const struct eddy_endpoint *from,
                   const struct eddy_udp_message *message)
{
        struct datagram *datagram;
        size_t waiting = bytes_waiting(to);

        /* As the kernel does, let a datagram in while there is no other. */
        if (waiting > 0 && waiting + message->bytes + OVERHEAD_BYTES > to->link.buffer_bytes)
                return 0;
        datagram = ed_alloc(sizeof(*datagram) + message->bytes);
        if (!datagram)
                return -ENOMEM;
        datagram->at_ns = ed_sim_arrival_at(sim, to);
        datagram->from = *from;
        datagram->bytes = message->bytes;
        if (message->bytes > 0)
                memcpy(datagram->data, message->data, message->bytes);
        ed_list_push_back(&to->datagrams_coming, &datagram->link);
        return 0;
}

static int send_one(struct ed_sim *sim, struct ed_sim_socket *sock,
                    const struct eddy_udp_message *message)
{
        const struct eddy_endpoint *to =
                message->endpoint.kind == EDDY_ENDPOINT_NONE ? &sock->remote : &message->endpoint;
        struct eddy_endpoint from;
        struct ed_sim_socket *receiver;

        if (sock->error)
                return ed_sim_take_error(sock);
        if (to->kind == EDDY_ENDPOINT_NONE)
                return -EDESTADDRREQ;
        if (message->bytes > EDDY_UDP_BYTES_MAX)
                return -EMSGSIZE;
        from = sock->local;
        if (ed_sim_is_any(&from.address))
                from.address = to->address;
        ed_sim_mark(sim, ED_SIM_SENT, (uint64_t) sock->fd, message->bytes);
        receiver = receiver_find(sim, &from, to);
        if (receiver)
                return deliver(sim, receiver, &from, message);
        if (sock->phase == ED_SIM_PHASE_CONNECTED && !ed_sim_is_dead(sim, &to->address)) {
                sock->error = -ECONNREFUSED;
                ed_sim_notify(sim, sock);
        }
        return 0;
}

int ed_sim_send_datagrams(struct ed_sys *sys, int fd, const struct eddy_udp_message *messages,
                          size_t n)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_SEND_DATAGRAMS);
        size_t sent;

        if (err < 0)
                return err;
        for (sent = 0; sent < n && err == 0; sent += err == 0)
                err = send_one(sim, sock, &messages[sent]);
        ed_sim_net_deliver(sim);
        return sent > 0 ? (int) sent : err;
}

static void take(struct ed_sim *sim, struct ed_sim_socket *sock, struct eddy_udp_message *message)
{
        struct datagram *datagram = datagram_first(&sock->datagrams);
        size_t bytes = datagram->bytes < message->bytes ? datagram->bytes : message->bytes;

        ed_list_remove(&datagram->link);
        if (bytes > 0)
                memcpy(message->data, datagram->data, bytes);
        message->length = datagram->bytes;
        message->endpoint = datagram->from;
        sim->moved += bytes;
        ed_sim_mark(sim, ED_SIM_RECEIVED, (uint64_t) sock->fd, datagram->bytes);
        ed_free(datagram);
}

int ed_sim_recv_datagrams(struct ed_sys *sys, int fd, struct eddy_udp_message *messages, size_t n)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_RECV_DATAGRAMS);
        size_t received = 0;

        if (err < 0)
                return err;
        if (sock->error)
                return ed_sim_take_error(sock);
        while (received < n && !ed_list_is_empty(&sock->datagrams))
                take(sim, sock, &messages[received++]);
        return received > 0 ? (int) received : -EAGAIN;
}
