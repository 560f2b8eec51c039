/*
 * test_loop.c - the scheduler on a table of the test's own: order of the
 * ready queue, the budget of a turn and how long it took, what a poll is
 * asked, events of targets that go away.
 */
#include "loop/loop.h"

#include <errno.h>
#include <sys/mman.h>

#include "eddy/time.h"
#include "loop/inbox.h"
#include "test.h"

/* --- a table whose clock and events are the test's --- */

struct table {
        struct ed_sys sys;
        int64_t now_ns;
        int polls;
        int64_t last_timeout_ns;
        int64_t longest_ns;
        struct ed_event events[4];
        int events_count;
        bool freed;
};

/* What the time between two polls of a busy loop is made longer by, so that much goes on in it. */
enum { SLOWER = 40 };

static struct table table;

static int64_t table_now(struct ed_sys *sys)
{
        (void) sys;
        return table.sys.clock_runs ? ed_sys_now() / SLOWER : table.now_ns;
}

static int table_poll(struct ed_sys *sys, int64_t timeout_ns, struct ed_event *events, int max)
{
        int n = table.events_count;

        (void) sys;
        CHECK(max >= n);
        table.polls++;
        table.last_timeout_ns = timeout_ns;
        if (timeout_ns > table.longest_ns)
                table.longest_ns = timeout_ns;
        memcpy(events, table.events, (size_t) n * sizeof(*events));
        table.events_count = 0;
        if (n == 0 && timeout_ns > 0)
                table.now_ns += timeout_ns;
        return n;
}

static void table_free(struct ed_sys *sys)
{
        (void) sys;
        table.freed = true;
}

static void table_wake(struct ed_sys *sys)
{
        (void) sys;
}

static const struct ed_sys_poll poll_table = { .now = table_now,
                                               .poll = table_poll,
                                               .wake = table_wake };

/* --- fibers --- */

enum { FIBERS = 8 };

struct strand {
        struct ed_fiber fiber;
        struct ed_stack *stack;
        void (*fn)(struct strand *self);
        int id, rounds;
};

static struct ed_loop loop;
static struct strand strands[FIBERS];
static int order[1024], order_count;
static int alive;
static bool done;

static void strand_main(void *arg)
{
        struct strand *strand = arg;

        strand->fn(strand);
        if (--alive == 0)
                done = true;
        ed_stack_put(&loop.stacks, strand->stack);
        ed_fiber_exit(&loop);
}

static void spawn(int id, void (*fn)(struct strand *self))
{
        struct strand *strand = &strands[id];

        strand->id = id;
        strand->fn = fn;
        strand->stack = ed_stack_get(&loop.stacks, ED_STACK_DEFAULT);
        CHECK(strand->stack != NULL);
        ed_co_init(&strand->fiber.co, strand->stack->bottom,
                   (void *) ((uintptr_t) strand->stack & ~(uintptr_t) 63), strand_main, strand);
#ifdef ED_TSAN
        strand->fiber.co.fiber = strand->stack->fiber;
#endif
        ed_fiber_init(&strand->fiber);
        ed_fiber_ready(&loop, &strand->fiber);
        alive++;
}

static void begin(void)
{
        table.sys.name = "test";
        table.sys.free = table_free;
        table.sys.poll = &poll_table;
        table.sys.choose = NULL;
        table.now_ns = 1000;
        ed_loop_init(&loop, &table.sys);
}

static void finish(void)
{
        ed_loop_fini(&loop);
        CHECK(table.freed);
}

static void note(const struct strand *self)
{
        if (order_count < 1024)
                order[order_count++] = self->id;
}

static void note_and_yield(struct strand *self)
{
        for (int i = 0; i < self->rounds; i++) {
                note(self);
                ed_fiber_yield(&loop);
        }
}

static void begin_by_real_clock(void)
{
        table.sys.clock_runs = true; /* the kernel's, but slow */
        begin();
}

/* A1, A29: first in, first out; each runs once a round, in the order started. */
TEST(ready_fibers_take_turns_in_the_order_queued)
{
        begin();
        for (int i = 0; i < 3; i++) {
                strands[i].rounds = 3;
                spawn(i, note_and_yield);
        }
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(order_count, 9);
        for (int i = 0; i < 9; i++)
                CHECK_EQ(order[i], i % 3);
        finish();
}

/* A2: outside things are looked at however long fibers go on. */
TEST(a_poll_comes_after_every_budget_of_switches)
{
        begin();
        strands[0].rounds = strands[1].rounds = 10 * ED_LOOP_BUDGET;
        spawn(0, note_and_yield);
        spawn(1, note_and_yield);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK(table.polls >= 19 && table.polls <= 22);
        CHECK_EQ(table.longest_ns, 0);
        finish();
}

static void park(struct strand *self)
{
        note(self);
        CHECK_EQ(ed_fiber_park(&loop, "the test", NULL, NULL), 42);
        note(self);
}

struct wake_up {
        struct ed_timer timer;
        int id;
};

static void wake_up(struct ed_timer *timer)
{
        ed_fiber_wake(&loop, &strands[ed_container_of(timer, struct wake_up, timer)->id].fiber, 42);
}

/* A4: the poll waits just until the next timer. */
TEST(a_poll_waits_until_the_next_timer)
{
        struct wake_up alarm = { .id = 0 };

        begin();
        ed_timer_init(&alarm.timer, wake_up);
        ed_timer_arm(&loop.timers, &alarm.timer, table.now_ns + 777);
        spawn(0, park);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(table.longest_ns, 777);
        CHECK_EQ(table.now_ns, 1777);
        finish();
}

/* A4: and for ever, when there is none but something outside may happen. */
struct seen {
        struct ed_target target;
        struct seen *kills;
        int calls;
        unsigned events;
};

static void on_events(struct ed_target *target, unsigned events)
{
        struct seen *seen = ed_container_of(target, struct seen, target);

        seen->calls++;
        seen->events = events;
        if (seen->kills)
                ed_loop_forget(&loop, &seen->kills->target);
        if (strands[0].fiber.ready.state == ED_FIBER_PARKED)
                ed_fiber_wake(&loop, &strands[0].fiber, 42);
}

TEST(a_poll_waits_for_ever_without_timers)
{
        struct seen seen = { .target.on_events = on_events };

        begin();
        loop.waits = 1;
        table.events[0] = (struct ed_event){ &seen.target, ED_EVENT_READ };
        table.events_count = 1;
        spawn(0, park);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(table.last_timeout_ns, -1);
        CHECK_EQ(seen.calls, 1);
        CHECK_EQ(seen.events, ED_EVENT_READ);
        finish();
}

TEST(a_target_that_another_one_removes_is_not_called)
{
        struct seen second = { .target.on_events = on_events };
        struct seen first = { .target.on_events = on_events, .kills = &second };

        begin();
        loop.waits = 1;
        table.events[0] = (struct ed_event){ &first.target, ED_EVENT_READ };
        table.events[1] = (struct ed_event){ &second.target, ED_EVENT_WRITE };
        table.events_count = 2;
        spawn(0, park);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(first.calls, 1);
        CHECK_EQ(second.calls, 0);
        finish();
}

/* A3: within a turn first what is ready, then events, then timers. */
TEST(events_are_reported_before_timers_fire)
{
        struct seen seen = { .target.on_events = on_events };
        struct wake_up alarm = { .id = 1 };

        begin();
        ed_timer_init(&alarm.timer, wake_up);
        ed_timer_arm(&loop.timers, &alarm.timer, table.now_ns);
        table.events[0] = (struct ed_event){ &seen.target, ED_EVENT_READ };
        table.events_count = 1;
        spawn(0, park);
        spawn(1, park);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(order_count, 4);
        CHECK_EQ(order[2], 0);
        CHECK_EQ(order[3], 1);
        finish();
}

static int deadlocks;

static bool help_out(struct ed_loop *stuck)
{
        deadlocks++;
        ed_fiber_wake(stuck, &strands[0].fiber, 42);
        return true;
}

TEST(a_loop_where_nothing_can_happen_asks_for_help)
{
        begin();
        loop.on_deadlock = help_out;
        spawn(0, park);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(deadlocks, 1);
        finish();
}

TEST(a_loop_that_no_task_can_help_says_so)
{
        begin();
        spawn(0, park);
        CHECK_EQ(ed_loop_run(&loop, &done), -EDEADLK);
        CHECK_EQ(table.polls, 0);
        /* The fiber is abandoned: its stack is given back for it. */
        ed_stack_put(&loop.stacks, strands[0].stack);
        finish();
}

TEST_DIES(waking_a_fiber_that_does_not_wait_is_a_broken_invariant, 6)
{
        begin();
        spawn(0, note_and_yield);
        ed_fiber_wake(&loop, &strands[0].fiber, 0);
}

static uint32_t choose_last(struct ed_sys *sys, uint32_t n)
{
        (void) sys;
        return n - 1;
}

TEST(a_table_that_chooses_gets_the_order_it_wants)
{
        table.sys = (struct ed_sys){
                .name = "test", .free = table_free, .poll = &poll_table, .choose = choose_last
        };
        table.now_ns = 1;
        ed_loop_init(&loop, &table.sys);
        for (int i = 0; i < 4; i++) {
                strands[i].rounds = 1;
                spawn(i, note_and_yield);
        }
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(order_count, 4);
        /* The last one is chosen, yields to the end of the queue, and ends before the next. */
        for (int i = 0; i < 4; i++)
                CHECK_EQ(order[i], 3 - i);
        finish();
}

/* --- how long turns took --- */

static void work(struct strand *self)
{
        for (int i = 0; i < self->rounds; i++) {
                table.now_ns += EDDY_MS(3);
                ed_fiber_yield(&loop);
        }
}

/* What ran between two polls is one turn, whoever ran. */
TEST(the_lag_is_the_time_between_two_polls)
{
        begin();
        strands[0].rounds = strands[1].rounds = 2;
        spawn(0, work);
        spawn(1, work);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(table.polls, 0);
        CHECK_EQ(loop.lag.count, 1);
        CHECK_EQ(loop.lag.max_ns, EDDY_MS(12));
        finish();
}

TEST(each_budget_of_switches_is_a_turn_of_its_own)
{
        begin();
        strands[0].rounds = 3 * ED_LOOP_BUDGET;
        spawn(0, work);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(loop.lag.count, (uint64_t) table.polls + 1);
        CHECK(loop.lag.count >= 4);
        CHECK(loop.lag.max_ns <= EDDY_MS(3) * ED_LOOP_BUDGET);
        finish();
}

static void park_and_work(struct strand *self)
{
        park(self);
        table.now_ns += EDDY_US(5);
}

/* Idle is not late; and neither is a loop that nobody runs. */
TEST(waiting_in_a_poll_or_between_runs_is_not_lag)
{
        struct wake_up alarm = { .id = 0 };
        uint64_t turns;

        begin();
        ed_timer_init(&alarm.timer, wake_up);
        ed_timer_arm(&loop.timers, &alarm.timer, table.now_ns + EDDY_SEC(9));
        spawn(0, park_and_work);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        turns = loop.lag.count;
        CHECK_EQ(loop.lag.max_ns, EDDY_US(5));

        table.now_ns += EDDY_SEC(9);
        ed_loop_turn(&loop);
        CHECK_EQ(loop.lag.count, turns + 1);
        table.now_ns += EDDY_SEC(9);
        done = false;
        strands[1].rounds = 1;
        spawn(1, work);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(loop.lag.count, turns + 2);
        CHECK_EQ(loop.lag.max_ns, EDDY_MS(3));
        finish();
}

static void on_slow_events(struct ed_target *target, unsigned events)
{
        table.now_ns += EDDY_MS(8);
        on_events(target, events);
}

/* What an event makes others wait is part of the turn that it opens. */
TEST(a_turn_begins_when_the_poll_returns)
{
        struct seen seen = { .target.on_events = on_slow_events };

        begin();
        loop.waits = 1;
        table.events[0] = (struct ed_event){ &seen.target, ED_EVENT_READ };
        table.events_count = 1;
        spawn(0, park_and_work);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(loop.lag.max_ns, EDDY_MS(8) + EDDY_US(5));
        finish();
}

static int freed_locals;

static void local_free(struct ed_loop_local *local)
{
        (void) local;
        freed_locals++;
}

static void yield_until_polled(struct strand *self)
{
        enum { POLLS = 20 };
        long yields = 0;
        int before;

        (void) self;
        for (before = table.polls; table.polls < before + POLLS; yields++)
                ed_fiber_yield(&loop);
        CHECK(yields > (long) POLLS * ED_LOOP_BUDGET * 3 / 2);
}

TEST(a_busy_loop_polls_after_some_time_and_not_before)
{
        begin_by_real_clock();
        spawn(0, yield_until_polled);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        finish();
}

static struct ed_call again;
static uint64_t turns_of_calls[100];
static int calls_made;

static void call_again(struct ed_call *call)
{
        turns_of_calls[calls_made++] = loop.turns;
        if (calls_made < 100)
                ed_call_queue(&loop, call, false);
}

static void yield_until_called(struct strand *self)
{
        int before;

        (void) self;
        before = table.polls;
        ed_call_queue(&loop, &again, false);
        while (calls_made < 100)
                ed_fiber_yield(&loop);
        CHECK(table.polls - before < 50);
}

/* --- taking calls out of the queue --- */

enum { CALLS = 8 };

static struct ed_call numbered[CALLS];

static void note_call(struct ed_call *call)
{
        order[order_count++] = 100 + (int) (call - numbered);
}

/* Calls and fibers in turn: call 0, fiber 0, call 1, fiber 1, then two calls side by side. */
static void queue_calls_and_fibers(void)
{
        for (int i = 0; i < CALLS; i++)
                ed_call_init(&numbered[i], note_call);
        for (int i = 0; i < 3; i++) {
                ed_call_queue(&loop, &numbered[i], false);
                spawn(i, note_and_yield);
                strands[i].rounds = 1;
        }
        ed_call_queue(&loop, &numbered[3], false);
        ed_call_queue(&loop, &numbered[4], false);
}

/* For each set of calls: without them the rest keeps its order, whichever is cancelled first. */
static void check_without(unsigned cancelled, bool backwards)
{
        int expected = 0;

        order_count = 0;
        done = false;
        begin();
        queue_calls_and_fibers();
        for (int i = 0; i < 5; i++) {
                int call = backwards ? 4 - i : i;

                if (cancelled >> call & 1)
                        ed_call_cancel(&loop, &numbered[call]);
                CHECK_EQ(numbered[call].queued, !(cancelled >> call & 1));
        }
        loop.turns++; /* what was asked for before may be called now */
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        for (int i = 0; i < 5; i++) {
                if (!(cancelled >> i & 1))
                        CHECK_EQ(order[expected++], 100 + i);
                if (i < 3)
                        CHECK_EQ(order[expected++], i);
        }
        CHECK_EQ(order_count, expected);
        CHECK(!loop.ready_first && loop.ready_last == &loop.ready_first);
        finish();
}

TEST(calls_that_are_cancelled_leave_the_order_of_the_others)
{
        for (unsigned cancelled = 0; cancelled < 32; cancelled++) {
                check_without(cancelled, false);
                check_without(cancelled, true);
        }
}

/* The first in the queue goes to the front again when its turn has not come, and others before it. */
static void wake_next_and_cancel(struct strand *self)
{
        struct strand *other = &strands[1];

        note(self);
        ed_call_queue(&loop, &numbered[0], false);
        ed_fiber_wake_next(&loop, &other->fiber, 0);
        ed_call_cancel(&loop, &numbered[0]);
        CHECK(loop.ready_first == &other->fiber.ready);
        CHECK(loop.ready_last == &other->fiber.ready.next);
        ed_call_queue(&loop, &numbered[1], false);
        ed_fiber_yield(&loop);
        note(self);
}

static void park_once(struct strand *self)
{
        ed_fiber_park(&loop, "nothing", NULL, NULL);
        note(self);
}

TEST(a_call_before_which_a_fiber_was_put_can_be_cancelled)
{
        for (int i = 0; i < CALLS; i++)
                ed_call_init(&numbered[i], note_call);
        begin();
        spawn(1, park_once);
        spawn(0, wake_next_and_cancel);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(order_count, 4);
        CHECK_EQ(order[0], 0);
        CHECK_EQ(order[1], 1);
        CHECK_EQ(order[2] + order[3],
                 101); /* the call, which is for the next turn, and the fiber */
        finish();
}

/* The entry before it has gone, and may be anywhere. */
static void cancel_the_next(struct strand *self)
{
        note(self);
        ed_call_cancel(&loop, &numbered[0]);
        CHECK(loop.ready_first == &numbered[1].ready);
}

TEST(a_call_whose_turn_has_come_can_be_cancelled)
{
        for (int i = 0; i < CALLS; i++)
                ed_call_init(&numbered[i], note_call);
        begin();
        spawn(0, cancel_the_next);
        ed_call_queue(&loop, &numbered[0], false);
        ed_call_queue(&loop, &numbered[1], false);
        spawn(1, note_and_yield);
        strands[1].rounds = 1;
        loop.turns++;
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(order_count, 3);
        CHECK(order[0] == 0 && order[1] == 101 && order[2] == 1);
        finish();
}

/* Constant work: it may look at the entries beside it, and the others cannot be looked at. */
TEST(cancelling_a_call_looks_at_its_neighbours_only)
{
        size_t bytes = ed_sys_page_bytes();
        struct ed_call *hidden;

        CHECK_EQ(ed_sys_map(bytes, (void **) &hidden), 0);
        for (int i = 0; i < CALLS; i++) {
                ed_call_init(&hidden[i], note_call);
                ed_call_init(&numbered[i], note_call);
        }
        begin();
        for (int i = 0; i < CALLS; i++)
                ed_call_queue(&loop, &hidden[i], false);
        for (int i = 0; i < CALLS; i++)
                ed_call_queue(&loop, &numbered[i], false);
        CHECK_EQ(mprotect(hidden, bytes, PROT_NONE), 0);
        for (int i = CALLS - 1; i > 0; i--)
                ed_call_cancel(&loop, &numbered[i]);
        CHECK_EQ(mprotect(hidden, bytes, PROT_READ | PROT_WRITE), 0);
        CHECK(loop.ready_last == &numbered[0].ready.next);
        finish();
        ed_sys_unmap(hidden, bytes);
}

TEST(calls_are_made_in_turns_without_a_poll_too)
{
        begin_by_real_clock();
        ed_call_init(&again, call_again);
        spawn(0, yield_until_called);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        CHECK_EQ(calls_made, 100);
        for (int i = 1; i < 100; i++)
                CHECK(turns_of_calls[i] > turns_of_calls[i - 1]);
        finish();
}

static int posts_run, wakes_seen;

static void count_post(struct ed_post *post, bool closed)
{
        (void) post;
        posts_run += !closed;
}

static void count_wake(struct ed_loop *of)
{
        (void) of;
        wakes_seen++;
}

static void yield_and_post(struct strand *self)
{
        static struct ed_post post = { .fn = count_post };
        int before;

        (void) self;
        before = table.polls;
        posts_run = wakes_seen = 0;
        while (posts_run < 100 || wakes_seen < 100) {
                (void) ed_inbox_post(loop.inbox, &post);
                ed_fiber_yield(&loop);
        }
        CHECK(table.polls - before < 50);
}

TEST(posts_of_threads_and_signals_are_looked_at_in_turns_without_a_poll_too)
{
        begin_by_real_clock();
        loop.on_wake = count_wake;
        CHECK(ed_loop_inbox(&loop) != NULL);
        spawn(0, yield_and_post);
        CHECK_EQ(ed_loop_run(&loop, &done), 0);
        finish();
}

TEST(state_kept_with_the_loop_is_found_by_its_key_and_freed_with_it)
{
        static const char key_a, key_b;
        struct ed_loop_local a = { .key = &key_a, .free = local_free };

        begin();
        CHECK(ed_loop_local_find(&loop, &key_a) == NULL);
        ed_loop_local_add(&loop, &a);
        CHECK(ed_loop_local_find(&loop, &key_a) == &a);
        CHECK(ed_loop_local_find(&loop, &key_b) == NULL);
        finish();
        CHECK_EQ(freed_locals, 1);
}
