/*
 * test_shield.c - shields: cleanup that suspends in a cancelled scope, for a
 * time that is bounded.
 */
#include "sim_run.h"

static const struct eddy_scope_opts shielded = { .flags = EDDY_SCOPE_SHIELD };

SIM_TEST(a_shield_lets_cleanup_suspend_in_a_cancelled_scope)
{
        eddy_scope scope, shield;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        eddy_scope_begin(&shield, &shielded);
        CHECK(!eddy_scope_is_cancelled(&shield));
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(a_shield_has_five_seconds_by_default)
{
        int64_t begun = eddy_now();
        eddy_scope shield;

        eddy_scope_begin(&shield, &shielded);
        CHECK_EQ(eddy_scope_deadline(&shield), begun + EDDY_SEC(5));
        CHECK_EQ(eddy_sleep(EDDY_SEC(60)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&shield), -ETIMEDOUT);
        CHECK_EQ(eddy_now() - begun, EDDY_SEC(5));
        CHECK_EQ(EDDY_SCOPE_SHIELD_NS, EDDY_SEC(5));

        begun = eddy_now();
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .timeout_ns = EDDY_SEC(30) });
        CHECK_EQ(eddy_sleep(EDDY_SEC(20)), 0);
        CHECK_EQ(eddy_scope_set_deadline(&shield, 0), 0);
        CHECK_EQ(eddy_scope_deadline(&shield), eddy_now() + EDDY_SEC(5));
        CHECK_EQ(eddy_scope_end(&shield), 0);
}

/* A82: a cancel from outside does not reach what the shield protects. */
static int protected(void *arg)
{
        int *slept = arg, end;
        eddy_scope shield;

        eddy_scope_begin(&shield, &shielded);
        slept[0] = eddy_sleep(20 * MS);
        end = eddy_scope_end(&shield);
        CHECK_EQ(end, 0);
        slept[1] = eddy_sleep(MS);
        return slept[1];
}

SIM_TEST(a_cancel_from_outside_stops_at_a_shield)
{
        int slept[2] = { 1, 1 };
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, protected, slept, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(slept[0], 0);
        CHECK_EQ(slept[1], -ECANCELED);
        eddy_task_release(task);
}

static int sleeps(void *arg)
{
        *(int *) arg = eddy_sleep(10 * MS);
        return 0;
}

SIM_TEST(tasks_of_a_shield_are_protected_too)
{
        eddy_scope scope, shield;
        int slept = 1;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_begin(&shield, &shielded);
        eddy_scope_start(&shield, sleeps, &slept);
        CHECK_EQ(eddy_sleep(MS), 0);
        eddy_scope_cancel(&scope);
        CHECK(eddy_scope_is_cancelled(&scope));
        CHECK(!eddy_scope_is_cancelled(&shield));
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK_EQ(slept, 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

SIM_TEST(a_shield_can_be_cancelled_itself)
{
        eddy_scope shield;

        eddy_scope_begin(&shield, &shielded);
        eddy_scope_cancel(&shield);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&shield), 0);
}

SIM_TEST(a_shield_never_outlasts_the_shield_around_it)
{
        int64_t now = eddy_now();
        eddy_scope outer, between, inner;

        eddy_scope_begin(&outer, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                            .timeout_ns = EDDY_SEC(1) });
        eddy_scope_begin(&between, NULL);
        eddy_scope_begin(&inner, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                            .timeout_ns = EDDY_SEC(60) });
        CHECK_EQ(eddy_scope_deadline(&inner), now + EDDY_SEC(1));
        CHECK_EQ(eddy_scope_set_deadline(&inner, now + EDDY_SEC(60)), 0);
        CHECK_EQ(eddy_scope_deadline(&inner), now + EDDY_SEC(1));
        CHECK_EQ(eddy_scope_set_deadline(&inner, 0), 0);
        CHECK_EQ(eddy_scope_deadline(&inner), now + EDDY_SEC(1));
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&between), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), -ETIMEDOUT);
        CHECK(eddy_now() - now < EDDY_SEC(1) + MS);
}

SIM_TEST(a_shorter_deadline_for_the_outer_shield_holds_for_the_inner_one)
{
        int64_t now = eddy_now();
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, &shielded);
        eddy_scope_begin(&inner, &shielded);
        CHECK_EQ(eddy_scope_set_deadline(&outer, now + 10 * MS), 0);
        CHECK_EQ(eddy_scope_deadline(&inner), now + 10 * MS);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), -ECANCELED);
        CHECK_EQ(eddy_now(), now + 10 * MS);
        CHECK_EQ(eddy_scope_end(&inner), -ETIMEDOUT);
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), -ETIMEDOUT);
}

/* A56: a shield in cleanup: the deadline around it shows after it. */
SIM_TEST(a_deadline_that_passes_around_a_shield_shows_after_it)
{
        eddy_scope scope, shield;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = MS });
        eddy_scope_begin(&shield, &shielded);
        CHECK_EQ(eddy_sleep(5 * MS), 0);
        CHECK_EQ(eddy_scope_end(&shield), 0);
        CHECK(eddy_scope_expired(&scope));
        CHECK_EQ(eddy_sleep(MS), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
}
