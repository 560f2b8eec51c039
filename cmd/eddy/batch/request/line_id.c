/*
 * batch/request/line_id.c - see line_id.h.
 */
#include "batch/request/line_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void number_set(struct ed_line_id *id, uint64_t number)
{
        id->bytes = (size_t) snprintf(id->text, sizeof(id->text), "line-%" PRIu64, number);
}

int ed_line_id_read(const struct ed_request_rules *rules, const struct ed_line *line,
                    struct ed_line_id *ret_id)
{
        char error[ED_REQUEST_ERROR_BYTES];
        struct ed_request *request = NULL;
        int err = -EINVAL;

        if (!line->is_too_long)
                err = ed_request_read(rules, line->data, line->bytes, line->number, &request,
                                      error);
        if (request) {
                memcpy(ret_id->text, request->id, request->id_bytes);
                ret_id->bytes = request->id_bytes;
                ret_id->is_empty = request->is_empty;
                ed_request_free(request);
                return 1;
        }
        if (err != -EINVAL)
                return err;
        number_set(ret_id, line->number);
        ret_id->is_empty = false;
        return 1;
}

const char *ed_line_word(const struct ed_request_rules *rules)
{
        return rules->columns ? "row" : "line";
}

const char *ed_line_id_word(const struct ed_request_rules *rules)
{
        return rules->columns && rules->id_column ? rules->id_column : "custom_id";
}

bool ed_line_url_has_host(const struct ed_request_rules *rules)
{
        return rules->url && *rules->url != '/';
}
