/*
 * sim/table.h - what lies in a simulated table; for its own files.
 */
#ifndef ED_SIM_TABLE_H
#define ED_SIM_TABLE_H

#include <stdatomic.h>

#include "base/list.h"
#include "sim/sim.h"

/* Four words of xoshiro256**. */
struct ed_sim_random {
        uint64_t word[4];
};

struct ed_sim_name {
        char name[EDDY_DNS_NAME_MAX + 1];
        size_t n;
        struct eddy_address addresses[EDDY_DNS_ADDRESSES_MAX];
};

struct ed_sim_socket;

struct ed_sim {
        struct ed_sys sys;
        struct ed_sim_opts opts; /* with the defaults filled in */
        int64_t now_ns;
        _Atomic bool woken;
        unsigned stuck;               /* polls in a row that could wait for nothing */
        struct ed_sim_random chance;  /* of what the table decides */
        struct ed_sim_random entropy; /* of what the program asks for */
        uint64_t trace;
        uint64_t moved;
        uint64_t calls, faults, fail_at;
        int fail_err;
        bool shorten; /* the transfer under way is to be short */

        struct ed_list ready;           /* sockets with a change to report */
        struct ed_list flying;          /* sockets that something is on its way to */
        struct ed_sim_socket **sockets; /* by descriptor, from ED_SIM_FD_FIRST up */
        uint32_t sockets_open;
        uint32_t lowest_free; /* none below it is free */
        uint16_t next_port;
        struct ed_sim_link link, first_link; /* of connections from now on; at first */
        struct eddy_address dead[ED_SIM_DEAD_MAX];
        size_t dead_count;
        struct ed_sim_name *names;
        size_t names_count;

        struct ed_list running; /* workers that have a job */
        uint32_t workers;       /* made so far */
        int64_t job_ns;         /* how long a job lasts */
};

static inline struct ed_sim *ed_sim_of(struct ed_sys *sys)
{
        return ed_container_of(sys, struct ed_sim, sys);
}

/* Words of the trace: what happened. */
enum ed_sim_mark {
        ED_SIM_CHOSE = 1,
        ED_SIM_POLLED,
        ED_SIM_EVENT,
        ED_SIM_FAILED,
        ED_SIM_OPENED,
        ED_SIM_CONNECTED,
        ED_SIM_ACCEPTED,
        ED_SIM_RECEIVED,
        ED_SIM_SENT,
        ED_SIM_SHUT,
        ED_SIM_CLOSED,
        ED_SIM_CUT_OFF,
        ED_SIM_WORKER,
        ED_SIM_JOB,
};

void ed_sim_mark(struct ed_sim *sim, enum ed_sim_mark what, uint64_t a, uint64_t b);

/* Below 'n', by the seed; 0 without one.  'n' above 0. */
uint64_t ed_sim_chance(struct ed_sim *sim, uint64_t n);

/* Whether this fallible call is the one to fail: 0, or the error it fails with. */
int ed_sim_fault(struct ed_sim *sim, enum ed_sim_call call);

/* --- of the sockets --- */

/* Whether all numbers of it are in range; fills in the default. */
bool ed_sim_link_check(struct ed_sim_link *link);

/* Errors: -ENOMEM. */
int ed_sim_net_init(struct ed_sim *sim);
void ed_sim_net_fini(struct ed_sim *sim);

/* Whether nothing answers there. */
bool ed_sim_is_dead(const struct ed_sim *sim, const struct eddy_address *address);

/* When the next thing arrives somewhere, or -1. */
int64_t ed_sim_net_next(const struct ed_sim *sim);

/* Let arrive what is due, in the order of time. */
void ed_sim_net_deliver(struct ed_sim *sim);

/* Store at most 'max' changes of readiness; returns how many. */
int ed_sim_net_collect(struct ed_sim *sim, struct ed_event *events, int max);

int ed_sim_watch(struct ed_sys *sys, int fd, struct ed_target *target);
void ed_sim_unwatch(struct ed_sys *sys, int fd);
bool ed_sim_is_readable(struct ed_sys *sys, int fd);
bool ed_sim_is_writable(struct ed_sys *sys, int fd);
int ed_sim_socket(struct ed_sys *sys, int family, int kind);
int ed_sim_connect(struct ed_sys *sys, int fd, const struct eddy_address *address, uint16_t port);
int ed_sim_connect_result(struct ed_sys *sys, int fd);
int ed_sim_listen(struct ed_sys *sys, int fd, const struct eddy_address *address, uint16_t port);
int ed_sim_local_port(struct ed_sys *sys, int fd);
int ed_sim_accept(struct ed_sys *sys, int fd);
int64_t ed_sim_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes);
int64_t ed_sim_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n);
uint64_t ed_sim_unsent(struct ed_sys *sys, int fd);
int64_t ed_sim_read(struct ed_sys *sys, int fd, void *buf, size_t bytes);
int64_t ed_sim_write(struct ed_sys *sys, int fd, const void *data, size_t bytes, bool may_signal);
int ed_sim_shutdown(struct ed_sys *sys, int fd);
void ed_sim_close(struct ed_sys *sys, int fd);
void ed_sim_abort(struct ed_sys *sys, int fd);

/* --- of the workers --- */

/* Do the jobs that were abandoned and are not done yet. */
void ed_sim_worker_fini(struct ed_sim *sim);

/* When the next job is done, or -1. */
int64_t ed_sim_worker_next(const struct ed_sim *sim);

/* Call the functions of jobs whose end has come, and store at most 'max'; returns how many. */
int ed_sim_worker_collect(struct ed_sim *sim, struct ed_event *events, int max);

uint32_t ed_sim_cpu_count(struct ed_sys *sys);
int ed_sim_worker_new(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker);
void ed_sim_worker_run(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job);
void ed_sim_worker_free(struct ed_sys *sys, struct ed_worker *worker);
void ed_sim_worker_abandon(struct ed_sys *sys, struct ed_worker *worker);

#endif
