/*
 * common/option.h - options of the command line: their names, and values that are
 * numbers and durations.
 */
#ifndef ED_CMD_COMMON_OPTION_H
#define ED_CMD_COMMON_OPTION_H

#include <getopt.h>
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
 * The port of 'value', which begins at 'text' in it: 0 to 65535.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_option_port(const char *command, const char *option, const char *value,
                                 const char *text, uint16_t *ret_port);

/* A word that means an option in other programs, and the option here ("-o", "--timeout"). */
struct ed_option_hint {
        const char *word;
        const char *instead;
};

/* The options of a command. */
struct ed_option_set {
        const char *command;
        const char *shorts;                 /* for getopt_long(), with ':' first */
        const struct option *longs;         /* its last one has no name */
        const struct ed_option_hint *hints; /* likewise */
};

/*
 * The next option, as getopt_long() returns it; -1 after the last.  Returns 0
 * if the command line is wrong there: that is said on stderr, with the option
 * that was probably meant.
 */
EDDY_MUST_USE int ed_option_next(const struct ed_option_set *set, int argc, char **argv);

/*
 * Look at EDDY_POLLER before anything is opened: the library refuses a name
 * that it does not know, but cannot say which option it was.  Returns the
 * exit code.
 */
int ed_option_poller(const char *command);

#endif
