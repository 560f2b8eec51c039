/*
 * fuzz_cookie.c - any bytes as the value of Set-Cookie, received from one of several hosts.
 *
 * A cookie that is accepted has parts within the limits and without control characters, belongs to the
 * host, and is not one that a whole public suffix gets. A date is within the years that are accepted.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/http_cookies.h"
#include "http/cookie_rules.h"
#include "http/cookie_suffix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define NOW_S       ((int64_t) 1700000000)
#define YEAR_1601_S ((int64_t) -11644473600)
#define YEAR_9999_S ((int64_t) 253402300799)

static const char *const urls[] = {
        "http://a.test/",         "https://www.example.com/a/b?c",
        "https://x.github.io/p/", "http://127.0.0.1/x",
        "http://[::1]:8080/",     "https://example.co.uk",
        "https://co.uk/x//y",     "http://localhost?a/b",
};

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

/* The part is a piece of the text, or of nothing. */
static void check_part(struct eddy_url_part part, const char *text, size_t bytes)
{
        if (part.bytes == 0)
                return;
        require(part.text >= text && part.text + part.bytes <= text + bytes);
        require(part.text[0] != ' ' && part.text[part.bytes - 1] != ' ');
        for (size_t i = 0; i < part.bytes; i++)
                require((unsigned char) part.text[i] >= 0x20 && part.text[i] != 0x7F &&
                        part.text[i] != ';');
}

static void check_set(struct ed_cookie_parts *cookie, const char *from)
{
        char lower[ED_URL_HOST_MAX + 1];
        struct eddy_url_part path;
        struct ed_url url;

        require(ed_url_parse(from, strlen(from), &url) == 0);
        if (!ed_cookie_may_set(cookie, &url, lower))
                return;
        require(!cookie->secure || url.is_https);
        require(cookie->path.bytes > 0 && cookie->path.bytes <= EDDY_HTTP_COOKIE_PATH_MAX &&
                cookie->path.text[0] == '/');
        if (!cookie->with_subdomains) {
                require(cookie->domain.bytes == url.host_bytes &&
                        memcmp(cookie->domain.text, url.host, url.host_bytes) == 0);
        } else {
                require(url.host_kind == ED_URL_NAME && cookie->domain.text == lower);
                require(ed_cookie_domain_matches(url.host, lower) && !ed_cookie_suffix_is(lower));
        }
        path = ed_cookie_request_path(&url);
        path = ed_cookie_default_path(path);
        require(path.bytes > 0 && path.text[0] == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        const char *text = (const char *) data + 1;
        struct ed_cookie_parts cookie;
        int64_t date;

        if (bytes == 0)
                return 0;
        bytes--;
        if (ed_cookie_date_parse(text, bytes, &date))
                require(date >= YEAR_1601_S && date <= YEAR_9999_S);
        if (!ed_set_cookie_parse(text, bytes, NOW_S, &cookie))
                return 0;
        check_part(cookie.name, text, bytes);
        check_part(cookie.value, text, bytes);
        check_part(cookie.path, text, bytes);
        require(cookie.name.bytes == 0 || !memchr(cookie.name.text, '=', cookie.name.bytes));
        require(cookie.name.bytes + cookie.value.bytes > 0 &&
                cookie.name.bytes + cookie.value.bytes <= EDDY_HTTP_COOKIE_BYTES_MAX);
        require(cookie.expires_s == ED_COOKIE_SESSION ||
                cookie.expires_s <= NOW_S + EDDY_HTTP_COOKIE_AGE_MAX_S);
        require(cookie.same_site <= EDDY_HTTP_SAME_SITE_STRICT);
        check_set(&cookie, urls[data[0] % (sizeof(urls) / sizeof(urls[0]))]);
        return 0;
}
