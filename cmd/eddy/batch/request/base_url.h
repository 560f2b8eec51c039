/*
 * batch/request/base_url.h - base URLs: checks one, and keeps a list of them in which each occurs
 * once.
 */
#ifndef ED_CMD_BATCH_REQUEST_BASE_URL_H
#define ED_CMD_BATCH_REQUEST_BASE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_map.h"
#include "eddy/def.h"

enum {
        ED_BASE_URLS_MAX = 4096,          /* of a run; with several API keys, pairs of both */
        ED_BASE_URLS_BYTES_MAX = 4 << 20, /* of a file */
        ED_BASE_URL_WHY_BYTES = 512,
        ED_BASE_URLS_WHY_BYTES = 1152,
};

/*
 * Check a base URL. 'apart' says how several of them are given.
 *
 * Errors: -EINVAL  'why' is the reason; -ENOMEM
 */
EDDY_MUST_USE int ed_base_url_check(const char *url, const char *apart,
                                    char why[ED_BASE_URL_WHY_BYTES]);

/* Returns true if two base URLs differ at most in capitals, and in slashes at the end. */
bool ed_base_url_is_same(const char *a, const char *b);

/* Returns a hash, which is equal for those that are the same. */
uint64_t ed_base_url_hash(const char *url);

struct ed_base_url {
        struct ed_hash_link link;
        const char *text;
        char room[]; /* of a text that is not borrowed */
};

/* A zeroed list is empty. */
struct ed_base_urls {
        struct ed_base_url **items; /* in the order in which they were added */
        size_t count, room;
        struct ed_hash_map map;
};

void ed_base_urls_fini(struct ed_base_urls *urls);

/* Returns true if the list has the base URL. */
bool ed_base_urls_have(const struct ed_base_urls *urls, const char *url);

/* Append a base URL (borrowed), which was checked. Errors: -EEXIST, -ENOMEM */
EDDY_MUST_USE int ed_base_urls_add(struct ed_base_urls *urls, const char *url);

/*
 * Append those of a text: one in a line. Empty lines and lines that begin with # are skipped.
 * Those that the list has count once.
 *
 * Errors: -EINVAL  'why' is the reason; -ENOMEM
 */
EDDY_MUST_USE int ed_base_urls_read(struct ed_base_urls *urls, const char *text, size_t bytes,
                                    char why[ED_BASE_URLS_WHY_BYTES]);

/*
 * Move those of 'from' that 'but' does not have. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_base_urls_take(struct ed_base_urls *urls, struct ed_base_urls *from,
                                    const struct ed_base_urls *but);

#endif
