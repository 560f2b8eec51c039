/*
 * calls_tasks.c - the worlds of time, scopes, tasks, futures, waits and
 * generators; see every_call.h.
 */
#include "every_call.h"
#include "scope/task.h"

enum { KIDS = 3, FAILURE = -1005 };

/* --- time --- */

static int sleep_a_while(void *arg)
{
        int64_t begin_ns = eddy_now(), for_ns = world_delay_ns();
        int err = eddy_sleep(for_ns);

        (void) arg;
        CHECK_EQ(err == 0 || eddy_now() - begin_ns <= for_ns + EDDY_MS(1), 1);
        if (err == 0)
                CHECK(eddy_now() - begin_ns >= for_ns);
        return err;
}

static int sleep_twice(void *arg)
{
        int err = 0;

        for (int i = 0; i < 2 && err == 0; i++) {
                world_pause();
                err = victim_call(sleep_a_while, arg);
                CHECK(err == 0 || err == -ECANCELED);
        }
        return 0;
}

static int world_sleep(void *arg)
{
        int n = 3 + (int) world_chance(4);

        world_begin(2 * n);
        world_run(sleep_twice, arg, n);
        return 0;
}
EVERY_POINT(sleep, eddy_sleep)

/* --- families: a task and those it starts --- */

/* One of a victim's own. */
struct kid {
        int64_t delay_ns;
        int result;        /* when it is not stopped */
        bool begun, ended; /* seen from outside */
        bool stopped;      /* it was stopped */
        bool ready, slow;  /* says that it is ready; goes on after that */
};

static void kid_make(struct kid *kid)
{
        *kid = (struct kid){ .delay_ns = world_delay_ns(),
                             .result = world_chance(5) == 0 ? FAILURE : (int) world_chance(3),
                             .ready = world_chance(3) > 0,
                             .slow = world_chance(2) };
}

static int kid_main(void *arg)
{
        struct kid *kid = arg;
        int err;

        kid->begun = true;
        err = eddy_sleep(kid->delay_ns);
        if (err == 0 && kid->ready) {
                eddy_task_ready();
                if (kid->slow)
                        err = eddy_sleep(kid->delay_ns);
        }
        kid->stopped = err == -ECANCELED;
        /* In a shield, so that who waits for it has to. */
        if (world_chance(3) == 0) {
                eddy_scope shield;

                eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                CHECK_EQ(eddy_scope_end(&shield), 0);
        }
        kid->ended = true;
        return err < 0 ? err : kid->result;
}

/* Some victims, each with a family of its own, beside others that give way. */
static int world_of_victims(eddy_task_fn *fn)
{
        int n = 1 + (int) world_chance(3);

        world_begin(n);
        world_run(fn, NULL, n);
        return 0;
}

/* Waits for all whatever comes: no kid runs when it returns. */
static int end_scope(void *arg)
{
        struct kid kids[KIDS];
        bool failed = false;
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < KIDS; i++) {
                kid_make(&kids[i]);
                err = eddy_scope_start(&scope, kid_main, &kids[i]);
                CHECK(err == 0 || err == -ECANCELED);
                kids[i].ended = err < 0;
        }
        err = eddy_scope_end(&scope);
        for (int i = 0; i < KIDS; i++) {
                CHECK(kids[i].ended);
                failed |= kids[i].begun && !kids[i].stopped && kids[i].result < 0;
        }
        CHECK_EQ(err == FAILURE, failed);
        CHECK(err == FAILURE || err == 0 || err == -ECANCELED);
        return err;
}

static int end_scopes(void *arg)
{
        world_pause();
        (void) victim_call(end_scope, arg);
        return 0;
}

static int world_scope_end(void *arg)
{
        (void) arg;
        return world_of_victims(end_scopes);
}
EVERY_POINT(scope_end, eddy_scope_end)

/* A failure of the block counts as one of a kid does: the first in time is the result. */
static int end_scope_with(void *arg)
{
        static const int results[] = { 0, 3, -1006, -ECANCELED };
        struct eddy_scope_opts opts = { .flags = world_chance(2) ? EDDY_SCOPE_KEEP_GOING : 0 };
        int result = results[world_chance(4)], err;
        struct eddy_scope_errors errors;
        struct kid kids[KIDS];
        uint64_t failed;
        eddy_scope scope;

        (void) arg;
        opts.errors = &errors;
        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < KIDS; i++) {
                kid_make(&kids[i]);
                kids[i].ended = eddy_scope_start(&scope, kid_main, &kids[i]) < 0;
        }
        if (world_chance(2) && eddy_sleep(world_delay_ns()) == -ECANCELED)
                result = -ECANCELED;
        failed = result < 0 && !(result == -ECANCELED && eddy_scope_is_cancelled(&scope));
        err = eddy_scope_end_with(&scope, result);
        for (int i = 0; i < KIDS; i++) {
                CHECK(kids[i].ended);
                failed += kids[i].begun && !kids[i].stopped && kids[i].result < 0;
        }
        CHECK_EQ(errors.count, failed);
        if (failed) {
                CHECK_EQ(err, errors.list[0].result);
                return 0;
        }
        CHECK(err == -ECANCELED || (err == result && result >= 0));
        return err < 0 ? err : 0;
}

static int end_scopes_with(void *arg)
{
        world_pause();
        (void) victim_call(end_scope_with, arg);
        return 0;
}

static int world_scope_end_with(void *arg)
{
        (void) arg;
        return world_of_victims(end_scopes_with);
}
EVERY_POINT(scope_end_with, eddy_scope_end_with)

/* A failure before it is ready is the starter's, or, when that was cancelled, the scope's. */
static int start_ready(void *arg)
{
        eddy_scope scope;
        struct kid kid;
        int err, end_err;

        (void) arg;
        kid_make(&kid);
        eddy_scope_begin(&scope, NULL);
        err = eddy_scope_start_ready(&scope, kid_main, &kid);
        if (err == 0)
                CHECK(kid.ready);
        else if (err == EDDY_E_TASK_NOT_READY)
                CHECK(kid.ended && kid.result >= 0);
        else
                CHECK(err == -ECANCELED || (err == FAILURE && kid.ended));
        end_err = eddy_scope_end(&scope);
        CHECK_EQ(kid.ended, kid.begun);
        CHECK(end_err == 0 || end_err == -ECANCELED || end_err == FAILURE);
        if (err == FAILURE || err == EDDY_E_TASK_NOT_READY)
                CHECK(end_err != FAILURE);
        return err < 0 ? err : end_err;
}

static int start_ready_ones(void *arg)
{
        world_pause();
        (void) victim_call(start_ready, arg);
        return 0;
}

static int world_start_ready(void *arg)
{
        (void) arg;
        return world_of_victims(start_ready_ones);
}
EVERY_POINT(start_ready, eddy_scope_start_ready)

/* Its own deadline and a cancel from outside, also at one time. */
static int call_in_time(void *arg)
{
        int64_t timeout_ns = world_delay_ns();
        struct kid kid;
        int err;

        (void) arg;
        kid_make(&kid);
        err = eddy_call_timeout(kid_main, &kid, timeout_ns > 0 ? timeout_ns : EDDY_MS(1));
        CHECK_EQ(kid.ended, 1);
        CHECK_EQ(err == kid.result, !kid.stopped);
        if (kid.stopped)
                CHECK(err == -ECANCELED || err == -ETIMEDOUT);
        return err;
}

static int call_ones(void *arg)
{
        world_pause();
        (void) victim_call(call_in_time, arg);
        return 0;
}

static int world_call_timeout(void *arg)
{
        (void) arg;
        return world_of_victims(call_ones);
}
EVERY_POINT(call_timeout, eddy_call_timeout)

static int gather_kids(void *arg)
{
        unsigned flags = world_chance(2) ? EDDY_GATHER_KEEP_GOING : 0;
        struct eddy_call calls[KIDS];
        struct kid kids[KIDS];
        int err, failed = 0;

        (void) arg;
        for (int i = 0; i < KIDS; i++) {
                kid_make(&kids[i]);
                calls[i] = (struct eddy_call){ kid_main, &kids[i], 1000 };
        }
        err = eddy_gather(calls, KIDS, flags);
        for (int i = 0; i < KIDS; i++) {
                CHECK_EQ(kids[i].ended, kids[i].begun);
                CHECK_EQ(calls[i].result,
                         kids[i].begun && !kids[i].stopped ? kids[i].result : -ECANCELED);
                failed += calls[i].result == FAILURE;
        }
        CHECK(err == 0 || err == -ECANCELED || (err == FAILURE && failed && !flags));
        if (err == 0)
                CHECK(flags || failed == 0);
        return err;
}

static int gather_ones(void *arg)
{
        world_pause();
        (void) victim_call(gather_kids, arg);
        return 0;
}

static int world_gather(void *arg)
{
        (void) arg;
        return world_of_victims(gather_ones);
}
EVERY_POINT(gather, eddy_gather)

/* A kid that succeeds is never lost: it wins, or another did, and its result is kept. */
static int race_kids(void *arg)
{
        static const int64_t staggers_ns[] = { 0, EDDY_MS(1), -1 };
        int64_t stagger_ns = staggers_ns[world_chance(3)];
        struct eddy_call calls[KIDS];
        int won, good = 0, failed = 0;
        struct kid kids[KIDS];

        (void) arg;
        for (int i = 0; i < KIDS; i++) {
                kid_make(&kids[i]);
                calls[i] = EDDY_CALL(kid_main, &kids[i]);
        }
        won = eddy_race(calls, KIDS, stagger_ns);
        for (int i = 0; i < KIDS; i++) {
                bool has_result = kids[i].begun && !kids[i].stopped;

                CHECK_EQ(kids[i].ended, kids[i].begun);
                CHECK_EQ(calls[i].result, has_result ? kids[i].result : -ECANCELED);
                good += has_result && kids[i].result >= 0;
                failed += has_result && kids[i].result < 0;
        }
        CHECK_EQ(won >= 0, good > 0);
        if (won >= 0)
                CHECK(won < KIDS && calls[won].result >= 0);
        else
                CHECK(won == -ECANCELED || (won == FAILURE && failed == KIDS));
        return won < 0 ? won : 0;
}

static int race_ones(void *arg)
{
        world_pause();
        (void) victim_call(race_kids, arg);
        return 0;
}

static int world_race(void *arg)
{
        (void) arg;
        return world_of_victims(race_ones);
}
EVERY_POINT(race, eddy_race)

/* --- tasks and futures that others wait for --- */

static struct {
        struct kid kids[KIDS];
        eddy_task *tasks[KIDS];
        eddy_future future;
        bool future_set;
        eddy_as_completed completed;
        int given, ended_calls;
        bool seen[KIDS];
} crowd;

static void crowd_begin(eddy_scope *scope)
{
        static const struct eddy_scope_opts keep_going = { .flags = EDDY_SCOPE_KEEP_GOING };

        memset(&crowd, 0, sizeof(crowd));
        eddy_scope_begin(scope, &keep_going);
        for (int i = 0; i < KIDS; i++) {
                kid_make(&crowd.kids[i]);
                CHECK_EQ(eddy_scope_start_task(scope, kid_main, &crowd.kids[i], NULL,
                                               &crowd.tasks[i]),
                         0);
        }
}

/* The waits never cancel what they wait for. */
static void crowd_end(eddy_scope *scope)
{
        int failed = 0, err = eddy_scope_end(scope);

        for (int i = 0; i < KIDS; i++) {
                CHECK(crowd.kids[i].ended && !crowd.kids[i].stopped);
                failed += crowd.kids[i].result == FAILURE;
                CHECK(!crowd.tasks[i]->joiners[0]);
                eddy_task_release(crowd.tasks[i]);
        }
        CHECK_EQ(err, failed ? FAILURE : 0);
}

static int join_one(void *arg)
{
        int i = (int) world_chance(KIDS), result = 1000;
        int err = eddy_task_join(crowd.tasks[i], &result);

        (void) arg;
        CHECK_EQ(result, err == 0 ? crowd.kids[i].result : 1000);
        return err;
}

static int join_ones(void *arg)
{
        int err;

        world_pause();
        err = victim_call(join_one, arg);
        CHECK(err == 0 || err == -ECANCELED);
        return 0;
}

static int world_task_join(void *arg)
{
        int n = 1 + (int) world_chance(4);
        eddy_scope scope;

        crowd_begin(&scope);
        world_begin(n);
        world_start(&scope, join_ones, arg, n);
        crowd_end(&scope);
        return 0;
}
EVERY_POINT(task_join, eddy_task_join)

static int count_ended(void)
{
        int n = 0;

        for (int i = 0; i < KIDS; i++)
                n += eddy_task_is_done(crowd.tasks[i]);
        return n;
}

static int wait_for_kids(void *arg)
{
        static const int modes[] = { EDDY_WAIT_ALL, EDDY_WAIT_FIRST_COMPLETED,
                                     EDDY_WAIT_FIRST_FAILED };
        int until = modes[world_chance(3)], n, result;

        (void) arg;
        n = eddy_wait(crowd.tasks, KIDS, until);
        if (n < 0)
                return n;
        /* It may be more by now than when the wait was over. */
        CHECK(n >= 1 && n <= count_ended());
        if (until == EDDY_WAIT_ALL)
                CHECK_EQ(n, KIDS);
        if (until == EDDY_WAIT_FIRST_FAILED && n < KIDS) {
                bool failed = false;

                for (int i = 0; i < KIDS; i++)
                        failed |= eddy_task_result(crowd.tasks[i], &result) == 0 && result < 0;
                CHECK(failed);
        }
        return 0;
}

static int wait_ones(void *arg)
{
        int err;

        world_pause();
        err = victim_call(wait_for_kids, arg);
        CHECK(err == 0 || err == -ECANCELED);
        return 0;
}

static int world_wait(void *arg)
{
        int n = 1 + (int) world_chance(4);
        eddy_scope scope;

        crowd_begin(&scope);
        world_begin(n);
        world_start(&scope, wait_ones, arg, n);
        crowd_end(&scope);
        return 0;
}
EVERY_POINT(wait, eddy_wait)

static int take_completed(void *arg)
{
        eddy_task *task = NULL;
        int n = eddy_as_completed_next(&crowd.completed, &task);

        (void) arg;
        CHECK_EQ(n == 1, task != NULL);
        if (n <= 0)
                return n == 0 ? 1 : n;
        CHECK(eddy_task_is_done(task));
        for (int i = 0; i < KIDS; i++)
                if (crowd.tasks[i] == task) {
                        CHECK(!crowd.seen[i]);
                        crowd.seen[i] = true;
                        crowd.given++;
                }
        return 0;
}

static int take_as_completed(void *arg)
{
        int err = 0;

        world_pause();
        while (err == 0) {
                err = victim_call(take_completed, arg);
                CHECK(err == 0 || err == 1 || err == -ECANCELED);
        }
        return 0;
}

static int world_as_completed(void *arg)
{
        int n = 1 + (int) world_chance(3);
        eddy_scope scope;
        eddy_task *task;

        crowd_begin(&scope);
        CHECK_EQ(eddy_as_completed_begin(&crowd.completed, crowd.tasks, KIDS), 0);
        world_begin(n);
        world_run(take_as_completed, arg, n);
        /* What the cancelled left can still be had. */
        while (eddy_as_completed_next(&crowd.completed, &task) == 1)
                crowd.given++;
        CHECK_EQ(crowd.given, KIDS);
        eddy_as_completed_end(&crowd.completed);
        crowd_end(&scope);
        return 0;
}
EVERY_POINT(as_completed, eddy_as_completed_next)

static int await_future(void *arg)
{
        int result = 1000, err = eddy_future_wait(&crowd.future, &result);

        (void) arg;
        CHECK_EQ(result, err == 0 ? 5 : 1000);
        if (err == 0)
                CHECK(crowd.future_set);
        return err;
}

static int await_futures(void *arg)
{
        int err;

        world_pause();
        err = victim_call(await_future, arg);
        CHECK(err == 0 || err == -ECANCELED);
        return 0;
}

static int set_future(void *arg)
{
        (void) arg;
        world_pause();
        crowd.future_set = true;
        CHECK_EQ(eddy_future_set(&crowd.future, 5, &crowd), 0);
        return 0;
}

static int world_future(void *arg)
{
        int n = 1 + (int) world_chance(4);
        eddy_scope scope;

        memset(&crowd, 0, sizeof(crowd));
        world_begin(n);
        eddy_scope_begin(&scope, NULL);
        world_start(&scope, await_futures, arg, n);
        world_start(&scope, set_future, arg, 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK(!crowd.future.waiters[0]);
        CHECK(!eddy_future_is_cancelled(&crowd.future));
        eddy_future_fini(&crowd.future);
        return 0;
}
EVERY_POINT(future, eddy_future_wait)

/* --- generators --- */

enum { VALUES = 4 };

static struct {
        eddy_generator gen;
        int got, yielded;
        bool begun, cleaned, victim_yields, fails;
        int64_t value, item; /* to yield, while it is yielded */
} source;

/* Nobody may look at the item when this has returned. */
static int yield_value(void *arg)
{
        int err;

        (void) arg;
        source.item = source.value;
        err = eddy_generator_yield(&source.gen, &source.item);
        source.item = -7;
        return err;
}

static int give_values(eddy_generator *gen, void *arg)
{
        int err = 0;

        (void) gen;
        (void) arg;
        source.begun = true;
        for (source.value = 1; source.value <= VALUES && err == 0; source.value++) {
                if (world_chance(2))
                        err = eddy_sleep(world_delay_ns());
                if (err == 0)
                        err = source.victim_yields ? victim_call(yield_value, NULL)
                                                   : yield_value(NULL);
                CHECK(err == 0 || err == -ECANCELED);
                source.yielded += err == 0;
        }
        if (world_chance(2)) {
                eddy_scope shield;

                eddy_scope_begin(&shield, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_SHIELD });
                CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                CHECK_EQ(eddy_scope_end(&shield), 0);
        }
        source.cleaned = true;
        if (err == 0 && source.fails)
                return FAILURE;
        return 0;
}

static int next_value(void *arg)
{
        int64_t value = -1;
        int err = eddy_generator_next(&source.gen, &value);

        (void) arg;
        CHECK_EQ(err == 1, value != -1);
        /* In order, none left out and none twice. */
        if (err == 1)
                CHECK_EQ(value, ++source.got);
        return err;
}

static void source_begin(eddy_scope *scope)
{
        memset(&source, 0, sizeof(source));
        source.fails = world_chance(3) == 0;
        eddy_scope_begin(scope, NULL);
        eddy_generator_begin(&source.gen, scope, give_values, NULL, sizeof(int64_t));
}

/* Who does not wait long: the value is made for nobody, and kept. */
static int next_value_soon(void)
{
        int64_t timeout_ns = world_delay_ns();
        int err = eddy_call_timeout(next_value, NULL, timeout_ns > 0 ? timeout_ns : EDDY_US(1));

        return err == -ETIMEDOUT ? 1 : err;
}

static int ask_for_values(void *arg)
{
        int err = 1;

        while (err == 1) {
                world_pause();
                err = source.victim_yields && world_chance(2) ? next_value_soon()
                                                              : victim_call(next_value, arg);
                CHECK(err == 1 || err == 0 || err == FAILURE || err == -ECANCELED);
        }
        return 0;
}

/* Who asks is cancelled; somebody else goes on where it left off. */
static int world_generator_next(void *arg)
{
        eddy_scope scope;
        int err;

        source_begin(&scope);
        world_begin(VALUES + 1);
        world_run(ask_for_values, arg, 1);
        if (world_chance(2)) {
                while ((err = next_value(NULL)) == 1)
                        world_pause();
                CHECK(err == 0 || (err == FAILURE && source.fails));
                CHECK_EQ(source.got, VALUES);
        }
        err = eddy_scope_end(&scope);
        CHECK(err == 0 || (err == FAILURE && source.fails));
        CHECK_EQ(source.cleaned, source.begun);
        return 0;
}
EVERY_POINT(generator_next, eddy_generator_next)

/* The generator is, and with it at times who asks. */
static int world_generator_yield(void *arg)
{
        eddy_scope scope;
        int err;

        source_begin(&scope);
        source.victim_yields = true;
        world_begin(VALUES);
        world_run(ask_for_values, arg, 1);
        /* It has ended early, or is closed by the scope. */
        if (world_chance(2)) {
                err = next_value(NULL);
                CHECK(err == 0 || err == 1 || (err == FAILURE && source.fails));
        }
        world_cancels_too();
        err = eddy_scope_end(&scope);
        CHECK(err == 0 || (err == FAILURE && source.fails));
        CHECK_EQ(source.cleaned, source.begun);
        return 0;
}
EVERY_POINT(generator_yield, eddy_generator_yield)

static int close_source(void *arg)
{
        int err = eddy_generator_close(&source.gen);

        (void) arg;
        CHECK(err == 0 || (err == FAILURE && source.fails));
        /* It waits for its end, cancelled or not. */
        CHECK_EQ(source.cleaned, source.begun);
        CHECK_EQ(eddy_generator_close(&source.gen), 0);
        return err;
}

static int use_and_close(void *arg)
{
        int times = (int) world_chance(VALUES), err = 1;

        for (int i = 0; i < times && err == 1; i++) {
                err = next_value(arg);
                CHECK_EQ(err, 1);
        }
        (void) victim_call(close_source, arg);
        CHECK_EQ(eddy_generator_next(&source.gen, &source.value) <= 0, 1);
        return 0;
}

static int tick(void *arg)
{
        (void) arg;
        for (int i = 0; i < 4; i++)
                world_pause();
        return 0;
}

static int world_generator_close(void *arg)
{
        eddy_scope scope;

        source_begin(&scope);
        world_begin(1);
        world_start(&scope, use_and_close, arg, 1);
        world_start(&scope, tick, arg, 2);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(source.cleaned, source.begun);
        return 0;
}
EVERY_POINT(generator_close, eddy_generator_close)
