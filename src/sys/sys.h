/*
 * sys/sys.h - the one table of all that is not deterministic: the clock,
 * randomness, the order of ready tasks, descriptors, names, threads.
 *
 * A back end fills the table: `epoll` stands on the kernel, `sim` on a clock
 * of its own and streams in memory.  Everything above asks the table, so a
 * program runs on either and cannot tell.
 *
 * No function here suspends; each returns at once with a result or -EAGAIN.
 */
#ifndef ED_SYS_SYS_H
#define ED_SYS_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/def.h"
#include "eddy/dns.h"
#include "eddy/stream.h"

enum {
        ED_EVENT_READ = 1 << 0,  /* a read would not wait */
        ED_EVENT_WRITE = 1 << 1, /* a write would not wait */
        ED_EVENT_END = 1 << 2,   /* the peer sends no more, or an error: reads tell */
        /* The peer sends urgent data: a receive ends there though more has come after it. */
        ED_EVENT_URGENT = 1 << 3,
};

enum { ED_EVENTS_MAX = 64 };

/* Who is told of a descriptor's events; embedded where they are handled. */
struct ed_target {
        /* Called by the loop between tasks.  May wake tasks; runs none. */
        void (*on_events)(struct ed_target *target, unsigned events);
};

struct ed_event {
        struct ed_target *target;
        unsigned events;
};

/* What a worker runs; embedded in what its owner allocated. */
struct ed_job {
        struct ed_target done;             /* told when it has run */
        void (*run)(struct ed_job *job);   /* on the worker's thread */
        void (*leave)(struct ed_job *job); /* the same, after run(), instead of telling 'done':
                                              the worker was abandoned meanwhile */
};

/* A thread that runs one job at a time; what is in it is the table's. */
struct ed_worker {
        struct ed_job *job; /* NULL: idle */
};

enum { ED_SOCKET_STREAM = 1, ED_SOCKET_LISTENER = 2 };

struct ed_sys {
        const struct ed_sys_ops *ops;
        size_t transfer_max; /* no read or write moves more bytes; 0: no limit */
        bool clock_runs;     /* now() moves by itself; false: only in poll() */
};

struct ed_sys_ops {
        const char *name;
        void (*free)(struct ed_sys *sys);

        /* Monotonic and wall clock, nanoseconds. */
        int64_t (*now)(struct ed_sys *sys);
        int64_t (*time_of_day)(struct ed_sys *sys);
        void (*random)(struct ed_sys *sys, void *buf, size_t bytes);
        /* Which of n ready tasks goes next, 0 the first in; NULL: always the first. */
        uint32_t (*choose)(struct ed_sys *sys, uint32_t n);

        /*
         * Wait at most 'timeout_ns' (below 0: for ever; 0: not at all) for
         * events or a wake, and store at most 'max' of them.  Returns how many;
         * an interrupted wait is 0 events.  -EDEADLK: in a simulated world
         * nothing can happen any more.
         */
        int (*poll)(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max);
        /* End the present or the next poll.  Any thread, signal handlers too. */
        void (*wake)(struct ed_sys *sys);

        /*
         * A descriptor of this table's that can be read when poll() would have
         * something to say, or alarm()'s time has come.  NULL: there is none.
         * Errors: -EMFILE, -ENFILE, -ENOMEM.
         */
        int (*pollable)(struct ed_sys *sys);
        /* Make that descriptor readable from 'at_ns' on (0: at once); below 0: by no time. */
        void (*alarm)(struct ed_sys *sys, int64_t at_ns);

        /*
         * Report each change of readiness of 'fd' to 'target' from now on
         * (edge-triggered: once per change, both directions).  -EPERM: the
         * descriptor is of a kind that is always ready.
         */
        int (*watch)(struct ed_sys *sys, int fd, struct ed_target *target);
        /* To be called before the descriptor is closed, unless close() does it. */
        void (*unwatch)(struct ed_sys *sys, int fd);
        /* Whether a read of 'fd' would not wait, right now. */
        bool (*is_readable)(struct ed_sys *sys, int fd);
        /* The same of a write; of PIPE_BUF bytes to a pipe. */
        bool (*is_writable)(struct ed_sys *sys, int fd);

        /* A new socket, non-blocking and close-on-exec; streams without delay. */
        int (*socket)(struct ed_sys *sys, int family, int kind);
        int (*connect)(struct ed_sys *sys, int fd, const struct eddy_address *address,
                       uint16_t port);
        /* How a connect that was -EINPROGRESS ended, once writable. */
        int (*connect_result)(struct ed_sys *sys, int fd);
        int (*listen)(struct ed_sys *sys, int fd, const struct eddy_address *address,
                      uint16_t port);
        int (*local_port)(struct ed_sys *sys, int fd);
        int (*accept)(struct ed_sys *sys, int fd);

        /*
         * Bytes moved, 0 at the end of the stream, or -errno.  Never SIGPIPE
         * on a socket.  These, accept() and connect() never return -EINTR: the
         * table repeats an interrupted call, and an interrupted connect() is
         * -EINPROGRESS.
         */
        int64_t (*recv)(struct ed_sys *sys, int fd, void *buf, size_t bytes);
        int64_t (*send)(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n);
        /*
         * Of the bytes sent on a connected socket, those that have not left it:
         * the peer's system has not acknowledged them (on the simulation: the
         * peer has not read them).  0 where that is not known.
         */
        uint64_t (*unsent)(struct ed_sys *sys, int fd);
        int64_t (*read)(struct ed_sys *sys, int fd, void *buf, size_t bytes);
        /* 'may_signal': the descriptor is of a kind that raises SIGPIPE, which is held back. */
        int64_t (*write)(struct ed_sys *sys, int fd, const void *data, size_t bytes,
                         bool may_signal);
        int (*shutdown)(struct ed_sys *sys, int fd);
        void (*close)(struct ed_sys *sys, int fd);
        /* Close with a reset; what was not sent is dropped. */
        void (*abort)(struct ed_sys *sys, int fd);

        /*
         * The addresses of a name, stored and counted, or an error.  NULL:
         * names are asked of the network (io/dns.c).
         */
        int (*lookup)(struct ed_sys *sys, const char *name, struct eddy_address *ret_addresses,
                      size_t max);

        /* How many processors this process may use; 1 at least. */
        uint32_t (*cpu_count)(struct ed_sys *sys);
        /* A thread for jobs.  'name' is cut to 15 bytes.  Errors: -EAGAIN, -ENOMEM. */
        int (*worker_new)(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker);
        /* Have an idle worker run 'job'; poll() tells when that is over. */
        void (*worker_run)(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job);
        /* End an idle worker; waits for its thread, which has nothing to do. */
        void (*worker_free)(struct ed_sys *sys, struct ed_worker *worker);
        /*
         * Leave a busy worker to itself: nobody is told of its job, and it ends
         * after that.  It may outlive the table.
         */
        void (*worker_abandon)(struct ed_sys *sys, struct ed_worker *worker);
};

/* The kernel, by epoll.  Errors: -EMFILE, -ENFILE, -ENOMEM. */
ED_SHARED int ed_sys_epoll_new(struct ed_sys **ret_sys);

/*
 * What the process has beside a loop's table; no state.
 */

/* The monotonic clock outside a loop. */
int64_t ed_sys_now(void);

/* How many processors this process may use; 1 at least. */
uint32_t ed_sys_cpu_count(void);

/* Pages: reserved address space, no memory until touched.  Errors: -ENOMEM. */
int ed_sys_map(size_t bytes, void **ret_memory);
void ed_sys_unmap(void *memory, size_t bytes);

/*
 * Make 'bytes' at 'page' fault when touched, without a mapping of its own
 * (MADV_GUARD_INSTALL) or with one (mprotect).
 */
int ed_sys_guard_install(void *page, size_t bytes);
int ed_sys_guard_protect(void *page, size_t bytes);
/* Undo both. */
void ed_sys_guard_remove(void *page, size_t bytes);
/*
 * Whether touching the byte faults: asked of the kernel, which answers EFAULT.
 * Returns 1 or 0.  Errors: -EMFILE and others of pipe(2): it cannot be asked.
 */
int ed_sys_guard_holds(const void *byte);
size_t ed_sys_page_bytes(void);
/* How many mappings the process may have (vm.max_map_count). */
size_t ed_sys_mappings_max(void);

#endif
