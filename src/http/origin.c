/*
 * http/origin.c - see origin.h.
 */
#include "http/origin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "http/userinfo.h"
#include "io/dns_name.h"

_Static_assert((int) EDDY_HTTP_ORIGIN_BYTES >= (int) ED_URL_AUTHORITY_ROOM + 8,
               "https:// fits too");

static int host_to_ascii(struct ed_url *url)
{
        struct ed_name name;
        int err = ed_name_parse(url->host, &name);

        return err < 0 ? err : ed_url_set_host(url, name.text, strlen(name.text));
}

int ed_http_url_read(const char *text, struct ed_url *ret_url)
{
        int err;

        if (!text)
                return EDDY_E_URL_INVALID;
        err = ed_url_parse(text, strlen(text), ret_url);
        if (err < 0 || ed_likely(ret_url->host_kind != ED_URL_NAME_IDN))
                return err;
        return host_to_ascii(ret_url);
}

/* Check that the user name and the password of a URL can be sent. */
static int credentials_check(const struct ed_url *url)
{
        char *plain;
        size_t bytes;
        int err;

        if (url->userinfo_bytes > ED_HTTP_USERINFO_BYTES_MAX)
                return EDDY_E_URL_CREDENTIALS;
        plain = ed_alloc(url->userinfo_bytes + 1);
        if (!plain)
                return -ENOMEM;
        err = ed_http_userinfo_decode(url, plain, url->userinfo_bytes + 1, &bytes);
        explicit_bzero(plain, url->userinfo_bytes + 1);
        ed_free(plain);
        return err;
}

int eddy_http_url_origin(const char *url, char ret_origin[EDDY_HTTP_ORIGIN_BYTES])
{
        char authority[ED_URL_AUTHORITY_ROOM];
        struct ed_url parsed;
        int err = ed_http_url_read(url, &parsed);

        if (err == 0 && parsed.has_userinfo)
                err = credentials_check(&parsed);
        if (err < 0)
                return err;
        ed_url_authority(&parsed, authority);
        snprintf(ret_origin, EDDY_HTTP_ORIGIN_BYTES, "%s://%s", parsed.is_https ? "https" : "http",
                 authority);
        return 0;
}
