/*
 * wait_scenarios.c - programs that wait for several things at once, and for
 * queues that are not plain.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

/* --- select --- */

enum { SIDES = 2, ITEMS = 80 };

/* Two queues and a channel between producers that put wherever there is room and consumers that take either. */
static struct junction {
        eddy_queue sides[SIDES];
        eddy_channel *channel;
        eddy_event finished; /* nobody will put any more */
        eddy_future stop;    /* never set */
        int64_t put, sum_put, got, sum_got;
        int producers;
} junction;

static int put_either(int64_t item)
{
        struct eddy_choice choices[] = {
                eddy_choice_put(&junction.sides[item % SIDES], &item),
                eddy_choice_future(&junction.stop),
                eddy_choice_put(&junction.sides[(item + 1) % SIDES], &item),
                eddy_choice_channel_put(junction.channel, &item),
        };
        int done = eddy_select(choices, 4);

        if (done < 0)
                return done;
        CHECK(done != 1);
        CHECK_EQ(choices[done].result, 0);
        junction.put++;
        junction.sum_put += item;
        return 0;
}

static int produce(void *arg)
{
        int err = 0;

        (void) arg;
        tasks_begun++;
        for (int64_t i = 1; i <= ITEMS && err == 0; i++)
                err = put_either(i);
        if (--junction.producers == 0)
                CHECK_EQ(eddy_event_set(&junction.finished), 0);
        tasks_ended++;
        return err;
}

/* 1: an item; 0: there will be none. */
static int take_either(void)
{
        int64_t items[SIDES + 1] = { -1, -1, -1 };
        struct eddy_choice choices[] = {
                eddy_choice_get(&junction.sides[0], &items[0]),
                eddy_choice_get(&junction.sides[1], &items[1]),
                eddy_choice_channel_get(junction.channel, &items[2]),
                eddy_choice_event(&junction.finished),
                eddy_choice_after(EDDY_MS(2)),
        };
        int done = eddy_select(choices, 5);

        for (int i = 0; i <= SIDES; i++)
                CHECK_EQ(items[i] == -1, i != done);
        if (done < 0 || done == 3)
                return done < 0 ? done : 0;
        if (done == 4)
                return 1;
        CHECK_EQ(choices[done].result, 0);
        junction.got++;
        junction.sum_got += items[done];
        return 1;
}

static int consume(void *arg)
{
        int err;

        (void) arg;
        tasks_begun++;
        while ((err = take_either()) > 0) {
                err = eddy_sleep(junction.got % 3 ? 0 : EDDY_MS(1));
                if (err < 0)
                        break;
        }
        tasks_ended++;
        return err;
}

static void check_junction_conserved(void)
{
        int64_t item;

        for (int i = 0; i < SIDES; i++) {
                while (eddy_queue_try_get(&junction.sides[i], &item) == 0) {
                        junction.got++;
                        junction.sum_got += item;
                }
                eddy_queue_fini(&junction.sides[i]);
        }
        while (eddy_channel_try_get(junction.channel, &item) == 0) {
                junction.got++;
                junction.sum_got += item;
        }
        eddy_channel_release(junction.channel);
        eddy_future_fini(&junction.stop);
        CHECK_EQ(junction.got, junction.put);
        CHECK_EQ(junction.sum_got, junction.sum_put);
}

int scenario_select(void *arg)
{
        eddy_scope scope;
        int started = 0, err;

        (void) arg;
        junction = (struct junction){ .producers = 2 };
        err = eddy_channel_new(sizeof(int64_t), 1, &junction.channel);
        if (err < 0)
                return err;
        for (int i = 0; i < SIDES; i++)
                CHECK_EQ(eddy_queue_init(&junction.sides[i], sizeof(int64_t), 2), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < 4; i++)
                started += eddy_scope_start(&scope, i < 2 ? produce : consume, NULL) == 0;
        err = eddy_scope_end(&scope);
        if (err == 0 && started < 4)
                err = -ECANCELED;
        if (err == 0 && !one_was_cancelled())
                CHECK_EQ(junction.got, 2 * ITEMS);
        check_junction_conserved();
        return err;
}

/* --- tasks --- */

enum { TASKS = 12, FAILING = 5, FAILURE = -1005 };

struct crowd {
        eddy_scope scope;
        eddy_task *tasks[TASKS];
        int64_t delays[TASKS];
};

static int takes_a_while(void *arg)
{
        int64_t delay_ns = *(int64_t *) arg;
        int err;

        tasks_begun++;
        err = eddy_sleep(delay_ns);
        tasks_ended++;
        if (err == 0 && delay_ns == EDDY_MS(FAILING))
                err = FAILURE;
        return err;
}

static int crowd_begin(struct crowd *crowd)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_KEEP_GOING };
        int err = 0;

        memset(crowd->tasks, 0, sizeof(crowd->tasks));
        eddy_scope_begin(&crowd->scope, &opts);
        for (int i = 0; i < TASKS && err == 0; i++) {
                crowd->delays[i] = EDDY_MS((i * 5) % TASKS);
                err = eddy_scope_start_task(&crowd->scope, takes_a_while, &crowd->delays[i], NULL,
                                            &crowd->tasks[i]);
        }
        return err;
}

/* 'err' is of what was done with them; one of them fails as it should. */
static int crowd_end(struct crowd *crowd, int err)
{
        int end_err;

        if (err < 0)
                eddy_scope_cancel(&crowd->scope);
        end_err = eddy_scope_end(&crowd->scope);
        for (int i = 0; i < TASKS; i++) {
                if (crowd->tasks[i])
                        CHECK(eddy_task_is_done(crowd->tasks[i]));
                eddy_task_release(crowd->tasks[i]);
        }
        if (err == 0 && end_err != FAILURE)
                err = end_err;
        return err;
}

static int count_done(const struct crowd *crowd)
{
        int done = 0;

        for (int i = 0; i < TASKS; i++)
                done += eddy_task_is_done(crowd->tasks[i]);
        return done;
}

static int wait_a_while(struct crowd *crowd)
{
        eddy_scope limit;
        int err;

        eddy_scope_begin(&limit, &(struct eddy_scope_opts){ .timeout_ns = EDDY_MS(2) });
        err = eddy_wait(crowd->tasks, TASKS, EDDY_WAIT_ALL);
        if (err > 0)
                CHECK_EQ(count_done(crowd), TASKS);
        err = eddy_scope_end(&limit);
        return err == -ETIMEDOUT ? 0 : err;
}

static int wait_for_crowd(struct crowd *crowd)
{
        int err;

        err = eddy_wait(crowd->tasks, TASKS, EDDY_WAIT_FIRST_COMPLETED);
        if (err < 0)
                return err;
        CHECK(err > 0);
        CHECK_EQ(err, count_done(crowd));
        err = wait_a_while(crowd);
        if (err < 0)
                return err;
        err = eddy_wait(crowd->tasks, TASKS, EDDY_WAIT_FIRST_FAILED);
        if (err < 0)
                return err;
        CHECK_EQ(err, count_done(crowd));
        CHECK(err == TASKS || eddy_task_is_done(crowd->tasks[1]));
        err = eddy_wait(crowd->tasks, 4, EDDY_WAIT_ALL);
        if (err < 0)
                return err;
        CHECK_EQ(err, 4);
        err = eddy_wait(crowd->tasks, TASKS, EDDY_WAIT_ALL);
        if (err > 0)
                CHECK_EQ(err, TASKS);
        return err < 0 ? err : 0;
}

int scenario_waits(void *arg)
{
        struct crowd crowd;
        int err;

        (void) arg;
        err = crowd_begin(&crowd);
        if (err == 0)
                err = wait_for_crowd(&crowd);
        return crowd_end(&crowd, err);
}

static struct {
        eddy_as_completed done;
        eddy_task *given[TASKS];
        int n;
} completed;

static int read_completed(void *arg)
{
        eddy_task *task;
        int err;

        (void) arg;
        tasks_begun++;
        while ((err = eddy_as_completed_next(&completed.done, &task)) > 0) {
                CHECK(eddy_task_is_done(task));
                CHECK(completed.n < TASKS);
                for (int i = 0; i < completed.n; i++)
                        CHECK(completed.given[i] != task);
                completed.given[completed.n++] = task;
        }
        tasks_ended++;
        return err;
}

static int read_all(void)
{
        eddy_scope readers;
        int started = 0, err;

        eddy_scope_begin(&readers, NULL);
        for (int i = 0; i < 3; i++)
                started += eddy_scope_start(&readers, read_completed, NULL) == 0;
        err = eddy_scope_end(&readers);
        return err == 0 && started < 3 ? -ECANCELED : err;
}

int scenario_completed(void *arg)
{
        eddy_task *twice[2 * TASKS];
        struct crowd crowd;
        int err;

        (void) arg;
        completed.n = 0;
        err = crowd_begin(&crowd);
        for (int i = 0; i < 2 * TASKS; i++)
                twice[i] = crowd.tasks[i % TASKS];
        if (err == 0)
                err = eddy_as_completed_begin(&completed.done, twice, 2 * TASKS);
        if (err == 0) {
                err = read_all();
                if (err == 0)
                        CHECK_EQ(completed.n, TASKS);
                eddy_as_completed_end(&completed.done);
        }
        return crowd_end(&crowd, err);
}

/* --- a queue of priorities, until all of it is done --- */

enum { PRIORITIES = 4, PRODUCERS = 3 };

struct job {
        int64_t number; /* of its producer's */
        int32_t priority;
        int32_t producer;
};

static struct {
        eddy_queue queue;
        int64_t put, sum_put, got, sum_got;
} jobs;

static int by_priority(const void *a, const void *b)
{
        const struct job *x = a, *y = b;

        return (x->priority > y->priority) - (x->priority < y->priority);
}

static int put_jobs(void *arg)
{
        struct job job = { .producer = *(int *) arg };
        int err = 0;

        tasks_begun++;
        for (int i = 1; i <= ITEMS && err == 0; i++) {
                job.number = i;
                job.priority = i * 7 % PRIORITIES;
                err = eddy_queue_put(&jobs.queue, &job);
                if (err == 0) {
                        jobs.put++;
                        jobs.sum_put += i;
                }
        }
        tasks_ended++;
        return err;
}

static int do_jobs(void *arg)
{
        struct job job;
        int err;

        (void) arg;
        tasks_begun++;
        while ((err = eddy_queue_get(&jobs.queue, &job)) == 0) {
                jobs.got++;
                jobs.sum_got += job.number;
                err = eddy_sleep(0);
                CHECK_EQ(eddy_queue_task_done(&jobs.queue), 0);
                if (err < 0)
                        break;
        }
        tasks_ended++;
        return err == -EPIPE ? 0 : err;
}

/* What a cancel left comes in order: the smallest first, and equal ones as they were put. */
static void take_what_is_left(void)
{
        int64_t last_number[PRIORITIES][PRODUCERS] = { { 0 } };
        int32_t last = 0;
        struct job job;

        while (eddy_queue_try_get(&jobs.queue, &job) == 0) {
                CHECK(job.priority >= last);
                CHECK(job.number > last_number[job.priority][job.producer]);
                CHECK_EQ(eddy_queue_task_done(&jobs.queue), 0);
                last = job.priority;
                last_number[job.priority][job.producer] = job.number;
                jobs.got++;
                jobs.sum_got += job.number;
        }
        CHECK_EQ(jobs.got, jobs.put);
        CHECK_EQ(jobs.sum_got, jobs.sum_put);
        eddy_queue_fini(&jobs.queue);
}

static int put_all_jobs(void)
{
        static int numbers[PRODUCERS] = { 0, 1, 2 };
        eddy_scope producers;
        int started = 0, err;

        eddy_scope_begin(&producers, NULL);
        for (int i = 0; i < PRODUCERS; i++)
                started += eddy_scope_start(&producers, put_jobs, &numbers[i]) == 0;
        err = eddy_scope_end(&producers);
        return err == 0 && started < PRODUCERS ? -ECANCELED : err;
}

int scenario_priority_queue(void *arg)
{
        eddy_scope consumers;
        int err, end_err;

        (void) arg;
        jobs.put = jobs.sum_put = jobs.got = jobs.sum_got = 0;
        CHECK_EQ(eddy_queue_init_priority(&jobs.queue, sizeof(struct job), 10, by_priority), 0);
        eddy_test_watch_queue(&jobs.queue);
        eddy_scope_begin(&consumers, NULL);
        for (int i = 0; i < 2; i++)
                (void) eddy_scope_start(&consumers, do_jobs, NULL);
        err = put_all_jobs();
        if (err == 0)
                err = eddy_queue_join(&jobs.queue);
        if (err == 0) {
                CHECK(jobs.got == PRODUCERS * ITEMS || one_was_cancelled());
                CHECK_EQ(eddy_queue_shutdown(&jobs.queue, EDDY_QUEUE_NOW), 0);
        } else {
                eddy_scope_cancel(&consumers);
        }
        end_err = eddy_scope_end(&consumers);
        take_what_is_left();
        return end_err < 0 ? end_err : err;
}
