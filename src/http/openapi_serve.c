/*
 * http/openapi_serve.c - the routes of a document and of its page, see eddy/openapi.h.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "http/openapi.h"
#include "http/router.h"

struct openapi {
        struct eddy_openapi_opts opts;
        const eddy_http_router *router;
        _Atomic(char *) text; /* owned; NULL: not written */
};

static void openapi_free(void *arg)
{
        struct openapi *openapi = arg;

        ed_free(atomic_load(&openapi->text));
        ed_free(openapi);
}

/* Loops that write at the same time write equal texts; the first is kept. */
static int write_once(struct openapi *openapi, const char **ret_text)
{
        char *text = atomic_load(&openapi->text), *first = NULL;
        struct eddy_json_error error;
        size_t bytes;
        int err;

        if (!text) {
                err = eddy_openapi_write(openapi->router, &openapi->opts, &text, &bytes, &error);
                if (err < 0)
                        return err;
                if (!atomic_compare_exchange_strong(&openapi->text, &first, text)) {
                        ed_free(text);
                        text = first;
                }
        }
        *ret_text = text;
        return 0;
}

static int show_document(eddy_http_exchange *exchange, void *arg)
{
        static const struct eddy_http_header headers[] = {
                { "Content-Type", "application/json" },
                { "X-Content-Type-Options", "nosniff" },
        };
        const char *text;
        int err = write_once(arg, &text);

        if (err < 0)
                return err;
        return eddy_http_exchange_respond(exchange, 200, headers, ed_array_count(headers), text,
                                          strlen(text));
}

static int show_page(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_header headers[] = {
                { "Content-Type", "text/html; charset=utf-8" },
                { "Content-Security-Policy", ed_openapi_policy },
                { "X-Content-Type-Options", "nosniff" },
                { "Referrer-Policy", "no-referrer" },
        };

        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, headers, ed_array_count(headers),
                                          ed_openapi_page, strlen(ed_openapi_page));
}

int eddy_openapi_serve(eddy_http_router *router, const struct eddy_openapi_opts *opts)
{
        static const struct eddy_http_route_doc hidden = { .flags = EDDY_HTTP_ROUTE_HIDDEN };
        struct openapi *openapi;
        int err;

        if (opts && opts->flags & ~(uint32_t) ED_OPENAPI_FLAGS)
                return ed_http_router_failed(router, -EINVAL,
                                             "an unknown flag of eddy_openapi_serve()");
        openapi = ed_alloc_zero(sizeof(*openapi));
        if (!openapi)
                return ed_http_router_failed(router, -ENOMEM,
                                             "there is not enough memory for a document");
        if (opts)
                openapi->opts = *opts;
        openapi->router = router;
        err = eddy_http_router_add(router, "GET /openapi.json", show_document, openapi, &hidden);
        if (err < 0) {
                openapi_free(openapi);
                return err;
        }
        ed_http_router_own_last(router, openapi_free);
        if (openapi->opts.flags & EDDY_OPENAPI_NO_PAGE)
                return 0;
        return eddy_http_router_add(router, "GET /docs", show_page, NULL, &hidden);
}
