/*
 * Exploring: small programs whose outcomes are known by hand are found to have these outcomes, all
 * of them and no other, and each outcome's replay string repeats it.
 */
#include <eddy/eddy.h>
#include <eddy/test_explore.h>
#include <errno.h>
#include <fcntl.h>
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
 * The program has these outcomes in all its schedules; they are found with at most three
 * deviations too.
 */
static void has_outcomes(const char *name, eddy_task_fn *fn, void *arg, void (*before)(void *),
                         const struct wanted *wanted, size_t n)
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

#define HAS_OUTCOMES(name, fn, arg, before, ...)                                                   \
        has_outcomes(name, fn, arg, before, (const struct wanted[]){ __VA_ARGS__ },                \
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
 */
TEST(two_buyers_leave_0_or_minus_1_seats)
{
        int n = 2;

        HAS_OUTCOMES("race 2", sells, &n, NULL, { "seats 0\n", 0, NULL },
                     { "seats -1\n", 0, NULL });
}

TEST(three_buyers_leave_0_to_minus_2_seats)
{
        int n = 3;

        HAS_OUTCOMES("race 3", sells, &n, NULL, { "seats 0\n", 0, NULL },
                     { "seats -1\n", 0, NULL }, { "seats -2\n", 0, NULL });
}

TEST(four_buyers_leave_0_to_minus_3_seats)
{
        int n = 4;

        HAS_OUTCOMES("race 4", sells, &n, NULL, { "seats 0\n", 0, NULL },
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

        HAS_OUTCOMES("race fixed", sells_locked, &n, NULL, { "seats 0\n", 0, NULL });
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
        HAS_OUTCOMES("lock cycle", crosses, NULL, NULL, { "fine\n", 0, NULL },
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

/* 2, or 1 if both read before one has written. The count is the result: nothing is printed. */
TEST(an_update_is_lost_or_not)
{
        HAS_OUTCOMES("lost update", counts, NULL, NULL, { "", 2, NULL }, { "", 1, NULL });
}

/* --- orders of prints --- */

static int prints(void *arg)
{
        printf("%s", (const char *) arg);
        return 0;
}

static int prints_all(void *arg)
{
        static char *const letters[] = { "a", "b", "c" };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < *(int *) arg; i++)
                eddy_scope_start(&scope, prints, letters[i]);
        return eddy_scope_end(&scope);
}

TEST(two_prints_have_two_orders)
{
        int n = 2;

        HAS_OUTCOMES("two prints", prints_all, &n, NULL, { "ab", 0, NULL }, { "ba", 0, NULL });
}

TEST(three_prints_have_six_orders)
{
        int n = 3;

        HAS_OUTCOMES("three prints", prints_all, &n, NULL, { "abc", 0, NULL }, { "acb", 0, NULL },
                     { "bac", 0, NULL }, { "bca", 0, NULL }, { "cab", 0, NULL },
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
        eddy_scope scope;
        char letter;
        int err = eddy_queue_init(&line, 1, 4);

        (void) arg;
        if (err < 0)
                return err;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, produces, "ab");
        eddy_scope_start(&scope, produces, "xy");
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
        HAS_OUTCOMES("queue", consumes, NULL, NULL, { "abxy", 0, NULL }, { "axby", 0, NULL },
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

/* Any of the three may be the first that continues; its index is the result. */
TEST(any_of_three_wins_a_race)
{
        HAS_OUTCOMES("first wins", races, NULL, NULL, { "", 0, NULL }, { "", 1, NULL },
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
        HAS_OUTCOMES("event", has_bell, NULL, NULL, { "waits\n", 0, NULL },
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
        HAS_OUTCOMES("cancel", asks, NULL, NULL, { "answer\n", 0, NULL },
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
        HAS_OUTCOMES("check", opens_and_uses, NULL, NULL, { "", 0, NULL },
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
        HAS_OUTCOMES("leak", opens_and_fills, NULL, free_lost, { "", 0, NULL },
                     { "", 0, "1 allocation left, of 10 bytes" });
        free_lost(NULL);
}
