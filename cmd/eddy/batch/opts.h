/*
 * batch/opts.h - the command line of `eddy batch`.
 */
#ifndef ED_CMD_BATCH_OPTS_H
#define ED_CMD_BATCH_OPTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "batch/request/accept.h"
#include "batch/run/api_key.h"
#include "batch/run/settings.h"
#include "batch/shard_names.h"
#include "common/connect.h"
#include "common/show.h"

enum {
        ED_BATCH_CONCURRENCY_MAX = 65536,
        ED_BATCH_ATTEMPTS_MAX = 1000,
        ED_BATCH_PATH_BYTES = 4096,
};

/* The options of eddy batch, which eddy check accepts too. */
#define ED_OPTS_SHORTS ":hko:c:H:X:L"
extern const struct option ed_opts_longs[];

struct ed_batch_opts {
        struct ed_batch_settings settings; /* 'format' may be "auto" until all options are read */
        struct ed_batch_paths paths;
        struct ed_api_keys keys;
        struct ed_accept accept; /* failures that are accepted */
        struct ed_connect connect;
        int64_t deadline_ns; /* 0: none */
        const char *deadline_text;
        const char *limit_text; /* the value of --limit in 'argv'; NULL: none */
        const char *shard_text; /* that of --shard, in the same way */
        struct ed_shard_names names;
        bool summary_json;
        const char *summary_file; /* NULL: none */
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
 * Name the errors file after the output: "out.errors.jsonl" for "out.jsonl". Returns 0 or the exit
 * code.
 */
int ed_opts_errors_name(const char *command, const char *output, char room[ED_BATCH_PATH_BYTES]);

#endif
