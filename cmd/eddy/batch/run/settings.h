/*
 * batch/run/settings.h - what a run does with its requests.
 */
#ifndef ED_CMD_BATCH_RUN_SETTINGS_H
#define ED_CMD_BATCH_RUN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/answer/rule.h"
#include "batch/request/tokens.h"
#include "batch/run/bases.h"
#include "common/headers.h"
#include "common/shard.h"

struct ed_batch_settings {
        struct ed_shard shard; /* of the input; all zero: the whole input */
        const char *format;    /* "json", "csv" */
        const char *id_column; /* of CSV; NULL: custom_id */
        bool skip_empty;       /* lines whose fields are all empty */
        struct ed_bases bases;
        const char *url;    /* of bare bodies and CSV */
        const char *method; /* NULL: POST with a body, else GET */
        char *body;         /* the text of the template; NULL: none */
        size_t body_bytes;
        struct ed_headers headers;
        const char *api_key_header;     /* NULL: Authorization: Bearer */
        const char *idempotency_header; /* NULL: none */

        uint32_t concurrency;
        bool concurrency_auto;
        int64_t ramp_ns;
        uint64_t rpm, tpm; /* of this shard; 0: no limit */
        int64_t burst_ns;
        bool ordered;
        uint64_t limit;      /* lines to send; 0: all */
        uint32_t rows;       /* lines in a request, at most; 0: 1 */
        struct ed_rule rule; /* of successes */
        uint32_t max_errors; /* UINT32_MAX: no limit */
        uint64_t max_cost;   /* micro-units; 0: no limit */
        struct ed_price price;
        int64_t timeout_ns, connect_timeout_ns, idle_timeout_ns;
        const char *timeout_text, *connect_timeout_text, *idle_timeout_text;
        uint32_t redirects_max; /* 0: not followed */
        uint32_t attempts;
        int64_t retry_base_ns, retry_max_ns;
        int64_t throttle_wait_max_ns;

        bool only_failed; /* send only ids of the errors file */
        bool changed_ok;  /* send a changed request again */
        bool meta;
};

/* The files of a run. */
struct ed_batch_paths {
        const char *input;  /* "-": standard input */
        const char *output; /* NULL: standard output */
        const char *errors; /* NULL: in the output */
        const char *save;   /* a folder; NULL: none */
};

#endif
