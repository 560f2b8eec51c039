/*
 * many_eddy.c - an HTTP server on several loops whose handler computes.
 *
 *     many_eddy LOOPS MICROSECONDS
 *
 * Prints its port and serves until SIGTERM, then prints its CPU time and the answers of each
 * loop.  A handler computes until its thread has used MICROSECONDS of CPU time, so a busy machine
 * does not change the work of a request.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <stdatomic.h>

#include "bench.h"

enum { LOOPS_MAX = 64, MICROSECONDS_MAX = 1000000, STEPS = 1000 };

static int64_t compute_ns;
static eddy_channel *ports; /* from the first loop to the others */
static _Atomic uint32_t listening;
static long answers[LOOPS_MAX];

static int answer(eddy_http_exchange *exchange, void *arg)
{
        int64_t end_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) + compute_ns;
        volatile uint64_t value = 1;

        (void) arg;
        while (bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
                for (int i = 0; i < STEPS; i++)
                        value = value * 6364136223846793005u + 1442695040888963407u;
        answers[eddy_run_index()]++;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "computed\n", 9);
}

static int serve(void *arg)
{
        struct eddy_tcp_listen_opts opts = { .reuse_port = true };
        EDDY_AUTO(eddy_listener) eddy_listener *listener = NULL;
        uint16_t port = 0;
        int err = 0;

        (void) arg;
        if (eddy_run_index() > 0)
                err = eddy_channel_get(ports, &port);
        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", port, &opts, &listener);
        if (err < 0)
                return err;
        port = eddy_listener_port(listener);
        for (uint32_t i = 1; i < eddy_run_count() && eddy_run_index() == 0 && err == 0; i++)
                err = eddy_channel_put(ports, &port);
        /* The last one prints the port, when all loops listen. */
        if (atomic_fetch_add(&listening, 1) + 1 == eddy_run_count() &&
            (printf("%u\n", port) < 0 || fflush(stdout) != 0))
                err = -EIO;
        return err < 0 ? err : eddy_http_serve(listener, NULL, answer, NULL);
}

int main(int argc, char **argv)
{
        uint32_t loops;
        int err;

        if (argc != 3)
                bench_die("many_eddy", "give the numbers of loops and of microseconds");
        loops = (uint32_t) bench_count(argv[1], LOOPS_MAX);
        compute_ns = bench_count(argv[2], MICROSECONDS_MAX) * 1000;
        err = eddy_channel_new(sizeof(uint16_t), 1, &ports);
        if (err == 0)
                err = eddy_run_many(loops, serve, NULL);
        eddy_channel_release(ports);
        if (err < 0 && err != -ECANCELED)
                bench_die("many_eddy", eddy_error_text(err));
        printf("{\"cpu_ns\": %lld, \"answers\": [", (long long) bench_cpu_ns());
        for (uint32_t i = 0; i < loops; i++)
                printf("%s%ld", i > 0 ? ", " : "", answers[i]);
        puts("]}");
        return 0;
}
