/*
 * test_multipart.c - forms with files: their bodies, lengths and faults, and reading them again; under
 * cancels, failed calls and a shortage of memory at each point.
 */
#include "eddy/test.h"
#include "server_test.h"

enum { BIG_BYTES = 40000, OUT_BYTES = 2048 };

static char big[BIG_BYTES];

/* Pieces of a text, as a body source. */
struct text {
        const char *text;
        size_t at, piece;
        int rewinds;
};

static int64_t text_read(void *arg, void *buf, size_t bytes)
{
        struct text *text = arg;
        size_t n = strlen(text->text + text->at);
        int err = eddy_sleep(1);

        if (err < 0)
                return err;
        n = n < bytes ? n : bytes;
        n = n < text->piece ? n : text->piece;
        memcpy(buf, text->text + text->at, n);
        text->at += n;
        return (int64_t) n;
}

static int text_rewind(void *arg)
{
        struct text *text = arg;

        text->at = 0;
        text->rewinds++;
        return 0;
}

static void fill_big(void)
{
        for (size_t i = 0; i < BIG_BYTES; i++)
                big[i] = (char) (i * 7 + i / 251);
}

static int write_file(const char *path, const void *data, size_t bytes)
{
        return eddy_file_write_whole(path, data, bytes, 0);
}

/* Read a whole body, 'piece' bytes at a time. Returns its length, or an error. */
static int64_t read_body(const eddy_http_multipart_body *body, char *out, size_t room, size_t piece)
{
        const struct eddy_http_body_source *source = eddy_http_multipart_source(body);
        size_t at = 0;
        int64_t n;

        while ((n = source->read(source->arg, out + at, room - at < piece ? room - at : piece)) > 0)
                at += (size_t) n;
        return n < 0 ? n : (int64_t) at;
}

/* ---- one form, written and read ------------------------------------------------ */

static int open_form(struct text *text, bool is_known, eddy_http_multipart_body **ret_body)
{
        static const struct eddy_http_header header = { "X-Kind", "test" };
        static struct eddy_http_body_source source;
        static struct eddy_http_part parts[] = {
                { .name = "model", .data = "small", .data_bytes = 5 },
                { .name = "empty" },
                { .name = "file", .path = "/big", .type = "audio/mpeg" },
                { .name = "s",
                  .filename = "s\"\xC3\xA4",
                  .source = &source,
                  .headers = &header,
                  .headers_count = 1 },
                { .name = "none", .path = "/none", .filename = "none.txt" },
        };
        static const struct eddy_http_multipart form = { .parts = parts, .parts_count = 5 };

        source = (struct eddy_http_body_source){
                .read = text_read,
                .rewind = text_rewind,
                .arg = text,
                .bytes = is_known ? (int64_t) strlen(text->text) : -1,
        };
        return eddy_http_multipart_open(&form, NULL, ret_body);
}

/* Read the present part in pieces of 'piece' bytes, and compare. */
static int check_part(eddy_http_multipart_reader *reader, const char *expected, size_t bytes,
                      size_t piece)
{
        size_t at = 0;
        char buf[999];
        int64_t n;

        while ((n = eddy_http_multipart_read(reader, buf, piece)) > 0) {
                CHECK(at + (size_t) n <= bytes);
                CHECK(memcmp(buf, expected + at, (size_t) n) == 0);
                at += (size_t) n;
        }
        if (n == 0)
                CHECK_EQ(at, bytes);
        return (int) n;
}

static const struct expected {
        const char *name, *filename, *type, *data;
} expected[] = {
        { "model", NULL, NULL, "small" },
        { "empty", NULL, NULL, "" },
        { "file", "big", "audio/mpeg", NULL },
        { "s", "s\"\xC3\xA4", "application/octet-stream", "some text" },
        { "none", "none.txt", "application/octet-stream", "" },
};

static void check_head(eddy_http_multipart_reader *reader, size_t i,
                       const struct eddy_http_multipart_part *part)
{
        struct eddy_http_header header;

        CHECK(i < 5);
        CHECK_STR(part->name, expected[i].name);
        CHECK_STR(part->filename ? part->filename : "-",
                  expected[i].filename ? expected[i].filename : "-");
        CHECK_STR(part->type ? part->type : "-", expected[i].type ? expected[i].type : "-");
        CHECK_EQ(eddy_http_multipart_header_at(reader, 0, &header), 0);
        CHECK_STR(header.name, "Content-Disposition");
        if (i == 3) {
                CHECK_EQ(eddy_http_multipart_header_at(reader, 2, &header), 0);
                CHECK_STR(header.name, "X-Kind");
                CHECK_STR(header.value, "test");
                CHECK_EQ(eddy_http_multipart_header_at(reader, 3, &header), -ENOENT);
        }
}

static int read_parts(eddy_http_multipart_reader *reader, size_t piece)
{
        struct eddy_http_multipart_part part;
        size_t i = 0, bytes;
        const char *data;
        int err;

        while ((err = eddy_http_multipart_next(reader, &part)) > 0) {
                check_head(reader, i, &part);
                if (i == 2) {
                        err = check_part(reader, big, BIG_BYTES, piece);
                } else {
                        err = eddy_http_multipart_whole(reader, 100, &data, &bytes);
                        if (err == 0)
                                CHECK_STR(data, expected[i].data);
                }
                if (err < 0)
                        return err;
                i++;
        }
        if (err == 0)
                CHECK_EQ(i, 5);
        return err;
}

/* A body is read by a reader, through a source that gives 'piece' bytes at a time. */
struct pieces {
        const struct eddy_http_body_source *source;
        size_t piece;
};

static int64_t pieces_read(void *arg, void *buf, size_t bytes)
{
        struct pieces *pieces = arg;

        return pieces->source->read(pieces->source->arg, buf,
                                    bytes < pieces->piece ? bytes : pieces->piece);
}

static int read_again(const eddy_http_multipart_body *body, size_t piece)
{
        struct pieces pieces = { eddy_http_multipart_source(body), piece };
        const struct eddy_http_body_source source = { .read = pieces_read, .arg = &pieces };
        eddy_http_multipart_reader *reader;
        int err = eddy_http_multipart_reader_open(eddy_http_multipart_type(body), &source, NULL,
                                                  &reader);

        if (err < 0)
                return err;
        err = read_parts(reader, piece < 999 ? piece : 999);
        eddy_http_multipart_reader_close(reader);
        return err;
}

static int write_and_read(void *arg)
{
        struct text text = { .text = "some text", .piece = 4 };
        eddy_http_multipart_body *body;
        int err = write_file("/big", big, BIG_BYTES);

        (void) arg;
        if (err == 0)
                err = write_file("/none", "", 0);
        if (err == 0)
                err = open_form(&text, true, &body);
        if (err < 0)
                return err;
        err = read_again(body, 16384);
        eddy_http_multipart_close(body);
        return err;
}

TEST(form_survives_cancels_short_memory_and_failed_calls)
{
        struct eddy_test_sweep sweep;

        fill_big();
        for (int what = EDDY_TEST_CANCEL; what <= EDDY_TEST_CALLS; what++) {
                CHECK_EQ(eddy_test_sweep(what, write_and_read, NULL, NULL, &sweep), 0);
                CHECK(sweep.tried > 0);
        }
}

static int any_pieces(void *arg)
{
        struct text text = { .text = "some text", .piece = 2 };
        static char out[BIG_BYTES + OUT_BYTES];
        eddy_http_multipart_body *body;
        int64_t bytes;

        (void) arg;
        CHECK_EQ(write_file("/big", big, BIG_BYTES), 0);
        CHECK_EQ(write_file("/none", "", 0), 0);
        CHECK_EQ(open_form(&text, true, &body), 0);
        bytes = eddy_http_multipart_source(body)->bytes;
        CHECK(bytes > BIG_BYTES);
        for (size_t piece = 1; piece < 300; piece += piece < 90 ? 1 : 40) {
                CHECK_EQ(read_again(body, piece), 0);
                CHECK_EQ(eddy_http_multipart_source(body)->rewind(body), 0);
                CHECK_EQ(read_body(body, out, sizeof(out), piece), bytes);
                CHECK_EQ(eddy_http_multipart_source(body)->rewind(body), 0);
        }
        CHECK(text.rewinds > 0);
        eddy_http_multipart_close(body);
        return 0;
}

TEST(form_of_known_length_is_read_in_any_pieces_and_again_after_a_rewind)
{
        fill_big();
        http_run(any_pieces, NULL);
}

static int unknown_length(void *arg)
{
        struct text text = { .text = "some text", .piece = 2 };
        eddy_http_multipart_body *body;

        (void) arg;
        CHECK_EQ(write_file("/big", big, BIG_BYTES), 0);
        CHECK_EQ(write_file("/none", "", 0), 0);
        CHECK_EQ(open_form(&text, false, &body), 0);
        CHECK_EQ(eddy_http_multipart_source(body)->bytes, -1);
        CHECK_EQ(read_again(body, 1000), 0);
        eddy_http_multipart_close(body);
        return 0;
}

TEST(form_with_a_source_of_unknown_length_has_none)
{
        http_run(unknown_length, NULL);
}

/* ---- exact bodies and faults --------------------------------------------------- */

/* The body of parts, with B for its boundary. */
static void body_text(const struct eddy_http_part *parts, size_t n, char out[OUT_BYTES])
{
        const struct eddy_http_multipart form = { .parts = parts, .parts_count = n };
        eddy_http_multipart_body *body;
        const char *boundary;
        char raw[OUT_BYTES];
        int64_t bytes;
        char *at, *end = raw;

        CHECK_EQ(eddy_http_multipart_open(&form, NULL, &body), 0);
        bytes = read_body(body, raw, sizeof(raw) - 1, 7);
        CHECK_EQ(bytes, eddy_http_multipart_source(body)->bytes);
        raw[bytes] = '\0';
        boundary = strstr(eddy_http_multipart_type(body), "boundary=") + 9;
        CHECK_EQ(strlen(boundary), 36);
        for (char *rest = raw; (at = strstr(rest, boundary)); rest = at + 36) {
                out += snprintf(out, OUT_BYTES, "%.*sB", (int) (at - rest), rest);
                end = at + 36;
        }
        memcpy(out, end, strlen(end) + 1);
        eddy_http_multipart_close(body);
}

static int exact_bodies(void *arg)
{
        const struct eddy_http_part parts[] = {
                { .name = "a\r\n\"",
                  .data = "1\0"
                          "2",
                  .data_bytes = 1 },
                { .name = "f", .filename = "", .data = "x", .data_bytes = 1, .type = "text/plain" },
        };
        char out[OUT_BYTES];

        (void) arg;
        body_text(parts, 2, out);
        CHECK_STR(out, "--B\r\nContent-Disposition: form-data; name=\"a%0D%0A%22\"\r\n\r\n1\r\n"
                       "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\n"
                       "Content-Type: text/plain\r\n\r\nx\r\n--B--\r\n");
        body_text(NULL, 0, out);
        CHECK_STR(out, "--B--\r\n");
        return 0;
}

TEST(body_has_the_texts_that_a_browser_writes)
{
        http_run(exact_bodies, NULL);
}

static void check_fault(const struct eddy_http_part *part, int error, const char *text)
{
        const struct eddy_http_multipart form = { .parts = part, .parts_count = 1 };
        struct eddy_http_fault fault = { .text = "" };
        eddy_http_multipart_body *body = NULL;

        CHECK_ERR(eddy_http_multipart_open(&form, &fault, &body), error);
        CHECK_STR(fault.text, text);
        CHECK(!body);
}

#define FAULT(error, text, ...)                                                                    \
        check_fault(&(struct eddy_http_part){ __VA_ARGS__ }, error, "part 1 of the form, " text)
#define REFUSED(text, ...) FAULT(EDDY_E_HTTP_INVALID_REQUEST, text, __VA_ARGS__)

static int faults(void *arg)
{
        const struct eddy_http_header ours = { "content-type", "a/b" }, bad = { "a:", "b" };
        const struct eddy_http_header lines = { "a", "b\r\nc: d" }, none = { "a", NULL };
        const struct eddy_http_body_source source = { .bytes = -1 };

        (void) arg;
        CHECK_EQ(eddy_folder_make("/folder", 0), 0);
        REFUSED("\"\": has no name", .data = "");
        REFUSED("\"a?\": has a name that is not UTF-8, or has a control character",
                .name = "a\x01");
        REFUSED("\"a\": has a file name that is not UTF-8, or has a control character", .name = "a",
                .filename = "\xFF");
        REFUSED("\"a\": has an empty type, or one with a control character", .name = "a",
                .type = "a\r\nb: c");
        REFUSED("\"a\": has a header that 'name', 'filename' or 'type' sets", .name = "a",
                .headers = &ours, .headers_count = 1);
        REFUSED("\"a\": has a header that cannot be sent", .name = "a", .headers = &bad,
                .headers_count = 1);
        REFUSED("\"a\": has a header that cannot be sent", .name = "a", .headers = &lines,
                .headers_count = 1);
        REFUSED("\"a\": has a header that cannot be sent", .name = "a", .headers = &none,
                .headers_count = 1);
        REFUSED("\"a\", file /f: has more than one of 'data', 'path' and 'source'", .name = "a",
                .data = "", .path = "/f");
        REFUSED("\"a\": has more than one of 'data', 'path' and 'source'", .name = "a",
                .data_bytes = 1);
        REFUSED("\"a\": has a source without a stream or a function, or with both", .name = "a",
                .source = &source);
        REFUSED("\"a\", file /folder: is not a regular file", .name = "a", .path = "/folder");
        FAULT(-ENOENT, "\"a\", file /absent: No such file or directory", .name = "a",
              .path = "/absent");
        CHECK_EQ(eddy_http_multipart_open(NULL, NULL, NULL), -EINVAL);
        CHECK(!eddy_http_multipart_type(NULL) && !eddy_http_multipart_source(NULL));
        CHECK_STR(eddy_http_multipart_fault(NULL), "");
        eddy_http_multipart_close(NULL);
        return 0;
}

TEST(form_that_cannot_be_sent_is_refused_with_its_part_and_reason)
{
        http_run(faults, NULL);
}

static int changed_files(void *arg)
{
        const struct eddy_http_part part = { .name = "a", .path = "/f" };
        const struct eddy_http_multipart form = { .parts = &part, .parts_count = 1 };
        eddy_http_multipart_body *body;
        char out[OUT_BYTES];

        (void) arg;
        CHECK_EQ(write_file("/f", "12345", 5), 0);
        CHECK_EQ(eddy_http_multipart_open(&form, NULL, &body), 0);
        CHECK_EQ(write_file("/f", "1234567", 7), 0);
        CHECK_EQ(read_body(body, out, sizeof(out), 100), eddy_http_multipart_source(body)->bytes);
        CHECK(strstr(out, "\r\n\r\n12345\r\n--"));
        CHECK_EQ(eddy_http_multipart_source(body)->rewind(body), 0);
        CHECK_EQ(write_file("/f", "1234", 4), 0);
        CHECK_ERR(read_body(body, out, sizeof(out), 100), EDDY_E_HTTP_BODY_LENGTH);
        CHECK_STR(eddy_http_multipart_fault(body),
                  "part 1 of the form, \"a\", file /f: ended before its length");
        CHECK_EQ(eddy_path_remove("/f"), 0);
        CHECK_EQ(eddy_http_multipart_source(body)->rewind(body), 0);
        CHECK_ERR(read_body(body, out, sizeof(out), 100), -ENOENT);
        CHECK_STR(eddy_http_multipart_fault(body),
                  "part 1 of the form, \"a\", file /f: No such file or directory");
        eddy_http_multipart_close(body);
        return 0;
}

TEST(file_that_changes_while_it_is_sent_keeps_the_length_or_fails)
{
        http_run(changed_files, NULL);
}

/* ---- the reader ---------------------------------------------------------------- */

#define TYPE "multipart/form-data; boundary=b"
#define HEAD(name)                                                                                 \
        "--b\r\nContent-Disposition: form-data; name=\"" name "\"; filename=\"x\"\r\n\r\n"

static eddy_http_multipart_reader *reader_of(struct text *text,
                                             const struct eddy_http_multipart_limits *limits)
{
        const struct eddy_http_body_source source = { .read = text_read, .arg = text };
        eddy_http_multipart_reader *reader;

        CHECK_EQ(eddy_http_multipart_reader_open(TYPE, &source, limits, &reader), 0);
        return reader;
}

static int skip_and_repeat(void *arg)
{
        struct text text = { .text = HEAD("a") "111\r\n" HEAD("b") "222\r\n" HEAD("c") "\r\n--b--",
                             .piece = 3 };
        eddy_http_multipart_reader *reader = reader_of(&text, NULL);
        struct eddy_http_multipart_part part;
        const char *data;
        size_t bytes;
        char buf[2];

        (void) arg;
        CHECK_EQ(eddy_http_multipart_read(reader, buf, 1), 0);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_EQ(eddy_http_multipart_read(reader, buf, 1), 1);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_STR(part.name, "b");
        CHECK_EQ(eddy_http_multipart_read(reader, buf, 1), 1);
        CHECK_EQ(eddy_http_multipart_whole(reader, 2, &data, &bytes), 0);
        CHECK_STR(data, "22");
        CHECK_EQ(eddy_http_multipart_whole(reader, 1, &data, &bytes), 0);
        CHECK_EQ(bytes, 0);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_EQ(eddy_http_multipart_read(reader, buf, 2), 0);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 0);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 0);
        CHECK_STR(eddy_http_multipart_rule(reader), "");
        eddy_http_multipart_reader_close(reader);
        return 0;
}

TEST(rest_of_a_part_is_skipped)
{
        http_run(skip_and_repeat, NULL);
}

static void check_end(const char *body, const struct eddy_http_multipart_limits *limits, int error,
                      const char *rule)
{
        struct text text = { .text = body, .piece = 5 };
        eddy_http_multipart_reader *reader = reader_of(&text, limits);
        struct eddy_http_multipart_part part;
        const char *data;
        size_t bytes;
        char buf[1];
        int err;

        while ((err = eddy_http_multipart_next(reader, &part)) > 0)
                ;
        CHECK_ERR(err, error);
        CHECK_STR(eddy_http_multipart_rule(reader), rule);
        CHECK_ERR(eddy_http_multipart_next(reader, &part), error);
        CHECK_ERR(eddy_http_multipart_read(reader, buf, 1), error);
        CHECK_ERR(eddy_http_multipart_whole(reader, 1, &data, &bytes), error);
        eddy_http_multipart_reader_close(reader);
}

static int bad_bodies(void *arg)
{
        static const char two[] = HEAD("a") "12345\r\n" HEAD("b") "\r\n--b--";

        (void) arg;
        check_end("", NULL, EDDY_E_HTTP_TRUNCATED, "");
        check_end(HEAD("a") "1\r\n--b", NULL, EDDY_E_HTTP_TRUNCATED, "");
        check_end("x", NULL, EDDY_E_HTTP_MULTIPART, "a body begins with its boundary");
        check_end(HEAD("a") "\r\n--b--\r\n\r\n", NULL, EDDY_E_HTTP_MULTIPART,
                  "nothing follows the last boundary");
        check_end(two, &(struct eddy_http_multipart_limits){ .parts_max = 1 },
                  EDDY_E_HTTP_TOO_LARGE, "the body has more parts than its limit");
        check_end(two, &(struct eddy_http_multipart_limits){ .file_bytes_max = 4 },
                  EDDY_E_HTTP_TOO_LARGE, "a file is larger than its limit");
        check_end(two, &(struct eddy_http_multipart_limits){ .bytes_max = sizeof(two) - 2 },
                  EDDY_E_HTTP_TOO_LARGE, "the body is larger than its limit");
        check_end(two, &(struct eddy_http_multipart_limits){ .head_bytes_max = 40 },
                  EDDY_E_HTTP_TOO_LARGE, "the headers of a part are larger than their limit");
        return 0;
}

TEST(error_of_a_body_is_final_and_has_its_rule)
{
        http_run(bad_bodies, NULL);
}

static int exact_limits(void *arg)
{
        static const char body[] = HEAD("a") "12345\r\n" HEAD("b") "\r\n--b--";
        const struct eddy_http_multipart_limits limits = { .parts_max = 2,
                                                           .file_bytes_max = 5,
                                                           .bytes_max = sizeof(body) - 1 };
        struct text text = { .text = body, .piece = 5 };
        eddy_http_multipart_reader *reader = reader_of(&text, &limits);
        struct eddy_http_multipart_part part;

        (void) arg;
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 0);
        eddy_http_multipart_reader_close(reader);
        return 0;
}

TEST(body_at_its_limits_is_read)
{
        http_run(exact_limits, NULL);
}

static int misuse(void *arg)
{
        struct text text = { .text = HEAD("a") "123\r\n--b--", .piece = 9 };
        const struct eddy_http_body_source source = { .read = text_read, .arg = &text },
                                           none = { 0 };
        const struct eddy_http_multipart_limits large = { .head_bytes_max = (1U << 30) + 1 };
        eddy_http_multipart_reader *reader;
        struct eddy_http_multipart_part part;
        struct eddy_http_header header;
        const char *data;
        size_t bytes;

        (void) arg;
        CHECK_ERR(eddy_http_multipart_reader_open("text/plain", &source, NULL, &reader),
                  EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_ERR(eddy_http_multipart_reader_open("multipart/form-data", &source, NULL, &reader),
                  EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(eddy_http_multipart_reader_open(TYPE, NULL, NULL, &reader), -EINVAL);
        CHECK_EQ(eddy_http_multipart_reader_open(TYPE, &none, NULL, &reader), -EINVAL);
        CHECK_EQ(eddy_http_multipart_reader_open(TYPE, &source, &large, &reader), -EINVAL);
        CHECK_EQ(eddy_http_multipart_reader_open(TYPE, &source, NULL, NULL), -EINVAL);
        CHECK_EQ(eddy_http_exchange_multipart(NULL, NULL, &reader), -EINVAL);
        CHECK_EQ(eddy_http_multipart_next(NULL, &part), -EINVAL);
        CHECK_EQ(eddy_http_multipart_read(NULL, &header, 1), -EINVAL);
        CHECK_EQ(eddy_http_multipart_whole(NULL, 1, &data, &bytes), -EINVAL);
        CHECK_EQ(eddy_http_multipart_header_at(NULL, 0, &header), -EINVAL);
        CHECK_STR(eddy_http_multipart_rule(NULL), "");
        eddy_http_multipart_reader_close(NULL);

        reader = reader_of(&text, NULL);
        CHECK_EQ(eddy_http_multipart_next(reader, NULL), -EINVAL);
        CHECK_EQ(eddy_http_multipart_read(reader, &header, 0), -EINVAL);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_ERR(eddy_http_multipart_whole(reader, 2, &data, &bytes), EDDY_E_HTTP_TOO_LARGE);
        eddy_http_multipart_reader_close(reader);
        return 0;
}

TEST(misuse_of_a_reader_is_an_error)
{
        http_run(misuse, NULL);
}

static int other_reader(void *arg)
{
        struct eddy_http_multipart_part part;
        char buf[1];

        CHECK_EQ(eddy_http_multipart_next(arg, &part), -EBUSY);
        CHECK_EQ(eddy_http_multipart_read(arg, buf, 1), -EBUSY);
        return 0;
}

static int two_readers(void *arg)
{
        struct text text = { .text = HEAD("a") "123\r\n--b--", .piece = 9 };
        eddy_http_multipart_reader *reader = reader_of(&text, NULL);
        struct eddy_http_multipart_part part;
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        eddy_scope_start(&scope, other_reader, reader);
        CHECK_EQ(eddy_http_multipart_next(reader, &part), 1);
        CHECK_EQ(eddy_scope_end(&scope), 0);
        eddy_http_multipart_reader_close(reader);
        return 0;
}

TEST(one_task_reads_a_form)
{
        http_run(two_readers, NULL);
}

/* ---- names of files -------------------------------------------------------------- */

static void check_name(const char *filename, const char *name)
{
        char out[EDDY_HTTP_MULTIPART_NAME_BYTES];

        eddy_http_multipart_file_name(filename, out);
        CHECK_STR(out, name);
}

TEST(name_of_a_file_has_no_folder_and_no_trick)
{
        char longest[400], cut[EDDY_HTTP_MULTIPART_NAME_BYTES];

        check_name("a.txt", "a.txt");
        check_name("../../etc/passwd", "passwd");
        check_name("C:\\dir\\a b.txt", "a b.txt");
        check_name("a/..", "");
        check_name("..", "");
        check_name(".htaccess", "htaccess");
        check_name(" . a . ", "a");
        check_name("a/", "");
        check_name("", "");
        check_name(NULL, "");
        check_name("a\r\n\x1B\x7F:*?\"<>|b", "a___________b");
        check_name("\xC3\xA4\xFF.txt", "\xC3\xA4\xFF.txt");
        memset(longest, 'x', sizeof(longest));
        longest[sizeof(longest) - 1] = '\0';
        memset(cut, 'x', sizeof(cut));
        cut[255] = '\0';
        check_name(longest, cut);
        memcpy(longest + 254, "\xC3\xA4", 2);
        cut[254] = '\0';
        check_name(longest, cut);
}

/* ---- a server's handler ---------------------------------------------------------- */

static int handle_form(eddy_http_exchange *exchange, void *arg)
{
        eddy_http_multipart_reader *reader;
        int err = eddy_http_exchange_multipart(exchange, NULL, &reader);

        (void) arg;
        if (err < 0)
                return err;
        err = read_parts(reader, 500);
        eddy_http_multipart_reader_close(reader);
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static int post_form(void *arg)
{
        struct text text = { .text = "some text", .piece = 3 };
        eddy_http_multipart_body *body = NULL;
        struct eddy_http_header type = { "Content-Type", NULL };
        eddy_http_response *response;
        eddy_http_client *client;
        int err;

        (void) arg;
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = handle_form), &client), 0);
        CHECK_EQ(write_file("/big", big, BIG_BYTES), 0);
        CHECK_EQ(write_file("/none", "", 0), 0);
        CHECK_EQ(open_form(&text, true, &body), 0);
        type.value = eddy_http_multipart_type(body);
        for (int i = 0; i < 2; i++) {
                CHECK_EQ(eddy_http_multipart_source(body)->rewind(body), 0);
                err = eddy_http_client_send(
                        client,
                        &(struct eddy_http_request){ .url = "http://a/",
                                                     .headers = &type,
                                                     .headers_count = i == 0,
                                                     .body_source =
                                                             eddy_http_multipart_source(body) },
                        &response);
                CHECK_EQ(err, 0);
                CHECK_EQ(eddy_http_response_status(response), i == 0 ? 200 : 415);
                eddy_http_response_close(response);
        }
        eddy_http_multipart_close(body);
        eddy_http_client_close(client);
        return 0;
}

TEST(handler_reads_the_form_of_a_client)
{
        fill_big();
        http_run(post_form, NULL);
}

/* ---- the client's 'multipart' ------------------------------------------------------ */

static int send_form(eddy_http_handler_fn *handler, const struct eddy_http_multipart *form,
                     const struct eddy_http_header *header, struct eddy_http_fault *fault,
                     int *ret_status)
{
        const struct eddy_http_request request = { .url = "http://a/",
                                                   .headers = header,
                                                   .headers_count = header != NULL,
                                                   .multipart = form,
                                                   .ret_fault = fault };
        eddy_http_response *response;
        eddy_http_client *client;
        int err = eddy_http_client_new(OPTIONS(.handler = handler), &client);

        if (err < 0)
                return err;
        err = eddy_http_client_send(client, &request, &response);
        if (err == 0) {
                *ret_status = eddy_http_response_status(response);
                eddy_http_response_close(response);
        }
        eddy_http_client_close(client);
        return err;
}

static int post_multipart(void *arg)
{
        static const struct eddy_http_header kind = { "X-Kind", "test" };
        struct text text = { .text = "some text", .piece = 4 };
        const struct eddy_http_body_source source = {
                .read = text_read, .rewind = text_rewind, .arg = &text, .bytes = 9
        };
        const struct eddy_http_part parts[] = {
                { .name = "model", .data = "small", .data_bytes = 5 },
                { .name = "empty" },
                { .name = "file", .path = "/big", .type = "audio/mpeg" },
                { .name = "s",
                  .filename = "s\"\xC3\xA4",
                  .source = &source,
                  .headers = &kind,
                  .headers_count = 1 },
                { .name = "none", .path = "/none", .filename = "none.txt" },
        };
        const struct eddy_http_multipart form = { .parts = parts, .parts_count = 5 };
        int err = write_file("/big", big, BIG_BYTES), status = 0;

        if (err == 0)
                err = write_file("/none", "", 0);
        if (err == 0)
                err = send_form(handle_form, &form, arg, NULL, &status);
        if (err == 0 && !arg)
                CHECK(status == 200 || status == 500); /* 500: the handler met the fault */
        if (err == 0 && arg)
                CHECK_EQ(status, 415);
        return err;
}

TEST(request_with_a_form_survives_cancels_and_short_memory)
{
        fill_big();
        CHECK_EQ(eddy_test_run(post_multipart, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_CANCEL, post_multipart, NULL, NULL, NULL), 0);
        CHECK_EQ(eddy_test_sweep(EDDY_TEST_ALLOC, post_multipart, NULL, NULL, NULL), 0);
}

TEST(content_type_of_the_caller_replaces_that_of_the_form)
{
        struct eddy_http_header type = { "content-type", "text/plain" };

        fill_big();
        http_run(post_multipart, &type);
}

static int post_bad_forms(void *arg)
{
        const struct eddy_http_part absent = { .name = "a", .path = "/absent" };
        const struct eddy_http_multipart form = { .parts = &absent, .parts_count = 1 };
        struct eddy_http_request both = { .url = "http://a/", .body = "", .multipart = &form };
        struct eddy_http_fault fault;
        eddy_http_response *response;
        eddy_http_client *client;
        int status;

        (void) arg;
        CHECK_ERR(send_form(handle_form, &form, NULL, &fault, &status), -ENOENT);
        CHECK_STR(fault.text, "part 1 of the form, \"a\", file /absent: No such file or directory");
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = handle_form), &client), 0);
        both.ret_fault = &fault;
        CHECK_ERR(eddy_http_client_send(client, &both, &response), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_STR(fault.text, "a request has one body: 'body' and 'multipart' are set");
        eddy_http_client_close(client);
        return 0;
}

TEST(form_that_cannot_be_sent_fails_the_request_and_names_its_part)
{
        http_run(post_bad_forms, NULL);
}

static int64_t failing_read(void *arg, void *buf, size_t bytes)
{
        (void) arg, (void) buf, (void) bytes;
        return eddy_path_remove("/big"); /* 0: the end of the part */
}

static int handle_whole(eddy_http_exchange *exchange, void *arg)
{
        const void *data;
        size_t bytes;
        int err = eddy_http_exchange_body(exchange, &data, &bytes);

        (void) arg;
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "", 0);
}

static int lose_a_file(void *arg)
{
        const struct eddy_http_body_source source = { .read = failing_read, .bytes = -1 };
        const struct eddy_http_part parts[] = { { .name = "a", .source = &source },
                                                { .name = "b", .path = "/big" } };
        const struct eddy_http_multipart form = { .parts = parts, .parts_count = 2 };
        struct eddy_http_fault fault;
        int status;

        (void) arg;
        CHECK_EQ(write_file("/big", big, BIG_BYTES), 0);
        CHECK_ERR(send_form(handle_whole, &form, NULL, &fault, &status), -ENOENT);
        CHECK_STR(fault.text, "part 2 of the form, \"b\", file /big: No such file or directory");
        return 0;
}

TEST(file_that_vanishes_while_a_form_is_sent_is_named)
{
        http_run(lose_a_file, NULL);
}

static int refused_once;

static int handle_at_second(eddy_http_exchange *exchange, void *arg)
{
        if (refused_once++ == 0) {
                const void *data;
                size_t bytes;
                int err = eddy_http_exchange_body(exchange, &data, &bytes);

                return err < 0 ? err : eddy_http_exchange_respond(exchange, 503, NULL, 0, "", 0);
        }
        return handle_form(exchange, arg);
}

static int retry_a_form(void *arg)
{
        const struct eddy_retry_policy policy = { .attempts = 2 };
        struct text text = { .text = "some text", .piece = 4 };
        const struct eddy_http_body_source source = {
                .read = text_read, .rewind = text_rewind, .arg = &text, .bytes = 9
        };
        const struct eddy_http_header kind = { "X-Kind", "test" };
        const struct eddy_http_part parts[] = {
                { .name = "model", .data = "small", .data_bytes = 5 },
                { .name = "empty" },
                { .name = "file", .path = "/big", .type = "audio/mpeg" },
                { .name = "s",
                  .filename = "s\"\xC3\xA4",
                  .source = &source,
                  .headers = &kind,
                  .headers_count = 1 },
                { .name = "none", .path = "/none", .filename = "none.txt" },
        };
        const struct eddy_http_multipart form = { .parts = parts, .parts_count = 5 };
        eddy_http_response *response;
        eddy_http_client *client;

        (void) arg;
        CHECK_EQ(write_file("/big", big, BIG_BYTES), 0);
        CHECK_EQ(write_file("/none", "", 0), 0);
        CHECK_EQ(eddy_http_client_new(OPTIONS(.handler = handle_at_second), &client), 0);
        CHECK_EQ(eddy_http_client_send(client,
                                       &(struct eddy_http_request){ .method = "PUT",
                                                                    .url = "http://a/",
                                                                    .multipart = &form,
                                                                    .retry = &policy },
                                       &response),
                 0);
        CHECK_EQ(eddy_http_response_status(response), 200);
        CHECK_EQ(refused_once, 2);
        CHECK_EQ(text.rewinds, 1);
        eddy_http_response_close(response);
        eddy_http_client_close(client);
        return 0;
}

TEST(form_is_sent_again_from_its_beginning_by_a_retry)
{
        fill_big();
        refused_once = 0;
        http_run(retry_a_form, NULL);
}

/* ---- the limit of a body ------------------------------------------------------------- */

enum { LIMIT_BYTES = 80 };

#define UPLOAD(more) "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: " TYPE "\r\n" more "\r\n"

static int handle_limited(eddy_http_exchange *exchange, void *arg)
{
        const struct eddy_http_multipart_limits limits = { .bytes_max = LIMIT_BYTES };
        EDDY_AUTO(eddy_http_multipart_reader) eddy_http_multipart_reader *form = NULL;
        struct eddy_http_multipart_part part;
        int err = eddy_http_exchange_multipart(exchange, &limits, &form);

        (void) arg;
        while (err >= 0 && (err = eddy_http_multipart_next(form, &part)) > 0)
                ;
        return err < 0 ? err : eddy_http_exchange_respond(exchange, 200, NULL, 0, "ok", 2);
}

static void use_limited(struct site *site)
{
        site->handler = handle_limited;
}

static void ask_limited(struct site *site)
{
        static const char body[] = HEAD("a") "1\r\n--b--";
        char text[1000];
        const struct answer *answer;

        CHECK(sizeof(body) - 1 <= LIMIT_BYTES);
        answer = ask(site, UPLOAD("Content-Length: 81\r\nExpect: 100-continue\r\n"));
        CHECK_EQ(answer->status, 413);
        CHECK_HAS_NOT(answer->text, "100 Continue");
        snprintf(text, sizeof(text), UPLOAD("Content-Length: %zu\r\nExpect: 100-continue\r\n") "%s",
                 sizeof(body) - 1, body);
        answer = ask(site, text);
        CHECK_HAS(answer->text, "HTTP/1.1 200 OK");
        snprintf(text, sizeof(text),
                 UPLOAD("Transfer-Encoding: chunked\r\n") "%zx\r\n%s\r\n0\r\n\r\n",
                 sizeof(body) - 1, body);
        CHECK_EQ(ask(site, text)->status, 200);
        snprintf(text, sizeof(text),
                 UPLOAD("Transfer-Encoding: chunked\r\n") "%zx\r\n%s\r\n20\r\n%032d\r\n0\r\n\r\n",
                 sizeof(body) - 1, body, 0);
        CHECK_EQ(ask(site, text)->status, 413);
}

TEST(body_above_the_limit_of_a_form_is_refused_before_it_is_sent)
{
        site_run_prepared(NULL, false, use_limited, ask_limited);
}
