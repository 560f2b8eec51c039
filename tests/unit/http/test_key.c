/*
 * test_key.c - a connection carries only requests that agree in all that it depends on: scheme,
 * host, port, TLS configuration, and the options of the client (proxies with their credentials,
 * Unix path, given addresses). Random requests: of the key alone, and through the pool.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "../tls/tls_test.h"
#include "eddy/test_net.h"
#include "http/pool.h"
#include "http_test.h"
#include "many_protocol.h"

/* A new option must be added to the random options below if a connection depends on it. */
#define IS_LAST(type, last)                                                                        \
        _Static_assert(offsetof(struct type, reserved) ==                                          \
                               offsetof(struct type, last) + sizeof(((struct type *) 0)->last),    \
                       "test_key.c does not know the newest option of " #type)
/*
 * Hooks may add headers, on which no connection depends. With a handler, all of a client's connections
 * lead to it. A base URL, default headers and bodies become a URL, headers and a body.
 */
IS_LAST(eddy_http_client_opts, ret_fault);
IS_LAST(eddy_http_request, ret_fault);

static bool is_full(void)
{
        return test_is_full();
}

static uint64_t state = 88172645463325252;

/* Returns a random number from 0 to n - 1. */
static unsigned draw(unsigned n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (unsigned) (state >> 33) % n;
}

/* ---- the key alone ----------------------------------------------------------------- */

enum { PAIRS = 1000000, HOST_LONG = 40 };

struct half {
        struct ed_url url;
        eddy_tls_config *tls;
};

static void half_draw(struct half *half)
{
        unsigned bytes = 1 + draw(draw(8) ? 4 : HOST_LONG);

        for (unsigned i = 0; i < bytes; i++)
                half->url.host[i] = "ab.-"[draw(4)];
        half->url.host[bytes] = '\0';
        half->url.host_bytes = (uint16_t) bytes;
        half->url.is_https = draw(2);
        half->url.port = (uint16_t) (draw(2) ? draw(2) ? 80 : 443 : draw(UINT16_MAX + 1));
        half->tls = (eddy_tls_config *) (uintptr_t) (8 * draw(3));
}

/* Change some fields at random, most often none or a single one. */
static void half_change(struct half *half)
{
        struct ed_url *url = &half->url;

        if (draw(6) == 0)
                url->is_https = !url->is_https;
        if (draw(6) == 0)
                url->port ^= (uint16_t) (1 << draw(16));
        if (draw(6) == 0)
                half->tls = (eddy_tls_config *) (uintptr_t) (8 * draw(3));
        if (draw(6) == 0)
                url->host[draw(url->host_bytes)] = "ab.-"[draw(4)];
        if (draw(6) == 0 && url->host_bytes > 1)
                url->host[--url->host_bytes] = '\0';
        if (draw(6) == 0) {
                url->host[url->host_bytes++] = "ab.-"[draw(4)];
                url->host[url->host_bytes] = '\0';
        }
}

/* B2: P1 */
TEST(keys_are_equal_if_and_only_if_no_field_differs)
{
        static struct half halves[2];
        int equal = 0;

        for (int i = 0; i < PAIRS; i++) {
                const struct ed_url *a = &halves[0].url, *b = &halves[1].url;
                struct ed_http_key keys[2];
                bool same;

                half_draw(&halves[0]);
                halves[1] = halves[0];
                half_change(&halves[1]);
                for (int j = 0; j < 2; j++)
                        keys[j] = ed_http_key_of(&halves[j].url, halves[j].tls);
                same = a->is_https == b->is_https && a->port == b->port &&
                       strcmp(a->host, b->host) == 0 &&
                       (!a->is_https || halves[0].tls == halves[1].tls);
                equal += same;
                if (ed_http_key_equal(&keys[0], &keys[1]) != same ||
                    ed_http_key_equal(&keys[1], &keys[0]) != same)
                        test_fail(__FILE__, __LINE__,
                                  "pair %d: %d %s:%d %p and %d %s:%d %p are%s equal", i,
                                  a->is_https, a->host, a->port, (void *) halves[0].tls,
                                  b->is_https, b->host, b->port, (void *) halves[1].tls,
                                  same ? " not" : "");
        }
        CHECK(equal > PAIRS / 8 && equal < PAIRS / 2);
        printf("# %d random pairs of keys, %d of them equal\n", PAIRS, equal);
}

/* ---- through the pool -------------------------------------------------------------- */

enum {
        ROUNDS_FEW = 25,
        ROUNDS_FULL = 500,
        CLIENTS = 4,
        REQUESTS = 100, /* of a round */
        PORTS = 4,      /* 0, 1: servers; 2, 3: proxies */
        PINNED = PORTS, /* the address and port of server 0 by the option 'resolve' */
        PATHS = PINNED + 1,
        LISTENERS = PATHS + 2,
        CONFIGS = 7,
        DOORS = 8, /* more than LISTENERS */
        GROUP = 12,
};

/* Options of a client, by number. */
struct drawn {
        unsigned tls;              /* a configuration: 0, 1 */
        unsigned proxy, tls_proxy; /* of proxies[] */
        unsigned path;             /* 0: none */
        bool no_proxy, pinned;
};

/* An address that is a server, a proxy of both kinds, and a server after the proxy. */
struct door {
        struct world *world;
        eddy_listener *listener;
        int number;
};

struct world {
        eddy_scope *scope;
        eddy_tls_config *server, *configs[CONFIGS];
        struct tls_files files;
        struct door doors[LISTENERS];
        uint16_t ports[PORTS];
        int accepted;
        bool resumed; /* the latest connection with TLS */
        struct drawn drawn[CLIENTS];
        eddy_http_client *clients[CLIENTS];
        char seen[REQUESTS][128]; /* what each connection depends on */
        int seen_count;
        bool is_many; /* the made-up protocol in place of HTTP/1 */
};

static const char *const hosts[] = { "a.test", "b.test", "A.Test", "127.0.0.1" };

/* ---- the servers and proxies ---- */

struct guest {
        struct door *door;
        eddy_stream *stream;
        char buf[1024];
        size_t held;
};

static bool guest_read(struct guest *guest)
{
        int64_t n;

        CHECK(guest->held + 1 < sizeof(guest->buf));
        n = eddy_stream_read(guest->stream, guest->buf + guest->held,
                             sizeof(guest->buf) - guest->held - 1);
        if (n <= 0)
                return false;
        guest->held += (size_t) n;
        guest->buf[guest->held] = '\0';
        return true;
}

static void guest_write(struct guest *guest, const void *data, size_t bytes)
{
        CHECK_EQ(eddy_stream_write(guest->stream, data, bytes), 0);
        guest->held = 0;
}

/* A tunnel through a SOCKS5 proxy, which wants a user name if one is offered. */
static void guest_socks(struct guest *guest)
{
        if (memchr(guest->buf + 2, 2, guest->held - 2)) {
                guest_write(guest, "\5\2", 2);
                CHECK(guest_read(guest));
                guest_write(guest, "\1\0", 2);
        } else {
                guest_write(guest, "\5\0", 2);
        }
        CHECK(guest_read(guest));
        guest_write(guest, "\5\0\0\1\0\0\0\0\0\0", 10);
}

/* The same with the made-up protocol, whose number holds both. */
static void guest_serve_many(struct guest *guest)
{
        struct many_frame frame;
        uint64_t depends = 0;

        for (;;) {
                while (guest->held < sizeof(frame))
                        if (!guest_read(guest))
                                return;
                memcpy(&frame, guest->buf, sizeof(frame));
                guest->held -= sizeof(frame);
                memmove(guest->buf, guest->buf + sizeof(frame), guest->held);
                CHECK(many_is_whole(&frame));
                CHECK_EQ(frame.kind, MANY_ASK);
                CHECK_EQ(frame.topic % DOORS, guest->door->number);
                CHECK(depends == 0 || depends == frame.topic / DOORS);
                depends = frame.topic / DOORS;
                CHECK(many_write(guest->stream, MANY_ANSWER, frame.number, frame.topic));
        }
}

/* Answer requests. All must depend on the same; their header says on what. */
static void guest_serve(struct guest *guest)
{
        char first[128] = "", depends[128], via[32];
        char *header;

        snprintf(via, sizeof(via), "\r\nX-Via: %d\r\n", guest->door->number);
        for (;;) {
                while (!strstr(guest->buf, "\r\n\r\n"))
                        if (!guest_read(guest))
                                return;
                header = strstr(guest->buf, "\r\nX-Depends: ");
                CHECK(header);
                CHECK_EQ(sscanf(header, "\r\nX-Depends: %127s", depends), 1);
                if (!first[0])
                        snprintf(first, sizeof(first), "%s", depends);
                CHECK_STR(depends, first);
                CHECK(strstr(guest->buf, via));
                guest->buf[0] = '\0';
                guest_write(guest, OK_2, strlen(OK_2));
        }
}

struct arrival {
        struct door *door;
        eddy_stream *stream;
};

static int guest_run(void *arg)
{
        const struct arrival *arrival = arg;
        struct guest whole = { arrival->door, arrival->stream, "", 0 }, *guest = &whole;
        struct eddy_tls_conn_opts opts = { .received = guest->buf };
        bool more = guest_read(guest);
        struct eddy_tls_info info;

        if (more && guest->buf[0] == 5) {
                guest_socks(guest);
                more = guest_read(guest);
        } else if (more && strncmp(guest->buf, "CONNECT", 7) == 0) {
                guest_write(guest, "HTTP/1.1 200 OK\r\n\r\n", 19);
                more = guest_read(guest);
        }
        if (more && guest->buf[0] == 22) {
                opts.received_bytes = guest->held;
                CHECK_EQ(eddy_tls_server(guest->stream, guest->door->world->server, &opts,
                                         &guest->stream),
                         0);
                CHECK_EQ(eddy_tls_info(guest->stream, &info), 0);
                guest->door->world->resumed = info.is_resumed;
                guest->held = 0;
                guest->buf[0] = '\0';
        }
        if (more && guest->door->world->is_many)
                guest_serve_many(guest);
        else if (more)
                guest_serve(guest);
        eddy_stream_close(guest->stream);
        return 0;
}

static int door_run(void *arg)
{
        struct door *door = arg;
        struct arrival arrival = { door, NULL };

        while (eddy_listener_accept(door->listener, &arrival.stream) == 0) {
                door->world->accepted++;
                CHECK_EQ(eddy_scope_start_copy(door->world->scope, guest_run, &arrival,
                                               sizeof(arrival)),
                         0);
        }
        return 0;
}

static void doors_open(struct world *world)
{
        for (int i = 0; i < LISTENERS; i++) {
                struct door *door = &world->doors[i];

                *door = (struct door){ world, NULL, i };
                if (i < PORTS) {
                        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &door->listener), 0);
                        world->ports[i] = (uint16_t) eddy_listener_port(door->listener);
                } else if (i == PINNED) {
                        CHECK_EQ(eddy_tcp_listen("127.0.0.2", world->ports[0], NULL,
                                                 &door->listener),
                                 0);
                } else {
                        CHECK_EQ(eddy_unix_listen(i == PATHS ? "@one" : "@two", NULL,
                                                  &door->listener),
                                 0);
                }
                CHECK_EQ(eddy_scope_start(world->scope, door_run, door), 0);
        }
}

/* ---- clients and requests ---- */

enum { PROXIES = 8 };

/* Write a proxy's URL; returns NULL for none. */
static const char *proxy_text(const struct world *world, unsigned proxy, char out[64])
{
        static const char *const starts[PROXIES] = {
                "127.0.0.1",
                "127.0.0.1",
                "127.0.0.1",
                "u:p@127.0.0.1",
                "u:q@127.0.0.1",
                "socks5://127.0.0.1",
                "socks5://u:p@127.0.0.1",
                "localhost",
        };

        snprintf(out, 64, "%s:%u", starts[proxy], world->ports[proxy == 2 ? PORTS - 1 : PORTS - 2]);
        return proxy ? out : NULL;
}

static struct drawn client_draw(void)
{
        return (struct drawn){ .tls = draw(2),
                               .proxy = draw(PROXIES),
                               .tls_proxy = draw(PROXIES),
                               .path = draw(3) ? 0 : 1 + draw(2),
                               .no_proxy = draw(2),
                               .pinned = draw(2) };
}

static void client_make(struct world *world, int number)
{
        const struct drawn *drawn = &world->drawn[number];
        char proxy[64], tls_proxy[64], pinned[64];
        const char *resolve = pinned;
        struct eddy_http_client_opts opts = { .connections_max = 1000,
                                              .idle_timeout_ns = EDDY_SEC(3600),
                                              .resolve = &resolve };

        snprintf(pinned, sizeof(pinned), "a.test:%u:127.0.0.2", world->ports[0]);
        opts.tls = world->configs[drawn->tls];
        opts.http_proxy = proxy_text(world, drawn->proxy, proxy);
        opts.https_proxy = proxy_text(world, drawn->tls_proxy, tls_proxy);
        opts.no_proxy = drawn->no_proxy ? "b.test" : NULL;
        opts.unix_path = drawn->path == 0 ? NULL : drawn->path == 1 ? "@one" : "@two";
        opts.resolve_count = drawn->pinned;
        CHECK_EQ(eddy_http_client_new(&opts, &world->clients[number]), 0);
        if (world->is_many)
                many_offer(world->clients[number], NULL);
}

/* Returns the number of the listener that a request must reach. */
static int door_of(const struct drawn *drawn, bool is_https, const char *host, unsigned port)
{
        unsigned proxy = is_https ? drawn->tls_proxy : drawn->proxy;

        if (drawn->path)
                return PATHS + (int) drawn->path - 1;
        if (drawn->no_proxy && strcmp(host, "b.test") == 0)
                proxy = 0;
        if (proxy)
                return proxy == 2 ? PORTS - 1 : PORTS - 2;
        return drawn->pinned && port == 0 && host[1] == '.' && (host[0] | 32) == 'a' ? PINNED
                                                                                     : (int) port;
}

/* Returns true if an earlier request of the round depends on the same. */
static bool was_seen(struct world *world, const char *depends)
{
        for (int i = 0; i < world->seen_count; i++)
                if (strcmp(world->seen[i], depends) == 0)
                        return true;
        snprintf(world->seen[world->seen_count++], sizeof(world->seen[0]), "%s", depends);
        return false;
}

/* A request, by numbers. */
struct question {
        unsigned client, host, port, tls; /* of hosts[], servers, configurations */
        bool is_https, is_user;
};

static struct question question_draw(void)
{
        return (struct question){ .client = draw(CLIENTS),
                                  .host = draw(4),
                                  .port = draw(2),
                                  .tls = draw(CONFIGS + 1),
                                  .is_https = draw(2),
                                  .is_user = draw(2) };
}

/* Write all that the connection depends on. Two spellings of a host are equal. */
static void question_text(const struct world *world, const struct question *question, char out[128])
{
        unsigned tls = question->tls < CONFIGS ? question->tls : world->drawn[question->client].tls;

        snprintf(out, 128, "client%u-%s-%s-%u-tls%u", question->client,
                 question->is_https ? "https" : "http",
                 hosts[question->host == 2 ? 0 : question->host], question->port,
                 question->is_https ? tls : 0);
}

/* Returns the number of a request of the made-up protocol. */
static uint64_t topic_of(const char *depends, int door)
{
        uint64_t hash = 14695981039346656037u;

        for (; *depends; depends++)
                hash = (hash ^ (unsigned char) *depends) * 1099511628211u;
        return (hash >> 20) * DOORS + (uint64_t) door; /* below MANY_STATUS(1) */
}

static void question_send(struct world *world, const struct question *question)
{
        const struct drawn *drawn = &world->drawn[question->client];
        const char *host = hosts[question->host];
        int door = door_of(drawn, question->is_https, host, question->port);
        char url[128], depends[128], via[32], topic[32];
        struct eddy_http_header headers[] = { { "X-Depends", depends },
                                              { "X-Via", via },
                                              { "X-Topic", topic } };
        struct eddy_http_request request = { .url = url, .headers = headers, .headers_count = 3 };
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        /* The credentials of a URL belong to the request, not to the connection. */
        snprintf(url, sizeof(url), "%s://%s%s:%u/", question->is_https ? "https" : "http",
                 question->is_user ? "user@" : "", host, world->ports[question->port]);
        question_text(world, question, depends);
        snprintf(via, sizeof(via), "%d", door);
        snprintf(topic, sizeof(topic), "%llu", (unsigned long long) topic_of(depends, door));
        if (question->tls < CONFIGS)
                request.tls = world->configs[question->tls];
        CHECK_EQ(eddy_http_client_send(world->clients[question->client], &request, &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        if (world->is_many)
                CHECK_STR(body, topic);
        eddy_http_response_close(response);
}

/* A request opens a connection only if none before it depends on the same. */
static void question_check(struct world *world, const struct question *question)
{
        int before = world->accepted;
        char depends[128];
        bool is_new;

        question_text(world, question, depends);
        is_new = !was_seen(world, depends);
        question_send(world, question);
        if (world->accepted - before != is_new)
                test_fail(__FILE__, __LINE__, "%d connections for %s, which is %s",
                          world->accepted - before, depends, is_new ? "new" : "not new");
}

struct asked {
        struct world *world;
        struct question question;
};

static int asked_run(void *arg)
{
        const struct asked *asked = arg;

        question_send(asked->world, &asked->question);
        return 0;
}

/* Several at once, which share connections if they depend on the same. */
static void group_check(struct world *world)
{
        struct asked asked = { .world = world };
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < GROUP; i++) {
                if (i % 3 == 0)
                        asked.question = question_draw();
                CHECK_EQ(eddy_scope_start_copy(&scope, asked_run, &asked, sizeof(asked)), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
}

/* ---- configurations of TLS ---- */

static void configs_make(struct world *world)
{
        struct eddy_tls_opts server = { .flags = EDDY_TLS_SERVER };
        struct eddy_tls_opts opts[CONFIGS] = { { .flags = 0 } };
        char other[160];

        tls_files_make(&world->files, "a.test,b.test,127.0.0.1");
        server.cert_file = world->files.cert;
        server.key_file = world->files.key;
        CHECK_EQ(eddy_tls_config_new(&server, NULL, &world->server), 0);
        snprintf(other, sizeof(other), "%s/twice.pem", tls_folder());
        tls_shell("cat %s %s > twice.pem", world->files.cert, world->files.cert);
        for (int i = 0; i < CONFIGS; i++)
                opts[i].ca_file = world->files.cert;
        /* 1: another configuration of the same options, with its own sessions */
        opts[2].ca_file = other;
        opts[3].flags = EDDY_TLS_INSECURE;
        opts[4].version_min = EDDY_TLS_1_2;
        opts[5].version_min = EDDY_TLS_1_3;
        opts[6].cert_file = world->files.cert;
        opts[6].key_file = world->files.key;
        for (int i = 0; i < CONFIGS; i++)
                CHECK_EQ(eddy_tls_config_new(&opts[i], NULL, &world->configs[i]), 0);
}

static void configs_close(struct world *world)
{
        eddy_tls_config_close(world->server);
        for (int i = 0; i < CONFIGS; i++)
                eddy_tls_config_close(world->configs[i]);
}

/* Run 'fn' in a world. */
static void world_run(void (*fn)(struct world *world), bool is_many)
{
        static const struct eddy_address here = { .family = AF_INET, .bytes = { 127, 0, 0, 1 } };
        static struct world world;
        eddy_scope scope;

        world = (struct world){ .scope = &scope, .is_many = is_many };
        many_begin(&scope);
        CHECK_EQ(eddy_test_name_add("a.test", &here, 1), 0);
        CHECK_EQ(eddy_test_name_add("b.test", &here, 1), 0);
        configs_make(&world);
        eddy_scope_begin(&scope, NULL);
        doors_open(&world);
        fn(&world);
        eddy_scope_cancel(&scope);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < LISTENERS; i++)
                eddy_listener_close(world.doors[i].listener);
        configs_close(&world);
}

static void rounds(struct world *world)
{
        int n = is_full() ? ROUNDS_FULL : ROUNDS_FEW;

        for (int i = 0; i < n; i++) {
                world->seen_count = 0;
                for (int j = 0; j < CLIENTS; j++) {
                        world->drawn[j] = client_draw();
                        client_make(world, j);
                }
                for (int j = 0; j < REQUESTS; j++) {
                        struct question question = question_draw();

                        question_check(world, &question);
                }
                for (int j = 0; world->is_many && j < CLIENTS; j++)
                        group_check(world);
                for (int j = 0; j < CLIENTS; j++)
                        eddy_http_client_close(world->clients[j]);
        }
        printf("# %d rounds of %d random requests, %d connections\n", n, REQUESTS, world->accepted);
}

static int rounds_main(void *arg)
{
        world_run(rounds, arg != NULL);
        return 0;
}

/* B2: P1 */
TEST(connection_carries_only_requests_that_agree_in_all_it_depends_on)
{
        http_run(rounds_main, NULL);
}

/* P1, with connections of many slots, and several requests at once. */
TEST(connection_of_many_slots_carries_only_requests_that_agree_too)
{
        static int many_slots;

        http_run(rounds_main, &many_slots);
}

/* ---- sessions of TLS ----------------------------------------------------------------- */

/* Change one thing of a client or its request, or nothing. */
static void pair_change(struct drawn *drawn, struct question *question)
{
        struct drawn other = client_draw();

        switch (draw(9)) {
        case 0:
        case 7:
        case 8:
                drawn->tls_proxy = other.tls_proxy;
                break;
        case 1:
                drawn->path = other.path;
                break;
        case 2:
                drawn->no_proxy = other.no_proxy;
                break;
        case 3:
                drawn->pinned = other.pinned;
                break;
        case 4:
                question->host = draw(4);
                break;
        case 5:
                question->port = draw(2);
                break;
        default:
                break;
        }
}

/* Write what a session depends on, within one configuration. */
static void session_text(const struct drawn *drawn, const struct question *question, char out[64])
{
        static const unsigned ways[PROXIES] = { 0, 1, 2, 3, 3, 4, 5, 6 }; /* without passwords */
        const char *host = hosts[question->host == 2 ? 0 : question->host];
        bool is_direct = drawn->no_proxy && strcmp(host, "b.test") == 0;

        if (drawn->path)
                snprintf(out, 64, "%s %u path %u", host, question->port, drawn->path);
        else
                snprintf(out, 64, "%s %u by %u", host, question->port,
                         is_direct ? 0 : ways[drawn->tls_proxy]);
}

/* Two clients share a configuration, one after the other. */
static void session_pair(struct world *world, int *resumed)
{
        struct eddy_tls_opts opts = { .ca_file = world->files.cert };
        struct question question = question_draw();
        char texts[2][64];

        question.is_https = true;
        question.tls = 0;
        world->drawn[0] = client_draw();
        eddy_tls_config_close(world->configs[0]);
        CHECK_EQ(eddy_tls_config_new(&opts, NULL, &world->configs[0]), 0);
        for (int i = 0; i < 2; i++) {
                question.client = (unsigned) i;
                if (i == 1) {
                        world->drawn[1] = world->drawn[0];
                        pair_change(&world->drawn[1], &question);
                }
                session_text(&world->drawn[i], &question, texts[i]);
                client_make(world, i);
                question_send(world, &question);
                eddy_http_client_close(world->clients[i]);
        }
        *resumed += world->resumed;
        if (world->resumed != (strcmp(texts[0], texts[1]) == 0))
                test_fail(__FILE__, __LINE__, "a session of \"%s\" %s \"%s\"", texts[0],
                          world->resumed ? "was used for" : "was not used for", texts[1]);
}

static void sessions(struct world *world)
{
        /* Two handshakes each, which take long under Valgrind. */
        int pairs = is_full() ? 20000 : getenv("EDDY_TEST_VALGRIND") ? 200 : 1000, resumed = 0;

        for (int i = 0; i < pairs; i++)
                session_pair(world, &resumed);
        CHECK(resumed > pairs / 8 && resumed < pairs * 3 / 4);
        printf("# %d random pairs of requests, %d of them with the same session\n", pairs, resumed);
}

static int sessions_main(void *arg)
{
        (void) arg;
        world_run(sessions, false);
        return 0;
}

/* S2 */
TEST(session_is_resumed_only_by_requests_with_the_same_host_port_and_proxy)
{
        http_run(sessions_main, NULL);
}
