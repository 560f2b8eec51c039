/*
 * sys/process/worker_packet.h - messages between this process, its zygote and its workers.
 *
 * They pass over Unix sockets of the kind SOCK_SEQPACKET, which keep the borders of messages: what
 * the zygote says about the end of a worker is never taken for bytes of that worker's result. A
 * large input or result has several packets; only the first has descriptors.
 */
#ifndef ED_SYS_PROCESS_WORKER_PACKET_H
#define ED_SYS_PROCESS_WORKER_PACKET_H

#include "sys/sys.h"

enum { ED_WORKER_PACKET_BYTES = 64 * 1024, ED_WORKER_PACKET_FDS = 8 };

enum ed_worker_packet_kind {
        ED_WORKER_PACKET_START,  /* to the zygote: start a worker, with its socket's descriptor */
        ED_WORKER_PACKET_CALL,   /* to a worker: call 'fn' */
        ED_WORKER_PACKET_MAP,    /* to a worker: call 'fn' for each of 'items' */
        ED_WORKER_PACKET_DATA,   /* the next bytes of an input or a result */
        ED_WORKER_PACKET_RESULT, /* of a worker: the result and the first bytes */
        ED_WORKER_PACKET_FAILED, /* no worker could be made; 'result' is the error */
        ED_WORKER_PACKET_ENDED,  /* of the zygote: the worker was collected; 'result', 'flags' */
};

/* In a map, items that fail do not stop the others. */
enum { ED_WORKER_PACKET_KEEP_GOING = 1 << 0 };

/* At a worker's end 'result' is the exit code, and 'flags' are the signal and this. */
enum { ED_WORKER_PACKET_CORE = 1 << 16 };

/* The head of each packet. */
struct ed_worker_packet {
        uint32_t kind; /* enum ed_worker_packet_kind */
        int32_t result;
        uint64_t bytes; /* of the whole input or result */
        uint64_t fn;    /* an address, the same in all processes */
        uint64_t room;  /* for the result; of a map: of one item; of a start: for memory */
        uint64_t items;
        uint64_t flags; /* the size of all is a multiple of 16: the part after it is aligned */
};

/* Descriptors that came with a packet, owned by the receiver. */
struct ed_worker_packet_fds {
        int fds[ED_WORKER_PACKET_FDS];
        unsigned count;
        bool are_lost; /* this process had no numbers for all of them: 'count' is 0 */
};

/* The part of a packet after its head. */
struct ed_worker_packet_part {
        const void *data;
        size_t bytes; /* at most ED_WORKER_PACKET_BYTES */
        const int *fds;
        unsigned fds_count;
};

/*
 * Operations of the table; with NULL for 'sys' they wait. Errors: -EAGAIN; -EPIPE: the other end is
 * closed; -EMFILE, -ENFILE, -ENOMEM, -ENOBUFS and others of sendmsg(2).
 */
int ed_worker_packet_send(struct ed_sys *sys, int fd, const struct ed_worker_packet *head,
                          const struct ed_worker_packet_part *part);

/*
 * Returns how many bytes followed the head. 'ret_fds' NULL: no descriptors are accepted. At the end
 * of the stream the kind is ED_WORKER_PACKET_ENDED, with an unknown exit. Errors: -EAGAIN; -EPROTO:
 * more bytes than 'bytes', or no packet; those of recvmsg(2).
 */
int64_t ed_worker_packet_recv(struct ed_sys *sys, int fd, struct ed_worker_packet *ret_head,
                              void *buf, size_t bytes, struct ed_worker_packet_fds *ret_fds);

/* For a process without a loop. */
void ed_worker_packet_close(int fd);

#endif
