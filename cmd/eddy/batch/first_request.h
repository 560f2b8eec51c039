/*
 * batch/first_request.h - shows a request as it is sent, for the report of eddy check.
 */
#ifndef ED_CMD_BATCH_FIRST_REQUEST_H
#define ED_CMD_BATCH_FIRST_REQUEST_H

#include "batch/request/request.h"
#include "common/draft.h"
#include "common/headers.h"
#include "eddy/def.h"

struct ed_first_request_opts {
        const char *base; /* the first --base-url; NULL: none */
        const char *url;  /* --url; NULL: none */
        const struct ed_headers *headers;
        const struct ed_templates *templates;
};

/*
 * Append method, URL, headers and body, each on a line; long texts are cut, and the body has no white
 * space between its tokens. Three asterisks replace
 * what may be a secret: a user name and password, a query, and the values of headers, but not the
 * values that the templates have filled in, unless the header is for secrets.
 *
 * Errors: -ENOMEM
 */
EDDY_MUST_USE int ed_first_request_add(const struct ed_request *request,
                                       const struct ed_first_request_opts *opts,
                                       struct ed_draft *report);

#endif
