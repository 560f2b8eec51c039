/*
 * batch/request/target.h - checks the URL of a request, with the parser that sends it.
 */
#ifndef ED_CMD_BATCH_REQUEST_TARGET_H
#define ED_CMD_BATCH_REQUEST_TARGET_H

#include "eddy/def.h"

enum { ED_TARGET_FAULT_BYTES = 320 };

/*
 * Check the URL of a request: an absolute URL, or a path, which begins with "/".
 *
 * Errors: -EINVAL, with a sentence in 'text';  -ENOMEM
 */
EDDY_MUST_USE int ed_target_check(const char *url, char text[ED_TARGET_FAULT_BYTES]);

#endif
