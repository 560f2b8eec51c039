/*
 * sys/thread/ticker.h - a thread that calls a function at intervals, and can sample the thread that
 * made it.
 */
#ifndef ED_SYS_THREAD_TICKER_H
#define ED_SYS_THREAD_TICKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/fault/symbol.h"

/*
 * A thread that calls 'fn(arg, ticker)' every 'period_ns' until it is ended.
 * 'fn' may ask for the stack of the thread that made the ticker.
 * Errors: -EAGAIN, -ENOMEM
 */
struct ed_ticker;
typedef void ed_ticker_fn(void *arg, struct ed_ticker *ticker);
int ed_sys_ticker_new(int64_t period_ns, ed_ticker_fn *fn, void *arg,
                      struct ed_ticker **ret_ticker);
void ed_sys_ticker_free(struct ed_ticker *ticker);

/* Results of sampling the thread that made the ticker. */
enum {
        ED_SAMPLE_TAKEN = 1,  /* its frames; none if its alternate stack has too little room */
        ED_SAMPLE_BLOCKED,    /* blocked, in 'call' unless that is negative */
        ED_SAMPLE_RESTLESS,   /* blocks repeatedly for short times */
        ED_SAMPLE_STARVED,    /* runnable, but does not get a processor */
        ED_SAMPLE_HIDDEN,     /* /proc does not show whether it is blocked */
        ED_SAMPLE_UNANSWERED, /* runs, and did not answer in time */
};

struct ed_sample {
        int count; /* number of return addresses, innermost first */
        void *frames[ED_FRAMES_MAX];
        long call;
};

/*
 * Sample the thread that made the ticker. If the thread runs, and only then, a signal is sent to
 * it, and its handler calls 'look(arg)'. Call on the ticker's thread only. Returns one of
 * ED_SAMPLE_*.
 */
int ed_sys_ticker_sample(struct ed_ticker *ticker, void (*look)(void *arg), void *arg,
                         struct ed_sample *ret_sample);

/*
 * Copy memory that another thread may change or unmap meanwhile. Returns false if the memory cannot
 * be read.
 */
bool ed_sys_peek(const void *from, void *to, size_t bytes);

/* Call in a child of fork(), which has none of its parent's tickers. */
void ed_sys_tickers_forget(void);

#endif
