/*
 * test_routes.c - options of the client that say where to connect: a Unix socket,
 * and addresses instead of DNS.
 */
#include <stdlib.h>
#include <unistd.h>

#include "http_test.h"

/* ---- a Unix socket ----------------------------------------------------------------- */

static char folder[] = "/tmp/eddy-routes-XXXXXX", path[64];

static int answer_host(eddy_http_exchange *exchange, void *arg)
{
        const char *host = eddy_http_exchange_host(exchange);

        (void) arg;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, host, strlen(host));
}

static int serve(void *arg)
{
        (void) eddy_http_serve(arg, NULL, answer_host, NULL);
        return 0;
}

static void fetch_by_path(eddy_http_client *client, const char *url, const char *host)
{
        char text[EDDY_ENDPOINT_TEXT_BYTES], expected[EDDY_ENDPOINT_TEXT_BYTES];
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        struct eddy_http_response_info info;
        const void *body;
        size_t bytes;

        CHECK_EQ(
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response),
                0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR((const char *) body, host);
        eddy_http_response_info(response, &info);
        eddy_endpoint_format(info.peer, text);
        snprintf(expected, sizeof(expected), "unix:%s", path);
        CHECK_STR(text, expected);
        CHECK_EQ(info.timings.name_ns, -1);
}

static int unix_main(void *arg)
{
        struct eddy_http_client_opts opts = { .unix_path = path, .http_proxy = "10.9.9.9" };
        eddy_http_client *client;
        eddy_listener *listener;
        eddy_scope scope;

        (void) arg;
        CHECK_EQ(eddy_unix_listen(path, NULL, &listener), 0);
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve, listener), 0);
        fetch_by_path(client, "http://one.test/", "one.test");
        fetch_by_path(client, "http://one.test/", "one.test");
        fetch_by_path(client, "http://two.test:8080/", "two.test:8080");
        CHECK_STATS(client, 2, 2, 0); /* each host has its own connection */
        eddy_http_client_close(client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(listener);
        return 0;
}

TEST(unix_path_is_used_for_every_url)
{
        CHECK(mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/s", folder);
        http_run_real(unix_main, NULL);
        CHECK_EQ(rmdir(folder), 0);
}

CLIENT_TEST(unix_path_that_is_not_valid_is_refused, NULL, SCRIPT(OK_2))
{
        eddy_http_client *client;
        char long_path[200];

        (void) rig;
        memset(long_path, 'x', sizeof(long_path));
        long_path[sizeof(long_path) - 1] = '\0';
        CHECK_ERR(eddy_http_client_new(OPTIONS(.unix_path = ""), &client), EDDY_E_ENDPOINT_PATH);
        CHECK_ERR(eddy_http_client_new(OPTIONS(.unix_path = long_path), &client), -ENAMETOOLONG);
}

/* ---- addresses instead of DNS ------------------------------------------------------- */

/* Send a request for 'host' with an option for 'name', the peer's port minus 'less', and addresses. */
static int get_with(struct rig *rig, const char *name, unsigned less, const char *addresses,
                    const char *host)
{
        unsigned port = eddy_listener_port(rig->peer.listener);
        char text[100], url[100];
        const char *const texts[] = { "unused.test:1:127.0.0.1", text };
        struct eddy_http_client_opts opts = { .resolve = texts, .resolve_count = 2 };
        eddy_http_client *client, *own = rig->client;
        eddy_http_response *response;
        int err;

        snprintf(text, sizeof(text), "%s:%u:%s", name, port - less, addresses);
        snprintf(url, sizeof(url), "http://%s:%u/", host, port);
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        memset(text, 0, sizeof(text)); /* the option was copied */
        err = eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response);
        if (err == 0)
                eddy_http_response_close(response);
        eddy_http_client_close(client);
        rig->client = own;
        return err;
}

CLIENT_TEST_BOTH(host_is_reached_at_the_given_address, NULL, SCRIPT(OK_2))
{
        char host[100];

        CHECK_EQ(get_with(rig, "name.test", 0, "127.0.0.1", "name.test"), 0);
        snprintf(host, sizeof(host), "\r\nHost: name.test:%u\r\n",
                 eddy_listener_port(rig->peer.listener));
        CHECK(strstr(rig->peer.last, host));
        CHECK_EQ(get_with(rig, "Name.Test", 0, "127.0.0.1", "nAME.test"), 0);
        CHECK_EQ(get_with(rig, "*", 0, "127.0.0.1", "any.test"), 0);
        CHECK_EQ(get_with(rig, "name.test", 0, "127.0.0.2,127.0.0.1", "name.test"), 0);
        CHECK_EQ(rig->peer.requests, 4);
}

CLIENT_TEST(host_of_no_option_is_looked_up, NULL, SCRIPT(OK_2))
{
        CHECK_ERR(get_with(rig, "name.test", 0, "127.0.0.1", "other.test"), EDDY_E_DNS_NOT_FOUND);
        CHECK_ERR(get_with(rig, "name.test", 1, "127.0.0.1", "name.test"), EDDY_E_DNS_NOT_FOUND);
}

CLIENT_TEST(text_that_is_not_an_override_is_refused, NULL, SCRIPT(OK_2))
{
        static const char *const bad[] = {
                "",
                "a",
                "a:80",
                "a:80:",
                ":80:127.0.0.1",
                "a::127.0.0.1",
                "a:0:127.0.0.1",
                "a:65536:127.0.0.1",
                "a:+80:127.0.0.1",
                "a:80:b",
                "a:80:127.1",
                "a:80:127.0.0.1,",
                "a:80:127.0.0.1:1",
                "a b:80:127.0.0.1",
                "[::1:80:127.0.0.1",
                "a:80:1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1,1.1.1.1",
                NULL,
        };
        static const char *const good[] = { "a:80:127.0.0.1", "[::1]:80:127.0.0.1", "a:1:[::1]",
                                            "a:65535:::1,1.2.3.4", "*:80:::1" };
        eddy_http_client *client;

        (void) rig;
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                CHECK_ERR(eddy_http_client_new(OPTIONS(.resolve = &bad[i], .resolve_count = 1),
                                               &client),
                          -EINVAL);
        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
                CHECK_EQ(eddy_http_client_new(OPTIONS(.resolve = &good[i], .resolve_count = 1),
                                              &client),
                         0);
                eddy_http_client_close(client);
        }
}

/* ---- headers for a proxy ---------------------------------------------------------- */

static int send_header(const struct eddy_http_client_opts *opts, const char *url, const char *name,
                       const char *value)
{
        struct eddy_http_header header = { name, value };
        struct eddy_http_request request = { .url = url, .headers = &header, .headers_count = 1 };
        eddy_http_response *response = NULL;
        eddy_http_client *client;
        int err;

        CHECK_EQ(eddy_http_client_new(opts, &client), 0);
        err = eddy_http_client_send(client, &request, &response);
        eddy_http_response_close(response);
        eddy_http_client_close(client);
        return err;
}

CLIENT_TEST(credentials_for_a_proxy_go_to_no_server, NULL, SCRIPT(OK_2))
{
        static const char name[] = "proxy-Authorization";
        char user[100];

        CHECK_ERR(send_header(NULL, rig->url, name, "Basic x"), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_ERR(send_header(OPTIONS(.https_proxy = rig->url), "https://a.test/", name, "Basic x"),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_ERR(send_header(OPTIONS(.http_proxy = "socks5://127.0.0.1:1"), "http://a.test/", name,
                              "Basic x"),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_ERR(send_header(OPTIONS(.http_proxy = rig->url, .no_proxy = "*"), rig->url, name,
                              "Basic x"),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(rig->peer.accepted, 0);
        snprintf(user, sizeof(user), "http://user:password@%s", strstr(rig->url, "127"));
        CHECK_EQ(send_header(OPTIONS(.http_proxy = user), "http://a.test/", name, "Basic x"), 0);
        CHECK(strstr(rig->peer.last, "proxy-Authorization: Basic x\r\n"));
        CHECK(!strstr(rig->peer.last, "Proxy-Authorization:"));
}

CLIENT_TEST(host_for_a_proxy_is_that_of_the_url, NULL, SCRIPT(OK_2))
{
        const struct eddy_http_client_opts *opts = OPTIONS(.http_proxy = rig->url);

        CHECK_ERR(send_header(opts, "http://a.test/", "Host", "b.test"),
                  EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(rig->peer.accepted, 0);
        CHECK_EQ(send_header(opts, "http://a.test/", "Host", "A.test"), 0);
        CHECK(strstr(rig->peer.last, "GET http://a.test/ HTTP/1.1\r\n"));
        CHECK(strstr(rig->peer.last, "\r\nHost: A.test\r\n"));
}
