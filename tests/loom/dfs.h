/*
 * dfs.h - small programs of threads, run in every order that they may go.
 *
 * A program's threads are coroutines.  Each operation that threads share, an
 * atomic one, a lock, a wake, is a scheduling point: there the search may let
 * another thread go on.  dfs_explore() runs the program again and again, depth
 * first through all that can be decided at these points, with at most so many
 * preemptions in a run (a thread that waits or ends gives way for nothing).
 *
 * Sources of the product are compiled as they are: the headers in include/
 * stand before the system's and put the points in.  All operations happen in
 * one order that every thread sees; what a processor or compiler may reorder
 * beyond that is ThreadSanitizer's to find.
 *
 * Nothing may depend on what differs between two runs: addresses, clocks.
 */
#ifndef DFS_H
#define DFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dfs_result {
        uint64_t schedules;  /* runs, each with other decisions */
        uint64_t points;     /* scheduling points in all of them */
        bool found;          /* a run failed, and the search ended there */
        char problem[1024];  /* what it said */
        char schedule[1024]; /* where it did not simply go on: "17:1 40:2" */
};

/*
 * Run 'program' under each schedule with at most 'bound' preemptions.  It is
 * the first thread; a run ends when all threads have.  Fails when one does,
 * when none can go on, or when it goes on for ever.
 */
void dfs_explore(void (*program)(void), int bound, struct dfs_result *ret_result);

/* A variable that each thread of the program has for itself; begins as NULL. */
void dfs_local(void **variable);

/* --- for the program --- */

/* Start a thread; returns its number. */
int dfs_thread(void (*fn)(void *arg), void *arg);
void dfs_join(int thread);
int dfs_self(void);

/* This run has failed. */
__attribute__((noreturn, format(printf, 1, 2))) void dfs_fail(const char *format, ...);

#define DFS_CHECK(cond)                                                                            \
        do {                                                                                       \
                if (!(cond))                                                                       \
                        dfs_fail("%s:%d: %s", __FILE__, __LINE__, #cond);                          \
        } while (0)

#define DFS_CHECK_EQ(a, b)                                                                         \
        do {                                                                                       \
                long long dfs_a = (long long) (a), dfs_b = (long long) (b);                        \
                if (dfs_a != dfs_b)                                                                \
                        dfs_fail("%s:%d: %s is %lld, expected %s (%lld)", __FILE__, __LINE__, #a,  \
                                 dfs_a, #b, dfs_b);                                                \
        } while (0)

/* Something that the search decides: each of 0 .. n-1. */
int dfs_choose(int n);

/* --- for what stands in for threads, locks and tables --- */

/* Another thread may go on here: a preemption. */
void dfs_point(void);
/* Another thread may go on here, for nothing. */
void dfs_pause(void);
/* Wait until ready(arg), which only other threads can bring about. */
void dfs_wait(bool (*ready)(const void *arg), const void *arg, const char *what);
/* Wait until another thread has written something. */
void dfs_yield(void);
/* Something that threads share is about to change. */
void dfs_write(void);

struct dfs_mutex {
        int owner; /* 1 + the thread's number; 0: free */
};

struct dfs_cond {
        struct dfs_waiting *first; /* of those that wait, in their order */
};

void dfs_mutex_lock(struct dfs_mutex *mutex);
void dfs_mutex_unlock(struct dfs_mutex *mutex);
/* Freed: must not be held, and must not be used again. */
void dfs_mutex_fini(struct dfs_mutex *mutex);
/* Once in a run it may return without a signal. */
void dfs_cond_wait(struct dfs_cond *cond, struct dfs_mutex *mutex);
void dfs_cond_signal(struct dfs_cond *cond);
void dfs_cond_broadcast(struct dfs_cond *cond);

#endif
