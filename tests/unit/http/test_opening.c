/*
 * test_opening.c - opening a connection: it survives the request for which it
 * began, and ends when it is of no use.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "http/pool.h"
#include "http_test.h"

struct get {
        struct rig *rig;
        const char *url; /* NULL: the rig's */
        int result;
};

static int get_run(void *arg)
{
        struct get *get = arg;
        struct eddy_http_request request = { .url = get->url ? get->url : get->rig->url };
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;

        get->result = eddy_http_client_send(get->rig->client, &request, &response);
        if (get->result == 0)
                get->result = eddy_http_response_discard(response);
        return 0;
}

static uint64_t spares(struct rig *rig)
{
        struct eddy_http_client_stats stats;

        eddy_http_client_stats(rig->client, &stats);
        return stats.spare;
}

/* Begin a request, and cancel it while its connection is being opened. */
static void cancel_while_opening(struct rig *rig, const char *url)
{
        struct get get = { rig, url, 0 };
        eddy_task *task;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, get_run, &get, NULL, &task), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(rig->client, 1, 0, 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(get.result, -ECANCELED);
        eddy_task_release(task);
}

CLIENT_TEST(opening_of_a_cancelled_request_serves_the_next, NULL, SCRIPT(OK_2, OK_2))
{
        struct eddy_http_client_stats stats;

        cancel_while_opening(rig, NULL);
        CHECK_EQ(spares(rig), 1);
        CHECK_EQ(rig_get(rig, "/"), 0);
        eddy_http_client_stats(rig->client, &stats);
        CHECK_EQ(stats.connections, 1);
        CHECK_EQ(stats.spare, 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 1, 1, 0);
}

CLIENT_TEST_BOTH(opening_of_a_cancelled_request_ends_in_the_idle_list, NULL, SCRIPT(OK_2, OK_2))
{
        cancel_while_opening(rig, NULL);
        while (spares(rig) > 0)
                http_pause(EDDY_MS(1));
        CHECK_STATS(rig->client, 1, 1, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
}

CLIENT_TEST(opening_of_a_cancelled_request_goes_to_the_waiter, OPTIONS(.connections_max = 1),
            SCRIPT(OK_2, OK_2))
{
        struct get gets[2] = { { rig, NULL, 0 }, { rig, NULL, 0 } };
        eddy_task *first;
        eddy_scope scope;

        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, get_run, &gets[0], NULL, &first), 0);
        CHECK_EQ(eddy_scope_start(&scope, get_run, &gets[1]), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        CHECK_STATS(rig->client, 1, 0, 1);
        eddy_task_cancel(first);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(gets[0].result, -ECANCELED);
        CHECK_EQ(gets[1].result, 0);
        CHECK_EQ(rig->peer.accepted, 1);
        CHECK_STATS(rig->client, 1, 1, 0);
        eddy_task_release(first);
}

CLIENT_TEST(spare_opening_gives_way_to_another_origin, OPTIONS(.connections_max = 1), SCRIPT(OK_2))
{
        int64_t before = eddy_now();

        http_let_die();
        cancel_while_opening(rig, "http://10.9.9.9/");
        CHECK_EQ(spares(rig), 1);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK(eddy_now() - before < EDDY_SEC(1));
        CHECK_EQ(spares(rig), 0);
        CHECK_STATS(rig->client, 1, 1, 0);
}

CLIENT_TEST(opening_gives_way_to_a_waiter_of_another_origin, OPTIONS(.connections_max = 1),
            SCRIPT(OK_2))
{
        struct get dead = { rig, "http://10.9.9.9/", 0 }, alive = { rig, NULL, 0 };
        int64_t before = eddy_now();
        eddy_task *task;
        eddy_scope scope;

        http_let_die();
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, get_run, &dead, NULL, &task), 0);
        CHECK_EQ(eddy_scope_start(&scope, get_run, &alive), 0);
        CHECK_EQ(eddy_sleep(0), 0);
        eddy_task_cancel(task);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_EQ(alive.result, 0);
        CHECK(eddy_now() - before < EDDY_SEC(1));
        eddy_task_release(task);
}

CLIENT_TEST(spare_opening_ends_after_the_time_of_an_idle_connection,
            OPTIONS(.idle_timeout_ns = EDDY_SEC(3)), SCRIPT(OK_2))
{
        http_let_die();
        cancel_while_opening(rig, "http://10.9.9.9/");
        http_pause(EDDY_SEC(2));
        CHECK_EQ(spares(rig), 1);
        http_pause(EDDY_SEC(2));
        CHECK_EQ(spares(rig), 0);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* The time of a spare does not end the opening of a request that has taken the spare. */
CLIENT_TEST(spare_opening_that_is_taken_has_no_deadline, OPTIONS(.idle_timeout_ns = EDDY_SEC(3)),
            SCRIPT(OK_2))
{
        struct get get = { rig, "http://10.9.9.9/", 0 };
        int64_t before = eddy_now();

        http_let_die();
        cancel_while_opening(rig, "http://10.9.9.9/");
        CHECK_EQ(get_run(&get), 0);
        CHECK_ERR(get.result, EDDY_E_NET_TIMED_OUT);
        CHECK(eddy_now() - before > EDDY_SEC(100)); /* the kernel's own limit */
}

/* Ask the dead address, and give up after some time. */
static void ask_dead(struct rig *rig, int64_t ns)
{
        struct get get = { rig, "http://10.9.9.9/", 0 };

        (void) eddy_call_timeout(get_run, &get, ns);
        CHECK_ERR(get.result, -ECANCELED);
}

CLIENT_TEST(spare_opening_is_lent_only_in_its_first_second, NULL, SCRIPT(OK_2))
{
        http_let_die();
        ask_dead(rig, EDDY_MS(500));
        CHECK_EQ(spares(rig), 1);
        ask_dead(rig, EDDY_MS(500));
        CHECK_EQ(spares(rig), 1);
        ask_dead(rig, EDDY_SEC(1));
        CHECK_EQ(spares(rig), 2);
        ask_dead(rig, EDDY_SEC(1));
        CHECK_EQ(spares(rig), 3);
}

/* Those that borrow the opening meanwhile do not give it more time. */
CLIENT_TEST(time_of_a_spare_opening_counts_from_its_begin, OPTIONS(.idle_timeout_ns = EDDY_SEC(3)),
            SCRIPT(OK_2))
{
        http_let_die();
        ask_dead(rig, EDDY_MS(500));
        ask_dead(rig, EDDY_SEC(2));
        CHECK_EQ(spares(rig), 1);
        http_pause(EDDY_SEC(1));
        CHECK_EQ(spares(rig), 0);
        CHECK_STATS(rig->client, 0, 0, 0);
}

/* The kernel's own limit, of more than 100 s, counts from the begin of a connection. */
static void check_opened_anew(struct rig *rig)
{
        struct get get = { rig, "http://10.9.9.9/", 0 };
        int64_t before;

        http_let_die();
        ask_dead(rig, EDDY_SEC(50));
        CHECK_EQ(spares(rig), 1);
        before = eddy_now();
        CHECK_EQ(get_run(&get), 0);
        CHECK_ERR(get.result, EDDY_E_NET_TIMED_OUT);
        CHECK(eddy_now() - before > EDDY_SEC(100));
        CHECK_STATS(rig->client, 0, 0, 0);
}

CLIENT_TEST(slow_spare_opening_gives_way_to_its_own_origin,
            OPTIONS(.per_host_max = 1, .idle_timeout_ns = EDDY_SEC(200)), SCRIPT(OK_2))
{
        check_opened_anew(rig);
}

CLIENT_TEST(slow_spare_opening_gives_way_at_the_common_limit,
            OPTIONS(.connections_max = 1, .idle_timeout_ns = EDDY_SEC(200)), SCRIPT(OK_2))
{
        check_opened_anew(rig);
}

/* The idle connection of another origin is of more use than an opening that may hang. */
CLIENT_TEST(slow_spare_opening_ends_before_an_idle_connection, OPTIONS(.connections_max = 2),
            SCRIPT(OK_2, OK_2))
{
        CHECK_EQ(rig_get(rig, "/"), 0);
        http_let_die();
        ask_dead(rig, EDDY_SEC(1));
        ask_dead(rig, EDDY_SEC(1));
        CHECK_EQ(spares(rig), 1);
        CHECK_STATS(rig->client, 1, 1, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_EQ(rig->peer.accepted, 1);
}

CLIENT_TEST(slow_opening_of_a_cancelled_request_does_not_go_to_the_waiter,
            OPTIONS(.connections_max = 1), SCRIPT(OK_2))
{
        struct get gets[2] = { { rig, "http://10.9.9.9/", 0 }, { rig, "http://10.9.9.9/", 0 } };
        eddy_task *first;
        eddy_scope scope;
        int64_t before;

        http_let_die();
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start_task(&scope, get_run, &gets[0], NULL, &first), 0);
        CHECK_EQ(eddy_scope_start(&scope, get_run, &gets[1]), 0);
        http_pause(EDDY_SEC(50));
        CHECK_STATS(rig->client, 1, 0, 1);
        eddy_task_cancel(first);
        before = eddy_now();
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(gets[0].result, -ECANCELED);
        CHECK_ERR(gets[1].result, EDDY_E_NET_TIMED_OUT);
        CHECK(eddy_now() - before > EDDY_SEC(100));
        eddy_task_release(first);
}

CLIENT_TEST(failed_spare_opening_leaves_nothing, NULL, SCRIPT(OK_2))
{
        cancel_while_opening(rig, "http://127.0.0.1:1/");
        http_pause(EDDY_SEC(1));
        CHECK_EQ(spares(rig), 0);
        CHECK_STATS(rig->client, 0, 0, 0);
}

CLIENT_TEST(close_of_the_client_ends_a_spare_opening, NULL, SCRIPT(OK_2))
{
        http_let_die();
        cancel_while_opening(rig, "http://10.9.9.9/");
        CHECK_EQ(spares(rig), 1);
}

static int connect_once(void *arg)
{
        eddy_stream *stream;
        int err = eddy_unix_connect(arg, NULL, &stream);

        if (err == 0)
                eddy_stream_close(stream);
        return err;
}

static int block_the_loop(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_sleep(EDDY_MS(2)), 0);
        usleep(40000);
        return 0;
}

/*
 * The client and its configuration of TLS are closed after the pause of an opening has ended, and
 * before the opening's task runs.
 */
static int close_while_opening(void *arg)
{
        struct eddy_tls_opts tls_opts = { .flags = EDDY_TLS_INSECURE };
        struct rig rig = { .client = NULL };
        struct get get = { &rig, "https://localhost/", 0 };
        eddy_listener *listener;
        eddy_stream *accepted;
        eddy_tls_config *tls;
        eddy_scope scope;
        char path[64];

        (void) arg;
        snprintf(path, sizeof(path), "@eddy-opening-%d", (int) getpid());
        CHECK_EQ(eddy_unix_listen(path, &(struct eddy_unix_listen_opts){ .backlog = 1 }, &listener),
                 0);
        while (eddy_call_timeout(connect_once, path, EDDY_MS(30)) == 0)
                ;
        CHECK_EQ(eddy_tls_config_new(&tls_opts, NULL, &tls), 0);
        CHECK_EQ(eddy_http_client_new(OPTIONS(.tls = tls, .unix_path = path), &rig.client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, get_run, &get), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(eddy_sleep(0), 0);
        CHECK_EQ(eddy_scope_start(&scope, block_the_loop, NULL), 0);
        CHECK_EQ(eddy_sleep(EDDY_MS(5)), 0);
        CHECK_EQ(eddy_listener_accept(listener, &accepted), 0);
        eddy_http_client_close(rig.client);
        eddy_tls_config_close(tls);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        CHECK_ERR(get.result, EDDY_E_HTTP_CLIENT_CLOSED);
        eddy_stream_close(accepted);
        eddy_listener_close(listener);
        return 0;
}

TEST(configuration_of_tls_may_be_closed_after_the_client_during_an_opening)
{
        http_run_real(close_while_opening, NULL);
}

/* ---- the key --------------------------------------------------------------------- */

/* P1: a connection is used again only if nothing that it depends on differs. */
TEST(keys_that_differ_in_any_field_are_not_equal)
{
        eddy_tls_config *one = (eddy_tls_config *) (uintptr_t) 8, *other = (void *) (uintptr_t) 16;
        const struct ed_http_key keys[] = {
                { .host = "a", .host_bytes = 1, .port = 443, .is_https = true },
                { .host = "a", .host_bytes = 1, .port = 443, .is_https = false },
                { .host = "a", .host_bytes = 1, .port = 80, .is_https = true },
                { .host = "b", .host_bytes = 1, .port = 443, .is_https = true },
                { .host = "ab", .host_bytes = 2, .port = 443, .is_https = true },
                { .host = "a", .host_bytes = 1, .port = 443, .is_https = true, .tls = one },
                { .host = "a", .host_bytes = 1, .port = 443, .is_https = true, .tls = other },
        };
        size_t n = sizeof(keys) / sizeof(keys[0]);

        for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < n; j++) {
                        struct ed_http_key copy = keys[j];
                        char host[4];

                        snprintf(host, sizeof(host), "%s", keys[j].host);
                        copy.host = host;
                        CHECK_EQ(ed_http_key_equal(&keys[i], &copy), i == j);
                }
        }
}

/* ---- the system's trusted certificates -------------------------------------------- */

enum { AT_ONCE = 6 };

static int ask_at_once(void *arg)
{
        struct rig rig = { .status = 0 };
        struct get gets[AT_ONCE];
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(NULL, &rig.client), 0);
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < AT_ONCE; i++) {
                gets[i] = (struct get){ &rig, "https://127.0.0.1:1/", 0 };
                CHECK_EQ(eddy_scope_start(&scope, get_run, &gets[i]), 0);
        }
        CHECK_EQ(eddy_scope_end(&scope), 0);
        for (int i = 0; i < AT_ONCE; i++)
                CHECK_ERR(gets[i].result, -ECONNREFUSED);
        eddy_http_client_close(rig.client);
        return 0;
}

/* Returns how often a file was opened since the watch began. */
static int opened(int watch)
{
        char buf[16 * sizeof(struct inotify_event)] __attribute__((aligned(8)));
        ssize_t n = read(watch, buf, sizeof(buf));

        return n < 0 ? 0 : (int) ((size_t) n / sizeof(struct inotify_event));
}

struct trust {
        char folder[32], cert[64], key[64];
};

static int trust_make(void *arg)
{
        struct trust *trust = arg;

        return eddy_tls_make_certificate("localhost", EDDY_SEC(60), trust->cert, trust->key);
}

TEST(first_https_requests_load_the_trusted_certificates_once)
{
        struct trust trust = { .folder = "/tmp/eddy-trust-XXXXXX" };
        int watch = inotify_init1(IN_NONBLOCK);

        CHECK(watch >= 0 && mkdtemp(trust.folder) != NULL);
        snprintf(trust.cert, sizeof(trust.cert), "%s/cert.pem", trust.folder);
        snprintf(trust.key, sizeof(trust.key), "%s/key.pem", trust.folder);
        http_run_real(trust_make, &trust);
        CHECK_EQ(setenv("SSL_CERT_FILE", trust.cert, 1), 0);
        CHECK(inotify_add_watch(watch, trust.cert, IN_OPEN) >= 0);
        http_run_real(ask_at_once, NULL);
        CHECK_EQ(opened(watch), 1);
        CHECK_EQ(unlink(trust.cert), 0);
        CHECK_EQ(unlink(trust.key), 0);
        CHECK_EQ(rmdir(trust.folder), 0);
        close(watch);
}
