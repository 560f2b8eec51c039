/*
 * http/cookies.c - the cookie jar (RFC 6265bis, 5.7 and 5.8): storing, finding, and making place.
 *
 * The cookies are in a hash table by domain, so a request costs a look-up for its host and for each name
 * above it. A jar is small: rare operations, for example making room, walk all of it.
 */
#include "http/cookies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "http/cookie_rules.h"
#include "http/origin.h"

int64_t ed_cookies_now_s(void)
{
        return eddy_time_of_day() / EDDY_SEC(1);
}

int eddy_http_cookies_new(eddy_http_cookies **ret_cookies)
{
        eddy_http_cookies *cookies;

        if (!ret_cookies)
                return -EINVAL;
        cookies = ed_alloc_zero(sizeof(*cookies));
        if (!cookies)
                return -ENOMEM;
        ed_list_init(&cookies->all);
        ed_buf_init(&cookies->kept, ED_COOKIES_KEPT_MAX);
        *ret_cookies = cookies;
        return 0;
}

/* Take a cookie out of the jar, clear its text, which is a secret, and free it. */
static void drop(eddy_http_cookies *cookies, struct ed_cookie *cookie)
{
        ed_hash_table_remove(&cookies->table, &cookie->node);
        ed_list_remove(&cookie->link);
        explicit_bzero(cookie->text, cookie->pair_bytes);
        ed_free(cookie);
}

void eddy_http_cookies_free(eddy_http_cookies *cookies)
{
        if (!cookies)
                return;
        eddy_http_cookies_remove(cookies, NULL, NULL, NULL);
        ed_hash_table_fini(&cookies->table);
        ed_buf_fini(&cookies->kept);
        ed_free(cookies->found);
        ed_free(cookies);
}

/* ---- storing ------------------------------------------------------------------------ */

static uint64_t hash_of(const char *domain)
{
        return ed_hash_text(0, domain);
}

static struct ed_cookie *cookie_of(struct ed_hash_node *node)
{
        return ed_container_of(node, struct ed_cookie, node);
}

static bool is_expired(const struct ed_cookie *cookie, int64_t now_s)
{
        return cookie->expires_s <= now_s;
}

static char *put_text(char *to, struct eddy_url_part part, const char **ret_text)
{
        if (part.bytes > 0)
                memcpy(to, part.text, part.bytes);
        to[part.bytes] = '\0';
        *ret_text = to;
        return to + part.bytes + 1;
}

static struct ed_cookie *make(const struct ed_cookie_parts *parts)
{
        size_t bytes = parts->name.bytes + parts->value.bytes + parts->domain.bytes +
                       parts->path.bytes + 4;
        struct ed_cookie *cookie = ed_alloc(sizeof(*cookie) + bytes);
        char *to;

        if (!cookie)
                return NULL;
        *cookie = (struct ed_cookie){
                .pair_bytes = parts->name.bytes + parts->value.bytes + 2,
                .path_bytes = parts->path.bytes,
                .expires_s = parts->expires_s,
                .with_subdomains = parts->with_subdomains,
                .secure = parts->secure,
                .http_only = parts->http_only,
                .same_site = parts->same_site,
        };
        to = put_text(cookie->text, parts->name, &cookie->name);
        to = put_text(to, parts->value, &cookie->value);
        to = put_text(to, parts->domain, &cookie->domain);
        put_text(to, parts->path, &cookie->path);
        return cookie;
}

static bool part_is(struct eddy_url_part part, const char *text)
{
        return strlen(text) == part.bytes && memcmp(part.text, text, part.bytes) == 0;
}

/* Returns the cookie that this one replaces, or NULL. A cookie of the host alone is another one. */
static struct ed_cookie *find_former(const eddy_http_cookies *cookies, uint64_t hash,
                                     const struct ed_cookie_parts *parts)
{
        ed_hash_each (node, &cookies->table, hash) {
                struct ed_cookie *cookie = cookie_of(node);

                if (part_is(parts->domain, cookie->domain) && part_is(parts->name, cookie->name) &&
                    part_is(parts->path, cookie->path) &&
                    parts->with_subdomains == cookie->with_subdomains)
                        return cookie;
        }
        return NULL;
}

/* Returns the cookie to drop first, of the domain or, if it is NULL, of all. */
static struct ed_cookie *find_victim(const eddy_http_cookies *cookies,
                                     const struct eddy_url_part *domain, int64_t now_s)
{
        struct ed_cookie *victim = NULL;
        unsigned victim_rank = 0;

        ed_list_each (link, &cookies->all) {
                struct ed_cookie *cookie = ed_container_of(link, struct ed_cookie, link);
                unsigned rank = is_expired(cookie, now_s) ? 2 : domain && !cookie->secure;

                if (domain && !part_is(*domain, cookie->domain))
                        continue;
                if (!victim || rank > victim_rank ||
                    (rank == victim_rank && cookie->used < victim->used)) {
                        victim = cookie;
                        victim_rank = rank;
                }
        }
        return victim;
}

/* Make place for a new cookie. Returns false if others would have to go and must not. */
static bool make_place(eddy_http_cookies *cookies, uint64_t hash, struct eddy_url_part domain,
                       int64_t now_s, unsigned flags)
{
        const struct eddy_url_part *full = NULL;
        struct ed_cookie *victim;
        size_t count = 0;

        ed_hash_each (node, &cookies->table, hash)
                count += part_is(domain, cookie_of(node)->domain);
        if (count >= EDDY_HTTP_COOKIES_DOMAIN_MAX)
                full = &domain;
        else if (cookies->table.count < EDDY_HTTP_COOKIES_MAX)
                return true;
        victim = find_victim(cookies, full, now_s);
        if ((flags & ED_COOKIE_KEEP_OTHERS) && !is_expired(victim, now_s))
                return false;
        drop(cookies, victim);
        return true;
}

int ed_cookie_put(eddy_http_cookies *cookies, const struct ed_cookie_parts *parts, int64_t now_s,
                  unsigned flags)
{
        struct ed_cookie *former, *cookie;
        uint64_t hash;

        cookie = make(parts);
        if (!cookie)
                return -ENOMEM;
        hash = hash_of(cookie->domain);
        former = find_former(cookies, hash, parts);
        if (is_expired(cookie, now_s) ||
            (!former && !make_place(cookies, hash, parts->domain, now_s, flags))) {
                if (former)
                        drop(cookies, former);
                explicit_bzero(cookie->text, cookie->pair_bytes);
                ed_free(cookie);
                return 0;
        }
        cookie->used = ++cookies->uses;
        if (former) {
                cookie->born = former->born;
                ed_list_push_back(&former->link, &cookie->link);
                drop(cookies, former);
        } else {
                cookie->born = ++cookies->births;
                ed_list_push_back(&cookies->all, &cookie->link);
        }
        ed_hash_table_add(&cookies->table, &cookie->node, hash);
        return 1;
}

/* Section 5.7: http may not replace, nor hide, a cookie of https. */
static bool hides_secure(const eddy_http_cookies *cookies, const struct ed_cookie_parts *parts,
                         const struct ed_url *url)
{
        char domain[ED_URL_HOST_MAX + 1];

        if (parts->secure || url->is_https)
                return false;
        memcpy(domain, parts->domain.text, parts->domain.bytes);
        domain[parts->domain.bytes] = '\0';
        ed_list_each (link, &cookies->all) {
                const struct ed_cookie *other = ed_container_of(link, struct ed_cookie, link);

                if (other->secure && part_is(parts->name, other->name) &&
                    (ed_cookie_domain_matches(domain, other->domain) ||
                     ed_cookie_domain_matches(other->domain, domain)) &&
                    ed_cookie_path_matches(parts->path.text, parts->path.bytes, other->path,
                                           other->path_bytes))
                        return true;
        }
        return false;
}

int ed_cookies_take(eddy_http_cookies *cookies, const struct ed_url *url, const char *text,
                    size_t bytes)
{
        char lower[ED_URL_HOST_MAX + 1];
        int64_t now_s = ed_cookies_now_s();
        struct ed_cookie_parts parts;
        int err;

        if (!ed_set_cookie_parse(text, bytes, now_s, &parts) ||
            !ed_cookie_may_set(&parts, url, lower) || hides_secure(cookies, &parts, url))
                return 0;
        err = ed_cookie_put(cookies, &parts, now_s, 0);
        return err < 0 ? err : 1;
}

int eddy_http_cookies_set(eddy_http_cookies *cookies, const char *url, const char *set_cookie)
{
        struct ed_url parsed;
        int err;

        if (!cookies || !url || !set_cookie)
                return -EINVAL;
        err = ed_http_url_read(url, &parsed);
        return err < 0 ? err : ed_cookies_take(cookies, &parsed, set_cookie, strlen(set_cookie));
}

static struct eddy_url_part part_of(const char *text, const char *otherwise)
{
        text = text ? text : otherwise;
        return (struct eddy_url_part){ text, strlen(text) };
}

int eddy_http_cookies_add(eddy_http_cookies *cookies, const struct eddy_http_cookie *cookie)
{
        char lower[ED_URL_HOST_MAX + 1];
        struct ed_cookie_parts parts;
        int err;

        if (!cookies || !cookie || !cookie->domain)
                return -EINVAL;
        parts = (struct ed_cookie_parts){
                .name = part_of(cookie->name, ""),
                .value = part_of(cookie->value, ""),
                .domain = part_of(cookie->domain, ""),
                .path = part_of(cookie->path, "/"),
                .expires_s = cookie->expires_s ? cookie->expires_s : ED_COOKIE_SESSION,
                .with_subdomains = cookie->with_subdomains,
                .secure = cookie->secure,
                .http_only = cookie->http_only,
                .same_site = cookie->same_site,
        };
        err = ed_cookie_check(&parts, lower);
        if (err == 0)
                err = ed_cookie_put(cookies, &parts, ed_cookies_now_s(), 0);
        return err < 0 ? err : 0;
}

/* ---- finding ------------------------------------------------------------------------ */

/* Note the cookies of a domain, which is the host or above it, that go to the URL. */
static size_t find_in(eddy_http_cookies *cookies, const struct ed_url *url, const char *domain,
                      struct eddy_url_part path, int64_t now_s, size_t count)
{
        ed_hash_each (node, &cookies->table, hash_of(domain)) {
                struct ed_cookie *cookie = cookie_of(node);

                if (strcmp(cookie->domain, domain) == 0 &&
                    (cookie->with_subdomains || domain == url->host) &&
                    (!cookie->secure || url->is_https) && !is_expired(cookie, now_s) &&
                    ed_cookie_path_matches(path.text, path.bytes, cookie->path, cookie->path_bytes))
                        cookies->found[count++] = cookie;
        }
        return count;
}

/* Section 5.8.3: longer paths first, then those that were created first. */
static int compare(const void *a, const void *b)
{
        const struct ed_cookie *one = *(struct ed_cookie *const *) a;
        const struct ed_cookie *other = *(struct ed_cookie *const *) b;

        if (one->path_bytes != other->path_bytes)
                return one->path_bytes > other->path_bytes ? -1 : 1;
        return one->born < other->born ? -1 : 1;
}

/* Note the cookies that go to the URL. Returns their number, or -ENOMEM. */
static int64_t find_all(eddy_http_cookies *cookies, const struct ed_url *url)
{
        struct eddy_url_part path = ed_cookie_request_path(url);
        int64_t now_s = ed_cookies_now_s();
        struct ed_cookie **found;
        const char *domain;
        size_t count;

        if (cookies->table.count > cookies->found_room) {
                count = cookies->table.count * 2;
                found = ed_realloc(cookies->found, count * sizeof(*found));
                if (!found)
                        return -ENOMEM;
                cookies->found = found;
                cookies->found_room = count;
        }
        count = find_in(cookies, url, url->host, path, now_s, 0);
        domain = url->host_kind == ED_URL_NAME ? strchr(url->host, '.') : NULL;
        for (; domain; domain = strchr(domain, '.'))
                count = find_in(cookies, url, ++domain, path, now_s, count);
        if (count > 1)
                qsort(cookies->found, count, sizeof(*cookies->found), compare);
        return (int64_t) count;
}

int ed_cookies_write(eddy_http_cookies *cookies, const struct ed_url *url, struct ed_buf *out)
{
        size_t total = 0;
        int64_t count;

        if (cookies->table.count == 0)
                return 0;
        count = find_all(cookies, url);
        for (int64_t i = 0; i < count; i++) {
                struct ed_cookie *cookie = cookies->found[i];
                size_t name_bytes = strlen(cookie->name), value_bytes = strlen(cookie->value);
                size_t bytes = (total > 0 ? 2 : 0) + name_bytes + (name_bytes > 0) + value_bytes;
                char *to;
                int err;

                if (total + bytes > EDDY_HTTP_COOKIE_HEADER_MAX)
                        continue;
                err = ed_buf_reserve(out, bytes, &to);
                if (err < 0)
                        return err;
                if (total > 0)
                        to = (char *) memcpy(to, "; ", 2) + 2;
                memcpy(to, cookie->name, name_bytes);
                if (name_bytes > 0)
                        to[name_bytes++] = '=';
                memcpy(to + name_bytes, cookie->value, value_bytes);
                ed_buf_grow(out, bytes);
                total += bytes;
                cookie->used = ++cookies->uses;
        }
        return count < 0 ? (int) count : 0;
}

int64_t eddy_http_cookies_header(eddy_http_cookies *cookies, const char *url, char *out,
                                 size_t room)
{
        struct ed_url parsed;
        struct ed_buf value;
        int64_t n;

        if (!cookies || !url)
                return -EINVAL;
        n = ed_http_url_read(url, &parsed);
        if (n < 0)
                return n;
        ed_buf_init(&value, EDDY_HTTP_COOKIE_HEADER_MAX);
        n = ed_cookies_write(cookies, &parsed, &value);
        if (n == 0)
                n = (int64_t) ed_buf_bytes(&value);
        if (n >= 0 && out && (uint64_t) n >= room)
                n = -EMSGSIZE;
        if (n >= 0 && out) {
                if (n > 0)
                        memcpy(out, ed_buf_data(&value), (size_t) n);
                out[n] = '\0';
        }
        ed_buf_fini(&value);
        return n;
}

/* ---- the whole jar ------------------------------------------------------------------ */

static bool text_is(const char *wanted, const char *text)
{
        return !wanted || strcmp(wanted, text) == 0;
}

int eddy_http_cookies_remove(eddy_http_cookies *cookies, const char *domain, const char *path,
                             const char *name)
{
        int count = 0;

        if (!cookies)
                return -EINVAL;
        ed_list_each_safe (link, &cookies->all) {
                struct ed_cookie *cookie = ed_container_of(link, struct ed_cookie, link);

                if (text_is(domain, cookie->domain) && text_is(path, cookie->path) &&
                    text_is(name, cookie->name)) {
                        drop(cookies, cookie);
                        count++;
                }
        }
        return count;
}

int eddy_http_cookies_end_session(eddy_http_cookies *cookies)
{
        int count = 0;

        if (!cookies)
                return -EINVAL;
        ed_list_each_safe (link, &cookies->all) {
                struct ed_cookie *cookie = ed_container_of(link, struct ed_cookie, link);

                if (cookie->expires_s == ED_COOKIE_SESSION) {
                        drop(cookies, cookie);
                        count++;
                }
        }
        return count;
}

int eddy_http_cookies_at(const eddy_http_cookies *cookies, size_t i,
                         struct eddy_http_cookie *ret_cookie)
{
        int64_t now_s = ed_cookies_now_s();

        if (!cookies || !ret_cookie)
                return -EINVAL;
        ed_list_each (link, &cookies->all) {
                const struct ed_cookie *cookie = ed_container_of(link, struct ed_cookie, link);

                if (is_expired(cookie, now_s) || i-- > 0)
                        continue;
                *ret_cookie = (struct eddy_http_cookie){
                        .name = cookie->name,
                        .value = cookie->value,
                        .domain = cookie->domain,
                        .path = cookie->path,
                        .expires_s = cookie->expires_s == ED_COOKIE_SESSION ? 0 : cookie->expires_s,
                        .with_subdomains = cookie->with_subdomains,
                        .secure = cookie->secure,
                        .http_only = cookie->http_only,
                        .same_site = cookie->same_site,
                };
                return 0;
        }
        return -ENOENT;
}
