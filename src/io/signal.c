/*
 * io/signal.c - waiting for signals in tasks.
 */
#include "eddy/signal.h"

#include <errno.h>

#include "base/alloc.h"
#include "loop/member.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"
#include "scope/waiters.h"
#include "sync/choosable.h"
#include "sys/poll/signals.h"
#include "sys/process/fork.h"

_Static_assert((int) EDDY_SIGNALS_MAX == (int) ED_SIGNALS_MAX, "two numbers for one maximum");

struct eddy_signal {
        struct ed_choosable choosable; /* must be first; has at most one waiter */
        struct ed_target target;
        struct ed_member member;
        int slot;
        unsigned forks; /* ed_sys_forks() when opened */
        uint64_t come;  /* arrived signals, not yet returned */
        uint64_t given; /* returned in this round: each pending signal gets a turn */
};

static void loop_ends(struct ed_member *member)
{
        eddy_signal *signal = ed_container_of(member, eddy_signal, member);

        ed_signals_close(signal->slot);
        ed_loop_forget(member->loop, &signal->target);
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
        int err;

        if (ed_sys_forked_since(signal->forks))
                return EDDY_E_LOOP_FORKED;
        err = ed_member_check(&signal->member);
        if (err < 0)
                return err;
        if (ed_waiters_first(signal->choosable.waiters))
                return -EBUSY;
        return has_come(signal) ? signal_next(signal) : -EAGAIN;
}

int eddy_signal_open(const int *signos, size_t n, eddy_signal **ret_signal)
{
        struct ed_loop *loop = ed_loop_current;
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
        signal = ed_alloc_zero(sizeof(*signal));
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
        ed_member_join(&signal->member, loop, loop_ends);
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
        /* In a child of fork() another object may use the slot, and the waiter does not exist. */
        if (ed_sys_forked_since(signal->forks)) {
                ed_debug_gone(signal);
                ed_member_leave(&signal->member);
                ed_free(signal);
                return;
        }
        if (!ed_misuse_may_close(&signal->member, "a signal object"))
                return;
        ed_debug_gone(signal);
        (void) ed_waiters_wake(signal->choosable.waiters, -ECANCELED);
        if (signal->member.loop)
                loop_ends(&signal->member);
        ed_member_leave(&signal->member);
        ed_free(signal);
}
