/*
 * sim/socket.h - a socket in memory, shared by the files of the simulated network: net.c makes and
 * ends sockets, delay.c delivers data in transit, stream.c moves bytes.
 */
#ifndef ED_SIM_SOCKET_H
#define ED_SIM_SOCKET_H

#include "sim/table.h"

#define ED_SIM_NEVER INT64_MAX

enum { ED_SIM_SEGMENTS_MAX = 32 };

enum ed_sim_phase {
        ED_SIM_PHASE_FRESH,
        ED_SIM_PHASE_LISTENING,
        ED_SIM_PHASE_CONNECTING,
        ED_SIM_PHASE_CONNECTED
};

/* Bytes that arrive together. */
struct ed_sim_segment {
        int64_t at_ns;
        size_t bytes;
};

struct ed_sim_socket {
        struct ed_list ready;  /* in the table's list 'ready' */
        struct ed_list flying; /* in the table's list 'flying' */
        struct ed_list queue;  /* a listener: its connections; else: in a listener's queue */
        struct ed_target *target;
        unsigned unwanted;          /* events that are not reported to 'target' */
        struct ed_sim_socket *peer; /* NULL: not connected, or the peer is gone */
        struct ed_sim_link link;    /* properties of its connection */
        int fd;                     /* -1: not accepted yet */
        int error;                  /* reported once; or 0 */
        uint8_t phase;              /* enum ed_sim_phase */
        bool dead;                  /* refused or reset */
        bool ended;                 /* the peer's end has arrived */
        bool shut;                  /* sending has ended */
        bool wants_room;            /* notify when there is room again */
        bool connect_returned;      /* connect() has returned 0 */
        bool is_pipe;               /* an end of a pipe */
        bool is_datagram;
        bool broadcast;             /* of a datagram socket */
        uint32_t waiting;           /* connections in a listener's queue */
        uint32_t backlog;           /* a listener's limit of 'waiting' */
        bool v6_only, reuse_port;   /* of a listener */
        struct eddy_endpoint local; /* EDDY_ENDPOINT_NONE: not bound */
        struct eddy_endpoint remote;
        unsigned tries;
        int answer;
        int64_t request_ns, answer_ns, end_ns, reset_ns;
        int64_t last_ns;               /* latest arrival; later data must not overtake it */
        uint64_t cut_left, stall_left; /* bytes to send before the cut and the stall */
        struct ed_sim_segment segments[ED_SIM_SEGMENTS_MAX];
        uint32_t segment_first, segment_count;
        struct ed_list datagrams, datagrams_coming; /* arrived, and in transit, in order */
        size_t head, arrived, coming;
        unsigned char ring[];
};

/* Returns NULL if the descriptor is not open. */
struct ed_sim_socket *ed_sim_socket_of(struct ed_sys *sys, int fd);

/* Make a socket without a descriptor. Errors: -ENOMEM. */
int ed_sim_socket_new(const struct ed_sim_link *link, struct ed_sim_socket **ret_sock);
/* Make both sockets the ends of one connection. */
void ed_sim_connect_ends(struct ed_sim_socket *server, struct ed_sim_socket *client);
/* The socket's peer must not point to it any more. */
void ed_sim_socket_free(struct ed_sim *sim, struct ed_sim_socket *sock);

/* Return the pending error and clear it. */
int ed_sim_take_error(struct ed_sim_socket *sock);

/* Append a link to a list; with 'reorder' possibly before some others, depending on the seed. */
void ed_sim_line_up(struct ed_sim *sim, struct ed_list *list, struct ed_list *link, bool reorder);

/* Report the socket's readiness at the next poll. */
void ed_sim_notify(struct ed_sim *sim, struct ed_sim_socket *sock);

/*
 * Returns true for the standard output and standard error, which are the real ones in a simulated
 * run too: a program may log there.  They behave like files: never watched, always ready.
 */
static inline bool ed_sim_is_output(int fd)
{
        return fd == 1 || fd == 2;
}

/* As ed_sim_fault(), and -EBADF if 'sock' is NULL: there is no such socket. */
int ed_sim_socket_fault(struct ed_sim *sim, struct ed_sim_socket *sock, enum ed_sim_call call);

/* Returns the room at the peer; without a peer, a whole buffer. */
size_t ed_sim_room_to_send(const struct ed_sim_socket *sock);
/* Returns true if at least a third is free, so that a sender is not woken for one byte. */
bool ed_sim_has_room(const struct ed_sim_socket *sock);

/* Returns the next number for a port. */
uint16_t ed_sim_port_next(struct ed_sim *sim);

/* --- datagrams --- */

void ed_sim_datagrams_free(struct ed_sim_socket *sock);
unsigned ed_sim_datagram_readiness(const struct ed_sim_socket *sock);
int ed_sim_datagram_connect(struct ed_sim *sim, struct ed_sim_socket *sock,
                            const struct eddy_endpoint *to);
/* Returns the time of the next arrival, or ED_SIM_NEVER. */
int64_t ed_sim_datagram_next(struct ed_sim_socket *sock);
void ed_sim_datagram_arrives(struct ed_sim *sim, struct ed_sim_socket *sock);

/* --- in transit --- */

/* Returns the arrival time at 'to' of data sent now, never before earlier data. */
int64_t ed_sim_arrival_at(struct ed_sim *sim, struct ed_sim_socket *to);
void ed_sim_send_end(struct ed_sim *sim, struct ed_sim_socket *to);
void ed_sim_send_reset(struct ed_sim *sim, struct ed_sim_socket *to);
/* Send 'bytes' more of the ring. If there are too many segments, some are joined with the next. */
void ed_sim_send_segment(struct ed_sim *sim, struct ed_sim_socket *to, size_t bytes);
/* Delay later data by 'stall_ns' after the data in transit. */
void ed_sim_stall(struct ed_sim *sim, struct ed_sim_socket *to, int64_t stall_ns);
/* Drop the data in transit. */
void ed_sim_drop_coming(struct ed_sim_socket *sock);
/* Returns true if a listener at 'own' receives connections to 'to'; "::" may include IPv4. */
bool ed_sim_listens_at(const struct eddy_endpoint *own, bool v6_only,
                       const struct eddy_endpoint *to);
/* Returns the listener that receives connections to 'to', or NULL. */
struct ed_sim_socket *ed_sim_listener_find(const struct ed_sim *sim,
                                           const struct eddy_endpoint *to);
/* Make the listener's end of a connection from 'sock'. Errors: -ENOMEM, -EAGAIN: no room. */
int ed_sim_child_new(const struct ed_sim_socket *listener, struct ed_sim_socket *sock,
                     struct ed_sim_socket **ret_child);
/* Let the listener's end wait to be accepted. */
void ed_sim_child_line_up(struct ed_sim *sim, struct ed_sim_socket *listener,
                          struct ed_sim_socket *child);

#endif
