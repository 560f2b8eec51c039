/*
 * batch/run/run.h - what all units of work (batch/run/unit.h) of a run share: the client, the
 * endpoints, the slots, what was counted and spent.
 */
#ifndef ED_CMD_BATCH_RUN_RUN_H
#define ED_CMD_BATCH_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/answer/reasons.h"
#include "batch/request/accept.h"
#include "batch/request/templates.h"
#include "batch/run/alike.h"
#include "batch/run/api_key.h"
#include "batch/run/endpoint.h"
#include "batch/run/settings.h"
#include "batch/run/spent.h"
#include "common/random.h"
#include "common/say.h"
#include "common/stats.h"
#include "eddy/http_client.h"
#include "eddy/retry.h"
#include "engine/engine.h"

struct ed_attempt;
struct ed_batch_unit;

struct ed_batch_run {
        const struct ed_batch_settings *settings;
        struct ed_say say;
        struct ed_api_keys *keys; /* for the base URLs and --url only; may have none */
        struct ed_accept *accept; /* failures that are accepted; NULL: none */
        uint64_t keys_changes;    /* the changes that the endpoints already follow */
        struct ed_templates templates;
        struct ed_batch_unit *units; /* those at work, linked */

        eddy_http_client *client;
        struct eddy_retry_policy retry_policy;
        struct ed_endpoints endpoints;
        struct ed_engine engine;
        struct ed_slots_ramp ramp;
        struct ed_random random;
        uint32_t slots_most;
        int64_t begin_ns; /* the limits allow nothing before this time; 0: at once */

        /* Called after each attempt. 'attempts' is its number; refusals have that of the next one.
         * NULL: nothing */
        void (*attempted)(void *arg, const struct ed_attempt *attempt, unsigned attempts);
        void *attempted_arg;

        struct ed_stats stats;
        struct ed_reasons reasons; /* of failures, for the summary */
        struct ed_alike alike;     /* the first results */
        struct ed_batch_spent spent;
        uint64_t tried;        /* requests that have been attempted, and have no line yet */
        uint64_t unpaid;       /* requests without a line, because the quota of their host's key is
                                  used up */
        int64_t start_wall_ns; /* the time of day when the run began */
        bool lacks_base;       /* a line has a path, but no base URL was given */
};

#endif
