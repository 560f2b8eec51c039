/*
 * test_hostile.c - servers that mean ill or are broken: a response is never
 * taken for whole that is not, and the next request on the client is fine.
 */
#include "http_test.h"

static const struct eddy_http_request get_root = { .url = "/" };

/* ---- responses that HTTP forbids ------------------------------------------- */

struct bad {
        const char *claim;
        const char *response;
        int error;
};

#define H200 "HTTP/1.1 200 OK\r\n"
#define CL2  "Content-Length: 2\r\n"
#define TEC  "Transfer-Encoding: chunked\r\n"

/* B35, B36: what must be refused, and with what. */
static const struct bad forbidden[] = {
        { "length and coding", H200 CL2 TEC "\r\n2\r\nok\r\n0\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "two lengths", H200 CL2 "Content-Length: 3\r\n\r\nok!", EDDY_E_HTTP_INVALID_RESPONSE },
        { "signed length", H200 "Content-Length: +2\r\n\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "negative length", H200 "Content-Length: -2\r\n\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "hexadecimal length", H200 "Content-Length: 0x2\r\n\r\nok",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "empty length", H200 "Content-Length:\r\n\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "list of lengths", H200 "Content-Length: 2, 2\r\n\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "huge length", H200 "Content-Length: 99999999999999999999\r\n\r\nok",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "unknown coding", H200 "Transfer-Encoding: gzip\r\n\r\nok",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "chunked not last", H200 "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "chunked twice", H200 TEC TEC "\r\n0\r\n\r\n", EDDY_E_HTTP_INVALID_RESPONSE },
        { "chunked in 1.0", "HTTP/1.0 200 OK\r\n" TEC "\r\n0\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "bare CR in a value", H200 "A: b\rc\r\n" CL2 "\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "space before the first field", H200 " A: b\r\n" CL2 "\r\nok",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "space before colon", H200 "Content-Length : 2\r\n\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "control character", H200 "A: \001\r\n" CL2 "\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "empty name", H200 ": x\r\n" CL2 "\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "bad version", "HTTP/2.0 200 OK\r\n" CL2 "\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "bad status", "HTTP/1.1 20 OK\r\n" CL2 "\r\nok", EDDY_E_HTTP_INVALID_RESPONSE },
        { "garbage", "\001\002\003\004 nonsense\r\n\r\n", EDDY_E_HTTP_INVALID_RESPONSE },
        { "a request", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", EDDY_E_HTTP_INVALID_RESPONSE },
        { "chunk size not hexadecimal", H200 TEC "\r\nx\r\nok\r\n0\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "signed chunk size", H200 TEC "\r\n+2\r\nok\r\n0\r\n\r\n", EDDY_E_HTTP_INVALID_RESPONSE },
        { "huge chunk", H200 TEC "\r\nFFFFFFFFFFFFFFFFF\r\nok\r\n0\r\n\r\n",
          EDDY_E_HTTP_TOO_LARGE },
        { "chunk longer than its size", H200 TEC "\r\n2\r\nok!\r\n0\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "chunk ended by two bytes of anything", H200 TEC "\r\n2\r\nokxx0\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "LF in an extension", H200 TEC "\r\n2;a\nb\r\nok\r\n0\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
};

static struct script hostile_scripts[2] = { { { NULL } }, SCRIPT(OK_2) };

static const struct bad *now;

/* Send a request and read the response. Returns the error, and what the client says about it. */
static int take_refused(struct rig *rig, struct eddy_http_fault *ret_fault)
{
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        int err;

        ret_fault->text[0] = '\0';
        err = rig_send(rig, &(struct eddy_http_request){ .url = "/", .ret_fault = ret_fault },
                       &response);
        if (err < 0)
                return err;
        CHECK_STR(eddy_http_response_fault_text(response), "");
        err = eddy_http_response_body(response, &body, &bytes);
        CHECK_EQ(eddy_http_response_discard(response), err);
        snprintf(ret_fault->text, sizeof(ret_fault->text), "%s",
                 eddy_http_response_fault_text(response));
        eddy_http_response_close(response);
        return err;
}

static void refuse_one(struct rig *rig)
{
        struct eddy_http_fault fault;
        int err = take_refused(rig, &fault);

        if (err != now->error || !*fault.text)
                test_fail(__FILE__, __LINE__, "%s: %s, \"%s\"", now->claim,
                          err < 0 ? eddy_error_name(err) : "success", fault.text);
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
        CHECK_EQ(rig->peer.accepted, 2);
}

/* B35, B36, B41: What must be refused, by default. */
TEST(forbidden_responses_are_errors_and_the_next_request_is_fine)
{
        for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
                now = &forbidden[i];
                hostile_scripts[0].steps[0] = now->response;
                rig_run(hostile_scripts, 2, NULL, false, refuse_one);
        }
}

#define INVALID "the peer's message is not valid HTTP: "
#define LARGE   "the message is larger than its limit: "

/* What is said about the kinds of faults: in a head, in a body, and of limits. */
static const struct bad said[] = {
        { INVALID "a field's line begins with white space", H200 " A: b\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { INVALID "both Content-Length and Transfer-Encoding", H200 CL2 TEC "\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { INVALID "a switch to a protocol that was not asked for",
          "HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { LARGE "the body is larger than its limit", H200 "Content-Length: 1000\r\n\r\n",
          EDDY_E_HTTP_TOO_LARGE },
        { LARGE "more fields than the limit", H200 "A: b\r\nA: b\r\nA: b\r\nA: b\r\n\r\n",
          EDDY_E_HTTP_TOO_LARGE },
        { "a chunk's data is not followed by CR LF", H200 TEC "\r\n2\r\nokxx0\r\n\r\n",
          EDDY_E_HTTP_INVALID_RESPONSE },
        { "the body is larger than its limit", H200 TEC "\r\n3e8\r\n", EDDY_E_HTTP_TOO_LARGE },
        /* Other errors have their own texts. */
        { "", "~", EDDY_E_HTTP_CLOSED },
        { "", H200 CL2 "\r\n", EDDY_E_HTTP_TRUNCATED },
};

static void say_one(struct rig *rig)
{
        struct eddy_http_fault fault;

        CHECK_ERR(take_refused(rig, &fault), now->error);
        CHECK_STR(fault.text, now->claim);
        /* It is of that response only. */
        CHECK_EQ(take_refused(rig, &fault), 0);
        CHECK_STR(fault.text, "");
}

TEST(fault_of_a_response_is_said_in_words)
{
        for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
                now = &said[i];
                hostile_scripts[0].steps[0] = now->response;
                hostile_scripts[0].steps[1] = "~";
                rig_run(hostile_scripts, 2, OPTIONS(.headers_max = 3, .body_bytes_max = 999), false,
                        say_one);
        }
        hostile_scripts[0].steps[1] = NULL;
}

/* ---- cut at every byte ----------------------------------------------------- */

static struct {
        const char *whole;
        const char *body;
        char cut[512];
        size_t bytes;
        bool by_reading;
} cut;

/* Like rig_get(), but with reads. */
static int read_all(struct rig *rig)
{
        eddy_http_response *response;
        int64_t n;
        int err = rig_send(rig, &get_root, &response);

        rig->body_bytes = 0;
        if (err < 0)
                return err;
        while ((n = eddy_http_response_read(response, rig->body + rig->body_bytes, 3)) > 0)
                rig->body_bytes += (size_t) n;
        eddy_http_response_close(response);
        rig->body[rig->body_bytes] = '\0';
        return (int) n;
}

static void fetch_cut(struct rig *rig)
{
        bool whole = cut.bytes == strlen(cut.whole);
        int err = cut.by_reading ? read_all(rig) : rig_get(rig, "/");

        if (whole) {
                CHECK_EQ(err, 0);
        } else if (err != EDDY_E_HTTP_CLOSED && err != EDDY_E_HTTP_TRUNCATED &&
                   err != -ECONNRESET) {
                test_fail(__FILE__, __LINE__, "cut at %zu of '%s': %s", cut.bytes, cut.whole,
                          err < 0 ? eddy_error_name(err) : "success");
        }
        if (err == 0)
                CHECK_STR(rig->body, cut.body);
        http_pause(EDDY_MS(20));
        CHECK_STATS(rig->client, 0, 0, 0);
        CHECK_EQ(rig_get(rig, "/"), 0);
        CHECK_STR(rig->body, "ok");
        CHECK_STATS(rig->client, 1, 1, 0);
}

static void cut_everywhere(const char *whole, const char *body)
{
        static struct script scripts[2] = { { { NULL } }, SCRIPT(OK_2) };

        for (cut.bytes = 0; cut.bytes <= strlen(whole); cut.bytes++)
                for (int how = 0; how < 4; how++) {
                        cut.whole = whole;
                        cut.body = body;
                        cut.by_reading = how & 1;
                        /* A reset may also take away what was sent before: then there is a pause. */
                        memcpy(cut.cut, whole, cut.bytes);
                        cut.cut[cut.bytes] = '\0';
                        scripts[0].steps[0] = cut.bytes ? cut.cut : "?";
                        scripts[0].steps[1] = how & 2 ? "+" : "~";
                        scripts[0].steps[2] = "!";
                        rig_run(scripts, 2, NULL, false, fetch_cut);
                }
}

/* B38: a response that is cut is an error, wherever it is cut and however it ends. */
TEST(response_of_stated_length_cut_at_every_byte_is_an_error)
{
        cut_everywhere(H200 "Content-Length: 10\r\nA: b\r\n\r\n0123456789", "0123456789");
}

TEST(chunked_response_cut_at_every_byte_is_an_error)
{
        cut_everywhere(H200 TEC "\r\n4\r\n0123\r\n6;a=b\r\n456789\r\n0\r\nX: y\r\n\r\n",
                       "0123456789");
}

TEST(response_after_an_interim_one_cut_at_every_byte_is_an_error)
{
        cut_everywhere("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" H200 CL2 "\r\nok", "ok");
}

/* ---- byte by byte ---------------------------------------------------------- */

struct trickle {
        eddy_listener *listener;
        const char *text;
};

static int trickle(void *arg)
{
        struct trickle *server = arg;
        char buf[1024];
        eddy_stream *stream;

        CHECK_EQ(eddy_listener_accept(server->listener, &stream), 0);
        for (int i = 0; i < 2; i++) {
                CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\n"));
                for (const char *at = server->text; *at; at++) {
                        CHECK_EQ(eddy_stream_write(stream, at, 1), 0);
                        CHECK_EQ(eddy_sleep(EDDY_MS(1)), 0);
                }
        }
        CHECK_EQ(eddy_stream_read(stream, buf, 1), 0);
        eddy_stream_close(stream);
        return 0;
}

static int trickle_main(void *arg)
{
        struct trickle server = { .text = arg };
        static struct rig rig;
        eddy_scope scope;

        rig = (struct rig){ .status = 0 };
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &server.listener), 0);
        snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%u",
                 eddy_listener_port(server.listener));
        CHECK_EQ(eddy_http_client_new(NULL, &rig.client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, trickle, &server), 0);
        CHECK_EQ(rig_get(&rig, "/"), 0);
        CHECK_STR(rig.body, "0123456789");
        CHECK_EQ(read_all(&rig), 0);
        CHECK_STR(rig.body, "0123456789");
        CHECK_STATS(rig.client, 1, 1, 0);
        eddy_http_client_close(rig.client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(server.listener);
        return 0;
}

TEST(responses_that_come_byte_by_byte_are_read)
{
        static char by_length[] = H200 "Content-Length: 10\r\nA: b\r\n\r\n0123456789";
        static char chunked[] = H200 TEC "\r\n4\r\n0123\r\n6;a=b\r\n456789\r\n0\r\nX: y\r\n\r\n";

        http_run(trickle_main, by_length);
        http_run(trickle_main, chunked);
}

/* ---- many small pieces ----------------------------------------------------- */

enum { CHUNKS = 20000 };

static int serve_chunks(void *arg)
{
        static char text[8 * CHUNKS];
        char buf[1024];
        eddy_stream *stream;
        size_t n = 0;

        CHECK_EQ(eddy_listener_accept(arg, &stream), 0);
        CHECK(read_until(stream, buf, sizeof(buf), "\r\n\r\n"));
        n += (size_t) snprintf(text, sizeof(text), H200 TEC "\r\n");
        for (int i = 0; i < CHUNKS; i++)
                n += (size_t) snprintf(text + n, sizeof(text) - n, "1\r\n%c\r\n", 'a' + i % 26);
        n += (size_t) snprintf(text + n, sizeof(text) - n, "0\r\n\r\n");
        CHECK_EQ(eddy_stream_write(stream, text, n), 0);
        CHECK_EQ(eddy_stream_read(stream, buf, 1), 0);
        eddy_stream_close(stream);
        return 0;
}

static int many_chunks(void *arg)
{
        eddy_listener *listener;
        eddy_http_response *response;
        eddy_http_client *client;
        eddy_scope scope;
        const void *body;
        size_t bytes;
        char url[64];

        (void) arg;
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &listener), 0);
        snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_listener_port(listener));
        CHECK_EQ(eddy_http_client_new(NULL, &client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, serve_chunks, listener), 0);
        CHECK_EQ(
                eddy_http_client_send(client, &(struct eddy_http_request){ .url = url }, &response),
                0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_EQ(bytes, CHUNKS);
        for (int i = 0; i < CHUNKS; i++)
                CHECK_EQ(((const char *) body)[i], 'a' + i % 26);
        eddy_http_response_close(response);
        CHECK_STATS(client, 1, 1, 0);
        eddy_http_client_close(client);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_listener_close(listener);
        return 0;
}

/* B39: many tiny chunks. */
TEST(many_small_chunks_are_read)
{
        http_run(many_chunks, NULL);
}
