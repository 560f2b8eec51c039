/*
 * sim/sim.c - the simulated table: its clock, randomness, trace and names. Sockets are in net.c,
 * delay.c and stream.c (see socket.h), threads in worker.c, failures in fault.c.
 */
#include "sim/sim.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "eddy/error.h"
#include "sim/table.h"

/* The clock starts far from 0, which means "no deadline" in many places. */
#define START_NS    ((int64_t) 1000 * 1000000000)
#define WALL_OFFSET ((int64_t) 1800000000 * 1000000000)

/*
 * Time that a non-waiting poll takes, so that a program that spins until a certain time reaches it.
 */
enum { BUSY_POLL_NS = 1000, JOB_NS = 1000000 };

enum {
        BUFFER_BYTES = 64 * 1024,
        BACKLOG = 128,
        SOCKETS_MAX = 1024,
        STUCK_MAX = 100000,
};

/* --- randomness --- */

/* The bias of a remainder is below 2^-32 for the small numbers asked for here. */
uint64_t ed_sim_chance(struct ed_sim *sim, uint64_t n)
{
        return sim->opts.seed ? ed_xoshiro_next(&sim->chance) % n : 0;
}

static void sim_random(struct ed_sys *sys, void *buf, size_t bytes)
{
        struct ed_sim *sim = ed_sim_of(sys);
        char *at = buf;

        while (bytes > 0) {
                uint64_t word = ed_xoshiro_next(&sim->entropy);
                size_t n = bytes < sizeof(word) ? bytes : sizeof(word);

                memcpy(at, &word, n);
                at += n;
                bytes -= n;
        }
}

void ed_sim_chose(struct ed_sys *sys, uint32_t n, uint32_t chosen)
{
        ed_sim_mark(ed_sim_of(sys), ED_SIM_CHOSE, n, chosen);
}

static uint32_t sim_choose(struct ed_sys *sys, uint32_t n)
{
        uint32_t chosen = (uint32_t) ed_sim_chance(ed_sim_of(sys), n);

        ed_sim_chose(sys, n, chosen);
        return chosen;
}

/* --- the trace --- */

void ed_sim_mark(struct ed_sim *sim, enum ed_sim_mark what, uint64_t a, uint64_t b)
{
        uint64_t mark[] = { what, a, b };

        sim->trace = ed_hash(sim->trace, mark, sizeof(mark));
}

uint64_t ed_sim_trace(const struct ed_sys *sys)
{
        return ed_sim_of((struct ed_sys *) sys)->trace;
}

/* --- links --- */

bool ed_sim_link_check(struct ed_sim_link *link)
{
        const int64_t delays[] = { link->latency_ns, link->jitter_ns, link->stall_ns };

        for (size_t i = 0; i < ed_array_count(delays); i++)
                if (delays[i] < 0 || delays[i] > ED_SIM_DELAY_MAX)
                        return false;
        if (link->cut < ED_SIM_CUT_NONE || link->cut > ED_SIM_CUT_RESET ||
            link->buffer_bytes > ED_SIM_BUFFER_MAX)
                return false;
        if (link->buffer_bytes == 0)
                link->buffer_bytes = BUFFER_BYTES;
        return true;
}

int ed_sim_link_set(struct ed_sys *sys, const struct ed_sim_link *link)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_link checked = link ? *link : sim->first_link;

        if (!ed_sim_link_check(&checked))
                return -EINVAL;
        sim->link = checked;
        return 0;
}

void ed_sim_cut(struct ed_sys *sys, int how, bool by_server, uint64_t bytes)
{
        struct ed_sim_link *link = &ed_sim_of(sys)->link;

        link->cut = how;
        link->by_server = by_server;
        link->cut_bytes = bytes;
}

/* --- names --- */

/* Returns NULL if the name was never added. */
static struct ed_sim_name *name_find(struct ed_sim *sim, const char *name)
{
        for (size_t i = 0; i < sim->names_count; i++)
                if (strcasecmp(sim->names[i].name, name) == 0)
                        return &sim->names[i];
        return NULL;
}

int ed_sim_name_add(struct ed_sys *sys, const char *name, const struct eddy_address *addresses,
                    size_t n)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct ed_sim_name *entry = name_find(sim, name);
        size_t bytes = strlen(name);

        if (bytes == 0 || bytes > EDDY_DNS_NAME_MAX || n > EDDY_DNS_ADDRESSES_MAX)
                return -EINVAL;
        if (!entry) {
                if (sim->names_count == ED_SIM_NAMES_MAX)
                        return -ENOSPC;
                entry = &sim->names[sim->names_count++];
                memcpy(entry->name, name, bytes + 1);
        }
        if (n > 0)
                memcpy(entry->addresses, addresses, n * sizeof(*addresses));
        entry->n = n;
        return 0;
}

static int sim_lookup(struct ed_sys *sys, const char *name, struct eddy_address *ret_addresses,
                      size_t max)
{
        struct ed_sim *sim = ed_sim_of(sys);
        const struct ed_sim_name *entry = name_find(sim, name);
        int err = ed_sim_fault(sim, ED_SIM_CALL_LOOKUP);
        size_t n;

        if (err < 0)
                return err;
        if (!entry)
                return EDDY_E_DNS_NOT_FOUND;
        n = entry->n < max ? entry->n : max;
        if (n == 0)
                return EDDY_E_DNS_NO_ADDRESS;
        memcpy(ret_addresses, entry->addresses, n * sizeof(*ret_addresses));
        return (int) n;
}

int ed_sim_address_dead(struct ed_sys *sys, const struct eddy_address *address)
{
        struct ed_sim *sim = ed_sim_of(sys);

        if (ed_sim_is_dead(sim, address))
                return 0;
        if (sim->dead_count == ED_SIM_DEAD_MAX)
                return -ENOSPC;
        sim->dead[sim->dead_count++] = *address;
        return 0;
}

/* --- the clock --- */

static int64_t sim_now(struct ed_sys *sys)
{
        return ed_sim_of(sys)->now_ns;
}

static int64_t sim_time_of_day(struct ed_sys *sys)
{
        return ed_sim_of(sys)->now_ns - START_NS + WALL_OFFSET;
}

static void sim_wake(struct ed_sys *sys)
{
        atomic_store_explicit(&ed_sim_of(sys)->woken, true, memory_order_release);
}

/* Returns the earlier of two times; -1 is never. */
static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
        if (a_ns < 0 || b_ns < 0)
                return a_ns < 0 ? b_ns : a_ns;
        return a_ns < b_ns ? a_ns : b_ns;
}

/* Deliver everything due and store at most 'max' events. */
static int collect(struct ed_sim *sim, struct ed_event *events, int max)
{
        int n;

        ed_sim_net_deliver(sim);
        n = ed_sim_net_collect(sim, events, max);
        n += ed_sim_file_collect(sim, events + n, max - n);
        return n + ed_sim_worker_collect(sim, events + n, max - n);
}

static bool take_wake(struct ed_sim *sim)
{
        return atomic_exchange_explicit(&sim->woken, false, memory_order_acquire);
}

/*
 * Advance the clock to the next arrival repeatedly, until there is an event, a job has woken the
 * table, or the time is 'until_ns' (-1: no limit).
 */
static int wait_until(struct ed_sim *sim, int64_t until_ns, struct ed_event *events, int max)
{
        int n = 0;

        while (n == 0 && sim->now_ns != until_ns && !take_wake(sim)) {
                int64_t next_ns = earlier(ed_sim_net_next(sim), ed_sim_worker_next(sim));

                next_ns = earlier(next_ns, ed_sim_file_next(sim));
                if (next_ns < 0 && until_ns < 0)
                        return -EDEADLK;
                sim->now_ns = earlier(next_ns, until_ns);
                n = collect(sim, events, max);
        }
        return n;
}

/* An unlimited wait with nothing in transit would never end, so it returns -EDEADLK at once. */
static int sim_poll(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max)
{
        struct ed_sim *sim = ed_sim_of(sys);
        int64_t until_ns = -1;
        int n;

        if (timeout_ns == 0)
                sim->now_ns += BUSY_POLL_NS;
        if (ed_sim_fault(sim, ED_SIM_CALL_POLL) < 0)
                return 0; /* interrupted: the next poll reports the events */
        if (timeout_ns > 0 && __builtin_add_overflow(sim->now_ns, timeout_ns, &until_ns))
                until_ns = INT64_MAX;
        n = collect(sim, events, max);
        if (n == 0 && timeout_ns != 0)
                n = wait_until(sim, until_ns, events, max);
        (void) take_wake(sim);
        ed_sim_mark(sim, ED_SIM_POLLED, (uint64_t) sim->now_ns, (uint64_t) n);
        sim->stuck = n == -EDEADLK ? sim->stuck + 1 : 0;
        ed_assert(sim->stuck < STUCK_MAX,
                  "the loop polls a simulation for ever in which nothing can happen any more");
        return n;
}

/* --- the table --- */

static void sim_free(struct ed_sys *sys)
{
        struct ed_sim *sim = ed_sim_of(sys);

        if (sim->opts.end)
                *sim->opts.end = (struct ed_sim_end){
                        .trace = sim->trace,
                        .calls = sim->calls,
                        .faults = sim->faults,
                        .sockets = sim->sockets_open + sim->files_open + sim->left_open,
                        .moved = sim->moved,
                        .lasted_ns = sim->now_ns - START_NS,
                };
        ed_sim_worker_fini(sim);
        ed_sim_file_fini(sim);
        ed_sim_net_fini(sim);
        ed_free(sim->names);
        ed_free(sim);
}

static const char sim_name[] = "sim";

static const struct ed_sys_poll poll_table = {
        .now = sim_now,
        .time_of_day = sim_time_of_day,
        .random = sim_random,
        .poll = sim_poll,
        .wake = sim_wake,
        .watch = ed_sim_watch,
        .unwatch = ed_sim_unwatch,
        .is_readable = ed_sim_is_readable,
        .is_writable = ed_sim_is_writable,
        .ready = ed_sim_ready,
        .watch_foreign = ed_sim_watch_foreign,
        .rewatch_foreign = ed_sim_rewatch_foreign,
        .unwatch_foreign = ed_sim_unwatch_foreign,
};

static const struct ed_sys_socket socket_table = {
        .open = ed_sim_socket,
        .keepalive = ed_sim_keepalive,
        .bind = ed_sim_bind,
        .connect = ed_sim_connect,
        .connect_result = ed_sim_connect_result,
        .listen = ed_sim_listen,
        .file_remove = ed_sim_socket_file_remove,
        .endpoint = ed_sim_endpoint,
        .accept = ed_sim_accept,
        .recv = ed_sim_recv,
        .send = ed_sim_send,
        .send_file = ed_sim_send_file,
        .limit_unsent = ed_sim_limit_unsent,
        .unsent = ed_sim_unsent,
        .read = ed_sim_read,
        .write = ed_sim_write,
        .shutdown = ed_sim_shutdown,
        .close = ed_sim_close,
        .abort = ed_sim_abort,
};

static const struct ed_sys_datagram datagram_table = {
        .bind_port = ed_sim_bind_port,
        .option = ed_sim_option,
        .option_value = ed_sim_option_value,
        .group = ed_sim_group,
        .send = ed_sim_send_datagrams,
        .recv = ed_sim_recv_datagrams,
        .error = ed_sim_datagram_error,
};

static const struct ed_sys_file file_table = {
        .try_run = ed_sim_file_try,
        .run = ed_sim_file_run,
};

static const struct ed_sys_file_queue file_queue_table = {
        .submit = ed_sim_submit,
        .cancel = ed_sim_cancel,
};

static const struct ed_sys_worker worker_table = {
        .cpu_count = ed_sim_cpu_count,
        .start = ed_sim_worker_new,
        .run = ed_sim_worker_run,
        .end = ed_sim_worker_free,
        .abandon = ed_sim_worker_abandon,
};

static const struct ed_sys sim_table = {
        .name = sim_name,
        .free = sim_free,
        .poll = &poll_table,
        .socket = &socket_table,
        .datagram = &datagram_table,
        .file = &file_table,
        .file_queue = &file_queue_table,
        .worker = &worker_table,
        .choose = sim_choose,
        .lookup = sim_lookup,
};

bool ed_sys_is_sim(const struct ed_sys *sys)
{
        return sys->name == sim_name;
}

/* Replace 0 by the default. */
static void opts_default(uint32_t *number, uint32_t value)
{
        if (*number == 0)
                *number = value;
}

int ed_sim_new(const struct ed_sim_opts *opts, struct ed_sys **ret_sys)
{
        struct ed_sim_link link = {
                .latency_ns = opts->latency_ns,
                .jitter_ns = opts->jitter_ns,
                .chop = opts->chop,
                .urgent = opts->urgent,
                .buffer_bytes = opts->buffer_bytes,
        };
        struct ed_sim *sim;
        int err;

        if (!ed_sim_link_check(&link) || opts->sockets_max > ED_SIM_SOCKETS_MAX)
                return -EINVAL;
        sim = ed_alloc_zero(sizeof(*sim));
        if (!sim)
                return -ENOMEM;
        sim->sys = sim_table;
        sim->opts = *opts;
        sim->link = sim->first_link = link;
        opts_default(&sim->opts.backlog, BACKLOG);
        opts_default(&sim->opts.sockets_max, SOCKETS_MAX);
        sim->now_ns = START_NS;
        sim->job_ns = JOB_NS;
        ed_list_init(&sim->running);
        sim->trace = ED_HASH_EMPTY;
        ed_xoshiro_init(&sim->chance, opts->seed);
        ed_xoshiro_init(&sim->entropy, ~opts->seed);
        sim->names = ed_alloc_zero(ED_SIM_NAMES_MAX * sizeof(*sim->names));
        if (!sim->names) {
                err = -ENOMEM;
                goto fail_free;
        }
        err = ed_sim_net_init(sim);
        if (err < 0)
                goto fail_names;
        err = ed_sim_file_init(sim);
        if (err < 0)
                goto fail_net;
        *ret_sys = &sim->sys;
        return 0;

fail_net:
        ed_sim_net_fini(sim);
fail_names:
        ed_free(sim->names);
fail_free:
        ed_free(sim);
        return err;
}
