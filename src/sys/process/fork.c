/*
 * sys/process/fork.c - children of fork().
 */
#include "sys/process/fork.h"

#include <pthread.h>
#include <stdatomic.h>

#include "sys/fault/fault.h"
#include "sys/poll/signals.h"
#include "sys/thread/ticker.h"

static struct {
        pthread_once_t once;
        void (*_Atomic in_child)(void);
        unsigned forks; /* written only in the child, which has a single thread then */
} forking = { .once = PTHREAD_ONCE_INIT };

static void after_fork(void)
{
        forking.forks++;
        ed_sys_fault_forget();
        ed_sys_tickers_forget();
        ed_signals_forget();
        atomic_load (&forking.in_child)();
}

static void watch_forks(void)
{
        (void) pthread_atfork(NULL, NULL, after_fork);
}

void ed_sys_fork_watch(void (*in_child)(void))
{
        atomic_store(&forking.in_child, in_child);
        (void) pthread_once(&forking.once, watch_forks);
}

unsigned ed_sys_forks(void)
{
        return forking.forks;
}
