/*
 * race.c - jobs on two threads that count in one place, without a lock.
 *
 * Ends: failed
 * Says: WARNING: ThreadSanitizer: data race .*
 * Says: .* count_up .*
 * Says: .*Location is global 'total'.*
 */
#include <pthread.h>

#include "planted.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int total;

static void count_one(void)
{
        if (!FAULT)
                pthread_mutex_lock(&lock);
        total++;
        if (!FAULT)
                pthread_mutex_unlock(&lock);
}

int count_up(void *arg);
int count_up(void *arg)
{
        (void) arg;
        for (int i = 0; i < 1000; i++)
                count_one();
        return 0;
}

static int on_thread(void *arg)
{
        return eddy_to_thread(count_up, arg);
}

static int counts(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                start(&scope, "counter", on_thread, NULL);
        return eddy_scope_end(&scope);
}

int main(void)
{
        return end(eddy_run(counts, NULL, NULL));
}
