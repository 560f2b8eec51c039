/*
 * test_sugar.c - EDDY_SCOPE and EDDY_AUTO: every way out of a block; EDDY_SEC and
 * its like.
 */
#include "sim_run.h"

static int finished;

static int finishes(void *arg)
{
        int err = eddy_sleep(MS);

        (void) arg;
        finished++;
        return err;
}

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

SIM_TEST(a_block_ends_its_scope_when_it_falls_through)
{
        int err = 99;

        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, finishes, NULL);
                eddy_scope_start(&scope, finishes, NULL);
        }
        CHECK_EQ(err, 0);
        CHECK_EQ(finished, 2);
}

SIM_TEST(break_and_continue_end_the_scope_and_leave_only_the_block)
{
        int err = 99, loops = 0;

        for (int i = 0; i < 4; i++) {
                EDDY_SCOPE (scope, &err) {
                        eddy_scope_start(&scope, finishes, NULL);
                        if (i % 2)
                                break;
                        continue;
                }
                CHECK_EQ(err, 0);
                CHECK_EQ(finished, i + 1);
                loops++;
        }
        CHECK_EQ(loops, 4);
}

static int evaluate(int *at_return)
{
        *at_return = finished;
        return 5;
}

static int returns_from_inside(int *err, int *at_return)
{
        EDDY_SCOPE (scope, err) {
                eddy_scope_start(&scope, finishes, NULL);
                return evaluate(at_return);
        }
        return -1;
}

/* The value is worked out before the tasks have finished; the function is left after that. */
SIM_TEST(return_ends_the_scope_after_its_value_is_evaluated)
{
        int err = 99, at_return = 99;

        CHECK_EQ(returns_from_inside(&err, &at_return), 5);
        CHECK_EQ(at_return, 0);
        CHECK_EQ(finished, 1);
        CHECK_EQ(err, 0);
}

SIM_TEST(goto_out_of_a_block_ends_the_scope)
{
        int err = 99;

        EDDY_SCOPE (scope, &err) {
                eddy_scope_start(&scope, finishes, NULL);
                if (finished == 0)
                        goto out;
                finished = 1000;
        }
out:
        CHECK_EQ(finished, 1);
        CHECK_EQ(err, 0);
}

SIM_TEST(blocks_nest_and_each_has_its_error)
{
        int outer_err = 99, inner_err = 99;

        EDDY_SCOPE (outer, &outer_err, .timeout_ns = EDDY_SEC(1)) {
                eddy_scope_start(&outer, finishes, NULL);
                EDDY_SCOPE (inner, &inner_err, .flags = EDDY_SCOPE_KEEP_GOING) {
                        eddy_scope_start(&inner, fails, NULL);
                        eddy_scope_start(&inner, finishes, NULL);
                        CHECK_EQ(eddy_sleep(0), 0);
                        CHECK(!eddy_scope_is_cancelled(&inner));
                }
                CHECK_EQ(inner_err, -EIO);
                CHECK_EQ(finished, 2);
        }
        CHECK_EQ(outer_err, 0);
}

SIM_TEST(options_of_a_block_are_those_of_its_scope)
{
        struct eddy_scope_errors errors;
        int err = 99;

        EDDY_SCOPE (scope, &err, .timeout_ns = 5 * MS, .errors = &errors) {
                CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        }
        CHECK_EQ(err, -ETIMEDOUT);
        CHECK_EQ(errors.count, 0);
}

static int takes_a_unit(eddy_semaphore *sem, bool early)
{
        EDDY_AUTO(eddy_semaphore) eddy_semaphore *unit = NULL;

        if (early)
                return 1;
        if (eddy_semaphore_acquire(sem) < 0)
                return -1;
        unit = sem;
        return eddy_semaphore_units(sem) == 0 ? 2 : -2;
}

SIM_TEST(auto_gives_a_unit_back_on_every_way_out)
{
        eddy_semaphore sem = EDDY_SEMAPHORE(1, EDDY_SEMAPHORE_BOUNDED);

        CHECK_EQ(takes_a_unit(&sem, true), 1);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
        CHECK_EQ(takes_a_unit(&sem, false), 2);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
}

SIM_TEST(auto_releases_a_task)
{
        int err;

        EDDY_SCOPE (scope, &err) {
                EDDY_AUTO(eddy_task) eddy_task *task = NULL;

                CHECK_EQ(eddy_scope_start_task(&scope, finishes, NULL, NULL, &task), 0);
                CHECK_EQ(eddy_task_join(task, NULL), 0);
        }
        CHECK_EQ(err, 0);
}

_Static_assert(EDDY_SEC(2) == 2000000000, "whole numbers are constant");

TEST(times_are_made_of_whole_numbers_and_of_fractions)
{
        int64_t before = -3;
        uint32_t many = UINT32_MAX;

        CHECK_EQ(EDDY_SEC(0.5), EDDY_MS(500));
        CHECK_EQ(EDDY_MIN(1.5), EDDY_SEC(90));
        CHECK_EQ(EDDY_MS(0.25), EDDY_US(250));
        CHECK_EQ(EDDY_US(1 + 1), 2000);
        CHECK_EQ(EDDY_SEC(before), -EDDY_SEC(3));
        CHECK_EQ(EDDY_US(many), (int64_t) many * 1000);
}
