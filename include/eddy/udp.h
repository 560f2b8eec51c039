/*
 * eddy/udp.h - UDP: datagrams, with a peer or without.
 *
 *     EDDY_AUTO(eddy_udp) eddy_udp *udp = NULL;
 *     struct eddy_endpoint from;
 *     char buf[1500];
 *     int64_t n;
 *     int err = eddy_udp_bind("127.0.0.1", 7000, NULL, &udp);
 *
 *     while (err == 0 && (n = eddy_udp_receive_from(udp, buf, sizeof(buf), &from)) >= 0)
 *             err = eddy_udp_send_to(udp, buf, (size_t) n, &from);
 *
 * A datagram is sent and received as a whole or not at all.  The network may lose,
 * repeat and reorder datagrams; the system drops those that arrive while the receive
 * buffer of the socket is full.  eddy itself keeps none: a receive that is cancelled
 * leaves its datagram in the socket, for the next receive.
 *
 * A task may receive while another sends; a second receiver or sender gets -EBUSY.
 * Calls on a NULL socket return -EINVAL, unless their comment says otherwise.
 */
#ifndef EDDY_UDP_H
#define EDDY_UDP_H

#include <stdbool.h>

#include "eddy/def.h"
#include "eddy/endpoint.h"

EDDY_BEGIN_DECLS

typedef struct eddy_udp eddy_udp;

enum {
        EDDY_UDP_BATCH_MAX = 16,    /* datagrams in one call */
        EDDY_UDP_BYTES_MAX = 65507, /* of a datagram over IPv4; over IPv6 20 more */
};

/* How to open a socket.  All zero is the default. */
struct eddy_udp_opts {
        /*
         * For eddy_udp_connect() only: this socket's address and port, borrowed during
         * the call; NULL: the system chooses.  Only addresses of its family are tried.
         */
        const struct eddy_endpoint *local EDDY_UNSET;
        /* other sockets with this option may share the port (SO_REUSEPORT): each multicast goes
         * to all of them, any other datagram to one */
        bool reuse_port EDDY_UNSET;
        bool v6_only EDDY_UNSET; /* "::" receives only IPv6; else also IPv4, as mapped addresses */
        bool broadcast EDDY_UNSET; /* sending to broadcast addresses is allowed (SO_BROADCAST) */
        /*
         * Return errors that the network reports (ICMP) from a socket without a peer
         * too, and keep their details for eddy_udp_error() (IP_RECVERR).
         */
        bool errors EDDY_UNSET;
        /*
         * Bytes of the system's buffers, at most 1 GiB; 0: the system's default.  The
         * system may give less (net.core.rmem_max, wmem_max); see eddy_udp_option().
         */
        uint32_t receive_bytes EDDY_UNSET, send_bytes EDDY_UNSET;
        uintptr_t reserved[4] EDDY_UNSET; /* zero */
};

/*
 * Open a socket that receives on an address (not a name: "127.0.0.1", "::1",
 * "0.0.0.0", "::") and port; port 0 selects a free port, which eddy_udp_local()
 * returns.  'opts' NULL means the defaults.
 *
 * Suspends: no.
 * Errors: -EINVAL  not an address, or an option is out of range
 *         -EADDRINUSE, -EADDRNOTAVAIL, -EACCES, -EMFILE, -ENOMEM
 *         EDDY_E_RUN_NOT_RUNNING
 * Owns: returns (owned) '*ret_udp', to be closed by eddy_udp_close().
 */
EDDY_API EDDY_MUST_USE int eddy_udp_bind(const char *address, uint16_t port,
                                         const struct eddy_udp_opts *opts, eddy_udp **ret_udp);

/*
 * Open a socket whose peer is 'host' (a name, or an address without brackets) on
 * 'port': the socket sends to this peer and receives only from this peer.  The first
 * address of the name to which the system has a route is used; nothing is sent, so
 * success does not mean that the peer exists.  Addresses of the family that is answered
 * first are tried first, IPv4 addresses up to 50 ms later (eddy/dns.h).  The call waits
 * for the other family only if the system refuses all addresses of the first.  A name
 * may have several addresses: "localhost" is often "::1" first, which does not reach a
 * socket bound to "127.0.0.1".  'opts' NULL means the defaults.
 *
 * Suspends: yes.
 * Errors: EDDY_E_DNS_*           the name could not be resolved
 *         EDDY_E_DNS_NO_ADDRESS  also if it has no address of the family of opts.local
 *         -ENETUNREACH, -EACCES, -EADDRINUSE, ...  of the last address tried
 *         -EINVAL                'port' is 0, or an option is out of range
 *         -ECANCELED, -EMFILE, -ENOMEM
 * Owns: returns (owned) '*ret_udp', to be closed by eddy_udp_close().
 */
EDDY_API EDDY_MUST_USE int eddy_udp_connect(const char *host, uint16_t port,
                                            const struct eddy_udp_opts *opts, eddy_udp **ret_udp);

/*
 * Send a datagram of 'bytes' (0 is allowed) to the peer, or to an IP endpoint.  Waits
 * while the system's send buffer is full.
 *
 * If a peer's system has refused an earlier datagram (ICMP: no socket has the port), the
 * next send or receive of a socket with a peer returns -ECONNREFUSED, once.  A send that
 * returns this error has sent nothing and can be repeated.
 *
 * Suspends: yes.
 * Errors: -ECANCELED     nothing was sent; also if the socket was closed meanwhile
 *         -EMSGSIZE      longer than the protocol or the path allows; nothing was sent
 *         -ECONNREFUSED, -EHOSTUNREACH, -ENETUNREACH, ...  the network has refused an earlier
 *                        datagram, or has no route for this one
 *         -EDESTADDRREQ  eddy_udp_send(): the socket has no peer
 *         -EAFNOSUPPORT  IPv6 over an IPv4 socket
 *         -EACCES        a broadcast without opts.broadcast
 *         -EINVAL        'to' is not an IP endpoint, or has port 0
 *         -EBUSY         another task is sending
 *         others from the system
 */
EDDY_API EDDY_MUST_USE int eddy_udp_send(eddy_udp *udp, const void *data, size_t bytes);
EDDY_API EDDY_MUST_USE int eddy_udp_send_to(eddy_udp *udp, const void *data, size_t bytes,
                                            const struct eddy_endpoint *to);

/*
 * Receive a datagram and return its length; 0 is an empty datagram, not an end.
 * 'ret_from' may be NULL; else the sender is stored there.  A datagram longer than
 * 'bytes' is an error; eddy_udp_receive_batch() stores its length.
 *
 * Suspends: yes.
 * Errors: -ECANCELED     no datagram was taken; also if the socket was closed meanwhile
 *         -EMSGSIZE      the datagram was longer than 'bytes': its first bytes are in 'buf', the
 *                        rest is lost
 *         -ECONNREFUSED, -EHOSTUNREACH, ...  the network has refused a datagram that was sent; the
 *                        socket remains usable
 *         -EBUSY         another task is receiving
 *         others from the system
 */
EDDY_API EDDY_MUST_USE int64_t eddy_udp_receive(eddy_udp *udp, void *buf, size_t bytes);
EDDY_API EDDY_MUST_USE int64_t eddy_udp_receive_from(eddy_udp *udp, void *buf, size_t bytes,
                                                     struct eddy_endpoint *ret_from);

/* A datagram of a batch. */
struct eddy_udp_message {
        void *data;   /* borrowed during the call; a send only reads */
        size_t bytes; /* of the datagram to send; for a receive: the room at 'data' */
        /*
         * Set by a receive: the length of the datagram.  If above 'bytes', the datagram
         * was truncated: its first bytes are at 'data', the rest is lost.
         */
        size_t length;
        /* To send: the receiver; EDDY_ENDPOINT_NONE: the peer.  Set by a receive: the sender. */
        struct eddy_endpoint endpoint;
        uintptr_t reserved[2]; /* zero */
};

/*
 * Send up to EDDY_UDP_BATCH_MAX datagrams in order, in one system call, waiting until
 * at least one is sent.  Returns the number sent; call again for the others.
 *
 * Suspends: yes.
 * Errors: those of eddy_udp_send_to(), for the first datagram.  If a later datagram has
 *         an error, the batch ends before that datagram; the next call returns the error,
 *         unless the network had reported it.
 *         -EINVAL  also if 'n' is 0 or above EDDY_UDP_BATCH_MAX
 */
EDDY_API EDDY_MUST_USE int eddy_udp_send_batch(eddy_udp *udp,
                                               const struct eddy_udp_message *messages, size_t n);

/*
 * Receive the datagrams that have arrived, at least one, waiting if necessary, and at
 * most 'n', in one system call.  Returns their number.
 *
 * Suspends: yes.
 * Errors: those of eddy_udp_receive(), except -EMSGSIZE
 *         -EINVAL  'n' is 0 or above EDDY_UDP_BATCH_MAX
 */
EDDY_API EDDY_MUST_USE int eddy_udp_receive_batch(eddy_udp *udp, struct eddy_udp_message *messages,
                                                  size_t n);

/* An error that the network reported about a datagram that was sent. */
struct eddy_udp_error {
        int error;                     /* such as -ECONNREFUSED, -EHOSTUNREACH, -EMSGSIZE */
        uint8_t type, code;            /* of the ICMP or ICMPv6 message; 0: made by this system */
        uint32_t mtu;                  /* with -EMSGSIZE: bytes that the path carries; else 0 */
        struct eddy_endpoint to;       /* the receiver of the datagram */
        struct eddy_endpoint reporter; /* the system that refused it, port 0; or none */
};

/*
 * Take the oldest error of a socket with opts.errors.  Errors also end a send or a
 * receive, but several may end only one: after such a failure take errors until -EAGAIN.
 *
 * Suspends: no.
 * Errors: -EAGAIN  there is none
 *         -ENOTSUP in the simulated system
 */
EDDY_API EDDY_MUST_USE int eddy_udp_error(eddy_udp *udp, struct eddy_udp_error *ret_error);

enum eddy_udp_option {
        EDDY_UDP_BROADCAST,           /* 0 or 1 */
        EDDY_UDP_RECEIVE_BYTES,       /* the system's number includes its own overhead: */
        EDDY_UDP_SEND_BYTES,          /* Linux returns twice the number that was set */
        EDDY_UDP_TTL,                 /* 1 to 255: hops of datagrams that are not multicast */
        EDDY_UDP_MULTICAST_TTL,       /* 0 (this machine) to 255; 1 unless set */
        EDDY_UDP_MULTICAST_LOOP,      /* 0 or 1 (unless set): also to receivers on this machine */
        EDDY_UDP_MULTICAST_INTERFACE, /* for sending: number of an interface; 0: by the routes */
        EDDY_UDP_OPTIONS,
};

/*
 * Set an option, or return its value (0 or more).  The simulated system has only
 * EDDY_UDP_BROADCAST, _RECEIVE_BYTES and _SEND_BYTES.
 *
 * Suspends: no.
 * Errors: -EINVAL  no such option, or a value out of range
 *         -ENODEV, -EADDRNOTAVAIL  no such interface
 *         -ENOTSUP, others from the system
 */
EDDY_API EDDY_MUST_USE int eddy_udp_set_option(eddy_udp *udp, enum eddy_udp_option option,
                                               int value);
EDDY_API EDDY_MUST_USE int eddy_udp_option(eddy_udp *udp, enum eddy_udp_option option);

/*
 * Join or leave a multicast group on an interface ('interface_id' as if_nametoindex(3)
 * returns it; 0: the system chooses).  A member receives what is sent to the group's
 * address.  Bind the socket to the port, and to the group's address, "0.0.0.0" or "::".
 *
 * Suspends: no.
 * Errors: -EINVAL         'group' is not a multicast address of the socket's family
 *         -EADDRINUSE     already a member
 *         -EADDRNOTAVAIL  eddy_udp_leave(): not a member
 *         -ENODEV         no such interface, or the system found none
 *         -ENOBUFS        the system's limit (net.ipv4.igmp_max_memberships)
 *         -ENOTSUP        in the simulated system
 */
EDDY_API EDDY_MUST_USE int eddy_udp_join(eddy_udp *udp, const char *group, uint32_t interface_id);
EDDY_API EDDY_MUST_USE int eddy_udp_leave(eddy_udp *udp, const char *group, uint32_t interface_id);

/*
 * Store the endpoint of this socket, with the port that port 0 selected, or of the peer.
 *
 * Suspends: no.
 * Errors: -ENOTCONN  there is no peer
 */
EDDY_API EDDY_MUST_USE int eddy_udp_local(const eddy_udp *udp, struct eddy_endpoint *ret_endpoint);
EDDY_API EDDY_MUST_USE int eddy_udp_peer(const eddy_udp *udp, struct eddy_endpoint *ret_endpoint);

/* Returns the descriptor, which the socket owns; -1 for NULL.  Suspends: no. */
EDDY_API int eddy_udp_fd(const eddy_udp *udp);

/*
 * Close the socket.  Tasks in its calls get -ECANCELED.  Datagrams that were not
 * received are lost; those that were sent are not.  NULL is ignored.
 *
 * Suspends: no.
 */
EDDY_API void eddy_udp_close(eddy_udp *udp);

static inline void eddy_udp_auto_release(eddy_udp **udp)
{
        eddy_udp_close(*udp);
}

EDDY_END_DECLS

#endif
