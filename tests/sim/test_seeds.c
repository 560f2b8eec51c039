/*
 * test_seeds.c - a program of everything at once, in an order and with delays
 * that follow from a seed; what must hold in every order, does.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "loop/loop.h"
#include "scenario.h"
#include "test.h"

#ifdef ED_UNDER_VALGRIND
enum { SEEDS = 200 }; /* it runs thirty times as slowly */
#else
enum { SEEDS = 500 };
#endif
enum { SEEDS_FULL = 20000, WORKERS_MAX = 12, LATE_NS_MAX = 1000000 };

/* The table's own chance is not for the program: it has its own, from the same seed. */
static uint64_t state;

static uint64_t chance(uint64_t n)
{
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % n;
}

/* --- the program --- */

static struct swarm {
        int workers;
        int items;
        uint32_t units;
        eddy_semaphore lock; /* one unit: the order of its owners shows */
        int tickets, last_ticket;
        bool locked;
        eddy_semaphore gate; /* several units */
        uint32_t inside;
        eddy_queue queue;
        int64_t put[WORKERS_MAX], got[WORKERS_MAX]; /* the last item of each */
        int64_t puts, gets;
        int producers;
        eddy_listener *listener;
        int64_t sent, received;
        uint32_t buffer_bytes;
        int reported; /* of a cancel */
} swarm;

/* What is done to the first of two rounds of the program; in the second all is well. */
static struct trouble {
        bool two_rounds;
        struct ed_sim_link link;
        int first; /* what came of it */
} trouble;

/* Time passes as asked for: never less, and hardly more. */
static int pause_for(int64_t duration_ns)
{
        int64_t begin = eddy_now(), lasted;
        int err = eddy_sleep(duration_ns);

        lasted = eddy_now() - begin;
        if (err == 0)
                CHECK(lasted >= duration_ns);
        CHECK(lasted <= duration_ns + LATE_NS_MAX);
        return err;
}

static int use_lock(void)
{
        int ticket = swarm.tickets++, err;

        err = eddy_semaphore_acquire(&swarm.lock);
        if (err < 0)
                return err;
        /* First come, first served; who gave up is passed over. */
        CHECK(ticket > swarm.last_ticket);
        swarm.last_ticket = ticket;
        CHECK(!swarm.locked);
        swarm.locked = true;
        err = chance(2) ? pause_for((int64_t) chance(3000000)) : 0;
        swarm.locked = false;
        CHECK_EQ(eddy_semaphore_release(&swarm.lock), 0);
        return err;
}

static int use_gate(void *arg)
{
        int err;

        (void) arg;
        err = eddy_semaphore_acquire(&swarm.gate);
        if (err < 0)
                return err;
        swarm.inside++;
        CHECK(swarm.inside <= swarm.units);
        err = pause_for((int64_t) chance(2000000));
        swarm.inside--;
        CHECK_EQ(eddy_semaphore_release(&swarm.gate), 0);
        return err;
}

/* The same under a deadline, which may or may not be met. */
static int use_gate_in_time(void)
{
        int64_t begin = eddy_now(), timeout_ns = 1 + (int64_t) chance(4000000);
        int err = eddy_call_timeout(use_gate, NULL, timeout_ns);

        if (err == -ETIMEDOUT) {
                CHECK(eddy_now() - begin >= timeout_ns);
                return 0;
        }
        return err;
}

/* Tasks of a scope that is cancelled at some time, or is not. */
struct victims {
        eddy_scope scope;
        int started, finished, reported;
        bool cancelled;
};

static int suffer(void *arg)
{
        struct victims *victims = arg;
        int err = 0;

        tasks_begun++;
        for (int i = 0; i < 3 && err == 0; i++)
                err = chance(2) ? pause_for((int64_t) chance(2000000)) : use_gate(NULL);
        if (err == 0) {
                victims->finished++;
        } else {
                CHECK_EQ(err, -ECANCELED);
                victims->reported++;
                /* It stays so until the scope ends. */
                CHECK_EQ(eddy_sleep(0), -ECANCELED);
        }
        tasks_ended++;
        return err;
}

/* Each task that had not ended gets a cancel, once; no other task does. */
static int cancel_some(void)
{
        int wanted = 1 + (int) chance(4), err;
        struct victims victims = { 0 };

        eddy_scope_begin(&victims.scope, NULL);
        for (int i = 0; i < wanted; i++)
                victims.started += eddy_scope_start(&victims.scope, suffer, &victims) == 0;
        (void) pause_for((int64_t) chance(4000000));
        if (chance(2)) {
                victims.cancelled = true;
                eddy_scope_cancel(&victims.scope);
                CHECK_EQ(eddy_sleep(0), -ECANCELED);
        }
        err = eddy_scope_end(&victims.scope);
        CHECK_EQ(victims.finished + victims.reported, victims.started);
        if (eddy_sleep(0) < 0)
                return -ECANCELED; /* by somebody else */
        if (victims.started < wanted)
                return err;
        CHECK_EQ(err, 0);
        CHECK(victims.cancelled || victims.reported == 0);
        swarm.reported += victims.reported;
        return 0;
}

static int work(void *arg)
{
        int err = 0;

        (void) arg;
        tasks_begun++;
        for (int i = 0; i < 5 && err == 0; i++) {
                switch (chance(6)) {
                case 0:
                        err = use_lock();
                        break;
                case 1:
                        err = use_gate(NULL);
                        break;
                case 2:
                        err = use_gate_in_time();
                        break;
                case 3:
                        err = pause_for((int64_t) chance(5000000));
                        break;
                case 4:
                        err = cancel_some();
                        break;
                default:
                        err = eddy_sleep(0);
                        break;
                }
        }
        tasks_ended++;
        return err;
}

static int produce(void *arg)
{
        int self = *(int *) arg, err = 0;

        tasks_begun++;
        for (int64_t i = 1; i <= swarm.items && err == 0; i++) {
                int64_t item = self * 1000 + i;

                err = eddy_queue_put(&swarm.queue, &item);
                if (err == 0) {
                        swarm.put[self] = i;
                        swarm.puts++;
                        err = chance(3) == 0 ? pause_for((int64_t) chance(1000000)) : 0;
                }
        }
        if (--swarm.producers == 0)
                eddy_queue_shutdown(&swarm.queue, 0);
        tasks_ended++;
        return err;
}

/* Items of one producer come in order, and none is missing. */
static void take(int64_t item)
{
        int from = (int) (item / 1000);

        CHECK_EQ(item % 1000, swarm.got[from] + 1);
        swarm.got[from]++;
        swarm.gets++;
}

static int consume(void *arg)
{
        int64_t item;
        int err;

        (void) arg;
        tasks_begun++;
        while ((err = eddy_queue_get(&swarm.queue, &item)) == 0) {
                take(item);
                err = chance(4) == 0 ? pause_for((int64_t) chance(1000000)) : 0;
                if (err < 0)
                        break;
        }
        tasks_ended++;
        return err == -EPIPE ? 0 : err;
}

static int serve_one(void *arg)
{
        eddy_stream *stream = arg;
        unsigned char buf[64];
        int64_t n;
        int err = 0;

        tasks_begun++;
        while (err == 0 && (n = eddy_stream_read(stream, buf, sizeof(buf))) != 0)
                err = n < 0 ? (int) n : eddy_stream_write(stream, buf, (size_t) n);
        eddy_stream_close(stream);
        tasks_ended++;
        return err;
}

static int serve(void *arg)
{
        int clients = *(int *) arg, err = 0, end_err;
        eddy_stream *stream;
        eddy_scope scope;

        tasks_begun++;
        eddy_scope_begin(&scope, NULL);
        while (clients-- > 0 && err == 0) {
                err = eddy_listener_accept(swarm.listener, &stream);
                if (err == 0 && (err = eddy_scope_start(&scope, serve_one, stream)) < 0)
                        eddy_stream_close(stream);
        }
        end_err = eddy_scope_end(&scope);
        tasks_ended++;
        return err < 0 ? err : end_err;
}

static int exchange(eddy_stream *stream)
{
        unsigned char out[200], in[200];
        int err = 0;

        for (int turn = 0; turn < 4 && err == 0; turn++) {
                /* Not more than lies in between: nobody reads while it is written. */
                size_t n = 1 + (size_t) chance(swarm.buffer_bytes), at = 0;

                n = n < sizeof(out) ? n : sizeof(out);

                for (size_t i = 0; i < n; i++)
                        out[i] = (unsigned char) (turn * 31 + (int) i);
                err = eddy_stream_write(stream, out, n);
                swarm.sent += (int64_t) n;
                while (err == 0 && at < n) {
                        int64_t got = eddy_stream_read(stream, in + at, n - at);

                        if (got <= 0)
                                return got < 0 ? (int) got : -ENODATA;
                        at += (size_t) got;
                        swarm.received += got;
                }
                if (err == 0)
                        CHECK(memcmp(in, out, n) == 0);
        }
        return err;
}

static int call(void *arg)
{
        eddy_stream *stream;
        int err;

        (void) arg;
        tasks_begun++;
        err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(swarm.listener), NULL, &stream);
        if (err == 0) {
                err = exchange(stream);
                eddy_stream_close(stream);
        }
        tasks_ended++;
        return err;
}

static int swarm_tasks(void)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_MIN(5) };
        int numbers[WORKERS_MAX], clients = 1 + (int) chance(4);
        int started = 0, wanted = 0, err;
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < swarm.workers; i++, wanted++)
                started += eddy_scope_start(&scope, work, NULL) == 0;
        swarm.producers = 1 + (int) chance(WORKERS_MAX);
        for (int i = 0, n = swarm.producers; i < n; i++, wanted++) {
                numbers[i] = i;
                started += eddy_scope_start(&scope, produce, &numbers[i]) == 0;
        }
        started += eddy_scope_start(&scope, consume, NULL) == 0;
        started += eddy_scope_start(&scope, serve, &clients) == 0;
        wanted += 2;
        for (int i = 0; i < clients; i++, wanted++)
                started += eddy_scope_start(&scope, call, NULL) == 0;
        err = eddy_scope_end(&scope);
        /* No task outlives its scope. */
        CHECK_EQ(tasks_begun, tasks_ended);
        return err == 0 && started < wanted ? -ECANCELED : err;
}

static void swarm_begin(void)
{
        uint32_t buffer_bytes = swarm.buffer_bytes;

        swarm = (struct swarm){ .last_ticket = -1, .buffer_bytes = buffer_bytes };
        swarm.workers = (int) chance(WORKERS_MAX + 1);
        swarm.items = 1 + (int) chance(20);
        swarm.units = 1 + (uint32_t) chance(4);
        eddy_semaphore_init(&swarm.lock, 1, EDDY_SEMAPHORE_BOUNDED);
        eddy_semaphore_init(&swarm.gate, swarm.units, EDDY_SEMAPHORE_BOUNDED);
}

static int swarm_round(void)
{
        int64_t item;
        int err;

        swarm_begin();
        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &swarm.listener);
        if (err < 0)
                return err;
        err = eddy_queue_init(&swarm.queue, sizeof(int64_t), 1 + (uint32_t) chance(8));
        CHECK_EQ(err, 0);
        err = swarm_tasks();
        eddy_listener_close(swarm.listener);
        while (eddy_queue_try_get(&swarm.queue, &item) == 0)
                take(item);
        eddy_queue_fini(&swarm.queue);
        /* Whatever was cut short: units are back, and what was put was got. */
        CHECK_EQ(eddy_semaphore_units(&swarm.lock), 1);
        CHECK_EQ(eddy_semaphore_units(&swarm.gate), swarm.units);
        CHECK_EQ(eddy_semaphore_waiting(&swarm.gate), 0);
        CHECK_EQ(swarm.inside, 0);
        CHECK_EQ(swarm.gets, swarm.puts);
        if (err == 0)
                CHECK_EQ(swarm.received, swarm.sent);
        return err;
}

static int swarm_main(void *arg)
{
        struct ed_sys *sys = ed_loop_current->sys;

        (void) arg;
        if (!trouble.two_rounds)
                return swarm_round();
        CHECK_EQ(ed_sim_link_set(sys, &trouble.link), 0);
        trouble.first = swarm_round();
        CHECK(trouble.first <= 0);
        /* Whatever happened: when faults stop, the program goes on as if there had been none. */
        ed_sim_fail_often(sys, 0);
        CHECK_EQ(ed_sim_link_set(sys, NULL), 0);
        return swarm_round();
}

/* What a seed makes of the program and of what surrounds it. */
static void swarm_run(uint64_t seed, const struct setup *given, struct outcome *ret_outcome)
{
        struct setup setup = given ? *given : (struct setup){ 0 };

        state = seed * 0x9e3779b97f4a7c15ULL + 1;
        (void) chance(2);
        swarm.buffer_bytes = 1 + (uint32_t) chance(chance(2) ? 16 : 4096);
        setup.sim = (struct ed_sim_opts){
                .seed = seed + 1,
                .latency_ns = (int64_t) (chance(3) * chance(2000000)),
                .jitter_ns = (int64_t) (chance(3) * chance(3000000)),
                .chop = chance(2),
                .buffer_bytes = swarm.buffer_bytes,
                .fail_one_in = given ? given->sim.fail_one_in : 0,
                .fail_passing = given && given->sim.fail_passing,
        };
        setup.transfer_max = chance(4) == 0 ? 1 + (size_t) chance(9) : 0;
        trouble.link = (struct ed_sim_link){
                .latency_ns = setup.sim.latency_ns,
                .jitter_ns = setup.sim.jitter_ns,
                .chop = setup.sim.chop,
                .urgent = chance(4) == 0,
                .reorder = chance(2),
                .buffer_bytes = swarm.buffer_bytes,
                .by_server = chance(2),
                .cut = chance(3) ? 0 : 1 + (int) chance(2),
                .cut_bytes = chance(2000),
                .stall_ns = chance(3) ? 0 : (int64_t) chance(EDDY_SEC(20)),
                .stall_bytes = chance(1000),
        };
        scenario_run(swarm_main, &setup, ret_outcome);
}

static uint64_t seeds(void)
{
        return sweep_is_full() ? SEEDS_FULL : SEEDS;
}

static int compare(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

/* How many of them differ. */
static uint64_t distinct_of(uint64_t *traces, uint64_t n)
{
        uint64_t distinct = 1;

        qsort(traces, n, sizeof(traces[0]), compare);
        for (uint64_t i = 1; i < n; i++)
                distinct += traces[i] != traces[i - 1];
        return distinct;
}

static uint64_t traces[SEEDS_FULL];

TEST(everything_holds_under_every_seed)
{
        uint64_t points = 0, reported = 0;
        int64_t virtual_ns = 0;
        struct outcome outcome;

        for (uint64_t seed = 0; seed < seeds(); seed++) {
                swarm_run(seed, NULL, &outcome);
                CHECK_EQ(outcome.result, 0);
                traces[seed] = outcome.end.trace;
                points += outcome.points;
                reported += (uint64_t) swarm.reported;
                virtual_ns += outcome.end.lasted_ns;
        }
        CHECK(reported > seeds());
        CHECK_EQ(distinct_of(traces, seeds()), seeds());
        printf("# R8: %llu seeds of orders and delays, as many distinct traces, "
               "%llu scheduling points, %llu tasks cancelled, %lld s of virtual time\n",
               (unsigned long long) seeds(), (unsigned long long) points,
               (unsigned long long) reported, (long long) (virtual_ns / EDDY_SEC(1)));
}

/* Faults of a seed: calls that fail by chance, one allocation, one cancel; any, or none of them. */
static struct setup faults_of(uint64_t seed)
{
        struct setup setup = { 0 };

        state = seed * 0xd1342543de82ef95ULL + 7;
        (void) chance(2);
        setup.sim.fail_passing = chance(2);
        if (chance(3))
                setup.sim.fail_one_in = setup.sim.fail_passing ? 2 + (uint32_t) chance(8)
                                                               : 5 + (uint32_t) chance(200);
        if (chance(4) == 0)
                setup.alloc_fail = 1 + chance(80);
        if (chance(4) == 0)
                setup.cancel_at = 1 + chance(300);
        return setup;
}

TEST(faults_stop_and_all_goes_on_under_every_seed)
{
        uint64_t faults = 0, failed = 0, cancelled = 0, distinct;
        int64_t virtual_ns = 0;
        struct outcome outcome;

        trouble.two_rounds = true;
        for (uint64_t seed = 0; seed < seeds(); seed++) {
                struct setup setup = faults_of(seed);

                swarm_run(seed, &setup, &outcome);
                /* What passes is not noticed. */
                if (setup.sim.fail_passing && !trouble.link.cut && !setup.alloc_fail &&
                    !setup.cancel_at)
                        CHECK_EQ(trouble.first, 0);
                if (outcome.result < 0)
                        CHECK((setup.cancel_at && outcome.result == -ECANCELED) ||
                              (setup.alloc_fail && outcome.alloc_failed > 0));
                traces[seed] = outcome.end.trace;
                faults += outcome.end.faults + outcome.alloc_failed;
                failed += trouble.first < 0;
                cancelled += trouble.first == -ECANCELED || outcome.result == -ECANCELED;
                virtual_ns += outcome.end.lasted_ns;
        }
        CHECK(failed > seeds() / 4 && cancelled > 0);
        /* Some have no memory to begin with, and end there. */
        distinct = distinct_of(traces, seeds());
        CHECK(distinct > seeds() * 9 / 10);
        printf("# R8: %llu seeds of faults, %llu distinct traces, %llu faults in them, "
               "%llu first rounds failed, of which %llu were cancelled, %lld min of virtual time\n",
               (unsigned long long) seeds(), (unsigned long long) distinct,
               (unsigned long long) faults, (unsigned long long) failed,
               (unsigned long long) cancelled, (long long) (virtual_ns / EDDY_MIN(1)));
}

TEST(the_same_seed_runs_the_same_way)
{
        uint64_t same = 0;
        struct outcome first, second;

        for (uint64_t seed = 0; seed < seeds() / 2; seed++) {
                struct setup setup = faults_of(seed);

                trouble.two_rounds = seed % 2;
                swarm_run(seed, &setup, &first);
                swarm_run(seed, &setup, &second);
                CHECK_EQ(first.end.trace, second.end.trace);
                CHECK_EQ(first.order, second.order);
                CHECK_EQ(first.result, second.result);
                CHECK_EQ(first.points, second.points);
                CHECK_EQ(first.allocations, second.allocations);
                CHECK_EQ(first.end.lasted_ns, second.end.lasted_ns);
                same++;
        }
        printf("# R9: the same seed twice gives the same trace, %llu of %llu\n",
               (unsigned long long) same, (unsigned long long) (seeds() / 2));
}

TEST(everything_holds_when_cancelled_somewhere)
{
        uint64_t cancelled = 0;
        struct outcome outcome;

        for (uint64_t seed = 0; seed < seeds(); seed++) {
                struct setup setup = { 0 };

                swarm_run(seed, NULL, &outcome);
                setup.cancel_at = 1 + (seed * 7919) % outcome.points;
                swarm_run(seed, &setup, &outcome);
                CHECK(outcome.result == 0 || outcome.result == -ECANCELED);
                cancelled += outcome.result == -ECANCELED;
        }
        CHECK(cancelled > seeds() / 2);
}

TEST(everything_holds_without_memory_somewhere)
{
        uint64_t failed = 0;
        struct outcome outcome;

        for (uint64_t seed = 0; seed < seeds(); seed++) {
                struct setup setup = { .alloc_forever = seed % 2 };

                swarm_run(seed, NULL, &outcome);
                setup.alloc_fail = 1 + (seed * 7919) % outcome.allocations;
                swarm_run(seed, &setup, &outcome);
                CHECK(outcome.result <= 0);
                failed += outcome.result < 0;
        }
        CHECK(failed > seeds() / 4);
}

TEST(everything_holds_when_a_call_fails_somewhere)
{
        static const int errors[] = { -ENOBUFS, -ECONNRESET, -EIO };
        uint64_t failed = 0;
        struct outcome outcome;

        for (uint64_t seed = 0; seed < seeds(); seed++) {
                struct setup setup = { .call_error = errors[seed % 3] };

                swarm_run(seed, NULL, &outcome);
                setup.call_fail = 1 + (seed * 7919) % outcome.end.calls;
                swarm_run(seed, &setup, &outcome);
                CHECK(outcome.result <= 0);
                CHECK_EQ(outcome.end.faults, 1);
                failed += outcome.result < 0;
        }
        CHECK(failed > seeds() / 4);
}

/* The scenarios, each in many orders. */
static void in_any_order(eddy_task_fn *main_fn)
{
        struct outcome first, second;

        for (uint64_t seed = 1; seed <= seeds() / 100; seed++) {
                struct setup setup = { .sim = { .seed = seed,
                                                .latency_ns = (int64_t) (seed % 3) * 500000,
                                                .jitter_ns = (int64_t) (seed % 5) * 700000,
                                                .chop = seed % 2,
                                                .buffer_bytes = seed % 4 ? 0 : 100 } };

                scenario_run(main_fn, &setup, &first);
                CHECK_EQ(first.result, 0);
                scenario_run(main_fn, &setup, &second);
                CHECK_EQ(first.end.trace, second.end.trace);
        }
}

#define IN_ANY_ORDER(name)                                                                         \
        TEST(in_any_order_##name)                                                                  \
        {                                                                                          \
                in_any_order(scenario_##name);                                                     \
        }
SCENARIOS(IN_ANY_ORDER)
