/*
 * fetch/opts.h - the command line of `eddy fetch`.
 */
#ifndef ED_CMD_FETCH_OPTS_H
#define ED_CMD_FETCH_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/connect.h"
#include "common/headers.h"
#include "common/show.h"
#include "fetch/credentials.h"

enum {
        ED_FETCH_CONCURRENCY_MAX = 65536,
        ED_FETCH_ATTEMPTS_MAX = 1000,
        ED_FETCH_REPEAT_MAX = 1000000000,
        ED_FETCH_DATA_BYTES_MAX = 64 << 20,
        ED_FETCH_REDIRECTS_MAX = 1000,
};

/* A limit of time. */
struct ed_fetch_limit {
        int64_t ns;       /* 0: none */
        const char *text; /* the value of the option, for messages */
};

struct ed_fetch_opts {
        char *const *urls; /* borrowed from argv */
        size_t urls_count;
        const char *input; /* NULL: none; "-": standard input */
        uint32_t concurrency;
        uint32_t per_host; /* 0: no separate limit */
        uint32_t attempts;
        struct ed_fetch_limit timeout;
        struct ed_fetch_limit connect_timeout;
        struct ed_fetch_limit read_timeout;
        struct ed_fetch_limit deadline;
        struct ed_fetch_limit duration; /* of the repetitions of the only URL; 0: none */
        uint32_t repeat;                /* requests of the only URL; 0: not given */
        int64_t backoff_ns;
        struct ed_headers headers;
        struct ed_credentials credentials;
        struct ed_connect connect;
        const char *method; /* never NULL */
        char *data;         /* NULL: none */
        size_t data_bytes;
        bool data_from_stdin;
        bool follow;
        uint32_t redirects_max; /* with 'follow' */
        bool compressed;
        const char *output; /* NULL: standard output */
        const char *save;   /* NULL: bodies are not saved */
        bool remote_name;   /* with 'save' */
        bool force;
        bool body;
        bool summary_json;
        enum ed_show_mode progress;
};

/*
 * Parse the command line. Returns 0 if there is work to do. Otherwise returns 1 and the exit code,
 * after printing the help or an error.
 */
int ed_fetch_opts_parse(struct ed_fetch_opts *opts, int argc, char **argv, int *ret_exit);
void ed_fetch_opts_fini(struct ed_fetch_opts *opts);

#endif
