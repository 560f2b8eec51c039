/*
 * io/signal.c - signals as something a task waits for.
 */
#include "eddy/signal.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/list.h"
#include "scope/debug.h"
#include "scope/suspend.h"
#include "sys/process.h"
#include "sys/signals.h"

_Static_assert((int) EDDY_SIGNALS_MAX == (int) ED_SIGNALS_MAX, "two numbers for one maximum");

struct eddy_signal {
        struct ed_target target;
        struct ed_list link; /* in those of its loop */
        int slot;            /* below 0: its run has ended */
        unsigned forks;      /* ed_sys_forks() where it was opened */
        uint64_t come;       /* and were not given yet */
        uint64_t given;      /* in this round: each has its turn before one comes again */
        struct ed_task *waiter;
};

/* Those open on a loop; the run's end closes them. */
struct signals {
        struct ed_loop_local local;
        struct ed_list open;
};

static const char signals_key;

static void signal_detach(eddy_signal *signal)
{
        ed_list_remove(&signal->link);
        ed_signals_close(signal->slot);
        signal->slot = -1;
}

static void signals_free(struct ed_loop_local *local)
{
        struct signals *signals = ed_container_of(local, struct signals, local);

        while (!ed_list_is_empty(&signals->open))
                signal_detach(ed_container_of(signals->open.next, struct eddy_signal, link));
        ed_free(signals);
}

static struct signals *signals_of(struct ed_loop *loop)
{
        struct ed_loop_local *local = ed_loop_local_find(loop, &signals_key);
        struct signals *signals;

        if (local)
                return ed_container_of(local, struct signals, local);
        signals = ed_alloc_zero(sizeof(*signals));
        if (!signals)
                return NULL;
        signals->local.key = &signals_key;
        signals->local.free = signals_free;
        ed_list_init(&signals->open);
        ed_loop_local_add(loop, &signals->local);
        return signals;
}

/* The next to give, by number, or 0; each that came once before any is given twice. */
static int signal_next(eddy_signal *signal)
{
        uint64_t left;
        int signo;

        signal->come |= ed_signals_take(signal->slot);
        if (!signal->come)
                return 0;
        left = signal->come & ~signal->given;
        if (!left) {
                signal->given = 0;
                left = signal->come;
        }
        signo = __builtin_ctzll(left) + 1;
        signal->come &= ~ed_signal_bit(signo);
        signal->given |= ed_signal_bit(signo);
        return signo;
}

static void on_signals(struct ed_target *target, unsigned events)
{
        eddy_signal *signal = ed_container_of(target, struct eddy_signal, target);
        struct ed_task *waiter = signal->waiter;
        int signo;

        (void) events;
        if (!waiter)
                return;
        signo = signal_next(signal);
        if (signo == 0)
                return;
        signal->waiter = NULL;
        ed_suspend_wake(waiter, signo);
}

int eddy_signal_open(const int *signos, size_t n, eddy_signal **ret_signal)
{
        struct ed_loop *loop = ed_loop_current;
        struct signals *signals;
        eddy_signal *signal;
        uint64_t wanted = 0;
        int err;

        if (!loop)
                return EDDY_E_RUN_NOT_RUNNING;
        if (n == 0)
                return -EINVAL;
        for (size_t i = 0; i < n; i++) {
                err = ed_signal_check(signos[i]);
                if (err < 0)
                        return err;
                wanted |= ed_signal_bit(signos[i]);
        }
        signals = signals_of(loop);
        signal = signals ? ed_alloc_zero(sizeof(*signal)) : NULL;
        if (!signal)
                return -ENOMEM;
        signal->target.on_events = on_signals;
        signal->forks = ed_sys_forks();
        signal->slot = ed_signals_open(loop->sys, wanted, &signal->target);
        if (signal->slot < 0) {
                err = signal->slot;
                ed_free(signal);
                return err;
        }
        ed_list_push_back(&signals->open, &signal->link);
        ed_debug_made(signal, ED_DEBUG_SIGNAL);
        *ret_signal = signal;
        return 0;
}

static bool take_back(void *arg)
{
        ((eddy_signal *) arg)->waiter = NULL;
        return true;
}

int eddy_signal_wait(eddy_signal *signal)
{
        struct ed_task *task;
        int err, result;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (ed_sys_forked_since(signal->forks))
                return EDDY_E_LOOP_FORKED;
        if (signal->waiter)
                return -EBUSY;
        result = signal_next(signal);
        if (result > 0) {
                ed_suspend_passed(task);
                return result;
        }
        signal->waiter = task;
        task->loop->waits++;
        result = ed_suspend_park(task, "a signal", take_back, signal);
        task->loop->waits--;
        return result;
}

void eddy_signal_close(eddy_signal *signal)
{
        if (!signal)
                return;
        ed_debug_gone(signal);
        /* In a child of fork() the slot may be another's, and who waits is not there. */
        if (ed_sys_forked_since(signal->forks)) {
                ed_free(signal);
                return;
        }
        if (signal->waiter)
                ed_suspend_wake(signal->waiter, -ECANCELED);
        if (signal->slot >= 0) {
                signal_detach(signal);
                if (ed_loop_current)
                        ed_loop_forget(ed_loop_current, &signal->target);
        }
        ed_free(signal);
}
