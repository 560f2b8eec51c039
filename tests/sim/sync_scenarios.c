/*
 * sync_scenarios.c - programs of locks, events, conditions and barriers.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { VISITORS = 12, STAGES = 10, LISTENERS = 3, SLOTS = 2, ITEMS = 30, PARTIES = 4, ROUNDS = 8 };

/* Not all was done, though nobody failed: some could not be started, or were asked to stop. */
static int all_done(int err, int done, int wanted)
{
        return err == 0 && done < wanted ? -ECANCELED : err;
}

/* --- locks --- */

struct room {
        eddy_lock lock;
        int inside, visits;
};

static int look_around(struct room *room)
{
        bool recursive = room->lock.flags & EDDY_LOCK_RECURSIVE;
        int err = recursive ? eddy_lock_acquire(&room->lock) : 0;

        if (err < 0)
                return err;
        err = eddy_sleep(EDDY_MS(1));
        CHECK(eddy_lock_is_mine(&room->lock));
        if (recursive)
                CHECK_EQ(eddy_lock_release(&room->lock), 0);
        return err;
}

static int visit_room(void *arg)
{
        struct room *room = arg;
        int err;

        tasks_begun++;
        err = eddy_lock_acquire(&room->lock);
        if (err == 0) {
                CHECK_EQ(++room->inside, 1);
                err = look_around(room);
                room->inside--;
                room->visits += err == 0;
                CHECK_EQ(eddy_lock_release(&room->lock), 0);
        }
        tasks_ended++;
        return err;
}

static int run_room(unsigned flags)
{
        struct room room = { .lock = EDDY_LOCK(flags) };
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < VISITORS; i++)
                (void) eddy_scope_start(&scope, visit_room, &room);
        err = eddy_scope_end(&scope);
        CHECK(!eddy_lock_is_locked(&room.lock));
        return all_done(err, room.visits, VISITORS);
}

int scenario_locks(void *arg)
{
        int err = run_room(0);

        (void) arg;
        return err < 0 ? err : run_room(EDDY_LOCK_RECURSIVE);
}

/* --- events --- */

struct relay {
        eddy_event events[STAGES + 1];
        int next, arrived;
        bool broken; /* a stage did not wait: those after it may not wait yet */
};

/* Each waits for the one before it and wakes the one after it, with a pulse. */
static int run_stage(void *arg)
{
        struct relay *relay = arg;
        int stage = relay->next++, err;

        tasks_begun++;
        err = eddy_event_wait(&relay->events[stage]);
        if (err == 0) {
                CHECK_EQ(eddy_event_set(&relay->events[stage + 1]), 0);
                if (!relay->broken)
                        eddy_event_clear(&relay->events[stage + 1]);
                relay->arrived++;
        } else {
                relay->broken = true;
                CHECK_EQ(eddy_event_set(&relay->events[stage + 1]), 0);
        }
        tasks_ended++;
        return err;
}

static int listen_at_the_end(void *arg)
{
        struct relay *relay = arg;
        int err;

        tasks_begun++;
        err = eddy_event_wait(&relay->events[STAGES]);
        relay->arrived += err == 0;
        tasks_ended++;
        return err;
}

int scenario_events(void *arg)
{
        struct relay relay = { 0 };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < STAGES; i++)
                (void) eddy_scope_start(&scope, run_stage, &relay);
        for (int i = 0; i < LISTENERS; i++)
                (void) eddy_scope_start(&scope, listen_at_the_end, &relay);
        /* All stand in line by then. */
        if (eddy_sleep(EDDY_MS(1)) == 0)
                CHECK_EQ(eddy_event_set(&relay.events[0]), 0);
        err = eddy_scope_end(&scope);
        err = all_done(err, relay.arrived, STAGES + LISTENERS);
        if (err < 0)
                return err;
        CHECK(!eddy_event_is_set(&relay.events[STAGES]));
        return eddy_event_wait(&relay.events[0]);
}

/* --- conditions --- */

struct shelf {
        eddy_lock lock;
        eddy_condition has_room, has_items;
        int items, put, taken, producers;
};

static int there_is_room(void *arg)
{
        return ((struct shelf *) arg)->items < SLOTS;
}

static int there_are_items(void *arg)
{
        struct shelf *shelf = arg;

        return shelf->items > 0 || shelf->producers == 0;
}

static int put_one(struct shelf *shelf)
{
        int err = eddy_lock_acquire(&shelf->lock);

        if (err < 0)
                return err;
        err = eddy_condition_wait_for(&shelf->has_room, &shelf->lock, there_is_room, shelf);
        if (err == 0) {
                CHECK(++shelf->items <= SLOTS);
                shelf->put++;
                CHECK_EQ(eddy_condition_notify(&shelf->has_items, 1), 0);
        }
        CHECK_EQ(eddy_lock_release(&shelf->lock), 0);
        return err;
}

static int fill_shelf(void *arg)
{
        struct shelf *shelf = arg;
        int err = 0;

        tasks_begun++;
        for (int i = 0; i < ITEMS && err == 0; i++)
                err = put_one(shelf);
        shelf->producers--;
        if (err == 0)
                err = eddy_lock_acquire(&shelf->lock);
        if (err == 0) {
                CHECK_EQ(eddy_condition_notify_all(&shelf->has_items), 0);
                CHECK_EQ(eddy_lock_release(&shelf->lock), 0);
        }
        tasks_ended++;
        return err;
}

static int empty_shelf(void *arg)
{
        struct shelf *shelf = arg;
        bool over = false;
        int err;

        tasks_begun++;
        do {
                err = eddy_lock_acquire(&shelf->lock);
                if (err < 0)
                        break;
                err = eddy_condition_wait_for(&shelf->has_items, &shelf->lock, there_are_items,
                                              shelf);
                CHECK(eddy_lock_is_mine(&shelf->lock));
                over = shelf->items == 0;
                if (err == 0 && !over) {
                        shelf->items--;
                        shelf->taken++;
                        CHECK_EQ(eddy_condition_notify(&shelf->has_room, 1), 0);
                        /* With the lock held: who is cancelled meanwhile has to wait for it. */
                        err = eddy_sleep(EDDY_US(100));
                }
                CHECK_EQ(eddy_lock_release(&shelf->lock), 0);
        } while (err == 0 && !over);
        tasks_ended++;
        return err;
}

int scenario_conditions(void *arg)
{
        struct shelf shelf = { .producers = 2 };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                (void) eddy_scope_start(&scope, i % 2 ? fill_shelf : empty_shelf, &shelf);
        err = eddy_scope_end(&scope);
        CHECK_EQ(shelf.put, shelf.taken + shelf.items);
        CHECK(!eddy_lock_is_locked(&shelf.lock));
        CHECK_EQ(eddy_condition_waiting(&shelf.has_room), 0);
        CHECK_EQ(eddy_condition_waiting(&shelf.has_items), 0);
        return all_done(err, shelf.taken, 2 * ITEMS);
}

/* --- barriers --- */

struct march {
        eddy_barrier barrier;
        int passed[PARTIES]; /* by index */
        int broken;
};

static int march_along(void *arg)
{
        struct march *march = arg;
        int index = 0;

        tasks_begun++;
        for (int i = 0; i < ROUNDS && index >= 0; i++) {
                index = eddy_barrier_wait(&march->barrier);
                if (index < 0)
                        break;
                march->passed[index]++;
                index = eddy_sleep(EDDY_MS(index));
        }
        /* The others are not to wait for one that is gone. */
        if (index == -ECANCELED)
                CHECK_EQ(eddy_barrier_abort(&march->barrier), 0);
        tasks_ended++;
        return index == EDDY_E_SYNC_BROKEN ? 0 : index;
}

static int wait_alone(void *arg)
{
        struct march *march = arg;
        int index;

        tasks_begun++;
        index = eddy_barrier_wait(&march->barrier);
        tasks_ended++;
        if (index != EDDY_E_SYNC_BROKEN)
                return index;
        march->broken++;
        return 0;
}

/* No other task comes: it gives up, or gets an error because the barrier is broken. */
static int break_march(struct march *march)
{
        eddy_scope scope;
        int err;

        err = eddy_call_timeout(wait_alone, march, EDDY_MS(1));
        if (err != -ETIMEDOUT)
                return err;
        eddy_scope_begin(&scope, NULL);
        (void) eddy_scope_start(&scope, wait_alone, march);
        (void) eddy_scope_start(&scope, wait_alone, march);
        if (eddy_sleep(EDDY_MS(1)) == 0)
                CHECK_EQ(eddy_barrier_abort(&march->barrier), 0);
        err = eddy_scope_end(&scope);
        CHECK_EQ(eddy_barrier_reset(&march->barrier), 0);
        return all_done(err, march->broken, 2);
}

int scenario_barriers(void *arg)
{
        struct march march = { .barrier = EDDY_BARRIER(PARTIES) };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < PARTIES; i++)
                (void) eddy_scope_start(&scope, march_along, &march);
        err = eddy_scope_end(&scope);
        CHECK_EQ(eddy_barrier_waiting(&march.barrier), 0);
        CHECK_EQ(eddy_barrier_reset(&march.barrier), 0);
        /* Who is let go has its index, cancelled or not: each round is whole. */
        for (int i = 1; i < PARTIES; i++)
                CHECK_EQ(march.passed[i], march.passed[0]);
        err = all_done(err, march.passed[0], ROUNDS);
        return err < 0 ? err : break_march(&march);
}
