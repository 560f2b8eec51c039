/*
 * core_scenarios.c - programs of tasks, scopes, queues and semaphores.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

enum { TASKS = 40, ITEMS = 300, UNITS = 3 };

int scenario_nothing(void *arg)
{
        (void) arg;
        return 0;
}

/*
 * The result of a scope in which so many tasks were to be started: those that
 * could not because it was cancelled before are no failure of it.
 */
static int all_started(int err, int started, int wanted)
{
        return err == 0 && started < wanted ? -ECANCELED : err;
}

/* --- scopes --- */

static int pause_a_little(void *arg)
{
        int err;

        (void) arg;
        tasks_begun++;
        err = eddy_sleep(EDDY_MS(1));
        tasks_ended++;
        return err;
}

static int clean_up(void)
{
        struct eddy_scope_opts shield = { .flags = EDDY_SCOPE_SHIELD };
        eddy_scope scope;
        int err;

        /* In a shield, what needs time gets it even when all around is cancelled. */
        eddy_scope_begin(&scope, &shield);
        err = eddy_sleep(EDDY_MS(1));
        CHECK_EQ(err, 0);
        (void) eddy_scope_start(&scope, pause_a_little, NULL);
        return eddy_scope_end(&scope);
}

int scenario_scopes(void *arg)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_SEC(5) };
        eddy_scope outer, inner;
        int started = 0, err, inner_err;

        (void) arg;
        eddy_scope_begin(&outer, &opts);
        for (int i = 0; i < TASKS; i++)
                started += eddy_scope_start(&outer, pause_a_little, NULL) == 0;
        eddy_scope_begin(&inner, NULL);
        for (int i = 0; i < TASKS; i++)
                started += eddy_scope_start(&inner, pause_a_little, NULL) == 0;
        inner_err = eddy_scope_end(&inner);
        err = eddy_scope_end(&outer);
        /* What was started has run, and has ended before its scope did. */
        CHECK_EQ(tasks_begun, started);
        CHECK_EQ(tasks_ended, started);
        if (err == 0)
                err = inner_err;
        err = all_started(err, started, 2 * TASKS);
        inner_err = clean_up();
        return err < 0 ? err : inner_err;
}

struct copy {
        int number;
        char filler[100];
        int *sum;
};

static int add_copy(void *arg)
{
        struct copy *copy = arg;
        int err;

        tasks_begun++;
        err = eddy_sleep(0);
        if (err == 0)
                *copy->sum += copy->number;
        tasks_ended++;
        return err;
}

static int say_ready(void *arg)
{
        int err;

        tasks_begun++;
        err = eddy_sleep(EDDY_MS(2));
        if (err == 0) {
                *(bool *) arg = true;
                eddy_task_ready();
                err = eddy_sleep(EDDY_MS(2));
        }
        tasks_ended++;
        return err;
}

int scenario_copies(void *arg)
{
        bool ready = false;
        eddy_scope scope;
        int sum = 0, err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 1; i <= TASKS; i++) {
                struct copy copy = { .number = i, .sum = &sum };

                (void) eddy_scope_start_copy(&scope, add_copy, &copy, sizeof(copy));
        }
        err = eddy_scope_start_ready(&scope, say_ready, &ready);
        if (err == 0)
                CHECK(ready);
        if (err < 0)
                eddy_scope_cancel(&scope);
        if (err < 0) {
                (void) eddy_scope_end(&scope);
                return err;
        }
        err = eddy_scope_end(&scope);
        if (err == 0 && !one_was_cancelled())
                CHECK_EQ(sum, TASKS * (TASKS + 1) / 2);
        return err;
}

static int sleep_long(void *arg)
{
        (void) arg;
        return eddy_sleep(EDDY_MIN(1));
}

static int count_long(void *arg)
{
        int err;

        (void) arg;
        tasks_begun++;
        err = eddy_sleep(EDDY_MIN(1));
        tasks_ended++;
        return err;
}

int scenario_timeouts(void *arg)
{
        struct eddy_scope_opts opts = { .timeout_ns = EDDY_MS(50) };
        int64_t begin = eddy_now();
        eddy_scope scope;
        int err;

        (void) arg;
        err = eddy_call_timeout(sleep_long, NULL, EDDY_MS(5));
        if (err != -ETIMEDOUT)
                return err;
        CHECK(eddy_now() - begin >= EDDY_MS(5));
        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < 5; i++)
                (void) eddy_scope_start(&scope, count_long, NULL);
        if (eddy_scope_set_deadline(&scope, begin + EDDY_MS(20)) == 0)
                CHECK_EQ(eddy_scope_deadline(&scope), begin + EDDY_MS(20));
        err = eddy_scope_end(&scope);
        if (err == -ETIMEDOUT) {
                CHECK(eddy_scope_expired(&scope));
                CHECK(eddy_now() - begin >= EDDY_MS(20));
        }
        return err == -ETIMEDOUT ? 0 : err;
}

static int fail_soon(void *arg)
{
        int err;

        tasks_begun++;
        err = eddy_sleep(EDDY_MS(*(int *) arg));
        tasks_ended++;
        return err < 0 ? err : -(*(int *) arg + 1000);
}

int scenario_failures(void *arg)
{
        static int delays[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18 };
        enum { N = sizeof(delays) / sizeof(delays[0]) };
        struct eddy_scope_errors errors;
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING, .errors = &errors };
        eddy_scope scope;
        int err;

        (void) arg;
        eddy_scope_begin(&scope, &opts);
        for (int i = 0; i < N; i++)
                (void) eddy_scope_start(&scope, fail_soon, &delays[i]);
        err = eddy_scope_end(&scope);
        if (err == -1001 && errors.count < N)
                return -ECANCELED;
        if (err != -1001)
                return err;
        CHECK_EQ(errors.listed, EDDY_SCOPE_ERRORS_MAX);
        for (int i = 0; i < EDDY_SCOPE_ERRORS_MAX; i++)
                CHECK_EQ(errors.list[i].result, -1001 - i);
        eddy_scope_begin(&scope, NULL);
        for (int i = N - 1; i >= 0; i--)
                (void) eddy_scope_start(&scope, fail_soon, &delays[i]);
        err = eddy_scope_end(&scope);
        return err == -1001 ? 0 : err;
}

/* --- handles --- */

static int square(void *arg)
{
        int number = *(int *) arg, err;

        tasks_begun++;
        err = eddy_sleep(EDDY_MS(1));
        tasks_ended++;
        return err < 0 ? err : number * number;
}

int scenario_handles(void *arg)
{
        enum { N = 10 };

        eddy_task *tasks[N] = { NULL };
        int numbers[N], err = 0, result, end_err;
        struct eddy_task_opts opts = { .flags = EDDY_TASK_STACK_64K };
        char name[16];
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < N && err == 0; i++) {
                numbers[i] = i;
                snprintf(name, sizeof(name), "square %d", i);
                opts.name = name;
                err = eddy_scope_start_task(&scope, square, &numbers[i], &opts, &tasks[i]);
                if (err == 0)
                        CHECK_STR(eddy_task_name(tasks[i]), name);
        }
        if (tasks[3])
                eddy_task_cancel(tasks[3]);
        if (tasks[4])
                err = eddy_task_join(tasks[4], &result);
        if (tasks[4] && err == 0)
                CHECK(result == 16 || result == -ECANCELED || result == -ENOMEM);
        end_err = eddy_scope_end(&scope);
        if (err == 0)
                err = end_err;
        for (int i = 0; i < N; i++) {
                if (!tasks[i])
                        continue;
                CHECK(eddy_task_is_done(tasks[i]));
                CHECK_EQ(eddy_task_result(tasks[i], &result), 0);
                if (i == 3)
                        CHECK_EQ(result, -ECANCELED);
                else if (err == 0)
                        CHECK(result == i * i || (result == -ECANCELED && one_was_cancelled()));
                eddy_task_release(tasks[i]);
        }
        return err;
}

/* --- queues --- */

struct line {
        eddy_queue queue;
        int64_t put, sum_put, got, sum_got;
        int producers;
};

static int produce(void *arg)
{
        struct line *line = arg;
        int err = 0;

        tasks_begun++;
        for (int64_t i = 1; i <= ITEMS && err == 0; i++) {
                err = eddy_queue_put(&line->queue, &i);
                if (err == 0) {
                        line->put++;
                        line->sum_put += i;
                }
        }
        if (--line->producers == 0)
                eddy_queue_shutdown(&line->queue, 0);
        tasks_ended++;
        return err;
}

static int consume(void *arg)
{
        struct line *line = arg;
        int64_t item;
        int err;

        tasks_begun++;
        while ((err = eddy_queue_get(&line->queue, &item)) == 0) {
                line->got++;
                line->sum_got += item;
                err = eddy_sleep(0);
                if (err < 0)
                        break;
        }
        tasks_ended++;
        return err == -EPIPE ? 0 : err;
}

static int run_line(uint32_t items_max)
{
        struct line line = { .producers = 2 };
        int64_t item;
        eddy_scope scope;
        int started = 0, err;

        err = eddy_queue_init(&line.queue, sizeof(int64_t), items_max);
        if (err < 0)
                return err;
        eddy_test_watch_queue(&line.queue);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                started += eddy_scope_start(&scope, i < 2 ? produce : consume, &line) == 0;
        err = all_started(eddy_scope_end(&scope), started, 4);
        /* Nothing is lost and nothing comes twice, also when all was cancelled. */
        while (eddy_queue_try_get(&line.queue, &item) == 0) {
                line.got++;
                line.sum_got += item;
        }
        CHECK_EQ(line.got, line.put);
        CHECK_EQ(line.sum_got, line.sum_put);
        if (err == 0 && !one_was_cancelled())
                CHECK_EQ(line.got, 2 * ITEMS);
        eddy_queue_fini(&line.queue);
        return err;
}

int scenario_queue(void *arg)
{
        (void) arg;
        return run_line(0);
}

int scenario_bounded_queue(void *arg)
{
        (void) arg;
        return run_line(4);
}

/* --- gathering --- */

int scenario_gather(void *arg)
{
        enum { N = 20 };

        int numbers[N], err;
        struct eddy_call calls[N];

        (void) arg;
        for (int flags = 0; flags <= EDDY_GATHER_KEEP_GOING; flags++) {
                for (int i = 0; i < N; i++) {
                        numbers[i] = i;
                        calls[i] = (struct eddy_call){ .fn = square, .arg = &numbers[i] };
                }
                err = eddy_gather(calls, N, (unsigned) flags);
                if (err < 0)
                        return err;
                for (int i = 0; i < N; i++) {
                        if (calls[i].result == -ENOMEM)
                                return -ENOMEM;
                        CHECK(calls[i].result == i * i ||
                              (calls[i].result == -ECANCELED && one_was_cancelled()));
                }
        }
        return 0;
}

/* --- the first good answer --- */

static int answer_in_time(void *arg)
{
        int number = *(const int *) arg, err;

        tasks_begun++;
        err = eddy_sleep(EDDY_MS(1) * (number % 3));
        tasks_ended++;
        return err < 0 ? err : number % 4 == 3 ? number : -EPERM;
}

int scenario_race(void *arg)
{
        enum { N = 10 };

        int numbers[N], won;
        struct eddy_call calls[N];

        (void) arg;
        for (int64_t stagger_ms = -1; stagger_ms <= 1; stagger_ms++) {
                for (int i = 0; i < N; i++) {
                        numbers[i] = i;
                        calls[i] = EDDY_CALL(answer_in_time, &numbers[i]);
                }
                won = eddy_race(calls, N, EDDY_MS(stagger_ms));
                CHECK_EQ(tasks_ended, tasks_begun);
                if (won < 0)
                        return won;
                CHECK_EQ(won % 4, 3);
                CHECK_EQ(calls[won].result, won);
        }
        return 0;
}

/* --- blocks --- */

static int work_long(void *arg)
{
        int err;

        (void) arg;
        tasks_begun++;
        err = eddy_sleep(EDDY_SEC(1));
        tasks_ended++;
        return err;
}

/* A failure of its own ends a block at once, whatever is done to the run. */
static int give_up(void)
{
        int64_t begin_ns = eddy_now();
        int err;

        EDDY_SCOPE (scope, &err) {
                for (int i = 0; i < TASKS; i++)
                        eddy_scope_start(&scope, work_long, NULL);
                err = -EPERM;
        }
        CHECK(err == -EPERM || err == -ENOMEM);
        CHECK(eddy_now() - begin_ns < EDDY_MS(500));
        CHECK_EQ(tasks_ended, tasks_begun);
        return err == -EPERM ? 0 : err;
}

int scenario_blocks(void *arg)
{
        int err;

        (void) arg;
        EDDY_SCOPE (scope, &err, .timeout_ns = EDDY_SEC(9)) {
                err = eddy_sleep(EDDY_MS(1));
                if (err < 0)
                        break;
                err = give_up();
                if (err < 0)
                        break;
                for (int i = 0; i < TASKS; i++)
                        eddy_scope_start(&scope, work_long, NULL);
                err = eddy_sleep(EDDY_MS(1));
        }
        return err;
}

/* --- background --- */

static int write_later(void *arg)
{
        int err;

        (void) arg;
        tasks_begun++;
        err = eddy_sleep(EDDY_MS(3));
        tasks_ended++;
        return err;
}

int scenario_background(void *arg)
{
        int err, first = 0;

        (void) arg;
        for (int i = 0; i < TASKS; i++) {
                err = eddy_background(write_later, NULL);
                if (first == 0)
                        first = err;
        }
        err = eddy_sleep(EDDY_MS(1));
        return first < 0 ? first : err;
}

/* --- semaphores --- */

struct hut {
        eddy_semaphore units;
        int inside;
        int visits;
};

static int visit(void *arg)
{
        struct hut *hut = arg;
        int err;

        tasks_begun++;
        err = eddy_semaphore_acquire(&hut->units);
        if (err == 0) {
                hut->inside++;
                CHECK(hut->inside <= UNITS);
                err = eddy_sleep(EDDY_MS(1));
                hut->inside--;
                hut->visits++;
                CHECK_EQ(eddy_semaphore_release(&hut->units), 0);
        }
        tasks_ended++;
        return err;
}

int scenario_semaphore(void *arg)
{
        struct hut hut = { 0 };
        eddy_scope scope;
        int started = 0, err;

        (void) arg;
        eddy_semaphore_init(&hut.units, UNITS, EDDY_SEMAPHORE_BOUNDED);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < TASKS; i++)
                started += eddy_scope_start(&scope, visit, &hut) == 0;
        err = all_started(eddy_scope_end(&scope), started, TASKS);
        /* A cancelled waiter leaves its unit to the others. */
        CHECK_EQ(eddy_semaphore_units(&hut.units), UNITS);
        CHECK_EQ(eddy_semaphore_waiting(&hut.units), 0);
        if (err == 0 && !one_was_cancelled())
                CHECK_EQ(hut.visits, TASKS);
        return err;
}
