/*
 * option.h - values of options: numbers, durations, and the ways in which
 * getopt_long() finds fault with them.
 */
#ifndef ED_CMD_OPTION_H
#define ED_CMD_OPTION_H

#include <stdint.h>

#include "eddy/def.h"

/*
 * Each says on stderr what is wrong with 'value' of 'option' ("--timeout").
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_option_count(const char *command, const char *option, const char *value,
                                  uint32_t min, uint32_t max, uint32_t *ret_count);
EDDY_MUST_USE int ed_option_duration(const char *command, const char *option, const char *value,
                                     int64_t min_ns, int64_t *ret_ns);

/*
 * Say what getopt_long(), with ':' first in its short options, complained
 * about by returning 'found' ('?' or ':').  Returns the exit code.
 */
int ed_option_refuse(const char *command, int found, char **argv);

/*
 * Look at EDDY_POLLER before anything is opened: the library refuses a name
 * that it does not know, but cannot say which option it was.  Returns the
 * exit code.
 */
int ed_option_poller(const char *command);

#endif
