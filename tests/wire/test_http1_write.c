/*
 * test_http1_write.c - what is written can be read back, and nothing that a
 * caller puts into a head can end a line, a field or the head early.
 */
#include <errno.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "starve.h"
#include "test.h"
#include "wire/http1.h"

static struct ed_buf buf;

static void begin(void)
{
        ed_buf_init(&buf, 1 << 20);
        CHECK_EQ(ed_buf_append(&buf, "before", 6), 0);
}

/* What was in the buffer before is all that is there. */
static void check_untouched(void)
{
        CHECK_EQ(ed_buf_bytes(&buf), 6);
        CHECK(memcmp(ed_buf_data(&buf), "before", 6) == 0);
        ed_buf_fini(&buf);
}

static void check_written(const char *expected)
{
        CHECK_EQ(ed_buf_append(&buf, "", 1), 0);
        CHECK_STR(ed_buf_data(&buf) + 6, expected);
        ed_buf_fini(&buf);
}

/* One request with these parts, and a Host. */
static int write_request(const char *method, size_t method_bytes, const char *target,
                         size_t target_bytes, const char *name, size_t name_bytes,
                         const char *value, size_t value_bytes)
{
        struct ed_http1_writer writer;

        begin();
        ed_http1_write_request(&writer, &buf, method, method_bytes, target, target_bytes);
        ed_http1_write_field(&writer, "Host", 4, "h", 1);
        ed_http1_write_field(&writer, name, name_bytes, value, value_bytes);
        return ed_http1_write_end(&writer);
}

static int write_field(const char *name, const char *value)
{
        return write_request("GET", 3, "/", 1, name, strlen(name), value, strlen(value));
}

static int write_response(int status, const char *name, const char *value)
{
        struct ed_http1_writer writer;

        begin();
        ed_http1_write_response(&writer, &buf, status, NULL, 0);
        ed_http1_write_field(&writer, name, strlen(name), value, strlen(value));
        return ed_http1_write_end(&writer);
}

TEST(request_is_written_unchanged)
{
        CHECK_EQ(write_field("Accept", " \t*/* \t"), 0);
        check_written("GET / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n");
}

TEST(response_is_written_with_its_usual_reason)
{
        CHECK_EQ(write_response(404, "A", ""), 0);
        check_written("HTTP/1.1 404 Not Found\r\nA: \r\n\r\n");
        CHECK_EQ(write_response(299, "A", "b"), 0);
        check_written("HTTP/1.1 299 \r\nA: b\r\n\r\n");
}

TEST(number_is_written_in_decimal)
{
        struct ed_http1_writer writer;

        begin();
        ed_http1_write_response(&writer, &buf, 200, "Fine", 4);
        ed_http1_write_number(&writer, "Content-Length", 14, INT64_MAX);
        ed_http1_write_number(&writer, "X", 1, 0);
        ed_http1_write_number(&writer, "Y", 1, UINT64_MAX);
        CHECK_EQ(ed_http1_write_end(&writer), 0);
        check_written("HTTP/1.1 200 Fine\r\nContent-Length: 9223372036854775807\r\nX: 0\r\n"
                      "Y: 18446744073709551615\r\n\r\n");
}

TEST(request_to_a_url_has_its_target_and_host)
{
        static const struct {
                const char *url, *expected;
        } rows[] = {
                { "http://h", "GET / HTTP/1.1\r\nHost: h\r\n\r\n" },
                { "http://H:81?a", "GET /?a HTTP/1.1\r\nHost: h:81\r\n\r\n" },
                { "https://[::1]/b#c", "GET /b HTTP/1.1\r\nHost: [::1]\r\n\r\n" },
        };

        for (size_t i = 0; i < ed_array_count(rows); i++) {
                struct ed_http1_writer writer;
                struct ed_url url;

                begin();
                CHECK_EQ(ed_url_parse(rows[i].url, strlen(rows[i].url), &url), 0);
                ed_http1_write_request_to(&writer, &buf, "GET", 3, &url);
                CHECK_EQ(ed_http1_write_end(&writer), 0);
                check_written(rows[i].expected);
        }
}

TEST(request_to_a_name_that_idna_must_convert_is_refused)
{
        struct ed_http1_writer writer;
        struct ed_url url;

        begin();
        CHECK_EQ(ed_url_parse("http://\303\244.de/", 13, &url), 0);
        ed_http1_write_request_to(&writer, &buf, "GET", 3, &url);
        CHECK_EQ(ed_http1_write_end(&writer), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

static bool is_token_char(int c)
{
        return c > 0x20 && c < 0x7F && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

/* B47: The method. */
TEST(method_takes_token_characters_only)
{
        for (int c = 0; c < 256; c++) {
                char method[3] = { 'A', (char) c, 'B' };
                int err = write_request(method, 3, "/", 1, "A", 1, "b", 1);

                CHECK_EQ(err, is_token_char(c) ? 0 : EDDY_E_HTTP_INVALID_REQUEST);
                if (err < 0)
                        check_untouched();
                else
                        ed_buf_fini(&buf);
        }
        CHECK_EQ(write_request("", 0, "/", 1, "A", 1, "b", 1), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

/* B47: The name of a field. */
TEST(name_takes_token_characters_only)
{
        for (int c = 0; c < 256; c++) {
                char name[3] = { 'A', (char) c, 'B' };
                int err = write_request("GET", 3, "/", 1, name, 3, "b", 1);

                CHECK_EQ(err, is_token_char(c) ? 0 : EDDY_E_HTTP_INVALID_REQUEST);
                if (err < 0)
                        check_untouched();
                else
                        ed_buf_fini(&buf);
        }
        CHECK_EQ(write_field("", "b"), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

/* B47: The value of a field. */
TEST(value_takes_no_control_character_but_tab)
{
        for (int c = 0; c < 256; c++) {
                char value[3] = { 'a', (char) c, 'b' };
                int err = write_request("GET", 3, "/", 1, "A", 1, value, 3);
                bool is_fine = c == '\t' || (c >= 0x20 && c != 0x7F);

                CHECK_EQ(err, is_fine ? 0 : EDDY_E_HTTP_INVALID_REQUEST);
                if (err < 0)
                        check_untouched();
                else
                        ed_buf_fini(&buf);
        }
}

/* B47: The target. */
TEST(target_takes_no_space_control_character_or_byte_above_ascii)
{
        for (int c = 0; c < 256; c++) {
                char target[3] = { '/', (char) c, 'b' };
                int err = write_request("GET", 3, target, 3, "A", 1, "b", 1);
                bool is_fine = c > 0x20 && c < 0x7F && !strchr("\"#%<>\\", c);

                CHECK_EQ(err, is_fine ? 0 : EDDY_E_HTTP_INVALID_REQUEST);
                if (err < 0)
                        check_untouched();
                else
                        ed_buf_fini(&buf);
        }
        CHECK_EQ(write_request("GET", 3, "", 0, "A", 1, "b", 1), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

/* B47: The reason. */
TEST(reason_takes_no_control_character_but_tab)
{
        for (int c = 0; c < 256; c++) {
                char reason[3] = { 'a', (char) c, 'b' };
                bool is_fine = c == '\t' || (c >= 0x20 && c != 0x7F);
                struct ed_http1_writer writer;
                int err;

                begin();
                ed_http1_write_response(&writer, &buf, 200, reason, 3);
                ed_http1_write_field(&writer, "A", 1, "b", 1);
                err = ed_http1_write_end(&writer);
                CHECK_EQ(err, is_fine ? 0 : EDDY_E_HTTP_INVALID_REQUEST);
                if (err < 0)
                        check_untouched();
                else
                        ed_buf_fini(&buf);
        }
}

TEST(status_below_100_or_above_999_is_refused)
{
        static const int statuses[] = { -200, 0, 99, 1000, INT32_MAX };

        for (size_t i = 0; i < ed_array_count(statuses); i++) {
                CHECK_EQ(write_response(statuses[i], "A", "b"), EDDY_E_HTTP_INVALID_REQUEST);
                check_untouched();
        }
}

static int write_two(const char *a, const char *a_value, const char *b, const char *b_value)
{
        struct ed_http1_writer writer;

        begin();
        ed_http1_write_request(&writer, &buf, "POST", 4, "/", 1);
        ed_http1_write_field(&writer, "Host", 4, "h", 1);
        ed_http1_write_field(&writer, a, strlen(a), a_value, strlen(a_value));
        ed_http1_write_field(&writer, b, strlen(b), b_value, strlen(b_value));
        return ed_http1_write_end(&writer);
}

/* B48: A message never has both. */
TEST(length_beside_coding_is_refused_in_either_order)
{
        CHECK_EQ(write_two("Content-Length", "5", "Transfer-Encoding", "chunked"),
                 EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
        CHECK_EQ(write_two("transfer-encoding", "chunked", "content-length", "5"),
                 EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

TEST(length_or_coding_or_host_written_twice_is_refused)
{
        CHECK_EQ(write_two("Content-Length", "5", "CONTENT-LENGTH", "5"),
                 EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
        CHECK_EQ(write_two("Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"),
                 EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
        CHECK_EQ(write_field("HOST", "g"), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

TEST(length_that_is_not_a_number_is_refused)
{
        static const char *const lengths[] = {
                "", "-1", "+1", "1x", "0x1", "1,1", "9223372036854775808"
        };

        for (size_t i = 0; i < ed_array_count(lengths); i++) {
                CHECK_EQ(write_field("Content-Length", lengths[i]), EDDY_E_HTTP_INVALID_REQUEST);
                check_untouched();
        }
}

TEST(coding_other_than_chunked_is_not_written)
{
        CHECK_EQ(write_field("Transfer-Encoding", "gzip, chunked"), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

TEST(response_without_body_takes_no_framing)
{
        CHECK_EQ(write_response(204, "Content-Length", "0"), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
        CHECK_EQ(write_response(100, "Transfer-Encoding", "chunked"), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
        CHECK_EQ(write_response(304, "Content-Length", "5"), 0);
        ed_buf_fini(&buf);
}

TEST(request_without_host_is_refused)
{
        struct ed_http1_writer writer;

        begin();
        ed_http1_write_request(&writer, &buf, "GET", 3, "/", 1);
        CHECK_EQ(ed_http1_write_end(&writer), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

TEST(host_that_is_none_is_refused)
{
        struct ed_http1_writer writer;

        begin();
        ed_http1_write_request(&writer, &buf, "GET", 3, "/", 1);
        ed_http1_write_field(&writer, "Host", 4, "a@b", 3);
        CHECK_EQ(ed_http1_write_end(&writer), EDDY_E_HTTP_INVALID_REQUEST);
        check_untouched();
}

TEST(first_error_is_the_one_returned)
{
        struct ed_http1_writer writer;

        ed_buf_init(&buf, 30);
        ed_http1_write_request(&writer, &buf, "GET", 3, "/", 1);
        ed_http1_write_field(&writer, "Host", 4, "hhhhhhhhhhhhhhhhhhhh", 20);
        ed_http1_write_field(&writer, "B\n", 2, "c", 1);
        CHECK_EQ(ed_http1_write_end(&writer), -EMSGSIZE);
        CHECK_EQ(ed_buf_bytes(&buf), 0);
        ed_buf_fini(&buf);
}

/* R1: each allocation made to fail. */
TEST(writing_without_memory_fails_and_leaves_the_buffer)
{
        static char value[2000];
        int failed = 0;

        memset(value, 'v', sizeof(value));
        eddy_alloc_set(starve, NULL);
        for (int allowed = 1;; allowed++) {
                int err;

                allocations_left = allowed;
                err = write_request("GET", 3, "/", 1, "A", 1, value, sizeof(value));
                if (err == 0)
                        break;
                CHECK_EQ(err, -ENOMEM);
                check_untouched();
                failed++;
        }
        CHECK(failed > 0);
        ed_buf_fini(&buf);
        eddy_alloc_set(NULL, NULL);
}

TEST(written_request_is_read_back)
{
        struct ed_http1_field fields[4];
        struct ed_http1_head head;

        CHECK_EQ(write_request("PATCH", 5, "/a?b", 4, "X-Name", 6, "a \303\244 b", 6), 0);
        ed_buf_consume(&buf, 6);
        ed_http1_request_init(&head, fields, &(struct ed_http1_limits){ .fields_max = 4 });
        CHECK_EQ(ed_http1_head_parse(&head, ed_buf_data(&buf), ed_buf_bytes(&buf)),
                 ed_buf_bytes(&buf));
        CHECK_EQ(head.fields_count, 2);
        CHECK_EQ(head.method.bytes, 5);
        CHECK_EQ(head.target.bytes, 4);
        CHECK_EQ(head.fields[1].value.bytes, 6);
        ed_buf_fini(&buf);
}

TEST(chunk_head_is_hexadecimal_without_leading_zeros)
{
        static const struct {
                uint64_t bytes;
                const char *expected;
        } rows[] = {
                { 1, "1\r\n" },
                { 15, "f\r\n" },
                { 16, "10\r\n" },
                { 0xABCDE, "abcde\r\n" },
                { UINT64_MAX, "ffffffffffffffff\r\n" },
        };

        for (size_t i = 0; i < ed_array_count(rows); i++) {
                char out[ED_HTTP1_CHUNK_HEAD_MAX];

                CHECK_EQ(ed_http1_chunk_head(out, rows[i].bytes), strlen(rows[i].expected));
                CHECK(memcmp(out, rows[i].expected, strlen(rows[i].expected)) == 0);
        }
}

TEST(list_has_whole_tokens_only)
{
        CHECK(ed_http1_list_has("close", 5, "close"));
        CHECK(ed_http1_list_has("a ,\tCLOSE ,b", 12, "close"));
        CHECK(ed_http1_list_has(",,close", 7, "close"));
        CHECK(!ed_http1_list_has("closed", 6, "close"));
        CHECK(!ed_http1_list_has("not close", 9, "close"));
        CHECK(!ed_http1_list_has("", 0, "close"));
}

TEST(every_fault_has_a_text_and_a_status)
{
        for (int i = 1; i <= ED_HTTP1_FAULT_UPGRADE; i++) {
                int status = ed_http1_fault_status((enum ed_http1_fault) i);

                CHECK(strlen(ed_http1_fault_text((enum ed_http1_fault) i)) > 0);
                CHECK(status >= 400 && status <= 599);
                CHECK(strlen(ed_http1_reason(status)) > 0);
        }
}
