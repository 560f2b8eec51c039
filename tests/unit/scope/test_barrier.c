/*
 * test_barrier.c - tasks that wait for each other, round after round.
 */
#include "other_loop.h"
#include "random_run.h"

enum { PARTIES = 4 };

struct party {
        eddy_barrier *barrier;
        int index; /* what the wait returned */
        eddy_task *task;
};

static int comes(void *arg)
{
        struct party *p = arg;

        p->index = eddy_barrier_wait(p->barrier);
        return p->index < 0 && p->index != EDDY_E_SYNC_BROKEN ? p->index : 0;
}

/* Let 'n' come, one after the other. */
static void come(eddy_scope *scope, struct party *parties, int n, eddy_barrier *barrier)
{
        for (int i = 0; i < n; i++) {
                parties[i] = (struct party){ .barrier = barrier, .index = -99 };
                CHECK_EQ(eddy_scope_start_task(scope, comes, &parties[i], NULL, &parties[i].task),
                         0);
        }
        CHECK_EQ(eddy_sleep(0), 0);
}

static void let_go(struct party *parties, int n)
{
        for (int i = 0; i < n; i++)
                eddy_task_release(parties[i].task);
}

/* A93: each gets an index of its own, 0 to parties - 1, in the order they came. */
SIM_TEST(all_go_on_when_the_last_has_come)
{
        eddy_barrier barrier = EDDY_BARRIER(PARTIES);
        struct party parties[PARTIES - 1];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        come(&scope, parties, PARTIES - 1, &barrier);
        for (int i = 0; i < PARTIES - 1; i++)
                CHECK_EQ(parties[i].index, -99);
        CHECK_EQ(eddy_barrier_waiting(&barrier), PARTIES - 1);
        CHECK_EQ(eddy_barrier_wait(&barrier), PARTIES - 1);
        /* The last did not wait: the others have not run yet, but have left the line. */
        CHECK_EQ(parties[0].index, -99);
        CHECK_EQ(eddy_barrier_waiting(&barrier), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < PARTIES - 1; i++)
                CHECK_EQ(parties[i].index, i);
        let_go(parties, PARTIES - 1);
}

struct rounds {
        eddy_barrier barrier;
        int seen[PARTIES], sum_of_round[20];
};

static int comes_each_round(void *arg)
{
        struct rounds *r = arg;

        for (int round = 0; round < 20; round++) {
                int index = eddy_barrier_wait(&r->barrier);

                if (index < 0)
                        return index;
                r->seen[index]++;
                r->sum_of_round[round] += 1 << index;
                /* Nobody is more than a round ahead. */
                CHECK(round == 0 || r->sum_of_round[round - 1] == (1 << PARTIES) - 1 ||
                      r->sum_of_round[round] < (1 << PARTIES) - 1);
        }
        return 0;
}

/* A93: it is used again and again, each round complete in itself. */
SIM_TEST(a_barrier_begins_again_by_itself)
{
        struct rounds r = { .barrier = EDDY_BARRIER(PARTIES) };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < PARTIES; i++)
                eddy_scope_start(&scope, comes_each_round, &r);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < PARTIES; i++)
                CHECK_EQ(r.seen[i], 20);
        for (int i = 0; i < 20; i++)
                CHECK_EQ(r.sum_of_round[i], (1 << PARTIES) - 1);
}

/* A93: who comes while the last round has yet to run, the same task too, waits for the next. */
SIM_TEST(an_early_task_belongs_to_the_next_round)
{
        eddy_barrier barrier = EDDY_BARRIER(2);
        struct party first, second;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        come(&scope, &first, 1, &barrier);
        second = (struct party){ .barrier = &barrier, .index = -99 };
        CHECK_EQ(eddy_scope_start_task(&scope, comes, &second, NULL, &second.task), 0);
        CHECK_EQ(eddy_barrier_wait(&barrier), 1);
        /* The first has not run. */
        CHECK_EQ(first.index, -99);
        /* Nor does it when this task comes again, and waits: for the second. */
        CHECK_EQ(eddy_barrier_wait(&barrier), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(first.index, 0);
        CHECK_EQ(second.index, 1);
        CHECK_EQ(eddy_barrier_waiting(&barrier), 0);
        let_go(&first, 1);
        let_go(&second, 1);
}

SIM_TEST(one_party_never_waits)
{
        eddy_barrier one = EDDY_BARRIER(1), zero = { 0 };

        for (int i = 0; i < 3; i++) {
                CHECK_EQ(eddy_barrier_wait(&one), 0);
                CHECK_EQ(eddy_barrier_wait(&zero), 0);
        }
        CHECK_EQ(eddy_barrier_waiting(&one), 0);
}

/* A94: who is cancelled leaves; the barrier is whole, and the others close up. */
SIM_TEST(a_cancelled_waiter_leaves_and_breaks_nothing)
{
        for (int who = 0; who < PARTIES - 1; who++) {
                eddy_barrier barrier = EDDY_BARRIER(PARTIES);
                struct party parties[PARTIES - 1], instead;
                int next = 0;
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                come(&scope, parties, PARTIES - 1, &barrier);
                eddy_task_cancel(parties[who].task);
                CHECK_EQ(eddy_barrier_waiting(&barrier), PARTIES - 2);
                CHECK(!eddy_barrier_is_broken(&barrier));
                let_go(&parties[who], 1);
                parties[who].task = NULL;
                come(&scope, &instead, 1, &barrier);
                CHECK_EQ(eddy_barrier_waiting(&barrier), PARTIES - 1);
                CHECK_EQ(eddy_barrier_wait(&barrier), PARTIES - 1);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                for (int i = 0; i < PARTIES - 1; i++)
                        CHECK_EQ(parties[i].index, i == who ? -ECANCELED : next++);
                CHECK_EQ(instead.index, PARTIES - 2);
                let_go(&instead, 1);
                let_go(parties, PARTIES - 1);
        }
}

/* A94: cancelled after the last has come: it is let go, with its index. */
SIM_TEST(a_cancel_after_the_last_has_come_is_too_late_for_the_wait)
{
        eddy_barrier barrier = EDDY_BARRIER(PARTIES);
        struct party parties[PARTIES - 1];
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        come(&scope, parties, PARTIES - 1, &barrier);
        CHECK_EQ(eddy_barrier_wait(&barrier), PARTIES - 1);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < PARTIES - 1; i++)
                CHECK_EQ(parties[i].index, i);
        let_go(parties, PARTIES - 1);
}

static int waits_for_others(void *arg)
{
        return eddy_barrier_wait(arg);
}

/* A94: the same for a deadline; and a cancelled last one does not count as come. */
SIM_TEST(a_deadline_or_a_cancel_takes_only_its_own_away)
{
        eddy_barrier barrier = EDDY_BARRIER(2);
        struct party party;
        eddy_scope scope, cancelled;

        CHECK_EQ(eddy_call_timeout(waits_for_others, &barrier, MS), -ETIMEDOUT);
        CHECK_EQ(eddy_barrier_waiting(&barrier), 0);
        eddy_scope_begin(&scope, NULL);
        come(&scope, &party, 1, &barrier);
        eddy_scope_begin(&cancelled, NULL);
        eddy_scope_cancel(&cancelled);
        CHECK_EQ(eddy_barrier_wait(&barrier), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&cancelled), 0);
        CHECK_EQ(eddy_barrier_waiting(&barrier), 1);
        CHECK_EQ(eddy_barrier_wait(&barrier), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(party.index, 0);
        let_go(&party, 1);
}

/* A95: aborted: who waits and who comes fails, until it is reset. */
SIM_TEST(an_aborted_barrier_is_broken_until_it_is_reset)
{
        eddy_barrier barrier;
        struct party parties[PARTIES];
        eddy_scope scope;

        eddy_barrier_init(&barrier, PARTIES);
        eddy_scope_begin(&scope, NULL);
        come(&scope, parties, PARTIES - 1, &barrier);
        CHECK_EQ(eddy_barrier_abort(&barrier), 0);
        CHECK(eddy_barrier_is_broken(&barrier));
        CHECK_EQ(eddy_barrier_waiting(&barrier), 0);
        CHECK_EQ(eddy_barrier_wait(&barrier), EDDY_E_SYNC_BROKEN);
        CHECK_EQ(eddy_barrier_abort(&barrier), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < PARTIES - 1; i++)
                CHECK_EQ(parties[i].index, EDDY_E_SYNC_BROKEN);
        let_go(parties, PARTIES - 1);

        CHECK_EQ(eddy_barrier_reset(&barrier), 0);
        CHECK(!eddy_barrier_is_broken(&barrier));
        eddy_scope_begin(&scope, NULL);
        come(&scope, parties, PARTIES, &barrier);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < PARTIES; i++)
                CHECK_EQ(parties[i].index, i);
        let_go(parties, PARTIES);
}

/* A95: reset: who waits fails, and who comes then waits. */
SIM_TEST(a_reset_fails_only_the_waiters)
{
        eddy_barrier barrier = EDDY_BARRIER(PARTIES);
        struct party before[PARTIES - 1], after[PARTIES];
        eddy_scope scope;

        CHECK_EQ(eddy_barrier_reset(&barrier), 0);
        eddy_scope_begin(&scope, NULL);
        come(&scope, before, PARTIES - 1, &barrier);
        CHECK_EQ(eddy_barrier_reset(&barrier), 0);
        CHECK(!eddy_barrier_is_broken(&barrier));
        CHECK_EQ(eddy_barrier_waiting(&barrier), 0);
        come(&scope, after, PARTIES, &barrier);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < PARTIES - 1; i++)
                CHECK_EQ(before[i].index, EDDY_E_SYNC_BROKEN);
        for (int i = 0; i < PARTIES; i++)
                CHECK_EQ(after[i].index, i);
        let_go(before, PARTIES - 1);
        let_go(after, PARTIES);
}

/* A95: those whom the last has let go pass, though it is reset or aborted before they run. */
SIM_TEST(a_later_break_does_not_concern_tasks_let_go)
{
        for (int abort = 0; abort < 2; abort++) {
                eddy_barrier barrier = EDDY_BARRIER(PARTIES);
                struct party parties[PARTIES - 1];
                eddy_scope scope;

                eddy_scope_begin(&scope, NULL);
                come(&scope, parties, PARTIES - 1, &barrier);
                CHECK_EQ(eddy_barrier_wait(&barrier), PARTIES - 1);
                if (abort)
                        CHECK_EQ(eddy_barrier_abort(&barrier), 0);
                else
                        CHECK_EQ(eddy_barrier_reset(&barrier), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                for (int i = 0; i < PARTIES - 1; i++)
                        CHECK_EQ(parties[i].index, i);
                CHECK_EQ(eddy_barrier_is_broken(&barrier), abort);
                let_go(parties, PARTIES - 1);
        }
}

static int looks(void *arg)
{
        *(int *) arg = 1;
        return 0;
}

/* Fairness: after 128 calls that need not wait, another task has its turn. */
SIM_TEST(calls_that_never_wait_give_way_after_128)
{
        for (int broken = 0; broken < 2; broken++) {
                eddy_barrier barrier = EDDY_BARRIER(1);
                eddy_scope scope;
                int seen = 0, calls = 0;

                if (broken)
                        CHECK_EQ(eddy_barrier_abort(&barrier), 0);
                CHECK_EQ(eddy_sleep(MS), 0);
                eddy_scope_begin(&scope, NULL);
                eddy_scope_start(&scope, looks, &seen);
                while (!seen) {
                        CHECK_EQ(eddy_barrier_wait(&barrier), broken ? EDDY_E_SYNC_BROKEN : 0);
                        calls++;
                }
                CHECK_EQ(calls, 128);
                CHECK_EQ(eddy_scope_end(&scope), 0);
        }
}

/* --- two loops --- */

static int uses_elsewhere(void *arg)
{
        CHECK_EQ(eddy_barrier_wait(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_barrier_abort(arg), EDDY_E_RUN_OTHER_LOOP);
        CHECK_EQ(eddy_barrier_reset(arg), EDDY_E_RUN_OTHER_LOOP);
        return 7;
}

/* A96: while tasks of one loop wait, one of another can neither be the last nor break it. */
SIM_TEST(a_barrier_that_tasks_of_another_loop_wait_at_is_refused)
{
        eddy_barrier barrier = EDDY_BARRIER(2);
        struct party party;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        come(&scope, &party, 1, &barrier);
        CHECK_EQ(on_other_loop(uses_elsewhere, &barrier), 7);
        CHECK_EQ(eddy_barrier_waiting(&barrier), 1);
        CHECK(!eddy_barrier_is_broken(&barrier));
        CHECK_EQ(eddy_barrier_wait(&barrier), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(party.index, 0);
        let_go(&party, 1);
}

/* --- in any order --- */

struct world {
        struct random_run random;
        eddy_barrier barrier;
        int passed[PARTIES]; /* by index */
};

static int passes_often(void *arg)
{
        struct world *w = arg;

        for (int i = 0; i < 10; i++) {
                int index = eddy_barrier_wait(&w->barrier), err;

                if (index < 0)
                        return index == EDDY_E_SYNC_BROKEN ? 0 : index;
                w->passed[index]++;
                err = random_pause(&w->random);
                if (err < 0)
                        return err;
        }
        return 0;
}

/* When nothing moves any more. */
static int breaks_at_last(void *arg)
{
        struct world *w = arg;

        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK(eddy_barrier_waiting(&w->barrier) < PARTIES);
        return eddy_barrier_abort(&w->barrier);
}

static int rounds; /* in all worlds */

static int barrier_world(void *arg)
{
        struct world w = { .barrier = EDDY_BARRIER(PARTIES) };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        random_begin(&w.random, *(uint64_t *) arg, &scope, passes_often, &w);
        eddy_scope_start(&scope, breaks_at_last, &w);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        random_end(&w.random);
        CHECK_EQ(eddy_barrier_waiting(&w.barrier), 0);
        for (int i = 1; i < PARTIES; i++)
                CHECK_EQ(w.passed[i], w.passed[0]);
        rounds += w.passed[0];
        return w.random.cancelled;
}

/* A93, A94: in each order of things every round has each index once. */
TEST(rounds_are_whole_in_many_schedules_with_cancels)
{
        random_run_all(barrier_world);
        CHECK(rounds > RANDOM_SEEDS);
}
