/*
 * http/exchange_cookies.c - cookies on the server's side (RFC 6265bis, 4).
 */
#include "http/exchange_cookies.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/http_text.h"

enum { LINE_BYTES = 4096 + 1 };

/* ---- requests -------------------------------------------------------------- */

/* Returns true if the text has only characters of values: no space, quote, comma, semicolon, backslash. */
static bool is_value(const char *text, size_t bytes)
{
        for (size_t i = 0; i < bytes; i++)
                if (text[i] <= ' ' || text[i] >= 0x7f || strchr("\",;\\", text[i]))
                        return false;
        return true;
}

/* Returns true if the part of a header is the cookie, and stores its value. */
static bool is_cookie(const char *part, size_t bytes, const char *name, size_t name_bytes,
                      const char **ret_value, size_t *ret_bytes)
{
        if (bytes <= name_bytes || part[name_bytes] != '=' || memcmp(part, name, name_bytes) != 0)
                return false;
        part += name_bytes + 1;
        bytes -= name_bytes + 1;
        if (bytes >= 2 && part[0] == '"' && part[bytes - 1] == '"') {
                part++;
                bytes -= 2;
        }
        *ret_value = part;
        *ret_bytes = bytes;
        return is_value(part, bytes);
}

/* Search '*text', a part of a header, and set it to the rest, or to NULL at the end. */
static bool find(const char **text, const char *name, const char **ret_value, size_t *ret_bytes)
{
        const size_t name_bytes = strlen(name);

        while (*text) {
                const char *part = *text + strspn(*text, " \t"), *end = part + strcspn(part, ";");
                size_t bytes = (size_t) (end - part);

                *text = *end ? end + 1 : NULL;
                while (bytes > 0 && (part[bytes - 1] == ' ' || part[bytes - 1] == '\t'))
                        bytes--;
                if (is_cookie(part, bytes, name, name_bytes, ret_value, ret_bytes))
                        return true;
        }
        return false;
}

int ed_http_exchange_cookie_next(const eddy_http_exchange *exchange, const char *name,
                                 struct ed_http_cookie_place *place, const char **ret_value,
                                 size_t *ret_bytes)
{
        struct eddy_http_header header;

        if (!eddy_http_is_token(name, strlen(name)))
                return -ENOENT;
        while (!find(&place->rest, name, ret_value, ret_bytes)) {
                if (eddy_http_exchange_header_at(exchange, place->header, &header) < 0)
                        return -ENOENT;
                place->header++;
                if (strcasecmp(header.name, "Cookie") == 0)
                        place->rest = header.value;
        }
        return 0;
}

int eddy_http_exchange_cookie(const eddy_http_exchange *exchange, const char *name,
                              const char **ret_value, size_t *ret_bytes)
{
        struct ed_http_cookie_place begin = { 0 };

        return ed_http_exchange_cookie_next(exchange, name, &begin, ret_value, ret_bytes);
}

/* ---- responses ------------------------------------------------------------- */

/* Returns true if the text can be an attribute. */
static bool is_attribute(const char *text)
{
        return eddy_http_is_value(text, strlen(text)) && !strpbrk(text, ";\t") &&
               strspn(text, " ") == 0;
}

static bool has_prefix(const char *name, const char *prefix)
{
        return strncasecmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_valid(const struct eddy_http_set_cookie *cookie, const char *path)
{
        const bool is_secure = !(cookie->flags & EDDY_HTTP_SET_COOKIE_INSECURE);

        if (!cookie->name || !eddy_http_is_token(cookie->name, strlen(cookie->name)) ||
            (cookie->value && !is_value(cookie->value, strlen(cookie->value))) || path[0] != '/' ||
            !is_attribute(path) || cookie->max_age_s < 0 ||
            cookie->same_site > EDDY_HTTP_SAME_SITE_STRICT)
                return false;
        if (cookie->domain && (!cookie->domain[0] || !is_attribute(cookie->domain)))
                return false;
        if (has_prefix(cookie->name, "__Host-") && (cookie->domain || strcmp(path, "/") != 0))
                return false;
        return is_secure ||
               (!has_prefix(cookie->name, "__Host-") && !has_prefix(cookie->name, "__Secure-") &&
                cookie->same_site != EDDY_HTTP_SAME_SITE_NONE);
}

/* A line that is written. */
struct line {
        char *text;   /* of LINE_BYTES */
        size_t bytes; /* LINE_BYTES: too long */
};

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
        va_list args;
        int n;

        if (line->bytes == LINE_BYTES)
                return;
        va_start(args, format);
        n = vsnprintf(line->text + line->bytes, LINE_BYTES - line->bytes, format, args);
        va_end(args);
        line->bytes = n < 0 || (size_t) n >= LINE_BYTES - line->bytes ? LINE_BYTES
                                                                      : line->bytes + (size_t) n;
}

static void write_line(const struct eddy_http_set_cookie *cookie, const char *path,
                       struct line *line)
{
        static const char *const sites[] = { [EDDY_HTTP_SAME_SITE_UNSET] = "Lax",
                                             [EDDY_HTTP_SAME_SITE_NONE] = "None",
                                             [EDDY_HTTP_SAME_SITE_LAX] = "Lax",
                                             [EDDY_HTTP_SAME_SITE_STRICT] = "Strict" };

        put(line, "%s=%s; Path=%s", cookie->name, cookie->value ? cookie->value : "", path);
        if (cookie->domain)
                put(line, "; Domain=%s", cookie->domain);
        if (!cookie->value)
                put(line, "; Max-Age=0");
        else if (cookie->max_age_s > 0)
                put(line, "; Max-Age=%" PRId64, cookie->max_age_s);
        if (!(cookie->flags & EDDY_HTTP_SET_COOKIE_INSECURE))
                put(line, "; Secure");
        if (!(cookie->flags & EDDY_HTTP_SET_COOKIE_SCRIPTS))
                put(line, "; HttpOnly");
        put(line, "; SameSite=%s", sites[cookie->same_site]);
}

int eddy_http_exchange_set_cookie(eddy_http_exchange *exchange,
                                  const struct eddy_http_set_cookie *cookie)
{
        const char *path = cookie->path ? cookie->path : "/";
        struct line line = { NULL, 0 };
        int err;

        if (!is_valid(cookie, path))
                return -EINVAL;
        line.text = ed_alloc(LINE_BYTES);
        if (!line.text)
                return -ENOMEM;
        write_line(cookie, path, &line);
        err = line.bytes == LINE_BYTES
                      ? -EINVAL
                      : eddy_http_exchange_add_header(exchange, "Set-Cookie", line.text);
        ed_free(line.text);
        return err;
}
