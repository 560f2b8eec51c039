/*
 * redis/target.c - where a server is, and how to log in: from a URL and options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "redis/redis.h"
#include "wire/url.h"

enum { URL_MAX = 16 << 10, PORT_DEFAULT = 6379, DATABASE_MAX = 1 << 24 };

/* Decode a part to a text with a NUL. */
static int decode(const char *text, size_t bytes, char *out, size_t room)
{
        int64_t n = ed_url_decode(text, bytes, out, room - 1);

        if (n < 0)
                return (int) n;
        out[n] = '\0';
        return 0;
}

/* Read "[USER]:PASSWORD"; a part without a colon is a user. */
static int read_userinfo(const char *text, size_t bytes, struct ed_redis_target *target)
{
        const char *colon = memchr(text, ':', bytes);
        size_t user_bytes = colon ? (size_t) (colon - text) : bytes;
        int err = decode(text, user_bytes, target->user, sizeof(target->user));

        if (err < 0 || !colon)
                return err;
        target->has_password = true;
        return decode(colon + 1, bytes - user_bytes - 1, target->password,
                      sizeof(target->password));
}

/* Read a decimal number that fills the text. */
static int read_database(const char *text, size_t bytes, uint32_t *ret_database)
{
        uint32_t value = 0;

        for (size_t i = 0; i < bytes; i++) {
                if (text[i] < '0' || text[i] > '9' || value > DATABASE_MAX)
                        return EDDY_E_URL_INVALID;
                value = value * 10 + (uint32_t) (text[i] - '0');
        }
        *ret_database = value;
        return 0;
}

/* Read the rest of a URL, after "unix://". */
static int read_unix(const char *text, struct ed_redis_target *target)
{
        const char *end = text + strlen(text), *path = strchr(text, '/'), *query;
        size_t bytes;
        int err = 0;

        if (!path || (path > text && path[-1] != '@'))
                return EDDY_E_URL_INVALID;
        if (path > text)
                err = read_userinfo(text, (size_t) (path - 1 - text), target);
        query = strchr(path, '?');
        bytes = (size_t) ((query ? query : end) - path);
        if (err == 0 && bytes >= sizeof(target->path))
                return -ENAMETOOLONG;
        if (err == 0)
                err = decode(path, bytes, target->path, sizeof(target->path));
        if (err < 0 || !query)
                return err;
        if (strncmp(query, "?db=", 4) != 0)
                return EDDY_E_URL_INVALID;
        return read_database(query + 4, (size_t) (end - query) - 4, &target->database);
}

static int read_parts(const char *rest, char *text, struct ed_redis_target *target)
{
        struct ed_url url = { .port = 0 };
        int bytes = snprintf(text, URL_MAX, "https:%s", rest), err;

        if (bytes < 0 || bytes >= URL_MAX)
                return EDDY_E_URL_INVALID;
        err = ed_url_parse(text, (size_t) bytes, &url);
        if (err < 0)
                return err;
        snprintf(target->host, sizeof(target->host), "%s", url.host);
        target->port = url.has_port ? url.port : PORT_DEFAULT;
        if (url.has_userinfo)
                err = read_userinfo(url.userinfo, url.userinfo_bytes, target);
        if (err == 0 && !url.slash_first && url.target_bytes > 1)
                err = read_database(url.target + 1, url.target_bytes - 1, &target->database);
        else if (err == 0 && url.slash_first && url.target_bytes > 0)
                err = EDDY_E_URL_INVALID; /* a query without a path */
        return err;
}

/* Read the rest of a URL, after "redis:", by the parser of HTTP's URLs. */
static int read_tcp(const char *rest, struct ed_redis_target *target)
{
        char *text = ed_alloc(URL_MAX);
        int err;

        if (!text)
                return -ENOMEM;
        err = read_parts(rest, text, target);
        explicit_bzero(text, URL_MAX);
        ed_free(text);
        return err;
}

static int read_url(const char *url, struct ed_redis_target *target)
{
        if (strncmp(url, "unix://", 7) == 0)
                return read_unix(url + 7, target);
        target->is_tls = strncmp(url, "rediss://", 9) == 0;
        if (!target->is_tls && strncmp(url, "redis://", 8) != 0)
                return EDDY_E_URL_SCHEME;
        return read_tcp(strchr(url, ':') + 1, target);
}

/* Copy a text, if it is given. */
static int replace(const char *text, char *out, size_t room)
{
        if (!text)
                return 0;
        if (strlen(text) >= room)
                return -EINVAL;
        for (const char *c = text; *c; c++)
                if ((unsigned char) *c < 0x20 || *c == 0x7F)
                        return -EINVAL;
        memcpy(out, text, strlen(text) + 1);
        return 0;
}

int ed_redis_target_read(const struct eddy_redis_opts *opts, struct ed_redis_target *target)
{
        int err = 0;

        memset(target, 0, sizeof(*target));
        target->port = PORT_DEFAULT;
        memcpy(target->host, "127.0.0.1", sizeof("127.0.0.1"));
        if (opts->url)
                err = read_url(opts->url, target);
        if (err == 0)
                err = replace(opts->host, target->host, sizeof(target->host));
        if (err == 0 && opts->unix_path && strlen(opts->unix_path) >= sizeof(target->path))
                err = -ENAMETOOLONG;
        if (err == 0)
                err = replace(opts->unix_path, target->path, sizeof(target->path));
        if (err == 0)
                err = replace(opts->user, target->user, sizeof(target->user));
        if (err == 0)
                err = replace(opts->password, target->password, sizeof(target->password));
        if (err == 0)
                err = replace(opts->client_name, target->name, sizeof(target->name));
        if (err == 0 && strchr(target->name, ' '))
                err = -EINVAL;
        if (err < 0)
                return err;
        target->has_password |= opts->password != NULL;
        target->port = opts->port ? opts->port : target->port;
        target->database = opts->database ? opts->database : target->database;
        target->is_tls |= (opts->flags & EDDY_REDIS_TLS) != 0;
        return 0;
}
