/*
 * http/origin.c - see origin.h.
 */
#include "http/origin.h"

#include <stdio.h>
#include <string.h>

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
        int err = ed_http_userinfo_new(url, &plain, &bytes);

        if (err == 0)
                ed_http_userinfo_free(plain, bytes);
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
