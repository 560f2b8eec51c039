/*
 * batch/request/target.h - checks the URLs of lines and of options, with the parser that sends
 * them.
 */
#ifndef ED_CMD_BATCH_REQUEST_TARGET_H
#define ED_CMD_BATCH_REQUEST_TARGET_H

#include <stdbool.h>

#include "eddy/def.h"

enum { ED_TARGET_FAULT_BYTES = 320 };

/*
 * Check the URL of a request: an absolute URL, or a path, which begins with "/".
 *
 * Errors: -EINVAL, with a sentence in 'text';  -ENOMEM
 */
EDDY_MUST_USE int ed_target_check(const char *url, char text[ED_TARGET_FAULT_BYTES]);

/*
 * Check the value of --url, or of --base-url if 'is_base'. 'has_base' says whether a path can be the
 * value of --url. Faults are reported on stderr. Returns 0 or the exit code.
 */
int ed_target_check_option(const char *command, const char *url, bool is_base, bool has_base);

#endif
