/*
 * common/outcome.h - the codes and messages of errors in result lines.
 */
#ifndef ED_CMD_COMMON_OUTCOME_H
#define ED_CMD_COMMON_OUTCOME_H

#include <stdbool.h>

#include "eddy/http_client.h"

/* Errors of this program, numbered apart from the library's facilities. */
enum {
        ED_E_LINE_TOO_LONG = -0x70000,
        ED_E_LINE_NUL = -0x70001,
        ED_E_DEADLINE = -0x70002, /* --deadline passed */
        ED_E_HOSTS = -0x70003,
        ED_E_NO_BASE = -0x70004,
        ED_E_SHUT = -0x70005,          /* the host takes no requests in this run */
        ED_E_SPENT = -0x7000c,         /* nor with this key, whose quota is used up */
        ED_E_ANSWER_NOT_OK = -0x70006, /* an answer is not a success, although its status is */
        ED_E_ANSWER_HAS_ERROR = -0x70007,
        ED_E_ANSWER_NOT_JSON = -0x70008,
        ED_E_ANSWER_NOT_SCHEMA = -0x70009,
        ED_E_ANSWER_NOT_ROWS = -0x7000d,
        ED_E_FILE = -0x7000e, /* a file that the request sends cannot be read */
};

struct ed_outcome {
        int error;
        const char *code;
        const char *message; /* NULL: eddy_error_text() */
};

/* Returns the code and message of an error, never NULL. An error that is not in the table is a
 * system error, with the code connect_error. */
const struct ed_outcome *ed_outcome_of(int error);

/* Returns true if the error is that of an input line, not of a request. */
bool ed_outcome_is_line(int error);

/* Returns a sentence about the error. */
const char *ed_outcome_message(int error);

/* Store why the response that was read is refused, if its bytes violate HTTP or a limit. */
void ed_outcome_fault(const eddy_http_response *response, int error,
                      struct eddy_http_fault *ret_fault);

/* Codes have numbers, to count them. ed_outcome_code() returns the name of a number. */
enum { ED_OUTCOME_CODES_MAX = 32 };
int ed_outcome_number(int error);
const char *ed_outcome_code(int number);

#endif
