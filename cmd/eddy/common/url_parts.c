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

/* Returns the bytes of a dot at 'at', plain or encoded; 0: none. */
static size_t dot_bytes(const char *at)
{
        if (*at == '.')
                return 1;
        return at[0] == '%' && at[1] == '2' && (at[2] == 'e' || at[2] == 'E') ? 3 : 0;
}

bool ed_url_has_dots(const char *url)
{
        struct ed_url_parts parts = ed_url_parts(url);

        for (const char *at = parts.path; at < parts.query; at++) {
                size_t dots = 0, bytes;

                if (*at != '/')
                        continue;
                for (const char *next = at + 1; (bytes = dot_bytes(next)) > 0; next += bytes) {
                        dots++;
                        if (dots <= 2 && (next + bytes == parts.query || next[bytes] == '/'))
                                return true;
                }
        }
        return false;
}
