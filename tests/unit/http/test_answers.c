/*
 * test_answers.c - random responses, coded, framed, cut, damaged and in pieces, read by random
 * calls; and random sources of request bodies, which end early, fail, or take long. Each response
 * is whole or an error, and never disturbs the next request.
 */
#include <stdlib.h>

#include "coded.h"
#include "eddy/test_net.h"
#include "http_test.h"

enum {
        CASES_FEW = 1500,
        CASES_FULL = 60000,
        PLAIN_MAX = 30000,
        CHAIN_MAX = 3,
        CASES_OF_A_RUN = 50
};

static uint64_t state = 2463534242;

/* Returns a random number from 0 to n - 1. */
static size_t draw(size_t n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (size_t) (state >> 20) % n;
}

/* A size from 0 to 'max', often a small one. */
static size_t draw_size(size_t max)
{
        size_t most = draw(2) ? max : draw(2) ? 300 : 2;

        return draw((most < max ? most : max) + 1);
}

enum damage { NO_DAMAGE, CUT, GARBAGE, FLIPPED, TWICE, DAMAGES };
enum framing { BY_LENGTH, IN_CHUNKS, BY_CLOSE, FRAMINGS };

static const struct {
        const char *name;
        struct data (*code)(struct data plain);
} codings[] = {
        { "gzip", gzip_code }, { "deflate", deflate_code }, { "deflate", bare_code },
        { "br", brotli_code }, { "zstd", zstd_code },
};

/* One response, and what its reader may expect. */
struct answer {
        struct data plain, coded;
        char encoding[64];
        enum damage damage;
        enum framing framing;
        bool is_short; /* the message ends before its body */
        bool is_early; /* sent before the request's body was read */
        uint64_t limit;
};

static struct {
        struct answer answer;
        eddy_scope *scope;
        eddy_listener *listener;
        eddy_http_client *client;
        char url[64];
        int damaged, whole, refused; /* results, counted */
} site;

/* ---- making a response ---------------------------------------------------------- */

static void damage(struct answer *answer)
{
        struct data *coded = &answer->coded, both;

        switch (answer->damage) {
        case CUT:
                coded->n = draw(coded->n);
                break;
        case GARBAGE:
                both = data_new(coded->n + 9);
                memcpy(both.bytes, coded->bytes, coded->n);
                both.n = coded->n + 1 + draw(9);
                for (size_t i = coded->n; i < both.n; i++)
                        both.bytes[i] = (unsigned char) draw(256);
                free(coded->bytes);
                *coded = both;
                break;
        case FLIPPED:
                coded->bytes[draw(coded->n)] ^= (unsigned char) (1 << draw(8));
                break;
        case TWICE:
                both = data_join(*coded, *coded);
                free(coded->bytes);
                *coded = both;
                break;
        default:
                break;
        }
}

static void answer_draw(struct answer *answer)
{
        size_t chain = draw(CHAIN_MAX + 1);

        *answer = (struct answer){ .framing = (enum framing) draw(FRAMINGS) };
        answer->plain = plain_new(draw_size(PLAIN_MAX));
        answer->coded = data_new(answer->plain.n + 1);
        memcpy(answer->coded.bytes, answer->plain.bytes, answer->plain.n);
        answer->coded.n = answer->plain.n;
        for (size_t i = 0; i < chain; i++) {
                size_t coding = draw(sizeof(codings) / sizeof(codings[0])), held;
                struct data next = codings[coding].code(answer->coded);

                free(answer->coded.bytes);
                answer->coded = next;
                held = strlen(answer->encoding);
                snprintf(answer->encoding + held, sizeof(answer->encoding) - held, "%s%s",
                         held ? ", " : "", codings[coding].name);
        }
        if (chain > 0 && draw(2)) {
                answer->damage = (enum damage) draw(DAMAGES);
                damage(answer);
        }
        answer->is_short = draw(8) == 0 && answer->coded.n > 0 && answer->framing != BY_CLOSE;
        answer->is_early = draw(4) == 0;
        if (draw(6) == 0)
                answer->limit = answer->plain.n + draw(3);
}

static void answer_free(struct answer *answer)
{
        free(answer->plain.bytes);
        free(answer->coded.bytes);
}

/* ---- the server ------------------------------------------------------------------- */

static int put(eddy_stream *stream, const void *data, size_t bytes)
{
        int err = eddy_stream_write(stream, data, bytes);

        return err < 0 || draw(4) ? err : eddy_sleep(EDDY_MS(1));
}

static int put_chunks(eddy_stream *stream, const struct answer *answer)
{
        size_t n = answer->coded.n, at = 0;
        int err = 0;

        while (err == 0 && at < n) {
                size_t piece = 1 + draw_size(n - at - 1);
                char head[40];
                int bytes = snprintf(head, sizeof(head), "%zx%s\r\n", piece,
                                     draw(4) ? "" : ";name=value");

                err = put(stream, head, (size_t) bytes);
                if (answer->is_short && at + piece == n)
                        piece--;
                if (err == 0)
                        err = put(stream, answer->coded.bytes + at, piece);
                if (answer->is_short && at + piece + 1 == n)
                        return -EPIPE;
                at += piece;
                if (err == 0)
                        err = put(stream, "\r\n", 2);
        }
        if (err == 0 && draw(4) == 0)
                return put(stream, "0\r\nX-Trailer: t\r\n\r\n", 19);
        return err < 0 ? err : put(stream, "0\r\n\r\n", 5);
}

static int put_answer(eddy_stream *stream, const struct answer *answer)
{
        size_t n = answer->coded.n;
        char head[300];
        int bytes = snprintf(head, sizeof(head), "%sHTTP/1.1 200 OK\r\nConnection: close\r\n",
                             draw(8) ? "" : "HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n");

        if (answer->encoding[0])
                bytes += snprintf(head + bytes, sizeof(head) - (size_t) bytes,
                                  "Content-Encoding: %s\r\n", answer->encoding);
        if (answer->framing == BY_LENGTH)
                bytes += snprintf(head + bytes, sizeof(head) - (size_t) bytes,
                                  "Content-Length: %zu\r\n", n);
        if (answer->framing == IN_CHUNKS)
                bytes += snprintf(head + bytes, sizeof(head) - (size_t) bytes,
                                  "Transfer-Encoding: chunked\r\n");
        bytes += snprintf(head + bytes, sizeof(head) - (size_t) bytes, "\r\n");
        if (put(stream, head, (size_t) bytes) < 0)
                return -EPIPE;
        if (answer->framing == IN_CHUNKS)
                return put_chunks(stream, answer);
        return n > answer->is_short ? put(stream, answer->coded.bytes, n - answer->is_short) : 0;
}

/* Keep the last bytes of a body in chunks. Returns true at its end: the data has no digit. */
static bool is_last(char last[8], const char *data, size_t bytes)
{
        static const char end[] = "0\r\n\r\n";
        size_t most = sizeof(end) - 1;

        for (size_t i = 0; i < bytes; i++) {
                size_t held = strlen(last);

                if (held == most)
                        memmove(last, last + 1, held--);
                last[held] = data[i];
                last[held + 1] = '\0';
        }
        return strcmp(last, end) == 0;
}

/* Read the body of a request to its end, after the head and what else is in 'buf'. */
static void drop_body(eddy_stream *stream, char *buf, size_t room)
{
        bool in_chunks = strstr(buf, "\r\nTransfer-Encoding: chunked") != NULL;
        const char *length = strstr(buf, "\r\nContent-Length: "), *begin = strstr(buf, "\r\n\r\n");
        size_t wanted = length ? (size_t) strtoul(length + 18, NULL, 10) : 0,
               got = strlen(begin + 4);
        char last[8] = "";
        bool ended = is_last(last, begin + 4, got);

        while (in_chunks ? !ended : got < wanted) {
                int64_t n = eddy_stream_read(stream, buf, room - 1);

                if (n <= 0)
                        return;
                got += (size_t) n;
                ended = is_last(last, buf, (size_t) n);
        }
}

static int guest_run(void *arg)
{
        eddy_stream *stream = *(eddy_stream **) arg;
        char buf[1024];

        while (read_until(stream, buf, sizeof(buf), "\r\n\r\n")) {
                if (strncmp(buf, "GET /ok", 7) == 0) {
                        if (put(stream, OK_2, strlen(OK_2)) < 0)
                                break;
                        continue;
                }
                if (site.answer.is_early) {
                        (void) put_answer(stream, &site.answer);
                        drop_body(stream, buf, sizeof(buf));
                } else {
                        drop_body(stream, buf, sizeof(buf));
                        (void) put_answer(stream, &site.answer);
                }
                break;
        }
        eddy_stream_close(stream);
        return 0;
}

static int door_run(void *arg)
{
        eddy_stream *stream;

        (void) arg;
        while (eddy_listener_accept(site.listener, &stream) == 0)
                CHECK_EQ(eddy_scope_start_copy(site.scope, guest_run, &stream, sizeof(stream)), 0);
        return 0;
}

/* ---- the client ------------------------------------------------------------------- */

struct source {
        struct eddy_http_body_source source;
        size_t left;
        int64_t end; /* the last result: 0, or an error */
};

static int64_t source_read(void *arg, void *buf, size_t bytes)
{
        struct source *source = arg;
        size_t n = 1 + draw_size(bytes - 1);

        if (draw(4) == 0 && eddy_sleep(draw(400) ? EDDY_MS(1) : EDDY_SEC(20)) < 0)
                return -ECANCELED;
        if (source->left == 0)
                return source->end;
        n = n < source->left ? n : source->left;
        memset(buf, 'b', n);
        source->left -= n;
        return (int64_t) n;
}

/* Returns the error that the source causes; 0: none. */
static int source_draw(struct source *source)
{
        size_t bytes = draw_size(40000);

        *source = (struct source){ .source = { .read = source_read, .arg = source } };
        source->left = bytes;
        source->source.bytes = draw(2) ? (int64_t) bytes : -1;
        switch (draw(6)) {
        case 0:
                source->end = -EIO;
                source->source.bytes += source->source.bytes >= 0;
                return -EIO;
        case 1:
                if (source->source.bytes < 0)
                        return 0;
                source->source.bytes++;
                return EDDY_E_HTTP_BODY_LENGTH;
        default:
                return 0;
        }
}

/* Read the body by calls of random kinds. Returns the number of bytes, or an error. */
static int64_t read_randomly(eddy_http_response *response, unsigned char *out, size_t room)
{
        size_t at = 0, part = draw(3) ? draw_size(PLAIN_MAX) : SIZE_MAX;
        const void *rest;
        size_t rest_bytes;
        int64_t n;
        int err;

        while (at < part) {
                unsigned char buf[700];

                n = eddy_http_response_read(response, buf, 1 + draw(draw(2) ? 1 : sizeof(buf)));
                if (n <= 0)
                        return n < 0 ? n : (int64_t) at;
                CHECK(at + (size_t) n <= room);
                memcpy(out + at, buf, (size_t) n);
                at += (size_t) n;
        }
        err = eddy_http_response_body(response, &rest, &rest_bytes);
        if (err < 0)
                return err;
        CHECK(at + rest_bytes <= room);
        memcpy(out + at, rest, rest_bytes);
        return (int64_t) (at + rest_bytes);
}

static bool is_refusal(int64_t err)
{
        return err == EDDY_E_HTTP_TRUNCATED || err == EDDY_E_HTTP_CODING_INVALID ||
               err == EDDY_E_HTTP_TOO_LARGE || err == EDDY_E_HTTP_INVALID_RESPONSE;
}

/* Compare the result of a case, in which 'source_err' would be the source's error. */
static void judge(const struct answer *answer, int64_t n, const unsigned char *got, int source_err)
{
        bool limited = answer->limit > 0 &&
                       (answer->limit < answer->plain.n || answer->limit < answer->coded.n);

        if (n < 0 && source_err && n == source_err)
                return;
        if (answer->damage != NO_DAMAGE || answer->is_short || limited) {
                site.damaged += n >= 0;
                site.refused += n < 0;
                if (n < 0 && !is_refusal(n) && !answer->is_early)
                        test_fail(__FILE__, __LINE__, "damage %d: %s", answer->damage,
                                  eddy_error_name((int) n));
                return;
        }
        /* The server closes the connection after an early answer: the request may fail. */
        if (n < 0 && answer->is_early)
                return;
        if (n < 0)
                test_fail(__FILE__, __LINE__, "%s of %zu bytes, framing %d: %s", answer->encoding,
                          answer->plain.n, answer->framing, eddy_error_name((int) n));
        site.whole++;
        CHECK_EQ(n, answer->plain.n);
        CHECK(memcmp(got, answer->plain.bytes, answer->plain.n) == 0);
}

static void check_next(void)
{
        eddy_http_response *response;
        const void *body;
        size_t bytes;
        char url[80];

        snprintf(url, sizeof(url), "%s/ok", site.url);
        CHECK_EQ(eddy_http_client_send(site.client, &(struct eddy_http_request){ .url = url },
                                       &response),
                 0);
        CHECK_EQ(eddy_http_response_body(response, &body, &bytes), 0);
        CHECK_STR((const char *) body, "ok");
        eddy_http_response_close(response);
}

static void one_case(unsigned char *got, size_t room)
{
        struct eddy_http_request request = { .url = site.url };
        struct answer *answer = &site.answer;
        eddy_http_response *response;
        struct source source;
        int64_t n;
        int source_err = 0;

        answer_draw(answer);
        request.body_bytes_max = answer->limit;
        if (draw(3) == 0) {
                source_err = source_draw(&source);
                request.body_source = &source.source;
        }
        n = eddy_http_client_send(site.client, &request, &response);
        if (n == 0) {
                size_t how = draw(8);

                if (how == 0)
                        n = eddy_http_response_discard(response);
                if (how > 1)
                        n = read_randomly(response, got, room);
                eddy_http_response_close(response);
                if (how > 1)
                        judge(answer, n, got, source_err);
        } else {
                judge(answer, n, got, source_err);
        }
        check_next();
        answer_free(answer);
}

static int cases_main(void *arg)
{
        struct eddy_http_client_opts opts = { .decode = true };
        struct eddy_test_link link = { .chop = 1 };
        size_t room = 8 << 20;
        unsigned char *got = malloc(room);
        eddy_scope scope;

        (void) arg;
        CHECK(got != NULL);
        site.scope = &scope;
        CHECK_EQ(eddy_test_link_set(&link), 0);
        CHECK_EQ(eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener), 0);
        snprintf(site.url, sizeof(site.url), "http://127.0.0.1:%u",
                 eddy_listener_port(site.listener));
        CHECK_EQ(eddy_http_client_new(&opts, &site.client), 0);
        eddy_scope_begin(&scope, NULL);
        CHECK_EQ(eddy_scope_start(&scope, door_run, NULL), 0);
        for (int i = 0; i < CASES_OF_A_RUN; i++)
                one_case(got, room);
        eddy_http_client_close(site.client);
        eddy_scope_cancel(&scope);
        (void) eddy_scope_end(&scope);
        eddy_listener_close(site.listener);
        free(got);
        return 0;
}

/* B38: No response that was cut is taken for whole. */
TEST(each_response_is_whole_or_an_error_and_the_next_request_is_not_disturbed)
{
        bool full = test_is_full();
        int runs = (full ? CASES_FULL : CASES_FEW) / CASES_OF_A_RUN;

        for (int i = 1; i <= runs; i++) {
                http_set_seed((uint64_t) i);
                http_run(cases_main, NULL);
        }
        printf("# %d whole, %d refused, %d read despite damage\n", site.whole, site.refused,
               site.damaged);
        CHECK(site.whole > runs * 5 && site.refused > runs * 3);
}
