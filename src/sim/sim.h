/*
 * sim/sim.h - a table that stands on nothing: a clock that jumps, chance that
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

#define ED_SIM_DELAY_MAX ((int64_t) 1 << 55) /* of each kind: more than a year */

enum {
        ED_SIM_CUT_NONE,
        ED_SIM_CUT_END,   /* the receiver gets those bytes and the end of the stream */
        ED_SIM_CUT_RESET, /* the receiver gets those bytes and a reset */
};

/* The calls that can fail, by kind. */
enum ed_sim_call {
        ED_SIM_CALL_POLL = 1, /* only by being interrupted, which is 0 events */
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
        ED_SIM_CALLS,
};

/* As an error of a transfer: it moves a part of what it could, one byte at least. */
enum { ED_SIM_SHORT = -0xffff };

/* How a connection is; what is random follows from the seed.  All zero: at once and whole. */
struct ed_sim_link {
        int64_t latency_ns; /* bytes, ends and the connection itself arrive that much later */
        int64_t jitter_ns;  /* and up to that much more; the order of one stream is kept */
        bool chop;          /* transfers move a random part of what they could */
        bool urgent;  /* with urgent data: receives end early, and no event tells of the rest */
        bool reorder; /* it may overtake others that are to be accepted or told of */
        uint32_t buffer_bytes; /* between the two ends, each way; 0: 64 KiB */

        /* After so many bytes that who accepted ('by_server') or who connected has sent. */
        bool by_server;
        int cut; /* ED_SIM_CUT_*; the sender gets a reset.  With 0 bytes: at the first send */
        uint64_t cut_bytes;
        int64_t stall_ns; /* nothing of what it sends then arrives for so long; 0: no stall */
        uint64_t stall_bytes;
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
        uint64_t seed;      /* 0: the first in goes first, nothing is random */
        int64_t latency_ns; /* these five: as in a link, until another is set */
        int64_t jitter_ns;
        bool chop;
        bool urgent;
        uint32_t buffer_bytes;
        uint32_t backlog;       /* connections not accepted yet; 0: 128 */
        uint32_t sockets_max;   /* 0: 1024 */
        uint32_t fail_one_in;   /* as ed_sim_fail_often() */
        bool fail_passing;      /* that, by errors that pass only */
        struct ed_sim_end *end; /* NULL: not wanted */
        uint8_t *kinds;         /* of the fallible calls as they are made, enum ed_sim_call */
        uint64_t kinds_skip;    /* so many are not noted, before those that are */
        size_t kinds_max;       /* room there; those beyond it are not noted */
        void (*at_fault)(enum ed_sim_call call); /* in each call that is made to fail; or NULL */
};

/* Errors: -EINVAL  a number is out of range; -ENOMEM. */
int ed_sim_new(const struct ed_sim_opts *opts, struct ed_sys **ret_sys);

/* Whether a table is a simulation, also if functions of it were replaced. */
bool ed_sys_is_sim(const struct ed_sys *sys);

/* The hash of all that happened so far. */
uint64_t ed_sim_trace(const struct ed_sys *sys);

/* How many sockets are open, and how many fallible calls were made. */
uint64_t ed_sim_sockets(const struct ed_sys *sys);
uint64_t ed_sim_calls(const struct ed_sys *sys);

/*
 * Fail the n-th fallible call from now (1: the next) with 'err', and none
 * after it.  n 0 takes it back.  Nothing else comes of that call, but: what a
 * call that was put off (-EAGAIN) or is short leaves behind is told of by
 * another event, as if it had come the moment after.
 */
void ed_sim_fail_at(struct ed_sys *sys, uint64_t n, int err);

/*
 * From now on each fallible call fails with a chance of one in 'one_in', by
 * one of the errors that it may give; 0: none does.  Needs a seed.
 */
void ed_sim_fail_often(struct ed_sys *sys, uint32_t one_in);

/* The name of a kind of call, and the errors that it may give: 0 after the last.  Valid for ever. */
const char *ed_sim_call_name(enum ed_sim_call call);
const int *ed_sim_call_errors(enum ed_sim_call call);

/* Whether such an error passes: a program must end as without it. */
bool ed_sim_is_passing(enum ed_sim_call call, int err);

/*
 * How connections are whose sockets are made from now on; NULL: as at first.
 * Errors: -EINVAL  a number is out of range.
 */
int ed_sim_link_set(struct ed_sys *sys, const struct ed_sim_link *link);

/* Of that, the cut alone. */
void ed_sim_cut(struct ed_sys *sys, int how, bool by_server, uint64_t bytes);

/*
 * Two sockets that are connected to each other; 'link' may be NULL: as set.
 * The first one is the server.  Not one of the fallible calls.
 * Errors: -EINVAL, -EMFILE, -ENOMEM.
 */
int ed_sim_pair(struct ed_sys *sys, const struct ed_sim_link *link, int ret_fds[2]);

/*
 * A pipe: the first is read from, the second written to.  To the program it
 * is no socket.  Errors as ed_sim_pair().
 */
int ed_sim_pipe(struct ed_sys *sys, int ret_fds[2]);

/*
 * Let 'name' have 'n' addresses from now on; 0: it exists and has none.  A
 * name that was never added does not exist.  Errors: -EINVAL  too long or too
 * many; -ENOSPC.
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
