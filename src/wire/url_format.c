/*
 * wire/url_format.c - the text of a URL from its parts.
 */
#include <stdbool.h>

#include "eddy/error.h"
#include "wire/url.h"
#include "wire/url_sink.h"
#include "wire/url_split.h"

/* Returns true if a part is absent, or may be in a URL and has none of the marks that end it. */
static bool part_is(struct eddy_url_part part, const char *marks)
{
        if (!part.text)
                return true;
        for (size_t i = 0; i < part.bytes; i++)
                if (strchr(marks, part.text[i]))
                        return false;
        return ed_url_text_is(part.text, part.bytes);
}

static bool scheme_is(struct eddy_url_part scheme)
{
        return !scheme.text ||
               (scheme.bytes > 0 && ed_url_scheme_bytes(scheme.text, scheme.bytes) == scheme.bytes);
}

static bool authority_is(const struct eddy_url *url)
{
        uint16_t port_default = ed_url_default_port(url->scheme);

        if (!url->host.text)
                return !url->user.text && !url->password.text && port_default == 0 &&
                       url->port == 0;
        if ((url->password.text && !url->user.text) || !part_is(url->user, ":/?") ||
            !part_is(url->password, "/?"))
                return false;
        if (url->host.bytes == 0)
                return url->scheme.text && port_default == 0 && url->port == 0;
        return ed_url_host_check(url->host.text, url->host.bytes) >= 0;
}

static bool path_is(const struct eddy_url *url)
{
        const char *path = url->path.text, *slash;
        size_t bytes = url->path.text ? url->path.bytes : 0;

        if (!part_is(url->path, "?"))
                return false;
        if (bytes == 0)
                return true;
        if (url->host.text)
                return path[0] == '/';
        if (bytes >= 2 && path[0] == '/' && path[1] == '/')
                return false;
        slash = memchr(path, '/', bytes);
        return url->scheme.text || !memchr(path, ':', slash ? (size_t) (slash - path) : bytes);
}

static void part_write(struct ed_url_sink *sink, const char *mark, struct eddy_url_part part)
{
        if (!part.text)
                return;
        ed_url_sink_add(sink, mark, strlen(mark));
        ed_url_sink_add(sink, part.text, part.bytes);
}

static void port_write(struct ed_url_sink *sink, unsigned port)
{
        unsigned divisor = 10000;

        while (divisor > port)
                divisor /= 10;
        ed_url_sink_char(sink, ':');
        for (; divisor > 0; divisor /= 10)
                ed_url_sink_char(sink, (char) ('0' + port / divisor % 10));
}

static void authority_write(struct ed_url_sink *sink, const struct eddy_url *url)
{
        bool is_v6 = url->host.bytes > 0 && memchr(url->host.text, ':', url->host.bytes);

        ed_url_sink_add(sink, "//", 2);
        part_write(sink, "", url->user);
        part_write(sink, ":", url->password);
        part_write(sink, url->user.text ? "@" : "", (struct eddy_url_part){ "", 0 });
        part_write(sink, is_v6 ? "[" : "", url->host);
        if (is_v6)
                ed_url_sink_char(sink, ']');
        if (url->port != 0 && url->port != ed_url_default_port(url->scheme))
                port_write(sink, url->port);
}

static void url_write(struct ed_url_sink *sink, const void *arg)
{
        const struct eddy_url *url = arg;

        part_write(sink, "", url->scheme);
        if (url->scheme.text)
                ed_url_sink_char(sink, ':');
        if (url->host.text)
                authority_write(sink, url);
        part_write(sink, "", url->path);
        part_write(sink, "?", url->query);
        part_write(sink, "#", url->fragment);
}

int64_t eddy_url_format(const struct eddy_url *url, char *out, size_t room)
{
        if (!scheme_is(url->scheme) || !authority_is(url) || !path_is(url) ||
            !part_is(url->query, "") || !part_is(url->fragment, ""))
                return EDDY_E_URL_INVALID;
        if (ed_url_sink_store(url_write, url, NULL, 0) > EDDY_URL_BYTES_MAX)
                return EDDY_E_URL_INVALID;
        return ed_url_sink_store(url_write, url, out, room);
}
