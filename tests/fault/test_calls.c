/*
 * test_calls.c - every call of the table that can fail made to fail, once with
 * each error that such a call may give.  An error is said or done without;
 * what passes (an interruption, a wake for nothing, a short transfer) is not
 * to be noticed.
 */
#include <errno.h>

#include "places.h"
#include "scenario.h"
#include "test.h"

enum { CALLS_MAX = 16384, SEEDS_FULL = 8 };

/* --- who calls --- */

static struct ed_sys table; /* as it was */
static uint64_t failing;    /* that call, as counted by the table */

static void note(const struct ed_sys *sys, const void *place)
{
        if (ed_sim_calls(sys) + 1 == failing)
                places_note(place);
}

/* A function of the table with its place there, its parameters and what they are called. */
#define NOTED(type, name, place, parameters, ...)                                                  \
        static type name##_noted parameters                                                        \
        {                                                                                          \
                note(sys, __builtin_return_address(0));                                            \
                return table.place(__VA_ARGS__);                                                   \
        }
#define SYS struct ed_sys *sys
#define AT  const struct eddy_endpoint *at

NOTED(int, poll, poll->poll, (SYS, int64_t timeout_ns, struct ed_event *events, int max), sys,
      timeout_ns, events, max)
NOTED(int, watch, poll->watch, (SYS, int fd, struct ed_target *target), sys, fd, target)
NOTED(int, socket, socket->open, (SYS, int family, int kind), sys, family, kind)
NOTED(int, keepalive, socket->keepalive, (SYS, int fd, int seconds), sys, fd, seconds)
NOTED(int, bind, socket->bind, (SYS, int fd, AT), sys, fd, at)
NOTED(int, connect, socket->connect, (SYS, int fd, AT), sys, fd, at)
NOTED(int, connect_result, socket->connect_result, (SYS, int fd), sys, fd)
NOTED(int, listen, socket->listen,
      (SYS, int fd, AT, const struct ed_listen_opts *opts, struct ed_socket_file *file), sys, fd,
      at, opts, file)
NOTED(int, accept, socket->accept, (SYS, int fd), sys, fd)
NOTED(int64_t, recv, socket->recv, (SYS, int fd, void *buf, size_t bytes), sys, fd, buf, bytes)
NOTED(int64_t, send, socket->send, (SYS, int fd, const struct eddy_slice *slices, size_t n), sys,
      fd, slices, n)
NOTED(int64_t, read, socket->read, (SYS, int fd, void *buf, size_t bytes), sys, fd, buf, bytes)
NOTED(int64_t, write, socket->write, (SYS, int fd, const void *data, size_t bytes, bool may_signal),
      sys, fd, data, bytes, may_signal)
NOTED(int, shutdown, socket->shutdown, (SYS, int fd), sys, fd)
NOTED(int, lookup, lookup, (SYS, const char *name, struct eddy_address *found, size_t max), sys,
      name, found, max)
NOTED(int, bind_port, datagram->bind_port, (SYS, int fd, AT), sys, fd, at)
NOTED(int, option, datagram->option, (SYS, int fd, int family, int option, int value), sys, fd,
      family, option, value)
NOTED(int, send_datagrams, datagram->send,
      (SYS, int fd, const struct eddy_udp_message *messages, size_t n), sys, fd, messages, n)
NOTED(int, recv_datagrams, datagram->recv,
      (SYS, int fd, struct eddy_udp_message *messages, size_t n), sys, fd, messages, n)
NOTED(int, worker_new, worker->start, (SYS, const char *name, struct ed_worker **worker), sys, name,
      worker)

static void note_calls(struct ed_sys *sys)
{
        static struct ed_sys_poll poll;
        static struct ed_sys_socket socket;
        static struct ed_sys_datagram datagram;
        static struct ed_sys_worker worker;

        table = *sys;
        poll = *sys->poll;
        poll.poll = poll_noted;
        poll.watch = watch_noted;
        sys->poll = &poll;
        socket = *sys->socket;
        socket.open = socket_noted;
        socket.keepalive = keepalive_noted;
        socket.bind = bind_noted;
        socket.connect = connect_noted;
        socket.connect_result = connect_result_noted;
        socket.listen = listen_noted;
        socket.accept = accept_noted;
        socket.recv = recv_noted;
        socket.send = send_noted;
        socket.read = read_noted;
        socket.write = write_noted;
        socket.shutdown = shutdown_noted;
        sys->socket = &socket;
        datagram = *sys->datagram;
        datagram.bind_port = bind_port_noted;
        datagram.option = option_noted;
        datagram.send = send_datagrams_noted;
        datagram.recv = recv_datagrams_noted;
        sys->datagram = &datagram;
        worker = *sys->worker;
        worker.start = worker_new_noted;
        sys->worker = &worker;
        sys->lookup = lookup_noted;
}

/* --- the sweep --- */

struct sum {
        uint64_t calls, pairs, failed, unnoticed, without;
};

/* Run it with call 'n' failing by 'error'. */
static void fail_call(eddy_task_fn *main_fn, const struct ed_sim_opts *sim, uint64_t n,
                      enum ed_sim_call call, int error, struct sum *sum)
{
        struct setup setup = {
                .sim = *sim, .call_fail = n, .call_error = error, .at_table = note_calls
        };
        struct outcome outcome;

        failing = n;
        scenario_run(main_fn, &setup, &outcome);
        CHECK_EQ(outcome.end.faults, 1);
        CHECK(outcome.result <= 0);
        sum->pairs++;
        if (ed_sim_is_passing(call, error)) {
                CHECK_EQ(outcome.result, 0);
                sum->unnoticed++;
        } else if (outcome.result < 0) {
                sum->failed++;
        } else {
                sum->without++;
        }
}

/* All calls of a run that is as 'sim' says. */
static void sweep_calls(eddy_task_fn *main_fn, const struct ed_sim_opts *sim, struct sum *sum)
{
        static uint8_t kinds[CALLS_MAX];
        struct setup setup = { .sim = *sim };
        struct outcome outcome;

        setup.sim.kinds = kinds;
        setup.sim.kinds_max = CALLS_MAX;
        scenario_run(main_fn, &setup, &outcome);
        CHECK_EQ(outcome.result, 0);
        CHECK(outcome.end.calls <= CALLS_MAX);
        sum->calls += outcome.end.calls;
        for (uint64_t n = 1; n <= outcome.end.calls; n++) {
                enum ed_sim_call call = (enum ed_sim_call) kinds[n - 1];
                const int *errors = ed_sim_call_errors(call);

                for (int i = 0; errors[i]; i++)
                        fail_call(main_fn, sim, n, call, errors[i], sum);
        }
}

static void sweep(const char *name, eddy_task_fn *main_fn)
{
        struct ed_sim_opts sim = { 0 };
        struct sum sum = { 0 };

        sweep_calls(main_fn, &sim, &sum);
        for (sim.seed = 1; sim.seed <= SEEDS_FULL && sweep_is_full(); sim.seed++) {
                sim.latency_ns = (int64_t) sim.seed * 300000;
                sim.jitter_ns = 1000000;
                sim.chop = true;
                sweep_calls(main_fn, &sim, &sum);
        }
        printf("# R2: %s: %llu calls, from %d places, %llu pairs of call and error, %llu failed "
               "and said so, "
               "%llu did without, %llu passed unnoticed\n",
               name, (unsigned long long) sum.calls, places_print(), (unsigned long long) sum.pairs,
               (unsigned long long) sum.failed, (unsigned long long) sum.without,
               (unsigned long long) sum.unnoticed);
}

#define SWEEP(name)                                                                                \
        TEST(failing_calls_in_##name)                                                              \
        {                                                                                          \
                sweep(#name, scenario_##name);                                                     \
        }
SCENARIOS(SWEEP)
