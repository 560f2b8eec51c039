/*
 * test_generator.c - generators: run when asked, their values and who gets them.
 */
#include "generator_test.h"
#include "other_loop.h"

static const eddy_var depth = EDDY_VAR("depth", int);

/* --- asking --- */

SIM_TEST(values_come_one_by_one_and_then_the_end)
{
        struct count count = { .upto = 300 };
        eddy_generator gen;
        eddy_scope scope;
        int item = -1;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(count.begun, 0);
        for (int i = 1; i <= 300; i++) {
                expect(&gen, i);
                CHECK_EQ(count.at, i);
        }
        CHECK_EQ(count.ended, 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK_EQ(item, -1);
        CHECK_EQ(count.ended, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
}

/* A72: one that is made in a scope that has ended does not begin. */
SIM_TEST(one_of_a_scope_that_has_ended_gives_nothing)
{
        struct count count = { .upto = 3 };
        eddy_generator gen;
        eddy_scope scope;
        int item = -1;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_generator_next(&gen, &item), -ECANCELED);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(item, -1);
        CHECK_EQ(count.begun, 0);
}

SIM_TEST(it_runs_no_further_than_it_is_asked)
{
        struct count count = { .upto = 10 };
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        expect(&gen, 1);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(count.at, 1);
        expect(&gen, 2);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(count.at, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(it_may_wait_between_its_values)
{
        struct count count = { .upto = 3, .delay = 5 * MS };
        int64_t begun = eddy_now();
        eddy_generator gen;
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        for (int i = 1; i <= 3; i++) {
                expect(&gen, i);
                CHECK_NS(eddy_now() - begun, i * 5 * MS);
        }
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

struct big {
        char bytes[1000];
};

static int gives_big(eddy_generator *gen, void *arg)
{
        struct big big;

        (void) arg;
        memset(big.bytes, 'a', sizeof(big.bytes));
        return eddy_generator_yield(gen, &big);
}

static int gives_nothing(eddy_generator *gen, void *arg)
{
        int err = 0;

        for (int i = 0; err == 0 && i < *(int *) arg; i++)
                err = eddy_generator_yield(gen, NULL);
        return err;
}

SIM_TEST(items_of_any_size_are_copied_whole)
{
        eddy_generator gen;
        struct big big = { { 0 } };
        eddy_scope scope;
        int three = 3, n = 0;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, gives_big, NULL, sizeof(big));
        CHECK_EQ(eddy_generator_next(&gen, &big), 1);
        for (size_t i = 0; i < sizeof(big.bytes); i++)
                CHECK_EQ(big.bytes[i], 'a');
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, gives_nothing, &three, 0);
        while (eddy_generator_next(&gen, NULL) == 1)
                n++;
        CHECK_EQ(n, 3);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* Gives those of another generator that are even. */
static int evens(eddy_generator *gen, void *arg)
{
        eddy_generator *of = arg;
        int item, err;

        while ((err = eddy_generator_next(of, &item)) > 0)
                if (item % 2 == 0) {
                        err = eddy_generator_yield(gen, &item);
                        if (err < 0)
                                break;
                }
        return err;
}

/* Gives what a generator of its own, in a scope of its own, gives. */
static int passes_on(eddy_generator *gen, void *arg)
{
        eddy_generator inner;
        eddy_scope scope;
        int item, err, end_err;

        eddy_scope_begin(&scope, NULL);
        begin(&inner, &scope, arg);
        while ((err = eddy_generator_next(&inner, &item)) > 0) {
                err = eddy_generator_yield(gen, &item);
                if (err < 0)
                        break;
        }
        end_err = eddy_scope_end(&scope);
        return err < 0 ? err : end_err;
}

SIM_TEST(generators_use_generators)
{
        struct count outer = { .upto = 20 }, inner = { .upto = 5 };
        eddy_generator source, filter, nested;
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, NULL);
        begin(&source, &scope, &outer);
        eddy_generator_begin(&filter, &scope, evens, &source, sizeof(int));
        for (int i = 2; i <= 20; i += 2)
                expect(&filter, i);
        CHECK_EQ(eddy_generator_next(&filter, &item), 0);
        eddy_generator_begin(&nested, &scope, passes_on, &inner, sizeof(int));
        for (int i = 1; i <= 3; i++)
                expect(&nested, i);
        /* Closing the outer one closes the one inside it. */
        CHECK_EQ(eddy_generator_close(&nested), 0);
        CHECK_EQ(inner.ended, 1);
        CHECK_EQ(inner.err, -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* The scope's end lets its other tasks use the generators they have before it closes them. */
SIM_TEST(a_task_of_the_same_scope_can_use_it_up_while_the_scope_ends)
{
        struct count count = { .upto = 100, .delay = MS }, late = { .upto = 100 };
        struct taker taker = { 0 }, late_taker = { .pause = MS };
        eddy_generator gen, late_gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        taker.gen = &gen;
        begin(&late_gen, &scope, &late);
        late_taker.gen = &late_gen;
        CHECK_EQ(eddy_scope_start(&scope, takes_all, &taker), 0);
        CHECK_EQ(eddy_scope_start(&scope, takes_all, &late_taker), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(taker.sum, 5050);
        CHECK_EQ(late_taker.sum, 5050);
}

SIM_TEST(the_caller_may_be_in_another_scope_than_the_generator)
{
        struct count count = { .upto = 10 };
        struct taker taker = { 0 };
        eddy_generator gen;
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        begin(&gen, &outer, &count);
        eddy_scope_begin(&inner, NULL);
        expect(&gen, 1);
        taker.gen = &gen;
        CHECK_EQ(eddy_scope_start(&inner, takes_all, &taker), 0);
        CHECK_EQ(eddy_scope_end(&inner), 0);
        CHECK_EQ(taker.got, 9);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

/* A140: a task that asks while another does gets an error. */
SIM_TEST(asking_while_another_task_asks_is_busy)
{
        struct count count = { .upto = 1, .delay = 10 * MS };
        struct taker taker = { 0 };
        eddy_generator gen;
        eddy_scope scope;
        int item = -1;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        taker.gen = &gen;
        CHECK_EQ(eddy_scope_start(&scope, takes_all, &taker), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_generator_next(&gen, &item), -EBUSY);
        CHECK_EQ(eddy_generator_close(&gen), -EBUSY);
        CHECK_EQ(item, -1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(taker.got, 1);
}

static int asks_itself(eddy_generator *gen, void *arg)
{
        int item;

        (void) arg;
        CHECK_EQ(eddy_generator_next(gen, &item), -EBUSY);
        CHECK_EQ(eddy_generator_close(gen), -EBUSY);
        item = 1;
        return eddy_generator_yield(gen, &item);
}

static int asks_itself_unasked(eddy_generator *gen, void *arg)
{
        int item;

        CHECK_EQ(eddy_sleep(2 * MS), 0);
        CHECK_EQ(eddy_generator_next(gen, &item), -EBUSY);
        CHECK_EQ(eddy_generator_close(gen), -EBUSY);
        *(bool *) arg = true;
        return 0;
}

static int yields_for_another(void *arg)
{
        int item = 5;

        CHECK_EQ(eddy_generator_yield(arg, &item), -EPERM);
        return 0;
}

SIM_TEST(a_generator_cannot_ask_itself_and_no_other_task_can_yield_for_it)
{
        eddy_generator gen;
        eddy_scope scope;
        int item = 2;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, asks_itself, NULL, sizeof(int));
        CHECK_EQ(eddy_generator_yield(&gen, &item), -EPERM);
        expect(&gen, 1);
        CHECK_EQ(eddy_scope_start(&scope, yields_for_another, &gen), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(a_generator_cannot_ask_itself_without_a_waiter_either)
{
        eddy_generator gen;
        bool asked = false;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, asks_itself_unasked, &asked, sizeof(int));
        CHECK_EQ(eddy_call_timeout(asks_briefly, &gen, MS), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        CHECK(asked);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

TEST(outside_of_a_run_nothing_can_be_asked)
{
        eddy_generator gen = { { 0 } };
        int item = 0;

        CHECK_EQ(eddy_generator_next(&gen, &item), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_generator_yield(&gen, &item), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_generator_close(&gen), EDDY_E_RUN_NOT_RUNNING);
}

static int asks_elsewhere(void *arg)
{
        int item = -1;

        CHECK_EQ(eddy_generator_next(arg, &item), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_generator_close(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(item, -1);
        return 7;
}

SIM_TEST(a_task_of_another_loop_cannot_ask)
{
        struct count count = { .upto = 3 };
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        CHECK_EQ(on_other_loop(asks_elsewhere, &gen), 7);
        expect(&gen, 1);
        CHECK_EQ(on_other_loop(asks_elsewhere, &gen), 7);
        expect(&gen, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int adds_turns(void *arg)
{
        int err = 0;

        while (err == 0) {
                ++*(int *) arg;
                err = eddy_sleep(0);
        }
        return err;
}

SIM_TEST(a_plain_loop_over_a_generator_gives_way_now_and_then)
{
        struct count count = { .upto = 10000 };
        eddy_generator gen;
        eddy_scope scope;
        int turns = 0;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, adds_turns, &turns), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        begin(&gen, &scope, &count);
        expect(&gen, 1);
        turns = 0;
        for (int i = 2; i <= 10000; i++) {
                expect(&gen, i);
                CHECK(turns >= i / 128 - 2);
        }
        /* One in 128 calls of each of the two, and not more often. */
        CHECK(turns <= 2 * 10000 / 128 + 2);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int sets_depth(eddy_generator *gen, void *arg)
{
        int n = *(const int *) eddy_var_get(&depth) + 1;

        (void) arg;
        CHECK_EQ(eddy_var_set(&depth, &n), 0);
        return eddy_generator_yield(gen, &n);
}

SIM_TEST(it_inherits_the_variables_of_its_first_caller_and_keeps_its_own)
{
        eddy_generator gen;
        eddy_scope scope;
        int n = 1;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, sets_depth, NULL, sizeof(int));
        CHECK_EQ(eddy_var_set(&depth, &n), 0);
        expect(&gen, 2);
        CHECK_EQ(*(const int *) eddy_var_get(&depth), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- schedules --- */

static int scheduled_main(void *arg)
{
        struct count count = { .upto = 40, .delay = *(int64_t *) arg };
        struct taker takers[2] = { { 0 } };
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        for (int i = 0; i < 2; i++) {
                takers[i].gen = &gen;
                takers[i].pause = MS;
                CHECK_EQ(eddy_scope_start(&scope, takes_all, &takers[i]), 0);
        }
        if (eddy_scope_end(&scope) == -EBUSY)
                return 0;
        CHECK_EQ(takers[0].sum + takers[1].sum, 820);
        return 0;
}

TEST(no_value_is_lost_or_given_twice_under_random_schedules)
{
        for (uint64_t seed = 1; seed <= 200; seed++) {
                int64_t delay = seed % 2 ? 0 : MS / 4;

                CHECK_EQ(sim_run_with(scheduled_main, &delay, seed, (struct eddy_run_opts){ 0 }),
                         0);
        }
}
