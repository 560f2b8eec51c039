/*
 * 36-greeter-thread - a thread of the platform that greets while main goes on.
 *
 * "Task Done !" comes at once, the greetings after it, one a second.  Python's
 * main waits for its threads unless they are daemons; C's does not: returning
 * from main() ends the process and every thread in it.  The join is there for
 * that reason, and without it this is Python's `daemon=True`.
 *
 * A thread that only waits needs no thread: the next example does it with tasks.
 *
 * Run: 36-greeter-thread
 * Time: wall 10 s
 * Output:
 *     Task Done !
 *     1 - Hello Mohammad
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
#include <time.h>

static void *greeter(void *name)
{
        for (int i = 1; i <= 10; i++) {
                struct timespec second = { .tv_sec = 1 };

                printf("%d - Hello %s\n", i, (const char *) name);
                nanosleep(&second, NULL);
        }
        return NULL;
}

int main(void)
{
        char name[] = "Mohammad";
        pthread_t thread;

        puts("Task Done !");
        if (pthread_create(&thread, NULL, greeter, name) != 0)
                return 1;
        return pthread_join(thread, NULL) == 0 ? 0 : 1;
}
