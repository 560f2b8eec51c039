/*
 * bench.h - what the C programs of this folder share: clocks, memory, the
 * address to ask, and the one line of JSON that each prints for bench/run.
 *
 * CPU time is that of the whole process, all threads and user and system
 * together, so a peer that works in a helper thread pays for it.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static inline int64_t bench_clock_ns(clockid_t clock)
{
        struct timespec now;

        clock_gettime(clock, &now);
        return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t bench_wall_ns(void)
{
        return bench_clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of this process so far, to the nanosecond. */
static inline int64_t bench_cpu_ns(void)
{
        return bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* A stretch of wall and CPU time. */
struct bench_span {
        int64_t wall_ns;
        int64_t cpu_ns;
};

static inline void bench_span_begin(struct bench_span *span)
{
        span->wall_ns = bench_wall_ns();
        span->cpu_ns = bench_cpu_ns();
}

static inline void bench_span_end(struct bench_span *span)
{
        span->cpu_ns = bench_cpu_ns() - span->cpu_ns;
        span->wall_ns = bench_wall_ns() - span->wall_ns;
}

/* Resident memory plus page tables, in KiB; -1 if the kernel does not say. */
static inline long bench_memory_kib(int with_page_tables)
{
        char line[256];
        long rss = -1, tables = 0;
        FILE *status = fopen("/proc/self/status", "re");

        if (!status)
                return -1;
        while (fgets(line, sizeof(line), status)) {
                if (strncmp(line, "VmRSS:", 6) == 0)
                        rss = strtol(line + 6, NULL, 10);
                else if (strncmp(line, "VmPTE:", 6) == 0)
                        tables = strtol(line + 6, NULL, 10);
        }
        fclose(status);
        return rss < 0 ? -1 : rss + (with_page_tables ? tables : 0);
}

/* The report of an HTTP client. */
struct bench_http_result {
        const char *client; /* its name and version */
        long requests;      /* answered, well or not */
        long ok;            /* with status 200 and a body of the expected length */
        long connections;   /* opened; -1: not known */
        struct bench_span span;
        long rss_early_kib; /* after the warm-up asked for, or -1 */
        long rss_end_kib;   /* before anything is torn down, or -1 */
};

static inline void bench_http_print(const struct bench_http_result *result)
{
        printf("{\"client\": \"%s\", \"requests\": %ld, \"ok\": %ld, \"connections\": %ld, "
               "\"cpu_ns\": %lld, \"wall_ns\": %lld, \"rss_early_kib\": %ld, "
               "\"rss_end_kib\": %ld}\n",
               result->client, result->requests, result->ok, result->connections,
               (long long) result->span.cpu_ns, (long long) result->span.wall_ns,
               result->rss_early_kib, result->rss_end_kib);
}

/* The report of a program of the core: 'ops' operations took 'span'. */
static inline void bench_core_print(const char *peer, const char *row, long ops,
                                    const struct bench_span *span, const char *extra)
{
        printf("{\"peer\": \"%s\", \"row\": \"%s\", \"ops\": %ld, \"cpu_ns\": %lld, "
               "\"wall_ns\": %lld%s%s}\n",
               peer, row, ops, (long long) span->cpu_ns, (long long) span->wall_ns,
               extra && *extra ? ", " : "", extra ? extra : "");
}

/* A count from the command line: 1 to 'max', or the program ends with a line. */
static inline long bench_count(const char *text, long max)
{
        char *end;
        long n = strtol(text, &end, 10);

        if (*end || n < 1 || n > max) {
                fprintf(stderr, "not a count from 1 to %ld: %s\n", max, text);
                exit(2);
        }
        return n;
}

/* Ends the program with one line; benchmarks have nothing to clean up. */
__attribute__((noreturn)) static inline void bench_die(const char *what, const char *why)
{
        fprintf(stderr, "%s: %s\n", what, why);
        exit(1);
}

#endif
