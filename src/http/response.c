/*
 * http/response.c - the public calls of a response, by its protocol's table of operations.
 */
#include <errno.h>
#include <strings.h>

#include "eddy/error.h"
#include "eddy/time.h"
#include "http/client.h"
#include "scope/debug/debug.h"

int eddy_http_response_status(const eddy_http_response *response)
{
        return response ? response->ops->status(response) : -EINVAL;
}

const char *eddy_http_response_header(const eddy_http_response *response, const char *name)
{
        return response && name ? response->ops->header(response, name) : NULL;
}

int eddy_http_response_header_at(const eddy_http_response *response, size_t i,
                                 struct eddy_http_header *ret_header)
{
        return response && ret_header ? response->ops->header_at(response, i, ret_header) : -EINVAL;
}

void eddy_http_response_info(const eddy_http_response *response,
                             struct eddy_http_response_info *ret_info)
{
        static const struct eddy_endpoint unknown = { .kind = EDDY_ENDPOINT_NONE };

        if (!ret_info)
                return;
        if (!response) {
                *ret_info = (struct eddy_http_response_info){
                        .url = "", .peer = &unknown, .timings = { -1, -1, -1, -1, -1, -1 }
                };
                return;
        }
        *ret_info = (struct eddy_http_response_info){
                .version = response->ops->version(response),
                .url = ed_buf_data(&response->url),
                .peer = &response->peer,
                .timings = response->timings,
                .request_sent = response->ops->sent_request(response),
        };
}

int eddy_http_response_trailer_at(const eddy_http_response *response, size_t i,
                                  struct eddy_http_header *ret_trailer)
{
        return response && ret_trailer ? response->ops->trailer_at(response, i, ret_trailer)
                                       : -EINVAL;
}

const char *eddy_http_response_trailer(const eddy_http_response *response, const char *name)
{
        struct eddy_http_header trailer;

        if (!response || !name)
                return NULL;
        for (size_t i = 0; response->ops->trailer_at(response, i, &trailer) == 0; i++)
                if (strcasecmp(trailer.name, name) == 0)
                        return trailer.value;
        return NULL;
}

/*
 * End a call that reads the body. At the body's end, 'ended', the time stops. If the time passes
 * before, the connection is closed.
 */
static int64_t reading_end(eddy_http_response *response, struct ed_http_limit *limit, int64_t n,
                           bool ended)
{
        if (ended) {
                response->deadline_ns = 0;
                if (response->timings.total_ns < 0)
                        response->timings.total_ns = eddy_now() - response->began_ns;
        }
        n = ed_http_limit_end(limit, n, EDDY_E_HTTP_TIMEOUT_TOTAL);
        if (n == EDDY_E_HTTP_TIMEOUT_TOTAL)
                response->ops->fail(response, (int) n);
        return n;
}

int64_t eddy_http_response_read(eddy_http_response *response, void *buf, size_t bytes)
{
        struct ed_http_limit limit;
        int64_t n;

        if (!response || (!buf && bytes > 0))
                return -EINVAL;
        ed_http_limit_begin(&limit, response->deadline_ns);
        n = ed_http_decoding_read(response, buf, bytes);
        return reading_end(response, &limit, n, n == 0);
}

int eddy_http_response_body(eddy_http_response *response, const void **ret_data, size_t *ret_bytes)
{
        struct ed_http_limit limit;
        int err;

        if (!response || !ret_data || !ret_bytes)
                return -EINVAL;
        ed_http_limit_begin(&limit, response->deadline_ns);
        err = ed_http_decoding_body(response, ret_data, ret_bytes);
        return (int) reading_end(response, &limit, err, err == 0);
}

int eddy_http_response_discard(eddy_http_response *response)
{
        struct ed_http_limit limit;
        int err;

        if (!response)
                return -EINVAL;
        ed_http_limit_begin(&limit, response->deadline_ns);
        err = ed_http_decoding_discard(response);
        return (int) reading_end(response, &limit, err, err == 0);
}

void eddy_http_response_close(eddy_http_response *response)
{
        if (!response)
                return;
        ed_debug_gone(response);
        ed_http_decoding_end(&response->decoding);
        response->ops->close(response);
}
