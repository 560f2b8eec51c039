/*
 * http/redirect_rules.c - see redirect_rules.h.
 */
#include "http/redirect_rules.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/http_text.h"
#include "eddy/url.h"

enum {
        LOCATION_BYTES_MAX = 3 * EDDY_URL_BYTES_MAX, /* each byte quoted */
};

bool ed_redirect_has_status(int status)
{
        return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

bool ed_redirect_becomes_get(int status, const char *method)
{
        if (status == 303)
                return strcmp(method, "HEAD") != 0;
        return (status == 301 || status == 302) && strcmp(method, "POST") == 0;
}

bool ed_redirect_is_of_body(const char *name)
{
        return strncasecmp(name, "content-", 8) == 0 || strcasecmp(name, "expect") == 0 ||
               strcasecmp(name, "transfer-encoding") == 0 || strcasecmp(name, "trailer") == 0;
}

bool ed_redirect_is_of_origin(const char *name)
{
        return strcasecmp(name, "host") == 0 || eddy_http_header_is_secret(name);
}

/* ---- the URL -------------------------------------------------------------- */

/* Returns the place at which the host ends, if the text has one. */
static const char *end_of_authority(const char *text)
{
        size_t scheme = strcspn(text, ":/?#");

        if (text[scheme] == ':')
                text += scheme + 1;
        return strncmp(text, "//", 2) == 0 ? text + 2 + strcspn(text + 2, "/?#") : text;
}

static bool is_quoted(char c)
{
        return c == ' ' || (unsigned char) c > 0x7F;
}

/* Append the text and a NUL, with quotes for the bytes that servers often forget to quote. */
static int quote(const char *text, struct ed_buf *out)
{
        static const char digits[] = "0123456789ABCDEF";
        const char *rest = end_of_authority(text);
        int err = ed_buf_append(out, text, (size_t) (rest - text));

        for (; err >= 0 && *rest; rest++) {
                unsigned char c = (unsigned char) *rest;
                char quoted[3] = { '%', digits[c >> 4], digits[c & 15] };

                err = is_quoted(*rest) ? ed_buf_append(out, quoted, sizeof(quoted))
                                       : ed_buf_append(out, rest, 1);
        }
        return err < 0 ? err : ed_buf_append(out, "", 1);
}

/* Append the reference, joined to 'base', and a NUL. */
static int join(const char *base, const char *reference, struct ed_buf *out)
{
        int64_t bytes = eddy_url_join(base, reference, NULL, 0);
        char *room;
        int err;

        if (bytes < 0)
                return (int) bytes;
        err = ed_buf_reserve(out, (size_t) bytes + 1, &room);
        if (err < 0)
                return err;
        bytes = eddy_url_join(base, reference, room, (size_t) bytes + 1);
        if (bytes >= 0)
                ed_buf_grow(out, (size_t) bytes + 1);
        return bytes < 0 ? (int) bytes : 0;
}

/*
 * Append the URL 'joined' with what it takes over from 'base', and a NUL. 'leaves': the origins
 * differ.
 */
static int complete(const char *base, const char *joined, bool leaves, struct ed_buf *out)
{
        struct eddy_url from, to;
        int64_t bytes;
        char *room;
        int err;

        err = eddy_url_parse(base, strlen(base), &from);
        if (err >= 0)
                err = eddy_url_parse(joined, strlen(joined), &to);
        if (err < 0)
                return err;
        if (!to.fragment.text)
                to.fragment = from.fragment;
        if (!to.user.text && !leaves) {
                to.user = from.user;
                to.password = from.password;
        }
        bytes = eddy_url_format(&to, NULL, 0);
        if (bytes < 0)
                return (int) bytes;
        err = ed_buf_reserve(out, (size_t) bytes + 1, &room);
        if (err < 0)
                return err;
        bytes = eddy_url_format(&to, room, (size_t) bytes + 1);
        if (bytes >= 0)
                ed_buf_grow(out, (size_t) bytes + 1);
        return bytes < 0 ? (int) bytes : 0;
}

int ed_redirect_join(const char *base, const char *location, struct ed_buf *out)
{
        char from[EDDY_HTTP_ORIGIN_BYTES], to[EDDY_HTTP_ORIGIN_BYTES];
        struct ed_buf quoted, joined;
        bool leaves = false;
        int err;

        ed_buf_init(&quoted, LOCATION_BYTES_MAX + 1);
        ed_buf_init(&joined, EDDY_URL_BYTES_MAX + 1);
        err = quote(location, &quoted);
        if (err >= 0)
                err = join(base, ed_buf_data(&quoted), &joined);
        if (err >= 0)
                err = eddy_http_url_origin(base, from);
        if (err >= 0)
                err = eddy_http_url_origin(ed_buf_data(&joined), to);
        if (err >= 0) {
                leaves = strcmp(from, to) != 0;
                err = complete(base, ed_buf_data(&joined), leaves, out);
        }
        ed_buf_fini(&quoted);
        ed_buf_fini(&joined);
        if (err == -EMSGSIZE)
                err = EDDY_E_URL_INVALID;
        return err < 0 ? err : leaves;
}
