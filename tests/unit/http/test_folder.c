/*
 * test_folder.c - the files of a folder as answers: names, types, indexes, redirects, conditions, ranges,
 * files that were compressed before, lists; and options. The folder is one of a simulation; those of the
 * kernel are in test_folder_real.c.
 */
#include "eddy/http_compression.h"
#include "eddy/test.h"
#include "folder_test.h"

enum { LARGE = 200000 };

static char large[LARGE];

static void put(const char *path, const char *text)
{
        CHECK_EQ(eddy_file_write_whole(path, text, strlen(text), 0), 0);
}

/* Make the files of all cases. */
static void make_files(void)
{
        for (int i = 0; i < LARGE; i++)
                large[i] = (char) (i * 31 + i / 256);
        CHECK_EQ(eddy_folder_make("/www", 0), 0);
        CHECK_EQ(eddy_folder_make("/www/sub", 0), 0);
        CHECK_EQ(eddy_folder_make("/www/empty", 0), 0);
        CHECK_EQ(eddy_folder_make("/www/.git", 0), 0);
        put("/secret.txt", "secret");
        put("/www/a.txt", "0123456789");
        put("/www/none.txt", "");
        put("/www/index.html", "<p>home");
        put("/www/sub/index.html", "<p>sub");
        put("/www/sub/x y.json", "{}");
        put("/www/.git/config", "hidden");
        put("/www/.hidden", "hidden");
        CHECK_EQ(eddy_file_write_whole("/www/large.bin", large, LARGE, 0), 0);
        http_pause(EDDY_SEC(5)); /* their dates are sent once a second has passed */
}

static const struct eddy_http_folder_opts *next_opts;
static void (*next_fn)(void);

static int run_in_folder(void *arg)
{
        eddy_http_folder *folder;

        (void) arg;
        make_files();
        CHECK_EQ(eddy_http_folder_new("/www", next_opts, &folder), 0);
        reply_by(eddy_http_folder_handle, folder);
        next_fn();
        eddy_http_folder_free(folder);
        return 0;
}

static void folder_run(const struct eddy_http_folder_opts *opts, void (*fn)(void))
{
        next_opts = opts;
        next_fn = fn;
        CHECK_EQ(eddy_test_run(run_in_folder, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_run(run_in_folder, NULL, &(struct eddy_test_opts){ .seed = 3 }, NULL),
                 0);
}

#define FOLDER_OPTIONS(...) (&(const struct eddy_http_folder_opts){ __VA_ARGS__ })
#define FOLDER_TEST(claim, opts)                                                                   \
        static void folder_##claim(void);                                                          \
        TEST(claim)                                                                                \
        {                                                                                          \
                folder_run((opts), folder_##claim);                                                \
        }                                                                                          \
        static void folder_##claim(void)

/* ---- names ----------------------------------------------------------------- */

FOLDER_TEST(a_file_is_sent_with_its_type_and_validators, NULL)
{
        const struct reply *reply = get_reply("/a.txt");

        CHECK_EQ(reply->status, 200);
        CHECK_STR(reply->body, "0123456789");
        CHECK_HEADER(reply, "Content-Type", "text/plain; charset=utf-8");
        CHECK_HEADER(reply, "Content-Length", "10");
        CHECK_HEADER(reply, "X-Content-Type-Options", "nosniff");
        CHECK_HEADER(reply, "Accept-Ranges", "bytes");
        CHECK(reply_header(reply, "ETag")[0] == '"');
        CHECK(reply_header(reply, "Last-Modified")[0]);
        CHECK(!strstr(reply->head, "Vary") && !strstr(reply->head, "Cache-Control"));
        reply = get_reply("/sub/x%20y.json");
        CHECK_EQ(reply->status, 200);
        CHECK_HEADER(reply, "Content-Type", "application/json");
        reply = get_reply("/large.bin");
        CHECK_EQ(reply->bytes, LARGE);
        CHECK(memcmp(reply->body, large, LARGE) == 0);
        CHECK_HEADER(reply, "Content-Type", "application/octet-stream");
        CHECK_EQ(get_reply("/none.txt")->bytes, 0);
        CHECK_EQ(get_reply("/none.txt")->status, 200);
}

FOLDER_TEST(all_that_is_hidden_or_missing_is_the_same_404, NULL)
{
        static const char *const paths[] = {
                "/missing",
                "/.hidden",
                "/.git/config",
                "/.git/",
                "/.git",
                "/a.txt/",
                "/a.txt/b",
                "/sub//x",
                "/a%2fb",
                "/sub%2findex.html",
                "/empty/",
                "//a.txt",
                "/%2e%2e/secret.txt",
                "/sub/..%2f..%2fsecret.txt",
                "/%2fsecret.txt",
                "/sub/index.html/",
                "/a.txt%0a",
                "/...",
        };
        char first[300];

        snprintf(first, sizeof(first), "%s", get_reply("/not-there")->body);
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                const struct reply *reply = get_reply(paths[i]);

                if (reply->status != 404)
                        test_fail(__FILE__, __LINE__, "%s is %d", paths[i], reply->status);
                CHECK_STR(reply->body, first);
                CHECK(!strstr(reply->head, "ETag"));
        }
        CHECK_EQ(get_reply("/a%00.txt")->status, 400);
}

FOLDER_TEST(an_index_is_the_answer_for_a_folder, NULL)
{
        CHECK_STR(get_reply("/")->body, "<p>home");
        CHECK_HEADER(get_reply("/"), "Content-Type", "text/html; charset=utf-8");
        CHECK_STR(get_reply("/sub/")->body, "<p>sub");
        CHECK_STR(get_reply("/sub/?a=b")->body, "<p>sub");
}

FOLDER_TEST(another_index_is_an_option, FOLDER_OPTIONS(.index = "a.txt"))
{
        CHECK_STR(get_reply("/")->body, "0123456789");
        CHECK_EQ(get_reply("/sub/")->status, 404);
}

FOLDER_TEST(an_empty_index_is_none, FOLDER_OPTIONS(.index = ""))
{
        CHECK_EQ(get_reply("/")->status, 404);
        CHECK_EQ(get_reply("/index.html")->status, 200);
}

FOLDER_TEST(a_folder_without_a_slash_is_redirected_by_a_reference_that_stays_here, NULL)
{
        const struct reply *reply = get_reply("/sub");

        CHECK_EQ(reply->status, 301);
        CHECK_HEADER(reply, "Location", "./sub/");
        CHECK_HEADER(get_reply("/sub?q=//evil.test"), "Location", "./sub/?q=//evil.test");
        CHECK_HEADER(get_reply("/%73ub"), "Location", "./%73ub/");
        CHECK_HEADER(reply_to("HEAD", "/sub", NULL), "Location", "./sub/");
        CHECK_EQ(get_reply("//sub")->status, 404);
        CHECK_EQ(get_reply("//evil.test/sub")->status, 404);
        CHECK_EQ(get_reply("/sub/%2f")->status, 404);
}

FOLDER_TEST(head_has_the_headers_of_get_and_other_methods_are_405, NULL)
{
        const struct reply *reply = reply_to("HEAD", "/large.bin", NULL);

        CHECK_EQ(reply->status, 200);
        CHECK_EQ(reply->bytes, 0);
        CHECK_HEADER(reply, "Content-Length", "200000");
        reply = reply_to("HEAD", "/a.txt", "Range", "bytes=0-1", NULL);
        CHECK_EQ(reply->status, 200); /* RFC 9110, 14.2: only for GET */
        CHECK_HEADER(reply, "Content-Length", "10");
        reply = reply_to("POST", "/a.txt", NULL);
        CHECK_EQ(reply->status, 405);
        CHECK_HEADER(reply, "Allow", "GET, HEAD");
        CHECK_EQ(reply_to("DELETE", "/missing", NULL)->status, 405);
}

static int respond_name(eddy_http_exchange *exchange, void *folder)
{
        const char *name = eddy_http_exchange_query(exchange);

        return eddy_http_folder_respond(exchange, folder, strcmp(name, "NULL") == 0 ? NULL : name);
}

static void ask_by_name(void)
{
        eddy_http_folder *folder;

        CHECK_EQ(eddy_http_folder_new("/www", NULL, &folder), 0);
        reply_by(respond_name, folder);
        CHECK_STR(get_reply("/?a.txt")->body, "0123456789");
        CHECK_STR(get_reply("/?sub/")->body, "<p>sub");
        CHECK_EQ(get_reply("/?sub")->status, 404);
        CHECK_EQ(get_reply("/?sub%2findex.html")->status,
                 404); /* not quoted: there is no such file */
        CHECK_EQ(get_reply("/?../secret.txt")->status, 404);
        CHECK_EQ(get_reply("/?/secret.txt")->status, 404);
        CHECK_EQ(get_reply("/?.hidden")->status, 404);
        CHECK_EQ(get_reply("/?NULL")->status, 500);
        eddy_http_folder_free(folder);
}

FOLDER_TEST(a_handler_can_choose_the_file, NULL)
{
        ask_by_name();
}

/* ---- routes ---------------------------------------------------------------- */

static void ask_by_routes(void)
{
        eddy_http_router *router, *sub;
        eddy_http_folder *folder;

        CHECK_EQ(eddy_http_folder_new("/www", NULL, &folder), 0);
        CHECK_EQ(eddy_http_router_new(&router), 0);
        CHECK_EQ(eddy_http_router_new(&sub), 0);
        eddy_http_router_add(router, "GET /static/{path...}", eddy_http_folder_handle, folder,
                             NULL);
        eddy_http_router_add(router, "GET /u/{id}/f/{path...}", eddy_http_folder_handle, folder,
                             NULL);
        eddy_http_router_add(router, "GET /a.txt", eddy_http_folder_handle, folder, NULL);
        eddy_http_router_add(sub, "GET /{path...}", eddy_http_folder_handle, folder, NULL);
        eddy_http_router_mount(router, "/m/n", sub);
        CHECK_EQ(eddy_http_router_check(router, NULL), 0);
        reply_by(eddy_http_router_handle, router);
        CHECK_STR(get_reply("/static/a.txt")->body, "0123456789");
        CHECK_STR(get_reply("/st%61tic/sub/")->body, "<p>sub");
        CHECK_STR(get_reply("/u/a%2Fb/f/a.txt")->body, "0123456789");
        CHECK_STR(get_reply("/m/n/a.txt")->body, "0123456789");
        CHECK_STR(get_reply("/a.txt")->body, "0123456789");
        CHECK_STR(get_reply("/static/")->body, "<p>home");
        CHECK_HEADER(get_reply("/static/sub"), "Location", "./sub/");
        CHECK_EQ(get_reply("/static/sub%2Findex.html")->status, 404);
        CHECK_EQ(get_reply("/static//a.txt")->status, 404);
        CHECK_EQ(get_reply("/static/%2E%2E/secret.txt")->status, 400); /* the router's answer */
        CHECK_EQ(get_reply("/secret.txt")->status, 404);
        CHECK_EQ(reply_to("POST", "/static/a.txt", NULL)->status, 405);
        CHECK_EQ(reply_to("HEAD", "/static/a.txt", NULL)->status, 200);
        eddy_http_router_free(router);
        eddy_http_folder_free(folder);
}

FOLDER_TEST(a_route_with_the_rest_of_a_path_serves_that_rest, NULL)
{
        ask_by_routes();
}

/* ---- options --------------------------------------------------------------- */

static const struct eddy_http_folder_type types[] = { { "txt", "text/x-own" }, { "BIN", "a/b" } };

FOLDER_TEST(types_and_cache_control_are_options,
            FOLDER_OPTIONS(.cache_control = "max-age=60", .types = types, .types_count = 2))
{
        const struct reply *reply = get_reply("/a.txt");

        CHECK_HEADER(reply, "Cache-Control", "max-age=60");
        CHECK_HEADER(reply, "Content-Type", "text/x-own");
        CHECK_HEADER(get_reply("/large.bin"), "Content-Type", "a/b");
        CHECK_HEADER(get_reply("/"), "Content-Type", "text/html; charset=utf-8");
        CHECK(!strstr(get_reply("/missing")->head, "Cache-Control"));
}

static int make_wrong(void *arg)
{
        const struct eddy_http_folder_opts wrong[] = {
                { .flags = 8 },
                { .index = "a/b" },
                { .index = ".index" },
                { .listing_max = EDDY_HTTP_FOLDER_LISTING_MAX + 1 },
        };
        eddy_http_folder *folder = NULL;

        (void) arg;
        make_files();
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                CHECK_ERR(eddy_http_folder_new("/www", &wrong[i], &folder), -EINVAL);
        CHECK_ERR(eddy_http_folder_new(NULL, NULL, &folder), -EINVAL);
        CHECK_ERR(eddy_http_folder_new("/missing", NULL, &folder), -ENOENT);
        CHECK_ERR(eddy_http_folder_new("/secret.txt", NULL, &folder), -ENOTDIR);
        CHECK(!folder);
        eddy_http_folder_free(NULL);
        return 0;
}

TEST(wrong_options_and_folders_are_refused)
{
        CHECK_EQ(eddy_test_run(make_wrong, NULL, NULL, NULL), 0);
}

/* ---- conditions ------------------------------------------------------------ */

/* In a value: the tag, the weak tag, the date of the file, a day before and after. */
static const char *filled(const char *value, const char *tag, const char *date)
{
        static char out[4][300];
        static int next;
        char *to = out[next++ % 4];

        if (strcmp(value, "DATE") == 0)
                snprintf(to, sizeof(out[0]), "%s", date);
        else if (strcmp(value, "BEFORE") == 0)
                snprintf(to, sizeof(out[0]), "Sat, 01 Jan 1994 08:49:37 GMT");
        else if (strcmp(value, "AFTER") == 0)
                snprintf(to, sizeof(out[0]), "Fri, 01 Jan 2100 08:49:37 GMT");
        else if (strstr(value, "TAG"))
                snprintf(to, sizeof(out[0]), "%.*s%s%s", (int) (strstr(value, "TAG") - value),
                         value, tag, strstr(value, "TAG") + 3);
        else
                snprintf(to, sizeof(out[0]), "%s", value);
        return to;
}

static const struct condition {
        int status;
        const char *fields[6]; /* names and values */
} conditions[] = {
        /* a field alone */
        { 304, { "If-None-Match", "TAG" } },
        { 304, { "If-None-Match", "W/TAG" } },
        { 304, { "If-None-Match", "\"a\", TAG" } },
        { 304, { "If-None-Match", "*" } },
        { 200, { "If-None-Match", "\"a\"" } },
        { 200, { "If-None-Match", "" } },
        { 304, { "If-Modified-Since", "DATE" } },
        { 304, { "If-Modified-Since", "AFTER" } },
        { 200, { "If-Modified-Since", "BEFORE" } },
        { 200, { "If-Modified-Since", "yesterday" } },
        { 200, { "If-Match", "TAG" } },
        { 200, { "If-Match", "\"a\", TAG" } },
        { 200, { "If-Match", "*" } },
        { 412, { "If-Match", "W/TAG" } },
        { 412, { "If-Match", "\"a\"" } },
        { 412, { "If-Match", "" } },
        { 200, { "If-Unmodified-Since", "DATE" } },
        { 200, { "If-Unmodified-Since", "AFTER" } },
        { 412, { "If-Unmodified-Since", "BEFORE" } },
        { 200, { "If-Unmodified-Since", "yesterday" } },
        /* the order of RFC 9110, 13.2.2 */
        { 200, { "If-Match", "TAG", "If-Unmodified-Since", "BEFORE" } },
        { 412, { "If-Match", "\"a\"", "If-Unmodified-Since", "AFTER" } },
        { 412, { "If-Match", "\"a\"", "If-None-Match", "TAG" } },
        { 304, { "If-Match", "TAG", "If-None-Match", "TAG" } },
        { 412, { "If-Unmodified-Since", "BEFORE", "If-None-Match", "TAG" } },
        { 200, { "If-None-Match", "\"a\"", "If-Modified-Since", "AFTER" } },
        { 304, { "If-None-Match", "TAG", "If-Modified-Since", "BEFORE" } },
        /* a list in several lines; a date in several lines is none */
        { 304, { "If-None-Match", "\"a\"", "If-None-Match", "TAG" } },
        { 200, { "If-Match", "\"a\"", "If-Match", "TAG" } },
        { 200, { "If-Modified-Since", "DATE", "If-Modified-Since", "DATE" } },
        /* with ranges */
        { 206, { "Range", "bytes=0-1" } },
        { 206, { "Range", "bytes=0-1", "If-Range", "TAG" } },
        { 200, { "Range", "bytes=0-1", "If-Range", "W/TAG" } },
        { 200, { "Range", "bytes=0-1", "If-Range", "\"a\"" } },
        { 200, { "Range", "bytes=0-1", "If-Range", "TAG, \"a\"" } },
        { 206, { "Range", "bytes=0-1", "If-Range", "DATE" } },
        { 200, { "Range", "bytes=0-1", "If-Range", "AFTER" } },
        { 200, { "Range", "bytes=0-1", "If-Range", "BEFORE" } },
        { 200, { "Range", "bytes=0-1", "If-Range", "" } },
        { 200, { "Range", "bytes=99-", "If-Range", "\"a\"" } },
        { 416, { "Range", "bytes=99-", "If-Range", "TAG" } },
        { 416, { "Range", "bytes=99-" } },
        { 304, { "Range", "bytes=99-", "If-None-Match", "TAG" } },
        { 412, { "Range", "bytes=0-1", "If-Match", "\"a\"" } },
        { 206, { "Range", "bytes=0-1", "If-None-Match", "\"a\"" } },
        { 200, { "Range", "bytes=0-1", "Range", "bytes=0-1" } },
        { 200, { "If-Range", "TAG" } },
};

FOLDER_TEST(conditions_are_judged_in_the_order_of_the_standard, NULL)
{
        const struct reply *reply = get_reply("/a.txt");
        char tag[100], date[100];

        snprintf(tag, sizeof(tag), "%s", reply_header(reply, "ETag"));
        snprintf(date, sizeof(date), "%s", reply_header(reply, "Last-Modified"));
        for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
                const char *const *fields = conditions[i].fields;

                if (fields[2])
                        reply = get_reply("/a.txt", fields[0], filled(fields[1], tag, date),
                                          fields[2], filled(fields[3], tag, date));
                else
                        reply = get_reply("/a.txt", fields[0], filled(fields[1], tag, date));
                if (reply->status != conditions[i].status)
                        test_fail(__FILE__, __LINE__, "row %zu (%s: %s): %d", i, fields[0],
                                  fields[1], reply->status);
                if (reply->status == 304) {
                        CHECK_EQ(reply->bytes, 0);
                        CHECK_HEADER(reply, "ETag", tag);
                        CHECK(!strstr(reply->head, "\nContent-"));
                }
        }
}

FOLDER_TEST(a_replaced_file_has_another_tag_and_old_ranges_do_not_match, NULL)
{
        char tag[100];

        snprintf(tag, sizeof(tag), "%s", reply_header(get_reply("/a.txt"), "ETag"));
        CHECK_EQ(eddy_file_replace("/www/a.txt", "9876543210", 10, 0), 0);
        CHECK(strcmp(reply_header(get_reply("/a.txt"), "ETag"), tag) != 0);
        CHECK_STR(get_reply("/a.txt", "Range", "bytes=5-", "If-Range", tag)->body, "9876543210");
        CHECK_STR(get_reply("/a.txt", "Range", "bytes=5-")->body, "43210");
}

FOLDER_TEST(a_date_is_sent_once_its_second_is_over, NULL)
{
        put("/www/new.txt", "new");
        CHECK_HEADER(get_reply("/new.txt"), "Last-Modified", "");
        CHECK(reply_header(get_reply("/new.txt"), "ETag")[0]);
        http_pause(EDDY_SEC(2));
        CHECK(reply_header(get_reply("/new.txt"), "Last-Modified")[0]);
}

/* ---- ranges ---------------------------------------------------------------- */

FOLDER_TEST(a_range_is_a_206_with_its_place, NULL)
{
        const struct reply *reply = get_reply("/a.txt", "Range", "bytes=2-4");

        CHECK_EQ(reply->status, 206);
        CHECK_STR(reply->body, "234");
        CHECK_HEADER(reply, "Content-Range", "bytes 2-4/10");
        CHECK_HEADER(reply, "Content-Length", "3");
        CHECK_HEADER(reply, "Content-Type", "text/plain; charset=utf-8");
        CHECK_STR(get_reply("/a.txt", "Range", "bytes=-3")->body, "789");
        CHECK_STR(get_reply("/a.txt", "Range", "bytes=7-")->body, "789");
        CHECK_STR(get_reply("/a.txt", "Range", "bytes=0-,0-")->body, "0123456789");
        CHECK_STR(get_reply("/a.txt", "Range", "bytes=20-,2-4")->body, "234"); /* one is left */
        CHECK_HEADER(reply, "Content-Range", "bytes 2-4/10");
        reply = get_reply("/large.bin", "Range", "bytes=1000-150000");
        CHECK_EQ(reply->bytes, 149001);
        CHECK(memcmp(reply->body, large + 1000, 149001) == 0);
}

FOLDER_TEST(a_range_outside_of_the_file_is_a_416_with_its_length, NULL)
{
        const struct reply *reply = get_reply("/a.txt", "Range", "bytes=10-");

        CHECK_EQ(reply->status, 416);
        CHECK_HEADER(reply, "Content-Range", "bytes */10");
        CHECK_HEADER(reply, "Content-Type", "application/problem+json");
        CHECK_EQ(get_reply("/none.txt", "Range", "bytes=0-")->status, 416);
        CHECK_EQ(get_reply("/none.txt", "Range", "bytes=-1")->status, 200);
}

/* Read the parts of a body of multipart/byteranges, and compare each with 'whole'. Returns their number. */
static int check_parts(const struct reply *reply, const char *whole, long long bytes)
{
        const char *boundary = strstr(reply_header(reply, "Content-Type"), "boundary=");
        const char *at = reply->body, *end = reply->body + reply->bytes;
        char line[200];
        int count = 0;

        CHECK(boundary);
        for (;; count++) {
                long long first, last, total;
                int n = 0;

                snprintf(line, sizeof(line), "\r\n--%s", boundary + 9);
                CHECK(strncmp(at, line, strlen(line)) == 0);
                at += strlen(line);
                if (strncmp(at, "--\r\n", 4) == 0)
                        break;
                CHECK_EQ(
                        sscanf(at,
                               "\r\nContent-Type: %*[^\r]\r\nContent-Range: bytes %lld-%lld/%lld%n",
                               &first, &last, &total, &n),
                        3);
                CHECK(strncmp(at + n, "\r\n\r\n", 4) == 0);
                at += n + 4;
                CHECK(total == bytes && first <= last && last < bytes);
                CHECK(memcmp(at, whole + first, (size_t) (last - first + 1)) == 0);
                at += last - first + 1;
        }
        CHECK(at + 4 == end);
        return count;
}

FOLDER_TEST(several_ranges_are_parts_of_one_body, NULL)
{
        const struct reply *reply = get_reply("/a.txt", "Range", "bytes=0-0, 3-4, -1, 50-");
        char length[30];

        CHECK_EQ(reply->status, 206);
        CHECK(strncmp(reply_header(reply, "Content-Type"), "multipart/byteranges; boundary=", 31) ==
              0);
        CHECK(!strstr(reply->head, "Content-Range"));
        snprintf(length, sizeof(length), "%zu", reply->bytes);
        CHECK_HEADER(reply, "Content-Length", length);
        CHECK_EQ(check_parts(reply, "0123456789", 10), 3);
        CHECK(strstr(reply->body, "Content-Type: text/plain; charset=utf-8\r\n"));
        reply = get_reply("/large.bin", "Range", "bytes=-70000,0-69999,100000-100001");
        CHECK_EQ(check_parts(reply, large, LARGE), 3);
}

/* The answer is at most the file and the heads of 32 parts. */
FOLDER_TEST(a_range_bomb_gets_the_file_once, NULL)
{
        static char value[8000];
        size_t n = (size_t) snprintf(value, sizeof(value), "bytes=0-");

        while (n < sizeof(value) - 10)
                n += (size_t) snprintf(value + n, sizeof(value) - n, ",0-");
        CHECK_EQ(get_reply("/large.bin", "Range", value)->status, 200);
        CHECK_EQ(get_reply("/large.bin", "Range", value)->bytes, LARGE);
        n = (size_t) snprintf(value, sizeof(value), "bytes=0-0");
        for (int i = 1; i < 32; i++)
                n += (size_t) snprintf(value + n, sizeof(value) - n, ",%d-%d", 2 * i, 2 * i);
        CHECK_EQ(check_parts(get_reply("/large.bin", "Range", value), large, LARGE), 32);
        CHECK(get_reply("/large.bin", "Range", value)->bytes < 32 * 150 + 50);
        snprintf(value + n, sizeof(value) - n, ",64-64");
        CHECK_EQ(get_reply("/large.bin", "Range", value)->bytes, LARGE);
        CHECK_EQ(get_reply("/large.bin", "Range", "bytes=0-,1-")->bytes, LARGE);
}

/* ---- compressed before ----------------------------------------------------- */

static void make_compressed(void)
{
        put("/www/a.js", "plain");
        put("/www/b.js", "plain");
        put("/www/c.js.gz", "gzip");
        http_pause(EDDY_SEC(1));
        put("/www/a.js.gz", "gzip");
        put("/www/a.js.br", "br");
        put("/www/a.js.zst", "zstd");
        put("/www/b.js.gz", "gzip");
        put("/www/index.html.gz", "gzip of home");
        http_pause(EDDY_SEC(1));
}

FOLDER_TEST(a_compressed_file_is_sent_if_the_client_accepts_it,
            FOLDER_OPTIONS(.flags = EDDY_HTTP_FOLDER_PRECOMPRESSED))
{
        static const char *const rows[][3] = {
                { "gzip", "/a.js", "gzip" },
                { "gzip, br", "/a.js", "br" },
                { "zstd, gzip", "/a.js", "zstd" },
                { "br;q=0.5, gzip;q=0.8, zstd;q=0.7", "/a.js", "gzip" },
                { "*", "/a.js", "br" },
                { "br;q=0, *;q=0.1", "/a.js", "zstd" },
                { "br, gzip;q=0.1", "/b.js", "gzip" },
                { "br", "/b.js", "plain" },
                { "identity", "/a.js", "plain" },
                { "gzip;q=0", "/a.js", "plain" },
                { "", "/a.js", "plain" },
                { "gzip", "/", "gzip of home" },
        };
        const struct reply *reply;

        make_compressed();
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                reply = get_reply(rows[i][1], "Accept-Encoding", rows[i][0]);
                CHECK_STR(reply->body, rows[i][2]);
                CHECK_HEADER(reply, "Vary", "Accept-Encoding");
                CHECK_HEADER(reply, "Content-Encoding",
                             strcmp(rows[i][2], "plain") == 0 ? ""
                             : i == 11                        ? "gzip"
                                                              : rows[i][2]);
        }
        reply = get_reply("/a.js", "Accept-Encoding", "gzip", "Range", "bytes=1-");
        CHECK_STR(reply->body, "zip");
        CHECK_HEADER(reply, "Content-Type", "text/javascript; charset=utf-8");
        CHECK_STR(get_reply("/a.js", "Accept-Encoding", "deflate", "Accept-Encoding", "gzip")->body,
                  "gzip");
        CHECK_STR(get_reply("/a.js", "Accept-Encoding", "identity, gzip;q=0.5")->body, "plain");
        CHECK_EQ(get_reply("/c.js", "Accept-Encoding", "gzip")->status, 404);
        CHECK_HEADER(get_reply("/a.js.gz", "Accept-Encoding", "gzip"), "Content-Type",
                     "application/gzip");
}

FOLDER_TEST(each_coding_has_its_own_tag, FOLDER_OPTIONS(.flags = EDDY_HTTP_FOLDER_PRECOMPRESSED))
{
        char tag[100];

        make_compressed();
        snprintf(tag, sizeof(tag), "%s",
                 reply_header(get_reply("/a.js", "Accept-Encoding", "gzip"), "ETag"));
        CHECK(strcmp(reply_header(get_reply("/a.js"), "ETag"), tag) != 0);
        CHECK_EQ(get_reply("/a.js", "Accept-Encoding", "gzip", "If-None-Match", tag)->status, 304);
        CHECK_EQ(get_reply("/a.js", "If-None-Match", tag)->status, 200);
        CHECK_HEADER(get_reply("/a.js", "Accept-Encoding", "gzip", "If-None-Match", tag), "Vary",
                     "Accept-Encoding");
}

/* A client may ask with the tag of another coding: the tags differ only in being weak. */
static void check_tags(const char *path, const char *accepted, bool is_weak)
{
        const struct reply *reply;
        char tag[100];

        snprintf(tag, sizeof(tag), "%s",
                 reply_header(get_reply(path, "Accept-Encoding", accepted), "ETag"));
        CHECK_EQ(strncmp(tag, "W/", 2) == 0, is_weak);
        for (int i = 0; i <= 1; i++) {
                char asked[100];

                snprintf(asked, sizeof(asked), "%s%s", i ? "W/" : "", strchr(tag, '"'));
                reply = get_reply(path, "Accept-Encoding", accepted, "If-None-Match", asked);
                CHECK_EQ(reply->status, 304);
                CHECK_HEADER(reply, "ETag", tag);
                CHECK_HEADER(reply, "Content-Encoding", "");
                CHECK_HEADER(reply, "Content-Type", "");
                reply = reply_to("HEAD", path, "Accept-Encoding", accepted, "If-None-Match", asked,
                                 NULL);
                CHECK_EQ(reply->status, 304);
                CHECK_HEADER(reply, "ETag", tag);
        }
}

/* A router whose middleware compresses answers, such as that with "large.css". */
static eddy_http_router *compressing_router_new(uint32_t flags, eddy_http_folder **ret_folder)
{
        eddy_http_router *router;

        CHECK_EQ(eddy_file_write_whole("/www/large.css", large, LARGE, 0), 0);
        CHECK_EQ(eddy_http_folder_new("/www", FOLDER_OPTIONS(.flags = flags), ret_folder), 0);
        CHECK_EQ(eddy_http_router_new(&router), 0);
        eddy_http_use_compression(router, NULL);
        eddy_http_router_add(router, "GET /{path...}", eddy_http_folder_handle, *ret_folder, NULL);
        reply_by(eddy_http_router_handle, router);
        return router;
}

FOLDER_TEST(a_304_has_the_tag_of_its_200_also_if_that_is_compressed,
            FOLDER_OPTIONS(.flags = EDDY_HTTP_FOLDER_PRECOMPRESSED))
{
        eddy_http_router *router;
        eddy_http_folder *folder;

        make_compressed();
        router = compressing_router_new(EDDY_HTTP_FOLDER_PRECOMPRESSED, &folder);
        check_tags("/large.css", "gzip", true);
        check_tags("/large.css", "zstd", true);
        check_tags("/large.css", "br", false);
        check_tags("/large.bin", "gzip", false);
        check_tags("/a.txt", "gzip", false);
        check_tags("/a.js", "gzip", false);
        eddy_http_router_free(router);
        eddy_http_folder_free(folder);
}

FOLDER_TEST(an_answer_has_one_vary_if_it_could_be_compressed_in_two_ways,
            FOLDER_OPTIONS(.flags = 0))
{
        static const char *const paths[] = { "/a.js", "/large.css", "/a.txt" };
        static const char vary[] = "\nvary: accept-encoding\n";
        eddy_http_router *router;
        eddy_http_folder *folder;

        make_compressed();
        router = compressing_router_new(EDDY_HTTP_FOLDER_PRECOMPRESSED, &folder);
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                const char *head = get_reply(paths[i], "Accept-Encoding", "gzip")->head;
                const char *found = strcasestr(head, vary);

                CHECK(found);
                CHECK(!strcasestr(found + 1, vary));
        }
        eddy_http_router_free(router);
        eddy_http_folder_free(folder);
}

/* All codings have the date, so a part by the date could continue the bytes of another coding. */
static void check_range_by_date(const char *path, const char *first, const char *second)
{
        const struct reply *reply = get_reply(path, "Accept-Encoding", first);
        char date[100], tag[100];

        CHECK_HEADER(reply, "Content-Encoding", first);
        snprintf(date, sizeof(date), "%s", reply_header(reply, "Last-Modified"));
        reply = get_reply(path, "Accept-Encoding", second);
        CHECK_HEADER(reply, "Last-Modified", date);
        snprintf(tag, sizeof(tag), "%s", reply_header(reply, "ETag"));
        CHECK_EQ(get_reply(path, "Accept-Encoding", second, "Range", "bytes=1-", "If-Range", date)
                         ->status,
                 200);
        CHECK_EQ(get_reply(path, "Accept-Encoding", second, "Range", "bytes=1-", "If-Range", tag)
                         ->status,
                 206);
}

FOLDER_TEST(a_download_is_not_resumed_in_another_coding_by_the_date,
            FOLDER_OPTIONS(.flags = EDDY_HTTP_FOLDER_PRECOMPRESSED))
{
        eddy_http_router *router;
        eddy_http_folder *folder;

        make_compressed();
        check_range_by_date("/a.js", "gzip", "br");
        router = compressing_router_new(0, &folder);
        http_pause(EDDY_SEC(1));
        check_range_by_date("/large.css", "gzip", "identity");
        eddy_http_router_free(router);
        eddy_http_folder_free(folder);
}

FOLDER_TEST(a_compressed_file_that_is_older_is_not_sent,
            FOLDER_OPTIONS(.flags = EDDY_HTTP_FOLDER_PRECOMPRESSED))
{
        make_compressed();
        put("/www/a.js", "newer");
        CHECK_STR(get_reply("/a.js", "Accept-Encoding", "gzip, br")->body, "newer");
}

FOLDER_TEST(without_the_option_no_compressed_file_is_looked_for, NULL)
{
        make_compressed();
        CHECK_STR(get_reply("/a.js", "Accept-Encoding", "gzip")->body, "plain");
        CHECK_HEADER(get_reply("/a.js", "Accept-Encoding", "gzip"), "Vary", "");
}

/* ---- lists ----------------------------------------------------------------- */

FOLDER_TEST(a_list_has_the_visible_names_sorted_and_escaped,
            FOLDER_OPTIONS(.flags = EDDY_HTTP_FOLDER_LISTING))
{
        const struct reply *reply;

        CHECK_EQ(eddy_folder_make("/www/list", 0), 0);
        CHECK_EQ(eddy_folder_make("/www/list/b", 0), 0);
        put("/www/list/c.txt", "");
        put("/www/list/.hidden", "");
        put("/www/list/<a href='\"'>&", "");
        put("/www/list/javascript:alert(1)", "");
        put("/www/list/\xff\xfe", "");
        put("/www/list/line\nbreak", "");
        put("/www/list/caf\xc3\xa9 %20?#", "");
        reply = get_reply("/list/");
        CHECK_EQ(reply->status, 200);
        CHECK_HEADER(reply, "Content-Type", "text/html; charset=utf-8");
        CHECK(strstr(reply_header(reply, "Content-Security-Policy"), "default-src 'none'"));
        CHECK_STR(strstr(reply->body, "<ul>"),
                  "<ul>\n<li><a href=\"../\">../</a>\n"
                  "<li><a href=\"./%3Ca%20href%3D%27%22%27%3E%26\">&lt;a "
                  "href=&#39;&quot;&#39;&gt;&amp;</a>\n"
                  "<li><a href=\"./b/\">b/</a>\n<li><a href=\"./c.txt\">c.txt</a>\n"
                  "<li><a href=\"./caf%C3%A9%20%2520%3F%23\">caf\xc3\xa9 %20?#</a>\n"
                  "<li><a href=\"./javascript%3Aalert%281%29\">javascript:alert(1)</a>\n"
                  "<li><a href=\"./%FF%FE\">\xef\xbf\xbd\xef\xbf\xbd</a>\n</ul>\n");
        CHECK(strstr(get_reply("/empty/")->body, "<h1>/empty/</h1>"));
        CHECK_STR(get_reply("/")->body, "<p>home"); /* an index goes before */
        CHECK_EQ(get_reply("/.git/")->status, 404);
        CHECK_EQ(get_reply("/missing/")->status, 404);
        CHECK_EQ(get_reply("/a.txt/")->status, 404);
        CHECK_EQ(reply_to("HEAD", "/list/", NULL)->bytes, 0);
}

FOLDER_TEST(a_list_has_at_most_a_number_of_names,
            FOLDER_OPTIONS(.flags = EDDY_HTTP_FOLDER_LISTING, .listing_max = 3, .index = ""))
{
        const struct reply *reply;
        int count = 0;

        CHECK_EQ(eddy_folder_make("/www/many", 0), 0);
        for (int i = 0; i < 200; i++) {
                char path[40];

                snprintf(path, sizeof(path), "/www/many/%s%d", i < 100 ? "." : "", i);
                put(path, "");
        }
        reply = get_reply("/many/");
        for (const char *at = reply->body; (at = strstr(at, "<li>")); at++)
                count++;
        CHECK_EQ(count, 4); /* with the one of the folder above */
        CHECK(strstr(reply->body, "There are more names"));
        CHECK(!strstr(get_reply("/sub/")->body, "There are more names"));
        CHECK(!strstr(get_reply("/")->body, "../"));
}

/* ---- files that change ----------------------------------------------------- */

static struct {
        const char *path;
        int64_t bytes;
} change;

/* The client reads slowly, and the file changes meanwhile. */
static int check_change(void *arg)
{
        EDDY_AUTO(eddy_http_client) eddy_http_client *client = NULL;
        EDDY_AUTO(eddy_http_response) eddy_http_response *response = NULL;
        EDDY_AUTO(eddy_http_folder) eddy_http_folder *folder = NULL;
        eddy_file *file;
        char buf[1000];
        int64_t n, total = 0;

        (void) arg;
        make_files();
        CHECK_EQ(eddy_http_folder_new("/www", NULL, &folder), 0);
        CHECK_EQ(eddy_http_client_new(
                         &(struct eddy_http_client_opts){ .handler = eddy_http_folder_handle,
                                                          .handler_arg = folder },
                         &client),
                 0);
        CHECK_EQ(eddy_http_client_send(client,
                                       &(struct eddy_http_request){ .url = "http://a/large.bin" },
                                       &response),
                 0);
        CHECK_EQ(eddy_file_open("/www/large.bin", EDDY_FILE_WRITE, 0, &file), 0);
        if (change.bytes == LARGE)
                CHECK_EQ(eddy_file_write_at(file, "x", 1, LARGE - 1), 0);
        else
                CHECK_EQ(eddy_file_truncate(file, change.bytes), 0);
        if (change.bytes > LARGE)
                CHECK_EQ(eddy_file_write_at(file, "x", 1, change.bytes - 1), 0);
        eddy_file_close(file);
        while ((n = eddy_http_response_read(response, buf, sizeof(buf))) > 0)
                total += n;
        CHECK(n < 0 && total < LARGE);
        return 0;
}

TEST(a_file_that_shrinks_grows_or_is_written_while_sent_breaks_the_connection)
{
        static const int64_t lengths[] = { LARGE / 2, LARGE - 1, LARGE, LARGE + 1, 2 * LARGE };

        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
                change.bytes = lengths[i];
                CHECK_EQ(eddy_test_run(check_change, NULL, NULL, NULL), 0);
        }
}

/* ---- sweeps ---------------------------------------------------------------- */

static int ask_all(void *arg)
{
        static const char *const paths[] = { "/",      "/a.txt", "/a.js",   "/sub",
                                             "/list/", "/.git/", "/missing" };
        EDDY_AUTO(eddy_http_folder) eddy_http_folder *folder = NULL;
        static const struct eddy_http_folder_opts opts = {
                .flags = EDDY_HTTP_FOLDER_LISTING | EDDY_HTTP_FOLDER_PRECOMPRESSED,
        };
        int err = eddy_folder_make("/www", 0);

        (void) arg;
        if (err >= 0)
                err = eddy_folder_make("/www/list", 0);
        if (err >= 0)
                err = eddy_folder_make("/www/sub", 0);
        if (err >= 0)
                err = eddy_file_write_whole("/www/list/a", "a", 1, 0);
        if (err >= 0)
                err = eddy_file_write_whole("/www/a.txt", "0123456789", 10, 0);
        if (err >= 0)
                err = eddy_file_write_whole("/www/a.js", "a", 1, 0);
        if (err >= 0)
                err = eddy_file_write_whole("/www/a.js.gz", "b", 1, 0);
        if (err >= 0)
                err = eddy_http_folder_new("/www", &opts, &folder);
        if (err < 0)
                return err;
        reply_by(eddy_http_folder_handle, folder);
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
                const struct reply *reply = get_reply(paths[i], "Accept-Encoding", "gzip", "Range",
                                                      i % 2 ? "bytes=0-1,4-5" : "bytes=90-");

                if (reply->status < 0)
                        return reply->status;
                if (reply->status >= 500)
                        return -EIO;
        }
        return 0;
}

TEST(a_cancel_or_a_shortage_of_memory_at_any_point_leaves_nothing)
{
        static const int kinds[] = { EDDY_TEST_SEEDS, EDDY_TEST_CANCEL, EDDY_TEST_ALLOC,
                                     EDDY_TEST_ALLOC_FOREVER, EDDY_TEST_CALLS };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct eddy_test_sweep sweep;

                CHECK_EQ(eddy_test_sweep(kinds[i], ask_all, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}
