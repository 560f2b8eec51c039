/*
 * sim/table.h - the simulated table, for the files of sim.
 */
#ifndef ED_SIM_TABLE_H
#define ED_SIM_TABLE_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/random.h"
#include "sim/disk.h"
#include "sim/sim.h"

struct ed_sim_name {
        char name[EDDY_DNS_NAME_MAX + 1];
        size_t n;
        struct eddy_address addresses[EDDY_DNS_ADDRESSES_MAX];
};

struct ed_sim_socket;
struct ed_sim_file;

struct ed_sim {
        struct ed_sys sys;
        struct ed_sim_opts opts; /* with the defaults filled in */
        int64_t now_ns;
        _Atomic bool woken;
        unsigned stuck;            /* consecutive polls that had nothing to wait for */
        struct ed_xoshiro chance;  /* for the table's decisions */
        struct ed_xoshiro entropy; /* for the program */
        uint64_t trace;
        uint64_t moved;
        uint64_t calls, faults, fail_at;
        int fail_err;
        bool shorten; /* shorten the current transfer */

        struct ed_list ready;           /* sockets with a change to report */
        struct ed_list flying;          /* sockets with data in transit to them */
        struct ed_sim_socket **sockets; /* indexed by descriptor, from ED_SIM_FD_FIRST up */
        uint32_t sockets_open;
        uint32_t lowest_free; /* all below are in use */
        uint16_t next_port;
        struct ed_sim_link link, first_link; /* for new connections; initial value */
        struct eddy_address dead[ED_SIM_DEAD_MAX];
        size_t dead_count;
        struct ed_sim_name *names;
        size_t names_count;

        struct ed_list running; /* workers with a job */
        uint32_t workers;       /* number made so far */
        int64_t job_ns;         /* duration of a job */

        struct ed_disk disk;
        struct ed_sim_file *files; /* indexed by descriptor */
        size_t files_count;
        uint32_t files_open;
        uint32_t left_open;       /* descriptors that the end of the loop closed */
        struct ed_list submitted; /* operations that are not done */
        uint64_t file_ops;        /* number done so far */
        uint64_t power_off_at, crash_states;
        uint64_t crashes; /* and returns of the power */
};

static inline struct ed_sim *ed_sim_of(struct ed_sys *sys)
{
        return ed_container_of(sys, struct ed_sim, sys);
}

/* Events in the trace. */
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
        ED_SIM_FILE,
};

void ed_sim_mark(struct ed_sim *sim, enum ed_sim_mark what, uint64_t a, uint64_t b);

/* Returns a random number below 'n', which must be above 0; without a seed, 0. */
uint64_t ed_sim_chance(struct ed_sim *sim, uint64_t n);

/* Count a fallible call. Returns 0, or the error that the call must return. */
int ed_sim_fault(struct ed_sim *sim, enum ed_sim_call call);

/* --- sockets --- */

/* Returns true if all numbers are in range; fills in the default. */
bool ed_sim_link_check(struct ed_sim_link *link);

/* Errors: -ENOMEM. */
int ed_sim_net_init(struct ed_sim *sim);
void ed_sim_net_fini(struct ed_sim *sim);

/* Returns true for 0.0.0.0 and ::. */
bool ed_sim_is_any(const struct eddy_address *address);

/* Returns true if nothing answers at the address. */
bool ed_sim_is_dead(const struct ed_sim *sim, const struct eddy_address *address);

/* Returns the time of the next arrival, or -1. */
int64_t ed_sim_net_next(const struct ed_sim *sim);

/* Deliver everything due, in order of time. */
void ed_sim_net_deliver(struct ed_sim *sim);

/* Store at most 'max' changes of readiness; returns the number stored. */
int ed_sim_net_collect(struct ed_sim *sim, struct ed_event *events, int max);

int ed_sim_watch(struct ed_sys *sys, int fd, struct ed_target *target);
void ed_sim_unwatch(struct ed_sys *sys, int fd);
bool ed_sim_is_readable(struct ed_sys *sys, int fd);
bool ed_sim_is_writable(struct ed_sys *sys, int fd);
int ed_sim_ready(struct ed_sys *sys, int fd, unsigned events);
int ed_sim_watch_foreign(struct ed_sys *sys, int fd, unsigned events, struct ed_target *target);
int ed_sim_rewatch_foreign(struct ed_sys *sys, int watched, unsigned events,
                           struct ed_target *target);
void ed_sim_unwatch_foreign(struct ed_sys *sys, int watched, struct ed_target *target);
int ed_sim_socket(struct ed_sys *sys, int family, int kind);
int ed_sim_keepalive(struct ed_sys *sys, int fd, int seconds);
int ed_sim_bind(struct ed_sys *sys, int fd, const struct eddy_endpoint *local);
int ed_sim_connect(struct ed_sys *sys, int fd, const struct eddy_endpoint *to);
int ed_sim_connect_result(struct ed_sys *sys, int fd);
int ed_sim_listen(struct ed_sys *sys, int fd, const struct eddy_endpoint *at,
                  const struct ed_listen_opts *opts, struct ed_socket_file *ret_file);
void ed_sim_socket_file_remove(struct ed_sys *sys, const struct eddy_endpoint *at,
                               const struct ed_socket_file *file);
int ed_sim_endpoint(struct ed_sys *sys, int fd, enum eddy_stream_end end,
                    struct eddy_endpoint *ret_endpoint);
int ed_sim_accept(struct ed_sys *sys, int fd);
int64_t ed_sim_recv(struct ed_sys *sys, int fd, void *buf, size_t bytes);
int64_t ed_sim_send(struct ed_sys *sys, int fd, const struct eddy_slice *slices, size_t n);
int64_t ed_sim_send_file(struct ed_sys *sys, int fd, int file, int64_t offset, size_t bytes);
void ed_sim_limit_unsent(struct ed_sys *sys, int fd, bool is_limited);
uint64_t ed_sim_unsent(struct ed_sys *sys, int fd);
int64_t ed_sim_read(struct ed_sys *sys, int fd, void *buf, size_t bytes);
int64_t ed_sim_write(struct ed_sys *sys, int fd, const void *data, size_t bytes, bool may_signal);
int ed_sim_shutdown(struct ed_sys *sys, int fd);
void ed_sim_close(struct ed_sys *sys, int fd);
void ed_sim_abort(struct ed_sys *sys, int fd);

int ed_sim_bind_port(struct ed_sys *sys, int fd, const struct eddy_endpoint *at);
int ed_sim_option(struct ed_sys *sys, int fd, int family, int option, int value);
int ed_sim_option_value(struct ed_sys *sys, int fd, int family, int option);
int ed_sim_group(struct ed_sys *sys, int fd, const struct eddy_address *group,
                 uint32_t interface_id, bool join);
int ed_sim_send_datagrams(struct ed_sys *sys, int fd, const struct eddy_udp_message *messages,
                          size_t n);
int ed_sim_recv_datagrams(struct ed_sys *sys, int fd, struct eddy_udp_message *messages, size_t n);
int ed_sim_datagram_error(struct ed_sys *sys, int fd, struct eddy_udp_error *ret_error);

/* --- files --- */

/* Errors: -ENOMEM. */
int ed_sim_file_init(struct ed_sim *sim);
void ed_sim_file_fini(struct ed_sim *sim);

bool ed_sim_is_file(int fd);

/* Read bytes of a file at 'offset'. Returns their number; 0 at the end. Errors: -EBADF, -EIO. */
int64_t ed_sim_file_copy(struct ed_sim *sim, int fd, void *buf, size_t bytes, uint64_t offset);
void ed_sim_file_close(struct ed_sim *sim, int fd);

/* Returns the time when the next operation is done, or -1. */
int64_t ed_sim_file_next(const struct ed_sim *sim);

/* Do the operations whose time has come; returns the number of events stored, at most 'max'. */
int ed_sim_file_collect(struct ed_sim *sim, struct ed_event *events, int max);

int64_t ed_sim_file_try(struct ed_sys *sys, struct ed_file_op *op);
void ed_sim_file_run(struct ed_sys *sys, struct ed_file_op *op);
void ed_sim_submit(struct ed_sys *sys, struct ed_file_op *op);
bool ed_sim_cancel(struct ed_sys *sys, struct ed_file_op *op);

/* --- workers --- */

/* Run the unfinished jobs of abandoned workers. */
void ed_sim_worker_fini(struct ed_sim *sim);

/* Returns the time when the next job is done, or -1. */
int64_t ed_sim_worker_next(const struct ed_sim *sim);

/* Run the jobs whose time has come, and store at most 'max' events; returns the number stored. */
int ed_sim_worker_collect(struct ed_sim *sim, struct ed_event *events, int max);

uint32_t ed_sim_cpu_count(struct ed_sys *sys);
int ed_sim_worker_new(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker);
void ed_sim_worker_run(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job);
void ed_sim_worker_free(struct ed_sys *sys, struct ed_worker *worker);
void ed_sim_worker_abandon(struct ed_sys *sys, struct ed_worker *worker);

#endif
