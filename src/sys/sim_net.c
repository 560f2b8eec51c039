/*
 * sys/sim_net.c - sockets in memory.
 *
 * Each socket has a ring of the bytes sent to it, of which the first ones
 * have arrived and the rest are on their way; what else is on its way to it
 * (a connection request or its answer, an end, a reset) is a time.  So a
 * socket that was closed needs not live on: what it sent lies with its peer.
 *
 * What a program sees of each state, down to which error comes first and which
 * are told once, is what Linux shows; tests/unit/sys/test_sockets.c compares.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "sys/sim_table.h"

#define NEVER    INT64_MAX
#define RETRY_NS ((int64_t) 1000000000)

enum { SEGMENTS_MAX = 32, RETRIES_MAX = 6, PORT_FIRST = 32768, PORT_LAST = 60999 };

enum phase { FRESH, LISTENING, CONNECTING, CONNECTED };

/* Bytes that arrive together. */
struct segment {
        int64_t at_ns;
        size_t bytes;
};

struct ed_sim_socket {
        struct ed_list ready;  /* in the table's list */
        struct ed_list flying; /* likewise */
        struct ed_list queue;  /* a listener's: connections; else: in a listener's */
        struct ed_target *target;
        struct ed_sim_socket *peer; /* NULL: none, or it is gone */
        int fd;                     /* -1: not accepted yet */
        int error;                  /* to be told once, or 0 */
        uint8_t phase;              /* enum phase */
        bool dead;                  /* refused or reset */
        bool ended;                 /* the peer's end has arrived */
        bool shut;                  /* nothing more may be sent */
        bool wants_room;            /* tell it when there is room again */
        bool told;                  /* connect() has said that it is connected */
        uint32_t waiting;           /* connections in a listener's queue */
        uint16_t port;
        struct eddy_address address; /* a listener's own; of who connects: the other's */
        uint16_t remote_port;
        unsigned tries;
        int answer;
        int64_t request_ns, answer_ns, end_ns, reset_ns;
        int64_t last_ns; /* nothing may overtake what arrives then */
        uint64_t cut_left;
        struct segment segments[SEGMENTS_MAX];
        uint32_t segment_first, segment_count;
        size_t head, arrived, coming;
        unsigned char ring[];
};

/* --- the table of sockets --- */

static struct ed_sim_socket *socket_of(struct ed_sys *sys, int fd)
{
        struct ed_sim *sim = ed_sim_of(sys);

        if (fd < ED_SIM_FD_FIRST || (uint32_t) (fd - ED_SIM_FD_FIRST) >= sim->opts.sockets_max)
                return NULL;
        return sim->sockets[fd - ED_SIM_FD_FIRST];
}

/* Errors: -ENOMEM. */
static int socket_new(struct ed_sim *sim, struct ed_sim_socket **ret_sock)
{
        struct ed_sim_socket *sock = ed_alloc(sizeof(*sock) + sim->opts.buffer_bytes);

        if (!sock)
                return -ENOMEM;
        memset(sock, 0, sizeof(*sock));
        ed_list_init(&sock->ready);
        ed_list_init(&sock->flying);
        ed_list_init(&sock->queue);
        sock->fd = -1;
        sock->request_ns = sock->answer_ns = sock->end_ns = sock->reset_ns = NEVER;
        sock->cut_left = UINT64_MAX;
        *ret_sock = sock;
        return 0;
}

/* Its peer must not know it any more. */
static void socket_free(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        ed_list_remove(&sock->ready);
        ed_list_remove(&sock->flying);
        if (sock->fd >= 0) {
                uint32_t i = (uint32_t) (sock->fd - ED_SIM_FD_FIRST);

                sim->sockets[i] = NULL;
                sim->sockets_open--;
                if (i < sim->lowest_free)
                        sim->lowest_free = i;
        }
        ed_free(sock);
}

/* The lowest free descriptor.  Errors: -EMFILE. */
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
        return ed_sim_of((struct ed_sys *) sys)->sockets_open;
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
                if (sock->phase == LISTENING)
                        listener_empty(sim, sock);
                if (sock->peer)
                        sock->peer->peer = NULL;
                socket_free(sim, sock);
        }
        ed_free(sim->sockets);
}

/* --- readiness --- */

static size_t room_of(const struct ed_sim *sim, const struct ed_sim_socket *sock)
{
        return sim->opts.buffer_bytes - sock->arrived - sock->coming;
}

/* What its peer could take; nobody stops bytes that go nowhere. */
static size_t room_to_send(const struct ed_sim *sim, const struct ed_sim_socket *sock)
{
        return sock->peer ? room_of(sim, sock->peer) : sim->opts.buffer_bytes;
}

/* A third must be free: room for one byte is not worth waking for. */
static bool has_room(const struct ed_sim *sim, const struct ed_sim_socket *sock)
{
        return room_to_send(sim, sock) * 3 >= sim->opts.buffer_bytes;
}

static unsigned readiness(const struct ed_sim *sim, const struct ed_sim_socket *sock)
{
        unsigned events = 0;

        switch ((enum phase) sock->phase) {
        case FRESH:
                return ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END;
        case LISTENING:
                return sock->waiting > 0 ? ED_EVENT_READ : 0;
        case CONNECTING:
                return 0;
        case CONNECTED:
                break;
        }
        if (sock->dead)
                return ED_EVENT_READ | ED_EVENT_WRITE | ED_EVENT_END;
        if (sock->arrived > 0 || sock->ended)
                events |= ED_EVENT_READ;
        if (sock->ended)
                events |= ED_EVENT_END;
        if (sock->shut || has_room(sim, sock))
                events |= ED_EVENT_WRITE;
        return events;
}

/* Report its readiness at the next poll. */
static void notify(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        if (!sock->target || !ed_list_is_empty(&sock->ready))
                return;
        if (ed_sim_chance(sim, 2))
                ed_list_push_front(&sim->ready, &sock->ready);
        else
                ed_list_push_back(&sim->ready, &sock->ready);
}

int ed_sim_net_collect(struct ed_sim *sim, struct ed_event *events, int max)
{
        int n = 0;

        while (n < max && !ed_list_is_empty(&sim->ready)) {
                struct ed_list *link = ed_list_pop_front(&sim->ready);
                struct ed_sim_socket *sock = ed_container_of(link, struct ed_sim_socket, ready);
                unsigned mask = readiness(sim, sock);

                if (sock->phase == CONNECTED && !(mask & ED_EVENT_WRITE))
                        sock->wants_room = true;
                if (!mask)
                        continue;
                ed_sim_mark(sim, ED_SIM_EVENT, (uint64_t) sock->fd, mask);
                events[n].target = sock->target;
                events[n].events = mask;
                n++;
        }
        return n;
}

int ed_sim_watch(struct ed_sys *sys, int fd, struct ed_target *target)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = socket_of(sys, fd);
        int err = ed_sim_fault(sim);

        if (err < 0)
                return err;
        if (!sock)
                return -EBADF;
        if (sock->target)
                return -EEXIST;
        sock->target = target;
        if (readiness(sim, sock))
                notify(sim, sock);
        return 0;
}

void ed_sim_unwatch(struct ed_sys *sys, int fd)
{
        struct ed_sim_socket *sock = socket_of(sys, fd);

        if (!sock)
                return;
        sock->target = NULL;
        ed_list_remove(&sock->ready);
}

/* Of what is no socket both say yes, so that who asks finds out by trying. */
bool ed_sim_is_readable(struct ed_sys *sys, int fd)
{
        const struct ed_sim_socket *sock = socket_of(sys, fd);

        return !sock || (readiness(ed_sim_of(sys), sock) & ED_EVENT_READ);
}

bool ed_sim_is_writable(struct ed_sys *sys, int fd)
{
        const struct ed_sim_socket *sock = socket_of(sys, fd);

        return !sock || (readiness(ed_sim_of(sys), sock) & ED_EVENT_WRITE);
}

/* --- what is on its way --- */

static void fly(struct ed_sim *sim, struct ed_sim_socket *to)
{
        if (ed_list_is_empty(&to->flying))
                ed_list_push_back(&sim->flying, &to->flying);
}

/* When what leaves now reaches 'to': not before what left earlier. */
static int64_t arrival_at(struct ed_sim *sim, struct ed_sim_socket *to)
{
        int64_t at_ns = sim->now_ns + sim->opts.latency_ns;

        if (sim->opts.jitter_ns > 0)
                at_ns += (int64_t) ed_sim_chance(sim, (uint64_t) sim->opts.jitter_ns + 1);
        if (at_ns < to->last_ns)
                at_ns = to->last_ns;
        to->last_ns = at_ns;
        fly(sim, to);
        return at_ns;
}

static void send_end(struct ed_sim *sim, struct ed_sim_socket *to)
{
        if (to->end_ns == NEVER && !to->ended)
                to->end_ns = arrival_at(sim, to);
}

static void send_reset(struct ed_sim *sim, struct ed_sim_socket *to)
{
        if (to->reset_ns == NEVER && !to->dead)
                to->reset_ns = arrival_at(sim, to);
}

static struct segment *segment_at(struct ed_sim_socket *sock, uint32_t i)
{
        return &sock->segments[(sock->segment_first + i) % SEGMENTS_MAX];
}

/* 'bytes' more of the ring are coming; the last of many segments takes up the rest. */
static void send_segment(struct ed_sim *sim, struct ed_sim_socket *to, size_t bytes)
{
        int64_t at_ns = arrival_at(sim, to);
        struct segment *last = to->segment_count ? segment_at(to, to->segment_count - 1) : NULL;

        to->coming += bytes;
        if (last && (to->segment_count == SEGMENTS_MAX || last->at_ns == at_ns)) {
                last->at_ns = at_ns;
                last->bytes += bytes;
                return;
        }
        *segment_at(to, to->segment_count++) = (struct segment){ at_ns, bytes };
}

static int64_t socket_next(struct ed_sim_socket *sock)
{
        int64_t next_ns = sock->segment_count ? segment_at(sock, 0)->at_ns : NEVER;

        if (sock->request_ns < next_ns)
                next_ns = sock->request_ns;
        if (sock->answer_ns < next_ns)
                next_ns = sock->answer_ns;
        if (sock->end_ns < next_ns)
                next_ns = sock->end_ns;
        if (sock->reset_ns < next_ns)
                next_ns = sock->reset_ns;
        return next_ns;
}

/* The socket that something reaches first, and when. */
static struct ed_sim_socket *flying_first(const struct ed_sim *sim, int64_t *ret_at_ns)
{
        struct ed_sim_socket *first = NULL;

        *ret_at_ns = NEVER;
        ed_list_each (link, &sim->flying) {
                struct ed_sim_socket *sock = ed_container_of(link, struct ed_sim_socket, flying);
                int64_t at_ns = socket_next(sock);

                if (at_ns < *ret_at_ns) {
                        first = sock;
                        *ret_at_ns = at_ns;
                }
        }
        return first;
}

int64_t ed_sim_net_next(const struct ed_sim *sim)
{
        int64_t at_ns;

        return flying_first(sim, &at_ns) ? at_ns : -1;
}

/* --- arrivals --- */

static bool is_same(const struct eddy_address *a, const struct eddy_address *b)
{
        return a->family == b->family &&
               memcmp(a->bytes, b->bytes, a->family == AF_INET ? 4 : 16) == 0;
}

static bool is_any(const struct eddy_address *address)
{
        static const uint8_t zero[16];

        return memcmp(address->bytes, zero, address->family == AF_INET ? 4 : 16) == 0;
}

/* Whether who listens at 'own' hears what is sent to 'to'; "::" hears IPv4 too. */
static bool listens_at(const struct eddy_address *own, const struct eddy_address *to)
{
        if (is_any(own))
                return own->family == to->family || own->family == AF_INET6;
        return is_same(own, to);
}

static struct ed_sim_socket *listener_find(const struct ed_sim *sim, const struct eddy_address *to,
                                           uint16_t port)
{
        for (uint32_t i = 0; i < sim->opts.sockets_max; i++) {
                struct ed_sim_socket *sock = sim->sockets[i];

                if (sock && sock->phase == LISTENING && sock->port == port &&
                    listens_at(&sock->address, to))
                        return sock;
        }
        return NULL;
}

static bool is_dead(const struct ed_sim *sim, const struct eddy_address *address)
{
        for (size_t i = 0; i < sim->dead_count; i++)
                if (is_same(&sim->dead[i], address))
                        return true;
        return false;
}

/* Nobody answered: ask again after 1, 2, 4 ... seconds. */
static void request_retry(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        int64_t wait_ns = RETRY_NS << sock->tries;

        if (sock->tries++ == RETRIES_MAX) {
                sock->answer = -ETIMEDOUT;
                sock->answer_ns = sim->now_ns + wait_ns;
        } else {
                sock->request_ns = sim->now_ns + wait_ns;
        }
        fly(sim, sock);
}

static void request_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        struct ed_sim_socket *listener = listener_find(sim, &sock->address, sock->remote_port);
        struct ed_sim_socket *child;

        sock->request_ns = NEVER;
        if (is_dead(sim, &sock->address)) {
                request_retry(sim, sock);
                return;
        }
        if (!listener) {
                sock->answer = -ECONNREFUSED;
                sock->answer_ns = arrival_at(sim, sock);
                return;
        }
        if (listener->waiting >= sim->opts.backlog || socket_new(sim, &child) < 0) {
                request_retry(sim, sock);
                return;
        }
        child->phase = CONNECTED;
        child->told = true;
        child->port = listener->port;
        child->peer = sock;
        sock->peer = child;
        if (sim->cut.how != ED_SIM_CUT_NONE)
                (sim->cut.by_server ? child : sock)->cut_left = sim->cut.bytes;
        sock->answer = 0;
        sock->answer_ns = arrival_at(sim, sock);
        ed_list_push_back(&listener->queue, &child->queue);
        listener->waiting++;
        notify(sim, listener);
}

static void answer_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        sock->answer_ns = NEVER;
        if (sock->answer == 0) {
                sock->phase = CONNECTED;
        } else {
                sock->phase = FRESH;
                sock->dead = true;
                sock->error = sock->answer;
        }
        notify(sim, sock);
}

static void segment_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        size_t bytes = segment_at(sock, 0)->bytes;

        sock->segment_first = (sock->segment_first + 1) % SEGMENTS_MAX;
        sock->segment_count--;
        sock->coming -= bytes;
        sock->arrived += bytes;
        notify(sim, sock);
}

static void end_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        sock->end_ns = NEVER;
        sock->ended = true;
        notify(sim, sock);
}

/* Forget what has not arrived. */
static void drop_coming(struct ed_sim_socket *sock)
{
        sock->segment_count = 0;
        sock->coming = 0;
        sock->end_ns = NEVER;
}

static void reset_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        sock->reset_ns = NEVER;
        sock->dead = true;
        sock->shut = true;
        sock->error = sock->ended ? -EPIPE : -ECONNRESET;
        if (sock->peer) {
                sock->peer->peer = NULL;
                sock->peer = NULL;
        }
        drop_coming(sock);
        notify(sim, sock);
}

void ed_sim_net_deliver(struct ed_sim *sim)
{
        struct ed_sim_socket *sock;
        int64_t at_ns;

        while ((sock = flying_first(sim, &at_ns)) && at_ns <= sim->now_ns) {
                if (sock->request_ns == at_ns)
                        request_arrives(sim, sock);
                else if (sock->answer_ns == at_ns)
                        answer_arrives(sim, sock);
                else if (sock->segment_count && segment_at(sock, 0)->at_ns == at_ns)
                        segment_arrives(sim, sock);
                else if (sock->end_ns == at_ns)
                        end_arrives(sim, sock);
                else
                        reset_arrives(sim, sock);
                if (socket_next(sock) == NEVER)
                        ed_list_remove(&sock->flying);
        }
}

/* --- making sockets --- */

int ed_sim_socket(struct ed_sys *sys, int family, int kind)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock;
        int err = ed_sim_fault(sim), fd;

        (void) kind;
        if (err < 0)
                return err;
        if (family != AF_INET && family != AF_INET6)
                return -EAFNOSUPPORT;
        fd = descriptor_find(sim);
        if (fd < 0)
                return fd;
        err = socket_new(sim, &sock);
        if (err < 0)
                return err;
        descriptor_give(sim, sock, fd);
        ed_sim_mark(sim, ED_SIM_OPENED, (uint64_t) fd, 0);
        return fd;
}

/* A port that nobody listens on. */
static uint16_t port_take(struct ed_sim *sim)
{
        bool taken = true;

        while (taken) {
                sim->next_port =
                        sim->next_port == PORT_LAST ? PORT_FIRST : (uint16_t) (sim->next_port + 1);
                taken = false;
                for (uint32_t i = 0; i < sim->opts.sockets_max && !taken; i++)
                        taken = sim->sockets[i] && sim->sockets[i]->phase == LISTENING &&
                                sim->sockets[i]->port == sim->next_port;
        }
        return sim->next_port;
}

int ed_sim_connect(struct ed_sys *sys, int fd, const struct eddy_address *address, uint16_t port)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = socket_of(sys, fd);
        int err = ed_sim_fault(sim);

        if (err < 0)
                return err;
        if (!sock)
                return -EBADF;
        if (sock->phase == CONNECTING)
                return -EALREADY;
        if (sock->phase == CONNECTED && !sock->told) {
                sock->told = true;
                return 0;
        }
        if (sock->phase != FRESH)
                return -EISCONN;
        if (sock->dead)
                return -ECONNABORTED;
        sock->phase = CONNECTING;
        sock->address = *address;
        sock->remote_port = port;
        sock->port = port_take(sim);
        sock->request_ns = arrival_at(sim, sock);
        ed_sim_mark(sim, ED_SIM_CONNECTED, (uint64_t) fd, port);
        ed_sim_net_deliver(sim);
        return -EINPROGRESS;
}

/* An error is told once. */
static int take_error(struct ed_sim_socket *sock)
{
        int err = sock->error;

        sock->error = 0;
        return err;
}

int ed_sim_connect_result(struct ed_sys *sys, int fd)
{
        struct ed_sim_socket *sock = socket_of(sys, fd);

        if (!sock)
                return -EBADF;
        if (sock->error)
                return take_error(sock);
        return sock->phase == CONNECTED && !sock->dead ? 0 : -EINPROGRESS;
}

/* Whether two who listen on one port would both hear something. */
static bool collide(const struct eddy_address *a, const struct eddy_address *b)
{
        return listens_at(a, b) || listens_at(b, a);
}

int ed_sim_listen(struct ed_sys *sys, int fd, const struct eddy_address *address, uint16_t port)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = socket_of(sys, fd);
        int err = ed_sim_fault(sim);

        if (err < 0)
                return err;
        if (!sock)
                return -EBADF;
        if (sock->phase != FRESH || sock->dead)
                return -EINVAL;
        for (uint32_t i = 0; port && i < sim->opts.sockets_max; i++)
                if (sim->sockets[i] && sim->sockets[i]->phase == LISTENING &&
                    sim->sockets[i]->port == port && collide(&sim->sockets[i]->address, address))
                        return -EADDRINUSE;
        sock->port = port ? port : port_take(sim);
        sock->address = *address;
        sock->phase = LISTENING;
        return 0;
}

int ed_sim_local_port(struct ed_sys *sys, int fd)
{
        const struct ed_sim_socket *sock = socket_of(sys, fd);

        return sock ? sock->port : -EBADF;
}

int ed_sim_accept(struct ed_sys *sys, int fd)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = socket_of(sys, fd), *child;
        struct ed_list *link;
        int err = ed_sim_fault(sim), accepted;

        if (err < 0)
                return err;
        if (!sock)
                return -EBADF;
        if (sock->phase != LISTENING)
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

/* --- moving bytes --- */

static size_t least(size_t a, size_t b)
{
        return a < b ? a : b;
}

/*
 * A random part of what could be moved.  The rest counts as what came (or got
 * room) the moment after, for which there is an edge: a transfer that is short
 * for no reason would break the rule that short means drained.
 */
static size_t chopped(struct ed_sim *sim, struct ed_sim_socket *sock, size_t bytes)
{
        size_t n;

        if (!sim->opts.chop || !sim->opts.seed || bytes < 2 || ed_sim_chance(sim, 4) == 0)
                return bytes;
        n = 1 + (size_t) ed_sim_chance(sim, bytes);
        if (n < bytes)
                notify(sim, sock);
        return n;
}

static void ring_take(const struct ed_sim *sim, struct ed_sim_socket *sock, void *buf, size_t bytes)
{
        size_t ring = sim->opts.buffer_bytes, first = least(bytes, ring - sock->head);

        memcpy(buf, sock->ring + sock->head, first);
        memcpy((char *) buf + first, sock->ring, bytes - first);
        sock->head = (sock->head + bytes) % ring;
        sock->arrived -= bytes;
}

int64_t ed_sim_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = socket_of(sys, fd);
        int err = ed_sim_fault(sim);

        if (err < 0)
                return err;
        if (!sock)
                return -EBADF;
        if (sys->transfer_max)
                bytes = least(bytes, sys->transfer_max);
        if (sock->arrived > 0 && bytes > 0) {
                bytes = chopped(sim, sock, least(bytes, sock->arrived));
                ring_take(sim, sock, buf, bytes);
                if (sock->peer && sock->peer->wants_room && has_room(sim, sock->peer)) {
                        sock->peer->wants_room = false;
                        notify(sim, sock->peer);
                }
                sim->moved += bytes;
                ed_sim_mark(sim, ED_SIM_RECEIVED, (uint64_t) fd, bytes);
                return (int64_t) bytes;
        }
        if (bytes == 0 || sock->ended)
                return 0;
        if (sock->error)
                return take_error(sock);
        if (sock->dead)
                return 0;
        return sock->phase == FRESH || sock->phase == LISTENING ? -ENOTCONN : -EAGAIN;
}

static void ring_put(struct ed_sim *sim, struct ed_sim_socket *to, const void *data, size_t bytes)
{
        size_t ring = sim->opts.buffer_bytes;
        size_t at = (to->head + to->arrived + to->coming) % ring;
        size_t first = least(bytes, ring - at);

        memcpy(to->ring + at, data, first);
        memcpy(to->ring, (const char *) data + first, bytes - first);
        send_segment(sim, to, bytes);
}

/* The connection fails on its way, after what was sent. */
static void cut(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        struct ed_sim_socket *peer = sock->peer;

        ed_sim_mark(sim, ED_SIM_CUT_OFF, (uint64_t) sock->fd, 0);
        sock->cut_left = UINT64_MAX;
        if (!peer)
                return;
        if (sim->cut.how == ED_SIM_CUT_END)
                send_end(sim, peer);
        else
                send_reset(sim, peer);
        peer->peer = NULL;
        sock->peer = NULL;
        send_reset(sim, sock);
        ed_sim_net_deliver(sim);
}

/* Whether something may be sent: 0, or the error. */
static int check_send(struct ed_sim_socket *sock)
{
        if (sock->phase == CONNECTING)
                return -EAGAIN;
        if (sock->error)
                return take_error(sock);
        return sock->phase != CONNECTED || sock->shut ? -EPIPE : 0;
}

/* How many of 'bytes' go now, above 0, or -EAGAIN. */
static int64_t bytes_to_send(struct ed_sim *sim, struct ed_sim_socket *sock, size_t bytes)
{
        size_t room = room_to_send(sim, sock);

        if (room < bytes)
                sock->wants_room = true;
        if (room == 0)
                return -EAGAIN;
        bytes = chopped(sim, sock, least(bytes, room));
        return (int64_t) (bytes < sock->cut_left ? bytes : sock->cut_left);
}

static void send_pieces(struct ed_sim *sim, struct ed_sim_socket *sock,
                        const struct eddy_slice *slices, size_t bytes)
{
        if (!sock->peer) {
                /* Nobody is there: the bytes are lost, and an answer says so. */
                if (sock->reset_ns == NEVER && !sock->dead)
                        sock->reset_ns = arrival_at(sim, sock) + sim->opts.latency_ns;
        } else {
                for (size_t left = bytes, n; left > 0; left -= n, slices++) {
                        n = least(left, slices->bytes);
                        if (n > 0)
                                ring_put(sim, sock->peer, slices->data, n);
                }
        }
        ed_sim_net_deliver(sim);
}

int64_t ed_sim_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = socket_of(sys, fd);
        size_t bytes = 0;
        int64_t sent;
        int err = ed_sim_fault(sim);

        if (err < 0)
                return err;
        if (!sock)
                return -EBADF;
        if (sock->cut_left == 0)
                cut(sim, sock);
        err = check_send(sock);
        if (err < 0)
                return err;
        for (size_t i = 0; i < n; i++)
                bytes += slices[i].bytes;
        if (sys->transfer_max)
                bytes = least(slices[0].bytes, sys->transfer_max);
        if (bytes == 0)
                return 0;
        sent = bytes_to_send(sim, sock, bytes);
        if (sent < 0)
                return sent;
        ed_sim_mark(sim, ED_SIM_SENT, (uint64_t) fd, (uint64_t) sent);
        send_pieces(sim, sock, slices, (size_t) sent);
        if (sock->cut_left != UINT64_MAX) {
                sock->cut_left -= (uint64_t) sent;
                if (sock->cut_left == 0)
                        cut(sim, sock);
        }
        return sent;
}

int64_t ed_sim_write(struct ed_sys *sys, int fd, const void *data, size_t bytes)
{
        struct eddy_slice slice = { data, bytes };

        return ed_sim_send(sys, fd, &slice, 1);
}

/* --- the end of sockets --- */

int ed_sim_shutdown(struct ed_sys *sys, int fd)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = socket_of(sys, fd);
        int err = ed_sim_fault(sim);

        if (err < 0)
                return err;
        if (!sock)
                return -EBADF;
        if (sock->phase != CONNECTED || sock->dead)
                return -ENOTCONN;
        if (sock->shut)
                return 0;
        sock->shut = true;
        ed_sim_mark(sim, ED_SIM_SHUT, (uint64_t) fd, 0);
        if (sock->peer)
                send_end(sim, sock->peer);
        /* Nothing can fail to be written now. */
        notify(sim, sock);
        ed_sim_net_deliver(sim);
        return 0;
}

/*
 * Leave the peer.  It is told of the end, or of a reset if bytes that it sent
 * were never read, now or when they would arrive.
 */
static void leave(struct ed_sim *sim, struct ed_sim_socket *sock, bool abort)
{
        struct ed_sim_socket *peer = sock->peer;

        if (!peer)
                return;
        sock->peer = NULL;
        peer->peer = NULL;
        if (abort)
                drop_coming(peer);
        if (!abort && sock->arrived == 0)
                send_end(sim, peer);
        if (abort || sock->arrived > 0 || sock->coming > 0)
                send_reset(sim, peer);
}

/* Nobody will accept them. */
static void listener_empty(struct ed_sim *sim, struct ed_sim_socket *listener)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&listener->queue))) {
                struct ed_sim_socket *child = ed_container_of(link, struct ed_sim_socket, queue);

                leave(sim, child, true);
                socket_free(sim, child);
        }
        listener->waiting = 0;
}

static void end_socket(struct ed_sys *sys, int fd, bool abort)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = socket_of(sys, fd);

        ed_assert(sock, "a descriptor was closed in a simulation that is not open");
        ed_sim_mark(sim, ED_SIM_CLOSED, (uint64_t) fd, abort);
        if (sock->phase == LISTENING)
                listener_empty(sim, sock);
        else
                leave(sim, sock, abort || sock->phase == CONNECTING);
        socket_free(sim, sock);
        ed_sim_net_deliver(sim);
}

void ed_sim_close(struct ed_sys *sys, int fd)
{
        end_socket(sys, fd, false);
}

void ed_sim_abort(struct ed_sys *sys, int fd)
{
        end_socket(sys, fd, true);
}
