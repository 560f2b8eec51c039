/*
 * http/request.c - the method of a request, and whether it may be repeated.
 */
#include <strings.h>

#include "eddy/http_text.h"
#include "http/client.h"

const char *ed_http_request_method(const struct eddy_http_request *request)
{
        if (request->method)
                return request->method;
        return request->body || request->body_source || request->form.fields ||
                               request->json.fields || request->multipart
                       ? "POST"
                       : "GET";
}

bool eddy_http_request_is_idempotent(const struct eddy_http_request *request)
{
        if (!request)
                return false;
        for (size_t i = 0; request->headers && i < request->headers_count; i++) {
                const char *name = request->headers[i].name;

                if (name && request->headers[i].value &&
                    (strcasecmp(name, "idempotency-key") == 0 ||
                     strcasecmp(name, "x-idempotency-key") == 0))
                        return true;
        }
        return eddy_http_method_is_idempotent(ed_http_request_method(request));
}
