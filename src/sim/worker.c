/*
 * sim/worker.c - threads of a simulation: a job takes some time of the virtual clock, and poll()
 * calls its function at the end of that time on the loop's thread. The seed alone decides which of
 * several jobs ends first, and what happens while a job runs.
 */
#include <errno.h>

#include "base/alloc.h"
#include "sim/table.h"

enum { CPUS = 4 };

struct sim_worker {
        struct ed_worker base;
        struct ed_list running; /* in the table's list while the worker has a job */
        uint32_t number;
        int64_t end_ns; /* when the job is done */
        bool abandoned;
};

uint32_t ed_sim_cpu_count(struct ed_sys *sys)
{
        (void) sys;
        return CPUS;
}

void ed_sim_job_ns(struct ed_sys *sys, int64_t job_ns)
{
        ed_sim_of(sys)->job_ns = job_ns;
}

int ed_sim_worker_new(struct ed_sys *sys, const char *name, struct ed_worker **ret_worker)
{
        struct ed_sim *sim = ed_sim_of(sys);
        struct sim_worker *w;
        int err = ed_sim_fault(sim, ED_SIM_CALL_WORKER_NEW);

        (void) name;
        if (err < 0)
                return err;
        w = ed_alloc_zero(sizeof(*w));
        if (!w)
                return -ENOMEM;
        ed_list_init(&w->running);
        w->number = ++sim->workers;
        ed_sim_mark(sim, ED_SIM_WORKER, w->number, 1);
        *ret_worker = &w->base;
        return 0;
}

void ed_sim_worker_run(struct ed_sys *sys, struct ed_worker *worker, struct ed_job *job)
{
        struct sim_worker *w = ed_container_of(worker, struct sim_worker, base);
        struct ed_sim *sim = ed_sim_of(sys);
        int64_t job_ns = sim->job_ns;

        ed_assert(!worker->job, "a worker was given a job while it had one");
        if (sim->opts.seed)
                job_ns = 1 + (int64_t) ed_sim_chance(sim, 2 * (uint64_t) job_ns);
        worker->job = job;
        w->end_ns = sim->now_ns + job_ns;
        ed_list_push_back(&sim->running, &w->running);
        ed_sim_mark(sim, ED_SIM_JOB, w->number, (uint64_t) w->end_ns);
}

void ed_sim_worker_free(struct ed_sys *sys, struct ed_worker *worker)
{
        struct sim_worker *w = ed_container_of(worker, struct sim_worker, base);

        ed_assert(!worker->job, "a worker was freed that has a job");
        ed_sim_mark(ed_sim_of(sys), ED_SIM_WORKER, w->number, 0);
        ed_free(w);
}

void ed_sim_worker_abandon(struct ed_sys *sys, struct ed_worker *worker)
{
        struct sim_worker *w = ed_container_of(worker, struct sim_worker, base);

        ed_assert(worker->job, "a worker was abandoned that has no job");
        w->abandoned = true;
        ed_sim_mark(ed_sim_of(sys), ED_SIM_WORKER, w->number, 2);
}

/* Returns the worker whose job is done first, or NULL. */
static struct sim_worker *first_done(const struct ed_sim *sim)
{
        struct sim_worker *first = NULL;

        ed_list_each (link, &sim->running) {
                struct sim_worker *w = ed_container_of(link, struct sim_worker, running);

                if (!first || w->end_ns < first->end_ns)
                        first = w;
        }
        return first;
}

int64_t ed_sim_worker_next(const struct ed_sim *sim)
{
        const struct sim_worker *w = first_done(sim);

        return w ? w->end_ns : -1;
}

/* Run a worker's job. Returns the job if its completion must be reported, else NULL. */
static struct ed_job *finish(struct ed_sim *sim, struct sim_worker *w)
{
        struct ed_job *job = w->base.job;

        ed_list_remove(&w->running);
        ed_sim_mark(sim, ED_SIM_JOB, w->number, 0);
        job->run(job);
        w->base.job = NULL;
        if (!w->abandoned)
                return job;
        job->leave(job);
        ed_free(w);
        return NULL;
}

int ed_sim_worker_collect(struct ed_sim *sim, struct ed_event *events, int max)
{
        struct sim_worker *w;
        int n = 0;

        while (n < max && (w = first_done(sim)) && w->end_ns <= sim->now_ns) {
                struct ed_job *job = finish(sim, w);

                if (job)
                        events[n++] = (struct ed_event){ .target = &job->done };
        }
        return n;
}

void ed_sim_worker_fini(struct ed_sim *sim)
{
        struct sim_worker *w;

        /* Abandoned jobs outlive the loop; run them now. */
        while ((w = first_done(sim))) {
                ed_assert(w->abandoned, "a loop ended while a worker of it had a job");
                (void) finish(sim, w);
        }
}
