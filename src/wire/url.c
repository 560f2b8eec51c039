/*
 * wire/url.c - absolute http and https URLs.
 */
#include "wire/url.h"

#include <string.h>

#include "base/utf8.h"
#include "eddy/error.h"
#include "wire/chars.h"
#include "wire/url_quote.h"

enum {
        PORT_HTTP = 80,
        PORT_HTTPS = 443,
        LABEL_MAX = 63,
        IPV4_PARTS = 4,
        IPV6_GROUPS = 8,
        IPV4_GROUPS = 2, /* IPv6 groups in a trailing IPv4 address */
};

/* ---- hosts ----------------------------------------------------------------- */

/* Returns true for four decimal numbers up to 255 without leading zeros. */
static bool host_is_ipv4(const char *host, size_t bytes)
{
        size_t at = 0;

        for (int i = 0; i < IPV4_PARTS; i++) {
                size_t start = at;
                unsigned number = 0;

                while (at < bytes && at - start < 3 && ed_char_is(host[at], ED_CHAR_DIGIT))
                        number = number * 10 + (unsigned) (host[at++] - '0');
                if (at == start || number > 255 || (host[start] == '0' && at - start > 1))
                        return false;
                if (i < IPV4_PARTS - 1 && (at == bytes || host[at++] != '.'))
                        return false;
        }
        return at == bytes;
}

/* Returns the number of hexadecimal digits at 'at', up to four. */
static size_t hex_group(const char *host, size_t at, size_t bytes)
{
        size_t start = at;

        while (at < bytes && at - start < 4 && ed_char_is(host[at], ED_CHAR_HEX))
                at++;
        return at - start;
}

/* RFC 4291, 2.2: eight groups, one run of which may be "::", and the last two may be IPv4. */
static bool host_is_ipv6(const char *host, size_t bytes)
{
        size_t at = 0;
        int groups = 0;
        bool has_gap = false;

        if (bytes >= 2 && host[0] == ':' && host[1] == ':') {
                has_gap = true;
                at = 2;
        }
        while (at < bytes) {
                size_t digits = hex_group(host, at, bytes);

                if (digits > 0 && at + digits < bytes && host[at + digits] == '.') {
                        if (!host_is_ipv4(host + at, bytes - at))
                                return false;
                        groups += IPV4_GROUPS;
                        break;
                }
                if (digits == 0)
                        return false;
                groups++;
                at += digits;
                if (at == bytes)
                        break;
                if (host[at++] != ':' || at == bytes)
                        return false;
                if (host[at] == ':') {
                        if (has_gap)
                                return false;
                        has_gap = true;
                        at++;
                }
        }
        /* "::" represents at least one group. */
        return has_gap ? groups < IPV6_GROUPS : groups == IPV6_GROUPS;
}

/* Returns true if a lenient address parser would read a label as a number: "127", "0x7f". */
static bool label_is_number(const char *label, size_t bytes)
{
        size_t i = 0;

        if (bytes >= 2 && label[0] == '0' && (label[1] | 0x20) == 'x') {
                for (i = 2; i < bytes; i++)
                        if (!ed_char_is(label[i], ED_CHAR_HEX))
                                return false;
                return true;
        }
        while (i < bytes && ed_char_is(label[i], ED_CHAR_DIGIT))
                i++;
        return i == bytes;
}

/* Check labels of 1 to 63 bytes; the name may end in one dot. Returns the kind or an error. */
static int host_name_check(const char *host, size_t bytes)
{
        int kind = ED_URL_NAME;
        size_t label = 0;
        size_t at = 0;

        if (bytes > 1 && host[bytes - 1] == '.')
                bytes--;
        while (at < bytes) {
                if ((uint8_t) host[at] >= 0x80) {
                        size_t n = ed_utf8_length((const unsigned char *) host + at, bytes - at);

                        if (n == 0)
                                return EDDY_E_URL_INVALID;
                        kind = ED_URL_NAME_IDN;
                        at += n;
                        continue;
                }
                if (!ed_char_is(host[at], ED_CHAR_HOST))
                        return EDDY_E_URL_INVALID;
                if (host[at] == '.') {
                        if (at == label || at - label > LABEL_MAX)
                                return EDDY_E_URL_INVALID;
                        label = at + 1;
                }
                at++;
        }
        /* A label that IDNA shortens may be longer: the converted name is checked again. */
        if (label == bytes || (bytes - label > LABEL_MAX && kind == ED_URL_NAME) ||
            label_is_number(host + label, bytes - label))
                return EDDY_E_URL_INVALID;
        return kind;
}

int ed_url_host_check(const char *host, size_t bytes)
{
        if (bytes == 0 || bytes > ED_URL_HOST_MAX)
                return EDDY_E_URL_INVALID;
        if (memchr(host, ':', bytes))
                return host_is_ipv6(host, bytes) ? ED_URL_IPV6 : EDDY_E_URL_INVALID;
        if (host_is_ipv4(host, bytes))
                return ED_URL_IPV4;
        return host_name_check(host, bytes);
}

static void host_take(struct ed_url *url, const char *host, size_t bytes, int kind)
{
        for (size_t i = 0; i < bytes; i++)
                url->host[i] = host[i] >= 'A' && host[i] <= 'Z' ? (char) (host[i] | 0x20) : host[i];
        url->host[bytes] = '\0';
        url->host_bytes = (uint16_t) bytes;
        url->host_kind = (uint8_t) kind;
}

int ed_url_set_host(struct ed_url *url, const char *host, size_t bytes)
{
        int kind = ed_url_host_check(host, bytes);

        if (kind < 0)
                return kind;
        host_take(url, host, bytes, kind);
        return 0;
}

/* ---- the parts of a URL ---------------------------------------------------- */

bool ed_url_text_is(const char *text, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++) {
                if (!ed_char_is(text[i], ED_CHAR_TARGET))
                        return false;
                if (text[i] == '%' && (bytes - i < 3 || !ed_char_is(text[i + 1], ED_CHAR_HEX) ||
                                       !ed_char_is(text[i + 2], ED_CHAR_HEX)))
                        return false;
        }
        return true;
}

/* Parse "http://" or "https://", ignoring case. Returns the length, or an error. */
static int scheme_parse(const char *text, size_t bytes, bool *ret_is_https)
{
        size_t colon = 0;

        while (colon < bytes &&
               (ed_char_is(text[colon], ED_CHAR_HEX | ED_CHAR_HOST) || text[colon] == '+'))
                colon++;
        if (colon == 0 || colon == bytes || text[colon] != ':' || bytes - colon < 3 ||
            text[colon + 1] != '/' || text[colon + 2] != '/' || ed_char_is(text[0], ED_CHAR_DIGIT))
                return EDDY_E_URL_INVALID;
        if (!ED_TOKEN_IS(text, colon, "http") && !ED_TOKEN_IS(text, colon, "https"))
                return EDDY_E_URL_SCHEME;
        *ret_is_https = colon == 5;
        return (int) colon + 3;
}

/* Parse 1 to 65535, without sign or space. An empty port is the scheme's default. */
static int port_parse(const char *text, size_t bytes, uint16_t *port)
{
        unsigned number = 0;

        if (bytes == 0)
                return 0;
        for (size_t i = 0; i < bytes; i++) {
                if (!ed_char_is(text[i], ED_CHAR_DIGIT))
                        return EDDY_E_URL_INVALID;
                number = number * 10 + (unsigned) (text[i] - '0');
                if (number > UINT16_MAX)
                        return EDDY_E_URL_INVALID;
        }
        if (number == 0)
                return EDDY_E_URL_INVALID;
        *port = (uint16_t) number;
        return 0;
}

int ed_url_host_port_split(const char *text, size_t bytes, const char **ret_host,
                           size_t *ret_host_bytes, uint16_t *port)
{
        bool is_bracketed = bytes > 0 && text[0] == '[';
        const char *host = text + is_bracketed;
        const char *host_end = memchr(text, is_bracketed ? ']' : ':', bytes);
        const char *end = text + bytes, *at;
        int kind, err = 0;

        if (is_bracketed && !host_end)
                return EDDY_E_URL_INVALID;
        if (!host_end)
                host_end = end;
        kind = ed_url_host_check(host, (size_t) (host_end - host));
        if (kind < 0)
                return kind;
        at = host_end + is_bracketed;
        if (is_bracketed != (kind == ED_URL_IPV6) || (at < end && *at != ':'))
                return EDDY_E_URL_INVALID;
        if (at < end)
                err = port_parse(at + 1, (size_t) (end - at) - 1, port);
        *ret_host = host;
        *ret_host_bytes = (size_t) (host_end - host);
        return err < 0 ? err : kind;
}

static int host_port_parse(const char *text, size_t bytes, struct ed_url *url)
{
        const char *host;
        size_t host_bytes;
        uint16_t port = 0;
        int kind = ed_url_host_port_split(text, bytes, &host, &host_bytes, &port);

        if (kind < 0)
                return kind;
        url->has_port = port != 0;
        if (url->has_port)
                url->port = port;
        host_take(url, host, host_bytes, kind);
        return 0;
}

static int authority_parse(const char *text, size_t bytes, struct ed_url *url)
{
        /* Use the last '@': otherwise "http://good@evil@host" would be ambiguous. */
        const char *at_sign = memrchr(text, '@', bytes);

        if (at_sign) {
                url->has_userinfo = true;
                url->userinfo = text;
                url->userinfo_bytes = (size_t) (at_sign - text);
                if (!ed_url_text_is(text, url->userinfo_bytes))
                        return EDDY_E_URL_INVALID;
                bytes -= url->userinfo_bytes + 1;
                text = at_sign + 1;
        }
        return host_port_parse(text, bytes, url);
}

int ed_url_parse(const char *text, size_t bytes, struct ed_url *ret_url)
{
        struct ed_url url;
        const char *end = text + bytes;
        const char *hash;
        const char *authority;
        int err;

        if (bytes > ED_URL_BYTES_MAX)
                return EDDY_E_URL_INVALID;
        /* Do not initialise the host's room; ed_url_set_host() fills it in. */
        url.has_userinfo = false;
        url.userinfo = NULL;
        url.userinfo_bytes = 0;
        err = scheme_parse(text, bytes, &url.is_https);
        if (err < 0)
                return err;
        url.port = url.is_https ? PORT_HTTPS : PORT_HTTP;
        hash = memchr(text, '#', bytes);
        if (hash) {
                if (!ed_url_text_is(hash + 1, (size_t) (end - hash - 1)))
                        return EDDY_E_URL_INVALID;
                end = hash;
        }
        authority = text + err;
        url.target = authority;
        while (url.target < end && *url.target != '/' && *url.target != '?')
                url.target++;
        url.target_bytes = (size_t) (end - url.target);
        url.slash_first = url.target_bytes == 0 || *url.target == '?';
        if (!ed_url_text_is(url.target, url.target_bytes))
                return EDDY_E_URL_INVALID;
        err = authority_parse(authority, (size_t) (url.target - authority), &url);
        if (err < 0)
                return err;
        *ret_url = url;
        return 0;
}

int64_t ed_url_decode(const char *text, size_t bytes, char *out, size_t room)
{
        size_t n = 0;

        for (size_t at = 0; at < bytes;) {
                int c = ed_url_byte(text, bytes, &at);

                if (c < 0)
                        return EDDY_E_URL_INVALID;
                if (c < 0x20 || c == 0x7F || n == room)
                        return EDDY_E_URL_CREDENTIALS;
                out[n++] = (char) c;
        }
        return (int64_t) n;
}

/* ---- for clients ------------------------------------------------------------ */

size_t ed_url_authority(const struct ed_url *url, char out[ED_URL_AUTHORITY_ROOM])
{
        bool is_v6 = url->host_kind == ED_URL_IPV6;
        unsigned port = url->port;
        unsigned divisor = 10000;
        char *to = out;

        if (is_v6)
                *to++ = '[';
        memcpy(to, url->host, url->host_bytes);
        to += url->host_bytes;
        if (is_v6)
                *to++ = ']';
        if (port != (url->is_https ? PORT_HTTPS : PORT_HTTP)) {
                *to++ = ':';
                while (divisor > port)
                        divisor /= 10;
                for (; divisor > 0; divisor /= 10)
                        *to++ = (char) ('0' + port / divisor % 10);
        }
        *to = '\0';
        return (size_t) (to - out);
}
