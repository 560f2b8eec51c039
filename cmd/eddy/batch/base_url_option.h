/*
 * batch/base_url_option.h - reads --base-url: a URL, or a file with URLs.
 */
#ifndef ED_CMD_BATCH_BASE_URL_OPTION_H
#define ED_CMD_BATCH_BASE_URL_OPTION_H

#include "batch/run/bases.h"
#include "eddy/def.h"

/*
 * Add the value of an option (borrowed): URL or @FILE. Faults are reported on stderr, except -ENOMEM.
 *
 * Errors: -EINVAL, -ENOMEM
 */
EDDY_MUST_USE int ed_base_url_option_add(struct ed_bases *bases, const char *command,
                                         const char *value);

/*
 * All options are known: read the file, and check the number of base URLs and API keys, 0: none. 'input'
 * names the requests. Returns 0 or the exit code, after a message.
 */
int ed_base_url_option_check(struct ed_bases *bases, const char *command, const char *input,
                             unsigned keys);

#endif
