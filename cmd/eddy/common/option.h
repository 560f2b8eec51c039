/*
 * common/option.h - options of the command line: their names, and values that are numbers or
 * durations.
 */
#ifndef ED_CMD_COMMON_OPTION_H
#define ED_CMD_COMMON_OPTION_H

#include <getopt.h>
#include <stdint.h>

#include "eddy/def.h"
#include "eddy/tls.h"

/*
 * Parse 'value' of 'option' ("--timeout"). Errors are reported on stderr.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_option_count(const char *command, const char *option, const char *value,
                                  uint32_t min, uint32_t max, uint32_t *ret_count);
EDDY_MUST_USE int ed_option_duration(const char *command, const char *option, const char *value,
                                     int64_t min_ns, int64_t *ret_ns);

/*
 * Parse a number from 1 to 2^48, which may end in k, M or G: thousands, millions, billions.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_option_amount(const char *command, const char *option, const char *value,
                                   uint64_t *ret_amount);

/*
 * Parse the port, 0 to 65535, in 'value', which begins at 'text'.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_option_port(const char *command, const char *option, const char *value,
                                 const char *text, uint16_t *ret_port);

/*
 * Store the value of an option that may be given once. A second value is refused, because the first
 * would be ignored silently.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_option_once(const char *command, const char *option, const char *value,
                                 const char **ret_value);

/*
 * Set an option whose value is a file to write, of which a command has only one. An empty name
 * is refused, and one that ends as that of a compressed file, because the file is not compressed.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_option_file(const char *command, const char *option, const char *value,
                                 const char **ret_value);

/* The same for a file that is compressed if its name ends in .gz or .zst (common/result.h). */
EDDY_MUST_USE int ed_option_result(const char *command, const char *option, const char *value,
                                   const char **ret_value);

/*
 * Returns the position of 'value' among 'n' words. 'shown' is a list of the words for the message.
 *
 * Errors: -EINVAL
 */
EDDY_MUST_USE int ed_option_word(const char *command, const char *option, const char *value,
                                 const char *const *words, int n, const char *shown);

/* Store the value of --format: auto, json or csv. Errors: -EINVAL */
EDDY_MUST_USE int ed_option_format(const char *command, const char *value, const char **ret_format);

/* Returns the name of the option whose file eddy_tls_config_new() could not use. */
const char *ed_option_of_fault(const struct eddy_tls_fault *fault);

/* The name or letter of an option in other programs, and its name here ("-o", "--timeout"). */
struct ed_option_hint {
        const char *word;
        const char *instead;
};

/* The options of a command. */
struct ed_option_set {
        const char *command;
        const char *shorts;                 /* for getopt_long(), with ':' first */
        const struct option *longs;         /* ends with an entry without a name */
        const struct ed_option_hint *hints; /* ends with an entry without a word */
};

/*
 * Returns the next option, as getopt_long() does, or -1 after the last option. Returns 0 if the
 * command line is wrong, after a message on stderr with a suggestion.
 */
EDDY_MUST_USE int ed_option_next(const struct ed_option_set *set, int argc, char **argv);

enum { ED_OPTION_VERSION = 255 }; /* of --version, for ed_option_walk() */

/* Sets an option. 'value' may be overwritten, if it is secret. Errors: -EINVAL, after a message; -ENOMEM */
typedef int ed_option_fn(void *arg, int option, char *value);

/*
 * Set all options of a command, or print its 'help' or the version. Returns 0 after the last option;
 * otherwise 1 and the exit code, after a message.
 */
EDDY_MUST_USE int ed_option_walk(const struct ed_option_set *set, const char *help, int argc,
                                 char **argv, ed_option_fn *fn, void *arg, int *ret_exit);

#endif
