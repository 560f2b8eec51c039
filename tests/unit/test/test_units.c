/*
 * Units of semaphores that are not given back, and items that are left in
 * queues: found without being named, found when named, and the words of it.
 */
#include "sweep_test.h"

static struct eddy_test_result result;

/* A run whose findings are in 'result', and not printed. */
static int found(eddy_task_fn *fn, void *arg)
{
        int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY), err;

        CHECK(kept >= 0 && null >= 0);
        CHECK(dup2(null, STDERR_FILENO) >= 0);
        err = eddy_test_run(fn, arg, NULL, &result);
        CHECK(dup2(kept, STDERR_FILENO) >= 0);
        close(kept);
        close(null);
        return err;
}

static void check_found(eddy_task_fn *fn, void *arg, const char *problem)
{
        CHECK_EQ(found(fn, arg), EDDY_E_TEST_FOUND);
        if (!strstr(result.problem, problem))
                test_fail(__FILE__, __LINE__, "it found \"%s\", not \"%s\"", result.problem,
                          problem);
}

static void check_sound(eddy_task_fn *fn, void *arg)
{
        if (found(fn, arg) != 0)
                test_fail(__FILE__, __LINE__, "it found \"%s\"", result.problem);
        CHECK_EQ(result.left.units + result.left.items, 0);
}

/* --- semaphores --- */

static eddy_semaphore sem;

/* As many as 'arg' says are given back. */
static int takes_two(void *arg)
{
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        CHECK_EQ(eddy_semaphore_try_acquire(&sem), 0);
        for (int i = 0; i < *(int *) arg; i++)
                CHECK_EQ(eddy_semaphore_release(&sem), 0);
        return 0;
}

static int start_taker(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start_task(&scope, takes_two, arg, &(struct eddy_task_opts){ .name = "taker" },
                              NULL);
        return eddy_scope_end(&scope);
}

static int bounded(void *arg)
{
        eddy_semaphore_init(&sem, 3, EDDY_SEMAPHORE_BOUNDED);
        return start_taker(arg);
}

static int unbounded(void *arg)
{
        eddy_semaphore_init(&sem, 3, 0);
        return start_taker(arg);
}

static int watched(void *arg)
{
        eddy_semaphore_init(&sem, 3, 0);
        eddy_test_watch_semaphore(&sem);
        eddy_test_watch_semaphore(&sem);
        return start_taker(arg);
}

TEST(units_of_a_bounded_semaphore_are_looked_at_without_being_named)
{
        int given = 2;

        check_sound(bounded, &given);
        given = 1;
        check_found(bounded, &given, "1 unit of a semaphore not given back: taker took one at ");
        CHECK_EQ(result.left.units, 1);
        given = 0;
        check_found(bounded, &given, "2 units of a semaphore not given back: taker took one at ");
        CHECK_EQ(result.left.units, 2);
        CHECK(strstr(result.problem, ", taker took one at "));
}

TEST(units_of_another_are_looked_at_if_it_is_named)
{
        int given = 1;

        check_sound(unbounded, &given);
        check_found(watched, &given, "1 unit of a semaphore not given back: taker took one at ");
        /* In that run alone. */
        check_sound(unbounded, &given);
        given = 2;
        check_sound(watched, &given);
}

/* In a frame that is gone, of which nothing is read. */
static __attribute__((noinline)) int in_a_frame(int given)
{
        eddy_semaphore units = EDDY_SEMAPHORE(2, EDDY_SEMAPHORE_BOUNDED);
        int err = eddy_semaphore_acquire(&units);

        if (err == 0 && given)
                (void) eddy_semaphore_release(&units);
        return err;
}

static int in_frames(void *arg)
{
        int err = 0;

        for (int i = 0; i < 5 && err == 0; i++)
                err = in_a_frame(i != *(int *) arg);
        return err;
}

TEST(a_semaphore_may_be_gone_at_the_end)
{
        for (int kept = 0; kept < 5; kept++)
                check_found(in_frames, &kept,
                            "1 unit of a semaphore not given back: main took one at ");
        check_sound(in_frames, &(int){ 5 });
}

/* A task takes, and another one gives. */
static int gives(void *arg)
{
        (void) arg;
        return eddy_semaphore_release(&sem);
}

static int takes(void *arg)
{
        (void) arg;
        return eddy_semaphore_acquire(&sem);
}

/* The units that tasks wait for come from a task that is not the one that took. */
static int hands_over(void *arg)
{
        int kept = *(int *) arg, err, ended;
        eddy_scope scope;

        eddy_semaphore_init(&sem, 2, EDDY_SEMAPHORE_BOUNDED);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 5; i++)
                eddy_scope_start(&scope, takes, NULL);
        err = eddy_sleep(MS);
        for (int i = 0; i < 5 - kept; i++)
                eddy_scope_start(&scope, gives, NULL);
        ended = eddy_scope_end(&scope);
        return ended < 0 ? ended : err;
}

TEST(a_unit_may_be_given_back_by_another_task)
{
        int kept = 0;

        check_sound(hands_over, &kept);
        kept = 2;
        check_found(hands_over, &kept, "2 units of a semaphore not given back: ");
}

static int takes_in_callback(void *arg)
{
        return eddy_semaphore_try_acquire(arg);
}

static int outside_of_tasks(void *arg)
{
        eddy_handle handle = { 0 };

        (void) arg;
        eddy_semaphore_init(&sem, 2, EDDY_SEMAPHORE_BOUNDED);
        CHECK_EQ(eddy_loop_call_soon(NULL, &handle, takes_in_callback, &sem), 0);
        return eddy_sleep(MS);
}

TEST(a_unit_that_no_task_took_is_reported_as_well)
{
        check_found(outside_of_tasks, NULL,
                    "1 unit of a semaphore not given back: a call outside of tasks took one at ");
}

static int takes_all(void *arg)
{
        int err = 0;

        eddy_semaphore_init(&sem, 3000, EDDY_SEMAPHORE_BOUNDED);
        for (int i = 0; i < 3000 && err == 0; i++)
                err = eddy_semaphore_acquire(&sem);
        for (int i = *(int *) arg; i < 3000 && err == 0; i++)
                err = eddy_semaphore_release(&sem);
        return err;
}

TEST(more_units_than_are_known_by_place_are_counted)
{
        int kept = 0;

        check_sound(takes_all, &kept);
        kept = 2500;
        check_found(takes_all, &kept, " and ");
        CHECK_EQ(result.left.units, 2500);
        kept = 5;
        check_found(takes_all, &kept, "5 more units of semaphores not given back");
        CHECK_EQ(result.left.units, 5);
}

/* Each has a line of its own among the findings. */
static int two_semaphores(void *arg)
{
        static eddy_semaphore other;

        (void) arg;
        eddy_semaphore_init(&sem, 1, EDDY_SEMAPHORE_BOUNDED);
        eddy_semaphore_init(&other, 1, EDDY_SEMAPHORE_BOUNDED);
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        CHECK_EQ(eddy_semaphore_acquire(&other), 0);
        return 0;
}

TEST(each_semaphore_has_a_line)
{
        check_found(two_semaphores, NULL, "1 unit of a semaphore not given back: main");
        CHECK(strstr(strstr(result.problem, "\n"), "1 unit of a semaphore not given back: main"));
        CHECK_EQ(result.left.units, 2);
}

/* --- sweeps --- */

static int careful_or_not(void *arg)
{
        int err = eddy_semaphore_acquire(&sem);

        if (err < 0)
                return err;
        err = eddy_sleep(MS);
        if (err == 0 || arg)
                (void) eddy_semaphore_release(&sem);
        return err;
}

static int visitors(void *arg)
{
        eddy_scope scope;

        eddy_semaphore_init(&sem, 2, EDDY_SEMAPHORE_BOUNDED);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                eddy_scope_start(&scope, careful_or_not, arg);
        return eddy_scope_end(&scope);
}

TEST(a_unit_that_a_cancelled_task_keeps_is_found_by_both_sweeps)
{
        struct eddy_test_opts opts = { .name = "visitors" };

        for (int what = EDDY_TEST_CANCEL; what <= EDDY_TEST_CANCEL_TASK;
             what += EDDY_TEST_CANCEL_TASK - EDDY_TEST_CANCEL) {
                sweep_passes(what, visitors, &opts, &opts);
                CHECK_EQ(sweep(what, visitors, NULL, &opts), EDDY_E_TEST_FOUND);
                CHECK(lines_with(" of a semaphore not given back: ") >= 1);
                CHECK_EQ(setenv("EDDY_TEST_REPLAY", replay(), 1), 0);
                CHECK_EQ(sweep(what, visitors, NULL, &opts), EDDY_E_TEST_FOUND);
                CHECK_EQ(unsetenv("EDDY_TEST_REPLAY"), 0);
        }
}

/* --- queues --- */

static eddy_queue queue;

struct plan {
        int put, taken, done;
        bool counts; /* it says what is done */
        bool ends;   /* the queue, by itself */
        bool watches;
};

static int follows(void *arg)
{
        const struct plan *plan = arg;
        void *item = &queue;

        queue = (eddy_queue){ 0 };
        if (plan->watches) {
                eddy_test_watch_queue(&queue);
                eddy_test_watch_queue(&queue);
        }
        for (int i = 0; i < plan->put; i++)
                CHECK_EQ(eddy_queue_put(&queue, &item), 0);
        for (int i = 0; i < plan->taken; i++)
                CHECK_EQ(eddy_queue_get(&queue, &item), 0);
        for (int i = 0; i < plan->done; i++)
                CHECK_EQ(eddy_queue_task_done(&queue), 0);
        if (plan->ends)
                eddy_queue_fini(&queue);
        return 0;
}

TEST(items_left_in_a_queue_that_is_named_are_found)
{
        struct plan plan = { .put = 3, .taken = 1, .ends = true };

        check_sound(follows, &plan);
        plan.watches = true;
        check_found(follows, &plan, "2 items left in a queue");
        CHECK_EQ(result.left.items, 2);
        plan.taken = 3;
        check_sound(follows, &plan);
        /* Ended by the run: its memory is left, too. */
        plan = (struct plan){ .put = 1, .watches = true };
        check_found(follows, &plan, "1 item left in a queue");
        CHECK(strstr(result.problem, "1 allocation left"));
        eddy_queue_fini(&queue);
}

TEST(items_that_were_not_done_are_found_where_that_is_said_at_all)
{
        struct plan plan = { .put = 3, .taken = 3, .done = 2, .ends = true, .watches = true };

        check_found(follows, &plan, "1 item of a queue taken and not done");
        CHECK_EQ(result.left.items, 1);
        plan.done = 3;
        check_sound(follows, &plan);
        plan.done = 0;
        check_sound(follows, &plan);
        plan = (struct plan){ .put = 3, .taken = 2, .done = 1, .ends = true, .watches = true };
        check_found(follows, &plan, "1 item left in a queue\n1 item of a queue taken and not done");
        CHECK_EQ(result.left.items, 2);
}

static int ends_twice(void *arg)
{
        struct plan plan = { .put = 2, .taken = 2, .ends = true, .watches = true };
        void *item = &queue;

        (void) arg;
        CHECK_EQ(follows(&plan), 0);
        /* It is a queue again, which is not watched. */
        CHECK_EQ(eddy_queue_put(&queue, &item), 0);
        eddy_queue_fini(&queue);
        return 0;
}

TEST(a_queue_is_watched_to_its_end)
{
        check_sound(ends_twice, NULL);
}

static int watches_many(void *arg)
{
        static eddy_queue queues[EDDY_TEST_QUEUES_MAX + 1];
        static eddy_semaphore sems[EDDY_TEST_SEMAPHORES_MAX + 1];
        const int *more = arg;

        memset(queues, 0, sizeof(queues));
        memset(sems, 0, sizeof(sems));
        for (int i = 0; i < EDDY_TEST_QUEUES_MAX + more[0]; i++)
                eddy_test_watch_queue(&queues[i]);
        for (int i = 0; i < EDDY_TEST_SEMAPHORES_MAX + more[1]; i++)
                eddy_test_watch_semaphore(&sems[i]);
        return 0;
}

TEST(watched_objects_have_a_maximum)
{
        check_sound(watches_many, (int[]){ 0, 0 });
        check_found(watches_many, (int[]){ 1, 0 }, "more than 64 queues are watched");
        check_found(watches_many, (int[]){ 0, 1 }, "more than 64 semaphores are watched");
}

/* --- pools --- */

static eddy_thread_pool *pool;

static int job(void *arg)
{
        (void) arg;
        return 0;
}

static int leaves_a_pool(void *arg)
{
        int err;

        (void) arg;
        CHECK_EQ(eddy_thread_pool_new(NULL, &pool), 0);
        err = eddy_thread_pool_call(pool, job, NULL, NULL);
        return err;
}

/* A job that keeps its thread is reported by eddy_thread_pool_close(). */
TEST(a_pool_that_is_not_closed_is_memory_that_is_left)
{
        check_found(leaves_a_pool, NULL, " left, of ");
        CHECK(result.left.allocations > 0);
        eddy_thread_pool_close(pool);
}

/* --- outside of a run --- */

static int plain(void *arg)
{
        CHECK_EQ(eddy_semaphore_acquire(&sem), 0);
        return follows(arg);
}

TEST(outside_of_a_run_of_the_kit_nothing_is_noted)
{
        struct plan plan = { .put = 1, .ends = true, .watches = true };

        eddy_semaphore_init(&sem, 2, EDDY_SEMAPHORE_BOUNDED);
        eddy_test_watch_semaphore(&sem);
        CHECK_EQ(eddy_run(plain, &plan, NULL), 0);
        CHECK_EQ(eddy_semaphore_units(&sem), 1);
        CHECK_EQ(eddy_semaphore_release(&sem), 0);
        CHECK_EQ(eddy_semaphore_release(&sem), -EINVAL);
        /* Nor in the next run of the kit. */
        plan = (struct plan){ .put = 1, .taken = 1, .ends = true };
        check_sound(follows, &plan);
}
