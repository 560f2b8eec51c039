/*
 * io/signal.c - waiting for signals in tasks.
 */
#include "eddy/signal.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/list.h"
#include "scope/debug/debug.h"
#include "scope/waiters.h"
#include "sync/choosable.h"
#include "sys/fork.h"
#include "sys/signals.h"

_Static_assert((int) EDDY_SIGNALS_MAX == (int) ED_SIGNALS_MAX, "two numbers for one maximum");

struct eddy_signal {
        struct ed_choosable choosable; /* must be first; has at most one waiter */
        struct ed_target target;
        struct ed_list link; /* in its loop's list */
        int slot;            /* negative: its run has ended */
        unsigned forks;      /* ed_sys_forks() when opened */
        uint64_t come;       /* arrived signals, not yet returned */
        uint64_t given;      /* returned in this round: each pending signal gets a turn */
};

/* The open signals of a loop; the run's end closes them. */
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

/* Returns true if a signal is pending. */
static bool has_come(eddy_signal *signal)
{
        signal->come |= ed_signals_take(signal->slot);
        return signal->come != 0;
}

/* Returns the next pending signal; each pending signal has its turn before one repeats. */
static int signal_next(eddy_signal *signal)
{
        uint64_t left;
        int signo;

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
        struct ed_waiter *waiter;

        (void) events;
        if (!ed_waiters_first(signal->choosable.waiters) || !has_come(signal))
                return;
        waiter = ed_waiters_next(signal->choosable.waiters);
        if (waiter)
                ed_waiters_serve(waiter, signal_next(signal));
}

/* Returns the result of a wait that need not wait, or -EAGAIN. */
static int signal_take(struct ed_choosable *choosable)
{
        eddy_signal *signal = ed_container_of(choosable, struct eddy_signal, choosable);

        if (ed_sys_forked_since(signal->forks))
                return EDDY_E_LOOP_FORKED;
        if (ed_waiters_first(signal->choosable.waiters))
                return -EBUSY;
        return has_come(signal) ? signal_next(signal) : -EAGAIN;
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
        signal->choosable.take = signal_take;
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

int eddy_signal_wait(eddy_signal *signal)
{
        struct ed_waiter waiter;
        struct ed_task *task;
        int err, result;

        err = ed_suspend_enter(&task);
        if (err < 0)
                return err;
        if (!signal)
                return -EINVAL;
        result = signal_take(&signal->choosable);
        if (result != -EAGAIN) {
                ed_suspend_passed(task);
                return result;
        }
        ed_waiter_init(&waiter, task, NULL);
        ed_waiters_push(signal->choosable.waiters, &waiter);
        task->loop->waits++;
        result = ed_suspend_park(task, "a signal", ed_waiters_abort, &waiter);
        task->loop->waits--;
        return result;
}

void eddy_signal_close(eddy_signal *signal)
{
        if (!signal)
                return;
        ed_debug_gone(signal);
        /* In a child of fork() another object may use the slot, and the waiter does not exist. */
        if (ed_sys_forked_since(signal->forks)) {
                ed_free(signal);
                return;
        }
        (void) ed_waiters_wake(signal->choosable.waiters, -ECANCELED);
        if (signal->slot >= 0) {
                signal_detach(signal);
                if (ed_loop_current)
                        ed_loop_forget(ed_loop_current, &signal->target);
        }
        ed_free(signal);
}
