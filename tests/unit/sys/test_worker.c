/*
 * test_worker.c - threads that run one job at a time: what a poll tells of
 * them, how they end and what becomes of those that are left behind, on the
 * kernel and in a simulation.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/list.h"
#include "sim/sim.h"
#include "sys/thread/worker_thread.h"
#include "test.h"

#define SEC ((int64_t) 1000000000)

/* A job that says when it runs, and may be held there. */
struct held {
        struct ed_job job;
        sem_t begun, go, left;
        bool holds;
        _Atomic int runs, leaves;
        int reported;
        pthread_t thread;
        bool blocked, faults_pass;
        char name[16];
};

static struct ed_sys *sys;

static struct held *held_of(struct ed_job *job)
{
        return ed_container_of(job, struct held, job);
}

static void held_run(struct ed_job *job)
{
        struct held *held = held_of(job);
        sigset_t mask;

        held->thread = pthread_self();
        CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
        held->blocked = sigismember(&mask, SIGTERM) && sigismember(&mask, SIGPIPE);
        held->faults_pass = !sigismember(&mask, SIGSEGV);
        CHECK_EQ(pthread_getname_np(pthread_self(), held->name, sizeof(held->name)), 0);
        sem_post(&held->begun);
        if (held->holds)
                while (sem_wait(&held->go) < 0)
                        continue;
        held->runs++;
}

static void held_leave(struct ed_job *job)
{
        struct held *held = held_of(job);

        CHECK_EQ(held->runs, 1);
        held->leaves++;
        sem_post(&held->left);
}

static void held_reported(struct ed_target *target, unsigned events)
{
        struct ed_job *job = ed_container_of(target, struct ed_job, done);

        (void) events;
        held_of(job)->reported++;
}

static void held_init(struct held *held, bool holds)
{
        *held = (struct held){ .holds = holds };
        held->job.run = held_run;
        held->job.leave = held_leave;
        held->job.done.on_events = held_reported;
        CHECK_EQ(sem_init(&held->begun, 0, 0), 0);
        CHECK_EQ(sem_init(&held->go, 0, 0), 0);
        CHECK_EQ(sem_init(&held->left, 0, 0), 0);
}

static void begin(void)
{
        CHECK_EQ(ed_sys_epoll_new(&sys), 0);
}

static struct ed_worker *worker_new(void)
{
        struct ed_worker *worker;

        CHECK_EQ(sys->worker->start(sys, "a name that is too long", &worker), 0);
        return worker;
}

static int poll_and_report(int64_t timeout_ns, int max)
{
        struct ed_event events[ED_EVENTS_MAX];
        int n = sys->poll->poll(sys, timeout_ns, events, max);

        for (int i = 0; i < n; i++)
                events[i].target->on_events(events[i].target, events[i].events);
        return n;
}

/* Poll until that number of jobs was reported. */
static void poll_for(int wanted)
{
        while (wanted > 0) {
                int n = poll_and_report(10 * SEC, ED_EVENTS_MAX);

                CHECK(n >= 0 && n <= wanted);
                wanted -= n;
        }
}

static void wait_for(sem_t *sem)
{
        while (sem_wait(sem) < 0)
                CHECK_EQ(errno, EINTR);
}

TEST(a_poll_reports_a_job_that_is_done)
{
        struct ed_worker *worker;
        struct held held;

        begin();
        worker = worker_new();
        CHECK_EQ(poll_and_report(0, ED_EVENTS_MAX), 0);
        /* Again and again on the same thread. */
        for (int i = 0; i < 100; i++) {
                held_init(&held, true);
                sys->worker->run(sys, worker, &held.job);
                wait_for(&held.begun);
                CHECK_EQ(poll_and_report(0, ED_EVENTS_MAX), 0);
                CHECK_EQ(held.reported, 0);
                sem_post(&held.go);
                poll_for(1);
                CHECK_EQ(held.reported, 1);
                CHECK_EQ(held.runs, 1);
                CHECK_EQ(held.leaves, 0);
        }
        sys->worker->end(sys, worker);
        sys->free(sys);
}

TEST(a_job_runs_on_a_thread_with_a_name_that_gets_no_signals)
{
        struct ed_worker *worker;
        struct held held;

        begin();
        worker = worker_new();
        held_init(&held, false);
        sys->worker->run(sys, worker, &held.job);
        poll_for(1);
        CHECK(!pthread_equal(held.thread, pthread_self()));
        CHECK(held.blocked);
        CHECK(held.faults_pass);
        CHECK_STR(held.name, "a name that is ");
        sys->worker->end(sys, worker);
        sys->free(sys);
}

TEST(a_worker_that_never_had_a_job_ends)
{
        begin();
        sys->worker->end(sys, worker_new());
        sys->free(sys);
}

enum { MANY = 100 };

TEST(more_jobs_than_a_poll_reports_are_reported_by_the_next)
{
        struct ed_worker *workers[MANY];
        static struct held held[MANY];
        int reported = 0;

        begin();
        for (int i = 0; i < MANY; i++) {
                workers[i] = worker_new();
                held_init(&held[i], false);
                sys->worker->run(sys, workers[i], &held[i].job);
        }
        for (int i = 0; i < MANY; i++)
                wait_for(&held[i].begun);
        while (reported < MANY) {
                int n = poll_and_report(10 * SEC, 3);

                CHECK(n >= 0 && n <= 3);
                reported += n;
        }
        for (int i = 0; i < MANY; i++) {
                CHECK_EQ(held[i].reported, 1);
                sys->worker->end(sys, workers[i]);
        }
        sys->free(sys);
}

static void on_nothing(struct ed_target *target, unsigned events)
{
        (void) target;
        (void) events;
}

enum { PIPES = 8, JOBS = 6 };

/* Make descriptors ready, poll for no more events than that, and undo it. */
static int poll_busy(int ends[PIPES][2])
{
        int n;

        for (int i = 0; i < PIPES; i++)
                CHECK_EQ(write(ends[i][1], "x", 1), 1);
        n = poll_and_report(0, 4);
        for (int i = 0; i < PIPES; i++) {
                char byte;

                CHECK_EQ(read(ends[i][0], &byte, 1), 1);
        }
        return n;
}

TEST(busy_descriptors_do_not_keep_back_jobs_that_are_done)
{
        static struct ed_target target = { .on_events = on_nothing };
        struct ed_worker *workers[JOBS];
        static struct held held[JOBS];
        int ends[PIPES][2], reported = 0;

        begin();
        for (int i = 0; i < PIPES; i++) {
                CHECK_EQ(pipe(ends[i]), 0);
                CHECK_EQ(sys->poll->watch(sys, ends[i][1], &target), 0);
                CHECK_EQ(sys->poll->watch(sys, ends[i][0], &target), 0);
        }
        for (int i = 0; i < JOBS; i++) {
                workers[i] = worker_new();
                held_init(&held[i], false);
                sys->worker->run(sys, workers[i], &held[i].job);
        }
        for (int round = 0; reported < JOBS; round++) {
                CHECK(round < 100000);
                CHECK(poll_busy(ends) <= 4);
                reported = 0;
                for (int i = 0; i < JOBS; i++)
                        reported += held[i].reported;
        }
        for (int i = 0; i < JOBS; i++)
                sys->worker->end(sys, workers[i]);
        for (int i = 0; i < PIPES; i++) {
                CHECK_EQ(close(ends[i][0]), 0);
                CHECK_EQ(close(ends[i][1]), 0);
        }
        sys->free(sys);
}

/* A table that only counts how often it is woken. */
static sem_t woken;

static void count_wake(struct ed_sys *table)
{
        (void) table;
        sem_post(&woken);
}

static const struct ed_sys_poll counting_poll = { .wake = count_wake };
static struct ed_sys counting = { .poll = &counting_poll };

static int list_count(struct ed_list *list)
{
        int n = 0;

        ed_list_each (link, list)
                n++;
        return n;
}

TEST(several_jobs_that_end_before_a_poll_wake_it_once)
{
        struct ed_event events[4];
        struct ed_workers workers;
        struct ed_worker *worker[3];
        struct held held[3];
        int n = 0, wakes;

        CHECK_EQ(sem_init(&woken, 0, 0), 0);
        ed_workers_init(&workers, &counting);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(ed_worker_new(&workers, "worker", &worker[i]), 0);
                held_init(&held[i], false);
                ed_worker_run(&counting, worker[i], &held[i].job);
        }
        wait_for(&woken);
        /* Nobody looks until all have ended. */
        for (bool all = false; !all;) {
                pthread_mutex_lock(&workers.lock);
                all = list_count(&workers.done) == 3;
                pthread_mutex_unlock(&workers.lock);
        }
        CHECK_EQ(sem_getvalue(&woken, &wakes), 0);
        CHECK_EQ(wakes, 0);
        n = ed_workers_collect(&workers, events, 4);
        CHECK_EQ(n, 3);
        for (int i = 0; i < 3; i++)
                ed_worker_free(&counting, worker[i]);
        ed_workers_fini(&workers);
}

/* --- left behind --- */

TEST(a_busy_worker_that_is_left_outlives_its_table)
{
        struct ed_worker *worker;
        struct held held;

        begin();
        worker = worker_new();
        held_init(&held, true);
        sys->worker->run(sys, worker, &held.job);
        wait_for(&held.begun);
        sys->worker->abandon(sys, worker);
        CHECK_EQ(held.leaves, 0);
        sys->free(sys);
        sem_post(&held.go);
        wait_for(&held.left);
        CHECK_EQ(held.runs, 1);
        CHECK_EQ(held.leaves, 1);
        CHECK_EQ(held.reported, 0);
}

TEST(a_worker_that_is_left_when_its_job_is_done_has_not_reported_it)
{
        struct ed_workers workers;
        struct ed_worker *worker;
        struct ed_event event;
        struct held held;

        CHECK_EQ(sem_init(&woken, 0, 0), 0);
        ed_workers_init(&workers, &counting);
        CHECK_EQ(ed_worker_new(&workers, "worker", &worker), 0);
        held_init(&held, false);
        ed_worker_run(&counting, worker, &held.job);
        wait_for(&woken);
        CHECK(ed_workers_have_done(&workers));
        ed_worker_abandon(&counting, worker);
        CHECK_EQ(held.leaves, 1);
        CHECK(!ed_workers_have_done(&workers));
        CHECK_EQ(ed_workers_collect(&workers, &event, 1), 0);
        ed_workers_fini(&workers);
}

/* Whenever a worker is left, its job is either reported or left, once. */
TEST(leaving_a_worker_races_with_the_end_of_its_job)
{
        enum { ROUNDS = 2000 };
        static struct held held;
        int left = 0;

        for (int i = 0; i < ROUNDS; i++) {
                struct ed_worker *worker;

                begin();
                worker = worker_new();
                held_init(&held, false);
                sys->worker->run(sys, worker, &held.job);
                if (i % 3 == 0)
                        wait_for(&held.begun);
                if (i % 3 == 1)
                        while (held.runs == 0)
                                (void) sched_yield();
                if (poll_and_report(0, ED_EVENTS_MAX) == 0) {
                        sys->worker->abandon(sys, worker);
                        sys->free(sys);
                        wait_for(&held.left);
                        left++;
                } else {
                        sys->worker->end(sys, worker);
                        sys->free(sys);
                }
                CHECK_EQ(held.runs, 1);
                CHECK_EQ(held.reported + held.leaves, 1);
        }
        printf("# %d of %d left\n", left, ROUNDS);
}

/* --- in a simulation --- */

static void begin_sim(uint64_t seed)
{
        struct ed_sim_opts opts = { .seed = seed };

        CHECK_EQ(ed_sim_new(&opts, &sys), 0);
}

TEST(a_simulated_job_lasts_and_is_done_by_the_poll)
{
        struct ed_worker *worker;
        struct held held;
        int64_t begun;

        begin_sim(0);
        worker = worker_new();
        held_init(&held, false);
        begun = sys->poll->now(sys);
        ed_sim_job_ns(sys, SEC);
        sys->worker->run(sys, worker, &held.job);
        CHECK_EQ(poll_and_report(SEC - 1, ED_EVENTS_MAX), 0);
        CHECK_EQ(held.runs, 0);
        CHECK_EQ(poll_and_report(-1, ED_EVENTS_MAX), 1);
        CHECK_EQ(held.runs, 1);
        CHECK_EQ(held.reported, 1);
        CHECK_EQ(sys->poll->now(sys) - begun, SEC);
        CHECK_EQ(poll_and_report(-1, ED_EVENTS_MAX), -EDEADLK);
        sys->worker->end(sys, worker);
        sys->free(sys);
}

TEST(a_simulated_worker_that_is_left_outlives_its_table)
{
        struct held early, late;
        struct ed_worker *workers[2];

        begin_sim(0);
        held_init(&early, false);
        held_init(&late, false);
        for (int i = 0; i < 2; i++) {
                workers[i] = worker_new();
                ed_sim_job_ns(sys, (i + 1) * SEC);
                sys->worker->run(sys, workers[i], i == 0 ? &early.job : &late.job);
                sys->worker->abandon(sys, workers[i]);
        }
        CHECK_EQ(poll_and_report(SEC + 1, ED_EVENTS_MAX), 0);
        CHECK_EQ(early.leaves, 1);
        CHECK_EQ(late.runs, 0);
        sys->free(sys);
        CHECK_EQ(late.leaves, 1);
        CHECK_EQ(early.reported + late.reported, 0);
}

/* Which of two jobs is done first follows from the seed, and shows in the trace. */
static uint64_t two_jobs(uint64_t seed, int *ret_first)
{
        struct ed_worker *workers[2];
        struct held held[2];
        uint64_t trace;

        begin_sim(seed);
        for (int i = 0; i < 2; i++) {
                workers[i] = worker_new();
                held_init(&held[i], false);
                sys->worker->run(sys, workers[i], &held[i].job);
        }
        CHECK(poll_and_report(-1, 1) == 1);
        *ret_first = held[0].reported ? 0 : 1;
        CHECK(poll_and_report(-1, 1) == 1);
        for (int i = 0; i < 2; i++)
                sys->worker->end(sys, workers[i]);
        trace = ed_sim_trace(sys);
        sys->free(sys);
        return trace;
}

TEST(a_seed_decides_which_of_two_jobs_is_done_first)
{
        int firsts[2] = { 0, 0 };

        for (uint64_t seed = 1; seed <= 40; seed++) {
                int first, again;

                CHECK_EQ(two_jobs(seed, &first), two_jobs(seed, &again));
                CHECK_EQ(first, again);
                firsts[first]++;
        }
        CHECK(firsts[0] > 5 && firsts[1] > 5);
}

TEST(making_a_simulated_worker_can_be_made_to_fail)
{
        struct ed_worker *worker;

        begin_sim(0);
        ed_sim_fail_at(sys, 1, -EAGAIN);
        CHECK_EQ(sys->worker->start(sys, "worker", &worker), -EAGAIN);
        sys->free(sys);
}
