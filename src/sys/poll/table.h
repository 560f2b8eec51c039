/*
 * sys/poll/table.h - the parts of the table for clocks, the poller, and loops inside other
 * programs.
 */
#ifndef ED_SYS_POLL_TABLE_H
#define ED_SYS_POLL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ed_sys;

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

/* Clocks, random bytes and the poller. */
struct ed_sys_poll {
        /* Monotonic and wall clock, nanoseconds. */
        int64_t (*now)(struct ed_sys *sys);
        int64_t (*time_of_day)(struct ed_sys *sys);
        void (*random)(struct ed_sys *sys, void *buf, size_t bytes);

        /*
         * Wait at most 'timeout_ns' (negative: no limit; 0: do not wait) for events or a wake, and
         * store at most 'max' events. Returns the number stored; an interrupted wait returns 0.
         * Returns -EDEADLK if a simulation has no further events.
         */
        int (*poll)(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max);
        /* End the current or the next poll. Safe on any thread and in signal handlers. */
        void (*wake)(struct ed_sys *sys);

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
};

/* A descriptor with which another program's loop waits for this one. */
struct ed_sys_embed {
        /*
         * Returns a descriptor that becomes readable when poll() would return events, or when
         * alarm()'s time has come. A new one is readable. Errors: -EMFILE, -ENFILE, -ENOMEM.
         */
        int (*pollable)(struct ed_sys *sys);
        /* Make that descriptor readable from 'at_ns' on (0: at once; negative: never). */
        void (*alarm)(struct ed_sys *sys, int64_t at_ns);
};

#endif
