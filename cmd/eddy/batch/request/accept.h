/*
 * batch/request/accept.h - the failures that the user accepts: --accept-failed and --accept-failed-ids.
 * Requests with an accepted failure are not sent again, and do not change the exit status. No I/O.
 */
#ifndef ED_CMD_BATCH_REQUEST_ACCEPT_H
#define ED_CMD_BATCH_REQUEST_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch/answer/answer_line.h"
#include "batch/request/ids.h"
#include "eddy/def.h"

/* All zero: no failure is accepted. All functions accept NULL in its place. */
struct ed_accept {
        bool finals;          /* --accept-failed */
        struct ed_ids *named; /* --accept-failed-ids; NULL: not given */
        struct ed_ids *found; /* accepted failures of the files; NULL: none of the options */
        uint64_t named_count, met_count; /* ids; those that the input has */
};

/* Errors: -ENOMEM */
EDDY_MUST_USE int ed_accept_all_finals(struct ed_accept *accept);
EDDY_MUST_USE int ed_accept_all_named(struct ed_accept *accept);
void ed_accept_fini(struct ed_accept *accept);

static inline bool ed_accept_is_on(const struct ed_accept *accept)
{
        return accept && accept->found;
}

/* Add an id of --accept-failed-ids. An id that occurs twice counts once. Errors: -ENOMEM */
EDDY_MUST_USE int ed_accept_name(struct ed_accept *accept, const char *id, size_t bytes);

/* Returns true if a failure with this id is accepted; 'is_final' is that of its line. */
bool ed_accept_takes(const struct ed_accept *accept, const char *id, size_t bytes, bool is_final);

/*
 * Returns true if a failure is final by its line: the line says so ("final" in x_meta), or says
 * nothing and its status is one that is not repeated, 400 to 499 except those about keys, credit,
 * time and limits. A redirect is never final: a server that moves redirects all requests.
 */
bool ed_accept_line_is_final(const struct ed_answer_seen *seen);

/*
 * Note a failure of the files. A later line of an id replaces an earlier one. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_accept_note(struct ed_accept *accept, const struct ed_answer_seen *seen);

/*
 * All lines are noted. If no request has an answer, failures are accepted only by their ids, because
 * the command or the server is likely to be wrong.
 */
void ed_accept_settle(struct ed_accept *accept, bool has_answers);

/*
 * A request of the input: returns true if it has an accepted failure, and has not changed since.
 * 'mark' is its ed_answer_mark(), or 0.
 */
bool ed_accept_has(struct ed_accept *accept, const char *id, size_t bytes, uint64_t mark);

/* Returns true if a failure of the id is accepted, unless its request has changed. */
bool ed_accept_knows(const struct ed_accept *accept, const char *id, size_t bytes);

/* Note that the input has an id. ed_accept_has() does that too. */
void ed_accept_meet(struct ed_accept *accept, const char *id, size_t bytes);

#endif
