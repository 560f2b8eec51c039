/*
 * engine/engine.c - see engine.h.
 */
#include "engine/engine.h"

#include <errno.h>

#include "eddy/time.h"

void ed_engine_job_give_slot(struct ed_engine_job *job)
{
        enum eddy_concurrency_result load = EDDY_CONCURRENCY_UNKNOWN;

        if (job->ticket < 0)
                return;
        if (job->engine->ops->release)
                load = job->engine->ops->release(job);
        ed_slots_give(&job->engine->slots, job->ticket, load);
        job->ticket = -1;
}

/* Wait until the job has all that its attempt needs, including a slot. */
static int job_ready(struct ed_engine_job *job)
{
        const struct ed_engine_job_ops *ops = job->engine->ops;
        struct ed_slots *slots = &job->engine->slots;
        int err;

        do {
                err = ops->reserve ? ops->reserve(job) : 0;
                if (err < 0)
                        return err;
                job->ticket = ed_slots_take(slots);
                err = job->ticket < 0 ? job->ticket : 0;
                if (ops->slotted)
                        err = ops->slotted(job, err);
                if (err < 0) {
                        if (job->ticket >= 0)
                                ed_slots_give(slots, job->ticket, EDDY_CONCURRENCY_UNKNOWN);
                        job->ticket = -1;
                }
        } while (err == -EAGAIN);
        return err;
}

static int job_attempt(struct ed_engine_job *job)
{
        struct ed_engine *engine = job->engine;
        int err = job_ready(job);

        if (err < 0)
                return err;
        engine->stats->in_flight++;
        err = engine->ops->attempt(job);
        engine->stats->in_flight--;
        return err;
}

/* Return the slot, and wait until the next attempt is due. Errors: -ECANCELED */
static int job_rest(struct ed_engine_job *job, int64_t wait_ns)
{
        struct ed_room *room = &job->engine->room;
        int err;

        ed_engine_job_give_slot(job);
        ed_room_rest(room, 1, job->bytes);
        err = eddy_sleep(wait_ns);
        ed_room_wake(room, 1, job->bytes);
        return err;
}

static int job_run(void *arg)
{
        struct ed_engine_job *job = arg;
        struct ed_engine *engine = job->engine;

        for (;;) {
                int err = job->refused ? job->refused : job_attempt(job);
                int64_t wait_ns = 0;
                enum ed_verdict verdict = engine->ops->judge(job, err, &wait_ns);

                if (verdict == ED_VERDICT_DONE) {
                        engine->ops->finish(job, err);
                        if (!engine->ops->more || !engine->ops->more(job))
                                break;
                }
                if (verdict == ED_VERDICT_ABANDONED || job_rest(job, wait_ns) < 0) {
                        engine->ops->abandon(job);
                        break;
                }
                if (verdict == ED_VERDICT_RETRY)
                        ed_stats_add_retry(engine->stats, job->cause);
        }
        ed_engine_job_give_slot(job);
        engine->ops->free(job);
        ed_room_leave(&engine->room);
        return 0;
}

int ed_engine_job_start(struct ed_engine_job *job)
{
        struct ed_engine *engine = job->engine;
        int err = ed_room_enter(&engine->room);

        if (err < 0)
                return err;
        job->ticket = -1;
        err = eddy_scope_start(job->work, job_run, job);
        if (err < 0)
                ed_room_leave(&engine->room);
        return err;
}
