/*
 * test_slots_random.c - a made-up protocol of 8 slots on the simulated network, by chance: requests,
 * cancels, connections that end or drain, numbers of slots that change. Exchanges of the pool alone, and
 * calls through all layers, with answers that are redirects, refused credentials and failures.
 *
 * Each answer names the request's number and the server's port.
 */
#include <stdlib.h>

#include "http/opening.h"
#include "http/pool_origin.h"
#include "http_test.h"
#include "many_protocol.h"

enum {
        CALLERS = 40,
        PORTS = 3,
        CONNECTIONS_MAX = 6,
        PER_HOST_MAX = 3,
        IDLE_MAX = 2,
        EXCHANGES_FEW = 20000,
        EXCHANGES_FULL = 1000000,
        PORTS_MAX = 1 << 16,
};

static struct {
        eddy_http_client *client;
        eddy_listener *listeners[PORTS];
        eddy_scope *scope;
        uint64_t random;
        int exchanges, left;
        int kinds[MANY_KINDS]; /* results of requests; MANY_CANCEL: cancelled */
        int asked;
        uint64_t bytes_got; /* by the servers */
        bool has_layers;
        eddy_http_auth *auth;
        int redirects, tokens;
} world;

static uint32_t draw(uint32_t below)
{
        world.random ^= world.random << 13;
        world.random ^= world.random >> 7;
        world.random ^= world.random << 17;
        return (uint32_t) (world.random >> 33) % below;
}

/* ---- the server -------------------------------------------------------------- */

struct served {
        eddy_stream *stream;
        eddy_scope *scope;
        uint32_t port;
        uint64_t active[MANY_SLOTS]; /* numbers of requests; 0: free */
};

struct answer {
        struct served *served;
        uint64_t number, topic;
};

/* Replace a number. Returns false if no such request is active. */
static bool served_replace(struct served *served, uint64_t from, uint64_t to)
{
        for (int i = 0; i < MANY_SLOTS; i++) {
                if (served->active[i] == from) {
                        served->active[i] = to;
                        return true;
                }
        }
        return false;
}

/* Make some answers of calls through the layers redirects, and others refuse the credentials. */
static uint64_t topic_draw(uint64_t topic)
{
        uint32_t chance = world.has_layers ? draw(16) : 16;

        world.redirects += chance == 1;
        return topic + (chance == 0 ? MANY_STATUS(401) : chance == 1 ? MANY_STATUS(302) : 0);
}

static int answer_run(void *arg)
{
        const struct answer *answer = arg;
        struct served *served = answer->served;

        if (eddy_sleep(draw(2) ? 0 : EDDY_US(draw(2000))) < 0 ||
            !served_replace(served, answer->number, 0))
                return 0;
        (void) many_write(served->stream, draw(50) ? MANY_ANSWER : MANY_REFUSED, answer->number,
                          topic_draw(answer->topic));
        return 0;
}

static int slots_return(void *arg)
{
        struct served *served = *(struct served **) arg;

        if (eddy_sleep(EDDY_MS(1)) == 0)
                (void) many_write(served->stream, MANY_SLOTS_ARE, 0, MANY_SLOTS);
        return 0;
}

/* A request has come. Returns false if the connection ends abruptly. */
static bool served_ask(struct served *served, const struct many_frame *frame)
{
        struct answer answer = { served, frame->number, frame->topic };
        uint32_t slots;

        CHECK_EQ(frame->topic % PORTS_MAX, served->port);
        CHECK(served_replace(served, 0, frame->number));
        CHECK_EQ(eddy_scope_start_copy(served->scope, answer_run, &answer, sizeof(answer)), 0);
        if (draw(100) == 0) {
                slots = draw(MANY_SLOTS + 1);
                (void) many_write(served->stream, MANY_SLOTS_ARE, 0, slots);
                if (slots == 0)
                        CHECK_EQ(eddy_scope_start_copy(served->scope, slots_return, &served,
                                                       sizeof(served)),
                                 0);
        }
        if (draw(200) == 0)
                (void) many_write(served->stream, MANY_GOAWAY, 0, 0);
        return draw(500) != 0;
}

static int served_run(void *arg)
{
        struct served served = *(struct served *) arg;
        struct many_frame frame;
        eddy_scope scope;
        bool goes_on = true;

        eddy_scope_begin(&scope, NULL);
        served.scope = &scope;
        while (goes_on && many_read(served.stream, &frame)) {
                world.bytes_got += sizeof(frame);
                if (frame.kind == MANY_ASK)
                        goes_on = served_ask(&served, &frame);
                else
                        (void) served_replace(&served, frame.number, 0);
        }
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        /* The rest of the bytes, after an abrupt end. */
        (void) eddy_stream_shutdown(served.stream);
        while (many_read(served.stream, &frame))
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
        enum many_kind result;
        uint64_t topic;
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
        CHECK(conn->lent <= MANY_SLOTS);
        world.asked++;
        result = many_ask(conn, port, &topic);
        world.kinds[result]++;
        if (result == MANY_ANSWER || result == MANY_REFUSED)
                CHECK_EQ(topic, port);
        ed_http_pool_release(conn, result != MANY_BROKEN && draw(100) > 0);
        check_pool();
        return (int) result;
}

/* The same with a call through all layers, whose topic is its own. */
static int call_once(uint32_t port)
{
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        uint64_t topic = (uint64_t) ++world.asked * PORTS_MAX + port;
        char url[64], text[24];
        struct eddy_http_header header = { "X-Topic", text };
        struct eddy_http_request request = { .url = url, .headers = &header, .headers_count = 1 };
        enum many_kind result = MANY_ANSWER;
        const void *body;
        size_t bytes;
        int err;

        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", port);
        snprintf(text, sizeof(text), "%llu", (unsigned long long) topic);
        err = eddy_http_client_send(world.client, &request, &response);
        check_pool();
        if (err == 0) {
                CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
                CHECK_STR(body, text);
                if (eddy_http_response_status(response) != 200)
                        result = MANY_REFUSED;
        } else {
                CHECK(err == -ECANCELED || err == EDDY_E_HTTP_CLOSED);
                result = err == -ECANCELED ? MANY_CANCEL : MANY_BROKEN;
        }
        world.kinds[result]++;
        return (int) result;
}

static int exchange_run(void *arg)
{
        uint32_t port = (uint32_t) eddy_listener_port(world.listeners[draw(PORTS)]);
        int result;

        (void) arg;
        do
                result = world.has_layers ? call_once(port) : exchange_once(port);
        while (result == MANY_REFUSED || result == MANY_BROKEN);
        return result == MANY_CANCEL ? -ECANCELED : result < 0 ? result : 0;
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

static int refresh(eddy_http_auth *auth, void *arg)
{
        char token[32];

        (void) arg;
        if (eddy_sleep(EDDY_US(draw(2000))) < 0)
                return -ECANCELED;
        snprintf(token, sizeof(token), "token%d", ++world.tokens);
        return eddy_http_auth_set_token(auth, token, 0);
}

static void world_open(void)
{
        static const struct eddy_retry_policy retry = { .base_ns = EDDY_US(100) };
        struct eddy_http_client_opts opts = { .connections_max = CONNECTIONS_MAX,
                                              .per_host_max = PER_HOST_MAX,
                                              .idle_max = IDLE_MAX,
                                              .idle_timeout_ns = EDDY_MS(5) };

        if (world.has_layers) {
                CHECK_EQ(eddy_http_auth_new(&(struct eddy_http_auth_opts){ .refresh = refresh },
                                            &world.auth),
                         0);
                opts.auth = world.auth;
                opts.retry = &retry;
                opts.redirects_max = 20;
        }
        world.random = 88172645463325252u;
        world.exchanges = test_is_full() ? EXCHANGES_FULL : EXCHANGES_FEW;
        world.left = world.exchanges;
        CHECK_EQ(eddy_http_client_new(&opts, &world.client), 0);
        many_offer(world.client, NULL);
        for (int i = 0; i < PORTS; i++) {
                CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &world.listeners[i]), 0);
                CHECK_EQ(eddy_scope_start(world.scope, listener_run, &world.listeners[i]), 0);
        }
}

static int random_main(void *arg)
{
        eddy_scope servers, callers;

        memset(&world, 0, sizeof(world));
        world.has_layers = arg != NULL;
        eddy_scope_begin(&servers, NULL);
        world.scope = &servers;
        many_begin(&servers);
        world_open();
        eddy_scope_begin(&callers, NULL);
        for (int i = 0; i < CALLERS; i++)
                CHECK_EQ(eddy_scope_start(&callers, caller_run, NULL), 0);
        CHECK_EQ(eddy_scope_end(&callers), 0);
        CHECK_EQ(world.client->pool.in_use, 0);
        CHECK_EQ(world.client->pool.waiting, 0);
        eddy_http_client_close(world.client);
        eddy_http_auth_free(world.auth);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(many.readers, 0);
        CHECK_EQ(world.bytes_got, many.bytes_sent);
        CHECK_EQ(world.asked, world.kinds[MANY_ANSWER] + world.kinds[MANY_REFUSED] +
                                      world.kinds[MANY_CANCEL] + world.kinds[MANY_BROKEN]);
        for (int i = 0; i < PORTS; i++)
                eddy_listener_close(world.listeners[i]);
        eddy_scope_cancel(&servers);
        (void) eddy_scope_end(&servers);
        printf("# %d requests: %d answered, %d refused, %d cancelled, %d broken, %d answers late\n",
               world.asked, world.kinds[MANY_ANSWER], world.kinds[MANY_REFUSED],
               world.kinds[MANY_CANCEL], world.kinds[MANY_BROKEN], many.late);
        if (world.has_layers)
                printf("# of them with %d redirects and %d tokens\n", world.redirects,
                       world.tokens);
        CHECK(!world.has_layers ||
              (world.redirects > world.exchanges / 50 && world.tokens > world.exchanges / 200));
        return 0;
}

/* P2: slots and bytes are conserved, and each answer goes to its caller. */
TEST(random_requests_cancels_and_ends_lose_no_slot_and_mix_no_answers)
{
        http_run(random_main, NULL);
}

/* P2, with redirects, credentials and retries. */
TEST(random_calls_through_all_layers_lose_no_slot_and_mix_no_answers)
{
        static int layers;

        http_run(random_main, &layers);
}
