/*
 * system.c - threads and signals of the product as those of the search.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pthread.h"
#include "signal.h"

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
        void (*handler)(int signo);

        dfs_point();
        handler = actions[signo].sa_handler;
        dfs_point();
        if (handler == SIG_DFL)
                loom_deaths++;
        else if (handler != SIG_IGN)
                handler(signo);
        return 0;
}
