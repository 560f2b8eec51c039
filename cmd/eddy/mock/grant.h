/*
 * mock/grant.h - tokens with a short life, as an OAuth server grants them. No I/O.
 *
 * A token has the time at which it was made, so no table of tokens is kept.
 */
#ifndef ED_CMD_MOCK_GRANT_H
#define ED_CMD_MOCK_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/draft.h"

/* The forms of an answer. */
enum ed_grant_form {
        ED_GRANT_JSON,   /* as in RFC 6749, 5.1 */
        ED_GRANT_LINES,  /* the token, and the seconds of its life */
        ED_GRANT_OPAQUE, /* the token */
        ED_GRANT_JWT,    /* a JSON Web Token with "exp" */
};

/* The state of a token. */
enum ed_grant_state { ED_GRANT_OTHER, ED_GRANT_VALID, ED_GRANT_EXPIRED };

/* Append an answer with a token that is made now. */
void ed_grant_write(enum ed_grant_form form, uint64_t secret, int64_t life_ns, int64_t now_wall_ns,
                    struct ed_draft *text);

enum ed_grant_state ed_grant_check(const char *token, uint64_t secret, int64_t life_ns,
                                   int64_t now_wall_ns);

#endif
