/*
 * test_injection.c - texts with line ends, in each place of an answer that a program or a client can put a
 * text into, by name: no text ends its line, adds a header, or begins another answer.
 */
#include <stdlib.h>
#include <string.h>

#include "eddy/http_answer.h"
#include "eddy/http_exchange_cookies.h"
#include "eddy/http_file.h"
#include "eddy/http_folder.h"
#include "eddy/http_forwarded.h"
#include "eddy/http_middleware.h"
#include "eddy/http_session.h"
#include "eddy/http_sse_server.h"
#include "eddy/test.h"
#include "server_test.h"

/* ---- the texts ------------------------------------------------------------- */

struct text {
        const char *bytes;
        bool is_plain; /* HTTP allows it in a header's value */
};

static const struct text texts[] = {
        { "a\r\nEvil: 1", false },
        { "a\nEvil: 1", false },
        { "a\rEvil: 1", false },
        { "a\r\n\r\nEvil: 1", false },
        { "\r\nEvil: 1", false },
        { "\nEvil: 1", false },
        { "a\r\n Evil: 1", false },
        { "a\r\n\tEvil: 1", false },
        { "a\r\nContent-Length: 0\r\n\r\nHTTP/1.0 200 OK\r\nEvil: 1\r\n\r\n", false },
        { "a\r\nSet-Cookie: evil=1", false },
        { "a\v\f\x1c\x1d\x1e\x1f"
          "Evil: 1",
          false },
        { "a\x7f"
          "Evil: 1",
          false },
        { "a\xc4\x8d\xc4\x8a"
          "Evil: 1",
          true }, /* U+010D, U+010A: CR and LF if cut to a byte */
        { "a\xe2\x80\xa8"
          "Evil: 1",
          true }, /* U+2028 */
        { "a\xc2\x85"
          "Evil: 1",
          true }, /* U+0085 */
        { "a%0d%0aEvil: 1", true },
        { "a%0D%0AEvil:%201%0d%0a%0d%0a", true },
        { "a%250d%250aEvil: 1", true },
        { "a\\r\\nEvil: 1", true },
};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

/* The head of an answer has only lines that end in CR LF, none of which is the text's, and is the only one. */
static void check_answer(const char *place, size_t t, const struct answer *answer)
{
        const char *end = strstr(answer->text, "\r\n\r\n"), *at = answer->text;
        const char *fault = !end || answer->responses != 1 ? "not one answer" : NULL;

        while (!fault && at < end) {
                size_t bytes = strcspn(at, "\r\n");

                if (memcmp(at + bytes, "\r\n", 2) != 0)
                        fault = "a line ends in another way";
                else if (strncasecmp(at, "Evil", 4) == 0 || strstr(at, "Set-Cookie: evil") == at ||
                         *at == ' ' || *at == '\t')
                        fault = "a line of the text";
                for (size_t i = 0; i < bytes; i++)
                        if ((unsigned char) at[i] < ' ' || at[i] == 0x7f)
                                fault = "a control character";
                at += bytes + 2;
        }
        if (!fault && (strstr(answer->text, "\nEvil") || strstr(answer->text, "\rEvil")))
                fault = "a line of the body or a trailer";
        if (!fault && strlen(answer->text) != answer->bytes)
                fault = "a NUL";
        if (fault)
                test_fail(__FILE__, __LINE__, "%s, text %zu: %s: %s", place, t, fault,
                          answer->text);
}

/* ---- places that a program fills ------------------------------------------- */

static eddy_file *file;

static int respond_with(eddy_http_exchange *exchange, const char *name, const char *value)
{
        struct eddy_http_header header = { name, value };

        return eddy_http_exchange_respond(exchange, 200, &header, 1, "x", 1);
}

static int value_of_respond(eddy_http_exchange *exchange, const char *text)
{
        return respond_with(exchange, "X", text);
}

static int name_of_respond(eddy_http_exchange *exchange, const char *text)
{
        return respond_with(exchange, text, "1");
}

static int value_of_begin(eddy_http_exchange *exchange, const char *text)
{
        struct eddy_http_header header = { "X", text };
        int err = eddy_http_exchange_begin(exchange, 200, &header, 1, 0);

        return err == 0 ? eddy_http_exchange_end(exchange) : err;
}

static int value_of_add_header(eddy_http_exchange *exchange, const char *text)
{
        return eddy_http_exchange_add_header(exchange, "X", text);
}

static int name_of_add_header(eddy_http_exchange *exchange, const char *text)
{
        return eddy_http_exchange_add_header(exchange, text, "1");
}

static int location_of_redirect(eddy_http_exchange *exchange, const char *text)
{
        return eddy_http_exchange_redirect(exchange, 302, text);
}

static int location_of_respond(eddy_http_exchange *exchange, const char *text)
{
        return respond_with(exchange, "Location", text);
}

static int content_disposition(eddy_http_exchange *exchange, const char *text)
{
        char value[200];
        struct eddy_http_header header = { "Content-Disposition", value };

        snprintf(value, sizeof(value), "attachment; filename=\"%s\"", text);
        return eddy_http_exchange_respond_file(exchange, 200, &header, 1, file, 0,
                                               EDDY_HTTP_FILE_REST);
}

static int etag_of_a_file(eddy_http_exchange *exchange, const char *text)
{
        struct eddy_http_header header = { "ETag", text };

        return eddy_http_exchange_respond_file(exchange, 200, &header, 1, file, 0,
                                               EDDY_HTTP_FILE_REST);
}

static int type_of_a_file_in_ranges(eddy_http_exchange *exchange, const char *text)
{
        struct eddy_http_header header = { "Content-Type", text };

        return eddy_http_exchange_respond_file(exchange, 200, &header, 1, file, 0,
                                               EDDY_HTTP_FILE_REST);
}

static int early_hint(eddy_http_exchange *exchange, const char *text)
{
        struct eddy_http_header header = { "Link", text };

        return eddy_http_exchange_early_hints(exchange, &header, 1);
}

static int trailer(eddy_http_exchange *exchange, const char *text)
{
        int err;

        CHECK_EQ(eddy_http_exchange_begin(exchange, 200, NULL, 0, -1), 0);
        err = eddy_http_exchange_add_trailer(exchange, "X", text);
        CHECK_EQ(eddy_http_exchange_end(exchange), 0);
        return err;
}

static int cookie_with(eddy_http_exchange *exchange, struct eddy_http_set_cookie cookie)
{
        return eddy_http_exchange_set_cookie(exchange, &cookie);
}

static int value_of_a_cookie(eddy_http_exchange *exchange, const char *text)
{
        return cookie_with(exchange, (struct eddy_http_set_cookie){ .name = "a", .value = text });
}

static int name_of_a_cookie(eddy_http_exchange *exchange, const char *text)
{
        return cookie_with(exchange, (struct eddy_http_set_cookie){ .name = text, .value = "1" });
}

static int path_of_a_cookie(eddy_http_exchange *exchange, const char *text)
{
        char path[200];

        snprintf(path, sizeof(path), "/%s", text);
        return cookie_with(
                exchange, (struct eddy_http_set_cookie){ .name = "a", .value = "1", .path = path });
}

static int domain_of_a_cookie(eddy_http_exchange *exchange, const char *text)
{
        return cookie_with(exchange, (struct eddy_http_set_cookie){
                                             .name = "a", .value = "1", .domain = text });
}

static int detail_of_an_error(eddy_http_exchange *exchange, const char *text)
{
        return eddy_http_exchange_fail(exchange, 404, "%s", text);
}

static int file_of_a_folder(eddy_http_exchange *exchange, const struct eddy_http_folder_opts *opts)
{
        eddy_http_folder *folder;
        int err = eddy_http_folder_new("/www", opts, &folder);

        if (err < 0)
                return err;
        err = eddy_http_folder_respond(exchange, folder, "a.txt");
        eddy_http_folder_free(folder);
        return err;
}

static int cache_control_of_a_folder(eddy_http_exchange *exchange, const char *text)
{
        return file_of_a_folder(exchange, &(struct eddy_http_folder_opts){ .cache_control = text });
}

static int type_of_a_folder(eddy_http_exchange *exchange, const char *text)
{
        struct eddy_http_folder_type type = { "txt", text };

        return file_of_a_folder(
                exchange, &(struct eddy_http_folder_opts){ .types = &type, .types_count = 1 });
}

static const struct place {
        const char *name;
        int (*put)(eddy_http_exchange *exchange, const char *text);
        bool is_body; /* the text is part of the body, in JSON */
        const char *headers;
} places[] = {
        { "value of a header of respond", value_of_respond, false, "" },
        { "name of a header of respond", name_of_respond, false, "" },
        { "value of a header of begin", value_of_begin, false, "" },
        { "value of an added header", value_of_add_header, false, "" },
        { "name of an added header", name_of_add_header, false, "" },
        { "Location of redirect", location_of_redirect, false, "" },
        { "Location of respond", location_of_respond, false, "" },
        { "Content-Disposition of a file", content_disposition, false, "" },
        { "ETag of a file", etag_of_a_file, false, "" },
        { "type of a file in a range", type_of_a_file_in_ranges, false, "Range: bytes=0-1\r\n" },
        { "type of a file in ranges", type_of_a_file_in_ranges, false, "Range: bytes=0-1,3-4\r\n" },
        { "early hint", early_hint, false, "" },
        { "trailer", trailer, false, "TE: trailers\r\n" },
        { "value of a cookie", value_of_a_cookie, false, "" },
        { "name of a cookie", name_of_a_cookie, false, "" },
        { "path of a cookie", path_of_a_cookie, false, "" },
        { "domain of a cookie", domain_of_a_cookie, false, "" },
        { "Cache-Control of a folder", cache_control_of_a_folder, false, "" },
        { "type of a folder's file", type_of_a_folder, false, "" },
        { "detail of an error", detail_of_an_error, true, "" },
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

static const struct place *place;
static const struct text *text;
static int accepted, refused;

/* Put the text into the place. A text that was refused has sent nothing: another answer is sent. */
static int put(eddy_http_exchange *exchange, void *arg)
{
        int err = place->put(exchange, text->bytes);
        struct eddy_http_exchange_info info;

        (void) arg;
        if (err == 0)
                accepted++;
        else
                refused++;
        if (err != 0 && err != EDDY_E_HTTP_INVALID_ANSWER && err != -EINVAL)
                test_fail(__FILE__, __LINE__, "%s: %s", place->name, eddy_error_name(err));
        if (err == 0 && !text->is_plain && !place->is_body)
                test_fail(__FILE__, __LINE__, "%s: text %d was accepted", place->name,
                          (int) (text - texts));
        eddy_http_exchange_info(exchange, &info);
        return info.status ? 0 : eddy_http_exchange_respond(exchange, 200, NULL, 0, "fine", 4);
}

static void make_files(void)
{
        CHECK_EQ(eddy_folder_make("/www", 0), 0);
        CHECK_EQ(eddy_folder_make("/www/sub", 0), 0);
        CHECK_EQ(eddy_file_write_whole("/www/a.txt", "0123456789", 10, 0), 0);
        CHECK_EQ(eddy_file_open("/www/a.txt", EDDY_FILE_READ, 0, &file), 0);
}

static void prepare_places(struct site *site)
{
        make_files();
        site->handler = put;
}

static void fill_places(struct site *site)
{
        accepted = refused = 0;
        for (size_t p = 0; p < PLACES; p++)
                for (size_t t = 0; t < TEXTS; t++) {
                        char request[200];

                        place = &places[p];
                        text = &texts[t];
                        snprintf(request, sizeof(request),
                                 "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n",
                                 place->headers);
                        check_answer(place->name, t, ask(site, request));
                }
        CHECK_EQ(accepted + refused, (int) (PLACES * TEXTS));
        CHECK(refused >= (PLACES - 1) * 12);
        eddy_file_close(file);
}

TEST(no_text_of_a_program_ends_its_line_in_any_place_of_an_answer)
{
        site_run_prepared(NULL, false, prepare_places, fill_places);
}

/* ---- options of middleware ------------------------------------------------- */

/* Each adds a middleware that would send the text. */
static int origins_of_cors(eddy_http_router *router, const char *bytes)
{
        return eddy_http_use_cors(router, &(struct eddy_http_cors_opts){ .origins = bytes });
}

static int methods_of_cors(eddy_http_router *router, const char *bytes)
{
        return eddy_http_use_cors(
                router, &(struct eddy_http_cors_opts){ .origins = "*", .methods = bytes });
}

static int headers_of_cors(eddy_http_router *router, const char *bytes)
{
        return eddy_http_use_cors(
                router, &(struct eddy_http_cors_opts){ .origins = "*", .headers = bytes });
}

static int exposed_of_cors(eddy_http_router *router, const char *bytes)
{
        return eddy_http_use_cors(
                router, &(struct eddy_http_cors_opts){ .origins = "*", .exposed = bytes });
}

static int header_of_request_id(eddy_http_router *router, const char *bytes)
{
        return eddy_http_use_request_id(router,
                                        &(struct eddy_http_request_id_opts){ .header = bytes });
}

static int name_of_session(eddy_http_router *router, const char *bytes)
{
        return eddy_http_use_session(
                router, &(struct eddy_http_session_opts){ .name = bytes,
                                                          .key = "0123456789abcdef0123456789abcdef",
                                                          .key_bytes = 32 });
}

TEST(no_option_of_middleware_has_a_line_end)
{
        static int (*const options[])(eddy_http_router *,
                                      const char *) = { origins_of_cors,      methods_of_cors,
                                                        headers_of_cors,      exposed_of_cors,
                                                        header_of_request_id, name_of_session };

        for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
                for (size_t t = 0; t < TEXTS; t++) {
                        eddy_http_router *router;

                        CHECK_EQ(eddy_http_router_new(&router), 0);
                        CHECK_ERR(options[i](router, texts[t].bytes), -EINVAL);
                        CHECK_ERR(eddy_http_router_check(router, NULL), -EINVAL);
                        eddy_http_router_free(router);
                }
}

/* ---- places that a client fills -------------------------------------------- */

static eddy_http_router *router;
static eddy_http_folder *folder;

/* Show what the client has chosen in headers, as programs do. */
static int show_chosen(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_session *session = eddy_http_exchange_session(exchange);
        const char *query = eddy_http_exchange_query(exchange);
        int err = eddy_http_session_set(session, "query", query ? query : "");

        (void) arg;
        if (err == 0)
                err = respond_with(exchange, "X-Query", query ? query : "");
        return err == EDDY_E_HTTP_INVALID_ANSWER ? eddy_http_exchange_fail(exchange, 400, "no")
                                                 : err;
}

static int go_to_chosen(eddy_http_exchange *exchange, void *arg)
{
        int err = eddy_http_exchange_redirect(exchange, 302,
                                              eddy_http_exchange_param(exchange, "to"));

        (void) arg;
        return err == EDDY_E_HTTP_INVALID_ANSWER ? eddy_http_exchange_fail(exchange, 400, "no")
                                                 : err;
}

static int handle_by_router(eddy_http_exchange *exchange, void *arg)
{
        (void) arg;
        return eddy_http_router_handle(exchange, router);
}

static void prepare_router(struct site *site)
{
        make_files();
        CHECK_EQ(eddy_http_folder_new(
                         "/www",
                         &(struct eddy_http_folder_opts){ .flags = EDDY_HTTP_FOLDER_LISTING },
                         &folder),
                 0);
        CHECK_EQ(eddy_http_router_new(&router), 0);
        (void) eddy_http_use_trusted_proxies(
                router, &(struct eddy_http_trusted_proxies_opts){ .networks = "127.0.0.0/8",
                                                                  .flags = EDDY_HTTP_TRUST_PROTO });
        (void) eddy_http_use_request_id(router, NULL);
        (void) eddy_http_use_cors(
                router, &(struct eddy_http_cors_opts){ .origins = "http://a.test",
                                                       .flags = EDDY_HTTP_CORS_CREDENTIALS });
        (void) name_of_session(router, "session");
        (void) eddy_http_router_add(router, "GET /show", show_chosen, NULL, NULL);
        (void) eddy_http_router_add(router, "GET /go/{to}", go_to_chosen, NULL, NULL);
        (void) eddy_http_router_add(router, "GET /{path...}", eddy_http_folder_handle, folder,
                                    NULL);
        CHECK_EQ(eddy_http_router_check(router, NULL), 0);
        site->handler = handle_by_router;
}

/* Requests with a text at "@", after which the connection ends. */
#define REQUEST(line, headers)                                                                     \
        line "\r\nHost: a\r\nConnection: close\r\nOrigin: http://a.test\r\n" headers "\r\n"

static const char *const requests[] = {
        REQUEST("GET /sub@ HTTP/1.1", ""),
        REQUEST("GET /sub?@ HTTP/1.1", ""),
        REQUEST("GET /@/sub HTTP/1.1", ""),
        REQUEST("GET /@/../sub HTTP/1.1", ""),
        REQUEST("GET http://a@/sub HTTP/1.1", ""),
        REQUEST("GET /go/@ HTTP/1.1", ""),
        REQUEST("GET /show?@ HTTP/1.1", ""),
        REQUEST("GET /a.txt HTTP/1.1@", ""),
        REQUEST("@ /a.txt HTTP/1.1", ""),
        REQUEST("GET /a.txt HTTP/1.1", "X-Request-Id: @\r\n"),
        REQUEST("GET /a.txt HTTP/1.1", "X-Forwarded-For: @\r\nX-Forwarded-Proto: @\r\n"),
        REQUEST("GET /a.txt HTTP/1.1", "Range: bytes=@\r\n"),
        REQUEST("GET /a.txt HTTP/1.1", "Range: bytes=0-1\r\nIf-Range: @\r\n"),
        REQUEST("GET /a.txt HTTP/1.1", "If-None-Match: @\r\n"),
        REQUEST("GET /a.txt HTTP/1.1", "Accept-Encoding: @\r\n"),
        REQUEST("GET /show HTTP/1.1", "Cookie: session=@\r\n"),
        REQUEST("GET /show HTTP/1.1", "Expect: @\r\n"),
        REQUEST("GET /show HTTP/1.1", "Connection: @\r\n"),
        REQUEST("GET /show HTTP/1.1", "@: 1\r\n"),
        REQUEST("OPTIONS /show HTTP/1.1", "Access-Control-Request-Method: @\r\n"),
        REQUEST("OPTIONS /show HTTP/1.1", "Access-Control-Request-Method: GET\r\n"
                                          "Access-Control-Request-Headers: @\r\n"),
        "GET /show HTTP/1.1\r\nConnection: close\r\nHost: a@\r\n\r\n",
        "GET /show HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: http://@.test\r\n\r\n",
};
enum { REQUESTS = sizeof(requests) / sizeof(requests[0]) };

enum spelling { AS_IT_IS, ESCAPED, ESCAPED_TWICE, SPELLINGS };

static void spell(enum spelling spelling, const char *bytes, char *out)
{
        static const char *const escapes[] = { [ESCAPED] = "%", [ESCAPED_TWICE] = "%25" };

        for (; *bytes; bytes++)
                if (spelling == AS_IT_IS)
                        *out++ = *bytes;
                else
                        out += snprintf(out, 6, "%s%02x", escapes[spelling],
                                        (unsigned char) *bytes);
        *out = '\0';
}

/* Put the text into the request at each "@". */
static void put_into(const char *request, const char *chosen, char *out)
{
        const size_t chars = strlen(chosen);

        for (; *request; request++)
                if (*request == '@') {
                        memcpy(out, chosen, chars);
                        out += chars;
                } else {
                        *out++ = *request;
                }
        *out = '\0';
}

static void send_requests(struct site *site)
{
        static char chosen[1000], request[3000];
        int answers[6] = { 0 };

        for (size_t r = 0; r < REQUESTS; r++)
                for (size_t t = 0; t < TEXTS; t++)
                        for (int s = AS_IT_IS; s < SPELLINGS; s++) {
                                const struct answer *got;

                                /* Lines of the client's own request are as it likes. */
                                if (s == AS_IT_IS && strstr(texts[t].bytes, "HTTP/1.0"))
                                        continue;
                                spell((enum spelling) s, texts[t].bytes, chosen);
                                put_into(requests[r], chosen, request);
                                got = ask(site, request);
                                check_answer(requests[r], t, got);
                                answers[got->status / 100 % 6]++;
                                CHECK(got->status < 500 || got->status == 505);
                        }
        CHECK_EQ(answers[2] + answers[3] + answers[4] + answers[5],
                 (int) (REQUESTS * (TEXTS * SPELLINGS - 1)));
        CHECK(answers[2] > 100 && answers[3] > 50 && answers[4] > 100);
        eddy_file_close(file);
        eddy_http_router_free(router);
        eddy_http_folder_free(folder);
}

TEST(no_text_of_a_client_ends_its_line_in_any_place_of_an_answer)
{
        site_run_prepared(NULL, false, prepare_router, send_requests);
}

/* ---- names of files --------------------------------------------------------- */

static void list_names(struct site *site)
{
        char path[200], escaped[1000], request[1200];
        const struct answer *got;

        for (size_t t = 0; t < TEXTS; t++) {
                if (strchr(texts[t].bytes, '/'))
                        continue;
                snprintf(path, sizeof(path), "/www/sub/%s", texts[t].bytes);
                CHECK_EQ(eddy_file_write_whole(path, "text", 4, 0), 0);
                spell(ESCAPED, texts[t].bytes, escaped);
                snprintf(request, sizeof(request),
                         "GET /sub/%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", escaped);
                got = ask(site, request);
                check_answer("the file", t, got);
                CHECK_EQ(got->status, texts[t].is_plain ? 200 : 404);
        }
        got = ask(site, "GET /sub/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        check_answer("the list", 0, got);
        CHECK_EQ(got->status, 200);
        CHECK_HAS_NOT(got->text, "\nEvil");
        CHECK_HAS_NOT(got->text, "\rEvil");
        CHECK_HAS(got->text, "./a%250d%250aEvil%3A%201");
        eddy_file_close(file);
        eddy_http_router_free(router);
        eddy_http_folder_free(folder);
}

TEST(names_of_files_with_line_ends_are_neither_listed_nor_served)
{
        site_run_prepared(NULL, false, prepare_router, list_names);
}
