/*
 * http/response.c - the public calls of a response, by its protocol's table of operations.
 */
#include "http/client.h"
#include "scope/debug/debug.h"

int eddy_http_response_status(const eddy_http_response *response)
{
        return response->ops->status(response);
}

const char *eddy_http_response_header(const eddy_http_response *response, const char *name)
{
        return response->ops->header(response, name);
}

int eddy_http_response_header_at(const eddy_http_response *response, size_t i,
                                 struct eddy_http_header *ret_header)
{
        return response->ops->header_at(response, i, ret_header);
}

int64_t eddy_http_response_read(eddy_http_response *response, void *buf, size_t bytes)
{
        return response->ops->read(response, buf, bytes);
}

int eddy_http_response_body(eddy_http_response *response, const void **ret_data, size_t *ret_bytes)
{
        return response->ops->body(response, ret_data, ret_bytes);
}

int eddy_http_response_discard(eddy_http_response *response)
{
        return response->ops->discard(response);
}

void eddy_http_response_close(eddy_http_response *response)
{
        if (!response)
                return;
        ed_debug_gone(response);
        response->ops->close(response);
}
