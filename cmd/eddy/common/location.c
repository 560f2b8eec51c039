/*
 * common/location.c - see location.h.
 */
#include "common/location.h"

#include <string.h>

#include "common/url_parts.h"
#include "eddy/url.h"

/* Append a header's value as part of a URL: bytes that a URL cannot have are quoted, as browsers do. */
static void location_quote(struct ed_draft *text, const char *location)
{
        for (const char *at = location; *at; at++) {
                bool is_kept = *at > 0x20 && *at < 0x7f && !strchr("\"<>\\", *at);
                char quoted[4];
                int64_t bytes = 1;

                if (*at == '%')
                        is_kept = eddy_url_unquote(at, strnlen(at, 3), 0, NULL, 0) == 1;
                if (!is_kept)
                        bytes = eddy_url_quote(at, 1, 0, quoted, sizeof(quoted));
                ed_draft_add(text, is_kept ? at : quoted, (size_t) bytes);
        }
        ed_draft_add(text, "", 1);
}

static bool is_url(const char *text, int64_t bytes)
{
        struct eddy_url url;

        return bytes >= 0 && eddy_url_parse(text, (size_t) bytes, &url) >= 0;
}

/*
 * Append a header's value that does not lead to a URL. In a value without "//", such as
 * "http:user:password@host", all up to the last '@' is left out, because it may be a password.
 */
static void invalid_add(struct ed_draft *text, const char *base, const char *location)
{
        bool is_relative = strncmp(location, "//", 2) == 0;
        const char *scheme_end = location + strcspn(location, ":/?#"),
                   *secret_end = strrchr(location, '@');

        if (is_relative)
                ed_draft_add(text, base, strcspn(base, "/"));
        else if (strncmp(scheme_end, "://", 3) != 0 && secret_end)
                location = secret_end + 1;
        ed_draft_add_str(text, location);
}

/* Append the joined URL, or, if that fails, the header's value. */
static void joined_add(struct ed_draft *text, const char *base, const char *quoted,
                       const char *location)
{
        int64_t bytes = eddy_url_join(base, quoted, NULL, 0);
        char *room = bytes < 0 ? NULL : ed_draft_room(text, (size_t) bytes + 1);

        if (room)
                bytes = eddy_url_join(base, quoted, room, (size_t) bytes + 1);
        if (bytes >= 0 && !room)
                return; /* the draft has failed */
        if (is_url(room, bytes))
                text->bytes += (size_t) bytes;
        else
                invalid_add(text, base, location);
}

void ed_location_add(struct ed_draft *text, const char *url, const char *location)
{
        struct ed_url_parts parts = ed_url_parts(url);
        struct ed_draft base = { 0 }, quoted = { 0 };

        ed_draft_add(&base, url, (size_t) (parts.authority - url));
        ed_draft_add(&base, parts.host, strlen(parts.host) + 1);
        location_quote(&quoted, location);
        if (ed_draft_is_whole(&base) && ed_draft_is_whole(&quoted))
                joined_add(text, base.data, quoted.data, location);
        else
                text->failed = true;
        ed_draft_fini(&quoted);
        ed_draft_fini(&base);
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
