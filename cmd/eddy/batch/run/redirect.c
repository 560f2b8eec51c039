/*
 * batch/run/redirect.c - see redirect.h.
 */
#include "batch/run/redirect.h"

#include <string.h>

#include "batch/answer/answer_line.h"
#include "common/location.h"
#include "common/url_parts.h"

void ed_redirect_find(const struct ed_attempt *attempt, struct ed_draft *text)
{
        struct eddy_http_response_info info;
        const char *location;

        if (attempt->error < 0 || !ed_answer_status_is_redirect(attempt->status))
                return;
        location = eddy_http_response_header(attempt->response, "Location");
        if (!location)
                return;
        eddy_http_response_info(attempt->response, &info);
        ed_location_add(text, info.url, location);
        ed_draft_add(text, "", 1);
}

void ed_redirect_note(struct ed_redirect *redirect, int status, const char *method,
                      const char *from, const char *to)
{
        struct ed_url_parts parts = ed_url_parts(to);

        if (redirect->status)
                return;
        redirect->status = status;
        redirect->is_followed_with_l =
                status == 307 || status == 308 ||
                (strcmp(method, "GET") == 0 && status >= 301 && status <= 303);
        redirect->moves_host = ed_location_moves_host(from, to);
        ed_url_shown(redirect->to, to,
                     (size_t) ((redirect->moves_host ? parts.path : parts.query) - to));
}
