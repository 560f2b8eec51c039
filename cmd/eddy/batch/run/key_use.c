/*
 * batch/run/key_use.c - see key_use.h.
 */
#include "batch/run/key_use.h"

#include <errno.h>
#include <stdio.h>

#include "batch/answer/answer_line.h"
#include "batch/run/stop.h"

enum {
        REFUSALS_MAX = 3, /* in a row, after which one of several keys is not used */
        KEYS_TRIED = 3,   /* keys that refuse a request until the 401 is its answer */
        STALE_MAX = 20,   /* former values that refuse a request */
};

/* Shut an endpoint whose key is gone. */
static void endpoint_leave(struct ed_batch_run *run, struct ed_endpoint *endpoint)
{
        endpoint->shut_generation = 0;
        if (!ed_endpoint_shut(&run->endpoints, endpoint))
                ed_batch_stop(run, ED_STOP_KEY, ED_BATCH_DRAIN_NS,
                              "%s was the last key in use, and --api-key-file no longer has it",
                              endpoint->shown);
}

void ed_key_use_follow(struct ed_batch_run *run)
{
        run->keys_changes = run->keys->changes;
        for (struct ed_endpoint *endpoint = run->endpoints.first; endpoint;
             endpoint = endpoint->next) {
                const struct ed_api_key *key;

                if (endpoint->key == 0)
                        continue;
                key = &run->keys->items[endpoint->key - 1];
                if (!key->is_gone && endpoint->is_shut &&
                    endpoint->shut_generation != key->generation)
                        ed_endpoint_reopen(endpoint);
        }
        for (struct ed_endpoint *endpoint = run->endpoints.first; endpoint;
             endpoint = endpoint->next)
                if (endpoint->key > 0 && !endpoint->is_shut &&
                    run->keys->items[endpoint->key - 1].is_gone)
                        endpoint_leave(run, endpoint);
}

/* Follow the file of the keys, if it has changed. */
static void keys_follow(struct ed_batch_run *run)
{
        if (run->keys_changes != run->keys->changes)
                ed_key_use_follow(run);
}

int ed_key_use_wait(struct ed_batch_run *run, const struct ed_endpoint *endpoint)
{
        char why[ED_API_KEY_WHY_BYTES];
        int err;

        if (endpoint->key == 0)
                return 0;
        err = ed_api_key_wait(run->keys, endpoint->key, why);
        keys_follow(run);
        if (err != -EINVAL)
                return err;
        ed_batch_stop(run, ED_STOP_KEY_SOURCE, ED_BATCH_DRAIN_NS, "%s", why);
        return -ECANCELED;
}

/* A server has refused one of several keys. */
static enum ed_api_key_verdict one_refused(const struct ed_attempt *attempt,
                                           const struct ed_key_trials *trials)
{
        struct ed_endpoint *endpoint = attempt->endpoint;
        struct ed_api_keys *keys = attempt->run->keys;
        const struct ed_api_key *key = &keys->items[endpoint->key - 1];
        unsigned tried = keys->count < KEYS_TRIED ? keys->count : KEYS_TRIED;

        if (attempt->key_generation == key->generation)
                ed_api_keys_look(keys);
        if (attempt->key_generation != key->generation || key->is_gone)
                return ED_API_KEY_STALE;
        if (trials->was_unauthorized)
                return trials->refusals + 1 < tried ? ED_API_KEY_REPEAT : ED_API_KEY_ANSWER;
        endpoint->key_refusals++;
        if (endpoint->ok > 0 && trials->refusals + 1 >= tried)
                return ED_API_KEY_ANSWER;
        return endpoint->key_refusals < REFUSALS_MAX ? ED_API_KEY_REPEAT : ED_API_KEY_USELESS;
}

/* The server of an attempt has answered 401. */
static enum ed_api_key_verdict refusal_judge(const struct ed_attempt *attempt,
                                             const struct ed_key_trials *trials)
{
        struct ed_endpoint *endpoint = attempt->endpoint;
        struct ed_api_keys *keys = attempt->run->keys;
        enum ed_api_key_verdict verdict;

        if (keys->count > 1)
                verdict = one_refused(attempt, trials);
        else
                verdict = ed_api_key_refused(keys, endpoint->key, attempt->key_generation,
                                             trials->refusals, trials->was_unauthorized);
        if (verdict != ED_API_KEY_STALE || trials->stale < STALE_MAX)
                return verdict;
        /* Values are replaced sooner than they are refused. */
        return endpoint->ok > 0 || trials->was_unauthorized ? ED_API_KEY_ANSWER
                                                            : ED_API_KEY_USELESS;
}

enum ed_api_key_verdict ed_key_use_judge(const struct ed_attempt *attempt,
                                         struct ed_key_trials *trials)
{
        struct ed_endpoint *endpoint = attempt->endpoint;
        struct ed_api_keys *keys = attempt->run->keys;
        enum ed_api_key_verdict verdict;

        if (attempt->key_generation == 0)
                return ED_API_KEY_ANSWER;
        if (ed_answer_status_is_ok(attempt->status) || ed_attempt_is_ok(attempt)) {
                ed_api_key_accepted(keys, endpoint->key, attempt->key_generation, trials->refusals);
                endpoint->key_refusals = 0;
                return ED_API_KEY_ANSWER;
        }
        if (attempt->status != 401 || attempt->error < 0)
                return ED_API_KEY_ANSWER;
        verdict = refusal_judge(attempt, trials);
        trials->refusals += verdict == ED_API_KEY_REPEAT;
        trials->stale += verdict == ED_API_KEY_STALE;
        keys_follow(attempt->run);
        return verdict;
}

const char *ed_key_use_header(const struct ed_batch_run *run, const struct ed_request *request)
{
        return request->vendor && !run->settings->api_key_header ? request->vendor->key_header
                                                                 : NULL;
}

const char *ed_key_use_remedy(const struct ed_batch_run *run, const struct ed_request *request,
                              char *text, size_t room)
{
        const char *header = ed_key_use_header(run, request);

        if (header)
                snprintf(text, room,
                         "%s takes the key in another header: give %s--api-key-header %s",
                         request->vendor->vendor,
                         run->keys->kind != ED_API_KEY_NONE
                                 ? ""
                                 : "--api-key-env or --api-key-file, and ",
                         header);
        else
                snprintf(text, room, "%s",
                         run->keys->kind != ED_API_KEY_NONE
                                 ? "check --api-key-env or --api-key-file"
                                 : "give the API key by --api-key-env or --api-key-file, or "
                                   "another header by -H");
        return text;
}
