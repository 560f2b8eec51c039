/*
 * tasks.c - a program for tasks.sh: when stop_here() is called there are tasks
 * in all states; with an argument, on the loops of two threads.
 */
#include <eddy/eddy.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static eddy_lock lock, left_lock;
static sem_t other_is_parked;

__attribute__((noinline)) static void stop_here(void)
{
        puts("here");
}

/* Three calls deep, with something to see in each. */
__attribute__((noinline)) static int innermost(int depth)
{
        int err = eddy_sleep(EDDY_SEC(100));

        return err < 0 ? err : depth;
}

__attribute__((noinline)) static int middle(int depth)
{
        int result = innermost(depth + 1);

        return result < 0 ? result : result + 1;
}

static int sleeps(void *arg)
{
        int result = middle(41);

        (void) arg;
        return result < 0 ? result : 0;
}

static int waits_for_the_lock(void *arg)
{
        int err = eddy_lock_acquire(&lock);

        (void) arg;
        return err;
}

static int takes_and_waits_in_vain(void *arg)
{
        int err = eddy_lock_acquire(&left_lock);

        return err < 0 ? err : *(int *) arg;
}

/* Its frame makes room for that of its last call. */
static int dozes(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(100));
}

/* Stands in line at the very beginning of what calls it. */
static inline __attribute__((always_inline)) void counts(void)
{
        static volatile int runs;

        runs++;
}

static int never_ran(void *arg)
{
        counts();
        (void) arg;
        return 0;
}

/* --- the other thread: begins first, so its run is the first --- */

static int tells(void *arg)
{
        (void) arg;
        (void) sem_post(&other_is_parked);
        return 0;
}

static int other_main(void *arg)
{
        int err = eddy_background(tells, arg);

        return err < 0 ? err : middle(7);
}

static void *other_thread(void *arg)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_SIGNALS | EDDY_RUN_NO_WATCHDOG };

        (void) eddy_run(other_main, arg, &opts);
        return NULL;
}

/* --- this one --- */

static int stops(void *arg)
{
        struct eddy_task_opts rent = { .name = "rent" };
        /* It is cut within its last character. */
        struct eddy_task_opts cut = { .name = "a name that is cut where it is \xc3\xa9" };
        eddy_scope scope;
        int err, zero = 0;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        err = eddy_lock_acquire(&lock);
        if (err < 0)
                return err;
        eddy_scope_start(&scope, sleeps, NULL);
        eddy_scope_start_task(&scope, waits_for_the_lock, NULL, &rent, NULL);
        eddy_scope_start(&scope, takes_and_waits_in_vain, &zero);
        eddy_scope_start(&scope, takes_and_waits_in_vain, &zero);
        eddy_scope_start(&scope, dozes, NULL);
        err = eddy_sleep(EDDY_MS(1));
        eddy_scope_start(&scope, never_ran, NULL);
        eddy_scope_start_task(&scope, never_ran, NULL, &cut, NULL);
        stop_here();
        eddy_scope_cancel(&scope);
        eddy_lock_release(&lock);
        (void) eddy_scope_end(&scope);
        return err;
}

int main(int argc, char **argv)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG };
        pthread_t other;

        (void) argv;
        if (argc > 1) {
                if (sem_init(&other_is_parked, 0, 0) < 0 ||
                    pthread_create(&other, NULL, other_thread, NULL) != 0)
                        return 1;
                while (sem_wait(&other_is_parked) < 0)
                        continue;
        }
        return eddy_run(stops, NULL, &opts) < 0;
}
