/*
 * http/client_json.c - a request whose answer is JSON: sent, judged, read and closed in one call.
 */
#include <errno.h>
#include <stdio.h>

#include "eddy/http_client.h"
#include "http/client.h"

/* Say in words why the body cannot be used. */
static void note(const eddy_http_response *response, struct eddy_http_fault *fault)
{
        const struct eddy_json_error *error = eddy_http_response_json_error(response);
        const char *text = error ? error->text : eddy_http_response_fault_text(response);

        fault->status = 0;
        snprintf(fault->text, sizeof(fault->text), "%s%s", *text ? "response: " : "", text);
}

int eddy_http_client_json(eddy_http_client *client, const struct eddy_http_request *request,
                          const struct eddy_fields *fields, void *out,
                          struct eddy_http_fault *ret_fault)
{
        struct eddy_http_request own;
        eddy_http_response *response;
        int err;

        if (!client || !request)
                return -EINVAL;
        own = *request;
        own.flags = (own.flags | EDDY_HTTP_STATUS_IS_ERROR) & ~(unsigned) EDDY_HTTP_ANY_STATUS;
        if (ret_fault)
                own.ret_fault = ret_fault;
        err = eddy_http_client_send(client, &own, &response);
        if (err < 0)
                return err;
        err = fields ? eddy_http_response_json(response, fields, out)
                     : eddy_http_response_discard(response);
        if (err < 0 && own.ret_fault)
                note(response, own.ret_fault);
        eddy_http_response_close(response);
        return err;
}
