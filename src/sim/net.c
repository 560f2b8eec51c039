/*
 * sim/net.c - sockets in memory: making, watching and ending them.
 *
 * Behaves like Linux in each state, including which error comes first and which errors are reported
 * once; tests/unit/sys/test_sockets.c compares the two.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "sim/socket.h"

enum { PORT_FIRST = 32768, PORT_LAST = 60999, PASSES_MAX = 16 };

/* --- the table of sockets --- */

struct ed_sim_socket *ed_sim_socket_of(struct ed_sys *sys, int fd)
{
        struct ed_sim *sim = ed_sim_of(sys);

        if (fd < ED_SIM_FD_FIRST || (uint32_t) (fd - ED_SIM_FD_FIRST) >= sim->opts.sockets_max)
                return NULL;
        return sim->sockets[fd - ED_SIM_FD_FIRST];
}

int ed_sim_socket_new(const struct ed_sim_link *link, struct ed_sim_socket **ret_sock)
{
        struct ed_sim_socket *sock = ed_alloc(sizeof(*sock) + link->buffer_bytes);

        if (!sock)
                return -ENOMEM;
        memset(sock, 0, sizeof(*sock));
        ed_list_init(&sock->ready);
        ed_list_init(&sock->flying);
        ed_list_init(&sock->queue);
        ed_list_init(&sock->datagrams);
        ed_list_init(&sock->datagrams_coming);
        sock->fd = -1;
        sock->request_ns = sock->answer_ns = sock->end_ns = sock->reset_ns = ED_SIM_NEVER;
        sock->link = *link;
        sock->cut_left = sock->stall_left = UINT64_MAX;
        *ret_sock = sock;
        return 0;
}

void ed_sim_socket_free(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        ed_list_remove(&sock->ready);
        ed_list_remove(&sock->flying);
        ed_sim_datagrams_free(sock);
        if (sock->fd >= 0) {
                uint32_t i = (uint32_t) (sock->fd - ED_SIM_FD_FIRST);

                sim->sockets[i] = NULL;
                sim->sockets_open--;
                sim->left_open += sim->sys.is_ending;
                if (i < sim->lowest_free)
                        sim->lowest_free = i;
        }
        ed_free(sock);
}

/* Returns the lowest free descriptor. Errors: -EMFILE. */
static int descriptor_find(struct ed_sim *sim)
{
        while (sim->lowest_free < sim->opts.sockets_max && sim->sockets[sim->lowest_free])
                sim->lowest_free++;
        if (sim->lowest_free == sim->opts.sockets_max)
                return -EMFILE;
        return ED_SIM_FD_FIRST + (int) sim->lowest_free;
}

static void descriptor_give(struct ed_sim *sim, struct ed_sim_socket *sock, int fd)
{
        sock->fd = fd;
        sim->sockets[fd - ED_SIM_FD_FIRST] = sock;
        sim->sockets_open++;
}

uint64_t ed_sim_sockets(const struct ed_sys *sys)
{
        const struct ed_sim *sim = ed_sim_of((struct ed_sys *) sys);

        return sim->sockets_open + sim->files_open;
}

int ed_sim_net_init(struct ed_sim *sim)
{
        sim->sockets = ed_alloc_zero(sim->opts.sockets_max * sizeof(*sim->sockets));
        if (!sim->sockets)
                return -ENOMEM;
        ed_list_init(&sim->ready);
        ed_list_init(&sim->flying);
        sim->next_port = PORT_FIRST;
        return 0;
}

static void listener_empty(struct ed_sim *sim, struct ed_sim_socket *listener);

void ed_sim_net_fini(struct ed_sim *sim)
{
        for (uint32_t i = 0; i < sim->opts.sockets_max; i++) {
                struct ed_sim_socket *sock = sim->sockets[i];

                if (!sock)
                        continue;
                if (sock->phase == ED_SIM_PHASE_LISTENING)
                        listener_empty(sim, sock);
                if (sock->peer)
                        sock->peer->peer = NULL;
                ed_sim_socket_free(sim, sock);
        }
        ed_free(sim->sockets);
}

/* --- readiness --- */

static size_t room_of(const struct ed_sim_socket *sock)
{
        return sock->link.buffer_bytes - sock->arrived - sock->coming;
}

size_t ed_sim_room_to_send(const struct ed_sim_socket *sock)
{
        return sock->peer ? room_of(sock->peer) : sock->link.buffer_bytes;
}

bool ed_sim_has_room(const struct ed_sim_socket *sock)
{
        return ed_sim_room_to_send(sock) * 3 >= sock->link.buffer_bytes;
}

static unsigned readiness(const struct ed_sim_socket *sock)
{
        unsigned events = 0;

        if (sock->is_datagram)
                return ed_sim_datagram_readiness(sock);
        switch ((enum ed_sim_phase) sock->phase) {
        case ED_SIM_PHASE_FRESH:
                return ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END;
        case ED_SIM_PHASE_LISTENING:
                return sock->waiting > 0 ? ED_EVENT_READ : 0;
        case ED_SIM_PHASE_CONNECTING:
                return 0;
        case ED_SIM_PHASE_CONNECTED:
                break;
        }
        if (sock->dead)
                return ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END | ED_EVENT_HANGUP;
        if (sock->arrived > 0 || sock->ended)
                events |= ED_EVENT_READ;
        if (sock->ended)
                events |= ED_EVENT_END;
        if (sock->ended && sock->shut)
                events |= ED_EVENT_HANGUP;
        if (sock->link.urgent && sock->arrived > 0)
                events |= ED_EVENT_URGENT;
        if (sock->shut || ed_sim_has_room(sock))
                events |= ED_EVENT_WRITE;
        return events;
}

void ed_sim_line_up(struct ed_sim *sim, struct ed_list *list, struct ed_list *link, bool reorder)
{
        struct ed_list *before = list;
        uint64_t others = 0;

        if (reorder) {
                ed_list_each (other, list) {
                        if (++others == PASSES_MAX)
                                break;
                }
                for (uint64_t n = ed_sim_chance(sim, others + 1); n > 0; n--)
                        before = before->prev;
        }
        ed_list_push_back(before, link);
}

void ed_sim_notify(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        if (!sock->target || !ed_list_is_empty(&sock->ready))
                return;
        if (sock->link.reorder)
                ed_sim_line_up(sim, &sim->ready, &sock->ready, true);
        else if (ed_sim_chance(sim, 2))
                ed_list_push_front(&sim->ready, &sock->ready);
        else
                ed_list_push_back(&sim->ready, &sock->ready);
}

int ed_sim_socket_fault(struct ed_sim *sim, struct ed_sim_socket *sock, enum ed_sim_call call)
{
        int err = ed_sim_fault(sim, call);

        if (err == -EAGAIN && sock)
                ed_sim_notify(sim, sock);
        return err < 0 || sock ? err : -EBADF;
}

/* Returns the part of 'mask' that the target gets. As in epoll, it always gets errors and hang-ups. */
static unsigned wanted(const struct ed_sim_socket *sock, unsigned mask)
{
        unsigned unwanted = sock->unwanted;

        if (unwanted)
                unwanted |= ED_EVENT_URGENT;
        if (unwanted & ED_EVENT_READ)
                unwanted |= ED_EVENT_END;
        return mask & ED_EVENT_HANGUP ? mask : mask & ~unwanted;
}

int ed_sim_net_collect(struct ed_sim *sim, struct ed_event *events, int max)
{
        int n = 0;

        while (n < max && !ed_list_is_empty(&sim->ready)) {
                struct ed_list *link = ed_list_pop_front(&sim->ready);
                struct ed_sim_socket *sock = ed_container_of(link, struct ed_sim_socket, ready);
                unsigned mask = readiness(sock);

                if (sock->phase == ED_SIM_PHASE_CONNECTED && !(mask & ED_EVENT_WRITE))
                        sock->wants_room = true;
                mask = wanted(sock, mask);
                if (!mask)
                        continue;
                ed_sim_mark(sim, ED_SIM_EVENT, (uint64_t) sock->fd, mask);
                events[n].target = sock->target;
                events[n].events = mask;
                n++;
        }
        return n;
}

/* 'former': the target until now, or NULL. */
static int set_target(struct ed_sys *sys, int fd, unsigned events, const struct ed_target *former,
                      struct ed_target *target)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err;

        if (ed_sim_is_output(fd))
                return -EPERM;
        err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_WATCH);
        if (err < 0)
                return err;
        if (sock->target != former)
                return former ? -ENOENT : -EEXIST;
        sock->target = target;
        sock->unwanted = (ED_EVENT_READ | ED_EVENT_WRITE) & ~events;
        if (readiness(sock))
                ed_sim_notify(sim, sock);
        return 0;
}

int ed_sim_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        return set_target(sys, fd, ED_EVENT_READ | ED_EVENT_WRITE, NULL, target);
}

void ed_sim_unwatch(struct ed_sys *sys, int fd)
{
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);

        if (!sock)
                return;
        sock->target = NULL;
        ed_list_remove(&sock->ready);
}

/* Returns true if the descriptor is not a socket, so that the caller finds the error by trying. */
bool ed_sim_is_readable(struct ed_sys *sys, int fd)
{
        const struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);

        return !sock || (readiness(sock) & ED_EVENT_READ);
}

bool ed_sim_is_writable(struct ed_sys *sys, int fd)
{
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);

        if (!sock || (readiness(sock) & ED_EVENT_WRITE))
                return true;
        /* As with poll(2), the caller gets an event when there is room. */
        sock->wants_room = sock->phase == ED_SIM_PHASE_CONNECTED;
        return false;
}

int ed_sim_ready(struct ed_sys *sys, int fd, unsigned events)
{
        const struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        unsigned found = 0;

        if (!sock)
                return -EBADF;
        if (events & ED_EVENT_READ && ed_sim_is_readable(sys, fd))
                found |= ED_EVENT_READ;
        if (events & ED_EVENT_WRITE && ed_sim_is_writable(sys, fd))
                found |= ED_EVENT_WRITE;
        return (int) found;
}

/* A socket has one target, so no duplicate is needed; a second watch fails with -EEXIST. */
int ed_sim_watch_foreign(struct ed_sys *sys, int fd, unsigned events, struct ed_target *target)
{
        int err = set_target(sys, fd, events, NULL, target);

        return err < 0 ? err : fd;
}

int ed_sim_rewatch_foreign(struct ed_sys *sys, int watched, unsigned events,
                           struct ed_target *target)
{
        return set_target(sys, watched, events, target, target);
}

void ed_sim_unwatch_foreign(struct ed_sys *sys, int watched, struct ed_target *target)
{
        const struct ed_sim_socket *sock = ed_sim_socket_of(sys, watched);

        if (sock && sock->target == target)
                ed_sim_unwatch(sys, watched);
}

/* --- making sockets --- */

int ed_sim_socket(struct ed_sys *sys, int family, int kind)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock;
        int err = ed_sim_fault(sim, ED_SIM_CALL_SOCKET), fd;

        if (err < 0)
                return err;
        if (family != AF_INET && family != AF_INET6 && family != AF_UNIX)
                return -EAFNOSUPPORT;
        fd = descriptor_find(sim);
        if (fd < 0)
                return fd;
        err = ed_sim_socket_new(&sim->link, &sock);
        if (err < 0)
                return err;
        sock->is_datagram = kind == ED_SOCKET_DATAGRAM;
        descriptor_give(sim, sock, fd);
        ed_sim_mark(sim, ED_SIM_OPENED, (uint64_t) fd, 0);
        return fd;
}

uint16_t ed_sim_port_next(struct ed_sim *sim)
{
        sim->next_port = sim->next_port == PORT_LAST ? PORT_FIRST : (uint16_t) (sim->next_port + 1);
        return sim->next_port;
}

/* Returns a port without a listener. */
static uint16_t port_take(struct ed_sim *sim)
{
        bool taken = true;

        while (taken) {
                (void) ed_sim_port_next(sim);
                taken = false;
                for (uint32_t i = 0; i < sim->opts.sockets_max && !taken; i++)
                        taken = sim->sockets[i] &&
                                sim->sockets[i]->phase == ED_SIM_PHASE_LISTENING &&
                                sim->sockets[i]->local.port == sim->next_port;
        }
        return sim->next_port;
}

int ed_sim_keepalive(struct ed_sys *sys, int fd, int seconds)
{
        (void) seconds; /* no peer is silent without a reason that the link sets */
        return ed_sim_socket_fault(ed_sim_of(sys), ed_sim_socket_of(sys, fd),
                                   ED_SIM_CALL_KEEPALIVE);
}

int ed_sim_bind(struct ed_sys *sys, int fd, const struct eddy_endpoint *local)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_BIND);

        if (err < 0)
                return err;
        if (sock->local.kind != EDDY_ENDPOINT_NONE || sock->phase != ED_SIM_PHASE_FRESH)
                return -EINVAL;
        sock->local = *local;
        return 0;
}

/* Choose the own end of a connection: all addresses are this machine's. */
static void local_take(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        struct eddy_endpoint own = sock->remote;

        if (sock->local.kind == EDDY_ENDPOINT_IP && !ed_sim_is_any(&sock->local.address))
                own.address = sock->local.address;
        own.port = sock->local.port ? sock->local.port : port_take(sim);
        sock->local = own;
}

/* Connect a Unix socket, at once. */
static int connect_unix(struct ed_sim *sim, struct ed_sim_socket *sock,
                        const struct eddy_endpoint *to)
{
        struct ed_sim_socket *listener = ed_sim_listener_find(sim, to), *child;
        int err;

        if (!listener)
                return to->path[0] ? -ENOENT : -ECONNREFUSED;
        sock->remote = *to;
        sock->local = (struct eddy_endpoint){ .kind = EDDY_ENDPOINT_UNIX };
        err = ed_sim_child_new(listener, sock, &child);
        if (err < 0)
                return err;
        ed_sim_child_line_up(sim, listener, child);
        sock->phase = ED_SIM_PHASE_CONNECTED;
        sock->connect_returned = true;
        ed_sim_mark(sim, ED_SIM_CONNECTED, (uint64_t) sock->fd, 0);
        return 0;
}

int ed_sim_connect(struct ed_sys *sys, int fd, const struct eddy_endpoint *to)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_CONNECT);

        if (err < 0)
                return err;
        if (sock->is_datagram)
                return ed_sim_datagram_connect(sim, sock, to);
        if (sock->phase == ED_SIM_PHASE_CONNECTING)
                return -EALREADY;
        if (sock->phase == ED_SIM_PHASE_CONNECTED && !sock->connect_returned) {
                sock->connect_returned = true;
                return 0;
        }
        if (sock->phase != ED_SIM_PHASE_FRESH)
                return -EISCONN;
        if (sock->dead)
                return -ECONNABORTED;
        if (to->kind == EDDY_ENDPOINT_UNIX)
                return connect_unix(sim, sock, to);
        sock->phase = ED_SIM_PHASE_CONNECTING;
        sock->remote = *to;
        local_take(sim, sock);
        sock->request_ns = ed_sim_arrival_at(sim, sock);
        ed_sim_mark(sim, ED_SIM_CONNECTED, (uint64_t) fd, to->port);
        ed_sim_net_deliver(sim);
        return -EINPROGRESS;
}

int ed_sim_take_error(struct ed_sim_socket *sock)
{
        int err = sock->error;

        sock->error = 0;
        return err;
}

void ed_sim_connect_ends(struct ed_sim_socket *server, struct ed_sim_socket *client)
{
        const struct ed_sim_link *link = &client->link;
        struct ed_sim_socket *counted = link->by_server ? server : client;

        server->phase = ED_SIM_PHASE_CONNECTED;
        server->connect_returned = true;
        server->peer = client;
        client->peer = server;
        if (link->cut != ED_SIM_CUT_NONE)
                counted->cut_left = link->cut_bytes;
        if (link->stall_ns > 0)
                counted->stall_left = link->stall_bytes;
}

static struct eddy_endpoint loopback_of(uint16_t port)
{
        return (struct eddy_endpoint){ .kind = EDDY_ENDPOINT_IP,
                                       .port = port,
                                       .address = { .family = AF_INET,
                                                    .bytes = { 127, 0, 0, 1 } } };
}

int ed_sim_pair(struct ed_sys *sys, const struct ed_sim_link *link, int ret_fds[2])
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_link checked = link ? *link : sim->link;
        struct ed_sim_socket *ends[2];
        int err;

        if (!ed_sim_link_check(&checked))
                return -EINVAL;
        if (sim->opts.sockets_max - sim->sockets_open < 2)
                return -EMFILE;
        err = ed_sim_socket_new(&checked, &ends[0]);
        if (err < 0)
                return err;
        err = ed_sim_socket_new(&checked, &ends[1]);
        if (err < 0) {
                ed_sim_socket_free(sim, ends[0]);
                return err;
        }
        ed_sim_connect_ends(ends[0], ends[1]);
        ends[1]->phase = ED_SIM_PHASE_CONNECTED;
        ends[1]->connect_returned = true;
        for (int i = 0; i < 2; i++) {
                ends[i]->local = loopback_of(port_take(sim));
                descriptor_give(sim, ends[i], descriptor_find(sim));
                ret_fds[i] = ends[i]->fd;
                ed_sim_mark(sim, ED_SIM_OPENED, (uint64_t) ret_fds[i], 1);
        }
        ends[0]->remote = ends[1]->local;
        ends[1]->remote = ends[0]->local;
        return 0;
}

int ed_sim_pipe(struct ed_sys *sys, int ret_fds[2])
{
        int err = ed_sim_pair(sys, NULL, ret_fds);

        for (int i = 0; i < 2 && err == 0; i++)
                ed_sim_of(sys)->sockets[ret_fds[i] - ED_SIM_FD_FIRST]->is_pipe = true;
        return err;
}

int ed_sim_connect_result(struct ed_sys *sys, int fd)
{
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(ed_sim_of(sys), sock, ED_SIM_CALL_CONNECT_RESULT);

        if (err < 0)
                return err;
        if (sock->error)
                return ed_sim_take_error(sock);
        return sock->phase == ED_SIM_PHASE_CONNECTED && !sock->dead ? 0 : -EINPROGRESS;
}

/* Returns true if a connection exists that both listeners would receive. */
static bool collide(const struct ed_sim_socket *sock, const struct eddy_endpoint *at,
                    const struct ed_listen_opts *opts)
{
        if (sock->reuse_port && opts->reuse_port)
                return false;
        return ed_sim_listens_at(&sock->local, sock->v6_only, at) ||
               ed_sim_listens_at(at, opts->v6_only, &sock->local);
}

static bool is_taken(const struct ed_sim *sim, const struct eddy_endpoint *at,
                     const struct ed_listen_opts *opts)
{
        if (at->kind == EDDY_ENDPOINT_IP && at->port == 0)
                return false;
        for (uint32_t i = 0; i < sim->opts.sockets_max; i++)
                if (sim->sockets[i] && sim->sockets[i]->phase == ED_SIM_PHASE_LISTENING &&
                    collide(sim->sockets[i], at, opts))
                        return true;
        return false;
}

int ed_sim_listen(struct ed_sys *sys, int fd, const struct eddy_endpoint *at,
                  const struct ed_listen_opts *opts, struct ed_socket_file *ret_file)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_LISTEN);

        if (err < 0)
                return err;
        if (sock->phase != ED_SIM_PHASE_FRESH || sock->dead)
                return -EINVAL;
        if (is_taken(sim, at, opts))
                return -EADDRINUSE;
        sock->local = *at;
        if (at->kind == EDDY_ENDPOINT_IP && at->port == 0)
                sock->local.port = port_take(sim);
        sock->backlog = opts->backlog && opts->backlog < sim->opts.backlog ? opts->backlog
                                                                           : sim->opts.backlog;
        sock->v6_only = opts->v6_only;
        sock->reuse_port = opts->reuse_port;
        sock->phase = ED_SIM_PHASE_LISTENING;
        *ret_file = (struct ed_socket_file){ 0 };
        return 0;
}

/* The path of a Unix socket ends with its listener. */
void ed_sim_socket_file_remove(struct ed_sys *sys, const struct eddy_endpoint *at,
                               const struct ed_socket_file *file)
{
        (void) sys;
        (void) at;
        (void) file;
}

int ed_sim_endpoint(struct ed_sys *sys, int fd, enum eddy_stream_end end,
                    struct eddy_endpoint *ret_endpoint)
{
        const struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);

        if (ed_sim_is_output(fd) || (sock && sock->is_pipe))
                return -ENOTSOCK;
        if (!sock)
                return -EBADF;
        if (end == EDDY_STREAM_PEER && (sock->phase != ED_SIM_PHASE_CONNECTED || sock->dead))
                return -ENOTCONN;
        *ret_endpoint = end == EDDY_STREAM_LOCAL ? sock->local : sock->remote;
        return 0;
}

int ed_sim_accept(struct ed_sys *sys, int fd)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd), *child;
        struct ed_list *link;
        int err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_ACCEPT), accepted;

        if (err < 0)
                return err;
        if (sock->phase != ED_SIM_PHASE_LISTENING)
                return -EINVAL;
        accepted = descriptor_find(sim);
        if (accepted < 0)
                return accepted;
        link = ed_list_pop_front(&sock->queue);
        if (!link)
                return -EAGAIN;
        child = ed_container_of(link, struct ed_sim_socket, queue);
        sock->waiting--;
        descriptor_give(sim, child, accepted);
        ed_sim_mark(sim, ED_SIM_ACCEPTED, (uint64_t) fd, (uint64_t) accepted);
        return accepted;
}

/* --- the end of sockets --- */

/*
 * Disconnect from the peer. The peer gets the end of the stream, or a reset if bytes it sent were
 * not read, at once or when they would arrive.
 */
static void leave(struct ed_sim *sim, struct ed_sim_socket *sock, bool abort)
{
        struct ed_sim_socket *peer = sock->peer;

        if (!peer)
                return;
        sock->peer = NULL;
        peer->peer = NULL;
        if (abort)
                ed_sim_drop_coming(peer);
        if (!abort && sock->arrived == 0)
                ed_sim_send_end(sim, peer);
        if (abort || sock->arrived > 0 || sock->coming > 0)
                ed_sim_send_reset(sim, peer);
}

/* Reset the connections that were not accepted. */
static void listener_empty(struct ed_sim *sim, struct ed_sim_socket *listener)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&listener->queue))) {
                struct ed_sim_socket *child = ed_container_of(link, struct ed_sim_socket, queue);

                leave(sim, child, true);
                ed_sim_socket_free(sim, child);
        }
        listener->waiting = 0;
}

static void end_socket(struct ed_sys *sys, int fd, bool abort)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);

        ed_assert(sock, "a descriptor was closed in a simulation that is not open");
        ed_sim_mark(sim, ED_SIM_CLOSED, (uint64_t) fd, abort);
        if (sock->phase == ED_SIM_PHASE_LISTENING)
                listener_empty(sim, sock);
        else
                leave(sim, sock, abort || sock->phase == ED_SIM_PHASE_CONNECTING);
        ed_sim_socket_free(sim, sock);
        ed_sim_net_deliver(sim);
}

void ed_sim_close(struct ed_sys *sys, int fd)
{
        if (ed_sim_is_file(fd))
                ed_sim_file_close(ed_sim_of(sys), fd);
        else
                end_socket(sys, fd, false);
}

void ed_sim_abort(struct ed_sys *sys, int fd)
{
        end_socket(sys, fd, true);
}
