/*
 * sim/sim.h - a table without a kernel: a virtual clock, randomness from a seed, and sockets in
 * memory.
 *
 * The clock moves only in poll(), to the next deadline or arrival if no event is pending, so a
 * minute of waiting takes no time. All randomness follows from the seed. The trace is a hash of all
 * decisions and transfers: equal seeds and programs give equal traces.
 *
 * Sockets behave like the kernel's on the loopback: bounded buffers, resets, ends, backlogs, edges.
 * The path of a Unix socket exists as long as its listener: there are no files, modes or stale
 * sockets. Descriptors are small integers from ED_SIM_FD_FIRST up, lowest free first; they are not
 * descriptors of the process.
 *
 * Files are in memory too (sim/disk.h), and what was not synced can be lost in a crash.
 *
 * There are no threads either: poll() calls the function of a job on the loop's thread when the
 * job's duration has passed.
 */
#ifndef ED_SIM_SIM_H
#define ED_SIM_SIM_H

#include "sys/sys.h"

enum {
        ED_SIM_FD_FIRST = 3,
        ED_SIM_SOCKETS_MAX = 65536,
        ED_SIM_BUFFER_MAX = 1 << 24,
        ED_SIM_NAMES_MAX = 32,
        ED_SIM_DEAD_MAX = 8,
};

#define ED_SIM_DELAY_MAX ((int64_t) 1 << 55) /* maximum of each delay: more than a year */

enum {
        ED_SIM_CUT_NONE,
        ED_SIM_CUT_END,   /* the receiver gets those bytes and the end of the stream */
        ED_SIM_CUT_RESET, /* the receiver gets those bytes and a reset */
};

/* The kinds of calls that can fail. */
enum ed_sim_call {
        ED_SIM_CALL_POLL = 1, /* fails only by interruption, which returns 0 events */
        ED_SIM_CALL_WATCH,
        ED_SIM_CALL_SOCKET,
        ED_SIM_CALL_CONNECT,
        ED_SIM_CALL_CONNECT_RESULT,
        ED_SIM_CALL_LISTEN,
        ED_SIM_CALL_ACCEPT,
        ED_SIM_CALL_RECV,
        ED_SIM_CALL_SEND,
        ED_SIM_CALL_READ,
        ED_SIM_CALL_WRITE,
        ED_SIM_CALL_SHUTDOWN,
        ED_SIM_CALL_LOOKUP,
        ED_SIM_CALL_WORKER_NEW,
        ED_SIM_CALL_BIND,
        ED_SIM_CALL_KEEPALIVE,
        ED_SIM_CALL_FILE_OPEN,
        ED_SIM_CALL_FILE_READ,
        ED_SIM_CALL_FILE_WRITE,
        ED_SIM_CALL_FILE_SYNC,
        ED_SIM_CALL_FILE_STAT,
        ED_SIM_CALL_FILE_CHANGE, /* of size, mode or name */
        ED_SIM_CALL_OPTION,
        ED_SIM_CALL_SEND_DATAGRAMS,
        ED_SIM_CALL_RECV_DATAGRAMS,
        ED_SIM_CALLS,
};

/* As an error of a transfer: move only part of the bytes, at least one. */
enum { ED_SIM_SHORT = -0xffff };

/* Properties of a connection; randomness follows from the seed. All zero: no delay, no faults. */
struct ed_sim_link {
        int64_t latency_ns;    /* delay of bytes, ends and the connection itself */
        int64_t jitter_ns;     /* additional random delay; each stream stays in order */
        bool chop;             /* transfers move a random part of the possible bytes */
        bool urgent;           /* urgent data: receives stop early, without an event for the rest */
        bool reorder;          /* may overtake other connections and events */
        uint32_t buffer_bytes; /* buffer in each direction; 0: 64 KiB */

        /*
         * Faults after a number of bytes sent by the acceptor ('by_server') or by the connecting
         * side.
         */
        bool by_server;
        int cut; /* ED_SIM_CUT_*; the sender gets a reset. 0 bytes: at the first send */
        uint64_t cut_bytes;
        int64_t stall_ns; /* delay of all bytes sent after 'stall_bytes'; 0: none */
        uint64_t stall_bytes;
};

/* Statistics of a simulation; filled when its table is freed. */
struct ed_sim_end {
        uint64_t trace;
        uint64_t calls;   /* number of fallible calls */
        uint64_t faults;  /* injected failures */
        uint64_t sockets; /* not closed by the program */
        uint64_t moved;   /* bytes received */
        int64_t lasted_ns;
};

/* All zero: no randomness, delays or faults. */
struct ed_sim_opts {
        uint64_t seed;      /* 0: first come, first served, without randomness */
        int64_t latency_ns; /* these five: the initial link */
        int64_t jitter_ns;
        bool chop;
        bool urgent;
        uint32_t buffer_bytes;
        uint32_t backlog;       /* maximum connections not yet accepted; 0: 128 */
        uint32_t sockets_max;   /* 0: 1024 */
        uint32_t fail_one_in;   /* as ed_sim_fail_often() */
        bool fail_passing;      /* 'fail_one_in' uses only transient errors */
        struct ed_sim_end *end; /* NULL: not needed */
        uint8_t *kinds;         /* kinds of the fallible calls in order, enum ed_sim_call */
        uint64_t kinds_skip;    /* number of calls to skip first */
        size_t kinds_max;       /* size of 'kinds'; later calls are not recorded */
        void (*at_fault)(enum ed_sim_call call); /* called in each failing call; may be NULL */
};

/* Errors: -EINVAL  a number is out of range; -ENOMEM. */
int ed_sim_new(const struct ed_sim_opts *opts, struct ed_sys **ret_sys);

/* Returns true if a table is a simulation, even if some of its functions were replaced. */
bool ed_sys_is_sim(const struct ed_sys *sys);

/* Returns the hash of the run so far. */
uint64_t ed_sim_trace(const struct ed_sys *sys);

/* Record a choice among 'n' ready entries that was made instead of by choose(). */
void ed_sim_chose(struct ed_sys *sys, uint32_t n, uint32_t chosen);

/* Return the number of open sockets, and the number of fallible calls made. */
uint64_t ed_sim_sockets(const struct ed_sys *sys);
uint64_t ed_sim_calls(const struct ed_sys *sys);

/*
 * Fail the n-th fallible call from now (1: the next) with 'err', once; n 0 cancels this. The
 * failure has no other effect, except that an event follows for the data which a postponed
 * (-EAGAIN) or short call leaves, as if the data had arrived a moment later.
 */
void ed_sim_fail_at(struct ed_sys *sys, uint64_t n, int err);

/*
 * From now on fail one in 'one_in' fallible calls at random, with one of the call's errors; 0:
 * none. Needs a seed.
 */
void ed_sim_fail_often(struct ed_sys *sys, uint32_t one_in);

/*
 * Return the name of a kind of call, and its possible errors, with 0 after the last. Valid for
 * ever.
 */
const char *ed_sim_call_name(enum ed_sim_call call);
const int *ed_sim_call_errors(enum ed_sim_call call);

/* Returns true for a transient error: the program's result must not depend on it. */
bool ed_sim_is_passing(enum ed_sim_call call, int err);

/*
 * Set the link of connections whose sockets are made from now on; NULL: the initial link. Errors:
 * -EINVAL  a number is out of range.
 */
int ed_sim_link_set(struct ed_sys *sys, const struct ed_sim_link *link);

/* Set only the cut of that link. */
void ed_sim_cut(struct ed_sys *sys, int how, bool by_server, uint64_t bytes);

/*
 * Make two connected sockets. 'link' may be NULL: the current link. The first socket is the server.
 * Not a fallible call. Errors: -EINVAL, -EMFILE, -ENOMEM.
 */
int ed_sim_pair(struct ed_sys *sys, const struct ed_sim_link *link, int ret_fds[2]);

/*
 * Make a pipe: the first descriptor is for reading, the second for writing. To the program they are
 * not sockets. Errors as ed_sim_pair().
 */
int ed_sim_pipe(struct ed_sys *sys, int ret_fds[2]);

/*
 * From now on 'name' has 'n' addresses; 0: it exists without addresses. A name that was never added
 * does not exist. Errors: -EINVAL  too long or too many; -ENOSPC.
 */
int ed_sim_name_add(struct ed_sys *sys, const char *name, const struct eddy_address *addresses,
                    size_t n);

/*
 * From now on nothing answers at an address, as with a firewall that drops packets: connects to it
 * fail with -ETIMEDOUT after two minutes. Errors: -ENOSPC.
 */
int ed_sim_address_dead(struct ed_sys *sys, const struct eddy_address *address);

/*
 * Set the duration of later jobs to 'job_ns' (above 0), or, with a seed, a random duration up to
 * twice that. The default is a millisecond.
 */
void ed_sim_job_ns(struct ed_sys *sys, int64_t job_ns);

/*
 * The simulated disk (sim/disk.h) loses power now, or in the n-th file operation from now (1: the
 * next; 0: not). All operations then fail with -EIO until the power is on again; files that were
 * open stay useless. Stores the number of states that the crash can leave, if the power is off
 * already that of the former crash. Errors: -ENOMEM.
 */
int ed_sim_power_off(struct ed_sys *sys, uint64_t *ret_states);
void ed_sim_power_off_at(struct ed_sys *sys, uint64_t n);

/* Returns the number of file operations so far. */
uint64_t ed_sim_file_ops(const struct ed_sys *sys);

/*
 * Switch the power on, with the disk in one of those states (below that number). May be repeated
 * for another state of the same crash. Errors: -EINVAL: there are fewer states; -ENOMEM.
 */
int ed_sim_power_on(struct ed_sys *sys, uint64_t state);

#endif
