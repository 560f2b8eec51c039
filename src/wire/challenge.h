/*
 * wire/challenge.h - the values of WWW-Authenticate and Authentication-Info (RFC 9110, 11.2 to 11.6),
 * parsed strictly.
 *
 * A comma separates challenges as well as the parameters of a challenge. A name with '=' after it is
 * therefore a parameter of the challenge before it, and any other name begins a challenge.
 */
#ifndef ED_WIRE_CHALLENGE_H
#define ED_WIRE_CHALLENGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/def.h"

enum { ED_AUTH_PARAMS_MAX = 32 }; /* of a challenge */

/* The unread rest of a value. */
struct ed_auth_text {
        const char *at;
        const char *end;
};

struct ed_auth_param {
        const char *name;
        size_t name_bytes;
        const char *value; /* of a quoted string: between the quotes, still with backslashes */
        size_t value_bytes;
};

struct ed_challenge {
        const char *scheme;
        size_t scheme_bytes;
        struct ed_auth_text params; /* empty: there are none, or a token68 */
};

/*
 * Read the next challenge of a value. Returns 1, or 0 at the end. A challenge with a parameter twice or
 * with more than ED_AUTH_PARAMS_MAX is an error.
 *
 * Errors: -EBADMSG  the rest of the value does not follow the format
 * Owns: '*ret_challenge' borrows the text.
 */
ED_SHARED EDDY_MUST_USE int ed_challenge_next(struct ed_auth_text *text,
                                              struct ed_challenge *ret_challenge);

/*
 * Read the next parameter of a list. Returns 1, or 0 at the end.
 *
 * Errors: -EBADMSG
 * Owns: '*ret_param' borrows the text.
 */
ED_SHARED EDDY_MUST_USE int ed_auth_param_next(struct ed_auth_text *text,
                                               struct ed_auth_param *ret_param);

/* Returns true if the parameter has this name, in upper or lower case; 'name' is in lower case. */
ED_SHARED bool ed_auth_param_is(const struct ed_auth_param *param, const char *name);

/*
 * Copy a parameter's value without its backslashes, and a NUL. Returns false if it needs more than
 * 'room' bytes.
 */
ED_SHARED bool ed_auth_param_copy(const struct ed_auth_param *param, char *out, size_t room);

#endif
