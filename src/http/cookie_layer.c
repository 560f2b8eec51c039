/*
 * http/cookie_layer.c - see cookie_layer.h. It is the innermost layer, so each attempt has the cookies of
 * the response before it.
 */
#include "http/cookie_layer.h"

#include <string.h>
#include <strings.h>

#include "http/call.h"
#include "http/cookies.h"
#include "http/origin.h"

/* Add the jar's Cookie, unless no cookie goes to the URL. Returns 1 if it was added. */
static int add_cookies(struct ed_http_call *call, const struct ed_url *url)
{
        struct ed_buf value;
        int err;

        ed_buf_init(&value, EDDY_HTTP_COOKIE_HEADER_MAX + 1);
        err = ed_cookies_write(call->request.cookies, url, &value);
        if (err >= 0 && ed_buf_bytes(&value) > 0) {
                err = ed_buf_append(&value, "", 1);
                if (err >= 0)
                        err = ed_http_call_set_header(call, "Cookie", ed_buf_data(&value));
                if (err >= 0)
                        err = 1;
        }
        if (ed_buf_bytes(&value) > 0)
                explicit_bzero(ed_buf_data(&value), ed_buf_bytes(&value));
        ed_buf_fini(&value);
        return err;
}

/* Keep the cookies of the response. */
static int take_cookies(struct ed_http_call *call, const struct ed_url *url)
{
        struct eddy_http_header header;

        for (size_t i = 0; eddy_http_response_header_at(call->response, i, &header) == 0; i++) {
                int err = 0;

                if (strcasecmp(header.name, "Set-Cookie") == 0)
                        err = ed_cookies_take(call->request.cookies, url, header.value,
                                              strlen(header.value));
                if (err < 0)
                        return err;
        }
        return 0;
}

int ed_http_cookies_send(struct ed_http_call *call)
{
        struct ed_url url;
        int added = 0, removed = 0, err;

        err = ed_http_url_read(call->request.url, &url);
        if (err >= 0 && !ed_http_call_names(call, "Cookie"))
                err = added = add_cookies(call, &url);
        if (err < 0)
                return err;
        err = ed_http_send_once(call);
        /* The next attempt has the cookies of its own URL and time, also after a failure. */
        if (added > 0)
                removed = ed_http_call_set_header(call, "Cookie", NULL);
        if (err >= 0)
                err = removed;
        if (err >= 0)
                err = take_cookies(call, &url);
        if (err < 0)
                ed_http_call_drop(call);
        return err;
}
