/*
 * batch/tally.h - counts the requests of a file by method, URL and model, with their tokens, and
 * estimates the time that they take at given limits. No I/O.
 */
#ifndef ED_CMD_BATCH_TALLY_H
#define ED_CMD_BATCH_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "batch/request/request.h"
#include "common/excerpt.h"
#include "common/hash_map.h"
#include "eddy/def.h"

enum { ED_TALLY_KINDS_MAX = 1024, ED_TALLY_NAME_BYTES = 160 };

/* Requests with the same method, URL without its query, and model. */
struct ed_tally_kind {
        struct ed_hash_link link; /* its hash is the kind's key */
        uint64_t count;
        char name[ED_TALLY_NAME_BYTES]; /* method and URL, printable, perhaps cut */
        char model[ED_EXCERPT_BYTES];   /* empty: none */
};

struct ed_tally {
        const char *url; /* that counts instead of those of the requests; NULL: none */
        uint64_t requests;
        uint64_t input_tokens, output_tokens; /* UINT64_MAX: that many or more */
        uint64_t unlimited;                   /* requests for text that do not limit it */
        struct ed_tally_kind *kinds;          /* room for ED_TALLY_KINDS_MAX */
        size_t kinds_count;
        uint64_t others;        /* requests beyond ED_TALLY_KINDS_MAX kinds */
        struct ed_hash_map map; /* of the kinds; ed_tally_order() ends its use */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_tally_init(struct ed_tally *tally);
void ed_tally_fini(struct ed_tally *tally);

void ed_tally_add(struct ed_tally *tally, const struct ed_request *request);

/* Sort the kinds by their counts, the largest first. Do not add requests after this. */
void ed_tally_order(struct ed_tally *tally);

/* The limits of a run. Zero: no such limit. */
struct ed_tally_pace {
        uint64_t rpm, tpm; /* for each server */
        uint64_t sent;     /* requests that the run sends; 0: all that were counted */
        uint32_t servers;  /* 0: 1 */
        uint32_t concurrency;
        int64_t latency_ns; /* of one request; needed for 'concurrency' */
};

/*
 * Returns the least time that the requests need, up to ED_DURATION_MAX_NS, and stores the option
 * that determines it ("--rpm", "--tpm", "-c"; NULL: none).
 */
int64_t ed_tally_time(const struct ed_tally *tally, const struct ed_tally_pace *pace,
                      const char **ret_limit);

#endif
