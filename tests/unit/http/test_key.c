/*
 * test_key.c - a connection carries only requests that agree in all that it depends on: scheme,
 * host, port, TLS configuration, and the options of the client (proxies with their credentials,
 * Unix path, given addresses). Random requests: of the key alone, through the pool, and through all layers,
 * which must also send each secret to its own client's origin only.
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
/* Hooks may add headers, on which no connection depends. Bodies become a body and headers. */
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
                keys[1].only_http1 = draw(6) == 0;
                same = !keys[1].only_http1 && a->is_https == b->is_https && a->port == b->port &&
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
        ROUNDS_FEW = 12,
        ROUNDS_FULL = 500,
        CLIENTS = 4,
        REQUESTS = 100,  /* of a round */
        LAYERED_FEW = 4, /* rounds of LAYERED_REQUESTS_FEW requests */
        LAYERED_FULL = 250,
        LAYERED_REQUESTS_FEW = 1000,
        LAYERED_REQUESTS_FULL = 4000,
        REDIRECTS_MAX = 3,
        SEEN_MAX = 400,
        TEXT_BYTES = 256,
        PORTS = 4,      /* 0, 1: servers; 2, 3: proxies */
        PINNED = PORTS, /* the address and port of server 0 by the option 'resolve' */
        PATHS = PINNED + 1,
        LISTENERS = PATHS + 2,
        CONFIGS = 7,
        DOORS = 8, /* more than LISTENERS */
        GROUP = 12,
};

/* A request, by numbers. */
struct question {
        unsigned client, host, port, tls; /* of hosts[], servers, configurations */
        bool is_https, is_user;
        bool is_relative,
                has_auth; /* through the layers: relative to the base URL; a token of its own */
};

/* Options of a client, by number. */
struct drawn {
        unsigned tls;              /* a configuration: 0, 1 */
        unsigned proxy, tls_proxy; /* of proxies[] */
        unsigned path;             /* 0: none */
        bool no_proxy, pinned;
        /* of the layers */
        struct question base; /* with 'has_base' */
        enum { AUTH_NONE, AUTH_TOKEN, AUTH_REFRESH, AUTHS } auth;
        bool has_base, has_key, has_jar, redirects, retries, is_limited, has_handler;
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
        char seen[SEEN_MAX][128]; /* what each connection depends on */
        int seen_count;
        bool is_many;          /* the made-up protocol in place of HTTP/1 */
        bool is_busy, refuses; /* the next request gets 503; 401, if it has a client's token */
        eddy_http_auth *auths[CLIENTS + 1]; /* the last one: of a request */
        eddy_http_cookies *jars[CLIENTS];
        eddy_limiter *limiter;
        eddy_breaker breaker;
        int redirected, repeated, refused, cookies, handled;
};

static const char *const hosts[] = { "a.test", "b.test", "A.Test", "127.0.0.1" };

/* ---- the servers and proxies ---- */

struct guest {
        struct door *door;
        eddy_stream *stream;
        char buf[2048];
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

/* A header of a request; "none" if the request does not have it. */
static void header_read(const char *head, const char *name, char out[TEXT_BYTES])
{
        char line[32];
        const char *at;

        snprintf(line, sizeof(line), "\r\n%s: ", name);
        at = strcasestr(head, line);
        snprintf(out, TEXT_BYTES, "none");
        if (at)
                CHECK_EQ(sscanf(at + strlen(line), "%255[^\r]", out), 1);
}

/* What a request must have and depend on, by its header X-Want-N, where N is the end of its path. */
struct want {
        char depends[128], auth[128], key[128], cookie[128];
        int door;
};

static void want_read(const char *head, char hop, struct want *ret_want)
{
        char name[] = "X-Want-N", text[TEXT_BYTES];

        name[sizeof(name) - 2] = hop;
        header_read(head, name, text);
        CHECK_EQ(sscanf(text, "%s %d %s %s %s", ret_want->depends, &ret_want->door, ret_want->auth,
                        ret_want->key, ret_want->cookie),
                 5);
}

/* The secrets are those of the request's client, and only for their origin. */
static void guest_check(const struct guest *guest, const struct want *want)
{
        char text[TEXT_BYTES];

        CHECK_EQ(want->door, guest->door->number);
        header_read(guest->buf, "Authorization", text);
        CHECK_STR(strncmp(text, "Bearer ", 7) == 0 ? text + 7
                  : strcmp(text, "Basic dXNlcjo=") ? text
                                                   : "user",
                  want->auth);
        header_read(guest->buf, "X-Api-Key", text);
        CHECK_STR(text, want->key);
        header_read(guest->buf, "Cookie", text);
        if (strcmp(text, "none") != 0) {
                CHECK_STR(text, want->cookie);
                guest->door->world->cookies++;
        }
}

/* Answer requests. All must depend on the same. */
static void guest_serve(struct guest *guest)
{
        struct world *world = guest->door->world;
        char first[128] = "", location[TEXT_BYTES], answer[3 * TEXT_BYTES];
        struct want want;
        char hop;

        for (;;) {
                int status = 200;

                while (!strstr(guest->buf, "\r\n\r\n"))
                        if (!guest_read(guest))
                                return;
                hop = strstr(guest->buf, " HTTP/1.1\r\n")[-1];
                want_read(guest->buf, hop, &want);
                if (!first[0])
                        snprintf(first, sizeof(first), "%s", want.depends);
                CHECK_STR(want.depends, first);
                guest_check(guest, &want);
                header_read(guest->buf, "X-Location", location);
                if (world->is_busy)
                        status = 503;
                else if (world->refuses && strncmp(want.auth, "client", 6) == 0)
                        status = 401;
                else if (hop == '0' && strcmp(location, "none") != 0)
                        status = 302;
                world->is_busy &= status != 503;
                world->refuses &= status != 401;
                world->repeated += status == 503;
                world->refused += status == 401;
                world->redirected += status == 302;
                snprintf(answer, sizeof(answer),
                         "HTTP/1.1 %d X\r\nContent-Length: 2\r\nSet-Cookie: %s; Path=/\r\n"
                         "WWW-Authenticate: Bearer\r\nLocation: %s\r\n\r\nok",
                         status, want.cookie, location);
                guest->buf[0] = '\0';
                guest_write(guest, answer, strlen(answer));
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

static struct question question_draw(void)
{
        return (struct question){ .client = draw(CLIENTS),
                                  .host = draw(4),
                                  .port = draw(2),
                                  .tls = draw(CONFIGS + 1),
                                  .is_https = draw(2),
                                  .is_user = draw(2) };
}

/* ---- layers of a client ---- */

static void url_write(const struct world *world, const struct question *question, const char *user,
                      const char *path, char out[128])
{
        snprintf(out, 128, "%s://%s%s:%u%s", question->is_https ? "https" : "http", user,
                 hosts[question->host], world->ports[question->port], path);
}

static int refresh(eddy_http_auth *auth, void *arg)
{
        char token[32];

        snprintf(token, sizeof(token), "client%u", *(unsigned *) arg);
        return eddy_http_auth_set_token(auth, token, 0);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        const struct door *door = arg;
        const char *want = eddy_http_exchange_header(exchange, "X-Want-0");
        char client[32];

        snprintf(client, sizeof(client), "client%d-", door->number);
        CHECK(want && strncmp(want, client, strlen(client)) == 0);
        door->world->handled++;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

/* Draw options that change no connection, but which requests it carries. */
static void layers_draw(struct drawn *drawn)
{
        drawn->has_base = draw(2);
        drawn->base = question_draw();
        drawn->auth = draw(AUTHS);
        drawn->has_key = draw(2);
        drawn->has_jar = draw(2);
        drawn->redirects = draw(4) > 0;
        drawn->retries = draw(2);
        drawn->is_limited = draw(2);
        drawn->has_handler = draw(12) == 0;
}

static void auth_make(struct world *world, int number, eddy_http_auth **ret_auth)
{
        static const unsigned numbers[CLIENTS] = { 0, 1, 2, 3 };
        struct eddy_http_auth_opts opts = { .arg = (void *) (uintptr_t) &numbers[number] };
        char token[32];

        snprintf(token, sizeof(token), "client%d", number);
        if (world->drawn[number].auth == AUTH_REFRESH)
                opts.refresh = refresh;
        else
                opts.token = token;
        CHECK_EQ(eddy_http_auth_new(&opts, ret_auth), 0);
}

/* Add the layers to the options of a client. */
static void layers_make(struct world *world, int number, struct eddy_http_client_opts *opts)
{
        static const struct eddy_retry_policy retry = { .base_ns = -1 };
        static struct door doors[CLIENTS];
        const struct drawn *drawn = &world->drawn[number];

        doors[number] = (struct door){ .world = world, .number = number };
        if (drawn->auth != AUTH_NONE)
                auth_make(world, number, &world->auths[number]);
        if (drawn->has_jar)
                CHECK_EQ(eddy_http_cookies_new(&world->jars[number]), 0);
        opts->auth = world->auths[number];
        opts->cookies = world->jars[number];
        opts->redirects_max = drawn->redirects ? REDIRECTS_MAX : 0;
        opts->retry = drawn->retries ? &retry : NULL;
        opts->limiter = drawn->is_limited ? world->limiter : NULL;
        opts->breaker = drawn->is_limited ? &world->breaker : NULL;
        opts->handler = drawn->has_handler ? handle : NULL;
        opts->handler_arg = &doors[number];
        opts->flags = EDDY_HTTP_REDIRECT_TO_HTTP;
}

static void client_make(struct world *world, int number)
{
        const struct drawn *drawn = &world->drawn[number];
        char proxy[64], tls_proxy[64], pinned[64], base[128], key[32];
        const struct eddy_http_header header = { "X-Api-Key", key };
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
        url_write(world, &drawn->base, "", "/base", base);
        opts.base_url = drawn->has_base ? base : NULL;
        snprintf(key, sizeof(key), "client%d", number);
        opts.headers = &header;
        opts.headers_count = drawn->has_key;
        layers_make(world, number, &opts);
        CHECK_EQ(eddy_http_client_new(&opts, &world->clients[number]), 0);
        if (world->is_many)
                many_offer(world->clients[number], NULL);
}

static void client_close(struct world *world, int number)
{
        eddy_http_client_close(world->clients[number]);
        eddy_http_auth_free(world->auths[number]);
        eddy_http_cookies_free(world->jars[number]);
        world->auths[number] = NULL;
        world->jars[number] = NULL;
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

static bool is_same_origin(const struct question *a, const struct question *b)
{
        return a->is_https == b->is_https && a->port == b->port &&
               strcasecmp(hosts[a->host], hosts[b->host]) == 0;
}

/* Write what the request to a place must have; 'first' is the one before its redirect, or the same. */
static void want_write(const struct world *world, const struct question *question,
                       const struct question *first, char out[TEXT_BYTES])
{
        const struct drawn *drawn = &world->drawn[first->client];
        bool stays = is_same_origin(question, first);
        bool is_base = stays && (!drawn->has_base || is_same_origin(first, &drawn->base));
        const char *host = hosts[question->host];
        char depends[128], own[16], cookie[64] = "none";
        const char *auth = "none";

        question_text(world, question, depends);
        snprintf(own, sizeof(own), "client%u", first->client);
        if (stays && first->has_auth)
                auth = "own";
        else if (stays && first->is_user)
                auth = "user";
        else if (is_base && drawn->auth != AUTH_NONE)
                auth = own;
        if (drawn->has_jar)
                snprintf(cookie, sizeof(cookie), "who=%s-%s", own,
                         question->host == 2 ? hosts[0] : host);
        snprintf(out, TEXT_BYTES, "%s %d %s %s %s", depends,
                 door_of(drawn, question->is_https, host, question->port), auth,
                 is_base && drawn->has_key ? own : "none", cookie);
}

/* Send a request, which is redirected to 'next'; NULL: which is not. */
static void question_send(struct world *world, const struct question *question,
                          const struct question *next)
{
        const struct drawn *drawn = &world->drawn[question->client];
        char url[128], wants[2][TEXT_BYTES], location[128], topic[32], depends[128];
        struct eddy_http_header headers[] = { { "X-Topic", topic },
                                              { "X-Want-0", wants[0] },
                                              { "X-Want-1", wants[1] },
                                              { "X-Location", location } };
        struct eddy_http_request request = { .url = question->is_relative ? "0" : url,
                                             .headers = headers,
                                             .headers_count = next ? 4 : 2 };
        eddy_http_response *response;
        const void *body;
        size_t bytes;

        /* The credentials of a URL belong to the request, not to the connection. */
        url_write(world, question, question->is_user ? "user@" : "", "/0", url);
        question_text(world, question, depends);
        want_write(world, question, question, wants[0]);
        snprintf(topic, sizeof(topic), "%llu",
                 (unsigned long long) topic_of(depends,
                                               door_of(drawn, question->is_https,
                                                       hosts[question->host], question->port)));
        if (next) {
                want_write(world, next, question, wants[1]);
                url_write(world, next, "", "/1", location);
        }
        if (question->tls < CONFIGS)
                request.tls = world->configs[question->tls];
        if (question->has_auth)
                request.auth = world->auths[CLIENTS];
        CHECK_EQ(eddy_http_client_send(world->clients[question->client], &request, &response), 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        if (world->is_many)
                CHECK_STR(body, topic);
        eddy_http_response_close(response);
}

/* Returns how many connections the request must open: 1 if none before it depends on the same. */
static int is_new(struct world *world, const struct question *question)
{
        char depends[128];

        question_text(world, question, depends);
        return !was_seen(world, depends);
}

static void question_check(struct world *world, const struct question *question,
                           const struct question *next)
{
        int before = world->accepted, news = 0;
        char depends[128];

        if (!world->drawn[question->client].has_handler)
                news = is_new(world, question) + (next && is_new(world, next));
        question_send(world, question, next);
        question_text(world, question, depends);
        if (world->accepted - before != news)
                test_fail(__FILE__, __LINE__, "%d connections instead of %d for %s",
                          world->accepted - before, news, depends);
}

struct asked {
        struct world *world;
        struct question question;
};

static int asked_run(void *arg)
{
        const struct asked *asked = arg;

        question_send(asked->world, &asked->question, NULL);
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

                        question_check(world, &question, NULL);
                }
                for (int j = 0; world->is_many && j < CLIENTS; j++)
                        group_check(world);
                for (int j = 0; j < CLIENTS; j++)
                        client_close(world, j);
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

/* A request through the layers of its client, whose options allow the rest. */
static void layered_check(struct world *world)
{
        struct question question = question_draw(), next = question_draw();
        const struct drawn *drawn = &world->drawn[question.client];

        next.client = question.client;
        next.tls = question.tls;
        question.has_auth = draw(4) == 0;
        question.is_relative = drawn->has_base && draw(2);
        if (question.is_relative) {
                question.host = drawn->base.host;
                question.port = drawn->base.port;
                question.is_https = drawn->base.is_https;
                question.is_user = false;
        }
        if (!drawn->has_handler) {
                world->is_busy = drawn->retries && draw(8) == 0;
                world->refuses = drawn->auth == AUTH_REFRESH && draw(8) == 0;
        }
        question_check(world, &question,
                       drawn->redirects && !drawn->has_handler && draw(2) ? &next : NULL);
        world->is_busy = world->refuses = false;
}

static void layered_rounds(struct world *world)
{
        const struct eddy_limiter_limit limit = { EDDY_LIMITER_REQUESTS, 1000000000, EDDY_SEC(1) };
        int n = is_full() ? LAYERED_FULL : getenv("EDDY_TEST_VALGRIND") ? 2 : LAYERED_FEW;
        int requests = is_full() ? LAYERED_REQUESTS_FULL : LAYERED_REQUESTS_FEW;

        CHECK_EQ(
                eddy_limiter_new(&(struct eddy_limiter_opts){ .limits = &limit, .limits_count = 1 },
                                 &world->limiter),
                0);
        CHECK_EQ(eddy_http_auth_new(&(struct eddy_http_auth_opts){ .token = "own" },
                                    &world->auths[CLIENTS]),
                 0);
        CHECK_EQ(eddy_breaker_init(&world->breaker, NULL), 0);
        for (int i = 0; i < n; i++) {
                world->seen_count = 0;
                for (int j = 0; j < CLIENTS; j++) {
                        world->drawn[j] = client_draw();
                        layers_draw(&world->drawn[j]);
                        client_make(world, j);
                }
                for (int j = 0; j < requests; j++)
                        layered_check(world);
                for (int j = 0; j < CLIENTS; j++)
                        client_close(world, j);
        }
        eddy_http_auth_free(world->auths[CLIENTS]);
        eddy_limiter_close(world->limiter);
        printf("# %d requests, %d connections; %d redirects, %d repeated, %d refused, %d with "
               "cookies, %d handled\n",
               n * requests, world->accepted, world->redirected, world->repeated, world->refused,
               world->cookies, world->handled);
        CHECK(world->redirected > 0 && world->repeated > 0 && world->refused > 0);
        CHECK(world->cookies > 0 && world->handled > 0);
}

static int layered_main(void *arg)
{
        (void) arg;
        world_run(layered_rounds, false);
        return 0;
}

/* P1, with all options of the layers. */
TEST(connection_and_secrets_belong_to_one_client_and_origin_through_all_layers)
{
        http_run(layered_main, NULL);
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
                question_send(world, &question, NULL);
                client_close(world, i);
        }
        *resumed += world->resumed;
        if (world->resumed != (strcmp(texts[0], texts[1]) == 0))
                test_fail(__FILE__, __LINE__, "a session of \"%s\" %s \"%s\"", texts[0],
                          world->resumed ? "was used for" : "was not used for", texts[1]);
}

static void sessions(struct world *world)
{
        /* Two handshakes each, which take long under Valgrind. */
        int pairs = is_full() ? 20000 : getenv("EDDY_TEST_VALGRIND") ? 100 : 200, resumed = 0;

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
