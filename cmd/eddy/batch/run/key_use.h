/*
 * batch/run/key_use.h - the API key of a request: waits for it, and judges what an answer says about
 * it.
 */
#ifndef ED_CMD_BATCH_RUN_KEY_USE_H
#define ED_CMD_BATCH_RUN_KEY_USE_H

#include "batch/run/attempt.h"
#include "batch/run/run.h"
#include "eddy/def.h"

/*
 * Wait until a request may be sent to an endpoint with its key. If no key can be read, the run
 * is stopped.
 *
 * Suspends: yes. Errors: -ECANCELED, -ENOMEM
 */
EDDY_MUST_USE int ed_key_use_wait(struct ed_batch_run *run, const struct ed_endpoint *endpoint);

/* Shut endpoints whose key is gone, and open those with a new key. */
void ed_key_use_follow(struct ed_batch_run *run);

/* The keys with which a request was sent. All zero is the start. */
struct ed_key_trials {
        unsigned refusals;     /* 401 answers that were blamed on the key */
        unsigned stale;        /* 401 answers to values that were replaced meanwhile */
        bool was_unauthorized; /* an earlier run, which also had answers, got a 401 */
};

/*
 * Note whether the server of an attempt has accepted its key, and count the 401 in the request's
 * trials. A request that got a 401 in an earlier run says little about the key. With several keys,
 * ED_API_KEY_USELESS is about the key of this attempt only.
 */
enum ed_api_key_verdict ed_key_use_judge(const struct ed_attempt *attempt,
                                         struct ed_key_trials *trials);

/*
 * Returns the header in which the vendor of a request takes the API key, if the key is sent in another
 * one; NULL: the header is right, or not known.
 */
const char *ed_key_use_header(const struct ed_batch_run *run, const struct ed_request *request);

/* Write the remedy of a 401: the first one that applies. Returns 'text'. */
const char *ed_key_use_remedy(const struct ed_batch_run *run, const struct ed_request *request,
                              char *text, size_t room);

#endif
