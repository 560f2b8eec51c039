/*
 * test_entity_tag.c - lists of entity tags: both comparisons, "*", and lists that are not valid.
 */
#include "test.h"
#include "wire/entity_tag.h"

TEST(both_comparisons_are_those_of_rfc_9110)
{
        /* The table of RFC 9110, 8.8.3.2. */
        CHECK(!ed_entity_tags_have("W/\"1\"", "W/\"1\"", true));
        CHECK(ed_entity_tags_have("W/\"1\"", "W/\"1\"", false));
        CHECK(!ed_entity_tags_have("W/\"1\"", "W/\"2\"", true));
        CHECK(!ed_entity_tags_have("W/\"1\"", "W/\"2\"", false));
        CHECK(!ed_entity_tags_have("W/\"1\"", "\"1\"", true));
        CHECK(ed_entity_tags_have("W/\"1\"", "\"1\"", false));
        CHECK(ed_entity_tags_have("\"1\"", "\"1\"", true));
        CHECK(ed_entity_tags_have("\"1\"", "\"1\"", false));
}

TEST(a_tag_is_found_anywhere_in_a_list)
{
        CHECK(ed_entity_tags_have("\"a\", \"b\",\"c\"", "\"c\"", true));
        CHECK(ed_entity_tags_have(" ,, \"a\" ,\t\"b\"", "\"b\"", true));
        CHECK(ed_entity_tags_have("\"a,b\", \"b\"", "\"a,b\"", true));
        CHECK(!ed_entity_tags_have("\"a,b\"", "\"a\"", true));
        CHECK(!ed_entity_tags_have("\"a\"", "\"A\"", false));
        CHECK(!ed_entity_tags_have("\"ab\"", "\"a\"", false));
        CHECK(ed_entity_tags_have("\"\"", "\"\"", true));
        CHECK(ed_entity_tags_have("\"\xff\\\"", "\"\xff\\\"", true));
        CHECK(ed_entity_tags_have("*", "\"a\"", true));
        CHECK(ed_entity_tags_have(" * ", "W/\"a\"", true));
}

TEST(a_list_that_is_not_valid_ends_at_the_fault)
{
        CHECK(ed_entity_tags_have("\"a\", b", "\"a\"", true));
        CHECK(!ed_entity_tags_have("b, \"a\"", "\"a\"", true));
        CHECK(!ed_entity_tags_have("\"b\" \"a\"", "\"a\"", true));
        CHECK(!ed_entity_tags_have("\"a", "\"a\"", true));
        CHECK(!ed_entity_tags_have("w/\"a\"", "\"a\"", false));
        CHECK(!ed_entity_tags_have("W/ \"a\"", "\"a\"", false));
        CHECK(!ed_entity_tags_have("\"b\", *", "\"a\"", false));
        CHECK(!ed_entity_tags_have("**", "\"a\"", false));
        CHECK(!ed_entity_tags_have("", "\"a\"", false));
        CHECK(!ed_entity_tags_have("W", "\"a\"", false));
        CHECK(!ed_entity_tags_have("W/", "\"a\"", false));
        CHECK(!ed_entity_tags_have("\"a b\"", "\"a b\"", false));
}

TEST(a_valid_tag_has_quotes_and_nothing_after_them)
{
        CHECK(ed_entity_tag_is_valid("\"a\"") && ed_entity_tag_is_valid("W/\"\""));
        CHECK(!ed_entity_tag_is_valid("a") && !ed_entity_tag_is_valid("") &&
              !ed_entity_tag_is_valid("\"a") && !ed_entity_tag_is_valid("\"a\"b") &&
              !ed_entity_tag_is_valid("\"a\"\"") && !ed_entity_tag_is_valid("\"a\x7f") &&
              !ed_entity_tag_is_valid("Sun, 06 Nov 1994 08:49:37 GMT"));
}
