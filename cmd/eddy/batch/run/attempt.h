/*
 * batch/run/attempt.h - one attempt: sends a request, and receives the answer.
 */
#ifndef ED_CMD_BATCH_RUN_ATTEMPT_H
#define ED_CMD_BATCH_RUN_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/request/request.h"
#include "batch/run/endpoint.h"
#include "batch/run/refusal.h"
#include "common/draft.h"
#include "eddy/concurrency.h"
#include "eddy/http_client.h"
#include "eddy/http_multipart.h"
#include "eddy/limiter.h"
#include "eddy/scope.h"
#include "eddy/tls.h"

struct ed_batch_run;

/* The attempts in flight of a unit, and the time by which they end, because the unit ends. */
struct ed_attempts {
        struct ed_attempt *first; /* linked */
        int64_t end_ns;           /* INT64_MAX: no end */
};

struct ed_attempt {
        struct ed_attempt *next, **at; /* in 'all' */
        struct ed_batch_run *run;
        struct ed_attempts *all;
        const struct ed_request *request;
        struct ed_endpoint *endpoint; /* NULL: none was reached */
        struct eddy_reservation reservation;
        uint32_t key_generation; /* of the API key that was sent; 0: none */
        eddy_scope scope; /* shields the attempt from the end of the run; its deadline is that of
                             the attempt */
        struct eddy_http_multipart multipart;
        eddy_http_multipart_body *form; /* of 'multipart'; NULL: none */
        eddy_http_response *response;
        struct ed_draft assembled; /* the body of a stream */
        const void *body;          /* in the response or 'assembled' */
        size_t body_bytes;
        size_t received_bytes;  /* of the body, before it was compacted */
        bool is_compact;        /* the body comes from ed_answer_body_compact() */
        const char *request_id; /* in the response; NULL: none */
        struct ed_refusal refusal;
        struct eddy_retry_hint hint;
        int64_t start_ns; /* 0: no work on a socket began */
        int64_t first_ns; /* to the first byte, or the first token of a stream; -1: none */
        int64_t total_ns;
        int64_t learned_wait_ns; /* until a limit in the headers allows more requests; 0: now */
        uint32_t redirects;      /* that were followed */
        int status;              /* 0: none */
        int reported; /* the status that an error in the body or the stream reports; 0: none */
        int error;
        int judged;                   /* of an answer: the result of ed_rule_judge() */
        bool is_again;                /* --retry-if holds */
        struct eddy_http_fault fault; /* last, because it is large and mostly empty */
};

void ed_attempt_init(struct ed_attempt *attempt, struct ed_batch_run *run, struct ed_attempts *all,
                     const struct ed_request *request);
void ed_attempt_fini(struct ed_attempt *attempt);

/*
 * Send the request to the endpoint, and receive the answer. The results are in 'attempt'. A cancel
 * of the task does not end the call, but ed_attempts_end() does.
 *
 * Suspends: yes.
 */
void ed_attempt_make(struct ed_attempt *attempt);

/* Let all attempts, those in flight and later ones, end by 'end_ns'. */
void ed_attempts_end(struct ed_attempts *attempts, int64_t end_ns);

/* Returns true if the line has headers of its own, or -H fills in one for a key. */
bool ed_attempt_line_has_headers(const struct ed_attempt *attempt);

/* Returns true if the request was sent with an API key, a header of one, or a user name in the URL. */
bool ed_attempt_has_credentials(const struct ed_attempt *attempt);

/* Replace the tokens that were reserved from the endpoint's limits by the tokens that were used. */
void ed_attempt_reconcile(struct ed_attempt *attempt, uint64_t tokens);

/* Returns true if the request has an answer, and it is a success. */
bool ed_attempt_is_ok(const struct ed_attempt *attempt);

/*
 * Returns the status that decides about another attempt: that of the answer, or the one that an error
 * in a body or a stream reports in place of it. Returns 0 for a request without an answer.
 */
int ed_attempt_status(const struct ed_attempt *attempt);

/* Returns the load of the endpoint, judged by the attempt. */
enum eddy_concurrency_result ed_attempt_load(const struct ed_attempt *attempt);

#endif
