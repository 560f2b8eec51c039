/*
 * http/cookie_rules.c - which cookies a host may set, and which cookies a program may add (RFC 6265bis,
 * 5.1 and 5.7).
 */
#include "http/cookie_rules.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "http/cookie_suffix.h"

bool ed_cookie_domain_matches(const char *host, const char *domain)
{
        size_t host_bytes = strlen(host), bytes = strlen(domain);

        if (host_bytes == bytes)
                return memcmp(host, domain, bytes) == 0;
        return host_bytes > bytes && host[host_bytes - bytes - 1] == '.' &&
               memcmp(host + host_bytes - bytes, domain, bytes) == 0;
}

bool ed_cookie_path_matches(const char *path, size_t path_bytes, const char *cookie_path,
                            size_t bytes)
{
        if (path_bytes < bytes || memcmp(path, cookie_path, bytes) != 0)
                return false;
        return path_bytes == bytes || cookie_path[bytes - 1] == '/' || path[bytes] == '/';
}

struct eddy_url_part ed_cookie_request_path(const struct ed_url *url)
{
        const char *query =
                url->target_bytes > 0 ? memchr(url->target, '?', url->target_bytes) : NULL;

        if (url->slash_first)
                return (struct eddy_url_part){ "/", 1 };
        return (struct eddy_url_part){ url->target,
                                       query ? (size_t) (query - url->target) : url->target_bytes };
}

struct eddy_url_part ed_cookie_default_path(struct eddy_url_part path)
{
        while (path.bytes > 1 && path.text[path.bytes - 1] != '/')
                path.bytes--;
        if (path.bytes > 1)
                path.bytes--;
        return path;
}

static bool starts_with(struct eddy_url_part part, const char *prefix)
{
        size_t bytes = strlen(prefix);

        return part.bytes >= bytes && strncasecmp(part.text, prefix, bytes) == 0;
}

/* Servers that ignore case would otherwise take "__HOST-a" for what it is not. */
static bool prefix_is_kept(const struct ed_cookie_parts *parts)
{
        struct eddy_url_part name = parts->name.bytes > 0 ? parts->name : parts->value;
        bool is_host = starts_with(name, "__Host-");

        if (!is_host && !starts_with(name, "__Secure-"))
                return true;
        if (parts->name.bytes == 0 || !parts->secure)
                return false;
        return !is_host || (!parts->with_subdomains && parts->path.bytes == 1);
}

/* Copy a domain in lower case. Returns its kind, or -1 if it is not a host. */
static int lower_domain(struct eddy_url_part domain, char lower[ED_URL_HOST_MAX + 1])
{
        int kind;

        if (domain.bytes == 0 || domain.bytes > ED_URL_HOST_MAX ||
            domain.text[domain.bytes - 1] == '.')
                return -1;
        for (size_t i = 0; i < domain.bytes; i++) {
                char c = domain.text[i];

                lower[i] = c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
        }
        lower[domain.bytes] = '\0';
        kind = ed_url_host_check(lower, domain.bytes);
        return kind < 0 || kind == ED_URL_NAME_IDN ? -1 : kind;
}

/* Section 5.7, on the attribute Domain. Returns false if the host may not set it. */
static bool set_domain(struct ed_cookie_parts *parts, const struct ed_url *url,
                       char lower[ED_URL_HOST_MAX + 1])
{
        bool is_host;
        int kind;

        if (parts->domain.bytes == 0) {
                parts->domain = (struct eddy_url_part){ url->host, url->host_bytes };
                return true;
        }
        kind = lower_domain(parts->domain, lower);
        if (kind < 0)
                return false;
        is_host = strcmp(lower, url->host) == 0;
        if (kind != ED_URL_NAME || url->host_kind != ED_URL_NAME || ed_cookie_suffix_is(lower)) {
                if (!is_host)
                        return false;
        } else if (!ed_cookie_domain_matches(url->host, lower)) {
                return false;
        } else {
                parts->with_subdomains = true;
        }
        parts->domain.text = lower;
        return true;
}

bool ed_cookie_may_set(struct ed_cookie_parts *parts, const struct ed_url *url,
                       char lower[ED_URL_HOST_MAX + 1])
{
        if (!set_domain(parts, url, lower) || !prefix_is_kept(parts))
                return false;
        if (parts->secure && !url->is_https)
                return false;
        if (parts->path.bytes == 0)
                parts->path = ed_cookie_default_path(ed_cookie_request_path(url));
        return parts->path.bytes <= EDDY_HTTP_COOKIE_PATH_MAX;
}

/* ---- cookies that no response set --------------------------------------------------- */

static bool is_text(struct eddy_url_part part, const char *forbidden)
{
        for (size_t i = 0; i < part.bytes; i++) {
                unsigned char c = (unsigned char) part.text[i];

                if (c < 0x20 || c == 0x7F || strchr(forbidden, c))
                        return false;
        }
        return part.bytes == 0 || (part.text[0] != ' ' && part.text[part.bytes - 1] != ' ');
}

int ed_cookie_check(struct ed_cookie_parts *parts, char lower[ED_URL_HOST_MAX + 1])
{
        int kind;

        if (parts->name.bytes + parts->value.bytes > EDDY_HTTP_COOKIE_BYTES_MAX ||
            parts->path.bytes > EDDY_HTTP_COOKIE_PATH_MAX)
                return -EMSGSIZE;
        kind = lower_domain(parts->domain, lower);
        if (kind < 0 || parts->name.bytes + parts->value.bytes == 0 ||
            !is_text(parts->name, "=;") || !is_text(parts->value, ";") ||
            !is_text(parts->path, "") || parts->path.bytes == 0 || parts->path.text[0] != '/' ||
            !prefix_is_kept(parts) || parts->same_site > EDDY_HTTP_SAME_SITE_STRICT)
                return -EINVAL;
        if (parts->with_subdomains && (kind != ED_URL_NAME || ed_cookie_suffix_is(lower)))
                return -EINVAL;
        parts->domain.text = lower;
        return 0;
}
