/*
 * sys/ticker.h - a thread that calls a function at intervals, and can look where the
 * thread that made it is.
 */
#ifndef ED_SYS_TICKER_H
#define ED_SYS_TICKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/symbol.h"

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

/* What is known of the thread that made the ticker. */
enum {
        ED_SAMPLE_TAKEN = 1,  /* its frames; none if its alternate stack has no room to look */
        ED_SAMPLE_BLOCKED,    /* it is blocked, by 'call' if that is not below 0 */
        ED_SAMPLE_RESTLESS,   /* it is blocked again and again, for short times */
        ED_SAMPLE_STARVED,    /* it would run, but does not get a processor */
        ED_SAMPLE_HIDDEN,     /* /proc does not say whether it is blocked */
        ED_SAMPLE_UNANSWERED, /* it runs, and did not answer in time */
};

struct ed_sample {
        int count; /* return addresses, innermost first */
        void *frames[ED_FRAMES_MAX];
        long call;
};

/*
 * Look where the thread that made the ticker is.  If it runs, and only then, it
 * is asked by a signal, and calls 'look(arg)' in its handler.  From the
 * ticker's thread only.  Returns one of ED_SAMPLE_*.
 */
int ed_sys_ticker_sample(struct ed_ticker *ticker, void (*look)(void *arg), void *arg,
                         struct ed_sample *ret_sample);

/*
 * Copy memory that another thread may change or unmap meanwhile.  False if it
 * cannot be read.
 */
bool ed_sys_peek(const void *from, void *to, size_t bytes);

/* In a child of fork(): it has none of the tickers of its parent. */
void ed_sys_tickers_forget(void);

#endif
