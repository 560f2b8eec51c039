/*
 * http/upgrade.c - a request that offers another protocol, and the connection if the server accepts.
 */
#include "eddy/http_upgrade.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "http/attempt.h"
#include "http/client.h"
#include "http/fault.h"

static bool has_header(const struct eddy_http_request *request, const char *name)
{
        for (size_t i = 0; i < request->headers_count; i++)
                if (request->headers[i].name && strcasecmp(request->headers[i].name, name) == 0)
                        return true;
        return false;
}

/* Send the request with the header "Connection". */
static int send_offer(eddy_http_client *client, const struct eddy_http_request *request,
                      eddy_http_response **ret_response)
{
        struct eddy_http_request offer = *request;
        size_t n = request->headers_count;
        struct eddy_http_header *headers;
        int err;

        if (has_header(request, "connection"))
                return eddy_http_client_send(client, request, ret_response);
        headers = ed_alloc((n + 1) * sizeof(*headers));
        if (!headers)
                return -ENOMEM;
        memcpy(headers, request->headers, n * sizeof(*headers));
        headers[n] = (struct eddy_http_header){ "Connection", "Upgrade" };
        offer.headers = headers;
        offer.headers_count = n + 1;
        err = eddy_http_client_send(client, &offer, ret_response);
        ed_free(headers);
        return err;
}

static int refuse(const struct eddy_http_request *request)
{
        if (request->ret_fault)
                ed_http_fault_clear(request->ret_fault);
        ed_http_fault_note(request->ret_fault,
                           "an upgrade needs the header Upgrade, and has no body");
        return EDDY_E_HTTP_INVALID_REQUEST;
}

int eddy_http_client_upgrade(eddy_http_client *client, const struct eddy_http_request *request,
                             eddy_http_response **ret_response, eddy_stream **ret_stream)
{
        eddy_http_response *response;
        int err;

        if (!client || !request || !ret_response || !ret_stream ||
            (!request->headers && request->headers_count > 0))
                return -EINVAL;
        if (request->body || request->body_source || request->form.fields || request->json.fields ||
            request->multipart || !has_header(request, "upgrade") ||
            request->headers_count >= ED_HTTP_REQUEST_HEAD_MAX)
                return refuse(request);
        err = send_offer(client, request, &response);
        if (err < 0)
                return err;
        *ret_stream = NULL;
        if (eddy_http_response_status(response) == 101) {
                err = response->ops->take_stream(response, ret_stream);
                ed_http_attempt_end(response, err);
        }
        if (err < 0)
                eddy_http_response_close(response);
        else
                *ret_response = response;
        return err;
}
