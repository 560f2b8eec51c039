/*
 * batch/empty_fields.h - counts the requests whose fields are empty, for each field that the templates
 * use. No I/O.
 */
#ifndef ED_CMD_BATCH_EMPTY_FIELDS_H
#define ED_CMD_BATCH_EMPTY_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "batch/request/request.h"
#include "common/draft.h"
#include "eddy/def.h"

enum { ED_EMPTY_FIELDS_MAX = 256 };

/* All zero: none. */
struct ed_empty_fields {
        struct {
                const char *name; /* borrowed from a template */
                uint64_t count, line;
        } fields[ED_EMPTY_FIELDS_MAX]; /* more are not counted */
        size_t fields_count;
};

/*
 * Count the fields of a line that are null, empty or only white space: each once, also if templates have
 * it in several places. Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_empty_fields_note(struct ed_empty_fields *empty,
                                       const struct ed_request_rules *rules, const char *line,
                                       size_t bytes, uint64_t number);

/* Append the names and counts, such as "review 44, stars 1,003"; nothing if no field was empty. */
void ed_empty_fields_add(const struct ed_empty_fields *empty, struct ed_draft *report);

#endif
