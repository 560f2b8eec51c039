/*
 * common/url_parts.c - see url_parts.h.
 */
#include "common/url_parts.h"

#include <string.h>

struct ed_url_parts ed_url_parts(const char *url)
{
        const char *mark = *url == '/' ? NULL : strstr(url, "://"), *at_sign;
        struct ed_url_parts parts = { url, url, url, url + strcspn(url, "?#"), false };

        if (!mark)
                return parts;
        parts.authority = parts.host = mark + 3;
        parts.path = parts.authority + strcspn(parts.authority, "/?#");
        parts.query = parts.path + strcspn(parts.path, "?#");
        at_sign = memrchr(parts.authority, '@', (size_t) (parts.path - parts.authority));
        parts.has_userinfo = at_sign != NULL;
        if (at_sign)
                parts.host = at_sign + 1;
        return parts;
}
