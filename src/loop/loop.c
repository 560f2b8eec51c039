/*
 * loop/loop.c - the turns of a loop: ready fibers, then outside events, then timers.
 */
#include "loop/loop.h"

#include <errno.h>

#include "loop/inbox.h"
#include "loop/member.h"

__thread struct ed_loop *ed_loop_current;

/* A busy loop polls again after this time, or after the current turn if that takes longer. */
static const int64_t poll_again_ns = 16000;

void ed_loop_init(struct ed_loop *loop, struct ed_sys *sys)
{
        *loop = (struct ed_loop){ .sys = sys, .choosy = sys->choose != NULL, .polling = true };
        loop->ready_last = &loop->ready_first;
        loop->thread = ed_thread_self();
        loop->now_ns = sys->poll->now(sys);
        ed_list_init(&loop->locals);
        ed_list_init(&loop->members);
        ed_list_init(&loop->long_waits);
        ed_co_init_thread(&loop->co);
        ed_stacks_init(&loop->stacks);
        ed_timers_init(&loop->timers, loop->now_ns);
}

static void end_members(struct ed_loop *loop)
{
        struct ed_list *link;

        loop->sys->is_ending = true;
        while ((link = ed_list_pop_front(&loop->members))) {
                struct ed_member *member = ed_container_of(link, struct ed_member, link);

                if (member->on_end)
                        member->on_end(member);
                member->loop = NULL;
        }
}

void ed_loop_fini(struct ed_loop *loop)
{
        struct ed_list *link;

        if (loop->inbox)
                ed_inbox_close(loop->inbox);
        /* Owners of calls that were not made may still look: mark their calls as not queued. */
        for (struct ed_ready *ready = loop->ready_first; ready; ready = ready->next)
                if (ready->is_call)
                        ed_call_of(ready)->queued = false;
        while ((link = ed_list_pop_front(&loop->locals))) {
                struct ed_loop_local *local = ed_container_of(link, struct ed_loop_local, link);

                local->free(local);
        }
        end_members(loop);
        ed_stacks_fini(&loop->stacks);
        loop->sys->free(loop->sys);
}

struct ed_loop_local *ed_loop_local_find(struct ed_loop *loop, const void *key)
{
        ed_list_each (link, &loop->locals) {
                struct ed_loop_local *local = ed_container_of(link, struct ed_loop_local, link);

                if (local->key == key)
                        return local;
        }
        return NULL;
}

void ed_loop_local_add(struct ed_loop *loop, struct ed_loop_local *local)
{
        ed_list_push_front(&loop->locals, &local->link);
}

void ed_fiber_switch_away_handling(struct ed_loop *loop)
{
        struct ed_fiber *self = loop->current;
        struct ed_exceptions *now = loop->exceptions, kept = *now;
        struct ed_co *to = ed_loop_next(loop);

        *now = (struct ed_exceptions){ 0 };
        if (to != &self->co)
                ed_co_switch(&self->co, to);
        *now = kept;
}

/* A function without calls may use this many bytes below the stack pointer. */
enum { RED_ZONE_BYTES = 128 };

void ed_fiber_leave_stack(struct ed_loop *loop, ed_co_fn *fn, void *arg)
{
        uintptr_t top = ((uintptr_t) loop->co.sp - RED_ZONE_BYTES) & ~(uintptr_t) 15;

#if defined(ED_ASAN) || defined(ED_MSAN)
        ed_co_init(&loop->co, (void *) loop->co.bottom, (void *) top, fn, arg);
#else
        ed_co_init(&loop->co, NULL, (void *) top, fn, arg);
#endif
        ed_co_switch(&loop->current->co, &loop->co);
}

static struct ed_ready *take_out(struct ed_loop *loop, struct ed_ready **place)
{
        struct ed_ready *ready = *place;

        *place = ready->next;
        if (!ready->next)
                loop->ready_last = place;
        else if (ready->next->is_call)
                ed_call_of(ready->next)->place = place;
        if (loop->poll_calls == &ready->next)
                loop->poll_calls = place;
        return ready;
}

/*
 * Lets the table choose among the first few ready entries, and takes the chosen one out.  Calls
 * keep their order among themselves.
 */
static struct ed_ready *choose(struct ed_loop *loop)
{
        struct ed_ready **place = &loop->ready_first, **call = NULL;
        uint32_t n = 0;

        for (struct ed_ready *ready = *place; ready && n < ED_LOOP_CHOICES_MAX; ready = ready->next)
                n++;
        if (n == 0)
                return NULL;
        for (uint32_t i = loop->sys->choose ? loop->sys->choose(loop->sys, n) : 0;; i--) {
                if (!call && (*place)->is_call)
                        call = place;
                if (i == 0)
                        break;
                place = &(*place)->next;
        }
        return take_out(loop, (*place)->is_call ? call : place);
}

struct ed_ready *ed_loop_choose(struct ed_loop *loop)
{
        struct ed_ready *ready = choose(loop);

        if (loop->trace && ready && !ready->is_call)
                loop->trace->on_run(loop, ed_container_of(ready, struct ed_fiber, ready));
        return ready;
}

void ed_loop_push_noted(struct ed_loop *loop, struct ed_ready *ready)
{
        ed_loop_rouse(loop);
        if (loop->trace && !ready->is_call)
                loop->trace->on_ready(loop, ed_container_of(ready, struct ed_fiber, ready));
}

void ed_call_queue(struct ed_loop *loop, struct ed_call *call, bool in_poll)
{
        call->queued = true;
        call->turn = in_poll ? loop->turns - 1 : loop->turns;
        if (in_poll && !loop->poll_calls)
                loop->poll_calls = loop->ready_last;
        call->place = loop->ready_last;
        ed_loop_push(loop, &call->ready);
}

void ed_call_make_polled(struct ed_loop *loop)
{
        while (loop->poll_calls && *loop->poll_calls) {
                struct ed_ready *ready = *loop->poll_calls;
                struct ed_call *call = ed_call_of(ready);

                if (!ready->is_call || call->turn == loop->turns) {
                        loop->poll_calls = &ready->next;
                        continue;
                }
                (void) take_out(loop, loop->poll_calls);
                call->queued = false;
                call->fn(call);
        }
        loop->poll_calls = NULL;
}

void ed_call_cancel(struct ed_loop *loop, struct ed_call *call)
{
        if (!call->queued)
                return;
        call->queued = false;
        /*
         * The first call's place is ready_first.  Its own 'place' is old if the entry before it was
         * taken.
         */
        if (loop->ready_first == &call->ready)
                (void) take_out(loop, &loop->ready_first);
        else
                (void) take_out(loop, call->place);
}

/*
 * Ends a turn.  A turn begins when a poll that waited returns, or when the loop begins to run.  A
 * poll that did not wait is part of the next turn: ready fibers wait for it too, and it needs no
 * clock reading.
 */
static void end_turn(struct ed_loop *loop, int64_t now_ns)
{
        int64_t begin_ns = loop->now_ns;

        loop->now_ns = now_ns;
        ed_lag_add(&loop->lag, now_ns - begin_ns);
}

/* Returns how long a poll may wait. */
static int64_t poll_timeout(struct ed_loop *loop)
{
        int64_t next;

        if (loop->ready_first)
                return 0;
        next = ed_timers_next(&loop->timers);
        if (next < 0)
                return -1;
        return next > loop->now_ns ? next - loop->now_ns : 0;
}

void ed_loop_forget(struct ed_loop *loop, const struct ed_target *target)
{
        for (int i = 0; i < loop->events_count; i++)
                if (loop->events[i].target == target)
                        loop->events[i].target = NULL;
}

/* Notifies the targets.  A target may remove another one, which clears that entry. */
static void deliver_events(struct ed_loop *loop, struct ed_event *events, int n)
{
        loop->events = events;
        loop->events_count = n;
        for (int i = 0; i < n; i++)
                if (events[i].target)
                        events[i].target->on_events(events[i].target, events[i].events);
        loop->events_count = 0;
}

/* Handles posts of other threads, and signals. */
static void run_posts(struct ed_loop *loop)
{
        if (loop->inbox)
                ed_inbox_run(loop->inbox);
        if (loop->on_wake)
                loop->on_wake(loop);
}

/*
 * Polls for outside events, notifies their targets, and fires timers.  Errors:
 * -EDEADLK  a simulated world in which nothing can happen any more
 */
static int poll_once(struct ed_loop *loop, int64_t timeout_ns)
{
        struct ed_event events[ED_EVENTS_MAX];
        int n;

        atomic_store_explicit(&loop->polling, true, memory_order_relaxed);
        n = loop->sys->poll->poll(loop->sys, timeout_ns, events, ED_EVENTS_MAX);
        atomic_store_explicit(&loop->polling, false, memory_order_relaxed);
        atomic_store_explicit(&loop->polls,
                              atomic_load_explicit(&loop->polls, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        if (timeout_ns != 0)
                loop->now_ns = ed_loop_now(loop);
        loop->turns++;
        /* Calls that were queued between two runs also set this. */
        loop->poll_calls = NULL;
        deliver_events(loop, events, n);
        run_posts(loop);
        ed_timers_fire(&loop->timers, loop->now_ns);
        return n < 0 ? n : 0;
}

/* Returns true if nothing inside or outside the loop can make a fiber ready. */
static bool is_stuck(const struct ed_loop *loop)
{
        return !loop->ready_first && loop->waits == 0 && loop->timers.count == loop->quiet_timers &&
               !(loop->inbox && ed_inbox_is_pending(loop->inbox));
}

/*
 * Makes the call that was taken out of the queue.  Returns false if the call is for the next turn.
 */
static bool make_call(struct ed_loop *loop)
{
        struct ed_call *call = ed_call_of(loop->call);

        loop->call = NULL;
        loop->turn_end--; /* a call counts as a switch */
        if (call->turn == loop->turns) {
                ed_loop_push_front(loop, &call->ready);
                return false;
        }
        call->queued = false;
        call->fn(call);
        return true;
}

/* Runs ready entries until it is time to poll. */
static void run_ready(struct ed_loop *loop)
{
        loop->turn_end =
                atomic_load_explicit(&loop->switches, memory_order_relaxed) + ED_LOOP_BUDGET - 1;
        do {
                struct ed_co *to = ed_loop_next(loop);

                if (to != &loop->co)
                        ed_co_switch(&loop->co, to);
                ed_assert(!loop->forked,
                          "a child of fork() returned from a task of its parent: end it with "
                          "_exit()");
        } while (loop->call && make_call(loop));
}

void ed_loop_turn(struct ed_loop *loop)
{
        atomic_store_explicit(&loop->polling, false, memory_order_relaxed);
        loop->now_ns = ed_loop_now(loop);
        run_ready(loop);
        end_turn(loop, ed_loop_now(loop));
        (void) poll_once(loop, 0);
        atomic_store_explicit(&loop->polling, true, memory_order_relaxed);
}

/* Polls, unless nothing outside can wake a fiber.  Returns false if nothing ever will. */
static bool look_outside(struct ed_loop *loop)
{
        return !is_stuck(loop) && poll_once(loop, poll_timeout(loop)) != -EDEADLK;
}

/*
 * Returns true if fibers are ready and the last poll is so recent that another poll would cost more
 * than the fibers.  Never in a simulation, since only a poll moves its clock.
 */
static bool is_poll_early(const struct ed_loop *loop, int64_t now_ns)
{
        return loop->ready_first && loop->sys->clock_runs && now_ns - loop->now_ns < poll_again_ns;
}

/* Begins a turn without a poll, but handles posts of other threads and signals. */
static void skip_poll(struct ed_loop *loop)
{
        loop->turns++;
        loop->poll_calls = NULL;
        run_posts(loop);
}

int ed_loop_run(struct ed_loop *loop, const bool *done)
{
        int64_t now_ns;
        int err = 0;

        atomic_store_explicit(&loop->polling, false, memory_order_relaxed);
        /* Time between two runs does not count as lag. */
        loop->now_ns = ed_loop_now(loop);
        while (!*done) {
                run_ready(loop);
                now_ns = ed_loop_now(loop);
                if (!*done && is_poll_early(loop, now_ns)) {
                        skip_poll(loop);
                        continue;
                }
                end_turn(loop, now_ns);
                if (*done)
                        break;
                if (!look_outside(loop) && !(loop->on_deadlock && loop->on_deadlock(loop))) {
                        err = -EDEADLK;
                        break;
                }
        }
        atomic_store_explicit(&loop->polling, true, memory_order_relaxed);
        return err;
}
