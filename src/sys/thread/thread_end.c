/*
 * sys/thread/thread_end.c - calls at the end of a thread.
 */
#include "sys/thread/thread_end.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct {
        pthread_once_t once;
        struct {
                pthread_key_t key; /* has a value on watched threads */
                bool has_key;
                void (*_Atomic fn)(void);
        } whose[ED_THREAD_ENDS];
} ending = { .once = PTHREAD_ONCE_INIT };

/* The value of a key is a pointer to its entry in 'whose'. */
static void on_thread_end(void *value)
{
        size_t i = (size_t) ((char *) value - (char *) ending.whose) / sizeof(ending.whose[0]);

        atomic_load (&ending.whose[i].fn)();
}

static void make_ending_keys(void)
{
        for (int i = 0; i < ED_THREAD_ENDS; i++)
                ending.whose[i].has_key =
                        pthread_key_create(&ending.whose[i].key, on_thread_end) == 0;
}

void ed_sys_thread_end_watch(int who, void (*fn)(void))
{
        if (fn)
                atomic_store(&ending.whose[who].fn, fn);
        (void) pthread_once(&ending.once, make_ending_keys);
        if (ending.whose[who].has_key)
                (void) pthread_setspecific(ending.whose[who].key, fn ? &ending.whose[who] : NULL);
}
