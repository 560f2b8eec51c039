/*
 * Sweeps: each thing is tried, what is wrong is found, and found again by the
 * string that is printed.
 */
#include "sweep_test.h"

/* --- a sound program --- */

static int one(void *arg)
{
        eddy_lock *lock = arg;
        int err = eddy_lock_acquire(lock);

        if (err < 0)
                return err;
        err = eddy_sleep(MS);
        eddy_lock_release(lock);
        return err;
}

static int few(void *arg)
{
        eddy_lock lock = { 0 };
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 5; i++)
                eddy_scope_start(&scope, one, &lock);
        return eddy_scope_end(&scope);
}

static void few_pass(int what)
{
        sweep_passes(what, few, NULL, NULL);
        CHECK_STR(printed, "");
        CHECK_EQ(figures.tried, figures.count);
        CHECK(figures.count > 0 && figures.runs > figures.count);
}

TEST(a_sound_program_passes_all)
{
        few_pass(EDDY_TEST_SEEDS);
        CHECK(figures.count == EDDY_TEST_SEEDS_RUN && figures.failed == 0 && figures.distinct > 50);
        few_pass(EDDY_TEST_CANCEL);
        CHECK(figures.failed > 5 && figures.distinct > 5);
        few_pass(EDDY_TEST_ALLOC);
        CHECK(figures.failed > 0);
        few_pass(EDDY_TEST_ALLOC_FOREVER);
        CHECK(figures.failed > 0);
        few_pass(EDDY_TEST_CALLS);
        few_pass(EDDY_TEST_ALLOC_TWICE);
        few_pass(EDDY_TEST_CANCEL_TASK);
        CHECK(figures.tasks == 6 && figures.distinct > 5);
}

static int fails(void *arg)
{
        (void) arg;
        return -EIO;
}

TEST(a_program_that_cannot_be_swept_is_refused)
{
        CHECK_EQ(sweep(0, few, NULL, NULL), -EINVAL);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL_TASK + 1, few, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, few, NULL, NULL, NULL), 0);
}

TEST(a_program_that_fails_by_itself_is_not_swept)
{
        /* That is no finding of a run, but it is one of a sweep. */
        CHECK_EQ(eddy_test_run(fails, NULL, NULL, NULL), -EIO);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL, fails, NULL, NULL), -EIO);
        CHECK_EQ(figures.runs, 1);
}

/* --- mistakes, each found by one sweep --- */

/* Only the order in which two begin makes it a mistake. */
static int remembers(void *arg)
{
        int *first = arg;

        (void) eddy_sleep(0);
        *first += *first == 0 ? 1 : 0;
        return 0;
}

static int overtakes(void *arg)
{
        int *first = arg;

        (void) eddy_sleep(0);
        EDDY_TEST_CHECK(*first == 1);
        return 0;
}

static int races(void *arg)
{
        eddy_scope scope;
        int first = 0;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, remembers, &first);
        eddy_scope_start(&scope, overtakes, &first);
        return eddy_scope_end(&scope);
}

/* The lock is not given back by who is cancelled in its sleep. */
static int careless(void *arg)
{
        eddy_lock *lock = arg;
        int err = eddy_lock_acquire(lock);

        if (err < 0)
                return err;
        err = eddy_sleep(MS);
        if (err < 0)
                return err;
        eddy_lock_release(lock);
        return 0;
}

static int keeps_lock(void *arg)
{
        eddy_lock lock = { 0 };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, careless, &lock);
        err = eddy_scope_end(&scope);
        EDDY_TEST_CHECK(!eddy_lock_is_locked(&lock));
        return err;
}

/* A cancel is made another error of. */
static int renames(void *arg)
{
        (void) arg;
        return eddy_sleep(MS) < 0 ? -EIO : 0;
}

/* For what planted mistakes lose: the kit finds it, and the leak checker need not. */
static void *volatile lost[64];
static int lost_count;

static void *lose(void *ptr)
{
        return lost[lost_count++ % 64] = ptr;
}

/* The first is forgotten when there is no memory for the second. */
static int forgets(void *arg)
{
        void *first = lose(eddy_malloc(10)), *second;

        (void) arg;
        if (!first)
                return -ENOMEM;
        second = eddy_malloc(10);
        if (!second)
                return -ENOMEM;
        eddy_free(second);
        eddy_free(first);
        return 0;
}

/* What is refused a second time too is taken for endless. */
static int insists(void *arg)
{
        void *ptr = eddy_malloc(10);

        (void) arg;
        if (!ptr)
                ptr = eddy_malloc(10);
        EDDY_TEST_CHECK(ptr);
        eddy_free(ptr);
        return 0;
}

/* What allocates only when something failed: without memory for the second word the first is forgotten. */
static int apologises(void *arg)
{
        void *ptr = eddy_malloc(10), *words[2];

        (void) arg;
        if (ptr) {
                eddy_free(ptr);
                return 0;
        }
        words[0] = lose(eddy_malloc(11));
        if (!words[0])
                return -ENOMEM;
        words[1] = eddy_malloc(12);
        if (!words[1])
                return -ENOMEM;
        eddy_free(words[1]);
        eddy_free(words[0]);
        return -ENOMEM;
}

/* A listener that cannot listen is not closed. */
static int leaves_listener(void *arg)
{
        eddy_listener *listeners[2];
        int err;

        (void) arg;
        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listeners[0]);
        if (err < 0)
                return err;
        (void) lose(listeners[0]);
        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listeners[1]);
        if (err < 0)
                return err;
        eddy_listener_close(listeners[0]);
        eddy_listener_close(listeners[1]);
        return 0;
}

static bool is_wrong_after;

static int planted_after(void *arg, int result)
{
        bool is_wrong = is_wrong_after;

        (void) arg;
        (void) result;
        is_wrong_after = false;
        return is_wrong ? -1 : 0;
}

/* It is found again by that string alone, at once; under any other name nothing is run. */
static void found_again_by(int what, eddy_task_fn *fn, const char *problem, const char *string)
{
        struct eddy_test_opts opts = { .name = "planted", .after = planted_after };

        CHECK_EQ(setenv("EDDY_TEST_REPLAY", string, 1), 0);
        CHECK_EQ(sweep(what, fn, NULL, &opts), EDDY_E_TEST_FOUND);
        CHECK_STR(replay(), string);
        CHECK(strstr(printed, problem) && figures.runs <= 2);
        opts.name = "other";
        sweep_passes(what, fn, NULL, &opts);
        CHECK_EQ(figures.runs, 0);
        CHECK_EQ(unsetenv("EDDY_TEST_REPLAY"), 0);
}

/* With and without debug mode; and what is found in one is found again in the other. */
static void found_by(int what, eddy_task_fn *fn, const char *problem, const char *spec)
{
        static const char *const modes[] = { "0", "1" };
        struct eddy_test_opts opts = { .name = "planted", .after = planted_after };
        char line[100], string[200] = "";

        snprintf(line, sizeof(line), "eddy_test: planted: %s", spec);
        for (int i = 0; i < 2; i++) {
                debug_mode = modes[i];
                CHECK_EQ(sweep(what, fn, NULL, &opts), EDDY_E_TEST_FOUND);
                if (!strstr(printed, line) || !strstr(printed, problem))
                        test_fail(__FILE__, __LINE__, "it printed \"%s\"", printed);
                if (*string)
                        CHECK_STR(replay(), string);
                snprintf(string, sizeof(string), "%s", replay());
                CHECK(figures.runs > 1);
                for (int j = 0; j < 2; j++) {
                        debug_mode = modes[j];
                        found_again_by(what, fn, problem, string);
                }
        }
        debug_mode = "0";
}

TEST(a_mistake_in_some_orders_is_found)
{
        found_by(EDDY_TEST_SEEDS, races, "test_sweep.c:", "seed=");
}

TEST(a_mistake_when_cancelled_is_found)
{
        found_by(EDDY_TEST_CANCEL, keeps_lock, "!eddy_lock_is_locked(&lock)", "cancel=");
        found_by(EDDY_TEST_CANCEL, renames, "it returned EIO when it was cancelled, not ECANCELED",
                 "cancel=");
}

/* --- each kind of finding, of a program that does wrong when it is cancelled --- */

static eddy_event never;

static int waits_for_ever(void *arg)
{
        (void) arg;
        return eddy_event_wait(&never);
}

static int leaves_a_task(void *arg)
{
        int err = eddy_sleep(MS);

        if (err < 0)
                CHECK_EQ(eddy_background(waits_for_ever, arg), 0);
        return err;
}

static int does_nothing(void *arg)
{
        (void) arg;
        return 0;
}

static int leaves_a_timer(void *arg)
{
        static eddy_handle handle;
        int err = eddy_sleep(MS);

        (void) arg;
        if (err < 0)
                CHECK_EQ(eddy_loop_call_later(NULL, &handle, EDDY_SEC(9), does_nothing, NULL), 0);
        return err;
}

static int is_stuck(void *arg)
{
        void *ptr = eddy_malloc(10);

        if (!ptr)
                return waits_for_ever(arg);
        eddy_free(ptr);
        return 0;
}

static int goes_on(void *arg)
{
        int err = eddy_sleep(MS);
        eddy_scope shield;

        (void) arg;
        if (err == 0)
                return 0;
        eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD,
                                                             .deadline_ns = INT64_MAX });
        while (eddy_sleep(EDDY_SEC(60)) == 0)
                continue;
        return eddy_scope_end(&shield);
}

static int leaves_a_mark(void *arg)
{
        int err = eddy_sleep(MS);

        (void) arg;
        is_wrong_after = err < 0;
        return err;
}

TEST(each_kind_of_finding_is_found_again_with_and_without_debug_mode)
{
        found_by(EDDY_TEST_CANCEL, leaves_a_task, "1 task left", "cancel=");
        found_by(EDDY_TEST_CANCEL, leaves_a_timer, "1 timer left", "cancel=");
        found_by(EDDY_TEST_ALLOC, is_stuck, "all tasks wait and nothing can wake them", "alloc=");
        found_by(EDDY_TEST_CANCEL, goes_on, "it did not end within 3600000 ms", "cancel=");
        found_by(EDDY_TEST_CANCEL, leaves_a_mark, "'after' returned a failure", "cancel=");
}

TEST(a_mistake_without_memory_is_found)
{
        found_by(EDDY_TEST_ALLOC, forgets, "1 allocation left, of 10 bytes", "alloc=");
        sweep_passes(EDDY_TEST_ALLOC, insists, NULL, NULL);
        found_by(EDDY_TEST_ALLOC_FOREVER, insists, ": ptr", "alloc=");
}

TEST(a_mistake_in_the_handling_of_a_failure_is_found)
{
        test_needs_backtrace();
        sweep_passes(EDDY_TEST_ALLOC, apologises, NULL, NULL);
        sweep_passes(EDDY_TEST_ALLOC_FOREVER, apologises, NULL, NULL);
        found_by(EDDY_TEST_ALLOC_TWICE, apologises, "1 allocation left, of 11 bytes", "alloc=");
        CHECK_EQ(sweep(EDDY_TEST_ALLOC_TWICE, apologises, NULL, NULL), EDDY_E_TEST_FOUND);
        CHECK_EQ(lines_with(" failed in "), 1);
        CHECK_EQ(lines_with(" failed too, in "), 1);
        CHECK_EQ(lines_with("+2: "), 3);
}

TEST(a_mistake_when_a_call_fails_is_found)
{
        found_by(EDDY_TEST_CALLS, leaves_listener, "1 descriptor of the simulated network left",
                 "call=");
}

/* --- where it was struck --- */

TEST(a_replay_says_where_it_struck_also_if_nothing_is_found)
{
        struct eddy_test_opts opts = { .name = "few" };

        test_needs_backtrace();
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "few:cancel=8,alloc=3+", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL, few, NULL, &opts);
        CHECK_EQ(lines_with("few: cancel=8,alloc=3+: allocation 3 failed first, in "), 1);
        /* It ended of that, before the point came. */
        CHECK_EQ(lines_with("few: cancel=8,alloc=3+: suspension point 8 was never reached; "), 1);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "few:alloc=3+999", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL, few, NULL, &opts);
        CHECK_EQ(lines_with("few: alloc=3+999: allocation 3 failed in "), 1);
        CHECK_EQ(lines_with("few: alloc=3+999: allocation 1002 was never reached; "), 1);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "few:cancel=1", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL, few, NULL, &opts);
        CHECK_EQ(lines_with("few: cancel=1: main was cancelled before it had begun\n"), 1);
        CHECK_EQ(lines_with("with it"), 0);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "few:cancel=12", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL, few, NULL, &opts);
        CHECK_EQ(lines_with("few: cancel=12: main was cancelled in "), 1);
        CHECK_EQ(lines_with("few: cancel=12: with it a task in "), 3);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "few:call=1/EINTR", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL, few, NULL, &opts);
        CHECK_EQ(lines_with("few: call=1/EINTR: call 1 (poll) failed with EINTR in "), 1);
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "few:seed=3", 1), 0);
        sweep_passes(EDDY_TEST_CANCEL, few, NULL, &opts);
        CHECK_STR(printed, "eddy_test: few: seed=3\n");
}

/* --- what was aimed at, and not met --- */

static void replay_misses(const char *string, const char *problem)
{
        struct eddy_test_opts opts = { .name = "few" };

        CHECK_EQ(setenv("EDDY_TEST_REPLAY", string, 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL, few, NULL, &opts), EDDY_E_TEST_FOUND);
        if (!strstr(printed, problem))
                test_fail(__FILE__, __LINE__, "it printed \"%s\"", printed);
        CHECK_STR(replay(), string);
}

TEST(a_replay_of_a_step_that_does_not_exist_is_a_finding)
{
        char last_point[40];

        replay_misses("few:cancel=9999", ": suspension point 9999 was never reached; there were ");
        replay_misses("few:alloc=999", ": allocation 999 was never reached; there were ");
        replay_misses("few:alloc=999+", ": allocation 999 was never reached; there were ");
        replay_misses("few:call=99/EINTR", ": call 99 was never reached; there were ");
        /* Each by itself. */
        replay_misses("few:cancel=9999,alloc=999", "few: cancel=9999,alloc=999: suspension point ");
        CHECK_EQ(lines_with("few: cancel=9999,alloc=999: allocation 999 was never reached"), 1);

        /* A point behind main's end is there in a sweep, and in a replay is none. */
        CHECK_EQ(unsetenv("EDDY_TEST_REPLAY"), 0);
        few_pass(EDDY_TEST_CANCEL);
        snprintf(last_point, sizeof(last_point), "few:cancel=%llu",
                 (unsigned long long) figures.count);
        replay_misses(last_point, ": main had ended before suspension point ");
        CHECK_EQ(lines_with("the program, or the build of eddy, has changed"), 0);
}

/* More in the first run than in those after it. */
static int warms_up(void *arg)
{
        int *runs = arg, first = *runs == 0, err = 0;

        *runs += 1;
        for (int i = 0; err == 0 && i < (first ? 20 : 2); i++) {
                void *ptr = eddy_malloc(10);

                err = ptr ? eddy_sleep(MS) : -ENOMEM;
                eddy_free(ptr);
        }
        return err;
}

/* A string would have one run made, and that is then the first. */
static void is_printed_without_replay(void)
{
        CHECK_EQ(lines_with("the program is not deterministic"), 1);
        CHECK_EQ(lines_with("EDDY_TEST_REPLAY='"), 0);
        CHECK_EQ(lines_with("EDDY_TEST_REPLAY cannot repeat it, because it depends on the runs "
                            "before it: repeat the sweep\n"),
                 1);
}

/* 'tried': those before it at least. */
static void is_not_met(int what, const char *noun, uint64_t tried)
{
        struct eddy_test_opts opts = { .name = "warms_up" };
        char words[200];
        int runs = 0;

        CHECK_EQ(sweep(what, warms_up, &runs, &opts), EDDY_E_TEST_FOUND);
        snprintf(words, sizeof(words), " was not reached, of %llu counted",
                 (unsigned long long) figures.count);
        if (!strstr(printed, noun) || !strstr(printed, words))
                test_fail(__FILE__, __LINE__, "it printed \"%s\", not \"%s\"", printed, words);
        /* Those that were reached passed. */
        CHECK(figures.tried >= tried && figures.tried < figures.count);
        is_printed_without_replay();
}

TEST(a_program_that_is_not_the_same_in_each_run_is_reported)
{
        int runs = 0;

        is_not_met(EDDY_TEST_CANCEL, ": suspension point ", 2);
        is_not_met(EDDY_TEST_ALLOC, ": allocation ", 2);
        is_not_met(EDDY_TEST_ALLOC_FOREVER, ": allocation ", 2);
        is_not_met(EDDY_TEST_ALLOC_TWICE, ": allocation ", 2);
        /* A sweep of calls makes that run twice first, to see of which kind they are. */
        is_not_met(EDDY_TEST_CALLS, ": call ", 0);
        /* Seeds aim at nothing. */
        sweep_passes(EDDY_TEST_SEEDS, warms_up, &runs, NULL);
}

/* Apologises at length only once. */
static int falls_silent(void *arg)
{
        int *times = arg;
        void *ptr = eddy_malloc(10);

        for (int i = 0; !ptr && *times > 0 && i < 20; i++)
                eddy_free(eddy_malloc(10));
        *times -= !ptr;
        eddy_free(ptr);
        return ptr ? 0 : -ENOMEM;
}

TEST(the_result_of_a_failure_is_the_same_in_each_run_too)
{
        int times = 1;

        CHECK_EQ(sweep(EDDY_TEST_ALLOC_TWICE, falls_silent, &times, NULL), EDDY_E_TEST_FOUND);
        CHECK_EQ(lines_with(" counted after the first fault: "), 1);
        is_printed_without_replay();
}

/* Fails from its third run on, whatever is done to it. */
static int wears_out(void *arg)
{
        int *runs = arg, err = eddy_sleep(MS);

        *runs += 1;
        return err < 0 ? err : *runs > 2 ? -EIO : 0;
}

TEST(a_program_that_fails_in_later_runs_is_reported_without_a_replay)
{
        struct eddy_test_opts opts = { .name = "wears_out", .seed = 1 };
        int runs = 0;

        /* The first point and the last, which is behind main's end. */
        CHECK_EQ(setenv("EDDY_TEST_SAMPLE", "2", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_CANCEL, wears_out, &runs, &opts), EDDY_E_TEST_FOUND);
        CHECK_EQ(lines_with(": it returned EIO, but 0 before, without a fault"), 1);
        is_printed_without_replay();
        runs = 1;
        CHECK_EQ(sweep(EDDY_TEST_CALLS, wears_out, &runs, &opts), EDDY_E_TEST_FOUND);
        CHECK_EQ(lines_with("wears_out: seed=1: it returned EIO, but 0 before"), 1);
        is_printed_without_replay();
        /* Another seed is something done to it. */
        runs = 1;
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, wears_out, &runs, &opts), EDDY_E_TEST_FOUND);
        is_printed_without_replay();
        runs = 1;
        opts.seed = 0;
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, wears_out, &runs, &opts), EDDY_E_TEST_FOUND);
        CHECK_STR(replay(), "wears_out:seed=1");
}

/* --- what passes is not to be noticed --- */

static int serves(void *arg)
{
        eddy_stream *stream;
        int err = eddy_listener_accept(arg, &stream);

        if (err < 0)
                return err;
        err = eddy_stream_write(stream, "four", 4);
        eddy_stream_close(stream);
        return err;
}

/* 'whole': reads until there are four; else it takes the first read for all. */
static int reads_four(eddy_stream *stream, int whole)
{
        char buf[4];
        size_t at = 0;
        int64_t n;

        do {
                n = eddy_stream_read(stream, buf + at, sizeof(buf) - at);
                at += n > 0 ? (size_t) n : 0;
        } while (n > 0 && at < 4 && whole);
        return n < 0 ? (int) n : at == 4 ? 0 : -EBADMSG;
}

static int client_and_server(void *arg)
{
        eddy_listener *listener;
        eddy_stream *stream;
        eddy_scope scope;
        int err, end_err;

        err = eddy_tcp_listen("127.0.0.1", 0, NULL, &listener);
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, serves, listener);
        err = eddy_tcp_connect("127.0.0.1", eddy_listener_port(listener), NULL, &stream);
        if (err == 0) {
                err = reads_four(stream, *(int *) arg);
                eddy_stream_close(stream);
        }
        if (err < 0)
                eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return err < 0 ? err : end_err;
}

TEST(a_short_transfer_must_not_be_noticed)
{
        struct eddy_test_opts opts = { .name = "four" };
        int whole = 1;

        sweep_passes(EDDY_TEST_CALLS, client_and_server, &whole, &opts);
        CHECK(figures.count >= 10 && figures.runs > 2 * figures.count && figures.failed > 10);
        whole = 0;
        CHECK_EQ(sweep(EDDY_TEST_CALLS, client_and_server, &whole, &opts), EDDY_E_TEST_FOUND);
        CHECK(strstr(printed, "/SHORT: it returned EBADMSG, but 0 without the fault"));
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", replay(), 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_CALLS, client_and_server, &whole, &opts), EDDY_E_TEST_FOUND);
        whole = 1;
        sweep_passes(EDDY_TEST_CALLS, client_and_server, &whole, &opts);
}

/* --- what the environment says --- */

static void with(const char *variable, const char *value)
{
        CHECK_EQ(setenv(variable, value, 1), 0);
}

TEST(the_environment_says_how_many)
{
        with("EDDY_TEST_SEEDS", "17");
        sweep_passes(EDDY_TEST_SEEDS, few, NULL, NULL);
        CHECK(figures.count == 17 && figures.tried == 17 && figures.runs == 18);
        with("EDDY_TEST_SAMPLE", "4");
        with("EDDY_TEST_VERBOSE", "1");
        sweep_passes(EDDY_TEST_CANCEL, few, NULL, &(struct eddy_test_opts){ .name = "few" });
        CHECK(figures.count > 20 && figures.tried == 4 && figures.runs == 5);
        CHECK_EQ(lines_with("eddy_test: few: "), 5);
        CHECK_EQ(lines_with("eddy_test: few: cancel=1\n"), 1);
        with("EDDY_TEST_VERBOSE", "0");
        sweep_passes(EDDY_TEST_SEEDS, few, NULL, NULL);
        CHECK(figures.tried == 17 && lines_with("\n") == 0);
        /* What is no number says nothing. */
        with("EDDY_TEST_SEEDS", "3x");
        sweep_passes(EDDY_TEST_SEEDS, few, NULL, NULL);
        CHECK_EQ(figures.count, EDDY_TEST_SEEDS_RUN);
}

TEST(a_sample_of_one_is_the_first)
{
        with("EDDY_TEST_SAMPLE", "1");
        with("EDDY_TEST_VERBOSE", "1");
        sweep_passes(EDDY_TEST_CANCEL, few, NULL, &(struct eddy_test_opts){ .name = "few" });
        CHECK(figures.count > 20 && figures.tried == 1 && lines_with("cancel=1\n") == 1);
}

/* As many as it takes: nothing is set aside for each. */
TEST(seeds_may_be_without_number)
{
        with("EDDY_TEST_SEEDS", "4611686018427387904");
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, races, NULL, NULL), EDDY_E_TEST_FOUND);
        with("EDDY_TEST_SEEDS", "18446744073709551615");
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, races, NULL, NULL), EDDY_E_TEST_FOUND);
}

static int fails_often(void *arg)
{
        for (int i = 0; i < 100; i++)
                eddy_test_fail("no. %d", i);
        return eddy_sleep(*(int64_t *) arg);
}

TEST(each_line_that_is_found_is_printed_whole)
{
        struct eddy_test_opts opts = {
                .name = "what_is_found_is_reported_under_a_long_name_in_each"
        };
        int64_t ns = MS;

        CHECK_EQ(sweep(EDDY_TEST_CANCEL, fails_often, &ns, &opts), EDDY_E_TEST_FOUND);
        CHECK(lines_with("in_each: no. ") > 90);
        CHECK_EQ(lines_with("\neddy_test: "), lines_with("eddy_test: ") - 1);
}

TEST(a_sample_has_the_first_and_the_last)
{
        char last[40];

        with("EDDY_TEST_VERBOSE", "1");
        for (int n = 2; n < 40; n++) {
                char value[12];

                snprintf(value, sizeof(value), "%d", n);
                with("EDDY_TEST_SAMPLE", value);
                sweep_passes(EDDY_TEST_CANCEL, few, NULL,
                             &(struct eddy_test_opts){ .name = "few" });
                snprintf(last, sizeof(last), "cancel=%llu\n", (unsigned long long) figures.count);
                CHECK(lines_with("cancel=1\n") == 1 && lines_with(last) == 1);
                CHECK_EQ(figures.tried,
                         (uint64_t) n < figures.count ? (uint64_t) n : figures.count);
        }
}

TEST(a_replay_that_is_not_valid_is_refused)
{
        static const char *const bad[] = {
                "few",
                "few:cancel",
                "few:cancel=",
                "few:cancel=0",
                "few:cancel=x",
                "few:seed=1 ",
                "few:seed=1,",
                "few:call=3",
                "few:call=3/",
                "few:call=3/E",
                "few:alloc=2,+",
                "few:alloc=2+0",
                "few:alloc=2+x",
                "few:alloc=2++",
                "few:what=1",
                "few:cancel=1;seed=2",
                "few:alloc=-1",
                "few:seed=1cancel",
                "few:call=1/EIO+",
                "few:seed=99999999999999999999",
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                with("EDDY_TEST_REPLAY", bad[i]);
                if (sweep(EDDY_TEST_CANCEL, few, NULL, NULL) != -EINVAL)
                        test_fail(__FILE__, __LINE__, "%s is valid", bad[i]);
                CHECK_EQ(figures.runs, 0);
        }
}

TEST(of_a_part_that_a_replay_has_twice_the_last_counts)
{
        static const char *const twice[] = {
                "few:alloc=3+,alloc=999",
                "few:alloc=3+2,alloc=999",
                "few:alloc=3,alloc=999",
        };

        for (size_t i = 0; i < sizeof(twice) / sizeof(twice[0]); i++) {
                with("EDDY_TEST_REPLAY", twice[i]);
                CHECK(sweep(EDDY_TEST_SEEDS, few, NULL, &(struct eddy_test_opts){ .name = "few" }) <
                      0);
                CHECK_EQ(lines_with("eddy_test: few: alloc=999\n"), 1);
        }
}

TEST(a_replay_has_all_that_is_done_to_a_run)
{
        static const char *const good[] = {
                "few:",
                "few:seed=1",
                "few:cancel=3",
                "few:alloc=2",
                "few:alloc=2+",
                "few:alloc=2+3",
                "few:seed=18,cancel=31",
                "few:call=1/EIO",
                "few:call=2/EAGAIN",
                "few:call=1/EDDY_E_DNS_NOT_FOUND",
                "few:call=1/SHORT",
                "few:call=18446744073709551615/EIO",
                "few:seed=18446744073709551615,cancel=1,alloc=2+,call=3/EMFILE",
        };

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
                char line[120];

                with("EDDY_TEST_REPLAY", good[i]);
                CHECK(sweep(EDDY_TEST_SEEDS, few, NULL,
                            &(struct eddy_test_opts){ .name = "few" }) <= 0);
                snprintf(line, sizeof(line), "eddy_test: few: %s\n",
                         good[i][4] ? good[i] + 4 : "as it is");
                if (lines_with(line) != 1)
                        test_fail(__FILE__, __LINE__, "%s printed \"%s\"", good[i], printed);
                CHECK_EQ(figures.tried, 1);
        }
}
