/*
 * http/cors.c - the middleware for requests of pages of other origins (Fetch standard, 3.2, "HTTP-CORS
 * protocol").
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/http_middleware.h"
#include "eddy/http_text.h"
#include "eddy/time.h"
#include "http/exchange.h"
#include "http/router.h"
#include "wire/http1_parts.h"

#define MAX_AGE_DEFAULT_NS EDDY_MIN(10)

struct cors {
        uint32_t flags;
        bool any;                      /* the origins are "*" */
        const char *origins;           /* a list; the texts are in 'texts' */
        const char *methods, *headers; /* lists */
        const char *exposed;           /* "": no header */
        char max_age[24];
        char texts[];
};

/* ---- lists ----------------------------------------------------------------- */

/* Returns true if the text is an item of the list; "" is none. */
static bool list_has(const char *list, const char *text)
{
        size_t at = 0, bytes = strlen(list), length = strlen(text);
        struct eddy_slice item;

        while (ed_http1_list_next(list, bytes, &at, &item))
                if (item.bytes == length && memcmp(item.data, text, length) == 0)
                        return true;
        return false;
}

/* Returns true if the text is an origin as browsers write it. */
static bool is_origin(const char *item, size_t bytes)
{
        char text[EDDY_HTTP_ORIGIN_BYTES], origin[EDDY_HTTP_ORIGIN_BYTES];
        const char *host;

        if (bytes >= sizeof(text))
                return false;
        memcpy(text, item, bytes);
        text[bytes] = '\0';
        if (strncmp(text, "http:", 5) == 0 || strncmp(text, "https:", 6) == 0)
                return eddy_http_url_origin(text, origin) >= 0 && strcmp(text, origin) == 0;
        host = strstr(text, "://"); /* of an application, such as "capacitor://localhost" */
        return host && eddy_http_is_token(text, (size_t) (host - text)) && host[3] &&
               !strpbrk(host + 3, "/?#*\\ \t") && eddy_http_is_value(text, bytes);
}

/* Returns true if each item is valid, or "*" is the only one. */
static bool is_list(const char *list, bool (*is_item)(const char *item, size_t bytes), bool no_any)
{
        size_t at = 0, bytes = strlen(list);
        struct eddy_slice item;

        if (strcmp(list, "*") == 0)
                return !no_any;
        while (ed_http1_list_next(list, bytes, &at, &item))
                if (!is_item(item.data, item.bytes) || memchr(item.data, '*', item.bytes))
                        return false;
        return true;
}

/* ---- requests -------------------------------------------------------------- */

/* Add a header unless an earlier one failed. */
static void add(eddy_http_exchange *exchange, const char *name, const char *value, int *err)
{
        if (*err >= 0)
                *err = eddy_http_exchange_add_header(exchange, name, value);
}

/* Answer the question if a request may be sent. */
static int answer_preflight(eddy_http_exchange *exchange, const struct cors *cors, bool allowed)
{
        int err = 0;

        add(exchange, "Vary", "Access-Control-Request-Method, Access-Control-Request-Headers",
            &err);
        if (allowed) {
                add(exchange, "Access-Control-Allow-Methods", cors->methods, &err);
                add(exchange, "Access-Control-Allow-Headers", cors->headers, &err);
                add(exchange, "Access-Control-Max-Age", cors->max_age, &err);
        }
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 204, NULL, 0, NULL, 0);
}

static int cors(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const struct cors *cors = arg;
        const char *origin = eddy_http_exchange_header(exchange, "Origin");
        bool allowed = cors->any || (origin && list_has(cors->origins, origin));
        int err = 0;

        if (!cors->any)
                add(exchange, "Vary", "Origin", &err);
        if (allowed)
                add(exchange, "Access-Control-Allow-Origin", cors->any ? "*" : origin, &err);
        if (allowed && cors->flags & EDDY_HTTP_CORS_CREDENTIALS)
                add(exchange, "Access-Control-Allow-Credentials", "true", &err);
        if (err < 0)
                return err;
        if (origin && strcmp(eddy_http_exchange_method(exchange), "OPTIONS") == 0 &&
            eddy_http_exchange_header(exchange, "Access-Control-Request-Method"))
                return answer_preflight(exchange, cors, allowed);
        if (allowed && cors->exposed[0])
                add(exchange, "Access-Control-Expose-Headers", cors->exposed, &err);
        return err < 0 ? err : eddy_http_next(exchange, next);
}

/* ---- building -------------------------------------------------------------- */

/* Copy a text to '*at'. Returns the copy. */
static const char *copy(char **at, const char *text)
{
        size_t bytes = strlen(text) + 1;
        char *copied = memcpy(*at, text, bytes);

        *at += bytes;
        return copied;
}

/* Returns NULL without memory. */
static struct cors *cors_new(const struct eddy_http_cors_opts *opts)
{
        int64_t max_age_ns = opts->max_age_ns ? opts->max_age_ns : MAX_AGE_DEFAULT_NS;
        struct cors *cors = ed_alloc(sizeof(*cors) + strlen(opts->origins) + strlen(opts->methods) +
                                     strlen(opts->headers) + strlen(opts->exposed) + 4);
        char *at;

        if (!cors)
                return NULL;
        at = cors->texts;
        cors->flags = opts->flags;
        cors->any = strcmp(opts->origins, "*") == 0;
        cors->origins = copy(&at, opts->origins);
        cors->methods = copy(&at, opts->methods);
        cors->headers = copy(&at, opts->headers);
        cors->exposed = copy(&at, opts->exposed);
        snprintf(cors->max_age, sizeof(cors->max_age), "%" PRId64,
                 max_age_ns < 0 ? 0 : max_age_ns / EDDY_SEC(1));
        return cors;
}

int eddy_http_use_cors(eddy_http_router *router, const struct eddy_http_cors_opts *opts)
{
        struct eddy_http_cors_opts own = opts ? *opts : (struct eddy_http_cors_opts){ .flags = 0 };
        const bool no_any = own.flags & EDDY_HTTP_CORS_CREDENTIALS;
        const char *wrong = NULL;

        if (!own.methods)
                own.methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
        if (!own.headers)
                own.headers = "Content-Type";
        if (own.origins && !is_list(own.origins, is_origin, no_any))
                wrong = "the option 'origins' of eddy_http_use_cors() is not a list such as "
                        "\"https://app.example, http://localhost:3000\", or is \"*\" with "
                        "credentials";
        else if (!is_list(own.methods, eddy_http_is_token, no_any) ||
                 !is_list(own.headers, eddy_http_is_token, no_any) ||
                 (own.exposed && !is_list(own.exposed, eddy_http_is_token, no_any)))
                wrong = "a list of methods or headers of eddy_http_use_cors() has an item that is "
                        "not "
                        "a name, or \"*\" beside other names or with credentials";
        if (wrong)
                return ed_http_router_failed(router, -EINVAL, wrong);
        if (!own.origins)
                own.origins = "";
        if (!own.exposed)
                own.exposed = "";
        return ed_http_router_use_own(router, cors, cors_new(&own), ed_free);
}
