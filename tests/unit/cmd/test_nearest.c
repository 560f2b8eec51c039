/*
 * test_nearest.c - words that were mistyped, and words that mean something
 * else.
 */
#include "test.h"

#include "common/nearest.h"

static const char *nearest(const char *word)
{
        static const char *const words[] = {
                "timeout",  "connect-timeout",
                "per-host", "header",
                "help",     "body",
                "backoff",  "a-word-that-is-much-longer-than-the-others",
        };
        const char *found = ed_nearest(word, words, sizeof(words) / sizeof(words[0]));

        return found ? found : "(none)";
}

TEST(mistyped_words_are_found)
{
        CHECK_STR(nearest("timeot"), "timeout");
        CHECK_STR(nearest("tiemout"), "timeout");
        CHECK_STR(nearest("timeoutt"), "timeout");
        CHECK_STR(nearest("TIMEOUT"), "timeout");
        CHECK_STR(nearest("connect_timeout"), "connect-timeout");
        CHECK_STR(nearest("conect-timout"), "connect-timeout");
        CHECK_STR(nearest("perhost"), "per-host");
        CHECK_STR(nearest("headers"), "header");
        CHECK_STR(nearest("hlep"), "help");
        CHECK_STR(nearest("body"), "body");
}

TEST(number_of_mistakes_may_be_limited)
{
        static const char *const words[] = { "metadata", "method" };

        CHECK_STR(ed_nearest_within("metdata", words, 2, 1), "metadata");
        CHECK(!ed_nearest_within("metdat", words, 2, 1));
        CHECK_STR(ed_nearest_within("method", words, 2, 0), "method");
}

TEST(other_words_are_not_taken_for_one)
{
        CHECK_STR(nearest(""), "(none)");
        CHECK_STR(nearest("x"), "(none)");
        CHECK_STR(nearest("verbose"), "(none)");
        CHECK_STR(nearest("insecure"), "(none)");
        CHECK_STR(nearest("a-word-that-is-much-longer-than-the-others"), "(none)");
        CHECK(!ed_nearest("timeout", NULL, 0));
}
