/*
 * sys/poll/signals.c - one handler for all signals that loops receive.
 *
 * Each slot is one set of signals opened by a loop. The handler marks each slot that wants the
 * signal and wakes its loop. A signal without a slot stops the loops that requested this. Closing a
 * slot first restores the former handling, and then waits until no handler is about to wake the
 * slot's loop.
 */
#include "sys/poll/signals.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "eddy/error.h"
#include "sys/fault/handler.h"

/* The first slots are the program's, the rest are for SIGQUIT. */
enum { SIGNALS = 64, SLOTS = ED_SIGNALS_MAX + ED_SIGNALS_QUIT_MAX };

struct slot {
        struct ed_sys *_Atomic sys; /* NULL: free */
        _Atomic uint64_t wanted;
        _Atomic uint64_t pending;
        _Atomic bool reported; /* pending signals have been reported to the loop */
        struct ed_target *target;
};

static struct {
        pthread_mutex_t lock; /* guards the non-atomic fields, opening and closing */
        unsigned users[SIGNALS + 1];
        struct ed_handler handlers_of[SIGNALS + 1];
        struct slot slots[SLOTS];
        _Atomic int handlers;      /* number of handlers that may be about to wake a loop */
        _Atomic unsigned arrivals; /* signals that reached slots; loops compare their count */
        /* The loops that signals stop. */
        struct ed_sys *_Atomic stops[ED_STOPS_MAX]; /* NULL: free */
        unsigned stops_used;
        _Atomic unsigned stops_end; /* the loops are below this index */
        _Atomic uint64_t stop_set;  /* the signals that stop them */
        _Atomic int stop_signal;
} signals = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- the handler --- */

static bool mark_slots(int signo)
{
        bool any = false;

        for (int i = 0; i < SLOTS; i++) {
                struct slot *slot = &signals.slots[i];
                struct ed_sys *sys = atomic_load(&slot->sys);

                if (!sys || !(atomic_load(&slot->wanted) & ed_signal_bit(signo)))
                        continue;
                atomic_fetch_or(&slot->pending, ed_signal_bit(signo));
                atomic_store(&slot->reported, false);
                atomic_fetch_add(&signals.arrivals, 1);
                sys->poll->wake(sys);
                any = true;
        }
        return any;
}

/* Returns true if this is the first signal that stops the loops. */
static bool stop_loops(int signo)
{
        int none = 0;

        if (!(atomic_load(&signals.stop_set) & ed_signal_bit(signo)) ||
            atomic_load(&signals.stops_end) == 0 ||
            !atomic_compare_exchange_strong(&signals.stop_signal, &none, signo))
                return false;
        /* A loop that is added later sees the signal in ed_sys_stop_share(). */
        for (unsigned i = 0; i < atomic_load(&signals.stops_end); i++) {
                struct ed_sys *sys = atomic_load(&signals.stops[i]);

                if (sys)
                        sys->poll->wake(sys);
        }
        return true;
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
        int saved = errno;
        bool taken;

        atomic_fetch_add(&signals.handlers, 1);
        taken = mark_slots(signo) || stop_loops(signo);
        atomic_fetch_sub(&signals.handlers, 1);
        /*
         * The signal has no receiver: it was in transit when the former handling was restored, or
         * the former handler passed it on.
         */
        if (!taken)
                ed_handler_pass_on(signo, info, context, &signals.handlers_of[signo]);
        errno = saved;
}

/* Wait for all handlers: one on another thread may hold the loop that is about to be freed. */
static void handlers_wait(void)
{
        while (atomic_load(&signals.handlers) > 0)
                (void) sched_yield();
}

/* --- users of a signal; with the lock held --- */

static bool signal_use(int signo)
{
        /*
         * Install again if the program has installed its own handler since; that one is restored
         * later.
         */
        if (ed_handler_install(signo, on_signal, SA_RESTART, &signals.handlers_of[signo]) < 0)
                return false;
        signals.users[signo]++;
        return true;
}

static void signal_leave(int signo)
{
        if (--signals.users[signo] == 0)
                ed_handler_remove(signo, on_signal, &signals.handlers_of[signo]);
}

/* Returns the handling of the signal without ours. */
static struct sigaction other_handling(int signo)
{
        struct sigaction now;

        return ed_handler_now(signo, on_signal, &now) ? signals.handlers_of[signo].former : now;
}

static bool is_default(int signo)
{
        return other_handling(signo).sa_handler == SIG_DFL;
}

/* Returns true if the program has a handler for the signal. */
static bool is_handled(int signo)
{
        struct sigaction other = other_handling(signo);

        return ed_handler_is_function(&other);
}

/* Stop using all signals of a set. */
static void set_leave(uint64_t set)
{
        for (int signo = 1; signo <= SIGNALS; signo++)
                if (set & ed_signal_bit(signo))
                        signal_leave(signo);
}

/* --- slots --- */

int ed_signal_check(int signo)
{
        struct sigaction now;

        if (signo < 1 || signo > SIGNALS)
                return -EINVAL;
        switch (signo) {
        case SIGKILL:
        case SIGSTOP:
        case SIGSEGV:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
                return EDDY_E_SIGNAL_UNCATCHABLE;
        default:
                /* The C library reserves some real-time signals. */
                return sigaction(signo, NULL, &now) < 0 ? -EINVAL : 0;
        }
}

static struct slot *slot_free(int from, int to)
{
        for (int i = from; i < to; i++)
                if (!atomic_load(&signals.slots[i].sys))
                        return &signals.slots[i];
        return NULL;
}

/* Open a slot between 'from' and 'to'. */
static int open_in(int from, int to, struct ed_sys *sys, uint64_t wanted, struct ed_target *target)
{
        uint64_t used = 0;
        struct slot *slot;
        int err;

        pthread_mutex_lock(&signals.lock);
        err = -ENOSPC;
        slot = slot_free(from, to);
        if (!slot)
                goto out;
        slot->target = target;
        atomic_store(&slot->pending, 0);
        atomic_store(&slot->reported, true);
        atomic_store(&slot->wanted, wanted);
        atomic_store(&slot->sys, sys);
        for (int signo = 1; signo <= SIGNALS; signo++) {
                if (!(wanted & ed_signal_bit(signo)))
                        continue;
                err = -EINVAL;
                if (!signal_use(signo))
                        goto fail_leave;
                used |= ed_signal_bit(signo);
        }
        err = (int) (slot - signals.slots);
        goto out;

fail_leave:
        set_leave(used);
        atomic_store(&slot->sys, NULL);
        handlers_wait();
out:
        pthread_mutex_unlock(&signals.lock);
        return err;
}

int ed_signals_open(struct ed_sys *sys, uint64_t wanted, struct ed_target *target)
{
        return open_in(0, ED_SIGNALS_MAX, sys, wanted, target);
}

int ed_signals_open_quit(struct ed_sys *sys, struct ed_target *target)
{
        bool handled;

        pthread_mutex_lock(&signals.lock);
        handled = is_handled(SIGQUIT);
        pthread_mutex_unlock(&signals.lock);
        return handled ? -EBUSY
                       : open_in(ED_SIGNALS_MAX, SLOTS, sys, ed_signal_bit(SIGQUIT), target);
}

void ed_signals_close(int i)
{
        struct slot *slot = &signals.slots[i];

        pthread_mutex_lock(&signals.lock);
        set_leave(atomic_load(&slot->wanted));
        atomic_store(&slot->wanted, 0);
        handlers_wait();
        atomic_store(&slot->sys, NULL);
        pthread_mutex_unlock(&signals.lock);
}

void ed_signals_drop(struct ed_sys *sys)
{
        for (int i = 0; i < SLOTS; i++)
                if (atomic_load(&signals.slots[i].sys) == sys)
                        ed_signals_close(i);
}

uint64_t ed_signals_take(int i)
{
        return atomic_exchange(&signals.slots[i].pending, 0);
}

bool ed_signals_have_come(unsigned seen)
{
        return atomic_load_explicit(&signals.arrivals, memory_order_relaxed) != seen;
}

int ed_signals_collect(struct ed_sys *sys, unsigned *seen, struct ed_event *events, int max)
{
        unsigned arrivals = atomic_load(&signals.arrivals);
        int n = 0;

        if (arrivals == *seen)
                return 0;
        for (int i = 0; i < SLOTS; i++) {
                struct slot *slot = &signals.slots[i];

                if (atomic_load(&slot->sys) != sys || atomic_load(&slot->reported))
                        continue;
                if (n == max)
                        return n; /* the others are reported at the next poll */
                atomic_store(&slot->reported, true);
                events[n++] = (struct ed_event){ slot->target, ED_EVENT_READ };
        }
        *seen = arrivals;
        return n;
}

/* --- stopping loops --- */

static const int stop_signals[] = { SIGINT, SIGTERM };

/* Add a loop, with the lock held. Returns false if there are too many. */
static bool stop_add(struct ed_sys *sys)
{
        unsigned i = 0;

        while (i < ED_STOPS_MAX && atomic_load(&signals.stops[i]))
                i++;
        if (i == ED_STOPS_MAX)
                return false;
        atomic_store(&signals.stops[i], sys);
        if (i >= atomic_load(&signals.stops_end))
                atomic_store(&signals.stops_end, i + 1);
        signals.stops_used++;
        return true;
}

bool ed_sys_stop_install(struct ed_sys *sys)
{
        uint64_t set = 0, bit;

        pthread_mutex_lock(&signals.lock);
        if (signals.stops_used > 0)
                goto out;
        for (size_t i = 0; i < ed_array_count(stop_signals); i++)
                if (is_default(stop_signals[i]))
                        set |= ed_signal_bit(stop_signals[i]);
        if (!set)
                goto out;
        atomic_store(&signals.stop_signal, 0);
        (void) stop_add(sys);
        /* Set before the handlers are installed, because they read it. */
        atomic_store(&signals.stop_set, set);
        for (size_t i = 0; i < ed_array_count(stop_signals); i++) {
                bit = ed_signal_bit(stop_signals[i]);
                if (set & bit && !signal_use(stop_signals[i]))
                        atomic_fetch_and(&signals.stop_set, ~bit);
        }
out:
        pthread_mutex_unlock(&signals.lock);
        return set != 0;
}

bool ed_sys_stop_share(struct ed_sys *sys)
{
        bool added;

        pthread_mutex_lock(&signals.lock);
        added = signals.stops_used > 0 && stop_add(sys);
        pthread_mutex_unlock(&signals.lock);
        /* The handler may have run before the loop was added. */
        if (added && ed_sys_stop_signal())
                sys->poll->wake(sys);
        return added;
}

void ed_sys_stop_remove(struct ed_sys *sys)
{
        unsigned i = 0;

        pthread_mutex_lock(&signals.lock);
        while (atomic_load(&signals.stops[i]) != sys)
                i++;
        atomic_store(&signals.stops[i], NULL);
        if (--signals.stops_used == 0) {
                set_leave(atomic_load(&signals.stop_set));
                atomic_store(&signals.stop_set, 0);
                atomic_store(&signals.stops_end, 0);
        }
        handlers_wait();
        pthread_mutex_unlock(&signals.lock);
}

int ed_sys_stop_signal(void)
{
        return atomic_load(&signals.stop_signal);
}

/* --- fork --- */

void ed_signals_forget(void)
{
        pthread_mutex_init(&signals.lock, NULL);
        atomic_store(&signals.handlers, 0);
        for (int signo = 1; signo <= SIGNALS; signo++) {
                if (signals.users[signo] > 0)
                        ed_handler_remove(signo, on_signal, &signals.handlers_of[signo]);
                signals.users[signo] = 0;
        }
        for (int i = 0; i < SLOTS; i++)
                atomic_store(&signals.slots[i].sys, NULL);
        for (int i = 0; i < ED_STOPS_MAX; i++)
                atomic_store(&signals.stops[i], NULL);
        signals.stops_used = 0;
        atomic_store(&signals.stops_end, 0);
        atomic_store(&signals.stop_set, 0);
}
