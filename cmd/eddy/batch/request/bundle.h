/*
 * batch/request/bundle.h - sends several rows as one request (--rows-per-request): the texts "input"
 * of their bodies become a list. No I/O.
 *
 *     {"model":"m","input":"a"}, {"model":"m","input":"b"}  -->  {"model":"m","input":["a","b"]}
 *
 * The rows of a bundle differ in "input" only. A bundle sends all of its rows, or a part, if a server
 * refuses all of them. batch/answer/split.h splits the answer.
 */
#ifndef ED_CMD_BATCH_REQUEST_BUNDLE_H
#define ED_CMD_BATCH_REQUEST_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/request/request.h"
#include "eddy/def.h"

enum { ED_BUNDLE_ROWS_MAX = 2048, ED_BUNDLE_BYTES_MAX = 8 << 20 };

/* The fault of a request that cannot be one of several rows. */
#define ED_BUNDLE_FAULT                                                                            \
        "the body has no text \"input\", which --rows-per-request needs: write one, as in "        \
        "{\"model\":\"m\",\"input\":\"{{text}}\"}, or leave the option out"

struct ed_bundle_row {
        struct ed_request *request;   /* owned */
        size_t input_at, input_bytes; /* of the text, with its quotes, in the body */
};

struct ed_bundle {
        size_t room, count;
        size_t at, part;           /* the rows of 'request': 'part' rows from 'at' */
        uint64_t bytes;            /* of memory */
        struct ed_request request; /* borrows from the rows and 'body' */
        char *body;                /* NULL: the part is one row, with its own body */
        struct ed_bundle_row rows[];
};

/* Returns true if a request has a body whose "input" is a text. */
bool ed_bundle_can(const struct ed_request *request);

/* Make an empty bundle for at most 'rows' rows. Errors: -ENOMEM */
EDDY_MUST_USE int ed_bundle_new(size_t rows, struct ed_bundle **ret_bundle);
void ed_bundle_free(struct ed_bundle *bundle);

/*
 * Add a request (owned on success). Returns 1, or 0 if it does not fit: it has no text, differs from
 * the other rows, or the bundle would have more than 'rows' rows or, with another row in it,
 * ED_BUNDLE_BYTES_MAX bytes of bodies.
 */
int ed_bundle_add(struct ed_bundle *bundle, struct ed_request *request);

static inline bool ed_bundle_is_full(const struct ed_bundle *bundle)
{
        return bundle->count == bundle->room;
}

/*
 * Make the request of a part. The id is that of its first row, and the hash depends on the ids and
 * the requests of all of them, so the idempotency key does too. Errors: -ENOMEM  the old one is kept
 */
EDDY_MUST_USE int ed_bundle_take(struct ed_bundle *bundle, size_t at, size_t part);

#endif
