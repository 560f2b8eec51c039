/*
 * test_multipart.c - multipart bodies, whole and under every split; and what is written for a part.
 */
#include "eddy/error.h"
#include "linear.h"
#include "test.h"
#include "wire/multipart.h"

enum { OUT_BYTES = 4096, HEAD_MAX = 300 };

#define DISPOSITION "Content-Disposition: form-data; "
#define PART(name)  "--b\r\n" DISPOSITION "name=\"" name "\"\r\n\r\n"
#define END         "\r\n--b--\r\n"

#define TEN     "0123456789"
#define SEVENTY TEN TEN TEN TEN TEN TEN TEN

static const struct ed_multipart_limits limits = { 4, HEAD_MAX, 1000, 1200, 4001 };

/* The events of a body, as text. */
struct reading {
        struct ed_multipart multipart;
        char out[OUT_BYTES];
        size_t at;
};

static void put(struct reading *reading, const char *text, size_t bytes)
{
        CHECK(reading->at + bytes < OUT_BYTES);
        for (size_t i = 0; i < bytes; i++) {
                char c = text[i];

                reading->out[reading->at++] = c == '\r' ? '<' : c == '\n' ? '>' : c ? c : '0';
        }
        reading->out[reading->at] = '\0';
}

static void put_text(struct reading *reading, const char *text)
{
        put(reading, text, strlen(text));
}

static void put_part(struct reading *reading)
{
        const char *name, *value;
        struct ed_multipart_part part;

        ed_multipart_part(&reading->multipart, &part);
        put_text(reading, "[");
        put_text(reading, part.name);
        if (part.filename) {
                put_text(reading, "|");
                put_text(reading, part.filename);
        }
        if (part.type) {
                put_text(reading, " ");
                put_text(reading, part.type);
        }
        for (size_t i = 0; ed_multipart_header_at(&reading->multipart, i, &name, &value) == 0; i++)
                if (name[0] == 'X') {
                        put_text(reading, " ");
                        put_text(reading, name);
                        put_text(reading, "=");
                        put_text(reading, value);
                }
        put_text(reading, ":");
}

/* Feed a piece, in memory of its own size. Returns 0 or an error. */
static int feed(struct reading *reading, const char *text, size_t bytes)
{
        char *exact = malloc(bytes > 0 ? bytes : 1);
        enum ed_multipart_event event;
        size_t at = 0, data_bytes = 0;
        const char *data = NULL;
        int64_t n = 0;

        CHECK(exact);
        memcpy(exact, text, bytes);
        while (at < bytes) {
                n = ed_multipart_read(&reading->multipart, exact + at, bytes - at, &event, &data,
                                      &data_bytes);
                if (n < 0)
                        break;
                at += (size_t) n;
                if (event == ED_MULTIPART_PART)
                        put_part(reading);
                else if (event == ED_MULTIPART_DATA)
                        put(reading, data, data_bytes);
                else if (event == ED_MULTIPART_PART_END)
                        put_text(reading, "]");
                else
                        CHECK_EQ(at, bytes);
        }
        free(exact);
        return n < 0 ? (int) n : 0;
}

static int finish(struct reading *reading, int err)
{
        if (err == 0)
                err = ed_multipart_finish(&reading->multipart);
        else if (err != -ENOMEM)
                CHECK(reading->multipart.rule);
        ed_multipart_fini(&reading->multipart);
        return err;
}

static void begin(struct reading *reading, const char *boundary)
{
        reading->at = 0;
        reading->out[0] = '\0';
        ed_multipart_init(&reading->multipart, boundary, &limits);
}

/* The result of a body that is cut at two places. */
static int result_of(struct reading *reading, const char *text, size_t bytes, size_t first,
                     size_t second)
{
        int err;

        begin(reading, "b");
        err = feed(reading, text, first);
        if (err == 0)
                err = feed(reading, text + first, second - first);
        if (err == 0)
                err = feed(reading, text + second, bytes - second);
        return finish(reading, err);
}

static void check_bytes(const char *text, size_t bytes, const char *expected)
{
        struct reading reading;

        for (size_t first = 0; first <= bytes; first++)
                for (size_t second = first; second <= bytes; second++) {
                        CHECK_EQ(result_of(&reading, text, bytes, first, second), 0);
                        CHECK_STR(reading.out, expected);
                }
}

static void check(const char *text, const char *expected)
{
        check_bytes(text, strlen(text), expected);
}

/* Under every split the body is refused by the same rule. */
static void check_refused(const char *text, size_t bytes, int expected, const char *rule)
{
        struct reading reading;

        for (size_t first = 0; first <= bytes; first++)
                for (size_t second = first; second <= bytes; second += 3) {
                        CHECK_EQ(result_of(&reading, text, bytes, first, second), expected);
                        if (rule)
                                CHECK_STR(reading.multipart.rule, rule);
                        else
                                CHECK(!reading.multipart.rule);
                }
}

static void refused(const char *text, const char *rule)
{
        check_refused(text, strlen(text), EDDY_E_HTTP_MULTIPART, rule);
}

TEST(parts_are_read_in_order_under_every_split)
{
        check(PART("a") "1" END, "[a:1]");
        check(PART("a") "1\r\n" PART("b") "2" END, "[a:1][b:2]");
        check(PART("a") END, "[a:]");
        check("--b--\r\n", "");
        check("--b--", "");
        check("--b\r\n" DISPOSITION
              "filename=\"f.txt\"; name=\"a\"\r\nContent-Type:  text/plain \r\n"
              "X-A: 1\r\nX-B:\r\n\r\nxy" END,
              "[a|f.txt text/plain X-A=1 X-B=:xy]");
        check("--b\r\ncontent-disposition:FORM-DATA;name=a;filename=\"\"\r\n\r\n" END, "[a|:]");
        check(PART("") "1" END, "[:1]");
}

TEST(bytes_that_begin_like_a_boundary_are_data)
{
        check(PART("a") "\r\n\r\n--\r\n-\r\n--" END, "[a:<><>--<>-<>--]");
        check(PART("a") "\r\r\n\r\r\n--a\r\n--c--b" END, "[a:<<><<>--a<>--c--b]");
        check(PART("a") "--" END, "[a:--]");
        check(PART("a") "x--b--\r\n" END, "[a:x--b--<>]");
        check(PART("a") "\n--b\r--b" END, "[a:>--b<--b]");
        check(PART("a") "\r" END, "[a:<]");
        check(PART("a") "-\r\n" END, "[a:-<>]");
}

TEST(all_bytes_of_data_are_kept)
{
        char body[600], expected[600] = "[a:";
        size_t bytes = strlen(PART("a"));
        struct reading reading;

        memcpy(body, PART("a"), bytes);
        for (int c = 0; c < 256; c++)
                body[bytes++] = (char) c;
        memcpy(body + bytes, END, strlen(END));
        bytes += strlen(END);
        for (size_t cut = 0; cut <= bytes; cut++) {
                CHECK_EQ(result_of(&reading, body, bytes, cut, cut), 0);
                CHECK_EQ(reading.at, 256 + 4);
                CHECK(memcmp(reading.out, expected, 3) == 0);
        }
}

TEST(names_are_decoded_as_browsers_write_them)
{
        check("--b\r\n" DISPOSITION "name=\"%22%0d%0A%20%\"; filename=\"a\\b;c=%22\"\r\n\r\n" END,
              "[\"<>%20%|a\\b;c=\":]");
        check(PART("\xC3\xA4\xF0\x9F\x98\x80") END, "[\xC3\xA4\xF0\x9F\x98\x80:]");
        refused(PART("\xE4") END, "the names of a part are UTF-8");
        refused(PART("\xC3") END, "the names of a part are UTF-8");
}

TEST(body_that_ends_early_is_truncated_at_every_byte)
{
        static const char body[] = PART("a") "1\r\n" PART("b") "2\r\n--b--";
        struct reading reading;

        for (size_t bytes = 0; bytes + 1 < sizeof(body); bytes++) {
                CHECK_EQ(result_of(&reading, body, bytes, bytes / 2, bytes), EDDY_E_HTTP_TRUNCATED);
                CHECK(!reading.multipart.rule);
        }
        CHECK_EQ(result_of(&reading, body, sizeof(body) - 1, 0, 0), 0);
        check_refused(PART("a") "1" END "", strlen(PART("a") "1" END) - 1, EDDY_E_HTTP_TRUNCATED,
                      NULL);
}

TEST(body_begins_with_its_boundary_and_ends_after_the_last)
{
        refused("x" PART("a") END, "a body begins with its boundary");
        refused("\r\n" PART("a") END, "a body begins with its boundary");
        refused("--c\r\n" END, "a body begins with its boundary");
        refused(PART("a") END "\r\n", "nothing follows the last boundary");
        refused(PART("a") "\r\n--b--x", "nothing follows the last boundary");
        refused(PART("a") "\r\n--b--\n", "nothing follows the last boundary");
        refused(PART("a") END PART("b") END, "nothing follows the last boundary");
}

TEST(boundary_is_followed_by_a_line_end_or_two_dashes)
{
        static const char rule[] = "a boundary is followed by CR LF, and the last one by \"--\"";

        refused(PART("a") "\r\n--bc\r\n", rule);
        refused(PART("a") "\r\n--b \r\n", rule);
        refused(PART("a") "\r\n--b\n", rule);
        refused(PART("a") "\r\n--b\r\r\n", rule);
        refused(PART("a") "\r\n--b-\r\n", rule);
        refused(PART("a") "--b" END, "a CR LF of its own is before each boundary");
}

TEST(headers_of_a_part_are_checked)
{
#define REFUSED(headers, rule) refused("--b\r\n" headers "\r\n\r\n" END, rule)
        REFUSED("", "a part has a Content-Disposition");
        REFUSED("X-A: 1", "a part has a Content-Disposition");
        REFUSED(DISPOSITION "name=a\r\n" DISPOSITION "name=b",
                "a part has one Content-Disposition");
        REFUSED(DISPOSITION "name=a; name=b", "a part has one name");
        REFUSED(DISPOSITION "name=a; filename=b; filename=c", "a part has one file name");
        REFUSED(DISPOSITION "filename=c", "a part has a name");
        REFUSED("Content-Disposition: attachment; name=a",
                "the Content-Disposition of a part is form-data");
        REFUSED(DISPOSITION "name*=utf-8''a",
                "\"name*\" and \"filename*\" are not used (RFC 7578, 4.2)");
        REFUSED(DISPOSITION "name=\"a\" b", "a Content-Disposition has parameters NAME=\"VALUE\"");
        REFUSED(DISPOSITION "name=\"a\";", "a Content-Disposition has parameters NAME=\"VALUE\"");
        REFUSED(DISPOSITION "name=\"a", "a Content-Disposition has parameters NAME=\"VALUE\"");
        REFUSED(DISPOSITION "name=", "a Content-Disposition has parameters NAME=\"VALUE\"");
        REFUSED(DISPOSITION "name=\"a\"\r\nContent-Transfer-Encoding: base64",
                "a part has no Content-Transfer-Encoding");
        REFUSED(DISPOSITION "name=\"a\"\n", "the lines of a part's headers end in CR LF");
        REFUSED(DISPOSITION "name=\"a\"\r\n b: c", "a header of a part is NAME: VALUE");
        REFUSED(DISPOSITION "name=\"a\"\r\nb : c", "a header of a part is NAME: VALUE");
        REFUSED(DISPOSITION "name=\"a\"\r\nb: c\rd", "a header of a part is NAME: VALUE");
        REFUSED(DISPOSITION "name=\"a\"\r\nbc", "a header of a part is NAME: VALUE");
        REFUSED(DISPOSITION "name=\"a\"\r\n: c", "a header of a part is NAME: VALUE");
        REFUSED(DISPOSITION "name=\"a\x01\"", "a header of a part is NAME: VALUE");
#undef REFUSED
        check("--b\r\n" DISPOSITION
              "name=a; size=3\r\nContent-Transfer-Encoding: Binary\r\n\r\n" END,
              "[a:]");
        check_refused("--b\r\n" DISPOSITION "name=\"a\0\"\r\n\r\n" END,
                      sizeof("--b\r\n" DISPOSITION "name=\"a\0\"\r\n\r\n" END) - 1,
                      EDDY_E_HTTP_MULTIPART, "a header of a part is NAME: VALUE");
}

/* ---- limits ------------------------------------------------------------------ */

/* A part whose header has 'head' bytes in all, and 'data' bytes of data. */
static size_t make_part(char *out, size_t head, size_t data)
{
        static const char begin_text[] = "--b\r\n", disposition[] = DISPOSITION "name=a\r\nX: ";
        char *at = out;

        memcpy(at, begin_text, sizeof(begin_text) - 1);
        at += sizeof(begin_text) - 1;
        memcpy(at, disposition, sizeof(disposition) - 1);
        memset(at + sizeof(disposition) - 1, 'x', head - sizeof(disposition) + 1 - 4);
        at += head;
        memcpy(at - 4, "\r\n\r\n", 4);
        memset(at, 'd', data);
        memcpy(at + data, "\r\n", 2);
        return (size_t) (at + data + 2 - out);
}

static int result_of_parts(size_t parts, size_t head, size_t data)
{
        static char body[16384];
        struct reading reading;
        size_t at = 0;

        for (size_t i = 0; i < parts; i++)
                at += make_part(body + at, head, data);
        memcpy(body + at, "--b--", 5);
        return result_of(&reading, body, at + 5, at / 2, at - 1);
}

TEST(limits_are_met_exactly)
{
        CHECK_EQ(result_of_parts(1, HEAD_MAX, 0), 0);
        CHECK_EQ(result_of_parts(1, HEAD_MAX + 1, 0), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(result_of_parts(1, HEAD_MAX + 9999, 0), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(result_of_parts(1, 100, 1000), 0);
        CHECK_EQ(result_of_parts(1, 100, 1001), EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(result_of_parts(4, 100, 0), 0);
        CHECK_EQ(result_of_parts(5, 100, 0), EDDY_E_HTTP_TOO_LARGE);
        /* 4,001 bytes in all: 7 bytes beside the head and the data of a part, and 5 at the end. */
        CHECK_EQ(result_of_parts(4, 140, 852), 0);
        CHECK_EQ(result_of_parts(4, 141, 852), EDDY_E_HTTP_TOO_LARGE);
}

TEST(hundred_thousand_parts_are_read_in_memory_of_one)
{
        static const struct ed_multipart_limits many = { 100000, HEAD_MAX, 10, 10, UINT64_MAX };
        static const char part[] = PART("a") "1\r\n";
        size_t parts = 0, bytes;
        enum ed_multipart_event event;
        struct ed_multipart multipart;
        const char *data;
        int64_t n = 0;

        ed_multipart_init(&multipart, "b", &many);
        while (n >= 0) {
                for (size_t at = 0; at < sizeof(part) - 1 && n >= 0; at += (size_t) n) {
                        n = ed_multipart_read(&multipart, part + at, sizeof(part) - 1 - at, &event,
                                              &data, &bytes);
                        parts += n >= 0 && event == ED_MULTIPART_PART;
                        if (n < 0)
                                break;
                }
        }
        CHECK_EQ((int) n, EDDY_E_HTTP_TOO_LARGE);
        CHECK_EQ(parts, 100000);
        CHECK(multipart.head.room <= 2 * HEAD_MAX && multipart.texts.room <= 2 * HEAD_MAX);
        ed_multipart_fini(&multipart);
}

/* A type that each of a million headers could have. */
TEST(type_of_a_part_is_found_in_the_time_of_one_look_at_its_headers)
{
        enum { HEADERS = 1 << 20, HEADER_BYTES = 4 };
        static const struct ed_multipart_limits large = { 1, 5 << 20, 10, 10, UINT64_MAX };
        static const char begin[] = "--b\r\n" DISPOSITION "name=a\r\n", end[] = "T: 1\r\n\r\n";
        size_t bytes = HEADERS * HEADER_BYTES, data_bytes;
        char *headers = malloc(bytes);
        enum ed_multipart_event event;
        struct ed_multipart multipart;
        struct ed_multipart_part part;
        const char *data;

        CHECK(headers != NULL);
        for (size_t at = 0; at < bytes; at += HEADER_BYTES)
                memcpy(headers + at, "a:\r\n", HEADER_BYTES);
        ed_multipart_init(&multipart, "b", &large);
        CHECK_EQ(
                ed_multipart_read(&multipart, begin, sizeof(begin) - 1, &event, &data, &data_bytes),
                sizeof(begin) - 1);
        CHECK_EQ(ed_multipart_read(&multipart, headers, bytes, &event, &data, &data_bytes), bytes);
        CHECK_EQ(ed_multipart_read(&multipart, end, sizeof(end) - 1, &event, &data, &data_bytes),
                 sizeof(end) - 1);
        CHECK_EQ(event, ED_MULTIPART_PART);
        ed_multipart_part(&multipart, &part);
        CHECK_STR(part.name, "a");
        CHECK(!part.type);
        ed_multipart_fini(&multipart);
        free(headers);
}

/* Read a field of 'n' bytes in pieces. */
static void read_field(char *data, size_t n, size_t piece)
{
        static const struct ed_multipart_limits large = { 1, HEAD_MAX, UINT64_MAX, 0, UINT64_MAX };
        static const char begin[] = "--" SEVENTY "\r\n" DISPOSITION "name=a\r\n\r\n";
        size_t data_bytes, left = sizeof(begin) - 1, given = 0;
        enum ed_multipart_event event;
        struct ed_multipart multipart;
        const char *at = begin, *run;

        ed_multipart_init(&multipart, SEVENTY, &large);
        for (int i = 0; i < 2; i++, at = data, left = n)
                while (left > 0) {
                        int64_t took =
                                ed_multipart_read(&multipart, at, left < piece ? left : piece,
                                                  &event, &run, &data_bytes);

                        CHECK(took >= 0);
                        given += event == ED_MULTIPART_DATA ? data_bytes : 0;
                        at += took;
                        left -= (size_t) took;
                }
        CHECK(given <= n && given + sizeof(SEVENTY) + 3 >= n);
        ed_multipart_fini(&multipart);
}

static void read_whole(char *data, size_t n)
{
        read_field(data, n, n);
}

static void read_bytewise(char *data, size_t n)
{
        read_field(data, n, 1);
}

/* Beginnings of the boundary of each length, and line ends. */
TEST(data_that_begin_like_the_boundary_take_linear_time)
{
        enum { BYTES = 2000000 };
        static const char boundary[] = "\r\n--" SEVENTY;
        size_t lengths[] = { 1, 2, 4, 5, sizeof(boundary) - 2 };
        char *data = malloc(BYTES);

        CHECK(data != NULL);
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
                for (size_t at = 0; at < BYTES; at++)
                        data[at] = boundary[at % lengths[i]];
                check_linear(read_whole, data, BYTES / 4);
                check_linear(read_bytewise, data, BYTES / 20);
        }
        free(data);
}

/* ---- the boundary ------------------------------------------------------------ */

static int boundary_of(const char *type, const char *expected)
{
        char boundary[ED_MULTIPART_BOUNDARY_MAX + 1] = "";
        const char *rule;
        int n = ed_multipart_boundary(type, boundary, &rule);

        CHECK_STR(boundary, expected);
        CHECK_EQ(n == EDDY_E_HTTP_MULTIPART, rule != NULL);
        return n;
}

TEST(boundary_is_found_in_the_type)
{
        CHECK_EQ(boundary_of("multipart/form-data; boundary=abc", "abc"), 3);
        CHECK_EQ(boundary_of("Multipart/Form-Data ;charset=utf-8; BOUNDARY=\"a b'c\"", "a b'c"), 5);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=" SEVENTY, SEVENTY), 70);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=x" SEVENTY, ""), EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-data", ""), EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=", ""), EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=\"\"", ""), EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=\"a \"", ""), EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=\"a", ""), EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=a; boundary=a", ""),
                 EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=a*b", ""), EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-data; boundary=\xC3\xA4", ""), EDDY_E_HTTP_MULTIPART);
        CHECK_EQ(boundary_of("multipart/form-dat; boundary=a", ""), EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_EQ(boundary_of("multipart/form-data2; boundary=a", ""), EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_EQ(boundary_of("", ""), EDDY_E_HTTP_CONTENT_TYPE);
        CHECK_EQ(boundary_of(NULL, ""), EDDY_E_HTTP_CONTENT_TYPE);
}

TEST(boundary_of_any_length_is_found_under_every_split)
{
        struct reading reading;
        char body[400];

        for (size_t length = 1; length <= ED_MULTIPART_BOUNDARY_MAX; length++) {
                const char *boundary = &SEVENTY[ED_MULTIPART_BOUNDARY_MAX - length];
                int bytes =
                        snprintf(body, sizeof(body),
                                 "--%s\r\n" DISPOSITION "name=a\r\n\r\nx\r\n--%.*s\r\n--%s--\r\n",
                                 boundary, (int) length - 1, boundary, boundary);

                for (int cut = 0; cut <= bytes; cut++) {
                        int err;

                        begin(&reading, boundary);
                        err = feed(&reading, body, (size_t) cut);
                        if (err == 0)
                                err = feed(&reading, body + cut, (size_t) (bytes - cut));
                        CHECK_EQ(finish(&reading, err), 0);
                        CHECK(strncmp(reading.out, "[a:x<>--", 8) == 0);
                        CHECK_EQ(reading.at, 8 + length - 1 + 1);
                }
        }
}

/* ---- writing ----------------------------------------------------------------- */

TEST(parts_are_written_as_browsers_do)
{
        const struct ed_multipart_head first = { "a\"\r\nb", "\xC3\xA4\t\\.txt", "text/plain" };
        const struct ed_multipart_head second = { "c", NULL, NULL };
        struct ed_buf out;

        ed_buf_init(&out, 1000);
        CHECK_EQ(ed_multipart_write(&out, "xyz", &first, true), 0);
        CHECK_EQ(ed_multipart_write(&out, "xyz", &second, false), 0);
        CHECK_EQ(ed_multipart_write_end(&out, "xyz", false), 0);
        CHECK_EQ(ed_buf_append(&out, "", 1), 0);
        CHECK_STR(ed_buf_data(&out),
                  "--xyz\r\nContent-Disposition: form-data; name=\"a%22%0D%0Ab\"; "
                  "filename=\"\xC3\xA4\t\\.txt\"\r\nContent-Type: text/plain\r\n"
                  "\r\n--xyz\r\nContent-Disposition: form-data; name=\"c\"\r\n"
                  "\r\n--xyz--\r\n");
        ed_buf_fini(&out);
}

/* B47: Names, file names and types of a form. */
TEST(names_and_types_that_cannot_be_sent_are_refused)
{
#define CHECKED(...) ed_multipart_check(&(struct ed_multipart_head){ __VA_ARGS__ })
        CHECK(!CHECKED("", "", "a/b"));
        CHECK(!CHECKED("a\r\n\"\xC3\xA4", NULL, NULL));
        CHECK_STR(CHECKED(NULL), "has no name");
        CHECK_STR(CHECKED("\x01"), "has a name that is not UTF-8, or has a control character");
        CHECK_STR(CHECKED("\x7F"), "has a name that is not UTF-8, or has a control character");
        CHECK_STR(CHECKED("a\xE4"), "has a name that is not UTF-8, or has a control character");
        CHECK_STR(CHECKED("a", "\x1B"),
                  "has a file name that is not UTF-8, or has a control character");
        CHECK_STR(CHECKED("a", "b", "x\r\ny"),
                  "has an empty type, or one with a control character");
        CHECK_STR(CHECKED("a", "b", ""), "has an empty type, or one with a control character");
#undef CHECKED
}
