/*
 * test_schedules.c - a thousand random orders of who runs and who is
 * cancelled: units and items are conserved, and nobody stays parked.
 */
#include "sim_run.h"

enum { SEEDS = 1000, TASKS = 8, ROUNDS = 12, UNITS = 2 };

struct world {
        uint64_t random;
        eddy_semaphore sem;
        eddy_queue queue;
        eddy_task *tasks[2 * TASKS];
        long long put, got;
        int holding, most, cancelled;
};

static uint64_t next(struct world *w)
{
        w->random ^= w->random << 13;
        w->random ^= w->random >> 7;
        w->random ^= w->random << 17;
        return w->random;
}

static int pause_at_random(struct world *w)
{
        uint64_t which = next(w) % 4;

        return which == 0 ? 0 : eddy_sleep(which == 1 ? 0 : (int64_t) (next(w) % 3) * MS);
}

/* --- a semaphore --- */

static int uses_units(void *arg)
{
        struct world *w = arg;

        for (int i = 0; i < ROUNDS; i++) {
                int err = eddy_semaphore_acquire(&w->sem);

                if (err < 0)
                        return err;
                CHECK(++w->holding <= UNITS);
                err = pause_at_random(w);
                w->holding--;
                CHECK_EQ(eddy_semaphore_release(&w->sem), 0);
                if (err < 0)
                        return err;
        }
        return 0;
}

static int cancels_some(void *arg)
{
        struct world *w = arg;

        for (int i = 0; i < TASKS; i++) {
                CHECK_EQ(pause_at_random(w), 0);
                eddy_task_cancel(w->tasks[next(w) % TASKS]);
                w->cancelled++;
        }
        return 0;
}

/* A84, A87, A88: in each order of things every unit is back at the end. */
static int semaphore_world(void *arg)
{
        struct world w = { .random = *(uint64_t *) arg * 2 + 1 };
        eddy_scope scope;
        int result;

        eddy_semaphore_init(&w.sem, UNITS, EDDY_SEMAPHORE_BOUNDED);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                CHECK_EQ(eddy_scope_start_task(&scope, uses_units, &w, NULL, &w.tasks[i]), 0);
        eddy_scope_start(&scope, cancels_some, &w);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_semaphore_units(&w.sem), UNITS);
        CHECK_EQ(eddy_semaphore_waiting(&w.sem), 0);
        for (int i = 0; i < TASKS; i++) {
                CHECK_EQ(eddy_task_result(w.tasks[i], &result), 0);
                CHECK(result == 0 || result == -ECANCELED);
                eddy_task_release(w.tasks[i]);
        }
        return 0;
}

TEST(units_are_conserved_in_a_thousand_schedules_with_cancels)
{
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
                CHECK_EQ(sim_run_with(semaphore_world, &seed, seed, (struct eddy_run_opts){ 0 }),
                         0);
}

/* --- a queue --- */

static int puts_some(void *arg)
{
        struct world *w = arg;

        for (int i = 1; i <= ROUNDS; i++) {
                int err = eddy_queue_put(&w->queue, &i);

                if (err < 0)
                        return err;
                w->put += i;
                err = pause_at_random(w);
                if (err < 0)
                        return err;
        }
        return 0;
}

static int gets_until_shut(void *arg)
{
        struct world *w = arg;

        for (;;) {
                int item, err = eddy_queue_get(&w->queue, &item);

                if (err < 0)
                        return err == -EPIPE ? 0 : err;
                w->got += item;
                err = pause_at_random(w);
                if (err < 0)
                        return err;
        }
}

/* A99, A100, A102: what was put is got or still there, whoever was cancelled. */
static int queue_world(void *arg)
{
        struct world w = { .random = *(uint64_t *) arg * 2 + 1 };
        eddy_scope getters, putters;
        int item;

        CHECK_EQ(eddy_queue_init(&w.queue, sizeof(int), 1 + (uint32_t) (w.random % 3)), 0);
        eddy_scope_begin(&getters, NULL);
        eddy_scope_begin(&putters, NULL);
        for (int i = 0; i < TASKS / 2; i++) {
                CHECK_EQ(eddy_scope_start_task(&getters, gets_until_shut, &w, NULL, &w.tasks[i]),
                         0);
                CHECK_EQ(eddy_scope_start_task(&putters, puts_some, &w, NULL,
                                               &w.tasks[TASKS / 2 + i]),
                         0);
        }
        /* One that is never cancelled on the getting side, or all putters might wait for ever. */
        eddy_scope_start(&getters, gets_until_shut, &w);
        eddy_scope_start(&putters, cancels_some, &w);
        CHECK_EQ(eddy_scope_end(&putters), 0);
        eddy_queue_shutdown(&w.queue, 0);
        CHECK_EQ(eddy_scope_end(&getters), 0);
        while (eddy_queue_try_get(&w.queue, &item) == 0)
                w.got += item;
        CHECK_EQ(w.got, w.put);
        for (int i = 0; i < TASKS; i++)
                eddy_task_release(w.tasks[i]);
        eddy_queue_fini(&w.queue);
        return 0;
}

TEST(items_are_conserved_in_a_thousand_schedules_with_cancels)
{
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
                CHECK_EQ(sim_run_with(queue_world, &seed, seed, (struct eddy_run_opts){ 0 }), 0);
}

/* --- the same program and seed --- */

static int trace_world(void *arg)
{
        int err = semaphore_world(arg);

        return err < 0 ? err : queue_world(arg);
}

TEST(a_seed_gives_the_same_run_each_time_and_another_seed_another)
{
        struct ed_sim_end end[3];
        uint64_t salt = 5;

        for (int i = 0; i < 3; i++) {
                struct ed_sim_opts sim = { .seed = i < 2 ? 7 : 8, .end = &end[i] };
                struct ed_sys *sys;

                CHECK_EQ(ed_sim_new(&sim, &sys), 0);
                CHECK_EQ(ed_run_on(sys, trace_world, &salt, NULL, NULL), 0);
        }
        CHECK(end[0].trace == end[1].trace);
        CHECK(end[0].trace != end[2].trace);
        CHECK_EQ(end[0].lasted_ns, end[1].lasted_ns);
}

/* --- deadlines that come in the middle of everything --- */

static int deadline_world(void *arg)
{
        struct world w = { .random = *(uint64_t *) arg * 2 + 1 };
        struct eddy_scope_opts opts = { .timeout_ns = (int64_t) (next(&w) % 20) * MS + 1 };
        eddy_scope scope;
        int end;

        eddy_semaphore_init(&w.sem, UNITS, EDDY_SEMAPHORE_BOUNDED);
        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < TASKS; i++)
                eddy_scope_start(&scope, uses_units, &w);
        end = eddy_scope_end(&scope);
        CHECK(end == 0 || end == -ETIMEDOUT);
        CHECK(end == 0 || eddy_scope_expired(&scope));
        CHECK_EQ(eddy_semaphore_units(&w.sem), UNITS);
        CHECK_EQ(eddy_semaphore_waiting(&w.sem), 0);
        return end == 0;
}

TEST(a_deadline_in_the_middle_loses_no_unit)
{
        int in_time = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                int result = sim_run_with(deadline_world, &seed, seed, (struct eddy_run_opts){ 0 });

                CHECK(result >= 0);
                in_time += result;
        }
        CHECK(in_time < SEEDS);
}
