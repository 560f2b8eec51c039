/*
 * 36-greeter-thread - a thread of the platform that greets while main continues.
 *
 * The thread starts first.  Main works for half a second and prints its line,
 * between the first greeting and the second: it did not wait for the thread.  At
 * its end a Python program waits for its threads unless they are daemons.  A C
 * program does not: a return from main() ends the process with all its threads.
 * The join at the end is there for that reason; without it the thread would behave
 * as with `daemon=True` in Python.
 *
 * A function that only waits needs no thread: the next example does it with tasks.
 *
 * Run: 36-greeter-thread
 * Time: wall 10 to 15 s
 * Output:
 *     1 - Hello Mohammad
 *     Task Done !
 *     2 - Hello Mohammad
 *     3 - Hello Mohammad
 *     4 - Hello Mohammad
 *     5 - Hello Mohammad
 *     6 - Hello Mohammad
 *     7 - Hello Mohammad
 *     8 - Hello Mohammad
 *     9 - Hello Mohammad
 *     10 - Hello Mohammad
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void *greeter(void *name)
{
        struct timespec second = { .tv_sec = 1 };

        for (int i = 1; i <= 10; i++) {
                printf("%d - Hello %s\n", i, (const char *) name);
                nanosleep(&second, NULL);
        }
        return NULL;
}

int main(void)
{
        struct timespec half_second = { .tv_nsec = 500000000 };
        char name[] = "Mohammad";
        pthread_t thread;
        int err = pthread_create(&thread, NULL, greeter, name);

        if (err != 0) {
                fprintf(stderr, "36-greeter-thread: no thread: %s\n", strerror(err));
                return 1;
        }
        nanosleep(&half_second, NULL); /* main's own work */
        puts("Task Done !");
        return pthread_join(thread, NULL) == 0 ? 0 : 1;
}
