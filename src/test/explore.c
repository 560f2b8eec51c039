/*
 * test/explore.c - running a program in many schedules.
 *
 * The schedules are a tree: a child has one more deviation than its parent, at a later choice
 * point. Up to that point it is the same run, so the choices of the parent's run list all children,
 * and each schedule is the child of exactly one. The queue has the schedules that were run and have
 * children, those with fewer deviations first.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "eddy/error.h"
#include "eddy/test_explore.h"
#include "loop/loop.h"
#include "test/outcome.h"
#include "test/replay.h"
#include "test/run.h"

enum { NAMED_BYTES = 4096 };

_Static_assert(EDDY_TEST_DEVIATIONS_MAX == (int) ED_TEST_DEVIATIONS_MAX &&
                       EDDY_TEST_CHOICE_POINTS_MAX == (int) ED_TEST_CHOICES_MAX &&
                       EDDY_TEST_CHOICES_MAX == (int) ED_LOOP_CHOICES_MAX,
               "limits of the header");
_Static_assert(sizeof(((struct eddy_test_outcome *) 0)->replay) >=
                       ED_TEST_NAME_BYTES + ED_TEST_SPEC_BYTES,
               "a replay string must fit");

/* A schedule that was run, and has children. */
struct parent {
        struct parent *next;
        struct ed_test_schedule schedule;
        uint32_t points; /* number of choice points after the last deviation */
        uint8_t sizes[]; /* number of entries at each of them */
};

struct explore {
        ed_test_play_fn *play;
        eddy_task_fn *main_fn;
        void *arg;
        struct eddy_test_opts opts;
        struct eddy_test_explore_opts how;
        struct ed_test_more more;
        bool verbose;
        bool stopped; /* by runs_max */
        char name[ED_TEST_NAME_BYTES];
        struct eddy_test_explored all;
        struct parent *first, **last;
        size_t parents_bytes;

        /* The last run. */
        struct eddy_test_result result;
        struct ed_test_figures figures;
        struct ed_test_schedule chosen;
        char order[ED_TEST_ORDER_BYTES];
        uint8_t sizes[ED_TEST_CHOICES_MAX];
        char named[NAMED_BYTES]; /* by the program */
        size_t text_bytes;
        char text[EDDY_TEST_OUTPUT_MAX];
};

/* This thread's exploration. After a jump out of it, the next exploration frees it. */
static __thread struct explore *current __attribute__((tls_model("initial-exec")));

/* --- one run --- */

/* Called in each run. */
static void at_end(void)
{
        current->named[0] = '\0';
        current->how.outcome(current->arg, current->named, sizeof(current->named));
}

/*
 * 'text' gets the outcome. Errors: EDDY_E_RUN_NESTED, -EBUSY and others that prevent the run;
 * EDDY_E_TEST_FOUND: a choice point of an earlier run was not reached.
 */
static int run_once(struct explore *x, const struct eddy_test_opts *opts)
{
        int err;

        if (x->verbose)
                ed_test_print_before(x->name, opts);
        x->result.points = UINT64_MAX;
        x->chosen.count = 0;
        err = x->play(x->main_fn, x->arg, opts, &x->more, &x->result, &x->figures);
        if (x->result.points == UINT64_MAX)
                return err;
        x->all.runs++;
        if (x->figures.choices > x->all.choices)
                x->all.choices = x->figures.choices;
        x->text_bytes = x->figures.output_bytes;
        if (x->how.outcome) {
                x->text_bytes = strnlen(x->named, sizeof(x->named));
                memcpy(x->text, x->named, x->text_bytes);
        }
        return x->figures.missed > 0 ? EDDY_E_TEST_FOUND : 0;
}

/* Errors: -ENOMEM. */
static int count(struct explore *x, const struct eddy_test_opts *opts)
{
        struct ed_test_played played = { x->text, x->text_bytes, &x->result, &x->figures, opts };

        return ed_test_outcome_add(&x->all, x->name, &played);
}

/* The options of a run by a schedule, valid until the next call. */
static struct eddy_test_opts opts_of(struct explore *x, const struct ed_test_schedule *schedule)
{
        struct eddy_test_opts opts = x->opts;

        ed_test_schedule_write(schedule, x->order, sizeof(x->order));
        opts.order = x->order;
        return opts;
}

static int differs(struct explore *x, const struct eddy_test_opts *opts)
{
        x->all.runs--;
        if (x->how.quiet)
                return EDDY_E_TEST_FOUND;
        ed_test_print_differs(x->name, opts,
                              "a choice point of an earlier run was not reached again: the program "
                              "is not deterministic");
        return EDDY_E_TEST_FOUND;
}

/* --- systematically --- */

/* Not all schedules with more deviations were run. */
static void deviations_limit(struct explore *x, uint32_t most)
{
        if (x->all.deviations > most)
                x->all.deviations = most;
}

/* Keep the last run, if its schedule can be extended. Errors: -ENOMEM. */
static int parent_add(struct explore *x, const struct ed_test_schedule *schedule)
{
        uint32_t last = ed_test_schedule_last(schedule);
        uint64_t choices = x->figures.choices;
        struct parent *parent;
        size_t points, bytes;

        if (choices > ED_TEST_CHOICES_MAX || memchr(x->sizes, ED_LOOP_CHOICES_MAX, choices)) {
                x->all.complete = false;
                deviations_limit(x, schedule->count);
        }
        if (choices > ED_TEST_CHOICES_MAX)
                choices = ED_TEST_CHOICES_MAX;
        if (choices <= last)
                return 0;
        points = choices - last;
        bytes = sizeof(*parent) + points;
        if (schedule->count == x->how.deviations_max ||
            x->parents_bytes + bytes > EDDY_TEST_SCHEDULES_BYTES) {
                x->all.complete = false;
                deviations_limit(x, schedule->count);
                return 0;
        }
        parent = ed_alloc(bytes);
        if (!parent)
                return -ENOMEM;
        parent->next = NULL;
        parent->schedule = *schedule;
        parent->points = (uint32_t) points;
        memcpy(parent->sizes, x->sizes + last, points);
        *x->last = parent;
        x->last = &parent->next;
        x->parents_bytes += bytes;
        return 0;
}

/* Errors: those of run_once(); -ENOMEM. */
static int run_schedule(struct explore *x, const struct ed_test_schedule *schedule)
{
        struct eddy_test_opts opts = opts_of(x, schedule);
        int err = run_once(x, &opts);

        if (err == EDDY_E_TEST_FOUND)
                return differs(x, &opts);
        if (err < 0)
                return err;
        x->all.schedules++;
        err = count(x, &opts);
        return err < 0 ? err : parent_add(x, schedule);
}

static int run_children(struct explore *x, const struct parent *parent)
{
        uint32_t point = ed_test_schedule_last(&parent->schedule);
        int err = 0;

        for (uint32_t i = 0; i < parent->points; i++) {
                point++;
                for (uint32_t entry = 2; err == 0 && entry <= parent->sizes[i]; entry++) {
                        struct ed_test_schedule child = parent->schedule;

                        x->stopped = x->all.schedules >= x->how.runs_max;
                        if (x->stopped)
                                return 0;
                        (void) ed_test_schedule_add(&child, point, entry);
                        err = run_schedule(x, &child);
                }
        }
        return err;
}

static void parent_pop(struct explore *x)
{
        struct parent *parent = x->first;

        x->first = parent->next;
        if (!x->first)
                x->last = &x->first;
        x->parents_bytes -= sizeof(*parent) + parent->points;
        ed_free(parent);
}

static int run_schedules(struct explore *x)
{
        int err = 0;

        while (x->first && err == 0) {
                err = run_children(x, x->first);
                if (x->stopped) {
                        x->all.complete = false;
                        deviations_limit(x, x->first->schedule.count);
                        return 0;
                }
                parent_pop(x);
        }
        return err;
}

/* --- at random --- */

/* Returns 1 if the schedule has that outcome, 0 if not, or an error. */
static int has_outcome(struct explore *x, const struct ed_test_schedule *schedule, size_t i)
{
        uint64_t runs = x->all.outcomes[i].runs;
        struct eddy_test_opts opts = opts_of(x, schedule);
        int err = run_once(x, &opts);

        /* Without a former deviation there may be no such choice point. */
        if (err == EDDY_E_TEST_FOUND) {
                x->all.runs--;
                return 0;
        }
        if (err == 0) {
                x->all.schedules++;
                err = count(x, &opts);
        }
        return err < 0 ? err : x->all.outcomes[i].runs > runs;
}

/*
 * Look for a schedule that has the outcome of the last run, which had a seed, and then leave out
 * each deviation that is not needed.
 */
static int shorten(struct explore *x, size_t outcome)
{
        struct ed_test_schedule schedule = x->chosen, fewer;
        int has;

        /* It has deviations that were too many to record. */
        if (x->figures.deviations > schedule.count)
                return 0;
        has = has_outcome(x, &schedule, outcome);
        for (uint32_t i = schedule.count; i-- > 0 && has >= 0;) {
                fewer = schedule;
                memmove(&fewer.at[i], &fewer.at[i + 1], (--fewer.count - i) * sizeof(fewer.at[0]));
                has = has_outcome(x, &fewer, outcome);
                if (has == 1)
                        schedule = fewer;
        }
        return has < 0 ? has : 0;
}

static int run_seeds(struct explore *x)
{
        struct eddy_test_opts opts = x->opts;
        int err = 0;

        for (opts.seed = 1; opts.seed <= x->how.seeds && err == 0; opts.seed++) {
                size_t found = x->all.outcomes_count;

                err = run_once(x, &opts);
                if (err == 0)
                        err = count(x, &opts);
                if (err == 0 && x->all.outcomes_count > found)
                        err = shorten(x, found);
        }
        return err;
}

/* --- all --- */

static void explore_free(struct explore *x)
{
        while (x->first)
                parent_pop(x);
        eddy_test_explored_fini(&x->all);
        ed_free(x);
}

void ed_test_explore_forget(void)
{
        if (current)
                explore_free(current);
        current = NULL;
}

/* Errors: -ENOMEM. */
static int explore_new(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                       const struct eddy_test_explore_opts *how, struct explore **ret_x)
{
        struct explore *x = ed_alloc_zero(sizeof(*x));

        if (!x)
                return -ENOMEM;
        x->all.outcomes = ed_alloc_zero(EDDY_TEST_OUTCOMES_MAX * sizeof(*x->all.outcomes));
        if (!x->all.outcomes) {
                ed_free(x);
                return -ENOMEM;
        }
        x->main_fn = main_fn;
        x->arg = arg;
        if (opts)
                x->opts = *opts;
        if (how)
                x->how = *how;
        x->opts.order = NULL;
        if (x->how.deviations_max == 0)
                x->how.deviations_max = ED_TEST_DEVIATIONS;
        if (x->how.runs_max == 0)
                x->how.runs_max = ED_TEST_RUNS;
        x->last = &x->first;
        x->all.complete = true;
        x->all.deviations = x->how.deviations_max;
        x->more.sizes = x->sizes;
        x->more.schedule = &x->chosen;
        x->more.at_end = x->how.outcome ? at_end : NULL;
        x->more.output = x->text;
        x->more.output_max = sizeof(x->text);
        x->verbose = ed_test_number("EDDY_TEST_VERBOSE", 0) > 0;
        ed_test_name(&x->opts, main_fn, x->name, sizeof(x->name));
        *ret_x = x;
        return 0;
}

static int run_all(struct explore *x)
{
        static const struct ed_test_schedule none;
        int err = run_schedule(x, &none);

        if (err < 0)
                return err;
        err = run_schedules(x);
        if (err == 0)
                err = run_seeds(x);
        if (err == 0 && !x->how.quiet)
                ed_test_outcomes_print(&x->all, x->name);
        return err;
}

/* Make only the run that EDDY_TEST_REPLAY names. */
static int run_replay(struct explore *x, struct eddy_test_opts *opts)
{
        struct eddy_run_opts run;
        int err;

        ed_test_replay_trace(opts, &run);
        err = run_once(x, opts);
        if (err == EDDY_E_TEST_FOUND)
                ed_test_print_lines(x->name, opts, x->result.problem);
        if (err < 0)
                return err;
        err = count(x, opts);
        if (err == 0)
                ed_test_outcome_print_replay(&x->all);
        return err;
}

int ed_test_explore_with(ed_test_play_fn *play, eddy_task_fn *main_fn, void *arg,
                         const struct eddy_test_opts *opts,
                         const struct eddy_test_explore_opts *explore_opts,
                         struct eddy_test_explored *ret_explored)
{
        struct eddy_test_opts replay;
        struct explore *x;
        int err;

        if (!main_fn || (explore_opts && explore_opts->deviations_max > EDDY_TEST_DEVIATIONS_MAX))
                return -EINVAL;
        /* Memory that is allocated before this belongs to the run that was left. */
        err = ed_test_clear();
        if (err < 0)
                return err;
        ed_test_explore_forget();
        err = explore_new(main_fn, arg, opts, explore_opts, &x);
        if (err < 0)
                return err;
        x->play = play;
        current = x;
        replay = x->opts;
        err = ed_test_replay(x->name, &replay);
        x->all.is_replay = err >= 0;
        if (err == ED_TEST_REPLAY_NONE)
                err = run_all(x);
        else if (err == 1)
                err = run_replay(x, &replay);
        if (err < 0)
                x->all.complete = false;
        if (ret_explored && (err == 0 || play != ed_test_run_with)) {
                *ret_explored = x->all;
                x->all.outcomes = NULL;
                x->all.outcomes_count = 0;
        }
        ed_test_explore_forget();
        return err;
}

int eddy_test_explore(eddy_task_fn *main_fn, void *arg, const struct eddy_test_opts *opts,
                      const struct eddy_test_explore_opts *explore_opts,
                      struct eddy_test_explored *ret_explored)
{
        return ed_test_explore_with(ed_test_run_with, main_fn, arg, opts, explore_opts,
                                    ret_explored);
}
