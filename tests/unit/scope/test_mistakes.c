/*
 * test_mistakes.c - the mistakes of docs/mistakes.md that are reported: what is
 * printed of them, word for word; and two that no report can help with.
 */
#include <time.h>
#include <unistd.h>

#include "sim_run.h"

/* --- what a run prints --- */

static char printed[8192];
static int print_fd, stderr_fd;

/* From here on standard error goes to a file that nobody else sees, ... */
static void catch_print(void)
{
        FILE *file = tmpfile();

        CHECK(file != NULL);
        print_fd = fileno(file);
        stderr_fd = dup(STDERR_FILENO);
        CHECK_EQ(dup2(print_fd, STDERR_FILENO), STDERR_FILENO);
}

/* ... and from here on where it went before. */
static void read_print(void)
{
        ssize_t n = pread(print_fd, printed, sizeof(printed) - 1, 0);

        CHECK(n >= 0);
        CHECK_EQ(dup2(stderr_fd, STDERR_FILENO), STDERR_FILENO);
        printed[n] = '\0';
}

/* What a simulated run of 'fn' returns; what it prints without debug mode is in 'printed'. */
static int run_printing(eddy_task_fn *fn)
{
        int err;

        catch_print();
        err = sim_run_with(fn, NULL, 0, (struct eddy_run_opts){ .flags = EDDY_RUN_NO_DEBUG });
        read_print();
        return err;
}

static void start_named(eddy_scope *scope, const char *name, eddy_task_fn *fn, void *arg)
{
        eddy_task *task = NULL;

        CHECK_EQ(eddy_scope_start_task(scope, fn, arg, &(struct eddy_task_opts){ .name = name },
                                       &task),
                 0);
        eddy_task_release(task);
}

/* --- locks --- */

static eddy_lock locks[2];

static int locks_both(void *arg)
{
        eddy_lock *first = arg, *second = first == locks ? locks + 1 : locks;
        int err = eddy_lock_acquire(first);

        if (err < 0)
                return err;
        err = eddy_sleep(MS);
        if (err == 0)
                err = eddy_lock_acquire(second);
        if (err == 0)
                eddy_lock_release(second);
        eddy_lock_release(first);
        return err;
}

static int crosses(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "rent", locks_both, &locks[0]);
        start_named(&scope, "salary", locks_both, &locks[1]);
        return eddy_scope_end(&scope);
}

TEST(a_cycle_of_locks_is_printed_with_each_waiter_and_its_owner)
{
        CHECK_EQ(run_printing(crosses), -EDEADLK);
        CHECK_STR(printed, "eddy: all tasks wait and nothing can wake them; the run is cancelled:\n"
                           "  main waits for the tasks of a scope to end\n"
                           "    scope of main\n"
                           "      rent waits for a lock, held by salary\n"
                           "      salary waits for a lock, held by rent\n");
}

static int forgets_to_release(void *arg)
{
        return eddy_lock_acquire(arg);
}

static int leaves_a_lock(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "first", forgets_to_release, locks);
        start_named(&scope, "second", locks_both, locks);
        return eddy_scope_end(&scope);
}

TEST(a_forgotten_release_is_printed_with_its_waiters)
{
        CHECK_EQ(run_printing(leaves_a_lock), -EDEADLK);
        CHECK_STR(printed, "eddy: all tasks wait and nothing can wake them; the run is cancelled:\n"
                           "  main waits for the tasks of a scope to end\n"
                           "    scope of main\n"
                           "      second waits for a lock, left locked by a task that has ended\n");
}

static int many_wait(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_lock_acquire(locks), 0);
        for (int i = 0; i < 100; i++)
                start_named(&scope, "one of many that wait", forgets_to_release, locks);
        return eddy_scope_end(&scope);
}

TEST(a_long_report_is_printed_whole)
{
        const char *end = "      one of many that wait waits for a lock, held by main\n"
                          "  and 62 more\n";

        CHECK_EQ(run_printing(many_wait), -EDEADLK);
        CHECK(strncmp(printed, "eddy: all tasks wait and nothing can wake them;", 47) == 0);
        CHECK(strlen(printed) > 2000);
        CHECK_STR(printed + strlen(printed) - strlen(end), end);
}

/* --- cancels and failures that nobody looks at --- */

/* Whatever its sleep says, it goes round once more. */
static int goes_on(void *arg)
{
        (void) arg;
        for (int rounds = 0; rounds < 1500; rounds++)
                (void) eddy_sleep(EDDY_SEC(1));
        return 0;
}

static int cancels_one_that_goes_on(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "deaf", goes_on, NULL);
        CHECK_EQ(eddy_sleep(EDDY_MS(1500)), 0);
        eddy_scope_cancel(&scope);
        return eddy_scope_end(&scope);
}

TEST(a_task_that_goes_on_after_its_cancel_is_printed_and_does_not_hang)
{
        CHECK_EQ(run_printing(cancels_one_that_goes_on), 0);
        CHECK_STR(printed, "eddy: task deaf: ignored 1,000 cancels in a row: let its loop end on "
                           "-ECANCELED; each further call waits a millisecond\n");
}

static int fails_later(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(MS), 0);
        return -EIO;
}

static int leaves_a_failure_behind(void *arg)
{
        (void) arg;
        return eddy_background(fails_later, NULL);
}

TEST(a_failure_in_the_background_is_printed)
{
        CHECK_EQ(run_printing(leaves_a_failure_behind), 0);
        CHECK_STR(printed, "eddy: task fails_later: failed in the background: " EIO_TEXT "\n");
}

static int looks_at_no_future(void *arg)
{
        eddy_future future = { 0 };

        (void) arg;
        CHECK_EQ(eddy_future_set(&future, -EIO, NULL), 0);
        eddy_future_fini(&future);
        return 0;
}

TEST(a_failed_future_that_was_never_read_is_printed)
{
        CHECK_EQ(run_printing(looks_at_no_future), 0);
        CHECK_STR(printed,
                  "eddy: task main: a future failed and its result was never read: " EIO_TEXT "\n");
}

/* --- a task that keeps the loop --- */

#define THINKS "eddy: task thinker: has kept the loop from other tasks for "
#define SLEEPS "eddy: task sleeper: has kept the loop from other tasks for "

/* On a busy machine others may be reported before: any that is kept from its processor. */
static const char *printed_of(const char *words)
{
        ssize_t n = pread(print_fd, printed, sizeof(printed) - 1, 0);

        CHECK(n >= 0);
        printed[n] = '\0';
        return strstr(printed, words);
}

static int computes(void *arg)
{
        int64_t until_ns = eddy_now() + EDDY_SEC(60);

        (void) arg;
        while (!printed_of(THINKS) && eddy_now() < until_ns)
                continue;
        return 0;
}

static int starts_thinker(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "thinker", computes, NULL);
        return eddy_scope_end(&scope);
}

/* What comes after the words and the milliseconds, in a line of its own. */
static const char *printed_after(const char *words)
{
        const char *begin = printed_of(words);

        CHECK(begin && (begin == printed || begin[-1] == '\n'));
        begin += strlen(words);
        return begin + strspn(begin, "0123456789");
}

TEST(a_task_that_computes_is_printed_with_where_it_is)
{
        catch_print();
        CHECK_EQ(eddy_run(starts_thinker, NULL, NULL), 0);
        read_print();
        CHECK(strncmp(printed_after(THINKS), " ms; it is in ", 14) == 0);
}

static int sleeps_in_a_call(void *arg)
{
        const struct timespec a_while = { .tv_nsec = 150000000 };
        int64_t until_ns = eddy_now() + EDDY_SEC(60);

        (void) arg;
        while (!printed_of(SLEEPS) && eddy_now() < until_ns)
                CHECK_EQ(nanosleep(&a_while, NULL), 0);
        return 0;
}

static int starts_sleeper(void *arg)
{
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        start_named(&scope, "sleeper", sleeps_in_a_call, NULL);
        return eddy_scope_end(&scope);
}

TEST(a_task_that_sleeps_in_a_system_call_is_printed_with_it)
{
#ifdef __GLIBC__
        static const char words[] = " ms; it is blocked in the system call clock_nanosleep\n";
#else
        static const char words[] = " ms; it is blocked in the system call nanosleep\n";
#endif

        if (getenv("EDDY_TEST_VALGRIND") || getenv("EDDY_TEST_QEMU"))
                test_skip("the kernel does not say what a simulated thread does");
        catch_print();
        CHECK_EQ(eddy_run(starts_sleeper, NULL, NULL), 0);
        read_print();
        CHECK(strncmp(printed_after(SLEEPS), words, strlen(words)) == 0);
}

/* --- two that no report can help with --- */

static int seats;

static int books_without_waiting(void *arg)
{
        (void) arg;
        if (seats < 2)
                return 0;
        seats -= 2;
        return eddy_sleep(MS);
}

static int books_after_a_wait(void *arg)
{
        int err;

        (void) arg;
        if (seats < 2)
                return 0;
        err = eddy_sleep(MS);
        seats -= 2;
        return err;
}

static int book_twice(void *fn)
{
        struct eddy_call calls[2] = { { .fn = *(eddy_task_fn **) fn },
                                      { .fn = *(eddy_task_fn **) fn } };

        seats = 2;
        return eddy_gather(calls, 2, 0);
}

TEST(a_race_needs_a_suspending_call_and_then_happens_under_every_schedule)
{
        static eddy_task_fn *safe = books_without_waiting, *unsafe = books_after_a_wait;

        for (uint64_t seed = 0; seed < 100; seed++) {
                CHECK_EQ(sim_run_with(book_twice, &safe, seed, (struct eddy_run_opts){ 0 }), 0);
                CHECK_EQ(seats, 0);
                CHECK_EQ(sim_run_with(book_twice, &unsafe, seed, (struct eddy_run_opts){ 0 }), 0);
                CHECK_EQ(seats, -2);
        }
}

static int waits_a_second(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_SEC(1));
}

SIM_TEST(waits_one_by_one_add_up_and_gathered_ones_do_not)
{
        struct eddy_call calls[10];
        int64_t began_ns = eddy_now();

        for (int i = 0; i < 10; i++)
                CHECK_EQ(waits_a_second(NULL), 0);
        CHECK_NS(eddy_now() - began_ns, EDDY_SEC(10));
        for (int i = 0; i < 10; i++)
                calls[i] = (struct eddy_call){ .fn = waits_a_second };
        began_ns = eddy_now();
        CHECK_EQ(eddy_gather(calls, 10, 0), 0);
        CHECK_NS(eddy_now() - began_ns, EDDY_SEC(1));
}
