/*
 * test_http1_limits.c - the limits as they are by default, and that the work
 * done grows with the bytes, not with their square.
 */
#include "drive.h"
#include "eddy/error.h"
#include "linear.h"
#include "test.h"

enum { ROOM = 4 << 20 };

static char *room(void)
{
        char *memory = malloc(ROOM);

        CHECK(memory);
        return memory;
}

/* A request whose only field but Host has a line of 'line_bytes' bytes. */
static size_t long_line(char *data, size_t line_bytes)
{
        size_t n = (size_t) snprintf(data, ROOM, "GET / HTTP/1.1\r\nHost: h\r\nA: ");

        memset(data + n, 'x', line_bytes - 3);
        n += line_bytes - 3;
        memcpy(data + n, "\r\n\r\n", 4);
        return n + 4;
}

static int64_t parse(char *data, size_t bytes, size_t step, struct ed_http1_head *head)
{
        static struct ed_http1_field fields[ED_HTTP1_FIELDS_MAX];
        int64_t n = 0;

        ed_http1_request_init(head, fields, NULL);
        for (size_t have = step; n == 0; have += step) {
                if (have > bytes)
                        have = bytes;
                n = ed_http1_head_parse(head, data, have);
                if (have == bytes)
                        break;
        }
        return n;
}

/* B37: The limit of a line. */
TEST(field_line_of_8190_bytes_is_read_and_one_of_8191_is_not)
{
        static const size_t steps[] = { 1, 7, 4096, ROOM };
        char *data = room();
        struct ed_http1_head head;

        for (size_t i = 0; i < 4; i++) {
                size_t bytes = long_line(data, 8190);

                CHECK_EQ(parse(data, bytes, steps[i], &head), bytes);
                bytes = long_line(data, 8191);
                CHECK_EQ(parse(data, bytes, steps[i], &head), EDDY_E_HTTP_TOO_LARGE);
                CHECK_EQ(head.fault, ED_HTTP1_FAULT_LINE_TOO_LONG);
        }
        free(data);
}

TEST(request_line_of_8191_bytes_is_refused_as_too_long_a_target)
{
        char *data = room();
        struct ed_http1_head head;

        memset(data, '/', 9000);
        memcpy(data, "GET ", 4);
        CHECK_EQ(parse(data, 9000, 1, &head), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(head.fault, ED_HTTP1_FAULT_TARGET_TOO_LONG);
        CHECK_EQ(ed_http1_fault_status(head.fault), 414);
        free(data);
}

/* A head of 'fields' fields of 'each' bytes. */
static size_t many_fields(char *data, size_t fields, size_t each)
{
        size_t n = (size_t) snprintf(data, ROOM, "GET / HTTP/1.1\r\nHost: h\r\n");

        for (size_t i = 1; i < fields; i++) {
                memset(data + n, 'x', each);
                data[n + 1] = ':';
                n += each;
                data[n - 2] = '\r';
                data[n - 1] = '\n';
        }
        memcpy(data + n, "\r\n", 2);
        return n + 2;
}

/* B37: The limit of the number of fields. */
TEST(head_of_128_fields_is_read_and_one_of_129_is_not)
{
        char *data = room();
        struct ed_http1_head head;
        size_t bytes = many_fields(data, 128, 10);

        CHECK_EQ(parse(data, bytes, 3, &head), bytes);
        CHECK_EQ(head.fields_count, 128);
        bytes = many_fields(data, 129, 10);
        CHECK_EQ(parse(data, bytes, 3, &head), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(head.fault, ED_HTTP1_FAULT_FIELDS_TOO_MANY);
        free(data);
}

/* B37: The limit of the whole head. */
TEST(head_above_64_kib_is_refused_although_each_line_fits)
{
        char *data = room();
        struct ed_http1_head head;
        size_t bytes = many_fields(data, 20, 8000);

        CHECK_EQ(parse(data, bytes, 1000, &head), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(head.fault, ED_HTTP1_FAULT_HEAD_TOO_LARGE);
        free(data);
}

TEST(refused_head_stays_refused)
{
        struct ed_http1_head head;
        char data[] = "G(T / HTTP/1.1\r\nHost: h\r\n\r\n";

        CHECK_EQ(parse(data, strlen(data), 1, &head), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(ed_http1_head_parse(&head, data, strlen(data)), EDDY_E_HTTP_INVALID_REQUEST);
        CHECK_EQ(head.fault, ED_HTTP1_FAULT_METHOD);
}

TEST(offsets_hold_in_a_copy_of_the_head_where_strings_are_ended_in_place)
{
        char data[] = "GET /a HTTP/1.1\r\nHost: h \r\nEmpty:\r\nLast: x\r\n\r\n";
        struct ed_http1_head head;
        const struct ed_http1_field *field;

        CHECK_EQ(parse(data, sizeof(data) - 1, 5, &head), sizeof(data) - 1);
        for (uint32_t i = 0; i < head.fields_count; i++) {
                data[head.fields[i].name.at + head.fields[i].name.bytes] = '\0';
                data[head.fields[i].value.at + head.fields[i].value.bytes] = '\0';
        }
        field = ed_http1_head_field(&head, data, "hOST");
        CHECK(field);
        CHECK_STR(data + field->value.at, "h");
        field = ed_http1_head_field(&head, data, "empty");
        CHECK(field);
        CHECK_STR(data + field->value.at, "");
        field = ed_http1_head_field(&head, data, "Last");
        CHECK(field);
        CHECK_STR(data + field->name.at, "Last");
        CHECK_STR(data + field->value.at, "x");
        CHECK(!ed_http1_head_field(&head, data, "Las"));
}

/* Eight bytes are looked at in one step, with borrows between them. */
TEST(each_pair_of_bytes_at_each_place_of_a_value_is_judged_alike)
{
        static const char neighbours[] = { 'x', '\t', ' ', '~', '!', '\177', '\200', '\377', '\0' };
        char data[] = "GET / HTTP/1.1\r\nHost: h\r\nA: <xxxxxxxxxxxxxxxxxxxxxxx>\r\n\r\n";
        char *value = strchr(data, '<') + 1;
        struct ed_http1_head head;

        for (size_t at = 0; at < 22; at++) {
                for (int c = 0; c < 256 * (int) sizeof(neighbours); c++) {
                        uint8_t a = (uint8_t) c;
                        uint8_t b = (uint8_t) neighbours[c / 256];
                        bool is_fine =
                                (a == '\t' || (a >= 0x20 && a != 0x7F)) && b != 0x7F && b != 0;
                        int64_t n;

                        value[at] = (char) a;
                        value[at + 1] = (char) b;
                        n = parse(data, sizeof(data) - 1, ROOM, &head);
                        CHECK_EQ(n, is_fine ? (int64_t) sizeof(data) - 1
                                            : EDDY_E_HTTP_INVALID_REQUEST);
                }
                value[at] = value[at + 1] = 'x';
        }
}

/* ---- bodies ---------------------------------------------------------------- */

static void begin_chunked(struct ed_http1_body *body)
{
        char text[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        struct ed_http1_field fields[2];
        struct ed_http1_head head;

        ed_http1_response_init(&head, fields, &(struct ed_http1_limits){ .fields_max = 2 },
                               ED_HTTP1_TO_OTHER);
        CHECK_EQ(ed_http1_head_parse(&head, text, sizeof(text) - 1), sizeof(text) - 1);
        CHECK_EQ(ed_http1_body_init(body, &head, UINT64_MAX), 0);
}

/* Decodes all of it in pieces of 'step' bytes; returns 0 or the error. */
static int64_t decode(struct ed_http1_body *body, const char *data, size_t bytes, size_t step)
{
        size_t at = 0;

        while (at < bytes && !body->done) {
                const char *span;
                size_t span_bytes;
                size_t n = bytes - at < step ? bytes - at : step;
                int64_t taken = ed_http1_body_decode(body, data + at, n, &span, &span_bytes);

                if (taken < 0)
                        return taken;
                CHECK(taken > 0);
                at += (size_t) taken;
        }
        return 0;
}

static size_t repeat(char *data, const char *text, size_t times)
{
        size_t bytes = strlen(text);

        CHECK(bytes * times < ROOM);
        for (size_t i = 0; i < times; i++)
                memcpy(data + i * bytes, text, bytes);
        return bytes * times;
}

/* B36: The limit of a chunk's extension. */
TEST(extension_of_256_bytes_is_read_and_one_of_257_is_not)
{
        char *data = room();
        struct ed_http1_body body;

        for (size_t extension = 256; extension <= 257; extension++) {
                memset(data, 'x', 1000);
                memcpy(data, "1;", 2);
                memcpy(data + 2 + extension, "\r\na\r\n0\r\n\r\n", 10);
                begin_chunked(&body);
                CHECK_EQ(decode(&body, data, 2 + extension + 10, 1),
                         extension == 256 ? 0 : EDDY_E_HTTP_TOO_LARGE);
                CHECK_EQ(body.done, extension == 256);
        }
        CHECK_EQ(body.fault, ED_HTTP1_FAULT_CHUNK_EXTENSION_TOO_LONG);
        free(data);
}

TEST(extensions_of_a_whole_body_are_bounded)
{
        char *data = room();
        struct ed_http1_body body;
        size_t bytes = repeat(data, "1;0123456789abcdef\r\na\r\n", 1025);

        begin_chunked(&body);
        CHECK_EQ(decode(&body, data, bytes, ROOM), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(body.fault, ED_HTTP1_FAULT_CHUNK_EXTENSION_TOO_LONG);
        CHECK_EQ(body.bytes, 1024);
        free(data);
}

/* B36: The limit of the number of trailers. */
TEST(trailers_are_bounded_in_number)
{
        char *data = room();
        struct ed_http1_body body;
        size_t bytes = repeat(data, "a: b\r\n", 33);

        begin_chunked(&body);
        CHECK_EQ(decode(&body, "0\r\n", 3, 3), 0);
        CHECK_EQ(decode(&body, data, bytes, 1), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(body.fault, ED_HTTP1_FAULT_TRAILERS_TOO_LARGE);
        free(data);
}

/* B36: The limit of their bytes. */
TEST(trailers_are_bounded_in_bytes)
{
        char *data = room();
        struct ed_http1_body body;

        memset(data, 'a', 8191);
        data[1] = ':';
        begin_chunked(&body);
        CHECK_EQ(decode(&body, "0\r\n", 3, 3), 0);
        CHECK_EQ(decode(&body, data, 8190, 100), 0);
        CHECK_EQ(decode(&body, data + 8190, 1, 1), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(body.fault, ED_HTTP1_FAULT_TRAILERS_TOO_LARGE);
        free(data);
}

TEST(refused_body_stays_refused)
{
        struct ed_http1_body body;

        begin_chunked(&body);
        CHECK_EQ(decode(&body, "x", 1, 1), EDDY_E_HTTP_INVALID_RESPONSE);
        CHECK_EQ(decode(&body, "5\r\nhello", 8, 8), EDDY_E_HTTP_INVALID_RESPONSE);
        CHECK_EQ(ed_http1_body_finish(&body), EDDY_E_HTTP_TRUNCATED);
}

/* ---- time ------------------------------------------------------------------ */

static void parse_bytewise(char *data, size_t n)
{
        struct ed_http1_field fields[2];
        struct ed_http1_head head;

        ed_http1_request_init(&head, fields,
                              &(struct ed_http1_limits){ .line_bytes_max = ROOM,
                                                         .head_bytes_max = ROOM,
                                                         .fields_max = 2 });
        for (size_t have = 1; have <= n; have++)
                CHECK_EQ(ed_http1_head_parse(&head, data, have), 0);
}

TEST(head_delivered_byte_by_byte_takes_linear_time)
{
        char *data = room();

        memset(data, 'x', ROOM);
        memcpy(data, "GET / HTTP/1.1\r\nA:", 18);
        check_linear(parse_bytewise, data, 100000);
        free(data);
}

static void decode_whole(char *data, size_t n)
{
        struct ed_http1_body body;

        begin_chunked(&body);
        CHECK_EQ(decode(&body, data, n, ROOM), 0);
        CHECK(body.bytes > 0);
}

static void decode_bytewise(char *data, size_t n)
{
        struct ed_http1_body body;

        begin_chunked(&body);
        CHECK_EQ(decode(&body, data, n, 1), 0);
        CHECK(body.bytes > 0);
}

/* B39: CVE-2025-69229 was a parser that took squares of time here. */
TEST(many_tiny_chunks_take_linear_time)
{
        char *data = room();

        repeat(data, "1\r\na\r\n", 400000 / 6 * 4 + 4);
        check_linear(decode_whole, data, 400000);
        check_linear(decode_bytewise, data, 200000);
        free(data);
}
