/*
 * test/sweep.c - repeating a run, each time with another injected fault.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash_table.h"
#include "eddy/error.h"
#include "eddy/test_explore.h"
#include "test/replay.h"
#include "test/run.h"

/* --- distinct traces --- */

/*
 * Traces of this thread's sweep, which are hashes and so need no key. After a jump out of a sweep, the
 * next sweep frees them.
 */
static __thread struct ed_hash_table traces __attribute__((tls_model("initial-exec")));

/* Kinds of the calls, by number; freed likewise. */
static __thread uint8_t *kinds __attribute__((tls_model("initial-exec")));

/* Number of points of each task, main first; freed likewise. */
static __thread uint32_t *points __attribute__((tls_model("initial-exec")));

/* The result of the sweep's last run. */
static __thread struct eddy_test_result last __attribute__((tls_model("initial-exec")));

static void traces_fini(void)
{
        ed_hash_table_each_safe (node, &traces) {
                ed_free(node);
        }
        ed_hash_table_fini(&traces);
}

/* Errors: -ENOMEM. */
static int traces_add(uint64_t trace)
{
        struct ed_hash_node *node;

        if (ed_hash_table_find(&traces, trace))
                return 0;
        node = ed_alloc(sizeof(*node));
        if (!node)
                return -ENOMEM;
        ed_hash_table_add(&traces, node, trace);
        return 0;
}

/* --- one run --- */

struct sweep {
        eddy_task_fn *main_fn;
        void *arg;
        struct ed_test_more more;
        struct eddy_test_sweep figures;
        uint64_t kinds_skip, kinds_count;
        int wanted;    /* result of the undisturbed run */
        bool compares; /* compare results with 'wanted' */
        uint64_t seed; /* seed of the undisturbed run */
        bool verbose;
        char name[ED_TEST_NAME_BYTES];
        struct ed_test_figures last; /* of the last run; too large for thread-local storage */
};

/* Returns the kind of a call in the undisturbed run, or 0 if there was no such call. */
static enum ed_sim_call kind_of(const struct sweep *sweep, uint64_t n)
{
        uint64_t i = n - 1 - sweep->kinds_skip;

        return i < sweep->kinds_count ? (enum ed_sim_call) kinds[i] : 0;
}

/* Returns true if the program must not notice the injected fault. */
static bool is_invisible(const struct sweep *sweep, const struct eddy_test_opts *opts)
{
        return opts->call_at > 0 &&
               ed_sim_is_passing(kind_of(sweep, opts->call_at), opts->call_error);
}

/* "EIO", or "7". */
static const char *result_name(int result, char buf[16])
{
        struct ed_text text = { buf, 16 };

        if (result < 0)
                return eddy_error_name(result);
        ed_text_add(&text, "%d", result);
        return buf;
}

/* Returns true if the run repeated the undisturbed one. */
static bool is_repeated(const struct sweep *sweep, const struct eddy_test_opts *opts,
                        const struct eddy_test_result *result)
{
        return sweep->compares && opts->seed == sweep->seed && !result->was_cancelled &&
               !result->was_failed;
}

/* Returns true if the result is allowed after the injected fault; else 'text' gets the reason. */
static bool may_end_so(const struct sweep *sweep, const struct eddy_test_opts *opts,
                       const struct eddy_test_result *result, struct ed_text *text)
{
        const char *name = eddy_error_name(result->result);
        bool main_only = result->was_cancelled && !result->was_failed && opts->cancel_task <= 1;
        char names[2][16];

        if (result->result < 0 && is_repeated(sweep, opts, result)) {
                ed_text_add(text,
                            "it returned %s, but %s before, without a fault: "
                            "the program is not deterministic",
                            name, result_name(sweep->wanted, names[0]));
                return false;
        }
        if (is_invisible(sweep, opts) && !result->was_cancelled) {
                if (result->result == sweep->wanted)
                        return true;
                ed_text_add(text, "it returned %s, but %s without the fault",
                            result_name(result->result, names[0]),
                            result_name(sweep->wanted, names[1]));
                return false;
        }
        if (result->result >= 0)
                return true;
        if (!result->was_cancelled && !result->was_failed)
                ed_text_add(text, "it returned %s without a fault", name);
        else if (main_only && result->result != -ECANCELED)
                ed_text_add(text, "it returned %s when it was cancelled, not ECANCELED", name);
        else
                return true;
        return false;
}

/*
 * Errors: EDDY_E_TEST_FOUND, already printed; errors of starting the run. 'is_base': any result is
 * allowed.
 */
static int run_once(struct sweep *sweep, const struct eddy_test_opts *opts, bool is_base)
{
        struct eddy_test_result *result = &last;
        struct ed_text text = { result->problem, sizeof(result->problem) };
        int err;

        if (sweep->verbose)
                ed_test_print_before(sweep->name, opts);
        *result = (struct eddy_test_result){ 0 };
        err = ed_test_run_with(sweep->main_fn, sweep->arg, opts, &sweep->more, result,
                               &sweep->last);
        sweep->figures.runs++;
        if (err == EDDY_E_RUN_NESTED || err == -EBUSY)
                return err;
        sweep->figures.failed +=
                result->result < 0 && (result->was_cancelled || result->was_failed);
        if (err != EDDY_E_TEST_FOUND && (is_base || may_end_so(sweep, opts, result, &text)))
                return 0;
        if (err != EDDY_E_TEST_FOUND && is_repeated(sweep, opts, result))
                ed_test_print_differs(sweep->name, opts, result->problem);
        else
                ed_test_print(sweep->name, opts, result->problem, &sweep->last.strikes);
        return EDDY_E_TEST_FOUND;
}

/* --- which runs --- */

/* Returns the maximum number of points to try. */
static uint64_t sample_of(const struct sweep *sweep, uint64_t count)
{
        uint64_t sample = sweep->more.sample ? sweep->more.sample : count;

        return ed_test_number("EDDY_TEST_SAMPLE", sample);
}

static uint64_t count_of(const struct sweep *sweep, int what, const struct eddy_test_result *result)
{
        switch (what) {
        case EDDY_TEST_CANCEL_TASK:
                return sweep->last.task_points;
        case EDDY_TEST_SEEDS:
                return ed_test_number("EDDY_TEST_SEEDS", EDDY_TEST_SEEDS_RUN);
        case EDDY_TEST_CANCEL:
                return result->points;
        case EDDY_TEST_CALLS:
                return result->calls;
        default:
                return result->allocations;
        }
}

static const char *noun_of(int what)
{
        switch (what) {
        case EDDY_TEST_CANCEL:
                return "suspension point";
        case EDDY_TEST_CALLS:
                return "call";
        default:
                return "allocation";
        }
}

/* Returns the next number after 'n' in 1 .. count if at most 'sample' are tried; 0: none. */
static uint64_t next_of(uint64_t n, uint64_t count, uint64_t sample)
{
        uint64_t i;

        if (n >= count)
                return 0;
        if (count <= sample)
                return n + 1;
        if (sample < 2)
                return n == 0;
        /* Sample i of 0 .. sample-1 is 1 + i * (count-1) / (sample-1). */
        i = n == 0 ? 0 : ((n - 1) * (sample - 1) + count - 2) / (count - 1);
        while (1 + i * (count - 1) / (sample - 1) <= n)
                i++;
        return 1 + i * (count - 1) / (sample - 1);
}

static void aim(int what, uint64_t n, struct eddy_test_opts *opts)
{
        switch (what) {
        case EDDY_TEST_SEEDS:
                opts->seed = n;
                break;
        case EDDY_TEST_CANCEL:
                opts->cancel_at = n;
                break;
        case EDDY_TEST_CALLS:
                opts->call_at = n;
                break;
        case EDDY_TEST_CANCEL_TASK:
                break; /* set by try_task() */
        default:
                opts->alloc_at = n;
                opts->alloc_forever = what == EDDY_TEST_ALLOC_FOREVER;
                opts->alloc_again = 0;
        }
}

/* --- targets that were not reached --- */

/* "allocation 7", "point 4 of task 3" */
static void thing_add(struct ed_text *text, int what, uint64_t n, const struct eddy_test_opts *opts)
{
        if (what == EDDY_TEST_CANCEL_TASK)
                ed_text_add(text, "point %llu of task %llu", (unsigned long long) n,
                            (unsigned long long) opts->cancel_task);
        else
                ed_text_add(text, "%s %llu", noun_of(what), (unsigned long long) n);
}

/*
 * Errors: EDDY_E_TEST_FOUND, already printed: number 'n' of 'what' exists in a similar run but was
 * not reached in this one.
 */
static int look_if_met(const struct sweep *sweep, int what, uint64_t n, uint64_t count,
                       const struct eddy_test_opts *opts)
{
        struct ed_text text = { last.problem, sizeof(last.problem) };

        if (what == EDDY_TEST_SEEDS || count_of(sweep, what, &last) >= n)
                return 0;
        thing_add(&text, what, n, opts);
        ed_text_add(&text,
                    " was not reached, of %llu counted %s: "
                    "the program is not deterministic",
                    (unsigned long long) count,
                    what == EDDY_TEST_ALLOC_TWICE && opts->alloc_again ? "after the first fault"
                                                                       : "without faults");
        ed_test_print_differs(sweep->name, opts, last.problem);
        return EDDY_E_TEST_FOUND;
}

static void unmet_add(const struct sweep *sweep, struct ed_text *text, int what, uint64_t n,
                      const struct eddy_test_opts *opts)
{
        uint64_t count = count_of(sweep, what, &last);

        if (n <= count)
                return;
        ed_text_add(text, "%s", last.problem[0] ? "\n" : "");
        thing_add(text, what, n, opts);
        ed_text_add(text, " was never reached; there were %llu", (unsigned long long) count);
}

/*
 * Errors: EDDY_E_TEST_FOUND, already printed: the replay injected no fault. If only some of its
 * faults were reached, these may be the reason why the others were not, so the others are only
 * printed.
 */
static int look_if_replayed(const struct sweep *sweep, const struct eddy_test_opts *opts)
{
        struct ed_text text = { last.problem, sizeof(last.problem) };
        bool something = last.was_cancelled || last.was_failed;

        unmet_add(sweep, &text, opts->cancel_task > 0 ? EDDY_TEST_CANCEL_TASK : EDDY_TEST_CANCEL,
                  opts->cancel_at, opts);
        unmet_add(sweep, &text, EDDY_TEST_ALLOC, opts->alloc_at, opts);
        if (opts->alloc_at > 0 && opts->alloc_at <= last.allocations && !opts->alloc_forever)
                unmet_add(sweep, &text, EDDY_TEST_ALLOC, opts->alloc_at + opts->alloc_again, opts);
        unmet_add(sweep, &text, EDDY_TEST_CALLS, opts->call_at, opts);
        if (last.problem[0] && !something)
                ed_text_add(&text, ": the program, or the build of eddy, has changed");
        /* A sweep reaches such points too, so the program need not have changed. */
        if (!last.problem[0] && opts->cancel_at > 0 && !last.was_cancelled)
                ed_text_add(&text, "main had ended before suspension point %llu",
                            (unsigned long long) opts->cancel_at);
        if (last.problem[0] && !something) {
                ed_test_print(sweep->name, opts, last.problem, &sweep->last.strikes);
                return EDDY_E_TEST_FOUND;
        }
        ed_test_print_lines(sweep->name, opts, last.problem);
        ed_test_print_strikes(sweep->name, opts, &sweep->last.strikes);
        return 0;
}

/* --- the whole sweep --- */

/* Try number 'n'. The previous run, which is identical up to that point, had 'count'. */
static int try_one(struct sweep *sweep, int what, uint64_t n, uint64_t count,
                   const struct eddy_test_opts *opts)
{
        int err = run_once(sweep, opts, false);

        if (err == 0)
                err = look_if_met(sweep, what, n, count, opts);
        return err == 0 ? traces_add(last.trace) : err;
}

/*
 * Fail the Nth allocation, then additionally each later one. There may be more than in the first
 * run, if handling a failure allocates.
 */
static int try_twice(struct sweep *sweep, uint64_t n, struct eddy_test_opts *opts)
{
        int what = EDDY_TEST_ALLOC_TWICE, err = try_one(sweep, what, n, sweep->figures.count, opts);
        uint64_t count = last.allocations, sample = sample_of(sweep, count - n);

        for (uint64_t k = 0; err == 0 && (k = next_of(k, count - n, sample));) {
                opts->alloc_again = k;
                err = try_one(sweep, what, n + k, count, opts);
        }
        return err;
}

/* Fail the call with each of its possible errors. */
static int try_errors(struct sweep *sweep, struct eddy_test_opts *opts)
{
        const int *errors = ed_sim_call_errors(kind_of(sweep, opts->call_at));
        int err = 0;

        for (; *errors && err == 0; errors++) {
                opts->call_error = *errors;
                err = try_one(sweep, EDDY_TEST_CALLS, opts->call_at, sweep->figures.count, opts);
        }
        return err;
}

/*
 * Repeat the undisturbed run, and record the kinds of the 'n' calls after the first 'skip'. Errors:
 * -ENOMEM and a run's.
 */
static int kinds_init(struct sweep *sweep, const struct eddy_test_opts *opts, uint64_t skip,
                      uint64_t n)
{
        struct ed_sim_opts *sim = &sweep->more.sim;
        int err;

        ed_free(kinds);
        kinds = ed_alloc_zero(n + 1);
        if (!kinds)
                return -ENOMEM;
        sim->kinds = kinds;
        sim->kinds_skip = skip;
        sim->kinds_max = n;
        err = run_once(sweep, opts, !sweep->compares);
        sim->kinds = NULL;
        sim->kinds_max = 0;
        sweep->kinds_skip = skip;
        sweep->kinds_count = n;
        return err;
}

static void kinds_fini(void)
{
        ed_free(kinds);
        kinds = NULL;
}

static void points_fini(void)
{
        ed_free(points);
        points = NULL;
}

/* Repeat the undisturbed run, and count the points of each task. Errors: -ENOMEM and a run's. */
static int points_init(struct sweep *sweep, const struct eddy_test_opts *opts)
{
        uint64_t tasks = sweep->last.tasks;
        int err;

        points_fini();
        points = ed_alloc_zero((tasks + 1) * sizeof(*points));
        if (!points)
                return -ENOMEM;
        sweep->more.task_points = points;
        sweep->more.task_points_max = tasks;
        err = run_once(sweep, opts, false);
        sweep->more.task_points = NULL;
        sweep->more.task_points_max = 0;
        for (uint64_t i = 0; i < tasks; i++) {
                sweep->figures.count += points[i];
                sweep->figures.tasks += points[i] > 0;
        }
        return err;
}

/* Cancel at the Nth of all tasks' points, counted task by task. */
static int try_task(struct sweep *sweep, uint64_t n, struct eddy_test_opts *opts)
{
        uint64_t task = 0;

        for (; n > points[task]; task++)
                n -= points[task];
        opts->cancel_task = task + 1;
        opts->cancel_at = n;
        return try_one(sweep, EDDY_TEST_CANCEL_TASK, n, points[task], opts);
}

static int try_each(struct sweep *sweep, int what, const struct eddy_test_opts *base)
{
        uint64_t count = sweep->figures.count;
        uint64_t sample = what == EDDY_TEST_SEEDS ? count : sample_of(sweep, count);
        int err = 0;

        for (uint64_t n = 0; err == 0 && (n = next_of(n, count, sample)); sweep->figures.tried++) {
                struct eddy_test_opts opts = *base;

                aim(what, n, &opts);
                if (what == EDDY_TEST_CANCEL_TASK)
                        err = try_task(sweep, n, &opts);
                else if (what == EDDY_TEST_CALLS)
                        err = try_errors(sweep, &opts);
                else if (what == EDDY_TEST_ALLOC_TWICE)
                        err = try_twice(sweep, n, &opts);
                else
                        err = try_one(sweep, what, n, count, &opts);
        }
        return err;
}

/* Not inline: keeps the sweep and a run's options in separate frames. */
static __attribute__((noinline)) int try_all(struct sweep *sweep, int what,
                                             const struct eddy_test_opts *opts)
{
        int err = run_once(sweep, opts, true);

        if (err < 0)
                return err;
        if (last.result < 0)
                return last.result;
        sweep->wanted = last.result;
        sweep->compares = true;
        sweep->seed = opts->seed;
        sweep->figures.count = count_of(sweep, what, &last);
        traces_fini();
        if (what == EDDY_TEST_CALLS)
                err = kinds_init(sweep, opts, 0, sweep->figures.count);
        else if (what == EDDY_TEST_CANCEL_TASK)
                err = points_init(sweep, opts);
        if (err == 0 && what == EDDY_TEST_CALLS)
                err = look_if_met(sweep, what, sweep->figures.count, sweep->figures.count, opts);
        if (err == 0)
                err = try_each(sweep, what, opts);
        sweep->figures.distinct = traces.count;
        ed_test_sweep_forget();
        return err;
}

void ed_test_sweep_forget(void)
{
        kinds_fini();
        points_fini();
        traces_fini();
}

/* Run the one that EDDY_TEST_REPLAY names. */
static __attribute__((noinline)) int try_replay(struct sweep *sweep,
                                                const struct eddy_test_opts *opts,
                                                struct eddy_test_opts *replay)
{
        struct eddy_run_opts run;
        int err = 0;

        ed_test_replay_trace(replay, &run);

        if (replay->call_at > 0) {
                err = kinds_init(sweep, opts, replay->call_at - 1, 1);
                sweep->wanted = err < 0 ? 0 : last.result;
        }
        sweep->verbose = true;
        sweep->figures.count = sweep->figures.tried = 1;
        if (err == 0)
                err = run_once(sweep, replay, false);
        if (err == 0)
                err = look_if_replayed(sweep, replay);
        kinds_fini();
        return err;
}

static bool has_fault(const struct eddy_test_opts *opts)
{
        return opts->cancel_at > 0 || opts->alloc_at > 0 || opts->call_at > 0;
}

/* EDDY_TEST_OUTCOMES: of the sweeps of a test, only the one of orders has work to do. */
static __attribute__((noinline)) int try_outcomes(struct sweep *sweep, int what,
                                                  const struct eddy_test_opts *opts,
                                                  uint64_t deviations)
{
        struct eddy_test_explore_opts how = {
                .deviations_max = (uint32_t) (deviations < EDDY_TEST_DEVIATIONS_MAX
                                                      ? deviations
                                                      : EDDY_TEST_DEVIATIONS_MAX),
        };
        struct eddy_test_explored all;
        int err;

        if (what != EDDY_TEST_SEEDS)
                return 0;
        err = eddy_test_explore(sweep->main_fn, sweep->arg, opts, &how, &all);
        if (err < 0)
                return err;
        sweep->figures.count = sweep->figures.tried = sweep->figures.runs = all.runs;
        sweep->figures.distinct = all.outcomes_count;
        for (size_t i = 0; i < all.outcomes_count; i++)
                if (*all.outcomes[i].problem || (all.outcomes[i].result < 0 && !has_fault(opts)))
                        err = EDDY_E_TEST_FOUND;
        eddy_test_explored_fini(&all);
        return err;
}

int ed_test_sweep_with(int what, eddy_task_fn *main_fn, void *arg,
                       const struct eddy_test_opts *opts, const struct ed_test_more *more,
                       struct eddy_test_sweep *ret_sweep)
{
        static const struct eddy_test_opts none;
        const struct eddy_test_opts *asked = opts ? opts : &none;
        struct eddy_test_opts replay = *asked;
        struct sweep sweep = { .main_fn = main_fn, .arg = arg };
        uint64_t deviations = ed_test_number("EDDY_TEST_OUTCOMES", 0);
        int err;

        if (!main_fn || what < EDDY_TEST_SEEDS || what > EDDY_TEST_CANCEL_TASK ||
            (asked->call_at > 0 && asked->call_error >= 0))
                return -EINVAL;
        if (more)
                sweep.more = *more;
        sweep.verbose = ed_test_number("EDDY_TEST_VERBOSE", 0) > 0;
        ed_test_name(asked, main_fn, sweep.name, sizeof(sweep.name));
        err = ed_test_replay(sweep.name, &replay);
        if (err == 1)
                err = try_replay(&sweep, asked, &replay);
        else if (err == ED_TEST_REPLAY_NONE && deviations > 0)
                err = try_outcomes(&sweep, what, asked, deviations);
        else if (err == ED_TEST_REPLAY_NONE)
                err = try_all(&sweep, what, asked);
        if (ret_sweep)
                *ret_sweep = sweep.figures;
        return err;
}

int eddy_test_sweep(int what, eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                    struct eddy_test_sweep *ret_sweep)
{
        return ed_test_sweep_with(what, main_fn, arg, opts, NULL, ret_sweep);
}
