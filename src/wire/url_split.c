/*
 * wire/url_split.c - see url_split.h.
 */
#include "wire/url_split.h"

#include <string.h>

#include "eddy/error.h"
#include "wire/chars.h"
#include "wire/url.h"

uint16_t ed_url_default_port(struct eddy_url_part scheme)
{
        if (ED_TOKEN_IS(scheme.text, scheme.bytes, "https"))
                return 443;
        return ED_TOKEN_IS(scheme.text, scheme.bytes, "http") ? 80 : 0;
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* RFC 3986, 3.1 */
size_t ed_url_scheme_bytes(const char *text, size_t bytes)
{
        size_t n = 0;

        if (bytes == 0 || !is_letter(text[0]))
                return 0;
        while (n < bytes && (is_letter(text[n]) || ed_char_is(text[n], ED_CHAR_DIGIT) ||
                             text[n] == '+' || text[n] == '-' || text[n] == '.'))
                n++;
        return n;
}

static struct eddy_url_part part(const char *from, const char *to)
{
        return (struct eddy_url_part){ from, (size_t) (to - from) };
}

/* Returns the first 'mark' of a text, or its end. */
static const char *mark_find(const char *from, const char *end, char mark)
{
        const char *at = from < end ? memchr(from, mark, (size_t) (end - from)) : NULL;

        return at ? at : end;
}

static int authority_split(const char *from, const char *end, struct eddy_url *url)
{
        const char *at_sign = from < end ? memrchr(from, '@', (size_t) (end - from)) : NULL, *colon;
        int kind;

        if (at_sign) {
                if (!ed_url_text_is(from, (size_t) (at_sign - from)))
                        return EDDY_E_URL_INVALID;
                colon = mark_find(from, at_sign, ':');
                url->user = part(from, colon);
                if (colon < at_sign)
                        url->password = part(colon + 1, at_sign);
                from = at_sign + 1;
        }
        url->host = part(from, end);
        /* Only other schemes have URLs without a host: file:///path. */
        if (from == end)
                return url->scheme.text && url->port == 0 ? 0 : EDDY_E_URL_INVALID;
        kind = ed_url_host_port_split(from, (size_t) (end - from), &url->host.text,
                                      &url->host.bytes, &url->port);
        return kind < 0 ? kind : 0;
}

/* 4.2: in a relative path, what precedes a colon in the first segment would be read as a scheme. */
static bool looks_like_scheme(const char *path, const char *end)
{
        const char *segment_end = mark_find(path, end, '/');

        return mark_find(path, segment_end, ':') < segment_end;
}

/* RFC 3986, appendix B: the fragment is cut off first, then the query. */
int ed_url_split(const char *text, size_t bytes, struct eddy_url *ret_url,
                 struct eddy_url_part *ret_authority)
{
        struct eddy_url url = { .port = 0 };
        struct eddy_url_part authority = { NULL, 0 };
        const char *at = text, *end = text + bytes, *mark = mark_find(text, end, '#');
        size_t scheme = ed_url_scheme_bytes(text, bytes);

        if (bytes > ED_URL_BYTES_MAX)
                return EDDY_E_URL_INVALID;
        if (mark < end)
                url.fragment = part(mark + 1, end);
        end = mark;
        if (scheme > 0 && scheme < bytes && text[scheme] == ':') {
                url.scheme = part(text, text + scheme);
                url.port = ed_url_default_port(url.scheme);
                at += scheme + 1;
        }
        mark = mark_find(at, end, '?');
        if (mark < end)
                url.query = part(mark + 1, end);
        end = mark;
        if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
                authority = part(at + 2, mark_find(at + 2, end, '/'));
                at = authority.text + authority.bytes;
                if (authority_split(authority.text, at, &url) < 0)
                        return EDDY_E_URL_INVALID;
        } else if (!url.scheme.text && looks_like_scheme(at, end)) {
                return EDDY_E_URL_INVALID;
        }
        url.path = part(at, end);
        if (!ed_url_text_is(url.path.text, url.path.bytes) ||
            !ed_url_text_is(url.query.text, url.query.bytes) ||
            !ed_url_text_is(url.fragment.text, url.fragment.bytes))
                return EDDY_E_URL_INVALID;
        *ret_url = url;
        *ret_authority = authority;
        return 0;
}

int eddy_url_parse(const char *text, size_t bytes, struct eddy_url *ret_url)
{
        struct eddy_url_part authority;
        struct eddy_url url;
        struct ed_url checked;
        int err = ed_url_split(text, bytes, &url, &authority);

        /* The parser of the client decides. */
        if (err == 0 && url.scheme.text && ed_url_default_port(url.scheme) != 0)
                err = ed_url_parse(text, bytes, &checked);
        if (err < 0)
                return err;
        *ret_url = url;
        return 0;
}
