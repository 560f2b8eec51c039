/*
 * batch/empty_option.h - --skip-empty of commands that read the requests of a run but send nothing, with
 * the options of the run that have the places: --url, --body and -H. Without --skip-empty, these are
 * accepted and not used.
 */
#ifndef ED_CMD_BATCH_EMPTY_OPTION_H
#define ED_CMD_BATCH_EMPTY_OPTION_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "batch/request/request.h"
#include "common/headers.h"
#include "eddy/def.h"

#define ED_EMPTY_OPTION_HELP                                                                       \
        "  --skip-empty             leave out the requests that a run with this option leaves "    \
        "out\n"                                                                                    \
        "  --body BODY, --url URL, -H, --header HEADER\n"                                          \
        "                           those of the run that have {{name}}, for --skip-empty\n"

enum {
        ED_EMPTY_OPTION_SKIP = 0x5e00, /* values of getopt_long() */
        ED_EMPTY_OPTION_URL,
        ED_EMPTY_OPTION_BODY,
};

#define ED_EMPTY_OPTION_LONGS                                                                      \
        { "skip-empty", no_argument, NULL, ED_EMPTY_OPTION_SKIP },                                 \
                { "url", required_argument, NULL, ED_EMPTY_OPTION_URL },                           \
                { "body", required_argument, NULL, ED_EMPTY_OPTION_BODY },                         \
        {                                                                                          \
                "header", required_argument, NULL, 'H'                                             \
        }

/* All zero: not given. */
struct ed_empty_option {
        bool skip;
        const char *url, *body;
        struct ed_headers headers;
        char *text; /* of the body */
        size_t text_bytes;
};

/*
 * Set an option, 'H' or one of ED_EMPTY_OPTION_LONGS. Returns 1, or 0 for another option. Errors are
 * reported on stderr, except -ENOMEM. Errors: -EINVAL, -ENOMEM
 */
EDDY_MUST_USE int ed_empty_option_set(struct ed_empty_option *empty, const char *command,
                                      int option, char *value);

/*
 * Read the templates into the rules, after the last option. Returns 0, or the exit code after a message.
 */
EDDY_MUST_USE int ed_empty_option_open(struct ed_empty_option *empty, const char *command,
                                       struct ed_request_rules *rules);

/* Free both the option and the templates of the rules. */
void ed_empty_option_fini(struct ed_empty_option *empty, struct ed_request_rules *rules);

#endif
