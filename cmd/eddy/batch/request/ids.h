/*
 * batch/request/ids.h - the set of all ids of a run, in at most 24 bytes each.
 *
 * Ids are compared by 96 bits of their hash (XXH3 with a random seed), so the probability that two
 * of 100 million ids are confused is below 10^-12. The set also stores 28 bits of the request's
 * hash.
 */
#ifndef ED_CMD_BATCH_REQUEST_IDS_H
#define ED_CMD_BATCH_REQUEST_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

struct ed_ids;

enum {
        ED_IDS_ANSWERED = 1 << 0, /* the output has a line with the id */
        ED_IDS_READ = 1 << 1,     /* the input has a line with the id */
        ED_IDS_FAILED = 1 << 2,   /* the request failed in this run */
        ED_IDS_DOUBTED = 1 << 3,  /* the output has a line that is a failure if the URL of the
                                     request is one of an API */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_ids_new(struct ed_ids **ret_ids);
void ed_ids_free(struct ed_ids *ids);

/*
 * Find or add an id. Returns its flags before the call, and adds 'flags' to them. Sets 'ret_same'
 * (may be NULL) to false if the id has another hash of the request. A hash of 0 is equal to every
 * hash; a stored hash of 0 is replaced.
 *
 * Errors: -ENOMEM  also above about 3.8 billion ids
 */
EDDY_MUST_USE int ed_ids_add(struct ed_ids *ids, const char *id, size_t bytes, uint64_t hash,
                             unsigned flags, bool *ret_same);

/* Replace the hash of the request of an id in the set. */
void ed_ids_set_hash(struct ed_ids *ids, const char *id, size_t bytes, uint64_t hash);

/*
 * Store the number of the line that has an id in the set, in place of the hash of the request. Numbers
 * of 2^28 and above are stored as 0.
 */
void ed_ids_set_line(struct ed_ids *ids, const char *id, size_t bytes, uint64_t number);

/* Returns the number that ed_ids_set_line() has stored; 0: none. */
uint64_t ed_ids_line(const struct ed_ids *ids, const char *id, size_t bytes);

/* Returns the flags of an id, or 0 if the id is not in the set. */
unsigned ed_ids_flags(const struct ed_ids *ids, const char *id, size_t bytes);

/* Add flags to, or remove them from, an id in the set. */
void ed_ids_flag(struct ed_ids *ids, const char *id, size_t bytes, unsigned flags);
void ed_ids_remove(struct ed_ids *ids, const char *id, size_t bytes, unsigned flags);

/* Remove flags from all ids. */
void ed_ids_clear(struct ed_ids *ids, unsigned flags);

#endif
