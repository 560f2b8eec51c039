/*
 * test_groups.c - tasks of one scope in the corners: failures and cancels that
 * meet, bodies that fail, scopes in scopes, and what is started when.
 */
#include "sim_run.h"

struct member {
        int64_t sleep_ns;
        int result;  /* 0: what the sleep returned */
        int slept;   /* of the last sleep */
        int cancels; /* that it has got */
        int rounds;  /* how often it goes on after one */
};

static int takes_part(void *arg)
{
        struct member *m = arg;

        do {
                m->slept = eddy_sleep(m->sleep_ns);
                m->cancels += m->slept == -ECANCELED;
        } while (m->slept == -ECANCELED && m->rounds-- > 0);
        return m->result ? m->result : m->slept;
}

static void start(eddy_scope *scope, struct member *m)
{
        CHECK_EQ(eddy_scope_start(scope, takes_part, m), 0);
}

/* --- one fails --- */

/* A64: siblings are cancelled once, at the first failure; failures that follow are only listed. */
SIM_TEST(failures_after_the_first_cancel_no_task_again)
{
        struct eddy_scope_errors errors;
        struct member first = { 10 * MS, -EIO, 1, 0, 0 }, second = { EDDY_SEC(9), -EPERM, 1, 0, 0 },
                      patient = { EDDY_SEC(9), 0, 1, 0, 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        start(&scope, &patient);
        start(&scope, &second);
        start(&scope, &first);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(first.cancels, 0);
        CHECK_EQ(second.cancels, 1);
        CHECK_EQ(patient.cancels, 1);
        CHECK_EQ(errors.count, 2);
        CHECK_EQ(errors.list[0].result, -EIO);
        CHECK_EQ(errors.list[1].result, -EPERM);
}

static int fails_at_once(void *arg)
{
        return (int) (intptr_t) arg;
}

/* A64: one that fails before its siblings ran: they start all the same, and see it at their first call. */
SIM_TEST(siblings_of_one_that_fails_first_still_start)
{
        struct member late = { EDDY_SEC(9), 0, 1, 0, 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, fails_at_once, (void *) (intptr_t) -EIO), 0);
        start(&scope, &late);
        /* Nothing has run: the body is not cancelled before it suspends. */
        CHECK(!eddy_scope_is_cancelled(&scope));
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(late.cancels, 1);
}

/* A64: the owner is cancelled wherever in the body it waits, also in a scope of its own there. */
SIM_TEST(the_owner_is_cancelled_also_in_a_scope_inside)
{
        struct member bad = { 10 * MS, -EIO, 1, 0, 0 }, inside = { EDDY_SEC(9), 0, 1, 0, 0 };
        eddy_scope scope, inner;

        eddy_scope_begin(&scope, NULL);
        start(&scope, &bad);
        eddy_scope_begin(&inner, NULL);
        start(&inner, &inside);
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK_EQ(inside.cancels, 1);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(eddy_sleep(0), 0);
}

/* A65: cancelled before it ran, or by itself, a task is no failure and its siblings go on. */
SIM_TEST(siblings_of_a_cancelled_task_go_on)
{
        struct member early = { EDDY_SEC(9), 0, 1, 0, 0 }, sibling = { 10 * MS, 0, 1, 0, 0 };
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, takes_part, &early, NULL, &task), 0);
        start(&scope, &sibling);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(early.cancels, 1);
        CHECK_EQ(sibling.cancels, 0);
        eddy_task_release(task);
}

/* --- the body fails --- */

struct body {
        struct member child;
        int listed;
};

static int body_fails(struct body *body)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;
        int err, end;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        start(&scope, &body->child);
        err = eddy_sleep(MS) < 0 ? -ECANCELED : -EPERM;
        /* What a body does that gives up: its error is its own to return. */
        eddy_scope_cancel(&scope);
        end = eddy_scope_end(&scope);
        body->listed = (int) errors.count;
        return err < 0 ? err : end;
}

/* A66: a body that fails cancels its tasks, waits for them, and has its error and theirs. */
SIM_TEST(a_body_that_fails_cancels_its_tasks_and_keeps_its_error)
{
        struct body quiet = { .child = { EDDY_SEC(9), 0, 1, 0, 0 } };
        struct body loud = { .child = { EDDY_SEC(9), -EIO, 1, 0, 0 } };
        int64_t begun = eddy_now();

        CHECK_EQ(body_fails(&quiet), -EPERM);
        CHECK_EQ(quiet.child.cancels, 1);
        CHECK_EQ(quiet.listed, 0);
        CHECK_EQ(body_fails(&loud), -EPERM);
        CHECK_EQ(loud.child.cancels, 1);
        CHECK_EQ(loud.listed, 1);
        CHECK_NS(eddy_now() - begun, 2 * MS);
}

/* --- cancelled from outside --- */

struct parent {
        struct member child;
        bool in_body;
        int slept, end, later;
        int64_t ended_ns;
};

static int has_child(void *arg)
{
        struct parent *p = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start(&scope, &p->child);
        if (p->in_body)
                p->slept = eddy_sleep(EDDY_SEC(9));
        p->end = eddy_scope_end(&scope);
        p->ended_ns = eddy_now();
        p->later = eddy_sleep(0);
        return p->later;
}

static int shielded(void *arg)
{
        struct member *m = arg;
        eddy_scope shield;

        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
        m->slept = eddy_sleep(m->sleep_ns);
        return eddy_scope_end(&shield);
}

static int has_shielded_child(void *arg)
{
        struct parent *p = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, shielded, &p->child), 0);
        p->end = eddy_scope_end(&scope);
        p->ended_ns = eddy_now();
        p->later = eddy_sleep(0);
        return p->later;
}

/* Runs fn(p) and cancels it 'times' times, a millisecond apart. */
static void cancel_repeatedly(eddy_task_fn *fn, struct parent *p, int times)
{
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, fn, p, NULL, &task), 0);
        for (int i = 0; i < times; i++) {
                CHECK_EQ(eddy_sleep(MS), 0);
                eddy_task_cancel(task);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_task_release(task);
}

/* A67: in the body or in the end, the cancel reaches the child once and is what the scope ends with. */
SIM_TEST(a_parent_cancelled_in_body_or_end_cancels_its_tasks)
{
        for (int in_body = 0; in_body < 2; in_body++) {
                struct parent p = { .child = { EDDY_SEC(9), 0, 1, 0, 0 }, .in_body = in_body };

                cancel_repeatedly(has_child, &p, 1);
                CHECK_EQ(p.slept, in_body ? -ECANCELED : 0);
                CHECK_EQ(p.child.cancels, 1);
                CHECK_EQ(p.end, -ECANCELED);
                CHECK_EQ(p.later, -ECANCELED);
        }
}

/* A67: cancelled again and again while it waits in end, it leaves when its task has ended, not before. */
SIM_TEST(repeated_cancels_do_not_make_end_return_early)
{
        struct parent p = { .child = { 100 * MS, 0, 1, 0, 0 } };
        int64_t begun = eddy_now();

        cancel_repeatedly(has_shielded_child, &p, 50);
        CHECK_EQ(p.child.slept, 0);
        CHECK_NS(p.ended_ns - begun, 100 * MS);
        /* Nothing inside was stopped by it; it is there at the next call. */
        CHECK_EQ(p.end, 0);
        CHECK_EQ(p.later, -ECANCELED);
}

/* A68: an error in a cancelled child's cleanup wins, in body and end; the cancel is still there. */
SIM_TEST(an_error_in_cleanup_wins_over_the_cancel_which_stays)
{
        for (int in_body = 0; in_body < 2; in_body++) {
                struct parent p = { .child = { EDDY_SEC(9), -EIO, 1, 0, 0 }, .in_body = in_body };

                cancel_repeatedly(has_child, &p, 3);
                CHECK_EQ(p.end, -EIO);
                CHECK_EQ(p.later, -ECANCELED);
        }
}

/* A68: the child failed before the cancel came, in the same turn. */
SIM_TEST(an_error_just_before_the_cancel_wins_too)
{
        struct parent p = { .child = { MS, -EIO, 1, 0, 0 }, .in_body = true };
        eddy_scope scope;
        eddy_task *task;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, has_child, &p, NULL, &task), 0);
        while (p.child.slept == 1)
                CHECK_EQ(eddy_sleep(0), 0);
        CHECK(!eddy_task_is_done(task));
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(p.child.cancels, 0);
        CHECK_EQ(p.end, -EIO);
        CHECK_EQ(p.later, -ECANCELED);
        eddy_task_release(task);
}

/* --- scopes in scopes --- */

/* A69: a scope that failed inside another leaves that one, and its tasks, as they were. */
SIM_TEST(the_cancel_of_an_inner_scope_ends_with_it)
{
        struct member bad = { MS, -EIO, 1, 0, 0 }, outer_child = { 10 * MS, 0, 1, 0, 0 };
        eddy_scope outer, inner;

        eddy_scope_begin(&outer, NULL);
        start(&outer, &outer_child);
        eddy_scope_begin(&inner, NULL);
        start(&inner, &bad);
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -EIO);
        CHECK(!eddy_scope_is_cancelled(&outer));
        CHECK_EQ(eddy_sleep(20 * MS), 0);
        CHECK_EQ(outer_child.slept, 0);
        CHECK_EQ(eddy_scope_end(&outer), 0);
}

static int in_one_turn(int inner_first)
{
        eddy_scope outer, inner;
        int inner_end, later, end;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&inner, NULL);
        for (int i = 0; i < 2; i++) {
                bool is_inner = inner_first ? i == 0 : i == 1;

                CHECK_EQ(eddy_scope_start(is_inner ? &inner : &outer, fails_at_once,
                                          (void *) (intptr_t) (is_inner ? -EIO : -EPERM)),
                         0);
        }
        CHECK_EQ(eddy_sleep(EDDY_SEC(9)), -ECANCELED);
        inner_end = eddy_scope_end(&inner);
        later = eddy_sleep(0);
        end = eddy_scope_end(&outer);
        CHECK_EQ(inner_end, -EIO);
        CHECK_EQ(later, -ECANCELED);
        return end;
}

/* A70: tasks of nested scopes fail in one turn, in both orders: neither failure nor cancel is lost. */
SIM_TEST(nested_scopes_whose_tasks_fail_in_one_turn)
{
        for (int inner_first = 0; inner_first < 2; inner_first++) {
                CHECK_EQ(in_one_turn(inner_first), -EPERM);
                CHECK_EQ(eddy_sleep(MS), 0);
        }
}

/* A70: while the inner one waits in its end, the outer one fails and then the inner one's task too. */
SIM_TEST(an_outer_failure_while_the_inner_scope_ends_survives_it)
{
        struct member outer_bad = { MS, -EPERM, 1, 0, 0 },
                      inner_bad = { EDDY_SEC(9), -EIO, 1, 0, 0 };
        eddy_scope outer, middle, inner;

        eddy_scope_begin(&outer, NULL);
        start(&outer, &outer_bad);
        eddy_scope_begin(&middle, NULL);
        eddy_scope_begin(&inner, NULL);
        start(&inner, &inner_bad);
        CHECK_EQ(eddy_scope_end(&inner), -EIO);
        CHECK_EQ(inner_bad.cancels, 1);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&middle), -ECANCELED);
        CHECK_EQ(eddy_sleep(0), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&outer), -EPERM);
        CHECK_EQ(eddy_sleep(0), 0);
}

/* A71: the body's work after the cancel is done, and the failure is returned at the end. */
SIM_TEST(a_body_may_go_on_and_even_open_scopes_after_the_cancel)
{
        struct member bad = { MS, -EIO, 1, 0, 0 }, more = { MS, 0, 1, 0, 0 };
        eddy_scope scope, inner;

        eddy_scope_begin(&scope, NULL);
        start(&scope, &bad);
        (void) eddy_sleep(EDDY_SEC(9));
        eddy_scope_begin(&inner, NULL);
        CHECK_EQ(eddy_scope_start(&inner, takes_part, &more), -ECANCELED);
        CHECK_EQ(eddy_scope_end(&inner), -ECANCELED);
        CHECK_EQ(more.slept, 1);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
}

/* --- starting too late --- */

/* A72: in a scope that has ended nothing starts, by no call. */
SIM_TEST(nothing_starts_in_a_scope_that_has_ended)
{
        static char large[EDDY_TASK_COPY_MAX + 1];
        struct eddy_scope_errors errors;
        struct member m = { 0, 0, 1, 0, 0 };
        eddy_task *task = NULL;
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .errors = &errors });
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(eddy_scope_start(&scope, takes_part, &m), -ECANCELED);
        CHECK_EQ(eddy_scope_start_copy(&scope, takes_part, &m, sizeof(m)), -ECANCELED);
        CHECK_EQ(eddy_scope_start_copy(&scope, takes_part, large, sizeof(large)), -ECANCELED);
        CHECK_EQ(eddy_scope_start_task(&scope, takes_part, &m, NULL, &task), -ECANCELED);
        CHECK(task == NULL);
        CHECK_EQ(eddy_scope_start_ready(&scope, takes_part, &m), -ECANCELED);
        CHECK_EQ(errors.count, 0);
        CHECK_EQ(eddy_sleep(MS), 0);
        CHECK_EQ(m.slept, 1);
}

struct spawner {
        eddy_scope *scope;
        struct member child;
        int64_t sleep_ns;
        int slept, started;
        int result;
};

static int spawns(void *arg)
{
        struct spawner *s = arg;

        s->slept = eddy_sleep(s->sleep_ns);
        s->started = eddy_scope_start(s->scope, takes_part, &s->child);
        return s->result;
}

/* A72: a task starts another while the scope ends, after a failure: refused; its failure counts. */
SIM_TEST(a_task_cannot_start_others_in_its_scope_after_a_failure)
{
        struct spawner s = { .child = { 0, 0, 1, 0, 0 }, .sleep_ns = EDDY_SEC(9), .started = 1 };
        struct member bad = { MS, -EIO, 1, 0, 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        s.scope = &scope;
        CHECK_EQ(eddy_scope_start(&scope, spawns, &s), 0);
        start(&scope, &bad);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(s.slept, -ECANCELED);
        CHECK_EQ(s.started, -ECANCELED);
        CHECK_EQ(s.child.slept, 1);
}

/* A72: the last task of an ending scope starts one more and fails in the same step. */
SIM_TEST(a_child_of_the_last_task_is_awaited_and_cancelled_with_it)
{
        struct spawner s = { .child = { EDDY_SEC(9), 0, 1, 0, 0 }, .started = 1, .result = -EIO };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        s.scope = &scope;
        CHECK_EQ(eddy_scope_start(&scope, spawns, &s), 0);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        CHECK_EQ(s.started, 0);
        /* It had not run, and still it starts, to its first suspending call. */
        CHECK_EQ(s.child.cancels, 1);
}

struct intruder {
        eddy_scope *scope;
        struct member child;
        int64_t wakes_ns;
        int started;
};

static int wakes_with_it(void *arg)
{
        const struct intruder *in = arg;

        return eddy_sleep(in->wakes_ns - eddy_now());
}

static int starts_before_the_owner_runs(void *arg)
{
        struct intruder *in = arg;

        CHECK_EQ(eddy_sleep(in->wakes_ns - eddy_now()), 0);
        in->started = eddy_scope_start(in->scope, takes_part, &in->child);
        return 0;
}

/* A72: the last task has ended, the owner has not gone on yet: what is started now is awaited too. */
SIM_TEST(a_task_started_between_the_last_ones_end_and_the_owner_is_awaited)
{
        struct intruder in = { .child = { 50 * MS, 0, 1, 0, 0 }, .started = 1 };
        int64_t begun = eddy_now();
        eddy_scope others, scope;

        in.wakes_ns = begun + 10 * MS;
        eddy_scope_begin(&others, NULL);
        eddy_scope_begin(&scope, NULL);
        in.scope = &scope;
        CHECK_EQ(eddy_scope_start(&scope, wakes_with_it, &in), 0);
        CHECK_EQ(eddy_scope_start(&others, starts_before_the_owner_runs, &in), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(in.started, 0);
        CHECK_EQ(in.child.slept, 0);
        CHECK_NS(eddy_now() - begun, 60 * MS);
        CHECK_EQ(eddy_scope_end(&others), 0);
}

static int begins_twice(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_begin(&scope, NULL);
        return 0;
}

/* A74: a scope is begun once. */
TEST_DIES(beginning_an_open_scope_is_a_broken_invariant, 6)
{
        (void) sim_run(begins_twice, NULL);
}

/* --- cancelled by itself --- */

static int cancels_own_scope(void *arg)
{
        struct parent *p = arg;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, shielded, &p->child), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        p->slept = eddy_sleep(0);
        p->end = eddy_scope_end(&scope);
        p->later = eddy_sleep(0);
        return p->later;
}

/* A75: a cancel from outside that comes while a cancelled scope winds down goes on after it. */
SIM_TEST(a_cancel_from_outside_survives_a_scope_that_cancelled_itself)
{
        for (int times = 0; times < 3; times++) {
                struct parent p = { .child = { 10 * MS, 0, 1, 0, 0 } };

                cancel_repeatedly(cancels_own_scope, &p, times);
                CHECK_EQ(p.child.slept, 0);
                CHECK_EQ(p.slept, -ECANCELED);
                CHECK_EQ(p.end, 0);
                CHECK_EQ(p.later, times ? -ECANCELED : 0);
        }
}

/* A75: a deadline around it that passes meanwhile is reported by its own scope. */
SIM_TEST(a_deadline_around_a_scope_that_cancelled_itself_is_reported_outside)
{
        struct parent p = { .child = { 10 * MS, 0, 1, 0, 0 } };
        eddy_scope scope;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = 5 * MS });
        CHECK_EQ(cancels_own_scope(&p), -ECANCELED);
        CHECK_EQ(p.end, 0);
        CHECK_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
}

static int cancels_scope_of(void *arg)
{
        eddy_scope_cancel(arg);
        return eddy_sleep(0);
}

/* A75: a task may cancel the scope it is in, before the owner has looked at it; that is no error. */
SIM_TEST(a_task_may_cancel_its_own_scope)
{
        struct member sibling = { EDDY_SEC(9), 0, 1, 0, 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, cancels_scope_of, &scope), 0);
        start(&scope, &sibling);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(sibling.cancels, 1);
        CHECK_EQ(eddy_sleep(0), 0);
}

/* A75: a failure after the cancel is a failure all the same. */
SIM_TEST(a_failure_in_a_scope_that_was_cancelled_is_its_result)
{
        struct member bad = { EDDY_SEC(9), -EIO, 1, 0, 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        start(&scope, &bad);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
}

/* --- errors by facility --- */

static const int results[] = {
        -EIO,       EDDY_E_HTTP_CLOSED, EDDY_E_DNS_NOT_FOUND, EDDY_E_HTTP_TOO_LARGE,
        -ETIMEDOUT, EDDY_E_HTTP_CLOSED
};

SIM_TEST(the_errors_of_a_scope_can_be_walked_by_facility)
{
        struct eddy_scope_errors errors;
        eddy_scope scope;
        int http = 0, dns = 0, system = 0;

        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING,
                                                            .errors = &errors });
        for (int i = 0; i < 6; i++)
                CHECK_EQ(eddy_scope_start(&scope, fails_at_once, (void *) (intptr_t) results[i]),
                         0);
        CHECK_EQ(eddy_scope_end(&scope), -EIO);
        for (uint32_t i = 0; i < errors.listed; i++) {
                CHECK_EQ(errors.list[i].result, results[i]);
                http += eddy_error_facility(errors.list[i].result) == EDDY_E_HTTP;
                dns += eddy_error_facility(errors.list[i].result) == EDDY_E_DNS;
                system += eddy_error_facility(errors.list[i].result) == 0;
        }
        CHECK_EQ(http, 3);
        CHECK_EQ(dns, 1);
        CHECK_EQ(system, 2);
}
