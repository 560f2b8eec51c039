/*
 * test_download.c - bodies as files: what is continued, within a call and by a later one; what is never
 * joined; which files are touched; and that each cut, cancel and lack of memory leaves nothing wrong.
 */
#include "cancel_at.h"
#include "eddy/test_file.h"
#include "http_test.h"

enum { BYTES = 300, LARGE_BYTES = 300000 };

static char body[LARGE_BYTES + 1];

/* What the server does. */
static struct {
        size_t bytes;          /* of the body */
        int64_t cut[8];        /* response i ends after this number of bytes; below 0: whole */
        int responses;         /* so far */
        int status[8];         /* of response i, without a body; 0: the body */
        const char *tag;       /* NULL: none */
        const char *coding;    /* NULL: none */
        const char *rest;      /* Content-Range of each part; NULL: the right one */
        bool ignores, changes; /* ranges; the body, after the first response */
        bool is_garbage;       /* parts are of another body */
        char range[64], accepts[64], if_range[64];
} server;

static int64_t range_of(eddy_http_exchange *exchange)
{
        const char *range = eddy_http_exchange_header(exchange, "Range");
        const char *if_range = eddy_http_exchange_header(exchange, "If-Range");
        const char *accepts = eddy_http_exchange_header(exchange, "Accept-Encoding");

        snprintf(server.range, sizeof(server.range), "%s", range ? range : "");
        snprintf(server.if_range, sizeof(server.if_range), "%s", if_range ? if_range : "");
        snprintf(server.accepts, sizeof(server.accepts), "%s", accepts ? accepts : "");
        if (!range || server.ignores || !if_range || !server.tag ||
            strcmp(if_range, server.tag) != 0)
                return -1;
        CHECK(strncmp(range, "bytes=", 6) == 0);
        return strtoll(range + 6, NULL, 10);
}

static int send_body(eddy_http_exchange *exchange, int at, int64_t first)
{
        char text[64];
        struct eddy_http_header headers[3];
        size_t n = 0, begin = first > 0 ? (size_t) first : 0, bytes = server.bytes - begin;
        int64_t cut = at < 8 && server.cut[at] >= 0 ? server.cut[at] : (int64_t) bytes;
        const char *data = body + begin;
        int err;

        if (server.tag)
                headers[n++] = (struct eddy_http_header){ "ETag", server.tag };
        if (server.coding)
                headers[n++] = (struct eddy_http_header){ "Content-Encoding", server.coding };
        snprintf(text, sizeof(text), "bytes %zu-%zu/%zu", begin, server.bytes - 1, server.bytes);
        if (first >= 0)
                headers[n++] = (struct eddy_http_header){ "Content-Range",
                                                          server.rest ? server.rest : text };
        err = eddy_http_exchange_begin(exchange, first >= 0 ? 206 : 200, headers, n,
                                       (int64_t) bytes);
        if (err == 0 && cut > 0)
                err = eddy_http_exchange_write(
                        exchange, first >= 0 && server.is_garbage ? body + 1 : data, (size_t) cut);
        if (err == 0 && cut < (int64_t) bytes) {
                err = eddy_http_exchange_flush(exchange);
                return err < 0 ? err : -ECONNABORTED;
        }
        return err < 0 ? err : eddy_http_exchange_end(exchange);
}

static int serve(eddy_http_exchange *exchange, void *arg)
{
        int at = server.responses++;
        int64_t first = range_of(exchange);

        (void) arg;
        if (at > 0 && server.changes) {
                server.tag = "\"new\"";
                first = -1;
        }
        if (at < 8 && server.status[at])
                return eddy_http_exchange_respond(exchange, server.status[at], NULL, 0, "no", 2);
        return send_body(exchange, at, first);
}

static void server_reset(size_t bytes)
{
        memset(&server, 0, sizeof(server));
        for (size_t i = 0; i < LARGE_BYTES; i++)
                body[i] = (char) ('!' + (i * 7 + i / 91) % 90);
        for (int i = 0; i < 8; i++)
                server.cut[i] = -1;
        server.bytes = bytes;
        server.tag = "\"a\"";
}

/* ---- a call ------------------------------------------------------------------------------------- */

static const struct eddy_retry_policy once = { .attempts = 1 };

static eddy_http_client *client;
static struct eddy_http_download_result result;
static struct eddy_http_fault reason; /* of get_plain() */

static int get(const struct eddy_http_request *request, struct eddy_http_download_opts opts)
{
        opts.ret_result = &result;
        return eddy_http_download(client, request, "/out", &opts);
}

static int get_plain(struct eddy_http_download_opts opts)
{
        return get(&(struct eddy_http_request){ .url = "http://a/file", .ret_fault = &reason },
                   opts);
}

#define GET(...) get_plain((struct eddy_http_download_opts){ __VA_ARGS__ })

static bool is_there(const char *path)
{
        struct eddy_file_info info;

        return eddy_path_stat(path, 0, &info) == 0;
}

/* The file has the server's bytes. */
static void check_bytes(void)
{
        size_t bytes = 0;
        char *data = NULL;

        CHECK_EQ(eddy_file_read_whole("/out", LARGE_BYTES, &data, &bytes), 0);
        CHECK_EQ(bytes, server.bytes);
        CHECK(memcmp(data, body, bytes) == 0);
        eddy_free(data);
}

/* Likewise, and there are no other files of it. */
static void check_file(void)
{
        check_bytes();
        CHECK(!is_there("/out.part"));
        CHECK(!is_there("/out.part.note"));
}

static void check_nothing(void)
{
        CHECK(!is_there("/out"));
        CHECK(!is_there("/out.part"));
        CHECK(!is_there("/out.part.note"));
}

static void boot_set(const char *id)
{
        static const char *const folders[] = { "/proc", "/proc/sys", "/proc/sys/kernel",
                                               "/proc/sys/kernel/random" };

        for (int i = 0; i < 4; i++)
                CHECK(is_there(folders[i]) || eddy_folder_make(folders[i], 0) == 0);
        CHECK_EQ(eddy_file_write_whole("/proc/sys/kernel/random/boot_id", id, strlen(id), 0), 0);
}

static int run_case(void *arg)
{
        rig_fn *fn = *(rig_fn **) arg;
        struct eddy_http_client_opts opts = { .handler = serve, .decode = true };

        boot_set("11111111-2222-3333-4444-555555555555\n");
        CHECK_EQ(eddy_http_client_new(&opts, &client), 0);
        fn(NULL);
        eddy_http_client_close(client);
        return 0;
}

#define DOWNLOAD_TEST(claim)                                                                       \
        static void case_##claim(struct rig *rig);                                                 \
        TEST(claim)                                                                                \
        {                                                                                          \
                rig_fn *fn = case_##claim;                                                         \
                server_reset(BYTES);                                                               \
                http_run(run_case, &fn);                                                           \
        }                                                                                          \
        static void case_##claim(struct rig *rig __attribute__((unused)))

/* ---- the rule ----------------------------------------------------------------------------------- */

static int count_progress(const struct eddy_http_download_progress *progress, void *arg)
{
        uint64_t *last = arg;

        CHECK(progress->bytes >= *last);
        CHECK_EQ(progress->total, server.bytes);
        *last = progress->bytes;
        return 0;
}

DOWNLOAD_TEST(a_body_becomes_a_file)
{
        uint64_t last = 0;

        server.bytes = LARGE_BYTES;
        CHECK_EQ(GET(.progress = count_progress, .arg = &last, .flags = EDDY_HTTP_DOWNLOAD_HASH),
                 0);
        check_file();
        CHECK_EQ(last, LARGE_BYTES);
        CHECK_EQ(result.status, 200);
        CHECK_EQ(result.requests, 1);
        CHECK_EQ(result.bytes, LARGE_BYTES);
        CHECK_EQ(strlen(result.hash), 64);
        CHECK_STR(server.accepts, "identity");
        CHECK_STR(server.range, "");
        /* It replaces a file. */
        server.bytes = 0;
        CHECK_EQ(GET(.flags = 0), 0);
        check_file();
        CHECK_STR(result.hash, "");
}

DOWNLOAD_TEST(each_cut_is_continued_within_the_call)
{
        for (int64_t cut = 0; cut < BYTES; cut++) {
                char range[64] = "";

                server_reset(BYTES);
                server.cut[0] = cut;
                CHECK_EQ(GET(.flags = 0), 0);
                check_file();
                if (cut > 1)
                        snprintf(range, sizeof(range), "bytes=%lld-", (long long) cut - 1);
                CHECK_STR(server.range, range);
                CHECK_STR(server.if_range, cut > 1 ? "\"a\"" : "");
                CHECK_EQ(result.requests, 2);
        }
}

DOWNLOAD_TEST(each_cut_is_continued_by_a_later_call)
{
        for (int64_t cut = 2; cut < BYTES; cut += 7) {
                server_reset(BYTES);
                server.cut[0] = cut;
                CHECK_ERR(GET(.retry = &once), EDDY_E_HTTP_TRUNCATED);
                CHECK(!is_there("/out"));
                CHECK_EQ(result.bytes, cut);
                CHECK_EQ(result.continued, 0);
                CHECK_EQ(GET(.retry = &once), 0);
                CHECK_EQ(result.continued, cut);
                CHECK_EQ(result.status, 206);
                check_file();
                CHECK_EQ(eddy_path_remove("/out"), 0);
        }
}

DOWNLOAD_TEST(a_part_of_another_url_or_start_or_without_a_validator_is_not_continued)
{
        server.cut[0] = 100;
        CHECK_ERR(GET(.retry = &once), EDDY_E_HTTP_TRUNCATED);
        boot_set("another\n");
        CHECK_EQ(GET(.retry = &once), 0);
        CHECK_STR(server.range, "");
        check_file();

        server_reset(BYTES);
        server.cut[0] = 100;
        CHECK_ERR(GET(.retry = &once), EDDY_E_HTTP_TRUNCATED);
        CHECK_EQ(get(&(struct eddy_http_request){ .url = "http://a/other" },
                     (struct eddy_http_download_opts){ .retry = &once }),
                 0);
        CHECK_STR(server.range, "");
        check_file();

        server_reset(BYTES);
        server.cut[0] = 100;
        server.tag = "W/\"weak\"";
        CHECK_EQ(GET(.flags = 0), 0);
        CHECK_STR(server.range, "");
        check_file();

        server_reset(BYTES);
        server.cut[0] = 100;
        CHECK_ERR(GET(.retry = &once), EDDY_E_HTTP_TRUNCATED);
        CHECK_EQ(GET(.flags = EDDY_HTTP_DOWNLOAD_WHOLE), 0);
        CHECK_STR(server.range, "");
        check_file();
}

DOWNLOAD_TEST(responses_that_do_not_fit_are_never_joined)
{
        static const char *const wrong[] = { "bytes 98-299/300", "bytes 100-299/300",
                                             "bytes 99-299/301", "bytes 99-298/300",
                                             "bytes 99-299/*x",  "lines 99-299/300",
                                             "bytes */300" };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                server_reset(BYTES);
                server.cut[0] = 100;
                server.rest = wrong[i];
                CHECK_EQ(GET(.flags = 0), 0);
                check_file();
                CHECK_EQ(result.requests, 3);
        }
        server_reset(BYTES);
        server.cut[0] = 100;
        server.ignores = true;
        CHECK_EQ(GET(.flags = 0), 0);
        check_file();
        CHECK_EQ(result.requests, 2);

        server_reset(BYTES);
        server.cut[0] = 100;
        server.changes = true;
        CHECK_EQ(GET(.flags = 0), 0);
        check_file();

        server_reset(BYTES);
        server.cut[0] = 100;
        server.status[1] = 416;
        CHECK_EQ(GET(.flags = 0), 0);
        check_file();
        CHECK_EQ(result.requests, 3);
        CHECK_STR(server.range, "");
}

DOWNLOAD_TEST(a_part_without_a_request_for_it_is_an_error)
{
        server.status[0] = 206;
        CHECK_ERR(GET(.retry = &once), EDDY_E_HTTP_INVALID_RESPONSE);
        CHECK_STR(reason.text, "the status 206 answers a request without a range");
        check_nothing();
}

/* ---- failures ----------------------------------------------------------------------------------- */

DOWNLOAD_TEST(a_temporary_failure_leaves_the_part_and_a_final_one_the_file)
{
        struct eddy_http_fault fault;
        struct eddy_http_request request = { .url = "http://a/file", .ret_fault = &fault };

        server.cut[0] = 200;
        server.status[1] = 503;
        CHECK_EQ(GET(.flags = 0), 0);
        CHECK_STR(server.range, "bytes=199-");
        check_file();
        CHECK_STR(reason.text, "");
        server_reset(BYTES);
        server.status[0] = 404;
        CHECK_ERR(get(&request, (struct eddy_http_download_opts){ .flags = 0 }),
                  EDDY_E_HTTP_STATUS);
        CHECK_EQ(fault.status, 404);
        CHECK_STR(fault.body, "no");
        CHECK_EQ(result.requests, 1);
        check_file();
}

/* The client's own retries and judgement do not multiply the attempts, or hide a 416. */
DOWNLOAD_TEST(options_of_the_client_do_not_change_the_attempts)
{
        static const struct eddy_retry_policy many = { .attempts = 4, .base_ns = -1 };
        struct eddy_http_fault fault;
        eddy_http_client *plain = client;

        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = serve, .retry = &many,
                                              .flags = EDDY_HTTP_STATUS_IS_ERROR),
                                      &client),
                 0);
        server.status[0] = server.status[1] = 503;
        CHECK_ERR(get(&(struct eddy_http_request){ .url = "http://a/file", .ret_fault = &fault },
                      (struct eddy_http_download_opts){ .retry = &once }),
                  EDDY_E_HTTP_STATUS);
        CHECK_EQ(server.responses, 1);
        CHECK_EQ(result.status, 503);
        CHECK_EQ(fault.status, 503);
        CHECK_STR(fault.body, "no");
        /* A 416 leads to the whole body. */
        server_reset(BYTES);
        server.cut[0] = 100;
        server.status[1] = 416;
        CHECK_EQ(GET(.flags = 0), 0);
        check_file();
        CHECK_EQ(server.responses, 3);
        eddy_http_client_close(client);
        client = plain;
}

DOWNLOAD_TEST(a_body_of_any_kind_makes_a_request_that_is_sent_once)
{
        static const struct eddy_http_part part = { .name = "a", .data = "b", .data_bytes = 1 };
        static const struct eddy_http_multipart form = { .parts = &part, .parts_count = 1 };
        static const char *const methods[] = { NULL, "GET" };

        for (int i = 0; i < 2; i++) {
                server_reset(BYTES);
                server.cut[0] = 100;
                CHECK_ERR(get(&(struct eddy_http_request){ .url = "http://a/file",
                                                           .method = methods[i],
                                                           .multipart = &form },
                              (struct eddy_http_download_opts){ .retry = &once }),
                          EDDY_E_HTTP_TRUNCATED);
                CHECK_STR(server.range, "");
                check_nothing();
        }
}

DOWNLOAD_TEST(a_hash_is_checked_before_the_file_gets_its_name)
{
        char hash[EDDY_HTTP_DOWNLOAD_HASH_DIGITS + 1];

        CHECK_EQ(GET(.flags = EDDY_HTTP_DOWNLOAD_HASH), 0);
        memcpy(hash, result.hash, sizeof(hash));
        CHECK_EQ(eddy_path_remove("/out"), 0);
        server.cut[0] = 100;
        server.responses = 0;
        server.is_garbage = true;
        CHECK_EQ(GET(.hash = hash), 0);
        CHECK_EQ(result.requests, 3); /* the join was wrong, so the whole was received again */
        check_file();
        CHECK_EQ(eddy_path_remove("/out"), 0);
        hash[0] = hash[0] == '0' ? '1' : '0';
        CHECK_ERR(GET(.hash = hash), EDDY_E_HTTP_HASH);
        CHECK(strncmp(reason.text, "the SHA-256 of the file is ", 27) == 0);
        CHECK_STR(reason.text + 27, result.hash);
        check_nothing();
        CHECK_EQ(GET(.hash = "12"), -EINVAL);
        CHECK_STR(reason.text, "hash: a SHA-256 has 64 hexadecimal digits");
        CHECK_EQ(GET(.flags = 1 << 5), -EINVAL);
        CHECK_STR(reason.text, "flags: a flag is unknown");
}

DOWNLOAD_TEST(a_file_above_the_limit_is_removed)
{
        struct eddy_http_request request = { .url = "http://a/file",
                                             .body_bytes_max = BYTES - 1,
                                             .ret_fault = &reason };

        CHECK_ERR(get(&request, (struct eddy_http_download_opts){ .flags = 0 }),
                  EDDY_E_HTTP_TOO_LARGE);
        CHECK(strstr(reason.text, "larger than its limit"));
        check_nothing();
        request.body_bytes_max = BYTES;
        CHECK_EQ(get(&request, (struct eddy_http_download_opts){ .flags = 0 }), 0);
        check_file();
}

DOWNLOAD_TEST(files_of_the_user_are_not_touched)
{
        size_t bytes = 0;
        char *data = NULL;

        CHECK_EQ(eddy_file_write_whole("/out.part", "mine", 4, 0), 0);
        CHECK_EQ(GET(.flags = 0), -EEXIST);
        CHECK_STR(reason.text, "/out.part, or its note, is not a part of eddy's: remove it");
        CHECK_EQ(eddy_file_write_whole("/out.part.note", "mine", 4, 0), 0);
        CHECK_EQ(GET(.flags = 0), -EEXIST);
        CHECK_EQ(eddy_file_read_whole("/out.part", 100, &data, &bytes), 0);
        CHECK_STR(data, "mine");
        eddy_free(data);
        CHECK_EQ(server.responses, 0);
        CHECK_EQ(eddy_path_remove("/out.part"), 0);
        CHECK_EQ(eddy_path_remove("/out.part.note"), 0);
        CHECK_EQ(eddy_file_write_whole("/out", "mine", 4, 0), 0);
        CHECK_EQ(GET(.flags = EDDY_HTTP_DOWNLOAD_NEW), -EEXIST);
        CHECK(strncmp(reason.text, "/out: ", 6) == 0 && reason.text[6]);
        CHECK_EQ(server.responses, 0);
        CHECK_EQ(eddy_path_remove("/out"), 0);
        CHECK_EQ(eddy_folder_make("/out", 0), 0);
        CHECK_EQ(GET(.flags = 0), -EISDIR);
        CHECK(strncmp(reason.text, "/out: ", 6) == 0 && reason.text[6]);
        CHECK_EQ(eddy_folder_remove("/out"), 0);
}

/* After a crash of the machine, a note may have zeros; after a kill, only its first bytes. */
DOWNLOAD_TEST(a_note_that_is_torn_anywhere_is_begun_again)
{
        static const char whole[] = "eddy download 1\n0123";

        for (size_t n = 0; n <= sizeof(whole); n++) {
                server_reset(BYTES);
                CHECK_EQ(eddy_file_write_whole("/out.part.note",
                                               n == sizeof(whole) ? "\0\0\0" : whole,
                                               n == sizeof(whole) ? 3 : n, 0),
                         0);
                CHECK_EQ(eddy_file_write_whole("/out.part", "rest", 4, 0), 0);
                CHECK_EQ(GET(.flags = EDDY_HTTP_DOWNLOAD_NEW), 0);
                CHECK_STR(server.range, "");
                check_file();
                CHECK_EQ(eddy_path_remove("/out"), 0);
        }
        /* A longer file that begins like a note is not one. */
        memcpy(body, whole, sizeof(whole));
        CHECK_EQ(eddy_file_write_whole("/out.part.note", body, 4000, 0), 0);
        CHECK_EQ(GET(.flags = 0), -EEXIST);
        CHECK(is_there("/out.part.note"));
}

/* ---- two calls to one path ---------------------------------------------------------------------- */

/* Within the first call, before and while its bytes arrive. */
static int try_second(const struct eddy_http_download_progress *progress, void *arg)
{
        struct eddy_http_download_result first = result;
        int *count = arg;

        (void) progress;
        ++*count;
        CHECK_EQ(GET(.flags = 0), -EBUSY);
        CHECK_EQ(get(&(struct eddy_http_request){ .url = "http://a/other" },
                     (struct eddy_http_download_opts){ .flags = EDDY_HTTP_DOWNLOAD_WHOLE }),
                 -EBUSY);
        result = first;
        return 0;
}

DOWNLOAD_TEST(a_second_call_to_the_path_is_refused_and_changes_nothing)
{
        int count = 0;

        server.bytes = LARGE_BYTES;
        server.cut[0] = LARGE_BYTES / 2;
        CHECK_EQ(GET(.progress = try_second, .arg = &count), 0);
        CHECK(count > 4);
        CHECK_EQ(server.responses, 2);
        check_file();
        CHECK_EQ(GET(.flags = 0), 0);
        check_file();
}

static int successes;

static int get_or_find_busy(void *arg)
{
        int err = get(&(struct eddy_http_request){ .url = arg },
                      (struct eddy_http_download_opts){ .flags = 0 });

        CHECK(err == 0 || err == -EBUSY);
        successes += err == 0;
        return 0;
}

DOWNLOAD_TEST(of_calls_that_begin_together_at_least_one_succeeds_and_the_file_is_whole)
{
        static char urls[2][16] = { "http://a/1", "http://a/2" };

        for (int round = 0; round < 20; round++) {
                eddy_scope scope;

                server_reset(BYTES);
                server.cut[0] = 10 * round;
                successes = 0;
                eddy_scope_begin(&scope, NULL);
                for (int i = 0; i < 8; i++)
                        eddy_scope_start(&scope, get_or_find_busy, urls[i % 2]);
                CHECK_EQ(eddy_scope_end(&scope), 0);
                CHECK(successes >= 1);
                check_file();
        }
}

DOWNLOAD_TEST(a_coded_body_is_saved_as_it_is_and_not_continued)
{
        server.coding = "gzip";
        server.cut[0] = 100;
        CHECK_EQ(GET(.flags = 0), 0);
        CHECK_STR(server.range, "");
        check_file();
}

DOWNLOAD_TEST(a_post_is_sent_once_and_a_range_of_the_caller_is_left_alone)
{
        const struct eddy_http_header range = { "Range", "bytes=5-9" };

        server.cut[0] = 100;
        CHECK_ERR(get(&(struct eddy_http_request){ .url = "http://a/", .method = "POST" },
                      (struct eddy_http_download_opts){ .flags = 0 }),
                  EDDY_E_HTTP_TRUNCATED);
        CHECK_EQ(server.responses, 1);
        check_nothing();
        CHECK_EQ(get(&(struct eddy_http_request){ .url = "http://a/",
                                                  .headers = &range,
                                                  .headers_count = 1 },
                     (struct eddy_http_download_opts){ .flags = 0 }),
                 0);
        CHECK_STR(server.range, "bytes=5-9");
}

static int stop_progress(const struct eddy_http_download_progress *progress, void *arg)
{
        (void) arg;
        return progress->bytes >= 64 << 10 ? -EDOM : 0;
}

DOWNLOAD_TEST(an_error_of_the_progress_ends_the_call_and_leaves_the_part)
{
        server.bytes = LARGE_BYTES;
        CHECK_EQ(GET(.progress = stop_progress), -EDOM);
        CHECK_EQ(server.responses, 1);
        CHECK(is_there("/out.part"));
        CHECK_EQ(GET(.flags = 0), 0);
        CHECK(result.continued >= 64 << 10);
        check_file();
}

/* ---- at every point ----------------------------------------------------------------------------- */

static int get_task(void *arg)
{
        (void) arg;
        return GET(.flags = EDDY_HTTP_DOWNLOAD_HASH);
}

DOWNLOAD_TEST(a_cancel_at_any_point_leaves_the_part_or_the_file)
{
        bool reached = true;

        for (int n = 0; reached; n++) {
                int err;

                server_reset(LARGE_BYTES);
                server.cut[0] = LARGE_BYTES / 2;
                err = cancel_at(n, get_task, NULL, &reached);
                CHECK(err == 0 || err == -ECANCELED);
                if (err == 0)
                        check_file();
                else
                        CHECK(!is_there("/out"));
                CHECK_EQ(GET(.flags = 0), 0);
                check_file();
                CHECK_EQ(eddy_path_remove("/out"), 0);
        }
}

DOWNLOAD_TEST(without_memory_at_any_point_nothing_is_wrong)
{
        static const struct eddy_retry_policy twice = { .attempts = 2, .base_ns = -1 };
        bool failed = true;

        for (int n = 0; failed; n++) {
                int err;

                server_reset(BYTES);
                server.cut[0] = 100;
                http_memory_fails(n);
                err = GET(.retry = &twice, .flags = EDDY_HTTP_DOWNLOAD_HASH);
                failed = http_memory_is_back();
                CHECK(failed || err == 0);
                if (is_there("/out"))
                        check_file(); /* without its note: removing it is tried again */
                else
                        CHECK(err < 0);
                CHECK_EQ(GET(.flags = 0), 0);
                check_file();
                CHECK_EQ(eddy_path_remove("/out"), 0);
        }
}

/* Make all that is on the disk durable. */
static void disk_sync(void)
{
        static const char *const folders[] = { "/", "/proc", "/proc/sys", "/proc/sys/kernel",
                                               "/proc/sys/kernel/random" };
        eddy_file *file;

        for (int i = 0; i < 5; i++)
                CHECK_EQ(eddy_folder_sync(folders[i]), 0);
        CHECK_EQ(eddy_file_open("/proc/sys/kernel/random/boot_id", EDDY_FILE_READ, 0, &file), 0);
        CHECK_EQ(eddy_file_sync(file, 0), 0);
        eddy_file_close(file);
}

DOWNLOAD_TEST(a_crash_of_the_machine_at_any_operation_leaves_a_whole_file_or_none)
{
        enum { STATES_MAX = 60 }; /* of each crash, evenly chosen */
        static const struct eddy_retry_policy twice = { .attempts = 2, .base_ns = -1 };
        int crashes = 0, checked = 0;
        char id[32];

        for (uint64_t n = 1;; n++) {
                uint64_t states, step;
                int err;

                server_reset(BYTES);
                server.cut[0] = 100;
                disk_sync();
                CHECK_EQ(eddy_test_power_off_at(n), 0);
                err = GET(.retry = &twice);
                CHECK_EQ(eddy_test_power_off_at(0), 0);
                if (err == 0)
                        break;
                crashes++;
                states = (uint64_t) eddy_test_power_off();
                step = states / STATES_MAX + 1;
                for (uint64_t i = 0; i < states; i += step) {
                        CHECK_EQ(eddy_test_power_on(i), 0);
                        snprintf(id, sizeof(id), "start-%d\n", crashes);
                        boot_set(id);
                        if (is_there("/out"))
                                check_bytes();
                        server_reset(BYTES);
                        CHECK_EQ(GET(.retry = &once), 0);
                        CHECK_EQ(result.continued, 0);
                        check_file();
                        checked++;
                }
                CHECK_EQ(eddy_path_remove("/out"), 0);
        }
        printf("# %d crashes, %d states\n", crashes, checked);
        CHECK(crashes > 10);
}
