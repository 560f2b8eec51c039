/*
 * batch/run/job_endpoint.c - see job_endpoint.h.
 */
#include "batch/run/job_endpoint.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "batch/run/job_trial.h"
#include "batch/run/key_use.h"
#include "batch/run/stop.h"
#include "common/duration.h"
#include "common/outcome.h"
#include "common/url_shown.h"
#include "eddy/time.h"

/* Servers out of reach that are named in messages. */
enum { LOST_SAID_MAX = 20 };

/* How long a server that has never answered is waited for. */
#define NEVER_REACHED_NS EDDY_SEC(10)

/* The longest wait of a refused request whose endpoint has no pause. */
#define REFUSED_WAIT_NS ((uint64_t) 200000000)

/*
 * The endpoint accepts nothing for too long; 'what' is the reason. Send its requests elsewhere, or
 * end the run if no other server is left for them.
 */
static enum ed_verdict endpoint_shut(struct ed_batch_job *job, enum ed_stop stop, const char *what)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;
        struct ed_batch_run *run = job->unit->run;
        bool is_first = !endpoint->is_shut, has_other;

        if (ed_endpoint_is_left(endpoint, job->request->url))
                return ED_VERDICT_REFUSED; /* the request goes to another base URL */
        endpoint->shut_generation = job->attempt.key_generation;
        if (!ed_endpoint_shut(&run->endpoints, endpoint)) {
                ed_batch_stop(run, stop, ED_BATCH_DRAIN_NS, "%s %s", endpoint->shown, what);
                return ED_VERDICT_ABANDONED;
        }
        has_other = ed_endpoint_has_other(&run->endpoints, endpoint, job->request->url);
        if (is_first)
                ed_say(&run->say, "%s %s; %s", endpoint->shown, what,
                       !has_other ? "its requests get an error, the others are sent"
                       : endpoint->leader->span > 1 ? "requests go to the other keys"
                                                    : "requests go to the other base URLs");
        return has_other ? ED_VERDICT_REFUSED : ED_VERDICT_DONE;
}

bool ed_job_endpoint_is_used_up(const struct ed_batch_job *job)
{
        return job->attempt.learned_wait_ns > job->unit->run->settings->throttle_wait_max_ns;
}

enum ed_verdict ed_job_endpoint_used_up(struct ed_batch_job *job)
{
        char wait[ED_DURATION_TEXT_BYTES], most[ED_DURATION_TEXT_BYTES], what[160];

        ed_duration_print(job->attempt.learned_wait_ns, wait);
        ed_duration_print(job->unit->run->settings->throttle_wait_max_ns, most);
        snprintf(what, sizeof(what),
                 "reports that its limit is used up for %s, longer than --max-throttle-wait %s",
                 wait, most);
        return endpoint_shut(job, ED_STOP_THROTTLED, what);
}

/* Returns how often a wait is doubled, if an endpoint answers nothing else. */
static unsigned refusals_of(const struct ed_endpoint *endpoint)
{
        return endpoint->throttles < 64 ? endpoint->throttles / 8 : 8;
}

/* Returns the wait that a refusal gives, by itself, by a limit or by its rule; -1: none. */
static int64_t wait_of(const struct ed_attempt *attempt)
{
        const struct ed_vendor_rule *rule = attempt->refusal.rule;

        if (attempt->hint.has_wait)
                return attempt->hint.wait_ns;
        if (attempt->learned_wait_ns > 0)
                return attempt->learned_wait_ns;
        return rule->wait_s > 0 ? EDDY_SEC(rule->wait_s) : -1;
}

enum ed_verdict ed_job_endpoint_refused(struct ed_batch_job *job, int64_t *ret_wait_ns)
{
        struct ed_batch_run *run = job->unit->run;
        struct ed_attempt *attempt = &job->attempt;
        int64_t wait_ns = wait_of(attempt), refused_ns;
        char wait[ED_DURATION_TEXT_BYTES], most[ED_DURATION_TEXT_BYTES], what[160];

        if (ed_job_endpoint_is_used_up(job))
                return ed_job_endpoint_used_up(job);
        ed_duration_print(run->settings->throttle_wait_max_ns, most);
        if (wait_ns > run->settings->throttle_wait_max_ns) {
                ed_duration_print(wait_ns, wait);
                snprintf(what, sizeof(what),
                         "asks for a pause of %s, longer than --max-throttle-wait %s", wait, most);
                return endpoint_shut(job, ED_STOP_THROTTLED, what);
        }
        refused_ns = ed_endpoint_throttle(&run->endpoints, attempt->endpoint, wait_ns,
                                          ed_random_next(&run->random));
        if (wait_ns < 0 && ed_endpoints_adapt(&run->endpoints)) /* the endpoint has no pause */
                *ret_wait_ns = (int64_t) (ed_random_next(&run->random) %
                                          (REFUSED_WAIT_NS << refusals_of(attempt->endpoint)));
        if (refused_ns <= run->settings->throttle_wait_max_ns)
                return ED_VERDICT_REFUSED;
        if (job->own_refusal.bits > 0) { /* others were answered between its refusals */
                ed_endpoint_resume(attempt->endpoint);
                job->attempts++;
                return ED_VERDICT_DONE;
        }
        ed_duration_print(refused_ns, wait);
        snprintf(what, sizeof(what),
                 "has refused all requests since its last answer, with the next pause for %s, "
                 "longer than "
                 "--max-throttle-wait %s",
                 wait, most);
        return endpoint_shut(job, ED_STOP_THROTTLED, what);
}

/*
 * Returns true if an endpoint out of reach will probably be back. A server of a file may not be ready
 * yet.
 */
static bool is_waited_for(const struct ed_batch_run *run, const struct ed_endpoint *endpoint)
{
        return endpoint->was_reached ||
               (endpoint->leader->is_listed && ed_endpoints_are_reached(&run->endpoints));
}

/* Report a server out of reach once, if there are only some of them. */
static void lost_say(struct ed_batch_run *run, struct ed_endpoint *endpoint, const char *what)
{
        if (endpoint->lost_was_said)
                return;
        endpoint->lost_was_said = true;
        if (run->endpoints.lost_said++ < LOST_SAID_MAX)
                ed_say(&run->say, "%s %s; it is tried again after growing pauses", endpoint->name,
                       what);
        else if (run->endpoints.lost_said == LOST_SAID_MAX + 1)
                ed_say(&run->say, "further servers cannot be reached, and are not named here; they "
                                  "are tried again too");
}

enum ed_verdict ed_job_endpoint_lost(struct ed_batch_job *job, int err, int64_t lost_ns)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;
        struct ed_batch_run *run = job->unit->run;
        char what[256];

        if (ed_endpoint_is_left(endpoint, job->request->url))
                return ED_VERDICT_REFUSED;
        snprintf(what, sizeof(what), "cannot be reached: %.150s", ed_outcome_message(err));
        if (is_waited_for(run, endpoint) ? lost_ns <= run->settings->throttle_wait_max_ns
                                         : lost_ns <= NEVER_REACHED_NS) {
                lost_say(run, endpoint, what);
                return ED_VERDICT_REFUSED;
        }
        return endpoint_shut(job, ED_STOP_UNREACHED, what);
}

enum ed_verdict ed_job_endpoint_wrong(struct ed_batch_job *job)
{
        const char *base = job->attempt.endpoint->base;
        char what[ED_URL_SHOWN_BYTES + 128], shown[ED_URL_SHOWN_BYTES];

        snprintf(
                what, sizeof(what),
                "has not accepted any of its first %u requests, and other servers have (%s, status "
                "%d)",
                (unsigned) job->attempt.endpoint->rejected, ed_url_shown(shown, base, strlen(base)),
                job->attempt.status);
        return endpoint_shut(job, ED_STOP_KEY, what);
}

enum ed_verdict ed_job_endpoint_key_useless(struct ed_batch_job *job)
{
        struct ed_batch_run *run = job->unit->run;
        bool is_misplaced = ed_key_use_header(run, job->request);
        char remedy[160];

        if (run->keys->count > 1 || ed_job_trial_is_doubtful(job))
                return endpoint_shut(job, ED_STOP_KEY, "refuses this API key (401)");
        ed_batch_stop(
                run, ED_STOP_KEY, ED_BATCH_DRAIN_NS,
                "%s refuses the API key (401), and three new ones from %s did not help%s%s",
                job->attempt.endpoint->name,
                run->keys->kind == ED_API_KEY_COMMAND ? "--api-key-command" : "--api-key-file",
                is_misplaced ? ": " : "",
                is_misplaced ? ed_key_use_remedy(run, job->request, remedy, sizeof(remedy)) : "");
        return ED_VERDICT_ABANDONED;
}

enum ed_verdict ed_job_endpoint_quota(struct ed_batch_job *job)
{
        struct ed_endpoint *endpoint = job->attempt.endpoint;
        struct ed_batch_unit *unit = job->unit;
        char what[160];

        snprintf(what, sizeof(what), "answers that the quota of this API key is used up (%.90s)",
                 ed_refusal_reason(&job->attempt.refusal));
        if (endpoint->is_main)
                return endpoint_shut(job, ED_STOP_QUOTA, what);
        if (!unit->input.is_file && ed_endpoint_is_last(&unit->run->endpoints, endpoint))
                ed_batch_stop(unit->run, ED_STOP_QUOTA, ED_BATCH_DRAIN_NS, "%s %s", endpoint->shown,
                              what);
        else if (!endpoint->is_shut)
                ed_say(&unit->run->say, "%s %s; its requests are left for the next run",
                       endpoint->shown, what);
        endpoint->is_spent = true;
        (void) ed_endpoint_shut(&unit->run->endpoints, endpoint);
        unit->run->unpaid++;
        return ED_VERDICT_ABANDONED;
}
