/*
 * batch/run/key_text.h - reads API keys from texts: the lines of a file, the output of a command, and
 * the end of life that a JSON Web Token states. No I/O.
 */
#ifndef ED_CMD_BATCH_RUN_KEY_TEXT_H
#define ED_CMD_BATCH_RUN_KEY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eddy/def.h"

enum { ED_KEY_BYTES_MAX = 8 << 10 };

/* A key in a text, which is borrowed. */
struct ed_key_text {
        const char *at;
        size_t bytes;
        uint64_t line;   /* its number, from 1 */
        int64_t life_ns; /* from now on; -1: not known */
};

/* Returns NULL if the key can be sent as the value of a header, or else the reason: "it is empty". */
const char *ed_key_text_fault(const char *at, size_t bytes);

/*
 * Find the next key of a file with one key per line. Blank lines and lines that begin with # are
 * ignored. '*at' is the rest of the text; 'text' is all zero at the start. Returns false at the
 * end.
 */
bool ed_key_text_next(const char **at, const char *end, struct ed_key_text *text);

/*
 * Read the output of a command: the key, and in the second line, if it is not empty, the seconds of
 * its life. Further lines are ignored. Without a second line, the life is that in the token.
 *
 * Errors: -EINVAL  '*ret_why' is the reason, such as "line 1 of its output is empty"
 */
EDDY_MUST_USE int ed_key_text_output(const char *output, size_t bytes, int64_t now_wall_ns,
                                     struct ed_key_text *ret_text, const char **ret_why);

/*
 * Returns the time until the "exp" of a JSON Web Token (RFC 7519, 4.1.4), or -1 if this is not such a
 * token, or the time has passed: only the server knows whether it accepts the token. The signature is
 * not verified.
 */
int64_t ed_key_text_jwt_life(const char *token, size_t bytes, int64_t now_wall_ns);

#endif
