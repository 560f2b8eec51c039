/*
 * test_netrc.c - files in the format of ~/.netrc: which entry is found, words in quotes, macros and
 * comments, mistakes with their line, limits, and each text at the end of its memory.
 */
#include <stdio.h>

#include "eddy/error.h"
#include "test.h"
#include "wire/netrc.h"

/* Returns "LOGIN:PASSWORD", "-" if there is none, or "!" after a mistake. */
static const char *find(const char *text, size_t bytes, const char *host)
{
        static struct ed_netrc_entry entry;
        static char out[4096];
        char *copy = malloc(bytes ? bytes : 1);
        int found;

        CHECK(copy);
        memcpy(copy, text, bytes);
        found = ed_netrc_find(copy, bytes, host, &entry);
        free(copy);
        CHECK(found == 0 || found == 1 || found == EDDY_E_HTTP_NETRC);
        if (found <= 0)
                return found ? "!" : "-";
        snprintf(out, sizeof(out), "%s:%s", entry.login, entry.password);
        return out;
}

static void check(const char *text, const char *host, const char *expected)
{
        const char *seen = find(text, strlen(text), host);

        if (strcmp(seen, expected) != 0)
                test_fail(__FILE__, __LINE__, "%s in '%s' gives %s, expected %s", host, text, seen,
                          expected);
}

/* Returns the line with the mistake, or 0. */
static size_t mistake(const char *text)
{
        size_t line = 0, bytes = strlen(text);
        char *copy = malloc(bytes ? bytes : 1);
        int err;

        CHECK(copy);
        memcpy(copy, text, bytes);
        err = ed_netrc_check(copy, bytes, &line);
        free(copy);
        CHECK_EQ(err, line ? EDDY_E_HTTP_NETRC : 0);
        return line;
}

TEST(the_first_entry_of_the_exact_host_is_found)
{
        static const char text[] = "machine a.test login kim password one\n"
                                   "machine A.TEST login lee password two\n"
                                   "machine b.test\n  password three\n\taccount x login mo\n";

        check(text, "a.test", "kim:one");
        check(text, "b.test", "mo:three");
        check(text, "x.a.test", "-");
        check(text, "test", "-");
        check(text, "a.tes", "-");
        check(text, "a.test.", "-");
        check("", "a.test", "-");
}

TEST(default_is_for_every_host_after_those_before_it)
{
        static const char text[] = "machine a.test login kim password one\n"
                                   "default login any password thing\n"
                                   "machine b.test login lee password two";

        check(text, "a.test", "kim:one");
        check(text, "b.test", "any:thing");
        check(text, "c.test", "any:thing");
}

TEST(an_entry_without_user_or_password_gives_nothing_also_not_the_default)
{
        static const char text[] = "machine a.test login kim\nmachine b.test password one\n"
                                   "machine c.test\ndefault login any password thing";

        check(text, "a.test", "-");
        check(text, "b.test", "-");
        check(text, "c.test", "-");
        check(text, "d.test", "any:thing");
}

TEST(words_in_quotes_may_contain_spaces_and_escapes)
{
        check("machine a login \"k i m\" password \"a\\\"b\\\\c\\d # e\"", "a",
              "k i m:a\"b\\cd # e");
        check("machine \"a\" login \"\" password \"\"", "a", ":");
        check("machine a login kim password a\"b\"", "a", "kim:a\"b\"");
        check("machine a login kim password #1\n# password 2\n", "a", "kim:#1");
        check("machine a login kim password machine", "a", "kim:machine");
}

TEST(macros_and_comments_are_skipped)
{
        check("# machine a login x password y\nmachine a # one\nlogin kim #two\npassword one", "a",
              "kim:one");
        check("machine b login x password y\nmacdef init\nmachine a login bad password bad\n\n"
              "machine a login kim password one",
              "a", "kim:one");
        check("macdef init\r\nmachine a login bad password bad\r\n\r\nmachine a login kim password "
              "one",
              "a", "kim:one");
        check("macdef init\nmachine a login bad password bad", "a", "-");
        check("macdef init", "a", "-");
}

TEST(a_mistake_is_reported_with_its_line)
{
        CHECK_EQ(mistake(""), 0);
        CHECK_EQ(mistake("machine a login b password c\n# end"), 0);
        CHECK_EQ(mistake("machine a\nlogin"), 2);
        CHECK_EQ(mistake("machine a\nlogin\n\n"), 2);
        CHECK_EQ(mistake("machine a login kim password\n"), 1);
        CHECK_EQ(mistake("machine\r\n"), 1);
        CHECK_EQ(mistake("machine a login kim\nmacdef \n\n"), 2);
        CHECK_EQ(mistake("machine"), 1);
        CHECK_EQ(mistake("login kim password one"), 1);
        CHECK_EQ(mistake("\n\nmachine a logn kim"), 3);
        CHECK_EQ(mistake("machine a login \"kim\npassword one"), 1);
        CHECK_EQ(mistake("machine a login \"kim"), 1);
        CHECK_EQ(mistake("machine a login \"kim\\"), 1);
        CHECK_EQ(mistake("machine a login \"kim\"x"), 1);
        CHECK_EQ(mistake("machine a login kim password \"a\\nb\""), 1);
        CHECK_EQ(mistake("machine a login kim password a\x01"), 1);
        CHECK_EQ(mistake("\"machine\" a"), 1);
        CHECK_EQ(mistake("macdef"), 1);
        CHECK_STR(find("machine a login kim password a\0b", 32, "a"), "!");
}

TEST(a_word_has_at_most_1024_bytes)
{
        char text[2048] = "machine a login kim password ";
        size_t start = strlen(text);

        memset(text + start, 'x', ED_NETRC_WORD_MAX);
        CHECK_EQ(mistake(text), 0);
        CHECK_EQ(strlen(find(text, strlen(text), "a")), ED_NETRC_WORD_MAX + 4);
        text[start + ED_NETRC_WORD_MAX] = 'x';
        CHECK_EQ(mistake(text), 1);
        memcpy(text, "machine a user", 14);
        CHECK_EQ(mistake(text), 1);
}

TEST(the_longest_words_of_an_entry_fit_and_the_first_ones_count)
{
        char text[4200], word[ED_NETRC_WORD_MAX + 1];

        memset(word, 'y', sizeof(word) - 1);
        word[sizeof(word) - 1] = '\0';
        snprintf(text, sizeof(text), "machine a login %s password %s login x password z", word,
                 word);
        CHECK_EQ(strlen(find(text, strlen(text), "a")), 2 * ED_NETRC_WORD_MAX + 1);
        check("machine a login k password p login l password q", "a", "k:p");
}

TEST(any_byte_and_any_end_is_survived)
{
        static const char value[] =
                "machine a login \"k\\\"\" password p # x\nmacdef m\nx\n\ndefault user u";
        char text[sizeof(value)];

        for (size_t at = 0; at < sizeof(value) - 1; at++) {
                (void) find(value, at, "b");
                for (int byte = 0; byte < 256; byte++) {
                        memcpy(text, value, sizeof(value));
                        text[at] = (char) byte;
                        (void) find(text, sizeof(value) - 1, "b");
                }
        }
}
