/*
 * common/location.c - see location.h.
 */
#include "common/location.h"

#include <string.h>

#include "common/url_parts.h"

/* Returns true for a text that begins with a scheme, such as "https:". */
static bool has_scheme(const char *text)
{
        static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "+-.";
        size_t bytes = strspn(text, chars);

        return bytes > 0 && text[bytes] == ':';
}

void ed_location_add(struct ed_draft *text, const char *url, const char *location)
{
        struct ed_url_parts parts = ed_url_parts(url);
        const char *folder = parts.query;

        if (has_scheme(location)) {
                ed_draft_add_str(text, location);
                return;
        }
        if (strncmp(location, "//", 2) == 0) {
                ed_draft_add(text, url, (size_t) (parts.authority - url) - 2);
                ed_draft_add_str(text, location);
                return;
        }
        ed_draft_add(text, url, (size_t) (parts.authority - url));
        ed_draft_add(text, parts.host, (size_t) (parts.path - parts.host));
        if (*location != '/') {
                while (*location && *location != '?' && *location != '#' && folder > parts.path &&
                       folder[-1] != '/')
                        folder--;
                if (folder > parts.path)
                        ed_draft_add(text, parts.path, (size_t) (folder - parts.path));
                else
                        ed_draft_add_str(text, "/");
        }
        ed_draft_add_str(text, location);
}

void ed_location_add_bare(struct ed_draft *text, const char *url)
{
        struct ed_url_parts parts = ed_url_parts(url);

        ed_draft_add(text, url, (size_t) (parts.authority - url));
        ed_draft_add(text, parts.host, (size_t) (parts.query - parts.host));
}

bool ed_location_moves_host(const char *from, const char *to)
{
        struct ed_url_parts old = ed_url_parts(from), new = ed_url_parts(to);
        size_t old_bytes = (size_t) (old.path - old.host),
               new_bytes = (size_t) (new.path - new.host);
        size_t scheme = (size_t) (old.authority - from);

        if (new.authority == to ||
            strcmp(*old.path ? old.path : "/", *new.path ? new.path : "/") != 0)
                return false;
        return scheme != (size_t) (new.authority - to) || memcmp(from, to, scheme) != 0 ||
               old_bytes != new_bytes || memcmp(old.host, new.host, old_bytes) != 0;
}
