/*
 * test_error.c - error numbers: none twice, all with a name and a sentence.
 */
#include "eddy/error.h"

#include <errno.h>
#include <limits.h>

#include "test.h"

static const struct {
        int value;
        int facility;
        int number;
        const char *name;
        const char *text;
} all[] = {
#define ROW(facility, number, name, text)                                                          \
        { EDDY_E_##facility##_##name, EDDY_E_##facility, number, "EDDY_E_" #facility "_" #name,    \
          text },
        EDDY_ERRORS(ROW)
#undef ROW
};

enum { COUNT = sizeof(all) / sizeof(all[0]) };

TEST(no_number_is_given_twice)
{
        for (int i = 0; i < COUNT; i++)
                for (int j = i + 1; j < COUNT; j++) {
                        CHECK(all[i].value != all[j].value);
                        CHECK(strcmp(all[i].name, all[j].name) != 0);
                        CHECK(strcmp(all[i].text, all[j].text) != 0);
                }
}

TEST(own_numbers_are_below_every_errno_and_in_their_facility)
{
        for (int i = 0; i < COUNT; i++) {
                CHECK(all[i].value <= -0x10000);
                CHECK(all[i].number >= 0 && all[i].number < 256);
                CHECK_EQ(all[i].facility & 0xff, 0);
                CHECK_EQ(-all[i].value & ~0xff, all[i].facility);
        }
}

TEST(every_own_error_has_its_name_and_one_sentence)
{
        for (int i = 0; i < COUNT; i++) {
                const char *text = eddy_error_text(all[i].value);

                CHECK_STR(eddy_error_name(all[i].value), all[i].name);
                CHECK_STR(text, all[i].text);
                CHECK(strlen(text) > 8);
                CHECK(text[strlen(text) - 1] != '.');
                CHECK(!strchr(text, '\n'));
        }
}

TEST(errors_of_the_system_have_their_names)
{
        CHECK_STR(eddy_error_name(-ECANCELED), "ECANCELED");
        CHECK_STR(eddy_error_name(-ETIMEDOUT), "ETIMEDOUT");
        CHECK_STR(eddy_error_name(-ENOMEM), "ENOMEM");
        CHECK_STR(eddy_error_name(-1), "EPERM");
        CHECK(strlen(eddy_error_text(-ENOENT)) > 0);
        CHECK(strcmp(eddy_error_text(-ENOENT), "unknown error") != 0);
}

#ifdef __GLIBC__
TEST(errors_have_the_names_that_the_c_library_knows)
{
        for (int number = 1; number < 4096; number++) {
                const char *name = strerrorname_np(number);

                CHECK_STR(eddy_error_name(-number), name ? name : "UNKNOWN");
        }
}
#endif

TEST(cancelled_and_timed_out_are_said_in_our_words)
{
        CHECK_STR(eddy_error_text(-ECANCELED), "the scope was cancelled");
        CHECK_STR(eddy_error_text(-ETIMEDOUT), "the deadline passed");
}

TEST(any_number_has_a_name_and_a_text)
{
        static const int odd[] = { INT_MIN,  INT_MIN + 1, -4095, -4096, -4097,  -0xffff,
                                   -0x100ff, -0x20000,    0,     1,     INT_MAX };

        for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
                CHECK(eddy_error_name(odd[i]) != NULL);
                CHECK(eddy_error_text(odd[i]) != NULL);
        }
        CHECK_STR(eddy_error_name(-4095), "UNKNOWN");
        CHECK_STR(eddy_error_name(INT_MIN), "UNKNOWN");
        CHECK_STR(eddy_error_name(-0x20000), "UNKNOWN");
        CHECK_STR(eddy_error_text(-0x20000), "unknown error");
}

TEST(an_error_is_of_the_facility_that_it_is_named_for)
{
        static const int none[] = { INT_MIN, -0x20000, -0xffff, -EIO, -ECANCELED, 0, 1, INT_MAX };

        for (int i = 0; i < COUNT; i++) {
                CHECK_EQ(eddy_error_facility(all[i].value), all[i].facility);
                CHECK_EQ(eddy_error_facility(-all[i].facility), all[i].facility);
                CHECK_EQ(eddy_error_facility(-all[i].facility - 0xff), all[i].facility);
        }
        for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
                CHECK_EQ(eddy_error_facility(none[i]), 0);
}
