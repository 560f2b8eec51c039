/*
 * batch/request/templates.h - the templates of a command: of --body, --url and -H.
 */
#ifndef ED_CMD_BATCH_REQUEST_TEMPLATES_H
#define ED_CMD_BATCH_REQUEST_TEMPLATES_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/request/columns.h"
#include "batch/request/template.h"
#include "eddy/def.h"

/* A header whose value has places. */
struct ed_template_header {
        const char *name;
        struct ed_template *value;
};

/* All zero: none. */
struct ed_templates {
        struct ed_template *body;
        struct ed_template *url;            /* NULL: --url has no places */
        struct ed_template_header *headers; /* those with places */
        size_t headers_count;
};

void ed_templates_fini(struct ed_templates *templates);

/* Returns false if all lines make the same request. */
bool ed_templates_have_places(const struct ed_templates *templates);

/*
 * Check that the columns have those that are needed: 'id', named by --id-column (NULL: none), and
 * those of the templates. Errors: -EINVAL  'error' is a sentence
 */
EDDY_MUST_USE int ed_templates_check(const struct ed_templates *templates,
                                     const struct ed_columns *columns, const char *id,
                                     char error[ED_FAULT_BYTES]);

/*
 * Returns 1 if there are places, and all their fields are in the line, each null, empty, or only
 * white space; else 0. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_templates_are_blank(const struct ed_templates *templates,
                                         const struct ed_columns *columns, const char *line,
                                         size_t bytes);

/* Called with the name of a field. */
typedef void ed_templates_field_fn(void *arg, const char *name);

/*
 * Call 'fn' for each place whose field is null, empty, or only white space; not for a line that cannot
 * be filled in. The name lives as long as the templates. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_templates_each_blank(const struct ed_templates *templates,
                                          const struct ed_columns *columns, const char *line,
                                          size_t bytes, ed_templates_field_fn *fn, void *arg);

#endif
