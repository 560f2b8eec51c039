/*
 * http/request_id.c - the middleware that gives each request an identifier.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/http_middleware.h"
#include "eddy/http_text.h"
#include "eddy/uuid.h"
#include "http/exchange.h"
#include "http/router.h"

struct request_ids {
        uint32_t flags;
        char header[]; /* its name */
};

/* Returns true if the text can be in headers, logs and URLs as it is. */
static bool is_safe(const char *text)
{
        static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789-_.";
        size_t bytes = strspn(text, safe);

        return bytes > 0 && bytes <= EDDY_HTTP_REQUEST_ID_MAX && text[bytes] == '\0';
}

static int request_id(eddy_http_exchange *exchange, struct eddy_http_next *next, void *arg)
{
        const struct request_ids *ids = arg;
        const char *id = NULL, *outer = exchange->request_id;
        char made[EDDY_UUID_TEXT_BYTES];
        struct eddy_uuid uuid;
        int result;

        if (!(ids->flags & EDDY_HTTP_REQUEST_ID_OWN))
                id = eddy_http_exchange_header(exchange, ids->header);
        if (!id || !is_safe(id)) {
                eddy_uuid_v7(&uuid);
                eddy_uuid_format(&uuid, made);
                id = made;
        }
        result = eddy_http_exchange_add_header(exchange, ids->header, id);
        if (result < 0)
                return result;
        result = eddy_log_bind(eddy_log_str("request_id", id));
        if (result < 0 && result != -ENOSPC)
                return result;
        exchange->request_id = id;
        result = eddy_http_next(exchange, next);
        exchange->request_id = outer;
        return result;
}

int eddy_http_use_request_id(eddy_http_router *router, const struct eddy_http_request_id_opts *opts)
{
        const char *header = opts && opts->header ? opts->header : "X-Request-Id";
        size_t bytes = strlen(header);
        struct request_ids *ids;

        if (!eddy_http_is_token(header, bytes))
                return ed_http_router_failed(router, -EINVAL,
                                             "the option 'header' of eddy_http_use_request_id() is "
                                             "not the name of a header");
        ids = ed_alloc(sizeof(*ids) + bytes + 1);
        if (ids) {
                ids->flags = opts ? opts->flags : 0;
                memcpy(ids->header, header, bytes + 1);
        }
        return ed_http_router_use_own(router, request_id, ids, ed_free);
}

const char *eddy_http_exchange_request_id(const eddy_http_exchange *exchange)
{
        return exchange->request_id ? exchange->request_id : "";
}
