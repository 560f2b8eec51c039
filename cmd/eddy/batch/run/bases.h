/*
 * batch/run/bases.h - the base URLs of a run: those that are given, and those of a file, which may
 * come and go.
 */
#ifndef ED_CMD_BATCH_RUN_BASES_H
#define ED_CMD_BATCH_RUN_BASES_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/request/base_url.h"
#include "common/watched_file.h"

struct ed_batch_run;

/* All zero: none. */
struct ed_bases {
        struct ed_base_urls given;
        const char *path;            /* of the file; NULL: none */
        struct ed_base_urls listed;  /* those of the file that are not given, at the start */
        struct ed_watched_file file; /* before it was read */
        bool is_watched;             /* false: a pipe, which is read once */
};

void ed_bases_fini(struct ed_bases *bases);

/* Returns their number, at the start. */
size_t ed_bases_count(const struct ed_bases *bases);

/* Returns one of them, at the start, or NULL: the given ones come first. */
const char *ed_bases_at(const struct ed_bases *bases, size_t number);

/*
 * Read the text of the file: the base URLs that are not given.
 *
 * Errors: -EINVAL  'why' is the reason; -ENOMEM
 */
EDDY_MUST_USE int ed_bases_read(const struct ed_bases *bases, const char *text, size_t bytes,
                                struct ed_base_urls *ret_listed, char why[ED_BASE_URLS_WHY_BYTES]);

/* Returns true if the numbers of base URLs and API keys (0: none) are too high together. */
bool ed_bases_are_too_many(size_t count, unsigned keys);

/*
 * Watch the file while the run ('arg') lasts: base URLs that it has more get requests, and those that
 * it has no more get no further request. While it cannot be used, all stays as it is. If no base URL
 * is left, requests wait, and the run ends after --max-throttle-wait.
 *
 * Suspends: yes, until it is cancelled.
 */
int ed_bases_watch(void *arg);

#endif
