/*
 * test_text_form.c - messages of one cause have one form, those of two causes have two; groups are
 * counted, limited, and ordered by their sizes.
 */
#include "test.h"

#include <string.h>

#include "common/groups.h"
#include "common/random.h"
#include "common/text_form.h"

static const char *form_of(const char *text)
{
        static char form[ED_TEXT_FORM_BYTES + 1];
        size_t bytes = ed_text_form_write(text, strlen(text), form);

        form[bytes] = '\0';
        return form;
}

TEST(parts_that_differ_are_folded)
{
        static const struct {
                const char *text, *form;
        } cases[] = {
                { "max_tokens 5000 is above 4096", "max_tokens # is above #" },
                { "model \"gpt-4\" not found (req_7f3a)", "model \"\" not found (#)" },
                { "the key 'a b' can't be `used`", "the key \"\" can't be \"\"" },
                { "took 1.5 s at 10.0.0.1:8000", "took # s at #" },
                { "at 2026-11-28T17:14:09Z, id deadbeef.", "at #, id #." },
                { "faded  beads\n\n ", "faded beads " },
                { "lines 1, 2, 3 and \"a\", \"b\"", "lines # and \"\"" },
                { "1,000,000 of 5/7, or -3", "# of #, or #" },
                { "no end \"of it 7", "no end \"\"" },
                { "5d2b1c30-77aa-4a1e-8c3a-aaaaaaaaaaaa", "#" },
                { "\xc3\xa9t\xc3\xa9 7", "\xc3\xa9t\xc3\xa9 #" },
                { "1 \"a\" 2", "# \"\" #" },
                { "", "" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                CHECK_STR(form_of(cases[i].text), cases[i].form);
}

TEST(form_of_any_bytes_has_room)
{
        static const char parts[] = "\"'`a0 ,.\n_-/:\x80";
        struct ed_random random = { 3 };
        char text[2 * ED_TEXT_FORM_BYTES], form[ED_TEXT_FORM_BYTES];

        for (int i = 0; i < 20000; i++) {
                size_t bytes = ed_random_next(&random) % sizeof(text);

                for (size_t at = 0; at < bytes; at++)
                        text[at] = parts[ed_random_next(&random) % (sizeof(parts) - 1)];
                CHECK(ed_text_form_write(text, bytes, form) <= ED_TEXT_FORM_BYTES);
        }
        memset(text, '"', sizeof(text));
        CHECK(ed_text_form_write(text, sizeof(text), form) <= ED_TEXT_FORM_BYTES);
}

TEST(kind_is_a_part_of_the_form)
{
        CHECK(ed_text_form("400", "a 1", 3) == ed_text_form("400", "a 2", 3));
        CHECK(ed_text_form("400", "a 1", 3) != ed_text_form("401", "a 1", 3));
        CHECK(ed_text_form("400", "a 1", 3) != ed_text_form("400", "b 1", 3));
}

TEST(groups_are_limited_and_in_order)
{
        static struct ed_groups groups;
        unsigned places[ED_GROUPS_MAX];

        for (unsigned key = 0; key < ED_GROUPS_MAX + 5; key++)
                for (unsigned i = 0; i <= key % 3; i++)
                        CHECK_EQ(ed_groups_add(&groups, key),
                                 key < ED_GROUPS_MAX ? key : ED_GROUPS_MAX);
        CHECK_EQ(groups.count, ED_GROUPS_MAX);
        ed_groups_order(&groups, places);
        CHECK_EQ(places[0], 2);
        CHECK_EQ(places[1], 5);
        for (unsigned i = 1; i < groups.count; i++)
                CHECK(groups.items[places[i - 1]].members > groups.items[places[i]].members ||
                      (groups.items[places[i - 1]].members == groups.items[places[i]].members &&
                       places[i - 1] < places[i]));
        CHECK(groups.beyond > 0);
        CHECK_EQ(groups.members, (ED_GROUPS_MAX + 5) * 2 - 1);
}
