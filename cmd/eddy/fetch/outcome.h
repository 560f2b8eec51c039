/*
 * fetch/outcome.h - what became of a request: the library's error numbers as the
 * codes that stand in result lines, and which of them are worth a retry.
 */
#ifndef ED_CMD_FETCH_OUTCOME_H
#define ED_CMD_FETCH_OUTCOME_H

#include <stdbool.h>

/* Own errors, in the library's numbering but far from its facilities. */
enum {
        ED_E_LINE_TOO_LONG = -0x70000,
        ED_E_LINE_NUL = -0x70001,
        ED_E_DEADLINE = -0x70002, /* --deadline passed */
};

enum ed_outcome_retry {
        ED_RETRY_NEVER,  /* the next attempt would end the same way */
        ED_RETRY_PASSES, /* the next attempt may succeed */
};

struct ed_outcome {
        int error;
        const char *code;
        const char *message; /* NULL: eddy_error_text() */
        enum ed_outcome_retry retry;
};

/* Never NULL.  What is not in the table came from the system: connect_error. */
const struct ed_outcome *ed_outcome_of(int error);

/* What happened, in a sentence. */
const char *ed_outcome_message(int error);

/* Codes have numbers, to count them by; the names stand in '_code'. */
enum { ED_OUTCOME_CODES_MAX = 32 };
int ed_outcome_number(int error);
const char *ed_outcome_code(int number);

/*
 * Whether a request is repeated after 'error' (negative).  'harmless': nothing
 * of it was sent, or its method is idempotent.  No error alone says whether
 * something was sent: a connection can time out, or become unreachable, before
 * the request and after it.
 */
bool ed_outcome_is_retried(int error, bool harmless);

/* Whether a status asks for another attempt: 408, 429 and 5xx. */
bool ed_outcome_status_is_retried(int status);

#endif
