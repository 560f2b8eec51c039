/*
 * loop/loop.h - the scheduler: ready fibers run in turn; when none is ready, the loop polls its
 * table for outside events.
 *
 * A fiber that parks or yields switches directly to the next ready fiber.  The loop's own context
 * runs when no fiber is ready, or after ED_LOOP_BUDGET switches, so that I/O and timers are handled
 * however busy the fibers are.
 */
#ifndef ED_LOOP_LOOP_H
#define ED_LOOP_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "co/co.h"
#include "co/probe.h"
#include "co/stack.h"
#include "loop/lag.h"
#include "loop/timer.h"
#include "sys/sys.h"
#include "sys/thread/exceptions.h"
#include "sys/thread/thread.h"

enum { ED_LOOP_BUDGET = 128 };

/*
 * Distances from a fiber, for prefetching: how far below it the frames of a new fiber begin and
 * those in a shallow call end, and how far above it are the fields of its task that every call
 * reads.
 */
enum { ED_LOOP_FRAMES_BEGIN = 64, ED_LOOP_FRAMES_END = 256, ED_LOOP_TASK_LINE = 128 };

/* An entry of the ready queue: a fiber, or a call that the loop makes. */
struct ed_ready {
        struct ed_ready *next;
        int result;    /* fibers only: the result of the wait */
        uint8_t state; /* fibers only: enum ed_fiber_state */
        bool is_call;
        uint16_t budget; /* fibers only: suspending calls until it yields */
};

enum ed_fiber_state { ED_FIBER_READY, ED_FIBER_RUNNING, ED_FIBER_PARKED };

/*
 * Undoes a parked fiber's wait, because the fiber is cancelled.  Returns false if that is too late:
 * the wake with its result will come.
 */
typedef bool ed_abort_fn(void *arg);

/* A context, its place in the ready queue, and what it waits for.  It fills a cache line. */
struct ed_fiber {
        struct ed_co co;
        struct ed_ready ready;
        ed_abort_fn *abort; /* while parked; NULL: not cancellable */
        void *abort_arg;
        const char *waits_for; /* while parked: text for reports */
};

/* ed_co_leave() returns the result at this offset. */
_Static_assert(offsetof(struct ed_fiber, ready.result) == ED_CO_RESULT &&
                       offsetof(struct ed_fiber, co) == 0,
               "the result of a fiber is at another offset");

/*
 * A call that the loop makes in its own context.  It runs in order with the ready fibers, but (see
 * 'in_poll' below) not in the turn in which it was queued, so I/O and timers are handled between
 * calls that queue further calls.
 */
struct ed_call {
        struct ed_ready ready;
        struct ed_ready **place; /* while queued and not first: the pointer to this */
        bool queued;
        uint64_t turn; /* the turn in which it was queued */
        void (*fn)(struct ed_call *call);
};

struct ed_loop;

/* For 'push_flags': the loop does not run, and the table was not woken since; it is traced. */
enum { ED_PUSH_ASLEEP = 1 << 0, ED_PUSH_TRACED = 1 << 1 };

/* Called for a traced loop, which is also choosy: a fiber has become ready, or is about to run. */
struct ed_loop_trace {
        void (*on_ready)(struct ed_loop *loop, struct ed_fiber *fiber);
        void (*on_run)(struct ed_loop *loop, struct ed_fiber *fiber);
};

struct ed_loop {
        /* The fields that every switch and every start uses come first, on two cache lines. */
        struct ed_fiber *current; /* NULL: the loop's own context runs */
        struct ed_ready *ready_first;
        struct ed_ready **ready_last;
        struct ed_ready *call;     /* taken out of the queue, to be made next */
        uint64_t turn_end;         /* poll when 'switches' reaches this */
        bool choosy;               /* the table chooses among ready fibers, or each is noted */
        uint8_t push_flags;        /* ED_PUSH_*: what a push does besides */
        bool debug;                /* debug mode: record when each fiber parks */
        bool notes;                /* debug mode or a trace: a fiber that parks is noted */
        bool forked;               /* this is a child of fork(), the loop its parent's */
        _Atomic bool polling;      /* no fiber runs: it waits, or is not being run */
        _Atomic uint64_t switches; /* written only by the loop, read by the watchdog */
        uint64_t fibers;           /* number of fibers ever made; gives serial numbers */
        /* This thread's exceptions; NULL: no C++ runtime is loaded. */
        struct ed_exceptions *exceptions;
        struct ed_stacks stacks;
        struct ed_co co;
        struct ed_sys *sys;
        struct ed_thread_id thread; /* the thread that runs it */
        int64_t now_ns;             /* start of this turn, for its lag */
        uint32_t cancels;           /* number of cancels of scopes and tasks */
        uint64_t quiet_timers;      /* armed timers that no fiber waits for */
        uint64_t waits;             /* outside sources of wakes: descriptors, lookups */
        uint32_t unlimited;         /* connections with any number of unsent bytes (io/socket.c) */
        _Atomic uint64_t polls;     /* written only by the loop, like 'switches' */
        uint64_t turns;             /* turns of fibers and calls; one or more per poll */
        struct ed_ready **poll_calls; /* during a poll: where its calls begin, or NULL */
        struct ed_event *events;      /* of this turn, while their targets are notified */
        int events_count;
        void (*on_wake)(struct ed_loop *loop); /* after each poll: signals */
        bool (*on_deadlock)(struct ed_loop *loop);
        struct ed_list locals;
        struct ed_list members;            /* of struct ed_member */
        const struct ed_loop_trace *trace; /* NULL: not traced */
        struct ed_inbox *inbox;            /* from other threads; NULL: not requested yet */
        struct ed_timers timers;
        struct ed_list long_waits; /* of struct ed_long_wait, the oldest first */
        struct ed_timer long_timer;
        struct eddy_lag lag; /* of past turns */
        uint64_t uuid_step;  /* the time in the last identifier of version 7 */
};

/*
 * Data of an upper floor that lives as long as the loop.  It is found by the address of its owner's
 * key.
 */
struct ed_loop_local {
        struct ed_list link;
        const void *key;
        void (*free)(struct ed_loop_local *local);
};

ED_SHARED struct ed_loop_local *ed_loop_local_find(struct ed_loop *loop, const void *key);
ED_SHARED void ed_loop_local_add(struct ed_loop *loop, struct ed_loop_local *local);

/* The loop that this thread runs, or NULL. */
extern ED_SHARED __thread struct ed_loop *ed_loop_current
        __attribute__((tls_model("initial-exec")));

/* Takes ownership of 'sys'. */
void ed_loop_init(struct ed_loop *loop, struct ed_sys *sys);
void ed_loop_fini(struct ed_loop *loop);

/*
 * Sends no more events of this turn to 'target', which is about to go away.  Call this after the
 * table's unwatch(), which stops later events.
 */
ED_SHARED void ed_loop_forget(struct ed_loop *loop, const struct ed_target *target);

/*
 * Runs ready fibers and polls until '*done'.  Returns 0, or -EDEADLK if no fiber is ready, nothing
 * can wake one and on_deadlock() did not help.
 */
int ed_loop_run(struct ed_loop *loop, const bool *done);

/* Makes one turn that does not wait: runs ready fibers, polls, fires timers. */
void ed_loop_turn(struct ed_loop *loop);

/* Reads the clock. */
static inline int64_t ed_loop_now(struct ed_loop *loop)
{
        return loop->sys->poll->now(loop->sys);
}

/* A quiet timer is a timer that no fiber waits for: it does not hide a deadlock. */
static inline void ed_quiet_timer_arm(struct ed_loop *loop, struct ed_timer *timer,
                                      int64_t deadline_ns)
{
        loop->quiet_timers += !timer->armed;
        ed_timer_arm(&loop->timers, timer, deadline_ns);
}

static inline void ed_quiet_timer_cancel(struct ed_loop *loop, struct ed_timer *timer)
{
        loop->quiet_timers -= timer->armed;
        ed_timer_cancel(&loop->timers, timer);
}

/* Call this first in the timer's function. */
static inline void ed_quiet_timer_fired(struct ed_loop *loop)
{
        loop->quiet_timers--;
}

/* There is new work.  If the loop does not run now, makes its descriptor readable. */
static inline void ed_loop_rouse(struct ed_loop *loop)
{
        if (ed_likely(!(loop->push_flags & ED_PUSH_ASLEEP)))
                return;
        loop->push_flags &= (uint8_t) ~ED_PUSH_ASLEEP;
        loop->sys->poll->wake(loop->sys);
}

static inline struct ed_call *ed_call_of(struct ed_ready *ready)
{
        return ed_container_of(ready, struct ed_call, ready);
}

/* Rouses the loop, and notes a ready fiber in the loop's trace. */
ED_SHARED __attribute__((cold)) void ed_loop_push_noted(struct ed_loop *loop,
                                                        struct ed_ready *ready);

static inline void ed_loop_push(struct ed_loop *loop, struct ed_ready *ready)
{
        if (ed_unlikely(loop->push_flags))
                ed_loop_push_noted(loop, ready);
        ready->next = NULL;
        *loop->ready_last = ready;
        loop->ready_last = &ready->next;
}

static inline void ed_loop_push_front(struct ed_loop *loop, struct ed_ready *ready)
{
        if (ed_unlikely(loop->push_flags))
                ed_loop_push_noted(loop, ready);
        ready->next = loop->ready_first;
        if (!ready->next)
                loop->ready_last = &ready->next;
        else if (ed_unlikely(ready->next->is_call))
                ed_call_of(ready->next)->place = &ready->next;
        loop->ready_first = ready;
}

/* Call once before the first use. */
static inline void ed_fiber_init(struct ed_fiber *fiber)
{
        fiber->ready.is_call = false;
}

/* Puts a fiber at the end of the ready queue. */
static inline void ed_fiber_ready(struct ed_loop *loop, struct ed_fiber *fiber)
{
        fiber->ready.state = ED_FIBER_READY;
        ed_loop_push(loop, &fiber->ready);
}

static inline void ed_call_init(struct ed_call *call, void (*fn)(struct ed_call *call))
{
        *call = (struct ed_call){ .ready = { .is_call = true }, .fn = fn };
}

/*
 * Queues a call that is not queued; it may queue itself again when it is made.  'in_poll': queued
 * by an event or a timer, to be made in the turn that follows this poll; or by a fiber, to be made
 * in this turn, once the fiber parks or yields.
 */
ED_SHARED void ed_call_queue(struct ed_loop *loop, struct ed_call *call, bool in_poll);

/*
 * Makes the calls now that events and timers of this poll have queued, before something later in
 * the same poll, such as a deadline.
 */
void ed_call_make_polled(struct ed_loop *loop);

/* Takes a call out of the queue; harmless if it is not queued. */
ED_SHARED void ed_call_cancel(struct ed_loop *loop, struct ed_call *call);

/* Ends a fiber's wait with 'result'.  The fiber runs after those that are ready. */
static inline void ed_fiber_wake(struct ed_loop *loop, struct ed_fiber *fiber, int result)
{
        ed_assert(fiber->ready.state == ED_FIBER_PARKED, "a fiber was woken that does not wait");
        fiber->ready.result = result;
        ed_fiber_ready(loop, fiber);
}

/* Ends a fiber's wait with 'result'.  The fiber runs next, when the running one leaves. */
static inline void ed_fiber_wake_next(struct ed_loop *loop, struct ed_fiber *fiber, int result)
{
        ed_assert(fiber->ready.state == ED_FIBER_PARKED, "a fiber was woken that does not wait");
        fiber->ready.result = result;
        fiber->ready.state = ED_FIBER_READY;
        ed_loop_push_front(loop, &fiber->ready);
}

/* The table chooses among at most this number of ready entries. */
enum { ED_LOOP_CHOICES_MAX = 8 };

/* If the table chooses the order: takes the chosen entry out of the queue. */
struct ed_ready *ed_loop_choose(struct ed_loop *loop);

/* Takes the first ready entry out of the queue, or returns NULL. */
static inline __attribute__((always_inline)) struct ed_ready *ed_loop_pop(struct ed_loop *loop)
{
        struct ed_ready *ready = loop->ready_first;

        if (ed_unlikely(loop->choosy))
                return ed_loop_choose(loop);
        if (!ready)
                return NULL;
        loop->ready_first = ready->next;
        if (ready->next) {
                /*
                 * Prefetch the next fiber, its task, and its innermost frames, which are below it.
                 */
                __builtin_prefetch(ready->next);
                __builtin_prefetch((char *) ready->next + ED_LOOP_TASK_LINE);
                for (int below = ED_LOOP_FRAMES_BEGIN; below <= ED_LOOP_FRAMES_END; below += 64)
                        __builtin_prefetch((char *) ready->next - below);
        } else {
                loop->ready_last = &loop->ready_first;
        }
        return ready;
}

/* Returns true if another switch may come before the next poll. */
static inline bool ed_loop_has_budget(const struct ed_loop *loop)
{
        return atomic_load_explicit(&loop->switches, memory_order_relaxed) < loop->turn_end;
}

/* Makes a fiber the current one. */
static inline __attribute__((always_inline)) void ed_loop_run_fiber(struct ed_loop *loop,
                                                                    struct ed_fiber *fiber)
{
        loop->current = fiber;
        fiber->ready.state = ED_FIBER_RUNNING;
        /* There is one writer, so no atomic addition is needed. */
        atomic_store_explicit(&loop->switches,
                              atomic_load_explicit(&loop->switches, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        ED_PROBE(switch, 1, fiber);
}

/* Makes the next fiber, or the loop itself, the current one.  Returns its context. */
static inline __attribute__((always_inline)) struct ed_co *ed_loop_next(struct ed_loop *loop)
{
        struct ed_ready *ready = NULL;
        struct ed_fiber *fiber;

        if (ed_likely(ed_loop_has_budget(loop)))
                ready = ed_loop_pop(loop);
        if (ed_unlikely(!ready || ready->is_call)) {
                loop->current = NULL;
                loop->call = ready;
                ED_PROBE(switch, 1, (void *) 0);
                return &loop->co;
        }
        fiber = ed_container_of(ready, struct ed_fiber, ready);
        ed_loop_run_fiber(loop, fiber);
        return &fiber->co;
}

/*
 * Returns true if the running fiber's C++ code handles an exception, or is throwing one while
 * destructors suspend.
 */
static inline bool ed_loop_has_exceptions(const struct ed_loop *loop)
{
        const struct ed_exceptions *now = loop->exceptions;

        return ed_unlikely(now != NULL) && (now->caught || now->uncaught);
}

/* ed_fiber_switch_away() for a fiber with exceptions, which are hidden from the next fiber. */
ED_SHARED __attribute__((cold)) void ed_fiber_switch_away_handling(struct ed_loop *loop);

/*
 * Leaves the running fiber, which is queued or parked, for the next one.  Inline: the processor
 * predicts returns from the most recent calls, which were another fiber's, so each return less
 * after a switch saves several nanoseconds.
 */
static inline __attribute__((always_inline)) void ed_fiber_switch_away(struct ed_loop *loop)
{
        struct ed_fiber *self = loop->current;
        struct ed_co *to;

        if (ed_unlikely(ed_loop_has_exceptions(loop))) {
                ed_fiber_switch_away_handling(loop);
                return;
        }
        to = ed_loop_next(loop);
        if (to != &self->co)
                ed_co_switch(&self->co, to);
}

/*
 * Leaves the running fiber for good.  Inline like everything on a task's way out: a call that never
 * returns would leave its address in the processor's return predictor.
 */
static inline __attribute__((noreturn, always_inline)) void ed_fiber_exit(struct ed_loop *loop)
{
        struct ed_fiber *self = loop->current;

        ed_co_exit(&self->co, ed_loop_next(loop));
}

/* Marks the running fiber as parked, just before it leaves. */
static inline void ed_fiber_set_parked(struct ed_fiber *self, const char *waits_for,
                                       ed_abort_fn *abort, void *arg)
{
        self->ready.state = ED_FIBER_PARKED;
        self->abort = abort;
        self->abort_arg = arg;
        self->waits_for = waits_for;
}

/* Waits until ed_fiber_wake() and returns its result.  'abort' is as in struct ed_fiber. */
static inline __attribute__((always_inline)) int ed_fiber_park(struct ed_loop *loop,
                                                               const char *waits_for,
                                                               ed_abort_fn *abort, void *arg)
{
        struct ed_fiber *self = loop->current;

        ed_fiber_set_parked(self, waits_for, abort, arg);
        ed_fiber_switch_away(loop);
        return self->ready.result;
}

/* ed_fiber_park() as the last action of a function, see ed_co_leave(). */
static inline __attribute__((always_inline)) int ed_fiber_park_leave(struct ed_loop *loop,
                                                                     const char *waits_for,
                                                                     ed_abort_fn *abort, void *arg,
                                                                     enum ed_co_side side,
                                                                     ed_co_failed_fn *failed)
{
        struct ed_fiber *self = loop->current;

        ed_fiber_set_parked(self, waits_for, abort, arg);
        if (ed_unlikely(ed_loop_has_exceptions(loop))) {
                ed_fiber_switch_away_handling(loop);
                return self->ready.result < 0 ? failed(self->ready.result) : self->ready.result;
        }
        return ed_co_leave(&self->co, ed_loop_next(loop), side, failed);
}

/* Returns true if the running fiber may choose the next one itself. */
static inline bool ed_loop_may_hand_over(const struct ed_loop *loop)
{
        return ed_loop_has_budget(loop) && !loop->choosy;
}

/*
 * Parks 'self' and switches to 'to', which is parked and is woken with 'result'.  This is
 * ed_fiber_wake_next() and ed_fiber_park_leave() without the queue.  ed_loop_may_hand_over() must
 * be true, and 'self' must not have exceptions.  'self' usually waits for the same object as
 * before, and comparing is cheaper than storing.  Each 'waits_for' implies one 'abort', so 'abort'
 * is not compared.
 */
static inline __attribute__((always_inline)) int ed_fiber_park_leave_to(
        struct ed_loop *loop, struct ed_fiber *self, struct ed_fiber *to, int result,
        const char *waits_for, ed_abort_fn *abort, void *arg, enum ed_co_side side,
        ed_co_failed_fn *failed)
{
        if (ed_unlikely(self->waits_for != waits_for || self->abort_arg != arg))
                ed_fiber_set_parked(self, waits_for, abort, arg);
        self->ready.state = ED_FIBER_PARKED;
        to->ready.result = result;
        ed_loop_run_fiber(loop, to);
        return ed_co_leave(&self->co, &to->co, side, failed);
}

/* Returns true if a fiber that is woken now runs next, when the running one leaves. */
static inline __attribute__((always_inline)) bool ed_loop_wakes_next(const struct ed_loop *loop)
{
        return !loop->ready_first && ed_loop_may_hand_over(loop);
}

/*
 * If ed_loop_wakes_next() is true, these two replace ed_fiber_wake() and ed_fiber_exit() without
 * the queue: 'heir' becomes ready with 'result', and must be the fiber to exit to.
 */
static inline void ed_fiber_wake_heir(struct ed_fiber *heir, int result)
{
        ed_assert(heir->ready.state == ED_FIBER_PARKED, "a fiber was woken that does not wait");
        heir->ready.result = result;
        heir->ready.state = ED_FIBER_READY;
}

static inline __attribute__((noreturn, always_inline)) void ed_fiber_exit_to(struct ed_loop *loop,
                                                                             struct ed_fiber *heir)
{
        struct ed_fiber *self = loop->current;

        ed_loop_run_fiber(loop, heir);
        ed_co_exit(&self->co, &heir->co);
}

/*
 * Leaves the running fiber for fn(arg) on the thread's stack, below the loop's frames, for a fiber
 * without a valid stack.  'fn' must not return; it can go back by ed_co_switch(&loop->co,
 * &fiber->co).  The loop's own context is lost.
 */
void ed_fiber_leave_stack(struct ed_loop *loop, ed_co_fn *fn, void *arg);

/* Lets the other ready fibers run first. */
static inline void ed_fiber_yield(struct ed_loop *loop)
{
        ed_fiber_ready(loop, loop->current);
        ed_fiber_switch_away(loop);
}

#endif
