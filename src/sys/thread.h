/*
 * sys/thread.h - what threads need to meet: a mutex, a condition, and who runs.
 */
#ifndef ED_SYS_THREAD_H
#define ED_SYS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct ed_mutex {
        pthread_mutex_t os;
};

/* For one that is there from the begin. */
#define ED_MUTEX_INIT                                                                              \
        {                                                                                          \
                PTHREAD_MUTEX_INITIALIZER                                                          \
        }

struct ed_cond {
        pthread_cond_t os;
};

struct ed_thread_id {
        pthread_t os;
};

static inline void ed_mutex_init(struct ed_mutex *mutex)
{
        (void) pthread_mutex_init(&mutex->os, NULL);
}

static inline void ed_mutex_fini(struct ed_mutex *mutex)
{
        (void) pthread_mutex_destroy(&mutex->os);
}

static inline void ed_mutex_lock(struct ed_mutex *mutex)
{
        (void) pthread_mutex_lock(&mutex->os);
}

static inline void ed_mutex_unlock(struct ed_mutex *mutex)
{
        (void) pthread_mutex_unlock(&mutex->os);
}

static inline void ed_cond_init(struct ed_cond *cond)
{
        (void) pthread_cond_init(&cond->os, NULL);
}

static inline void ed_cond_fini(struct ed_cond *cond)
{
        (void) pthread_cond_destroy(&cond->os);
}

/*
 * Wait with the mutex locked; it may return without a signal or a broadcast.
 * Not a point at which pthread_cancel() ends the thread: that would leave the
 * mutex locked, and what others have handed over already would be lost.
 */
static inline void ed_cond_wait(struct ed_cond *cond, struct ed_mutex *mutex)
{
        int state;

        (void) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        (void) pthread_cond_wait(&cond->os, &mutex->os);
        (void) pthread_setcancelstate(state, NULL);
}

static inline void ed_cond_signal(struct ed_cond *cond)
{
        (void) pthread_cond_signal(&cond->os);
}

static inline void ed_cond_broadcast(struct ed_cond *cond)
{
        (void) pthread_cond_broadcast(&cond->os);
}

/* Of the calling thread, valid while it lives. */
static inline struct ed_thread_id ed_thread_self(void)
{
        return (struct ed_thread_id){ pthread_self() };
}

static inline bool ed_thread_is_self(struct ed_thread_id id)
{
        return pthread_equal(id.os, pthread_self()) != 0;
}

#endif
