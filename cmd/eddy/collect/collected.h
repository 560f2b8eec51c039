/*
 * collect/collected.h - the requests of an input, and which of them have an answer. No I/O.
 *
 *     ed_collected_request() for each line of the input, then ed_collected_seal(), then
 *     ed_collected_line() for each line of the outputs and errors files, then
 *     ed_collected_failed() for each request whose failure is kept, and
 *     ed_collected_end()
 */
#ifndef ED_CMD_COLLECT_COLLECTED_H
#define ED_CMD_COLLECT_COLLECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/sort/id_places.h"
#include "collect/sample.h"
#include "common/bits.h"
#include "eddy/def.h"

enum ed_collected_failure {
        ED_COLLECTED_AGAIN,    /* the request is to be sent again */
        ED_COLLECTED_FOR_GOOD, /* it would fail again */
        ED_COLLECTED_ACCEPTED,
};

/* Begin with ed_collected_init(). */
struct ed_collected {
        struct ed_id_places places;
        struct ed_bits requests;         /* the places of requests; of an id, the first */
        struct ed_bits answered, found;  /* the places with an answer; with any line */
        struct ed_bits several;          /* with more than one answer */
        struct ed_bits repeated;         /* the places of ids that an earlier line has */
        struct ed_bits missing, lacking; /* without a line; and those that failed, not for good */
        uint64_t end;                    /* above all places */
        uint64_t requests_count, answered_count, repeated_count, missing_count;
        uint64_t failed_count, accepted_count; /* without an answer */
        uint64_t for_good_count;               /* of 'failed_count', as it would again */
        uint64_t placed;                       /* lines with an id of the input */
        struct ed_sample doubled;              /* ids with several answers */
        struct ed_sample foreign;              /* ids that the input does not have */
        struct ed_sample failed;               /* ids, without accepted failures */
        struct ed_sample missing_ids;          /* at most ED_SAMPLE_MAX; set by the caller */
};

void ed_collected_init(struct ed_collected *collected);
void ed_collected_fini(struct ed_collected *collected);

/*
 * Add the id of a line of the input. A line that --skip-empty leaves out, 'is_empty', is a request only
 * if it has an answer. Errors: as ed_id_places_add()
 */
EDDY_MUST_USE int ed_collected_request(struct ed_collected *collected, const char *id, size_t bytes,
                                       uint64_t place, bool is_empty);

/* All requests are added. Errors: -ENOMEM */
EDDY_MUST_USE int ed_collected_seal(struct ed_collected *collected);

/*
 * Add a line of an output. '*ret_place' is that of its request, or ED_PLACE_NONE. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_collected_line(struct ed_collected *collected, const char *id, size_t bytes,
                                    bool is_answer, uint64_t *ret_place);

/*
 * A line has no answer, and a last failure. Returns 1, or 0 if it is not a request. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_collected_failed(struct ed_collected *collected, const char *id, size_t bytes,
                                      uint64_t place, enum ed_collected_failure failure);

/* Find the requests that are missing. Errors: -ENOMEM */
EDDY_MUST_USE int ed_collected_end(struct ed_collected *collected);

/* Returns true if each request has one answer, or an accepted failure, and no other lines are there. */
bool ed_collected_is_whole(const struct ed_collected *collected);

#endif
