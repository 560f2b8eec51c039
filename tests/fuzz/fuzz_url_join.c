/*
 * fuzz_url_join.c - any bytes as a base URL, a line feed and a reference; as a query; as a text to quote.
 *
 * The parts of a URL give it back, the parser of the HTTP client agrees, and a URL that is joined with itself
 * or with nothing is what it was.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "eddy/url.h"
#include "wire/url.h"

enum { ROOM = 64 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

static bool part_is(struct eddy_url_part a, struct eddy_url_part b)
{
        return !a.text == !b.text && a.bytes == b.bytes &&
               (a.bytes == 0 || memcmp(a.text, b.text, a.bytes) == 0);
}

static bool is_http(const struct eddy_url *url)
{
        size_t bytes = url->scheme.bytes;

        return (bytes == 4 || bytes == 5) && strncasecmp(url->scheme.text, "https", bytes) == 0;
}

static void check_parts(const char *text, size_t bytes)
{
        static char out[ROOM + 1];
        struct ed_url client;
        struct eddy_url url, again;
        int client_err = ed_url_parse(text, bytes, &client);
        int64_t n;

        if (eddy_url_parse(text, bytes, &url) < 0) {
                require(client_err < 0);
                return;
        }
        require((client_err == 0) == is_http(&url));
        if (client_err == 0)
                require(client.port == url.port && client.host_bytes == url.host.bytes &&
                        strncasecmp(client.host, url.host.text, url.host.bytes) == 0 &&
                        client.has_userinfo == (url.user.text != NULL));
        n = eddy_url_format(&url, out, sizeof(out));
        require(n >= 0 && (size_t) n <= bytes);
        require(eddy_url_parse(out, (size_t) n, &again) == 0);
        require(part_is(url.scheme, again.scheme) && part_is(url.user, again.user) &&
                part_is(url.password, again.password) && part_is(url.host, again.host) &&
                part_is(url.path, again.path) && part_is(url.query, again.query) &&
                part_is(url.fragment, again.fragment) && url.port == again.port);
}

/* A text that is written from parts of any bytes is read as these parts. */
static void check_format(const char *text, size_t bytes)
{
        static char out[ROOM + 1];
        struct eddy_url url = { .port = bytes > 0 ? (uint8_t) text[0] : 0 }, again;
        struct eddy_url_part *parts[] = { &url.scheme, &url.user,  &url.password, &url.host,
                                          &url.path,   &url.query, &url.fragment };
        const char *at = text, *end = text + bytes;
        int64_t n;

        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && at < end; i++) {
                const char *next = memchr(at, '\n', (size_t) (end - at));

                next = next ? next : end;
                if (*at == '!') /* absent */
                        at = next;
                else
                        *parts[i] = (struct eddy_url_part){ at, (size_t) (next - at) };
                at = next + (next < end);
        }
        n = eddy_url_format(&url, out, sizeof(out));
        if (n < 0)
                return;
        require(eddy_url_parse(out, (size_t) n, &again) == 0);
        url.path.text = url.path.text ? url.path.text : "";
        require(part_is(url.scheme, again.scheme) && part_is(url.user, again.user) &&
                part_is(url.password, again.password) && part_is(url.host, again.host) &&
                part_is(url.path, again.path) && part_is(url.query, again.query) &&
                part_is(url.fragment, again.fragment));
        require(url.port == 0 || again.port == url.port);
}

static void check_join(const char *base, const char *reference)
{
        static char out[ROOM + 1], again[ROOM + 1];
        struct eddy_url from, to;
        int64_t n = eddy_url_join(base, reference, out, sizeof(out));

        require(n == eddy_url_join(base, reference, NULL, 0));
        if (n < 0)
                return;
        require(strlen(out) == (size_t) n);
        require(eddy_url_parse(base, strlen(base), &from) == 0);
        if (eddy_url_parse(out, (size_t) n, &to) < 0) {
                /* As "http:g" of the RFC's examples. */
                require(strncasecmp(reference, "http:", 5) == 0 ||
                        strncasecmp(reference, "https:", 6) == 0 ||
                        strncmp(reference, "//", 2) == 0);
                return;
        }
        /* A path never becomes a host. */
        if (eddy_url_parse(reference, strlen(reference), &from) == 0 && !from.host.text &&
            from.scheme.text)
                require(!to.host.text);
        require(eddy_url_join(out, "", again, sizeof(again)) >= 0);
        require(strncmp(again, out, strcspn(out, "#")) == 0 && again[strcspn(out, "#")] == '\0');
        /* Dot segments of the base stay, and go if they are the reference's. */
        require(strchr(out, '.') || eddy_url_join(base, out, again, sizeof(again)) == n);
}

static void check_query(const char *text, size_t bytes)
{
        static char room[ROOM], written[3 * ROOM + 2], out[ROOM];
        struct eddy_url_part query = { text, bytes }, again;
        struct eddy_url_pair pair, read;
        int more;

        while ((more = eddy_url_query_next(&query, room, bytes + 2, &pair)) != 0) {
                int64_t n =
                        more > 0 ? eddy_url_query_write(&pair, 1, 0, written, sizeof(written)) : 0;

                require(more == 1 || more == EDDY_E_URL_INVALID);
                if (more < 0)
                        continue;
                require(n > 0);
                again = (struct eddy_url_part){ written, (size_t) n };
                require(eddy_url_query_next(&again, out, sizeof(out), &read) == 1);
                require(strcmp(read.name, pair.name) == 0 && strcmp(read.value, pair.value) == 0);
                n = eddy_url_query_get(text, bytes, pair.name, out, sizeof(out));
                require(n >= 0 || n == EDDY_E_URL_INVALID);
        }
}

static void check_quote(const char *text, size_t bytes)
{
        static char quoted[3 * ROOM + 1], out[ROOM + 1];
        unsigned flags = bytes % 2 ? EDDY_URL_PLUS : 0;
        int64_t n = eddy_url_quote(text, bytes, flags, quoted, sizeof(quoted));

        require(n >= (int64_t) bytes);
        require(eddy_url_unquote(quoted, (size_t) n, flags, out, sizeof(out)) == (int64_t) bytes);
        require(memcmp(text, out, bytes) == 0);
        n = eddy_url_unquote(text, bytes, flags, out, sizeof(out));
        require(n == EDDY_E_URL_INVALID || (n >= 0 && (size_t) n <= bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        char *text = malloc(bytes + 1), *reference;

        if (!text || bytes > ROOM - 2) {
                free(text);
                return 0;
        }
        memcpy(text, data, bytes);
        text[bytes] = '\0';
        check_parts(text, bytes);
        check_format(text, bytes);
        check_query(text, bytes);
        check_quote(text, bytes);
        reference = strchr(text, '\n');
        if (reference) {
                *reference++ = '\0';
                check_join(text, reference);
        }
        free(text);
        return 0;
}
