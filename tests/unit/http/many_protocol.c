/*
 * many_protocol.c - see many_protocol.h.
 */
#include "many_protocol.h"

#include <stdlib.h>

#include "http/pool_origin.h"
#include "http_test.h"

struct many many;

void many_begin(eddy_scope *scope)
{
        many = (struct many){ .scope = scope };
}

/* ---- frames -------------------------------------------------------------------- */

static uint64_t check_of(const struct many_frame *frame)
{
        uint64_t check = 14695981039346656037u;

        for (size_t i = 0; i < offsetof(struct many_frame, check); i++)
                check = (check ^ ((const unsigned char *) frame)[i]) * 1099511628211u;
        return check;
}

bool many_is_whole(const struct many_frame *frame)
{
        return frame->magic == MANY_MAGIC && frame->check == check_of(frame);
}

bool many_read(eddy_stream *stream, struct many_frame *ret_frame)
{
        size_t bytes = 0;

        while (bytes < sizeof(*ret_frame)) {
                int64_t n = eddy_stream_read(stream, (char *) ret_frame + bytes,
                                             sizeof(*ret_frame) - bytes);

                if (n <= 0)
                        return false;
                bytes += (size_t) n;
        }
        many.broken += !many_is_whole(ret_frame);
        return many_is_whole(ret_frame);
}

bool many_write(eddy_stream *stream, enum many_kind kind, uint64_t number, uint64_t topic)
{
        struct many_frame frame = { MANY_MAGIC, kind, number, topic, 0 };
        struct eddy_slice slice = { &frame, sizeof(frame) };

        frame.check = check_of(&frame);
        return eddy_stream_try_writev(stream, &slice, 1) == (int64_t) sizeof(frame);
}

/* ---- sessions ------------------------------------------------------------------ */

struct session {
        struct ed_http_conn *conn; /* NULL: it has ended */
        eddy_stream *stream;
        struct ed_list calls;
        int refs;
};

/* A request that waits for its answer; on the stack of its task. */
struct call {
        struct ed_list link;
        uint64_t number, topic;
        enum many_kind result;
        eddy_event done;
};

static void session_unref(struct session *session)
{
        if (--session->refs == 0)
                eddy_free(session);
}

static void call_end(struct call *call, enum many_kind result, uint64_t topic)
{
        ed_list_remove(&call->link);
        call->result = result;
        call->topic = topic;
        (void) eddy_event_set(&call->done);
}

static void session_break(struct session *session)
{
        ed_list_each_safe (link, &session->calls)
                call_end(ed_container_of(link, struct call, link), MANY_BROKEN, 0);
}

static void session_answer(struct session *session, const struct many_frame *frame)
{
        ed_list_each (link, &session->calls) {
                struct call *call = ed_container_of(link, struct call, link);

                if (call->number == frame->number) {
                        call_end(call, (enum many_kind) frame->kind, frame->topic);
                        return;
                }
        }
        many.late++;
}

static int reader_run(void *arg)
{
        struct session *session = arg;
        struct many_frame frame;

        while (session->conn && many_read(session->stream, &frame)) {
                if (!session->conn)
                        break;
                if (frame.kind == MANY_SLOTS_ARE)
                        ed_http_conn_set_slots(session->conn, (uint32_t) frame.topic);
                else if (frame.kind == MANY_GOAWAY)
                        ed_http_conn_drain(session->conn);
                else
                        session_answer(session, &frame);
        }
        if (session->conn) {
                ed_http_conn_drain(session->conn);
                session_break(session);
        }
        session_unref(session);
        many.readers--;
        return 0;
}

static int session_begin(struct ed_http_conn *conn, eddy_stream *stream)
{
        struct session *session = eddy_malloc(sizeof(*session));

        if (!session)
                return -ENOMEM;
        *session = (struct session){ .conn = conn, .stream = stream, .refs = 2 };
        ed_list_init(&session->calls);
        conn->session = session;
        many.readers++;
        CHECK_EQ(eddy_scope_start(many.scope, reader_run, session), 0);
        return 0;
}

static void session_end(struct ed_http_conn *conn)
{
        struct session *session = conn->session;

        session->conn = NULL;
        session_break(session);
        session_unref(session);
}

static void session_write(struct session *session, enum many_kind kind, uint64_t number,
                          uint64_t topic)
{
        if (!many_write(session->stream, kind, number, topic))
                return; /* the peer has gone: the reader finds it */
        many.bytes_sent += sizeof(struct many_frame);
}

enum many_kind many_ask(struct ed_http_conn *conn, uint64_t topic, uint64_t *ret_topic)
{
        struct session *session = conn->session;
        struct call call = { .number = ++many.numbers };

        session->refs++;
        ed_list_push_back(&session->calls, &call.link);
        session_write(session, MANY_ASK, call.number, topic);
        if (eddy_event_wait(&call.done) < 0) {
                call.result = MANY_CANCEL;
                ed_list_remove(&call.link);
                if (session->conn)
                        session_write(session, MANY_CANCEL, call.number, topic);
        }
        session_unref(session);
        *ret_topic = call.topic;
        return call.result;
}

/* ---- responses ------------------------------------------------------------------ */

struct part {
        enum many_kind result;
        int status;
        char body[24];
};

static struct part *part_of(const eddy_http_response *response)
{
        return response->part;
}

static int part_attach(eddy_http_response *response)
{
        struct part *part = eddy_malloc(sizeof(*part));

        if (!part)
                return -ENOMEM;
        *part = (struct part){ .result = MANY_BROKEN };
        response->part = part;
        return 0;
}

static void part_settle(eddy_http_response *response)
{
        if (response->conn)
                ed_http_pool_release(response->conn, part_of(response)->result != MANY_BROKEN);
        response->conn = NULL;
}

static void part_detach(eddy_http_response *response)
{
        part_settle(response);
        eddy_free(response->part);
        response->part = NULL;
}

static uint64_t topic_of(const struct ed_http_request_fields *fields)
{
        for (size_t i = 0; i < fields->count; i++)
                if (strncasecmp(fields->list[i].name, "X-Topic", fields->list[i].name_bytes) == 0)
                        return strtoull(fields->list[i].value, NULL, 10);
        return 0;
}

static int part_exchange(eddy_http_response *response, const struct eddy_http_request *request)
{
        struct part *part = part_of(response);
        uint64_t topic;

        (void) request;
        part->result = many_ask(response->conn, topic_of(&response->fields), &topic);
        part->status = part->result != MANY_ANSWER ? 503 : (int) (topic >> 48);
        topic &= MANY_STATUS(1) - 1;
        snprintf(part->body, sizeof(part->body), "%llu", (unsigned long long) topic);
        if (part->result == MANY_CANCEL)
                return -ECANCELED;
        return part->result == MANY_ANSWER ? 0 : EDDY_E_HTTP_CLOSED;
}

static bool part_was_answered(const eddy_http_response *response)
{
        return part_of(response)->result != MANY_BROKEN;
}

static bool part_was_refused(const eddy_http_response *response)
{
        return part_of(response)->result == MANY_REFUSED;
}

static bool part_no(const eddy_http_response *response)
{
        (void) response;
        return false;
}

static void part_fail(eddy_http_response *response, int err)
{
        (void) err;
        part_settle(response);
}

static const char *part_fault_text(const eddy_http_response *response)
{
        (void) response;
        return "";
}

static int part_status(const eddy_http_response *response)
{
        return part_of(response)->status ? part_of(response)->status : 200;
}

static int part_version(const eddy_http_response *response)
{
        (void) response;
        return 20;
}

static const char *part_header(const eddy_http_response *response, const char *name)
{
        return part_status(response) / 100 == 3 && strcasecmp(name, "Location") == 0 ? "?" : NULL;
}

static int part_header_at(const eddy_http_response *response, size_t i,
                          struct eddy_http_header *ret_header)
{
        (void) response;
        (void) i;
        (void) ret_header;
        return -ENOENT;
}

static int part_body(eddy_http_response *response, const void **ret_data, size_t *ret_bytes)
{
        *ret_data = part_of(response)->body;
        *ret_bytes = strlen(part_of(response)->body);
        return 0;
}

static int64_t part_read(eddy_http_response *response, void *buf, size_t bytes)
{
        (void) response;
        (void) buf;
        (void) bytes;
        return 0;
}

static int part_discard(eddy_http_response *response)
{
        (void) response;
        return 0;
}

static const struct ed_http_response_ops response_ops = {
        .attach = part_attach,
        .detach = part_detach,
        .exchange = part_exchange,
        .was_answered = part_was_answered,
        .was_refused = part_was_refused,
        .took_source = part_no,
        .sent_request = part_no,
        .settle = part_settle,
        .fail = part_fail,
        .fault_text = part_fault_text,
        .ends_by_close = part_no,
        .status = part_status,
        .version = part_version,
        .header = part_header,
        .header_at = part_header_at,
        .trailer_at = part_header_at,
        .read = part_read,
        .body = part_body,
        .discard = part_discard,
};

static const struct ed_http_conn_ops conn_ops = { .begin = session_begin, .end = session_end };
const struct ed_http_protocol many_protocol = {
        .name = "many", .slots = MANY_SLOTS, .response = &response_ops, .conn = &conn_ops
};

void many_offer(eddy_http_client *client, const struct ed_http_protocol *second)
{
        client->protocols = (struct ed_http_protocols){
                .alpn = second ? "many,http/1.1" : "many",
                .plain = second ? second : &many_protocol,
                .offered = { &many_protocol, second },
        };
}
