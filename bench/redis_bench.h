/*
 * redis_bench.h - keys and numbers of the benchmarks of Redis; redis_rows.py sets the keys.
 */
#ifndef REDIS_BENCH_H
#define REDIS_BENCH_H

#include "bench.h"

#define VALUE "0123456789abcdef"

enum {
        KEYS = 10000,
        CONNECTIONS = 10,
        TASKS = 64,
        WARM_UP = 640, /* commands before the measured time */
};

/* The key of the i-th command: "key:" and this number. */
static inline long key_of(long i)
{
        return i * 7919 % KEYS;
}

#endif
