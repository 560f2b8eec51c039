/*
 * loop/loop.h - the scheduler: fibers that are ready run in turn, and when
 * none is, the loop asks its table what has happened outside.
 *
 * A fiber that parks or yields switches straight to the next ready one; the
 * loop's own context comes in when none is ready, or after ED_LOOP_BUDGET
 * switches, so that I/O and timers are looked at however busy the fibers are.
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
#include "sys/exceptions.h"
#include "sys/sys.h"
#include "sys/thread.h"

enum { ED_LOOP_BUDGET = 128 };

/*
 * How far below a fiber the frames begin of one that is new, and end of one in a
 * shallow call; and how far behind it lies what every call of its task looks at.
 */
enum { ED_LOOP_FRAMES_BEGIN = 64, ED_LOOP_FRAMES_END = 256, ED_LOOP_TASK_LINE = 128 };

/* In the ready queue: a fiber, or a call that the loop itself makes. */
struct ed_ready {
        struct ed_ready *next;
        int result;    /* a fiber's: of the wait that was ended */
        uint8_t state; /* a fiber's: enum ed_fiber_state */
        bool is_call;
        uint16_t budget; /* a fiber's: suspending calls until it gives way */
};

enum ed_fiber_state { ED_FIBER_READY, ED_FIBER_RUNNING, ED_FIBER_PARKED };

/*
 * Takes back what a parked fiber waits for, because it is cancelled.  False:
 * that is not possible any more, the wake with its result is on its way.
 */
typedef bool ed_abort_fn(void *arg);

/* What runs: a context, its place in the ready queue, and what it waits for.  A cache line. */
struct ed_fiber {
        struct ed_co co;
        struct ed_ready ready;
        ed_abort_fn *abort; /* while parked; NULL: it cannot be cancelled */
        void *abort_arg;
        const char *waits_for; /* while parked: in words, for reports */
};

/* ed_co_leave() returns a fiber's result. */
_Static_assert(offsetof(struct ed_fiber, ready.result) == ED_CO_RESULT &&
                       offsetof(struct ed_fiber, co) == 0,
               "the result of a fiber lies elsewhere");

/*
 * A call that the loop makes in its own context: in its turn among the ready
 * fibers, but never in the turn in which it was asked for, so that I/O and
 * timers come in between however often a call asks for the next.
 */
struct ed_call {
        struct ed_ready ready;
        struct ed_ready **place; /* while queued and not the first: what points here */
        bool queued;
        uint64_t turn; /* in which it was queued */
        void (*fn)(struct ed_call *call);
};

struct ed_loop {
        /* What every switch and every start touches comes first, on two cache lines. */
        struct ed_fiber *current; /* NULL: the loop's own context runs */
        struct ed_ready *ready_first;
        struct ed_ready **ready_last;
        struct ed_ready *call;     /* out of the queue, to be made */
        uint64_t turn_end;         /* at so many switches it is time for the next poll */
        bool choosy;               /* the table chooses among ready fibers */
        bool asleep;               /* nobody runs it, and its table was not woken since */
        bool debug;                /* when each fiber parked is noted */
        bool forked;               /* this is a child of fork(), and the loop its parent's */
        _Atomic bool polling;      /* no fiber runs: it waits, or the run is not under way */
        _Atomic uint64_t switches; /* written by the loop only; the watchdog reads it */
        uint64_t fibers;           /* ever made: numbers them */
        /* This thread's; NULL: no C++ runtime is loaded. */
        struct ed_exceptions *exceptions;
        struct ed_stacks stacks;
        struct ed_co co;
        struct ed_sys *sys;
        struct ed_thread_id thread; /* that runs it */
        int64_t now_ns;             /* of this turn: its lag counts from here */
        uint32_t cancels;           /* of scopes and tasks, so far */
        uint64_t quiet_timers;      /* armed, but no fiber waits for them */
        uint64_t waits;             /* things outside that may wake a fiber: descriptors, lookups */
        _Atomic uint64_t polls;     /* written by the loop only, as 'switches' */
        uint64_t turns;             /* of fibers and calls: a poll has one or more */
        struct ed_ready **poll_calls; /* while a poll goes on: where its calls begin, or NULL */
        struct ed_event *events;      /* of this turn, while their targets are told */
        int events_count;
        void (*on_wake)(struct ed_loop *loop); /* after each poll: signals */
        bool (*on_deadlock)(struct ed_loop *loop);
        struct ed_list locals;
        struct ed_inbox *inbox; /* of other threads; NULL: nobody asked for it */
        struct ed_timers timers;
        struct eddy_lag lag; /* of the turns that are over */
};

/*
 * State of a floor above that lives as long as the loop: found by the address
 * of a key of its owner's.
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

/* Takes 'sys' over on success.  Errors: none of its own yet. */
void ed_loop_init(struct ed_loop *loop, struct ed_sys *sys);
void ed_loop_fini(struct ed_loop *loop);

/*
 * Tell 'target' of nothing more this turn: it is about to go away.  After the
 * table's unwatch(), which sees to later turns.
 */
ED_SHARED void ed_loop_forget(struct ed_loop *loop, const struct ed_target *target);

/*
 * Run ready fibers and poll until '*done'.  Returns 0, or -EDEADLK when no
 * fiber is ready, nothing can wake one and on_deadlock() could not help.
 */
int ed_loop_run(struct ed_loop *loop, const bool *done);

/* One turn that does not wait: run what is ready, look outside, fire timers. */
void ed_loop_turn(struct ed_loop *loop);

/* Now, freshly read. */
static inline int64_t ed_loop_now(struct ed_loop *loop)
{
        return loop->sys->ops->now(loop->sys);
}

/* Something is to be done: where nobody runs the loop, its descriptor must say so. */
static inline void ed_loop_rouse(struct ed_loop *loop)
{
        if (ed_likely(!loop->asleep))
                return;
        loop->asleep = false;
        loop->sys->ops->wake(loop->sys);
}

static inline struct ed_call *ed_call_of(struct ed_ready *ready)
{
        return ed_container_of(ready, struct ed_call, ready);
}

static inline void ed_loop_push(struct ed_loop *loop, struct ed_ready *ready)
{
        ed_loop_rouse(loop);
        ready->next = NULL;
        *loop->ready_last = ready;
        loop->ready_last = &ready->next;
}

static inline void ed_loop_push_front(struct ed_loop *loop, struct ed_ready *ready)
{
        ed_loop_rouse(loop);
        ready->next = loop->ready_first;
        if (!ready->next)
                loop->ready_last = &ready->next;
        else if (ed_unlikely(ready->next->is_call))
                ed_call_of(ready->next)->place = &ready->next;
        loop->ready_first = ready;
}

/* Before its first use. */
static inline void ed_fiber_init(struct ed_fiber *fiber)
{
        fiber->ready.is_call = false;
}

/* Put a fiber at the end of the ready queue. */
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
 * Queue a call that is not queued; it may queue itself again when it is made.
 * 'in_poll': by an event or a timer, whose calls are made in the turn that
 * they open.
 */
ED_SHARED void ed_call_queue(struct ed_loop *loop, struct ed_call *call, bool in_poll);

/*
 * Make now the calls that events and timers of this poll have queued so far:
 * for what happens within the poll, as a deadline does, and is to come after.
 */
void ed_call_make_polled(struct ed_loop *loop);

/* Take a queued call out; harmless when it is not queued. */
ED_SHARED void ed_call_cancel(struct ed_loop *loop, struct ed_call *call);

/* End a fiber's wait with 'result'; it runs in its turn. */
static inline void ed_fiber_wake(struct ed_loop *loop, struct ed_fiber *fiber, int result)
{
        ed_assert(fiber->ready.state == ED_FIBER_PARKED, "a fiber was woken that does not wait");
        fiber->ready.result = result;
        ed_fiber_ready(loop, fiber);
}

/* The same, but it runs next, as soon as the running one leaves. */
static inline void ed_fiber_wake_next(struct ed_loop *loop, struct ed_fiber *fiber, int result)
{
        ed_assert(fiber->ready.state == ED_FIBER_PARKED, "a fiber was woken that does not wait");
        fiber->ready.result = result;
        fiber->ready.state = ED_FIBER_READY;
        ed_loop_push_front(loop, &fiber->ready);
}

/* For a table that chooses: take the chosen one out of the first that are ready. */
struct ed_ready *ed_loop_choose(struct ed_loop *loop);

/* The first that is ready, taken out of the queue, or NULL. */
static inline __attribute__((always_inline)) struct ed_ready *ed_loop_pop(struct ed_loop *loop)
{
        struct ed_ready *ready = loop->ready_first;

        if (ed_unlikely(loop->choosy))
                return ed_loop_choose(loop);
        if (!ready)
                return NULL;
        loop->ready_first = ready->next;
        if (ready->next) {
                /* It runs soon: itself, its task, and its innermost frames, which lie below. */
                __builtin_prefetch(ready->next);
                __builtin_prefetch((char *) ready->next + ED_LOOP_TASK_LINE);
                for (int below = ED_LOOP_FRAMES_BEGIN; below <= ED_LOOP_FRAMES_END; below += 64)
                        __builtin_prefetch((char *) ready->next - below);
        } else {
                loop->ready_last = &loop->ready_first;
        }
        return ready;
}

/* Whether another switch to a fiber is to come before the next poll. */
static inline bool ed_loop_has_budget(const struct ed_loop *loop)
{
        return atomic_load_explicit(&loop->switches, memory_order_relaxed) < loop->turn_end;
}

/* Make a fiber the current one. */
static inline __attribute__((always_inline)) void ed_loop_run_fiber(struct ed_loop *loop,
                                                                    struct ed_fiber *fiber)
{
        loop->current = fiber;
        fiber->ready.state = ED_FIBER_RUNNING;
        /* One writer: no need for an atomic addition. */
        atomic_store_explicit(&loop->switches,
                              atomic_load_explicit(&loop->switches, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        ED_PROBE(switch, 1, fiber);
}

/* Make the next fiber, or the loop itself, the current one; give its context. */
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
 * Whether the C++ code of the running fiber handles an exception, or throws one
 * whose destructors suspend.
 */
static inline bool ed_loop_has_exceptions(const struct ed_loop *loop)
{
        const struct ed_exceptions *now = loop->exceptions;

        return ed_unlikely(now != NULL) && (now->caught || now->uncaught);
}

/* ed_fiber_switch_away() where that is so: the next fiber has none of them. */
ED_SHARED __attribute__((cold)) void ed_fiber_switch_away_handling(struct ed_loop *loop);

/*
 * Leave the running fiber, which is queued or parked, for the next one.
 * Inline: the processor foresees returns by the calls it saw last, which were
 * those of another fiber, so each function less to return from after a switch
 * is worth several nanoseconds.
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
 * Leave it for good.  Inline, like all on the way out of a task: a call that
 * never returns leaves its return address with the processor's predictor.
 */
static inline __attribute__((noreturn, always_inline)) void ed_fiber_exit(struct ed_loop *loop)
{
        struct ed_fiber *self = loop->current;

        ed_co_exit(&self->co, ed_loop_next(loop));
}

/* The running fiber is about to leave, and waits for something. */
static inline void ed_fiber_set_parked(struct ed_fiber *self, const char *waits_for,
                                       ed_abort_fn *abort, void *arg)
{
        self->ready.state = ED_FIBER_PARKED;
        self->abort = abort;
        self->abort_arg = arg;
        self->waits_for = waits_for;
}

/*
 * Wait until somebody calls ed_fiber_wake(); returns its result.  'abort' as
 * in struct ed_fiber.
 */
static inline __attribute__((always_inline)) int ed_fiber_park(struct ed_loop *loop,
                                                               const char *waits_for,
                                                               ed_abort_fn *abort, void *arg)
{
        struct ed_fiber *self = loop->current;

        ed_fiber_set_parked(self, waits_for, abort, arg);
        ed_fiber_switch_away(loop);
        return self->ready.result;
}

/* The same as the last thing that a function does, see ed_co_leave(). */
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

/* Whether the running fiber may choose which one is next; else the queue and the table say. */
static inline bool ed_loop_may_hand_over(const struct ed_loop *loop)
{
        return ed_loop_has_budget(loop) && !loop->choosy;
}

/*
 * The same where that is so and the running fiber 'self', on one side of a pair,
 * has no exceptions, and the next one is 'to', which waits and is woken with 'result':
 * ed_fiber_wake_next() without a place in the queue.  What 'self' waits for is
 * mostly what it waited for before; to look is cheaper than to store.  The words
 * tell 'abort', too.
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

/* Whether who is woken now runs next anyway, as soon as the running fiber leaves. */
static inline __attribute__((always_inline)) bool ed_loop_wakes_next(const struct ed_loop *loop)
{
        return !loop->ready_first && ed_loop_may_hand_over(loop);
}

/*
 * Where that is so, ed_fiber_wake() and ed_fiber_exit() without a place in the
 * queue: 'heir' is ready with 'result' from now on, and the one to leave for.
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

/* Let the other ready fibers run first. */
static inline void ed_fiber_yield(struct ed_loop *loop)
{
        ed_fiber_ready(loop, loop->current);
        ed_fiber_switch_away(loop);
}

#endif
