/*
 * http/cookie_text.h - reads the value of Set-Cookie and its dates (RFC 6265bis, 5.1.1 and 5.6).
 */
#ifndef ED_HTTP_COOKIE_TEXT_H
#define ED_HTTP_COOKIE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/def.h"
#include "eddy/url.h"

/* The end of a session: later than each time. */
#define ED_COOKIE_SESSION INT64_MAX

struct ed_cookie_parts {
        struct eddy_url_part name, value;
        struct eddy_url_part domain; /* empty: the host; as written, but for a dot before it */
        struct eddy_url_part path;   /* empty: the default */
        int64_t expires_s;           /* ED_COOKIE_SESSION: none */
        bool with_subdomains;        /* set by the rules of the jar, not by the parser */
        bool secure, http_only;
        uint8_t same_site; /* EDDY_HTTP_SAME_SITE_* */
};

/*
 * Parse the value of a header Set-Cookie, received at 'now_s'. Returns false if it must be ignored: a
 * control character, a tab inside a part, too many bytes, or neither name nor value.
 * Owns: '*ret' borrows 'text'.
 */
bool ed_set_cookie_parse(const char *text, size_t bytes, int64_t now_s,
                         struct ed_cookie_parts *ret);

/* Parse a date of Expires, in which nearly any order and any separators are allowed. */
bool ed_cookie_date_parse(const char *text, size_t bytes, int64_t *ret_seconds);

#endif
