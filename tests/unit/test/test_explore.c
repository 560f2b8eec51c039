/*
 * Exploring: small programs whose outcomes are known by hand are found to have these outcomes, all
 * of them and no other, and each outcome's replay string repeats it.
 */
#include <eddy/eddy.h>
#include <eddy/test_explore.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { ALL_RUNS = 200000 };

/* An outcome that a program must have; 'problem' is a part of the finding, NULL: none. */
struct wanted {
        const char *text;
        int result;
        const char *problem;
};

static struct eddy_test_explored all;

/* --- standard error --- */

static char printed[1 << 17];
static int kept_stderr, printed_file;

static void print_begin(void)
{
        char path[] = "/tmp/eddy-explore-XXXXXX";

        fflush(stderr);
        kept_stderr = dup(STDERR_FILENO);
        printed_file = mkstemp(path);
        CHECK(kept_stderr >= 0 && printed_file >= 0 && unlink(path) == 0);
        CHECK(dup2(printed_file, STDERR_FILENO) >= 0);
}

static void print_end(void)
{
        ssize_t n = pread(printed_file, printed, sizeof(printed) - 1, 0);

        CHECK(n >= 0 && dup2(kept_stderr, STDERR_FILENO) >= 0);
        printed[n] = '\0';
        close(kept_stderr);
        close(printed_file);
}

/* The result, with the standard error in 'printed'. */
static int explore(eddy_task_fn *fn, void *arg, const struct eddy_test_opts *opts,
                   const struct eddy_test_explore_opts *how)
{
        int err;

        CHECK_EQ(setenv("EDDY_DEBUG", "0", 1), 0);
        eddy_test_explored_fini(&all);
        print_begin();
        err = eddy_test_explore(fn, arg, opts, how, &all);
        print_end();
        return err;
}

/* --- what is found --- */

static bool is_wanted(const struct wanted *wanted, const struct eddy_test_outcome *outcome)
{
        return strcmp(outcome->text, wanted->text) == 0 && outcome->result == wanted->result &&
               (wanted->problem ? strstr(outcome->problem, wanted->problem) != NULL
                                : !outcome->problem[0]);
}

/* The number of the found outcomes that are wanted. */
static size_t wanted_found(const struct wanted *wanted, size_t n)
{
        size_t found = 0;

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < all.outcomes_count; k++)
                        found += is_wanted(&wanted[i], &all.outcomes[k]);
        return found;
}

static void all_are_wanted(const struct wanted *wanted, size_t n)
{
        if (all.outcomes_count != n || wanted_found(wanted, n) != n)
                test_fail(__FILE__, __LINE__, "%s", printed);
}

/* Each replay string has the outcome from which it is, in a run of its own. */
static void replays_repeat(eddy_task_fn *fn, void *arg, const struct eddy_test_opts *opts,
                           const struct eddy_test_explore_opts *how)
{
        struct eddy_test_explored found = all;

        all = (struct eddy_test_explored){ 0 };
        for (size_t i = 0; i < found.outcomes_count; i++) {
                const struct eddy_test_outcome *outcome = &found.outcomes[i];

                CHECK_EQ(setenv("EDDY_TEST_REPLAY", outcome->replay, 1), 0);
                CHECK_EQ(explore(fn, arg, opts, how), 0);
                CHECK(all.is_replay && all.runs == 1 && all.outcomes_count == 1);
                CHECK_STR(all.outcomes[0].text, outcome->text);
                CHECK_STR(all.outcomes[0].problem, outcome->problem);
                CHECK_STR(all.outcomes[0].replay, outcome->replay);
                CHECK_EQ(all.outcomes[0].result, outcome->result);
                CHECK_EQ(all.outcomes[0].deviations, outcome->deviations);
        }
        CHECK_EQ(unsetenv("EDDY_TEST_REPLAY"), 0);
        eddy_test_explored_fini(&all);
        all = found;
}

/*
 * The program has these outcomes in all its schedules, which are that many (0: not counted by
 * hand); they are found with at most three deviations too.
 */
static void has_outcomes(const char *name, eddy_task_fn *fn, void *arg, void (*before)(void *),
                         uint64_t wanted_schedules, const struct wanted *wanted, size_t n)
{
        struct eddy_test_opts opts = { .name = name, .before = before };
        struct eddy_test_explore_opts how = { .deviations_max = EDDY_TEST_DEVIATIONS_MAX,
                                              .runs_max = ALL_RUNS };
        uint64_t schedules;
        static char again[sizeof(printed)];

        CHECK_EQ(explore(fn, arg, &opts, &how), 0);
        all_are_wanted(wanted, n);
        CHECK(all.complete && all.schedules == all.runs && all.other_runs == 0);
        schedules = all.schedules;
        if (wanted_schedules > 0)
                CHECK_EQ(schedules, wanted_schedules);
        replays_repeat(fn, arg, &opts, &how);

        CHECK_EQ(explore(fn, arg, &opts, NULL), 0);
        all_are_wanted(wanted, n);
        printf("# %s: %zu outcomes in all %llu schedules; in %llu with at most 3 deviations\n",
               name, n, (unsigned long long) schedules, (unsigned long long) all.schedules);
        replays_repeat(fn, arg, &opts, NULL);

        /* The same again, byte for byte. */
        CHECK_EQ(explore(fn, arg, &opts, NULL), 0);
        memcpy(again, printed, sizeof(again));
        CHECK_EQ(explore(fn, arg, &opts, NULL), 0);
        CHECK_STR(printed, again);
        eddy_test_explored_fini(&all);
}

#define HAS_OUTCOMES(name, fn, arg, before, schedules, ...)                                        \
        has_outcomes(name, fn, arg, before, schedules, (const struct wanted[]){ __VA_ARGS__ },     \
                     sizeof((const struct wanted[]){ __VA_ARGS__ }) / sizeof(struct wanted))

/* Let other tasks run; not cancelled in these programs. */
static void pause_here(void)
{
        (void) eddy_sleep(0);
}

/* --- the race for a seat --- */

static int seats;

/* Check, wait for the bank, take. */
static int buys(void *arg)
{
        (void) arg;
        if (seats > 0) {
                pause_here();
                seats--;
        }
        return 0;
}

static int sells(void *arg)
{
        eddy_scope scope;
        int err;

        seats = 1;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < *(int *) arg; i++)
                eddy_scope_start(&scope, buys, NULL);
        err = eddy_scope_end(&scope);
        printf("seats %d\n", seats);
        return err;
}

/*
 * A buyer takes a seat if it checks before the first buyer has taken its seat. The first to take
 * has checked before that, and each of the others may have, or not, independently: at least one
 * and at most all buyers take, and any number between. With n buyers the seats left are 1 - k for
 * k = 1 ... n.
 *
 * The schedules: two buyers' steps (check, take) merge in 4! / (2! 2!) = 6 ways, and a buyer that
 * finds no seat has a single step, but no choice is lost by that, as it is alone then. A count of
 * all merges of three and four, step by step, gives 66 and 1176.
 */
TEST(two_buyers_leave_0_or_minus_1_seats)
{
        int n = 2;

        HAS_OUTCOMES("race 2", sells, &n, NULL, 6, { "seats 0\n", 0, NULL },
                     { "seats -1\n", 0, NULL });
}

TEST(three_buyers_leave_0_to_minus_2_seats)
{
        int n = 3;

        HAS_OUTCOMES("race 3", sells, &n, NULL, 66, { "seats 0\n", 0, NULL },
                     { "seats -1\n", 0, NULL }, { "seats -2\n", 0, NULL });
}

TEST(four_buyers_leave_0_to_minus_3_seats)
{
        int n = 4;

        HAS_OUTCOMES("race 4", sells, &n, NULL, 1176, { "seats 0\n", 0, NULL },
                     { "seats -1\n", 0, NULL }, { "seats -2\n", 0, NULL },
                     { "seats -3\n", 0, NULL });
}

static eddy_lock office;

static int buys_locked(void *arg)
{
        int err = eddy_lock_acquire(&office);

        if (err < 0)
                return err;
        (void) buys(arg);
        return eddy_lock_release(&office);
}

static int sells_locked(void *arg)
{
        eddy_scope scope;
        int err;

        seats = 1;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < *(int *) arg; i++)
                eddy_scope_start(&scope, buys_locked, NULL);
        err = eddy_scope_end(&scope);
        printf("seats %d\n", seats);
        return err;
}

/* Nobody checks while another buyer is between its check and its taking. */
TEST(with_a_lock_they_always_leave_0_seats)
{
        int n = 3;

        HAS_OUTCOMES("race fixed", sells_locked, &n, NULL, 0, { "seats 0\n", 0, NULL });
}

/* --- a cycle of locks --- */

struct pair {
        eddy_lock *first, *second;
};

static int locks_both(void *arg)
{
        struct pair *pair = arg;
        int err = eddy_lock_acquire(pair->first);

        if (err < 0)
                return err;
        pause_here();
        err = eddy_lock_acquire(pair->second);
        if (err == 0)
                eddy_lock_release(pair->second);
        eddy_lock_release(pair->first);
        return err;
}

static int crosses(void *arg)
{
        eddy_lock a = { 0 }, b = { 0 };
        struct pair ab = { &a, &b }, ba = { &b, &a };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, locks_both, &ab);
        eddy_scope_start(&scope, locks_both, &ba);
        err = eddy_scope_end(&scope);
        printf("%s\n", err == 0 ? "fine" : "stuck");
        return err;
}

/* Either one task has both locks before the other has one, or each has one and waits for ever. */
TEST(a_lock_cycle_is_fine_or_a_deadlock)
{
        HAS_OUTCOMES("lock cycle", crosses, NULL, NULL, 0, { "fine\n", 0, NULL },
                     { "stuck\n", -EDEADLK, "nothing can wake them" });
}

/* --- a lost update --- */

static int counter;

static int increments(void *arg)
{
        int seen = counter;

        (void) arg;
        pause_here();
        counter = seen + 1;
        return 0;
}

static int counts(void *arg)
{
        eddy_scope scope;
        int err;

        (void) arg;
        counter = 0;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, increments, NULL);
        eddy_scope_start(&scope, increments, NULL);
        err = eddy_scope_end(&scope);
        return err < 0 ? err : counter;
}

/*
 * 2, or 1 if both read before one has written. The count is the result: nothing is printed. Two
 * steps of each task merge in 4! / (2! 2!) = 6 ways.
 */
TEST(an_update_is_lost_or_not)
{
        HAS_OUTCOMES("lost update", counts, NULL, NULL, 6, { "", 2, NULL }, { "", 1, NULL });
}

/* --- orders of prints --- */

static int prints(void *arg)
{
        printf("%s", (const char *) arg);
        return 0;
}

static int prints_all(void *arg)
{
        static char letters[][2] = { "a", "b", "c" };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < *(int *) arg; i++)
                eddy_scope_start(&scope, prints, letters[i]);
        return eddy_scope_end(&scope);
}

TEST(two_prints_have_two_orders)
{
        int n = 2;

        HAS_OUTCOMES("two prints", prints_all, &n, NULL, 2, { "ab", 0, NULL }, { "ba", 0, NULL });
}

TEST(three_prints_have_six_orders)
{
        int n = 3;

        HAS_OUTCOMES("three prints", prints_all, &n, NULL, 6, { "abc", 0, NULL },
                     { "acb", 0, NULL }, { "bac", 0, NULL }, { "bca", 0, NULL }, { "cab", 0, NULL },
                     { "cba", 0, NULL });
}

/* --- a queue --- */

static eddy_queue line;

static int produces(void *arg)
{
        const char *letter = arg;
        int err = eddy_queue_put(&line, letter);

        if (err < 0)
                return err;
        pause_here();
        return eddy_queue_put(&line, letter + 1);
}

static int consumes(void *arg)
{
        static char ab[] = "ab", xy[] = "xy";
        eddy_scope scope;
        char letter;
        int err = eddy_queue_init(&line, 1, 4);

        (void) arg;
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, produces, ab);
        eddy_scope_start(&scope, produces, xy);
        for (int i = 0; i < 4 && err == 0; i++) {
                err = eddy_queue_get(&line, &letter);
                if (err == 0)
                        printf("%c", letter);
        }
        (void) eddy_scope_end(&scope);
        eddy_queue_fini(&line);
        return err;
}

/* Each producer's items stay in order: 4! / (2! 2!) = 6 merges of "ab" and "xy". */
TEST(two_producers_merge_in_six_ways)
{
        HAS_OUTCOMES("queue", consumes, NULL, NULL, 0, { "abxy", 0, NULL }, { "axby", 0, NULL },
                     { "axyb", 0, NULL }, { "xaby", 0, NULL }, { "xayb", 0, NULL },
                     { "xyab", 0, NULL });
}

/* --- the first wins --- */

static int competes(void *arg)
{
        int err = eddy_sleep(0);

        (void) arg;
        return err;
}

static int races(void *arg)
{
        struct eddy_call calls[3] = { { .fn = competes }, { .fn = competes }, { .fn = competes } };

        (void) arg;
        return eddy_race(calls, 3, 0);
}

/*
 * Any of the three may be the first that continues; its index is the result. The others continue
 * too, cancelled: two steps of each merge in 6! / (2! 2! 2!) = 90 ways.
 */
TEST(any_of_three_wins_a_race)
{
        HAS_OUTCOMES("first wins", races, NULL, NULL, 90, { "", 0, NULL }, { "", 1, NULL },
                     { "", 2, NULL });
}

/* --- an event --- */

static eddy_event bell;

static int rings(void *arg)
{
        (void) arg;
        (void) eddy_event_set(&bell);
        return 0;
}

static int listens(void *arg)
{
        (void) arg;
        printf("%s\n", eddy_event_is_set(&bell) ? "rang before" : "waits");
        return eddy_event_wait(&bell);
}

static int has_bell(void *arg)
{
        eddy_scope scope;

        (void) arg;
        bell = (eddy_event){ 0 };
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, listens, NULL);
        eddy_scope_start(&scope, rings, NULL);
        return eddy_scope_end(&scope);
}

/* Level-triggered: no order hangs. */
TEST(an_event_is_set_before_or_after_the_wait)
{
        HAS_OUTCOMES("event", has_bell, NULL, NULL, 2, { "waits\n", 0, NULL },
                     { "rang before\n", 0, NULL });
}

/* --- a cancel against a result --- */

static int answers(void *arg)
{
        int err = eddy_sleep(0);

        (void) arg;
        return err < 0 ? err : 7;
}

static int asks(void *arg)
{
        eddy_task *task;
        eddy_scope scope;
        int answer = 0, err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_task(&scope, answers, NULL, NULL, &task);
        if (err < 0)
                return eddy_scope_end_with(&scope, err);
        pause_here();
        eddy_task_cancel(task);
        err = eddy_task_join(task, &answer);
        eddy_task_release(task);
        printf("%s\n", answer == 7 ? "answer" : answer == -ECANCELED ? "cancelled" : "?");
        return eddy_scope_end_with(&scope, err);
}

/* The task has its answer before the cancel, or is cancelled before its sleep is over. */
TEST(a_cancel_comes_before_or_after_the_result)
{
        HAS_OUTCOMES("cancel", asks, NULL, NULL, 0, { "answer\n", 0, NULL },
                     { "cancelled\n", 0, NULL });
}

/* --- findings in one order --- */

static bool is_open;

static int opens(void *arg)
{
        (void) arg;
        is_open = true;
        return 0;
}

static int uses(void *arg)
{
        (void) arg;
        EDDY_TEST_CHECK(is_open);
        return 0;
}

static int opens_and_uses(void *arg)
{
        eddy_scope scope;

        (void) arg;
        is_open = false;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, opens, NULL);
        eddy_scope_start(&scope, uses, NULL);
        return eddy_scope_end(&scope);
}

TEST(a_check_fails_in_one_order)
{
        HAS_OUTCOMES("check", opens_and_uses, NULL, NULL, 2, { "", 0, NULL },
                     { "", 0, "test_explore.c" });
}

static void *lost;

static void free_lost(void *arg)
{
        (void) arg;
        eddy_free(lost);
        lost = NULL;
}

/* Another buffer replaces the first one, unless that is gone. */
static int fills(void *arg)
{
        (void) arg;
        if (!is_open)
                lost = eddy_malloc(10);
        return 0;
}

static int opens_and_fills(void *arg)
{
        eddy_scope scope;

        (void) arg;
        is_open = false;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, opens, NULL);
        eddy_scope_start(&scope, fills, NULL);
        return eddy_scope_end(&scope);
}

TEST(memory_is_left_in_one_order)
{
        HAS_OUTCOMES("leak", opens_and_fills, NULL, free_lost, 2, { "", 0, NULL },
                     { "", 0, "1 allocation left, of 10 bytes" });
        free_lost(NULL);
}

/* --- from the command line --- */

static int sweep(int what, eddy_task_fn *fn, struct eddy_test_sweep *ret_sweep)
{
        int err;

        print_begin();
        err = eddy_test_sweep(what, fn, NULL, &(struct eddy_test_opts){ .name = "swept" },
                              ret_sweep);
        print_end();
        return err;
}

TEST(the_environment_makes_a_sweep_over_seeds_show_all_outcomes)
{
        struct eddy_test_sweep figures;

        CHECK_EQ(setenv("EDDY_DEBUG", "0", 1), 0);
        CHECK_EQ(setenv("EDDY_TEST_OUTCOMES", "99", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, races, &figures), 0);
        CHECK(figures.runs == 90 && figures.distinct == 3);
        CHECK(strstr(printed, "eddy_test: swept: 3 outcomes in 90 runs: all schedules\n"));
        CHECK_EQ(sweep(EDDY_TEST_ALLOC, races, &figures), 0);
        CHECK(figures.runs == 0 && !*printed);
        CHECK_EQ(setenv("EDDY_TEST_OUTCOMES", "1", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, crosses, &figures), EDDY_E_TEST_FOUND);
        CHECK(strstr(printed, "all schedules with at most 1 deviation, not those with more\n"));
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "swept:order=0", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, races, &figures), 0);
        CHECK_EQ(figures.runs, 1);
}

static bool is_first_failed;

static int fails_first(void *arg)
{
        (void) arg;
        is_first_failed = true;
        return 0;
}

static int looks(void *arg)
{
        (void) arg;
        return is_first_failed ? 0 : -EIO;
}

static int fails_in_one_order(void *arg)
{
        (void) arg;
        is_first_failed = false;
        return eddy_gather((struct eddy_call[2]){ { .fn = fails_first }, { .fn = looks } }, 2, 0);
}

TEST(a_program_that_fails_in_one_order_fails_its_sweep_with_outcomes_too)
{
        struct eddy_test_sweep figures;

        CHECK_EQ(setenv("EDDY_TEST_OUTCOMES", "3", 1), 0);
        CHECK_EQ(sweep(EDDY_TEST_SEEDS, fails_in_one_order, &figures), EDDY_E_TEST_FOUND);
        CHECK(figures.distinct == 2 && strstr(printed, "returned EIO"));
}

/* --- limits --- */

static int n3 = 3;

TEST(runs_max_stops_the_exploration)
{
        struct eddy_test_explore_opts how = { .runs_max = 2 };

        CHECK_EQ(explore(prints_all, &n3, NULL, &how), 0);
        CHECK(all.runs == 2 && all.outcomes_count == 2 && !all.complete && all.deviations == 0);
        how.runs_max = 5;
        CHECK_EQ(explore(prints_all, &n3, NULL, &how), 0);
        CHECK(all.runs == 5 && all.outcomes_count == 5 && !all.complete && all.deviations == 1);
        CHECK(strstr(printed, "5 outcomes in 5 runs: all schedules with at most 1 deviation, "));
        how.runs_max = 6;
        CHECK_EQ(explore(prints_all, &n3, NULL, &how), 0);
        CHECK(all.runs == 6 && all.complete && all.deviations == 3);
        CHECK(strstr(printed, "6 outcomes in 6 runs: all schedules\n"));
}

TEST(deviations_max_bounds_the_schedules)
{
        struct eddy_test_explore_opts how = { .deviations_max = 1 };

        /* Without deviations; 2 others at the first point, and 1 at the second. */
        CHECK_EQ(explore(prints_all, &n3, NULL, &how), 0);
        CHECK(all.runs == 4 && all.outcomes_count == 4 && !all.complete && all.deviations == 1);
        how.deviations_max = EDDY_TEST_DEVIATIONS_MAX + 1;
        CHECK_EQ(explore(prints_all, &n3, NULL, &how), -EINVAL);
}

static int prints_many(void *arg)
{
        int n = 9;

        (void) arg;
        printf("%d", n);
        return eddy_gather((struct eddy_call[9]){ { .fn = competes },
                                                  { .fn = competes },
                                                  { .fn = competes },
                                                  { .fn = competes },
                                                  { .fn = competes },
                                                  { .fn = competes },
                                                  { .fn = competes },
                                                  { .fn = competes },
                                                  { .fn = competes } },
                           (size_t) n, 0);
}

static int waits_often(void *arg)
{
        for (int i = 0; i < 2 * EDDY_TEST_CHOICE_POINTS_MAX; i++)
                pause_here();
        printf("%s", (const char *) arg);
        return 0;
}

static int wait_often(void *arg)
{
        static char a[] = "a", b[] = "b";
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, waits_often, a);
        eddy_scope_start(&scope, waits_often, b);
        return eddy_scope_end(&scope);
}

TEST(more_than_8_ready_tasks_or_4096_choice_points_are_not_complete)
{
        struct eddy_test_explore_opts how = { .runs_max = 3 };

        CHECK_EQ(explore(prints_many, NULL, NULL, &how), 0);
        CHECK(!all.complete && all.deviations == 0);
        CHECK_EQ(explore(wait_often, NULL, NULL, &how), 0);
        CHECK(!all.complete && all.choices > EDDY_TEST_CHOICE_POINTS_MAX);
}

static int number;

static void numbers(void *arg, char *buf, size_t bytes)
{
        (void) arg;
        CHECK_STR(buf, "");
        snprintf(buf, bytes, "number %d", number++);
}

TEST(outcomes_beyond_256_are_counted)
{
        struct eddy_test_explore_opts how = { .outcome = numbers, .runs_max = 300 };
        int n = 4;

        number = 0;
        CHECK_EQ(explore(sells, &n, NULL, &how), 0);
        CHECK(all.runs == 300 && all.outcomes_count == EDDY_TEST_OUTCOMES_MAX);
        CHECK_EQ(all.other_runs, 300 - EDDY_TEST_OUTCOMES_MAX);
        CHECK_STR(all.outcomes[255].text, "number 255");
        CHECK(strstr(printed, "44 runs had outcomes beyond the first 256"));
}

static int writes_much(void *arg)
{
        static char text[1000];

        (void) arg;
        memset(text, 'x', sizeof(text));
        for (int i = 0; i < 200; i++)
                fwrite(text, 1, sizeof(text), stdout);
        return 0;
}

TEST(output_beyond_64_kib_is_dropped)
{
        CHECK_EQ(explore(writes_much, NULL, NULL, NULL), 0);
        CHECK(all.runs == 1 && all.complete && all.outcomes_count == 1);
        CHECK_EQ(all.outcomes[0].text_bytes, EDDY_TEST_OUTPUT_MAX);
}

/* --- names of outcomes, and what is printed --- */

static void names_seats(void *arg, char *buf, size_t bytes)
{
        snprintf(buf, bytes, "%s, %d buyers", seats < 0 ? "oversold" : "sold", *(int *) arg);
}

TEST(a_program_names_its_outcomes)
{
        struct eddy_test_explore_opts how = { .outcome = names_seats };

        CHECK_EQ(explore(sells, &n3, &(struct eddy_test_opts){ .name = "named" }, &how), 0);
        CHECK_EQ(all.outcomes_count, 2);
        CHECK_STR(all.outcomes[0].text, "oversold, 3 buyers");
        CHECK_STR(all.outcomes[1].text, "sold, 3 buyers");
        replays_repeat(sells, &n3, &(struct eddy_test_opts){ .name = "named" }, &how);
}

TEST(outcomes_are_printed)
{
        struct eddy_test_explore_opts how = { .quiet = 1 };
        int n = 2;

        CHECK_EQ(explore(sells, &n, &(struct eddy_test_opts){ .name = "race" }, NULL), 0);
        CHECK_STR(printed, "eddy_test: race: outcome 1 of 2, in 4 of 6 runs: \"seats -1\": "
                           "again with EDDY_TEST_REPLAY='race:order=0'\n"
                           "eddy_test: race: outcome 2 of 2, in 2 of 6 runs: \"seats 0\": "
                           "again with EDDY_TEST_REPLAY='race:order=2/2'\n"
                           "eddy_test: race: 2 outcomes in 6 runs: all schedules\n");
        CHECK_EQ(explore(sells, &n, NULL, &how), 0);
        CHECK_STR(printed, "");
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "race:order=2/2", 1), 0);
        CHECK_EQ(explore(sells, &n, &(struct eddy_test_opts){ .name = "race" }, NULL), 0);
        CHECK_STR(printed, "eddy_test: race:order=2/2: \"seats 0\"\n");
        CHECK_EQ(explore(sells, &n, &(struct eddy_test_opts){ .name = "other" }, NULL), 0);
        CHECK(all.runs == 0 && all.is_replay);
        CHECK_STR(printed, "");
}

TEST(nothing_to_return_and_nothing_to_free_are_fine)
{
        eddy_test_explored_fini(NULL);
        eddy_test_explored_fini(&(struct eddy_test_explored){ 0 });
        print_begin();
        CHECK_EQ(eddy_test_explore(prints_all, &n3, NULL, NULL, NULL), 0);
        print_end();
}

/* --- seeds --- */

TEST(seeds_find_outcomes_too_with_short_schedules)
{
        struct eddy_test_opts opts = { .name = "seeds" };
        struct eddy_test_explore_opts how = { .runs_max = 1, .seeds = 100 };

        CHECK_EQ(explore(prints_all, &n3, &opts, &how), 0);
        /* Each run is one of a seed or of a schedule, and belongs to an outcome. */
        CHECK(all.schedules > 1 && all.runs == all.schedules + 100 && !all.complete);
        CHECK_EQ(all.outcomes_count, 6);
        for (size_t i = 0; i < all.outcomes_count; i++)
                CHECK(strstr(all.outcomes[i].replay, "seeds:order=") &&
                      all.outcomes[i].deviations <= 2);
        replays_repeat(prints_all, &n3, &opts, &how);
}

static int draws(void *arg)
{
        (void) arg;
        return (int) eddy_test_chance(3);
}

TEST(an_outcome_of_a_seed_alone_is_replayed_by_the_seed)
{
        struct eddy_test_opts opts = { .name = "draw" };
        struct eddy_test_explore_opts how = { .seeds = 20 };

        CHECK_EQ(explore(draws, NULL, &opts, &how), 0);
        CHECK_EQ(all.outcomes_count, 3);
        CHECK_STR(all.outcomes[0].replay, "draw:order=0");
        CHECK(strstr(all.outcomes[1].replay, "draw:seed="));
        replays_repeat(draws, NULL, &opts, &how);
}

/* --- orders in other calls --- */

TEST(a_run_takes_an_order)
{
        struct eddy_test_opts opts = { .order = "2/2" };
        struct eddy_test_result result;

        print_begin();
        CHECK_EQ(eddy_test_run(counts, NULL, &opts, &result), 2);
        opts.order = "0";
        opts.seed = 7;
        CHECK_EQ(eddy_test_run(counts, NULL, &opts, &result), 1);
        opts.order = "2/2.9/3";
        CHECK_EQ(eddy_test_run(counts, NULL, &opts, &result), EDDY_E_TEST_FOUND);
        CHECK(strstr(result.problem, "choice point 9 was never reached; there were "));
        opts.order = "2/3";
        CHECK_EQ(eddy_test_run(counts, NULL, &opts, &result), EDDY_E_TEST_FOUND);
        CHECK(strstr(result.problem, "choice point 2 has only 2 ready tasks"));
        print_end();
        CHECK(strstr(printed, "seed=7,order=2/3: choice point 2 has only 2"));
        CHECK(strstr(printed, "again with EDDY_TEST_REPLAY='"));
}

TEST(an_order_must_be_valid)
{
        static const char *const wrong[] = {
                "",       "00",      "1",       "1/",   "1/1",     "0/2",  "1/9",  "1/02", "01/2",
                "4097/2", "2/2.2/3", "3/2.2/2", "1/2.", "1/2,2/2", ".1/2", " 1/2", "1/2 ", "-1/2",
        };
        char text[200];

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                CHECK_EQ(eddy_test_run(draws, NULL, &(struct eddy_test_opts){ .order = wrong[i] },
                                       NULL),
                         -EINVAL);
                snprintf(text, sizeof(text), "draw:order=%s", wrong[i]);
                CHECK_EQ(setenv("EDDY_TEST_REPLAY", text, 1), 0);
                CHECK_EQ(explore(draws, NULL, &(struct eddy_test_opts){ .name = "draw" }, NULL),
                         -EINVAL);
        }
}

TEST(a_sweep_replays_an_order)
{
        struct eddy_test_opts opts = { .name = "check" };
        struct eddy_test_sweep figures;

        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "check:order=1/2", 1), 0);
        print_begin();
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, opens_and_uses, NULL, &opts, &figures),
                 EDDY_E_TEST_FOUND);
        print_end();
        CHECK(strstr(printed, "again with EDDY_TEST_REPLAY='check:order=1/2'"));
        CHECK_EQ(figures.runs, 1);
        /* Parts may follow, and a cancel may come before the deviation. */
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "check:order=1/2,cancel=1", 1), 0);
        print_begin();
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_SEEDS, opens_and_uses, NULL, &opts, &figures), 0);
        print_end();
}

/* --- programs that cannot be explored --- */

static int changes(void *arg)
{
        int n = number++ == 0 ? 3 : 1;

        (void) arg;
        return prints_all(&n);
}

TEST(a_program_that_changes_is_a_finding)
{
        number = 0;
        all = (struct eddy_test_explored){ .runs = 77 };
        CHECK_EQ(explore(changes, NULL, &(struct eddy_test_opts){ .name = "changes" }, NULL),
                 EDDY_E_TEST_FOUND);
        CHECK_EQ(all.runs, 77);
        CHECK(strstr(printed, "eddy_test: changes: order=1/2: a choice point of an earlier run was "
                              "not reached again: the program is not deterministic"));
        CHECK_EQ(setenv("EDDY_TEST_REPLAY", "changes:order=9/2", 1), 0);
        CHECK_EQ(explore(changes, NULL, &(struct eddy_test_opts){ .name = "changes" }, NULL),
                 EDDY_E_TEST_FOUND);
        CHECK(strstr(printed, "choice point 9 was never reached; there were 0"));
}

static int nested_result;

static int explores(void *arg)
{
        (void) arg;
        nested_result = eddy_test_explore(draws, NULL, NULL, NULL, NULL);
        return 0;
}

static void explores_too(void *arg, char *buf, size_t bytes)
{
        (void) explores(arg);
        snprintf(buf, bytes, "%d", nested_result == EDDY_E_RUN_NESTED);
}

TEST(an_exploration_in_a_run_is_refused)
{
        CHECK_EQ(explore(draws, NULL, NULL,
                         &(struct eddy_test_explore_opts){ .outcome = explores_too }),
                 0);
        CHECK_STR(all.outcomes[0].text, "1");
        CHECK_EQ(explore(explores, NULL, NULL, NULL), 0);
        CHECK_EQ(nested_result, EDDY_E_RUN_NESTED);
        CHECK(all.runs == 1 && all.outcomes_count == 1);
}

/* --- without memory --- */

static uint64_t allocations, fails_at;

static void *failing_realloc(void *ctx, void *ptr, size_t bytes)
{
        (void) ctx;
        if (bytes == 0) {
                free(ptr);
                return NULL;
        }
        return ++allocations == fails_at ? NULL : realloc(ptr, bytes);
}

/* A run without memory is an outcome; only the kit's own allocations fail the exploration. */
TEST(without_memory_it_fails_and_leaves_nothing)
{
        struct eddy_test_opts opts = { .name = "memory" };
        bool failed = false;

        eddy_alloc_set(failing_realloc, NULL);
        for (fails_at = 1; fails_at == 1 || allocations >= fails_at; fails_at++) {
                int err;

                allocations = 0;
                err = explore(prints_all, &n3, &opts, NULL);
                CHECK(err == 0 || err == -ENOMEM || err == EDDY_E_TEST_FOUND);
                failed |= err == -ENOMEM;
                eddy_test_explored_fini(&all);
        }
        CHECK(failed);
}

/* --- runs that end the process --- */

static int aborts(void *arg)
{
        (void) arg;
        if (!is_open)
                abort();
        return 0;
}

static int leaves(void *arg)
{
        (void) arg;
        if (!is_open)
                exit(3);
        return 0;
}

static int opens_or_dies(void *arg)
{
        eddy_scope scope;

        is_open = false;
        printf("this run\n");
        fflush(stdout);
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, opens, NULL);
        eddy_scope_start(&scope, arg ? leaves : aborts, NULL);
        return eddy_scope_end(&scope);
}

/* The status of the child, with its standard error and output in 'printed'. */
static int dies(bool by_exit)
{
        int status;
        pid_t child;

        print_begin();
        fflush(stdout);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
                (void) dup2(STDERR_FILENO, STDOUT_FILENO);
                (void) eddy_test_explore(opens_or_dies, by_exit ? &n3 : NULL,
                                         &(struct eddy_test_opts){ .name = "dies" }, NULL, NULL);
                _exit(0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        print_end();
        return status;
}

TEST(a_run_that_ends_the_process_prints_its_replay_string_and_output)
{
        int status = dies(false);

        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        CHECK(strstr(printed, "this run\n"));
        CHECK(strstr(printed, "eddy_test: again with EDDY_TEST_REPLAY='dies:order=1/2'\n"));
        status = dies(true);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
        CHECK(strstr(printed, "this run\n"));
        CHECK(strstr(printed, "eddy_test: again with EDDY_TEST_REPLAY='dies:order=1/2'\n"));
}

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
        (void) arg;
        printf("# jumped\n");
        longjmp(out, 1);
}

TEST(after_a_jump_out_of_a_run_others_are_explored)
{
        test_needs_backtrace();
#ifdef ED_TSAN
        test_skip("ThreadSanitizer does not know of jumps between stacks");
#endif
        if (getenv("EDDY_TEST_QEMU"))
                test_skip("qemu has the thread's stack below those of tasks");
        print_begin();
        if (setjmp(out) == 0)
                (void) eddy_test_explore(jumps, NULL, NULL, NULL, NULL);
        print_end();
        CHECK_EQ(explore(prints_all, &n3, NULL, NULL), 0);
        CHECK_EQ(all.outcomes_count, 6);
        CHECK_STR(all.outcomes[0].text, "abc");
        CHECK(strstr(printed, "it was left before its end"));
}
