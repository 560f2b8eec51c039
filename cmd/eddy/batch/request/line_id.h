/*
 * batch/request/line_id.h - the id under which a line of an input is answered. No I/O.
 */
#ifndef ED_CMD_BATCH_REQUEST_LINE_ID_H
#define ED_CMD_BATCH_REQUEST_LINE_ID_H

#include <stdbool.h>
#include <stddef.h>

#include "batch/request/request.h"
#include "common/lines.h"
#include "eddy/def.h"

/* A line that is not a request has an answer too, an error: under its id, or else its number. */
struct ed_line_id {
        char text[ED_REQUEST_ID_BYTES_MAX + 1];
        size_t bytes;
        bool is_empty; /* of a line that --skip-empty leaves out */
};

/* Find the id of a line. Returns 1, or 0 for a line that is skipped. Errors: -ENOMEM */
EDDY_MUST_USE int ed_line_id_read(const struct ed_request_rules *rules, const struct ed_line *line,
                                  struct ed_line_id *ret_id);

/* Returns the name of a line in messages: "row" for CSV. */
const char *ed_line_word(const struct ed_request_rules *rules);

/* Returns the name of the member or column that is the id. */
const char *ed_line_id_word(const struct ed_request_rules *rules);

/* Returns true if --url has a host, which is then a part of each request. */
bool ed_line_url_has_host(const struct ed_request_rules *rules);

/* A remedy for requests that have changed, if --url has a host. */
#define ED_LINE_HOST_HINT                                                                          \
        "the host of --url is a part of each request: give it as before, or --on-changed send; "   \
        "that of --base-url, with --url /path, may change"

#endif
