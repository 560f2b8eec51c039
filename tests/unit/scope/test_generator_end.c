/*
 * test_generator_end.c - how generators end: failures, cancels, closing, and the
 * end of their scope.
 */
#include "generator_test.h"

/* --- failures --- */

SIM_TEST(its_failure_is_given_once_by_next_and_is_not_the_scopes)
{
        struct count count = { .upto = 2, .result = -EIO };
        eddy_generator gen;
        eddy_scope scope;
        int item = -1;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        expect(&gen, 1);
        expect(&gen, 2);
        CHECK_EQ(eddy_generator_next(&gen, &item), -EIO);
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(item, -1);
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* A140: what fails while the scope's end closes it is the scope's failure. */
SIM_TEST(a_failure_while_the_scope_closes_it_is_the_scopes)
{
        struct eddy_scope_errors errors;
        struct eddy_scope_opts opts = { .errors = &errors };
        struct count count = { .upto = 2, .result = -EIO };
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, &opts);
        begin(&gen, &scope, &count);
        expect(&gen, 1);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(errors.count, 1);
        CHECK_EQ(count.err, -ECANCELED);
}

SIM_TEST(a_failure_without_a_waiter_is_kept_for_the_next_caller)
{
        struct count count = { .at = 1, .upto = 1, .cleanup = 5 * MS, .result = -EIO };
        eddy_generator gen;
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_call_timeout(asks_briefly, &gen, MS), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        CHECK_EQ(count.ended, 1);
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_generator_next(&gen, &item), -EIO);
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(a_failure_that_is_never_read_is_the_scopes)
{
        struct count count = { .at = 1, .upto = 1, .cleanup = 5 * MS, .result = -EIO };
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_call_timeout(asks_briefly, &gen, MS), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
}

SIM_TEST(a_kept_failure_is_given_by_close)
{
        struct count count = { .at = 1, .upto = 1, .cleanup = 5 * MS, .result = -EIO };
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_call_timeout(asks_briefly, &gen, MS), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        CHECK_EQ(eddy_generator_close(&gen), -EIO);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- cancelling --- */

SIM_TEST(a_value_made_while_its_asker_was_cancelled_is_kept)
{
        struct count count = { .upto = 3, .delay = 5 * MS };
        eddy_generator gen;
        eddy_scope scope;
        int64_t begun;
        int item;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_call_timeout(asks_briefly, &gen, MS), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(50 * MS), 0);
        CHECK_EQ(count.at, 1);
        begun = eddy_now();
        expect(&gen, 1);
        CHECK_EQ(eddy_now(), begun);
        expect(&gen, 2);
        expect(&gen, 3);
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(a_caller_gets_a_value_that_was_being_made_without_a_caller)
{
        struct count count = { .upto = 2, .delay = 5 * MS };
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_call_timeout(asks_briefly, &gen, MS), -ETIMEDOUT);
        CHECK_EQ(count.at, 0);
        expect(&gen, 1);
        expect(&gen, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int takes_one(void *arg)
{
        struct taker *taker = arg;

        taker->err = eddy_generator_next(taker->gen, &taker->got);
        return taker->err < 0 ? taker->err : 0;
}

static int cancelled_in_time, cancelled_late;

static int cancels_who_asks(void *arg)
{
        struct count count = { .upto = 1, .delay = MS };
        struct taker taker = { 0 };
        eddy_generator gen;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        taker.gen = &gen;
        CHECK_EQ(eddy_scope_start_task(&scope, takes_one, &taker, NULL, &taker.task), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(taker.task);
        CHECK_EQ(eddy_task_join(taker.task, NULL), 0);
        if (taker.err == -ECANCELED) {
                cancelled_in_time++;
                CHECK_EQ(taker.got, 0);
                expect(&gen, 1);
        } else {
                cancelled_late++;
                CHECK_EQ(taker.err, 1);
                CHECK_EQ(taker.got, 1);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(taker.task);
        return 0;
}

/* What is there wins: handed over before the cancel, a value is delivered; else it is kept. */
TEST(a_value_is_delivered_or_kept_whenever_the_cancel_comes)
{
        for (uint64_t seed = 1; seed <= 200; seed++)
                CHECK_EQ(sim_run_with(cancels_who_asks, NULL, seed, (struct eddy_run_opts){ 0 }),
                         0);
        CHECK(cancelled_in_time > 0);
        CHECK(cancelled_late > 0);
}

SIM_TEST(in_a_cancelled_scope_next_does_nothing)
{
        struct count count = { .upto = 3 }, unstarted = { .upto = 3 };
        eddy_generator gen, other;
        eddy_scope scope;
        int item = -1;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        begin(&other, &scope, &unstarted);
        expect(&gen, 1);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_generator_next(&gen, &item), -ECANCELED);
        CHECK_EQ(eddy_generator_next(&other, &item), -ECANCELED);
        CHECK_EQ(item, -1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(count.err, -ECANCELED);
        CHECK_EQ(count.ended, 1);
        CHECK_EQ(unstarted.begun, 0);
}

static int begin_and_cancel(void *arg)
{
        struct taker *taker = arg;
        struct count count = { .upto = 3, .delay = 10 * MS };
        eddy_generator gens[2];
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        begin(&gens[0], &scope, &count);
        begin(&gens[1], &scope, &count);
        taker->gen = &gens[0];
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        err = eddy_scope_end(&scope);
        /* The frame may be used for something else at once. */
        memset(gens, 0xee, sizeof(gens));
        return err;
}

/* An asker outside of the scope gets -ECANCELED, or the end. */
SIM_TEST(an_outside_asker_is_notified_when_the_generators_scope_is_cancelled)
{
        struct taker taker = { 0 };
        eddy_task *owner;
        eddy_scope scope;
        int result;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, begin_and_cancel, &taker, NULL, &owner), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_generator_next(taker.gen, &result), -ECANCELED);
        CHECK_EQ(eddy_task_join(owner, &result), 0);
        CHECK_EQ(result, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(owner);
}

SIM_TEST(an_unstarted_generator_of_a_cancelled_scope_starts_for_no_caller)
{
        struct count count = { .upto = 3 };
        eddy_generator gen;
        eddy_scope outer, shield;
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD };
        int item;

        eddy_scope_begin(&outer, NULL);
        begin(&gen, &outer, &count);
        eddy_scope_cancel(&outer);
        eddy_scope_begin(&shield, &opts);
        for (int i = 0; i < 1000; i++)
                CHECK_EQ(eddy_generator_next(&gen, &item), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(eddy_scope_end(&outer), 0);
        CHECK_EQ(count.begun, 0);
}

/* --- closing --- */

/* A140: closing gives the yield -ECANCELED, runs the cleanup with its waits, and waits for it. */
SIM_TEST(close_waits_for_the_cleanup)
{
        struct count count = { .upto = 10, .cleanup = 5 * MS };
        int64_t begun = eddy_now();
        eddy_generator gen;
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        expect(&gen, 1);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(count.err, -ECANCELED);
        CHECK_EQ(count.ended, 1);
        CHECK_NS(eddy_now() - begun, 5 * MS);
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* A140: closing twice, before the first value and after the last. */
SIM_TEST(closing_twice_or_before_it_ran_or_after_it_ended_does_nothing)
{
        struct count first = { .upto = 1 }, second = { .upto = 1 };
        eddy_generator gen, unstarted;
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &first);
        expect(&gen, 1);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(first.ended, 1);
        begin(&unstarted, &scope, &second);
        CHECK_EQ(eddy_generator_close(&unstarted), 0);
        CHECK_EQ(eddy_generator_close(&unstarted), 0);
        CHECK_EQ(eddy_generator_next(&unstarted, &item), 0);
        CHECK_EQ(second.begun, 0);
        begin(&gen, &scope, &second);
        expect(&gen, 1);
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_generator_close(&gen), 0);
}

SIM_TEST(close_returns_the_failure_of_the_cleanup)
{
        struct count count = { .upto = 2, .result = -EIO };
        eddy_generator gen;
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        expect(&gen, 1);
        CHECK_EQ(eddy_generator_close(&gen), -EIO);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(close_finishes_in_a_cancelled_task)
{
        struct count count = { .upto = 2, .cleanup = MS };
        eddy_generator gen;
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        begin(&gen, &outer, &count);
        expect(&gen, 1);
        eddy_scope_begin(&inner, NULL);
        eddy_scope_cancel(&inner);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(count.ended, 1);
        /* Nothing was cut short by that cancel. */
        CHECK_EQ(eddy_scope_end(&inner), 0);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

struct stubborn {
        int yields;
        int refused;
};

static int yields_on(eddy_generator *gen, void *arg)
{
        struct stubborn *stubborn = arg;
        int item = 0;

        for (int i = 0; i < stubborn->yields; i++)
                stubborn->refused += eddy_generator_yield(gen, &item) == -ECANCELED;
        return 0;
}

/* A140: a yield after the close is refused again, however often. */
SIM_TEST(yielding_again_after_the_close_is_refused_each_time)
{
        struct stubborn stubborn = { .yields = 50 };
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, yields_on, &stubborn, sizeof(int));
        expect(&gen, 0);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(stubborn.refused, 50);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int yields_in_shield(eddy_generator *gen, void *arg)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD };
        struct stubborn *stubborn = arg;
        eddy_scope shield;
        int item = 0, err = 0;

        eddy_scope_begin(&shield, &opts);
        for (int i = 0; i < stubborn->yields; i++) {
                err = eddy_generator_yield(gen, &item);
                stubborn->refused += err == -ECANCELED;
        }
        CHECK_EQ(eddy_scope_end(&shield), 0);
        return err;
}

SIM_TEST(a_shield_does_not_keep_a_yield_from_being_closed)
{
        struct stubborn stubborn = { .yields = 50 }, again = { .yields = 50 };
        int64_t begun = eddy_now();
        eddy_generator gen, other;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, yields_in_shield, &stubborn, sizeof(int));
        eddy_generator_begin(&other, &scope, yields_in_shield, &again, sizeof(int));
        expect(&gen, 0);
        expect(&gen, 0);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(stubborn.refused, 49);
        expect(&other, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(again.refused, 50);
        CHECK_NS(eddy_now() - begun, 0);
}

/* A140: the end of the scope closes all that live, with their cleanups, at the same time. */
SIM_TEST(the_scopes_end_closes_all_that_live)
{
        enum { N = 20 };

        struct count live[N], unstarted = { .upto = 3 };
        eddy_generator gens[N], other;
        int64_t begun = eddy_now();
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < N; i++) {
                live[i] = (struct count){ .upto = 3, .cleanup = 5 * MS };
                begin(&gens[i], &scope, &live[i]);
                expect(&gens[i], 1);
        }
        begin(&other, &scope, &unstarted);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < N; i++) {
                CHECK_EQ(live[i].ended, 1);
                CHECK_EQ(live[i].err, -ECANCELED);
        }
        CHECK_EQ(unstarted.begun, 0);
        CHECK_NS(eddy_now() - begun, 5 * MS);
}

SIM_TEST(one_that_never_ran_has_ended_with_its_scope)
{
        struct count count = { .upto = 3 };
        eddy_generator gen;
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, NULL);
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_generator_next(&gen, &item), 0);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(count.begun, 0);
}

struct late {
        eddy_scope *scope;
        eddy_generator gen;
        struct count count;
};

/* In its cleanup, begins another generator of the scope that ends. */
static int begins_late(eddy_generator *gen, void *arg)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD };
        struct late *late = arg;
        int item = 1, err = eddy_generator_yield(gen, &item);
        eddy_scope shield;

        CHECK_EQ(err, -ECANCELED);
        eddy_scope_begin(&shield, &opts);
        begin(&late->gen, late->scope, &late->count);
        expect(&late->gen, 1);
        CHECK_EQ(eddy_sleep(MS), 0);
        expect(&late->gen, 2);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        return err;
}

SIM_TEST(a_cleanup_may_begin_a_generator_of_the_scope_that_ends)
{
        eddy_scope scope;
        struct late late = { .scope = &scope, .count = { .upto = 9 } };
        eddy_generator gen;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, begins_late, &late, sizeof(int));
        expect(&gen, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(late.count.at, 2);
        CHECK_EQ(late.count.ended, 1);
}

SIM_TEST(it_counts_among_the_tasks_of_its_scope)
{
        struct eddy_scope_opts opts = { .tasks_max = 1 };
        struct count count = { .upto = 3 };
        eddy_generator gens[2];
        eddy_scope scope;
        int item;

        eddy_scope_begin(&scope, &opts);
        begin(&gens[0], &scope, &count);
        begin(&gens[1], &scope, &count);
        expect(&gens[0], 1);
        CHECK_EQ(eddy_generator_next(&gens[1], &item), -EAGAIN);
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_generator_close(&gens[0]), 0);
        expect(&gens[1], 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

static int names_itself(eddy_generator *gen, void *arg)
{
        int item = 0;

        CHECK(eddy_task_current());
        CHECK(eddy_task_current() != arg);
        CHECK(!strstr(eddy_task_name(eddy_task_current()), "generator_main"));
        return eddy_generator_yield(gen, &item);
}

SIM_TEST(it_is_a_task_with_the_name_of_its_function)
{
        eddy_generator gen;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, names_itself, eddy_task_current(), sizeof(int));
        expect(&gen, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* --- those that cannot end, and those that cannot begin --- */

/* What was cut short must not seem to have come to its end. */
SIM_TEST(a_generator_that_its_scopes_cancel_ended_reports_it_to_later_callers)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD };
        struct count count = { .upto = 3 }, whole = { .upto = 1 };
        eddy_generator gen, other;
        eddy_scope outer, shield;
        int item = -1;

        eddy_scope_begin(&outer, NULL);
        begin(&gen, &outer, &count);
        begin(&other, &outer, &whole);
        expect(&gen, 1);
        expect(&other, 1);
        CHECK_EQ(eddy_generator_next(&other, &item), 0);
        eddy_scope_cancel(&outer);
        eddy_scope_begin(&shield, &opts);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(count.ended, 1);
        CHECK_EQ(eddy_generator_next(&gen, &item), -ECANCELED);
        CHECK_EQ(eddy_generator_next(&gen, &item), -ECANCELED);
        CHECK_EQ(eddy_generator_next(&other, &item), 0);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(item, -1);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

static int closes(void *arg)
{
        return eddy_generator_close(arg);
}

/* In a scope of its own, a task that closes it. */
static int is_closed_from_inside(eddy_generator *gen, void *arg)
{
        eddy_scope scope;
        int item = 1;

        CHECK_EQ(eddy_sleep(5 * MS), 0);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, closes, gen);
        *(int *) arg = eddy_scope_end(&scope);
        return eddy_generator_yield(gen, &item);
}

SIM_TEST(a_task_that_its_function_waits_for_cannot_close_it)
{
        eddy_generator gen;
        eddy_scope scope;
        int closed = 0;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, is_closed_from_inside, &closed, sizeof(int));
        /* Nobody waits for it when it is closed. */
        CHECK_EQ(eddy_call_timeout(asks_briefly, &gen, MS), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        CHECK_EQ(closed, -EBUSY);
        expect(&gen, 1);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

struct pair {
        eddy_generator gens[2];
        int closed[2];
};

static int closes_the_other(eddy_generator *gen, void *arg)
{
        struct pair *pair = arg;
        int self = gen == &pair->gens[1], item = 0;

        CHECK_EQ(eddy_generator_yield(gen, &item), -ECANCELED);
        pair->closed[self] = eddy_generator_close(&pair->gens[!self]);
        return 0;
}

static int close_each_other(void *arg)
{
        struct pair *pair = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 2; i++) {
                eddy_generator_begin(&pair->gens[i], &scope, closes_the_other, pair, sizeof(int));
                expect(&pair->gens[i], 0);
        }
        return eddy_scope_end(&scope);
}

TEST(two_that_close_each_other_are_a_deadlock_that_ends)
{
        struct reports reports = { 0 };
        struct eddy_run_opts opts = { .report = reports_add, .report_arg = &reports };
        struct pair pair = { 0 };

        CHECK_EQ(sim_run_with(close_each_other, &pair, 0, opts), -EDEADLK);
        CHECK_EQ(reports.count[EDDY_REPORT_DEADLOCK], 1);
        CHECK_EQ(pair.closed[0], -EDEADLK);
        CHECK_EQ(pair.closed[1], 0);
}

SIM_TEST(those_begun_in_a_scope_that_has_ended_need_not_live_on)
{
        struct count count = { .upto = 3 };
        eddy_generator gen;
        eddy_scope scope;
        int item = -1;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < 3; i++) {
                eddy_generator *late = malloc(sizeof(*late));

                CHECK(late);
                begin(late, &scope, &count);
                CHECK_EQ(eddy_generator_next(late, &item), -ECANCELED);
                free(late);
        }
        begin(&gen, &scope, &count);
        CHECK_EQ(eddy_generator_close(&gen), 0);
        CHECK_EQ(eddy_generator_next(&gen, &item), -ECANCELED);
        CHECK_EQ(count.begun, 0);
}
