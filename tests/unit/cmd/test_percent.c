/*
 * test_percent.c - percent-encoding: each byte, and sizes around those of the buffer.
 */
#include "test.h"

#include "common/percent.h"
#include "eddy/alloc.h"
#include "starve.h"

TEST(each_byte_but_unreserved_ones_is_encoded)
{
        static const char plain[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

        for (int c = 0; c < 256; c++) {
                struct ed_draft text = { 0 };
                char byte = (char) c, expected[4];

                ed_percent_add(&text, &byte, 1);
                ed_draft_add(&text, "", 1);
                if (c != 0 && strchr(plain, c))
                        snprintf(expected, sizeof(expected), "%c", c);
                else
                        snprintf(expected, sizeof(expected), "%%%02X", (unsigned) c);
                CHECK_STR(text.data, expected);
                ed_draft_fini(&text);
        }
}

TEST(texts_of_all_sizes_are_whole)
{
        static char data[1100];

        memset(data, '/', sizeof(data));
        for (size_t bytes = 0; bytes <= sizeof(data); bytes++) {
                struct ed_draft text = { 0 };

                ed_percent_add(&text, data, bytes);
                CHECK(ed_draft_is_whole(&text));
                CHECK_EQ(text.bytes, 3 * bytes);
                for (size_t i = 0; i < bytes; i++)
                        CHECK(memcmp(text.data + 3 * i, "%2F", 3) == 0);
                ed_draft_fini(&text);
        }
}

TEST(lack_of_memory_marks_the_text)
{
        struct ed_draft text = { 0 };

        eddy_alloc_set(starve, NULL);
        allocations_left = 0;
        ed_percent_add(&text, "/", 1);
        allocations_left = -1;
        CHECK(!ed_draft_is_whole(&text));
        CHECK_EQ(text.bytes, 0);
        ed_draft_fini(&text);
        eddy_alloc_set(NULL, NULL);
}
