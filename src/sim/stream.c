/*
 * sim/stream.c - bytes between sockets in memory: sent, received, cut.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "sim/socket.h"
#include "sys/output.h"

enum { FILE_BYTES = 1024 }; /* of a file that a call sends at most */

static size_t least(size_t a, size_t b)
{
        return a < b ? a : b;
}

/*
 * Returns a random part of 'bytes'. The rest counts as arrived (or as freed room) a moment later
 * and gets an event, because a short transfer without one would mean that the socket is drained.
 */
static size_t chopped(struct ed_sim *sim, struct ed_sim_socket *sock, size_t bytes)
{
        size_t n = bytes;

        if (bytes < 2)
                return bytes;
        if (sim->shorten)
                n = 1 + (size_t) ed_sim_chance(sim, bytes - 1);
        else if (sock->link.chop && sim->opts.seed && ed_sim_chance(sim, 4) != 0)
                n = 1 + (size_t) ed_sim_chance(sim, bytes);
        if (n < bytes)
                ed_sim_notify(sim, sock);
        return n;
}

/*
 * Returns the bytes that a receive takes. With urgent data a receive stops at a mark, and no event
 * follows for the bytes after the mark.
 */
static size_t received(struct ed_sim *sim, struct ed_sim_socket *sock, size_t bytes)
{
        if (sock->link.urgent && sim->opts.seed && !sim->shorten && ed_sim_chance(sim, 2) != 0)
                return 1 + (size_t) ed_sim_chance(sim, bytes);
        return chopped(sim, sock, bytes);
}

static void ring_take(struct ed_sim_socket *sock, void *buf, size_t bytes)
{
        size_t ring = sock->link.buffer_bytes, first = least(bytes, ring - sock->head);

        memcpy(buf, sock->ring + sock->head, first);
        memcpy((char *) buf + first, sock->ring, bytes - first);
        sock->head = (sock->head + bytes) % ring;
        sock->arrived -= bytes;
}

static int64_t receive(struct ed_sys *sys, int fd, void *buf, size_t bytes, enum ed_sim_call call)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(sim, sock, call);

        if (err < 0)
                return err;
        if (sys->transfer_max)
                bytes = least(bytes, sys->transfer_max);
        if (sock->arrived > 0 && bytes > 0) {
                bytes = received(sim, sock, least(bytes, sock->arrived));
                ring_take(sock, buf, bytes);
                if (sock->peer && sock->peer->wants_room && ed_sim_has_room(sock->peer)) {
                        sock->peer->wants_room = false;
                        ed_sim_notify(sim, sock->peer);
                }
                sim->moved += bytes;
                ed_sim_mark(sim, ED_SIM_RECEIVED, (uint64_t) fd, bytes);
                return (int64_t) bytes;
        }
        if (bytes == 0 || sock->ended)
                return 0;
        if (sock->error)
                return ed_sim_take_error(sock);
        if (sock->dead)
                return 0;
        return sock->phase == ED_SIM_PHASE_FRESH || sock->phase == ED_SIM_PHASE_LISTENING
                       ? -ENOTCONN
                       : -EAGAIN;
}

int64_t ed_sim_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        return receive(sys, fd, buf, bytes, ED_SIM_CALL_RECV);
}

int64_t ed_sim_read(struct ed_sys *sys, int fd, void *buf, size_t bytes)
{
        return receive(sys, fd, buf, bytes, ED_SIM_CALL_READ);
}

static void ring_put(struct ed_sim *sim, struct ed_sim_socket *to, const void *data, size_t bytes)
{
        size_t ring = to->link.buffer_bytes;
        size_t at = (to->head + to->arrived + to->coming) % ring;
        size_t first = least(bytes, ring - at);

        memcpy(to->ring + at, data, first);
        memcpy(to->ring, (const char *) data + first, bytes - first);
        ed_sim_send_segment(sim, to, bytes);
}

/* Break the connection after the bytes sent. */
static void cut(struct ed_sim *sim, struct ed_sim_socket *sock)
{
        struct ed_sim_socket *peer = sock->peer;

        ed_sim_mark(sim, ED_SIM_CUT_OFF, (uint64_t) sock->fd, 0);
        sock->cut_left = UINT64_MAX;
        if (!peer)
                return;
        if (sock->link.cut == ED_SIM_CUT_END)
                ed_sim_send_end(sim, peer);
        else
                ed_sim_send_reset(sim, peer);
        peer->peer = NULL;
        sock->peer = NULL;
        ed_sim_send_reset(sim, sock);
        ed_sim_net_deliver(sim);
}

/* Returns 0 if sending is possible, else the error. */
static int check_send(struct ed_sim_socket *sock)
{
        if (sock->phase == ED_SIM_PHASE_CONNECTING)
                return -EAGAIN;
        if (sock->error)
                return ed_sim_take_error(sock);
        return sock->phase != ED_SIM_PHASE_CONNECTED || sock->shut ? -EPIPE : 0;
}

/* Returns how many of 'bytes' can be sent now, above 0, or -EAGAIN. */
static int64_t bytes_to_send(struct ed_sim *sim, struct ed_sim_socket *sock, size_t bytes)
{
        size_t room = ed_sim_room_to_send(sock);

        if (room < bytes)
                sock->wants_room = true;
        if (room == 0)
                return -EAGAIN;
        bytes = chopped(sim, sock, least(bytes, room));
        return (int64_t) (bytes < sock->cut_left ? bytes : sock->cut_left);
}

/*
 * Send the bytes before the stall at once, and delay the rest if the stall begins within 'bytes'.
 */
static void put(struct ed_sim *sim, struct ed_sim_socket *sock, const char *data, size_t bytes)
{
        struct ed_sim_socket *peer = sock->peer;
        size_t before = sock->stall_left < bytes ? (size_t) sock->stall_left : bytes;

        if (before > 0)
                ring_put(sim, peer, data, before);
        if (sock->stall_left == UINT64_MAX)
                return;
        sock->stall_left -= before;
        if (sock->stall_left > 0)
                return;
        sock->stall_left = UINT64_MAX;
        ed_sim_stall(sim, peer, sock->link.stall_ns);
        if (bytes > before)
                ring_put(sim, peer, data + before, bytes - before);
}

static void send_pieces(struct ed_sim *sim, struct ed_sim_socket *sock,
                        const struct eddy_slice *slices, size_t bytes)
{
        if (!sock->peer) {
                /* There is no peer: drop the bytes and answer with a reset. */
                if (sock->reset_ns == ED_SIM_NEVER && !sock->dead)
                        sock->reset_ns = ed_sim_arrival_at(sim, sock) + sock->link.latency_ns;
        } else {
                for (size_t left = bytes, n; left > 0; left -= n, slices++) {
                        n = least(left, slices->bytes);
                        put(sim, sock, slices->data, n);
                }
        }
        ed_sim_net_deliver(sim);
}

static int64_t gather(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n,
                      enum ed_sim_call call)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        size_t bytes = 0;
        int64_t sent;
        int err = ed_sim_socket_fault(sim, sock, call);

        if (err < 0)
                return err;
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

int64_t ed_sim_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n)
{
        return gather(sys, fd, slices, n, ED_SIM_CALL_SEND);
}

int64_t ed_sim_send_file(struct ed_sys *sys, int fd, int file, int64_t offset, size_t bytes)
{
        char buf[FILE_BYTES];
        struct eddy_slice slice = { buf, 0 };
        int64_t n = ed_sim_file_copy(ed_sim_of(sys), file, buf, least(bytes, sizeof(buf)),
                                     (uint64_t) offset);

        if (n <= 0)
                return n;
        slice.bytes = (size_t) n;
        return ed_sim_send(sys, fd, &slice, 1);
}

/* The room of a connection is its limit. */
void ed_sim_limit_unsent(struct ed_sys *sys, int fd, bool is_limited)
{
        (void) sys;
        (void) fd;
        (void) is_limited;
}

int64_t ed_sim_write(struct ed_sys *sys, int fd, const void *data, size_t bytes, bool may_signal)
{
        struct eddy_slice slice = { data, bytes };

        (void) may_signal;
        if (ed_sim_is_output(fd))
                return ed_sys_write_quietly(fd, data, bytes);
        return gather(sys, fd, &slice, 1, ED_SIM_CALL_WRITE);
}

uint64_t ed_sim_unsent(struct ed_sys *sys, int fd)
{
        const struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);

        return sock && sock->peer ? sock->peer->arrived + sock->peer->coming : 0;
}

int ed_sim_shutdown(struct ed_sys *sys, int fd)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_socket *sock = ed_sim_socket_of(sys, fd);
        int err = ed_sim_socket_fault(sim, sock, ED_SIM_CALL_SHUTDOWN);

        if (err < 0)
                return err;
        if (sock->phase != ED_SIM_PHASE_CONNECTED || sock->dead)
                return -ENOTCONN;
        if (sock->shut)
                return 0;
        sock->shut = true;
        ed_sim_mark(sim, ED_SIM_SHUT, (uint64_t) fd, 0);
        if (sock->peer)
                ed_sim_send_end(sim, sock->peer);
        /* Writes fail at once now, so the socket is writable. */
        ed_sim_notify(sim, sock);
        ed_sim_net_deliver(sim);
        return 0;
}
