/*
 * http/redirect.c - see redirect.h. The rules are in redirect_rules.h.
 */
#include "http/redirect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "http/call.h"
#include "http/fault.h"
#include "http/redirect_rules.h"

/* The redirects that a call has followed. */
struct redirects {
        int followed;
        uint64_t mark; /* hash of one of the URLs so far: it is met again in a loop */
        bool loops;
        bool left; /* another origin than the first one was met: credentials are gone for good */
};

/* Refuse the redirect. 'text' has the reason. */
static int refuse(struct ed_http_call *call, int status, const char *text, int err)
{
        ed_http_call_drop(call);
        ed_http_fault_note(call->request.ret_fault, "the redirect %d is not followed: %s", status,
                           text);
        if (call->request.ret_fault)
                call->request.ret_fault->status = status;
        return err;
}

/* Too many: show the origin to which the last one leads. The rest of a URL may have secrets. */
static int refuse_next(struct ed_http_call *call, const struct redirects *redirects, int status,
                       const char *url)
{
        char origin[EDDY_HTTP_ORIGIN_BYTES], text[EDDY_HTTP_ORIGIN_BYTES + 96];

        if (!url || eddy_http_url_origin(url, origin) < 0)
                snprintf(origin, sizeof(origin), "another URL");
        snprintf(text, sizeof(text), "it leads to %s after %d redirects, the maximum%s", origin,
                 redirects->followed, redirects->loops ? ": they are a loop" : "");
        return refuse(call, status, text, -ELOOP);
}

/*
 * Note the URL, to notice a loop: the URLs with numbers that are powers of two are remembered, each until the next
 * one. A loop alone is not an error, because a cookie may end it.
 */
static void note_url(struct redirects *redirects, const char *url)
{
        uint64_t hash = ed_hash_text(0, url ? url : "");

        if (redirects->followed > 0)
                redirects->loops |= hash == redirects->mark;
        if ((redirects->followed & (redirects->followed - 1)) == 0)
                redirects->mark = hash;
}

/* Remove the headers that the next request must not have. */
static int drop_headers(struct ed_http_call *call, bool to_get, bool leaves)
{
        size_t i = 0;

        while (i < call->request.headers_count) {
                const struct eddy_http_header *header = &call->request.headers[i];
                int err;

                if (!header->value || !((to_get && ed_redirect_is_of_body(header->name)) ||
                                        (leaves && ed_redirect_is_of_origin(header->name)))) {
                        i++;
                        continue;
                }
                err = ed_http_call_set_header(call, header->name, NULL);
                if (err < 0)
                        return err;
                i = 0;
        }
        return 0;
}

/* Make the request the next one, to 'url'. */
static int change(struct ed_http_call *call, struct redirects *redirects, int status,
                  const char *url, bool leaves)
{
        bool to_get = ed_redirect_becomes_get(status, ed_http_request_method(&call->request));
        int err;

        ed_http_call_drop(call);
        if (to_get) {
                ed_http_call_drop_body(call);
                call->request.method = "GET";
        } else if (!ed_http_call_rewind(call)) {
                return refuse(call, status, "the source of the body cannot be rewound",
                              EDDY_E_HTTP_STATUS);
        }
        err = drop_headers(call, to_get, leaves);
        if (err >= 0)
                err = ed_http_call_set_url(call, url, strlen(url));
        if (err < 0)
                return err;
        redirects->left |= leaves;
        call->at_base &= !redirects->left;
        redirects->followed++;
        return 0;
}

static bool is_https(const char *url)
{
        return strncasecmp(url, "https:", 6) == 0;
}

/* Follow the redirect to 'location', or return an error. */
static int follow(struct ed_http_call *call, struct redirects *redirects, int status,
                  const char *location)
{
        const char *from = call->request.url;
        struct ed_buf to;
        int err;

        ed_buf_init(&to, EDDY_URL_BYTES_MAX + 1);
        err = ed_redirect_join(from, location, &to);
        if (err == -ENOMEM)
                ed_http_call_drop(call);
        else if (redirects->followed >= call->request.redirects_max)
                err = refuse_next(call, redirects, status, err < 0 ? NULL : ed_buf_data(&to));
        else if (err < 0)
                err = refuse(call, status, "its Location is not an http or https URL",
                             EDDY_E_HTTP_STATUS);
        else if (is_https(from) && !is_https(ed_buf_data(&to)) &&
                 !(call->request.flags & EDDY_HTTP_REDIRECT_TO_HTTP))
                err = refuse(call, status, "it leads from https to http", EDDY_E_HTTP_STATUS);
        else
                err = change(call, redirects, status, ed_buf_data(&to), err > 0);
        ed_buf_fini(&to);
        return err;
}

/* Returns Location if the response is a redirect that is followed, or NULL. */
static const char *location_of(const struct ed_http_call *call, int status)
{
        const char *method = ed_http_request_method(&call->request), *location;

        if (!ed_redirect_has_status(status) ||
            ((call->request.flags & EDDY_HTTP_REDIRECT_SAME_METHOD) && strcmp(method, "GET") != 0 &&
             ed_redirect_becomes_get(status, method)))
                return NULL;
        location = eddy_http_response_header(call->response, "Location");
        return location && *location ? location : NULL;
}

int ed_http_redirect_send(struct ed_http_call *call)
{
        struct redirects redirects = { 0 };

        for (;;) {
                const char *location;
                int err, status;

                note_url(&redirects, call->request.url);
                err = ed_http_call_authorize(call);
                if (err < 0)
                        return err;
                status = eddy_http_response_status(call->response);
                location = location_of(call, status);
                if (!location) {
                        call->response->redirects = (uint32_t) redirects.followed;
                        return 0;
                }
                err = follow(call, &redirects, status, location);
                if (err < 0)
                        return err;
        }
}
