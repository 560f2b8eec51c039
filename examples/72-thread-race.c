/*
 * 72-thread-race - two threads book the last two seats, two each; a mutex repairs
 * that, and tasks do not need it.
 *
 * Each thread checks the seats and then takes them.  If both check first, both
 * take.  This is rare with so few instructions in between, so a barrier holds each
 * thread after its check until the other has checked too: the barrier makes the
 * race happen in every run, but does not cause it.
 *
 * The seats are atomic, because threads share them.  Atomic access does not
 * prevent the race: the check and the booking are two accesses.
 *
 * Run: 72-thread-race
 * Time: wall 0.1 s
 * Output:
 *     two threads without a lock: 2 bookings
 *     Available seats: -2
 *     two threads with a mutex: 1 booking
 *     Available seats: 0
 *     two tasks without a lock: 1 booking
 *     Available seats: 0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eddy/eddy.h"

struct sale {
        atomic_int seats, bookings;
        pthread_barrier_t *both_checked; /* or NULL */
        pthread_mutex_t *mutex;          /* or NULL */
};

static int book_two(void *arg)
{
        struct timespec payment = { .tv_nsec = 100000000 };
        struct sale *sale = arg;

        if (sale->mutex)
                pthread_mutex_lock(sale->mutex);
        if (sale->seats >= 2) {
                if (sale->both_checked)
                        pthread_barrier_wait(sale->both_checked);
                if (sale->mutex)
                        nanosleep(&payment, NULL); /* the other thread cannot check meanwhile */
                sale->seats -= 2;
                sale->bookings++;
        }
        if (sale->mutex)
                pthread_mutex_unlock(sale->mutex);
        return 0;
}

static void *book_in_thread(void *sale)
{
        book_two(sale);
        return NULL;
}

static void sell_to_threads(struct sale *sale)
{
        pthread_t threads[2];

        for (int i = 0; i < 2; i++) {
                int err = pthread_create(&threads[i], NULL, book_in_thread, sale);

                if (err != 0) {
                        fprintf(stderr, "72-thread-race: no thread: %s\n", strerror(err));
                        exit(1);
                }
        }
        for (int i = 0; i < 2; i++)
                pthread_join(threads[i], NULL);
}

/* Nothing in book_two() suspends, so the second task runs after the first has booked. */
static int sell_to_tasks(void *sale)
{
        struct eddy_call calls[] = { EDDY_CALL(book_two, sale), EDDY_CALL(book_two, sale) };

        return eddy_gather(calls, 2, 0);
}

static void print_sale(const char *text, struct sale *sale)
{
        printf("%s: %d booking%s\nAvailable seats: %d\n", text, sale->bookings,
               sale->bookings == 1 ? "" : "s", sale->seats);
}

int main(void)
{
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_barrier_t barrier;
        struct sale racing = { .seats = 2, .both_checked = &barrier };
        struct sale locked = { .seats = 2, .mutex = &mutex }, tasks = { .seats = 2 };
        int err = pthread_barrier_init(&barrier, NULL, 2);

        if (err == 0) {
                sell_to_threads(&racing);
                print_sale("two threads without a lock", &racing);
                sell_to_threads(&locked);
                print_sale("two threads with a mutex", &locked);
                err = -eddy_run(sell_to_tasks, &tasks, NULL);
                pthread_barrier_destroy(&barrier);
        }
        if (err != 0)
                fprintf(stderr, "72-thread-race: %s\n", eddy_error_text(-err));
        else
                print_sale("two tasks without a lock", &tasks);
        return err != 0;
}
