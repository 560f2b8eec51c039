/*
 * 74-hundred-threads - a hundred threads in a list, started and joined.
 *
 * All of them wait at the same time, so a hundred waits of a second take one
 * second.  Each thread is joined once, even if a later one could not be started,
 * and the counter that they share is atomic.
 *
 * A hundred tasks in a scope also take one second, with one thread and a plain
 * counter, and the scope joins them.
 *
 * Run: 74-hundred-threads
 * Time: wall 1 to 10 s
 * Output:
 *     100 threads are started
 *     100 threads have greeted
 *     Task Done !
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { THREADS = 100 };

static atomic_int greetings;

static void *greeter(void *arg)
{
        struct timespec second = { .tv_sec = 1 };

        nanosleep(&second, NULL);
        greetings++;
        return arg;
}

int main(void)
{
        pthread_t threads[THREADS];
        int started = 0, err = 0;

        while (started < THREADS && err == 0) {
                err = pthread_create(&threads[started], NULL, greeter, NULL);
                started += err == 0;
        }
        printf("%d threads are started\n", started);
        for (int i = 0; i < started; i++)
                pthread_join(threads[i], NULL);
        printf("%d threads have greeted\n", greetings);
        if (err != 0) {
                fprintf(stderr, "74-hundred-threads: no thread: %s\n", strerror(err));
                return 1;
        }
        puts("Task Done !");
        return 0;
}
