/*
 * test_text_find.c - a part is found at each place of a text, and nowhere else.
 */
#include "test.h"

#include <string.h>

#include "common/random.h"
#include "common/text_find.h"

TEST(part_is_found_at_each_place)
{
        static const char part[] = "\"error\"";
        size_t part_bytes = sizeof(part) - 1;
        char text[100];

        for (size_t bytes = 0; bytes < sizeof(text); bytes++)
                for (size_t at = 0; at + part_bytes <= bytes; at++) {
                        memset(text, '"', bytes);
                        CHECK(!ed_text_has(text, bytes, part, part_bytes));
                        memcpy(text + at, part, part_bytes);
                        CHECK(ed_text_has(text, bytes, part, part_bytes));
                        CHECK(!ed_text_has(text, at + part_bytes - 1, part, part_bytes));
                }
}

TEST(texts_are_searched_as_memmem_does)
{
        struct ed_random random = { 11 };
        char text[64], part[4];

        for (int i = 0; i < 20000; i++) {
                size_t bytes = ed_random_next(&random) % sizeof(text);
                size_t part_bytes = 1 + ed_random_next(&random) % sizeof(part);

                for (size_t at = 0; at < bytes; at++)
                        text[at] = (char) ('a' + ed_random_next(&random) % 3);
                for (size_t at = 0; at < part_bytes; at++)
                        part[at] = (char) ('a' + ed_random_next(&random) % 3);
                CHECK_EQ(ed_text_has(text, bytes, part, part_bytes),
                         memmem(text, bytes, part, part_bytes) != NULL);
        }
}
