/*
 * sim/delay.c - data in transit between sockets in memory, and its arrival.
 *
 * Each socket has a ring of the bytes sent to it. The first bytes have arrived and the rest are in
 * transit. Other things in transit to the socket (a connection request or its answer, an end, a
 * reset) are arrival times. A closed socket can therefore be freed: everything it sent is stored in
 * its peer.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "sim/socket.h"

#define RETRY_NS ((int64_t) 1000000000)

enum { RETRIES_MAX = 6 };

/* --- in transit --- */

static void fly(struct ed_sim *sim, struct ed_sim_socket *to)
{
        if (ed_list_is_empty(&to->flying))
                ed_list_push_back(&sim->flying, &to->flying);
}

int64_t ed_sim_arrival_at(struct ed_sim *sim, struct ed_sim_socket *to)
{
        int64_t at_ns = sim->now_ns + to->link.latency_ns;

        if (to->link.jitter_ns > 0)
                at_ns += (int64_t) ed_sim_chance(sim, (uint64_t) to->link.jitter_ns + 1);
        if (at_ns < to->last_ns)
                at_ns = to->last_ns;
        to->last_ns = at_ns;
        fly(sim, to);
        return at_ns;
}

void ed_sim_stall(struct ed_sim *sim, struct ed_sim_socket *to, int64_t stall_ns)
{
        int64_t from_ns = to->last_ns > sim->now_ns ? to->last_ns : sim->now_ns;

        to->last_ns = from_ns + stall_ns;
}

void ed_sim_send_end(struct ed_sim *sim, struct ed_sim_socket *to)
{
        if (to->end_ns == ED_SIM_NEVER && !to->ended)
                to->end_ns = ed_sim_arrival_at(sim, to);
}

void ed_sim_send_reset(struct ed_sim *sim, struct ed_sim_socket *to)
{
        if (to->reset_ns == ED_SIM_NEVER && !to->dead)
                to->reset_ns = ed_sim_arrival_at(sim, to);
}

static struct ed_sim_segment *segment_at(struct ed_sim_socket *sock, uint32_t i)
{
        return &sock->segments[(sock->segment_first + i) % ED_SIM_SEGMENTS_MAX];
}

/* Join the two segments that arrive closest together; both arrive at the later time. */
static void join_segments(struct ed_sim_socket *sock)
{
        uint32_t at = 0;
        int64_t least_ns = ED_SIM_NEVER;

        for (uint32_t i = 0; i + 1 < sock->segment_count; i++) {
                int64_t gap_ns = segment_at(sock, i + 1)->at_ns - segment_at(sock, i)->at_ns;

                if (gap_ns <= least_ns) {
                        least_ns = gap_ns;
                        at = i;
                }
        }
        segment_at(sock, at + 1)->bytes += segment_at(sock, at)->bytes;
        for (uint32_t i = at; i > 0; i--)
                *segment_at(sock, i) = *segment_at(sock, i - 1);
        sock->segment_first = (sock->segment_first + 1) % ED_SIM_SEGMENTS_MAX;
        sock->segment_count--;
}

void ed_sim_send_segment(struct ed_sim *sim, struct ed_sim_socket *to, size_t bytes)
{
        int64_t at_ns = ed_sim_arrival_at(sim, to);
        struct ed_sim_segment *last =
                to->segment_count ? segment_at(to, to->segment_count - 1) : NULL;

        to->coming += bytes;
        if (last && last->at_ns == at_ns) {
                last->bytes += bytes;
                return;
        }
        if (to->segment_count == ED_SIM_SEGMENTS_MAX)
                join_segments(to);
        *segment_at(to, to->segment_count++) = (struct ed_sim_segment){ at_ns, bytes };
}

static int64_t socket_next(struct ed_sim_socket *sock)
{
        int64_t next_ns = sock->segment_count ? segment_at(sock, 0)->at_ns : ED_SIM_NEVER;

        if (sock->request_ns < next_ns)
                next_ns = sock->request_ns;
        if (sock->answer_ns < next_ns)
                next_ns = sock->answer_ns;
        if (sock->end_ns < next_ns)
                next_ns = sock->end_ns;
        if (sock->reset_ns < next_ns)
                next_ns = sock->reset_ns;
        if (sock->is_datagram)
                next_ns = ed_sim_datagram_next(sock);
        return next_ns;
}

/* Returns the socket with the next arrival, and the time of that arrival. */
static struct ed_sim_socket *flying_first(const struct ed_sim *sim, int64_t *ret_at_ns)
{
        struct ed_sim_socket *first = NULL;

        *ret_at_ns = ED_SIM_NEVER;
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

bool ed_sim_is_any(const struct eddy_address *address)
{
        static const uint8_t zero[16];

        return memcmp(address->bytes, zero, address->family == AF_INET ? 4 : 16) == 0;
}

static bool is_same_path(const struct eddy_endpoint *a, const struct eddy_endpoint *b)
{
        return a->kind == EDDY_ENDPOINT_UNIX && b->kind == EDDY_ENDPOINT_UNIX &&
               a->path_bytes == b->path_bytes && memcmp(a->path, b->path, a->path_bytes) == 0;
}

bool ed_sim_listens_at(const struct eddy_endpoint *own, bool v6_only,
                       const struct eddy_endpoint *to)
{
        const struct eddy_address *address = &own->address;

        if (own->kind != EDDY_ENDPOINT_IP || to->kind != EDDY_ENDPOINT_IP)
                return is_same_path(own, to);
        if (own->port != to->port)
                return false;
        if (ed_sim_is_any(address))
                return address->family == to->address.family ||
                       (address->family == AF_INET6 && !v6_only);
        return is_same(address, &to->address);
}

struct ed_sim_socket *ed_sim_listener_find(const struct ed_sim *sim, const struct eddy_endpoint *to)
{
        for (uint32_t i = 0; i < sim->opts.sockets_max; i++) {
                struct ed_sim_socket *sock = sim->sockets[i];

                if (sock && sock->phase == ED_SIM_PHASE_LISTENING &&
                    ed_sim_listens_at(&sock->local, sock->v6_only, to))
                        return sock;
        }
        return NULL;
}

bool ed_sim_is_dead(const struct ed_sim *sim, const struct eddy_address *address)
{
        for (size_t i = 0; i < sim->dead_count; i++)
                if (is_same(&sim->dead[i], address))
                        return true;
        return false;
}

/* No answer: retry after 1, 2, 4 ... seconds. */
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

int ed_sim_child_new(const struct ed_sim_socket *listener, struct ed_sim_socket *sock,
                     struct ed_sim_socket **ret_child)
{
        struct ed_sim_socket *child;
        int err;

        if (listener->waiting >= listener->backlog)
                return -EAGAIN;
        err = ed_sim_socket_new(&sock->link, &child);
        if (err < 0)
                return err;
        ed_sim_connect_ends(child, sock);
        child->local = sock->remote;
        child->remote = sock->local;
        *ret_child = child;
        return 0;
}

void ed_sim_child_line_up(struct ed_sim *sim, struct ed_sim_socket *listener,
                          struct ed_sim_socket *child)
{
        ed_sim_line_up(sim, &listener->queue, &child->queue, child->link.reorder);
        listener->waiting++;
        ed_sim_notify(sim, listener);
}

static void request_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        struct ed_sim_socket *listener = ed_sim_listener_find(sim, &sock->remote), *child;

        sock->request_ns = ED_SIM_NEVER;
        if (ed_sim_is_dead(sim, &sock->remote.address)) {
                request_retry(sim, sock);
                return;
        }
        if (!listener) {
                sock->answer = -ECONNREFUSED;
                sock->answer_ns = ed_sim_arrival_at(sim, sock);
                return;
        }
        if (ed_sim_child_new(listener, sock, &child) < 0) {
                request_retry(sim, sock);
                return;
        }
        sock->answer = 0;
        sock->answer_ns = ed_sim_arrival_at(sim, sock);
        ed_sim_child_line_up(sim, listener, child);
}

static void answer_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        sock->answer_ns = ED_SIM_NEVER;
        if (sock->answer == 0) {
                sock->phase = ED_SIM_PHASE_CONNECTED;
        } else {
                sock->phase = ED_SIM_PHASE_FRESH;
                sock->dead = true;
                sock->error = sock->answer;
        }
        ed_sim_notify(sim, sock);
}

static void segment_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        size_t bytes = segment_at(sock, 0)->bytes;

        sock->segment_first = (sock->segment_first + 1) % ED_SIM_SEGMENTS_MAX;
        sock->segment_count--;
        sock->coming -= bytes;
        sock->arrived += bytes;
        ed_sim_notify(sim, sock);
}

static void end_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        sock->end_ns = ED_SIM_NEVER;
        sock->ended = true;
        ed_sim_notify(sim, sock);
}

void ed_sim_drop_coming(struct ed_sim_socket *sock)
{
        sock->segment_count = 0;
        sock->coming = 0;
        sock->end_ns = ED_SIM_NEVER;
}

static void reset_arrives(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        sock->reset_ns = ED_SIM_NEVER;
        sock->dead = true;
        sock->shut = true;
        sock->error = sock->ended ? -EPIPE : -ECONNRESET;
        if (sock->peer) {
                sock->peer->peer = NULL;
                sock->peer = NULL;
        }
        ed_sim_drop_coming(sock);
        ed_sim_notify(sim, sock);
}

void ed_sim_net_deliver(struct ed_sim *sim)
{
        struct ed_sim_socket *sock;
        int64_t at_ns;

        while ((sock = flying_first(sim, &at_ns)) && at_ns <= sim->now_ns) {
                if (sock->is_datagram)
                        ed_sim_datagram_arrives(sim, sock);
                else if (sock->request_ns == at_ns)
                        request_arrives(sim, sock);
                else if (sock->answer_ns == at_ns)
                        answer_arrives(sim, sock);
                else if (sock->segment_count && segment_at(sock, 0)->at_ns == at_ns)
                        segment_arrives(sim, sock);
                else if (sock->end_ns == at_ns)
                        end_arrives(sim, sock);
                else
                        reset_arrives(sim, sock);
                if (socket_next(sock) == ED_SIM_NEVER)
                        ed_list_remove(&sock->flying);
        }
}
