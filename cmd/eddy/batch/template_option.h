/*
 * batch/template_option.h - reads the templates of --body, --url and -H.
 */
#ifndef ED_CMD_BATCH_TEMPLATE_OPTION_H
#define ED_CMD_BATCH_TEMPLATE_OPTION_H

#include "batch/request/templates.h"
#include "common/headers.h"
#include "eddy/def.h"

#define ED_TEMPLATE_OPTIONS_CSV_FAULT                                                              \
        "CSV needs --url, and the columns as {{name}} in --url, --body or -H"

/* The values of the options. NULL: not given. */
struct ed_template_options {
        const char *body; /* the text of the template */
        size_t body_bytes;
        const char *url;
        const struct ed_headers *headers;
        bool skip_empty; /* --skip-empty, which needs a place */
        bool repeats;    /* the options are those of a run, and this command sends nothing */
};

enum { ED_TEMPLATE_BODY_BYTES_MAX = 16 << 20 };

/*
 * Copy the value of --body, or read the file that it names as @FILE. Errors are reported on stderr, except
 * -ENOMEM. Errors: those of ed_slurp(); -ENOMEM
 */
EDDY_MUST_USE int ed_template_body_read(const char *command, const char *value, char **ret_body,
                                        size_t *ret_bytes);

/*
 * Read the templates. The options are borrowed. Faults are reported on stderr. Returns 0 or the exit
 * code; ed_templates_fini() must be called in any case.
 */
EDDY_MUST_USE int ed_template_options_open(const char *command,
                                           const struct ed_template_options *options,
                                           struct ed_templates *templates);

/* Returns true if rows of CSV can be requests with these options. 'url' and 'body' may be NULL. */
bool ed_template_options_suit_csv(const char *url, const char *body,
                                  const struct ed_headers *headers);

#endif
