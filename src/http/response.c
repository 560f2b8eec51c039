/*
 * http/response.c - the public calls of a response, by its protocol's table of operations.
 */
#include <errno.h>
#include <strings.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/time.h"
#include "http/attempt.h"
#include "http/time_limit.h"
#include "scope/debug/debug.h"
#include "scope/misuse.h"

int eddy_http_response_status(const eddy_http_response *response)
{
        return response ? response->ops->status(response) : 0;
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
                .redirects = response->redirects,
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

/* A response belongs to the loop of its client. */
static const struct ed_member *member_of(const eddy_http_response *response)
{
        return &response->client->pool.member;
}

/* A call that reads the body. */
struct reading {
        eddy_http_response *response;
        void *buf;
        size_t bytes;
        const void **ret_data;
        size_t *ret_bytes;
};

static int64_t read_some(void *arg)
{
        const struct reading *reading = arg;

        return ed_http_decoded_read(reading->response, reading->buf, reading->bytes);
}

static int64_t read_whole(void *arg)
{
        const struct reading *reading = arg;

        return ed_http_decoded_body(reading->response, reading->ret_data, reading->ret_bytes);
}

static int64_t drop_rest(void *arg)
{
        const struct reading *reading = arg;

        return ed_http_decoded_discard(reading->response);
}

/*
 * Make a call that reads the body; 0 is the body's end, at which the time stops. If the time passes
 * before, the exchange fails.
 */
static int64_t read_in_time(ed_http_part_fn *fn, struct reading *reading)
{
        eddy_http_response *response = reading->response;
        int64_t n = ed_member_check(member_of(response));

        if (n < 0)
                return n;
        n = ed_http_call(fn, reading, response->deadline_ns, EDDY_E_HTTP_TIMEOUT_TOTAL);
        if (n == 0) {
                response->deadline_ns = 0;
                if (response->timings.total_ns < 0)
                        response->timings.total_ns = eddy_now() - response->began_ns;
        }
        if (n == EDDY_E_HTTP_TIMEOUT_TOTAL)
                response->ops->fail(response, (int) n);
        ed_http_attempt_read(response, n, n == 0);
        return n;
}

int64_t eddy_http_response_read(eddy_http_response *response, void *buf, size_t bytes)
{
        struct reading reading = { .response = response, .buf = buf, .bytes = bytes };

        if (!response || (!buf && bytes > 0))
                return -EINVAL;
        return read_in_time(read_some, &reading);
}

int eddy_http_response_body(eddy_http_response *response, const void **ret_data, size_t *ret_bytes)
{
        struct reading reading = { .response = response,
                                   .ret_data = ret_data,
                                   .ret_bytes = ret_bytes };

        if (!response || !ret_data || !ret_bytes)
                return -EINVAL;
        return (int) read_in_time(read_whole, &reading);
}

int eddy_http_response_discard(eddy_http_response *response)
{
        struct reading reading = { .response = response };

        if (!response)
                return -EINVAL;
        return (int) read_in_time(drop_rest, &reading);
}

/* Keep the details of a failure; without memory there are none. */
static int json_failed(eddy_http_response *response, const struct eddy_json_error *error)
{
        if (!response->json_error)
                response->json_error = ed_alloc(sizeof(*error));
        if (response->json_error)
                *response->json_error = *error;
        return error->error;
}

int eddy_http_response_json(eddy_http_response *response, const struct eddy_fields *fields,
                            void *out)
{
        struct eddy_json_error error;
        const void *data;
        size_t bytes;
        int err;

        if (!response)
                return -EINVAL;
        err = ed_member_check(member_of(response));
        if (err < 0)
                return err;
        ed_free(response->json_error);
        response->json_error = NULL;
        err = eddy_http_response_body(response, &data, &bytes);
        if (err < 0)
                return err;
        if (eddy_json_read(fields, data, bytes, out, &error) < 0)
                return json_failed(response, &error);
        return 0;
}

const struct eddy_json_error *eddy_http_response_json_error(const eddy_http_response *response)
{
        return response ? response->json_error : NULL;
}

const char *eddy_http_response_fault_text(const eddy_http_response *response)
{
        return response ? response->ops->fault_text(response) : "";
}

/* ---- making and freeing ---------------------------------------------------- */

int ed_http_response_new(eddy_http_client *client, eddy_http_response **ret_response)
{
        struct ed_list *link = ed_list_pop_front(&client->spares);
        eddy_http_response *response;

        if (link) {
                client->spares_count--;
                response = ed_container_of(link, eddy_http_response, link);
        } else {
                response = ed_alloc_zero(sizeof(*response));
                if (!response)
                        return -ENOMEM;
                ed_list_init(&response->link);
                ed_buf_init(&response->url, ED_URL_BYTES_MAX + 1);
                response->client = client;
        }
        client->refs++;
        *ret_response = response;
        return 0;
}

int ed_http_response_attach(eddy_http_response *response)
{
        const struct ed_http_response_ops *ops = response->conn->protocol->response;
        int err;

        ed_assert(!response->ops, "a response got a second protocol");
        err = ops->attach(response);
        if (err >= 0)
                response->ops = ops;
        return err;
}

void ed_http_response_detach(eddy_http_response *response)
{
        struct ed_http_conn *conn = response->conn;

        if (!response->ops)
                return;
        response->conn = NULL;
        response->ops->detach(response);
        response->ops = NULL;
        response->conn = conn;
}

static void response_destroy(eddy_http_response *response)
{
        ed_http_request_fields_fini(&response->fields);
        ed_buf_fini(&response->url);
        ed_free(response);
}

void ed_http_response_free(eddy_http_response *response)
{
        eddy_http_client *client = response->client;

        if (response->ops)
                response->ops->detach(response);
        response->ops = NULL;
        ed_list_remove(&response->link);
        ed_assert(!response->conn, "a response ended with a slot held");
        if (ed_unlikely(response->body_free != NULL))
                response->body_free(response->body_arg);
        response->body_free = NULL;
        if (client->pool.closed || client->spares_count >= ED_HTTP_SPARES_MAX) {
                response_destroy(response);
        } else {
                ed_http_request_fields_clear(&response->fields);
                if (response->url.room > ED_HTTP_REQUEST_HEAD_KEPT)
                        ed_buf_fini(&response->url);
                else
                        ed_buf_consume(&response->url, ed_buf_bytes(&response->url));
                ed_list_push_front(&client->spares, &response->link);
                client->spares_count++;
        }
        ed_http_client_unref(client);
}

void ed_http_responses_drop(eddy_http_client *client)
{
        struct ed_list *link;

        while ((link = ed_list_pop_front(&client->spares)))
                response_destroy(ed_container_of(link, eddy_http_response, link));
        client->spares_count = 0;
        ed_http1_responses_drop(client);
        ed_h2_requests_drop(client);
}

void ed_http_response_end(eddy_http_response *response)
{
        ed_http_attempt_end(response, 0);
        ed_http_decoded_end(&response->decoding);
        ed_free(response->json_error);
        response->json_error = NULL;
        ed_http_response_free(response);
}

void eddy_http_response_close(eddy_http_response *response)
{
        if (!response || !ed_misuse_may_close(member_of(response), "an HTTP response"))
                return;
        ed_debug_gone(response);
        ed_http_response_end(response);
}

void eddy_http_response_retry_hint(const eddy_http_response *response,
                                   struct eddy_retry_hint *ret_hint)
{
        struct ed_sys *sys;
        struct eddy_retry_headers headers = {
                .retry_after = eddy_http_response_header(response, "Retry-After"),
                .retry_after_ms = eddy_http_response_header(response, "retry-after-ms"),
                .should_retry = eddy_http_response_header(response, "x-should-retry"),
                .date = eddy_http_response_header(response, "Date"),
        };

        *ret_hint = (struct eddy_retry_hint){ 0 };
        if (!response || !member_of(response)->loop)
                return;
        if (!headers.retry_after)
                headers.retry_after =
                        eddy_http_response_header(response, "X-RateLimit-Retry-After");
        sys = member_of(response)->loop->sys;
        eddy_retry_hint_read(&headers, sys->poll->time_of_day(sys) / EDDY_SEC(1), ret_hint);
}
