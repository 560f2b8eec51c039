/*
 * pthread.h - in place of the system's: threads, mutexes and conditions of the
 * search (dfs.h).  Of the same size, so that other objects find what lies
 * behind them.
 */
#ifndef LOOM_PTHREAD_H
#define LOOM_PTHREAD_H

#include_next <pthread.h>

#include "dfs.h"

union loom_mutex {
        pthread_mutex_t system;
        struct dfs_mutex dfs;
};

union loom_cond {
        pthread_cond_t system;
        struct dfs_cond dfs;
};

/* A thread's function; joined at the end or detached. */
int loom_thread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
                       void *arg);

static inline int loom_mutex_init(union loom_mutex *mutex)
{
        mutex->dfs = (struct dfs_mutex){ 0 };
        return 0;
}

static inline int loom_mutex_destroy(union loom_mutex *mutex)
{
        dfs_mutex_fini(&mutex->dfs);
        return 0;
}

static inline int loom_mutex_lock(union loom_mutex *mutex)
{
        dfs_mutex_lock(&mutex->dfs);
        return 0;
}

static inline int loom_mutex_unlock(union loom_mutex *mutex)
{
        dfs_mutex_unlock(&mutex->dfs);
        return 0;
}

static inline int loom_cond_init(union loom_cond *cond)
{
        cond->dfs = (struct dfs_cond){ 0 };
        return 0;
}

static inline int loom_cond_wait(union loom_cond *cond, union loom_mutex *mutex)
{
        dfs_cond_wait(&cond->dfs, &mutex->dfs);
        return 0;
}

static inline int loom_cond_signal(union loom_cond *cond)
{
        dfs_cond_signal(&cond->dfs);
        return 0;
}

static inline int loom_cond_broadcast(union loom_cond *cond)
{
        dfs_cond_broadcast(&cond->dfs);
        return 0;
}

static inline int loom_thread_join(pthread_t thread)
{
        dfs_join((int) thread - 1);
        return 0;
}

static inline int loom_thread_nop(void)
{
        dfs_point();
        return 0;
}

#undef PTHREAD_MUTEX_INITIALIZER
#define PTHREAD_MUTEX_INITIALIZER                                                                  \
        {                                                                                          \
                .dfs = { 0 }                                                                       \
        }
#define pthread_mutex_t                           union loom_mutex
#define pthread_cond_t                            union loom_cond
#define pthread_mutex_init(mutex, attr)           loom_mutex_init(mutex)
#define pthread_mutex_destroy(mutex)              loom_mutex_destroy(mutex)
#define pthread_mutex_lock(mutex)                 loom_mutex_lock(mutex)
#define pthread_mutex_unlock(mutex)               loom_mutex_unlock(mutex)
#define pthread_cond_init(cond, attr)             loom_cond_init(cond)
#define pthread_cond_destroy(cond)                ((void) (cond))
#define pthread_cond_wait(cond, mutex)            loom_cond_wait(cond, mutex)
#define pthread_cond_signal(cond)                 loom_cond_signal(cond)
#define pthread_cond_broadcast(cond)              loom_cond_broadcast(cond)
#define pthread_self()                            ((pthread_t) (1 + dfs_self()))
#define pthread_create(ret_thread, attr, fn, arg) loom_thread_create(ret_thread, attr, fn, arg)
#define pthread_join(thread, ret)                 loom_thread_join(thread)
#define pthread_detach(thread)                    loom_thread_nop()
#define pthread_setname_np(thread, name)          loom_thread_nop()

#endif
