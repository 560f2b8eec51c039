/*
 * sim/socket.h - a socket in memory, as the files of the simulated network
 * share it: sim_net.c makes and ends them, sim_flight.c brings what is on its
 * way, sim_stream.c moves bytes.
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
        struct ed_list ready;  /* in the table's list */
        struct ed_list flying; /* likewise */
        struct ed_list queue;  /* a listener's: connections; else: in a listener's */
        struct ed_target *target;
        struct ed_sim_socket *peer; /* NULL: none, or it is gone */
        struct ed_sim_link link;    /* of its connection */
        int fd;                     /* -1: not accepted yet */
        int error;                  /* to be told once, or 0 */
        uint8_t phase;              /* enum ed_sim_phase */
        bool dead;                  /* refused or reset */
        bool ended;                 /* the peer's end has arrived */
        bool shut;                  /* nothing more may be sent */
        bool wants_room;            /* tell it when there is room again */
        bool told;                  /* connect() has said that it is connected */
        bool is_pipe;               /* an end of one */
        uint32_t waiting;           /* connections in a listener's queue */
        uint16_t port;
        struct eddy_address address; /* a listener's own; of who connects: the other's */
        uint16_t remote_port;
        unsigned tries;
        int answer;
        int64_t request_ns, answer_ns, end_ns, reset_ns;
        int64_t last_ns;               /* nothing may overtake what arrives then */
        uint64_t cut_left, stall_left; /* bytes to be sent until then */
        struct ed_sim_segment segments[ED_SIM_SEGMENTS_MAX];
        uint32_t segment_first, segment_count;
        size_t head, arrived, coming;
        unsigned char ring[];
};

/* NULL: there is none. */
struct ed_sim_socket *ed_sim_socket_of(struct ed_sys *sys, int fd);

/* Without a descriptor.  Errors: -ENOMEM. */
int ed_sim_socket_new(const struct ed_sim_link *link, struct ed_sim_socket **ret_sock);
/* Both are ends of one connection from now on. */
void ed_sim_connect_ends(struct ed_sim_socket *server, struct ed_sim_socket *client);
/* Its peer must not know it any more. */
void ed_sim_socket_free(struct ed_sim *sim, struct ed_sim_socket *sock);

/* An error is told once. */
int ed_sim_take_error(struct ed_sim_socket *sock);

/* Put a link at the end of a list; with 'reorder' perhaps before some others, by the seed. */
void ed_sim_line_up(struct ed_sim *sim, struct ed_list *list, struct ed_list *link, bool reorder);

/* Report its readiness at the next poll. */
void ed_sim_notify(struct ed_sim *sim, struct ed_sim_socket *sock);

/* As ed_sim_fault(); NULL: there is no such socket. */
int ed_sim_socket_fault(struct ed_sim *sim, struct ed_sim_socket *sock, enum ed_sim_call call);

/* What its peer could take; nobody stops bytes that go nowhere. */
size_t ed_sim_room_to_send(const struct ed_sim_socket *sock);
/* A third must be free: room for one byte is not worth waking for. */
bool ed_sim_has_room(const struct ed_sim_socket *sock);

/* --- what is on its way --- */

/* When what leaves now reaches 'to': not before what left earlier. */
int64_t ed_sim_arrival_at(struct ed_sim *sim, struct ed_sim_socket *to);
void ed_sim_send_end(struct ed_sim *sim, struct ed_sim_socket *to);
void ed_sim_send_reset(struct ed_sim *sim, struct ed_sim_socket *to);
/* 'bytes' more of the ring are coming; of very many segments some arrive with the next one. */
void ed_sim_send_segment(struct ed_sim *sim, struct ed_sim_socket *to, size_t bytes);
/* Nothing that is sent from now on arrives for so long after what is on its way. */
void ed_sim_stall(struct ed_sim *sim, struct ed_sim_socket *to, int64_t stall_ns);
/* Forget what has not arrived. */
void ed_sim_drop_coming(struct ed_sim_socket *sock);
/* Whether who listens at 'own' hears what is sent to 'to'; "::" hears IPv4 too. */
bool ed_sim_listens_at(const struct eddy_address *own, const struct eddy_address *to);

#endif
