/*
 * calls_sync.c - the worlds of locks, semaphores, events, conditions and
 * barriers; see every_call.h.
 */
#include "every_call.h"

/* --- locks --- */

static struct {
        eddy_lock lock;
        int inside, visits;
} room;

static int take_lock(void *arg)
{
        (void) arg;
        return eddy_lock_acquire(&room.lock);
}

static int visit(void *arg)
{
        int err;

        world_pause();
        err = victim_call(take_lock, arg);
        if (err == -ECANCELED)
                return 0;
        CHECK_EQ(err, 0);
        CHECK_EQ(++room.inside, 1);
        CHECK(eddy_lock_is_mine(&room.lock));
        world_pause();
        room.inside--;
        room.visits++;
        CHECK_EQ(eddy_lock_release(&room.lock), 0);
        return 0;
}

static int world_lock(void *arg)
{
        int n = 2 + (int) world_chance(3);

        memset(&room, 0, sizeof(room));
        eddy_lock_init(&room.lock, world_chance(2) ? EDDY_LOCK_RECURSIVE : 0);
        world_begin(n);
        world_run(visit, arg, n);
        CHECK(!eddy_lock_is_locked(&room.lock));
        CHECK_EQ(room.visits, n - victims_cancelled());
        return 0;
}
EVERY_POINT(lock, eddy_lock_acquire)

/* --- semaphores --- */

static struct {
        eddy_semaphore sem;
        uint32_t units, inside;
        int visits;
} gate;

static int take_unit(void *arg)
{
        (void) arg;
        return eddy_semaphore_acquire(&gate.sem);
}

static int pass_gate(void *arg)
{
        int err;

        world_pause();
        err = victim_call(take_unit, arg);
        if (err == -ECANCELED)
                return 0;
        CHECK_EQ(err, 0);
        CHECK(++gate.inside <= gate.units);
        world_pause();
        gate.inside--;
        gate.visits++;
        CHECK_EQ(eddy_semaphore_release(&gate.sem), 0);
        return 0;
}

static int world_semaphore(void *arg)
{
        int n = 3 + (int) world_chance(3);

        memset(&gate, 0, sizeof(gate));
        gate.units = 1 + (uint32_t) world_chance(2);
        eddy_semaphore_init(&gate.sem, gate.units, EDDY_SEMAPHORE_BOUNDED);
        world_begin(n);
        world_run(pass_gate, arg, n);
        CHECK_EQ(eddy_semaphore_units(&gate.sem), gate.units);
        CHECK_EQ(eddy_semaphore_waiting(&gate.sem), 0);
        CHECK_EQ(gate.visits, n - victims_cancelled());
        return 0;
}
EVERY_POINT(semaphore, eddy_semaphore_acquire)

/* --- events --- */

static struct {
        eddy_event event;
        int sets, woken;
} bell;

static int await_bell(void *arg)
{
        (void) arg;
        return eddy_event_wait(&bell.event);
}

static int listen_to_bell(void *arg)
{
        int err;

        world_pause();
        err = victim_call(await_bell, arg);
        if (err == -ECANCELED)
                return 0;
        CHECK_EQ(err, 0);
        CHECK(bell.sets > 0);
        bell.woken++;
        return 0;
}

/* Pulses that late comers miss, and in the end one that stays. */
static int ring(void *arg)
{
        (void) arg;
        for (int i = 0; i < 2; i++) {
                world_pause();
                bell.sets++;
                CHECK_EQ(eddy_event_set(&bell.event), 0);
                if (i == 0)
                        eddy_event_clear(&bell.event);
        }
        return 0;
}

static int world_event(void *arg)
{
        int n = 1 + (int) world_chance(4);
        eddy_scope scope;

        memset(&bell, 0, sizeof(bell));
        world_begin(n);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, listen_to_bell, arg, n);
        world_start(&scope, ring, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(bell.woken, n - victims_cancelled());
        return 0;
}
EVERY_POINT(event, eddy_event_wait)

/* --- conditions --- */

static struct {
        eddy_lock lock;
        eddy_condition changed;
        int tokens, given, taken, inside;
        bool over;
} shelf;

static void shelf_begin(int victims)
{
        memset(&shelf, 0, sizeof(shelf));
        eddy_lock_init(&shelf.lock, world_chance(2) ? EDDY_LOCK_RECURSIVE : 0);
        world_begin(victims);
}

static int await_change(void *arg)
{
        int err;

        (void) arg;
        shelf.inside--;
        err = eddy_condition_wait(&shelf.changed, &shelf.lock);
        CHECK_EQ(++shelf.inside, 1);
        CHECK(eddy_lock_is_mine(&shelf.lock));
        return err;
}

static int there_is_something(void *arg)
{
        (void) arg;
        CHECK(eddy_lock_is_mine(&shelf.lock));
        return shelf.tokens > 0 || shelf.over;
}

static int await_something(void *arg)
{
        int err = eddy_condition_wait_for(&shelf.changed, &shelf.lock, there_is_something, arg);

        CHECK(eddy_lock_is_mine(&shelf.lock));
        if (err == 0)
                CHECK(there_is_something(NULL));
        return err;
}

static void enter_shelf(void)
{
        CHECK_EQ(eddy_lock_acquire(&shelf.lock), 0);
        CHECK_EQ(++shelf.inside, 1);
}

static void leave_shelf(void)
{
        shelf.inside--;
        CHECK_EQ(eddy_lock_release(&shelf.lock), 0);
}

/* Each notification wakes one who is not cancelled: it stands for one token. */
static int wait_for_change(void *arg)
{
        int err;

        world_pause();
        enter_shelf();
        err = victim_call(await_change, arg);
        CHECK(err == 0 || err == -ECANCELED);
        if (err == 0)
                shelf.taken++;
        /* With the lock held: others must wait to take it again. */
        world_pause();
        leave_shelf();
        return 0;
}

static int notify_all_in_turn(void *arg)
{
        (void) arg;
        while (shelf.given < 100 && shelf.taken + victims_cancelled() < *(int *) arg) {
                uint32_t waiting;

                world_pause();
                enter_shelf();
                waiting = eddy_condition_waiting(&shelf.changed);
                shelf.given += waiting > 0;
                CHECK_EQ(eddy_condition_notify(&shelf.changed, 1), 0);
                CHECK_EQ(eddy_condition_waiting(&shelf.changed), waiting - (waiting > 0));
                world_pause();
                leave_shelf();
        }
        return 0;
}

static int world_condition(void *arg)
{
        int n = 1 + (int) world_chance(3);
        eddy_scope scope;

        shelf_begin(n);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, wait_for_change, arg, n);
        world_start(&scope, notify_all_in_turn, &n, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        /* Who was notified knows it: no notification is lost with a cancel. */
        CHECK_EQ(shelf.taken, shelf.given);
        CHECK_EQ(shelf.taken, n - victims_cancelled());
        CHECK_EQ(eddy_condition_waiting(&shelf.changed), 0);
        CHECK(!eddy_lock_is_locked(&shelf.lock));
        return 0;
}
EVERY_POINT(condition, eddy_condition_wait)

static int take_token(void *arg)
{
        int err;

        world_pause();
        CHECK_EQ(eddy_lock_acquire(&shelf.lock), 0);
        err = victim_call(await_something, arg);
        CHECK(err == 0 || err == -ECANCELED);
        if (err == 0 && shelf.tokens > 0) {
                shelf.tokens--;
                shelf.taken++;
        } else if (err < 0) {
                /* It may have eaten a notification that another could use. */
                CHECK_EQ(eddy_condition_notify(&shelf.changed, 1), 0);
        }
        world_pause();
        CHECK_EQ(eddy_lock_release(&shelf.lock), 0);
        return 0;
}

static int give_tokens(void *arg)
{
        int n = *(int *) arg;

        for (int i = 0; i < n; i++) {
                world_pause();
                CHECK_EQ(eddy_lock_acquire(&shelf.lock), 0);
                shelf.tokens++;
                shelf.given++;
                CHECK_EQ(eddy_condition_notify(&shelf.changed, 1), 0);
                CHECK_EQ(eddy_lock_release(&shelf.lock), 0);
        }
        return 0;
}

static int world_condition_for(void *arg)
{
        int n = 1 + (int) world_chance(3);
        eddy_scope scope;

        shelf_begin(n);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, take_token, arg, n);
        world_start(&scope, give_tokens, &n, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(shelf.taken, n - victims_cancelled());
        CHECK_EQ(shelf.given, shelf.taken + shelf.tokens);
        CHECK_EQ(eddy_condition_waiting(&shelf.changed), 0);
        CHECK(!eddy_lock_is_locked(&shelf.lock));
        return 0;
}
EVERY_POINT(condition_for, eddy_condition_wait_for)

/* --- barriers --- */

enum { PARTIES = 3 };

static struct {
        eddy_barrier barrier;
        int by_index[PARTIES];
        int broken, passed;
        bool over;
} march;

static int reach_barrier(void *arg)
{
        (void) arg;
        return eddy_barrier_wait(&march.barrier);
}

static int march_along(void *arg)
{
        int index;

        world_pause();
        index = victim_call(reach_barrier, arg);
        if (index == EDDY_E_SYNC_BROKEN) {
                CHECK(march.over);
                march.broken++;
        } else if (index != -ECANCELED) {
                CHECK(index >= 0 && index < PARTIES);
                march.by_index[index]++;
                march.passed++;
        }
        return 0;
}

/* Let go whom nobody joins any more, at a time when others may just be let go. */
static int give_up(void *arg)
{
        (void) arg;
        (void) eddy_sleep(EDDY_MS(3));
        world_pause();
        march.over = true;
        CHECK_EQ(eddy_barrier_abort(&march.barrier), 0);
        return 0;
}

static int world_barrier(void *arg)
{
        int n = PARTIES + (int) world_chance(PARTIES);
        eddy_scope scope;

        memset(&march, 0, sizeof(march));
        eddy_barrier_init(&march.barrier, PARTIES);
        world_begin(n);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, march_along, arg, n);
        world_start(&scope, give_up, NULL, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        /* Each round that was let go was whole, though one of it was cancelled meanwhile. */
        for (int i = 1; i < PARTIES; i++)
                CHECK_EQ(march.by_index[i], march.by_index[0]);
        CHECK_EQ(march.passed + march.broken, n - victims_cancelled());
        CHECK_EQ(eddy_barrier_waiting(&march.barrier), 0);
        return 0;
}
EVERY_POINT(barrier, eddy_barrier_wait)
