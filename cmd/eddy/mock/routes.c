/*
 * mock/routes.c - the mock's routes outside the API.
 *
 * A path is a route's name and at most one argument. A number outside its limits is answered with a
 * 400 that names the limits.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "common/draft.h"
#include "common/duration.h"
#include "eddy/error.h"
#include "eddy/http_multipart_reader.h"
#include "eddy/time.h"
#include "eddy/url.h"
#include "mock/api.h"
#include "mock/gate.h"
#include "mock/grant.h"

enum {
        DELAY_SECONDS_MAX = 3600,
        BYTES_MAX = 1 << 30,
        STREAM_LINES_MAX = 1000000,
        FLAKY_FAILURES_MAX = 1000,
        SLOW_PIECES = 10,
        ANSWER_BYTES_MAX = 256,
        LINE_BYTES_MIN = 11, /* of /stream */
        PATTERN_BYTES = 16 << 10,
        FORM_READ_BYTES = 1024,
        FORM_VALUE_BYTES_MAX = 1 << 20,
};

const char ed_mock_routes[] =
        "Routes, for any method:\n"
        "  /                      this text\n"
        "  /delay/SECONDS         an answer after SECONDS (at most 3600; 0.1 works)\n"
        "  /status/CODE           an answer with that status, 200 to 599\n"
        "  /bytes/N               N bytes (at most 1073741824)\n"
        "  /stream/N              N lines, each in a chunk of its own (at most 1000000)\n"
        "  /echo                  the request as JSON\n"
        "  /counts                the connections and requests so far by HTTP/1 and HTTP/2\n"
        "  /form                  the parts of a form with files (multipart/form-data) as JSON\n"
        "  /flaky/N?token=T       503 for the first N requests with that token, then 200\n"
        "  /close                 drops the connection; with HTTP/2 it resets the stream\n"
        "  /slow-body/SECONDS     a head at once, and a body that takes SECONDS (at most 3600)\n"
        "/status and /flaky send Retry-After with ?retry_after=SECONDS.\n"
        "\n"
        "Routes of an API, in OpenAI's format:\n"
        "  POST /v1/embeddings    vectors that depend only on the text\n"
        "  POST /v1/chat/completions\n"
        "                         words that depend only on the messages; also as a stream\n"
        "  GET /v1/models         the models; also /v1/models/NAME\n"
        "  POST /oauth/token      with --token-life: a token; ?form=lines is the token and, in a\n"
        "                         second line, its seconds; ?form=opaque is the token alone, and\n"
        "                         ?form=jwt a JSON Web Token\n"
        "A token is 4 bytes of a text, or one word of an answer.\n";

/* Store the value of a name in the query, decoded. Errors: those of eddy_url_query_get() */
static int64_t query_get(const eddy_http_exchange *exchange, const char *name, char *out,
                         size_t room)
{
        const char *query = eddy_http_exchange_query(exchange);

        return eddy_url_query_get(query, strlen(query), name, out, room);
}

/* Parse digits, up to 'max'. */
static int number_read(const char *text, uint64_t max, uint64_t *ret_number)
{
        uint64_t number = 0;

        if (*text == '\0')
                return -EINVAL;
        for (; *text; text++) {
                if (*text < '0' || *text > '9')
                        return -EINVAL;
                number = number * 10 + (uint64_t) (*text - '0');
                if (number > max)
                        return -EINVAL;
        }
        *ret_number = number;
        return 0;
}

/* Answer, with Retry-After if the query requests it. */
static int status_send(struct ed_reply *reply, int status, const char *text)
{
        char after[ED_DURATION_TEXT_BYTES + 8];
        int64_t bytes = query_get(reply->exchange, "retry_after", after, sizeof(after));
        int64_t ignored_ns;

        if (bytes != -ENOENT) {
                if (bytes < 0 || ed_duration_parse_seconds(after, after + bytes, &ignored_ns) < 0)
                        return ed_reply_text(reply, 400, "retry_after: give a number of seconds\n");
                ed_reply_header(reply, "Retry-After", after);
        }
        /* These statuses have no body. */
        if (status == 204 || status == 205 || status == 304)
                return ed_reply_send(reply, status, NULL, NULL, 0);
        return ed_reply_text(reply, status, "%s", text);
}

static int route_help(struct ed_reply *reply, const char *arg)
{
        (void) arg;
        ed_reply_header(reply, "X-Content-Type-Options", "nosniff"); /* scanners look for it */
        return ed_reply_send(reply, 200, "text/plain; charset=utf-8", ed_mock_routes,
                             strlen(ed_mock_routes));
}

/* Parse the seconds of /delay and /slow-body. */
static int seconds_read(const char *arg, int64_t *ret_ns)
{
        int64_t ns;

        if (ed_duration_parse_seconds(arg, NULL, &ns) < 0 || ns > EDDY_SEC(DELAY_SECONDS_MAX))
                return -EINVAL;
        *ret_ns = ns;
        return 0;
}

static int route_delay(struct ed_reply *reply, const char *arg)
{
        char text[ANSWER_BYTES_MAX];
        int64_t ns;
        int err, n;

        if (seconds_read(arg, &ns) < 0)
                return ed_reply_text(reply, 400, "/delay/SECONDS: give a number from 0 to %d\n",
                                     DELAY_SECONDS_MAX);
        err = eddy_sleep(ns);
        if (err < 0)
                return err;
        n = snprintf(text, sizeof(text), "{\"delay_ms\":%" PRId64 "}\n", ns / 1000000);
        return ed_reply_send(reply, 200, "application/json", text, (size_t) n);
}

static int route_status(struct ed_reply *reply, const char *arg)
{
        uint64_t status;
        char text[ANSWER_BYTES_MAX];

        if (number_read(arg, 599, &status) < 0 || status < 200)
                return ed_reply_text(reply, 400, "/status/CODE: give a status from 200 to 599\n");
        snprintf(text, sizeof(text), "status %d\n", (int) status);
        return status_send(reply, (int) status, text);
}

/* The bytes of /bytes, for all threads. */
static char pattern[PATTERN_BYTES];
static pthread_once_t pattern_once = PTHREAD_ONCE_INIT;

static void pattern_make(void)
{
        for (size_t i = 0; i < sizeof(pattern); i++)
                pattern[i] = (char) ('a' + i % 26);
}

static int route_bytes(struct ed_reply *reply, const char *arg)
{
        uint64_t left;
        int err;

        if (number_read(arg, BYTES_MAX, &left) < 0)
                return ed_reply_text(reply, 400, "/bytes/N: give a number from 0 to %d\n",
                                     BYTES_MAX);
        pthread_once(&pattern_once, pattern_make);
        err = ed_reply_begin(reply, 200, "application/octet-stream", (int64_t) left, left);
        while (err == 0 && left > 0) {
                size_t piece = left < sizeof(pattern) ? (size_t) left : sizeof(pattern);

                err = ed_reply_write(reply, pattern, piece);
                left -= piece;
        }
        return err < 0 ? err : ed_reply_end(reply);
}

static int route_stream(struct ed_reply *reply, const char *arg)
{
        uint64_t lines;
        int err;

        if (number_read(arg, STREAM_LINES_MAX, &lines) < 0)
                return ed_reply_text(reply, 400, "/stream/N: give a number from 0 to %d\n",
                                     STREAM_LINES_MAX);
        err = ed_reply_begin(reply, 200, "application/x-ndjson", -1, lines * LINE_BYTES_MIN);
        for (uint64_t i = 0; i < lines && err == 0; i++) {
                char line[48];
                int n = snprintf(line, sizeof(line), "{\"line\":%" PRIu64 "}\n", i);

                err = ed_reply_write(reply, line, (size_t) n);
        }
        return err < 0 ? err : ed_reply_end(reply);
}

/* Append the headers as an object; values of equal names are joined by commas. */
static void headers_add(struct ed_draft *text, const eddy_http_exchange *exchange)
{
        struct eddy_http_header header, other;
        struct ed_draft value = { 0 };
        const char *before = "";

        ed_draft_add_str(text, "{");
        for (size_t i = 0; eddy_http_exchange_header_at(exchange, i, &header) == 0; i++) {
                bool seen = false;

                for (size_t k = 0; k < i && !seen; k++)
                        seen = eddy_http_exchange_header_at(exchange, k, &other) == 0 &&
                               strcasecmp(other.name, header.name) == 0;
                if (seen)
                        continue;
                ed_draft_reset(&value, SIZE_MAX);
                ed_draft_add_str(&value, header.value);
                for (size_t k = i + 1; eddy_http_exchange_header_at(exchange, k, &other) == 0;
                     k++) {
                        if (strcasecmp(other.name, header.name) != 0)
                                continue;
                        ed_draft_add_str(&value, ", ");
                        ed_draft_add_str(&value, other.value);
                }
                ed_draft_add_str(text, before);
                ed_draft_add_json_str(text, header.name);
                ed_draft_add_str(text, ":");
                ed_draft_add_json(text, value.data, value.bytes);
                text->failed |= value.failed;
                before = ",";
        }
        ed_draft_add_str(text, "}");
        ed_draft_fini(&value);
}

static const char *version_of(eddy_http_exchange *exchange)
{
        struct eddy_http_exchange_info info;

        eddy_http_exchange_info(exchange, &info);
        return info.version == 20 ? "HTTP/2" : info.version == 11 ? "HTTP/1.1" : "HTTP/1.0";
}

static int route_echo(struct ed_reply *reply, const char *arg)
{
        struct ed_draft text = { 0 };
        const void *body;
        size_t bytes;
        int err;

        (void) arg;
        err = eddy_http_exchange_body(reply->exchange, &body, &bytes);
        if (err < 0)
                return err;
        ed_draft_add_str(&text, "{\"method\":");
        ed_draft_add_json_str(&text, eddy_http_exchange_method(reply->exchange));
        ed_draft_add_str(&text, ",\"target\":");
        ed_draft_add_json_str(&text, eddy_http_exchange_target(reply->exchange));
        ed_draft_add_printf(&text, ",\"version\":\"%s\"", version_of(reply->exchange));
        ed_draft_add_str(&text, ",\"headers\":");
        headers_add(&text, reply->exchange);
        ed_draft_add_str(&text, ",\"body\":");
        ed_draft_add_json_body(&text, body, bytes);
        ed_draft_add_str(&text, "}\n");
        err = ed_draft_is_whole(&text)
                      ? ed_reply_send(reply, 200, "application/json", text.data, text.bytes)
                      : -ENOMEM;
        ed_draft_fini(&text);
        return err;
}

/* Append a member whose value is a text, or null. */
static void text_member_add(struct ed_draft *text, const char *name, const char *value)
{
        ed_draft_add_printf(text, ",\"%s\":", name);
        if (value)
                ed_draft_add_json_str(text, value);
        else
                ed_draft_add_str(text, "null");
}

/* Append a part of a form: its value, or the bytes and the hash (CRC-32, as of zlib) of its file. */
static int form_part_add(struct ed_draft *text, eddy_http_multipart_reader *form,
                         const struct eddy_http_multipart_part *part)
{
        unsigned long hash = crc32(0, NULL, 0);
        char data[FORM_READ_BYTES];
        uint64_t bytes = 0;
        int64_t n;

        ed_draft_add_str(text, "{\"name\":");
        ed_draft_add_json_str(text, part->name);
        text_member_add(text, "filename", part->filename);
        text_member_add(text, "type", part->type);
        if (!part->filename) {
                const char *value;
                size_t value_bytes;
                int err =
                        eddy_http_multipart_whole(form, FORM_VALUE_BYTES_MAX, &value, &value_bytes);

                if (err < 0)
                        return err;
                ed_draft_add_str(text, ",\"value\":");
                ed_draft_add_json(text, value, value_bytes);
                ed_draft_add_str(text, "}");
                return 0;
        }
        while ((n = eddy_http_multipart_read(form, data, sizeof(data))) > 0) {
                hash = crc32(hash, (const unsigned char *) data, (unsigned) n);
                bytes += (uint64_t) n;
        }
        ed_draft_add_printf(text, ",\"bytes\":%" PRIu64 ",\"crc32\":\"%08lx\"}", bytes, hash);
        return (int) n;
}

/* Append all parts. */
static int form_add(struct ed_draft *text, eddy_http_multipart_reader *form)
{
        struct eddy_http_multipart_part part;
        const char *before = "";
        int err;

        ed_draft_add_str(text, "{\"parts\":[");
        while ((err = eddy_http_multipart_next(form, &part)) > 0) {
                ed_draft_add_str(text, before);
                err = form_part_add(text, form, &part);
                if (err < 0)
                        return err;
                before = ",";
        }
        ed_draft_add_str(text, "]}\n");
        return err;
}

static int route_form(struct ed_reply *reply, const char *arg)
{
        eddy_http_multipart_reader *form = NULL;
        struct ed_draft text = { 0 };
        int err = eddy_http_exchange_multipart(reply->exchange, NULL, &form);

        (void) arg;
        if (err == 0)
                err = form_add(&text, form);
        if (err == EDDY_E_HTTP_CONTENT_TYPE)
                err = ed_reply_text(reply, 415, "/form: send multipart/form-data\n");
        else if (err == EDDY_E_HTTP_MULTIPART)
                err = ed_reply_text(reply, 400, "/form: the form is not valid: %s\n",
                                    eddy_http_multipart_rule(form));
        else if (err == EDDY_E_HTTP_TOO_LARGE)
                err = ed_reply_text(reply, 413, "/form: the form, or a value, is too large\n");
        else if (err == 0)
                err = ed_draft_is_whole(&text)
                              ? ed_reply_send(reply, 200, "application/json", text.data, text.bytes)
                              : -ENOMEM;
        ed_draft_fini(&text);
        eddy_http_multipart_reader_close(form);
        return err;
}

static int route_flaky(struct ed_reply *reply, const char *arg)
{
        uint64_t failures;
        uint32_t before;
        char token[ED_TOKEN_BYTES_MAX + 1];
        int64_t bytes = query_get(reply->exchange, "token", token, sizeof(token));
        int err;

        if (number_read(arg, FLAKY_FAILURES_MAX, &failures) < 0)
                return ed_reply_text(reply, 400, "/flaky/N: give a number from 0 to %d\n",
                                     FLAKY_FAILURES_MAX);
        if (bytes < 0 && bytes != -ENOENT)
                return ed_reply_text(reply, 400, "token: at most %d bytes\n", ED_TOKEN_BYTES_MAX);
        pthread_mutex_lock(&reply->mock->lock);
        err = ed_tokens_count(&reply->mock->tokens, token, bytes < 0 ? 0 : (size_t) bytes, &before);
        pthread_mutex_unlock(&reply->mock->lock);
        if (err < 0)
                return err;
        if (before < failures)
                return status_send(reply, 503, "not yet\n");
        return ed_reply_text(reply, 200, "after %" PRIu32 " failures\n", (uint32_t) failures);
}

static int route_close(struct ed_reply *reply, const char *arg)
{
        (void) arg;
        eddy_http_exchange_abort(reply->exchange);
        return 0;
}

static int route_slow_body(struct ed_reply *reply, const char *arg)
{
        static const char piece[] = "123456789\n";
        int64_t ns;
        int err;

        if (seconds_read(arg, &ns) < 0)
                return ed_reply_text(reply, 400, "/slow-body/SECONDS: give a number from 0 to %d\n",
                                     DELAY_SECONDS_MAX);
        err = ed_reply_begin(reply, 200, "text/plain", SLOW_PIECES * (sizeof(piece) - 1),
                             SLOW_PIECES * (sizeof(piece) - 1));
        for (int i = 0; i < SLOW_PIECES && err == 0; i++) {
                err = eddy_sleep(ns / SLOW_PIECES);
                if (err == 0)
                        err = ed_reply_write(reply, piece, sizeof(piece) - 1);
        }
        return err < 0 ? err : ed_reply_end(reply);
}

/* Grant a token. Neither limits nor failures apply. */
static int route_token(struct ed_reply *reply)
{
        static const char *const forms[] = { "json", "lines", "opaque", "jwt" };
        const struct ed_mock *mock = reply->mock;
        struct ed_draft text = { 0 };
        char value[8];
        int64_t bytes = query_get(reply->exchange, "form", value, sizeof(value));
        size_t form = 0;
        int err;

        while (bytes != -ENOENT && form < sizeof(forms) / sizeof(forms[0]) &&
               (bytes < 0 || strcmp(forms[form], value) != 0))
                form++;
        if (form == sizeof(forms) / sizeof(forms[0]))
                return ed_reply_text(reply, 400, "form: give json, lines, opaque or jwt\n");
        ed_grant_write((enum ed_grant_form) form, mock->secret, mock->opts.token_life_ns,
                       eddy_time_of_day(), &text);
        ed_reply_header(reply, "Cache-Control", "no-store");
        err = ed_draft_is_whole(&text)
                      ? ed_reply_send(reply, 200, form == 0 ? "application/json" : "text/plain",
                                      text.data, text.bytes)
                      : -ENOMEM;
        ed_draft_fini(&text);
        return err;
}

/* The name of a route with an argument ends in a slash. */
static const struct {
        const char *name;
        bool takes_arg;
        int (*answer)(struct ed_reply *reply, const char *arg);
} routes[] = {
        { "/delay/", true, route_delay }, { "/status/", true, route_status },
        { "/bytes/", true, route_bytes }, { "/stream/", true, route_stream },
        { "/echo", false, route_echo },   { "/flaky/", true, route_flaky },
        { "/close", false, route_close }, { "/slow-body/", true, route_slow_body },
        { "/form", false, route_form },
};

/* Answer by the route for the path. */
static int route_answer(struct ed_reply *reply, const char *path)
{
        int err = ed_gate_mood(reply);

        if (err != 0)
                return err < 0 ? err : 0;
        for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
                size_t bytes = strlen(routes[i].name);

                if (routes[i].takes_arg ? strncmp(path, routes[i].name, bytes) == 0
                                        : strcmp(path, routes[i].name) == 0)
                        return routes[i].answer(reply, path + bytes);
        }
        return ed_reply_text(reply, 404, "no such route; / lists them\n");
}

static void count(struct ed_mock *mock, eddy_http_exchange *exchange)
{
        struct eddy_http_exchange_info info;
        struct ed_mock_count *counted;

        eddy_http_exchange_info(exchange, &info);
        counted = info.version == 20 ? &mock->http2 : &mock->http1;
        pthread_mutex_lock(&mock->lock);
        counted->connections += info.number == 1;
        counted->requests++;
        pthread_mutex_unlock(&mock->lock);
}

/* Answer with the counts, without the requests for them. */
static int route_counts(struct ed_reply *reply)
{
        struct ed_mock *mock = reply->mock;
        struct ed_mock_count http1, http2;
        char text[ANSWER_BYTES_MAX];
        int n;

        pthread_mutex_lock(&mock->lock);
        http1 = mock->http1;
        http2 = mock->http2;
        pthread_mutex_unlock(&mock->lock);
        n = snprintf(text, sizeof(text),
                     "{\"http1\":{\"connections\":%" PRIu64 ",\"requests\":%" PRIu64 "},"
                     "\"http2\":{\"connections\":%" PRIu64 ",\"requests\":%" PRIu64 "}}\n",
                     http1.connections, http1.requests, http2.connections, http2.requests);
        return ed_reply_send(reply, 200, "application/json", text, (size_t) n);
}

int ed_mock_answer(eddy_http_exchange *exchange, void *arg)
{
        const char *path = eddy_http_exchange_path(exchange);
        struct ed_reply reply;
        int err;

        ed_reply_init(&reply, arg, exchange);
        if (strcmp(path, "/counts") == 0)
                return route_counts(&reply);
        count(arg, exchange);
        if (strcmp(path, "/") == 0)
                return route_help(&reply, "");
        if (reply.mock->opts.token_life_ns > 0 && strcmp(path, "/oauth/token") == 0)
                return route_token(&reply);
        reply.is_api = ed_api_has(path);
        reply.counts_tokens = ed_api_counts_tokens(path);
        err = ed_gate_enter(&reply);
        if (err == 0)
                err = reply.is_api ? ed_api_answer(&reply, path) : route_answer(&reply, path);
        ed_gate_leave(&reply);
        return err < 0 && !reply.is_cut ? err : 0;
}
