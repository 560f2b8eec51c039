/*
 * test_slots_random.c - a made-up protocol of 8 slots on the simulated network, by chance: requests,
 * cancels, connections that end or drain, numbers of slots that change.
 *
 * A frame has 16 bytes. Each answer names the request's number and the server's port.
 */
#include <stdlib.h>

#include "fake_protocol.h"
#include "http_test.h"

enum {
        CALLERS = 40,
        PORTS = 3,
        CONNECTIONS_MAX = 6,
        PER_HOST_MAX = 3,
        IDLE_MAX = 2,
        EXCHANGES_FEW = 20000,
        EXCHANGES_FULL = 1000000,
};

enum kind { ASK, CANCEL, ANSWER, REFUSED, SLOTS, GOAWAY, BROKEN };

struct frame {
        uint32_t kind, port;
        uint64_t number;
};

static struct {
        eddy_http_client *client;
        eddy_listener *listeners[PORTS];
        eddy_scope *scope;
        uint64_t random, numbers;
        int exchanges, left, readers;
        int kinds[BROKEN + 1]; /* results of requests; CANCEL: cancelled */
        int asked, late;
        uint64_t bytes_sent, bytes_got; /* from the client to the servers */
} world;

static uint32_t draw(uint32_t below)
{
        world.random ^= world.random << 13;
        world.random ^= world.random >> 7;
        world.random ^= world.random << 17;
        return (uint32_t) (world.random >> 33) % below;
}

/* Read a frame. Returns false at the end. */
static bool frame_read(eddy_stream *stream, struct frame *frame)
{
        size_t bytes = 0;

        while (bytes < sizeof(*frame)) {
                int64_t n =
                        eddy_stream_read(stream, (char *) frame + bytes, sizeof(*frame) - bytes);

                if (n <= 0)
                        return false;
                bytes += (size_t) n;
        }
        return true;
}

static bool frame_write(eddy_stream *stream, uint32_t kind, uint32_t port, uint64_t number)
{
        struct frame frame = { kind, port, number };
        struct eddy_slice slice = { &frame, sizeof(frame) };

        return eddy_stream_try_writev(stream, &slice, 1) == (int64_t) sizeof(frame);
}

/* ---- the server -------------------------------------------------------------- */

struct served {
        eddy_stream *stream;
        eddy_scope *scope;
        uint32_t port;
        uint64_t active[FAKE_SLOTS]; /* numbers of requests; 0: free */
};

struct answer {
        struct served *served;
        uint64_t number;
};

/* Replace a number. Returns false if no such request is active. */
static bool served_replace(struct served *served, uint64_t from, uint64_t to)
{
        for (int i = 0; i < FAKE_SLOTS; i++) {
                if (served->active[i] == from) {
                        served->active[i] = to;
                        return true;
                }
        }
        return false;
}

static int answer_run(void *arg)
{
        const struct answer *answer = arg;
        struct served *served = answer->served;

        if (eddy_sleep(draw(2) ? 0 : EDDY_US(draw(2000))) < 0 ||
            !served_replace(served, answer->number, 0))
                return 0;
        (void) frame_write(served->stream, draw(50) ? ANSWER : REFUSED, served->port,
                           answer->number);
        return 0;
}

static int slots_return(void *arg)
{
        struct served *served = *(struct served **) arg;

        if (eddy_sleep(EDDY_MS(1)) == 0)
                (void) frame_write(served->stream, SLOTS, served->port, FAKE_SLOTS);
        return 0;
}

/* A request has come. Returns false if the connection ends abruptly. */
static bool served_ask(struct served *served, uint64_t number)
{
        struct answer answer = { served, number };
        uint32_t slots;

        CHECK(served_replace(served, 0, number));
        CHECK_EQ(eddy_scope_start_copy(served->scope, answer_run, &answer, sizeof(answer)), 0);
        if (draw(100) == 0) {
                slots = draw(FAKE_SLOTS + 1);
                (void) frame_write(served->stream, SLOTS, served->port, slots);
                if (slots == 0)
                        CHECK_EQ(eddy_scope_start_copy(served->scope, slots_return, &served,
                                                       sizeof(served)),
                                 0);
        }
        if (draw(200) == 0)
                (void) frame_write(served->stream, GOAWAY, served->port, 0);
        return draw(500) != 0;
}

static int served_run(void *arg)
{
        struct served served = *(struct served *) arg;
        struct frame frame;
        eddy_scope scope;
        bool goes_on = true;

        eddy_scope_begin(&scope, NULL);
        served.scope = &scope;
        while (goes_on && frame_read(served.stream, &frame)) {
                world.bytes_got += sizeof(frame);
                if (frame.kind == ASK)
                        goes_on = served_ask(&served, frame.number);
                else
                        (void) served_replace(&served, frame.number, 0);
        }
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        /* The rest of the bytes, after an abrupt end. */
        (void) eddy_stream_shutdown(served.stream);
        while (frame_read(served.stream, &frame))
                world.bytes_got += sizeof(frame);
        eddy_stream_close(served.stream);
        return 0;
}

static int listener_run(void *arg)
{
        eddy_listener *listener = *(eddy_listener **) arg;
        struct served served = { .port = (uint32_t) eddy_listener_port(listener) };

        while (eddy_listener_accept(listener, &served.stream) == 0)
                CHECK_EQ(eddy_scope_start_copy(world.scope, served_run, &served, sizeof(served)),
                         0);
        return 0;
}

/* ---- the protocol ------------------------------------------------------------- */

struct session {
        struct ed_http_conn *conn; /* NULL: it has ended */
        eddy_stream *stream;
        struct ed_list calls;
        int refs;
};

/* A request that waits for its answer; on the stack of its task. */
struct call {
        struct ed_list link;
        uint64_t number;
        enum kind result;
        eddy_event done;
};

static void session_unref(struct session *session)
{
        if (--session->refs == 0)
                eddy_free(session);
}

static void call_end(struct call *call, enum kind result)
{
        ed_list_remove(&call->link);
        call->result = result;
        (void) eddy_event_set(&call->done);
}

static void session_break(struct session *session)
{
        ed_list_each_safe (link, &session->calls)
                call_end(ed_container_of(link, struct call, link), BROKEN);
}

static void session_answer(struct session *session, const struct frame *frame)
{
        CHECK_EQ(frame->port, session->conn->origin->key.port);
        ed_list_each (link, &session->calls) {
                struct call *call = ed_container_of(link, struct call, link);

                if (call->number == frame->number) {
                        call_end(call, frame->kind);
                        return;
                }
        }
        world.late++; /* to a cancelled request */
}

static int reader_run(void *arg)
{
        struct session *session = arg;
        struct frame frame;

        while (session->conn && frame_read(session->stream, &frame)) {
                if (!session->conn)
                        break;
                if (frame.kind == SLOTS)
                        ed_http_conn_set_slots(session->conn, (uint32_t) frame.number);
                else if (frame.kind == GOAWAY)
                        ed_http_conn_drain(session->conn);
                else
                        session_answer(session, &frame);
        }
        if (session->conn) {
                ed_http_conn_drain(session->conn);
                session_break(session);
        }
        session_unref(session);
        world.readers--;
        return 0;
}

static int many_begin(struct ed_http_conn *conn, eddy_stream *stream)
{
        struct session *session = eddy_malloc(sizeof(*session));

        if (!session)
                return -ENOMEM;
        *session = (struct session){ .conn = conn, .stream = stream, .refs = 2 };
        ed_list_init(&session->calls);
        conn->session = session;
        world.readers++;
        CHECK_EQ(eddy_scope_start(world.scope, reader_run, session), 0);
        return 0;
}

static void many_end(struct ed_http_conn *conn)
{
        struct session *session = conn->session;

        session->conn = NULL;
        session_break(session);
        session_unref(session);
}

static const struct ed_http_conn_ops many_ops = { .begin = many_begin, .end = many_end };
static const struct ed_http_protocol many = { .name = "many",
                                              .slots = FAKE_SLOTS,
                                              .conn = &many_ops };

static void session_write(struct session *session, enum kind kind, uint64_t number)
{
        if (!frame_write(session->stream, kind, 0, number))
                return; /* the peer has gone: the reader finds it */
        world.bytes_sent += sizeof(struct frame);
}

/* Ask, and wait for the answer. */
static enum kind ask(struct ed_http_conn *conn)
{
        struct session *session = conn->session;
        struct call call = { .number = ++world.numbers };

        world.asked++;
        session->refs++;
        ed_list_push_back(&session->calls, &call.link);
        session_write(session, ASK, call.number);
        if (eddy_event_wait(&call.done) < 0) {
                call.result = CANCEL;
                ed_list_remove(&call.link);
                if (session->conn)
                        session_write(session, CANCEL, call.number);
        }
        session_unref(session);
        return call.result;
}

/* ---- callers ------------------------------------------------------------------ */

/* No limit is exceeded, and no slot is lost. */
static void check_pool(void)
{
        const struct ed_http_pool *pool = &world.client->pool;
        uint32_t open = 0;

        CHECK(pool->open <= CONNECTIONS_MAX && pool->idle_count <= IDLE_MAX);
        for (struct ed_hash_node *node = ed_hash_table_next(&pool->origins, NULL); node;
             node = ed_hash_table_next(&pool->origins, node)) {
                struct ed_http_origin *origin = ed_container_of(node, struct ed_http_origin, node);
                bool has_free = !ed_list_is_empty(&origin->conns[ED_HTTP_CONN_OPEN]);

                open += origin->open;
                CHECK(origin->open <= PER_HOST_MAX);
                CHECK(origin->waiting == 0 || !has_free);
        }
        CHECK_EQ(open, pool->open);
}

/* Returns the result of one request, or an error. */
static int exchange_once(uint32_t port)
{
        struct ed_http_key key = { .host = "127.0.0.1", .host_bytes = 9, .port = (uint16_t) port };
        int64_t now_ns = eddy_now();
        struct ed_http_conn *conn;
        enum kind result;
        int err;

        err = ed_http_pool_acquire(&world.client->pool, &key, &now_ns, &conn);
        if (err < 0)
                return err;
        check_pool();
        if (!conn->stream) {
                err = ed_http_conn_open(&conn, NULL);
                if (err < 0) {
                        if (conn)
                                ed_http_pool_release(conn, err == -ECANCELED);
                        return err;
                }
        }
        CHECK_EQ(conn->origin->key.port, port);
        CHECK(conn->lent <= FAKE_SLOTS);
        result = ask(conn);
        world.kinds[result]++;
        ed_http_pool_release(conn, result != BROKEN && draw(100) > 0);
        check_pool();
        return (int) result;
}

static int exchange_run(void *arg)
{
        uint32_t port = (uint32_t) eddy_listener_port(world.listeners[draw(PORTS)]);
        int result;

        (void) arg;
        do
                result = exchange_once(port);
        while (result == REFUSED || result == BROKEN);
        return result == CANCEL ? -ECANCELED : result < 0 ? result : 0;
}

static int caller_run(void *arg)
{
        (void) arg;
        while (world.left > 0) {
                int64_t began_ns = eddy_now();
                bool is_patient = draw(3) > 0;
                int err;

                world.left--;
                err = is_patient ? exchange_run(NULL)
                                 : eddy_call_timeout(exchange_run, NULL, EDDY_US(draw(2000)));
                if (is_patient)
                        CHECK_EQ(err, 0);
                else
                        CHECK(err == 0 || err == -ECANCELED || err == -ETIMEDOUT);
                CHECK(eddy_now() - began_ns < EDDY_SEC(1)); /* none starves */
                if (draw(50) == 0)
                        CHECK_EQ(eddy_sleep(EDDY_MS(draw(20))), 0);
        }
        return 0;
}

static void world_open(void)
{
        struct eddy_http_client_opts opts = { .connections_max = CONNECTIONS_MAX,
                                              .per_host_max = PER_HOST_MAX,
                                              .idle_max = IDLE_MAX,
                                              .idle_timeout_ns = EDDY_MS(5) };

        world.random = 88172645463325252u;
        world.exchanges = getenv("EDDY_TEST_FULL") ? EXCHANGES_FULL : EXCHANGES_FEW;
        world.left = world.exchanges;
        CHECK_EQ(eddy_http_client_new(&opts, &world.client), 0);
        world.client->protocols.plain = &many;
        for (int i = 0; i < PORTS; i++) {
                CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &world.listeners[i]), 0);
                CHECK_EQ(eddy_scope_start(world.scope, listener_run, &world.listeners[i]), 0);
        }
}

static int random_main(void *arg)
{
        eddy_scope servers, callers;

        (void) arg;
        memset(&world, 0, sizeof(world));
        eddy_scope_begin(&servers, NULL);
        world.scope = &servers;
        world_open();
        eddy_scope_begin(&callers, NULL);
        for (int i = 0; i < CALLERS; i++)
                CHECK_EQ(eddy_scope_start(&callers, caller_run, NULL), 0);
        CHECK_EQ(eddy_scope_end(&callers), 0);
        CHECK_EQ(world.client->pool.in_use, 0);
        CHECK_EQ(world.client->pool.waiting, 0);
        eddy_http_client_close(world.client);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(world.readers, 0);
        CHECK_EQ(world.bytes_got, world.bytes_sent);
        CHECK_EQ(world.asked, world.kinds[ANSWER] + world.kinds[REFUSED] + world.kinds[CANCEL] +
                                      world.kinds[BROKEN]);
        for (int i = 0; i < PORTS; i++)
                eddy_listener_close(world.listeners[i]);
        eddy_scope_cancel(&servers);
        (void) eddy_scope_end(&servers);
        printf("# %d requests: %d answered, %d refused, %d cancelled, %d broken, %d answers late\n",
               world.asked, world.kinds[ANSWER], world.kinds[REFUSED], world.kinds[CANCEL],
               world.kinds[BROKEN], world.late);
        return 0;
}

/* P2: slots and bytes are conserved, and each answer goes to its caller. */
TEST(random_requests_cancels_and_ends_lose_no_slot_and_mix_no_answers)
{
        http_run(random_main, NULL);
}
