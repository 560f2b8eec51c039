/*
 * test_file.c - files as the bodies of requests and of responses, in memory.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "eddy/eddy.h"
#include "eddy/test.h"
#include "folder_test.h"

enum { BYTES = 300000, OFFSET = 1000, PART = 200000 };

static char contents[BYTES];

static struct {
        eddy_listener *listener;
        eddy_http_client *client;
        char url[64];
        int64_t offset;
        uint64_t bytes;
        bool cuts;    /* the file becomes shorter while it is sent */
        bool ignores; /* the handler does not report the error of the call */
        int result;   /* of the call that sends the file */
        bool same;
} site;

static void make_contents(void)
{
        for (int i = 0; i < BYTES; i++)
                contents[i] = (char) (i * 31 + i / 256);
}

/* A file cannot be cut by its sender: another task waits for the first bytes. */
static int cut_file(void *arg)
{
        eddy_file *file;
        int err = eddy_file_open("/file", EDDY_FILE_WRITE, 0, &file);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_file_truncate(file, OFFSET + PART / 2);
        eddy_file_close(file);
        return err;
}

static int send_file(eddy_http_exchange *exchange)
{
        eddy_file *file;
        int err = eddy_file_open("/file", EDDY_FILE_READ, 0, &file);

        if (err < 0)
                return err;
        err = eddy_http_exchange_respond_file(exchange, 200, NULL, 0, file, site.offset,
                                              site.bytes);
        eddy_file_close(file);
        site.result = err;
        return site.ignores ? 0 : err;
}

static int receive_file(eddy_http_exchange *exchange)
{
        size_t at = (size_t) site.offset;
        char buf[4096];
        int64_t n;

        site.same = true;
        while ((n = eddy_http_exchange_read(exchange, buf, sizeof(buf))) > 0) {
                if (at + (size_t) n > BYTES || memcmp(buf, contents + at, (size_t) n) != 0)
                        site.same = false;
                at += (size_t) n;
                if (site.cuts)
                        (void) cut_file(NULL);
        }
        if (n < 0)
                return (int) n;
        site.same = site.same && at == (size_t) site.offset + PART;
        return eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static int handle(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        if (strcmp(eddy_http_exchange_method(exchange), "PUT") == 0)
                return receive_file(exchange);
        return send_file(exchange);
}

static int serve(void *arg)
{
        (void) arg;
        return eddy_http_serve(site.listener, NULL, handle, NULL);
}

/* Run 'fn' beside a server. */
static int beside_server(eddy_task_fn *fn)
{
        int err = eddy_file_write_whole("/file", contents, BYTES, 0), end_err;
        eddy_scope scope;

        if (err == 0)
                err = eddy_tcp_listen("127.0.0.1", 0, NULL, &site.listener);
        if (err < 0)
                return err;
        snprintf(site.url, sizeof(site.url), "http://127.0.0.1:%u/",
                 eddy_listener_port(site.listener));
        eddy_scope_begin(&scope, NULL);
        err = eddy_http_client_new(NULL, &site.client);
        if (err == 0) {
                err = eddy_scope_start(&scope, serve, NULL);
                if (err == 0)
                        err = fn(NULL);
                eddy_http_client_close(site.client);
        }
        eddy_scope_cancel(&scope);
        end_err = eddy_scope_end(&scope);
        eddy_listener_close(site.listener);
        return err < 0 ? err : end_err == -ECANCELED ? 0 : end_err;
}

/* --- responses --- */

static int get(const char *method)
{
        eddy_http_response *response;
        const void *data;
        size_t bytes;
        int err = eddy_http_client_send(
                site.client, &(struct eddy_http_request){ .method = method, .url = site.url },
                &response);

        if (err < 0)
                return err;
        err = eddy_http_response_body(response, &data, &bytes);
        if (err == 0 && !method)
                site.same = bytes == PART && memcmp(data, contents + OFFSET, PART) == 0;
        if (err == 0 && method)
                site.same = bytes == 0;
        eddy_http_response_close(response);
        return err;
}

static int get_part(void *arg)
{
        (void) arg;
        return get(NULL);
}

static int gets_parts(void *arg)
{
        (void) arg;
        site.offset = OFFSET;
        site.bytes = PART;
        return beside_server(get_part);
}

TEST(a_part_of_a_file_is_the_body_of_a_response)
{
        make_contents();
        for (uint64_t seed = 0; seed < 10; seed++) {
                CHECK_EQ(eddy_test_run(gets_parts, NULL, &(struct eddy_test_opts){ .seed = seed },
                                       NULL),
                         0);
                CHECK(site.same && site.result == 0);
        }
}

static int get_head(void *arg)
{
        (void) arg;
        CHECK_EQ(get("HEAD"), 0);
        CHECK(site.same && site.result == 0);
        return get(NULL); /* on the same connection */
}

static int gets_head(void *arg)
{
        (void) arg;
        site.offset = OFFSET;
        site.bytes = PART;
        return beside_server(get_head);
}

TEST(a_response_to_head_reads_no_byte_of_the_file)
{
        make_contents();
        CHECK_EQ(eddy_test_run(gets_head, NULL, NULL, NULL), 0);
        CHECK(site.same);
}

/* The client reads slowly, and the file is cut meanwhile. */
static int get_cut(void *arg)
{
        eddy_http_response *response;
        char buf[1000];
        int64_t n;
        int err = eddy_http_client_send(site.client, &(struct eddy_http_request){ .url = site.url },
                                        &response);

        (void) arg;
        CHECK_EQ(err, 0);
        CHECK_EQ(cut_file(NULL), 0);
        while ((n = eddy_http_response_read(response, buf, sizeof(buf))) > 0)
                continue;
        CHECK(n < 0);
        eddy_http_response_close(response);
        CHECK_EQ(eddy_sleep(EDDY_SEC(1)), 0);
        CHECK_EQ(site.result, EDDY_E_HTTP_BODY_LENGTH);
        return 0;
}

static int gets_cut(void *arg)
{
        (void) arg;
        site.offset = OFFSET;
        site.bytes = PART;
        return beside_server(get_cut);
}

TEST(a_response_ends_with_an_error_if_its_file_becomes_shorter)
{
        make_contents();
        CHECK_EQ(eddy_test_run(gets_cut, NULL, NULL, NULL), 0);
        site.ignores = true;
        CHECK_EQ(eddy_test_run(gets_cut, NULL, NULL, NULL), 0);
        site.ignores = false;
}

/* --- conditions and ranges of responses --- */

static struct {
        eddy_file *file;
        int64_t offset;
        uint64_t bytes;
        int status;
        struct eddy_http_header headers[3];
        size_t headers_count;
} part;

static int send_part(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_exchange_respond_file(exchange, part.status, part.headers,
                                               part.headers_count, part.file, part.offset,
                                               part.bytes);
}

static void send_with(size_t headers_count, int status)
{
        part.headers_count = headers_count;
        part.status = status;
}

static int ask_parts(void *arg)
{
        char tag[100];

        (void) arg;
        CHECK_EQ(eddy_file_write_whole("/part", "0123456789", 10, 0), 0);
        CHECK_EQ(eddy_sleep(EDDY_SEC(2)), 0);
        CHECK_EQ(eddy_file_open("/part", EDDY_FILE_READ, 0, &part.file), 0);
        reply_by(send_part, NULL);
        part.offset = 2;
        part.bytes = 5;
        send_with(0, 200);
        CHECK_STR(get_reply("/")->body, "23456");
        CHECK_HEADER(get_reply("/"), "Accept-Ranges", "bytes");
        CHECK(reply_header(get_reply("/"), "Last-Modified")[0]);
        snprintf(tag, sizeof(tag), "%s", reply_header(get_reply("/"), "ETag"));
        CHECK_EQ(get_reply("/", "If-None-Match", tag)->status, 304);
        CHECK_EQ(get_reply("/", "If-Match", "\"a\"")->status, 412);
        CHECK_STR(get_reply("/", "Range", "bytes=1-2", "If-Range", tag)->body, "34");
        CHECK_HEADER(get_reply("/", "Range", "bytes=1-2"), "Content-Range", "bytes 1-2/5");
        CHECK_STR(get_reply("/", "Range", "bytes=-1")->body, "6");
        CHECK_EQ(get_reply("/", "Range", "bytes=5-")->status, 416);
        CHECK_EQ(get_reply("/", "Range", "bytes=0-0,2-2")->status, 206);
        CHECK(!strstr(get_reply("/", "Range", "bytes=0-0,2-2")->body, "Content-Type"));
        part.offset = 3; /* another part has another tag */
        CHECK_EQ(get_reply("/", "If-None-Match", tag)->status, 200);
        eddy_file_close(part.file);
        return 0;
}

TEST(a_part_of_a_file_has_validators_and_ranges_of_its_own)
{
        CHECK_EQ(eddy_test_run(ask_parts, NULL, NULL, NULL), 0);
}

static int ask_with_headers(void *arg)
{
        (void) arg;
        CHECK_EQ(eddy_file_write_whole("/part", "0123456789", 10, 0), 0);
        CHECK_EQ(eddy_file_open("/part", EDDY_FILE_READ, 0, &part.file), 0);
        reply_by(send_part, NULL);
        part.offset = 0;
        part.bytes = EDDY_HTTP_FILE_REST;
        part.headers[0] = (struct eddy_http_header){ "etag", "\"own\"" };
        part.headers[1] =
                (struct eddy_http_header){ "last-modified", "Sun, 06 Nov 1994 08:49:37 GMT" };
        send_with(2, 200);
        CHECK(!strstr(get_reply("/")->head, "ETag") && !strstr(get_reply("/")->head, "Last-M"));
        CHECK_EQ(get_reply("/", "If-None-Match", "\"own\"")->status, 304);
        CHECK_EQ(get_reply("/", "If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")->status, 304);
        CHECK_EQ(get_reply("/", "If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT")->status, 200);
        part.headers[1].value =
                "yesterday"; /* conditions with a date do not apply (RFC 9110, 13.1) */
        CHECK_EQ(get_reply("/", "If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT")->status,
                 200);
        CHECK_EQ(get_reply("/", "If-Modified-Since", "Sun, 06 Nov 1994 08:49:38 GMT")->status, 200);
        part.headers[2] = (struct eddy_http_header){ "Accept-Ranges", "none" };
        send_with(3, 200);
        CHECK_STR(get_reply("/", "Range", "bytes=1-2")->body, "0123456789");
        CHECK_EQ(get_reply("/", "If-None-Match", "\"own\"")->status, 304);
        CHECK_HEADER(get_reply("/"), "Accept-Ranges", "none");
        part.headers[2].value = "bytes"; /* not sent twice, and not "none" */
        CHECK_STR(get_reply("/", "Range", "bytes=1-2")->body, "12");
        CHECK(!strstr(strstr(get_reply("/")->head, "Accept-Ranges: bytes") + 1, "Accept-Ranges"));
        part.headers[2] = (struct eddy_http_header){ "Content-Range", "bytes 0-9/10" };
        CHECK_EQ(get_reply("/", "If-None-Match", "\"own\"")->status,
                 200); /* the handler's business */
        send_with(0, 206);
        CHECK_EQ(get_reply("/", "Range", "bytes=90-")->status, 206);
        send_with(0, 404);
        CHECK_EQ(get_reply("/", "If-None-Match", "*")->status, 404);
        CHECK_HEADER(get_reply("/"), "ETag", "");
        send_with(0, 200);
        CHECK_EQ(reply_to("POST", "/", "If-None-Match", "*", "Range", "bytes=1-1", NULL)->status,
                 200);
        eddy_file_close(part.file);
        return 0;
}

TEST(headers_statuses_and_methods_of_the_handler_go_before)
{
        CHECK_EQ(eddy_test_run(ask_with_headers, NULL, NULL, NULL), 0);
}

/* --- requests --- */

static int put(void *arg)
{
        struct eddy_http_file_body body;
        eddy_http_response *response;
        eddy_file *file;
        int err = eddy_file_open("/file", EDDY_FILE_READ, 0, &file);

        (void) arg;
        if (err < 0)
                return err;
        err = eddy_http_file_body_init(&body, file, site.offset, PART);
        if (err == 0)
                err = eddy_http_client_send(site.client,
                                            &(struct eddy_http_request){
                                                    .method = "PUT",
                                                    .url = site.url,
                                                    .body_source = &body.source,
                                            },
                                            &response);
        if (err == 0)
                eddy_http_response_close(response);
        eddy_file_close(file);
        return err;
}

static int puts_part(void *arg)
{
        (void) arg;
        site.offset = OFFSET;
        site.cuts = false;
        return beside_server(put);
}

TEST(a_part_of_a_file_is_the_body_of_a_request)
{
        make_contents();
        for (uint64_t seed = 0; seed < 10; seed++) {
                CHECK_EQ(eddy_test_run(puts_part, NULL, &(struct eddy_test_opts){ .seed = seed },
                                       NULL),
                         0);
                CHECK(site.same);
        }
}

static int puts_cut(void *arg)
{
        (void) arg;
        site.offset = OFFSET;
        site.cuts = true;
        CHECK_EQ(beside_server(put), EDDY_E_HTTP_BODY_LENGTH);
        return 0;
}

TEST(a_request_fails_if_its_file_becomes_shorter)
{
        make_contents();
        CHECK_EQ(eddy_test_run(puts_cut, NULL, NULL, NULL), 0);
}

static int refusals(void *arg)
{
        struct eddy_http_file_body body;
        eddy_file *file;

        (void) arg;
        CHECK_EQ(eddy_file_write_whole("/small", "12345", 5, 0), 0);
        CHECK_EQ(eddy_file_open("/small", EDDY_FILE_READ, 0, &file), 0);
        CHECK_EQ(eddy_http_file_body_init(&body, file, -1, 1), -EINVAL);
        CHECK_EQ(eddy_http_file_body_init(&body, NULL, 0, 1), -EINVAL);
        CHECK_EQ(eddy_http_file_body_init(&body, file, 6, 0), EDDY_E_HTTP_BODY_LENGTH);
        CHECK_EQ(eddy_http_file_body_init(&body, file, 2, 4), EDDY_E_HTTP_BODY_LENGTH);
        CHECK_EQ(eddy_http_file_body_init(&body, file, INT64_MAX, 1), EDDY_E_HTTP_BODY_LENGTH);
        CHECK_EQ(eddy_http_file_body_init(&body, file, 1, UINT64_MAX - 1), EDDY_E_HTTP_BODY_LENGTH);
        CHECK_EQ(eddy_http_file_body_init(&body, file, 2, EDDY_HTTP_FILE_REST), 0);
        CHECK_EQ(body.source.bytes, 3);
        CHECK_EQ(eddy_http_file_body_init(&body, file, 5, EDDY_HTTP_FILE_REST), 0);
        CHECK_EQ(body.source.bytes, 0); /* not "unknown" */
        eddy_file_close(file);
        CHECK_EQ(eddy_file_open("/", EDDY_FILE_READ, 0, &file), 0);
        CHECK_EQ(eddy_http_file_body_init(&body, file, 0, EDDY_HTTP_FILE_REST), -EINVAL);
        eddy_file_close(file);
        return 0;
}

TEST(a_body_is_a_part_of_a_regular_file)
{
        CHECK_EQ(eddy_test_run(refusals, NULL, NULL, NULL), 0);
}

/* --- sweeps --- */

static int both(void *arg)
{
        int err = puts_part(arg);

        return err < 0 ? err : gets_parts(arg);
}

TEST(bodies_from_files_survive_cancels_and_short_memory)
{
        make_contents();
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, both, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, both, NULL, NULL, NULL), 0);
}
