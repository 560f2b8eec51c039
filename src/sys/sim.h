/*
 * sys/sim.h - a table that stands on nothing: a clock that jumps, chance that
 * comes from a seed, and sockets in memory.
 *
 * The clock moves only in poll(): to the next deadline or arrival when nothing
 * has happened, so that a minute of waiting takes no time.  All that is random
 * follows from the seed, and the trace is a hash of all that was decided and
 * moved: the same seed and program give the same trace.
 *
 * Sockets behave as the kernel's on the loopback do: bounded buffers, resets,
 * ends, backlogs, edges.  Descriptors are small integers from
 * ED_SIM_FD_FIRST up, the lowest free one first; they are none of the
 * process's.
 *
 * Threads are none either: the function of a job is called in poll(), on the
 * loop's own thread, when the time that the job lasts has passed.
 */
#ifndef ED_SYS_SIM_H
#define ED_SYS_SIM_H

#include "sys/sys.h"

enum {
        ED_SIM_FD_FIRST = 3,
        ED_SIM_SOCKETS_MAX = 65536,
        ED_SIM_BUFFER_MAX = 1 << 24,
        ED_SIM_NAMES_MAX = 32,
        ED_SIM_DEAD_MAX = 8,
};

/* What a simulation came to; filled when its table is freed. */
struct ed_sim_end {
        uint64_t trace;
        uint64_t calls;   /* fallible ones made */
        uint64_t faults;  /* injected */
        uint64_t sockets; /* not closed by the program */
        uint64_t moved;   /* bytes received */
        int64_t lasted_ns;
};

/* All zero: nothing is random, late or cut. */
struct ed_sim_opts {
        uint64_t seed;          /* 0: the first in goes first, nothing is random */
        int64_t latency_ns;     /* bytes and connections arrive that much later */
        int64_t jitter_ns;      /* and up to that much more, by the seed; order is kept */
        bool chop;              /* transfers move a random part of what they could, by the seed */
        uint32_t buffer_bytes;  /* between two sockets, each way; 0: 64 KiB */
        uint32_t backlog;       /* connections not accepted yet; 0: 128 */
        uint32_t sockets_max;   /* 0: 1024 */
        struct ed_sim_end *end; /* NULL: not wanted */
};

/* Errors: -EINVAL  a number is out of range; -ENOMEM. */
int ed_sys_sim_new(const struct ed_sim_opts *opts, struct ed_sys **ret_sys);

/* The hash of all that happened so far. */
uint64_t ed_sim_trace(const struct ed_sys *sys);

/* How many sockets are open, and how many fallible calls were made. */
uint64_t ed_sim_sockets(const struct ed_sys *sys);
uint64_t ed_sim_calls(const struct ed_sys *sys);

/*
 * Fail the n-th fallible call from now (1: the next) with 'err', and none
 * after it; nothing else comes of that call.  n 0 takes it back.  Fallible
 * are watch, socket, connect, listen, accept, recv, send, read, write,
 * shutdown, lookup and worker_new.
 */
void ed_sim_fail_at(struct ed_sys *sys, uint64_t n, int err);

enum {
        ED_SIM_CUT_NONE,
        ED_SIM_CUT_END,   /* the receiver gets those bytes and the end of the stream */
        ED_SIM_CUT_RESET, /* the receiver gets those bytes and a reset */
};

/*
 * Cut each connection made from now on once 'bytes' bytes were sent on it by
 * the side that accepted ('by_server') or connected; the sender gets a reset.
 * With 0 bytes it is cut at the first send.
 */
void ed_sim_cut(struct ed_sys *sys, int how, bool by_server, uint64_t bytes);

/*
 * Let 'name' have 'n' addresses; 0: it exists and has none.  A name that was
 * never added does not exist.  Errors: -EINVAL  too long or too many; -ENOSPC.
 */
int ed_sim_name_add(struct ed_sys *sys, const char *name, const struct eddy_address *addresses,
                    size_t n);

/*
 * Let nothing answer at an address, as behind a firewall that drops packets:
 * connects to it end in -ETIMEDOUT after two minutes.  Errors: -ENOSPC.
 */
int ed_sim_address_dead(struct ed_sys *sys, const struct eddy_address *address);

/*
 * Let jobs that are given to workers from now on last 'job_ns' (above 0), or,
 * with a seed, up to twice that.  It is a millisecond before.
 */
void ed_sim_job_ns(struct ed_sys *sys, int64_t job_ns);

#endif
