/*
 * batch/opts.h - the command line of `eddy batch`.
 */
#ifndef ED_CMD_BATCH_OPTS_H
#define ED_CMD_BATCH_OPTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/request/tokens.h"
#include "common/connect.h"
#include "common/headers.h"
#include "common/show.h"

enum {
        ED_BATCH_CONCURRENCY_MAX = 65536,
        ED_BATCH_ATTEMPTS_MAX = 1000,
        ED_BATCH_BASE_URLS_MAX = 64,
        ED_BATCH_PATH_BYTES = 4096,
};

/* eddy check and eddy sort say this too. */
#define ED_OPTS_ID_COLUMN_FAULT                                                                    \
        "--id-column is for CSV: give --format csv, or write \"custom_id\" in the lines"

/* The options of eddy batch, which eddy check accepts too. */
#define ED_OPTS_SHORTS ":hko:c:H:X:"
extern const struct option ed_opts_longs[];

struct ed_batch_opts {
        const char *input;     /* "-": standard input */
        const char *output;    /* NULL: standard output */
        const char *errors;    /* NULL: in the output */
        const char *format;    /* "auto", "json", "csv" */
        const char *id_column; /* of CSV; NULL: custom_id */
        const char *base_urls[ED_BATCH_BASE_URLS_MAX];
        size_t base_urls_count;
        const char *url;    /* of bare bodies and CSV */
        const char *method; /* NULL: POST with a body, else GET */
        char *body;         /* the text of the template; NULL: none */
        size_t body_bytes;
        struct ed_headers headers;
        char *api_key; /* the header's value; NULL: none; for the base URLs and --url only */
        const char *api_key_header;     /* NULL: Authorization: Bearer */
        const char *idempotency_header; /* NULL: none */
        struct ed_connect connect;

        uint32_t concurrency;
        bool concurrency_auto;
        int64_t ramp_ns;
        uint64_t rpm, tpm; /* 0: no limit */
        int64_t burst_ns;
        bool ordered;
        uint64_t limit;      /* lines to send; 0: all */
        uint32_t max_errors; /* UINT32_MAX: no limit */
        uint64_t max_cost;   /* micro-units; 0: no limit */
        struct ed_price price;
        int64_t deadline_ns; /* 0: none */
        int64_t timeout_ns, connect_timeout_ns, idle_timeout_ns;
        const char *timeout_text, *connect_timeout_text, *idle_timeout_text, *deadline_text;
        uint32_t attempts;
        int64_t retry_base_ns, retry_max_ns;
        int64_t throttle_wait_max_ns;

        bool only_failed; /* eddy retry: send only ids of the errors file */
        bool changed_ok;  /* --on-changed send: send a changed request again */
        bool meta;
        bool summary_json;
        enum ed_show_mode progress;
        const char *log;     /* NULL: none */
        const char *metrics; /* HOST:PORT; NULL: none */
        char errors_room[ED_BATCH_PATH_BYTES];
};

/*
 * Parse the command line of `eddy batch`, or of `eddy retry` if argv[0] is "retry". Returns 0 if
 * there is work to do. Otherwise returns 1 and the exit code, after printing the help or an error.
 * Values of -H are overwritten in 'argv'.
 */
int ed_batch_opts_parse(struct ed_batch_opts *opts, int argc, char **argv, int *ret_exit);
void ed_batch_opts_fini(struct ed_batch_opts *opts);

/*
 * Report that --body, in 'body' as a text, is not a template. 'error' is the reason. Returns the exit
 * code.
 */
int ed_opts_body_refuse(const char *command, const char *body, const char *error);

#endif
