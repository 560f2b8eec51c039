/*
 * mock/mock.h - `eddy mock`: a server that delays, limits or fails requests on demand.
 */
#ifndef ED_CMD_MOCK_MOCK_H
#define ED_CMD_MOCK_MOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/random.h"
#include "eddy/http_server.h"
#include "mock/bucket.h"
#include "mock/keys.h"
#include "mock/latency.h"
#include "mock/openai.h"
#include "mock/schedule.h"
#include "mock/tokens.h"

enum { ED_MOCK_API_KEYS_MAX = 64, ED_MOCK_MODELS_MAX = 64, ED_MOCK_THREADS_MAX = 256 };

/* How a refusal states the time until a retry. */
enum ed_mock_retry_after {
        ED_RETRY_AFTER_SECONDS, /* Retry-After, whole seconds */
        ED_RETRY_AFTER_MS,      /* the same, and retry-after-ms */
        ED_RETRY_AFTER_DATE,    /* Retry-After, a date */
        ED_RETRY_AFTER_NONE,
};

/* A key that is accepted, with its own limits, where they are not 0. */
struct ed_mock_api_key {
        const char *text;
        size_t bytes;
        struct ed_limits limits;
};

struct ed_mock_opts {
        char host[64]; /* an address */
        uint16_t port;
        uint32_t threads;
        struct ed_latency latency;
        struct ed_latency token_latency; /* before each event of a stream */
        double error_rate;               /* 0 to 1, as the next two */
        double truncate_rate;
        double stall_rate;
        int64_t stall_ns;
        double rate; /* requests per second; 0: no limit */
        struct ed_limits limits;
        struct ed_wave wave;
        struct ed_schedule capacity;
        int capacity_status;
        enum ed_mock_retry_after retry_after;
        uint32_t refuse;    /* how many requests are refused first */
        int64_t refuse_ns;  /* the time that these refusals state */
        const char *vendor; /* whose dialect refusals have; NULL: OpenAI's, as --retry-after says */
        bool seeded;
        uint32_t seed;
        struct ed_openai_opts openai;
        struct ed_mock_api_key api_keys[ED_MOCK_API_KEYS_MAX]; /* none: every key is accepted */
        uint32_t api_keys_count;
        int64_t token_life_ns; /* of the tokens of /oauth/token; 0: none are granted */
        const char *models[ED_MOCK_MODELS_MAX]; /* none: requests may name any */
        uint32_t models_count;
        bool tls;
        const char *cert_file; /* NULL: one is made */
        const char *key_file;  /* NULL: in cert_file */
        uint32_t server_flags; /* EDDY_HTTP_SERVER_* */
};

/* Counts of one version of HTTP. */
struct ed_mock_count {
        uint64_t connections; /* with a request */
        uint64_t requests;
};

struct ed_mock {
        struct ed_mock_opts opts;
        pthread_mutex_t
                lock; /* protects everything below but 'start_ns' and 'secret'; held for moments */
        struct ed_random random;
        struct ed_bucket bucket;
        struct ed_tokens tokens;
        struct ed_keys keys;
        int64_t start_ns;
        uint32_t refused; /* of opts.refuse */
        uint64_t secret;  /* of the tokens that are granted; constant */
        uint32_t serving; /* admitted requests that are not finished */
        struct ed_mock_count http1, http2;
};

/* Answers one request; 'arg' is the struct ed_mock. */
eddy_http_handler_fn ed_mock_answer;

/* The text of `/`, also part of --help. */
extern const char ed_mock_routes[];

/* Parse the command line. Returns as ed_fetch_opts_parse(). */
int ed_mock_opts_parse(struct ed_mock_opts *opts, int argc, char **argv, int *ret_exit);

/* Returns the exit code. */
int ed_mock_main(int argc, char **argv);

#endif
