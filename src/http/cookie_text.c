/*
 * http/cookie_text.c - the value of Set-Cookie. See cookie_text.h.
 */
#include "http/cookie_text.h"

#include <string.h>
#include <strings.h>

#include "eddy/http_cookies.h"

enum { ATTRIBUTE_MAX = 1024 };

static bool is_space(char c)
{
        return c == ' ' || c == '\t';
}

static struct eddy_url_part trim(const char *text, const char *end)
{
        while (text < end && is_space(*text))
                text++;
        while (end > text && is_space(end[-1]))
                end--;
        return (struct eddy_url_part){ text, (size_t) (end - text) };
}

/* Take the text up to 'stop' or the end, and move '*text' past it. */
static struct eddy_url_part take(const char **text, const char *end, char stop)
{
        const char *at = *text, *found;

        found = at < end ? memchr(at, stop, (size_t) (end - at)) : NULL;
        *text = found ? found + 1 : end;
        return trim(at, found ? found : end);
}

static bool part_is(struct eddy_url_part part, const char *word)
{
        return part.bytes == strlen(word) && strncasecmp(part.text, word, part.bytes) == 0;
}

/* Section 5.6, 1. A tab is allowed there, but the file's format cannot have one in a part. */
static bool has_control(const char *text, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                if (((unsigned char) text[i] < 0x20 && text[i] != '\t') || text[i] == 0x7F)
                        return true;
        return false;
}

static bool has_tab(struct eddy_url_part part)
{
        return part.bytes > 0 && memchr(part.text, '\t', part.bytes);
}

/* Returns 'now_s' plus the number, which may have a '-' before it, or 0 if it is not a number. */
static int64_t max_age_end(struct eddy_url_part value, int64_t now_s)
{
        bool is_negative = value.bytes > 0 && value.text[0] == '-';
        int64_t number = 0;

        if (value.bytes == (size_t) is_negative)
                return 0;
        for (size_t i = is_negative; i < value.bytes; i++) {
                char c = value.text[i];

                if (c < '0' || c > '9')
                        return 0;
                if (number <= EDDY_HTTP_COOKIE_AGE_MAX_S)
                        number = number * 10 + (c - '0');
        }
        if (is_negative || number == 0)
                return INT64_MIN;
        if (number > EDDY_HTTP_COOKIE_AGE_MAX_S)
                number = EDDY_HTTP_COOKIE_AGE_MAX_S;
        return now_s + number;
}

static uint8_t same_site_of(struct eddy_url_part value)
{
        if (part_is(value, "strict"))
                return EDDY_HTTP_SAME_SITE_STRICT;
        if (part_is(value, "lax"))
                return EDDY_HTTP_SAME_SITE_LAX;
        return part_is(value, "none") ? EDDY_HTTP_SAME_SITE_NONE : EDDY_HTTP_SAME_SITE_UNSET;
}

/* The two attributes that limit the time; the last of each counts. 0: not set. */
struct times {
        int64_t max_age_end_s;
        int64_t expires_s;
};

static void take_attribute(struct ed_cookie_parts *cookie, struct times *times, int64_t now_s,
                           struct eddy_url_part name, struct eddy_url_part value)
{
        int64_t time;

        if (part_is(name, "expires")) {
                if (ed_cookie_date_parse(value.text, value.bytes, &time))
                        times->expires_s = time ? time : -1;
        } else if (part_is(name, "max-age")) {
                time = max_age_end(value, now_s);
                if (time)
                        times->max_age_end_s = time;
        } else if (part_is(name, "domain")) {
                cookie->domain = value;
                if (value.bytes > 0 && value.text[0] == '.')
                        cookie->domain = (struct eddy_url_part){ value.text + 1, value.bytes - 1 };
        } else if (part_is(name, "path")) {
                cookie->path = value.bytes > 0 && value.text[0] == '/'
                                       ? value
                                       : (struct eddy_url_part){ 0 };
        } else if (part_is(name, "secure")) {
                cookie->secure = true;
        } else if (part_is(name, "httponly")) {
                cookie->http_only = true;
        } else if (part_is(name, "samesite")) {
                cookie->same_site = same_site_of(value);
        }
}

static int64_t expiry(const struct times *times, int64_t now_s)
{
        int64_t end = times->max_age_end_s ? times->max_age_end_s : times->expires_s;

        if (!end)
                return ED_COOKIE_SESSION;
        return end > now_s + EDDY_HTTP_COOKIE_AGE_MAX_S ? now_s + EDDY_HTTP_COOKIE_AGE_MAX_S : end;
}

bool ed_set_cookie_parse(const char *text, size_t bytes, int64_t now_s, struct ed_cookie_parts *ret)
{
        struct ed_cookie_parts cookie = { .same_site = EDDY_HTTP_SAME_SITE_UNSET };
        const char *end = text + bytes, *at = text, *pair_end;
        struct times times = { 0 };
        struct eddy_url_part pair;

        if (has_control(text, bytes))
                return false;
        pair = take(&at, end, ';');
        pair_end = pair.text + pair.bytes;
        if (pair.bytes > 0 && memchr(pair.text, '=', pair.bytes)) {
                cookie.name = take(&pair.text, pair_end, '=');
                cookie.value = trim(pair.text, pair_end);
        } else {
                cookie.name = (struct eddy_url_part){ pair.text, 0 };
                cookie.value = pair;
        }
        if (cookie.name.bytes + cookie.value.bytes == 0 ||
            cookie.name.bytes + cookie.value.bytes > EDDY_HTTP_COOKIE_BYTES_MAX)
                return false;
        while (at < end) {
                struct eddy_url_part attribute = take(&at, end, ';'), name;
                const char *attribute_end = attribute.text + attribute.bytes;

                name = take(&attribute.text, attribute_end, '=');
                attribute = trim(attribute.text, attribute_end);
                if (attribute.bytes <= ATTRIBUTE_MAX)
                        take_attribute(&cookie, &times, now_s, name, attribute);
        }
        if (has_tab(cookie.name) || has_tab(cookie.value) || has_tab(cookie.path))
                return false;
        cookie.expires_s = expiry(&times, now_s);
        *ret = cookie;
        return true;
}
