/*
 * wire/format.c - formats of strings: "email", "uuid" and others, by the names that JSON Schema has.
 */
#include "wire/format.h"

#include <errno.h>
#include <string.h>

#include "base/calendar.h"
#include "eddy/rfc3339.h"
#include "eddy/url.h"
#include "eddy/uuid.h"
#include "wire/chars.h"
#include "wire/url.h"

enum { LABEL_MAX = 63, DATE_BYTES = 10 };

/* ---- e-mail addresses ------------------------------------------------------------------------ */

static bool is_letter_or_digit(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_label(const char *text, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                if (!is_letter_or_digit(text[i]) && (text[i] != '-' || i == 0 || i == bytes - 1))
                        return false;
        return bytes > 0 && bytes <= LABEL_MAX;
}

/* The grammar of <input type=email> in HTML: comments and quoted names of RFC 5322 are refused. */
static const char *email_fault(const char *text, size_t bytes)
{
        const char *at = memchr(text, '@', bytes), *end = text + bytes;

        if (!at)
                return "an email address has an @-sign";
        if (at == text)
                return "an email address has a name before its @-sign";
        for (const char *c = text; c < at; c++)
                if (!is_letter_or_digit(*c) && (!*c || !strchr(".!#$%&'*+/=?^_`{|}~-", *c)))
                        return "the name of an email address has a wrong character";
        for (at++;; at++) {
                const char *dot = memchr(at, '.', (size_t) (end - at));

                if (!is_label(at, (size_t) ((dot ? dot : end) - at)))
                        return "an email address ends in a domain name";
                if (!dot)
                        return NULL;
                at = dot;
        }
}

/* ---- others ---------------------------------------------------------------------------------- */

static const char *uuid_fault(const char *text, size_t bytes)
{
        struct eddy_uuid uuid;

        return eddy_uuid_parse(text, bytes, &uuid) < 0
                       ? "a UUID has 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12"
                       : NULL;
}

static const char *date_time_fault(const char *text, size_t bytes)
{
        int64_t time_ns;

        /* -ERANGE: a date that exists, but not in nanoseconds. */
        return eddy_rfc3339_parse(text, bytes, &time_ns) == -EINVAL
                       ? "a time is written as 2026-01-31T08:30:00Z"
                       : NULL;
}

static bool read_number(const char *text, size_t digits, int *ret_number)
{
        *ret_number = 0;
        for (size_t i = 0; i < digits; i++) {
                if (!ed_char_is(text[i], ED_CHAR_DIGIT))
                        return false;
                *ret_number = *ret_number * 10 + (text[i] - '0');
        }
        return true;
}

static const char *date_fault(const char *text, size_t bytes)
{
        int year, month, day;

        if (bytes != DATE_BYTES || text[4] != '-' || text[7] != '-' ||
            !read_number(text, 4, &year) || !read_number(text + 5, 2, &month) ||
            !read_number(text + 8, 2, &day))
                return "a date is written as 2026-01-31";
        if (month < 1 || month > 12 || day < 1 || day > ed_month_days(year, month))
                return "the date does not exist";
        return NULL;
}

/* The parser of URLs accepts these characters too, as browsers do. */
static bool has_wrong_character(const struct eddy_url_part *part)
{
        for (size_t i = 0; i < part->bytes; i++)
                if (strchr("\"<>[\\]^`{|}", part->text[i]))
                        return true;
        return false;
}

static const char *uri_fault(const char *text, size_t bytes)
{
        struct eddy_url url;

        for (size_t i = 0; i < bytes; i++)
                if (text[i] <= ' ' || text[i] > '~')
                        return "a URI has only printable characters of ASCII";
        if (eddy_url_parse(text, bytes, &url) < 0 || has_wrong_character(&url.user) ||
            has_wrong_character(&url.password) || has_wrong_character(&url.path) ||
            has_wrong_character(&url.query) || has_wrong_character(&url.fragment))
                return "it does not follow RFC 3986";
        return url.scheme.bytes > 0 ? NULL : "a URI begins with a scheme, as in https:";
}

static const char *ip_fault(const char *text, size_t bytes)
{
        int kind = ed_url_host_check(text, bytes);

        return kind == ED_URL_IPV4 || kind == ED_URL_IPV6 ? NULL : "it is not an IP address";
}

static const char *ipv4_fault(const char *text, size_t bytes)
{
        return ed_url_host_check(text, bytes) == ED_URL_IPV4 ? NULL : "it is not an IPv4 address";
}

static const char *ipv6_fault(const char *text, size_t bytes)
{
        return ed_url_host_check(text, bytes) == ED_URL_IPV6 ? NULL : "it is not an IPv6 address";
}

eddy_format_fn *ed_format_fn(const struct eddy_field *field)
{
        static const struct {
                const char *name;
                eddy_format_fn *fn;
        } known[] = {
                { "email", email_fault }, { "uuid", uuid_fault }, { "date-time", date_time_fault },
                { "date", date_fault },   { "uri", uri_fault },   { "ip", ip_fault },
                { "ipv4", ipv4_fault },   { "ipv6", ipv6_fault },
        };

        if (field->format_fn)
                return field->format_fn;
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
                if (strcmp(field->format, known[i].name) == 0)
                        return known[i].fn;
        return NULL;
}

const char *ed_format_fault(const struct eddy_field *field, const char *text, size_t bytes)
{
        eddy_format_fn *fn = field->format ? ed_format_fn(field) : NULL;

        return fn ? fn(text, bytes) : NULL;
}
