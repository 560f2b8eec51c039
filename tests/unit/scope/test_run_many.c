/*
 * test_run_many.c - several loops: all start or none does, the first failure and a signal end them
 * all, and channels connect them.
 */
#include <eddy/eddy.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { LOOPS_MANY = 64, ROUNDS = 1000 };

static const struct eddy_run_opts quiet = { .flags = EDDY_RUN_NO_WATCHDOG };

static _Atomic uint32_t started, ended, seen;
static pthread_t first_thread;

static void reset(void)
{
        started = 0;
        ended = 0;
        seen = 0;
        first_thread = pthread_self();
}

static int open_files(void)
{
        int n = 0;

        for (int fd = 0; fd < 1024; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

/* --- the loops and their results --- */

static int shows_itself(void *arg)
{
        uint32_t index = eddy_run_index();

        CHECK_EQ(eddy_run_count(), *(uint32_t *) arg);
        CHECK_EQ(index == 0, pthread_equal(pthread_self(), first_thread));
        CHECK_EQ(atomic_fetch_or(&seen, UINT32_C(1) << index) >> index & 1, 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
        atomic_fetch_add(&ended, 1);
        return (int) index + 7;
}

TEST(each_loop_runs_main_with_an_index_of_its_own)
{
        uint32_t n = 5;

        reset();
        CHECK_EQ(eddy_run_many(n, shows_itself, &n), 7);
        CHECK_EQ(seen, 31);
        CHECK_EQ(ended, 5);
        CHECK_EQ(eddy_run_index(), 0);
        CHECK_EQ(eddy_run_count(), 1);
        CHECK_EQ(eddy_run_signal(), 0);
}

TEST(a_single_loop_is_a_run_on_the_callers_thread)
{
        uint32_t n = 1;

        reset();
        CHECK_EQ(eddy_run_many(n, shows_itself, &n), 7);
        CHECK_EQ(seen, 1);
}

static int counts(void *arg)
{
        (void) arg;
        atomic_fetch_add(&started, 1);
        return 0;
}

TEST(without_a_number_there_is_a_loop_for_each_processor)
{
        reset();
        CHECK_EQ(eddy_run_many_with(0, counts, NULL, &quiet), 0);
        CHECK_EQ(started, eddy_cpu_count());
}

static int runs_many_inside(void *arg)
{
        return eddy_run_many(2, counts, arg);
}

TEST(mistakes_are_refused)
{
        struct eddy_run_opts unknown = { .flags = UINT32_C(1) << 31 };

        reset();
        CHECK_EQ(eddy_run_many(EDDY_RUN_MANY_MAX + 1, counts, NULL), -EINVAL);
        CHECK_EQ(eddy_run_many(2, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_run_many_with(2, counts, NULL, &unknown), -EINVAL);
        CHECK_EQ(eddy_run(runs_many_inside, NULL, &quiet), EDDY_E_RUN_NESTED);
        CHECK_EQ(started, 0);
}

/* --- channels --- */

/* A ring: each loop gets from its own channel and puts to the next one's. */
struct ring {
        eddy_channel *channels[LOOPS_MANY];
        _Atomic uint32_t sum;
};

static int passes_on(void *arg)
{
        struct ring *ring = arg;
        uint32_t own = eddy_run_index(), next = (own + 1) % eddy_run_count(), value = 0;
        int err = 0;

        for (uint32_t i = 0; i < ROUNDS / eddy_run_count() && err == 0; i++) {
                if (own == 0)
                        err = eddy_channel_put(ring->channels[next], &value);
                if (err == 0)
                        err = eddy_channel_get(ring->channels[own], &value);
                value++;
                if (err == 0 && own != 0)
                        err = eddy_channel_put(ring->channels[next], &value);
        }
        if (own == 0)
                ring->sum = value;
        return err;
}

static void pass_around(uint32_t n)
{
        struct ring ring = { .sum = 0 };

        for (uint32_t i = 0; i < n; i++)
                CHECK_EQ(eddy_channel_new(sizeof(uint32_t), 1, &ring.channels[i]), 0);
        CHECK_EQ(eddy_run_many_with(n, passes_on, &ring, &quiet), 0);
        CHECK_EQ(ring.sum, ROUNDS / n * n);
        for (uint32_t i = 0; i < n; i++)
                eddy_channel_release(ring.channels[i]);
}

TEST(channels_connect_two_loops)
{
        pass_around(2);
}

TEST(channels_connect_sixty_four_loops)
{
        pass_around(LOOPS_MANY);
}

/* --- failures --- */

static int waits_or_fails(void *arg)
{
        int err;

        atomic_fetch_add(&started, 1);
        if (eddy_run_index() == *(uint32_t *) arg)
                return -EIO;
        err = eddy_sleep(EDDY_SEC(3600));
        CHECK_EQ(err, -ECANCELED);
        CHECK_EQ(eddy_run_signal(), 0);
        atomic_fetch_add(&ended, 1);
        return err;
}

TEST(the_first_failure_cancels_the_other_loops)
{
        for (uint32_t i = 0; i < 4; i++) {
                reset();
                CHECK_EQ(eddy_run_many(4, waits_or_fails, &i), -EIO);
                CHECK_EQ(started, 4);
                CHECK_EQ(ended, 3);
        }
}

static int fails_at_the_end(void *arg)
{
        (void) arg;
        if (eddy_run_index() == 1)
                return -EIO;
        return eddy_sleep(EDDY_SEC(3600)) == -ECANCELED ? -EPROTO : 0;
}

TEST(a_failure_after_the_first_is_not_returned)
{
        CHECK_EQ(eddy_run_many_with(3, fails_at_the_end, NULL, &quiet), -EIO);
}

static int gives_up(void *arg)
{
        (void) arg;
        return eddy_run_index() == 2 ? -ECANCELED : eddy_sleep(EDDY_SEC(3600));
}

TEST(a_cancel_without_a_cause_is_a_failure)
{
        CHECK_EQ(eddy_run_many_with(3, gives_up, NULL, &quiet), -ECANCELED);
}

static int parks(void *arg)
{
        eddy_event never = { 0 };

        (void) arg;
        return eddy_run_index() == 1 ? eddy_event_wait(&never) : eddy_sleep(EDDY_SEC(3600));
}

static void ignores(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind == EDDY_REPORT_DEADLOCK) /* debug mode reports more */
                atomic_fetch_add(&seen, 1);
}

TEST(a_deadlock_of_a_loop_ends_them_all)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG, .report = ignores };

        reset();
        CHECK_EQ(eddy_run_many_with(3, parks, NULL, &opts), -EDEADLK);
        CHECK_EQ(seen, 1);
}

static int ends_its_thread(void *arg)
{
        (void) arg;
        if (eddy_run_index() == 1)
                pthread_exit(NULL);
        return eddy_sleep(EDDY_SEC(3600));
}

TEST(a_main_that_ends_its_thread_ends_the_other_loops)
{
        pid_t child;
        int status;

#ifdef ED_TSAN
        test_skip("ThreadSanitizer ends the process at pthread_exit() in a task");
#endif
        /* The memory of that loop is lost, so that the child checks no leaks. */
        child = fork();
        if (child == 0)
                _exit(eddy_run_many_with(3, ends_its_thread, NULL, &quiet) != EDDY_E_LOOP_CLOSED);
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
}

/* --- starts that fail --- */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
                          void *arg);

static _Atomic int threads_left = -1; /* below 0: any number */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg),
                          void *arg)
{
        if (threads_left >= 0 && atomic_fetch_sub(&threads_left, 1) == 0)
                return EAGAIN;
        return __real_pthread_create(thread, attr, fn, arg);
}

TEST(a_thread_that_cannot_be_made_starts_no_main)
{
        int files;

        reset();
        CHECK_EQ(eddy_run_many_with(4, counts, NULL, &quiet), 0);
        CHECK_EQ(started, 4);
        files = open_files();
        for (int i = 0; i < 3; i++) {
                threads_left = i;
                CHECK_EQ(eddy_run_many_with(4, counts, NULL, &quiet), -EAGAIN);
                CHECK_EQ(open_files(), files);
        }
        threads_left = -1;
        CHECK_EQ(started, 4);
}

TEST(a_loop_that_cannot_be_made_starts_no_main)
{
        struct rlimit before, few;
        int files = open_files(), err = -EMFILE;

        reset();
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
        for (rlim_t more = 0; more < 64 && err < 0; more++) {
                few = (struct rlimit){ (rlim_t) files + more, before.rlim_max };
                CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
                err = eddy_run_many_with(4, counts, NULL, &quiet);
                CHECK(err == 0 || err == -EMFILE);
                CHECK_EQ(started, err == 0 ? 4 : 0);
        }
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
        CHECK_EQ(err, 0);
        CHECK_EQ(open_files(), files);
}

static _Atomic int allocations_left;

static void *allocates_some(void *arg, void *old, size_t bytes)
{
        (void) arg;
        if (bytes == 0) {
                free(old);
                return NULL;
        }
        return atomic_fetch_sub(&allocations_left, 1) > 0 ? realloc(old, bytes) : NULL;
}

TEST(without_memory_the_loops_fail_and_leave_nothing)
{
        int files, err = -ENOMEM;

        CHECK_EQ(eddy_run_many_with(3, counts, NULL, &quiet), 0);
        files = open_files();
        eddy_alloc_set(allocates_some, NULL);
        for (int i = 0; i < 200 && err < 0; i++) {
                allocations_left = i;
                err = eddy_run_many_with(3, counts, NULL, &quiet);
                CHECK(err == 0 || err == -ENOMEM);
                CHECK_EQ(open_files(), files);
        }
        eddy_alloc_set(NULL, NULL);
        CHECK_EQ(err, 0);
}

/* --- signals --- */

static int raises_when_all_wait(void *arg)
{
        int err;

        if (atomic_fetch_add(&started, 1) + 1 == eddy_run_count())
                CHECK_EQ(kill(getpid(), *(int *) arg), 0);
        err = eddy_sleep(EDDY_SEC(3600));
        CHECK_EQ(err, -ECANCELED);
        CHECK_EQ(eddy_run_signal(), *(int *) arg);
        atomic_fetch_add(&ended, 1);
        return err;
}

TEST(a_signal_cancels_the_main_task_of_each_loop)
{
        int signos[] = { SIGINT, SIGTERM };
        struct sigaction after;

        for (size_t i = 0; i < 2; i++) {
                reset();
                CHECK_EQ(eddy_run_many(4, raises_when_all_wait, &signos[i]), -ECANCELED);
                CHECK_EQ(ended, 4);
                CHECK_EQ(eddy_run_signal(), signos[i]);
                CHECK_EQ(sigaction(signos[i], NULL, &after), 0);
                CHECK(after.sa_handler == SIG_DFL);
        }
}

TEST(a_signal_stops_sixty_four_loops)
{
        int signo = SIGTERM;

        reset();
        CHECK_EQ(eddy_run_many_with(LOOPS_MANY, raises_when_all_wait, &signo, &quiet), -ECANCELED);
        CHECK_EQ(ended, LOOPS_MANY);
}

TEST(a_run_that_cannot_start_has_no_signal_of_the_former_run)
{
        struct eddy_run_opts wrong = { .watchdog_ns = -1 };
        int signo = SIGTERM;

        reset();
        CHECK_EQ(eddy_run_many(2, raises_when_all_wait, &signo), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGTERM);
        CHECK_EQ(eddy_run_many_with(2, counts, NULL, &wrong), -EINVAL);
        CHECK_EQ(eddy_run_signal(), 0);
        reset();
        CHECK_EQ(eddy_run_many(2, raises_when_all_wait, &signo), -ECANCELED);
        CHECK_EQ(eddy_run_signal(), SIGTERM);
        CHECK_EQ(eddy_run(counts, NULL, &wrong), -EINVAL);
        CHECK_EQ(eddy_run_signal(), 0);
}

static int raises_first(void *arg)
{
        (void) arg;
        atomic_fetch_add(&started, 1);
        if (eddy_run_index() == 0)
                CHECK_EQ(raise(SIGINT), 0);
        return eddy_sleep(EDDY_SEC(3600));
}

TEST(a_signal_that_comes_while_loops_start_is_not_lost)
{
        for (int i = 0; i < 50; i++) {
                reset();
                CHECK_EQ(eddy_run_many_with(4, raises_first, NULL, &quiet), -ECANCELED);
                CHECK_EQ(started, 4);
        }
}

static int lingers(void *arg)
{
        (void) arg;
        atomic_fetch_add(&started, 1);
        CHECK_EQ(eddy_sleep(EDDY_SEC(3600)), -ECANCELED);
        atomic_fetch_add(&seen, 1);
        return 0;
}

/* The first loop is gone when the signal comes; the second drains its background. */
static int leaves_background(void *arg)
{
        (void) arg;
        atomic_fetch_add(&started, 1);
        if (eddy_run_index() == 1)
                return eddy_background(lingers, NULL);
        return 0;
}

static void *raises_late(void *arg)
{
        (void) arg;
        while (started < 3)
                (void) poll(NULL, 0, 1);
        (void) poll(NULL, 0, 100); /* the first loop has ended by then */
        kill(getpid(), SIGTERM);
        return NULL;
}

TEST(a_signal_during_the_drain_of_another_loop_ends_that_drain)
{
        struct eddy_run_opts opts = quiet;
        pthread_t thread;

        if (getenv("EDDY_TEST_VALGRIND"))
                test_skip("Valgrind runs a handler on an alternate stack that was disabled");
        reset();
        opts.drain_ns = EDDY_SEC(3600);
        CHECK_EQ(pthread_create(&thread, NULL, raises_late, NULL), 0);
        CHECK_EQ(eddy_run_many_with(2, leaves_background, NULL, &opts), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(seen, 1);
        CHECK_EQ(eddy_run_signal(), SIGTERM);
}

static int drains_slowly(void *arg)
{
        eddy_scope shield;

        (void) arg;
        (void) eddy_sleep(EDDY_SEC(3600));
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .timeout_ns = EDDY_SEC(3600) });
        if (eddy_run_index() == 1)
                kill(getpid(), SIGTERM); /* the second one */
        (void) eddy_sleep(EDDY_SEC(3600));
        return eddy_scope_end(&shield);
}

static int signals_itself(void *arg)
{
        if (eddy_run_index() == 0)
                kill(getpid(), SIGINT);
        return drains_slowly(arg);
}

TEST(a_second_signal_ends_the_process)
{
        pid_t child = fork();
        int status;

        if (child == 0) {
                (void) eddy_run_many_with(3, signals_itself, NULL, &quiet);
                _exit(0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static int finds_handler(void *arg)
{
        struct sigaction now;

        (void) arg;
        CHECK_EQ(sigaction(SIGINT, NULL, &now), 0);
        CHECK(now.sa_handler == SIG_DFL);
        return 0;
}

TEST(the_option_leaves_signals_alone)
{
        struct eddy_run_opts opts = { .flags = EDDY_RUN_NO_WATCHDOG | EDDY_RUN_NO_SIGNALS };

        CHECK_EQ(eddy_run_many_with(3, finds_handler, NULL, &opts), 0);
}

/* --- fork --- */

static int forks(void *arg)
{
        pid_t child;
        int status;

        (void) arg;
        if (eddy_run_index() != *(uint32_t *) arg)
                return eddy_sleep(EDDY_MS(50)) < 0;
        child = fork();
        if (child == 0) {
                CHECK_EQ(eddy_sleep(0), EDDY_E_RUN_NOT_RUNNING);
                CHECK_EQ(eddy_run_index(), 0);
                _exit(3);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(WEXITSTATUS(status), 3);
        return 0;
}

TEST(a_child_has_none_of_the_loops)
{
        for (uint32_t i = 0; i < 2; i++)
                CHECK_EQ(eddy_run_many_with(2, forks, &i, &quiet), 0);
}
