/*
 * http/cookie_file.c - files of cookies. See cookie_file.h.
 */
#include "http/cookie_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eddy/alloc.h"
#include "eddy/file_whole.h"

enum { PARTS = 7, NUMBER_ROOM = 24, FILE_MODE = 0600 };

static const char first_line[] = "# Netscape HTTP Cookie File";
static const char http_only[] = "#HttpOnly_";
static const char same_site[] = "#SameSite=";
static const char *const same_sites[] = { "", "None", "Lax", "Strict" };

/* ---- reading ------------------------------------------------------------------------ */

static bool part_is(struct eddy_url_part part, const char *text)
{
        return part.bytes == strlen(text) && memcmp(part.text, text, part.bytes) == 0;
}

static bool starts_with(struct eddy_url_part part, const char *prefix)
{
        return part.bytes >= strlen(prefix) && memcmp(part.text, prefix, strlen(prefix)) == 0;
}

/* Take a line from the text, without its end. */
static struct eddy_url_part take_line(struct eddy_url_part *text)
{
        const char *end = memchr(text->text, '\n', text->bytes);
        struct eddy_url_part line = { text->text, end ? (size_t) (end - text->text) : text->bytes };
        size_t taken = line.bytes + (end ? 1 : 0);

        text->text += taken;
        text->bytes -= taken;
        if (line.bytes > 0 && line.text[line.bytes - 1] == '\r')
                line.bytes--;
        return line;
}

/* Split a line at its tabs; the last part has the rest. A line of six parts has an empty value. */
static bool split(struct eddy_url_part line, struct eddy_url_part parts[static PARTS])
{
        int n = 0;

        for (;;) {
                const char *tab = n < PARTS - 1 ? memchr(line.text, '\t', line.bytes) : NULL;
                size_t bytes = tab ? (size_t) (tab - line.text) : line.bytes;

                parts[n++] = (struct eddy_url_part){ line.text, bytes };
                if (!tab)
                        break;
                line.text += bytes + 1;
                line.bytes -= bytes + 1;
        }
        if (n == PARTS - 1)
                parts[n++] = (struct eddy_url_part){ line.text, 0 };
        return n == PARTS;
}

static bool read_flag(struct eddy_url_part part, bool *ret_flag)
{
        *ret_flag = part_is(part, "TRUE");
        return *ret_flag || part_is(part, "FALSE");
}

/* Read seconds since 1970; some programs write a fraction, which is dropped. 0: a session's. */
static bool read_time(struct eddy_url_part part, int64_t *ret_expires_s)
{
        int64_t number = 0;
        size_t i;

        for (i = 0; i < part.bytes && part.text[i] >= '0' && part.text[i] <= '9'; i++)
                if (number < ED_COOKIE_SESSION / 10 - 1)
                        number = number * 10 + (part.text[i] - '0');
        if (i == 0 || (i < part.bytes && part.text[i] != '.'))
                return false;
        *ret_expires_s = number ? number : ED_COOKIE_SESSION;
        return true;
}

/* Read a line. Returns false if it is not a cookie that a jar may have. */
static bool read_cookie(struct eddy_url_part line, char lower[ED_URL_HOST_MAX + 1],
                        struct ed_cookie_parts *ret)
{
        struct ed_cookie_parts cookie = { .http_only = starts_with(line, http_only) };
        struct eddy_url_part parts[PARTS];

        if (cookie.http_only) {
                line.text += sizeof(http_only) - 1;
                line.bytes -= sizeof(http_only) - 1;
        } else if (starts_with(line, "#")) {
                return false;
        }
        if (!split(line, parts) || !read_flag(parts[1], &cookie.with_subdomains) ||
            !read_flag(parts[3], &cookie.secure) || !read_time(parts[4], &cookie.expires_s))
                return false;
        cookie.domain = parts[0];
        if (starts_with(cookie.domain, ".")) {
                cookie.domain.text++;
                cookie.domain.bytes--;
        }
        cookie.path = parts[2];
        cookie.name = parts[5];
        cookie.value = parts[6];
        if (ed_cookie_check(&cookie, lower) < 0)
                return false;
        *ret = cookie;
        return true;
}

static uint8_t read_same_site(struct eddy_url_part line)
{
        if (!starts_with(line, same_site))
                return EDDY_HTTP_SAME_SITE_UNSET;
        line.text += sizeof(same_site) - 1;
        line.bytes -= sizeof(same_site) - 1;
        for (uint8_t i = 1; i < sizeof(same_sites) / sizeof(same_sites[0]); i++)
                if (part_is(line, same_sites[i]))
                        return i;
        return EDDY_HTTP_SAME_SITE_UNSET;
}

/* Returns true if the kept lines, of which each ends in '\n', have this one. */
static bool has_line(const struct ed_buf *kept, size_t kept_bytes, struct eddy_url_part line)
{
        struct eddy_url_part rest = { ed_buf_data(kept), kept_bytes };

        while (rest.bytes > 0) {
                struct eddy_url_part other = take_line(&rest);

                if (other.bytes == line.bytes && memcmp(other.text, line.text, line.bytes) == 0)
                        return true;
        }
        return false;
}

/* A file that is being read. */
struct reading {
        eddy_http_cookies *cookies;
        size_t kept_before; /* bytes of lines of earlier files, which are not kept twice */
        int64_t now_s;
        struct eddy_url_part mark; /* the line with the next cookie's SameSite; empty: none */
};

static int keep_line(struct reading *reading, struct eddy_url_part line)
{
        struct ed_buf *kept = &reading->cookies->kept;
        char *to;
        int err;

        if (line.bytes == 0 || part_is(line, first_line) ||
            has_line(kept, reading->kept_before, line))
                return 0;
        err = ed_buf_reserve(kept, line.bytes + 1, &to);
        if (err < 0)
                return err;
        memcpy(to, line.text, line.bytes);
        to[line.bytes] = '\n';
        ed_buf_grow(kept, line.bytes + 1);
        return 0;
}

/* Keep the SameSite of a cookie that was not read, and the line. */
static int keep(struct reading *reading, struct eddy_url_part line)
{
        int err = keep_line(reading, reading->mark);

        reading->mark = (struct eddy_url_part){ 0 };
        return err < 0 ? err : keep_line(reading, line);
}

static int take(struct reading *reading, struct eddy_url_part line)
{
        char lower[ED_URL_HOST_MAX + 1];
        struct ed_cookie_parts parts;
        int err;

        if (read_same_site(line)) {
                err = keep(reading, (struct eddy_url_part){ 0 });
                reading->mark = line;
                return err;
        }
        if (!read_cookie(line, lower, &parts))
                return keep(reading, line);
        parts.same_site = read_same_site(reading->mark);
        err = ed_cookie_put(reading->cookies, &parts, reading->now_s, ED_COOKIE_KEEP_OTHERS);
        if (err == 0 && parts.expires_s > reading->now_s)
                return keep(reading, line);
        reading->mark = (struct eddy_url_part){ 0 };
        return err < 0 ? err : 0;
}

int ed_cookie_file_read(eddy_http_cookies *cookies, const char *text, size_t bytes)
{
        struct reading reading = { .cookies = cookies, .now_s = ed_cookies_now_s() };
        struct eddy_url_part rest = { text, bytes };
        int err = 0;

        reading.kept_before = ed_buf_bytes(&cookies->kept);
        while (err == 0 && rest.bytes > 0)
                err = take(&reading, take_line(&rest));
        return err < 0 ? err : keep(&reading, (struct eddy_url_part){ 0 });
}

int eddy_http_cookies_load(eddy_http_cookies *cookies, const char *path)
{
        size_t bytes;
        char *text;
        int err;

        if (!cookies || !path)
                return -EINVAL;
        err = eddy_file_read_whole(path, EDDY_HTTP_COOKIES_FILE_MAX, &text, &bytes);
        if (err < 0)
                return err;
        err = ed_cookie_file_read(cookies, text, bytes);
        explicit_bzero(text, bytes);
        eddy_free(text);
        return err;
}

/* ---- writing ------------------------------------------------------------------------ */

static int append(struct ed_buf *out, const char *text)
{
        return ed_buf_append(out, text, strlen(text));
}

/* Append texts up to a NULL. */
static int append_all(struct ed_buf *out, const char *const *texts)
{
        int err = 0;

        for (; *texts && err == 0; texts++)
                err = append(out, *texts);
        return err;
}

#define APPEND(out, ...) append_all(out, (const char *const[]){ __VA_ARGS__, NULL })

static int write_cookie(struct ed_buf *out, const struct ed_cookie *cookie)
{
        char expires[NUMBER_ROOM] = "0";
        int err = 0;

        if (cookie->expires_s != ED_COOKIE_SESSION)
                snprintf(expires, sizeof(expires), "%" PRId64, cookie->expires_s);
        if (cookie->same_site)
                err = APPEND(out, same_site, same_sites[cookie->same_site], "\n");
        if (err < 0)
                return err;
        return APPEND(out, cookie->http_only ? http_only : "", cookie->with_subdomains ? "." : "",
                      cookie->domain, cookie->with_subdomains ? "\tTRUE\t" : "\tFALSE\t",
                      cookie->path, cookie->secure ? "\tTRUE\t" : "\tFALSE\t", expires, "\t",
                      cookie->name, "\t", cookie->value, "\n");
}

int ed_cookie_file_write(const eddy_http_cookies *cookies, struct ed_buf *text)
{
        int64_t now_s = ed_cookies_now_s();
        int err;

        err = APPEND(text, first_line, "\n");
        if (err == 0)
                err = ed_buf_append(text, ed_buf_data(&cookies->kept),
                                    ed_buf_bytes(&cookies->kept));
        ed_list_each (link, &cookies->all) {
                const struct ed_cookie *cookie = ed_container_of(link, struct ed_cookie, link);

                if (err == 0 && cookie->expires_s > now_s)
                        err = write_cookie(text, cookie);
        }
        return err;
}

int eddy_http_cookies_save(eddy_http_cookies *cookies, const char *path)
{
        struct ed_buf text;
        int err;

        if (!cookies || !path)
                return -EINVAL;
        ed_buf_init(&text, ED_COOKIES_TEXT_MAX);
        err = ed_cookie_file_write(cookies, &text);
        if (err == 0)
                err = eddy_file_replace(path, ed_buf_data(&text), ed_buf_bytes(&text), FILE_MODE);
        if (ed_buf_bytes(&text) > 0)
                explicit_bzero(ed_buf_data(&text), ed_buf_bytes(&text));
        ed_buf_fini(&text);
        return err;
}
