/*
 * wire/route_pattern.c - reads patterns and paths of routes, see route.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/http_text.h"
#include "wire/route.h"
#include "wire/url_quote.h"

/* A pattern that is being read. */
struct reading {
        struct ed_route *route;
        char *name; /* the end of the names */
        char *fault;
        uint32_t segments;
};

static EDDY_PRINTF(2, 3) int refuse(const struct reading *reading, const char *format, ...)
{
        char why[200];
        va_list args;

        va_start(args, format);
        vsnprintf(why, sizeof(why), format, args);
        va_end(args);
        snprintf(reading->fault, ED_ROUTE_FAULT_BYTES, "the pattern \"%.300s\": %s",
                 reading->route->text, why);
        return EDDY_E_HTTP_ROUTE;
}

/* ---- paths ----------------------------------------------------------------- */

/* Returns true if a part between slashes is "." or "..". */
static bool has_dots(const char *text)
{
        for (;;) {
                size_t bytes = strcspn(text, "/");

                if (bytes > 0 && bytes <= 2 && text[0] == '.' && text[bytes - 1] == '.')
                        return true;
                if (!text[bytes])
                        return false;
                text += bytes + 1;
        }
}

/*
 * Decode the segment at '*text', up to a slash or the end, and move '*text' there and '*out' after the
 * NUL that was written. Returns NULL, or a sentence.
 */
static const char *decode_segment(const char **text, char **out)
{
        size_t bytes = strcspn(*text, "/"), at = 0;
        char *to = *out;
        bool has_dot = false;

        while (at < bytes) {
                int c = (unsigned char) (*text)[at];

                if (ed_likely(c != '%'))
                        at++;
                else
                        c = ed_url_byte(*text, bytes, &at);
                if (c < 0)
                        return "a '%' is not followed by two hexadecimal digits";
                if (c == 0)
                        return "%00 has no place in a path";
                has_dot |= c == '.';
                *to++ = (char) c;
        }
        *to = '\0';
        if (has_dot && has_dots(*out))
                return "a segment is \".\" or \"..\"";
        *text += bytes;
        *out = to + 1;
        return NULL;
}

const char *ed_route_split(const char *path, char *out, struct ed_route_path *ret_path)
{
        const char *fault;

        ret_path->at = out;
        do {
                path++; /* the slash */
                fault = decode_segment(&path, &out);
                if (fault)
                        return fault;
        } while (*path);
        ret_path->end = out - 1;
        return NULL;
}

/* ---- patterns -------------------------------------------------------------- */

static bool is_name(const char *text, size_t bytes)
{
        return bytes > 0 && bytes <= ED_ROUTE_NAME_BYTES_MAX &&
               strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") >=
                       bytes;
}

/* Returns true if the pattern has a parameter of this name already. */
static bool has_name(const struct reading *reading, const char *name, size_t bytes)
{
        const char *at = reading->route->names;

        for (; at < reading->name; at += strlen(at) + 1)
                if (strlen(at) == bytes && memcmp(at, name, bytes) == 0)
                        return true;
        return false;
}

/* Read the segment "{name}" or "{name...}" of 'bytes' bytes. */
static int read_param(struct reading *reading, const char *text, size_t bytes)
{
        struct ed_route *route = reading->route;
        const char *name = text + 1;
        size_t name_bytes = bytes - 2;

        if (bytes < 2 || text[bytes - 1] != '}')
                return refuse(reading, "a parameter is a whole segment, as in \"/{name}/\"");
        route->has_rest = name_bytes >= 3 && memcmp(name + name_bytes - 3, "...", 3) == 0;
        if (route->has_rest)
                name_bytes -= 3;
        if (!is_name(name, name_bytes))
                return refuse(reading,
                              "the name of a parameter has 1 to %d letters, digits, '_' and '-'",
                              ED_ROUTE_NAME_BYTES_MAX);
        if (has_name(reading, name, name_bytes))
                return refuse(reading, "two parameters have the name \"%.*s\"", (int) name_bytes,
                              name);
        if (route->has_rest && text[bytes])
                return refuse(reading, "\"{%.*s...}\" is not the last segment", (int) name_bytes,
                              name);
        if (route->count == EDDY_HTTP_ROUTE_PARAMS_MAX)
                return refuse(reading, "more than %d parameters", EDDY_HTTP_ROUTE_PARAMS_MAX);
        route->count++;
        memcpy(reading->name, name, name_bytes);
        reading->name[name_bytes] = '\0';
        reading->name += name_bytes + 1;
        return 0;
}

/* Check the segment 'text' of 'bytes' bytes. */
static int read_segment(struct reading *reading, const char *text, size_t bytes)
{
        char decoded[EDDY_HTTP_ROUTE_BYTES_MAX + 1], *out = decoded;
        const char *fault;

        if (++reading->segments > ED_ROUTE_SEGMENTS_MAX)
                return refuse(reading, "more than %d segments", ED_ROUTE_SEGMENTS_MAX);
        if (text[0] == '{' && bytes > 0)
                return read_param(reading, text, bytes);
        for (size_t i = 0; i < bytes; i++) {
                if (text[i] == '{' || text[i] == '}')
                        return refuse(reading,
                                      "a parameter is a whole segment, as in \"/{name}/\"; "
                                      "for the character write %%7B or %%7D");
                if (text[i] == '?' || text[i] == '#' || (unsigned char) text[i] <= ' ' ||
                    text[i] == 0x7F)
                        return refuse(reading,
                                      "a path has no '?', '#', space or control character");
        }
        fault = decode_segment(&text, &out);
        return fault ? refuse(reading, "%s", fault) : 0;
}

static int read_path(struct reading *reading)
{
        const char *at = reading->route->path;

        do {
                size_t bytes = strcspn(++at, "/");
                int err = read_segment(reading, at, bytes);

                if (err < 0)
                        return err;
                at += bytes;
        } while (*at);
        return 0;
}

/* Write the pattern with its prefix, and make room for the names of its parameters. */
static int write_text(struct ed_route *route, const char *prefix, const char *pattern,
                      size_t method_bytes)
{
        size_t at = method_bytes > 0 ? method_bytes + 1 : 0; /* of the path */
        size_t prefix_bytes = strlen(prefix), bytes = strlen(pattern) + prefix_bytes;

        route->text = ed_alloc(2 * bytes + 2);
        if (!route->text)
                return -ENOMEM;
        memcpy(route->text, pattern, at);
        memcpy(route->text + at, prefix, prefix_bytes);
        memcpy(route->text + at + prefix_bytes, pattern + at, bytes - prefix_bytes - at + 1);
        route->path = route->text + at;
        route->names = route->text + bytes + 1;
        return 0;
}

int ed_route_init(struct ed_route *route, const char *prefix, const char *pattern,
                  char fault[ED_ROUTE_FAULT_BYTES])
{
        size_t method_bytes = strcspn(pattern, " "); /* "" without a space */
        struct reading reading = { .route = route, .fault = fault };
        int err;

        *route = (struct ed_route){ 0 };
        if (strnlen(pattern, EDDY_HTTP_ROUTE_BYTES_MAX + 1) + strlen(prefix) >
            EDDY_HTTP_ROUTE_BYTES_MAX) {
                snprintf(fault, ED_ROUTE_FAULT_BYTES,
                         "the pattern \"%.300s\" is longer than %d bytes", pattern,
                         EDDY_HTTP_ROUTE_BYTES_MAX);
                return EDDY_E_HTTP_ROUTE;
        }
        if (!pattern[method_bytes])
                method_bytes = 0;
        err = write_text(route, prefix, pattern, method_bytes);
        if (err < 0)
                return err;
        route->method_bytes = method_bytes;
        reading.name = (char *) (uintptr_t) route->names;
        if (pattern[route->path - route->text] != '/')
                err = refuse(&reading, "write a path, or a method, a space and a path, as in "
                                       "\"GET /users\"");
        else if (method_bytes > 0 && !eddy_http_is_token(pattern, method_bytes))
                err = refuse(&reading, "the method is not a token");
        else
                err = read_path(&reading);
        if (err < 0)
                ed_route_fini(route);
        return err;
}

void ed_route_fini(struct ed_route *route)
{
        ed_free(route->text);
        *route = (struct ed_route){ 0 };
}
