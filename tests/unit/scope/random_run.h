/*
 * random_run.h - a few tasks in random order, some of them cancelled.
 */
#ifndef RANDOM_RUN_H
#define RANDOM_RUN_H

#include "sim_run.h"

enum { RANDOM_SEEDS = 1000, RANDOM_TASKS = 8 };

struct random_run {
        uint64_t state;
        eddy_task *tasks[RANDOM_TASKS];
        int cancelled; /* of them, as their results say */
};

static inline uint64_t random_below(struct random_run *random, uint64_t n)
{
        random->state ^= random->state << 13;
        random->state ^= random->state >> 7;
        random->state ^= random->state << 17;
        return random->state % n;
}

/* Go on, give way, or sleep. */
static inline int random_pause(struct random_run *random)
{
        uint64_t which = random_below(random, 4);

        return which == 0 ? 0 : eddy_sleep(which == 1 ? 0 : (int64_t) random_below(random, 3) * MS);
}

static inline int random_cancels(void *arg)
{
        struct random_run *random = arg;

        for (int i = 0; i < RANDOM_TASKS; i++) {
                CHECK_EQ(random_pause(random), 0);
                eddy_task_cancel(random->tasks[random_below(random, RANDOM_TASKS)]);
        }
        return 0;
}

/* Run fn(arg) so many times at once in 'scope', and one that cancels some of them. */
static inline void random_begin(struct random_run *random, uint64_t seed, eddy_scope *scope,
                                eddy_task_fn *fn, void *arg)
{
        *random = (struct random_run){ .state = seed * 2 + 1 };
        for (int i = 0; i < RANDOM_TASKS; i++)
                CHECK_EQ(eddy_scope_start_task(scope, fn, arg, NULL, &random->tasks[i]), 0);
        eddy_scope_start(scope, random_cancels, random);
}

/* After the scope's end: each did its work, or was asked to stop. */
static inline void random_end(struct random_run *random)
{
        for (int i = 0; i < RANDOM_TASKS; i++) {
                int result;

                CHECK_EQ(eddy_task_result(random->tasks[i], &result), 0);
                CHECK(result == 0 || result == -ECANCELED);
                random->cancelled += result < 0;
                eddy_task_release(random->tasks[i]);
        }
}

/* Run main_fn(&seed) under each seed; it returns how many tasks were cancelled. */
static inline void random_run_all(eddy_task_fn *main_fn)
{
        int cancelled = 0;

        for (uint64_t seed = 1; seed <= RANDOM_SEEDS; seed++) {
                int n = sim_run_with(main_fn, &seed, seed, (struct eddy_run_opts){ 0 });

                CHECK(n >= 0);
                cancelled += n;
        }
        /* It must have come to both. */
        CHECK(cancelled > RANDOM_SEEDS && cancelled < RANDOM_SEEDS * RANDOM_TASKS);
}

#endif
