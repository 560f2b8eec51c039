/*
 * mock/mock.h - `eddy mock`: a server that answers slowly, limits and fails on demand.
 */
#ifndef ED_CMD_MOCK_MOCK_H
#define ED_CMD_MOCK_MOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/random.h"
#include "eddy/http_server.h"
#include "mock/bucket.h"
#include "mock/tokens.h"

struct ed_mock_opts {
        char host[64]; /* an address */
        uint16_t port;
        int64_t latency_ns;     /* the median */
        int64_t latency_p99_ns; /* 0: always the median */
        double error_rate;      /* 0 to 1 */
        double rate;            /* requests per second; 0: no limit */
        bool tls;
        const char *cert_file; /* NULL: one is made */
        const char *key_file;  /* NULL: in cert_file */
};

struct ed_mock {
        struct ed_mock_opts opts;
        struct ed_random random;
        struct ed_bucket bucket;
        struct ed_tokens tokens;
};

/* Answers one request; 'arg' is the struct ed_mock. */
eddy_http_handler_fn ed_mock_answer;

/* The text of `/`, also part of --help. */
extern const char ed_mock_routes[];

/* As ed_fetch_opts_parse(). */
int ed_mock_opts_parse(struct ed_mock_opts *opts, int argc, char **argv, int *ret_exit);

/* Returns the exit code. */
int ed_mock_main(int argc, char **argv);

#endif
