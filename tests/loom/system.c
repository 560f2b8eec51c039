/*
 * system.c - threads, signals, futexes and eventfds of the product as those of
 * the search.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pthread.h"
#include "signal.h"
#include "sys/eventfd.h"
#include "sys/syscall.h"

/* --- threads --- */

struct start {
        void *(*fn)(void *arg);
        void *arg;
};

static void thread_main(void *arg)
{
        struct start start = *(struct start *) arg;

        free(arg);
        (void) start.fn(start.arg);
}

int loom_thread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
                       void *arg)
{
        struct start *start = malloc(sizeof(*start));

        (void) attr;
        if (!start)
                abort();
        *start = (struct start){ fn, arg };
        *ret_thread = (pthread_t) (1 + dfs_thread(thread_main, start));
        dfs_point();
        return 0;
}

/* --- signals --- */

static struct sigaction actions[65]; /* zero: the default */
int loom_deaths;

void loom_signals_reset(void)
{
        memset(actions, 0, sizeof(actions));
        loom_deaths = 0;
}

int loom_sigaction(int signo, const struct sigaction *action, struct sigaction *ret_former)
{
        dfs_point();
        if (ret_former)
                *ret_former = actions[signo];
        if (action) {
                actions[signo] = *action;
                dfs_write();
                dfs_point();
        }
        return 0;
}

void loom_signal(int signo, void (*handler)(int signo))
{
        (void) loom_sigaction(signo, &(struct sigaction){ .sa_handler = handler }, NULL);
}

int loom_raise(int signo)
{
        struct sigaction action;
        siginfo_t info = { .si_signo = signo };

        dfs_point();
        action = actions[signo];
        dfs_point();
        if (action.sa_handler == SIG_DFL)
                loom_deaths++;
        else if (action.sa_flags & SA_SIGINFO)
                action.sa_sigaction(signo, &info, NULL);
        else if (action.sa_handler != SIG_IGN)
                action.sa_handler(signo);
        return 0;
}

/* --- the futex and the eventfd --- */

static struct {
        _Atomic uint32_t *word; /* NULL: nobody waits */
        bool woken;
} futex;

static bool futex_is_woken(const void *arg)
{
        (void) arg;
        return futex.woken;
}

static long futex_wait(_Atomic uint32_t *word, uint32_t value, bool has_end)
{
        if (*word != value) {
                errno = EAGAIN;
                return -1;
        }
        futex.word = word;
        futex.woken = false;
        if (has_end)
                dfs_pause();
        else
                dfs_wait(futex_is_woken, NULL, "a wake of its futex");
        futex.word = NULL;
        return 0;
}

long loom_futex(_Atomic uint32_t *word, int op, uint32_t value, const void *timeout)
{
        dfs_point();
        if (op == FUTEX_WAIT_PRIVATE)
                return futex_wait(word, value, timeout != NULL);
        if (futex.word == word) {
                futex.woken = true;
                dfs_write();
                dfs_point();
        }
        return 0;
}

bool loom_event_written;

int loom_event_write(void)
{
        dfs_point();
        loom_event_written = true;
        dfs_write();
        dfs_point();
        return (int) sizeof(uint64_t);
}

static bool event_is_written(const void *arg)
{
        (void) arg;
        return loom_event_written;
}

void loom_event_wait(void)
{
        dfs_point();
        if (!loom_event_written)
                dfs_wait(event_is_written, NULL, "a write to its eventfd");
        loom_event_written = false;
}
