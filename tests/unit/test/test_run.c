/*
 * One run of the kit: what it gives, what it counts, what it finds.
 */
#include <eddy/eddy.h>
#include <eddy/test.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define MS EDDY_MS(1)

static struct eddy_test_result result;

/* Run it; the kit finds 'problem', or nothing if that is NULL. */
static void run_finds(eddy_task_fn *fn, void *arg, const struct eddy_test_opts *opts,
                      const char *problem)
{
        int err = eddy_test_run(fn, arg, opts, &result);

        if (!problem) {
                CHECK_STR(result.problem, "");
                CHECK_EQ(err, result.result);
                return;
        }
        CHECK_EQ(err, EDDY_E_TEST_FOUND);
        if (!strstr(result.problem, problem))
                test_fail(__FILE__, __LINE__, "found \"%s\", not \"%s\"", result.problem, problem);
}

/* --- what it gives --- */

static int seven(void *arg)
{
        (void) arg;
        return 7;
}

TEST(a_run_gives_the_result_of_main)
{
        run_finds(seven, NULL, NULL, NULL);
        CHECK_EQ(result.result, 7);
        CHECK(result.points > 0 && result.allocations > 0 && result.lasted_ns >= 0);
        CHECK_EQ(eddy_test_run(seven, NULL, NULL, NULL), 7);
}

static int sleep_for(void *arg)
{
        return eddy_sleep(*(int64_t *) arg);
}

TEST(time_passes_by_itself)
{
        int64_t ns = EDDY_MIN(50);

        run_finds(sleep_for, &ns, NULL, NULL);
        CHECK(result.lasted_ns >= ns && result.lasted_ns < ns + MS);
}

static int note_chances(void *arg)
{
        uint64_t *sum = arg;

        for (int i = 0; i < 100; i++) {
                uint64_t n = eddy_test_chance(10);

                CHECK(n < 10);
                *sum = *sum * 10 + n;
        }
        return 0;
}

TEST(chance_follows_from_the_seed)
{
        uint64_t sums[4] = { 0 };

        run_finds(note_chances, &sums[0], &(struct eddy_test_opts){ .seed = 5 }, NULL);
        run_finds(note_chances, &sums[1], &(struct eddy_test_opts){ .seed = 5 }, NULL);
        run_finds(note_chances, &sums[2], &(struct eddy_test_opts){ .seed = 6 }, NULL);
        run_finds(note_chances, &sums[3], NULL, NULL);
        CHECK(sums[0] == sums[1] && sums[0] != sums[2] && sums[3] == 0);
        CHECK_EQ(eddy_test_chance(10), 0);
}

static void *chance_beside(void *arg)
{
        *(uint64_t *) arg = eddy_test_chance(UINT64_MAX);
        return NULL;
}

static int has_chance_beside(void *arg)
{
        pthread_t thread;

        CHECK(eddy_test_chance(UINT64_MAX) > 0);
        CHECK_EQ(pthread_create(&thread, NULL, chance_beside, arg), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return 0;
}

TEST(chance_is_of_the_thread_of_the_run)
{
        uint64_t beside = 1;

        run_finds(has_chance_beside, &beside, &(struct eddy_test_opts){ .seed = 5 }, NULL);
        CHECK_EQ(beside, 0);
}

static int notes_itself(void *arg)
{
        int *order = arg;

        (void) eddy_sleep(0);
        order[0] = order[0] * 10 + ++order[1];
        return 0;
}

static int three_in_turn(void *arg)
{
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 3; i++)
                eddy_scope_start(&scope, notes_itself, arg);
        return eddy_scope_end(&scope);
}

/* R9: the same seed and program give the same run. */
TEST(the_same_seed_gives_the_same_trace)
{
        uint64_t traces[3];

        for (int i = 0; i < 3; i++) {
                int order[2] = { 0 };

                run_finds(three_in_turn, order, &(struct eddy_test_opts){ .seed = 3 + i / 2 },
                          NULL);
                traces[i] = result.trace;
        }
        CHECK(traces[0] == traces[1] && traces[0] != traces[2]);
}

/* --- what goes wrong --- */

static int two_sleeps(void *arg)
{
        int *slept = arg, err = 0;

        for (int i = 0; i < 2 && err == 0; i++) {
                err = eddy_sleep(MS);
                *slept += err == 0;
        }
        return err;
}

TEST(main_is_cancelled_at_one_point)
{
        int slept = 0, whole = 0;
        uint64_t points;

        run_finds(two_sleeps, &whole, NULL, NULL);
        CHECK(whole == 2 && !result.was_cancelled);
        points = result.points;
        run_finds(two_sleeps, &slept, &(struct eddy_test_opts){ .cancel_at = 1 }, NULL);
        CHECK(slept == 0 && result.result == -ECANCELED && result.was_cancelled);
        /* Beyond its end there is nobody to cancel. */
        slept = 0;
        run_finds(two_sleeps, &slept, &(struct eddy_test_opts){ .cancel_at = points + 9 }, NULL);
        CHECK(slept == 2 && result.result == 0 && !result.was_cancelled);
}

static int allocates(void *arg)
{
        int *got = arg;

        for (int i = 0; i < 4; i++) {
                void *ptr = eddy_malloc(10);

                *got = *got * 2 + (ptr != NULL);
                eddy_free(ptr);
        }
        return 0;
}

TEST(an_allocation_fails_alone_or_with_all_after_it)
{
        int got = 0;
        uint64_t begin;

        run_finds(allocates, &got, NULL, NULL);
        CHECK_EQ(got, 0xf);
        /* Those of the run itself come before. */
        begin = result.allocations - 4;
        got = 0;
        run_finds(allocates, &got, &(struct eddy_test_opts){ .alloc_at = begin + 2 }, NULL);
        CHECK(got == 0xb && result.was_failed);
        got = 0;
        run_finds(allocates, &got,
                  &(struct eddy_test_opts){ .alloc_at = begin + 2, .alloc_forever = 1 }, NULL);
        CHECK_EQ(got, 0x8);
        got = 0;
        run_finds(allocates, &got,
                  &(struct eddy_test_opts){ .alloc_at = begin + 1, .alloc_again = 2 }, NULL);
        CHECK_EQ(got, 0x5);
}

static void *allocates_in_a_thread(void *arg)
{
        int got = 0;

        (void) pthread_barrier_wait(arg);
        (void) allocates(&got);
        return got ? arg : NULL;
}

static int has_allocators(void *arg)
{
        pthread_t threads[4];
        void *got;

        for (int i = 0; i < 4; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, allocates_in_a_thread, arg), 0);
        for (int i = 0; i < 4; i++) {
                CHECK_EQ(pthread_join(threads[i], &got), 0);
                CHECK(!got);
        }
        return -ENOMEM;
}

/* All fail at once, and each may be the first. */
TEST(allocations_of_threads_fail_too)
{
        struct eddy_test_opts opts = { .alloc_forever = 1 };
        pthread_barrier_t together;

        CHECK_EQ(pthread_barrier_init(&together, NULL, 4), 0);
        run_finds(seven, NULL, NULL, NULL);
        opts.alloc_at = result.allocations + 1;
        run_finds(has_allocators, &together, &opts, NULL);
        CHECK_EQ(pthread_barrier_destroy(&together), 0);
        CHECK(result.result == -ENOMEM && result.was_failed);
}

static int listens(void *arg)
{
        eddy_listener *listener;
        int err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);

        (void) arg;
        if (err == 0)
                eddy_listener_close(listener);
        return err;
}

TEST(a_call_fails_with_the_error_wanted)
{
        uint64_t calls;

        run_finds(listens, NULL, NULL, NULL);
        calls = result.calls;
        CHECK(calls > 0 && result.result == 0);
        run_finds(listens, NULL, &(struct eddy_test_opts){ .call_at = 1, .call_error = -EMFILE },
                  NULL);
        CHECK(result.result == -EMFILE && result.was_failed);
}

TEST(a_call_can_only_fail_with_an_error)
{
        struct eddy_test_opts opts = { .call_at = 1 };

        CHECK_EQ(eddy_test_run(listens, NULL, &opts, NULL), -EINVAL);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, listens, NULL, &opts, NULL), -EINVAL);
        opts.call_error = EMFILE;
        CHECK_EQ(eddy_test_run(listens, NULL, &opts, NULL), -EINVAL);
}

TEST(a_run_that_is_asked_for_is_not_a_replay)
{
        struct eddy_test_opts opts = { .name = "twice" };
        int slept = 0;

        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "twice:cancel=1", 1), 0);
        run_finds(two_sleeps, &slept, &opts, NULL);
        CHECK(slept == 2 && result.result == 0);
}

/* --- what it finds --- */

static int wait_for_ever(void *arg)
{
        eddy_event event = { 0 };

        (void) arg;
        return eddy_event_wait(&event);
}

TEST(a_deadlock_is_found_and_named)
{
        run_finds(wait_for_ever, NULL, NULL, "main waits for an event");
        CHECK_EQ(result.result, -EDEADLK);
}

static void *lost[2];

static int loses_memory(void *arg)
{
        (void) arg;
        lost[0] = eddy_malloc(100);
        lost[1] = eddy_malloc(11);
        return lost[0] && lost[1] ? 0 : -ENOMEM;
}

TEST(memory_that_is_left_is_found)
{
        run_finds(loses_memory, NULL, NULL,
                  "2 allocations left, of 111 bytes: the first is number");
        CHECK_EQ(result.left.allocations, 2);
        CHECK_EQ(result.left.bytes, 111);
        /* It was an allocator's like any other. */
        eddy_free(lost[0]);
        eddy_free(lost[1]);
}

enum { BLOCKS = 3000 };

/* Grown, shrunk and freed in any order; those whose number ends in 7 stay. */
static int churns(void *arg)
{
        void **blocks = arg;

        for (int turn = 0; turn < 20 * BLOCKS; turn++) {
                size_t i = (size_t) eddy_test_chance(BLOCKS);

                if (eddy_test_chance(3) == 0) {
                        eddy_free(blocks[i]);
                        blocks[i] = NULL;
                } else {
                        blocks[i] = eddy_realloc(blocks[i], 1 + (size_t) eddy_test_chance(40));
                }
        }
        for (size_t i = 0; i < BLOCKS; i++) {
                if (i % 10 == 7) {
                        blocks[i] = eddy_realloc(blocks[i], 3);
                        continue;
                }
                eddy_free(blocks[i]);
                blocks[i] = NULL;
        }
        return 0;
}

TEST(every_block_is_known_whatever_the_order)
{
        static void *blocks[BLOCKS];

        run_finds(churns, blocks, &(struct eddy_test_opts){ .seed = 4 }, "300 allocations left");
        CHECK_EQ(result.left.allocations, BLOCKS / 10);
        CHECK_EQ(result.left.bytes, 3 * BLOCKS / 10);
        for (size_t i = 0; i < BLOCKS; i++)
                eddy_free(blocks[i]);
}

static int frees(void *arg)
{
        eddy_free(arg);
        return 0;
}

static void gets(void *arg)
{
        *(void **) arg = eddy_malloc(10);
}

static int grows(void *arg)
{
        void **ptr = arg;

        *ptr = eddy_realloc(*ptr, 100000);
        return 0;
}

static int gives_back(void *arg, int main_result)
{
        (void) main_result;
        eddy_free(*(void **) arg);
        return 0;
}

TEST(memory_may_come_from_before_and_go_after)
{
        struct eddy_test_opts opts = { .before = gets, .after = gives_back };
        void *ptr = eddy_malloc(10);

        run_finds(frees, ptr, NULL, NULL);
        run_finds(grows, &ptr, &opts, NULL);
        opts.before = NULL;
        ptr = eddy_malloc(10);
        run_finds(grows, &ptr, &opts, NULL);
}

static int wait_for_event(void *arg)
{
        return eddy_event_wait(arg);
}

static int leaves_a_task(void *arg)
{
        static int64_t ns = EDDY_SEC(1);
        static eddy_event never;

        (void) arg;
        CHECK_EQ(eddy_background(wait_for_event, &never), 0);
        return eddy_background(sleep_for, &ns);
}

/* The one that ends in the time that it is given is none. */
TEST(a_task_that_is_left_is_found_and_named)
{
        struct eddy_run_opts at_once = { .flags = EDDY_RUN_NO_DEBUG, .drain_ns = -1 };

        run_finds(leaves_a_task, NULL, NULL, "1 task left: ");
        CHECK(strstr(result.problem, " waits for an event"));
        CHECK_EQ(result.left.tasks, 1);
        /* Who wants them cancelled at the end leaves none, but to debug mode. */
        run_finds(leaves_a_task, NULL, &(struct eddy_test_opts){ .run = &at_once }, NULL);
}

static int leaves_a_timer(void *arg)
{
        return eddy_loop_call_later(NULL, arg, EDDY_SEC(9), seven, NULL);
}

TEST(a_timer_that_is_left_is_found)
{
        eddy_handle handle = { 0 };

        run_finds(leaves_a_timer, &handle, NULL, "1 timer left");
        CHECK_EQ(result.left.timers, 1);
}

static int opens(void *arg)
{
        *(int *) arg = open("/dev/null", O_RDONLY);
        return 0;
}

static int leaves_a_socket(void *arg)
{
        eddy_listener **listener = arg;

        return eddy_tcp_listen("127.0.0.1", 0, NULL, listener);
}

static int closes(void *arg, int main_result)
{
        (void) main_result;
        close(*(int *) arg);
        return 0;
}

TEST(descriptors_that_are_left_are_found)
{
        static eddy_listener *listener;
        int fd = -1;

        run_finds(opens, &fd, NULL, "1 descriptor left: the first is ");
        CHECK(strstr(result.problem, "/dev/null"));
        CHECK_EQ(result.left.descriptors, 1);
        close(fd);
        run_finds(opens, &fd, &(struct eddy_test_opts){ .after = closes }, NULL);
        run_finds(leaves_a_socket, &listener, NULL, "1 descriptor of the simulated network left");
        CHECK_EQ(result.left.descriptors, 1);
}

/* 'arg': how many at most.  Their numbers are those from the first one up. */
static int opens_many(void *arg)
{
        int *n = arg, first = open("/dev/null", O_RDONLY);

        for (int i = 1; i < *n && open("/dev/null", O_RDONLY) >= 0; i++)
                continue;
        *n = first;
        return 0;
}

static void allow_descriptors(rlim_t n)
{
        struct rlimit limit;

        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
        if (limit.rlim_max < n)
                test_skip("so many descriptors cannot be had");
        limit.rlim_cur = n;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(descriptors_that_are_left_are_found_however_many)
{
        int n = 2000;

        allow_descriptors(2100);
        run_finds(opens_many, &n, NULL, "2000 descriptors left: the first is ");
        CHECK_EQ(result.left.descriptors, 2000);
        /* What was open before is not left, and one more is one. */
        run_finds(seven, NULL, NULL, NULL);
        n = 1;
        run_finds(opens_many, &n, NULL, "1 descriptor left at least: too many");
        CHECK_EQ(result.left.descriptors, 1);
}

TEST(descriptors_are_left_when_none_is_free)
{
        int n = 1000;

        allow_descriptors(100);
        run_finds(opens_many, &n, NULL, "1 descriptor left at least: too many");
        CHECK(n > 0 && result.left.descriptors > 0);
        for (; n < 100; n++)
                close(n);
}

static void *own_realloc(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes > 0)
                return realloc(ptr, bytes);
        free(ptr);
        return NULL;
}

static void takes_allocator(void *arg)
{
        (void) arg;
        eddy_alloc_set(own_realloc, NULL);
}

TEST(an_allocator_that_is_replaced_is_reported)
{
        struct eddy_test_opts opts = { .before = takes_allocator };

        eddy_alloc_set(own_realloc, NULL);
        run_finds(seven, NULL, NULL, NULL);
        run_finds(seven, NULL, &opts, "eddy_alloc_set() was called");
        run_finds(seven, NULL, NULL, NULL);
}

static int fails_two_checks(void *arg)
{
        EDDY_TEST_CHECK(arg == NULL);
        EDDY_TEST_CHECK(arg != NULL);
        eddy_test_fail("at %d", 9);
        return 0;
}

TEST(checks_that_fail_are_found)
{
        run_finds(fails_two_checks, NULL, NULL, "test_run.c:");
        CHECK(strstr(result.problem, ": arg != NULL\nat 9"));
        CHECK(!strstr(result.problem, "arg == NULL"));
}

enum { CHECKERS = 8, CHECKS = 20 };

static void *checks(void *arg)
{
        for (int i = 0; i < CHECKS; i++)
                eddy_test_fail("%c", *(const char *) arg + 'a');
        return NULL;
}

static int has_checkers(void *arg)
{
        static const char numbers[CHECKERS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
        pthread_t threads[CHECKERS];

        for (int i = 0; i < CHECKERS; i++)
                CHECK_EQ(pthread_create(&threads[i], NULL, checks, (void *) &numbers[i]), 0);
        for (int i = 0; i < CHECKS; i++)
                EDDY_TEST_CHECK(arg || i % 2);
        for (int i = 0; i < CHECKERS; i++)
                CHECK_EQ(pthread_join(threads[i], NULL), 0);
        return 0;
}

TEST(checks_of_threads_are_found)
{
        int counts[CHECKERS] = { 0 };
        char alone = 0;

        run_finds(has_checkers, &alone, NULL, "a");
        for (const char *at = result.problem; *at; at += strcspn(at, "\n"), at += *at == '\n') {
                CHECK(*at >= 'a' && *at < 'a' + CHECKERS && (at[1] == '\n' || !at[1]));
                counts[*at - 'a']++;
        }
        for (int i = 0; i < CHECKERS; i++)
                CHECK_EQ(counts[i], CHECKS);
        /* Beside those of its own thread; and where there is no run, for none. */
        run_finds(has_checkers, NULL, NULL, "test_run.c:");
        (void) checks(&alone);
        run_finds(seven, NULL, NULL, NULL);
}

static int not_so(void *arg, int main_result)
{
        (void) arg;
        return main_result == 7 ? -1 : 0;
}

TEST(the_member_after_is_found)
{
        run_finds(seven, NULL, &(struct eddy_test_opts){ .after = not_so },
                  "'after' returned a failure");
}

/* --- what does not end --- */

static int spins(void *arg)
{
        int err = 0;

        (void) arg;
        while (err == 0)
                err = eddy_sleep(0);
        return err;
}

static int idles(void *arg)
{
        int err = 0;

        (void) arg;
        while (err == 0)
                err = eddy_sleep(EDDY_SEC(1));
        return err;
}

static int leaves_one_that_spins(void *arg)
{
        return eddy_background(spins, arg);
}

static int ignores_all(void *arg)
{
        for (;;)
                (void) idles(arg);
        return 0;
}

TEST(a_run_that_goes_on_is_given_up)
{
        int64_t hours_ns = EDDY_MIN(90);
        struct eddy_test_opts minute = { .limit_ns = EDDY_MIN(1) };
        /* A millisecond for each cancel that is ignored. */
        struct eddy_test_opts cancel = { .limit_ns = EDDY_MIN(1), .cancel_at = 5 };

        run_finds(idles, NULL, NULL, "it did not end within 3600000 ms of virtual time");
        CHECK(strstr(result.problem, "main waits for "));
        run_finds(idles, NULL, &minute, "it did not end within 60000 ms");
        CHECK(result.lasted_ns > EDDY_MIN(1) && result.calls > 0 && result.trace);
        run_finds(ignores_all, NULL, &cancel, "it did not end");
        run_finds(sleep_for, &hours_ns, NULL, "it did not end");
        run_finds(sleep_for, &hours_ns, &(struct eddy_test_opts){ .limit_ns = -1 }, NULL);
        run_finds(seven, NULL, NULL, NULL);
}

TEST(a_limit_is_reported_exactly)
{
        run_finds(idles, NULL, &(struct eddy_test_opts){ .limit_ns = 500 },
                  "it did not end within 500 ns of virtual time");
        run_finds(idles, NULL, &(struct eddy_test_opts){ .limit_ns = EDDY_US(1500) },
                  "it did not end within 1500 us of virtual time");
        run_finds(idles, NULL, &(struct eddy_test_opts){ .limit_ns = EDDY_MS(20) },
                  "it did not end within 20 ms of virtual time");
}

TEST(a_run_that_never_waits_is_given_up)
{
        run_finds(spins, NULL, NULL,
                  "it did not end within 20000000 suspension points: main is ready");
        run_finds(seven, NULL, NULL, NULL);
}

TEST(a_background_task_that_goes_on_is_a_task_left)
{
        run_finds(leaves_one_that_spins, NULL, NULL, "it did not end");
}

/* --- what leaves it --- */

/* The frames that a jump leaves on the thread's stack stay marked; so they are not there. */
#ifdef ED_ASAN
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
        return "detect_stack_use_after_return=1";
}
#endif

static jmp_buf out;

static int jumps(void *arg)
{
        int64_t ns = MS;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, sleep_for, &ns);
        (void) eddy_sleep(MS / 2);
        if (arg)
                longjmp(out, 1);
        return eddy_scope_end(&scope);
}

static int jumps_now(void *arg)
{
        (void) arg;
        longjmp(out, 1);
}

static int jumps_from_a_callback(void *arg)
{
        static eddy_handle handle;

        (void) eddy_loop_call_soon(NULL, &handle, jumps_now, arg);
        return eddy_sleep(MS);
}

static int jumps_from_a_job(void *arg)
{
        return eddy_to_thread(jumps_now, arg);
}

enum { UNLUCKY_BYTES = 77 };

/* One that checks, as frameworks have it. */
static void *jumping_realloc(void *ctx, void *ptr, size_t bytes)
{
        if (bytes == UNLUCKY_BYTES)
                longjmp(out, 1);
        return own_realloc(ctx, ptr, bytes);
}

static int jumps_from_the_allocator(void *arg)
{
        (void) arg;
        return eddy_malloc(UNLUCKY_BYTES) ? 0 : -ENOMEM;
}

static void jump_out(eddy_task_fn *fn)
{
        if (setjmp(out) == 0) {
                (void) eddy_test_run(fn, &out, NULL, NULL);
                test_fail(__FILE__, __LINE__, "it came back");
        }
        run_finds(jumps, NULL, NULL, NULL);
}

static void jump_out_before(void *arg)
{
        (void) arg;
        longjmp(out, 1);
}

TEST(a_run_that_was_left_by_a_jump_is_cleared_away)
{
        test_needs_backtrace();
#ifdef ED_TSAN
        test_skip("ThreadSanitizer does not know of jumps between stacks");
#endif
        if (getenv("EDDY_TEST_QEMU"))
                test_skip("qemu has the thread's stack below those of tasks");
        for (int i = 0; i < 3; i++)
                jump_out(jumps);
        jump_out(jumps_from_a_callback);
        jump_out(jumps_from_a_job);
        eddy_alloc_set(jumping_realloc, NULL);
        jump_out(jumps_from_the_allocator);
        if (setjmp(out) == 0)
                (void) eddy_test_run(seven, NULL,
                                     &(struct eddy_test_opts){ .before = jump_out_before }, NULL);
        run_finds(jumps, NULL, NULL, NULL);
}

static __thread jmp_buf out_of_thread;
static __thread const char *frame_of_thread;

static void jump_out_of_thread(void *arg)
{
        (void) arg;
        longjmp(out_of_thread, 1);
}

/* A C library that checks jumps lets them go up only, and that stack may lie below a task's. */
static int task_jumps_out_of_thread(void *arg)
{
        if (arg && (const char *) __builtin_frame_address(0) < frame_of_thread)
                jump_out_of_thread(arg);
        return 0;
}

static void *ends_with_a_run(void *arg)
{
        struct eddy_test_opts opts = { .before = arg ? NULL : jump_out_of_thread };

        frame_of_thread = __builtin_frame_address(0);
        if (setjmp(out_of_thread) == 0)
                (void) eddy_test_run(task_jumps_out_of_thread, arg, &opts, NULL);
        return NULL;
}

/* Not in the first two runs of a sweep, which keeps something of them. */
static int jumps_later(void *arg)
{
        int *runs = arg;

        (void) eddy_sleep(MS);
        return task_jumps_out_of_thread(++*runs > 2 ? arg : NULL);
}

static void *ends_with_a_sweep(void *arg)
{
        int runs = 0;

        (void) arg;
        frame_of_thread = __builtin_frame_address(0);
        if (setjmp(out_of_thread) == 0)
                (void) eddy_test_sweep(EDDY_TEST_CALLS, jumps_later, &runs, NULL, NULL);
        return NULL;
}

static void thread_leaves(void *(*fn)(void *), void *arg)
{
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, fn, arg), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        run_finds(seven, NULL, NULL, NULL);
}

/* Whoever else wants a run finds nothing in the way. */
TEST(a_run_that_was_left_by_a_thread_which_ended_is_cleared_away)
{
        int jump = 1;

        for (int i = 0; i < 3; i++)
                thread_leaves(ends_with_a_run, NULL);
#ifdef ED_TSAN
        test_skip("ThreadSanitizer does not know of jumps between stacks");
#endif
        for (int i = 0; i < 3; i++)
                thread_leaves(ends_with_a_run, &jump);
        thread_leaves(ends_with_a_sweep, &jump);
}

/* --- where it cannot be --- */

static int run_in_it(void *arg)
{
        (void) arg;
        return eddy_test_run(seven, NULL, NULL, NULL);
}

static void run_before(void *arg)
{
        CHECK_EQ(run_in_it(arg), EDDY_E_RUN_NESTED);
}

/* Its frames are more than anybody notes. */
static __attribute__((noinline)) int run_below(int depth)
{
        volatile int err = depth > 0 ? run_below(depth - 1) : run_in_it(NULL);

        return err;
}

static void run_far_below(void *arg)
{
        (void) arg;
        CHECK_EQ(run_below(1000), EDDY_E_RUN_NESTED);
}

static int run_after(void *arg, int main_result)
{
        CHECK_EQ(main_result, 7);
        return run_in_it(arg) == EDDY_E_RUN_NESTED ? 0 : -1;
}

static int runs_in_a_child(void *arg)
{
        int status;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0)
                _exit(run_in_it(arg) == EDDY_E_RUN_NESTED ? 0 : 1);
        CHECK_EQ(waitpid(child, &status, 0), child);
        return status;
}

TEST(a_run_in_a_child_of_a_task_is_refused)
{
        run_finds(runs_in_a_child, NULL, NULL, NULL);
        CHECK_EQ(result.result, 0);
}

static bool child_checks;

static int exits_in_a_child(void *arg)
{
        int status;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
                CHECK(dup2(*(int *) arg, STDERR_FILENO) >= 0);
                if (child_checks)
                        eddy_test_fail("no. %d", 9);
                exit(0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        return 0;
}

/* What the child says, in a run in which nothing is found. */
static const char *said_in_a_child(void)
{
        static char said[4096];
        int fds[2];
        ssize_t n;

        CHECK_EQ(pipe(fds), 0);
        run_finds(exits_in_a_child, &fds[1], &(struct eddy_test_opts){ .name = "parent" }, NULL);
        close(fds[1]);
        n = read(fds[0], said, sizeof(said) - 1);
        CHECK(n >= 0);
        said[n] = '\0';
        close(fds[0]);
        return said;
}

TEST(a_child_that_ends_has_left_no_run)
{
        CHECK(!strstr(said_in_a_child(), "eddy_test"));
}

TEST(a_failure_in_a_child_is_printed)
{
        child_checks = true;
        CHECK(strstr(said_in_a_child(), "eddy_test: parent: no. 9\n"));
}

static int finds_and_exits(void *arg)
{
        eddy_test_fail("no. %d", *(int *) arg);
        exit(0);
}

TEST(findings_are_reported_when_the_process_ends_before_the_run)
{
        struct eddy_test_opts opts = { .name = "hasty" };
        int fds[2], status, nine = 9;
        char said[4096];
        ssize_t n;
        pid_t child;

        CHECK_EQ(pipe(fds), 0);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
                CHECK(dup2(fds[1], STDERR_FILENO) >= 0);
                (void) eddy_test_run(finds_and_exits, &nine, &opts, NULL);
                _exit(1);
        }
        close(fds[1]);
        CHECK_EQ(waitpid(child, &status, 0), child);
        n = read(fds[0], said, sizeof(said) - 1);
        CHECK(n >= 0);
        said[n] = '\0';
        CHECK(strstr(said, "eddy_test: hasty: no. 9\neddy_test: hasty: it was left before"));
        close(fds[0]);
}

static int run_in_a_job(void *arg)
{
        (void) arg;
        return eddy_to_thread(run_in_it, NULL);
}

static int run_in_a_callback(void *arg)
{
        eddy_test_fail("%s", eddy_error_name(eddy_test_run(seven, NULL, NULL, NULL)));
        (void) arg;
        return 0;
}

static int calls_back(void *arg)
{
        static eddy_handle handle;

        (void) eddy_loop_call_soon(NULL, &handle, run_in_a_callback, arg);
        return eddy_sleep(MS);
}

static void *run_beside(void *arg)
{
        *(int *) arg = eddy_test_run(seven, NULL, NULL, NULL);
        return NULL;
}

static int has_another_thread(void *arg)
{
        pthread_t thread;
        int beside = 0;

        (void) arg;
        CHECK_EQ(pthread_create(&thread, NULL, run_beside, &beside), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        return beside;
}

TEST(a_run_in_a_run_is_refused)
{
        struct eddy_test_opts around = { .before = run_before, .after = run_after };

        run_finds(run_in_it, NULL, NULL, NULL);
        CHECK_EQ(result.result, EDDY_E_RUN_NESTED);
        run_finds(run_in_a_job, NULL, NULL, NULL);
        CHECK_EQ(result.result, EDDY_E_RUN_NESTED);
        run_finds(calls_back, NULL, NULL, "EDDY_E_RUN_NESTED");
        run_finds(seven, NULL, &around, NULL);
        around.before = run_far_below;
        run_finds(seven, NULL, &around, NULL);
        CHECK_EQ(eddy_run(run_in_it, NULL, NULL), EDDY_E_RUN_NESTED);
        run_finds(has_another_thread, NULL, NULL, NULL);
        CHECK_EQ(result.result, -EBUSY);
        run_finds(seven, NULL, NULL, NULL);
}
