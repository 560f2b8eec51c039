/*
 * generator_test.h - a generator to try things with, and those who ask it.
 */
#ifndef GENERATOR_TEST_H
#define GENERATOR_TEST_H

#include "sim_run.h"

/* A generator of 1 .. upto, and what became of it. */
struct count {
        int upto, at;
        int result;      /* returned at the end; 0: the yield's error */
        int64_t delay;   /* before each value */
        int64_t cleanup; /* at the end, in a shield */
        int begun, ended, err;
};

static inline int clean_up(int64_t duration_ns)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD };
        eddy_scope scope;

        eddy_scope_begin(&scope, &shield);
        CHECK_EQ(eddy_sleep(duration_ns), 0);
        return eddy_scope_end(&scope);
}

static inline int counts(eddy_generator *gen, void *arg)
{
        struct count *count = arg;
        int err = 0;

        count->begun++;
        while (err == 0 && count->at < count->upto) {
                if (count->delay)
                        err = eddy_sleep(count->delay);
                if (err == 0) {
                        count->at++;
                        err = eddy_generator_yield(gen, &count->at);
                }
        }
        if (count->cleanup)
                CHECK_EQ(clean_up(count->cleanup), 0);
        count->err = err;
        count->ended++;
        return count->result ? count->result : err;
}

static inline void begin(eddy_generator *gen, eddy_scope *scope, struct count *count)
{
        eddy_generator_begin(gen, scope, counts, count, sizeof(int));
}

static inline void expect(eddy_generator *gen, int value)
{
        int item = -1;

        CHECK_EQ(eddy_generator_next(gen, &item), 1);
        CHECK_EQ(item, value);
}

/* Asks under a deadline that comes before the value. */
static inline int asks_briefly(void *arg)
{
        int item = -1, err = eddy_generator_next(arg, &item);

        CHECK_EQ(item, -1);
        return err;
}

struct taker {
        eddy_generator *gen;
        int got, sum, err;
        int64_t pause;
        eddy_task *task;
};

static inline int takes_all(void *arg)
{
        struct taker *taker = arg;
        int item;

        while ((taker->err = eddy_generator_next(taker->gen, &item)) > 0) {
                taker->got++;
                taker->sum += item;
                if (taker->pause && eddy_sleep(taker->pause) < 0)
                        return -ECANCELED;
        }
        return taker->err;
}

#endif
