/*
 * test_stray.c - bytes that nobody asked for, and ends that come early: a
 * connection that the server has spoken on or closed is not used for the next
 * request, although the loop has not polled since.
 *
 * No answer goes to a request that it was not sent for, as far as
 * a client can know.
 */
#include "eddy/test.h"
#include "http/client.h"
#include "http_test.h"

#define STRAY "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"

/* ---- a server that the test speaks for --------------------------------------- */

enum { CONNS = 8 };

static struct {
        eddy_listener *listener;
        eddy_http_client *client;
        eddy_scope scope;
        eddy_stream *conns[CONNS]; /* in the order accepted; NULL: closed */
        int accepted;
        char url[64];
        char body[64]; /* of the last answer */
} world;

/* Answer each request with its path. */
static int answer_paths(void *arg)
{
        eddy_stream **conn = arg;
        char head[512], path[64], answer[128];

        while (read_until(*conn, head, sizeof(head), "\r\n\r\n")) {
                CHECK_EQ(sscanf(head, "%*s %63s", path), 1);
                snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
                         strlen(path), path);
                if (eddy_stream_write(*conn, answer, strlen(answer)) < 0)
                        break;
        }
        eddy_stream_close(*conn); /* the test may have done that under the read */
        *conn = NULL;
        return 0;
}

static int accept_all(void *arg)
{
        eddy_stream *stream;

        (void) arg;
        while (eddy_listener_accept(world.listener, &stream) == 0) {
                eddy_stream **conn = &world.conns[world.accepted++];

                CHECK(world.accepted <= CONNS);
                *conn = stream;
                CHECK_EQ(eddy_scope_start(&world.scope, answer_paths, conn), 0);
        }
        return 0;
}

static void server_says(int i, const char *text)
{
        CHECK_EQ(eddy_stream_write(world.conns[i], text, strlen(text)), 0);
}

/* What the server does to a connection; NULL: it closes it. */
static void server_spoils(int i, const char *text)
{
        eddy_stream *stream = world.conns[i];

        if (text) {
                server_says(i, text);
                return;
        }
        world.conns[i] = NULL;
        eddy_stream_close(stream);
}

/* ---- a client ------------------------------------------------------------------ */

static int fetch(const char *method, const char *path)
{
        eddy_http_response *response;
        char url[128];
        const void *body;
        size_t bytes;
        int err;

        snprintf(url, sizeof(url), "%s%s", world.url, path);
        err = eddy_http_client_send(world.client,
                                    &(struct eddy_http_request){ .method = method, .url = url },
                                    &response);
        if (err < 0)
                return err;
        err = eddy_http_response_body(response, &body, &bytes);
        if (err == 0)
                snprintf(world.body, sizeof(world.body), "%s", (const char *) body);
        eddy_http_response_close(response);
        return err;
}

static void fetch_right(const char *method, const char *path)
{
        CHECK_EQ(fetch(method, path), 0);
        CHECK_STR(world.body, path);
}

static int fetch_task(void *arg)
{
        fetch_right(arg, "/task");
        return 0;
}

static uint64_t connections(void)
{
        struct eddy_http_client_stats stats;

        eddy_http_client_stats(world.client, &stats);
        return stats.connections;
}

static void until_readable(eddy_stream *stream)
{
        int64_t give_up_ns = eddy_now() + EDDY_SEC(20);

        while (!eddy_stream_is_readable(stream))
                CHECK(eddy_now() < give_up_ns);
}

/* Until 'n' idle connections can be read, with no turn of the loop. */
static void until_idle_are_readable(int n)
{
        int64_t give_up_ns = eddy_now() + EDDY_SEC(20);
        int readable;

        do {
                readable = 0;
                ed_list_each (link, &world.client->pool.idle) {
                        const struct ed_http_conn *conn =
                                ed_container_of(link, struct ed_http_conn, link);

                        readable += eddy_stream_is_readable(conn->stream);
                }
                CHECK(eddy_now() < give_up_ns);
        } while (readable < n);
}

struct world_call {
        void (*steps)(void);
        const struct eddy_http_client_opts *opts;
};

static int world_main(void *arg)
{
        const struct world_call *call = arg;

        memset(&world, 0, sizeof(world));
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &world.listener), 0);
        snprintf(world.url, sizeof(world.url), "http://127.0.0.1:%u",
                 eddy_listener_port(world.listener));
        CHECK_EQ(eddy_http_client_new(call->opts, &world.client), 0);
        eddy_scope_begin(&world.scope, NULL);
        CHECK_EQ(eddy_scope_start(&world.scope, accept_all, NULL), 0);
        call->steps();
        eddy_http_client_close(world.client);
        eddy_scope_cancel(&world.scope);
        CHECK_EQ(eddy_scope_end(&world.scope), 0);
        eddy_listener_close(world.listener);
        return 0;
}

static void world_run(void (*steps)(void), const struct eddy_http_client_opts *opts, bool on_sim)
{
        struct world_call call = { steps, opts };

        if (on_sim)
                http_run(world_main, &call);
        http_run_real(world_main, &call);
}

/* ---- idle connections ------------------------------------------------------------ */

static void spoil_idle(const char *text)
{
        for (int i = 0; i < 4; i++) {
                fetch_right("POST", "/good");
                CHECK_EQ(connections(), i + 1);
                CHECK_STATS(world.client, 1, 1, 0);
                server_spoils(i, text);
                until_idle_are_readable(1);
        }
        fetch_right("POST", "/last");
        CHECK_EQ(connections(), 5);
        CHECK_STATS(world.client, 1, 1, 0);
}

static void stray_answers(void)
{
        spoil_idle(STRAY);
}

/* B9: Also if the bytes came since the loop last polled. */
TEST(an_answer_without_a_request_reaches_no_caller)
{
        world_run(stray_answers, NULL, true);
}

/* B9: nothing goes out on a connection that is closed, so a POST is as safe as a GET. */
static void early_ends(void)
{
        spoil_idle(NULL);
}

TEST(a_post_after_the_server_closed_goes_out_on_a_new_connection)
{
        world_run(early_ends, NULL, true);
}

static void one_of_three(void)
{
        for (int silent = 0; silent < 3; silent++) {
                eddy_scope scope;

                memset(world.conns, 0, sizeof(world.conns));
                world.accepted = 0;
                eddy_scope_begin(&scope, NULL);
                for (int i = 0; i < 3; i++)
                        CHECK_EQ(eddy_scope_start(&scope, fetch_task, (void *) "GET"), 0);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK_STATS(world.client, 3, 3, 0);
                CHECK_EQ(connections(), 3 * (silent + 1));
                for (int i = 0; i < 3; i++)
                        if (i != silent)
                                server_spoils(i, i ? NULL : "x");
                until_idle_are_readable(2);
                fetch_right("POST", "/b");
                CHECK_EQ(connections(), 3 * (silent + 1));
                /* The next round begins without connections. */
                server_spoils(silent, NULL);
                http_pause(EDDY_MS(20));
                CHECK_STATS(world.client, 0, 0, 0);
        }
}

TEST(of_several_idle_connections_the_one_that_is_open_and_silent_is_used)
{
        world_run(one_of_three, NULL, true);
}

/* A task that computes for longer than connections are kept: the loop's clock stands still. */
static void compute(void)
{
        int64_t end_ns;

        for (int i = 0; i < 3; i++) {
                fetch_right("GET", "/before");
                end_ns = eddy_now() + EDDY_MS(30);
                while (eddy_now() < end_ns)
                        continue;
                fetch_right("GET", "/after");
                CHECK_EQ(connections(), i + 2);
        }
}

TEST(a_connection_does_not_outlive_its_time_while_a_task_computes)
{
        world_run(compute, OPTIONS(.idle_timeout_ns = EDDY_MS(30)), false);
}

/* ---- handed over ------------------------------------------------------------------ */

/* A connection goes from one request straight to a waiter; it is spoiled before or after that. */
static void hand_over(const char *method, const char *text, bool after)
{
        uint64_t before = connections();
        int64_t now_ns = eddy_now();
        struct ed_http_conn *conn;
        struct ed_http_key key;
        struct ed_url url;
        eddy_scope scope;
        int i;

        fetch_right("GET", "/warm");
        i = world.accepted - 1;
        CHECK_EQ(ed_url_parse(world.url, strlen(world.url), &url), 0);
        key = ed_http_key_of(&url, NULL);
        CHECK_EQ(ed_http_pool_acquire(&world.client->pool, &key, &now_ns, &conn), 0);
        CHECK(conn->stream);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, fetch_task, (void *) (uintptr_t) method), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(world.client, 1, 0, 1);
        if (after)
                ed_http_pool_release(conn, true);
        server_spoils(i, text);
        until_readable(conn->stream);
        if (!after)
                ed_http_pool_release(conn, true);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(connections(), before + 1 + (before == 0));
        CHECK_STATS(world.client, 1, 1, 0);
}

static void hand_overs(void)
{
        for (int after = 0; after < 2; after++) {
                hand_over("POST", STRAY, after);
                hand_over("GET", STRAY, after);
                hand_over("POST", NULL, after);
        }
}

TEST(a_connection_is_checked_on_its_way_to_a_waiter)
{
        world_run(hand_overs, OPTIONS(.per_host_max = 1), true);
}

/* ---- many, by chance ---------------------------------------------------------------- */

/*
 * Each message of this server says whether another request had reached it when
 * the message was written.  If none had, a client that has not sent its next
 * request yet can know of the message, so it must not take it for the answer.
 * Else nobody can: the request was on its way.
 *
 * With the layers, some messages are redirects, whose URL says it too, and others
 * refuse credentials or ask for another attempt.
 */
enum { ASKING = 8, ATTEMPTS = 40, CANCELS_FEW = 4000, CANCELS_FULL = 200000, PATH_BYTES = 96 };

static struct {
        eddy_listener *listener;
        eddy_http_client *client;
        eddy_http_auth *auth;
        eddy_scope scope;
        char url[64];
        unsigned next;
        unsigned right, cancelled, failed, unknowable;
        unsigned strays, redirects, refused;
        bool has_layers;
} chance;

static int say(eddy_stream *stream, const char *what, int status)
{
        const char *when = eddy_stream_is_readable(stream) ? "late" : "early";
        char body[2 * PATH_BYTES], location[2 * PATH_BYTES] = "", text[6 * PATH_BYTES];

        snprintf(body, sizeof(body), "%s %s", what, when);
        if (status / 100 == 3)
                snprintf(location, sizeof(location), "Location: /%s-%s\r\n", what, when);
        chance.redirects += status / 100 == 3;
        chance.refused += status / 100 > 3;
        snprintf(text, sizeof(text), "HTTP/1.1 %d X\r\n%sContent-Length: %zu\r\n\r\n%s", status,
                 location, strlen(body), body);
        return eddy_stream_write(stream, text, strlen(text));
}

static int status_by_chance(void)
{
        static const int statuses[] = { 302, 307, 401, 503 };
        uint64_t chosen = chance.has_layers ? eddy_test_chance(16) : 16;

        return chosen < 4 ? statuses[chosen] : 200;
}

/* None, or until one of the next ticks, which all share: several things happen in one turn. */
static int64_t until_a_tick(uint64_t most)
{
        int64_t tick_ns = EDDY_US(100), ticks = (int64_t) eddy_test_chance(most + 1);

        return ticks ? tick_ns * ticks - eddy_now() % tick_ns : 0;
}

/* A request, and no byte of the next one. */
static bool read_request(eddy_stream *stream, char *buf, size_t room)
{
        for (size_t n = 0; n + 1 < room; n++) {
                if (eddy_stream_read(stream, buf + n, 1) <= 0)
                        return false;
                buf[n + 1] = '\0';
                if (buf[n] == '\n' && n >= 3 && memcmp(buf + n - 3, "\r\n\r\n", 4) == 0)
                        return true;
        }
        return false;
}

static int answer_and_stray(void *arg)
{
        eddy_stream *stream = arg;
        char head[512], path[PATH_BYTES];
        int err = 0;

        while (err == 0 && read_request(stream, head, sizeof(head))) {
                CHECK_EQ(sscanf(head, "%*s /%95s", path), 1);
                err = eddy_sleep(until_a_tick(1));
                if (err == 0)
                        err = say(stream, path, status_by_chance());
                if (err < 0 || eddy_test_chance(3) > 0)
                        continue;
                /* At once, or late. */
                if (eddy_test_chance(2) > 0)
                        err = eddy_sleep(until_a_tick(2));
                if (err == 0)
                        err = say(stream, "stray", 200);
                chance.strays++;
        }
        eddy_stream_close(stream);
        return 0;
}

static int accept_by_chance(void *arg)
{
        eddy_stream *stream;

        (void) arg;
        while (eddy_listener_accept(chance.listener, &stream) == 0)
                CHECK_EQ(eddy_scope_start(&chance.scope, answer_and_stray, stream), 0);
        return 0;
}

/* Sort the answer "PATH[-WHEN]... WHEN" to a request by its path. */
static void judge(const char *path, const char *got)
{
        size_t bytes = strlen(path);

        if (strncmp(got, path, bytes) == 0 && (got[bytes] == ' ' || got[bytes] == '-'))
                chance.right++;
        else if (strstr(got, "late"))
                chance.unknowable++;
        else
                test_fail(__FILE__, __LINE__, "%s got the answer \"%s\"", path, got);
}

static int attempt(void *arg)
{
        char url[128], path[32];
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int err;

        (void) arg;
        snprintf(path, sizeof(path), "%u", chance.next++);
        snprintf(url, sizeof(url), "%s/%s", chance.url, path);
        err = eddy_http_client_send(chance.client, &(struct eddy_http_request){ .url = url },
                                    &response);
        if (err < 0)
                return err;
        err = eddy_http_response_body(response, &body, &bytes);
        if (err == 0 && eddy_http_response_status(response) == 200)
                judge(path, body);
        eddy_http_response_close(response);
        return err;
}

static int ask_by_chance(void *arg)
{
        for (int i = 0; i < ATTEMPTS; i++) {
                int64_t time_ns = until_a_tick(chance.has_layers ? 2 : 1);
                int err = eddy_call_timeout(attempt, arg, EDDY_US(1) + time_ns);

                chance.cancelled += err == -ETIMEDOUT;
                chance.failed += err < 0 && err != -ETIMEDOUT;
                CHECK_EQ(eddy_sleep(until_a_tick(2)), 0);
        }
        return 0;
}

static int refresh(eddy_http_auth *auth, void *arg)
{
        (void) arg;
        if (eddy_sleep(until_a_tick(1)) < 0)
                return -ECANCELED;
        return eddy_http_auth_set_token(auth, "token", 0);
}

static void client_make(void)
{
        static const struct eddy_retry_policy retry = { .base_ns = EDDY_US(100) };
        struct eddy_http_client_opts opts = { .per_host_max = 4 };

        chance.auth = NULL;
        if (chance.has_layers) {
                CHECK_EQ(eddy_http_auth_new(&(struct eddy_http_auth_opts){ .refresh = refresh },
                                            &chance.auth),
                         0);
                opts.auth = chance.auth;
                opts.retry = &retry;
                opts.redirects_max = 5;
        }
        CHECK_EQ(eddy_http_client_new(&opts, &chance.client), 0);
}

static int chance_main(void *arg)
{
        eddy_scope asking;

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &chance.listener), 0);
        snprintf(chance.url, sizeof(chance.url), "http://127.0.0.1:%u",
                 eddy_listener_port(chance.listener));
        client_make();
        eddy_scope_begin(&chance.scope, NULL);
        CHECK_EQ(eddy_scope_start(&chance.scope, accept_by_chance, NULL), 0);
        eddy_scope_begin(&asking, NULL);
        for (int i = 0; i < ASKING; i++)
                CHECK_EQ(eddy_scope_start(&asking, ask_by_chance, NULL), 0);
        CHECK_EQ(eddy_scope_end(&asking), 0);
        eddy_http_client_close(chance.client);
        eddy_http_auth_free(chance.auth);
        eddy_scope_cancel(&chance.scope);
        CHECK_EQ(eddy_scope_end(&chance.scope), 0);
        eddy_listener_close(chance.listener);
        return 0;
}

static void chance_run(bool has_layers)
{
        unsigned cancels = test_is_full() ? CANCELS_FULL : CANCELS_FEW;

        memset(&chance, 0, sizeof(chance));
        chance.has_layers = has_layers;
        for (uint64_t seed = 1; chance.cancelled < cancels; seed++) {
                http_set_seed(seed);
                http_run(chance_main, NULL);
        }
        printf("# %u attempts: %u right, %u cancelled, %u failed; %u redirects, %u refused; %u "
               "strays, of which %u came when the next request was on its way\n",
               chance.next, chance.right, chance.cancelled, chance.failed, chance.redirects,
               chance.refused, chance.strays, chance.unknowable);
        CHECK(chance.right > chance.next / 4);
        CHECK(chance.strays > chance.next / 20);
}

/* B9, B40: Under random ends and answers. */
TEST(no_request_gets_an_answer_that_was_there_before_it)
{
        chance_run(false);
}

/* The same with redirects, credentials and retries. */
TEST(no_call_gets_an_answer_that_was_there_before_its_request)
{
        chance_run(true);
        CHECK(chance.redirects > chance.next / 50);
        CHECK(chance.refused > chance.next / 50);
}
