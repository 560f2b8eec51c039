/*
 * test_text.c - text put together in a buffer is cut where that ends.
 */
#include "base/text.h"

#include "test.h"

TEST(pieces_are_added_one_behind_the_other)
{
        char buf[32];
        struct ed_text text = { buf, sizeof(buf) };

        ed_text_add(&text, "%s is %d", "seven", 7);
        ed_text_add(&text, "%s", "");
        ed_text_add(&text, "%c", '.');
        CHECK_STR(buf, "seven is 7.");
        CHECK(text.at == buf + strlen(buf));
        CHECK_EQ(text.left, sizeof(buf) - strlen(buf));
}

TEST(what_does_not_fit_is_cut_and_the_end_stays_a_zero)
{
        char buf[8] = "xxxxxxx";
        struct ed_text text = { buf, sizeof(buf) - 1 };

        ed_text_add(&text, "%s", "abcdef");
        CHECK_STR(buf, "abcdef");
        CHECK_EQ(text.left, 1);
        text = (struct ed_text){ buf, sizeof(buf) - 1 };
        ed_text_add(&text, "%s", "abcdefg");
        CHECK_STR(buf, "abcdef");
        CHECK_EQ(buf[7], '\0');
        CHECK_EQ(text.left, 1);
        ed_text_add(&text, "%s", "h");
        CHECK_STR(buf, "abcdef");
        CHECK_EQ(text.left, 1);
}

TEST(a_buffer_of_nothing_is_not_written_to)
{
        char buf[2] = "x";
        struct ed_text text = { buf, 0 };

        ed_text_add(&text, "%s", "abc");
        CHECK_STR(buf, "x");
        CHECK(text.at == buf);
        CHECK_EQ(text.left, 0);
}
