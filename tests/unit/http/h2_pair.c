/*
 * h2_pair.c - see h2_pair.h.
 */
#include "h2_pair.h"

#include <stdlib.h>

#include "base/alloc.h"

static struct h2_call *call_of(struct ed_h2_stream *stream)
{
        return ed_container_of(stream, struct h2_call, stream);
}

static struct h2_side *side_of(struct ed_h2 *h2)
{
        return ed_container_of(h2, struct h2_side, h2);
}

static struct h2_call *call_new(struct h2_side *side, int32_t id)
{
        struct h2_call *call = ed_alloc_zero(sizeof(*call));

        if (!call)
                return NULL;
        call->side = side;
        side->calls++;
        ed_h2_stream_init(&call->stream, &side->h2, id);
        return call;
}

static void call_free(struct ed_h2_stream *stream)
{
        struct h2_call *call = call_of(stream);

        call->side->calls--;
        ed_h2_stream_fini(stream);
        ed_free(call);
}

static int wait_for_bytes(struct ed_h2 *h2)
{
        eddy_scope scope;
        int err;

        eddy_scope_begin(&scope, NULL);
        err = ed_h2_wait(h2, &scope);
        return eddy_scope_end(&scope) < 0 ? -ECANCELED : err;
}

static int handle(void *arg)
{
        struct h2_call *call = arg;

        call->side->handler(call);
        if (call->leaves_early)
                ed_h2_stream_leave(&call->stream, NGHTTP2_NO_ERROR);
        else
                h2_close(call);
        return 0;
}

static struct ed_h2_stream *begin(struct ed_h2 *h2, int32_t id)
{
        struct h2_call *call = call_new(side_of(h2), id);

        side_of(h2)->begun++;
        return call ? &call->stream : NULL;
}

static void part(struct ed_h2_stream *stream, enum ed_h2_part part)
{
        struct h2_call *call = call_of(stream);

        call->parts[part]++;
        (void) eddy_event_set(&call->changed);
        if (part != ED_H2_MESSAGE || !call->side->opts.is_server)
                return;
        ed_h2_stream_take(stream);
        if (eddy_scope_start(&call->side->handlers, handle, call) < 0)
                ed_h2_stream_leave(stream, NGHTTP2_REFUSED_STREAM);
}

static void closed(struct ed_h2_stream *stream)
{
        (void) eddy_event_set(&call_of(stream)->changed);
}

static void pong(struct ed_h2 *h2)
{
        side_of(h2)->pongs++;
}

static void goaway(struct ed_h2 *h2, int32_t last_id, uint32_t code)
{
        struct h2_side *side = side_of(h2);

        if (side->goings < 2)
                side->going_ids[side->goings] = last_id;
        side->goings++;
        side->going = (int) code + 1;
}

static const struct ed_h2_ops server_ops = { .wait = wait_for_bytes,
                                             .begin = begin,
                                             .part = part,
                                             .closed = closed,
                                             .free = call_free,
                                             .goaway = goaway };

static const struct ed_h2_ops client_ops = { .wait = wait_for_bytes,
                                             .part = part,
                                             .closed = closed,
                                             .free = call_free,
                                             .goaway = goaway,
                                             .pong = pong };

int h2_side_run(void *arg)
{
        struct h2_side *side = arg;
        int err;

        eddy_scope_begin(&side->handlers,
                         &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
        err = ed_h2_init(&side->h2, &side->opts);
        if (err == 0) {
                side->is_running = true;
                (void) eddy_event_set(&side->ready);
                side->result = ed_h2_run(&side->h2, NULL, 0);
                side->is_running = false;
                ed_h2_end(&side->h2, -ECONNRESET);
        }
        ed_h2_memory_fini(&side->memory);
        side->result = err < 0 ? err : side->result;
        (void) eddy_event_set(&side->ready);
        (void) eddy_scope_end(&side->handlers);
        eddy_stream_close(side->opts.stream);
        return 0;
}

static void side_init(struct h2_side *side, const struct ed_h2_ops *ops, eddy_stream *stream)
{
        *side = (struct h2_side){ .opts = { .ops = ops,
                                            .stream = stream,
                                            .memory = &side->memory,
                                            .is_server = ops->begin,
                                            .credit_at_receipt = !ops->begin,
                                            .streams_max = ops->begin ? 100 : 0,
                                            .stream_window = H2_WINDOW,
                                            .connection_window = H2_CONNECTION_WINDOW,
                                            .fields_max = 100,
                                            .head_bytes_max = 16 << 10 } };
}

void h2_client_init(struct h2_side *side, eddy_stream *stream)
{
        side_init(side, &client_ops, stream);
}

int h2_client_start(struct h2_side *side, eddy_scope *scope)
{
        int err = eddy_scope_start(scope, h2_side_run, side);

        if (err < 0) {
                eddy_stream_close(side->opts.stream);
                return err;
        }
        err = eddy_event_wait(&side->ready);
        return err < 0 ? err : side->is_running ? 0 : -ENOMEM;
}

void h2_client_stop(struct h2_side *side)
{
        if (!side->is_running)
                return;
        if (nghttp2_session_terminate_session(side->h2.session, NGHTTP2_NO_ERROR) < 0)
                ed_h2_fail(&side->h2, NGHTTP2_INTERNAL_ERROR);
        ed_h2_wake(&side->h2);
}

void h2_server_init(struct h2_side *side, eddy_stream *stream, h2_handler_fn *handler)
{
        side_init(side, &server_ops, stream);
        side->handler = handler;
}

int h2_pair_init(struct h2_pair *pair, h2_handler_fn *handler)
{
        int err = eddy_stream_pair(NULL, &pair->ends[0], &pair->ends[1]);

        if (err < 0)
                return err;
        side_init(&pair->client, &client_ops, pair->ends[0]);
        side_init(&pair->server, &server_ops, pair->ends[1]);
        pair->server.handler = handler;
        return 0;
}

int h2_pair_start(struct h2_pair *pair)
{
        int err;

        eddy_scope_begin(&pair->scope, NULL);
        err = eddy_scope_start(&pair->scope, h2_side_run, &pair->server);
        if (err < 0) {
                eddy_stream_close(pair->ends[1]);
                eddy_stream_close(pair->ends[0]);
                return err;
        }
        return h2_client_start(&pair->client, &pair->scope);
}

int h2_pair_end(struct h2_pair *pair)
{
        int err;

        h2_client_stop(&pair->client);
        err = eddy_scope_end(&pair->scope);
        CHECK_EQ(pair->client.calls, 0);
        CHECK_EQ(pair->server.calls, 0);
        CHECK_EQ(pair->server.h2.kept, 0);
        return err;
}

struct h2_call *h2_send(struct h2_side *side, const char *method, const char *path, bool has_body,
                        const struct eddy_http_header *headers, size_t n)
{
        struct ed_h2_fields fields;
        struct h2_call *call = side->is_running ? call_new(side, 0) : NULL;

        if (!call)
                return NULL;
        ed_h2_stream_take(&call->stream);
        ed_h2_fields_begin(&fields, &side->h2);
        ed_h2_fields_add(&fields, ":method", 7, method, strlen(method), 0);
        ed_h2_fields_add(&fields, ":scheme", 7, "http", 4, 0);
        ed_h2_fields_add(&fields, ":path", 5, path, strlen(path), 0);
        ed_h2_fields_add(&fields, ":authority", 10, "h", 1, 0);
        for (size_t i = 0; i < n; i++)
                ed_h2_fields_add(&fields, headers[i].name, strlen(headers[i].name),
                                 headers[i].value, strlen(headers[i].value),
                                 i == 0 ? ED_H2_SECRET : 0);
        if (ed_h2_fields_end(&fields) == 0 && ed_h2_stream_request(&call->stream, has_body) == 0)
                return call;
        eddy_stream_abort(&call->stream.stream);
        return NULL;
}

struct h2_call *h2_request(struct h2_side *side, const char *method, const char *path,
                           bool has_body)
{
        static const struct eddy_http_header headers[] = { { "X-Secret", " s " },
                                                           { "Connection", "close" },
                                                           { "cookie", "a=1" },
                                                           { "cookie", "b=2" } };

        return h2_send(side, method, path, has_body, headers, 4);
}

int h2_await(struct h2_call *call)
{
        const char *status;
        int err = 0;

        while (err == 0 && call->parts[ED_H2_MESSAGE] == 0 && !call->stream.is_reset) {
                eddy_event_clear(&call->changed);
                err = eddy_event_wait(&call->changed);
        }
        if (err < 0 || call->parts[ED_H2_MESSAGE] == 0)
                return err < 0 ? err : call->stream.error;
        status = h2_pseudo(&call->stream.head, ":status");
        return status && strlen(status) == 3
                       ? 100 * (status[0] - '0') + 10 * (status[1] - '0') + status[2] - '0'
                       : -EINVAL;
}

int64_t h2_read_all(struct h2_call *call, uint32_t *ret_sum)
{
        unsigned char buf[3000];
        int64_t n, all = 0;
        uint32_t sum = 0;

        while ((n = eddy_stream_read(&call->stream.stream, buf, sizeof(buf))) > 0) {
                for (int64_t i = 0; i < n; i++)
                        sum = sum * 31 + buf[i];
                all += n;
        }
        if (ret_sum)
                *ret_sum = sum;
        return n < 0 ? n : all;
}

int h2_write_bytes(struct h2_call *call, size_t bytes, uint32_t *sum)
{
        unsigned char buf[5000];
        int err = 0;

        while (bytes > 0 && err == 0) {
                size_t n = bytes < sizeof(buf) ? bytes : sizeof(buf);

                for (size_t i = 0; i < n; i++) {
                        buf[i] = (unsigned char) ((bytes - i) * 7);
                        *sum = *sum * 31 + buf[i];
                }
                err = eddy_stream_write(&call->stream.stream, buf, n);
                bytes -= n;
        }
        return err;
}

int h2_respond(struct h2_call *call, const char *status, bool has_body)
{
        struct ed_h2_fields fields;
        int err;

        if (!call->stream.h2 || !call->stream.h2->session)
                return -ECONNRESET;
        ed_h2_fields_begin(&fields, call->stream.h2);
        ed_h2_fields_add(&fields, ":status", 7, status, strlen(status), 0);
        ed_h2_fields_add(&fields, "X-Test", 6, "y", 1, 0);
        err = ed_h2_fields_end(&fields);
        if (err < 0)
                return err;
        return status[0] == '1' ? ed_h2_stream_interim(&call->stream)
                                : ed_h2_stream_respond(&call->stream, has_body);
}

const char *h2_pseudo(const struct ed_h2_head *head, const char *name)
{
        const char *text = ed_buf_data(&head->text), *end = text + head->begin;

        while (text < end) {
                const char *value = text + strlen(text) + 1;

                if (strcmp(text, name) == 0)
                        return value;
                text = value + strlen(value) + 1;
        }
        return NULL;
}

void h2_close(struct h2_call *call)
{
        eddy_stream_close(&call->stream.stream);
}
