/*
 * test_json_corpus.c - the verdict on each text of json_corpus.h, on each of its beginnings and on
 * each change of one byte; memory outside of the text is never read.
 */
#include <errno.h>

#include "eddy/error.h"
#include "eddy/json.h"

#include "test.h"

enum {
        SYNTAX = EDDY_E_JSON_SYNTAX,
        TRUNCATED = EDDY_E_JSON_TRUNCATED,
        NUMBER = EDDY_E_JSON_NUMBER
};
enum { STRING = EDDY_E_JSON_STRING, UTF8 = EDDY_E_JSON_UTF8 };

static const struct {
        const char *section, *name, *text;
        size_t bytes;
        int result;
} cases[] = {
#define CASE(section, name, text, result)   { section, name, text, sizeof(text) - 1, result },
#define CHOICE(section, name, text, result) CASE(section, name, text, result)
#include "json_corpus.h"
#undef CASE
#undef CHOICE
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

/* In memory of just its size, so that a sanitizer sees one byte more. */
static char *copy_of(const char *text, size_t bytes)
{
        char *copy = malloc(bytes ? bytes : 1);

        CHECK(copy);
        memcpy(copy, text, bytes);
        return copy;
}

/* The result of check and compact, which are equal; what compact wrote is valid and compact. */
static int verdict(const char *text, size_t bytes)
{
        char *in = copy_of(text, bytes), *out = malloc(bytes ? bytes : 1),
             *again = malloc(bytes ? bytes : 1);
        struct eddy_json_error error = { .offset = 99 };
        int result = eddy_json_check(in, bytes, NULL, &error);
        int64_t written = eddy_json_compact(in, bytes, out, NULL, NULL);

        CHECK(out && again);
        if (result < 0) {
                CHECK_EQ(written, result);
                CHECK_EQ(error.error, result);
                CHECK(error.offset <= bytes);
                CHECK(error.line >= 1 && error.column >= 1);
                CHECK(error.text[0] != '\0' && strlen(error.text) < EDDY_JSON_TEXT_BYTES);
        } else {
                CHECK_EQ(error.offset, 99);
                CHECK(written > 0 && (size_t) written <= bytes);
                CHECK_EQ(eddy_json_compact(out, (size_t) written, again, NULL, NULL), written);
                CHECK_EQ(memcmp(out, again, (size_t) written), 0);
                CHECK(!memchr(out, '\n', (size_t) written));
        }
        free(in);
        free(out);
        free(again);
        return result;
}

TEST(every_text_of_the_corpus_gets_its_verdict)
{
        for (size_t i = 0; i < CASES; i++) {
                int result = verdict(cases[i].text, cases[i].bytes);

                if (result != cases[i].result)
                        test_fail(__FILE__, __LINE__, "RFC 8259, %s, %s: %s", cases[i].section,
                                  cases[i].name, eddy_error_name(result));
        }
        printf("# RFC 8259: %d texts\n", CASES);
}

/* Only a number at the root has beginnings that are valid too. */
TEST(every_beginning_of_a_valid_text_is_truncated)
{
        for (size_t i = 0; i < CASES; i++) {
                const char *text = cases[i].text;
                bool is_number = text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
                size_t bytes = cases[i].bytes;

                while (bytes > 0 && strchr(" \t\r\n", text[bytes - 1]))
                        bytes--;
                if (cases[i].result < 0)
                        continue;
                for (size_t n = 0; n < bytes; n++) {
                        int result = verdict(text, n);

                        CHECK(result == TRUNCATED || result == UTF8 || (is_number && result == 0));
                }
        }
}

TEST(every_change_of_a_byte_gets_equal_verdicts_of_check_and_compact)
{
        for (size_t i = 0; i < CASES; i++) {
                char *text = copy_of(cases[i].text, cases[i].bytes);

                for (size_t at = 0; at < cases[i].bytes && at < 64; at++) {
                        static const char changes[] = "\0\t \"\\{}[]:,0-.eutn\x80\xc3\xff";

                        for (size_t c = 0; c < sizeof(changes) - 1; c++) {
                                text[at] = changes[c];
                                (void) verdict(text, cases[i].bytes);
                        }
                        text[at] = cases[i].text[at];
                }
                free(text);
        }
}

/* The scan goes sixteen bytes at a time: a wrong byte is seen in each lane and after each. */
TEST(a_wrong_byte_is_found_at_each_place_of_a_long_string)
{
        static const char wrong[] = "\n\x1f\x80\"\\";
        char text[80];

        for (size_t bytes = 3; bytes < sizeof(text); bytes++)
                for (size_t at = 1; at + 1 < bytes; at++)
                        for (size_t c = 0; c < sizeof(wrong) - 1; c++) {
                                struct eddy_json_error error;
                                int result;

                                memset(text, 'x', bytes);
                                text[0] = text[bytes - 1] = '"';
                                CHECK_EQ(verdict(text, bytes), 0);
                                text[at] = wrong[c];
                                result = eddy_json_check(text, bytes, NULL, &error);
                                CHECK(result < 0);
                                CHECK_EQ(result, verdict(text, bytes));
                                if (wrong[c] != '"' && wrong[c] != '\\')
                                        CHECK_EQ(error.offset, at);
                        }
}

/* Append one to five of the pieces, by chance. */
static size_t pieces_add(char *text, const char *const *pieces, size_t count, unsigned *seed)
{
        size_t bytes = 0;

        for (int n = 1 + rand_r(seed) % 5; n > 0; n--) {
                const char *piece = pieces[(size_t) rand_r(seed) % count];

                memcpy(text + bytes, piece, strlen(piece));
                bytes += strlen(piece);
        }
        return bytes;
}

/*
 * A short text, which is scanned byte by byte, and a long one, which is scanned 64 bytes at a time:
 * the same 'middle' between OPEN and CLOSE, in the long one after 'lead' and before 'trail'.
 */
static void same_verdict(const char *open, const char *lead, size_t lead_bytes, const char *middle,
                         size_t middle_bytes, const char *trail)
{
        char text[64], whole[512], out[64], out_whole[512];
        size_t bytes = 0, bytes_whole = 0, trail_bytes = strlen(trail);
        struct eddy_json_error error = { .error = 0 }, error_whole = { .error = 0 };
        int64_t written, written_whole;

        text[bytes++] = whole[bytes_whole++] = open[0];
        memcpy(whole + bytes_whole, lead, lead_bytes);
        bytes_whole += lead_bytes;
        memcpy(text + bytes, middle, middle_bytes);
        bytes += middle_bytes;
        memcpy(whole + bytes_whole, middle, middle_bytes);
        bytes_whole += middle_bytes;
        memcpy(whole + bytes_whole, trail, trail_bytes);
        bytes_whole += trail_bytes;
        text[bytes++] = whole[bytes_whole++] = open[1];
        written = eddy_json_compact(text, bytes, out, NULL, &error);
        written_whole = eddy_json_compact(whole, bytes_whole, out_whole, NULL, &error_whole);
        CHECK_EQ(verdict(whole, bytes_whole), verdict(text, bytes));
        CHECK_EQ(error_whole.error, error.error);
        if (written < 0) {
                if (error.error != TRUNCATED)
                        CHECK_EQ(error_whole.offset, error.offset + lead_bytes);
                return;
        }
        CHECK_EQ((size_t) written_whole, (size_t) written + lead_bytes + trail_bytes);
        CHECK_EQ(memcmp(out_whole, whole, 1 + lead_bytes), 0);
        CHECK_EQ(memcmp(out_whole + 1 + lead_bytes, out + 1, (size_t) written - 2), 0);
        CHECK_EQ(memcmp(out_whole + lead_bytes + written - 1, trail, trail_bytes), 0);
}

TEST(numbers_in_a_long_array_get_the_verdict_that_they_get_in_a_short_one)
{
        static const char *const pieces[] = { "0",   "-0", "12",    "-3.5", "0.25",  "00",
                                              "-01", "1.", "-",     ".5",   "1e5",   "2E-1",
                                              "+1",  "1-", "1.2.3", " ",    "\n",    "\n ",
                                              "\t",  "\r", ",",     ", ",   ",\n  ", ",-",
                                              ",1",  ",",  "]",     "[",    "\"",    "null" };
        char lead[256], middle[64] = "8,";
        unsigned seed = 1;

        for (int round = 0; round < 40000; round++) {
                size_t lead_bytes = 0, bytes = 2, want = (size_t) rand_r(&seed) % 130;

                while (lead_bytes < want) {
                        size_t n = 2 + (size_t) rand_r(&seed) % 18;

                        memcpy(lead + lead_bytes, &"-0.1234567890123456"[19 - n], n);
                        lead[lead_bytes] = '1';
                        lead_bytes += n;
                        lead[lead_bytes++] = ',';
                }
                bytes += pieces_add(middle + 2, pieces, sizeof(pieces) / sizeof(pieces[0]), &seed);
                memcpy(middle + bytes, ",9", 2);
                same_verdict("[]", lead, lead_bytes, middle, bytes + 2,
                             ",1,2.5,-3,0.125,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,"
                             "24,25,26,27,28,29,30");
        }
}

TEST(escapes_in_a_long_string_get_the_verdict_that_they_get_in_a_short_one)
{
        static const char *const pieces[] = { "\\n",    "\\t",      "\\r",     "\\/",     "\\\\",
                                              "\\\"",   "\\b",      "\\f",     "\\u0041", "\\ud8",
                                              "\\x",    "\\",       "\"",      "x",       "xyz",
                                              "\x7f",   "\xc3\xa9", "\x80",    "\x01",    "\n",
                                              "\\n\\n", "\\\\\\\\", "xxxxxxxx" };
        char lead[256], middle[64];
        unsigned seed = 1;

        for (int round = 0; round < 40000; round++) {
                size_t bytes =
                        pieces_add(middle, pieces, sizeof(pieces) / sizeof(pieces[0]), &seed);

                memset(lead, 'x', sizeof(lead));
                middle[bytes++] = 'n';
                same_verdict(
                        "\"\"", lead, (size_t) rand_r(&seed) % 140, middle, bytes,
                        "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz");
        }
}

TEST(white_space_of_each_length_goes_and_all_else_stays)
{
        char text[200], out[200];

        for (size_t spaces = 0; spaces < 80; spaces++) {
                size_t bytes = 0;
                int64_t written;

                text[bytes++] = '[';
                for (size_t i = 0; i < spaces; i++)
                        text[bytes++] = "\n \t\r"[i % 4];
                memcpy(text + bytes, "\"a  b\\n\"", 8);
                bytes += 8;
                for (size_t i = 0; i < spaces; i++)
                        text[bytes++] = ' ';
                memcpy(text + bytes, ",1.50]", 6);
                bytes += 6;
                written = eddy_json_compact(text, bytes, out, NULL, NULL);
                CHECK_EQ(written, 15);
                CHECK_EQ(memcmp(out, "[\"a  b\\n\",1.50]", 15), 0);
        }
}

/* Compacting writes in blocks, but never beyond the bytes of the text. */
TEST(compact_stays_inside_of_the_room)
{
        static const char text[] =
                "{ \"a\" : [ 1 , 22 , 333 ] , \"bcdefghijklmnopqrstuvw\" : null }";

        for (size_t lead = 0; lead < 40; lead++) {
                size_t bytes = lead + sizeof(text) - 1;
                char *in = malloc(bytes), *out = malloc(bytes);

                CHECK(in && out);
                memset(in, ' ', lead);
                memcpy(in + lead, text, sizeof(text) - 1);
                CHECK_EQ(eddy_json_compact(in, bytes, out, NULL, NULL), 46);
                CHECK_EQ(memcmp(out, "{\"a\":[1,22,333],\"bcdefghijklmnopqrstuvw\":null}", 46), 0);
                free(in);
                free(out);
        }
}

static int check_depth(uint32_t depth, uint32_t depth_max, bool is_object)
{
        size_t unit = is_object ? 5 : 1, bytes = 0;
        char *text = malloc(depth * (unit + 1) + 2);
        struct eddy_json_opts opts = { .depth_max = depth_max };
        int result;

        CHECK(text);
        for (uint32_t i = 0; i < depth; i++, bytes += unit)
                memcpy(text + bytes, is_object ? "{\"a\":" : "[", unit);
        if (is_object)
                text[bytes++] = '1';
        memset(text + bytes, is_object ? '}' : ']', depth);
        bytes += depth;
        result = eddy_json_check(text, bytes, &opts, NULL);
        free(text);
        return result;
}

TEST(nesting_has_a_limit_of_9_that_is_exact)
{
        for (int is_object = 0; is_object < 2; is_object++) {
                CHECK_EQ(check_depth(EDDY_JSON_DEPTH_DEFAULT, 0, is_object), 0);
                CHECK_EQ(check_depth(EDDY_JSON_DEPTH_DEFAULT + 1, 0, is_object), EDDY_E_JSON_DEPTH);
                CHECK_EQ(check_depth(EDDY_JSON_DEPTH_MAX, EDDY_JSON_DEPTH_MAX, is_object), 0);
                CHECK_EQ(check_depth(EDDY_JSON_DEPTH_MAX + 1, EDDY_JSON_DEPTH_MAX, is_object),
                         EDDY_E_JSON_DEPTH);
                CHECK_EQ(check_depth(1, 1, is_object), 0);
                CHECK_EQ(check_depth(2, 1, is_object), EDDY_E_JSON_DEPTH);
                CHECK_EQ(check_depth(1000000, 0, is_object), EDDY_E_JSON_DEPTH);
        }
        CHECK_EQ(check_depth(1, EDDY_JSON_DEPTH_MAX + 1, false), -EINVAL);
}

/* At each depth arrays and objects alternate by chance: each is closed by its own bracket. */
TEST(brackets_match_at_each_depth)
{
        unsigned seed = 1;

        for (int round = 0; round < 200; round++) {
                char text[1024], close[100];
                size_t bytes = 0, depth = 1 + (size_t) round % 100;

                for (size_t i = 0; i < depth; i++) {
                        bool is_object = (seed = seed * 1103515245 + 12345) >> 16 & 1;

                        memcpy(text + bytes, is_object ? "{\"a\":" : "[", is_object ? 5 : 1);
                        bytes += is_object ? 5 : 1;
                        close[i] = is_object ? '}' : ']';
                }
                text[bytes++] = '0';
                for (size_t i = depth; i-- > 0;)
                        text[bytes++] = close[i];
                CHECK_EQ(verdict(text, bytes), 0);
                for (size_t i = 0; i < depth; i++) {
                        char *at = &text[bytes - depth + i];
                        char was = *at;

                        *at = was == ']' ? '}' : ']';
                        CHECK_EQ(verdict(text, bytes), SYNTAX);
                        *at = was;
                }
        }
}

TEST(an_error_names_its_line_and_column)
{
        struct eddy_json_error error;

        CHECK_EQ(eddy_json_check("{\n  \"a\": 1,\n  \"b\" 2\n}", 22, NULL, &error), SYNTAX);
        CHECK_EQ(error.offset, 18);
        CHECK_EQ(error.line, 3);
        CHECK_EQ(error.column, 7);
        CHECK_STR(error.text, "line 3, column 7: ':' expected after a name, found '2'");
        CHECK_STR(error.path, "");
        CHECK_EQ(eddy_json_check("[1", 2, NULL, &error), TRUNCATED);
        CHECK_STR(error.text,
                  "line 1, column 3: the text ends here; ',' or ']' expected after an item");
        CHECK_EQ(eddy_json_check("\"\x01\"", 3, NULL, &error), STRING);
        CHECK_STR(error.text, "line 1, column 2: a control character in a string must be escaped, "
                              "found the byte 0x01");
        CHECK_EQ(eddy_json_check("\xef\xbb\xbf{}", 5, NULL, &error), SYNTAX);
        CHECK_STR(error.text,
                  "line 1, column 1: a byte order mark is not allowed, found the byte 0xEF");
        CHECK_EQ(eddy_json_check(NULL, 0, NULL, &error), TRUNCATED);
        CHECK_STR(error.text, "line 1, column 1: the text ends here; a value expected");
}
