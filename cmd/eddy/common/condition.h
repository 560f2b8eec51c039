/*
 * common/condition.h - conditions on an answer, as users write them: --ok and --retry-if.
 *
 *     status == 200 and json("/error") == null
 *     status in (429, 503) or header(X-Busy) == "yes"
 *     not (json("/choices/0/finish_reason") in ("stop", "length"))
 *
 * Values are numbers, "strings" and 'strings', true, false, null, 'status' (0: no answer),
 * 'header(NAME)', and 'json("/pointer")', the value of the body at a JSON Pointer. A header or
 * value that is absent is null. Operators, the loosest first: or; and; not; == != < <= > >= in, not
 * in. 'in' looks for a value in a list, or for a string in another string. Values of different
 * types are unequal, and neither is less than the other. A value alone holds unless it is null,
 * false, 0 or an empty string, array or object.
 */
#ifndef ED_CMD_COMMON_CONDITION_H
#define ED_CMD_COMMON_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "eddy/def.h"

enum { ED_CONDITION_BYTES_MAX = 4096, ED_CONDITION_ERROR_BYTES = 200 };

struct ed_condition;

/* The answer that is judged. Borrows everything. */
struct ed_condition_answer {
        int status; /* 0: none */
        const char *body;
        size_t body_bytes;
        bool is_json; /* the body is known to be JSON */
        /* Returns the value of a header field, or NULL. NULL: the answer has no fields. */
        const char *(*header)(void *arg, const char *name);
        void *header_arg;
};

/*
 * Parse a condition. Copies 'text'. On -EINVAL, 'error' is a sentence that says what is wrong, and
 * where.
 *
 * Errors: -EINVAL, -ENOMEM
 * Owns: returns (owned) '*ret_condition'
 */
EDDY_MUST_USE int ed_condition_parse(const char *text, struct ed_condition **ret_condition,
                                     char error[ED_CONDITION_ERROR_BYTES]);
void ed_condition_free(struct ed_condition *condition);

/* Returns 1 if the condition holds for the answer, else 0. Errors: -ENOMEM */
EDDY_MUST_USE int ed_condition_holds(const struct ed_condition *condition,
                                     const struct ed_condition_answer *answer);

/* Returns true if the condition has a header(), which lines of earlier answers do not keep. */
bool ed_condition_needs_headers(const struct ed_condition *condition);

#endif
