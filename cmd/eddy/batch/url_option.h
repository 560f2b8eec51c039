/*
 * batch/url_option.h - checks the URL of --url.
 */
#ifndef ED_CMD_BATCH_URL_OPTION_H
#define ED_CMD_BATCH_URL_OPTION_H

#include <stdbool.h>

/*
 * Check the value of --url. 'has_base' says whether it can be a path. Faults are reported on stderr.
 * Returns 0 or the exit code.
 */
int ed_url_option_check(const char *command, const char *url, bool has_base);

#endif
