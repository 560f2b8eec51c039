/*
 * test_var.c - variables of tasks: who sees which value.
 */
#include <pthread.h>

#include "scope/vars.h"
#include "sim_run.h"

static const eddy_var number = EDDY_VAR("number", int);
static const eddy_var word = EDDY_VAR("word", char[4]);

static void set_number(int value)
{
        CHECK_EQ(eddy_var_set(&number, &value), 0);
}

/* The number that whoever calls this has, or -1. */
static int get_number(void)
{
        const int *value = eddy_var_get(&number);

        return value ? *value : -1;
}

SIM_TEST(a_task_reads_back_its_values)
{
        CHECK(!eddy_var_get(&number));
        set_number(1);
        CHECK_EQ(eddy_var_set(&word, "one"), 0);
        CHECK_EQ(get_number(), 1);
        CHECK_STR((const char *) eddy_var_get(&word), "one");
        set_number(2);
        CHECK_EQ(get_number(), 2);
        CHECK_STR((const char *) eddy_var_get(&word), "one");
}

SIM_TEST(a_variable_is_found_by_its_address_not_its_name)
{
        static const eddy_var twin = EDDY_VAR("number", int);

        set_number(1);
        CHECK(!eddy_var_get(&twin));
}

SIM_TEST(an_unset_variable_has_no_value_and_the_others_keep_theirs)
{
        CHECK_EQ(eddy_var_unset(&number), 0);
        set_number(1);
        CHECK_EQ(eddy_var_set(&word, "one"), 0);
        CHECK_EQ(eddy_var_unset(&number), 0);
        CHECK(!eddy_var_get(&number));
        CHECK_STR((const char *) eddy_var_get(&word), "one");
        CHECK_EQ(eddy_var_unset(&number), 0);
        set_number(2);
        CHECK_EQ(get_number(), 2);
}

struct child {
        int first, second; /* what it sees at once, and later */
        int sets;          /* in between; 0: nothing */
        int err;
};

static int child_main(void *arg)
{
        struct child *child = arg;

        child->first = get_number();
        if (child->sets)
                set_number(child->sets);
        child->err = eddy_sleep(MS);
        child->second = get_number();
        return 0;
}

/* A49: a task starts with a copy of its starter's values at that moment. */
SIM_TEST(a_task_starts_with_the_values_of_its_starter_at_that_moment)
{
        struct child before = { 0 }, after = { 0 };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        set_number(1);
        CHECK_EQ(eddy_scope_start(&scope, child_main, &before), 0);
        set_number(2);
        CHECK_EQ(eddy_scope_start(&scope, child_main, &after), 0);
        CHECK_EQ(eddy_var_unset(&number), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(before.first, 1);
        CHECK_EQ(before.second, 1);
        CHECK_EQ(after.first, 2);
        CHECK_EQ(after.second, 2);
        CHECK_EQ(get_number(), -1);
}

/* A49: what a task sets is its own, and not its starter's or its sister's. */
SIM_TEST(values_that_a_task_sets_are_not_seen_by_its_starter_or_its_sisters)
{
        struct child sets = { .sets = 5 }, sister = { 0 };
        eddy_scope scope;

        set_number(1);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, child_main, &sets), 0);
        CHECK_EQ(eddy_scope_start(&scope, child_main, &sister), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(sets.first, 1);
        CHECK_EQ(sets.second, 5);
        CHECK_EQ(sister.first, 1);
        CHECK_EQ(sister.second, 1);
        CHECK_EQ(get_number(), 1);
}

static int grandmother_main(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        (void) eddy_scope_start(&scope, child_main, arg);
        return eddy_scope_end(&scope);
}

SIM_TEST(values_are_inherited_over_generations)
{
        struct child child = { .sets = 9 };
        eddy_scope scope;

        set_number(7);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, grandmother_main, &child), 0);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(child.first, 7);
        CHECK_EQ(get_number(), 7);
}

SIM_TEST(a_background_task_inherits_too)
{
        static struct child child;

        set_number(3);
        CHECK_EQ(eddy_background(child_main, &child), 0);
        set_number(4);
        CHECK_EQ(eddy_sleep(2 * MS), 0);
        CHECK_EQ(child.first, 3);
        CHECK_EQ(child.second, 3);
}

static int set_and_end(void *arg)
{
        *(int *) arg = get_number();
        set_number(1);
        return 0;
}

static int gives_number(void *arg)
{
        (void) arg;
        return get_number();
}

/* A49: so does a task that is started by way of its loop, with the values at that moment. */
SIM_TEST(a_task_started_threadsafe_inherits_too)
{
        eddy_remote *remote;
        int result = 0;

        set_number(5);
        CHECK_EQ(eddy_loop_start_threadsafe(eddy_loop_current(), gives_number, NULL, &remote), 0);
        set_number(6);
        CHECK_EQ(eddy_remote_wait(remote, &result), 0);
        CHECK_EQ(result, 5);
        eddy_remote_release(remote);
}

TEST(the_main_task_starts_with_none)
{
        int seen = 0;

        CHECK_EQ(sim_run(set_and_end, &seen), 0);
        CHECK_EQ(seen, -1);
        CHECK_EQ(sim_run(set_and_end, &seen), 0);
        CHECK_EQ(seen, -1);
}

/* A borrowed value stays in its place while other variables change, in whatever set. */
SIM_TEST(a_value_stays_where_it_is_until_it_is_set_again)
{
        static eddy_var others[EDDY_VARS_MAX - 1];
        struct child child = { 0 };
        const int *value;
        eddy_scope scope;

        set_number(6);
        value = eddy_var_get(&number);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, child_main, &child), 0);
        for (int i = 0; i < EDDY_VARS_MAX - 1; i++) {
                others[i] = (eddy_var) EDDY_VAR("other", int);
                CHECK_EQ(eddy_var_set(&others[i], &i), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(eddy_var_get(&number) == value);
        CHECK_EQ(*value, 6);
        for (int i = 0; i < EDDY_VARS_MAX - 1; i++)
                CHECK_EQ(*(const int *) eddy_var_get(&others[i]), i);
}

SIM_TEST(a_value_can_be_set_to_itself)
{
        set_number(8);
        CHECK_EQ(eddy_var_set(&number, eddy_var_get(&number)), 0);
        CHECK_EQ(get_number(), 8);
}

SIM_TEST(the_maximum_of_values_is_exact)
{
        static eddy_var many[EDDY_VARS_MAX];
        int n = 1;

        for (int i = 0; i < EDDY_VARS_MAX; i++) {
                many[i] = (eddy_var) EDDY_VAR("many", int);
                CHECK_EQ(eddy_var_set(&many[i], &i), 0);
        }
        CHECK_EQ(eddy_var_set(&number, &n), -ENOSPC);
        CHECK_EQ(eddy_var_set(&many[3], &n), 0);
        CHECK_EQ(eddy_var_unset(&many[5]), 0);
        CHECK_EQ(eddy_var_set(&number, &n), 0);
}

SIM_TEST(values_that_are_empty_or_too_large_are_refused)
{
        static const eddy_var empty = { "empty", 0 };
        static const eddy_var largest = { "largest", EDDY_VAR_BYTES_MAX };
        static const eddy_var larger = { "larger", EDDY_VAR_BYTES_MAX + 1 };
        static const char bytes[EDDY_VAR_BYTES_MAX + 1];

        CHECK_EQ(eddy_var_set(&empty, bytes), -EINVAL);
        CHECK_EQ(eddy_var_set(&larger, bytes), -EINVAL);
        CHECK_EQ(eddy_var_set(&largest, bytes), 0);
        CHECK(!eddy_var_get(&empty) && !eddy_var_get(&larger) && eddy_var_get(&largest));
}

TEST(outside_of_a_run_values_are_absent)
{
        int n = 1;

        CHECK_EQ(eddy_var_set(&number, &n), EDDY_E_RUN_NOT_RUNNING);
        CHECK_EQ(eddy_var_unset(&number), EDDY_E_RUN_NOT_RUNNING);
        CHECK(!eddy_var_get(&number));
}

/* --- reports --- */

static int reported;

static void look_at_number(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (is_debug_modes(report->kind))
                return;
        CHECK_EQ(report->kind, EDDY_REPORT_BACKGROUND);
        reported = get_number();
}

static int set_and_fail(void *arg)
{
        (void) arg;
        set_number(12);
        return -EIO;
}

static int main_with_failing_background(void *arg)
{
        (void) arg;
        set_number(11);
        CHECK_EQ(eddy_background(set_and_fail, NULL), 0);
        return eddy_sleep(MS);
}

/* A19: the report of a failing task is made with that task's own variables. */
TEST(a_report_sees_the_variables_of_the_task_that_failed)
{
        struct eddy_run_opts opts = { .report = look_at_number };

        CHECK_EQ(sim_run_with(main_with_failing_background, NULL, 0, opts), 0);
        CHECK_EQ(reported, 12);
}

/* --- other threads --- */

enum { READS = 2000 };

struct job {
        struct ed_vars *vars;
        pthread_barrier_t both;
};

static void *job_main(void *arg)
{
        struct job *job = arg;
        struct ed_vars *before = ed_vars_enter(job->vars);

        CHECK_EQ(get_number(), 1);
        pthread_barrier_wait(&job->both);
        for (int i = 0; i < READS; i++)
                CHECK_EQ(get_number(), 1);
        CHECK_EQ(eddy_var_unset(&number), EDDY_E_RUN_NOT_RUNNING);
        ed_vars_leave(before);
        CHECK_EQ(get_number(), -1);
        ed_vars_drop(job->vars);
        return NULL;
}

/* A115: a job on another thread has the values its caller had, whatever that sets later. */
SIM_TEST(a_job_on_another_thread_has_the_values_of_its_caller)
{
        struct job job = { 0 };
        pthread_t thread;

        set_number(1);
        job.vars = ed_vars_take();
        pthread_barrier_init(&job.both, NULL, 2);
        CHECK_EQ(pthread_create(&thread, NULL, job_main, &job), 0);
        pthread_barrier_wait(&job.both);
        for (int i = 0; i < READS; i++)
                set_number(i);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(get_number(), READS - 1);
}
