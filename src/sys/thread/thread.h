/*
 * sys/thread/thread.h - a mutex, a condition, calls that are made once, and thread identity.
 */
#ifndef ED_SYS_THREAD_THREAD_H
#define ED_SYS_THREAD_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct ed_mutex {
        pthread_mutex_t os;
};

/* Initialiser for a static mutex. */
#define ED_MUTEX_INIT                                                                              \
        {                                                                                          \
                PTHREAD_MUTEX_INITIALIZER                                                          \
        }

struct ed_cond {
        pthread_cond_t os;
};

struct ed_once {
        pthread_once_t os;
};

#define ED_ONCE_INIT                                                                               \
        {                                                                                          \
                PTHREAD_ONCE_INIT                                                                  \
        }

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
 * Wait with the mutex locked; spurious wake-ups are possible. This wait is not a cancellation point
 * for pthread_cancel(): a cancelled thread would leave the mutex locked and lose items already
 * handed to it.
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

/* The first call of the process calls 'fn'; each other waits for its end. */
static inline void ed_once_call(struct ed_once *once, void (*fn)(void))
{
        (void) pthread_once(&once->os, fn);
}

/* Start a thread with the caller's signal mask. Returns 0 or -errno. */
static inline int ed_thread_new(struct ed_thread_id *ret_thread, void *(*fn)(void *arg), void *arg)
{
        return -pthread_create(&ret_thread->os, NULL, fn, arg);
}

/* Wait for the thread's end, however long; not a cancellation point for pthread_cancel(). */
static inline void ed_thread_join(struct ed_thread_id thread)
{
        int state;

        (void) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        (void) pthread_join(thread.os, NULL);
        (void) pthread_setcancelstate(state, NULL);
}

/* Returns the calling thread's id, valid while the thread lives. */
static inline struct ed_thread_id ed_thread_self(void)
{
        return (struct ed_thread_id){ pthread_self() };
}

static inline bool ed_thread_is_self(struct ed_thread_id id)
{
        return pthread_equal(id.os, pthread_self()) != 0;
}

#endif
