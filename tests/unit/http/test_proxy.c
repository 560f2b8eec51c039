/*
 * test_proxy.c - proxies: their URLs, the hosts that need none, and tunnels through scripted
 * proxies, whose answers are whole, cut and hostile.
 */
#include <errno.h>

#include "../io/io_test.h"
#include "http/proxy.h"

/* ---- URLs ------------------------------------------------------------------------ */

TEST(a_proxy_has_a_scheme_credentials_a_host_and_a_port_or_defaults)
{
        static const struct {
                const char *text, *host, *user, *password;
                int port;
                bool is_socks;
        } good[] = {
                { "proxy.test", "proxy.test", "", "", 1080, false },
                { "proxy.test:80", "proxy.test", "", "", 80, false },
                { "http://proxy.test:3128/", "proxy.test", "", "", 3128, false },
                { "HTTP://127.0.0.1:8080", "127.0.0.1", "", "", 8080, false },
                { "http://[::1]", "::1", "", "", 1080, false },
                { "http://[::1]:99", "::1", "", "", 99, false },
                { "socks5://u:p%40ss@h:1", "h", "u", "p@ss", 1, true },
                { "socks5h://u@h", "h", "u", "", 1080, true },
                { "u:p:q@h:5", "h", "u", "p:q", 5, false },
        };

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
                struct ed_http_proxy proxy;

                CHECK_EQ(ed_http_proxy_parse(good[i].text, &proxy), 0);
                CHECK_STR(proxy.host, good[i].host);
                CHECK_STR(proxy.user, good[i].user);
                CHECK_STR(proxy.password, good[i].password);
                CHECK_EQ(proxy.port, good[i].port);
                CHECK_EQ(proxy.is_socks, good[i].is_socks);
                CHECK_EQ(proxy.has_credentials, good[i].user[0] != '\0');
        }
}

TEST(other_schemes_paths_and_broken_urls_are_refused)
{
        static const struct {
                const char *text;
                int err;
        } bad[] = {
                { "https://h", EDDY_E_URL_SCHEME },     { "socks4://h", EDDY_E_URL_SCHEME },
                { "://h", EDDY_E_URL_SCHEME },          { "", EDDY_E_URL_INVALID },
                { "http://", EDDY_E_URL_INVALID },      { "http://h/path", EDDY_E_URL_INVALID },
                { "http://h?q", EDDY_E_URL_INVALID },   { "h:0x50", EDDY_E_URL_INVALID },
                { "h:99999", EDDY_E_URL_INVALID },      { "127.1:80", EDDY_E_URL_INVALID },
                { "h\r\nX: y", EDDY_E_URL_INVALID },    { "\xc3\xa9.test", EDDY_E_URL_INVALID },
                { ":p@h", EDDY_E_URL_CREDENTIALS },     { "u%0a:p@h", EDDY_E_URL_CREDENTIALS },
                { "u%3a:p@h", EDDY_E_URL_CREDENTIALS },
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                struct ed_http_proxy proxy;

                CHECK_EQ(ed_http_proxy_parse(bad[i].text, &proxy), bad[i].err);
        }
}

TEST(credentials_of_at_most_255_bytes_each_are_taken)
{
        for (size_t n = 254; n <= 2000; n += n < 257 ? 1 : 500) {
                char text[4200], part[2001];
                struct ed_http_proxy proxy;

                memset(part, 'a', n);
                part[n] = '\0';
                snprintf(text, sizeof(text), "%s:p@h", part);
                CHECK_EQ(ed_http_proxy_parse(text, &proxy), n <= 255 ? 0 : EDDY_E_URL_CREDENTIALS);
                snprintf(text, sizeof(text), "u:%s@h", part);
                CHECK_EQ(ed_http_proxy_parse(text, &proxy), n <= 255 ? 0 : EDDY_E_URL_CREDENTIALS);
        }
}

TEST(no_proxy_names_hosts_subdomains_addresses_networks_and_ports)
{
        static const struct {
                const char *list, *host;
                bool has;
        } cases[] = {
                { "", "a.test", false },
                { "*", "a.test", true },
                { "a.test", "a.test", true },
                { "A.Test", "a.tesT", true },
                { ".a.test", "a.test", true },
                { "a.test", "b.a.test", true },
                { "a.test.", "b.a.test", true },
                { "a.test", "b.a.test.", true },
                { "a.test", "ba.test", false },
                { "b.a.test", "a.test", false },
                { "x,  a.test ,y", "a.test", true },
                { "x\ta.test", "a.test", true },
                { "a.test:80", "a.test", true },
                { "a.test:8080", "a.test", false },
                { "a.test:", "a.test", false },
                { "a.test:080", "a.test", true },
                { "a.test:80x", "a.test", false },
                { "a.test:65616", "a.test", false },
                { ":80", "a.test", false },
                { "a.test:80", "b.a.test", true },
                { "*:80", "a.test", true },
                { "*:81", "a.test", false },
                { "*.test", "a.test", true },
                { "*.test", "b.a.test", true },
                { "*.a.test", "a.test", false },
                { "*.a.test:80", "b.a.test", true },
                { "*.a.test:81", "b.a.test", false },
                { "*.", "a.test", false },
                { "*a.test", "a.test", false },
                { "*.2.3.4", "1.2.3.4", false },
                { "1.2.3.4:80", "1.2.3.4", true },
                { "1.2.3.4:81", "1.2.3.4", false },
                { "[::1]:80", "::1", true },
                { "[::1]:81", "::1", false },
                { "::1:80", "::1", false },
                { "::1:80", "::1:80", true },
                { "1.2.3.4", "1.2.3.4", true },
                { "3.4", "1.2.3.4", false },
                { "10.0.0.0/8", "10.255.1.2", true },
                { "10.0.0.0/8", "11.0.0.1", false },
                { "10.1.2.128/25", "10.1.2.128", true },
                { "10.1.2.128/25", "10.1.2.127", false },
                { "0.0.0.0/0", "9.9.9.9", true },
                { "0.0.0.0/0", "a.test", false },
                { "10.0.0.0/33", "10.0.0.0", false },
                { "10.0.0.0/", "10.0.0.0", false },
                { "10.0.0.0/8x", "10.0.0.0", false },
                { "10.0.0.1/32", "10.0.0.1", true },
                { "::1", "::1", true },
                { "[::1]", "::1", true },
                { "0:0:0:0:0:0:0:1", "::1", true },
                { "fd00::/8", "fd12::1", true },
                { "fd00::/8", "fe12::1", false },
                { "::/0", "1.2.3.4", false },
                { "fd00::/129", "fd00::", false },
                { ", ,", "a.test", false },
                { ".", "a.test", false },
        };

        CHECK(!ed_http_no_proxy_has(NULL, "a.test", 80));
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                if (ed_http_no_proxy_has(cases[i].list, cases[i].host, 80) != cases[i].has)
                        test_fail(__FILE__, __LINE__, "\"%s\" and %s", cases[i].list,
                                  cases[i].host);
}

/* ---- a scripted proxy ------------------------------------------------------------ */

enum { STEPS_MAX = 4, TEXT_MAX = 20000, INTERIM_BYTES = 65 << 10 };

struct bytes {
        const char *data;
        size_t n;
};

#define BYTES(text)                                                                                \
        {                                                                                          \
                text, sizeof(text) - 1                                                             \
        }

/* The proxy expects bytes and answers, in turns; then closes its end. */
struct script {
        struct bytes expects[STEPS_MAX], answers[STEPS_MAX];
        size_t piece;  /* of answers; 0: whole */
        size_t cut_at; /* end after so many bytes of answers */
        eddy_stream *stream;
        size_t answered;
};

static int answer(struct script *script, struct bytes bytes)
{
        for (size_t at = 0, n; at < bytes.n; at += n) {
                n = script->piece && script->piece < bytes.n - at ? script->piece : bytes.n - at;
                if (script->answered + n > script->cut_at)
                        return -EPIPE;
                script->answered += n;
                if (eddy_stream_write(script->stream, bytes.data + at, n) < 0)
                        return -EPIPE;
                /* Let the client read this piece, unless it has what it wants. */
                for (int i = 0; script->piece && i < 3; i++)
                        if (eddy_sleep(0) < 0)
                                return -EPIPE;
        }
        return 0;
}

static int proxy_run(void *arg)
{
        struct script *script = arg;
        static char got[TEXT_MAX];

        for (int i = 0; i < STEPS_MAX; i++) {
                struct bytes expects = script->expects[i];

                for (size_t at = 0; at < expects.n;) {
                        int64_t n = eddy_stream_read(script->stream, got, expects.n - at);

                        if (n <= 0)
                                return 0;
                        CHECK(memcmp(got, expects.data + at, (size_t) n) == 0);
                        at += (size_t) n;
                }
                if (answer(script, script->answers[i]) < 0)
                        break;
        }
        (void) eddy_stream_shutdown(script->stream);
        return 0;
}

static int refused_status; /* of an answer that refused the last tunnel; 0: none */
static const char *reason; /* of the last tunnel that failed by an answer that is not valid */

static int tunnel(const char *url, const char *host, struct script *script)
{
        struct ed_http_proxy proxy;
        struct io_pair pair;
        eddy_scope scope;
        int err;

        CHECK_EQ(ed_http_proxy_parse(url, &proxy), 0);
        io_pair_open(&pair);
        script->stream = pair.b;
        script->answered = 0;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, proxy_run, script);
        reason = NULL;
        refused_status = 0;
        err = ed_http_proxy_tunnel(&proxy, pair.a, host, 443, &reason, &refused_status);
        CHECK((reason != NULL) == (err == EDDY_E_HTTP_PROXY_INVALID));
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        io_pair_close(&pair);
        return err;
}

/* An answer that opens the tunnel, whole, in pieces, and cut at each byte. */
static void check_tunnel(const char *url, const char *host, struct script script)
{
        size_t all = 0;

        script.cut_at = SIZE_MAX;
        for (script.piece = 0; script.piece < 4; script.piece++)
                CHECK_EQ(tunnel(url, host, &script), 0);
        for (int i = 0; i < STEPS_MAX; i++)
                all += script.answers[i].n;
        script.piece = 1;
        for (script.cut_at = 0; script.cut_at < all; script.cut_at++)
                CHECK_EQ(tunnel(url, host, &script), EDDY_E_HTTP_PROXY_INVALID);
}

/* ---- CONNECT --------------------------------------------------------------------- */

static int connect_opens(void *arg)
{
        (void) arg;
        check_tunnel("http://p:1", "a.test",
                     (struct script){ { BYTES("CONNECT a.test:443 HTTP/1.1\r\n"
                                              "Host: a.test:443\r\n\r\n") },
                                      { BYTES("HTTP/1.1 200 Connection established\r\n"
                                              "Via: 1.1 p\r\n\r\n") } });
        check_tunnel("http://u:p@p:1", "::1",
                     (struct script){ { BYTES("CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n"
                                              "Proxy-Authorization: Basic dTpw\r\n\r\n") },
                                      { BYTES("HTTP/1.0 200 OK\r\n\r\n") } });
        /* Interim responses, and lengths, which do not count (RFC 9110, 9.3.6 and 15.2). */
        check_tunnel("http://p:1", "a.test",
                     (struct script){ { BYTES("CONNECT a.test:443 HTTP/1.1\r\n"
                                              "Host: a.test:443\r\n\r\n") },
                                      { BYTES("HTTP/1.1 100 Continue\r\n\r\n"
                                              "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                                              "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n") } });
        check_tunnel("http://p:1", "a.test",
                     (struct script){ { BYTES("CONNECT a.test:443 HTTP/1.1\r\n"
                                              "Host: a.test:443\r\n\r\n") },
                                      { BYTES("HTTP/1.1 200 OK\r\n"
                                              "Transfer-Encoding: chunked\r\n\r\n") } });
        return 0;
}

TEST(connect_names_the_host_and_opens_a_tunnel_and_a_cut_answer_does_not)
{
        io_run(connect_opens);
}

static int connect_refused(void *arg)
{
        static const struct {
                struct bytes answer;
                int err;
                const char *reason;
                int status;
        } cases[] = {
                { BYTES("HTTP/1.1 407 P\r\nProxy-Authenticate: Basic\r\n\r\n"),
                  EDDY_E_HTTP_PROXY_AUTH, .status = 407 },
                { BYTES("HTTP/1.0 401 U\r\nWWW-Authenticate: Basic\r\n\r\n"),
                  EDDY_E_HTTP_PROXY_AUTH, .status = 401 },
                { BYTES("HTTP/1.1 403 F\r\nContent-Length: 2\r\n\r\nno"), EDDY_E_HTTP_PROXY_REFUSED,
                  .status = 403 },
                { BYTES("HTTP/1.1 502 B\r\n\r\n"), EDDY_E_HTTP_PROXY_REFUSED, .status = 502 },
                { BYTES("HTTP/1.1 302 F\r\nLocation: /\r\n\r\n"), EDDY_E_HTTP_PROXY_REFUSED,
                  .status = 302 },
                { BYTES("HTTP/1.1 100 C\r\n\r\n"), EDDY_E_HTTP_PROXY_INVALID,
                  "it ended before its answer was whole" },
                { BYTES("HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
                  EDDY_E_HTTP_PROXY_INVALID, "a switch to a protocol that was not asked for" },
                { BYTES("SSH-2.0-x\r\n"), EDDY_E_HTTP_PROXY_INVALID,
                  "the version is not HTTP/1.1 or another HTTP/1" },
                { BYTES("\r\nHTTP/1.1 200 OK\r\n\r\n"), EDDY_E_HTTP_PROXY_INVALID },
                { BYTES("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
                  EDDY_E_HTTP_PROXY_INVALID, "bytes follow the head" },
                { BYTES("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
                  EDDY_E_HTTP_PROXY_INVALID },
                { BYTES("HTTP/1.1 100 C\r\n\r\nHTTP/1.1 407 P\r\n\r\n"), EDDY_E_HTTP_PROXY_AUTH,
                  .status = 407 },
                { BYTES("HTTP/1.1 103 E\r\n\r\nHTTP/1.1 101 S\r\nUpgrade: x\r\n"
                        "Connection: upgrade\r\n\r\n"),
                  EDDY_E_HTTP_PROXY_INVALID, "a switch to a protocol that was not asked for" },
                { BYTES("HTTP/1.1 200 OK\r\n\r\n\x16\x03\x03"), EDDY_E_HTTP_PROXY_INVALID },
                { BYTES("HTTP/1.1 200 OK\r\nA:\0\r\n\r\n"), EDDY_E_HTTP_PROXY_INVALID,
                  "a control character in a field's value" },
                { BYTES("HTTP/1.1 200 OK\nVia: p\n\n"), EDDY_E_HTTP_PROXY_INVALID,
                  "a line does not end in CR LF" },
        };
        static char large[TEXT_MAX - 100], interim[INTERIM_BYTES];
        struct script script = { .cut_at = SIZE_MAX };

        (void) arg;
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                script.answers[0] = cases[i].answer;
                CHECK_EQ(tunnel("p:1", "a.test", &script), cases[i].err);
                if (cases[i].reason)
                        CHECK_STR(reason, cases[i].reason);
                CHECK_EQ(refused_status, cases[i].status);
        }
        /* Interim responses of 64 KiB, and of more. */
        for (size_t i = 0; i < sizeof(interim); i++)
                interim[i] = "HTTP/1.1 100 C\r\n\r\n"[i % 18];
        script.answers[0] = (struct bytes){ interim, (64 << 10) / 18 * 18 };
        script.answers[1] = (struct bytes) BYTES("HTTP/1.1 200 OK\r\n\r\n");
        CHECK_EQ(tunnel("p:1", "a.test", &script), 0);
        script.answers[0].n += 18;
        CHECK_EQ(tunnel("p:1", "a.test", &script), EDDY_E_HTTP_PROXY_INVALID);
        CHECK_STR(reason, "interim responses are larger than their limit");
        script.answers[1].n = 0;
        /* A head without end. */
        for (size_t i = 0; i < sizeof(large); i++)
                large[i] = "A: b\r\n"[i % 6];
        memcpy(large, "HTTP/1.1 200 OK\r\nA", 18);
        script.answers[0] = (struct bytes){ large, sizeof(large) };
        CHECK_EQ(tunnel("p:1", "a.test", &script), EDDY_E_HTTP_PROXY_INVALID);
        return 0;
}

TEST(each_other_answer_to_connect_is_an_error_of_its_kind)
{
        io_run(connect_refused);
}

/* ---- SOCKS5 ---------------------------------------------------------------------- */

static int socks_opens(void *arg)
{
        (void) arg;
        check_tunnel("socks5://p", "a.test",
                     (struct script){ { BYTES("\5\1\0"), BYTES("\5\1\0\3\6a.test\1\xbb") },
                                      { BYTES("\5\0"), BYTES("\5\0\0\1\1\2\3\4\0\1") } });
        check_tunnel(
                "socks5h://u:pw@p", "1.2.3.4",
                (struct script){
                        { BYTES("\5\2\0\2"), BYTES("\1\1u\2pw"), BYTES("\5\1\0\1\1\2\3\4\1\xbb") },
                        { BYTES("\5\2"), BYTES("\1\0"), BYTES("\5\0\0\3\3abc\0\1") } });
        check_tunnel("socks5://u:pw@p", "::1",
                     (struct script){ { BYTES("\5\2\0\2"),
                                        BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\xbb") },
                                      { BYTES("\5\0"), BYTES("\5\0\0\4ABCDEFGHIJKLMNOP\0\1") } });
        return 0;
}

TEST(socks_names_the_host_and_opens_a_tunnel_and_a_cut_answer_does_not)
{
        io_run(socks_opens);
}

static int socks_refused(void *arg)
{
        static const struct {
                struct bytes answers[3];
                int err;
        } cases[] = {
                { { BYTES("\5\xff") }, EDDY_E_HTTP_PROXY_AUTH },
                { { BYTES("\4\0") }, EDDY_E_HTTP_PROXY_INVALID },
                { { BYTES("\5\1") }, EDDY_E_HTTP_PROXY_INVALID }, /* GSSAPI, not offered */
                { { BYTES("HT") }, EDDY_E_HTTP_PROXY_INVALID },
                { { BYTES("\5\2"), BYTES("\1\1") }, EDDY_E_HTTP_PROXY_AUTH },
                { { BYTES("\5\2"), BYTES("\5\0") }, EDDY_E_HTTP_PROXY_INVALID },
                { { BYTES("\5\0"), BYTES("\5\5\0\1\0\0\0\0\0\0") }, EDDY_E_HTTP_PROXY_REFUSED },
                { { BYTES("\5\0"), BYTES("\5\2\0\1\0\0\0\0\0\0") }, EDDY_E_HTTP_PROXY_REFUSED },
                { { BYTES("\5\0"), BYTES("\4\0\0\1\0\0\0\0\0\0") }, EDDY_E_HTTP_PROXY_INVALID },
                { { BYTES("\5\0"), BYTES("\5\0\0\2\0\0\0\0\0\0") }, EDDY_E_HTTP_PROXY_INVALID },
        };

        (void) arg;
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct script script = { .cut_at = SIZE_MAX };

                memcpy(script.answers, cases[i].answers, sizeof(cases[i].answers));
                CHECK_EQ(tunnel("socks5://u:p@p", "a.test", &script), cases[i].err);
        }
        return 0;
}

TEST(each_other_answer_of_socks_is_an_error_of_its_kind)
{
        io_run(socks_refused);
}

static int password_not_offered(void *arg)
{
        struct script script = { { BYTES("\5\1\0") }, { BYTES("\5\2") }, .cut_at = SIZE_MAX };

        (void) arg;
        CHECK_EQ(tunnel("socks5://p", "a.test", &script), EDDY_E_HTTP_PROXY_INVALID);
        CHECK_STR(reason, "it chose a way to log in that was not offered");
        return 0;
}

TEST(a_proxy_cannot_choose_a_password_that_the_client_does_not_have)
{
        io_run(password_not_offered);
}

/* The reply of SOCKS has no end of its own: the host's bytes after it must stay in the stream. */
static int bytes_of_the_host(void *arg)
{
        struct ed_http_proxy proxy;
        struct io_pair pair;
        char got[5];

        (void) arg;
        CHECK_EQ(ed_http_proxy_parse("socks5://p", &proxy), 0);
        io_pair_open(&pair);
        CHECK_EQ(eddy_stream_write(pair.b, "\5\0\5\0\0\1\0\0\0\0\0\0hello", 17), 0);
        CHECK_EQ(ed_http_proxy_tunnel(&proxy, pair.a, "a.test", 443, &reason, &refused_status), 0);
        io_read_all(pair.a, got, 5);
        CHECK(memcmp(got, "hello", 5) == 0);
        io_pair_close(&pair);
        return 0;
}

TEST(a_tunnel_of_socks_takes_no_byte_of_the_host)
{
        io_run(bytes_of_the_host);
}

/* CVE-2023-38545: a name above 255 bytes must not reach the proxy. */
static int long_name(void *arg)
{
        struct ed_http_proxy proxy;
        struct io_pair pair;
        char host[301];

        (void) arg;
        memset(host, 'a', 300);
        host[300] = '\0';
        CHECK_EQ(ed_http_proxy_parse("socks5h://p", &proxy), 0);
        io_pair_open(&pair);
        CHECK_EQ(ed_http_proxy_tunnel(&proxy, pair.a, host, 443, &reason, &refused_status),
                 EDDY_E_URL_INVALID);
        CHECK_EQ(eddy_stream_is_readable(pair.b), 0);
        io_pair_close(&pair);
        return 0;
}

TEST(a_name_that_socks_cannot_carry_is_refused_before_anything_is_sent)
{
        io_run(long_name);
}
