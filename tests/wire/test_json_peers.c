/*
 * test_json_peers.c - the verdicts of eddy, jansson and Python's json on mutated texts.
 *
 * The mutants come from the corpus and a few documents, by a seed. A difference must be a row of
 * the table in docs/design/json.md, or the case fails and prints the text. EDDY_TEST_FULL=1: 100,000
 * mutants instead of 5,000. Without Python the comparison with jansson remains.
 */
#include <jansson.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eddy/error.h"
#include "eddy/json.h"

#include "test.h"

enum { TEXT_BYTES = 2048, SAMPLE = 5000, ALL = 100000 };

#define CASE(section, name, text, result)   { text, sizeof(text) - 1 },
#define CHOICE(section, name, text, result) CASE(section, name, text, result)
static const struct {
        const char *text;
        size_t bytes;
} bases[] = {
#include "json_corpus.h"
        CASE("", "",
             "{\"custom_id\":\"r-1\",\"method\":\"POST\",\"url\":\"/v1/chat/"
             "completions\",\"body\":{"
             "\"model\":\"m\",\"temperature\":0.7,\"messages\":[{\"role\":\"user\",\"content\":"
             "\"caf\303\251 \\ud83d\\ude00 \\\"x\\\"\\n\"}]}}",
             0)
#define NEST  "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
#define CLOSE "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
                CASE("", "", NEST NEST NEST NEST NEST CLOSE CLOSE CLOSE CLOSE CLOSE, 0) CASE(
                        "", "",
                        "[\n  -0.0069292834,\n  1.5e-07,\n  12345678901234567890,\n  null\n]\n", 0)
                        CASE("", "",
                             "{\"a\":[[],[{}],{\"b\":[true,false]}],\"\\u0061\":1,\"a\":"
                             "\"\\u0000\"}",
                             0) CASE("", "",
                                     "\"0123456789abcdef0123456789abcdef\\\\0123456789abcdef\342"
                                     "\202\2540123456789\"",
                                     0)
                                CASE("", "",
                                     "[1,-2.5,\n  "
                                     "0.125,30,-0,7.25,-0.0069292834,12,13,14,15,16.5,17,18,19,20,"
                                     "-21.125,22,23,24,25,26]",
                                     0) CASE("", "",
                                             "\"first line\\nsecond \\\"quoted\\\" line \\\\ with "
                                             "a tab\\t and a slash \\/"
                                             " and more words than a block of 64 bytes has\"",
                                             0)
};
#undef CASE
#undef CHOICE

enum { BASES = sizeof(bases) / sizeof(bases[0]) };

static const struct {
        const char *text;
        size_t bytes;
} pieces[] = {
#define PIECE(text)                                                                                \
        {                                                                                          \
                text, sizeof(text) - 1                                                             \
        }
        PIECE("\""),
        PIECE("\\"),
        PIECE("\\u"),
        PIECE("\\ud800"),
        PIECE("\\udc00"),
        PIECE("\\u0000"),
        PIECE("{"),
        PIECE("}"),
        PIECE("["),
        PIECE("]"),
        PIECE(","),
        PIECE(":"),
        PIECE("-"),
        PIECE("."),
        PIECE("e"),
        PIECE("E+"),
        PIECE("0"),
        PIECE("1"),
        PIECE("9999999999999999999"),
        PIECE("1e400"),
        PIECE(" "),
        PIECE("\n"),
        PIECE("\0"),
        PIECE("\x1f"),
        PIECE("\x80"),
        PIECE("\xc3"),
        PIECE("\xe2\x82"),
        PIECE("\xef\xbb\xbf"),
        PIECE("\xed\xa0\x80"),
        PIECE("\xf4\x90"),
        PIECE("true"),
        PIECE("nul"),
        PIECE("NaN"),
        PIECE("Infinity"),
        PIECE("\"a\":1,"),
        PIECE("/**/"),
        PIECE("\xff"),
        PIECE("\t"),
        PIECE("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
              "["),
        PIECE("]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
              "]"),
#undef PIECE
};

static unsigned chance(uint64_t *seed, size_t below)
{
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        return (unsigned) ((*seed >> 33) % (below ? below : 1));
}

/* Replace 'cut' bytes at 'at' by others; a text that would be too long stays as it is. */
static size_t splice(char *text, size_t bytes, size_t at, size_t cut, const char *in, size_t n)
{
        if (at > bytes || cut > bytes - at || bytes - cut + n > TEXT_BYTES)
                return bytes;
        memmove(text + at + n, text + at + cut, bytes - at - cut);
        memcpy(text + at, in, n);
        return bytes - cut + n;
}

static size_t mutate(char *text, size_t bytes, uint64_t *seed)
{
        size_t at = chance(seed, bytes + 1),
               piece = chance(seed, sizeof(pieces) / sizeof(pieces[0]));
        char copy[TEXT_BYTES], byte = (char) chance(seed, 256);
        size_t n;

        switch (chance(seed, 6)) {
        case 0:
                return splice(text, bytes, at, at < bytes, &byte, 1);
        case 1:
                return splice(text, bytes, at, chance(seed, 4), "", 0);
        case 2:
                return splice(text, bytes, at, 0, pieces[piece].text, pieces[piece].bytes);
        case 3:
                return splice(text, bytes, at, chance(seed, 3), pieces[piece].text,
                              pieces[piece].bytes);
        case 4:
                n = chance(seed, bytes - at + 1);
                memcpy(copy, text + at, n);
                return splice(text, bytes, chance(seed, bytes + 1), 0, copy, n);
        default:
                n = chance(seed, BASES);
                return splice(text, bytes, at, 0, bases[n].text, bases[n].bytes);
        }
}

static size_t mutant(char *text, uint64_t seed)
{
        size_t base, bytes;

        seed *= 0x9e3779b97f4a7c15u;
        base = chance(&seed, BASES);
        bytes = bases[base].bytes;
        memcpy(text, bases[base].text, bytes);
        for (unsigned n = chance(&seed, 4); n > 0; n--)
                bytes = mutate(text, bytes, &seed);
        return bytes;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Why jansson may refuse what eddy accepts; docs/design/json.md has these rows. */
enum reason { SAME, HALF_PAIR, ZERO, TOO_LARGE, DROPPED, DEEP, OTHER, REASONS };

static const char *const reason_names[] = { "equal",
                                            "half of a surrogate pair",
                                            "\\u0000",
                                            "a number that does not fit",
                                            "a zero byte that is dropped",
                                            "nesting",
                                            "unexplained" };

static int eddy_verdict(const char *text, size_t bytes)
{
        char *exact = malloc(bytes ? bytes : 1);
        int result;

        CHECK(exact);
        memcpy(exact, text, bytes);
        result = eddy_json_check(exact, bytes, NULL, NULL);
        free(exact);
        return result;
}

/* jansson 2.14 drops a zero byte after a number: without such bytes eddy accepts the text too. */
static bool is_valid_without_zeros(const char *text, size_t bytes)
{
        char copy[TEXT_BYTES];
        struct eddy_json_error error;

        memcpy(copy, text, bytes);
        while (eddy_json_check(copy, bytes, NULL, &error) < 0) {
                if (error.offset >= bytes || copy[error.offset] != '\0')
                        return false;
                bytes = splice(copy, bytes, error.offset, 1, "", 0);
        }
        return true;
}

static enum reason compare_jansson(const char *text, size_t bytes, int ours)
{
        json_error_t error;
        json_t *tree = json_loadb(text, bytes, JSON_DECODE_ANY, &error);
        enum json_error_code code = tree ? json_error_unknown : json_error_code(&error);
        bool accepted = tree;

        json_decref(tree);
        if (accepted == (ours == 0))
                return SAME;
        if (accepted)
                return ours == EDDY_E_JSON_DEPTH             ? DEEP
                       : is_valid_without_zeros(text, bytes) ? DROPPED
                                                             : OTHER;
        if (code == json_error_null_character || code == json_error_null_byte_in_key)
                return ZERO;
        if (code == json_error_numeric_overflow)
                return TOO_LARGE;
        return strncmp(error.text, "invalid Unicode", 15) == 0 ? HALF_PAIR : OTHER;
}

static unsigned count_of_mutants(void)
{
        return test_is_full() ? ALL : SAMPLE;
}

static void print_text(const char *text, size_t bytes)
{
        char quoted[6 * TEXT_BYTES + 3];

        quoted[eddy_json_quote(text, bytes, quoted)] = '\0';
        printf("# %s\n", quoted);
}

TEST(jansson_gives_equal_verdicts_on_mutants_but_for_the_table)
{
        unsigned counts[REASONS] = { 0 }, valid = 0;
        char text[TEXT_BYTES];

        for (unsigned i = 0; i < count_of_mutants(); i++) {
                size_t bytes = mutant(text, i + 1);
                int ours = eddy_verdict(text, bytes);
                enum reason reason = compare_jansson(text, bytes, ours);

                if (reason == OTHER) {
                        print_text(text, bytes);
                        test_fail(__FILE__, __LINE__, "mutant %u: eddy %s", i,
                                  eddy_error_name(ours));
                }
                counts[reason]++;
                valid += ours == 0;
        }
        printf("# jansson %s: %u mutants, %u valid", JANSSON_VERSION, count_of_mutants(), valid);
        for (int i = 0; i < REASONS; i++)
                if (counts[i] > 0)
                        printf(", %s: %u", reason_names[i], counts[i]);
        printf("\n");
}

/* ---- Python ---------------------------------------------------------------------------------- */

/* Reads texts after their lengths from the file argv[1]; prints 1 or 0 for each. */
static const char python[] = "import json, struct, sys\n"
                             "def no(word): raise ValueError(word)\n"
                             "sys.setrecursionlimit(100000)\n"
                             "data, at, out = open(sys.argv[1], 'rb').read(), 0, []\n"
                             "while at < len(data):\n"
                             "    n, = struct.unpack_from('<I', data, at)\n"
                             "    text, at = data[at + 4:at + 4 + n], at + 4 + n\n"
                             "    try:\n"
                             "        json.loads(text.decode('utf-8'), parse_constant=no)\n"
                             "        out.append('1')\n"
                             "    except ValueError:\n"
                             "        out.append('0')\n"
                             "sys.stdout.write(''.join(out))\n";

static void write_mutants(FILE *file)
{
        char text[TEXT_BYTES];

        for (unsigned i = 0; i < count_of_mutants(); i++) {
                size_t bytes = mutant(text, i + 1);
                uint8_t length[4] = { (uint8_t) bytes, (uint8_t) (bytes >> 8), 0, 0 };

                CHECK_EQ(fwrite(length, 1, sizeof(length), file), sizeof(length));
                CHECK_EQ(fwrite(text, 1, bytes, file), bytes);
        }
}

/* Run Python on the script; its output goes to 'verdicts'. Returns its exit code; 127: not there. */
static int run_python(const char *script, const char *mutants, const char *verdicts)
{
        int status = -1;
        pid_t child = fork();

        if (child == 0) {
                if (freopen(verdicts, "w", stdout))
                        execlp("python3", "python3", script, mutants, (char *) NULL);
                _exit(127);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static FILE *opened(const char *path, const char *mode)
{
        FILE *file = fopen(path, mode);

        CHECK(file);
        return file;
}

static unsigned compare_python(FILE *verdicts)
{
        unsigned deep = 0;
        char text[TEXT_BYTES];

        for (unsigned i = 0; i < count_of_mutants(); i++) {
                size_t bytes = mutant(text, i + 1);
                int ours = eddy_verdict(text, bytes), theirs = fgetc(verdicts);

                CHECK(theirs == '0' || theirs == '1');
                if ((theirs == '1') == (ours == 0))
                        continue;
                if (ours != EDDY_E_JSON_DEPTH) {
                        print_text(text, bytes);
                        test_fail(__FILE__, __LINE__, "mutant %u: eddy %s", i,
                                  eddy_error_name(ours));
                }
                deep++;
        }
        CHECK_EQ(fgetc(verdicts), EOF);
        return deep;
}

TEST(python_gives_equal_verdicts_on_mutants_but_for_the_table)
{
        char folder[] = "/tmp/json_peersXXXXXX", script[64], mutants[64], verdicts[64];
        FILE *file;
        int status;

        CHECK(mkdtemp(folder));
        snprintf(script, sizeof(script), "%s/verdicts.py", folder);
        snprintf(mutants, sizeof(mutants), "%s/mutants", folder);
        snprintf(verdicts, sizeof(verdicts), "%s/verdicts", folder);
        file = opened(script, "w");
        CHECK(fputs(python, file) >= 0 && fclose(file) == 0);
        file = opened(mutants, "w");
        write_mutants(file);
        CHECK_EQ(fclose(file), 0);
        status = run_python(script, mutants, verdicts);
        file = opened(verdicts, "r");
        CHECK(unlink(script) == 0 && unlink(mutants) == 0 && unlink(verdicts) == 0 &&
              rmdir(folder) == 0);
        if (status == 127)
                test_skip("there is no python3");
        CHECK_EQ(status, 0);
        printf("# Python: %u mutants, nesting: %u\n", count_of_mutants(), compare_python(file));
        fclose(file);
}
