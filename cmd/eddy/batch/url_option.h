/*
 * batch/url_option.h - checks the URLs of --url and --base-url.
 */
#ifndef ED_CMD_BATCH_URL_OPTION_H
#define ED_CMD_BATCH_URL_OPTION_H

#include <stdbool.h>

/*
 * Check the value of --url, or of --base-url if 'is_base'. 'has_base' says whether a path can be the
 * value of --url. Faults are reported on stderr. Returns 0 or the exit code.
 */
int ed_url_option_check(const char *command, const char *url, bool is_base, bool has_base);

#endif
