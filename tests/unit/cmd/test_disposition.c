/*
 * test_disposition.c - file names in Content-Disposition: names of RFC 6266 and of hostile servers.
 */
#include "test.h"

#include <string.h>

#include "common/disposition.h"
#include "common/random.h"
#include "eddy/json.h"

enum { ROOM = 300 };

static char name[ROOM + 1];

static const char *named(const char *value)
{
        size_t bytes = ed_disposition_name(value, name, ROOM);

        name[bytes] = '\0';
        CHECK(strlen(name) == bytes);
        return name;
}

TEST(name_is_that_of_the_header)
{
        static const char *const rows[][2] = {
                { "attachment; filename=report.csv", "report.csv" },
                { "attachment; filename=\"report.csv\"", "report.csv" },
                { " Attachment ; FileName = \"a b.csv\" ; x=\"y;z\"; ", "a b.csv" },
                { "inline;filename=\"a;b=c, d\"", "a;b=c, d" },
                { "attachment; filename=\"say \\\"hi\\\".txt\"", "say \"hi\".txt" },
                { "x; filename=\"caf\xc3\xa9.txt\"", "caf\xc3\xa9.txt" },
                { "attachment; filename*=UTF-8''%e2%82%ac%20rates", "\xe2\x82\xac rates" },
                { "attachment; filename*=utf-8'en'a%25b.txt; filename=plain", "a%b.txt" },
                { "attachment; filename=plain; filename*=UTF-8''star", "star" },
                { "attachment; filename=100%25.txt", "100%25.txt" },
                { "attachment; filename=a; size=12; creation-date=\"x\"", "a" },
                { "attachment;; filename=a;", "a" },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                CHECK_STR(named(rows[i][0]), rows[i][1]);
}

TEST(value_that_is_malformed_has_no_name)
{
        static const char *const rows[] = {
                "",
                "attachment",
                "attachment; filename",
                "attachment; filename=",
                "attachment; filename=\"\"",
                "attachment; filename=\"a",
                "attachment; filename=\"a\\",
                "attachment; filename=\"a\\\"",
                "attachment; filename=\"a\" b",
                "attachment; filename=a b",
                "attachment; filename=a=b",
                "attachment; filename=a; filename=b",
                "attachment; filename*=UTF-8''a; filename*=UTF-8''b",
                "attachment, inline; filename=a",
                "; filename=a",
                "filename=a",
                "attachment; =a",
                "attachment; filename*=a",
                "attachment; filename*=\"UTF-8''a\"",
                "attachment; filename*=UTF-8''",
                "attachment; filename*=UTF-8'a",
                "attachment; filename*=UTF-8''a%4",
                "attachment; filename*=UTF-8''a'b",
                "attachment; filename*=UTF-7''a",
                "attachment; filename*=UTF-8''a%ff",
        };

        CHECK_STR(named(NULL), "");
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                CHECK_STR(named(rows[i]), "");
}

TEST(name_that_leaves_the_folder_or_deceives_is_not_used)
{
        static const char *const names[] = {
                "..",         ".",       "../a",         "a/../b",      "/etc/passwd",
                "a%2f..%2fb", "..%5ca",  "c%3a%5ca",     ".profile",    ".eddy-saved.jsonl",
                "a%00.txt",   "a%0ab",   "a%0d%0ab",     "a%1b%5b2Jb",  "a%7fb",
                "a%c2%85b",   "%00",     "a%c2%9bb",     "a%e2%80%aeb", "a%e2%81%a6b",
                "a%e2%80%8f", "a%e2%82", "%c0%ae%c0%ae", "a%ed%a0%80b", "%2e%2e%2fa",
        };
        char value[200];

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                snprintf(value, sizeof(value), "attachment; filename*=UTF-8''%s", names[i]);
                CHECK_STR(named(value), "");
                /* The other parameter counts then, but in a value that is malformed. */
                snprintf(value, sizeof(value), "attachment; filename*=UTF-8''%s; filename=ok.txt",
                         names[i]);
                CHECK_STR(named(value), strchr(names[i], '/') ? "" : "ok.txt");
        }
        CHECK_STR(named("attachment; filename=\"../a\""), "");
        CHECK_STR(named("attachment; filename=\"a\\\\b\""), "");
        CHECK_STR(named("attachment; filename=\".a\""), "");
        CHECK_STR(named("attachment; filename=\"a\tb\""), "");
        CHECK_STR(named("attachment; filename=\"a\x1b[2J\""), "");
        CHECK_STR(named("attachment; filename=\"a\xff\""), "");
        CHECK_STR(named("attachment; filename=\"../a\"; filename*=UTF-8''b"), "b");
}

TEST(name_of_every_length_is_whole_or_not_used)
{
        static char value[20000];
        static const char *const forms[] = { "a; filename=", "a; filename=\"",
                                             "a; filename*=UTF-8''" };

        for (size_t form = 0; form < 3; form++) {
                for (size_t n = 1; n < 2 * ROOM; n++) {
                        size_t at = strlen(forms[form]);

                        memcpy(value, forms[form], at);
                        memset(value + at, 'n', n);
                        memcpy(value + at + n, form == 1 ? "\"" : "\0", 2);
                        CHECK_EQ(strlen(named(value)), n < ROOM ? n : 0);
                }
        }
        memset(value, 'n', sizeof(value) - 1);
        memcpy(value, "a; filename=", 12);
        CHECK_STR(named(value), "");
}

TEST(any_bytes_give_a_usable_name_or_none)
{
        static const char *const words[] = { "attachment", ";",  "filename", "*",   "=",
                                             "\"",         "\\", "UTF-8''",  "%2f", "%",
                                             "..",         "a",  " ",        "/",   "\xe2\x80\xae",
                                             "\xff",       "\n" };
        enum { WORDS = sizeof(words) / sizeof(words[0]) };
        struct ed_random random = { 1 };
        char value[400];

        for (int round = 0; round < 100000; round++) {
                size_t bytes = 0, n;

                for (uint64_t i = ed_random_next(&random) % 20 + 1; i > 0; i--) {
                        const char *word = words[ed_random_next(&random) % WORDS];

                        memcpy(value + bytes, word, strlen(word));
                        bytes += strlen(word);
                }
                if (ed_random_next(&random) % 2)
                        value[ed_random_next(&random) % bytes] =
                                (char) (1 + ed_random_next(&random) % 255);
                value[bytes] = '\0';
                n = ed_disposition_name(value, name, 20);
                CHECK(n < 20);
                for (size_t i = 0; i < n; i++)
                        CHECK((unsigned char) name[i] >= 0x20 && name[i] != '/' && name[i] != '\\');
                CHECK(n == 0 || (name[0] != '.' && eddy_json_is_utf8(name, n)));
        }
}
