/*
 * batch/run/run.h - one run of `eddy batch`, shared by its files.
 *
 *     reader --> a task for each request --> turn of its endpoints --> slot --> attempt --> output
 *     (input.c)  (engine/, job.c)            (endpoint.c)
 *
 * engine/engine.h describes the tasks. All tasks are in the scope 'engine.work'. If that scope is
 * cancelled, every wait for a turn, a slot or the next attempt ends. Attempts are shielded, and
 * continue until 'attempts.end_ns'.
 */
#ifndef ED_CMD_BATCH_RUN_RUN_H
#define ED_CMD_BATCH_RUN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/answer/reasons.h"
#include "batch/run/attempt.h"
#include "batch/run/checked.h"
#include "batch/run/endpoint.h"
#include "batch/run/input.h"
#include "batch/run/order.h"
#include "batch/run/settings.h"
#include "batch/run/sink.h"
#include "batch/run/spent.h"
#include "common/random.h"
#include "common/stats.h"
#include "eddy/http_client.h"
#include "eddy/retry.h"
#include "engine/engine.h"

struct ed_batch_metrics;

struct ed_batch_run {
        const struct ed_batch_settings *settings;
        const struct ed_batch_paths *paths;
        struct ed_template *body;

        struct ed_batch_metrics *metrics; /* NULL: none */

        struct ed_batch_input input;
        struct ed_batch_checked checked;
        struct ed_batch_sink sink;
        struct ed_stats stats;
        struct ed_reasons reasons; /* of failures, for the summary */
        struct ed_batch_spent spent;

        eddy_http_client *client;
        struct eddy_retry_policy retry_policy;
        struct ed_endpoints endpoints;
        struct ed_engine engine;
        struct ed_random random;
        uint32_t slots_most;
        struct ed_attempts attempts;
        struct ed_order order;
        int64_t start_wall_ns; /* the time of day when the run began */

        uint64_t tried; /* requests that have been attempted, and have no line yet */

        bool lacks_base; /* a line has a path, but no base URL was given */
};

#endif
