/*
 * sys/sys.h - the table of everything nondeterministic: the clock, randomness, the order of ready
 * tasks, descriptors, names, threads.
 *
 * A back end fills the table: `epoll` uses the kernel, `sim` a virtual clock and streams in memory.
 * All other floors call the table, so a program runs unchanged on either.
 *
 * No function here suspends; each returns at once with a result or -EAGAIN.
 */
#ifndef ED_SYS_SYS_H
#define ED_SYS_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"
#include "eddy/endpoint.h"
#include "eddy/stream.h"
#include "eddy/udp.h"
#include "eddy/unix.h"

enum {
        ED_EVENT_READ = 1 << 0,  /* a read would not wait */
        ED_EVENT_WRITE = 1 << 1, /* a write would not wait */
        ED_EVENT_END = 1 << 2,   /* the peer has ended the stream, or an error: reads return it */
        /* The peer sends urgent data: a receive may stop early although more bytes have arrived. */
        ED_EVENT_URGENT = 1 << 3,
        ED_EVENT_HANGUP = 1 << 4, /* the connection was reset, or both directions have ended */
};

enum { ED_EVENTS_MAX = 64 };

/* Receiver of a descriptor's events; embedded in the object that handles them. */
struct ed_target {
        /* Called by the loop between tasks.  May wake tasks; runs none. */
        void (*on_events)(struct ed_target *target, unsigned events);
};

struct ed_event {
        struct ed_target *target;
        unsigned events;
};

/* A function for a worker to run; embedded in an object that its owner allocated. */
struct ed_job {
        struct ed_target done;             /* notified after run() */
        void (*run)(struct ed_job *job);   /* on the worker's thread */
        void (*leave)(struct ed_job *job); /* on the worker's thread after run(), instead of 'done',
                                            * if the worker was abandoned */
};

/* A thread that runs one job at a time; each table embeds this in its own struct. */
struct ed_worker {
        struct ed_job *job; /* NULL: idle */
};

enum { ED_SOCKET_STREAM = 1, ED_SOCKET_LISTENER = 2, ED_SOCKET_DATAGRAM = 3 };

/* Options of datagram sockets beside those of enum eddy_udp_option. */
enum {
        ED_DATAGRAM_REUSE_PORT = EDDY_UDP_OPTIONS,
        ED_DATAGRAM_V6_ONLY,
        ED_DATAGRAM_ERRORS,
        ED_DATAGRAM_OPTIONS,
};

/* How to listen. All zero: the defaults. */
struct ed_listen_opts {
        uint32_t backlog; /* 0: the system's maximum */
        bool reuse_port;
        bool v6_only;
        bool replace_stale; /* remove a socket file without a listener */
        uint32_t mode;      /* of the socket file; 0: as the umask leaves it */
};

/* The identity of a socket file; zero: there is none. */
struct ed_socket_file {
        uint64_t device, inode;
};

struct ed_sys {
        const struct ed_sys_ops *ops;
        size_t transfer_max; /* maximum bytes per read or write; 0: no limit */
        bool clock_runs;     /* now() advances by itself; false: only in poll() */
        bool is_ending;      /* the loop has ended, and closes what the program left open */
};

struct ed_file_op;
struct ed_worker_packet;
struct ed_worker_packet_fds;
struct ed_worker_packet_part;
struct ed_process_start;
struct ed_process_id;
struct eddy_process_exit;

struct ed_sys_ops {
        const char *name;
        void (*free)(struct ed_sys *sys);

        /* Monotonic and wall clock, nanoseconds. */
        int64_t (*now)(struct ed_sys *sys);
        int64_t (*time_of_day)(struct ed_sys *sys);
        void (*random)(struct ed_sys *sys, void *buf, size_t bytes);
        /* Choose one of n ready tasks, 0 being the oldest; NULL: always the oldest. */
        uint32_t (*choose)(struct ed_sys *sys, uint32_t n);

        /*
         * Wait at most 'timeout_ns' (negative: no limit; 0: do not wait) for events or a wake, and
         * store at most 'max' events. Returns the number stored; an interrupted wait returns 0.
         * Returns -EDEADLK if a simulation has no further events.
         */
        int (*poll)(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max);
        /* End the current or the next poll. Safe on any thread and in signal handlers. */
        void (*wake)(struct ed_sys *sys);

        /*
         * Returns a descriptor that becomes readable when poll() would return events, or when
         * alarm()'s time has come. NULL: this table has none. Errors: -EMFILE, -ENFILE, -ENOMEM.
         */
        int (*pollable)(struct ed_sys *sys);
        /* Make that descriptor readable from 'at_ns' on (0: at once; negative: never). */
        void (*alarm)(struct ed_sys *sys, int64_t at_ns);

        /*
         * Report each change of readiness of 'fd' to 'target' from now on (edge-triggered: once per
         * change, both directions). -EPERM: the descriptor is of a kind that is always ready.
         */
        int (*watch)(struct ed_sys *sys, int fd, struct ed_target *target);
        /* Call before closing the descriptor, unless close() of this table is used. */
        void (*unwatch)(struct ed_sys *sys, int fd);
        /* Returns true if a read of 'fd' would not wait now. */
        bool (*is_readable)(struct ed_sys *sys, int fd);
        /* Returns true if a write would not wait now; for a pipe, a write of PIPE_BUF bytes. */
        bool (*is_writable)(struct ed_sys *sys, int fd);

        /*
         * Returns those of 'events' (ED_EVENT_READ, ED_EVENT_WRITE) that would not wait now; both
         * after an error of the descriptor. Errors: -EBADF, -ENOMEM.
         */
        int (*ready)(struct ed_sys *sys, int fd, unsigned events);

        /*
         * As watch(), for a descriptor that other code owns and may close or replace at any time:
         * no event comes after unwatch_foreign(), whatever 'fd' has become. Only changes of 'events'
         * (ED_EVENT_READ, ED_EVENT_WRITE) and ends are reported; otherwise a Unix socket would report
         * room after each read of its peer. Returns the number for the two functions below.
         * Errors: those of watch(); -EMFILE, -EBADF.
         */
        int (*watch_foreign)(struct ed_sys *sys, int fd, unsigned events, struct ed_target *target);
        /*
         * Report changes of these events instead of the former ones, and at once those that hold
         * already. Errors: those of watch(); then nothing has changed.
         */
        int (*rewatch_foreign)(struct ed_sys *sys, int watched, unsigned events,
                               struct ed_target *target);
        void (*unwatch_foreign)(struct ed_sys *sys, int watched, struct ed_target *target);

        /* Returns a new socket, non-blocking and close-on-exec; TCP streams have TCP_NODELAY set. */
        int (*socket)(struct ed_sys *sys, int family, int kind);
        /* Ask a silent peer for a sign of life after these seconds, and at this interval. */
        int (*keepalive)(struct ed_sys *sys, int fd, int seconds);
        /* Choose the own end of a connection to come. */
        int (*bind)(struct ed_sys *sys, int fd, const struct eddy_endpoint *local);
        /* A Unix socket is connected at once; -EAGAIN if the listener's backlog is full. */
        int (*connect)(struct ed_sys *sys, int fd, const struct eddy_endpoint *to);
        /*
         * Returns the result of a connect that returned -EINPROGRESS. Call once 'fd' is writable.
         */
        int (*connect_result)(struct ed_sys *sys, int fd);
        /* Stores the identity of the socket file that it makes; after an error there is none. */
        int (*listen)(struct ed_sys *sys, int fd, const struct eddy_endpoint *at,
                      const struct ed_listen_opts *opts, struct ed_socket_file *ret_file);
        /* Remove the socket file of a listener at 'at', unless the path has become another's. */
        void (*socket_file_remove)(struct ed_sys *sys, const struct eddy_endpoint *at,
                                   const struct ed_socket_file *file);
        /* Errors: -EBADF; -ENOTSOCK; -ENOTCONN: the socket has no peer. */
        int (*endpoint)(struct ed_sys *sys, int fd, enum eddy_stream_end end,
                        struct eddy_endpoint *ret_endpoint);
        int (*accept)(struct ed_sys *sys, int fd);

        /*
         * Returns the bytes moved, 0 at the end of the stream, or -errno. Never raises SIGPIPE on a
         * socket. These calls, accept() and connect() never return -EINTR: the table repeats an
         * interrupted call, and an interrupted connect() returns -EINPROGRESS.
         */
        int64_t (*recv)(struct ed_sys *sys, int fd, void *buf, size_t bytes);
        int64_t (*send)(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n);
        /*
         * Returns how many of the bytes sent on a connected socket the peer's system has not
         * acknowledged (in the simulation: the peer has not read), or 0 if unknown.
         */
        uint64_t (*unsent)(struct ed_sys *sys, int fd);
        int64_t (*read)(struct ed_sys *sys, int fd, void *buf, size_t bytes);
        /* 'may_signal': this kind of descriptor raises SIGPIPE, which is suppressed. */
        int64_t (*write)(struct ed_sys *sys, int fd, const void *data, size_t bytes,
                         bool may_signal);
        int (*shutdown)(struct ed_sys *sys, int fd);
        void (*close)(struct ed_sys *sys, int fd);
        /* Close with a reset; unsent bytes are dropped. */
        void (*abort)(struct ed_sys *sys, int fd);

        /*
         * Datagrams (sys/socket/datagram.h). bind_port() binds now, with the port. 'family' is that
         * of the socket. send and receive return the number of datagrams moved, at least one.
         */
        int (*bind_port)(struct ed_sys *sys, int fd, const struct eddy_endpoint *at);
        int (*option)(struct ed_sys *sys, int fd, int family, int option, int value);
        int (*option_value)(struct ed_sys *sys, int fd, int family, int option);
        int (*group)(struct ed_sys *sys, int fd, const struct eddy_address *group,
                     uint32_t interface_id, bool join);
        int (*send_datagrams)(struct ed_sys *sys, int fd, const struct eddy_udp_message *messages,
                              size_t n);
        int (*recv_datagrams)(struct ed_sys *sys, int fd, struct eddy_udp_message *messages,
                              size_t n);
        int (*datagram_error)(struct ed_sys *sys, int fd, struct eddy_udp_error *ret_error);

        /*
         * Descriptors over a Unix stream (sys/socket/unix_fds.h), without a wait even if the
         * descriptor would wait. NULL: this table has no descriptors of the process.
         */
        int64_t (*send_fds)(struct ed_sys *sys, int fd, const struct eddy_slice *data,
                            const int *fds, size_t n);
        int64_t (*recv_fds)(struct ed_sys *sys, int fd, void *buf, size_t bytes,
                            struct eddy_unix_fds *ret_fds);
        int (*credentials)(struct ed_sys *sys, int fd, struct eddy_unix_credentials *ret_peer);

        /* Changes of files (sys/file/notify.h). NULL: this table reports none. */
        int (*notify_open)(struct ed_sys *sys);
        int (*notify_add)(struct ed_sys *sys, int fd, const char *path);
        void (*notify_remove)(struct ed_sys *sys, int fd, int watch);
        int64_t (*notify_read)(struct ed_sys *sys, int fd, void *buf, size_t bytes);

        /*
         * Look up a name. Stores the addresses and returns their number, or an error. NULL: the
         * network is asked (io/dns.c).
         */
        int (*lookup)(struct ed_sys *sys, const char *name, struct eddy_address *ret_addresses,
                      size_t max);

        /*
         * Do an operation on a file (sys/file/files.h) if that needs no wait. Returns its result,
         * or -EAGAIN.
         */
        int64_t (*file_try)(struct ed_sys *sys, struct ed_file_op *op);
        /* Do an operation and store its result. May wait for a disk. Any thread. */
        void (*file_run)(struct ed_sys *sys, struct ed_file_op *op);
        /*
         * Begin an operation that completes by itself: poll() notifies 'op->done'. NULL: this table
         * has none; a worker must call file_run().
         */
        void (*submit)(struct ed_sys *sys, struct ed_file_op *op);
        /*
         * Returns true if the operation is dropped: never done, and not notified. Otherwise the
         * caller's memory is in use until poll() notifies 'op->done'.
         */
        bool (*cancel)(struct ed_sys *sys, struct ed_file_op *op);

        /*
         * Start a process (sys/process/process.h) and store the result. May wait for a disk. Any
         * thread. NULL: this table has no processes.
         */
        void (*process_start)(struct ed_sys *sys, struct ed_process_start *start);
        /*
         * Collect the process, whose pidfd becomes readable when it ends; 'keep': leave it to a
         * later call. Errors: -EAGAIN: it runs; -ECHILD: other code has collected it.
         */
        int (*process_end)(struct ed_sys *sys, const struct ed_process_id *id, bool keep,
                           struct eddy_process_exit *ret_exit);
        /* Send a signal to the process, or to the group that it leads. */
        int (*process_signal)(struct ed_sys *sys, const struct ed_process_id *id, bool to_group,
                              int signo);

        /*
         * Workers of process pools (sys/process/zygote.h, sys/process/worker_packet.h). NULL: this
         * table has none. Start a worker and store a descriptor for packets, whose shutdown() kills
         * the worker.
         */
        int (*zygote_start)(struct ed_sys *sys, uint64_t memory_bytes_max, int *ret_fd);
        int (*packet_send)(struct ed_sys *sys, int fd, const struct ed_worker_packet *head,
                           const struct ed_worker_packet_part *part);
        int64_t (*packet_recv)(struct ed_sys *sys, int fd, struct ed_worker_packet *ret_head,
                               void *buf, size_t bytes, struct ed_worker_packet_fds *ret_fds);

        /* Returns the number of processors this process may use, at least 1. */
        uint32_t (*cpu_count)(struct ed_sys *sys);
        /* Start a thread for jobs. 'name' is cut to 15 bytes. Errors: -EAGAIN, -ENOMEM. */
        int (*worker_new)(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker);
        /* Let an idle worker run 'job'; poll() reports its completion. */
        void (*worker_run)(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job);
        /* End an idle worker, and wait for its thread. */
        void (*worker_free)(struct ed_sys *sys, struct ed_worker *worker);
        /*
         * Abandon a busy worker: the completion of its job is not reported, and the worker ends
         * after the job. The worker may outlive the table.
         */
        void (*worker_abandon)(struct ed_sys *sys, struct ed_worker *worker);
};

/* Make a table that uses the kernel and epoll. Errors: -EMFILE, -ENFILE, -ENOMEM. */
ED_SHARED int ed_sys_epoll_new(struct ed_sys **ret_sys);

/* Functions of the process that need no table and keep no state. */

/* The monotonic clock, for use outside a loop. */
ED_SHARED int64_t ed_sys_now(void);

/* Returns the number of processors this process may use, at least 1. */
uint32_t ed_sys_cpu_count(void);

/* Reserve address space; pages take no memory until touched. Errors: -ENOMEM. */
int ed_sys_map(size_t bytes, void **ret_memory);

/*
 * ed_sys_map(), above 'closed_bytes' of address space in which each access is a fault. Errors:
 * -ENOMEM.
 */
int ed_sys_map_above(size_t closed_bytes, size_t bytes, void **ret_memory);
void ed_sys_unmap(void *memory, size_t bytes);
/* Return whole pages to the kernel; they remain mapped, and contain zeros when touched again. */
void ed_sys_release(void *memory, size_t bytes);

/*
 * Make 'bytes' at 'page' fault when touched: install() needs no separate mapping
 * (MADV_GUARD_INSTALL), protect() does (mprotect).
 */
int ed_sys_guard_install(void *page, size_t bytes);
int ed_sys_guard_protect(void *page, size_t bytes);
/* Undo install and protect. */
void ed_sys_guard_remove(void *page, size_t bytes);
/*
 * Ask the kernel whether touching the byte faults: a write from it then fails with EFAULT. Returns
 * 1 or 0. Errors: -EMFILE and others of pipe(2): the check failed.
 */
int ed_sys_guard_holds(const void *byte);
size_t ed_sys_page_bytes(void);
/* Returns the maximum number of mappings of the process (vm.max_map_count). */
size_t ed_sys_mappings_max(void);

#endif
